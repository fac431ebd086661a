"""Host spans and GPU activity on one time axis, with one string table; pure.

Every piece of GPU work gets the span that launched it: by the id that was pushed around the launch,
or else by where the thread was when it launched. The name of that span is the name of the op.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tfevents.profiler.cupti.trace import COPY_KINDS, MEMORY_KINDS, GpuTrace
from tfevents.profiler.extras import extras
from tfevents.profiler.spans import NO_STEP, SPAN, HostTrace, Rows, Thread, flat, numbers, places

__all__ = [
    "ALLOCATION", "CALL", "COPY", "FILL", "GRAPH", "KERNEL", "MEMORY_EVENTS", "WORK", "Timeline",
    "join",
]

KERNEL, COPY, FILL, GRAPH = range(4)
"""Values of WORK `kind`."""

WORK = np.dtype(
    [
        ("start", "i8"),
        ("end", "i8"),
        ("device", "u4"),
        ("stream", "u4"),
        ("correlation", "u4"),
        ("kind", "u1"),
        ("name", "i4"),
        ("op", "i4"),
        ("step", "i8"),
        ("launched", "i8"),
        ("launcher", "i4"),
        ("detail", "i4"),
        ("bytes", "u8"),
    ]
)
"""Kernels, copies, fills and graphs. name, op and detail are names of the timeline; op is 0 where
no span is known. launched is when the call that launched it began, 0 if unknown, and launcher the
index of its thread, -1 if unknown. detail is what xprof wants to know of a kernel or copy."""

CALL = np.dtype(
    [
        ("start", "i8"),
        ("end", "i8"),
        ("name", "i4"),
        ("thread", "i4"),
        ("correlation", "u4"),
    ]
)
"""Calls of the CUDA runtime and driver; of nested ones with one correlation, the outer."""

ALLOCATION = np.dtype(
    [
        ("time", "i8"),
        ("device", "u4"),
        ("bytes", "i8"),
        ("address", "u8"),
        ("op", "i4"),
        ("step", "i8"),
    ]
)
"""Allocations of GPU memory, and releases with bytes less than 0."""

Ints = npt.NDArray[Any]
_HOST_MEMORY = 0xFFFFFFFF

MEMORY_EVENTS = ("MemoryAllocation", "MemoryDeallocation")
"""Names that every timeline has, for forms that show allocations as events."""
_WHOLE = "step"


@dataclass(frozen=True, slots=True)
class Timeline:
    """One recording, ready to be written in any form.

    Attributes:
        start, stop: nanoseconds since the epoch; everything is near them.
        names: the string table of all columns.
        threads: of host and driver; the first one began the recording.
        spans: dtype `spans.SPAN`, with steps filled in.
        work: dtype WORK, sorted by start.
        calls: dtype CALL, sorted by start.
        allocations: dtype ALLOCATION, sorted by time.
        devices: dtype `cupti.trace.DEVICE`, names in `names`.
        extras: dtype `extras.EXTRA`, sorted by start: NVTX ranges, waits, overheads.
        extra_lines: names of the lines that extras are on.
        notes: sentences for whoever looks at it.
    """

    start: int
    stop: int
    names: tuple[str, ...]
    threads: tuple[Thread, ...]
    spans: Rows
    work: Rows
    calls: Rows
    allocations: Rows
    devices: Rows
    extras: Rows
    extra_lines: tuple[str, ...]
    notes: tuple[str, ...]

    def steps(self) -> list[int]:
        """The numbers of the steps that were marked."""
        return [int(n) for n in np.unique(self.spans["step"][self.spans["marks_step"]])]


def join(host: HostTrace, gpu: GpuTrace | None = None, step: int | None = None) -> Timeline:
    """Puts the two together.

    Args:
        host: what the host recorded. If it marked no step, all is one step.
        gpu: what the GPUs did; without it the parts for them are empty.
        step: the number of that one step, 0 by default.
    """
    gpu = GpuTrace() if gpu is None else gpu
    offset = len(host.names) + len(MEMORY_EVENTS) + 1
    names = [*map(_sendable, host.names), *MEMORY_EVENTS, _WHOLE, *gpu.names]
    is_one_step = not host.spans["marks_step"].any()
    spans = _whole_step(host, step or 0, offset - 1) if is_one_step else host.spans
    spans = _with_steps(spans)
    named = tuple(Thread(thread.ident, _sendable(thread.name)) for thread in host.threads)
    calls, threads = _calls(gpu.api, named, offset)
    work = _work(gpu, names, offset)
    launch = _first_of(gpu.api["correlation"], gpu.api["start"], work["correlation"])
    known = launch >= 0
    place = places(threads, gpu.api["thread"])
    work["launched"][known] = gpu.api["start"][launch[known]]
    work["launcher"] = -1
    work["launcher"][known] = place[launch[known]]
    owner = _owners(spans, gpu.external, work["correlation"])
    _look_where_it_was_launched(owner, spans, work)
    _assign(work, owner, spans, np.where(known, work["launched"], work["start"]))
    allocations = _allocations(gpu, spans)
    if is_one_step:
        for rows in (spans, work, allocations):
            rows["step"] = step or 0
    rest, lines = extras(gpu, names, threads, host.stop)
    devices = gpu.devices.copy()
    devices["name"] += offset
    dropped = [f"{host.dropped} host spans were dropped for want of room"] if host.dropped else []
    return Timeline(
        host.start, host.stop, tuple(names), threads, spans, work, calls,
        allocations, devices, rest, lines, (*gpu.notes, *dropped),
    )


def _sendable(text: str) -> str:
    """Text that UTF-8 can carry; a lone surrogate, as in odd file names, becomes "?"."""
    return text.encode("utf-8", "replace").decode()


# Steps and owners --------------------------------------------------------------------------------


def _whole_step(host: HostTrace, step: int, name: int) -> Rows:
    """The spans, in one more that is a step and lasts as long as the recording."""
    whole = np.zeros(1, SPAN)
    whole["start"], whole["end"] = host.start, host.stop
    whole["name"], whole["step"], whole["marks_step"] = name, step, True
    return np.concatenate([whole, host.spans])


def _with_steps(spans: Rows) -> Rows:
    """The spans; those that inherited no step get the one they began in."""
    spans = spans.copy()
    unknown = spans["step"] == NO_STEP
    spans["step"][unknown] = _step_at(spans, spans["start"][unknown])
    return spans


def _step_at(spans: Rows, times: Ints) -> Ints:
    """The step that runs at each time, or NO_STEP."""
    steps = spans[spans["marks_step"]]
    if not len(steps):
        return np.full(len(times), NO_STEP)
    place = np.searchsorted(steps["start"], times, "right") - 1
    inside = (place >= 0) & (times < steps["end"][place])
    return np.where(inside, steps["step"][place], NO_STEP)


def _first_of(keys: Ints, order: Ints, wanted: Ints) -> Ints:
    """Index of the row with each wanted key, the lowest in `order`; -1 where there is none."""
    sort = np.lexsort((order, keys))
    place = np.searchsorted(keys[sort], wanted)
    result = np.full(len(wanted), -1)
    inside = place < len(sort)
    candidate = sort[place[inside]]
    result[inside] = np.where(keys[candidate] == wanted[inside], candidate, -1)
    return result


def _owners(spans: Rows, external: Rows, correlations: Ints) -> Ints:
    """Index of the span that was pushed around each correlation's launch, or -1."""
    tie = _first_of(external["correlation"], external["external"], correlations)
    owner = np.full(len(correlations), -1)
    tied = np.flatnonzero(tie >= 0)
    ids = external["external"][tie[tied]]
    owner[tied] = _first_of(spans["id"], spans["start"], ids)
    return owner


def _look_where_it_was_launched(owner: Ints, spans: Rows, work: Rows) -> None:
    """Fills in owners that are -1 by the innermost span of the launching thread at that time."""
    missing = (owner < 0) & (work["launcher"] >= 0)
    for thread in np.unique(work["launcher"][missing]):
        own = np.flatnonzero(spans["thread"] == thread)
        if len(own):
            rows = np.flatnonzero(missing & (work["launcher"] == thread))
            times, innermost = _innermost(spans[own])
            place = np.searchsorted(times, work["launched"][rows], "right") - 1
            found = innermost[place]
            owner[rows] = np.where((place >= 0) & (found >= 0), own[found], -1)


def _innermost(spans: Rows) -> tuple[Ints, Ints]:
    """Times from which on a span of one thread is the innermost, and its index, -1 for none."""
    times, innermost = [], []
    ends = spans["end"].tolist()
    stack: list[int] = []
    for index, start in enumerate(spans["start"].tolist()):
        while stack and ends[stack[-1]] <= start:
            times.append(ends[stack.pop()])
            innermost.append(stack[-1] if stack else -1)
        stack.append(index)
        times.append(start)
        innermost.append(index)
    while stack:
        times.append(ends[stack.pop()])
        innermost.append(stack[-1] if stack else -1)
    order = np.argsort(times, kind="stable")  # spans of tasks can overlap without nesting
    return np.array(times)[order], np.array(innermost)[order]


def _assign(rows: Rows, owner: Ints, spans: Rows, times: Ints) -> None:
    """Ops and steps of rows, by their owners or else by time; a span that is a step is no op."""
    owned = owner >= 0
    own = spans[owner[owned]]
    rows["op"][owned] = np.where(own["marks_step"], 0, own["name"])
    rows["step"] = _step_at(spans, times)
    rows["step"][owned] = own["step"]


# Parts of the GPU trace --------------------------------------------------------------------------


def _calls(
    api: Rows, threads: tuple[Thread, ...], offset: int
) -> tuple[Rows, tuple[Thread, ...]]:
    """Calls, and the threads with those that only the driver knows."""
    known = {thread.ident & 0xFFFFFFFF: index for index, thread in enumerate(threads)}
    more = list(threads)
    for ident in np.unique(api["thread"]).tolist():
        if ident not in known:
            known[ident] = len(more)
            more.append(Thread(ident, f"thread {ident:#x}"))
    order = np.lexsort((api["start"], api["correlation"]))
    ordered = api["correlation"][order]
    first = np.ones(len(order), bool)
    first[1:] = (ordered[1:] != ordered[:-1]) | (ordered[1:] == 0)
    kept = api[np.sort(order[first])]
    calls = np.zeros(len(kept), CALL)
    for column in ("start", "end", "correlation"):
        calls[column] = kept[column]
    calls["name"] = kept["name"] + offset
    calls["thread"] = places(tuple(more), kept["thread"])
    return calls[np.argsort(calls["start"], kind="stable")], tuple(more)


def _work(gpu: GpuTrace, names: list[str], offset: int) -> Rows:
    """All that ran on GPUs, by start; launches, ops and steps are still to be filled in."""
    tables = (gpu.kernels, gpu.memcpys, gpu.memsets, gpu.graphs)
    work, at = np.zeros(sum(map(len, tables)), WORK), 0
    fills = _added(["Memset"], names, np.zeros(len(gpu.memsets), np.int32))
    for kind, rows, name, detail in (
        (KERNEL, gpu.kernels, gpu.kernels["name"] + offset, _kernel_details),
        (COPY, gpu.memcpys, _copy_names(gpu.memcpys, names), _copy_details),
        (FILL, gpu.memsets, fills, _fill_details),
        (GRAPH, gpu.graphs, _graph_names(gpu.graphs, names), None),
    ):
        part = work[at : at + len(rows)]
        at += len(rows)
        for column in ("start", "end", "device", "stream", "correlation"):
            part[column] = rows[column]
        part["kind"], part["name"] = kind, name
        if detail is not None:
            part["detail"] = detail(rows, names)
        if "bytes" in (rows.dtype.names or ()):
            part["bytes"] = rows["bytes"]
    order = np.argsort(work["start"], kind="stable")
    timed = (work["start"] > 0) & (work["end"] >= work["start"])  # 0: not timed
    return work[order[timed[order]]]


def _added(texts: list[str], names: list[str], which: Ints) -> Ints:
    """Adds strings to the table; the place there of each `texts[which]`."""
    start = len(names)
    names += texts
    return start + which


def _distinct(rows: Rows, columns: tuple[str, ...]) -> tuple[Ints, Ints]:
    """Where each distinct combination of some columns first is, and which of them a row has.

    The columns become digits of one number, which is made small again before it overflows.
    """
    code, size = np.zeros(len(rows), np.int64), 1
    for column in flat(rows, columns) if len(rows) else ():
        base = int(column.max()) - int(column.min()) + 1
        if base > _MOST:
            digits, base = _ranks(column), len(rows)
        else:
            digits = (column - column.min()).astype(np.int64)
        if size > _MOST:
            code, size = _ranks(code), len(rows)
        code, size = code * base + digits, size * base
    _, first, inverse = np.unique(code, return_index=True, return_inverse=True)
    return first, inverse


_MOST = 1 << 31


def _ranks(values: Ints) -> Ints:
    return np.unique(values, return_inverse=True)[1]


def _kernel_details(rows: Rows, names: list[str]) -> Ints:
    columns = ("registers", "static_shared", "dynamic_shared", "grid", "block")
    first, inverse = _distinct(rows, columns)
    texts = [
        f"regs:{registers} static_shared:{static} dynamic_shared:{dynamic} "
        f"grid:{x},{y},{z} block:{u},{v},{w}"
        for registers, static, dynamic, x, y, z, u, v, w in numbers(rows, columns, first)
    ]
    return _added(texts, names, inverse)


def _copy_names(rows: Rows, names: list[str]) -> Ints:
    kinds, inverse = np.unique(rows["copy_kind"], return_inverse=True)
    return _added([f"Memcpy{_copy_name(kind)}" for kind in kinds.tolist()], names, inverse)


def _copy_name(kind: int) -> str:
    """A kind of copy as TensorFlow 2 writes it: "H2D" for host to device."""
    return COPY_KINDS.get(kind, "").replace("to", "2")


def _copy_details(rows: Rows, names: list[str]) -> Ints:
    columns = ("source_kind", "target_kind", "bytes", "target_device", "flags")
    first, inverse = _distinct(rows, columns)
    texts = [
        f"kind_src:{_memory(source)} kind_dst:{_memory(target)} size:{size} dest:{device} "
        f"async:{flags & 1}"
        for source, target, size, device, flags in numbers(rows, columns, first)
    ]
    return _added(texts, names, inverse)


def _fill_details(rows: Rows, names: list[str]) -> Ints:
    columns = ("memory_kind", "bytes", "flags")
    first, inverse = _distinct(rows, columns)
    texts = [
        f"kind:{_memory(kind)} num_bytes:{size} async:{flags & 1}"
        for kind, size, flags in numbers(rows, columns, first)
    ]
    return _added(texts, names, inverse)


def _graph_names(rows: Rows, names: list[str]) -> Ints:
    graphs, inverse = np.unique(rows["graph"], return_inverse=True)
    return _added([f"CUDA graph {number}" for number in graphs.tolist()], names, inverse)


def _memory(kind: int) -> str:
    return MEMORY_KINDS.get(kind, "unknown").lower().replace(" ", "_")


def _allocations(gpu: GpuTrace, spans: Rows) -> Rows:
    on_device = (gpu.memory["device"] != _HOST_MEMORY) & np.isin(gpu.memory["operation"], (1, 2))
    memory = gpu.memory[on_device]
    rows = np.zeros(len(memory), ALLOCATION)
    for column in ("time", "device", "address"):
        rows[column] = memory[column]
    sizes = memory["bytes"].astype(np.int64)
    rows["bytes"] = np.where(memory["operation"] == 1, sizes, -sizes)
    owner = _owners(spans, gpu.external, memory["correlation"])
    _assign(rows, owner, spans, rows["time"])
    return rows[np.argsort(rows["time"], kind="stable")]
