"""What the host did: one numpy structured array of spans, and the threads they ran in.

All times are int64 nanoseconds since the epoch.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

__all__ = [
    "CHUNK", "NO_STEP", "SPAN", "HostTrace", "Rows", "Thread", "chosen", "flat", "numbers",
    "places", "slices",
]

Rows: TypeAlias = npt.NDArray[Any]
"""A one-dimensional structured array."""

NO_STEP = -1

SPAN = np.dtype(
    [
        ("start", "i8"),
        ("end", "i8"),
        ("id", "u8"),
        ("parent", "u8"),
        ("name", "i4"),
        ("thread", "i4"),
        ("step", "i8"),
        ("marks_step", "?"),
        ("peak", "i8"),
        ("live", "i8"),
        ("traced", "i8"),
        ("resident", "i8"),
    ]
)
"""id counts from 1, parent is 0 at the root; name and thread are indices into the tables of the
trace. step is NO_STEP where none is known, and marks_step tells the spans that are steps. In
bytes, 0 where memory was not recorded: peak is the most that was allocated above what there was
at the start, live what was left of it at the end (less than 0 where more was released), traced
all that Python held at the end, resident what the process held."""


@dataclass(frozen=True, slots=True)
class Thread:
    """A thread, by `threading.get_ident()`."""

    ident: int
    name: str


@dataclass(frozen=True, slots=True)
class HostTrace:
    """Everything the host recorded; spans are sorted by start, outer ones first.

    Attributes:
        names: the string table; `names[0]` is "".
        threads: `threads[0]` is the one that began the recording.
        start: when recording began.
        stop: when it ended.
        dropped: spans that were lost for want of room.
    """

    start: int
    stop: int
    threads: tuple[Thread, ...]
    spans: Rows = field(default_factory=lambda: np.zeros(0, SPAN))
    names: tuple[str, ...] = ("",)
    dropped: int = 0


def places(threads: tuple[Thread, ...], idents: Rows) -> npt.NDArray[np.int32]:
    """Index of the thread with each ident, of which the driver keeps 32 bits; -1 for no thread."""
    known = {thread.ident & 0xFFFFFFFF: index for index, thread in enumerate(threads)}
    distinct, inverse = np.unique(idents, return_inverse=True)
    return np.array([known.get(ident, -1) for ident in distinct.tolist()], np.int32)[inverse]


def chosen(rows: Rows, which: npt.NDArray[np.bool_]) -> Rows:
    """The rows for which `which` holds; the same array, uncopied, if it does for all."""
    return rows if which.all() else rows[which]


def flat(rows: Rows, columns: tuple[str, ...]) -> Iterator[npt.NDArray[Any]]:
    """Some columns; one that holds vectors gives a column for each of their elements."""
    for name in columns:
        column = rows[name]
        yield from column.T if column.ndim > 1 else (column,)


CHUNK = 1 << 16
"""Rows that are worked on at a time where each needs much memory."""


def slices(count: int) -> Iterator[slice]:
    """Slices that cut so many rows into chunks."""
    for at in range(0, count, CHUNK):
        yield slice(at, at + CHUNK)


def numbers(
    rows: Rows, columns: tuple[str, ...], order: npt.NDArray[np.intp] | None = None
) -> Iterator[tuple[Any, ...]]:
    """Some columns as Python numbers, row by row, many times faster than by the rows themselves.

    Args:
        rows: the rows.
        columns: names; vectors become several numbers.
        order: indices of the rows that are wanted; None for all.
    """
    for part in slices(len(rows if order is None else order)):
        some = rows[part] if order is None else rows[order[part]]
        yield from zip(*(column.tolist() for column in flat(some, columns)), strict=True)
