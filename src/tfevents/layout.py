"""What serialized scalar events of one size and one shape have in common, and where they differ.

`learn` takes one event apart and answers with its `Layout`; a layout then tells of a matrix of
events, one a row, which of them have the same shape, and decodes those all at once.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tfevents import event, plugin, wire
from tfevents.errors import BadMessageError

__all__ = ["Layout", "Slot", "learn", "number_of", "plugin_name"]

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Octets = npt.NDArray[np.uint8]

# TensorProto field key -> dtype number it belongs to, and how its bytes are read.
_TENSOR_DTYPES = {
    (0x22, 1): "<f4",
    (0x22, 2): "<f8",
    (0x22, 19): "<f2",
    (0x2A, 1): "<f4",
    (0x2D, 1): "<f4",
    (0x32, 2): "<f8",
    (0x31, 2): "<f8",
}


@dataclass(frozen=True, slots=True)
class Slot:
    """Where one scalar of an event stands: its tag, its value, and what that is."""

    tag: tuple[int, int]
    value: int
    dtype: str
    metadata: bytes


@dataclass(frozen=True, slots=True)
class Layout:
    """What the events of one size and one shape have in common."""

    pattern: Octets
    mask: Octets
    wall_time: int | None
    step: tuple[int, int]
    slots: tuple[Slot, ...]

    def fits(self, rows: Octets) -> npt.NDArray[np.bool_]:
        """Which rows differ from the pattern only where they may."""
        differ = rows ^ self.pattern
        differ &= self.mask
        return np.logical_not(differ.any(axis=1))

    def times(self, rows: Octets) -> Floats:
        """The wall times of rows that fit."""
        if self.wall_time is None:
            return np.zeros(len(rows))
        return _column(rows, self.wall_time, "<f8")

    def values(self, rows: Octets, slot: Slot) -> Floats:
        """The numbers in one of the slots of rows that fit."""
        return _column(rows, slot.value, slot.dtype)

    def steps(self, rows: Octets) -> Ints:
        """The steps of rows that fit."""
        result = np.zeros(len(rows), np.int64)
        for place, position in enumerate(range(*self.step)):
            result |= (rows[:, position] & 0x7F).astype(np.int64) << (7 * place)
        return result


def _column(rows: Octets, at: int, dtype: str) -> Floats:
    size = np.dtype(dtype).itemsize
    column: Floats = np.ascontiguousarray(rows[:, at : at + size]).view(dtype)[:, 0]
    return column.astype(np.float64, copy=False)


def learn(data: bytes) -> Layout | None:
    """The layout of a serialized event that holds scalars and nothing else."""
    spans = wire.once(wire.fields(data, 0, len(data)))
    if spans is None or not spans.keys() <= set(wire.EVENT.values()):
        return None
    start, end = spans.get(wire.EVENT["summary"], (0, 0))
    found = wire.fields(data, start, end)
    if not found:
        return None
    slots = [
        _slot(data, first, last) if key == wire.SUMMARY_VALUES else None
        for key, first, last in found
    ]
    known = tuple(slot for slot in slots if slot is not None)
    if len(known) < len(slots) or _is_bad(data):
        return None
    mask = np.full(len(data), 0xFF, np.uint8)
    wall_time = spans.get(wire.EVENT["wall_time"], (None, None))[0]
    if wall_time is not None:
        mask[wall_time : wall_time + 8] = 0
    step = spans.get(wire.EVENT["step"], (0, 0))
    mask[slice(*step)] = 0x80  # how long a step is belongs to the layout, what it is does not
    for slot in known:
        mask[slice(*slot.tag)] = 0
        mask[slot.value : slot.value + np.dtype(slot.dtype).itemsize] = 0
    return Layout(np.frombuffer(data, np.uint8), mask, wall_time, step, known)


def _is_bad(data: bytes) -> bool:
    try:
        event.decode(data)
    except BadMessageError:
        return True
    return False


def _slot(data: bytes, start: int, end: int) -> Slot | None:
    """The scalar of a Summary.Value, if that is all it holds."""
    spans = wire.once(wire.fields(data, start, end))
    if spans is None or not spans.keys() <= set(wire.VALUE.values()):
        return None
    metadata = data[slice(*spans.get(wire.VALUE["metadata"], (0, 0)))]
    simple = spans.get(wire.VALUE["simple_value"])
    tensor = spans.get(wire.VALUE["tensor"])
    tag = spans.get(wire.VALUE["tag"], (0, 0))
    if simple is not None:
        return Slot(tag, simple[0], "<f4", metadata) if tensor is None else None
    if tensor is None or plugin_name(metadata) != plugin.SCALARS:
        return None
    found = _tensor_value(data, *tensor)
    return None if found is None else Slot(tag, *found, metadata)


def number_of(data: bytes, part: wire.Part, name: str) -> float | None:
    """The number of a value that is a plain scalar."""
    if part.form == "simple_value":
        return part.simple
    slot = name == plugin.SCALARS and _slot(data, part.start, part.end)
    return float(np.frombuffer(data, slot.dtype, 1, slot.value)[0]) if slot else None


def _tensor_value(data: bytes, start: int, end: int) -> tuple[int, str] | None:
    """Place and dtype of the one number in a tensor of rank 0."""
    spans = wire.once(wire.fields(data, start, end))
    if spans is None:
        return None
    dtype = wire.varint(data, *spans.pop(wire.TENSOR["dtype"], (0, 0)))
    shape = spans.pop(wire.TENSOR["shape"], (0, 0))
    if shape[0] != shape[1] or len(spans) != 1:
        return None
    ((key, (first, last)),) = spans.items()
    form = _TENSOR_DTYPES.get((key, dtype))
    return (first, form) if form and last - first == np.dtype(form).itemsize else None


def plugin_name(metadata: bytes) -> str | None:
    """The plugin that a serialized SummaryMetadata names, or None if it is none."""
    if not metadata:
        return ""
    from google.protobuf.message import DecodeError

    from tfevents import proto

    try:
        return str(proto.SummaryMetadata.FromString(metadata).plugin_data.plugin_name)
    except DecodeError:
        return None
