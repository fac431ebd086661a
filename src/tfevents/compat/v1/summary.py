"""tf.compat.v1.summary: the writer of TensorFlow 1, and its summaries evaluated at once.

`scalar`, `histogram`, `image`, `audio`, `text` and `tensor_summary` return a Summary message, which
`FileWriter.add_summary` takes; `merge` and `merge_all` join several. Names are not made unique.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

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


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from tfevents import proto

    return getattr(proto, name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
