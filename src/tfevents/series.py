"""The points of one tag as columns: steps, wall times, values."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, overload

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

    @overload
    def __getitem__(self, index: int) -> tuple[int, float, Any]: ...

    @overload
    def __getitem__(self, index: slice) -> Series: ...

    def __getitem__(self, index: int | slice) -> tuple[int, float, Any] | Series:
        """The point (step, wall time, value) at a position; of a slice, a series."""
        if isinstance(index, slice):
            return self.take(np.arange(len(self))[index])
        return int(self.steps[index]), float(self.wall_times[index]), self.values[index]

    def __repr__(self) -> str:
        return f"<Series {self.tag!r}: {len(self)} points>"

    def _repr_html_(self) -> str:
        from tfevents import _display

        shown = f"{self.tag}: {len(self)} points"
        if not isinstance(self.values, np.ndarray):
            return _display.table(shown, [], [])
        return _display.table(shown, [], [[_display.curve(self)]])

    def smoothed(self, weight: float) -> Series:
        """The exponential moving average that TensorBoard draws, without its bias to zero.

        Points count in the order of the series. As in TensorBoard, values that are not finite are
        left as they are and do not count, and a constant series is left alone.

        Args:
            weight: 0 (no smoothing) to 1, TensorBoard's slider.

        Raises:
            TypeError: the values are no numbers.
            ValueError: another weight.
        """
        values = self._numbers()
        if not 0 <= weight <= 1:
            raise ValueError(f"{self.tag!r}: the weight must be from 0 to 1, not {weight!r}")
        if (values == values[:1]).all():
            return Series(self.tag, self.steps, self.wall_times, values.copy())
        smooth = values.copy()
        finite = np.isfinite(values)
        last = 0.0
        found = []
        for count, value in enumerate(values[finite].tolist(), 1):
            last = last * weight + (1 - weight) * value
            found.append(last / (1 if weight == 1 else 1 - weight**count))
        smooth[finite] = found
        return Series(self.tag, self.steps, self.wall_times, smooth)

    def plot(self, ax: Any = None, *, smooth: float = 0.0, **style: Any) -> Any:
        """Draws the numbers over the steps with matplotlib; returns the Axes.

        Args:
            ax: the Axes, or None for pyplot's current one.
            smooth: the weight of `smoothed`; the numbers themselves stay visible, faintly.
            style: for `Axes.plot`.

        Raises:
            ImportError: matplotlib is not installed.
            TypeError: the values are no numbers.
        """
        from tfevents import _display

        self._numbers()
        return _display.plot([(self.tag, self)], ax, smooth, style)

    def _numbers(self) -> npt.NDArray[np.float64]:
        if not isinstance(self.values, np.ndarray):
            raise TypeError(f"{self.tag!r}: only scalars can be drawn or smoothed")
        return self.values

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
