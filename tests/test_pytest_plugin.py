"""A real pytest on sample files: what passes, what fails, and how the failure reads."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest_plugins = ["pytester"]

EXAMPLE = Path(__file__).parent.parent / "examples" / "test_training_log.py"

TRAIN = """
import numpy as np
import pytest
import tfevents as tf

def train(directory, steps=10):
    with tf.summary.create_file_writer(str(directory)).as_default():
        for step in range(steps):
            tf.summary.scalar("train/loss", 1 / (step + 1), step=step)
"""


@pytest.fixture(autouse=True)
def _settings(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TFEVENTS_UPDATE_BASELINES", raising=False)
    addopts = "-p no:cacheprovider -p no:hypothesispytest"
    pytester.makepyprojecttoml(f"[tool.pytest.ini_options]\naddopts = '{addopts}'\n")


def run(pytester: pytest.Pytester, code: str, *arguments: str) -> pytest.RunResult:
    pytester.makepyfile(test_it=TRAIN + code)
    return pytester.runpytest_subprocess(*arguments)


def test_tests_that_pass(pytester: pytest.Pytester) -> None:
    result = run(
        pytester,
        """
def test_log(event_log):
    assert list(event_log.path.iterdir()) == []
    train(event_log.path / "run")
    event_log.assert_scalar("train/loss", 1 / 3, step=2)
    event_log.assert_tags({"train/loss"})
    event_log.assert_decreasing("train/loss", window=2)
    assert event_log.scalars("train/loss").values[-1] == pytest.approx(0.1)

def test_another_log_is_fresh(event_log):
    assert event_log.runs == {}

def test_captured(captured_events, tmp_path):
    train("logs")
    train(tmp_path / "more", steps=1)
    captured_events.assert_steps("train/loss", range(10), run="logs")
    assert list(tmp_path.iterdir()) == []
""",
    )
    result.assert_outcomes(passed=3)
    assert not (pytester.path / "logs").exists()


def test_the_text_of_a_failure(pytester: pytest.Pytester) -> None:
    """No frame of the package is shown, only the line of the test and what is wrong."""
    result = run(
        pytester,
        """
def test_value(event_log):
    train(event_log.path, steps=3)
    event_log.assert_scalar("train/loss", 0.4, step=1)
""",
    )
    result.assert_outcomes(failed=1)
    out = [line.rstrip() for line in result.outlines]
    first = next(number for number, line in enumerate(out) if line.startswith("E"))
    assert out[first - 1] == '>       event_log.assert_scalar("train/loss", 0.4, step=1)'
    assert out[first : first + 12] == [
        "E       AssertionError: 'train/loss' at step 1 in run '.': "
        "expected 0.4, logged 0.5 (+0.1, +25.00%)",
        "E       allowed: the float32 rounding of the expected value",
        "E       points around step 1 of 'train/loss' in run '.' (3 in all):",
        "E           step 0  1.0",
        "E         > step 1  0.5",
        "E           step 2  0.33333334",
        "",
        "test_it.py:12: AssertionError",
        out[first + 8],
        "run '.'",
        "  'train/loss': steps 0..2: 1.0, 0.5, 0.33333334",
        out[first + 11],
    ]
    assert " Logged events " in out[first + 8]
    assert "short test summary" in out[first + 11]


FAILURES = [
    (
        'event_log.assert_scalar("loss", 1.0)',
        "*AssertionError: no scalar tag 'loss' in run '.'; did you mean 'train/loss'[?]",
    ),
    ('event_log.assert_steps("train/loss", range(4))', "E       not logged: 3"),
    (
        'assert len(event_log.scalars("train/loss")) == 4',
        "*where 3 = len(<Series 'train/loss': 3 points, steps 0..2: 1.0, 0.5, 0.33333334>)",
    ),
    (
        'assert event_log.scalars("train/loss").values[-1] == pytest.approx(0.25)',
        "  'train/loss': steps 0..2: 1.0, 0.5, 0.33333334",
    ),
    ('assert event_log.tags()["scalars"] == ["loss"]', "*'train/loss'*'loss'*"),
]


def test_lines_of_failures(pytester: pytest.Pytester) -> None:
    code = "".join(
        f"\ndef test_{number}(event_log):\n    train(event_log.path, steps=3)\n    {statement}\n"
        for number, (statement, _) in enumerate(FAILURES)
    )
    result = run(pytester, code)
    result.assert_outcomes(failed=len(FAILURES))
    result.stdout.fnmatch_lines(
        [
            wanted
            for number, (statement, line) in enumerate(FAILURES)
            for wanted in (f"_* test_{number} _*", f">       {glob(statement)}", line)
        ]
    )
    result.stdout.no_fnmatch_line("*_access.py*")
    result.stdout.no_fnmatch_line("*_log.py*")


def glob(text: str) -> str:
    """A pattern that only this text matches."""
    return text.replace("[", "[[]")


def test_what_was_captured_is_shown(pytester: pytest.Pytester) -> None:
    code = "\ndef test_it(captured_events):\n    train('logs', steps=2)\n    assert False\n"
    result = run(pytester, code)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*- Logged events -*", "  'train/loss': steps 0, 1: 1.0, 0.5"])


def test_unittest(pytester: pytest.Pytester) -> None:
    result = run(
        pytester,
        """
import unittest

class TestTraining(unittest.TestCase):
    @pytest.fixture(autouse=True)
    def _log(self, event_log):
        self.log = event_log

    def test_it(self):
        train(self.log.path)
        self.log.assert_scalar("train/loss", 0.1)
""",
    )
    result.assert_outcomes(passed=1)


BASELINE_TEST = """
STEPS = 2

def test_baseline(event_log):
    train(event_log.path, STEPS)
    event_log.assert_matches("baselines/training.json")
"""


def test_baselines(pytester: pytest.Pytester) -> None:
    path = pytester.path / "baselines" / "training.json"
    result = run(pytester, BASELINE_TEST)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            f"E       AssertionError: there is no baseline {path}; it would hold:",
            "E       run '.', tag 'train/loss': steps 0, 1",
            "E       to accept what was logged: pytest --update-event-baselines*",
        ]
    )
    assert not path.exists()
    run(pytester, BASELINE_TEST, "--update-event-baselines").assert_outcomes(passed=1)
    assert json.loads(path.read_text("utf-8")) == {
        "runs": {".": {"train/loss": {"0": 1.0, "1": 0.5}}}
    }
    run(pytester, BASELINE_TEST).assert_outcomes(passed=1)
    result = run(pytester, BASELINE_TEST.replace("STEPS = 2", "STEPS = 4"))
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        ["E       run '.', tag 'train/loss':", "E         not in the baseline: steps 2, 3"]
    )


def test_xdist(pytester: pytest.Pytester) -> None:
    pytest.importorskip("xdist")
    code = """
@pytest.mark.parametrize("number", range(6))
def test_captured(captured_events, number):
    train("logs", steps=number + 1)
    captured_events.assert_steps("train/loss", range(number + 1))

def test_baseline(event_log):
    train(event_log.path, 2)
    event_log.assert_matches("training.json")

def test_shown(event_log):
    train(event_log.path, 2)
    assert False
"""
    result = run(pytester, code, "-n2", "--update-event-baselines")
    result.assert_outcomes(passed=7, failed=1)
    result.stdout.fnmatch_lines(["  'train/loss': steps 0, 1: 1.0, 0.5"])
    assert (pytester.path / "training.json").exists()
    assert not (pytester.path / "logs").exists()


def test_what_pytest_says_of_the_plugin(pytester: pytest.Pytester) -> None:
    result = pytester.runpytest_subprocess("--help")
    result.stdout.fnmatch_lines(["event logs:", "*--update-event-baselines*"])
    result = pytester.runpytest_subprocess("--fixtures")
    result.stdout.fnmatch_lines(["event_log*", "captured_events*"])


def test_pytest_starts_without_anything_heavy(pytester: pytest.Pytester) -> None:
    """The plugin is loaded by its entry point, and nothing else of the package is but the door."""
    pytester.makepyfile(
        """
        import sys

        def test_it():
            ours = {name for name in sys.modules if name.split(".")[0] == "tfevents"}
            assert ours == {"tfevents", "tfevents._lazy", "tfevents.pytest_plugin"}
            heavy = {"numpy", "PIL", "google.protobuf", "crc32c"}
            assert not heavy & set(sys.modules)
        """
    )
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:hypothesispytest", "-p", "no:cacheprovider"],
        capture_output=True, text=True, timeout=120, check=False, cwd=pytester.path,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_example(pytester: pytest.Pytester) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", str(EXAMPLE)],
        capture_output=True, text=True, timeout=120, check=False, cwd=pytester.path,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert " passed" in done.stdout


def test_the_page(pytester: pytest.Pytester) -> None:
    """The code of the documentation, in one file; its baseline is missing at first."""
    page = (Path(__file__).parent.parent / "docs" / "testing.md").read_text("utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    pytester.makepyfile(test_page="\n\n".join(blocks))
    result = pytester.runpytest_subprocess()
    result.assert_outcomes(passed=6, failed=1)
    result.stdout.fnmatch_lines(["FAILED test_page.py::test_nothing_has_changed*"])
    pytester.runpytest_subprocess("--update-event-baselines").assert_outcomes(passed=7)
    pytester.runpytest_subprocess().assert_outcomes(passed=7)
