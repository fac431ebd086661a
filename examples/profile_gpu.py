"""Profile a few matrix products on an NVIDIA GPU, with torch or CuPy, whichever is there.

    python examples/profile_gpu.py
    tensorboard --logdir logs/profile_gpu

The GRAPHS tab shows the time of each op on host and GPU; with xprof installed (`pip install xprof`)
the Profile tab has kernel_stats, trace_viewer and the rest. Without a GPU this says why there is
none and ends. It has never been run on a GPU.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from typing import Any

from tfevents import SummaryWriter
from tfevents.graph import GraphBuilder
from tfevents.profiler import annotate, cupti, profile

SIZE = 4096


def torch_array() -> tuple[Any, Callable[[], None]]:
    import torch

    torch.manual_seed(0)
    return torch.rand(SIZE, SIZE, device="cuda"), torch.cuda.synchronize


def cupy_array() -> tuple[Any, Callable[[], None]]:
    import cupy

    return cupy.random.default_rng(0).random((SIZE, SIZE)), cupy.cuda.Device().synchronize


def first_array() -> tuple[Any, Callable[[], None]]:
    """A square array on the GPU, and the function that waits for it."""
    for make in (torch_array, cupy_array):
        try:
            return make()
        except ImportError:
            continue
    raise ImportError("neither torch nor CuPy is installed")


def build_graph() -> GraphBuilder:
    graph = GraphBuilder()
    x = graph.node("x", "Placeholder", shapes=[[SIZE, SIZE]])
    with graph.scope("product"):
        y = graph.node("MatMul", "MatMul", [x, x], shapes=[[SIZE, SIZE]])
    graph.node("Sum", "Sum", [y], shapes=[[]])
    return graph


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--logdir", default="logs/profile_gpu")
    parser.add_argument("--steps", type=int, default=5)
    arguments = parser.parse_args()
    if arguments.steps < 1:
        parser.error("--steps must be at least 1")

    status = cupti.status()
    if not status:
        print(status.reason)
        return
    try:
        x, wait = first_array()
    except ImportError as error:
        print(f"This example needs torch or CuPy: {error}")
        return
    (x @ x).sum()  # what happens only once shall not be in the profile
    wait()
    with SummaryWriter(arguments.logdir) as writer:
        writer.add_graph(build_graph().build())
        with profile(writer, gpu=True) as profiled:
            for step in range(arguments.steps):
                with profile.step(step):
                    with annotate("product/MatMul"):
                        y = x @ x
                    with annotate("Sum"):
                        y.sum()
                    wait()
    recording = profiled.recording
    print(f"{len(recording.timeline.work)} pieces of GPU work recorded")
    for note in recording.timeline.notes:
        print(f"note: {note}")
    print(f"tensorboard --logdir {arguments.logdir}")


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        print("\ninterrupted; what was logged so far can be read", file=sys.stderr)
        raise SystemExit(130) from None
