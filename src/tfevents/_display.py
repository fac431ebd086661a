"""What notebooks and matplotlib show of series."""

from __future__ import annotations

import html
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from tfevents.frames import need

if TYPE_CHECKING:
    from tfevents.logdir import LogDir, Run
    from tfevents.series import Series

__all__ = ["curve", "log_table", "plot", "run_table", "table"]

_Floats = npt.NDArray[np.float64]
_WIDTH, _HEIGHT = 160, 28
_ROWS, _RUNS = 100, 10
_HEAD = ("tag", "kind", "points", "last step", "last value", "")


def table(title: str, head: Iterable[str], rows: Iterable[Iterable[str]], note: str = "") -> str:
    """An HTML table. The cells of `rows` are HTML, all else is text."""
    header = "".join(f"<th>{html.escape(name)}</th>" for name in head)
    body = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows)
    end = f"<p>{html.escape(note)}</p>" if note else ""
    return f"<b>{html.escape(title)}</b><table><tr>{header}</tr>{body}</table>{end}"


def curve(series: Series) -> str:
    """An SVG of a scalar series by step, of some hundred points; without values not finite."""
    finite = np.isfinite(series.values)
    order = np.argsort(series.steps[finite], kind="stable")
    steps = series.steps[finite][order].astype(np.float64)
    values = series.values[finite][order]
    if not len(values):
        return ""
    chosen = _outline(values)
    x = _scaled(steps[chosen], _WIDTH)
    y = _HEIGHT - _scaled(values[chosen], _HEIGHT)
    points = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(x.tolist(), y.tolist(), strict=True))
    return (
        f'<svg width="{_WIDTH}" height="{_HEIGHT}" viewBox="-2 -2 {_WIDTH + 4} {_HEIGHT + 4}">'
        f'<polyline points="{points}" fill="none" stroke="currentColor" stroke-linejoin="round"/>'
        "</svg>"
    )


def run_table(run: Run) -> str:
    """The tags of a run, with a curve of each scalar series."""
    rows = [
        (html.escape(tag), kind, *_last(run, kind, tag))
        for kind, tags in run.tags().items()
        for tag in tags
    ]
    note = f"… {len(rows)} tags in all" if len(rows) > _ROWS else ""
    return table(f"Run {run.name}", _HEAD, rows[:_ROWS], note)


def log_table(log: LogDir) -> str:
    """The scalars of the first runs, so that showing a large directory does not read all of it."""
    runs = list(log.values())[:_RUNS]
    rows = [
        (html.escape(run.name), html.escape(tag), *_last(run, "scalars", tag))
        for run in runs
        for tag in run.tags()["scalars"][: _ROWS // _RUNS]
    ]
    note = f"… {len(log)} runs in all" if len(log) > _RUNS else ""
    return table(f"{log.path}: {len(log)} runs", ("run", "tag", *_HEAD[2:]), rows, note)


def _last(run: Run, kind: str, tag: str) -> tuple[str, str, str, str]:
    """Points, last step, last value and curve of a scalar series; of others nothing is read."""
    if kind != "scalars":
        return "", "", "", ""
    series = run.scalars(tag)
    if not len(series):
        return "0", "", "", ""
    step, _, value = series[-1]
    return str(len(series)), str(step), f"{value:.6g}", curve(series)


def plot(series: Iterable[tuple[str, Series]], ax: Any, smooth: float, style: Any) -> Any:
    """Draws labelled scalar series over their steps.

    With `smooth`, the numbers themselves stay visible behind, faintly.
    """
    need("matplotlib", "plot")
    if ax is None:
        from matplotlib import pyplot

        ax = pyplot.gca()
    for label, each in series:
        ordered = each.arranged(order="step")
        (line,) = ax.plot(ordered.steps, ordered.smoothed(smooth).values, label=label, **style)
        if smooth:
            faint = {"color": line.get_color(), "alpha": 0.25, "linewidth": 0.8}
            ax.plot(ordered.steps, ordered.values, zorder=line.get_zorder() - 1, **faint)
    ax.set_xlabel("step")
    ax.legend()
    return ax


def _outline(values: _Floats) -> npt.NDArray[np.intp]:
    """Which points to draw: all, or the lowest and the highest of each pixel."""
    if len(values) <= 4 * _WIDTH:
        return np.arange(len(values))
    parts = np.array_split(np.arange(len(values)), _WIDTH)
    found = [part[pick(values[part])] for part in parts for pick in (np.argmin, np.argmax)]
    return np.unique([0, *found, len(values) - 1])


def _scaled(numbers: _Floats, size: int) -> _Floats:
    """Numbers from 0 to `size`; halved first, since the range of doubles does not fit a double."""
    low, high = numbers.min() / 2, numbers.max() / 2
    if low == high:
        return np.full(len(numbers), size / 2)
    result: _Floats = (numbers / 2 - low) / (high - low) * size
    return result
