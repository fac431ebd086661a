"""Reads a log directory: runs, tags, and series of steps, wall times and values.

    LogDir   a directory tree: run name -> Run
    Run      the event files of one directory, in the order of their names
    Series   the points of one tag

A tag has the kind of its values. In the older form the field that is set tells it (`simple_value`,
`histo`, `image`, `audio`); in the newer form all values are tensors and the metadata name a plugin,
often only on the first event of a tag, so the first metadata of a tag in the run hold for its
events that have none. Both forms give the same series.

Files are read when something of their run is asked for; large values are read from the file when
their series is asked for, and are not kept.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Protocol

from tfevents import filename, store
from tfevents._near import did_you_mean
from tfevents.frames import Frames
from tfevents.kinds import KINDS
from tfevents.log_file import LogFile
from tfevents.run import Run
from tfevents.series import Series

if TYPE_CHECKING:
    from tfevents._types import PathLike, Store
    from tfevents.reader import Notice

__all__ = ["KINDS", "LogDir", "Run", "Series", "read"]

_TASKS = 64  # into how many the files are cut for an executor, at most about


class Executor(Protocol):
    """What `read` uses of a `concurrent.futures.Executor`."""

    def map(self, function: Callable[[Any], Any], /, *iterables: Iterable[Any]) -> Iterator[Any]:
        """Calls `function` with each item; results in order."""


class LogDir(Frames, Mapping[str, Run]):
    """The runs of a log directory by name: their relative path, and "." for the root itself.

    It is what was there when it was made; `reload()` looks again.
    """

    def __init__(
        self,
        place: Store,
        path: str,
        *,
        strict: bool,
        executor: Executor | None,
        purge: bool = False,
    ) -> None:
        self.path = path
        self._purge = purge
        self._store = place
        self._strict = strict
        self._executor = executor
        self._runs: dict[str, Run] = {}

    def __getitem__(self, name: str) -> Run:
        try:
            return self._runs[name]
        except KeyError:
            raise KeyError(f"no run {name!r}{did_you_mean(name, self._runs)}") from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._runs)

    def __len__(self) -> int:
        return len(self._runs)

    def __repr__(self) -> str:
        return f"<LogDir {self.path!r}: {len(self)} runs>"

    @property
    def runs(self) -> dict[str, Run]:
        """The runs by name, sorted."""
        return dict(self._runs)

    @property
    def notices(self) -> list[Notice]:
        """What could not be read of any file. This reads all of them."""
        return [notice for run in self._runs.values() for notice in run.notices]

    def reload(self) -> LogDir:
        """Takes in new runs, new files, and what was added to files; returns itself."""
        for path in self._store.list(self.path):
            if path == self.path or filename.is_event_file(path):
                self._run(path).add(self._store, path, strict=self._strict)
        self._runs = dict(sorted(self._runs.items()))
        for run in self._runs.values():
            run.expire()
        if self._executor is not None:
            self._load_with(self._executor)
        if self._strict:
            _ = self.notices  # reads all files, and raises
        return self

    def hparams(self) -> dict[str, dict[str, Any]]:
        """The hyperparameters of each run that has any: a table of runs and names.

        `pandas.DataFrame.from_dict(log.hparams(), orient="index")` shows it.
        """
        found = {name: run.hparams() for name, run in self._runs.items()}
        return {name: hparams for name, hparams in found.items() if hparams}

    def plot(self, tag: str, ax: Any = None, *, smooth: float = 0.0, **style: Any) -> Any:
        """Draws one scalar tag of all runs that have it; see `Series.plot`.

        Raises:
            KeyError: no run has it.
        """
        from tfevents import _display

        tags = {run.name: run.tags()["scalars"] for run in self._runs.values()}
        having = [run for run in self._runs.values() if tag in tags[run.name]]
        if not having:
            hint = did_you_mean(tag, (each for names in tags.values() for each in names))
            raise KeyError(f"no run has the scalars tag {tag!r}{hint}")
        return _display.plot([(run.name, run.scalars(tag)) for run in having], ax, smooth, style)

    def _repr_html_(self) -> str:
        from tfevents import _display

        return _display.log_table(self)

    def _named_series(self, kind: str, keep: str) -> Iterator[tuple[str, Series]]:
        for run in self._runs.values():
            yield from run._named_series(kind, keep)

    def _load_with(self, executor: Executor) -> None:
        """Makes the first pass over new files elsewhere; what grows later is read here.

        A task takes several files when there are many. What comes back are columns, not events.
        """
        new = [
            (run, path, file)
            for run in self._runs.values()
            for path, file in zip(run.paths, run.files, strict=True)
            if not file.tail.begun
        ]
        files = [file for _, _, file in new]
        size = 1 + len(files) // _TASKS
        tasks = [files[at : at + size] for at in range(0, len(files), size)]
        loaded = (file for task in executor.map(_load, tasks) for file in task)
        for (run, path, _), file in zip(new, loaded, strict=True):
            run.replace(path, file)

    def _run(self, path: str) -> Run:
        rest = path[len(self.path) :] if path.startswith(self.path) else path
        parts = rest.replace(os.sep, "/").strip("/").split("/")
        name = "/".join(part for part in parts[:-1] if part != ".") or "."
        return self._runs.setdefault(name, Run(name, purge=self._purge))


def read(
    path_or_url: PathLike,
    *,
    strict: bool = False,
    executor: Executor | None = None,
    purge: bool = False,
) -> LogDir:
    """Reads a log directory, or one event file.

    Below a directory, every file with "tfevents" in its name is read, as TensorBoard does; a file
    that is named is read whatever its name.

    Args:
        path_or_url: a directory or a file; a URL is opened with fsspec.
        strict: read all files now, and raise at the first record that is bad; at a value that
            cannot be decoded, when it is asked for.
        executor: read all files now, with `executor.map`; without, each when it is asked for. An
            executor of processes uses as many cores as it has, Dask's those of a cluster.
        purge: leave out the points that a restart has overtaken: where a session says that it
            starts at step s (`purge_step`), all points at or after s that stand before it in the
            run, as TensorBoard does. Graphs and hyperparameters stay.

    Raises:
        FileNotFoundError: there is no such path.
        RecordError: with `strict`, a record is bad.
    """
    place, path = store.open_store(path_or_url)
    result = LogDir(place, path, strict=strict, executor=executor, purge=purge).reload()
    if not result:  # a directory may be empty, but it has to be there
        with contextlib.suppress(IsADirectoryError, PermissionError):
            place.open(path).close()
    return result


def _load(files: list[LogFile]) -> list[LogFile]:
    return [file.load() for file in files]
