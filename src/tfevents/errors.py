"""Every error this package raises on purpose.

    TfEventsError
    ├── RecordError(ValueError)          path, offset: a record of an event file is bad
    │   ├── TruncatedRecordError         wait: the rest may still be written
    │   ├── BadLengthError               stop: where the next record begins is unknown
    │   └── BadDataError                 skip: this record is lost, its neighbours are not
    │       ├── BadChecksumError             the data do not match their CRC
    │       └── BadMessageError              the data are no Event message
    ├── WriteError(OSError)              path, errno: the system refused to take the events
    └── WriterClosedError(RuntimeError)  a closed writer was used

Wrong arguments raise the builtin TypeError and ValueError, with the tag in the text.
The class of a record error says what a reader can do: wait, stop or skip.
"""

from __future__ import annotations

import errno

__all__ = [
    "BadChecksumError",
    "BadDataError",
    "BadLengthError",
    "BadMessageError",
    "RecordError",
    "TfEventsError",
    "TruncatedRecordError",
    "WriteError",
    "WriterClosedError",
]


class TfEventsError(Exception):
    """Base of all errors of this package."""


class RecordError(TfEventsError, ValueError):
    """A record of an event file cannot be read.

    Attributes:
        reason: what is wrong, in one sentence.
        offset: byte offset of the record in its file or stream.
        path: the file, or None where only bytes are known.
    """

    kind = "record"

    def __init__(self, reason: str, offset: int, path: str | None = None) -> None:
        super().__init__(reason, offset, path)
        self.reason = reason
        self.offset = offset
        self.path = path

    def __str__(self) -> str:
        where = f"{self.path}: " if self.path else ""
        return f"{where}{self.reason} (record at byte {self.offset})"

    def at(self, path: str) -> RecordError:
        """The same error, with the file it was found in."""
        return type(self)(self.reason, self.offset, path)


class TruncatedRecordError(RecordError):
    """The stream ends inside a record; a growing file may still complete it."""

    kind = "truncated"


class BadLengthError(RecordError):
    """A length does not match its CRC, so the next record cannot be located."""

    kind = "bad-length"


class BadDataError(RecordError):
    """One record is unusable; the records around it can be read."""

    kind = "bad-data"


class BadChecksumError(BadDataError):
    """The data of a record do not match their CRC."""

    kind = "bad-checksum"


class BadMessageError(BadDataError):
    """The data of a record are not an Event message."""

    kind = "bad-message"


class WriteError(TfEventsError, OSError):
    """The system refused to take events; `errno`, `strerror` and `filename` say why and where.

    Attributes:
        written: how many events of the refused batch are on disk all the same.
    """

    written = 0

    @classmethod
    def of(cls, error: Exception, path: str | None = None) -> WriteError:
        """The same fault, whatever class the package of a store gives it."""
        if isinstance(error, OSError):
            return cls(error.errno, error.strerror or str(error), path or error.filename)
        return cls(errno.EIO, f"{type(error).__name__}: {error}", path)


class WriterClosedError(TfEventsError, RuntimeError):
    """A writer was used after it was closed."""
