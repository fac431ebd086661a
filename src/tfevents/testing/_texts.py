"""How numbers, steps, tags and series read in a failure."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from tfevents.series import Series

if TYPE_CHECKING:
    from tfevents.logdir import Run
    from tfevents.reader import Notice

__all__ = [
    "LoggedSeries",
    "hparams_line",
    "notices",
    "number",
    "numbers",
    "points",
    "quoted",
    "run_lines",
    "singular",
    "steps",
]

_SINGULAR = {
    "audio": "audio",
    "hparams": "hparams",
    "run_metadata": "run metadata",
    "meshes": "mesh",
    "pr_curves": "PR curve",
    "custom_scalars": "custom scalars",
}
_AROUND = 3  # points shown on either side of a step
_LAST = 5
_PIECES = 12


class LoggedSeries(Series):
    """A series whose repr shows its points, for the introspection of plain asserts."""

    __slots__ = ()

    def __repr__(self) -> str:
        text = f"<Series {self.tag!r}: {count(len(self), 'point')}, steps {steps(self.steps)}"
        if isinstance(self.values, np.ndarray):
            text += f": {numbers(self.values)}"
        return f"{text}>"


def count(how_many: int, noun: str) -> str:
    """Such as "1 point" and "2 points"."""
    return f"{how_many} {noun}{'' if how_many == 1 else 's'}"


def singular(kind: str) -> str:
    """A word for one of a kind of `logdir.KINDS`."""
    return _SINGULAR.get(kind, kind.removesuffix("s"))


def number(value: float) -> str:
    """The shortest text of a number; of a float32, though it is stored in 64 bits."""
    if not math.isfinite(value):
        return str(float(value))
    with np.errstate(over="ignore"):
        narrow = np.float32(value)
    return str(narrow) if float(narrow) == value else repr(float(value))


def numbers(values: Sequence[float] | np.ndarray, ends: int = 4) -> str:
    """A row of numbers; of a long one the ends."""
    shown = [number(float(value)) for value in values[:ends]]
    if len(values) > 2 * ends:
        shown.append("…")
    shown += [number(float(value)) for value in values[max(ends, len(values) - ends) :]]
    return ", ".join(shown)


def steps(found: Iterable[int] | np.ndarray) -> str:
    """Steps in their order; evenly spaced ones as "0..9" or "0..90 by 10"."""
    rest = [int(step) for step in found]
    pieces: list[str] = []
    total = len(rest)
    start = 0
    while start < total and len(pieces) < _PIECES:
        end = start + 1
        stride = rest[end] - rest[start] if end < total else 0
        while end + 1 < total and rest[end + 1] - rest[end] == stride:
            end += 1
        if stride > 0 and end - start >= 2 and end < total:
            by = "" if stride == 1 else f" by {stride}"
            pieces.append(f"{rest[start]}..{rest[end]}{by}")
            start = end + 1
        else:
            pieces.append(str(rest[start]))
            start += 1
    if start < total:
        pieces.append(f"… ({total} in all)")
    return ", ".join(pieces) if pieces else "none"


def quoted(names: Iterable[str], limit: int = 12) -> str:
    """Names with quotes, or "none"."""
    found = list(names)
    shown = ", ".join(map(repr, found[:limit]))
    return f"{shown}, … ({len(found)} in all)" if len(found) > limit else shown or "none"


def points(series: Series, run: str, around: int | None = None) -> list[str]:
    """Lines with the points around a step, or the last ones. Scalars show their values."""
    total = len(series)
    if around is None or not total:
        first, last, what = max(0, total - _LAST), total, "last points"
    else:
        middle = int(np.argmin(np.abs(series.steps.astype(np.float64) - around)))
        first, last = max(0, middle - _AROUND), min(total, middle + _AROUND + 1)
        what = f"points around step {around}"
    lines = [f"{what} of {series.tag!r} in run {run!r} ({total} in all):"]
    for step, _, value in (series[index] for index in range(first, last)):
        mark = ">" if step == around else " "
        shown = number(float(value)) if isinstance(series.values, np.ndarray) else ""
        lines.append(f"  {mark} step {step}  {shown}".rstrip())
    return lines


def notices(found: Iterable[Notice], limit: int = 3) -> list[str]:
    """Lines with what the reader could not read."""
    listed = list(found)
    lines = [
        f"reader notice: {notice.kind}: {notice.path} at byte {notice.offset}: {notice.message}"
        for notice in listed[:limit]
    ]
    if len(listed) > limit:
        lines.append(f"… {count(len(listed), 'notice')} in all")
    return lines


def run_lines(run: Run, limit: int) -> list[str]:
    """A run's tags, and the points of its scalars."""
    lines = [f"run {run.name!r}"]
    tags = [(kind, tag) for kind, tags in run.tags().items() for tag in tags]
    for kind, tag in tags[:limit]:
        if kind == "scalars":
            series = run.scalars(tag)
            lines.append(f"  {tag!r}: steps {steps(series.steps)}: {numbers(series.values)}")
        else:
            lines.append(f"  {tag!r}: {kind}")
    if len(tags) > limit:
        lines.append(f"  … {count(len(tags), 'tag')} in all")
    return lines


def hparams_line(values: dict[str, object]) -> str:
    """Hyperparameters in one line, sorted."""
    return ", ".join(f"{name}={value!r}" for name, value in sorted(values.items())) or "none"
