"""Writers as tf.summary has them: made explicitly, used as the default of a block."""

from __future__ import annotations

import contextlib
import math
import operator
import os
import time
from collections.abc import Iterator
from typing import Any

from tfevents import _context
from tfevents._types import PathLike
from tfevents.errors import WriterClosedError
from tfevents.run_writer import RunWriter

__all__ = [
    "FileWriter", "FlushPolicy", "NoopWriter", "SummaryWriter", "create_file_writer",
    "create_noop_writer", "flush",
]


class SummaryWriter:
    """Interface of the writers of tf.summary.

    Attributes:
        run: the run writer beneath; a subclass that shall be written to needs one.
        policy: when writes flush by themselves; None for never.
    """

    run: RunWriter
    policy: FlushPolicy | None = None

    def as_default(self, step: Any = None) -> contextlib.AbstractContextManager[Any]:
        """Makes this the default writer for a block, which ends with a flush.

        Args:
            step: default step inside the block; without one, a step that is set inside stays set.

        Raises:
            RuntimeError: the writer is closed.
        """
        return _Default(self, step)

    def set_as_default(self, step: Any = None) -> None:
        """Makes this the default writer of the thread, and `step` the default step, if given.

        Raises:
            RuntimeError: the writer is closed.
        """
        self.as_default(step).__enter__()

    def init(self) -> None:
        """Does nothing here, since a writer is ready when it is made.

        Raises:
            RuntimeError: the writer is closed.
        """
        raise NotImplementedError

    def flush(self) -> None:
        """Returns when everything written before is visible to other processes."""
        raise NotImplementedError

    def close(self) -> None:
        """Flushes and closes; a second call does nothing."""
        raise NotImplementedError


class _Default:
    """Puts a writer, and perhaps a step, in force from `__enter__` to `__exit__`."""

    def __init__(self, writer: SummaryWriter, step: Any) -> None:
        self._writer = writer
        self._step = {} if step is None else {"step": step}
        self._before = _context.State()

    def __enter__(self) -> SummaryWriter:
        self._before = _context.change(writer=self._writer, **self._step)
        return self._writer

    def __exit__(self, *error: object) -> None:
        current = _context.state().writer
        try:
            if current is not None:
                current.flush()
        finally:
            step = {"step": self._before.step} if self._step else {}
            _context.change(writer=self._before.writer, **step)


class FileWriter(SummaryWriter):
    """Writes to a new event file; dropping the last reference closes it."""

    def __init__(self, run: RunWriter, policy: FlushPolicy | None = None) -> None:
        self.run = run
        self.policy = policy

    def as_default(self, step: Any = None) -> contextlib.AbstractContextManager[FileWriter]:
        self.init()
        return super().as_default(step)

    def init(self) -> None:
        if self.run.closed:
            raise WriterClosedError("SummaryWriter is already closed")

    def flush(self) -> None:
        self.run.flush()
        if self.policy is not None:
            self.policy.flushed()

    def close(self) -> None:
        self.run.close()


class NoopWriter(SummaryWriter):
    """A writer that leaves everything as it is, for processes that shall not log."""

    @contextlib.contextmanager
    def as_default(self, step: Any = None) -> Iterator[None]:
        """A block without effect: the default writer and step around it stay in force."""
        yield

    def set_as_default(self, step: Any = None) -> None:
        """Does nothing."""

    def init(self) -> None:
        """Does nothing."""

    def add_event(self, message: Any) -> None:
        """Does nothing."""

    def flush(self) -> None:
        """Does nothing."""

    def close(self) -> None:
        """Does nothing."""


def create_file_writer(
    logdir: PathLike,
    max_queue: int | None = None,
    flush_millis: int | None = None,
    filename_suffix: str | None = None,
    name: str | None = None,
    experimental_trackable: bool = False,
    experimental_mesh: Any = None,
) -> FileWriter:
    """Makes a writer of a new event file.

    Args:
        logdir: directory of the run; made if missing. A str, bytes or path object, or a URL.
        max_queue: when more summaries than this are unflushed, all are flushed. By default the
            writer decides: summaries reach the operating system within about a second.
        flush_millis: a write flushes if the last flush is longer ago. By default 120,000, with
            no effect on visibility, only on when the file is surely on disk.
        filename_suffix: appended to the file name, ".v2" by default.
        name: accepted as in TensorFlow; not used.
        experimental_trackable: the same.
        experimental_mesh: the same.

    Raises:
        ValueError: `logdir` is None.
        TypeError: `logdir` is no path, or `max_queue` or `flush_millis` is no integer.
        OSError: the file cannot be made.
    """
    if logdir is None:
        raise ValueError("Argument `logdir` cannot be None")
    asked = max_queue is not None or flush_millis is not None
    policy = FlushPolicy(max_queue, flush_millis) if asked else None
    run = RunWriter(
        os.fsdecode(logdir) or ".",
        filename_suffix=".v2" if filename_suffix is None else filename_suffix,
        flush_secs=120.0 if flush_millis is None else _integer(flush_millis, "flush_millis") / 1000,
    )
    return FileWriter(run, policy)


class FlushPolicy:
    """Flushes where TensorFlow does: when a write makes the queue too long, or comes too late."""

    def __init__(self, max_queue: int | None, flush_millis: int | None) -> None:
        self._limit = self._interval = math.inf
        if max_queue is not None:
            self._limit = _integer(max_queue, "max_queue")
        if flush_millis is not None:
            self._interval = _integer(flush_millis, "flush_millis") / 1000
        self.flushed()

    def flushed(self) -> None:
        """Tells that nothing is queued."""
        self._pending, self._last = 0, time.monotonic()

    def written(self, run: RunWriter) -> None:
        """Tells that one more event is queued."""
        self._pending += 1
        if self._pending > self._limit or time.monotonic() - self._last >= self._interval:
            run.flush()
            self.flushed()


def _integer(value: Any, name: str) -> int:
    try:
        return operator.index(value)
    except TypeError:
        raise TypeError(
            f"{name} must be an integer, got {type(value).__name__}: {value!r:.80}"
        ) from None


def create_noop_writer() -> NoopWriter:
    """Makes a writer that writes nothing and changes nothing."""
    return NoopWriter()


def flush(writer: SummaryWriter | None = None, name: str | None = None) -> None:
    """Flushes a writer: everything written before is then visible to other processes.

    Args:
        writer: by default the default writer; without one nothing happens.
        name: accepted as in TensorFlow; not used.

    Raises:
        ValueError: `writer` is no SummaryWriter.
    """
    if writer is None:
        writer = _context.state().writer
    elif not isinstance(writer, SummaryWriter):
        raise ValueError(f"Invalid argument to flush(): {writer!r:.80}")
    if writer is not None:
        writer.flush()

