"""Reads the outline of a serialized Event by hand, without copying what it carries.

Protobuf parses all of a message, so to learn that an event holds a 2 MB image it copies 2 MB.
The functions here look at keys and lengths only. They know the one shape that writers make (known
fields, each at most once); whatever else is legal on the wire, they answer None to, and the caller
asks protobuf. So they need not know protobuf's rules for repeats, unknown fields and groups.

Wire format: https://protobuf.dev/programming-guides/encoding/
"""

from __future__ import annotations

import struct
from typing import NamedTuple

__all__ = ["EVENT", "SUMMARY_VALUES", "TENSOR", "VALUE", "Outline", "Part", "fields", "outline"]

_DOUBLE = struct.Struct("<d")
_FLOAT = struct.Struct("<f")

# A field's key is its number shifted by three, and the wire type: 0 varint, 1 eight bytes,
# 2 length and bytes, 5 four bytes.
EVENT = {"wall_time": 0x09, "step": 0x10, "summary": 0x2A}
VALUE = {"tag": 0x0A, "simple_value": 0x15, "tensor": 0x42, "metadata": 0x4A}
TENSOR = {"dtype": 0x08, "shape": 0x12, "content": 0x22, "float": 0x2A, "double": 0x32}
SUMMARY_VALUES = 0x0A

# Payloads that are bytes to us. The other members of Event's oneof are rare and small.
_PAYLOADS = {0x2A: "summary", 0x22: "graph_def", 0x4A: "meta_graph_def"}
_FORMS = {0x15: "simple_value", 0x22: "image", 0x2A: "histo", 0x32: "audio", 0x42: "tensor"}
_VALUE_KEYS = frozenset(_FORMS) | {0x0A, 0x4A}

Span = tuple[int, int]


class Part(NamedTuple):
    """One Summary.Value: its bounds, and those of what tells its kind."""

    start: int
    end: int
    tag: bytes
    form: str
    metadata: bytes
    simple: float


class Outline(NamedTuple):
    """One Event: its stamps, which member of its oneof is set, and where that lies."""

    wall_time: float
    step: int
    what: str
    start: int
    end: int
    parts: list[Part]


def fields(data: bytes, start: int, end: int) -> list[tuple[int, int, int]] | None:
    """Key, first and last byte of the content of each field in `data[start:end]`, in order.

    None if that is no message, or one with field numbers above 15.
    """
    found = []
    while start < end:
        key = data[start]
        start += 1
        kind = key & 7
        if kind == 2:
            if start >= end:
                return None
            size = data[start]
            start += 1
            if size >= 0x80:
                after = _varint_end(data, start - 1, end)
                if after is None:
                    return None
                size = varint(data, start - 1, after)
                start = after
        elif kind == 0:
            after = _varint_end(data, start, end)
            if after is None:
                return None
            size = after - start
        elif kind == 1:
            size = 8
        elif kind == 5:
            size = 4
        else:
            return None
        if not 8 <= key < 0x80 or start + size > end:
            return None
        found.append((key, start, start + size))
        start += size
    return found


def _varint_end(data: bytes, start: int, end: int) -> int | None:
    """Where a varint of at most 9 bytes ends; longer ones are negative, or wrong."""
    for position in range(start, min(end, start + 9)):
        if data[position] < 0x80:
            return position + 1
    return None


def varint(data: bytes, start: int, end: int) -> int:
    """The number that the varint `data[start:end]` holds."""
    number = 0
    for position in range(end - 1, start - 1, -1):
        number = number << 7 | data[position] & 0x7F
    return number


def once(found: list[tuple[int, int, int]] | None) -> dict[int, Span] | None:
    """Fields by key, or None if one is there twice."""
    if found is None:
        return None
    spans = {key: (start, end) for key, start, end in found}
    return spans if len(spans) == len(found) else None


def outline(data: bytes, start: int, end: int) -> Outline | None:
    """The outline of the Event in `data[start:end]`, or None if protobuf has to look at it."""
    spans = once(fields(data, start, end))
    if spans is None:
        return None
    wall_time, step = 0.0, 0
    what, where = "", (start, start)
    for key, span in spans.items():
        if key == 0x09:
            wall_time = _DOUBLE.unpack_from(data, span[0])[0]
        elif key == 0x10:
            step = varint(data, *span)
        elif key in _PAYLOADS and not what:
            what, where = _PAYLOADS[key], span
        else:
            return None
    parts = _parts(data, *where) if what == "summary" else []
    return None if parts is None else Outline(wall_time, step, what, *where, parts)


def _parts(data: bytes, start: int, end: int) -> list[Part] | None:
    """The values of the Summary in `data[start:end]`."""
    found = fields(data, start, end)
    if found is None:
        return None
    parts = []
    for key, first, last in found:
        spans = once(fields(data, first, last)) if key == SUMMARY_VALUES else None
        if spans is None or not spans.keys() <= _VALUE_KEYS:
            return None
        forms = [_FORMS[key] for key in spans if key in _FORMS]
        if len(forms) > 1:
            return None
        form = forms[0] if forms else ""
        simple = _FLOAT.unpack_from(data, spans[0x15][0])[0] if form == "simple_value" else 0.0
        parts.append(
            Part(first, last, _at(data, spans, 0x0A), form, _at(data, spans, 0x4A), simple)
        )
    return parts


def _at(data: bytes, spans: dict[int, Span], key: int) -> bytes:
    start, end = spans.get(key, (0, 0))
    return data[start:end]
