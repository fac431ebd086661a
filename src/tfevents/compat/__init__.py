"""Names that code written for other libraries imports, each loaded on first use.

| module | whose names |
|---|---|
| `v1` | tf.compat.v1: the writer and the summaries of TensorFlow 1 |
| `hparams`, `mesh`, `pr_curve` | tensorboard.plugins: the summaries of these three |
| `torch_summary`, `torch_utils` | torch.utils.tensorboard: summary; _utils, _convert_np |
| `tensorboardx` | tensorboardX |
| `event_accumulator`, `event_file_loader`, … | tensorboard.backend.event_processing: the readers |
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfevents import _lazy

if TYPE_CHECKING:
    from tfevents.compat import (
        event_accumulator,
        event_file_loader,
        hparams,
        mesh,
        plugin_event_accumulator,
        pr_curve,
        reservoir,
        tensorboardx,
        torch_summary,
        torch_utils,
        v1,
    )

__all__ = [
    "event_accumulator",
    "event_file_loader",
    "hparams",
    "mesh",
    "plugin_event_accumulator",
    "pr_curve",
    "reservoir",
    "tensorboardx",
    "torch_summary",
    "torch_utils",
    "v1",
]

__getattr__, __dir__ = _lazy.exports(__name__, {name: f"{__name__}.{name}" for name in __all__})
