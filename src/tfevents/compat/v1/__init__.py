"""tf.compat.v1 as far as it is about event files.

    import tfevents.compat.v1 as tf

    writer = tf.summary.FileWriter("logs/run")
    writer.add_summary(tf.summary.scalar("loss", 0.5), global_step=1)

Summaries are evaluated at once, since there is no session. The messages (`GraphDef`,
`RunMetadata`, …) are those of `tfevents.proto`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

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


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from tfevents import proto

    return getattr(proto, name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
