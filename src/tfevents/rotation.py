"""Runs in several files: rotated by size, or with old images removed.

Both wrap the opening of event files, so nothing above or below knows of them. Readers take all
files of a directory together, so a run may be cut anywhere between two events.

Events go to their files strictly in the order of their batch. So when one of the files fails, the
error can say how many events are written, and who tries again repeats none of them.
"""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

from tfevents import event, plugin
from tfevents._closing import call_all
from tfevents.errors import WriteError
from tfevents.record import OVERHEAD

if TYPE_CHECKING:
    from types import TracebackType

    from tfevents._types import EventWriter
    from tfevents.event_file import EventFileWriter

__all__ = ["KeepLastImages", "RotatingWriter"]


class _Around:
    """What is asked of an event writer around others, answered by the file of most events."""

    _main: EventWriter

    @property
    def path(self) -> str | None:
        """The file that is written now; of images kept apart, that of all else."""
        return getattr(self._main, "path", None)

    @property
    def buffered(self) -> bool:
        """Whether others see only after `flush` what `write` took."""
        return getattr(self._main, "buffered", False)


class _Progress:
    """Counts the events of a batch that are written; an error that ends the block says it."""

    count = 0

    def __enter__(self) -> _Progress:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if isinstance(error, WriteError):
            error.written += self.count
        elif isinstance(error, Exception):  # a file that could not be made
            told = WriteError.of(error)
            told.written = self.count
            raise told from error


class RotatingWriter(_Around):
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
        self._main, self._open_file, self._max_bytes = first, open_file, max_bytes
        self._size = 0

    def write(self, events: Iterable[bytes]) -> None:
        """Writes a batch, which is cut where a file is full."""
        with _Progress() as done:
            for number, (batch, size) in enumerate(self._cut(events)):
                if number:
                    self._next()
                self._main.write(batch)
                self._size += size
                done.count += len(batch)

    def _cut(self, events: Iterable[bytes]) -> Iterator[tuple[list[bytes], int]]:
        """What goes into this file, maybe nothing, and into each of the next, with its bytes."""
        batch: list[bytes] = []
        size, before = 0, self._size
        for data in events:
            more = len(data) + OVERHEAD
            if before + size and before + size + more > self._max_bytes:
                yield batch, size
                batch, size, before = [], 0, 0
            batch.append(data)
            size += more
        yield batch, size

    def flush(self) -> None:
        """Makes what was written durable."""
        self._main.flush()

    def close(self) -> None:
        """Closes the current file."""
        self._main.close()

    def _next(self) -> None:
        full = self._main
        full.flush()
        self._main = self._open_file()  # where none can be made, the full one stays open
        self._size = 0
        full.close()


class KeepLastImages(_Around):
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
        """Writes a batch in its order; with nothing in it, the main file is asked all the same."""
        with _Progress() as done:
            self._main.write([])
            for tag, group in itertools.groupby(events, _image_tag):
                if tag is None:
                    others = list(group)
                    self._main.write(others)
                    done.count += len(others)
                    continue
                for data in group:
                    self._current(tag).write([data])
                    self._counts[tag] += 1
                    done.count += 1

    def _current(self, tag: str) -> EventFileWriter:
        files = self._files.setdefault(tag, deque())
        if not files or self._counts[tag] >= self._keep:
            if files:
                files[-1].close()
            files.append(self._open_file())
            self._counts[tag] = 0
        while len(files) > 2:
            files[0].discard()
            files.popleft()
        return files[-1]

    def flush(self) -> None:
        """Makes what was written durable."""
        call_all(file.flush for file in self._open_files())

    def close(self) -> None:
        """Closes all files."""
        call_all(file.close for file in self._open_files())

    def _open_files(self) -> list[EventWriter]:
        return [self._main, *(files[-1] for files in self._files.values() if files)]


def _image_tag(data: bytes) -> str | None:
    """The tag of an event that is one image, None for any other event."""
    values = event.decode(data).summary.value
    if len(values) != 1:
        return None
    value = values[0]
    is_image = value.HasField("image") or value.metadata.plugin_data.plugin_name == plugin.IMAGES
    return value.tag if is_image else None
