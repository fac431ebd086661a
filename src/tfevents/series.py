"""The points of one tag as columns: steps, wall times, values."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["Series"]


class Series:
    """The points of one tag.

    Attributes:
        tag: the tag.
        steps: int64.
        wall_times: float64, seconds since 1970.
        values: float64 array for scalars (stored float32 are widened exactly), else a list of
            `tfevents.values` objects or messages.
    """

    __slots__ = ("steps", "tag", "values", "wall_times")

    def __init__(
        self,
        tag: str,
        steps: npt.NDArray[np.int64],
        wall_times: npt.NDArray[np.float64],
        values: Any,
    ) -> None:
        self.tag = tag
        self.steps = steps
        self.wall_times = wall_times
        self.values = values

    def __len__(self) -> int:
        return len(self.steps)

    def __iter__(self) -> Iterator[tuple[int, float, Any]]:
        values = self.values.tolist() if isinstance(self.values, np.ndarray) else self.values
        return zip(self.steps.tolist(), self.wall_times.tolist(), values, strict=True)

    def __getitem__(self, index: int) -> tuple[int, float, Any]:
        """The point (step, wall time, value) at a position."""
        return int(self.steps[index]), float(self.wall_times[index]), self.values[index]

    def __repr__(self) -> str:
        return f"<Series {self.tag!r}: {len(self)} points>"

    def arranged(self, *, order: str = "file", keep: str = "all") -> Series:
        """The points in another order, or one for each step.

        Args:
            order: "file", or "step" to sort by step and then by wall time.
            keep: "all", or the "first" or "last" point of each step in that order.
        """
        if order not in ("file", "step"):
            raise ValueError(f"{self.tag!r}: order must be 'file' or 'step', not {order!r}")
        if keep not in ("all", "first", "last"):
            raise ValueError(f"{self.tag!r}: keep must be 'all', 'first' or 'last', not {keep!r}")
        where = np.arange(len(self))
        if order == "step":
            where = np.lexsort((self.wall_times, self.steps))
        if keep == "first":
            where = where[np.sort(np.unique(self.steps[where], return_index=True)[1])]
        elif keep == "last":
            backwards = where[::-1]
            where = backwards[np.sort(np.unique(self.steps[backwards], return_index=True)[1])][::-1]
        return self.take(where)

    def take(self, where: npt.NDArray[np.intp]) -> Series:
        """The points at these positions."""
        values = self.values
        taken = values[where] if isinstance(values, np.ndarray) else [values[i] for i in where]
        return Series(self.tag, self.steps[where], self.wall_times[where], taken)
