"""Columns of numbers for what a file holds: a row for each scalar, and one for each other value.

Both travel between processes, where every byte is copied several times, so they pickle in a compact
form: whole numbers as differences or in the fewest bytes that hold them all, values as float32 if
that is what they were. A scalar of 36 bytes takes 12 to 14 then, and nothing is lost.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

__all__ = ["Entries", "Entry", "Groups", "ScalarColumns", "concatenate"]

Column = npt.NDArray[Any]
Rows = npt.NDArray[np.intp]

_DTYPES = (np.int64, np.int32, np.int64, np.float64, np.float64)


class ScalarColumns(NamedTuple):
    """Scalars in the order of the file, in arrays of one length.

    `offsets` are those of the records they came in, `tags` index `Columns.tags`.
    """

    offsets: npt.NDArray[np.int64]
    tags: npt.NDArray[np.int32]
    steps: npt.NDArray[np.int64]
    wall_times: npt.NDArray[np.float64]
    values: npt.NDArray[np.float64]

    def take(self, where: Any) -> ScalarColumns:
        """The rows that an index array or a mask picks."""
        return ScalarColumns(*(column[where] for column in self))

    def __reduce__(self) -> Any:
        packed = (
            _differences(self.offsets),
            _narrow(self.tags),
            _differences(self.steps),
            self.wall_times,
            _single(self.values),
        )
        return _unpacked, (len(self.tags), *packed)


def concatenate(tables: list[ScalarColumns]) -> ScalarColumns:
    """All rows of some tables, one table after the other."""
    if len(tables) == 1:
        return tables[0]
    columns = [
        np.concatenate([np.zeros(0, dtype), *(table[place] for table in tables)])
        for place, dtype in enumerate(_DTYPES)
    ]
    return ScalarColumns(*columns)


def _unpacked(
    count: int,
    offsets: tuple[Column, Column],
    tags: Column,
    steps: tuple[Column, Column],
    wall_times: Column,
    values: Column,
) -> ScalarColumns:
    return ScalarColumns(
        _sums(offsets, count),
        _wide(tags, count, np.int32),
        _sums(steps, count),
        wall_times,
        values.astype(np.float64, copy=False),
    )


def _narrow(column: Column) -> Column:
    """The same numbers in fewer bytes; where they are all one number, that one."""
    if not len(column):
        return column
    low, high = int(column.min()), int(column.max())
    if low == high:
        return column[:1]
    for dtype in (np.int8, np.int16, np.int32):
        limits = np.iinfo(dtype)
        if limits.min <= low and high <= limits.max:
            return column.astype(dtype, copy=False)
    return column


def _wide(column: Column, count: int, dtype: Any) -> Column:
    if len(column) == count:
        return column.astype(dtype, copy=False)
    return np.full(count, column[0], dtype)


def _differences(column: Column) -> tuple[Column, Column]:
    """The first number, and from each to the next. They may overflow; the sums wrap back."""
    return column[:1], _narrow(np.diff(column))


def _sums(differences: tuple[Column, Column], count: int) -> npt.NDArray[np.int64]:
    first, rest = differences
    column = np.empty(count, np.int64)
    column[:1] = first
    if count > 1:
        column[1:] = _wide(rest, count - 1, np.int64)
        np.cumsum(column, out=column)
    return column


def _single(column: npt.NDArray[np.float64]) -> Column:
    """The same numbers as float32 if no bit of them is lost."""
    with np.errstate(over="ignore", invalid="ignore"):
        single = column.astype(np.float32)
        again = single.astype(np.float64)
    same = np.array_equal(again.view(np.int64), column.view(np.int64))
    return single if same else column


class Groups:
    """The rows of each group, where every row has the number of its group, 0 or more."""

    def __init__(self, numbers: Column) -> None:
        ends = np.cumsum(np.bincount(numbers))
        # numpy sorts numbers of 16 bits by radix, several times as fast as larger ones
        sorted_as = np.uint16 if len(ends) <= 1 << 16 else np.int32
        self._rows = np.argsort(numbers.astype(sorted_as), kind="stable")
        self._bounds = [0, *ends.tolist()]

    def rows(self, number: int) -> Rows:
        """The rows of a group, ascending; none for a number that no row has."""
        if not 0 <= number < len(self._bounds) - 1:
            return self._rows[:0]
        return self._rows[self._bounds[number] : self._bounds[number + 1]]

    def firsts(self) -> list[tuple[int, int]]:
        """The number and the first row of each group."""
        bounds = self._bounds
        return [
            (number, int(self._rows[start]))
            for number, (start, end) in enumerate(pairwise(bounds))
            if start < end
        ]


class Entry(NamedTuple):
    """A value that is not a plain scalar: where it came from, and where its bytes lie.

    `data` holds the bytes if they cannot be read again at `start`. For a summary they are a
    Summary.Value, else the payload that `form` names.
    """

    offset: int
    step: int
    wall_time: float
    form: str
    plugin: str
    start: int
    size: int
    data: bytes | None


class Entries:
    """Entries as columns of numbers, since there may be as many as a file has bytes for.

    Attributes:
        kinds: the tag (its number), form and plugin that entries have, in the order of first sight.
    """

    def __init__(self) -> None:
        self.kinds: dict[tuple[int, str, str], int] = {}
        self._kind = array("i")
        self._offset, self._step = array("q"), array("q")
        self._start, self._size = array("q"), array("q")
        self._time = array("d")
        self._data: dict[int, bytes] = {}
        self._groups: Groups | None = None

    def add(self, tag: int, entry: Entry) -> None:
        """Appends an entry of the tag with this number."""
        kind = self.kinds.setdefault((tag, entry.form, entry.plugin), len(self.kinds))
        if entry.data is not None:
            self._data[len(self._kind)] = entry.data
        self._kind.append(kind)
        self._offset.append(entry.offset)
        self._step.append(entry.step)
        self._time.append(entry.wall_time)
        self._start.append(entry.start)
        self._size.append(entry.size)
        self._groups = None

    def select(self, key: tuple[int, str, str]) -> Iterator[Entry]:
        """The entries of one tag, form and plugin."""
        for row in self._rows(key):
            yield Entry(
                self._offset[row],
                self._step[row],
                self._time[row],
                *key[1:],
                self._start[row],
                self._size[row],
                self._data.get(row),
            )

    def _rows(self, key: tuple[int, str, str]) -> Iterable[int]:
        if key not in self.kinds:
            return ()
        if self._groups is None:
            self._groups = Groups(np.array(self._kind, np.int32))
        rows: list[int] = self._groups.rows(self.kinds[key]).tolist()
        return rows

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_groups": None}
