"""The data of one run as series: what its event files hold, sorted by kind and tag."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from tfevents import plugin
from tfevents._near import did_you_mean
from tfevents.errors import BadMessageError
from tfevents.frames import Frames
from tfevents.kinds import KINDS, checked, decoder, kind_of, plugin_data
from tfevents.log_file import LAST, Expiry, LogFile
from tfevents.series import Series

if TYPE_CHECKING:
    from tfevents import proto
    from tfevents._types import Store
    from tfevents.reader import Notice
    from tfevents.table import Entry, ScalarColumns

__all__ = ["Run"]


class Run(Frames):
    """The data of one run: all event files of one directory.

    Every series is in the order of the files, all points, unless its arguments say otherwise:
    `order="step"` sorts by step and then wall time, `keep="first"` or `"last"` keeps one point of
    each step. An unknown tag raises KeyError.
    """

    def __init__(self, name: str, *, purge: bool = False) -> None:
        self.name = name
        self._purge = purge
        self._files: dict[str, LogFile] = {}
        self._stale = True
        # kind -> tag -> the stored tags, forms and plugins of its values, apart from plain scalars
        self._kinds: dict[str, dict[str, dict[tuple[str, str, str], None]]] = {}
        self._metadata: dict[str, bytes] = {}

    def __repr__(self) -> str:
        return f"<Run {self.name!r}: {len(self._files)} files>"

    def add(self, place: Store, path: str, *, strict: bool) -> None:
        """Makes a file part of the run; files are kept in the order of their names."""
        if path not in self._files:
            self._files[path] = LogFile(place, path, strict=strict)
            self._files = dict(sorted(self._files.items()))

    def expire(self) -> None:
        """Makes the next question look for what was added to the files."""
        self._stale = True

    def replace(self, path: str, file: LogFile) -> None:
        """Takes a file back, after another process has read it."""
        self._files[path] = file

    @property
    def files(self) -> list[LogFile]:
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

    def count(self, kind: str, tag: str) -> int:
        """How many points a series has, without decoding any: broken ones count, too.

        Raises:
            KeyError: there is no such tag of that kind.
            ValueError: `kind` is none of `KINDS`.
        """
        forms = self._forms(kind, tag)
        total = 0
        for file, expiry in self._with_expiry(kind):
            total += len(self._stored(file, forms, expiry))
            if kind == "scalars":
                total += len(self._plain(file, tag, expiry).steps)
        return total

    def last(self, kind: str, tag: str) -> tuple[int, float, Any] | None:
        """The last point of a series: step, wall time and value; no other is decoded.

        Raises: as `count`. None if no point can be decoded.
        """
        forms = self._forms(kind, tag)
        if kind == "scalars":
            series = self.scalars(tag)
            return series[-1] if len(series) else None
        for file, expiry in reversed(self._with_expiry(kind)):
            stored = self._stored(file, forms, expiry)[::-1]
            for entry, value in self._decoded(file, kind, stored):
                return entry.step, entry.wall_time, value
        return None

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
        checked(kind)
        self._load()
        tags = self._kinds[kind]
        if tag in tags:
            return tags[tag]
        if kind == "graphs":
            raise KeyError(f"run {self.name!r} has no graph")
        others = [other for other in KINDS if tag in self._kinds[other]]
        hint = f"; it is among {', '.join(others)}" if others else did_you_mean(tag, tags)
        raise KeyError(f"run {self.name!r} has no {kind} tag {tag!r}{hint}")

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

    def _with_expiry(self, kind: str) -> list[tuple[LogFile, Expiry | None]]:
        """The files, each with what tells the points that a restart has overtaken, if asked for."""
        files = list(self._files.values())
        if not self._purge or kind in ("graphs", "hparams"):
            return [(file, None) for file in files]
        found: list[tuple[LogFile, Expiry | None]] = []
        last = LAST
        for file in reversed(files):
            expiry = file.expiry(last)
            last = int(expiry.limits[0])
            found.append((file, expiry))
        return found[::-1]

    def _plain(self, file: LogFile, tag: str, expiry: Expiry | None) -> ScalarColumns:
        """A file's plain scalars of a tag."""
        table = file.columns.scalars(tag)
        if expiry is None:
            return table
        return table.take(expiry.keeps(table.offsets, table.steps))

    def _numbers(
        self,
        file: LogFile,
        tag: str,
        forms: Iterable[tuple[str, str, str]],
        expiry: Expiry | None,
    ) -> tuple[Any, Any, Any]:
        """Steps, times and values of a file's scalars: the plain ones, and tensors among them."""
        table = self._plain(file, tag, expiry)
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
        file: LogFile,
        kind: str,
        forms: Iterable[tuple[str, str, str]],
        expiry: Expiry | None,
    ) -> Iterator[tuple[Entry, Any]]:
        """The entries of these forms in one file with their values decoded, in file order."""
        return self._decoded(file, kind, self._stored(file, forms, expiry))

    def _stored(
        self, file: LogFile, forms: Iterable[tuple[str, str, str]], expiry: Expiry | None
    ) -> list[tuple[Entry, str]]:
        """The entries of these forms in one file, each with its stored tag, in file order."""
        found = [(entry, form[0]) for form in forms for entry in file.columns.entries(*form)]
        found.sort(key=lambda item: item[0].offset)
        if expiry is None or not found:
            return found
        places = np.array([(entry.offset, entry.step) for entry, _ in found], np.int64)
        keeps = expiry.keeps(places[:, 0], places[:, 1]).tolist()
        return [item for item, kept in zip(found, keeps, strict=True) if kept]

    def _decoded(
        self, file: LogFile, kind: str, stored: list[tuple[Entry, str]]
    ) -> Iterator[tuple[Entry, Any]]:
        """The entries with their values; what cannot be decoded is reported and left out."""
        decode = decoder(kind)
        payloads = file.payloads(entry for entry, _ in stored)
        for (entry, tag), (_, data) in zip(stored, payloads, strict=False):
            try:
                value = decode(entry.form, data, self._metadata.get(tag, b""))
            except Exception as error:  # whatever decoders say of foreign bytes
                file.tail.error(BadMessageError(f"{kind} {tag!r}: {error}", entry.offset))
                continue
            yield entry, value
