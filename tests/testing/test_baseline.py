"""Baselines: the file as it reads, and what is said when a log departs from it."""

from __future__ import annotations

import json
import unittest
from pathlib import Path

import pytest

from tfevents.summary_writer import SummaryWriter
from tfevents.testing import EventLog

FILE = """\
{
  "runs": {
    "train": {
      "accuracy": {
        "0": 0.5
      },
      "loss": {
        "2": 0.1,
        "9": "nan",
        "10": [
          0.3,
          "-inf"
        ]
      }
    },
    "zürich": {
      "loss": {
        "-1": 16777216.0
      }
    }
  }
}
"""
NAN, INF = float("nan"), float("inf")
LOSSES = [(2, 0.1), (9, NAN), (10, 0.3), (10, -INF)]


def write(path: Path, **tags: list[tuple[int, float]]) -> None:
    with SummaryWriter(path) as writer:
        for tag, points in tags.items():
            for step, value in points:
                writer.add_scalar(tag, value, step)


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    write(tmp_path / "logs" / "train", loss=LOSSES, accuracy=[(0, 0.5)])
    write(tmp_path / "logs" / "zürich", loss=[(-1, 2.0**24)])
    return tmp_path / "logs"


@pytest.fixture
def log(logs: Path, tmp_path: Path) -> EventLog:
    return EventLog(logs, baseline_dir=tmp_path)


def failure(log: EventLog, **options: object) -> list[str]:
    with pytest.raises(AssertionError) as caught:
        log.assert_matches("baseline.json", **options)  # type: ignore[arg-type]
    return str(caught.value).splitlines()


def test_the_file(log: EventLog, tmp_path: Path) -> None:
    log.assert_matches("deep/baseline.json", update=True)
    assert (tmp_path / "deep" / "baseline.json").read_text("utf-8") == FILE
    assert [path.name for path in (tmp_path / "deep").iterdir()] == ["baseline.json"]
    log.assert_matches("deep/baseline.json")


def test_a_file_by_hand(log: EventLog, tmp_path: Path) -> None:
    (tmp_path / "baseline.json").write_text(json.dumps(json.loads(FILE)), "utf-8")
    log.assert_matches("baseline.json")
    log.assert_matches(tmp_path / "baseline.json")


def test_there_is_none(log: EventLog, tmp_path: Path) -> None:
    assert failure(log) == [
        f"there is no baseline {tmp_path / 'baseline.json'}; it would hold:",
        "run 'train', tag 'accuracy': steps 0",
        "run 'train', tag 'loss': steps 2, 9, 10",
        "run 'zürich', tag 'loss': steps -1",
        "to accept what was logged: pytest --update-event-baselines, "
        "or TFEVENTS_UPDATE_BASELINES=1, or update=True",
    ]
    assert not (tmp_path / "baseline.json").exists()


def test_what_differs(log: EventLog, logs: Path, tmp_path: Path) -> None:
    stored = json.loads(FILE)
    train = stored["runs"]["train"]
    train["loss"] = {"2": 0.125, "9": "nan", "10": [0.3], "11": 0.0, "12": 0.0, "13": 0.0}
    train["gone"] = {"0": 1.0, "10": 1.0, "20": 1.0}
    del train["accuracy"]
    (tmp_path / "baseline.json").write_text(json.dumps(stored), "utf-8")
    lines = failure(log, rel=0.01)
    assert lines[0] == f"the scalars differ from the baseline {tmp_path / 'baseline.json'}"
    assert lines[1:-1] == [
        "run 'train', tag 'accuracy':",
        "  not in the baseline: steps 0",
        "run 'train', tag 'gone':",
        "  not in the log: steps 0..20 by 10",
        "run 'train', tag 'loss':",
        "  not in the log: steps 11..13",
        "  other values: steps 2, 10",
        "    step 2: expected 0.125, logged 0.1 (-0.025)",
        "    step 10: expected 0.3, logged 0.3, -inf",
        "allowed: rel=0.01",
    ]


def test_tolerances(log: EventLog, tmp_path: Path) -> None:
    (tmp_path / "baseline.json").write_text(FILE.replace("0.1,", "0.101,"), "utf-8")
    log.assert_matches("baseline.json", abs=0.0011)
    log.assert_matches("baseline.json", rel=0.01)
    failure(log)
    failure(log, abs=0.0009)
    failure(log, rel=0.009)


def test_parts(log: EventLog, logs: Path, tmp_path: Path) -> None:
    (tmp_path / "baseline.json").write_text(FILE, "utf-8")
    write(logs / "train", **{"time/step": [(0, 1.0)], "time/all": [(0, 1.0)]})
    failure(log)
    log.assert_matches("baseline.json", ignore=["time/*"])
    failure(log, ignore=["time/step"])
    write(logs / "zürich", loss=[(0, 1.0)])
    failure(log, ignore=["time/*"])
    log.assert_matches("baseline.json", run="train", ignore=["time/*"])


def test_a_file_that_is_no_baseline(log: EventLog, tmp_path: Path) -> None:
    (tmp_path / "baseline.json").write_text("[]", "utf-8")
    with pytest.raises(ValueError, match=r"baseline\.json is no baseline"):
        log.assert_matches("baseline.json")


def test_an_empty_log_is_never_a_baseline(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="no scalars to compare"):
        EventLog(tmp_path).assert_matches(tmp_path / "baseline.json", update=True)
    assert not (tmp_path / "baseline.json").exists()


@pytest.mark.parametrize(
    ("value", "updates"), [("1", True), ("yes", True), ("0", False), ("", False)]
)
def test_unittest_updates_by_the_environment(
    logs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, value: str, updates: bool
) -> None:
    monkeypatch.setenv("TFEVENTS_UPDATE_BASELINES", value)

    class Case(unittest.TestCase):
        def runTest(self) -> None:  # noqa: N802 - the name is unittest's
            EventLog(logs, baseline_dir=tmp_path).assert_matches("baseline.json")

    result = unittest.TestResult()
    Case().run(result)
    assert (tmp_path / "baseline.json").exists() == updates
    assert result.wasSuccessful() == updates
    assert len(result.failures) == (not updates)
