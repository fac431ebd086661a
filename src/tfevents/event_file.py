"""Files of events: each with a name of its own, a version header and nothing but whole records.

Everything here is synchronous and for one thread at a time; `async_writer` adds the queue.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import socket
import time
from collections.abc import Callable, Iterable
from typing import IO, TYPE_CHECKING, Any, cast

from tfevents import event, filename, record
from tfevents._closing import Closing
from tfevents.errors import WriteError, WriterClosedError
from tfevents.store import open_store

if TYPE_CHECKING:
    from tfevents import proto
    from tfevents._types import PathLike, Sink, Store

__all__ = ["EventFileWriter", "RecordWriter"]

#: What the header of our files gives as their writer.
SOURCE_WRITER = "tfevents.event_file"

# Distinguishes the files that one process opens within one second.
_counter = itertools.count()
_ATTEMPTS = 100


class EventFileWriter(Closing):
    """Writes serialized events to a new file of a directory.

    The file is on disk, with its version header, when the constructor returns. Two writers never
    share a file: its name holds time, host, process and a counter, and an existing file is never
    opened.

    Args:
        logdir: directory of the run; made if missing. A path or a URL.
        filename_suffix: appended to the file name as it is.
        store: where the directory lives, which then is no URL but a path there; by default what
            the scheme of `logdir` says.
        parents: make missing directories.
        clock: seconds since the epoch, for the name and the header.

    Raises:
        OSError: the file cannot be made (FileExistsError, NotADirectoryError, PermissionError, …).
    """

    def __init__(
        self,
        logdir: PathLike,
        *,
        filename_suffix: str = "",
        store: Store | None = None,
        parents: bool = True,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._store, self.logdir = open_store(logdir, store)
        self._suffix, self._clock = filename_suffix, clock
        wall_time = clock()
        self.path, self._sink = _create(
            self._store, self.logdir, wall_time, filename_suffix, parents
        )
        self._open = True
        try:
            self.write([event.encode_version(wall_time, SOURCE_WRITER)])
        except BaseException:
            self._sink.close()
            raise

    def write(self, events: Iterable[bytes | proto.Event]) -> None:
        """Appends a batch of events, serialized or not, and hands them to the system.

        Raises:
            TypeError: no list, or an event is neither bytes nor a message; nothing is written.
            WriteError: the system refused; `written` events of the batch are in the file whole,
                nothing of the others is.
            WriterClosedError: the writer is closed.
        """
        if not self._open:
            raise WriterClosedError(f"this EventFileWriter is closed: {self.path}")
        given: object = events
        if isinstance(given, bytes) or not isinstance(given, Iterable):
            raise TypeError(
                f"write takes a list of events, e.g. [event]; got {type(given).__name__}"
            )
        batch = [each if isinstance(each, bytes) else _serialized(each) for each in events]
        try:
            self._sink.write(record.encode_all(batch))
        except WriteError as error:
            error.written = self._write_singly(batch)
            raise

    def add_event(self, event: bytes | proto.Event) -> None:
        """Appends one event: `write` by the name that the classes of TensorBoard and others have.

        Raises: as `write`.
        """
        self.write([event])

    def get_logdir(self) -> str:
        """The directory of the file."""
        return self.logdir

    def flush(self) -> None:
        """Waits until the file is on disk (fsync)."""
        if self._open:
            self._sink.flush()

    def close(self) -> None:
        """Closes the file; a second call does nothing."""
        if self._open:
            self._open = False
            self._sink.close()

    def another(self) -> EventFileWriter:
        """A new file beside this one; a directory that was removed is not made again."""
        return EventFileWriter(
            self.logdir, filename_suffix=self._suffix, store=self._store, parents=False,
            clock=self._clock,
        )

    def discard(self) -> None:
        """Closes the file and removes it; it stays in a store that cannot remove."""
        self.close()
        remove = getattr(self._store, "remove", None)
        if remove is not None:
            remove(self.path)

    @property
    def closed(self) -> bool:
        """Whether `close` was called."""
        return not self._open

    @property
    def buffered(self) -> bool:
        """Whether others see only after `flush` what `write` took; not so on a local disk."""
        return getattr(self._sink, "buffered", False)

    def _write_singly(self, batch: list[bytes]) -> int:
        """Saves what still fits of a refused batch; returns how many events did."""
        count = 0
        with contextlib.suppress(WriteError):
            for data in batch:
                self._sink.write(record.encode(data))
                count += 1
        return count


def _serialized(message: Any) -> bytes:
    """The bytes of an Event, of ours or of any other copy of protobuf."""
    from tfevents import proto

    data: bytes = proto.coerce(proto.Event, message).SerializeToString()
    return data


def _create(
    store: Store, logdir: str, wall_time: float, suffix: str, parents: bool
) -> tuple[str, Sink]:
    """Opens a file under a name that nobody has."""
    host, pid = socket.gethostname(), os.getpid()
    attempts = _ATTEMPTS
    while True:
        name = filename.build(int(wall_time), host, pid, next(_counter), suffix)
        path = f"{logdir.rstrip('/')}/{name}" if "://" in logdir else os.path.join(logdir, name)
        attempts -= 1
        try:
            return path, store.create(path, parents=parents)
        except FileExistsError:
            # taken by another machine's process; or, every time, `logdir` itself is a file
            if not attempts:
                raise


class RecordWriter(Closing):
    """Writes raw TFRecords to a path or to an open binary file.

    Args:
        file: a path, which is created or overwritten, or a binary file object, which is left open
            by `close`.

    Raises:
        OSError: the file cannot be made.
        TypeError: neither a path nor a file.
    """

    def __init__(self, file: PathLike | IO[bytes]) -> None:
        self._owned = not hasattr(file, "write")
        self._file = (
            open(os.fsdecode(cast("PathLike", file)), "wb") if self._owned  # noqa: SIM115 - by close()
            else cast("IO[bytes]", file)
        )

    def write(self, data: bytes) -> None:
        """Appends one record.

        Raises:
            TypeError: `data` is not bytes-like.
        """
        framed = memoryview(record.encode(bytes(memoryview(data))))
        while framed:
            # raw files may take less than they are given, buffered ones return all or None
            taken: Any = self._file.write(framed)
            framed = framed[len(framed) if taken is None else taken :]

    def flush(self) -> None:
        """Hands everything written to the system."""
        self._file.flush()

    def close(self) -> None:
        """Flushes; closes the file if it was given as a path."""
        if self._owned:
            self._file.close()
        elif not self._file.closed:
            self._file.flush()

    @property
    def closed(self) -> bool:
        """Whether the underlying file is closed."""
        return self._file.closed


