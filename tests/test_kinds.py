"""Every kind of data has a place in each room that asks for kinds: a new one misses none."""

from __future__ import annotations

import pytest

from tfevents import kinds
from tfevents.cli import _values
from tfevents.logdir import Run
from tfevents.testing import CapturedLog, EventLog


@pytest.mark.parametrize("kind", kinds.KINDS)
def test_every_kind_is_decoded(kind: str) -> None:
    assert callable(kinds.decoder(kind))


@pytest.mark.parametrize("kind", kinds.SERIES)
@pytest.mark.parametrize("reader", [Run, EventLog, CapturedLog])
def test_every_kind_is_read_by_its_name(reader: type, kind: str) -> None:
    assert callable(getattr(reader, kind))


@pytest.mark.parametrize("table", ["_BRIEF", "_DATA"])
def test_the_command_line_shows_every_kind(table: str) -> None:
    assert set(getattr(_values, table)) == set(kinds.KINDS)


def test_a_kind_that_is_not_known() -> None:
    with pytest.raises(ValueError, match="did you mean 'images'"):
        kinds.checked("image")
