"""Keeps what is logged in memory.

Every path that is opened meanwhile leads to one store in memory. Its files may be named by
relative, absolute and URL paths side by side, so they are read through a view: below the deepest
directory that all of them share, as somebody would point TensorBoard at it.
"""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from tfevents import filename, store
from tfevents.async_writer import open_writers
from tfevents.event_file import EventFileWriter
from tfevents.logdir import LogDir
from tfevents.store import MemoryStore
from tfevents.testing._log import EventLog

if TYPE_CHECKING:
    from tfevents._types import PathLike, Sink, Source
    from tfevents.logdir import Run

__all__ = ["CapturedLog", "capture"]


class _Memory(MemoryStore):
    """A memory store that knows where each file would have been."""

    def __init__(self) -> None:
        super().__init__()
        self.places: dict[str, str] = {}

    def create(self, path: str, *, parents: bool = True) -> Sink:
        """Makes a file that did not exist."""
        sink = super().create(path, parents=parents)
        absolute = path if "://" in path else os.path.abspath(path)
        self.places[path] = absolute.replace(os.sep, "/")
        return sink

    def remove(self, path: str) -> None:
        """Removes a file, if it is still there."""
        self.places.pop(path, None)
        super().remove(path)


class _View:
    """The event files of a memory store, below the directory that they share."""

    def __init__(self, memory: _Memory) -> None:
        self._memory = memory
        places = memory.places.copy()
        directories = [
            place.split("/")[:-1] for place in places.values() if filename.is_event_file(place)
        ]
        shared = _shared(directories)
        self.root = "/".join(shared)
        self._paths = {
            "/".join(place.split("/")[len(shared) :]): path
            for path, place in places.items()
            if filename.is_event_file(place)
        }

    def create(self, path: str, *, parents: bool = True) -> Sink:
        """Nothing is written through a view."""
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)

    def open(self, path: str) -> Source:
        """Opens a file for reading."""
        return self._memory.open(self._paths[path])

    def list(self, path: str) -> Iterator[str]:
        """All files."""
        return iter(sorted(self._paths))

    def __len__(self) -> int:
        return len(self._paths)


class CapturedLog(EventLog):
    """What was logged to memory, with the assertions of `EventLog`.

    A run is named by its path below the directory that all captured runs share, so a single run is
    "."; wherever a run is asked for, the end of the path that the writer was given does as well.
    """

    def __init__(
        self,
        memory: _Memory,
        *,
        baseline_dir: PathLike | None = None,
        update_baselines: bool | None = None,
    ) -> None:
        super().__init__(".", baseline_dir=baseline_dir, update_baselines=update_baselines)
        self._memory = memory
        self._view = _View(memory)
        self._log: LogDir | None = None

    def __repr__(self) -> str:
        return f"<CapturedLog: {len(self._memory.files)} files>"

    @property
    def files(self) -> dict[str, bytes]:
        """Everything that was written, other files beside event files too, by path."""
        return {path: bytes(data) for path, data in self._memory.files.copy().items()}

    def _logdir(self) -> LogDir:
        self._flush()
        view = _View(self._memory)
        if self._log is None or len(view) != len(self._view):
            self._view = view
            self._log = LogDir(view, "", strict=False, executor=None)
        return self._log.reload()

    def _place(self) -> str:
        return "what was captured"

    def _is_mine(self, path: object) -> bool:
        return path in self._memory.files

    def _named(self, log: LogDir, name: str) -> Run | None:
        """A run by its name, or by the end of the path that it would have had."""
        if name in log:
            return log[name]
        wanted = f"/{os.fspath(name).replace(os.sep, '/').strip('./')}"
        found = [
            run
            for run in log.values()
            if f"{self._view.root}/{run.name}".removesuffix("/.").endswith(wanted)
        ]
        return found[0] if len(found) == 1 else None


def _shared(directories: list[list[str]]) -> list[str]:
    """The parts with which all paths begin."""
    if not directories:
        return []
    first, last = min(directories), max(directories)
    same = [one == other for one, other in zip(first, last, strict=False)]
    return first[: same.index(False)] if False in same else first[: len(same)]


@contextlib.contextmanager
def capture(
    *, baseline_dir: PathLike | None = None, update_baselines: bool | None = None
) -> Iterator[CapturedLog]:
    """Keeps in memory what tfevents writers log meanwhile, in any thread.

    Nothing of it touches the disk, whatever paths the writers were given. A writer that is open
    before goes on with its file after the block; one that is opened in the block and outlives it
    goes on in memory, and the log can still be read. Blocks nest: what is logged in the innermost
    goes to it, and to it alone.

    Args:
        baseline_dir: where relative paths of baselines begin.
        update_baselines: see `EventLog`.
    """
    memory = _Memory()
    with store.redirect(memory), contextlib.ExitStack() as diversions:
        for writer in open_writers():
            open_file = partial(_open_file, os.path.dirname(writer.path), memory)
            diversions.enter_context(writer.diverted(open_file))
        yield CapturedLog(memory, baseline_dir=baseline_dir, update_baselines=update_baselines)


def _open_file(directory: str, memory: _Memory, *, fresh: bool = True) -> EventFileWriter:
    return EventFileWriter(directory, store=memory, parents=fresh)
