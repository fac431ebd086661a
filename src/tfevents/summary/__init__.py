"""tf.summary without TensorFlow: the same names, arguments, return values and files.

    import tfevents as tf

    writer = tf.summary.create_file_writer("logs/run")
    with writer.as_default():
        tf.summary.scalar("loss", 0.5, step=1)

Where TensorFlow raises an exception of its own, the nearest builtin is raised here. The page
"Differences" of the documentation lists where we deviate on purpose, and why.
"""

from __future__ import annotations

from tfevents.summary import experimental
from tfevents.summary._ops import audio, graph, histogram, image, scalar, text, write
from tfevents.summary._state import record_if, should_record_summaries
from tfevents.summary._trace import trace_export, trace_off, trace_on
from tfevents.summary._writers import (
    SummaryWriter,
    create_file_writer,
    create_noop_writer,
    flush,
)

__all__ = [
    "SummaryWriter",
    "audio",
    "create_file_writer",
    "create_noop_writer",
    "experimental",
    "flush",
    "graph",
    "histogram",
    "image",
    "record_if",
    "scalar",
    "should_record_summaries",
    "text",
    "trace_export",
    "trace_off",
    "trace_on",
    "write",
]
