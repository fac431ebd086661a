"""The rows of the report, and the budgets that some of them are held to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from benchmarks.contenders import IMPORTS, WRITERS
from benchmarks.readers import READERS
from benchmarks.stats import Metric, Spread, times_better
from benchmarks.table import Outcome

_WRITERS = tuple(WRITERS)
_PICTURES = ("smooth_uint8", "noise_uint8", "smooth_float32", "noise_float32")
_BULK = {"caller": "in the caller", "wall": "call to closed file, each", "cpu": "CPU in all, each"}


@dataclass(frozen=True, slots=True)
class Row:
    """A task, whom it is asked of, and with which numbers; `most` bounds the repeats."""

    name: str
    title: str
    metrics: tuple[Metric, ...]
    contenders: tuple[str, ...]
    full: Mapping[str, Any]
    quick: Mapping[str, Any]
    most: int = 99
    only_long: bool = False


ROWS = (
    Row(
        "scalar",
        "one scalar, time in the caller",
        tuple(
            Metric(f"{loop}_{key}", f"{loop} loop, {label}", "µs")
            for loop in ("tight", "training")
            for key, label in (("median", "median"), ("mean", "mean"), ("p99", "99th percentile"))
        ),
        _WRITERS,
        {"tight": 20_000, "training": 3_000},
        {"tight": 2_000, "training": 500},
    ),
    Row(
        "throughput",
        "scalars from the first call to the closed file",
        (
            Metric("rate", "scalars a second", "k/s", higher_is_better=True),
            Metric("bytes", "bytes a scalar", "B"),
        ),
        _WRITERS,
        {"count": 50_000},
        {"count": 5_000},
    ),
    Row(
        "histogram",
        "histogram of 1,000,000 float32",
        tuple(Metric(key, label, "ms") for key, label in _BULK.items()),
        _WRITERS,
        {"count": 20},
        {"count": 3},
    ),
    Row(
        "image",
        "image of 512 x 512 x 3",
        tuple(
            Metric(f"{name}_{key}", f"{name.replace('_', ' ')}, {label}", "ms")
            for name in _PICTURES
            for key, label in _BULK.items()
        ),
        _WRITERS,
        {"count": 10},
        {"count": 2},
    ),
    Row(
        "read",
        "reading scalars into arrays, checksums verified",
        (Metric("rate", "scalars a second", "k/s", higher_is_better=True),),
        tuple(READERS),
        {"log": {"tags": 10, "steps": 50_000}},
        {"log": {"tags": 10, "steps": 3_000}},
        most=3,
    ),
    Row(
        "import",
        "import, less the bare interpreter",
        (Metric("seconds", "wall time", "ms"),),
        tuple(IMPORTS),
        {},
        {},
    ),
    Row(
        "writers",
        "200 open writers",
        (Metric("threads", "threads added", ""), Metric("descriptors", "descriptors added", "")),
        _WRITERS,
        {"count": 200},
        {"count": 200},
        most=1,
    ),
    Row(
        "memory",
        "histogram of 5,000,000 float32 (20 MB)",
        (Metric("peak", "extra resident peak", "MiB"),),
        _WRITERS,
        {"count": 5_000_000},
        {"count": 5_000_000},
        most=3,
    ),
    Row(
        "long",
        "a run of 10,000,000 scalars",
        (
            Metric("early", "resident after a tenth", "MiB"),
            Metric("late", "resident at the end", "MiB"),
            Metric("rate", "scalars a second", "k/s", higher_is_better=True),
        ),
        tuple(name for name in WRITERS if name.startswith("tfevents")),
        {"count": 10_000_000},
        {"count": 200_000},
        most=1,
        only_long=True,
    ),
)


@dataclass(frozen=True, slots=True)
class Budget:
    """Ours must be `factor` times better than the best of `peers`; without peers, at most that."""

    row: str
    metric: str
    ours: str
    peers: tuple[str, ...]
    factor: float


_SW, _ALL = "tfevents.SummaryWriter", ("torch", "tensorboardX", "tf.summary")
BUDGETS = (
    Budget("scalar", "tight_median", _SW, ("torch",), 40),
    Budget("scalar", "tight_median", _SW, ("vibetrack",), 5),
    Budget("scalar", "tight_p99", _SW, ("tensorboardX",), 50),
    Budget("throughput", "rate", _SW, ("torch",), 25),
    Budget("throughput", "rate", _SW, (*_ALL, "tuff-bird", "vibetrack"), 6),
    Budget("throughput", "bytes", _SW, ("torch",), 1),
    Budget("throughput", "bytes", "tfevents.summary", ("tf.summary",), 1),
    Budget("histogram", "caller", _SW, ("torch",), 10),
    Budget("histogram", "cpu", _SW, ("torch",), 3),
    *(Budget("image", f"{name}_caller", _SW, ("tensorboardX",), 20) for name in _PICTURES),
    Budget("read", "rate", "tfevents.read", ("EventFileLoader",), 20),
    Budget("read", "rate", "tfevents.read", ("data server (Rust)",), 1),
    Budget("import", "seconds", _SW, ("numpy",), 1 / 1.2),
    Budget("writers", "threads", _SW, (), 4),
)


def verdict(budget: Budget, row: Row, outcomes: Mapping[str, Outcome]) -> str:
    """One line: what was asked, what was reached, kept or missed (or why nothing can be said)."""
    metric = next(m for m in row.metrics if m.key == budget.metric)
    ours = _spread(budget.ours, metric, outcomes)
    peers = [s for name in budget.peers if (s := _spread(name, metric, outcomes)) is not None]
    if ours is None or (budget.peers and not peers):
        return f"{_asked(budget, metric)}: not measured"
    if not budget.peers:
        reached, kept = f"{ours.median:g}", ours.median <= budget.factor
    else:
        ratio = min(times_better(metric, ours, peer) for peer in peers)
        reached, kept = f"{ratio:.2f} x", ratio >= budget.factor
    return f"{_asked(budget, metric)}: {reached}, {'kept' if kept else 'MISSED'}"


def _spread(name: str, metric: Metric, outcomes: Mapping[str, Outcome]) -> Spread | None:
    outcome = outcomes.get(name, "")
    return None if isinstance(outcome, str) else outcome.get(metric.key)


def _asked(budget: Budget, metric: Metric) -> str:
    if not budget.peers:
        return f"{metric.label}, {budget.ours} at most {budget.factor:g}"
    whom = budget.peers[0] if len(budget.peers) == 1 else "the best of " + ", ".join(budget.peers)
    return f"{metric.label}, {budget.ours} >= {budget.factor:.3g} x {whom}"
