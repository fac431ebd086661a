"""What the host did: one numpy structured array of spans, and the threads they ran in.

All times are int64 nanoseconds since the epoch.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

__all__ = ["NO_STEP", "SPAN", "HostTrace", "Rows", "Thread", "places"]

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
