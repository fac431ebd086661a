"""Fixtures that assert what was logged: `event_log` and `captured_events`.

pytest loads this module whenever the package is installed, so nothing heavy is imported before a
test asks for a fixture.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tfevents.testing import CapturedLog, EventLog

_OPTION = "--update-event-baselines"
_LOGS: pytest.StashKey[list[Any]] = pytest.StashKey()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds the option that accepts what was logged."""
    group = parser.getgroup("tfevents", "event logs")
    group.addoption(
        _OPTION,
        action="store_true",
        default=False,
        help="rewrite the baselines of event_log.assert_matches() instead of comparing with them",
    )


@pytest.fixture
def event_log(request: pytest.FixtureRequest, tmp_path: Path) -> EventLog:
    """A fresh log directory, `event_log.path`, with assertions about what is logged there."""
    from tfevents.testing import EventLog

    directory = tmp_path / "events"
    directory.mkdir()
    log = EventLog(directory, **_baselines(request))
    request.node.stash.setdefault(_LOGS, []).append(log)
    return log


@pytest.fixture
def captured_events(request: pytest.FixtureRequest) -> Iterator[CapturedLog]:
    """What tfevents writers log in this process, kept in memory, with assertions about it."""
    from tfevents.testing import capture

    with capture(**_baselines(request)) as log:
        request.node.stash.setdefault(_LOGS, []).append(log)
        yield log


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, Any, None]:
    """Shows what was logged below a failure, for asserts that do not mention it."""
    outcome = yield
    report = outcome.get_result()
    if report.when == "call" and report.failed:
        for log in item.stash.get(_LOGS, []):
            report.sections.append(("Logged events", _description(log)))


def _baselines(request: pytest.FixtureRequest) -> dict[str, Any]:
    """Baselines lie beside the test file; the environment may ask for an update, too."""
    update = True if request.config.getoption(_OPTION) else None
    return {"baseline_dir": request.node.path.parent, "update_baselines": update}


def _description(log: EventLog) -> str:
    try:
        return log.describe()
    except Exception as error:  # a broken log must not hide why the test failed
        return f"the log cannot be shown: {type(error).__name__}: {error}"
