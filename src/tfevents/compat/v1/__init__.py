"""tf.compat.v1 as far as it is about event files.

    import tfevents.compat.v1 as tf

    writer = tf.summary.FileWriter("logs/run")
    writer.add_summary(tf.summary.scalar("loss", 0.5), global_step=1)

Summaries are evaluated at once, since there is no session. The messages (`GraphDef`,
`RunMetadata`, …) are those of `tfevents.proto`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfevents import _lazy
from tfevents._context import name_scope
from tfevents.compat.v1 import summary, train
from tfevents.compat.v1._collections import GraphKeys

if TYPE_CHECKING:
    from tfevents.proto import (
        AttrValue,
        Event,
        GraphDef,
        HistogramProto,
        LogMessage,
        MetaGraphDef,
        NodeDef,
        RunMetadata,
        RunOptions,
        SessionLog,
        Summary,
        SummaryMetadata,
    )

__all__ = [
    "AttrValue",
    "Event",
    "GraphDef",
    "GraphKeys",
    "HistogramProto",
    "LogMessage",
    "MetaGraphDef",
    "NodeDef",
    "RunMetadata",
    "RunOptions",
    "SessionLog",
    "Summary",
    "SummaryMetadata",
    "name_scope",
    "summary",
    "train",
]

_MESSAGES = set(__all__) - {"GraphKeys", "name_scope", "summary", "train"}

__getattr__, __dir__ = _lazy.exports(__name__, dict.fromkeys(_MESSAGES, "tfevents.proto"))
