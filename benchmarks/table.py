"""Results as text: one block a row, one line a contender, one ratio column for each of ours."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from benchmarks.stats import Metric, Spread, times_better

# What a contender gave for a row: its metrics, or the reason why there are none.
Outcome = Mapping[str, Spread] | str


def is_ours(contender: str) -> bool:
    return contender.partition(".")[0] == "tfevents"


def number(value: float) -> str:
    """Three significant digits below 1000, whole numbers with thousands separators above."""
    if value == 0 or not math.isfinite(value):
        return f"{value:g}"
    if abs(value) >= 999.5:
        return f"{value:,.0f}"
    digits = max(0, 2 - math.floor(math.log10(abs(value))))
    return f"{value:.{min(digits, 4)}f}"


def metric_lines(metric: Metric, outcomes: Mapping[str, Outcome]) -> list[str]:
    """The block of one metric: header, then a line for every contender in the order given."""
    ours = {
        name: outcome[metric.key]
        for name, outcome in outcomes.items()
        if is_ours(name) and not isinstance(outcome, str) and metric.key in outcome
    }
    head = f"{metric.label} [{metric.unit}]" if metric.unit else metric.label
    grid = [[head, "median", "min..max", *(f"vs {n}" for n in ours)]]
    for name, outcome in outcomes.items():
        if isinstance(outcome, str) or metric.key not in outcome:
            grid.append([name, outcome if isinstance(outcome, str) else "-"])
            continue
        spread = outcome[metric.key]
        shown = [number(v / metric.per_unit) for v in (spread.median, spread.low, spread.high)]
        ratios = [f"{number(times_better(metric, own, spread))} x" for own in ours.values()]
        grid.append([name, shown[0], f"{shown[1]}..{shown[2]}", *ratios])
    return aligned(grid)


def aligned(grid: Sequence[Sequence[str]]) -> list[str]:
    """Columns padded to their widest cell; a cell that ends its line early sets no width."""
    full = max(len(line) for line in grid)
    widths = [
        max((len(line[i]) for line in grid if len(line) == full or i == 0), default=0)
        for i in range(full)
    ]
    lines = []
    for line in grid:
        first = line[0].ljust(widths[0])
        rest = [
            cell.rjust(width) if len(line) == full else cell
            for cell, width in zip(line[1:], widths[1:], strict=False)
        ]
        lines.append("  ".join([first, *rest]).rstrip())
    return lines
