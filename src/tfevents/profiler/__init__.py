"""What ran on host and GPU, for TensorBoard's GRAPHS and Profile tabs.

    from tfevents.profiler import annotate, profile

    with profile(writer, step=10):
        with annotate("dense/MatMul"):
            ...

`annotate` costs next to nothing while no profile runs, so it can stay in the code.
"""

from __future__ import annotations

from tfevents import _lazy
from tfevents.profiler._profile import Recording, profile, start, stop
from tfevents.profiler.host import annotate, step

__all__ = ["Recording", "annotate", "cupti", "nvml", "profile", "start", "step", "stop"]

__getattr__, __dir__ = _lazy.exports(
    __name__, {name: f"{__name__}.{name}" for name in ("cupti", "nvml")}
)
