"""The loaders of TensorBoard's event_file_loader module, over our reader.

`Load()` yields what the file has got since the last call, and goes on where an iteration was left.
Records that are damaged are skipped, where TensorBoard stops for good; `notices` tells of them.
Files that were replaced by longer ones are noticed without being told to.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from tfevents import store
from tfevents.compat._migrate import Migration
from tfevents.reader import EventFileReader, Notice, RecordReader

if TYPE_CHECKING:
    from tfevents import proto
    from tfevents._types import PathLike

__all__ = [
    "EventFileLoader",
    "LegacyEventFileLoader",
    "RawEventFileLoader",
    "TimestampedEventFileLoader",
]


class _Loader:
    def __init__(self, file_path: PathLike | None, detect_file_replacement: bool = False) -> None:
        if file_path is None:
            raise ValueError("A file path is required")
        self._file_path = os.fsdecode(file_path)
        self._file_size: int | None = None
        self._reader = self._open(self._file_path)

    def _open(self, path: str) -> Any:
        return EventFileReader(path)

    @property
    def notices(self) -> list[Notice]:
        """What could not be read so far."""
        return list(self._reader.notices)

    def Load(self) -> Iterator[Any]:
        """What was added to the file since the last call, in order.

        Raises:
            FileNotFoundError: there is no such file.
        """
        yield from self._reader

    def CheckForIncreasedFileSize(self) -> bool | None:
        """Whether the file is longer than ever before; None if that cannot be told."""
        place, path = store.open_store(self._file_path)
        try:
            source = place.open(path)
        except OSError:
            return None
        try:
            size = source.size()
        finally:
            source.close()
        before = self._file_size
        self._file_size = size if before is None else max(size, before)
        return None if before is None else size > before


class RawEventFileLoader(_Loader):
    """Yields serialized events."""

    def _open(self, path: str) -> RecordReader:
        return RecordReader(path)


class LegacyEventFileLoader(_Loader):
    """Yields Event messages as they are stored."""


class EventFileLoader(_Loader):
    """Yields Event messages with all values as tensors, the form that TensorBoard works with."""

    def __init__(self, file_path: PathLike | None, detect_file_replacement: bool = False) -> None:
        super().__init__(file_path, detect_file_replacement)
        self._migration = Migration()
        self._left: list[proto.Event] = []

    def Load(self) -> Iterator[Any]:
        """See `RawEventFileLoader.Load`."""
        while self._left:
            yield self._left.pop(0)
        for event in self._reader:
            self._left = self._migration.events(event)
            while self._left:
                yield self._left.pop(0)


class TimestampedEventFileLoader(EventFileLoader):
    """Yields (wall time, Event message)."""

    def Load(self) -> Iterator[Any]:
        """See `RawEventFileLoader.Load`."""
        for event in super().Load():
            yield event.wall_time, event
