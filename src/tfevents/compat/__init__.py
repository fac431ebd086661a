"""Names that code written for other libraries imports, each loaded on first use.

`v1` is tf.compat.v1: the writer and the summaries of TensorFlow 1. `torch_summary` has the message
builders of torch.utils.tensorboard.summary.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tfevents.compat import v1

__all__ = ["torch_summary", "v1"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return importlib.import_module(f"{__name__}.{name}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
