"""Activity buffers to columns; pure: bytes in, arrays out.

A buffer is a run of records, each beginning with its kind (u32). Only the fields below are read,
all from the part of each record that has not moved from CUDA 11.7 to 13.5; what a version appends
is stepped over by the record sizes, which come from the library itself (_sizes.py).

Walking is a Python loop over kinds and nothing else; then each column of each kind is gathered by
one numpy take. That makes one to three million records a second on one core.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from tfevents.profiler.cupti._names import Names
from tfevents.profiler.cupti.trace import DRIVER, DTYPES, RUNTIME, GpuTrace
from tfevents.profiler.spans import Rows

_Bytes = npt.NDArray[np.uint8]

EXTERNAL_KIND = 5
"""CUSTOM2, the kind of external id that is free: torch.profiler uses CUSTOM0 and CUSTOM1."""


@dataclass(frozen=True, slots=True)
class Layout:
    """Where a kind keeps the columns of its table.

    Attributes:
        table: field of GpuTrace.
        fields: column -> (type in the record, its byte offsets: several for a vector).
        constants: columns that the kind itself decides.
        pointers: column -> byte offset of a u64 that points to a string.
        only: (byte offset of a u32, value): records with another value are not ours.
    """

    table: str
    fields: Mapping[str, tuple[str, tuple[int, ...]]]
    constants: Mapping[str, Any] = field(default_factory=dict)
    pointers: Mapping[str, int] = field(default_factory=dict)
    only: tuple[int, int] | None = None

    @property
    def prefix(self) -> int:
        """Bytes a record must have for all columns to lie within it."""
        ends = [at + int(code[1:]) for code, offsets in self.fields.values() for at in offsets]
        return max([*ends, *(at + 8 for at in self.pointers.values())])


def _fields(**codes: Mapping[str, int | tuple[int, ...]]) -> dict[str, tuple[str, tuple[int, ...]]]:
    """Columns grouped by their type in the record."""
    return {
        column: (code, at if isinstance(at, tuple) else (at,))
        for code, columns in codes.items()
        for column, at in columns.items()
    }


_KERNEL = Layout(
    "kernels",
    _fields(
        u8={"start": 16, "end": 24, "graph_node": 144},
        u4={
            "device": 40,
            "context": 44,
            "stream": 48,
            "local_per_thread": 84,
            "correlation": 92,
            "graph": 156,
        },
        i4={
            "grid": (52, 56, 60),
            "block": (64, 68, 72),
            "static_shared": 76,
            "dynamic_shared": 80,
        },
        u2={"registers": 6},
    ),
    pointers={"name": 104},
)

_COPY_KINDS = {"copy_kind": 4, "source_kind": 5, "target_kind": 6, "flags": 7}

_API = _fields(
    u4={"cbid": 4, "process": 24, "thread": 28, "correlation": 32, "result": 36},
    u8={"start": 8, "end": 16},
)

LAYOUTS: dict[int, Layout] = {
    1: Layout(
        "memcpys",
        _fields(
            u1=_COPY_KINDS,
            u8={"bytes": 8, "start": 16, "end": 24, "graph_node": 64},
            u4={
                "device": 32,
                "target_device": 32,
                "context": 36,
                "stream": 40,
                "correlation": 44,
                "graph": 72,
            },
        ),
    ),
    2: Layout(
        "memsets",
        _fields(
            u4={
                "value": 4,
                "device": 32,
                "context": 36,
                "stream": 40,
                "correlation": 44,
                "graph": 72,
            },
            u8={"bytes": 8, "start": 16, "end": 24, "graph_node": 64},
            u2={"flags": 48, "memory_kind": 50},
        ),
    ),
    3: _KERNEL,
    4: Layout("api", _API, {"domain": DRIVER}),
    5: Layout("api", _API, {"domain": RUNTIME}),
    8: Layout(
        "devices",
        _fields(
            u8={"bandwidth": 8, "memory": 16},
            u4={"clock": 36, "multiprocessors": 44, "major": 104, "minor": 108, "id": 112},
        ),
        pointers={"name": 136},
    ),
    9: Layout("contexts", _fields(u4={"id": 4, "device": 8})),
    10: _KERNEL,
    12: Layout(
        "markers",
        _fields(
            u4={"flags": 4, "id": 16, "object_kind": 20, "process": 24, "thread": 28},
            u8={"time": 8},
        ),
        pointers={"name": 40, "domain": 48},
    ),
    17: Layout(
        "overheads",
        _fields(
            u4={"overhead_kind": 4, "object_kind": 8, "process": 12, "thread": 16},
            u8={"start": 24, "end": 32},
        ),
    ),
    22: Layout(
        "memcpys",
        _fields(
            u1=_COPY_KINDS,
            u8={"bytes": 8, "start": 16, "end": 24, "graph_node": 72},
            u4={
                "device": 32,
                "context": 36,
                "stream": 40,
                "target_device": 52,
                "correlation": 60,
                "graph": 80,
            },
        ),
        {"peer": True},
    ),
    38: Layout(
        "syncs",
        _fields(
            u4={"sync_kind": 4, "correlation": 24, "context": 28, "stream": 32},
            u8={"start": 8, "end": 16},
        ),
    ),
    39: Layout(
        "external",
        _fields(u8={"external": 8}, u4={"correlation": 16}),
        only=(4, EXTERNAL_KIND),
    ),
    49: Layout(
        "memory",
        _fields(
            u4={
                "operation": 4,
                "memory_kind": 8,
                "correlation": 12,
                "process": 48,
                "device": 52,
                "context": 56,
                "stream": 60,
            },
            u8={"address": 16, "bytes": 24, "time": 32},
        ),
        pointers={"name": 64},
    ),
    51: Layout(
        "graphs",
        _fields(
            u4={"correlation": 4, "device": 24, "graph": 28, "context": 32, "stream": 36},
            u8={"start": 8, "end": 16},
        ),
    ),
}
"""By CUpti_ActivityKind."""


def walk(data: _Bytes, sizes: Mapping[int, int]) -> tuple[npt.NDArray[np.intp], int]:
    """Where each record begins.

    Args:
        data: the valid bytes of a buffer.
        sizes: record size in bytes by kind, multiples of 8.

    Returns:
        Offsets in units of 4 bytes, and the offset in bytes where walking had to stop: the end, or
        the first record of unknown kind or cut by the end.
    """
    words = data[: len(data) // 8 * 8].view(np.uint32).data
    steps = {kind: size // 4 for kind, size in sizes.items()}
    offsets: list[int] = []
    append = offsets.append
    at, end = 0, len(words)
    try:
        while at < end:
            append(at)
            at += steps[words[at]]
    except KeyError:
        offsets.pop()
    if at > end:
        at = offsets.pop()
    return np.array(offsets, np.intp), at * 4


class Parser:
    """Collects buffers into one GpuTrace.

    Args:
        sizes: record size in bytes by kind.
        names: reads the strings that records point to; they must be alive during `feed`.
    """

    def __init__(self, sizes: Mapping[int, int], names: Names) -> None:
        self._sizes = sizes
        self._names = names
        self._parts: dict[str, list[Rows]] = {table: [] for table in DTYPES}
        self._lost = 0
        self._lost_bytes = 0

    def feed(self, data: _Bytes) -> None:
        """Take the valid bytes of one buffer, which may be reused afterwards.

        An unknown kind ends the buffer: where the next record begins cannot be told.
        """
        offsets, stop = walk(data, self._sizes)
        if stop < len(data):
            self._lost += 1
            self._lost_bytes += len(data) - stop
        views = {code: data[: len(data) // 8 * 8].view(code) for code in ("u8", "u4", "u2", "u1")}
        views["i4"] = views["u4"].view("i4")
        kinds = views["u4"][offsets]
        for kind in np.unique(kinds).tolist():
            layout = LAYOUTS.get(kind)
            if layout is not None:
                rows = self._gather(layout, offsets[kinds == kind] * 4, views)
                self._parts[layout.table].append(rows)

    def _gather(
        self, layout: Layout, at: npt.NDArray[np.intp], views: Mapping[str, npt.NDArray[Any]]
    ) -> Rows:
        if layout.only is not None:
            offset, value = layout.only
            at = at[views["u4"][(at + offset) // 4] == value]
        rows = np.zeros(len(at), DTYPES[layout.table])
        for column, (code, offsets) in layout.fields.items():
            width = int(code[1:])
            taken = [views[code][(at + offset) // width] for offset in offsets]
            rows[column] = taken[0] if len(taken) == 1 else np.stack(taken, axis=1)
        for column, value in layout.constants.items():
            rows[column] = value
        for column, offset in layout.pointers.items():
            rows[column] = self._names.indices(views["u8"][(at + offset) // 8])
        return rows

    def trace(
        self,
        *,
        shift: int = 0,
        api_name: Callable[[int, int], str] | None = None,
        dropped: int = 0,
        notes: tuple[str, ...] = (),
    ) -> GpuTrace:
        """Everything fed, in order of time.

        Args:
            shift: nanoseconds to add to the library's clock.
            api_name: name of the function with a (domain, cbid).
            dropped: records lost before they came here.
            notes: what else is known.
        """
        tables, untimed = {}, 0
        for table in DTYPES:
            tables[table], missing = _ordered(self._table(table), shift)
            untimed += missing
        if api_name is not None:
            self._name_calls(tables["api"], api_name)
        said = [*notes, *self._complaints(untimed)]
        total = dropped + self._lost + untimed
        return GpuTrace(**tables, names=self._names.table(), dropped=total, notes=tuple(said))

    def _table(self, table: str) -> Rows:
        parts = self._parts[table]
        return np.concatenate(parts) if parts else np.zeros(0, DTYPES[table])

    def _name_calls(self, api: Rows, api_name: Callable[[int, int], str]) -> None:
        keys = api["domain"].astype(np.uint64) << np.uint64(32) | api["cbid"].astype(np.uint64)
        distinct, inverse = np.unique(keys, return_inverse=True)
        found = [
            self._names.add(api_name(key >> 32, key & 0xFFFFFFFF)) for key in distinct.tolist()
        ]
        if found:
            api["name"] = np.array(found, np.int32)[inverse.reshape(-1)]

    def _complaints(self, untimed: int) -> list[str]:
        said = []
        if self._lost:
            said.append(
                f"{self._lost} buffers ended in {self._lost_bytes} bytes of records that are of an "
                "unknown kind or cut short; each such remainder counts as one dropped record"
            )
        if untimed:
            said.append(f"{untimed} records had no times and were left out")
        return said


def _ordered(rows: Rows, shift: int) -> tuple[Rows, int]:
    """The rows that have times, shifted and sorted by them; and how many have none.

    A start or end of 0 says that the library could not time the activity.
    """
    columns = [column for column in ("start", "end", "time") if column in (rows.dtype.names or ())]
    if not columns:
        return rows, 0
    timed = np.logical_and.reduce([rows[column] != 0 for column in columns])
    kept = rows[timed]
    kept = kept[np.argsort(kept[columns[0]], kind="stable")]
    for column in columns:
        kept[column] += shift
    return kept, len(rows) - len(kept)
