"""RunMetadata: the totals that the GRAPHS tab reads, and TensorFlow's devices beside them."""

from __future__ import annotations

import re

import pytest
import synthetic

from tfevents import proto
from tfevents.profiler import step_stats, timeline

# How TensorBoard's graph page picks devices (tf-graph-controls.ts).
SHOWN = re.compile(r"device:([^:]+:[0-9]+)$")


def devices(step: int | None, **options: int) -> dict[str, list[proto.NodeExecStats]]:
    made = timeline.join(synthetic.host(), synthetic.gpu())
    metadata = step_stats.run_metadata(made, step, **options)
    copy = proto.RunMetadata.FromString(metadata.SerializeToString())
    return {device.device: list(device.node_stats) for device in copy.step_stats.dev_stats}


def test_devices_that_the_graph_page_shows() -> None:
    assert [name for name in devices(10) if SHOWN.search(name)] == [
        "/job:localhost/replica:0/task:0/device:CPU:0",
        "/job:localhost/replica:0/task:0/device:GPU:0",
    ]


@pytest.mark.parametrize(
    ("step", "host", "gpu"),
    [
        (10, {"dense/MatMul": 30, "dense/Add": 20}, {"dense/MatMul": 42, "dense/Add": 10}),
        (11, {"dense/MatMul": 30}, {"dense/MatMul": 20, "relu": 10}),
        (None, {"dense/MatMul": 60, "dense/Add": 20},
         {"dense/MatMul": 62, "dense/Add": 10, "relu": 10}),
    ],
)  # fmt: skip
def test_one_entry_an_op_as_long_as_all_its_executions(
    step: int | None, host: dict[str, int], gpu: dict[str, int]
) -> None:
    found = devices(step)
    prefix = "/job:localhost/replica:0/task:0/device"
    for name, expected in ((f"{prefix}:CPU:0", host), (f"{prefix}:GPU:0", gpu)):
        assert {n.node_name: n.all_end_rel_micros for n in found[name]} == expected
        assert len(found[name]) == len(expected)


def test_times_of_totals() -> None:
    matmul = devices(10)["/job:localhost/replica:0/task:0/device:GPU:0"][0]
    assert matmul.all_start_nanos == synthetic.START + 20_000
    assert matmul.all_start_micros == 1_700_000_000_000_020
    assert matmul.all_end_rel_nanos == 42_500


def test_gpu_memory() -> None:
    matmul, add = devices(10)["/job:localhost/replica:0/task:0/device:GPU:0"]
    assert [(m.allocator_name, m.total_bytes) for m in matmul.memory] == [("gpu_0", 1 << 20)]
    assert [m.total_bytes for m in add.memory] == [1 << 10]


def test_host_memory() -> None:
    host = synthetic.host()
    host.spans["peak"][1], host.spans["live"][1] = 5000, 400
    host.spans["traced"][1], host.spans["resident"][1] = 90_000, 1 << 25
    metadata = step_stats.run_metadata(timeline.join(host), 10)
    memory = metadata.step_stats.dev_stats[0].node_stats[0].memory
    assert [(m.allocator_name, m.total_bytes, m.live_bytes, m.allocator_bytes_in_use)
            for m in memory] == [("python", 5000, 400, 90_000), ("process", 0, 0, 1 << 25)]


def test_streams_copies_and_threads() -> None:
    found = devices(10)
    assert sorted(name for name in found if not SHOWN.search(name)) == [
        "/device:GPU:0/memcpy", "/device:GPU:0/stream:7", "/device:GPU:0/stream:all", "/host:CPU",
    ]
    first, second, copy = found["/device:GPU:0/stream:7"]
    assert [first.node_name, second.node_name] == ["dense/MatMul", "dense/MatMul"]
    assert [first.all_end_rel_micros, second.all_end_rel_micros] == [30, 12]
    assert first.scheduled_micros == 1_700_000_000_000_015
    assert first.timeline_label == (
        "gemm regs:32 static_shared:1024 dynamic_shared:2048 grid:128,2,1 block:256,1,1"
        "@@dense/MatMul"
    )
    assert copy.node_name == "dense/Add:MEMCPYHtoD"
    assert copy.timeline_label.startswith("MEMCPYHtoD 4096 bytes")
    assert found["/device:GPU:0/memcpy"] == [copy]
    assert [node.node_name for node in found["/host:CPU"]] == ["dense/MatMul", "dense/Add"]


def test_details_are_limited_and_totals_are_not() -> None:
    found = devices(None, detail=2)
    assert len(found["/device:GPU:0/stream:all"]) == len(found["/host:CPU"]) == 2
    totals = found["/job:localhost/replica:0/task:0/device:GPU:0"]
    assert sum(node.all_end_rel_nanos for node in totals) == 82_500


def test_what_takes_no_microsecond_is_shown_all_the_same() -> None:
    host = synthetic.host()
    host.spans["end"][1] = host.spans["start"][1] + 3
    metadata = step_stats.run_metadata(timeline.join(host), 10)
    node = metadata.step_stats.dev_stats[0].node_stats[0]
    assert (node.all_end_rel_micros, node.all_end_rel_nanos) == (1, 3)


def test_tensorflows_timeline_reads_it() -> None:
    tf_timeline = pytest.importorskip("tensorflow.python.client.timeline")
    from tensorflow.core.framework.step_stats_pb2 import StepStats

    made = timeline.join(synthetic.host(), synthetic.gpu())
    data = step_stats.run_metadata(made).step_stats.SerializeToString()
    text = tf_timeline.Timeline(StepStats.FromString(data)).generate_chrome_trace_format()
    assert '"dense/MatMul"' in text
