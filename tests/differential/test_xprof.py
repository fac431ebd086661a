"""The judge: xprof's converters find in our XSpace what was put into it.

pip install xprof, which is large and therefore in no extra.
"""

from __future__ import annotations

import importlib
import json
from collections import defaultdict
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import MagicMock

import numpy as np
import pytest

from tfevents.profiler import _output, timeline, xspace
from tfevents.profiler.cupti import trace
from tfevents.profiler.spans import SPAN, HostTrace, Thread
from tfevents.profiler.timeline import Timeline

pytest.importorskip("xprof", reason="xprof is the judge")

START = 1_700_000_000_000_000_000
STEPS = 4
KERNELS = {"dense/MatMul": ("gemm<float>", 40), "dense/Add": ("add", 5), "Softmax": ("exp", 7)}
DURATIONS: dict[str, list[float]] = defaultdict(list)  # microseconds, by kernel


def synthetic(*, extras: bool = True) -> timeline.Timeline:
    """Four steps of 1 ms, in each of which every op launches one kernel from its span."""
    DURATIONS.clear()
    ops = list(KERNELS)
    names = ("", "train", *ops)
    gpu_names = ("", "cudaLaunchKernel", *(name for name, _ in KERNELS.values()), "NVIDIA H200")
    count = STEPS * len(ops)
    spans = np.zeros(STEPS + count, SPAN)
    spans["id"] = np.arange(1, len(spans) + 1)
    api, kernels = np.zeros(count, trace.API), np.zeros(count, trace.KERNEL)
    memory, external = np.zeros(count, trace.MEMORY), np.zeros(count, trace.EXTERNAL)
    for step in range(STEPS):
        at = START + step * 1_000_000
        spans[step] = (at, at + 900_000, step + 1, 0, 1, 0, step + 20, True, 0, 0, 0, 0)
        for index, op in enumerate(ops):
            row = step * len(ops) + index
            begin, (name, micros) = at + 100_000 * (index + 1), KERNELS[op]
            duration = micros * 1000 + 250 * step
            span = STEPS + row
            spans[span] = (
                begin, begin + 60_000, span + 1, step + 1, 2 + index, 0, step + 20, False, 0, 0, 0,
                0,
            )
            api["start"][row], api["end"][row] = begin + 2000, begin + 6000
            kernels["start"][row] = begin + 10_000
            kernels["end"][row] = begin + 10_000 + duration
            kernels["name"][row] = gpu_names.index(name)
            external[row] = (row + 1, span + 1)
            memory["time"][row] = begin + 3000
            DURATIONS[name].append(duration / 1000)
    api["name"], api["domain"], api["thread"] = 1, trace.RUNTIME, 77
    api["correlation"] = kernels["correlation"] = memory["correlation"] = np.arange(count) + 1
    kernels["stream"], kernels["registers"] = 7, 64
    kernels["grid"], kernels["block"] = (16, 2, 1), (256, 1, 1)
    kernels["static_shared"], kernels["dynamic_shared"] = 1024, 2048
    memory["operation"], memory["bytes"] = 1, 1 << 20
    devices = np.zeros(1, trace.DEVICE)
    devices["name"], devices["memory"] = len(gpu_names) - 1, 1 << 37
    devices["major"], devices["multiprocessors"], devices["clock"] = 9, 132, 1_980_000
    devices["bandwidth"] = 4_800_000_000
    order = np.argsort(spans["start"], kind="stable")
    host = HostTrace(
        START, START + STEPS * 1_000_000, (Thread(77, "MainThread"),), spans[order], names
    )
    gpu = trace.GpuTrace(
        kernels=kernels, api=api, external=external, memory=memory, devices=devices,
        names=gpu_names,
    )
    return timeline.join(host, _with_extras(gpu) if extras else gpu)


def _with_extras(gpu: trace.GpuTrace) -> trace.GpuTrace:
    """The same with a wait in a call of its own, an NVTX range and an overhead."""
    call = gpu.api[:1].copy()
    call["start"], call["end"], call["correlation"] = START + 690_000, START + 810_000, 99
    syncs = np.zeros(1, trace.SYNC)
    syncs["start"], syncs["end"], syncs["sync_kind"] = START + 700_000, START + 800_000, 4
    syncs["stream"], syncs["correlation"] = 0xFFFFFFFF, 99
    markers = np.zeros(2, trace.MARKER)
    markers["time"], markers["flags"] = (START + 50_000, START + 850_000), (2, 4)
    markers["id"], markers["object_kind"], markers["thread"] = 5, 2, 77
    markers["name"][0], markers["domain"] = len(gpu.names), len(gpu.names) + 1
    overheads = np.zeros(1, trace.OVERHEAD)
    overheads["start"], overheads["end"] = START + 820_000, START + 825_000
    overheads["overhead_kind"] = 1 << 16
    return replace(
        gpu, api=np.concatenate([gpu.api, call]), syncs=syncs, markers=markers,
        overheads=overheads, names=(*gpu.names, "epoch", "loader"),
    )


def written(logdir: Path, timeline: Timeline) -> str:
    return _output.write_xspace(logdir, lambda: xspace.encode(timeline, "machine"))


@pytest.fixture(scope="module")
def space(tmp_path_factory: pytest.TempPathFactory) -> str:
    return written(tmp_path_factory.mktemp("xprof"), synthetic())


def ask(space: str, tool: str) -> Any:
    convert: Any = importlib.import_module("xprof.convert.raw_to_tool_data")
    data, _ = convert.xspace_to_tool_data([space], tool, {})
    return json.loads(data)


def table(answer: Any) -> list[dict[str, Any]]:
    """Rows of a table, by the ids of its columns."""
    columns = [column["id"] for column in answer["cols"]]
    return [
        dict(zip(columns, (cell["v"] for cell in row["c"]), strict=False)) for row in answer["rows"]
    ]


def test_kernel_stats(space: str) -> None:
    rows = {row["kernel_name"]: row for row in table(ask(space, "kernel_stats"))}
    assert sorted(rows) == sorted(name for name, _ in KERNELS.values())
    for op, (name, _) in KERNELS.items():
        row, expected = rows[name], DURATIONS[name]
        assert row["op_name"] == op
        assert row["occurrences"] == STEPS
        assert row["total_duration_us"] == pytest.approx(sum(expected), abs=1e-3)
        assert row["min_duration_us"] == pytest.approx(min(expected), abs=1e-3)
        assert row["max_duration_us"] == pytest.approx(max(expected), abs=1e-3)
        assert (row["registers_per_thread"], row["shmem_bytes"]) == (64, 3072)
        assert (row["grid_dim"], row["block_dim"]) == ("16,2,1", "256,1,1")


def test_trace_viewer(space: str) -> None:
    events = ask(space, "trace_viewer")["traceEvents"]
    names = {
        (e["pid"], e.get("tid")): e["args"]["name"]
        for e in events if e.get("name") in ("process_name", "thread_name")
    }
    assert {"/host:CPU", "/device:GPU:0", "MainThread", "Stream #7(Kernel)"} <= set(names.values())
    kernels = [e for e in events if "kernel_details" in e.get("args", {})]
    shown = defaultdict(list)
    for event in kernels:
        shown[event["name"]].append(event["dur"])
    assert shown.keys() == DURATIONS.keys()
    for name, durations in shown.items():
        assert sorted(durations) == pytest.approx(sorted(DURATIONS[name]), abs=1e-3)
    launches = [e for e in events if e.get("name") == "cudaLaunchKernel"]
    first = min(launches, key=lambda e: e["ts"])
    assert (first["ts"], first["dur"]) == pytest.approx((102.0, 4.0), abs=1e-3)
    for event in (*launches, *kernels):
        assert "flow" in event["args"]  # the arrow from launch to kernel


def test_waits_ranges_and_overheads_are_shown(space: str) -> None:
    events = ask(space, "trace_viewer")["traceEvents"]
    lines = {
        (e["pid"], e.get("tid")): e["args"]["name"]
        for e in events if e.get("name") == "thread_name"
    }
    for line, name, start, duration in (
        ("synchronization: MainThread", "context synchronize", 700, 100),
        ("NVTX: MainThread", "loader: epoch", 50, 800),
        ("overhead", "buffer flush", 820, 5),
    ):
        (shown,) = [e for e in events if e.get("name") == name]
        assert lines[shown["pid"], shown["tid"]] == line
        assert (shown["ts"], shown["dur"]) == pytest.approx((start, duration), abs=1e-3)


@pytest.mark.parametrize(
    "tool", ["kernel_stats", "overview_page", "framework_op_stats", "memory_profile"]
)
def test_they_change_no_figure(space: str, tool: str, tmp_path: Path) -> None:
    plain = written(tmp_path, synthetic(extras=False))
    assert ask(space, tool) == ask(plain, tool)


def test_overview_steps(space: str) -> None:
    tables = ask(space, "overview_page")
    operations = {row["operation"] for row in table(tables[0]) if row}
    assert operations >= set(KERNELS)
    steps = table(tables[1])
    assert len(steps) == STEPS
    for number, row in enumerate(steps):
        busy = sum(durations[number] for durations in DURATIONS.values()) / 1000
        assert row["deviceComputeTimeMs"] == pytest.approx(busy, abs=1e-3)
    assert tables[1]["p"]["hardware_type"] == "GPU"


def test_step_names(space: str) -> None:
    events = ask(space, "trace_viewer")["traceEvents"]
    steps = [e for e in events if e.get("args", {}).get("step_num")]
    assert sorted(int(e["args"]["step_num"]) for e in steps) == [20, 21, 22, 23]


def test_framework_ops(space: str) -> None:
    rows = table(ask(space, "framework_op_stats")[0])
    device = {r["operation"]: r for r in rows if r["host_or_device"] == "Device"}
    for op, (name, _) in KERNELS.items():
        assert device[op]["occurrences"] == STEPS
        assert device[op]["total_time"] == pytest.approx(sum(DURATIONS[name]), abs=1e-2)
    host = {r["operation"] for r in rows if r["host_or_device"] == "Host"}
    assert host >= set(KERNELS)


def test_memory_profile(space: str) -> None:
    profile = ask(space, "memory_profile")["memoryProfilePerAllocator"]["gpu_0"]
    count = STEPS * len(KERNELS)
    summary = profile["profileSummary"]
    assert int(summary["peakBytesUsageLifetime"]) == count << 20
    assert int(summary["memoryCapacity"]) == 1 << 37
    shown = profile["sampledTimelineSnapshots"]
    used = [int(snapshot["aggregationStats"]["heapAllocatedBytes"]) for snapshot in shown]
    assert used == [number << 20 for number in range(1, count + 1)]
    ops = {snapshot["activityMetadata"]["tfOpName"] for snapshot in shown}
    assert ops == set(KERNELS)


def test_the_plugin_lists_the_session(space: str) -> None:
    plugin: Any = importlib.import_module("xprof.profile_plugin")
    session = Path(space).parent
    logdir = session.parents[2]
    context = SimpleNamespace(
        logdir=str(logdir), data_provider=None, multiplexer=None, assets_zip_provider=None,
        flags=MagicMock(),
    )
    runs = list(plugin.ProfilePlugin(context).generate_runs())
    assert any(run.endswith(session.name) for run in runs)
