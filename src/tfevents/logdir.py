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
import difflib
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, overload

import numpy as np
import numpy.typing as npt

from tfevents import filename, plugin, store
from tfevents.columns import Columns, Entry
from tfevents.errors import BadMessageError, RecordError
from tfevents.frames import Frames
from tfevents.kinds import KINDS, decoder, kind_of, plugin_data
from tfevents.reader import Notice, Tail
from tfevents.series import Series

if TYPE_CHECKING:
    from tfevents import proto
    from tfevents._types import PathLike, Source, Store

__all__ = ["KINDS", "LogDir", "Run", "Series", "read"]

_LAST = 2**63 - 1  # the highest step
_TASKS = 64  # into how many the files are cut for an executor, at most about


class Executor(Protocol):
    """What `read` uses of a `concurrent.futures.Executor`."""

    def map(self, function: Callable[[Any], Any], /, *iterables: Iterable[Any]) -> Iterator[Any]:
        """Calls `function` with each item; results in order."""


class _File:
    """One event file and what was read of it."""

    def __init__(self, place: Store, path: str, *, strict: bool) -> None:
        self._store = place
        self.tail = Tail(place, path, strict=strict)
        self.columns = Columns()

    def load(self) -> _File:
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

    def expiry(self, later: int) -> _Expiry:
        """Which points of this file stay, given the highest step that later files let stay.

        A session that starts at step s takes the place of all points at or after s before it.
        """
        restarts = sorted(self.columns.restarts)
        limits = [later]
        for _, step in reversed(restarts):
            limits.append(min(limits[-1], max(step - 1, -_LAST)))
        offsets = np.array([offset for offset, _ in restarts], np.int64)
        return _Expiry(offsets, np.array(limits[::-1], np.int64))

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


class _Expiry(NamedTuple):
    """Where a file's sessions start, and the highest steps that stay before, between and after."""

    offsets: npt.NDArray[np.int64]
    limits: npt.NDArray[np.int64]

    def keeps(
        self, offsets: npt.NDArray[np.int64], steps: npt.NDArray[np.int64]
    ) -> npt.NDArray[np.bool_]:
        """Which points no later start has overtaken."""
        limits = self.limits[np.searchsorted(self.offsets, offsets, "right")]
        return np.less_equal(steps, limits)


class Run(Frames):
    """The data of one run: all event files of one directory.

    Every series is in the order of the files, all points, unless its arguments say otherwise:
    `order="step"` sorts by step and then wall time, `keep="first"` or `"last"` keeps one point of
    each step. An unknown tag raises KeyError.
    """

    def __init__(self, name: str, *, purge: bool = False) -> None:
        self.name = name
        self._purge = purge
        self._files: dict[str, _File] = {}
        self._stale = True
        # kind -> tag -> the stored tags, forms and plugins of its values, apart from plain scalars
        self._kinds: dict[str, dict[str, dict[tuple[str, str, str], None]]] = {}
        self._metadata: dict[str, bytes] = {}

    def __repr__(self) -> str:
        return f"<Run {self.name!r}: {len(self._files)} files>"

    def add(self, place: Store, path: str, *, strict: bool) -> None:
        """Makes a file part of the run; files are kept in the order of their names."""
        if path not in self._files:
            self._files[path] = _File(place, path, strict=strict)
            self._files = dict(sorted(self._files.items()))

    def expire(self) -> None:
        """Makes the next question look for what was added to the files."""
        self._stale = True

    def replace(self, path: str, file: _File) -> None:
        """Takes a file back, after another process has read it."""
        self._files[path] = file

    @property
    def files(self) -> list[_File]:
        """The files of the run, in the order in which they are read."""
        return list(self._files.values())

    @property
    def paths(self) -> list[str]:
        """The event files of the run, in the order in which they are read."""
        return list(self._files)

    @property
    def notices(self) -> list[Notice]:
        """What could not be read of the run's files so far."""
        self._load()
        return [notice for file in self._files.values() for notice in file.tail.notices]

    def tags(self) -> dict[str, list[str]]:
        """The tags of each of `KINDS`, sorted."""
        self._load()
        return {kind: sorted(self._kinds[kind]) for kind in KINDS}

    def scalars(self, tag: str, *, order: str = "file", keep: str = "all") -> Series:
        """Numbers; `values` is a float64 array."""
        forms = self._forms("scalars", tag)
        parts = [
            self._numbers(file, tag, forms, expiry) for file, expiry in self._with_expiry("scalars")
        ]
        steps, times, values = map(np.concatenate, zip(*parts, strict=True))
        return Series(tag, steps, times, values).arranged(order=order, keep=keep)

    def histograms(self, tag: str, *, order: str = "file", keep: str = "all") -> Series:
        """`tfevents.values.histogram.Histogram` objects."""
        return self._series("histograms", tag, order, keep)

    def images(self, tag: str, *, order: str = "file", keep: str = "all") -> Series:
        """`tfevents.values.image.Image` objects."""
        return self._series("images", tag, order, keep)

    def audio(self, tag: str, *, order: str = "file", keep: str = "all") -> Series:
        """`tfevents.values.audio.Audio` objects."""
        return self._series("audio", tag, order, keep)

    def texts(self, tag: str, *, order: str = "file", keep: str = "all") -> Series:
        """`tfevents.values.text.Text` objects."""
        return self._series("texts", tag, order, keep)

    def tensors(self, tag: str, *, order: str = "file", keep: str = "all") -> Series:
        """`tfevents.values.tensor.Tensor` objects, of tags that no other kind has."""
        return self._series("tensors", tag, order, keep)

    @overload
    def hparams(self) -> dict[str, Any]: ...

    @overload
    def hparams(self, tag: str, *, order: str = "file", keep: str = "all") -> Series: ...

    def hparams(self, tag: str | None = None, *, order: str = "file", keep: str = "all") -> Any:
        """The hyperparameters of the run by name, a dict that is empty if there are none.

        Numbers come as float: the format knows no integers. With a tag, a series of
        `tfevents.values.hparams.HParams` objects, the parts of the session as they were written.
        """
        if tag is not None:
            return self._series("hparams", tag, order, keep)
        found: dict[str, Any] = {}
        for each in self.tags()["hparams"]:
            for value in self._series("hparams", each, order, keep).values:
                found.update(value.hparams)
        return found

    def pr_curves(self, tag: str, *, order: str = "file", keep: str = "all") -> Series:
        """`tfevents.values.pr_curve.PrCurve` objects."""
        return self._series("pr_curves", tag, order, keep)

    def meshes(self, tag: str, *, order: str = "file", keep: str = "all") -> Series:
        """`tfevents.values.mesh.Mesh` objects."""
        return self._series("meshes", tag, order, keep)

    def custom_scalars(self, tag: str, *, order: str = "file", keep: str = "all") -> Series:
        """`tfevents.values.custom_scalars.CustomScalars` objects."""
        return self._series("custom_scalars", tag, order, keep)

    def run_metadata(self, tag: str, *, order: str = "file", keep: str = "all") -> Series:
        """`proto.RunMetadata` messages."""
        return self._series("run_metadata", tag, order, keep)

    def graph(self) -> proto.GraphDef:
        """The graph of the run: the last one written, as TensorBoard shows it.

        Raises:
            KeyError: there is none.
        """
        values = self._series("graphs", plugin.GRAPH_TAG, "file", "all").values
        if not values:
            raise KeyError(f"run {self.name!r}: the graph cannot be decoded")
        graph: proto.GraphDef = values[-1]
        return graph

    def plot(self, *tags: str, ax: Any = None, smooth: float = 0.0, **style: Any) -> Any:
        """Draws scalar series, of all tags unless some are given; see `Series.plot`."""
        from tfevents import _display

        chosen = tags or tuple(self.tags()["scalars"])
        return _display.plot([(tag, self.scalars(tag)) for tag in chosen], ax, smooth, style)

    def _repr_html_(self) -> str:
        from tfevents import _display

        return _display.run_table(self)

    def _named_series(self, kind: str, keep: str) -> Iterator[tuple[str, Series]]:
        if kind not in KINDS or kind == "graphs":
            raise ValueError(f"kind must be one of {', '.join(KINDS)} but graphs, not {kind!r}")
        for tag in self.tags()[kind]:
            yield self.name, getattr(self, kind)(tag, keep=keep)

    def _load(self) -> None:
        if self._stale:
            for file in self._files.values():
                file.load()
            self._index()

    def _index(self) -> None:
        """Sorts what the files hold by kind and tag."""
        self._stale = False
        self._metadata = {}
        self._kinds = {kind: {} for kind in KINDS}
        for file in self._files.values():
            for tag, data in file.columns.metadata.items():
                self._metadata.setdefault(tag, data)
        plugins = {tag: plugin_data(data).plugin_name for tag, data in self._metadata.items()}
        for file in self._files.values():
            for tag in file.columns.scalar_tags():
                self._kinds["scalars"].setdefault(tag, {})
            for tag, form, name in file.columns.entry_kinds():
                kind = kind_of(form, name or plugins.get(tag, ""))
                shown = plugin.GRAPH_TAG if kind == "graphs" else tag
                if kind:
                    self._kinds[kind].setdefault(shown, {})[tag, form, name] = None

    def _forms(self, kind: str, tag: str) -> Iterable[tuple[str, str, str]]:
        """The stored tag, form and plugin of the entries that make up a series."""
        self._load()
        tags = self._kinds[kind]
        if tag in tags:
            return tags[tag]
        text = f"run {self.name!r} has no {kind} tag {tag!r}"
        if others := [other for other in KINDS if tag in self._kinds[other]]:
            text += f"; it is among {', '.join(others)}"
        elif near := difflib.get_close_matches(tag, tags, n=3):
            text += f"; near: {', '.join(map(repr, near))}"
        raise KeyError(text)

    def _series(self, kind: str, tag: str, order: str, keep: str) -> Series:
        forms = self._forms(kind, tag)
        points = [
            point
            for file, expiry in self._with_expiry(kind)
            for point in self._points(file, kind, forms, expiry)
        ]
        return Series(
            tag,
            np.array([entry.step for entry, _ in points], np.int64),
            np.array([entry.wall_time for entry, _ in points], np.float64),
            [value for _, value in points],
        ).arranged(order=order, keep=keep)

    def _with_expiry(self, kind: str) -> list[tuple[_File, _Expiry | None]]:
        """The files, each with what tells the points that a restart has overtaken, if asked for."""
        files = list(self._files.values())
        if not self._purge or kind in ("graphs", "hparams"):
            return [(file, None) for file in files]
        found: list[tuple[_File, _Expiry | None]] = []
        last = _LAST
        for file in reversed(files):
            expiry = file.expiry(last)
            last = int(expiry.limits[0])
            found.append((file, expiry))
        return found[::-1]

    def _numbers(
        self,
        file: _File,
        tag: str,
        forms: Iterable[tuple[str, str, str]],
        expiry: _Expiry | None,
    ) -> tuple[Any, Any, Any]:
        """Steps, times and values of a file's scalars: the plain ones, and tensors among them."""
        table = file.columns.scalars(tag)
        if expiry is not None:
            table = table.take(expiry.keeps(table.offsets, table.steps))
        odd = list(self._points(file, "scalars", forms, expiry))
        if not odd:
            return table[2:]
        stamps = [(entry.offset, entry.step, entry.wall_time, value) for entry, value in odd]
        added = [np.array(column) for column in zip(*stamps, strict=True)]
        offsets, *columns = map(
            np.concatenate, zip((table.offsets, *table[2:]), added, strict=True)
        )
        order = np.argsort(offsets, kind="stable")
        steps, times, values = (column[order] for column in columns)
        return steps, times, values

    def _points(
        self,
        file: _File,
        kind: str,
        forms: Iterable[tuple[str, str, str]],
        expiry: _Expiry | None,
    ) -> Iterator[tuple[Entry, Any]]:
        """The entries of these forms in one file with their values decoded, in file order."""
        found = [(entry, form[0]) for form in forms for entry in file.columns.entries(*form)]
        found.sort(key=lambda item: item[0].offset)
        if expiry is not None and found:
            places = np.array([(entry.offset, entry.step) for entry, _ in found], np.int64)
            keeps = expiry.keeps(places[:, 0], places[:, 1]).tolist()
            found = [item for item, kept in zip(found, keeps, strict=True) if kept]
        decode = decoder(kind)
        payloads = file.payloads(entry for entry, _ in found)
        for (entry, tag), (_, data) in zip(found, payloads, strict=False):
            try:
                value = decode(entry.form, data, self._metadata.get(tag, b""))
            except Exception as error:  # whatever decoders say of foreign bytes
                file.tail.error(BadMessageError(f"{kind} {tag!r}: {error}", entry.offset))
                continue
            yield entry, value


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
            near = ", ".join(map(repr, difflib.get_close_matches(name, self._runs, n=3)))
            raise KeyError(f"no run {name!r}" + (f"; near: {near}" if near else "")) from None

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

        having = [run for run in self._runs.values() if tag in run.tags()["scalars"]]
        if not having:
            raise KeyError(f"no run has the scalars tag {tag!r}")
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
        strict: raise at the first record or value that is bad, when its run is read.
        executor: read all files now, with `executor.map`; without, each when it is asked for. An
            executor of processes uses as many cores as it has, Dask's those of a cluster.
        purge: leave out the points that a restart has overtaken: where a session says that it
            starts at step s (`purge_step`), all points at or after s that stand before it in the
            run, as TensorBoard does. Graphs and hyperparameters stay.

    Raises:
        FileNotFoundError: there is no such path.
    """
    place, path = store.open_store(path_or_url)
    result = LogDir(place, path, strict=strict, executor=executor, purge=purge).reload()
    if not result:  # a directory may be empty, but it has to be there
        with contextlib.suppress(IsADirectoryError, PermissionError):
            place.open(path).close()
    return result


def _load(files: list[_File]) -> list[_File]:
    return [file.load() for file in files]
