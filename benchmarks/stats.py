"""The arithmetic of the report: percentiles, spreads over repeats, and ratios of medians."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Metric:
    """One measured quantity: stored in SI units (seconds, bytes, per second), shown as `unit`."""

    key: str
    label: str
    unit: str
    higher_is_better: bool = False

    @property
    def per_unit(self) -> float:
        """How many SI units one display unit is."""
        return {"µs": 1e-6, "ms": 1e-3, "MiB": 2.0**20, "k/s": 1e3}.get(self.unit, 1.0)


@dataclass(frozen=True, slots=True)
class Spread:
    """Median and range of one metric over the repeats."""

    median: float
    low: float
    high: float
    repeats: int

    @classmethod
    def of(cls, values: Sequence[float]) -> Spread:
        return cls(statistics.median(values), min(values), max(values), len(values))


def percentile(values: Sequence[float], percent: float) -> float:
    """The nearest-rank percentile: the smallest value that `percent` % of all do not exceed."""
    if not values:
        raise ValueError("a percentile needs at least one value")
    if not 0 < percent <= 100:
        raise ValueError(f"percent must lie in (0, 100], got {percent}")
    ordered = sorted(values)
    return ordered[math.ceil(len(ordered) * percent / 100) - 1]


def times_better(metric: Metric, ours: Spread, peer: Spread) -> float:
    """How many times better our median is than the peer's; above 1 we win, whatever the metric."""
    better, worse = ours.median, peer.median
    if metric.higher_is_better:
        better, worse = worse, better
    if better == 0:
        return 1.0 if worse == 0 else math.inf
    return worse / better
