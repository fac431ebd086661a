"""tf.compat.v1.summary: the writer of TensorFlow 1, and its summaries evaluated at once.

`scalar`, `histogram`, `image`, `audio`, `text` and `tensor_summary` return a Summary message, which
`FileWriter.add_summary` takes; `merge` and `merge_all` join several. Names are not made unique.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfevents import _lazy
from tfevents.compat.v1._collections import merge, merge_all
from tfevents.compat.v1._ops import audio, histogram, image, scalar, tensor_summary, text
from tfevents.compat.v1._writer import FileWriter, FileWriterCache

if TYPE_CHECKING:
    from tfevents.proto import Event, SessionLog, Summary, SummaryDescription, TaggedRunMetadata

__all__ = [
    "Event",
    "FileWriter",
    "FileWriterCache",
    "SessionLog",
    "Summary",
    "SummaryDescription",
    "TaggedRunMetadata",
    "audio",
    "histogram",
    "image",
    "merge",
    "merge_all",
    "scalar",
    "tensor_summary",
    "text",
]

_MESSAGES = ("Event", "SessionLog", "Summary", "SummaryDescription", "TaggedRunMetadata")

__getattr__, __dir__ = _lazy.exports(__name__, dict.fromkeys(_MESSAGES, "tfevents.proto"))
