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
from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from tfevents import filename, plugin, store, tensor
from tfevents.columns import Columns, Entry
from tfevents.errors import BadMessageError, RecordError
from tfevents.reader import Notice, Tail
from tfevents.series import Series

if TYPE_CHECKING:
    from tfevents import proto
    from tfevents._types import PathLike, Source, Store

__all__ = ["KINDS", "LogDir", "Run", "Series", "read"]

#: The kinds of data that `Run.tags()` lists, in its order.
KINDS = (
    "scalars",
    "images",
    "audio",
    "histograms",
    "texts",
    "tensors",
    "hparams",
    "pr_curves",
    "meshes",
    "custom_scalars",
    "graphs",
    "run_metadata",
)

_FORM_KINDS = {
    "simple_value": "scalars",
    "histo": "histograms",
    "image": "images",
    "audio": "audio",
    "graph_def": "graphs",
    "meta_graph_def": "graphs",
    "tagged_run_metadata": "run_metadata",
}
_PLUGIN_KINDS = {
    plugin.SCALARS: "scalars",
    plugin.IMAGES: "images",
    plugin.AUDIO: "audio",
    plugin.HISTOGRAMS: "histograms",
    plugin.TEXT: "texts",
    plugin.HPARAMS: "hparams",
    plugin.PR_CURVES: "pr_curves",
    plugin.MESH: "meshes",
    plugin.CUSTOM_SCALARS: "custom_scalars",
    plugin.GRAPH_RUN_METADATA: "run_metadata",
    plugin.GRAPH_RUN_METADATA_GRAPH: "run_metadata",
}
# The tag of a graph, as TensorBoard calls it.
_GRAPH_TAG = "__run_graph__"


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


class Run:
    """The data of one run: all event files of one directory.

    Every series is in the order of the files, all points, unless its arguments say otherwise:
    `order="step"` sorts by step and then wall time, `keep="first"` or `"last"` keeps one point of
    each step. An unknown tag raises KeyError.
    """

    def __init__(self, name: str) -> None:
        self.name = name
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

    def replace(self, files: list[_File]) -> None:
        """Takes the run's files back, in their order, after something else has read them."""
        self._files = dict(zip(self._files, files, strict=True))
        self._index()

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
        parts = [self._numbers(file, tag, forms) for file in self._files.values()]
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

    def hparams(self, tag: str, *, order: str = "file", keep: str = "all") -> Series:
        """`tfevents.values.hparams.HParams` objects."""
        return self._series("hparams", tag, order, keep)

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
        values = self._series("graphs", _GRAPH_TAG, "file", "all").values
        if not values:
            raise KeyError(f"run {self.name!r}: the graph cannot be decoded")
        graph: proto.GraphDef = values[-1]
        return graph

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
        plugins = {tag: _plugin_data(data).plugin_name for tag, data in self._metadata.items()}
        for file in self._files.values():
            for tag in file.columns.scalar_tags():
                self._kinds["scalars"].setdefault(tag, {})
            for tag, form, name in file.columns.entry_kinds():
                kind = _kind(form, name or plugins.get(tag, ""))
                shown = _GRAPH_TAG if kind == "graphs" else tag
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
            point for file in self._files.values() for point in self._points(file, kind, forms)
        ]
        return Series(
            tag,
            np.array([entry.step for entry, _ in points], np.int64),
            np.array([entry.wall_time for entry, _ in points], np.float64),
            [value for _, value in points],
        ).arranged(order=order, keep=keep)

    def _numbers(
        self, file: _File, tag: str, forms: Iterable[tuple[str, str, str]]
    ) -> tuple[Any, Any, Any]:
        """Steps, times and values of a file's scalars: the plain ones, and tensors among them."""
        table = file.columns.scalars(tag)
        odd = list(self._points(file, "scalars", forms))
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
        self, file: _File, kind: str, forms: Iterable[tuple[str, str, str]]
    ) -> Iterator[tuple[Entry, Any]]:
        """The entries of these forms in one file with their values decoded, in file order."""
        found = [(entry, form[0]) for form in forms for entry in file.columns.entries(*form)]
        found.sort(key=lambda item: item[0].offset)
        decode = _decoder(kind)
        payloads = file.payloads(entry for entry, _ in found)
        for (entry, tag), (_, data) in zip(found, payloads, strict=False):
            try:
                value = decode(entry.form, data, self._metadata.get(tag, b""))
            except Exception as error:  # whatever decoders say of foreign bytes
                file.tail.error(BadMessageError(f"{kind} {tag!r}: {error}", entry.offset))
                continue
            yield entry, value


class LogDir(Mapping[str, Run]):
    """The runs of a log directory by name: their relative path, and "." for the root itself.

    It is what was there when it was made; `reload()` looks again.
    """

    def __init__(self, place: Store, path: str, *, strict: bool, executor: Executor | None) -> None:
        self.path = path
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
            files = [file for run in self._runs.values() for file in run.files]
            loaded = iter(list(self._executor.map(_load, files)))
            for run in self._runs.values():
                run.replace([next(loaded) for _ in run.files])
        return self

    def _run(self, path: str) -> Run:
        rest = path[len(self.path) :] if path.startswith(self.path) else path
        parts = rest.replace(os.sep, "/").strip("/").split("/")
        name = "/".join(part for part in parts[:-1] if part != ".") or "."
        return self._runs.setdefault(name, Run(name))


def read(
    path_or_url: PathLike, *, strict: bool = False, executor: Executor | None = None
) -> LogDir:
    """Reads a log directory, or one event file.

    Below a directory, every file with "tfevents" in its name is read, as TensorBoard does; a file
    that is named is read whatever its name.

    Args:
        path_or_url: a directory or a file; a URL is opened with fsspec.
        strict: raise at the first record or value that is bad, when its run is read.
        executor: read all files now, with `executor.map`; without, each when it is asked for. An
            executor of processes uses as many cores as it has.

    Raises:
        FileNotFoundError: there is no such path.
    """
    place, path = store.open_store(path_or_url)
    result = LogDir(place, path, strict=strict, executor=executor).reload()
    if not result:  # a directory may be empty, but it has to be there
        with contextlib.suppress(IsADirectoryError, PermissionError):
            place.open(path).close()
    return result


def _load(file: _File) -> _File:
    return file.load()


def _kind(form: str, name: str) -> str | None:
    """The kind of a value, by the field that is set or else by its plugin."""
    if form in _FORM_KINDS:
        return _FORM_KINDS[form]
    if form == "tensor":
        return _PLUGIN_KINDS.get(name, "tensors")
    return "hparams" if name == plugin.HPARAMS else None


def _plugin_data(metadata: bytes) -> Any:
    from tfevents import proto

    return proto.SummaryMetadata.FromString(metadata).plugin_data


def _message(form: str, data: bytes, metadata: bytes) -> proto.Summary.Value:
    """A value; where its tag's metadata are on an earlier event, with those."""
    from tfevents import proto

    value = proto.Summary.Value.FromString(data)
    if metadata and form in ("", "tensor") and not value.metadata.plugin_data.plugin_name:
        value.metadata.plugin_data.CopyFrom(_plugin_data(metadata))
    return value


def _decode_graph(form: str, data: bytes, metadata: bytes) -> proto.GraphDef:
    from tfevents import proto

    if form == "meta_graph_def":
        return proto.MetaGraphDef.FromString(data).graph_def
    return proto.GraphDef.FromString(data)


def _decode_run_metadata(form: str, data: bytes, metadata: bytes) -> proto.RunMetadata:
    from tfevents import proto

    if form != "tagged_run_metadata":
        data = tensor.from_proto(proto.Summary.Value.FromString(data).tensor).ravel()[0]
    return proto.RunMetadata.FromString(data)


def _decode_number(form: str, data: bytes, metadata: bytes) -> float:
    return float(tensor.from_proto(_message(form, data, metadata).tensor).item())


# Kind -> module and class in tfevents.values, imported when such a value is first decoded.
_VALUES = {
    "images": ("image", "Image"),
    "audio": ("audio", "Audio"),
    "histograms": ("histogram", "Histogram"),
    "texts": ("text", "Text"),
    "tensors": ("tensor", "Tensor"),
    "hparams": ("hparams", "HParams"),
    "pr_curves": ("pr_curve", "PrCurve"),
    "meshes": ("mesh", "Mesh"),
    "custom_scalars": ("custom_scalars", "CustomScalars"),
}
_DECODERS: dict[str, Callable[[str, bytes, bytes], Any]] = {
    "scalars": _decode_number,
    "graphs": _decode_graph,
    "run_metadata": _decode_run_metadata,
}


def _decoder(kind: str) -> Callable[[str, bytes, bytes], Any]:
    """What makes a value of this kind of its form, its bytes and the metadata of its tag."""
    if kind in _DECODERS:
        return _DECODERS[kind]
    module, name = _VALUES[kind]
    from_value = getattr(import_module(f"tfevents.values.{module}"), name).from_value
    return lambda form, data, metadata: from_value(_message(form, data, metadata))
