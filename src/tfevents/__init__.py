"""Write, read and test TensorBoard event files in plain Python.

    import tfevents as tf

    with tf.summary.create_file_writer("logs/run").as_default():
        tf.summary.scalar("loss", 0.5, step=1)

    tf.read("logs")["run"].scalars("loss").values

Everything is loaded on first use, so that importing this package costs next to nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfevents import _lazy

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
    "__version__": "tfevents._version",
    "compat": "tfevents.compat",
    "errors": "tfevents.errors",
    "graph": "tfevents.graph",
    "name_scope": "tfevents._context",
    "profiler": "tfevents.profiler",
    "proto": "tfevents.proto",
    "read": "tfevents.logdir",
    "read_events": "tfevents.reader",
    "summary": "tfevents.summary",
    "testing": "tfevents.testing",
}

__getattr__, __dir__ = _lazy.exports(__name__, _HOMES)
