"""What the driver tells beside calls and GPU work: NVTX ranges, waits, overheads; pure.

They may overlap the calls of their thread without nesting in them, so each gets a line of its own
beside the line of its thread.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import TypeVar

import numpy as np

from tfevents.profiler.cupti.trace import OVERHEADS, SYNCS, GpuTrace
from tfevents.profiler.spans import Rows, Thread, numbers, places

__all__ = ["EXTRA", "extras"]

Key = TypeVar("Key", bound=Hashable)

EXTRA = np.dtype([("start", "i8"), ("end", "i8"), ("name", "i4"), ("line", "i4")])
"""name is a name of the timeline, line an index into its `extra_lines`."""

_FOUND = np.dtype([("start", "i8"), ("end", "i8"), ("name", "i4"), ("thread", "u4")])
_MARK, _START, _END = 1, 2, 4
"""Flags of a marker."""
_EVERY_STREAM = 0xFFFFFFFF


def extras(
    gpu: GpuTrace, names: list[str], threads: tuple[Thread, ...], stop: int
) -> tuple[Rows, tuple[str, ...]]:
    """Rows of dtype EXTRA, and the names of their lines.

    Args:
        gpu: what the GPU session saw.
        names: the string table of the timeline; new ones are appended.
        threads: those of the timeline.
        stop: when a range ends that nobody ended.
    """
    parts: list[Rows] = []
    lines: list[str] = []
    for title, found in (
        ("NVTX", _ranges(gpu, names, stop)),
        ("synchronization", _waits(gpu, names)),
        ("overhead", _overheads(gpu, names)),
    ):
        timed = found[(found["start"] > 0) & (found["end"] >= found["start"])]
        owners, line = np.unique(places(threads, timed["thread"]), return_inverse=True)
        part = np.zeros(len(timed), EXTRA)
        for column in ("start", "end", "name"):
            part[column] = timed[column]
        part["line"] = line + len(lines)
        lines += [f"{title}: {threads[owner].name}" if owner >= 0 else title for owner in owners]
        parts.append(part)
    rows = np.concatenate(parts)
    return rows[np.lexsort((-rows["end"], rows["start"]))], tuple(lines)


def _ranges(gpu: GpuTrace, names: list[str], stop: int) -> Rows:
    """Marks, which take no time, and ranges: the end of one comes as a record of its own."""
    markers = gpu.markers
    begun = markers[(markers["flags"] & (_MARK | _START)) > 0]
    ended = markers[(markers["flags"] & _END) > 0]
    ends = dict(numbers(ended, ("id", "time")))
    rows = np.zeros(len(begun), _FOUND)
    rows["start"], rows["thread"] = begun["time"], _threads(begun)
    rows["name"] = _names_in_domains(begun, gpu.names, names)
    open_ends = [ends.get(number, stop) for number in begun["id"].tolist()]
    rows["end"] = np.where((begun["flags"] & _MARK) > 0, begun["time"], open_ends)
    return rows


def _names_in_domains(markers: Rows, own: tuple[str, ...], names: list[str]) -> list[int]:
    """Names of markers; those of a domain begin with its name."""
    keys = list(numbers(markers, ("domain", "name")))
    texts = {key: f"{own[key[0]]}: {own[key[1]]}".removeprefix(": ") for key in keys}
    return _added(texts, keys, names)


def _waits(gpu: GpuTrace, names: list[str]) -> Rows:
    """Synchronizations, in the thread of the call with their correlation."""
    rows = np.zeros(len(gpu.syncs), _FOUND)
    waiting = gpu.api[np.isin(gpu.api["correlation"], gpu.syncs["correlation"])]
    callers: dict[int, int] = dict(numbers(waiting, ("correlation", "thread")))
    callers.pop(0, None)  # is no correlation
    rows["start"], rows["end"] = gpu.syncs["start"], gpu.syncs["end"]
    rows["thread"] = [callers.get(number, 0) for number in gpu.syncs["correlation"].tolist()]
    keys = list(numbers(gpu.syncs, ("sync_kind", "stream")))
    texts = {
        (kind, stream): SYNCS.get(kind, "synchronize")
        + ("" if stream == _EVERY_STREAM else f" (stream {stream})")
        for kind, stream in keys
    }
    rows["name"] = _added(texts, keys, names)
    return rows


def _overheads(gpu: GpuTrace, names: list[str]) -> Rows:
    rows = np.zeros(len(gpu.overheads), _FOUND)
    for column in ("start", "end"):
        rows[column] = gpu.overheads[column]
    rows["thread"] = _threads(gpu.overheads)
    kinds = gpu.overheads["overhead_kind"].tolist()
    rows["name"] = _added({kind: OVERHEADS.get(kind, "overhead") for kind in kinds}, kinds, names)
    return rows


def _added(texts: dict[Key, str], keys: list[Key], names: list[str]) -> list[int]:
    """Adds the texts to the table; the place there of the text of each key."""
    place = {key: len(names) + index for index, key in enumerate(texts)}
    names += texts.values()
    return [place[key] for key in keys]


def _threads(owned: Rows) -> Rows:
    """Idents of the threads that own something; 0 where it is no thread."""
    return np.where(owned["object_kind"] == 2, owned["thread"], 0)
