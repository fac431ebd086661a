"""tf.summary without TensorFlow: the same names, arguments, return values and files.

    import tfevents as tf

    writer = tf.summary.create_file_writer("logs/run")
    with writer.as_default():
        tf.summary.scalar("loss", 0.5, step=1)

Where TensorFlow raises an exception of its own, the nearest builtin is raised here. The page
"Differences" of the documentation lists where we deviate on purpose, and why.

Beyond TensorFlow's there are `hparams`, `pr_curve`, `mesh`, `custom_scalars`, `embedding`,
`figure`, `video` and `run_metadata`. `FileWriter` and `FileWriterCache` are those of TensorFlow 1,
which had them here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tfevents.summary import experimental
from tfevents.summary._more import (
    custom_scalars,
    embedding,
    figure,
    hparams,
    mesh,
    pr_curve,
    run_metadata,
    video,
)
from tfevents.summary._ops import audio, graph, histogram, image, scalar, text, write
from tfevents.summary._state import record_if, should_record_summaries
from tfevents.summary._trace import trace_export, trace_off, trace_on
from tfevents.summary._writers import (
    SummaryWriter,
    create_file_writer,
    create_noop_writer,
    flush,
)

if TYPE_CHECKING:
    from tfevents.compat.v1.summary import FileWriter, FileWriterCache

__all__ = [
    "FileWriter",
    "FileWriterCache",
    "SummaryWriter",
    "audio",
    "create_file_writer",
    "create_noop_writer",
    "custom_scalars",
    "embedding",
    "experimental",
    "figure",
    "flush",
    "graph",
    "histogram",
    "hparams",
    "image",
    "mesh",
    "pr_curve",
    "record_if",
    "run_metadata",
    "scalar",
    "should_record_summaries",
    "text",
    "trace_export",
    "trace_off",
    "trace_on",
    "video",
    "write",
]

_OF_TENSORFLOW_1 = ("FileWriter", "FileWriterCache")


def __getattr__(name: str) -> Any:
    if name not in _OF_TENSORFLOW_1:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from tfevents.compat.v1 import summary

    value = globals()[name] = getattr(summary, name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
