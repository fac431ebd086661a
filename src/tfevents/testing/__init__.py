"""Assertions about what was logged: for pytest, unittest, or no framework at all.

    EventLog          a log directory, whoever wrote it, with assertions that read it back
    capture           what tfevents writers log meanwhile goes to memory, with the same assertions
    StoreConformance  what a store of your own must do, as tests to inherit

pytest users have both as fixtures, `event_log` and `captured_events`; see `tfevents.pytest_plugin`.
"""

from __future__ import annotations

from tfevents.testing._capture import CapturedLog, capture
from tfevents.testing._conformance import StoreConformance
from tfevents.testing._log import EventLog

__all__ = ["CapturedLog", "EventLog", "StoreConformance", "capture"]
