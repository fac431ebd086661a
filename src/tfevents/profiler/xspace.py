"""XSpace: what TensorBoard's Profile tab (xprof) reads, for a recording; pure.

    plane "/host:CPU"          a line a thread: steps, spans and CUDA calls; a line of allocations;
                               lines of NVTX ranges, waits and overheads
    plane "/device:GPU:<n>"    a line a stream: kernels, copies, fills
    plane "Task Environment"   when the recording was made

What xprof wants and does not say: kernels are found by the exact name of their plane and by a stat
"kernel_details"; steps by a stat "_r", and a kernel belongs to the step on whose line the call with
its correlation id stands; sizes of allocations must be int64_value. Times count from the start of
the recording, since picoseconds since the epoch do not fit 64 bits.

A recording may have a million kernels, so events are encoded by columns (`_wire`); what is small
goes through protobuf. Format: tsl/profiler/protobuf/xplane.proto.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from tfevents.profiler._wire import Field, delimited, messages, varint
from tfevents.profiler.spans import CHUNK, Rows, chosen, slices
from tfevents.profiler.timeline import COPY, FILL, KERNEL, MEMORY_EVENTS, Timeline

__all__ = ["encode"]

Values: TypeAlias = npt.NDArray[Any]
Stats: TypeAlias = "Callable[[_Plane, Rows], list[Field]]"
"""What some rows of a line tell beside their times and names."""

# Fields of XEvent and XStat: number and wire type.
_EVENT_NAME, _OFFSET, _DURATION, _STAT = 0x08, 0x10, 0x18, 0x22
_STAT_NAME, _UNSIGNED, _SIGNED, _REFERENCE = 0x08, 0x18, 0x20, 0x38
_LINE_EVENTS = 0x22

_STATS = (
    "kernel_details", "memcpy_details", "memset_details", "tf_op", "correlation_id",
    "step_num", "_r", "bytes_allocated", "bytes_available", "peak_bytes_in_use", "requested_bytes",
    "allocation_bytes", "addr", "allocator_name", "device_vendor", "clock_rate", "core_count",
    "memory_bandwidth", "memory_size",
    "compute_cap_major", "compute_cap_minor", "profile_start_time", "profile_stop_time",
)
_STAT_IDS = {name: number for number, name in enumerate(_STATS, 1)}
_FIRST_NAME = 128
"""Ids from here on are of strings that stats refer to: of each name of the timeline, then of each
name as that of an op ("dense/MatMul:MatMul"), then of others."""


def encode(timeline: Timeline, host: str = "localhost") -> Iterator[bytes]:
    """The serialized XSpace, in parts that belong one after the other; one plane is held at a time.

    Args:
        timeline: a recording.
        host: name of the machine.
    """
    from tfevents import proto

    for plane in _planes(timeline):
        yield from delimited(1, plane.parts())
    yield proto.XSpace(warnings=timeline.notes, hostnames=[host]).SerializeToString()


def _planes(timeline: Timeline) -> Iterator[_Plane]:
    yield _host_plane(timeline)
    devices = np.union1d(timeline.work["device"], timeline.devices["id"]).tolist()
    for number in devices:
        yield _gpu_plane(timeline, number)
    environment = _Plane(timeline, len(devices) + 1, "Task Environment")
    environment.stat("profile_start_time", "uint64_value", timeline.start)
    environment.stat("profile_stop_time", "uint64_value", timeline.stop)
    yield environment


class _Plane:
    """One plane in the making: its lines encoded, and which names they use."""

    def __init__(self, timeline: Timeline, number: int, name: str) -> None:
        from tfevents import proto

        self._timeline = timeline
        self._head = proto.XPlane(id=number, name=name)
        self._lines: list[bytes] = []
        self._events, self._names, self._ops = np.zeros((3, len(timeline.names)), bool)
        self._others: list[str] = []

    def stat(self, name: str, form: str, value: Any) -> None:
        """A fact about the plane as a whole."""
        self._head.stats.add(metadata_id=_STAT_IDS[name], **{form: value})

    def string(self, text: str) -> int:
        """The id by which stats refer to a string that is no name of the timeline."""
        self._others.append(text)
        return _FIRST_NAME + 2 * len(self._names) + len(self._others) - 1

    def strings(self, names: Values) -> Values:
        """The ids by which stats refer to names of the timeline."""
        self._names[names] = True
        return names + _FIRST_NAME

    def op(self, names: Values) -> Field:
        """The stat that tells which op an event belongs to, where it is known."""
        self._ops[names[names > 0]] = True
        ids = names + (_FIRST_NAME + len(self._names))
        return _stat("tf_op", _REFERENCE, ids, names > 0)

    def line(self, number: int, name: str, rows: Rows, stats: Stats) -> None:
        """Adds a line of events: rows with start, end and a name of the timeline."""
        from tfevents import proto

        head = proto.XLine(id=number, display_id=number, name=name).SerializeToString()
        events = (self._events_of(rows[part], stats) for part in slices(len(rows)))
        self._lines += delimited(3, [head, *events])

    def _events_of(self, rows: Rows, stats: Stats) -> bytes:
        self._events[rows["name"]] = True
        start = np.maximum(rows["start"] - self._timeline.start, 0)
        duration = np.maximum(rows["end"] - rows["start"], 0)
        fields = [
            Field(_EVENT_NAME, rows["name"] + 1),  # 0 would be no id
            Field(_OFFSET, start * 1000),
            Field(_DURATION, duration * 1000),
            *stats(self, rows),
        ]
        return messages(_LINE_EVENTS, fields)

    def parts(self) -> list[bytes]:
        """The serialized plane."""
        names = self._timeline.names
        events = ((number + 1, names[number]) for number in np.flatnonzero(self._events).tolist())
        return [
            self._head.SerializeToString(), *self._lines, *_tables("event_metadata", events),
            *_tables("stat_metadata", self._strings()),
        ]

    def _strings(self) -> Iterator[tuple[int, str]]:
        """All ids that stats use, and what they stand for."""
        names = self._timeline.names
        yield from ((number, name) for name, number in _STAT_IDS.items())
        for number in np.flatnonzero(self._names).tolist():
            yield _FIRST_NAME + number, names[number]
        for number in np.flatnonzero(self._ops).tolist():
            kind = names[number].rsplit("/", 1)[-1]
            yield _FIRST_NAME + len(names) + number, f"{names[number]}:{kind}"
        yield from enumerate(self._others, _FIRST_NAME + 2 * len(names))


def _tables(field: str, entries: Iterator[tuple[int, str]]) -> Iterator[bytes]:
    """A map of a plane from ids to names, in chunks: as a whole it would need much memory."""
    from tfevents import proto

    while chunk := list(itertools.islice(entries, CHUNK)):
        plane = proto.XPlane()
        table = getattr(plane, field)
        for number, name in chunk:
            entry = table[number]
            entry.id, entry.name = number, name
        yield plane.SerializeToString()


def _stat(name: str, form: int, values: Values, present: Values | None = None) -> Field:
    head = bytes((_STAT_NAME,)) + varint(_STAT_IDS[name])
    return Field(form, values, present, (_STAT, head))


# The host ----------------------------------------------------------------------------------------

_HOST_ROW = np.dtype(
    [("start", "i8"), ("end", "i8"), ("name", "i4"), ("span", "?"), ("step", "i8"),
     ("correlation", "u4")]
)  # fmt: skip


def _host_plane(timeline: Timeline) -> _Plane:
    plane = _Plane(timeline, 0, "/host:CPU")
    spans, calls = timeline.spans, timeline.calls
    steps = np.where(spans["marks_step"], spans["step"], -1)
    for number, thread in enumerate(timeline.threads):
        chosen, called = spans["thread"] == number, calls["thread"] == number
        rows = np.zeros(chosen.sum() + called.sum(), _HOST_ROW)
        head, tail = rows[: chosen.sum()], rows[chosen.sum() :]
        for part, source in ((head, spans[chosen]), (tail, calls[called])):
            for column in ("start", "end", "name"):
                part[column] = source[column]
        head["span"], head["step"] = True, steps[chosen]
        tail["step"], tail["correlation"] = -1, calls["correlation"][called]
        rows = rows[np.lexsort((-rows["end"], rows["start"]))]
        if len(rows):
            plane.line(number + 1, thread.name, rows, _host_stats)
    _memory_line(plane, timeline)
    after_memory = len(timeline.threads) + 2
    for line, name in enumerate(timeline.extra_lines):
        rows = timeline.extras[timeline.extras["line"] == line]
        plane.line(after_memory + line, name, rows, lambda plane, rows: [])
    return plane


def _host_stats(plane: _Plane, rows: Rows) -> list[Field]:
    is_step = rows["step"] >= 0
    return [
        plane.op(np.where(rows["span"] & ~is_step, rows["name"], 0)),
        _stat("step_num", _SIGNED, rows["step"], is_step),
        _stat("_r", _SIGNED, np.ones(len(rows), np.int64), is_step),
        _stat("correlation_id", _UNSIGNED, rows["correlation"], rows["correlation"] > 0),
    ]


_MEMORY = (
    "bytes_allocated", "peak_bytes_in_use", "bytes_available", "requested_bytes",
    "allocation_bytes", "addr",
)
_MEMORY_ROW = np.dtype(
    [("start", "i8"), ("end", "i8"), ("name", "i4"), ("op", "i4"), ("allocator", "i8")]
    + [(name, "i8") for name in _MEMORY]
)


def _memory_line(plane: _Plane, timeline: Timeline) -> None:
    """What the memory profile reads: every change, and what was in use after it."""
    spans, allocations = timeline.spans, timeline.allocations
    traced = spans[(spans["live"] != 0) & ~spans["marks_step"]]
    parts = []
    if len(traced):
        traced = traced[np.argsort(traced["end"], kind="stable")]
        change, used = traced["live"], traced["traced"]
        rows = _memory_rows(plane, timeline, traced["end"], change, used, "python")
        rows["op"] = traced["name"]
        parts.append(rows)
    for number in np.unique(allocations["device"]).tolist():
        ours = allocations[allocations["device"] == number]
        change, used = ours["bytes"], np.maximum(np.cumsum(ours["bytes"]), 0)
        rows = _memory_rows(plane, timeline, ours["time"], change, used, f"gpu_{number}")
        size = timeline.devices["memory"][timeline.devices["id"] == number].astype(np.int64)
        rows["bytes_available"] = np.maximum((int(size[0]) if len(size) else 0) - used, 0)
        rows["op"], rows["addr"] = ours["op"], ours["address"]
        parts.append(rows)
    if parts:
        plane.line(len(timeline.threads) + 1, "memory", np.concatenate(parts), _memory_stats)


def _memory_rows(
    plane: _Plane, timeline: Timeline, times: Values, change: Values, used: Values, allocator: str
) -> Rows:
    rows = np.zeros(len(times), _MEMORY_ROW)
    rows["start"] = rows["end"] = times
    allocated, released = (timeline.names.index(name) for name in MEMORY_EVENTS)
    rows["name"] = np.where(change > 0, allocated, released)
    rows["allocator"] = plane.string(allocator)
    rows["bytes_allocated"], rows["peak_bytes_in_use"] = used, np.maximum.accumulate(used)
    rows["requested_bytes"] = rows["allocation_bytes"] = np.abs(change)
    return rows


def _memory_stats(plane: _Plane, rows: Rows) -> list[Field]:
    return [
        *(_stat(name, _SIGNED, rows[name]) for name in _MEMORY),
        _stat("allocator_name", _REFERENCE, rows["allocator"]),
        # xprof counts these as executions of the op, too, as it does with TensorFlow's own
        _stat("tf_op", _REFERENCE, plane.strings(rows["op"]), rows["op"] > 0),
    ]


# GPUs --------------------------------------------------------------------------------------------

_KINDS = ("Kernel", "Memcpy", "Memset", "Graph")
_DETAILS = {KERNEL: "kernel_details", COPY: "memcpy_details", FILL: "memset_details"}


def _gpu_plane(timeline: Timeline, number: int) -> _Plane:
    plane = _Plane(timeline, number + 1, f"/device:GPU:{number}")
    for device in timeline.devices[timeline.devices["id"] == number][:1]:
        _describe(plane, device)
    work = chosen(timeline.work, timeline.work["device"] == number)
    for stream in np.unique(work["stream"]).tolist():
        rows = chosen(work, work["stream"] == stream)
        kinds = ",".join(_KINDS[kind] for kind in np.unique(rows["kind"]).tolist())
        plane.line(stream, f"Stream #{stream}({kinds})", rows, _work_stats)
    return plane


def _describe(plane: _Plane, device: Any) -> None:
    plane.stat("device_vendor", "str_value", "Nvidia")
    for name, column, factor in (
        ("clock_rate", "clock", 1),
        ("core_count", "multiprocessors", 1),
        ("memory_bandwidth", "bandwidth", 1000),
        ("memory_size", "memory", 1),
        ("compute_cap_major", "major", 1),
        ("compute_cap_minor", "minor", 1),
    ):
        plane.stat(name, "uint64_value", int(device[column]) * factor)


def _work_stats(plane: _Plane, rows: Rows) -> list[Field]:
    details = plane.strings(rows["detail"])
    return [
        *(_stat(name, _REFERENCE, details, rows["kind"] == kind)
          for kind, name in _DETAILS.items()),
        plane.op(rows["op"]),
        _stat("correlation_id", _UNSIGNED, rows["correlation"], rows["correlation"] > 0),
    ]
