"""What subcommands read: log directories, the runs and tags that patterns pick, many at a time."""

from __future__ import annotations

import argparse
import contextlib
import multiprocessing
import os
import signal
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from tfevents.cli._output import Output
    from tfevents.logdir import LogDir, Run

__all__ = [
    "add_jobs", "add_selection", "event_files", "every", "file_size", "matches", "nothing",
    "open_log", "quoted", "real_number", "selected_runs", "selected_tags", "whole_number",
]

Item = TypeVar("Item")
Result = TypeVar("Result")
_LONGEST_NAME = 200  # file systems take 255 bytes


def add_selection(parser: argparse.ArgumentParser) -> None:
    """Adds the patterns that pick runs and tags."""
    parser.add_argument(
        "--run", action="append", metavar="GLOB", help="only runs like this, e.g. 'exp*/train'"
    )
    parser.add_argument("--tag", action="append", metavar="GLOB", help="only tags like this")


def add_jobs(parser: argparse.ArgumentParser) -> None:
    """Adds the number of processes."""
    parser.add_argument(
        "-j", "--jobs", type=whole_number, default=1, metavar="N",
        help="processes that read files (0: as many as there are cores; default 1)",
    )


def whole_number(text: str) -> int:
    """An argument that counts something."""
    if not (text.isascii() and text.isdigit()):
        raise argparse.ArgumentTypeError(f"must be a whole number, 0 or more, not {text!r}")
    return int(text)


def real_number(low: float, high: float) -> Callable[[str], float]:
    """What makes a number from `low` to `high` of an argument."""

    def convert(text: str) -> float:
        with contextlib.suppress(ValueError):
            if low <= float(text) <= high:
                return float(text)
        raise argparse.ArgumentTypeError(f"must be a number from {low:g} to {high:g}, not {text!r}")

    return convert


def matches(name: str, patterns: Sequence[str] | None) -> bool:
    """Whether one of the patterns fits, or there are none. A name fits itself."""
    return patterns is None or any(name == each or fnmatchcase(name, each) for each in patterns)


def open_log(path: str, out: Output, jobs: int = 1) -> LogDir:
    """The log directory; with more than one job all of its files are read at once, here.

    Raises:
        OSError: there is no such path, or it cannot be read.
    """
    from tfevents.logdir import read

    log = read(path)
    total = sum(len(run.paths) for run in log.values())
    jobs = _processes(jobs, total)
    if jobs < 2:
        return log
    with _pool(jobs) as pool:
        return read(path, executor=_Watched(pool, out, total, jobs))


def _processes(jobs: int, items: int) -> int:
    """How many processes to use: no more than there are items."""
    return min(jobs or os.cpu_count() or 1, items)


@contextlib.contextmanager
def _pool(jobs: int) -> Iterator[ProcessPoolExecutor]:
    """Processes that leave Ctrl-C to us, and stop at once if we do not wait for their results.

    Raises:
        OSError: one of them ended by itself.
    """
    pool = ProcessPoolExecutor(jobs, initializer=_start_worker)
    try:
        yield pool
    except BaseException as error:
        broken = isinstance(error, BrokenProcessPool)
        for child in multiprocessing.active_children():
            child.kill() if broken else child.terminate()
        pool.shutdown(cancel_futures=True)
        if broken:
            raise OSError("a process was killed before it was done; out of memory?") from error
        raise
    pool.shutdown()


class _Stopped(BaseException):
    """Work is stopped in the middle."""


class _Worker:
    """What a process of the pool knows of itself."""

    working = False
    stopped = False


def _start_worker() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, _stop_worker)


def _stop_worker(*_: object) -> None:
    # An exception ends the work, so that no file stays half written. A result that is being sent
    # is sent to its end, else who reads it would wait for the rest for ever.
    _Worker.stopped = True
    if _Worker.working:
        raise _Stopped


@dataclass(frozen=True)
class _Work:
    """A function as a process of the pool calls it."""

    function: Callable[[Any], Any]

    def __call__(self, item: Any) -> Any:
        if _Worker.stopped:
            raise _Stopped
        _Worker.working = True
        try:
            return self.function(item)
        finally:
            _Worker.working = False


class _Watched:
    """An executor whose progress is shown."""

    def __init__(self, pool: Executor, out: Output, total: int, jobs: int) -> None:
        self._pool, self._out, self._total, self._jobs = pool, out, total, jobs

    def map(self, function: Callable[[Any], Any], /, *iterables: Iterable[Any]) -> Iterator[Any]:
        chunk = max(1, min(16, self._total // (4 * self._jobs)))
        results = self._pool.map(_Work(function), *iterables, chunksize=chunk)
        return self._out.progress(results, self._total, "reading")


def selected_runs(log: LogDir, patterns: Sequence[str] | None) -> list[Run]:
    """The runs whose names fit."""
    return [run for name, run in log.items() if matches(name, patterns)]


def selected_tags(
    run: Run, patterns: Sequence[str] | None, kinds: Sequence[str] | None = None
) -> list[tuple[str, str]]:
    """Kind and tag of what fits, in the order of `Run.tags()`."""
    return [
        (kind, tag)
        for kind, tags in run.tags().items() if kinds is None or kind in kinds
        for tag in tags if matches(tag, patterns)
    ]


def nothing(
    path: str,
    runs: Sequence[str] | None,
    tags: Sequence[str] | None = None,
    kinds: Sequence[str] | None = None,
) -> str:
    """Why nothing of a log is picked by patterns of runs and tags and by kinds."""
    from tfevents._near import did_you_mean
    from tfevents.logdir import read

    log = read(path)
    if not log:
        return f"no event files in {path}"
    picked = selected_runs(log, runs)
    if not picked:
        return f"no run {_listed(runs)} in {path}{did_you_mean((runs or [''])[0], log)}"
    known = [tag for run in picked for _, tag in selected_tags(run, None, kinds)]
    if tags is not None and known:
        return f"no tag {_listed(tags)} in {path}{did_you_mean(tags[0], known)}"
    return f"no {' or '.join(kinds or ['values'])} in {path}"


def _listed(patterns: Sequence[str] | None) -> str:
    return " or ".join(map(repr, patterns or ()))


def event_files(path: str) -> list[tuple[str, str]]:
    """Name of the run and path of each event file below a directory, or of the file named.

    Raises:
        OSError: there is no such path, or it cannot be read.
    """
    from tfevents.logdir import read

    return [(run.name, file) for run in read(path).values() for file in run.paths]


def every(
    function: Callable[[Item], Result], items: Sequence[Item], out: Output, jobs: int, label: str
) -> Generator[Result, None, None]:
    """`function` of each item, in order; in several processes if `jobs` says so."""
    jobs = _processes(jobs, len(items))
    with contextlib.ExitStack() as stack:
        if jobs > 1:
            results = stack.enter_context(_pool(jobs)).map(_Work(function), items)
        else:
            results = map(function, items)
        yield from out.progress(results, len(items), label)


def quoted(name: str) -> str:
    """A name as one component of a path: whatever else it holds is percent-encoded UTF-8.

    No name becomes "." or "..", none is hidden or ends in a dot, and no two names become one: a
    name that is too long is cut and gets a digest of all of it.
    """
    from hashlib import sha256
    from urllib.parse import quote

    octets = name.encode("utf-8", "surrogatepass")
    safe = quote(octets, safe=" ").replace("~", "%7E")
    for place in (0, -1):
        if safe and safe[place] in ". ":
            code = f"%{ord(safe[place]):02X}"
            safe = code + safe[1:] if place == 0 else safe[:-1] + code
    if len(safe) > _LONGEST_NAME:
        safe = f"{safe[:_LONGEST_NAME]}%~{sha256(octets).hexdigest()[:16]}"
    return safe or "%"


def file_size(path: str) -> int:
    """Bytes of a file, 0 if it is gone."""
    from tfevents.store import open_store

    place, name = open_store(path)
    try:
        source = place.open(name)
    except OSError:
        return 0
    try:
        return source.size()
    finally:
        source.close()
