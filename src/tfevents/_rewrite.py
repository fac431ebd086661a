"""Makes new event files of old ones: a clean copy of a damaged one, or one of several.

    good_records    the records of a file that are sound, with their events
    repair          a copy without what cannot be read; what is good keeps its bytes
    merge           the events of several files of one run, in order, filtered by tag and step

The old files are never touched. A new file gets its name when it is complete and on disk, and no
file that exists is replaced, so that whoever looks sees all of it or nothing.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tfevents import event, record, store
from tfevents._whole_file import whole_file
from tfevents.errors import BadLengthError, RecordError
from tfevents.reader import Notice, Tail
from tfevents.record import OVERHEAD, Record

if TYPE_CHECKING:
    from tfevents import proto
    from tfevents._types import PathLike, Source

__all__ = ["Merged", "Repaired", "good_records", "merge", "repair"]

_BATCH = 1 << 20  # bytes gathered for one write


@dataclass(frozen=True, slots=True)
class Repaired:
    """What `repair` did.

    Attributes:
        source, target: the two files; `target` is "" if there was nothing good to write.
        events: events in the new file that came from the old one.
        size: bytes of the old file (of its content, if it is compressed).
        dropped_bytes: how many of them are not in the new one.
        header_added: the old version header was among what was lost, so a new one was written.
        notices: what is wrong with the old file, in its order.
    """

    source: str
    target: str
    events: int
    size: int
    dropped_bytes: int
    header_added: bool
    notices: tuple[Notice, ...]


@dataclass(slots=True)
class Merged:
    """What `merge` did.

    Attributes:
        sources, target: the files; `target` is "" if nothing can be read of the sources.
        events: events in the new file, the version header not counted.
        duplicates, deleted, renamed: values left out for their step or their tag, and values with
            a new tag.
        notices: what could not be read.
    """

    sources: list[str]
    target: str = ""
    events: int = 0
    duplicates: int = 0
    deleted: int = 0
    renamed: int = 0
    notices: list[Notice] = field(default_factory=list)


def good_records(tail: Tail) -> Iterator[tuple[Record, proto.Event]]:
    """The sound records of a file; `tail.notices` then tells of all others."""
    for batch in tail.batches():
        for item in batch.items():
            if isinstance(item, BadLengthError):
                tail.stop(item)
            elif isinstance(item, RecordError):
                tail.error(item)
            else:
                try:
                    message = event.decode(item.data, item.offset)
                except RecordError as error:
                    tail.error(error)
                    continue
                yield item, message
    tail.finish()


def repair(source: PathLike, target: PathLike, *, resync: bool = True) -> Repaired:
    """Writes what is good of an event file to a new file, byte for byte.

    Args:
        source: the file, or the URL of one; one compressed with gzip becomes a plain one.
        target: local path of the new file; its directories are made.
        resync: behind a length that is wrong, go on at the next valid header; else all that
            follows is dropped.

    Raises:
        FileExistsError: `target` is there already.
        OSError: a file cannot be read or written.
    """
    place, path = store.open_store(source)
    tail = Tail(place, path, strict=False, resync=resync)
    kept = events = 0
    header_added = False

    def payloads() -> Iterator[bytes]:
        nonlocal kept, events, header_added
        for item, message in good_records(tail):
            if not events and message.WhichOneof("what") != "file_version":
                header_added = True
                yield event.encode_version(message.wall_time, __name__)
            events += 1
            kept += len(item.data) + OVERHEAD
            yield item.data

    written = _write_new(os.fsdecode(target), payloads())
    size = max(tail.offset, kept) if tail.compressed else _size(place.open(path))
    return Repaired(
        path, written, events, size, size - kept, header_added, tuple(tail.notices)
    )


def merge(
    sources: Sequence[PathLike],
    target: PathLike,
    *,
    keep: str = "all",
    rename: Callable[[str], str] = str,
    delete: Callable[[str], bool] = lambda tag: False,
) -> Merged:
    """Writes the events of several files of one run to one new file.

    Events come in the order of the files, then of their offsets. One version header is written.
    An event of which nothing changes keeps its bytes. If the value that carried the metadata of a
    tag is left out, the first value that stays gets them.

    Args:
        sources: files, or URLs of files, oldest first.
        target: local path of the new file; its directories are made.
        keep: "all" values, or the "first" or "last" of those with one tag and step.
        rename: old tag -> new tag.
        delete: whether values with this (old) tag are left out.

    Raises:
        FileExistsError: `target` is there already.
        OSError: a file cannot be read or written.
        ValueError: another `keep`.
    """
    if keep not in ("all", "first", "last"):
        raise ValueError(f"keep must be 'all', 'first' or 'last', not {keep!r}")
    names = [os.fsdecode(path) for path in sources]
    job = _Merge(Merged(names), keep, rename, delete)
    job.result.target = _write_new(os.fsdecode(target), job.payloads())
    return job.result


# Which value it is: number of the file, offset of the record, number of the value in its event.
_Place = tuple[int, int, int]


class _Merge:
    """Two passes: which value of each tag and step stays, and then the copy."""

    def __init__(
        self, result: Merged, keep: str, rename: Callable[[str], str], delete: Callable[[str], bool]
    ) -> None:
        self.result = result
        self._keep = keep
        self._rename = rename
        self._delete = delete
        self._new_tags: dict[str, str | None] = {}
        self._chosen: dict[tuple[str, int], _Place] = {}
        self._metadata: dict[str, proto.SummaryMetadata] = {}
        self._begun: set[str] = set()

    def payloads(self) -> Iterator[bytes]:
        """The events of the new file, serialized."""
        if self._keep != "all":
            self._choose()
        version_written = False
        for number, item, message in self._events(self.result.notices):
            is_version = message.WhichOneof("what") == "file_version"
            if not version_written:
                version_written = True
                yield (
                    item.data if is_version else event.encode_version(message.wall_time, __name__)
                )
            if is_version:
                continue
            data = self._edited(number, item, message)
            if data:
                self.result.events += 1
                yield data

    def _events(self, notices: list[Notice]) -> Iterator[tuple[int, Record, proto.Event]]:
        for number, source in enumerate(self.result.sources):
            tail = Tail(*store.open_store(source), strict=False, resync=True)
            for item, message in good_records(tail):
                yield number, item, message
            notices += tail.notices

    def _choose(self) -> None:
        for number, item, message in self._events([]):
            for index, value in enumerate(message.summary.value):
                tag = self._new_tag(value.tag)
                if tag is None:
                    continue
                if self._keep == "last":
                    self._chosen[tag, message.step] = (number, item.offset, index)
                else:
                    self._chosen.setdefault((tag, message.step), (number, item.offset, index))

    def _new_tag(self, tag: str) -> str | None:
        """The tag in the new file, or None if its values are left out."""
        if tag not in self._new_tags:
            self._new_tags[tag] = None if self._delete(tag) else self._rename(tag)
        return self._new_tags[tag]

    def _edited(self, number: int, item: Record, message: proto.Event) -> bytes:
        """An event with the values that stay; nothing if none does."""
        if message.WhichOneof("what") != "summary":
            return item.data
        values = message.summary.value
        changed = False
        gone = []
        for index, value in enumerate(values):
            tag = self._new_tag(value.tag)
            if tag is None:
                self.result.deleted += 1
                gone.append(index)
                continue
            place = number, item.offset, index
            if value.metadata.plugin_data.plugin_name and tag not in self._metadata:
                self._metadata[tag] = type(value.metadata)()  # a copy: its value may be dropped
                self._metadata[tag].CopyFrom(value.metadata)
            if self._chosen.get((tag, message.step), place) != place:
                self.result.duplicates += 1
                gone.append(index)
                continue
            if tag != value.tag:
                self.result.renamed += 1
                value.tag = tag
                changed = True
            changed |= self._complete(tag, value)
        if not changed and not gone:
            return item.data
        for index in reversed(gone):
            del values[index]
        return message.SerializeToString() if values else b""

    def _complete(self, tag: str, value: proto.Summary.Value) -> bool:
        """Gives the first value of a tag the metadata of one that was left out."""
        if tag in self._begun:
            return False
        self._begun.add(tag)
        if value.metadata.plugin_data.plugin_name or tag not in self._metadata:
            return False
        value.metadata.CopyFrom(self._metadata[tag])
        return True


def _size(source: Source) -> int:
    try:
        return source.size()
    finally:
        source.close()


def _write_new(target: str, payloads: Iterable[bytes]) -> str:
    """Writes framed records to a new file.

    Returns the path, or "" if there was nothing to write and so no file was made.
    """
    rest = iter(payloads)
    first = next(rest, None)
    if first is None:
        return ""
    with whole_file(target) as sink:
        for batch in _batches(itertools.chain([first], rest)):
            sink.write(record.encode_all(batch))
    return target


def _batches(payloads: Iterable[bytes]) -> Iterator[list[bytes]]:
    batch: list[bytes] = []
    size = 0
    for data in payloads:
        batch.append(data)
        size += len(data)
        if size >= _BATCH:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch
