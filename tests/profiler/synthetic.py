"""A recording made by hand: two steps, two threads, four kernels and two copies.

All times below are microseconds since START.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tfevents.profiler.cupti import trace
from tfevents.profiler.spans import SPAN, HostTrace, Thread

START = 1_700_000_000_000_000_000
MAIN, OTHER = 0x7F0012345678, 0x11112222  # the driver knows the lower 32 bits only
NAMES = ("", "train", "dense/MatMul", "dense/Add")
GPU_NAMES = ("", "cudaLaunchKernel", "cudaMemcpyAsync", "cuLaunchKernel", "gemm", "relu", "H200")

# id, parent, name, step (-1: not told), is a step, start, end
SPANS = [
    (1, 0, 1, 10, True, 0, 100),
    (2, 1, 2, 10, False, 10, 40),
    (3, 1, 3, -1, False, 50, 70),
    (4, 0, 1, 11, True, 200, 300),
    (5, 4, 2, 11, False, 210, 240),
]
# start, end, domain, name, thread, correlation
CALLS = [
    (15, 19, trace.RUNTIME, 1, MAIN, 1),
    (16, 18, trace.DRIVER, 3, MAIN, 1),
    (20, 22, trace.RUNTIME, 1, MAIN, 2),
    (55, 58, trace.RUNTIME, 2, MAIN, 3),
    (220, 223, trace.RUNTIME, 1, MAIN, 4),
    (260, 262, trace.RUNTIME, 1, OTHER, 5),
]
# start, end, stream, correlation, name; the last has no times, as where the clock failed
KERNELS: list[tuple[float, float, int, int, int]] = [
    (20, 50, 7, 1, 4),
    (60, 72.5, 7, 2, 4),
    (230, 250, 8, 4, 4),
    (270, 280, 8, 5, 5),
]
TIED = [(1, 2), (3, 3), (4, 5)]  # correlation, span; 2 has to be found by thread and time


def host(**changes: Any) -> HostTrace:
    spans = np.zeros(len(SPANS), SPAN)
    for row, (number, parent, name, step, marks, start, end) in zip(spans, SPANS, strict=True):
        row["id"], row["parent"], row["name"], row["step"] = number, parent, name, step
        row["marks_step"] = marks
        row["start"], row["end"] = START + start * 1000, START + end * 1000
    arguments: dict[str, Any] = {
        "start": START, "stop": START + 400_000, "threads": (Thread(MAIN, "MainThread"),),
        "spans": spans, "names": NAMES,
    }
    return HostTrace(**arguments | changes)


def gpu(**changes: Any) -> trace.GpuTrace:
    api = np.zeros(len(CALLS), trace.API)
    for row, (start, end, domain, name, thread, correlation) in zip(api, CALLS, strict=True):
        row["start"], row["end"] = START + start * 1000, START + end * 1000
        row["domain"], row["name"], row["correlation"] = domain, name, correlation
        row["thread"] = thread & 0xFFFFFFFF
    kernels = np.zeros(len(KERNELS) + 1, trace.KERNEL)
    for kernel, (begin, stop, stream, correlation, name) in zip(kernels, KERNELS, strict=False):
        kernel["start"], kernel["end"] = START + int(begin * 1000), START + int(stop * 1000)
        kernel["stream"], kernel["correlation"], kernel["name"] = stream, correlation, name
        kernel["grid"], kernel["block"], kernel["registers"] = (128, 2, 1), (256, 1, 1), 32
        kernel["static_shared"], kernel["dynamic_shared"] = 1024, 2048
    copies = np.zeros(1, trace.MEMCPY)
    copies["start"], copies["end"] = START + 80_000, START + 90_000
    copies["stream"], copies["correlation"], copies["bytes"] = 7, 3, 4096
    copies["copy_kind"], copies["source_kind"], copies["target_kind"] = 1, 2, 3
    copies["flags"] = 1
    memory = np.zeros(3, trace.MEMORY)
    memory["time"] = [START + 15_500, START + 56_000, START + 90_000]
    memory["operation"], memory["bytes"] = [1, 1, 2], [1 << 20, 1 << 10, 1 << 10]
    memory["correlation"], memory["address"] = [1, 3, 9], [0x7F00000000, 0x7F00100000, 0x7F00100000]
    devices = np.zeros(1, trace.DEVICE)
    devices["name"], devices["memory"], devices["multiprocessors"] = 6, 1 << 37, 132
    devices["major"], devices["clock"], devices["bandwidth"] = 9, 1_980_000, 4_800_000_000
    tables: dict[str, Any] = {
        "kernels": kernels, "memcpys": copies, "api": api, "memory": memory, "devices": devices,
        "external": np.array(TIED, trace.EXTERNAL), "names": GPU_NAMES, "notes": ("one note",),
    }
    return trace.GpuTrace(**tables | changes)
