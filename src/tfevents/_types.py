"""The seams between rooms: small protocols and aliases, without any behaviour."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

if TYPE_CHECKING:
    from tfevents import proto

__all__ = ["Encode", "EventWriter", "PathLike", "Sink", "Source", "Store", "ToValue"]

PathLike: TypeAlias = "str | bytes | os.PathLike[str]"

# (wall_time, step, payload) -> a serialized Event. What a queue holds is this function with its
# arguments, so that the work is done by the thread that writes and not by the caller.
Encode: TypeAlias = "Callable[[float, int, Any], bytes]"

# tag -> Summary.Value: the deferred half of a value, called by the thread that writes.
ToValue: TypeAlias = "Callable[[str], proto.Summary.Value]"


class Sink(Protocol):
    """A place that takes bytes in order, whole or not at all."""

    def write(self, data: bytes) -> None:
        """Hands `data` to the operating system; on failure none of it stays behind."""

    def flush(self) -> None:
        """Makes what was written durable."""

    def close(self) -> None:
        """Releases the place; a second call does nothing."""


class Source(Protocol):
    """A place to read bytes from, by offset."""

    def size(self) -> int:
        """Bytes that can be read now."""

    def read(self, offset: int, count: int) -> bytes:
        """At most `count` bytes from `offset`; fewer only at the end."""

    def close(self) -> None:
        """Releases the place; a second call does nothing."""


class Store(Protocol):
    """Where event files live: a local directory tree, memory, a bucket.

    One that also has `remove(path)` can be rid of old images, see `SummaryWriter(keep_images=…)`.
    """

    def create(self, path: str, *, parents: bool = True) -> Sink:
        """Makes a new file, and its directories. Raises FileExistsError if there is one."""

    def open(self, path: str) -> Source:
        """Opens a file for reading."""

    def list(self, path: str) -> Iterable[str]:
        """Paths of all files below `path`, in sorted order."""


class EventWriter(Protocol):
    """Takes serialized Event messages in order."""

    def write(self, events: Iterable[bytes]) -> None:
        """Writes a batch of serialized events."""

    def flush(self) -> None:
        """Makes what was written durable."""

    def close(self) -> None:
        """Flushes and releases the file; a second call does nothing."""
