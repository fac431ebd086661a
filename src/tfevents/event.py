"""Event messages: built, encoded and decoded.

Most events of a run are one scalar each, so their wire format is written by hand here, in the
field order that protobuf itself uses; every other event goes through protobuf for its values and
gets only its envelope here. Laws in `tests/property` hold both equal to protobuf's own bytes.

    Event    wall_time = 1 (double), step = 2 (int64), what = one of the fields 3 to 9,
             source_metadata = 10
    Summary  value = 1 (repeated)
    Value    tag = 1, simple_value = 2 (float), tensor = 8, metadata = 9
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from tfevents import plugin
from tfevents.errors import BadMessageError

if TYPE_CHECKING:
    from tfevents import proto
    from tfevents._types import Encode, ToValue

__all__ = [
    "FILE_VERSION",
    "decode",
    "encode_message",
    "encode_values",
    "encode_version",
    "encoder",
    "simple_scalar_encoder",
    "tensor_scalar_encoder",
]

#: What the first event of every file says. Readers pick their rules for restarts by it.
FILE_VERSION = "brain.Event:2"

_WHAT = {
    "file_version": 3,
    "graph_def": 4,
    "summary": 5,
    "log_message": 6,
    "session_log": 7,
    "tagged_run_metadata": 8,
    "meta_graph_def": 9,
}
_SOURCE_METADATA = 10

_pack_double = struct.Struct("<d").pack
_pack_float = struct.Struct("<f").pack
_DT_FLOAT, _DT_DOUBLE = 1, 2
_NO_STEP = b""


def _varint(number: int) -> bytes:
    """Base-128 form of an unsigned number."""
    octets = bytearray()
    while number > 0x7F:
        octets.append(number & 0x7F | 0x80)
        number >>= 7
    octets.append(number)
    return bytes(octets)


def _field(number: int, data: bytes) -> bytes:
    """A length-delimited field: string, bytes or message."""
    return _varint(number << 3 | 2) + _varint(len(data)) + data


@lru_cache(maxsize=1024)
def _step(step: int) -> bytes:
    """The step field; like all proto3 scalars it is left out at its default, 0."""
    return b"\x10" + _varint(step & 0xFFFFFFFFFFFFFFFF) if step else _NO_STEP


def _envelope(wall_time: float, step: int) -> bytes:
    time_bytes = _pack_double(wall_time)
    return (b"\t" + time_bytes if any(time_bytes) else b"") + _step(step)


def encode_version(wall_time: float, writer: str) -> bytes:
    """The first event of a file, with the name of the program that writes it."""
    what = _field(_WHAT["file_version"], FILE_VERSION.encode())
    source = _field(_SOURCE_METADATA, _field(1, writer.encode()) if writer else b"")
    return _envelope(wall_time, 0) + what + source


def encoder(what: str) -> Encode:
    """An encoder of events whose payload is the serialized field `what`, e.g. "graph_def"."""
    number = _WHAT[what]

    def encode(wall_time: float, step: int, payload: bytes) -> bytes:
        return _envelope(wall_time, step) + _field(number, payload)

    return encode


_encode_summary = encoder("summary")


def encode_values(wall_time: float, step: int, values: Sequence[tuple[str, ToValue]]) -> bytes:
    """A summary event of values that are made only now, each from its tag."""
    parts = [_field(1, to_value(tag).SerializeToString()) for tag, to_value in values]
    return _encode_summary(wall_time, step, b"".join(parts))


def encode_message(wall_time: float, step: int, payload: bytes) -> bytes:
    """An event that came as a whole message, with a time and step of its own."""
    return payload


def simple_scalar_encoder(tag: str) -> Encode:
    """An encoder of scalars in the field form, `simple_value`, for one tag.

    The payload must be a float that fits float32, an infinity or a NaN.
    """
    event = _field(5, _field(1, _tag_field(tag) + b"\x15" + bytes(4)))
    return _scalar_encoder(event[:-4], b"", _pack_float)


def tensor_scalar_encoder(
    tag: str, *, description: str = "", display_name: str = "", double: bool = False
) -> Encode:
    """An encoder of scalars in the tensor form, DT_FLOAT or DT_DOUBLE of rank 0, for one tag."""
    pack, dtype = (_pack_double, _DT_DOUBLE) if double else (_pack_float, _DT_FLOAT)
    size = 8 if double else 4
    tensor = bytes((0x08, dtype, 0x12, 0, 0x22, size)) + bytes(size)  # dtype, shape {}, content
    metadata = plugin.metadata(
        plugin.SCALARS, display_name=display_name, description=description,
        # as values.scalar has it: readers which know only float scalars need to be told
        data_class=plugin.DATA_CLASS_SCALAR if double else plugin.DATA_CLASS_UNKNOWN,
    )
    tail = _field(9, metadata.SerializeToString())
    event = _field(5, _field(1, _tag_field(tag) + _field(8, tensor) + tail))
    return _scalar_encoder(event[: -size - len(tail)], tail, pack)


def _tag_field(tag: str) -> bytes:
    return _field(1, tag.encode()) if tag else b""


def _scalar_encoder(head: bytes, tail: bytes, pack: Callable[[float], bytes]) -> Encode:
    """The events of one tag differ in time, step and value only; the rest is copied."""
    join, pack_time, step_field = b"".join, _pack_double, _step

    def encode(wall_time: float, step: int, value: float) -> bytes:
        if not wall_time:
            return join((_envelope(wall_time, step), head, pack(value), tail))
        return join((b"\t", pack_time(wall_time), step_field(step), head, pack(value), tail))

    return encode


def decode(data: bytes, offset: int = 0) -> proto.Event:
    """The event in the data of a record.

    Raises:
        BadMessageError: the data are no Event; `offset` is where its record stands.
    """
    from google.protobuf.message import DecodeError

    from tfevents import proto

    try:
        return proto.Event.FromString(data)
    except DecodeError as error:
        raise BadMessageError(f"the data are no Event message: {error}", offset) from error
