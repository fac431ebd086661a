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

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from tfevents.profiler._wire import Field, delimited, messages, varint
from tfevents.profiler.spans import Rows
from tfevents.profiler.timeline import COPY, FILL, KERNEL, MEMORY_EVENTS, Timeline

__all__ = ["encode"]

Values = npt.NDArray[Any]

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
_FIRST_STRING = 128
"""Ids of the strings that stats refer to, after those of the stats themselves."""


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
        self._events: set[int] = set()
        self._strings: dict[str, int] = {}

    def stat(self, name: str, form: str, value: Any) -> None:
        """A fact about the plane as a whole."""
        self._head.stats.add(metadata_id=_STAT_IDS[name], **{form: value})

    def string(self, text: str) -> int:
        """The id by which stats refer to a string."""
        return self._strings.setdefault(text, _FIRST_STRING + len(self._strings))

    def strings(self, names: Values, form: str = "{}") -> Values:
        """The ids of names of the timeline, each put into a form ("{}:{last part}")."""
        distinct, inverse = np.unique(names, return_inverse=True)
        texts = [self._timeline.names[name] for name in distinct.tolist()]
        ids = [self.string(form.format(text, text.rsplit("/", 1)[-1])) for text in texts]
        return np.array(ids, np.int64)[inverse]

    def op(self, names: Values) -> Field:
        """The stat that tells which op an event belongs to, where it is known."""
        ids = self.strings(names, "{}:{}")
        return _stat("tf_op", _REFERENCE, ids, names > 0)

    def line(self, number: int, name: str, events: list[bytes]) -> None:
        """Adds a line of encoded events."""
        from tfevents import proto

        head = proto.XLine(id=number, display_id=number, name=name).SerializeToString()
        self._lines += delimited(3, [head, *events])

    def events(self, rows: Rows, names: Values, stats: list[Field]) -> list[bytes]:
        """Encodes events; names are those of the timeline."""
        self._events.update(np.unique(names).tolist())
        start = np.maximum(rows["start"] - self._timeline.start, 0)
        duration = np.maximum(rows["end"] - rows["start"], 0)
        fields = [
            Field(_EVENT_NAME, names + 1),  # 0 would be no id
            Field(_OFFSET, start * 1000),
            Field(_DURATION, duration * 1000),
            *stats,
        ]
        return messages(_LINE_EVENTS, fields) if len(rows) else []

    def parts(self) -> list[bytes]:
        """The serialized plane."""
        from tfevents import proto

        tables = proto.XPlane()
        for name in self._events:
            entry = tables.event_metadata[name + 1]
            entry.id, entry.name = name + 1, self._timeline.names[name]
        for text, number in [*_STAT_IDS.items(), *self._strings.items()]:
            stat = tables.stat_metadata[number]
            stat.id, stat.name = number, text
        return [self._head.SerializeToString(), *self._lines, tables.SerializeToString()]


def _stat(name: str, form: int, values: Values, present: Values | None = None) -> Field:
    head = bytes((_STAT_NAME,)) + varint(_STAT_IDS[name])
    return Field(form, values, present, (_STAT, head))


def _always(count: int, value: int) -> Values:
    return np.full(count, value)


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
            plane.line(number + 1, thread.name, _host_events(plane, rows))
    _memory_line(plane, timeline)
    after_memory = len(timeline.threads) + 2
    for line, name in enumerate(timeline.extra_lines):
        rows = timeline.extras[timeline.extras["line"] == line]
        plane.line(after_memory + line, name, plane.events(rows, rows["name"], []))
    return plane


def _host_events(plane: _Plane, rows: Rows) -> list[bytes]:
    is_step = rows["step"] >= 0
    op = np.where(rows["span"] & ~is_step, rows["name"], 0)
    count = len(rows)
    stats = [
        plane.op(op),
        _stat("step_num", _SIGNED, rows["step"], is_step),
        _stat("_r", _SIGNED, _always(count, 1), is_step),
        _stat("correlation_id", _UNSIGNED, rows["correlation"], rows["correlation"] > 0),
    ]
    return plane.events(rows, rows["name"], stats)


# Fields of a memory event that are numbers, in the order of `_memory_rows`.
_MEMORY = (
    "bytes_allocated", "peak_bytes_in_use", "bytes_available", "requested_bytes",
    "allocation_bytes", "addr",
)


def _memory_line(plane: _Plane, timeline: Timeline) -> None:
    """What the memory profile reads: every change, and what was in use after it."""
    spans, allocations = timeline.spans, timeline.allocations
    line: list[bytes] = []
    traced = spans[(spans["live"] != 0) & ~spans["marks_step"]]
    if len(traced):
        traced = traced[np.argsort(traced["end"], kind="stable")]
        used = traced["traced"]
        columns = (used, np.maximum.accumulate(used), 0 * used, np.abs(traced["live"]))
        line += _memory_events(
            plane, timeline, traced["end"], traced["live"], traced["name"], "python", columns,
            0 * used,
        )
    for number in np.unique(allocations["device"]).tolist():
        rows = allocations[allocations["device"] == number]
        used = np.maximum(np.cumsum(rows["bytes"]), 0)
        size = timeline.devices["memory"][timeline.devices["id"] == number].astype(np.int64)
        free = np.maximum((int(size[0]) if len(size) else 0) - used, 0)
        columns = (used, np.maximum.accumulate(used), free, np.abs(rows["bytes"]))
        line += _memory_events(
            plane, timeline, rows["time"], rows["bytes"], rows["op"], f"gpu_{number}", columns,
            rows["address"],
        )
    if line:
        plane.line(len(timeline.threads) + 1, "memory", line)


def _memory_events(
    plane: _Plane, timeline: Timeline, times: Values, change: Values, op: Values, allocator: str,
    columns: tuple[Values, ...], address: Values,
) -> list[bytes]:
    rows = np.zeros(len(times), [("start", "i8"), ("end", "i8")])
    rows["start"] = rows["end"] = times
    allocated, released = (timeline.names.index(name) for name in MEMORY_EVENTS)
    numbers = (*columns, columns[-1], address)
    stats = [
        _stat(name, _SIGNED, values) for name, values in zip(_MEMORY, numbers, strict=True)
    ]
    stats.append(_stat("allocator_name", _REFERENCE, _always(len(rows), plane.string(allocator))))
    # xprof counts these as executions of the op, too, as it does with TensorFlow's own
    stats.append(_stat("tf_op", _REFERENCE, plane.strings(op), op > 0))
    return plane.events(rows, np.where(change > 0, allocated, released), stats)


# GPUs --------------------------------------------------------------------------------------------

_KINDS = ("Kernel", "Memcpy", "Memset", "Graph")
_DETAILS = {KERNEL: "kernel_details", COPY: "memcpy_details", FILL: "memset_details"}


def _gpu_plane(timeline: Timeline, number: int) -> _Plane:
    plane = _Plane(timeline, number + 1, f"/device:GPU:{number}")
    for device in timeline.devices[timeline.devices["id"] == number][:1]:
        _describe(plane, device)
    work = timeline.work[timeline.work["device"] == number]
    for stream in np.unique(work["stream"]).tolist():
        rows = work[work["stream"] == stream]
        kinds = ",".join(_KINDS[kind] for kind in np.unique(rows["kind"]).tolist())
        plane.line(stream, f"Stream #{stream}({kinds})", _work_events(plane, rows))
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


def _work_events(plane: _Plane, rows: Rows) -> list[bytes]:
    details = plane.strings(rows["detail"])
    stats = [
        _stat(name, _REFERENCE, details, rows["kind"] == kind) for kind, name in _DETAILS.items()
    ]
    stats.append(plane.op(rows["op"]))
    stats.append(
        _stat("correlation_id", _UNSIGNED, rows["correlation"], rows["correlation"] > 0)
    )
    return plane.events(rows, rows["name"], stats)
