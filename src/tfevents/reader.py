"""Reads event files from the first byte to the last, and on from there when they grow.

    Tail              one file: its records in batches, its notices, where it stopped
    RecordReader      the records of a TFRecord file, as bytes
    EventFileReader   the Event messages of an event file
    read_events       the same, once through

A file is foreign input. No length that it claims is believed before it is compared with the bytes
that are there; a bad record becomes a `Notice` and its neighbours are read; with `strict=True` the
first bad record raises instead. What a notice is about:

    truncated       the file ends inside a record, which will be read if it is completed; then the
                    notice is gone
    bad-checksum    the data of a record do not match their CRC; the record is skipped
    bad-message     the data of a record are no Event, or (only `tfevents.read` decodes them) one of
                    its values cannot be decoded; it is skipped
    bad-length      the next record cannot be located: reading ends here, or with `resync=True` goes
                    on at the next header that is valid
    not-event-file  the file does not begin with a record
    bad-gzip        the compressed stream is broken, or grows beyond all proportion
    vanished, shrunk    the file is gone, or shorter than what was read of it
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, BinaryIO

from tfevents import event, store
from tfevents.errors import BadLengthError, RecordError, TruncatedRecordError
from tfevents.gunzip import Gunzip, is_gzip
from tfevents.record import OVERHEAD, Batch, Record, RecordParser

if TYPE_CHECKING:
    from tfevents import proto
    from tfevents._types import PathLike, Sink, Source, Store

__all__ = ["EventFileReader", "Notice", "RecordReader", "Tail", "read_events"]

# Bytes read at a time: some eighty thousand scalars, so that many tags still make large groups.
_CHUNK = 4 << 20


@dataclass(frozen=True, slots=True)
class Notice:
    """Something in a file that could not be read.

    Attributes:
        kind: one of the words in the module's docstring.
        path: the file.
        offset: byte offset of the record in the file (in the stream, if the file is compressed).
        message: the same for people.
    """

    kind: str
    path: str
    offset: int
    message: str


class Tail:
    """The records of one file that may grow. Nothing is open between two passes.

    It pickles, so that another process can do the first pass.
    """

    def __init__(self, place: Store, path: str, *, strict: bool, resync: bool = False) -> None:
        self.path = path
        self.notices: dict[Notice, None] = {}  # in order, each once
        self._store = place
        self._strict = strict
        self._parser = RecordParser(resync=resync)
        self._position = 0
        self._gunzip: Gunzip | None = None
        self._begun = False
        self._unread = 0
        self._truncated: Notice | None = None

    @property
    def offset(self) -> int:
        """Where the first record begins that is not complete yet."""
        return self._parser.offset

    @property
    def begun(self) -> bool:
        """Whether the file was opened at least once."""
        return self._begun

    @property
    def ended(self) -> bool:
        """Whether nothing can follow, because the next record cannot be located."""
        return self._parser.stopped is not None or (
            self._gunzip is not None and self._gunzip.failed is not None
        )

    @property
    def compressed(self) -> bool:
        """Whether offsets are those of a decompressed stream, so that no byte can be read again."""
        return self._gunzip is not None

    def batches(self) -> Iterator[Batch]:
        """One pass: batches up to the present end of the file.

        Raises:
            OSError: the file cannot be opened for the first time.
        """
        if self.ended:
            return
        try:
            source = self._store.open(self.path)
        except OSError as error:
            if not self._begun:
                raise
            self.vanished(error)
            return
        self._begun = True
        try:
            yield from self._pass(source)
        finally:
            source.close()

    def vanished(self, error: OSError) -> None:
        """Reports that the file cannot be opened (any more)."""
        self._note("vanished", self.offset, f"the file cannot be opened: {error.strerror or error}")

    def error(self, error: RecordError) -> None:
        """Makes an error a notice, or raises it."""
        if self._strict:
            raise error.at(self.path)
        self._note(error.kind, error.offset, error.reason)

    def finish(self) -> None:
        """Reports a record that is not complete, once; and takes that back when it is."""
        reason, said = self._missing(), self._truncated
        if said is not None:
            if reason and said.offset == self.offset:
                return
            self.notices.pop(said, None)
        self._truncated = Notice("truncated", self.path, self.offset, reason) if reason else None
        if reason:
            self.error(TruncatedRecordError(reason, self.offset))

    def _missing(self) -> str:
        """What the last record lacks; nothing if it is complete, or no more can follow."""
        if self.ended:
            return ""
        if self._gunzip is not None and self._gunzip.open:
            return "the compressed stream is not complete"
        if not self._unread and self._parser.finish() is None:
            return ""
        missing = self._parser.needed - self._unread
        return f"the file ends {missing} bytes before the end of a record"

    def _pass(self, source: Source) -> Iterator[Batch]:
        size = source.size()
        if size < self._position:
            self._note("shrunk", self.offset, f"{self._position} bytes were read, {size} are left")
            return
        while self._position < size and not self.ended:
            left = size - self._position
            wanted = self._parser.needed if self._gunzip is None else 0
            # What is left of the file cannot complete the record: there is no use in holding it.
            self._unread = left if wanted > left else 0
            if self._unread:
                return
            data = source.read(self._position, min(max(_CHUNK, wanted), left))
            if not data:
                return
            if self._position == 0 and self._gunzip is None and is_gzip(data):
                self._gunzip = Gunzip()
            self._position += len(data)
            yield from self._feed(data)

    def _feed(self, data: bytes) -> Iterator[Batch]:
        if self._gunzip is None:
            yield from self._parser.feed(data)
            return
        for piece in self._gunzip.feed(data):
            yield from self._parser.feed(piece)
        if self._gunzip.failed is not None:
            error = BadLengthError(self._gunzip.failed, self.offset)
            if self._strict:
                raise error.at(self.path)
            self._note("bad-gzip", error.offset, error.reason)

    def stop(self, error: BadLengthError) -> None:
        """Reports where the records ended, or a gap that was searched through."""
        if error.offset == 0 and not self._strict:
            self._note("not-event-file", 0, "the file does not begin with a record")
        else:
            self.error(error)

    def _note(self, kind: str, offset: int, message: str) -> None:
        notice = Notice(kind, self.path, offset, message)
        self.notices.setdefault(notice)

    def __getstate__(self) -> dict[str, Any]:
        state = self.__dict__.copy()
        if self._gunzip is not None:  # zlib's state stays behind: begin again, and skip
            state["_gunzip"] = self._gunzip.restarted()
            state["_position"] = 0
        return state


def read_events(path: PathLike, *, strict: bool = False) -> Iterator[proto.Event]:
    """The Event messages of one file, whatever its name.

    Args:
        path: a file, or the URL of one. Files compressed with gzip are read through.
        strict: raise at the first record that is bad or incomplete, instead of reading around it.

    Raises:
        OSError: the file cannot be opened.
        RecordError: with `strict`, a record is bad; it has `path` and `offset`.
    """
    return iter(EventFileReader(path, strict=strict))


class _Reader:
    """Records one by one; what was not asked for yet is kept, so none is lost or doubled."""

    def __init__(self, tail: Tail) -> None:
        self._tail = tail
        self._items: Iterator[Record | RecordError] = iter(())
        self._batches: Iterator[Batch] = iter(())
        self._offset = 0

    @property
    def notices(self) -> list[Notice]:
        """What could not be read so far."""
        return list(self._tail.notices)

    @property
    def offset(self) -> int:
        """Byte offset of the record that will be read next."""
        return self._offset

    def _records(self, *, final: bool = True) -> Iterator[Record]:
        yield from self._rest()  # of a pass that the caller left early
        self._batches = self._tail.batches()
        yield from self._rest()
        self._offset = self._tail.offset
        if final:
            self._tail.finish()

    def _rest(self) -> Iterator[Record]:
        while True:
            for item in self._items:
                if isinstance(item, Record):
                    self._offset = item.offset + OVERHEAD + len(item.data)
                    yield item
                elif isinstance(item, BadLengthError):
                    self._tail.stop(item)
                else:
                    self._tail.error(item)
            batch = next(self._batches, None)
            if batch is None:
                return
            self._items = batch.items()


class RecordReader(_Reader):
    """The records of a TFRecord file, as bytes.

    Iteration goes to the end of the file; the next iteration goes on from there.

    Args:
        path_or_file: a path, a URL, or a binary file open for reading, which is read from where it
            stands and is not closed.
        strict: raise at the first record that is bad or incomplete.
        resync: after a bad length, go on at the next valid header.
    """

    def __init__(
        self, path_or_file: PathLike | BinaryIO, *, strict: bool = False, resync: bool = False
    ) -> None:
        if isinstance(path_or_file, (str, bytes, os.PathLike)):
            place, path = store.open_store(path_or_file)
        elif hasattr(path_or_file, "read"):
            place, path = _OpenFile(path_or_file), str(getattr(path_or_file, "name", "<file>"))
        else:
            raise TypeError(
                f"a path or an open binary file is needed, not {type(path_or_file).__name__}"
            )
        super().__init__(Tail(place, path, strict=strict, resync=resync))

    def __iter__(self) -> Iterator[bytes]:
        for record in self._records():
            yield record.data


class EventFileReader(_Reader):
    """The Event messages of one file that may still be written.

    Iteration goes to the present end of the file; the next iteration goes on from there, and no
    event comes twice.

    Args:
        path: a file, or the URL of one; its name does not matter.
        strict: raise `RecordError` at the first record that is bad or incomplete.
        resync: after a bad length, go on at the next valid header.

    Attributes:
        notices: what could not be read so far (`Notice`).
        offset: byte offset of the event that will be read next.
    """

    def __init__(self, path: PathLike, *, strict: bool = False, resync: bool = False) -> None:
        super().__init__(Tail(*store.open_store(path), strict=strict, resync=resync))

    def __iter__(self) -> Iterator[proto.Event]:
        return self._events(final=True)

    def follow(
        self, *, timeout: float | None = None, interval: float = 0.1
    ) -> Iterator[proto.Event]:
        """Events as they are written.

        Args:
            timeout: seconds without a new event after which this ends; None waits for ever.
            interval: seconds between two looks at the file.
        """
        waited_from = time.monotonic()
        while True:
            for message in self._events(final=False):
                yield message
                waited_from = time.monotonic()
            left = float("inf") if timeout is None else waited_from + timeout - time.monotonic()
            if left <= 0 or self._tail.ended:
                break
            time.sleep(min(interval, left))
        self._tail.finish()

    def _events(self, *, final: bool) -> Iterator[proto.Event]:
        for record in self._records(final=final):
            try:
                message = event.decode(record.data, record.offset)
            except RecordError as error:
                self._tail.error(error)
                continue
            yield message


class _OpenFile:
    """Someone's open file: a store of this one source, which is never closed."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._start = file.tell() if file.seekable() else None

    def open(self, path: str) -> Source:
        return self

    def create(self, path: str, *, parents: bool = True) -> Sink:
        raise NotImplementedError

    def list(self, path: str) -> Iterator[str]:
        yield path

    def size(self) -> int:
        """Bytes from where the file stood; of a pipe nobody knows."""
        if self._start is None:
            return sys.maxsize
        return self._file.seek(0, os.SEEK_END) - self._start

    def read(self, offset: int, count: int) -> bytes:
        if self._start is None:
            return self._file.read(min(count, _CHUNK))
        self._file.seek(self._start + offset)
        return self._file.read(count)

    def close(self) -> None:
        """The file is not ours."""
