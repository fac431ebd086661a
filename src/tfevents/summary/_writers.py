"""Writers as tf.summary has them: made explicitly, used as the default of a block."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Iterator
from typing import Any

from tfevents import _context
from tfevents._types import PathLike
from tfevents.errors import WriterClosedError
from tfevents.run_writer import RunWriter

__all__ = [
    "FileWriter", "NoopWriter", "SummaryWriter", "create_file_writer", "create_noop_writer",
    "flush",
]


class SummaryWriter:
    """Interface of the writers of tf.summary."""

    def as_default(self, step: Any = None) -> contextlib.AbstractContextManager[Any]:
        """Makes this the default writer for a block, and `step` its default step, if given."""
        raise NotImplementedError

    def set_as_default(self, step: Any = None) -> None:
        """Makes this the default writer of the thread."""
        raise NotImplementedError

    def init(self) -> None:
        """Does nothing here: a writer is ready when it is made."""
        raise NotImplementedError

    def flush(self) -> None:
        """Returns when everything written before is visible to other processes."""
        raise NotImplementedError

    def close(self) -> None:
        """Flushes and closes; a second call does nothing."""
        raise NotImplementedError


class FileWriter(SummaryWriter):
    """Writes to a new event file; dropping the last reference closes it.

    Attributes:
        run: the run writer beneath.
    """

    def __init__(self, run: RunWriter, written: Callable[[RunWriter], None] | None) -> None:
        self.run = run
        self.written = written

    @contextlib.contextmanager
    def as_default(self, step: Any = None) -> Iterator[FileWriter]:
        """Makes this the default writer for a block, which ends with a flush.

        Args:
            step: default step inside the block; without one, a step that is set inside stays set.

        Raises:
            RuntimeError: the writer is closed.
        """
        self._check_open()
        before = _context.change(writer=self, **_step(step))
        try:
            yield self
            current = _context.state().writer
            if current is not None:
                current.flush()
        finally:
            _context.change(writer=before.writer, **({} if step is None else {"step": before.step}))

    def set_as_default(self, step: Any = None) -> None:
        """Makes this the default writer of the thread.

        Raises:
            RuntimeError: the writer is closed.
        """
        self._check_open()
        _context.change(writer=self, **_step(step))

    def init(self) -> None:
        """Does nothing, but raises RuntimeError if the writer is closed."""
        self._check_open()

    def flush(self) -> None:
        """Returns when everything written before is visible to other processes."""
        self.run.flush()

    def close(self) -> None:
        """Flushes and closes the file; a second call does nothing."""
        self.run.close()

    def _check_open(self) -> None:
        if self.run.closed:
            raise WriterClosedError("SummaryWriter is already closed")


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
        name, experimental_trackable, experimental_mesh: accepted as in TensorFlow; not used.

    Raises:
        ValueError: `logdir` is None.
        TypeError: `logdir` is no path.
        OSError: the file cannot be made.
    """
    if logdir is None:
        raise ValueError("Argument `logdir` cannot be None")
    directory = os.fsdecode(logdir) or "."
    run = RunWriter(
        directory,
        filename_suffix=".v2" if filename_suffix is None else filename_suffix,
        flush_secs=120.0 if flush_millis is None else int(flush_millis) / 1000,
    )
    return FileWriter(run, _flush_policy(max_queue, flush_millis))


def _flush_policy(
    max_queue: int | None, flush_millis: int | None
) -> Callable[[RunWriter], None] | None:
    """What happens after each write. Nothing, unless the caller asked for something."""
    if max_queue is None and flush_millis is None:
        return None
    limit = 1 << 62 if max_queue is None else max(int(max_queue), 0)
    interval = float("inf") if flush_millis is None else int(flush_millis) / 1000
    pending, last = 0, time.monotonic()

    def written(run: RunWriter) -> None:
        nonlocal pending, last
        pending += 1
        if pending > limit or time.monotonic() - last >= interval:
            run.flush()
            pending, last = 0, time.monotonic()

    return written


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


def _step(step: Any) -> dict[str, Any]:
    return {} if step is None else {"step": step}
