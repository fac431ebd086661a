from __future__ import annotations

import struct
from typing import Any

import numpy as np
import pytest

from tfevents import proto, tensor


def message(dtype: int, shape: tuple[int, ...] | None, **fields: Any) -> proto.TensorProto:
    found = proto.TensorProto(dtype=dtype, **fields)
    for size in shape or ():
        found.tensor_shape.dim.add(size=size)
    return found


DTYPES = {
    "float32": 1,
    "float64": 2,
    "int32": 3,
    "uint8": 4,
    "int16": 5,
    "int8": 6,
    "complex64": 8,
    "int64": 9,
    "bool": 10,
    "uint16": 17,
    "complex128": 18,
    "float16": 19,
    "uint32": 22,
    "uint64": 23,
}


def extremes(name: str) -> np.ndarray[Any, np.dtype[Any]]:
    dtype = np.dtype(name)
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        return np.array([[info.min, 0, 1], [2, 3, info.max]], dtype)
    if dtype.kind == "b":
        return np.array([[True, False, True], [False, False, True]])
    if dtype.kind == "c":
        return np.array([[1 + 2j, -0.5j, 0], [3, complex(0, np.inf), 7j]], dtype)
    return np.array([[1.5, -0.0, np.inf], [np.finfo(dtype).max, np.finfo(dtype).tiny, -2]], dtype)


@pytest.mark.parametrize("packed", [True, False])
@pytest.mark.parametrize("name", DTYPES)
def test_every_dtype_comes_back(name: str, packed: bool) -> None:
    array = extremes(name)
    encoded = tensor.to_proto(array, packed=packed)
    assert encoded.dtype == DTYPES[name]
    assert bool(encoded.tensor_content) is packed
    found = tensor.from_proto(encoded)
    assert found.dtype == array.dtype
    assert found.shape == (2, 3)
    assert found.tobytes() == array.tobytes()


@pytest.mark.parametrize("packed", [True, False])
@pytest.mark.parametrize("name", DTYPES)
def test_tensorboard_reads_what_we_write(name: str, packed: bool) -> None:
    util = pytest.importorskip("tensorboard.util.tensor_util")
    tensor_pb2 = pytest.importorskip("tensorboard.compat.proto.tensor_pb2")
    if not packed and name in ("uint32", "uint64"):
        pytest.skip("TensorBoard does not know these fields")
    array = extremes(name)
    theirs = tensor_pb2.TensorProto.FromString(
        tensor.to_proto(array, packed=packed).SerializeToString()
    )
    found = util.make_ndarray(theirs)
    assert found.dtype == array.dtype
    assert found.tobytes() == array.tobytes()


@pytest.mark.parametrize("count", [1, 6])  # TensorBoard writes single elements as fields
@pytest.mark.parametrize("name", [n for n in DTYPES if n not in ("uint32", "uint64")])
def test_we_read_what_tensorboard_writes(name: str, count: int) -> None:
    util = pytest.importorskip("tensorboard.util.tensor_util")
    array = extremes(name).reshape(-1)[:count]
    theirs = util.make_tensor_proto(array)
    found = tensor.from_proto(proto.TensorProto.FromString(theirs.SerializeToString()))
    assert found.dtype == array.dtype
    assert found.tobytes() == array.tobytes()


def test_content_is_little_endian_and_row_major() -> None:
    big = np.asfortranarray(np.array([[1, 2], [3, 4]], ">i2"))
    encoded = tensor.to_proto(big)
    assert encoded.tensor_content == b"\x01\0\x02\0\x03\0\x04\0"
    assert list(tensor.to_proto(big, packed=False).int_val) == [1, 2, 3, 4]
    assert tensor.from_proto(encoded).dtype == np.int16


def test_shape_is_always_written_and_empty_content_omitted() -> None:
    # DT_FLOAT scalar 1.0: an empty tensor_shape message (field 2) is there.
    assert tensor.to_proto(np.float32(1).reshape(())).SerializeToString() == (
        b"\x08\x01\x12\x00\x22\x04\x00\x00\x80\x3f"
    )
    empty = tensor.to_proto(np.zeros((0, 2), np.float32))
    assert empty.SerializeToString() == b"\x08\x01\x12\x06\x12\x00\x12\x02\x08\x02"
    assert tensor.from_proto(empty).shape == (0, 2)


def test_half_val_holds_bit_patterns() -> None:
    encoded = tensor.to_proto(np.array([1, -2], np.float16), packed=False)
    assert list(encoded.half_val) == [0x3C00, 0xC000]


def test_complex_pairs() -> None:
    encoded = tensor.to_proto(np.array([1 + 2j, 3 - 4j]), packed=False)
    assert list(encoded.dcomplex_val) == [1, 2, 3, -4]
    with pytest.raises(ValueError, match="pairs"):
        tensor.from_proto(message(8, (2,), scomplex_val=[1, 2, 3]))


@pytest.mark.parametrize(
    "array",
    [
        np.array([["a", "é"], ["", "c"]]),
        np.array([[b"a", "é".encode()], [b"", b"c"]]),
        np.array([["a", "é".encode()], [b"", "c"]], dtype=object),
    ],
)
def test_strings(array: np.ndarray[Any, np.dtype[Any]]) -> None:
    encoded = tensor.to_proto(array)
    assert encoded.dtype == 7
    assert list(encoded.string_val) == [b"a", b"\xc3\xa9", b"", b"c"]
    found = tensor.from_proto(encoded)
    assert found.dtype == object
    assert found.tolist() == [[b"a", b"\xc3\xa9"], [b"", b"c"]]


# 1.5, 70144, 9.97e37 and 1.0e-20 as bfloat16, and what these bits are exactly
BFLOAT16_BITS = (0x3FC0, 0x4789, 0x7E96, 0x1E3D)
BFLOAT16_VALUES = [1.5, 70144.0, 9.969209968386869e37, 1.0005576689441423e-20]


@pytest.mark.parametrize(
    "fields",
    [{"tensor_content": struct.pack("<4H", *BFLOAT16_BITS)}, {"half_val": list(BFLOAT16_BITS)}],
)
def test_bfloat16_decodes_exactly(fields: dict[str, Any]) -> None:
    found = tensor.from_proto(message(14, (4,), **fields))
    assert found.dtype == np.float32
    assert found.tolist() == BFLOAT16_VALUES


@pytest.mark.parametrize("packed", [True, False])
def test_bfloat16_arrays_are_stored_by_their_bits(packed: bool) -> None:
    ml_dtypes = pytest.importorskip("ml_dtypes")
    array = np.array(BFLOAT16_VALUES, np.float32).astype(ml_dtypes.bfloat16)
    encoded = tensor.to_proto(array, packed=packed)
    assert encoded.dtype == 14
    if packed:
        assert encoded.tensor_content == struct.pack("<4H", *BFLOAT16_BITS)
    else:
        assert list(encoded.half_val) == list(BFLOAT16_BITS)


def test_pytorchs_half_val_is_understood() -> None:
    # add_tensor puts float32 bit patterns there: 1.5, -2 and 0
    bits = [0x3FC00000, 0xC0000000 - (1 << 32), 0]
    for dtype in (14, 19):
        assert tensor.from_proto(message(dtype, (3,), half_val=bits)).tolist() == [1.5, -2, 0]


def test_pytorchs_uint8_is_understood() -> None:
    found = tensor.from_proto(message(4, (2,), uint32_val=[7, 255]))
    assert found.dtype == np.uint8
    assert found.tolist() == [7, 255]


@pytest.mark.parametrize(
    ("number", "dtype", "values"),
    [
        (11, np.int8, [-1, 2]),
        (12, np.uint8, [1, 255]),
        (13, np.int32, [-1, 1 << 30]),
        (15, np.int16, [-300, 2]),
        (16, np.uint16, [1, 65535]),
    ],
)
def test_quantized_types_are_read_as_their_integers(
    number: int, dtype: type[np.integer[Any]], values: list[int]
) -> None:
    for fields in ({"int_val": values}, {"tensor_content": np.array(values, dtype).tobytes()}):
        found = tensor.from_proto(message(number, (2,), **fields))
        assert found.dtype == dtype
        assert found.tolist() == values


# Decoded by TensorFlow 2.21's parse_tensor
@pytest.mark.parametrize(
    ("number", "fields", "expected"),
    [
        (1, {}, [0, 0, 0]),
        (1, {"float_val": [1, 2]}, [1, 2, 2]),
        (7, {}, [b"", b"", b""]),
        (7, {"string_val": [b"a", b"b"]}, [b"a", b"b", b"b"]),
        (7, {"string_val": [b"a"]}, [b"a", b"a", b"a"]),
        (22, {"uint32_val": [1]}, [1, 1, 1]),
        (23, {"uint64_val": [1]}, [1, 1, 1]),
        (4, {"int_val": [1]}, [1, 1, 1]),
        (10, {"bool_val": [True]}, [True, True, True]),
        (8, {"scomplex_val": [1, 2, 3, 4]}, [1 + 2j, 3 + 4j, 3 + 4j]),
    ],
)
def test_the_last_element_repeats(number: int, fields: dict[str, Any], expected: list[Any]) -> None:
    assert tensor.from_proto(message(number, (3,), **fields)).tolist() == expected


def test_no_shape_is_a_scalar() -> None:
    found = tensor.from_proto(message(1, None, float_val=[2.5]))
    assert found.shape == ()
    assert found[()] == 2.5


def test_any_byte_but_zero_is_true() -> None:
    found = tensor.from_proto(message(10, (3,), tensor_content=b"\x00\x02\xff"))
    assert found.tolist() == [False, True, True]
    assert found.view(np.uint8).tolist() == [0, 1, 1]


@pytest.mark.parametrize(
    ("bad", "text"),
    [
        (message(1, (3,), tensor_content=b"\0" * 8), "needs 12 bytes"),
        (message(1, (0,), tensor_content=b"\0" * 4), "needs 0 bytes"),
        (message(1, (3,), float_val=[1, 2, 3, 4]), "too many"),
        (message(1, None, float_val=[1, 2]), "too many"),
        (message(1, (2, -1), float_val=[1]), "negative"),
        (message(4, (1,), int_val=[300]), "range of uint8"),
        (message(0, (1,)), "DataType 0"),
        (message(20, (1,)), "DataType 20"),
        (message(25, (1,)), "DataType 25"),
        (message(1, (1 << 62, 1 << 62), float_val=[1]), "limit"),
        (message(1, (1 << 40,), float_val=[1, 2]), "limit"),
        (message(7, (1 << 24,), string_val=[b"a"]), "limit"),
    ],
)
def test_bad_messages_are_refused(bad: proto.TensorProto, text: str) -> None:
    with pytest.raises(ValueError, match=text):
        tensor.from_proto(bad)


def test_unknown_rank_is_refused() -> None:
    bad = message(1, None, float_val=[1])
    bad.tensor_shape.unknown_rank = True
    with pytest.raises(ValueError, match="rank"):
        tensor.from_proto(bad)


@pytest.mark.parametrize("shape", [(0, 1 << 62, 1 << 62), (1,) * 100])
def test_shapes_numpy_cannot_hold_are_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises(ValueError):
        tensor.from_proto(message(1, shape, float_val=[1] * (0 not in shape)))


def test_a_moderately_large_repeat_is_read() -> None:
    found = tensor.from_proto(message(1, (1024, 1024), float_val=[1, 2]))
    assert found.shape == (1024, 1024)
    assert found[0, 0] == 1
    assert float(found.sum()) == 2 * 1024 * 1024 - 1


@pytest.mark.parametrize(
    "bad",
    [
        np.zeros(1, np.longdouble),
        np.zeros(1, "M8[s]"),
        np.zeros(1, [("x", "i4")]),
        np.array([None]),
        np.array([1, "a"], dtype=object),
    ],
)
def test_arrays_without_a_place_are_refused(bad: np.ndarray[Any, np.dtype[Any]]) -> None:
    if bad.dtype == np.float64:
        pytest.skip("longdouble is float64 here")
    with pytest.raises(TypeError):
        tensor.to_proto(bad)


def test_names_of_dtypes() -> None:
    names = [tensor.dtype_name(np.dtype(x)) for x in ("i4", ">f8", "?", "U3", "S2", "O")]
    assert names == ["int32", "float64", "bool", "string", "string", "string"]
