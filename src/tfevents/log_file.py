"""One event file of a log directory: its columns so far, and which of its points still count."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from tfevents.columns import Columns
from tfevents.errors import RecordError
from tfevents.reader import Tail

if TYPE_CHECKING:
    from tfevents._types import Source, Store
    from tfevents.table import Entry

__all__ = ["LAST", "Expiry", "LogFile"]

LAST = 2**63 - 1  # the highest step


class LogFile:
    """One event file and what was read of it."""

    def __init__(self, place: Store, path: str, *, strict: bool) -> None:
        self._store = place
        self.tail = Tail(place, path, strict=strict)
        self.columns = Columns()

    def load(self) -> LogFile:
        """Reads on to the present end of the file."""
        tail = self.tail
        try:
            for batch in tail.batches():
                self.columns.hold = tail.compressed
                errors: list[RecordError] = [*batch.bad.values(), *self.columns.add(batch)]
                for error in sorted(errors, key=lambda error: error.offset):
                    tail.error(error)
                if batch.stop is not None:
                    tail.stop(batch.stop)
        except OSError as error:
            tail.vanished(error)
            return self
        tail.finish()
        return self

    def expiry(self, later: int) -> Expiry:
        """Which points of this file stay, given the highest step that later files let stay.

        A session that starts at step s takes the place of all points at or after s before it.
        """
        restarts = sorted(self.columns.restarts)
        limits = [later]
        for _, step in reversed(restarts):
            limits.append(min(limits[-1], max(step - 1, -LAST)))
        offsets = np.array([offset for offset, _ in restarts], np.int64)
        return Expiry(offsets, np.array(limits[::-1], np.int64))

    def payloads(self, entries: Iterable[Entry]) -> Iterator[tuple[Entry, bytes]]:
        """Entries with their bytes, in order."""
        source: Source | None = None
        try:
            for entry in entries:
                if entry.data is not None:
                    yield entry, entry.data
                    continue
                source = source or self._store.open(self.tail.path)
                yield entry, source.read(entry.start, entry.size)
        except OSError as error:
            self.tail.vanished(error)
        finally:
            if source is not None:
                source.close()


class Expiry(NamedTuple):
    """Where a file's sessions start, and the highest steps that stay before, between and after."""

    offsets: npt.NDArray[np.int64]
    limits: npt.NDArray[np.int64]

    def keeps(
        self, offsets: npt.NDArray[np.int64], steps: npt.NDArray[np.int64]
    ) -> npt.NDArray[np.bool_]:
        """Which points no later start has overtaken."""
        limits = self.limits[np.searchsorted(self.offsets, offsets, "right")]
        return np.less_equal(steps, limits)
