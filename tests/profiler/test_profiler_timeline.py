"""Host and GPU joined: which span launched what, in which step."""

from __future__ import annotations

import numpy as np
import pytest
import synthetic

from tfevents.profiler import timeline
from tfevents.profiler.cupti import trace
from tfevents.profiler.timeline import Timeline


def micros(made: Timeline, column: str) -> list[float]:
    return [(int(t) - synthetic.START) / 1000 for t in made.work[column]]


def names(made: Timeline, column: str) -> list[str]:
    return [made.names[index] for index in made.work[column]]


def test_work_gets_op_and_step() -> None:
    made = timeline.join(synthetic.host(), synthetic.gpu())
    assert names(made, "name") == ["gemm", "gemm", "MemcpyH2D", "gemm", "relu"]
    # the second by thread and time, the last launched by a thread without spans
    assert names(made, "op") == ["dense/MatMul", "dense/MatMul", "dense/Add", "dense/MatMul", ""]
    assert made.work["step"].tolist() == [10, 10, 10, 11, 11]
    assert micros(made, "start") == [20, 60, 80, 230, 270]
    assert micros(made, "end") == [50, 72.5, 90, 250, 280]
    assert micros(made, "launched") == [15, 20, 55, 220, 260]
    assert made.work["launcher"].tolist() == [0, 0, 0, 0, 1]
    assert made.work["bytes"].tolist() == [0, 0, 4096, 0, 0]


def test_details_are_those_of_xprof() -> None:
    made = timeline.join(synthetic.host(), synthetic.gpu())
    kernel = "regs:32 static_shared:1024 dynamic_shared:2048 grid:128,2,1 block:256,1,1"
    copy = "kind_src:pinned kind_dst:device size:4096 dest:0 async:1"
    assert names(made, "detail") == [kernel, kernel, copy, kernel, kernel]


def test_details_of_each_kernel_are_its_own() -> None:
    kernels = synthetic.gpu().kernels[:3].copy()
    kernels["grid"][:, 0] = [1, 2, 1]
    kernels["registers"] = [8, 8, 9]
    made = timeline.join(synthetic.host(), synthetic.gpu(kernels=kernels))
    details = [made.names[row["detail"]] for row in made.work if row["kind"] == timeline.KERNEL]
    assert [text.split()[0] for text in details] == ["regs:8", "regs:8", "regs:9"]
    assert [text.split()[3] for text in details] == ["grid:1,2,1", "grid:2,2,1", "grid:1,2,1"]


@pytest.mark.parametrize(
    "sizes",
    [[5, 5, 7], [2**63 + 9, 2**63 + 9, 2**63 + 1], [2**64 - 1, 2**64 - 1, 0], [2**33, 2**33, 1]],
)
def test_details_of_copies_of_any_size_and_place(sizes: list[int]) -> None:
    copies = np.zeros(3, trace.MEMCPY)
    copies["start"], copies["end"] = synthetic.START + 1000, synthetic.START + 2000
    copies["bytes"], copies["target_device"] = sizes, [2**32 - 1, 0, 2**32 - 1]
    copies["source_kind"], copies["flags"] = [255, 0, 255], [1, 0, 1]
    made = timeline.join(synthetic.host(), trace.GpuTrace(memcpys=copies))
    assert names(made, "detail") == [
        f"kind_src:unknown kind_dst:unknown size:{size} dest:{place} async:{flag}"
        for size, place, flag in zip(sizes, (2**32 - 1, 0, 2**32 - 1), (1, 0, 1), strict=True)
    ]


def test_spans_without_a_step_get_that_of_their_time() -> None:
    made = timeline.join(synthetic.host())
    assert made.spans["step"].tolist() == [10, 10, 10, 11, 11]
    assert made.steps() == [10, 11]


def test_a_step_is_no_op() -> None:
    """Work that no other span was around keeps the name of its own, as on the host."""
    calls = synthetic.gpu().api
    calls["start"][calls["correlation"] == 4] = synthetic.START + 250_000
    tied = np.array([(1, 1), (3, 3)], trace.EXTERNAL)  # the first by its id, the fourth by time
    made = timeline.join(synthetic.host(), synthetic.gpu(api=calls, external=tied))
    assert names(made, "op") == ["", "dense/MatMul", "dense/Add", "", ""]
    assert made.work["step"].tolist() == [10, 10, 10, 11, 11]


def test_without_steps_and_spans_nothing_has_an_op() -> None:
    bare = synthetic.host(spans=synthetic.host().spans[:0])
    made = timeline.join(bare, synthetic.gpu(), step=5)
    assert set(names(made, "op")) == {""}
    assert set(made.work["step"].tolist()) == {5}


def test_without_steps_all_is_one() -> None:
    spans = synthetic.host().spans[1:3].copy()
    spans["step"] = -1
    made = timeline.join(synthetic.host(spans=spans), synthetic.gpu(), step=5)
    assert made.steps() == [5]
    assert set(made.work["step"].tolist()) == set(made.spans["step"].tolist()) == {5}
    (whole,) = made.spans[made.spans["marks_step"]]
    assert (whole["start"], whole["end"]) == (synthetic.START, synthetic.START + 400_000)


def test_of_calls_with_one_correlation_the_outer_stays() -> None:
    made = timeline.join(synthetic.host(), synthetic.gpu())
    assert [made.names[n] for n in made.calls["name"]] == [
        "cudaLaunchKernel", "cudaLaunchKernel", "cudaMemcpyAsync", "cudaLaunchKernel",
        "cudaLaunchKernel",
    ]
    assert made.calls["correlation"].tolist() == [1, 2, 3, 4, 5]
    assert [thread.ident for thread in made.threads] == [synthetic.MAIN, synthetic.OTHER]


def test_allocations() -> None:
    made = timeline.join(synthetic.host(), synthetic.gpu())
    assert made.allocations["bytes"].tolist() == [1 << 20, 1 << 10, -(1 << 10)]
    ops = [made.names[op] for op in made.allocations["op"]]
    assert ops == ["dense/MatMul", "dense/Add", ""]


def test_host_memory_is_no_gpu_memory() -> None:
    memory = synthetic.gpu().memory.copy()
    memory["device"][0] = 0xFFFFFFFF
    made = timeline.join(synthetic.host(), synthetic.gpu(memory=memory))
    assert len(made.allocations) == 2


def test_fills_and_graphs_are_work() -> None:
    fills, graphs = np.zeros(1, trace.MEMSET), np.zeros(1, trace.GRAPH)
    fills["start"] = graphs["start"] = synthetic.START + 1000
    fills["end"] = graphs["end"] = synthetic.START + 2000
    fills["bytes"], fills["memory_kind"], graphs["graph"] = 64, 3, 9
    made = timeline.join(synthetic.host(), trace.GpuTrace(memsets=fills, graphs=graphs))
    assert names(made, "name") == ["Memset", "CUDA graph 9"]
    assert names(made, "detail")[0] == "kind:device num_bytes:64 async:0"


def test_nothing_at_all() -> None:
    made = timeline.join(synthetic.host(spans=synthetic.host().spans[:0]))
    assert (len(made.work), len(made.calls), made.steps()) == (0, 0, [0])


def test_notes_tell_what_was_dropped() -> None:
    made = timeline.join(synthetic.host(dropped=4), synthetic.gpu())
    assert made.notes == ("one note", "4 host spans were dropped for want of room")


def test_extras_are_on_lines_of_their_threads() -> None:
    made = timeline.join(synthetic.host(), synthetic.gpu_with_extras())
    rows = [
        (
            made.extra_lines[row["line"]], made.names[row["name"]],
            (row["start"] - synthetic.START) / 1000, (row["end"] - synthetic.START) / 1000,
        )
        for row in made.extras
    ]
    assert rows == synthetic.EXTRAS
