"""The harness's arithmetic and its table, on a made-up row; nothing here is timed."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.__main__ import chosen, parsed, record, report
from benchmarks.contenders import AbsentError, found
from benchmarks.rows import BUDGETS, ROWS, Budget, Row, verdict
from benchmarks.runner import run_row
from benchmarks.stats import Metric, Spread, percentile, times_better
from benchmarks.table import Outcome, metric_lines, number

TIME = Metric("time", "one call", "µs")
RATE = Metric("rate", "calls a second", "k/s", higher_is_better=True)
FAKE = Row("fake", "a made-up row", (TIME, RATE), ("tfevents.X", "peer", "gone"), {}, {})
VALUES = {
    "tfevents.X": [{"time": t * 1e-6, "rate": r} for t, r in ((2, 9e3), (1, 8e3), (4, 12e3))],
    "peer": [{"time": t * 1e-6, "rate": r} for t, r in ((30, 3e3), (50, 1e3), (10, 2e3))],
}


def outcomes() -> tuple[dict[str, Outcome], list[str]]:
    order: list[str] = []

    def ask(task: str, contender: str, settings: Mapping[str, Any]) -> dict[str, Any]:
        order.append(contender)
        if contender == "gone":
            return {"absent": "not installed"}
        return {"metrics": VALUES[contender][order.count(contender) - 1]}

    return run_row(FAKE, FAKE.contenders, {}, 3, ask)[0], order


@pytest.mark.parametrize(
    ("values", "percent", "expected"),
    [
        (list(range(1, 101)), 99, 99),
        (list(range(200, 0, -1)), 99, 198),
        ([15, 20, 35, 40, 50], 30, 20),  # the textbook example of the nearest rank
        ([7.5], 99, 7.5),
        ([1, 2, 3], 100, 3),
    ],
)
def test_percentile_takes_the_nearest_rank(
    values: list[float], percent: float, expected: float
) -> None:
    assert percentile(values, percent) == expected


@pytest.mark.parametrize(("values", "percent"), [([], 99), ([1.0], 0), ([1.0], 101)])
def test_percentile_refuses_what_has_no_rank(values: list[float], percent: float) -> None:
    with pytest.raises(ValueError, match="percent"):
        percentile(values, percent)


def test_a_spread_has_the_median_and_the_range() -> None:
    assert Spread.of([5.0, 1.0, 3.0, 100.0]) == Spread(4.0, 1.0, 100.0, 4)


@pytest.mark.parametrize(
    ("metric", "ours", "peer", "expected"),
    [
        (TIME, 2.0, 30.0, 15.0),
        (TIME, 30.0, 2.0, 1 / 15),
        (RATE, 9.0, 2.0, 4.5),
        (RATE, 2.0, 9.0, 2 / 9),
        (TIME, 0.0, 5.0, math.inf),
        (TIME, 0.0, 0.0, 1.0),
    ],
)
def test_a_ratio_above_one_means_ours_is_better(
    metric: Metric, ours: float, peer: float, expected: float
) -> None:
    spreads = [Spread.of([value]) for value in (ours, peer)]
    assert times_better(metric, *spreads) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (0.01234, "0.0123"),
        (5.3, "5.30"),
        (49.67, "49.7"),
        (790, "790"),
        (131000.4, "131,000"),
    ],
)
def test_numbers_have_three_digits(value: float, text: str) -> None:
    assert number(value) == text


def test_contenders_take_turns_and_an_absent_one_is_asked_once() -> None:
    assert outcomes()[1] == [
        "tfevents.X",
        "peer",
        "gone",
        "tfevents.X",
        "peer",
        "tfevents.X",
        "peer",
    ]


def test_the_table_has_medians_ranges_and_ratios_of_medians() -> None:
    rows = outcomes()[0]
    assert metric_lines(TIME, rows) == [
        "one call [µs]  median    min..max  vs tfevents.X",
        "tfevents.X       2.00  1.00..4.00         1.00 x",
        "peer             30.0  10.0..50.0         15.0 x",
        "gone           not installed",
    ]
    assert metric_lines(RATE, rows)[2].split() == ["peer", "2.00", "1.00..3.00", "4.50", "x"]


def test_the_report_names_the_row_and_every_metric() -> None:
    text = report(FAKE, outcomes()[0])
    assert text.startswith("== a made-up row (fake)\n")
    assert "one call [µs]" in text
    assert "calls a second [k/s]" in text


def test_the_record_is_json_with_ratios_against_each_peer() -> None:
    kept = json.loads(json.dumps(record(FAKE, outcomes()[0], {})))
    ratios = kept["times_better"]["tfevents.X"]
    assert ratios == {"peer": {"time": pytest.approx(15), "rate": pytest.approx(4.5)}}
    assert kept["spreads"]["peer"]["rate"] == {
        "median": 2e3,
        "low": 1e3,
        "high": 3e3,
        "repeats": 3,
    }


@pytest.mark.parametrize(
    ("budget", "end"),
    [
        (Budget("fake", "time", "tfevents.X", ("peer",), 15), ": 15.00 x, kept"),
        (Budget("fake", "time", "tfevents.X", ("peer",), 16), ": 15.00 x, MISSED"),
        (Budget("fake", "rate", "tfevents.X", ("peer", "gone"), 4), ": 4.50 x, kept"),
        (Budget("fake", "rate", "tfevents.X", (), 8e3), ": 9000, MISSED"),
        (Budget("fake", "time", "tfevents.X", ("gone",), 1), ": not measured"),
        (Budget("fake", "time", "tfevents.Y", ("peer",), 1), ": not measured"),
    ],
)
def test_a_verdict_compares_the_ratio_with_the_budget(budget: Budget, end: str) -> None:
    assert verdict(budget, FAKE, outcomes()[0]).endswith(end)


def test_every_budget_is_about_a_measured_metric_and_contender() -> None:
    rows = {row.name: row for row in ROWS}
    for budget in BUDGETS:
        row = rows[budget.row]
        assert budget.metric in {metric.key for metric in row.metrics}
        assert {budget.ours, *budget.peers} <= set(row.contenders)


def test_the_long_run_is_only_made_when_asked_for() -> None:
    assert "long" not in {row.name for row in chosen(parsed([]))}
    assert "long" in {row.name for row in chosen(parsed(["--long"]))}
    assert [row.name for row in chosen(parsed(["--only", "long"]))] == ["long"]


@pytest.mark.parametrize(
    ("module", "name", "reason"),
    [
        ("no_such_package.summary", "Writer", "not installed"),
        ("json", "SummaryWriter", "no such call"),
    ],
)
def test_a_missing_contender_says_why(module: str, name: str, reason: str) -> None:
    with pytest.raises(AbsentError, match=reason):
        found(module, name)


def test_a_broken_contender_is_not_taken_for_a_missing_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "broken_peer.py").write_text("import a_dependency_that_is_missing\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(ModuleNotFoundError, match="a_dependency_that_is_missing"):
        found("broken_peer", "Writer")
