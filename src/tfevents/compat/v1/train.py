"""tf.compat.v1.train: what there is of it for event files."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tfevents.reader import EventFileReader

if TYPE_CHECKING:
    from tfevents import proto
    from tfevents._types import PathLike

__all__ = ["summary_iterator"]


class summary_iterator:  # noqa: N801 - TensorFlow's name
    """The events of one file, in file order.

    It may be asked again after its end: events written meanwhile then follow.

    Raises:
        OSError: the file cannot be opened.
        RecordError: a record is bad or incomplete; the events before it have been given out.
    """

    def __init__(self, path: PathLike) -> None:
        self._reader = EventFileReader(path, strict=True)
        self._events = iter(self._reader)

    def __iter__(self) -> Iterator[proto.Event]:
        return self

    def __next__(self) -> proto.Event:
        try:
            return next(self._events)
        except Exception:
            self._events = iter(self._reader)
            raise
