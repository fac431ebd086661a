"""Checks what no machine without a GPU can: `python tests/gpu/run_on_gpu.py`.

Needs an NVIDIA GPU with its driver, libcupti and PyTorch built for CUDA. Every check runs in a
process of its own with a deadline and prints lines of PASS or FAIL; the exit status is the number
of checks that failed, at most 100. `run_on_gpu.py NAME` runs one check in this process.
"""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from tfevents.profiler.cupti import GpuSession, GpuTrace, GpuUnavailableError, _lib, _sizes, status

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


def cuda() -> Any:
    import torch

    torch.cuda.init()
    return torch


def matrices(torch: Any, size: int) -> tuple[Any, Any]:
    made = [torch.randn(size, size, device="cuda") for _ in range(2)]
    torch.mm(*made)  # loads the library and its kernels
    torch.cuda.synchronize()
    return made[0], made[1]


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
    cuda()
    found = status()
    expect(found.available, f"status: {found.reason}")


@check
def record_sizes() -> None:
    import ctypes

    cuda()
    cupti = _lib.load()
    GpuSession().start()  # proves the driver
    version = ctypes.c_uint32()
    cupti.call("cuptiGetVersion", ctypes.byref(version))
    measured, table = _sizes.measure(cupti), _sizes.from_version(version.value)
    wrong = {kind: (measured.get(kind), size) for kind, size in table.items()}
    wrong = {kind: pair for kind, pair in wrong.items() if pair[0] != pair[1]}
    expect(bool(measured), f"CUPTI {version.value} walks our buffer: {measured}")
    expect(not wrong, f"measured sizes are those of the table (kind: measured, table): {wrong}")


@check
def what_is_recorded() -> None:
    torch = cuda()
    a, b = matrices(torch, 256)
    host = torch.randn(1 << 20, pin_memory=True)
    before = time.time_ns()

    def work(session: GpuSession) -> None:
        for number in range(100):
            session.push(1000 + number)
            torch.mm(a, b)
            session.pop()
        device = host.to("cuda", non_blocking=True)
        device.zero_()
        device.cpu()

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
    expect(torch.cuda.get_device_name() in dict(described), f"devices: {described}")


@check
def times_against_cuda_events() -> None:
    torch = cuda()
    a, b = matrices(torch, 8192)
    marks = [torch.cuda.Event(enable_timing=True) for _ in range(2)]

    def work(_: GpuSession) -> None:
        marks[0].record()
        for _turn in range(10):
            torch.mm(a, b)
        marks[1].record()
        torch.cuda.synchronize()

    trace = record(work)
    ours = float((trace.kernels["end"] - trace.kernels["start"]).sum()) / 1e6
    events = marks[0].elapsed_time(marks[1])
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
    torch = cuda()
    a, b = matrices(torch, 8192)

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
    torch = cuda()
    a, b = matrices(torch, 1024)
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
    """Many requests from many threads, some of which hold the GIL in CuPy where it is installed."""
    torch = cuda()
    a, b = matrices(torch, 64)

    def launch() -> None:
        with torch.cuda.stream(torch.cuda.Stream()):
            for _ in range(2000):
                torch.mm(a, b)

    def work(_: GpuSession) -> None:
        threads = [threading.Thread(target=launch) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    trace = record(work, buffer_bytes=64 << 10)
    expect(len(trace.kernels) >= 16_000, f"{len(trace.kernels)} kernels of 16000 launches")
    expect(trace.dropped == 0, f"{trace.dropped} dropped; notes: {trace.notes}")


@check
def little_room() -> None:
    torch = cuda()
    a, b = matrices(torch, 64)

    def work(_: GpuSession) -> None:
        for _turn in range(50_000):
            torch.mm(a, b)

    trace = record(work, limit_bytes=4 << 20, buffer_bytes=1 << 20)
    expect(0 < len(trace.kernels) < 50_000, f"{len(trace.kernels)} kernels kept in 4 MiB")
    expect(trace.dropped > 0, f"{trace.dropped} dropped; notes: {trace.notes}")


@check
def cost_of_recording() -> None:
    torch = cuda()
    a, b = matrices(torch, 1024)

    def step() -> float:
        begin = time.perf_counter()
        for _ in range(2000):
            torch.mm(a, b)
        torch.cuda.synchronize()
        return time.perf_counter() - begin

    plain = min(step() for _ in range(5))
    times: list[float] = []
    record(lambda _: times.extend(step() for _ in range(5)))
    cost = min(times) / plain - 1
    expect(cost < 0.05, f"recording costs {cost:.1%} of {plain / 2000 * 1e6:.1f} us a launch")


def main() -> int:
    for wanted in sys.argv[1:]:
        try:
            CHECKS[wanted]()
        except Exception as error:
            expect(False, f"{wanted}: {type(error).__name__}: {error}")
        return min(failures, 100)
    failed = 0
    for name in CHECKS:
        print(f"--    {name}", flush=True)
        command = [sys.executable, __file__, name]
        try:
            code = subprocess.run(command, timeout=DEADLINE_S, check=False).returncode
        except subprocess.TimeoutExpired:
            print(f"FAIL  {name} did not end within {DEADLINE_S} s", flush=True)
            code = 1
        if code < 0 or code > 100:
            print(f"FAIL  {name} crashed with {code}", flush=True)
        failed += code != 0
    print(f"{len(CHECKS) - failed} of {len(CHECKS)} checks passed", flush=True)
    return failed


if __name__ == "__main__":
    sys.exit(main())
