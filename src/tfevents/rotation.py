"""Runs in several files: rotated by size, or with old images removed.

Both wrap the opening of event files, so nothing above or below knows of them. Readers take all
files of a directory together, so a run may be cut anywhere between two events.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable

from tfevents import event, plugin
from tfevents._types import EventWriter
from tfevents.event_file import EventFileWriter
from tfevents.record import OVERHEAD

__all__ = ["KeepLastImages", "RotatingWriter"]


class RotatingWriter:
    """Goes on in a new file when one is full.

    Args:
        first: the file to begin with.
        open_file: makes the next file.
        max_bytes: a file that holds this much is closed; one larger event has a file alone.

    Raises:
        ValueError: `max_bytes` is not positive.
    """

    def __init__(
        self, first: EventWriter, open_file: Callable[[], EventWriter], max_bytes: int
    ) -> None:
        if max_bytes <= 0:
            raise ValueError(f"max_bytes must be positive, got {max_bytes}")
        self._file, self._open_file, self._max_bytes = first, open_file, max_bytes
        self._size = 0

    def write(self, events: Iterable[bytes]) -> None:
        """Writes a batch, which is cut where a file is full."""
        batch: list[bytes] = []
        for data in events:
            size = len(data) + OVERHEAD
            if self._size and self._size + size > self._max_bytes:
                self._file.write(batch)
                batch = []
                self._next()
            batch.append(data)
            self._size += size
        self._file.write(batch)

    def flush(self) -> None:
        """Makes what was written durable."""
        self._file.flush()

    def close(self) -> None:
        """Closes the current file."""
        self._file.close()

    @property
    def path(self) -> str | None:
        """The current file."""
        return getattr(self._file, "path", None)

    def _next(self) -> None:
        self._file.flush()
        self._file.close()
        self._file = self._open_file()
        self._size = 0


class KeepLastImages:
    """Puts the images of each tag into files of their own, and removes the oldest of those.

    At least the last `keep` events of a tag stay, and less than twice as many, since what is
    removed is a whole file.

    Args:
        main: takes every other event.
        open_file: makes a file for images.
        keep: events of each tag to keep.

    Raises:
        ValueError: `keep` is not positive.
    """

    def __init__(
        self, main: EventWriter, open_file: Callable[[], EventFileWriter], keep: int
    ) -> None:
        if keep <= 0:
            raise ValueError(f"the number of images to keep must be positive, got {keep}")
        self._main, self._open_file, self._keep = main, open_file, keep
        self._files: dict[str, deque[EventFileWriter]] = {}
        self._counts: dict[str, int] = {}

    def write(self, events: Iterable[bytes]) -> None:
        """Writes a batch; the order of the images of a tag, and of all else, is kept."""
        others: list[bytes] = []
        for data in events:
            tag = _image_tag(data)
            if tag is None:
                others.append(data)
            else:
                self._current(tag).write([data])
                self._counts[tag] += 1
        self._main.write(others)

    def _current(self, tag: str) -> EventFileWriter:
        files = self._files.setdefault(tag, deque())
        if not files or self._counts[tag] >= self._keep:
            if files:
                files[-1].close()
            files.append(self._open_file())
            self._counts[tag] = 0
            if len(files) > 2:
                os.unlink(files.popleft().path)
        return files[-1]

    def flush(self) -> None:
        """Makes what was written durable."""
        self._main.flush()
        for files in self._files.values():
            files[-1].flush()

    def close(self) -> None:
        """Closes all files."""
        self._main.close()
        for files in self._files.values():
            files[-1].close()

    @property
    def path(self) -> str | None:
        """The file of the other events."""
        return getattr(self._main, "path", None)


def _image_tag(data: bytes) -> str | None:
    """The tag of an event that is one image, None for any other event."""
    values = event.decode(data).summary.value
    if len(values) != 1:
        return None
    value = values[0]
    is_image = value.HasField("image") or value.metadata.plugin_data.plugin_name == plugin.IMAGES
    return value.tag if is_image else None
