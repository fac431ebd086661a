"""What a GPU session saw: one numpy structured array per kind of activity.

All times are int64 nanoseconds since the epoch. Strings are kept once, in `GpuTrace.names`; a
column called `name` (or `domain`) is an index into it, where index 0 is the empty string.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from tfevents.profiler.spans import Rows

_SPAN = [("start", "i8"), ("end", "i8")]
_PLACE = [("device", "u4"), ("context", "u4"), ("stream", "u4"), ("correlation", "u4")]
_OWNER = [("object_kind", "u4"), ("process", "u4"), ("thread", "u4")]
"""process and thread hold where object_kind is 2, process alone where it is 1."""
_NODE = [("graph", "u4"), ("graph_node", "u8")]

KERNEL = np.dtype(
    [
        *_SPAN,
        *_PLACE,
        *_NODE,
        ("name", "i4"),
        ("grid", "i4", (3,)),
        ("block", "i4", (3,)),
        ("registers", "u2"),
        ("static_shared", "i4"),
        ("dynamic_shared", "i4"),
        ("local_per_thread", "u4"),
    ]
)
"""registers are per thread; static_shared, dynamic_shared and local_per_thread are bytes."""

MEMCPY = np.dtype(
    [
        *_SPAN,
        *_PLACE,
        *_NODE,
        ("bytes", "u8"),
        ("copy_kind", "u1"),
        ("source_kind", "u1"),
        ("target_kind", "u1"),
        ("flags", "u1"),
        ("peer", "?"),
        ("target_device", "u4"),
    ]
)
"""copy_kind is a key of COPY_KINDS, source_kind and target_kind of MEMORY_KINDS; flags & 1 means
asynchronous. target_device differs from device only where peer is set."""

MEMSET = np.dtype(
    [
        *_SPAN,
        *_PLACE,
        *_NODE,
        ("bytes", "u8"),
        ("value", "u4"),
        ("memory_kind", "u2"),
        ("flags", "u2"),
    ]
)

API = np.dtype(
    [
        *_SPAN,
        ("domain", "u1"),
        ("cbid", "u4"),
        ("name", "i4"),
        ("process", "u4"),
        ("thread", "u4"),
        ("correlation", "u4"),
        ("result", "u4"),
    ]
)
"""domain is DRIVER or RUNTIME; thread is `threading.get_ident() & 0xFFFFFFFF`: CUPTI's default
id is the pthread handle cut to 32 bits, and changing that setting would confuse other tools."""

EXTERNAL = np.dtype([("correlation", "u4"), ("external", "u8")])
"""The work launched under `correlation` belongs to the span pushed as `external`."""

MARKER = np.dtype(
    [
        ("time", "i8"),
        ("flags", "u4"),
        ("id", "u4"),
        ("name", "i4"),
        ("domain", "i4"),
        *_OWNER,
    ]
)
"""Instants of NVTX; flags & 1 is a mark, & 2 the start and & 4 the end of the range `id`."""

OVERHEAD = np.dtype([*_SPAN, ("overhead_kind", "u4"), *_OWNER])
"""Time that the driver or the profiler took for itself; overhead_kind is a key of OVERHEADS."""

SYNC = np.dtype(
    [*_SPAN, ("sync_kind", "u4"), ("correlation", "u4"), ("context", "u4"), ("stream", "u4")]
)
"""sync_kind is a key of SYNCS; stream is 2**32 - 1 where the wait is not for one stream."""

MEMORY = np.dtype(
    [
        ("time", "i8"),
        *_PLACE,
        ("operation", "u4"),
        ("memory_kind", "u4"),
        ("address", "u8"),
        ("bytes", "u8"),
        ("process", "u4"),
        ("name", "i4"),
    ]
)
"""operation is a key of MEMORY_OPERATIONS; device is 2**32 - 1 for host memory."""

GRAPH = np.dtype([*_SPAN, *_PLACE, ("graph", "u4")])

DEVICE = np.dtype(
    [
        ("id", "u4"),
        ("name", "i4"),
        ("memory", "u8"),
        ("bandwidth", "u8"),
        ("clock", "u4"),
        ("multiprocessors", "u4"),
        ("major", "u4"),
        ("minor", "u4"),
    ]
)
"""memory in bytes, bandwidth in kilobytes a second, clock in kHz; (major, minor) is the compute
capability."""

CONTEXT = np.dtype([("id", "u4"), ("device", "u4")])

DTYPES: dict[str, np.dtype[Any]] = {
    "kernels": KERNEL,
    "memcpys": MEMCPY,
    "memsets": MEMSET,
    "api": API,
    "external": EXTERNAL,
    "markers": MARKER,
    "overheads": OVERHEAD,
    "syncs": SYNC,
    "memory": MEMORY,
    "graphs": GRAPH,
    "devices": DEVICE,
    "contexts": CONTEXT,
}
"""Table of GpuTrace by field name."""

DRIVER, RUNTIME = 1, 2
"""Values of API `domain`: a CUDA driver call (cu...) or a CUDA runtime call (cuda...)."""

COPY_KINDS = {
    1: "HtoD",
    2: "DtoH",
    3: "HtoA",
    4: "AtoH",
    5: "AtoA",
    6: "AtoD",
    7: "DtoA",
    8: "DtoD",
    9: "HtoH",
    10: "PtoP",
}

MEMORY_KINDS = {
    1: "Pageable",
    2: "Pinned",
    3: "Device",
    4: "Array",
    5: "Managed",
    6: "Device Static",
    7: "Managed Static",
}

OVERHEADS = {
    1: "driver compiler",
    1 << 16: "buffer flush",
    2 << 16: "instrumentation",
    3 << 16: "resource",
    4 << 16: "runtime triggered module loading",
    5 << 16: "lazy function loading",
    6 << 16: "command buffer full",
    7 << 16: "activity buffer request",
    8 << 16: "UVM activity initialisation",
}

SYNCS = {
    1: "event synchronize",
    2: "stream wait event",
    3: "stream synchronize",
    4: "context synchronize",
}

MEMORY_OPERATIONS = {1: "allocation", 2: "release"}


def _empty(table: str) -> Rows:
    return np.zeros(0, DTYPES[table])


@dataclass(frozen=True, slots=True)
class GpuTrace:
    """Everything one session recorded; each table is sorted by time where it has one.

    Attributes:
        names: the string table; `names[0]` is "".
        dropped: records that were emitted and lost (no room, unknown layout, library's own drops);
            where a whole remainder could not be counted it adds one, and a note says so.
        notes: one sentence each for whatever a reader of the trace should know.
    """

    kernels: Rows = field(default_factory=partial(_empty, "kernels"))
    memcpys: Rows = field(default_factory=partial(_empty, "memcpys"))
    memsets: Rows = field(default_factory=partial(_empty, "memsets"))
    api: Rows = field(default_factory=partial(_empty, "api"))
    external: Rows = field(default_factory=partial(_empty, "external"))
    markers: Rows = field(default_factory=partial(_empty, "markers"))
    overheads: Rows = field(default_factory=partial(_empty, "overheads"))
    syncs: Rows = field(default_factory=partial(_empty, "syncs"))
    memory: Rows = field(default_factory=partial(_empty, "memory"))
    graphs: Rows = field(default_factory=partial(_empty, "graphs"))
    devices: Rows = field(default_factory=partial(_empty, "devices"))
    contexts: Rows = field(default_factory=partial(_empty, "contexts"))
    names: tuple[str, ...] = ("",)
    dropped: int = 0
    notes: tuple[str, ...] = ()
