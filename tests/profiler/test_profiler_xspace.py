"""XSpace and Chrome's format, read back; xprof itself judges in differential/test_xprof.py."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
import synthetic

from tfevents import proto
from tfevents.profiler import _wire, chrome, spans, timeline, xspace
from tfevents.profiler.cupti.trace import GpuTrace


def planes() -> dict[str, proto.XPlane]:
    made = timeline.join(synthetic.host(), synthetic.gpu())
    space = proto.XSpace.FromString(b"".join(xspace.encode(made, "machine")))
    assert list(space.hostnames) == ["machine"]
    assert list(space.warnings) == ["one note"]
    return {plane.name: plane for plane in space.planes}


def value(plane: proto.XPlane, stat: proto.XStat) -> Any:
    form = stat.WhichOneof("value")
    assert form is not None
    number = getattr(stat, form)
    return plane.stat_metadata[number].name if form == "ref_value" else number


def events(plane: proto.XPlane, line: proto.XLine) -> list[tuple[str, int, int, dict[str, Any]]]:
    """Name, picoseconds of start and duration, and stats."""
    return [
        (
            plane.event_metadata[event.metadata_id].name, event.offset_ps, event.duration_ps,
            {plane.stat_metadata[s.metadata_id].name: value(plane, s) for s in event.stats},
        )
        for event in line.events
    ]


def test_planes() -> None:
    assert list(planes()) == ["/host:CPU", "/device:GPU:0", "Task Environment"]


def test_kernels_and_copies() -> None:
    plane = planes()["/device:GPU:0"]
    seven, eight = plane.lines
    assert [seven.name, eight.name] == ["Stream #7(Kernel,Memcpy)", "Stream #8(Kernel)"]
    detail = "regs:32 static_shared:1024 dynamic_shared:2048 grid:128,2,1 block:256,1,1"
    matmul = {"kernel_details": detail, "tf_op": "dense/MatMul:MatMul"}
    copy = {
        "memcpy_details": "kind_src:pinned kind_dst:device size:4096 dest:0 async:1",
        "tf_op": "dense/Add:Add",
    }
    assert events(plane, seven) == [
        ("gemm", 20_000_000, 30_000_000, matmul | {"correlation_id": 1}),
        ("gemm", 60_000_000, 12_500_000, matmul | {"correlation_id": 2}),
        ("MemcpyH2D", 80_000_000, 10_000_000, copy | {"correlation_id": 3}),
    ]
    assert events(plane, eight)[1] == (
        "relu", 270_000_000, 10_000_000, {"kernel_details": detail, "correlation_id": 5},
    )


def test_device_facts() -> None:
    plane = planes()["/device:GPU:0"]
    facts = {plane.stat_metadata[s.metadata_id].name: value(plane, s) for s in plane.stats}
    assert facts == {
        "device_vendor": "Nvidia", "clock_rate": 1_980_000, "core_count": 132,
        "memory_bandwidth": 4_800_000_000_000, "memory_size": 1 << 37, "compute_cap_major": 9,
        "compute_cap_minor": 0,
    }


def test_host_threads() -> None:
    plane = planes()["/host:CPU"]
    main, other, memory = plane.lines
    assert [main.name, other.name, memory.name] == ["MainThread", "thread 0x11112222", "memory"]
    assert events(plane, main)[:4] == [
        ("train", 0, 100_000_000, {"step_num": 10, "_r": 1}),
        ("dense/MatMul", 10_000_000, 30_000_000, {"tf_op": "dense/MatMul:MatMul"}),
        ("cudaLaunchKernel", 15_000_000, 4_000_000, {"correlation_id": 1}),
        ("cudaLaunchKernel", 20_000_000, 2_000_000, {"correlation_id": 2}),
    ]


def test_memory() -> None:
    plane = planes()["/host:CPU"]
    first, second, third = events(plane, plane.lines[2])
    assert [first[0], third[0]] == ["MemoryAllocation", "MemoryDeallocation"]
    assert first[3] == {
        "bytes_allocated": 1 << 20, "peak_bytes_in_use": 1 << 20,
        "bytes_available": (1 << 37) - (1 << 20), "requested_bytes": 1 << 20,
        "allocation_bytes": 1 << 20, "addr": 0x7F00000000, "allocator_name": "gpu_0",
        "tf_op": "dense/MatMul",
    }
    assert second[3]["bytes_allocated"] == second[3]["peak_bytes_in_use"] == (1 << 20) + (1 << 10)
    assert (third[3]["bytes_allocated"], third[3]["requested_bytes"]) == (1 << 20, 1 << 10)
    assert third[3]["peak_bytes_in_use"] == (1 << 20) + (1 << 10)
    sizes = [s for s in plane.lines[2].events[0].stats if s.metadata_id < 128]
    forms = {plane.stat_metadata[s.metadata_id].name: s.WhichOneof("value") for s in sizes}
    assert forms["bytes_allocated"] == "int64_value"  # xprof reads nothing else


def test_extras_are_lines_of_the_host() -> None:
    made = timeline.join(synthetic.host(), synthetic.gpu_with_extras())
    plane = proto.XSpace.FromString(b"".join(xspace.encode(made))).planes[0]
    lines = {line.name: events(plane, line) for line in plane.lines}
    assert len({line.id for line in plane.lines}) == len(plane.lines)
    for title, name, start, end in synthetic.EXTRAS:
        assert (name, start * 10**6, (end - start) * 10**6, {}) in lines[title]
    assert len(lines) == 3 + len({title for title, *_ in synthetic.EXTRAS})


def test_environment() -> None:
    plane = planes()["Task Environment"]
    facts = {plane.stat_metadata[s.metadata_id].name: value(plane, s) for s in plane.stats}
    start = synthetic.START
    assert facts == {"profile_start_time": start, "profile_stop_time": start + 400_000}


def test_what_began_before_the_recording_is_moved_to_its_start() -> None:
    kernels = synthetic.gpu().kernels[:1].copy()
    kernels["start"] = synthetic.START - 5000
    made = timeline.join(synthetic.host(), synthetic.gpu(kernels=kernels))
    space = proto.XSpace.FromString(b"".join(xspace.encode(made)))
    assert space.planes[1].lines[0].events[0].offset_ps == 0


# The encoder of many messages --------------------------------------------------------------------

NUMBERS = [0, 1, 127, 128, 16383, 16384, (1 << 32) - 1, (1 << 63) - 1]


def test_messages_equal_protobufs() -> None:
    numbers = np.array(NUMBERS)
    present = np.arange(len(numbers)) % 2 == 0
    encoded = _wire.messages(
        0x22,
        [
            _wire.Field(0x08, numbers + 0),
            _wire.Field(0x20, -numbers, present, (0x22, b"\x08\x05")),
            _wire.Field(0x18, numbers[::-1], None, (0x22, b"\x08\x81\x01")),
        ],
    )
    line = proto.XLine.FromString(encoded)
    for event, number, other, has in zip(
        line.events, NUMBERS, reversed(NUMBERS), present, strict=True
    ):
        *first, last = event.stats
        assert event.metadata_id == number
        assert [(s.metadata_id, s.int64_value) for s in first] == ([(5, -number)] if has else [])
        assert (last.metadata_id, last.uint64_value) == (129, other)
        for stat in event.stats:  # the canonical form has no other length
            assert stat.ByteSize() <= 13


def test_messages_are_canonical() -> None:
    numbers = np.array(NUMBERS[1:])
    encoded = _wire.messages(0x22, [_wire.Field(0x08, numbers), _wire.Field(0x18, numbers)])
    expected = proto.XLine()
    for number in NUMBERS[1:]:
        expected.events.add(metadata_id=number, duration_ps=number)
    assert encoded == expected.SerializeToString()


def test_chunks_make_no_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    made = timeline.join(synthetic.host(), synthetic.gpu_with_extras())
    whole = proto.XSpace.FromString(b"".join(xspace.encode(made)))
    for module in (spans, xspace):
        monkeypatch.setattr(module, "CHUNK", 2)
    again = timeline.join(synthetic.host(), synthetic.gpu_with_extras())
    assert again.names == made.names
    assert proto.XSpace.FromString(b"".join(xspace.encode(again))) == whole


# Chrome ------------------------------------------------------------------------------------------


def chrome_events(gpu: GpuTrace | None = None) -> list[dict[str, Any]]:
    made = timeline.join(synthetic.host(), gpu or synthetic.gpu())
    loaded: list[dict[str, Any]] = json.loads("".join(chrome.encode(made)))["traceEvents"]
    return loaded


def test_chrome_kernels() -> None:
    kernels = [e for e in chrome_events() if e.get("cat") == "kernel"]
    assert [(e["name"], e["ts"], e["dur"], e["pid"], e["tid"]) for e in kernels] == [
        ("gemm", 20.0, 30.0, 1, 7), ("gemm", 60.0, 12.5, 1, 7), ("gemm", 230.0, 20.0, 1, 8),
        ("relu", 270.0, 10.0, 1, 8),
    ]
    assert kernels[0]["args"]["op"] == "dense/MatMul"


def test_chrome_arrows_lead_from_calls_to_work() -> None:
    arrows = {(e["ph"], e["id"]): e for e in chrome_events() if e["ph"] in "sf"}
    assert len(arrows) == 10
    begin, end = arrows["s", 1], arrows["f", 1]
    assert (begin["pid"], begin["tid"], begin["ts"]) == (0, 0, 15.0)
    assert (end["pid"], end["tid"], end["ts"]) == (1, 7, 20.0)


def test_chrome_names_processes_and_threads() -> None:
    named = {
        (e["name"], e["pid"], e["tid"]): e["args"]["name"]
        for e in chrome_events() if e["ph"] == "M"
    }
    assert named["process_name", 0, 0] == "host"
    assert named["process_name", 1, 0] == "GPU 0"
    assert named["thread_name", 0, 0] == "MainThread"
    assert named["thread_name", 1, 8] == "stream 8"


def test_chrome_extras() -> None:
    made = chrome_events(synthetic.gpu_with_extras())
    lines = {e["tid"]: e["args"]["name"] for e in made
        if e["name"] == "thread_name" and e["pid"] == 0}
    found = [
        (lines[e["tid"]], e["name"], e["ts"], e["ts"] + e["dur"])
        for e in made if e.get("cat") == "extra"
    ]
    assert found == synthetic.EXTRAS
