"""Checks what no machine without a GPU can: `python tests/gpu/run_on_gpu.py`.

Needs an NVIDIA GPU with its driver, libcupti, and PyTorch built for CUDA or CuPy; torch is taken
where both are there, `--cupy` asks for CuPy. Every check runs in a process of its own with a
deadline and prints lines of PASS, FAIL or SKIP; what is missing skips a check by name. The exit
status is the number of checks that failed, 1 where nothing could be checked at all.
`run_on_gpu.py NAME` runs one check in this process.
"""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any, Protocol

import numpy as np

from tfevents.profiler.cupti import (
    GpuSession,
    GpuTrace,
    GpuUnavailableError,
    _lib,
    _sizes,
    _trampoline,
    status,
)

DEADLINE_S = 100
CHECKS: dict[str, Callable[[], None]] = {}
failures = 0


def check(function: Callable[[], None]) -> Callable[[], None]:
    CHECKS[function.__name__] = function
    return function


def expect(good: bool, what: str) -> None:
    global failures
    failures += not good
    print(f"{'PASS' if good else 'FAIL'}  {what}", flush=True)


class Skip(Exception):
    """What a check needs is not here."""


class Gpu(Protocol):
    """The same few things by torch or CuPy."""

    name: str
    wait: Callable[[], object]

    def matrix(self, size: int) -> Any:
        """A square matrix of random float32."""

    def product(self, a: Any, b: Any) -> object:
        """Launches a @ b."""

    def copy_both_ways(self) -> None:
        """Copies 4 MiB from pinned memory to the GPU, sets it to zero, and copies it back."""

    def stream(self) -> AbstractContextManager[Any]:
        """A block in whose thread work goes to a new stream."""

    def stopwatch(self, work: Callable[[], None]) -> float:
        """Milliseconds of some work by CUDA events."""


class Torch:
    def __init__(self) -> None:
        import torch

        if not torch.cuda.is_available():
            raise Skip("torch sees no GPU (or is built without CUDA)")
        torch.cuda.init()
        self.torch, self.wait = torch, torch.cuda.synchronize
        self.name = str(torch.cuda.get_device_name())

    def matrix(self, size: int) -> Any:
        return self.torch.randn(size, size, device="cuda")

    def product(self, a: Any, b: Any) -> object:
        return self.torch.mm(a, b)

    def copy_both_ways(self) -> None:
        device = self.torch.zeros(1 << 20, pin_memory=True).to("cuda", non_blocking=True)
        device.zero_()
        device.cpu()

    def stream(self) -> AbstractContextManager[Any]:
        made: AbstractContextManager[Any] = self.torch.cuda.stream(self.torch.cuda.Stream())
        return made

    def stopwatch(self, work: Callable[[], None]) -> float:
        begin, end = (self.torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        work()
        end.record()
        self.wait()
        return float(begin.elapsed_time(end))


class Cupy:
    def __init__(self) -> None:
        cupy: Any = importlib.import_module("cupy")
        if not cupy.cuda.is_available():
            raise Skip("CuPy sees no GPU")
        self.cupy, self.wait = cupy, cupy.cuda.runtime.deviceSynchronize
        self.name = str(cupy.cuda.runtime.getDeviceProperties(0)["name"].decode())

    def matrix(self, size: int) -> Any:
        return self.cupy.random.rand(size, size, dtype="float32")

    def product(self, a: Any, b: Any) -> object:
        return self.cupy.matmul(a, b)

    def copy_both_ways(self) -> None:
        device = self.cupy.empty(1 << 20, "float32")
        device.set(np.ones(1 << 20, np.float32))
        device.data.memset(0, 1 << 22)
        device.get()

    def stream(self) -> AbstractContextManager[Any]:
        made: AbstractContextManager[Any] = self.cupy.cuda.Stream(non_blocking=True)
        return made

    def stopwatch(self, work: Callable[[], None]) -> float:
        begin, end = self.cupy.cuda.Event(), self.cupy.cuda.Event()
        begin.record()
        work()
        end.record()
        self.wait()
        return float(self.cupy.cuda.get_elapsed_time(begin, end))


def gpu() -> Gpu:
    """The first library that works; its context exists afterwards."""
    reasons = []
    made: Gpu
    for make in (Cupy,) if "--cupy" in sys.argv else (Torch, Cupy):
        try:
            made = make()
        except (ImportError, OSError, Skip) as error:
            reasons.append(str(error))
            continue
        made.matrix(8)
        made.wait()
        return made
    raise Skip("; ".join(reasons))


def torch_gpu() -> Torch:
    """The check is about torch itself."""
    if "--cupy" in sys.argv:
        raise Skip("it is about torch")
    try:
        return Torch()
    except (ImportError, OSError) as error:
        raise Skip(str(error)) from error


def matrices(gpu: Gpu, size: int) -> tuple[Any, Any]:
    a, b = gpu.matrix(size), gpu.matrix(size)
    gpu.product(a, b)  # loads the library and its kernels
    gpu.wait()
    return a, b


def record(work: Callable[[GpuSession], None], **options: Any) -> GpuTrace:
    session = GpuSession(**options)
    session.start()
    try:
        work(session)
    finally:
        trace = session.stop()
    return trace


def names(trace: GpuTrace) -> list[str]:
    return [trace.names[index] for index in trace.kernels["name"]]


@check
def availability() -> None:
    gpu()
    found = status()
    expect(found.available, f"status: {found.reason}")


@check
def record_sizes() -> None:
    import ctypes

    gpu()
    record(lambda _: None)  # proves the driver
    cupti = _lib.load()
    version = ctypes.c_uint32()
    cupti.call("cuptiGetVersion", ctypes.byref(version))
    measured, table = _sizes.measure(cupti), _sizes.from_version(version.value)
    wrong = {kind: (measured.get(kind), size) for kind, size in table.items()}
    wrong = {kind: pair for kind, pair in wrong.items() if pair[0] != pair[1]}
    expect(bool(measured), f"CUPTI {version.value} walks our buffer: {measured}")
    expect(not wrong, f"measured sizes are those of the table (kind: measured, table): {wrong}")


@check
def what_is_recorded() -> None:
    device = gpu()
    a, b = matrices(device, 256)
    before = time.time_ns()

    def work(session: GpuSession) -> None:
        for number in range(100):
            session.push(1000 + number)
            device.product(a, b)
            session.pop()
        device.copy_both_ways()

    trace = record(work)
    after = time.time_ns()
    kernels = trace.kernels
    expect(len(kernels) >= 100, f"{len(kernels)} kernels of 100 products")
    expect(all(names(trace)), f"every kernel has a name, such as {names(trace)[:1]}")
    expect(trace.dropped == 0, f"{trace.dropped} records dropped; notes: {trace.notes}")
    expect(bool(np.all(kernels["start"] < kernels["end"])), "every kernel ends after it starts")
    inside = (kernels["start"] >= before - 10**6) & (kernels["end"] <= after + 10**6)
    expect(bool(inside.all()), "kernel times lie between the host's clock readings (1 ms slack)")
    tied = dict(trace.external.tolist())
    owners = [tied.get(row["correlation"]) for row in kernels]
    expect(
        set(range(1000, 1100)) <= set(owners),
        f"every span has its kernel ({owners.count(None)} without)",
    )
    calls = {row["correlation"]: row for row in trace.api}
    launched = [
        calls[c]["start"] <= s for c, s in kernels[["correlation", "start"]].tolist() if c in calls
    ]
    expect(len(launched) == len(kernels) and all(launched), "every kernel follows its launch")
    mine = threading.get_ident() & 0xFFFFFFFF
    expect(bool(np.any(trace.api["thread"] == mine)), "calls carry this thread's id")
    copies = {int(kind) for kind in trace.memcpys["copy_kind"]}
    expect({1, 2} <= copies, f"copies to and from the device were seen: {copies}")
    expect((1 << 22) in trace.memcpys["bytes"].tolist(), "with their bytes")
    described = [(trace.names[row["name"]], int(row["memory"])) for row in trace.devices]
    expect(device.name in dict(described), f"devices: {described}")


@check
def times_against_cuda_events() -> None:
    device = gpu()
    a, b = matrices(device, 8192)
    measured: list[float] = []

    def products() -> None:
        for _ in range(10):
            device.product(a, b)

    trace = record(lambda _: measured.append(device.stopwatch(products)))
    ours = float((trace.kernels["end"] - trace.kernels["start"]).sum()) / 1e6
    events = measured[0]
    expect(abs(ours / events - 1) < 0.05, f"kernels {ours:.3f} ms, CUDA events {events:.3f} ms")


def torch_profile(torch: Any, a: Any, b: Any) -> float:
    """Milliseconds of GPU work torch.profiler sees in ten products."""
    activities = [torch.profiler.ProfilerActivity.CUDA, torch.profiler.ProfilerActivity.CPU]
    with torch.profiler.profile(activities=activities) as profiler:
        for _ in range(10):
            torch.mm(a, b)
        torch.cuda.synchronize()
    events = [e for e in profiler.events() if str(e.device_type).endswith("CUDA")]
    return float(sum(e.time_range.elapsed_us() for e in events)) / 1000


@check
def torch_profiler_afterwards() -> None:
    device = torch_gpu()
    torch = device.torch
    a, b = matrices(device, 8192)

    def work(_: GpuSession) -> None:
        for _turn in range(10):
            torch.mm(a, b)

    trace = record(work)
    ours = float((trace.kernels["end"] - trace.kernels["start"]).sum()) / 1e6
    theirs = torch_profile(torch, a, b)
    expect(theirs > 0, f"torch.profiler works after a session ({theirs:.3f} ms of GPU work)")
    expect(theirs > 0 and abs(ours / theirs - 1) < 0.05, f"ours {ours:.3f} ms, theirs {theirs:.3f}")


@check
def torch_profiler_before_and_during() -> None:
    device = torch_gpu()
    torch = device.torch
    a, b = matrices(device, 1024)
    first = torch_profile(torch, a, b)
    expect(first > 0, "torch.profiler works before a session")
    found = status()
    print(f"NOTE  after torch.profiler: {found.reason}", flush=True)
    activities = [torch.profiler.ProfilerActivity.CUDA]
    with torch.profiler.profile(activities=activities):
        try:
            GpuSession().start()
            refused = ""
        except GpuUnavailableError as error:
            refused = str(error)
        torch.mm(a, b)
    expect("profiler" in refused, f"refused while torch.profiler runs: {refused}")
    expect(torch_profile(torch, a, b) > 0, "torch.profiler works after a refusal")


@check
def threads_and_small_buffers() -> None:
    """Many requests for buffers from many threads; CuPy launches with the GIL held."""
    device = gpu()
    a, b = matrices(device, 64)

    def launch() -> None:
        with device.stream():
            for _ in range(2000):
                device.product(a, b)

    def work(_: GpuSession) -> None:
        threads = [threading.Thread(target=launch) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    trace = record(work, buffer_bytes=64 << 10)
    expect(len(trace.kernels) >= 16_000, f"{len(trace.kernels)} kernels of 16000 launches")
    seen = _trampoline.buffers().counters()
    expect(seen.completed > 16, f"the native callbacks were called from CUPTI's threads: {seen}")
    expect(seen.refused == 0, "none of them went without a buffer")
    expect(trace.dropped == 0, f"{trace.dropped} dropped; notes: {trace.notes}")


@check
def little_room() -> None:
    device = gpu()
    a, b = matrices(device, 64)

    def work(_: GpuSession) -> None:
        for turn in range(50_000):
            device.product(a, b)
            if turn % 1000 == 0:
                device.wait()  # so that kernels, too, find room

    trace = record(work, limit_bytes=4 << 20, buffer_bytes=1 << 20)
    expect(0 < len(trace.kernels) < 50_000, f"{len(trace.kernels)} kernels kept in 4 MiB")
    expect(trace.dropped > 0, f"{trace.dropped} dropped; notes: {trace.notes}")


@check
def cost_of_recording() -> None:
    device = gpu()
    a, b = matrices(device, 1024)

    def step() -> float:
        begin = time.perf_counter()
        for _ in range(2000):
            device.product(a, b)
        device.wait()
        return time.perf_counter() - begin

    plain = min(step() for _ in range(5))
    times: list[float] = []
    record(lambda _: times.extend(step() for _ in range(5)))
    cost = min(times) / plain - 1
    expect(cost < 0.05, f"recording costs {cost:.1%} of {plain / 2000 * 1e6:.1f} us a launch")
    a, b = matrices(device, 64)  # so short that launching is all that takes time
    short = min(step() for _ in range(5))
    times.clear()
    record(lambda _: times.extend(step() for _ in range(5)))
    bare, recorded = (seconds / 2000 * 1e6 for seconds in (short, min(times)))
    print(f"NOTE  a short launch takes {bare:.1f} us, recorded {recorded:.1f} us", flush=True)


@check
def a_profile_in_all_its_forms() -> None:
    from tfevents import proto
    from tfevents.profiler import annotate, profile

    device = gpu()
    a, b = matrices(device, 1024)
    with tempfile.TemporaryDirectory() as folder:
        with profile(folder, gpu=True, step=3) as profiled:
            for _ in range(20):
                with annotate("dense/MatMul"):
                    device.product(a, b)
        made = profiled.recording
        if made is None or made.gpu_reason:
            raise RuntimeError("no GPU activity" if made is None else made.gpu_reason)
        stats = made.run_metadata(3).step_stats.dev_stats
        nodes = {
            node.node_name: node.all_end_rel_nanos
            for one in stats if one.device.endswith("device:GPU:0") for node in one.node_stats
        }
        expect(nodes.get("dense/MatMul", 0) > 0, f"the op has GPU time: {nodes}")
        files = [
            os.path.join(path, name) for path, _, names in os.walk(folder) for name in names
        ]
        spaces = [name for name in files if name.endswith(".xplane.pb")]
        expect(len(spaces) == 1, f"one XSpace was written: {spaces}")
        with open(spaces[0], "rb") as file:
            space = proto.XSpace.FromString(file.read())
        events = sum(
            len(line.events) for plane in space.planes if plane.name == "/device:GPU:0"
            for line in plane.lines
        )
        expect(events >= 20, f"it has {events} pieces of GPU work of 20 products")
        print(f"NOTE  {made.timeline.notes}", flush=True)


NOTHING = 101
"""Exit status of a check that was skipped."""


def run_one(name: str) -> int:
    """Runs a check in this process; the number of its failures, or NOTHING."""
    try:
        CHECKS[name]()
    except Skip as missing:
        print(f"SKIP  {name}: {missing}", flush=True)
        return NOTHING
    except Exception as error:
        expect(False, f"{name}: {type(error).__name__}: {error}")
    return min(failures, 100)


def run_apart(name: str) -> int:
    """Runs a check in a process of its own."""
    print(f"--    {name}", flush=True)
    command = [sys.executable, os.path.abspath(__file__), name, *OPTIONS]
    try:
        code = subprocess.run(command, timeout=DEADLINE_S, check=False).returncode
    except subprocess.TimeoutExpired:
        print(f"FAIL  {name} did not end within {DEADLINE_S} s", flush=True)
        return 1
    if not 0 <= code <= NOTHING:
        print(f"FAIL  {name} crashed with {code}", flush=True)
    return code


OPTIONS = [argument for argument in sys.argv[1:] if argument == "--cupy"]


def main() -> int:
    wanted = [argument for argument in sys.argv[1:] if argument not in OPTIONS]
    unknown = [name for name in wanted if name not in CHECKS]
    if unknown or len(wanted) > 1:
        print(f"one of these checks, please: {', '.join(CHECKS)}", flush=True)
        return 2
    if wanted:
        return run_one(wanted[0])
    codes = [run_apart(name) for name in CHECKS]
    skipped = codes.count(NOTHING)
    passed = codes.count(0)
    failed = len(codes) - passed - skipped
    print(f"{passed} checks passed, {failed} failed, {skipped} skipped", flush=True)
    return failed or int(not passed)


if __name__ == "__main__":
    sys.exit(main())
