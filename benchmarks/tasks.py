"""What is measured, each task in a process of its own: (contender, settings, scratch) -> metrics.

All results are in SI units. Writers are opened in fresh directories below `scratch`.
"""

from __future__ import annotations

import os
import re
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.contenders import IMPORTS, WRITERS, AbsentError, Call, Session
from benchmarks.readers import READERS, Log, write_log
from benchmarks.stats import percentile

Metrics = dict[str, float]
Settings = Mapping[str, Any]

# Ten letters each, so that bytes a scalar do not depend on which tag's turn it is.
TAGS = ("train/loss", "train/grad", "valid/loss", "valid/rate")

# A contender too slow for the number of calls asked for is stopped here; what it did counts.
LOOP_SECONDS = 10.0

# Between two large values, as a training loop has it: a queue can empty meanwhile.
PAUSE_SECONDS = 0.1


def opened(contender: str, directory: Path) -> Session:
    directory.mkdir(parents=True, exist_ok=True)
    return WRITERS[contender](str(directory))


def timer_cost() -> int:
    """Nanoseconds that two neighbouring readings of the clock differ by, at the median."""
    clock = time.perf_counter_ns
    return int(statistics.median(-(clock() - clock()) for _ in range(10_000)))


def timed_calls(call: Call, count: int, work: Callable[[], Any] | None = None) -> list[float]:
    """Seconds of each `call(tag, value, step)`, with `work()` before each, the timer's cost off."""
    clock, cost, nanoseconds = time.perf_counter_ns, timer_cost(), []
    deadline = clock() + int(LOOP_SECONDS * 1e9)
    for step in range(count):
        value = 1.0 / (step + 1)
        if work is not None:
            work()
        start = clock()
        call("train/loss", value, step)
        end = clock()
        nanoseconds.append(end - start)
        if end > deadline:
            break
    return [max(0, ns - cost) * 1e-9 for ns in nanoseconds]


def matmul_of(seconds: float) -> Callable[[], Any]:
    """A square matrix product that takes about `seconds` here, as a step of training would."""
    candidates = []
    for size in range(64, 321, 16):
        a = np.ones((size, size), np.float32)
        times = []
        for _ in range(15):
            start = time.perf_counter()
            a @ a
            times.append(time.perf_counter() - start)
        candidates.append((abs(statistics.median(times) - seconds), size))
    size = min(candidates)[1]
    chosen = np.ones((size, size), np.float32)
    return lambda: chosen @ chosen


def scalar(contender: str, settings: Settings, scratch: Path) -> Metrics:
    loops: dict[str, tuple[int, Callable[[], Any] | None]] = {
        "tight": (settings["tight"], None),
        "training": (settings["training"], matmul_of(200e-6)),
    }
    metrics = {}
    for loop, (count, work) in loops.items():
        session = opened(contender, scratch / loop)
        timed_calls(session.scalar, 100)
        times = timed_calls(session.scalar, count, work)
        session.close()
        metrics[f"{loop}_median"] = statistics.median(times)
        metrics[f"{loop}_mean"] = statistics.fmean(times)
        metrics[f"{loop}_p99"] = percentile(times, 99)
    return metrics


def throughput(contender: str, settings: Settings, scratch: Path) -> Metrics:
    warm = opened(contender, scratch / "warm")
    warm.scalar(TAGS[0], 0.0, 0)
    warm.close()
    count: int = settings["count"]
    session = opened(contender, scratch / "run")
    call, tags, width = session.scalar, TAGS, len(TAGS)
    start = time.perf_counter()
    for step in range(count):
        call(tags[step % width], 1.0 / (step + 1), step)
    session.close()
    seconds = time.perf_counter() - start
    return {"rate": count / seconds, "bytes": _tree_size(scratch / "run") / count}


def _tree_size(directory: Path) -> int:
    return sum(path.stat().st_size for path in directory.rglob("*") if path.is_file())


def histogram(contender: str, settings: Settings, scratch: Path) -> Metrics:
    values = np.random.default_rng(0).standard_normal(1_000_000, np.float32)
    return _bulk(contender, "histogram", values, settings["count"], scratch)


def image(contender: str, settings: Settings, scratch: Path) -> Metrics:
    metrics = {}
    for name, picture in _pictures().items():
        measured = _bulk(contender, "image", picture, settings["count"], scratch / name)
        metrics.update({f"{name}_{key}": value for key, value in measured.items()})
    return metrics


def _pictures() -> dict[str, np.ndarray[Any, Any]]:
    """512 x 512 x 3, values 0..255 as uint8 and 0..1 as float32: waves, and plain noise."""
    rows, columns = np.mgrid[0:512, 0:512]
    waves = [np.sin(rows / (40 + 9 * c)) * np.cos(columns / (50 + 7 * c)) for c in range(3)]
    floats: dict[str, np.ndarray[Any, Any]] = {
        "smooth": (np.stack(waves, axis=-1).astype(np.float32) + 1) / 2,
        "noise": np.random.default_rng(0).random((512, 512, 3), np.float32),
    }
    bytes_ = {f"{name}_uint8": (data * 255).astype(np.uint8) for name, data in floats.items()}
    return bytes_ | {f"{name}_float32": data for name, data in floats.items()}


def _bulk(contender: str, kind: str, data: Any, count: int, scratch: Path) -> Metrics:
    """Caller's time with pauses between calls (first two left out); then wall and CPU time without.

    The second pass runs from the first call to the closed file; the CPU time of all threads is
    counted, less that of opening and closing a writer.
    """
    clock, caller = time.perf_counter, list[float]()
    session, call = _opened_for(contender, kind, scratch / "paced")
    deadline = clock() + LOOP_SECONDS
    while len(caller) < count + 2 and clock() < deadline:
        start = clock()
        call("data", data, len(caller))
        caller.append(clock() - start)
        time.sleep(PAUSE_SECONDS)
    session.close()
    start_cpu = time.process_time()
    _opened_for(contender, kind, scratch / "empty")[0].close()
    baseline = time.process_time() - start_cpu
    session, call = _opened_for(contender, kind, scratch / "burst")
    start, start_cpu, done = clock(), time.process_time(), 0
    while done < count and clock() - start < LOOP_SECONDS:
        call("data", data, done)
        done += 1
    session.close()
    wall, cpu = clock() - start, time.process_time() - start_cpu
    if _tree_size(scratch / "burst") < 100 * done:
        raise RuntimeError(f"{contender} wrote next to nothing for {done} calls of {kind}")
    return {
        "caller": statistics.median(caller[2:] or caller),
        "wall": wall / done,
        "cpu": max(0.0, cpu - baseline) / done,
    }


def _opened_for(contender: str, kind: str, directory: Path) -> tuple[Session, Call]:
    session = opened(contender, directory)
    call: Call | None = getattr(session, kind)
    if call is None:
        session.close()
        raise AbsentError("no such call")
    return session, call


def read(contender: str, settings: Settings, scratch: Path) -> Metrics:
    """Points a second; a small log is read first, so that no import is counted as reading."""
    small = Log(str(scratch / "small"), 2, 50)
    write_log(small)
    reader, log = READERS[contender], Log(**settings["log"])
    reader(small)
    start = time.perf_counter()
    points = reader(log)
    seconds = time.perf_counter() - start
    if points != log.tags * log.steps:
        raise RuntimeError(f"{contender} read {points} of {log.tags * log.steps} points")
    return {"rate": points / seconds}


def make_log(contender: str, settings: Settings, scratch: Path) -> Metrics:
    write_log(Log(**settings["log"]))
    return {}


def import_time(contender: str, settings: Settings, scratch: Path) -> Metrics:
    """Wall time of a fresh interpreter that imports, less that of one that does nothing."""

    def run(code: str) -> float:
        start = time.perf_counter()
        subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
        return time.perf_counter() - start

    statement = IMPORTS[contender]
    try:
        run(statement)  # fills the caches of the file system and of compiled code
    except subprocess.CalledProcessError as error:
        last = error.stderr.strip().splitlines()[-1]
        missing = {"ModuleNotFoundError": "not installed", "ImportError": "no such call"}
        raise AbsentError(missing.get(last.partition(":")[0], last)) from error
    return {"seconds": run(statement) - run("pass")}


def writers(contender: str, settings: Settings, scratch: Path) -> Metrics:
    """Threads and file descriptors with `count` writers open, each after its first scalar.

    Those of before the contender's import are not counted. There is no writer to warm up: it
    would hide a thread that all writers share, and leave a contender with too few.
    """
    threads, descriptors = _threads(), _descriptors()
    sessions = []
    for index in range(settings["count"]):
        session = opened(contender, scratch / f"run{index}")
        session.scalar("train/loss", 0.0, 0)
        sessions.append(session)
    metrics = {
        "threads": float(_threads() - threads),
        "descriptors": float(_descriptors() - descriptors),
    }
    for session in reversed(sessions):  # default writers nest, so the last one opened goes first
        session.close()
    return metrics


def _threads() -> int:
    tasks = Path("/proc/self/task")
    return len(list(tasks.iterdir())) if tasks.is_dir() else threading.active_count()


def _descriptors() -> int:
    return len(os.listdir("/proc/self/fd")) if Path("/proc/self/fd").is_dir() else 0


def memory(contender: str, settings: Settings, scratch: Path) -> Metrics:
    """Bytes by which one histogram of `count` float32 values raises the resident peak."""
    session, call = _opened_for(contender, "histogram", scratch / "run")
    count: int = settings["count"]
    values = np.random.default_rng(0).standard_normal(count, np.float32)
    call("small", values[:1000], 0)
    time.sleep(1.5)  # the small one is written by now, and its modules are loaded
    before = _reset_peak()
    call("large", values, 0)
    session.close()
    return {"peak": float(max(0, _status("VmHWM") - before))}


def _reset_peak() -> int:
    """Makes the present resident size the peak (Linux), and returns it in bytes."""
    Path("/proc/self/clear_refs").write_text("5")
    return _status("VmRSS")


def _status(key: str) -> int:
    found = re.search(rf"{key}:\s+(\d+) kB", Path("/proc/self/status").read_text())
    if found is None:
        raise AbsentError(f"/proc/self/status has no {key}")
    return int(found[1]) * 1024


def long_run(contender: str, settings: Settings, scratch: Path) -> Metrics:
    """Resident size after a tenth of the scalars and after all of them, and the rate."""
    count: int = settings["count"]
    session = opened(contender, scratch)
    call, early = session.scalar, 0
    start = time.perf_counter()
    for step in range(count):
        call("train/loss", 1.0 / (step + 1), step)
        if step == count // 10:
            early = _status("VmRSS")
    late = _status("VmRSS")
    session.close()
    rate = count / (time.perf_counter() - start)
    return {"early": float(early), "late": float(late), "rate": rate}


TASKS: dict[str, Callable[[str, Settings, Path], Metrics]] = {
    "scalar": scalar,
    "throughput": throughput,
    "histogram": histogram,
    "image": image,
    "read": read,
    "import": import_time,
    "writers": writers,
    "memory": memory,
    "long": long_run,
    "make_log": make_log,
}
