"""NumPy arrays as TensorProto messages, and back.

One table says for each TensorFlow DataType how NumPy stores it and which repeated field can hold
it. A TensorProto carries its elements either as raw little-endian bytes (`tensor_content`) or one
by one in that field; in the field form, missing elements repeat the last one given, and no element
at all means zeros.

The format is TensorFlow's tensorflow/core/framework/{tensor,types}.proto. Types which TensorBoard
cannot decode (float8, int4 and narrower, resources, variants, references) are refused in both
directions.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from tfevents import proto

__all__ = ["MAX_EXPANSION", "dtype_name", "from_proto", "to_proto", "widen_bfloat16"]

Array: TypeAlias = "np.ndarray[Any, np.dtype[Any]]"

# Elements that a message only implies may take this many times its size (or 64 MiB, if that is
# more), so that a forged shape cannot exhaust the memory.
MAX_EXPANSION = 64
_ALWAYS_ALLOWED = 64 << 20


@dataclass(frozen=True, slots=True)
class _Row:
    number: int  # of the enum tensorflow.DataType
    name: str
    content: str  # NumPy type of one element in tensor_content; "" for strings
    field: str
    wire: str  # NumPy type of one entry of the field


# A NumPy type is written as the first row that has its content type; later ones are only read.
_ROWS = (
    _Row(1, "float32", "<f4", "float_val", "<f4"),
    _Row(2, "float64", "<f8", "double_val", "<f8"),
    _Row(3, "int32", "<i4", "int_val", "<i4"),
    _Row(4, "uint8", "|u1", "int_val", "<i4"),
    _Row(5, "int16", "<i2", "int_val", "<i4"),
    _Row(6, "int8", "|i1", "int_val", "<i4"),
    _Row(7, "string", "", "string_val", ""),
    _Row(8, "complex64", "<c8", "scomplex_val", "<f4"),
    _Row(9, "int64", "<i8", "int64_val", "<i8"),
    _Row(10, "bool", "|b1", "bool_val", "|b1"),
    _Row(17, "uint16", "<u2", "int_val", "<i4"),
    _Row(18, "complex128", "<c16", "dcomplex_val", "<f8"),
    _Row(19, "float16", "<f2", "half_val", "<i4"),
    _Row(22, "uint32", "<u4", "uint32_val", "<u4"),
    _Row(23, "uint64", "<u8", "uint64_val", "<u8"),
    _Row(14, "bfloat16", "<u2", "half_val", "<i4"),
    _Row(11, "qint8", "|i1", "int_val", "<i4"),
    _Row(12, "quint8", "|u1", "int_val", "<i4"),
    _Row(13, "qint32", "<i4", "int_val", "<i4"),
    _Row(15, "qint16", "<i2", "int_val", "<i4"),
    _Row(16, "quint16", "<u2", "int_val", "<i4"),
)
_BY_NUMBER = {row.number: row for row in _ROWS}
_BY_NAME = {row.name: row for row in _ROWS}
_STRING = _BY_NAME["string"]
_HALF_NAMES = ("float16", "bfloat16")


def dtype_name(dtype: np.dtype[Any]) -> str:
    """TensorFlow's name of a NumPy dtype; "string" for bytes, text and objects.

    Raises:
        TypeError: TensorFlow has no such type, or TensorBoard cannot read it.
    """
    return _row_of(dtype).name


def _row_of(dtype: np.dtype[Any]) -> _Row:
    if dtype.kind in "SUO":
        return _STRING
    row = _BY_NAME.get(dtype.name)
    if row is None or dtype.fields is not None:
        raise TypeError(
            f"arrays of dtype {dtype} cannot be stored; allowed are bool, integers, float16, "
            f"bfloat16, float32, float64, complex64, complex128 and strings"
        )
    return row


def widen_bfloat16(bits: Array) -> Array:
    """Exact float32 values of bfloat16 numbers given as they are or as uint16 bit patterns."""
    wide: Array = bits.view(np.uint16).astype(np.uint32) << np.uint32(16)
    return wide.view(np.float32)


# Array -> message


def to_proto(array: Array, *, packed: bool = True) -> proto.TensorProto:
    """Encodes an array of any rank; its shape is always written.

    Args:
        array: bool, integers, floats, complex, str, bytes, or objects that are str or bytes. Arrays
            of the dtype named bfloat16 (from ml_dtypes) are stored by their bits. Byte order does
            not matter.
        packed: True puts numbers into `tensor_content`, as TensorFlow's summaries do; False into
            the repeated field of their type. Strings are in `string_val` either way.

    Raises:
        TypeError: the dtype has no place in a TensorProto.
        UnicodeEncodeError: a str has a lone surrogate.
    """
    from tfevents import proto

    row = _row_of(array.dtype)
    message = proto.TensorProto(dtype=row.number)
    message.tensor_shape.SetInParent()
    for size in array.shape:
        message.tensor_shape.dim.add(size=size)
    if row is _STRING:
        message.string_val.extend(_as_bytes(item) for item in array.reshape(-1).tolist())
    elif packed:
        message.tensor_content = _little_endian(array, row).tobytes()
    else:
        entries = _little_endian(array, row).reshape(-1)
        if row.name == "float16":
            entries = entries.view("<u2")
        elif entries.dtype.kind == "c":
            entries = entries.view(row.wire)
        getattr(message, row.field).extend(entries.tolist())
    return message


def _little_endian(array: Array, row: _Row) -> Array:
    if row.name == "bfloat16":
        array = array.view(np.uint16)
    return array.astype(row.content, copy=False)


def _as_bytes(item: object) -> bytes:
    if isinstance(item, str):
        return item.encode("utf-8")
    if isinstance(item, bytes):
        return item
    raise TypeError(f"an array of strings holds {item!r} of type {type(item).__name__}")


# Message -> array


def from_proto(message: proto.TensorProto) -> Array:
    """Decodes a TensorProto in either form, with the shape it states; no shape means a scalar.

    Returns:
        An array that may be read-only or, where one element stands for all, a view of that element.
        Strings come as an object array of bytes, bfloat16 as exact float32, quantized types as
        their integers.

    Raises:
        ValueError: the type is not supported, the shape is unknown or negative, the elements do not
            fit the shape, or the shape implies far more elements than the message holds
            (`MAX_EXPANSION`).
    """
    row = _BY_NUMBER.get(message.dtype)
    if row is None:
        raise ValueError(f"tensor has DataType {message.dtype}, which cannot be decoded")
    shape = _shape_of(message)
    count = math.prod(shape)
    if row is _STRING:
        return _filled(_strings(message), count, shape, message)
    dtype = np.dtype(row.content)
    if message.tensor_content:
        if len(message.tensor_content) != count * dtype.itemsize:
            raise ValueError(
                f"tensor of type {row.name} and shape {shape} needs "
                f"{count * dtype.itemsize} bytes of content, but has {len(message.tensor_content)}"
            )
        elements = np.frombuffer(message.tensor_content, dtype)
        if dtype.kind == "b":  # any byte but 0 is true; NumPy needs exactly 0 or 1
            elements = elements.view(np.uint8) != 0
    else:
        elements = _entries(message, row, dtype)
    if row.name == "bfloat16" and elements.dtype.kind == "u":
        elements = widen_bfloat16(elements)
    return _filled(
        elements.astype(elements.dtype.newbyteorder("="), copy=False), count, shape, message
    )


def _shape_of(message: proto.TensorProto) -> tuple[int, ...]:
    if message.tensor_shape.unknown_rank:
        raise ValueError("tensor has an unknown rank")
    shape = tuple(dim.size for dim in message.tensor_shape.dim)
    if min(shape, default=0) < 0:
        raise ValueError(f"tensor has a negative dimension in its shape {shape}")
    return shape


def _strings(message: proto.TensorProto) -> Array:
    result = np.empty(len(message.string_val), dtype=object)
    result[:] = list(message.string_val)
    return result


def _entries(message: proto.TensorProto, row: _Row, dtype: np.dtype[Any]) -> Array:
    """The elements that stand in the typed field, in their own dtype."""
    field = getattr(message, row.field)
    if not field and dtype == np.uint8:  # PyTorch keeps uint8 here
        field = message.uint32_val
    wire = np.fromiter(field, np.int64 if row.field == "int_val" else row.wire, len(field))
    if dtype.kind == "c":
        if len(wire) % 2:
            raise ValueError(
                f"{row.field} holds {len(wire)} numbers, which is not a number of pairs"
            )
        return wire.view(dtype)
    if row.name in _HALF_NAMES:
        return _halves(wire, dtype)
    if dtype == wire.dtype:
        return wire
    elements = wire.astype(dtype)
    if not np.array_equal(elements, wire):
        raise ValueError(f"{row.field} holds numbers outside the range of {row.name}")
    return elements


def _halves(wire: Array, dtype: np.dtype[Any]) -> Array:
    """16-bit patterns, as the format says, or PyTorch's: float32 patterns of the same numbers.

    The two cannot be mistaken: the float32 pattern of a 16-bit float other than 0 exceeds 16 bits.
    """
    if len(wire) and (wire.min() < 0 or wire.max() > 0xFFFF):
        return wire.view("<f4").astype("<f4" if dtype.kind == "u" else dtype)
    return wire.astype("<u2").view(dtype)


def _filled(given: Array, count: int, shape: tuple[int, ...], message: proto.TensorProto) -> Array:
    """`given` in `shape`; where elements are missing the last one stands for them."""
    if len(given) > count:
        raise ValueError(f"tensor of shape {shape} has {len(given)} elements, which is too many")
    if len(given) == count:
        return given.reshape(shape)
    size = count * given.dtype.itemsize
    limit = max(_ALWAYS_ALLOWED, MAX_EXPANSION * message.ByteSize())
    if size > limit:
        raise ValueError(
            f"tensor of shape {shape} would take {size} bytes, but its message holds only "
            f"{len(given)} elements; the limit is {limit} bytes"
        )
    if len(given) <= 1:
        zero = np.array(b"" if given.dtype.kind == "O" else 0, given.dtype)
        return np.broadcast_to(given.reshape(()) if len(given) else zero, shape)
    result = np.empty(count, given.dtype)
    result[: len(given)] = given
    result[len(given) :] = given[-1]
    return result.reshape(shape)
