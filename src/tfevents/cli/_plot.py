"""Curves in braille characters: each holds 2 × 4 dots. Numbers in, lines of text out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["curves"]

_BLANK = 0x2800
# The bit of each dot of a character, by column and row.
_DOTS = np.array([[0x01, 0x02, 0x04, 0x40], [0x08, 0x10, 0x20, 0x80]])
_Floats = npt.NDArray[np.float64]


def curves(
    series: Sequence[tuple[npt.NDArray[Any], npt.NDArray[Any]]],
    *,
    width: int,
    height: int,
    paint: Callable[[str, int], str] = lambda text, number: text,
) -> list[str]:
    """Draws curves over one pair of axes.

    Args:
        series: x and y of each curve. Points that are not finite are left out.
        width: characters of a line, axis included.
        height: lines, axis included.
        paint: makes the text of a curve with this number coloured.

    Returns:
        Lines with the lowest and highest y at the left and the range of x below; none if there is
        no finite point.
    """
    known = [_finite(xs, ys) for xs, ys in series]
    every_x = np.concatenate([xs for xs, _ in known] or [np.zeros(0)])
    every_y = np.concatenate([ys for _, ys in known] or [np.zeros(0)])
    if not len(every_x):
        return []
    low, high = float(every_y.min()), float(every_y.max())
    first, last = float(every_x.min()), float(every_x.max())
    labels = [f"{high:.4g}", f"{low:.4g}"]
    margin = max(map(len, labels)) + 2
    columns, rows = max(width - margin, 8), max(height - 1, 2)
    cells = np.zeros((rows, columns), np.int64)
    owners = np.zeros((rows, columns), np.int64)
    for number, (xs, ys) in enumerate(known):
        across = _placed(xs, first, last, 2 * columns)
        down = 4 * rows - 1 - _placed(ys, low, high, 4 * rows)
        for column, row in zip(*_joined(across, down), strict=True):
            cells[row // 4, column // 2] |= _DOTS[column % 2, row % 4]
            owners[row // 4, column // 2] = number
    lines = []
    for row in range(rows):
        label = labels[0] if row == 0 else labels[1] if row == rows - 1 else ""
        lines.append(f"{label:>{margin - 2}} ┤" + _row(cells[row], owners[row], paint))
    start, end = f"{first:.10g}", f"{last:.10g}"
    gap = max(columns - len(start) - len(end), 1)
    lines.append(" " * margin + (start if first == last else start + " " * gap + end))
    return lines


def _finite(xs: npt.NDArray[Any], ys: npt.NDArray[Any]) -> tuple[_Floats, _Floats]:
    xs, ys = np.asarray(xs, np.float64), np.asarray(ys, np.float64)
    keep = np.isfinite(xs) & np.isfinite(ys)
    return xs[keep], ys[keep]


def _placed(values: _Floats, low: float, high: float, dots: int) -> npt.NDArray[np.int64]:
    """Numbers of the dots, 0 to dots - 1; in the middle if all values are the same."""
    if high == low:
        return np.full(len(values), (dots - 1) // 2, np.int64)
    # Halved, since the difference of two large numbers may be no number.
    share = (values / 2 - low / 2) / (high / 2 - low / 2)
    return np.rint(share * (dots - 1)).astype(np.int64)


def _joined(
    across: npt.NDArray[np.int64], down: npt.NDArray[np.int64]
) -> tuple[list[int], list[int]]:
    """Dots of the lines from each point to the next."""
    if len(across) > 1:
        moved = np.append(True, (np.diff(across) != 0) | (np.diff(down) != 0))
        across, down = across[moved], down[moved]
    columns, rows = [across[:1]], [down[:1]]
    for place in range(len(across) - 1):
        steps = max(
            abs(int(across[place + 1] - across[place])), abs(int(down[place + 1] - down[place]))
        )
        columns.append(_between(across[place], across[place + 1], steps))
        rows.append(_between(down[place], down[place + 1], steps))
    return np.concatenate(columns).tolist(), np.concatenate(rows).tolist()


def _between(start: Any, end: Any, steps: int) -> npt.NDArray[np.int64]:
    return np.rint(np.linspace(start, end, steps + 1)[1:]).astype(np.int64)


def _row(
    cells: npt.NDArray[np.int64], owners: npt.NDArray[np.int64], paint: Callable[[str, int], str]
) -> str:
    """A line of characters, those of one curve painted together."""
    parts = []
    start = 0
    for end in range(1, len(cells) + 1):
        if end == len(cells) or owners[end] != owners[start]:
            text = "".join(chr(_BLANK + int(cell)) for cell in cells[start:end])
            parts.append(paint(text, int(owners[start])))
            start = end
    return "".join(parts).rstrip(chr(_BLANK))
