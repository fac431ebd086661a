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


# time, flags (1 mark, 2 start, 4 end), id, name, domain, kind of owner (2: a thread), thread
MARKERS = [
    (12, 2, 1, 2, 0, 2, MAIN),
    (14, 2, 2, 3, 4, 2, MAIN),
    (18, 4, 2, 0, 4, 2, MAIN),
    (30, 4, 1, 0, 0, 2, MAIN),
    (33, 1, 3, 3, 0, 1, 0),
    (350, 2, 4, 2, 0, 2, OTHER),
]
# start, end, kind, correlation, stream
SYNCS = [(91, 99, 3, 8, 7), (240, 252, 4, 77, 0xFFFFFFFF), (0, 0, 3, 8, 7)]
# start, end, kind, kind of owner, thread
OVERHEADS = [(1, 9, 5 << 16, 2, MAIN), (310, 312, 1 << 16, 1, 0)]


def gpu_with_extras() -> trace.GpuTrace:
    """The same, with NVTX ranges, waits and overheads."""
    plain = gpu()
    markers = np.zeros(len(MARKERS), trace.MARKER)
    for marker, (time, flags, number, name, domain, owner, thread) in zip(
        markers, MARKERS, strict=True
    ):
        marker["time"], marker["flags"], marker["id"] = START + time * 1000, flags, number
        marker["name"], marker["domain"] = name and name + 5, domain and domain + 5
        marker["object_kind"], marker["thread"] = owner, thread & 0xFFFFFFFF
    syncs = np.zeros(len(SYNCS), trace.SYNC)
    for sync, (begin, stop, kind, correlation, stream) in zip(syncs, SYNCS, strict=True):
        if stop:
            sync["start"], sync["end"] = START + begin * 1000, START + stop * 1000
        sync["sync_kind"], sync["correlation"], sync["stream"] = kind, correlation, stream
    overheads = np.zeros(len(OVERHEADS), trace.OVERHEAD)
    for overhead, (begin, stop, kind, owner, thread) in zip(overheads, OVERHEADS, strict=True):
        overhead["start"], overhead["end"] = START + begin * 1000, START + stop * 1000
        overhead["overhead_kind"], overhead["object_kind"] = kind, owner
        overhead["thread"] = thread & 0xFFFFFFFF
    call = plain.api[:1].copy()
    call["start"], call["end"], call["correlation"] = START + 90_500, START + 99_500, 8
    return gpu(
        markers=markers, syncs=syncs, overheads=overheads, api=np.concatenate([plain.api, call]),
        names=(*GPU_NAMES, "epoch", "batch", "loader"),
    )


EXTRAS = [
    ("overhead: MainThread", "lazy function loading", 1, 9),
    ("NVTX: MainThread", "epoch", 12, 30),
    ("NVTX: MainThread", "loader: batch", 14, 18),
    ("NVTX", "batch", 33, 33),
    ("synchronization: MainThread", "stream synchronize (stream 7)", 91, 99),
    ("synchronization", "context synchronize", 240, 252),
    ("overhead", "buffer flush", 310, 312),
    ("NVTX: thread 0x11112222", "epoch", 350, 400),  # until the recording ended
]
"""Line, name, start and end that these must become; a wait without times is left out."""
