"""Write, read and test TensorBoard event files in plain Python.

    import tfevents as tf

    with tf.summary.create_file_writer("logs/run").as_default():
        tf.summary.scalar("loss", 0.5, step=1)

    tf.read("logs")["run"].scalars("loss").values

Everything is loaded on first use, so that importing this package costs next to nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tfevents import compat, errors, graph, profiler, proto, summary, testing
    from tfevents._context import name_scope
    from tfevents.errors import TfEventsError
    from tfevents.event_file import EventFileWriter, RecordWriter
    from tfevents.logdir import LogDir, Run, read
    from tfevents.reader import EventFileReader, RecordReader, read_events
    from tfevents.run_writer import RunWriter
    from tfevents.summary_writer import FileWriter, SummaryWriter

    __version__: str

__all__ = [
    "EventFileReader",
    "EventFileWriter",
    "FileWriter",
    "LogDir",
    "RecordReader",
    "RecordWriter",
    "Run",
    "RunWriter",
    "SummaryWriter",
    "TfEventsError",
    "__version__",
    "compat",
    "errors",
    "graph",
    "name_scope",
    "profiler",
    "proto",
    "read",
    "read_events",
    "summary",
    "testing",
]

_HOMES = {
    "EventFileReader": "tfevents.reader",
    "EventFileWriter": "tfevents.event_file",
    "FileWriter": "tfevents.summary_writer",
    "LogDir": "tfevents.logdir",
    "RecordReader": "tfevents.reader",
    "RecordWriter": "tfevents.event_file",
    "Run": "tfevents.logdir",
    "RunWriter": "tfevents.run_writer",
    "SummaryWriter": "tfevents.summary_writer",
    "TfEventsError": "tfevents.errors",
    "name_scope": "tfevents._context",
    "read": "tfevents.logdir",
    "read_events": "tfevents.reader",
}
_MODULES = frozenset({"compat", "errors", "graph", "profiler", "proto", "summary", "testing"})


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        value = getattr(importlib.import_module(_HOMES[name]), name)
    elif name in _MODULES:
        value = importlib.import_module(f"tfevents.{name}")
    elif name == "__version__":
        from importlib.metadata import version

        value = version("tfevents")
    else:
        raise AttributeError(f"module 'tfevents' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
