"""Turns records into columns: many scalar events at once, all others by where they lie.

The events of a training run look alike. Two events of one size, written by one program, differ in
their time, step and value and in the letters of the tag, and in nothing else. So the records of a
batch are grouped by size; one of a group is taken apart into a `layout.Layout`, which says at which
byte each of those stands and what every other byte is; then numpy compares and decodes all records
of the group in a few operations. Records that fit no layout are looked at one by one, by hand
(`wire`), or by protobuf if they are unusual. A law in `tests/property` holds all of it equal to
what protobuf itself reads.

A scalar costs 36 bytes here. Of any other value only its place is kept; who wants it reads there.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from tfevents import event, wire
from tfevents.errors import BadMessageError
from tfevents.layout import Ints, Layout, Octets, learn, number_of, plugin_name
from tfevents.record import Batch
from tfevents.table import Entries, Entry, Groups, ScalarColumns, concatenate

__all__ = ["Columns", "Entry", "ScalarColumns"]


# Below this many records of one size, taking them one by one is as quick.
_FEW = 6
# Layouts tried for one size in one batch, and the largest record that is worth a layout.
_TRIES = 8
_LARGEST = 2048


def _is_mixed(found: wire.Outline) -> bool:
    """Whether a scalar may stand beside a value that only protobuf can tell to be sound."""
    return len(found.parts) > 1 and any(part.form != "simple_value" for part in found.parts)


class _TagIds(dict[bytes, int]):
    """Serialized tag -> its number; -1 for bytes that are no text."""

    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []

    def __missing__(self, tag: bytes) -> int:
        try:
            name = tag.decode("utf-8")
        except UnicodeDecodeError:
            return -1
        self[tag] = number = len(self.names)
        self.names.append(name)
        return number

    def __reduce__(self) -> Any:
        return _tag_ids, (self.names,)

    def column(self, rows: Octets, start: int, end: int) -> npt.NDArray[np.int32]:
        """The numbers of the tags in `rows[:, start:end]`."""
        field = rows[:, start:end]
        if start == end or (field == field[0]).all():
            return np.full(len(rows), self[field[0].tobytes()], np.int32)
        tags = np.ascontiguousarray(field).view(f"V{end - start}")[:, 0].tolist()
        return np.fromiter(map(self.__getitem__, tags), np.int32, len(tags))


def _tag_ids(names: list[str]) -> _TagIds:
    result = _TagIds()
    result.names = names
    result.update((name.encode(), number) for number, name in enumerate(names))
    return result


class Columns:
    """All that the records of one file say, apart from the bytes of large values.

    Args:
        hold: keep the bytes of values, for a source that cannot be read again at an offset.

    Attributes:
        metadata: the first metadata of each tag that name a plugin, serialized; later events of
            a tag often come without.
        restarts: offset and step of each event that says a session starts (again).
    """

    def __init__(self, *, hold: bool = False) -> None:
        self.hold = hold
        self.restarts: list[tuple[int, int]] = []
        self._tags = _TagIds()
        self._metadata: dict[int, tuple[int, bytes]] = {}
        self._plugins: dict[bytes, str | None] = {}
        self._layouts: dict[int, list[Layout]] = {}
        self._chunks: list[ScalarColumns] = []
        self._groups: Groups | None = None
        self._entries = Entries()

    @property
    def tags(self) -> list[str]:
        """All tags, by their number."""
        return self._tags.names

    @property
    def metadata(self) -> dict[str, bytes]:
        """The first metadata of each tag, see the class."""
        return {self.tags[number]: data for number, (_, data) in self._metadata.items()}

    def add(self, batch: Batch) -> list[BadMessageError]:
        """Takes the good records of a batch; returns those that are no events."""
        starts = np.array(batch.starts, np.int64)
        sizes = np.array(batch.ends, np.int64) - starts
        good = np.ones(len(starts), bool)
        good[list(batch.bad)] = False
        chunk = _Chunk(batch)
        rest: list[int] = []
        for index in _by_size(sizes, np.flatnonzero(good)):
            rest += self._alike(chunk, index, starts[index], int(sizes[index[0]]))
        rest.sort()
        errors = [error for index in rest if (error := self._single(chunk, index)) is not None]
        if chunk.pieces or chunk.rows:
            self._chunks.append(chunk.columns())
            self._groups = None
        return errors

    def scalars(self, tag: str | None = None) -> ScalarColumns:
        """The scalars of one tag, or all of them."""
        table = self._table()
        if tag is None:
            return table
        if self.tags == [tag]:  # a copy all the same: arrays of series belong to the user
            return ScalarColumns(*(column.copy() for column in table))
        return table.take(self._rows(tag))

    def scalar_tags(self) -> list[str]:
        """Tags of plain scalars, in the order they were first seen."""
        seen = np.zeros(len(self.tags), bool)
        for chunk in self._chunks:
            seen[chunk.tags] = True
        return [self.tags[number] for number in np.flatnonzero(seen).tolist()]

    def entry_kinds(self) -> list[tuple[str, str, str]]:
        """Each tag, form and plugin that other values have, in the order of first sight."""
        return [(self.tags[tag], form, name) for tag, form, name in self._entries.kinds]

    def entries(self, tag: str, form: str, name: str) -> Iterator[Entry]:
        """The values of one tag, form and plugin, in the order of the file."""
        return self._entries.select((self._tags.get(tag.encode(), -1), form, name))

    def __getstate__(self) -> dict[str, Any]:
        """Without what can be learned again."""
        kept = self.__dict__ | {"_chunks": [self._table()], "_groups": None}
        return kept | {"_layouts": {}, "_plugins": {}}

    def _table(self) -> ScalarColumns:
        if len(self._chunks) != 1:
            self._chunks = [concatenate(self._chunks)]
        return self._chunks[0]

    def _rows(self, tag: str) -> npt.NDArray[np.intp]:
        if self._groups is None:
            self._groups = Groups(self._table().tags)
        return self._groups.rows(self._tags.get(tag.encode(), -1))

    def _alike(self, chunk: _Chunk, index: Ints, starts: Ints, size: int) -> list[int]:
        """Takes records of one size by layouts; returns those that fit none."""
        if len(index) < _FEW or not 0 < size <= _LARGEST:
            return list(index.tolist())
        rows = np.lib.stride_tricks.sliding_window_view(chunk.octets, size)[starts]
        rest: list[int] = []
        known = len(self._layouts.get(size, ()))
        for attempt in range(known + _TRIES):
            layout = self._layouts[size][attempt] if attempt < known else self._learn(rows[0])
            if layout is None:
                rest.append(int(index[0]))
                index, rows = index[1:], rows[1:]
            else:
                fits = layout.fits(rows)
                if fits.all():
                    return rest + self._decode(chunk, layout, index, rows)
                if fits.any():
                    rest += self._decode(chunk, layout, index[fits], rows[fits])
                    index, rows = index[~fits], rows[~fits]
            if len(index) < _FEW:
                break
        found: list[int] = index.tolist()
        return rest + found

    def _learn(self, row: Octets) -> Layout | None:
        """The layout of a record, remembered for those of its size to come."""
        layout = learn(row.tobytes())
        if layout is not None:
            layouts = self._layouts.setdefault(len(row), [])
            layouts.append(layout)
            del layouts[:-_TRIES]
        return layout

    def _decode(self, chunk: _Chunk, layout: Layout, index: Ints, rows: Octets) -> list[int]:
        """Appends the scalars of rows that fit a layout; returns rows with a broken tag."""
        columns = [self._tags.column(rows, *slot.tag) for slot in layout.slots]
        bad = np.zeros(len(rows), bool)
        for column in columns:
            bad |= column < 0
        if bad.any():
            good = ~bad
            columns = [column[good] for column in columns]
            broken, index, rows = index[bad], index[good], rows[good]
        else:
            broken = index[:0]
        offsets = chunk.offsets(index)
        steps, times = layout.steps(rows), layout.times(rows)
        for tags, slot in zip(columns, layout.slots, strict=True):
            values = layout.values(rows, slot)
            chunk.pieces.append(ScalarColumns(offsets, tags, steps, times, values))
            if slot.metadata:
                for tag, first in Groups(tags).firsts():
                    self._see(tag, int(offsets[first]), slot.metadata)
        return list(broken.tolist())

    def _single(self, chunk: _Chunk, index: int) -> BadMessageError | None:
        """Takes one record by hand, or by protobuf."""
        batch = chunk.batch
        start, end = batch.starts[index], batch.ends[index]
        offset = batch.offset(index)
        found = wire.outline(batch.buffer, start, end)
        known = found is not None and self._is_known(found)
        if found is not None and known and not _is_mixed(found):
            self._take(chunk, offset, found)
            return None
        try:
            message = event.decode(batch.buffer[start:end], offset)
        except BadMessageError as error:
            return error
        if found is not None and known:
            self._take(chunk, offset, found)
        else:
            self._take_message(chunk, offset, message)
        return None

    def _is_known(self, found: wire.Outline) -> bool:
        return all(
            self._tags[part.tag] >= 0 and self._plugin(part.metadata) is not None
            for part in found.parts
        )

    def _plugin(self, metadata: bytes) -> str | None:
        if len(metadata) > 4096:
            return plugin_name(metadata)
        if metadata not in self._plugins:
            if len(self._plugins) > 1024:
                self._plugins.clear()
            self._plugins[metadata] = plugin_name(metadata)
        return self._plugins[metadata]

    def _take(self, chunk: _Chunk, offset: int, found: wire.Outline) -> None:
        buffer = chunk.batch.buffer
        step, time = found.step, found.wall_time
        if found.what not in ("", "summary"):
            self._keep(chunk, b"", (offset, step, time, found.what, ""), found.start, found.end)
        for part in found.parts:
            tag = self._tags[part.tag]
            name = self._plugin(part.metadata) or ""
            if name:
                self._see(tag, offset, part.metadata)
            value = number_of(buffer, part, name)
            if value is not None:
                chunk.rows.append((offset, tag, step, time, value))
            elif part.form or name:
                source = (offset, step, time, part.form, name)
                self._keep(chunk, part.tag, source, part.start, part.end)

    def _take_message(self, chunk: _Chunk, offset: int, message: Any) -> None:
        """Takes an unusual event; its parts are not where they seem, so their bytes are kept."""
        what = message.WhichOneof("what")
        step, time = message.step, message.wall_time
        if what == "session_log" and message.session_log.status == message.session_log.START:
            self.restarts.append((offset, step))
        if what in ("graph_def", "meta_graph_def", "tagged_run_metadata"):
            payload = getattr(message, what)
            tag = payload.tag.encode() if what == "tagged_run_metadata" else b""
            data = payload.run_metadata if what == "tagged_run_metadata" else payload
            self._entries.add(self._tags[tag], Entry(offset, step, time, what, "", 0, 0, data))
        for value in message.summary.value:
            tag, form = value.tag.encode(), value.WhichOneof("value") or ""
            name = value.metadata.plugin_data.plugin_name
            if name:
                self._see(self._tags[tag], offset, value.metadata.SerializeToString())
            if form == "simple_value":
                chunk.rows.append((offset, self._tags[tag], step, time, value.simple_value))
            elif form or name:
                data = value.SerializeToString()
                entry = Entry(offset, step, time, form, name, 0, 0, data)
                self._entries.add(self._tags[tag], entry)

    def _keep(
        self,
        chunk: _Chunk,
        tag: bytes,
        source: tuple[int, int, float, str, str],
        start: int,
        end: int,
    ) -> None:
        data = chunk.batch.buffer[start:end] if self.hold else None
        entry = Entry(*source, chunk.batch.base + start, end - start, data)
        self._entries.add(self._tags[tag], entry)

    def _see(self, tag: int, offset: int, metadata: bytes) -> None:
        first = self._metadata.get(tag)
        if first is None or offset < first[0]:
            self._metadata[tag] = (offset, metadata)


def _by_size(sizes: Ints, index: Ints) -> Iterator[Ints]:
    """Splits `index` by the size of the records it names."""
    if not len(index):
        return
    order = np.argsort(sizes[index], kind="stable")
    index = index[order]
    yield from np.split(index, np.flatnonzero(np.diff(sizes[index])) + 1)


class _Chunk:
    """The scalars of one batch while they are collected."""

    def __init__(self, batch: Batch) -> None:
        self.batch = batch
        self.octets: Octets = np.frombuffer(batch.buffer, np.uint8)
        self.pieces: list[ScalarColumns] = []
        self.rows: list[tuple[int, int, int, float, float]] = []
        self._offsets = np.array(batch.starts, np.int64) + (batch.base - 12)

    def offsets(self, index: Ints) -> Ints:
        """Where the records begin in the file."""
        return self._offsets[index]

    def columns(self) -> ScalarColumns:
        """All scalars of the batch, in the order of the file."""
        if self.rows:
            offsets, tags, steps, times, values = zip(*self.rows, strict=True)
            self.pieces.append(
                ScalarColumns(
                    np.array(offsets, np.int64),
                    np.array(tags, np.int32),
                    np.array(steps, np.int64),
                    np.array(times, np.float64),
                    np.array(values, np.float64),
                )
            )
        table = concatenate(self.pieces)
        if len(self.pieces) == 1:
            return table
        # values of one record came in their order, and a stable sort keeps it
        return table.take(np.argsort(table.offsets, kind="stable"))
