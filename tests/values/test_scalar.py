from __future__ import annotations

import json
import math
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tfevents import proto
from tfevents.values.scalar import Scalar

GOLDEN = [
    json.loads(line)
    for line in (Path(__file__).parents[1] / "golden" / "golden.jsonl").read_text().splitlines()
]
CASES = [
    pytest.param(case["args"]["data"], case["result"], id=case["id"])
    for case in GOLDEN
    if case["call"] == "scalar" and case["id"].startswith("scalar/") and not case.get("ctx")
]


def python_value(data: Any) -> Any:
    if isinstance(data, list):
        return [python_value(x) for x in data]
    if not isinstance(data, dict):
        return data
    ((kind, inner),) = data.items()
    if kind == "float":
        return float(inner)
    if kind == "complex":
        return complex(*inner)
    if kind == "np":
        return np.dtype(inner["dtype"]).type(inner["data"])
    if kind == "variable":
        return np.dtype(inner["dtype"]).type(inner["data"][0])
    items = [complex(*x) for x in inner["data"]] if "complex" in inner["dtype"] else inner["data"]
    dtype = None if inner["dtype"].startswith("str") else inner["dtype"]
    return np.array(items, dtype).reshape(inner["shape"])


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize(("data", "result"), CASES)
def test_as_tensorflow(data: Any, result: Any) -> None:
    if "exception" in result:
        with pytest.raises(ValueError, match="tag 'a'") as caught:
            Scalar.from_tensor(python_value(data), tag="a")
        if "Expected scalar" in result["exception"]["message"]:
            assert result["exception"]["message"] in str(caught.value)
        if "Cast string" in result["exception"]["message"]:
            assert "Cast string to float is not supported" in str(caught.value)
        return
    expected = result["events"][0]["values"][0]["tensor"]["values"][0]
    value = Scalar.from_tensor(python_value(data), tag="a").to_tensor_value("a")
    (found,) = np.frombuffer(value.tensor.tensor_content, "<f4")
    np.testing.assert_equal(float(found), float(expected))


def test_tensor_form() -> None:
    value = Scalar.from_data(0.5).to_tensor_value("a", display_name="D", description="de")
    assert value.tag == "a"
    assert value.metadata.SerializeToString() == (
        b"\x0a\x09\x0a\x07scalars" + b"\x12\x01D" + b"\x1a\x02de"
    )
    # DT_FLOAT, tensor_shape present and empty, four bytes of content
    assert value.tensor.SerializeToString() == b"\x08\x01\x12\x00\x22\x04\x00\x00\x00\x3f"


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (0.1, 0.10000000149011612),
        (16777217, 16777216.0),
        (123456789, 123456792.0),
        ([5.0], 5.0),
        (np.bool_(True), 1.0),
        (-math.inf, -math.inf),
        (3.4028235e38, 3.4028234663852886e38),
    ],
)
def test_both_forms_hold_the_float32(data: object, expected: float) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        scalar = Scalar.from_data(data)
        assert scalar.to_field_value("a").simple_value == expected
        assert Scalar.from_value(scalar.to_field_value("a")) == Scalar(expected)
        assert Scalar.from_value(scalar.to_tensor_value("a")) == Scalar(expected)


def test_nan_stays() -> None:
    scalar = Scalar.from_data(math.nan)
    assert math.isnan(scalar.to_field_value("a").simple_value)
    assert math.isnan(Scalar.from_value(scalar.to_tensor_value("a")).value)


@pytest.mark.parametrize(("data", "expected"), [(1e300, math.inf), (-1e300, -math.inf)])
def test_overflow_is_told(data: float, expected: float) -> None:
    with pytest.warns(UserWarning, match=r"tag 'a'.*1e\+300") as caught:
        scalar = Scalar.from_data(data, tag="a")
    assert caught[0].filename == __file__
    assert scalar.to_field_value("a").simple_value == expected
    assert scalar.to_tensor_value("a").tensor.tensor_content == np.float32(expected).tobytes()


def test_overflow_of_numpy_in_the_tensorflow_form_is_told() -> None:
    with pytest.warns(UserWarning, match="float32"):
        assert Scalar.from_tensor(np.float64(1e300)).value == math.inf


def test_dropped_imaginary_part_is_told() -> None:
    with pytest.warns(UserWarning, match="tag 'a'.*imaginary"):
        assert Scalar.from_tensor(1 + 2j, tag="a").value == 1
    with pytest.raises(TypeError, match=r"tag 'a'.*complex"):
        Scalar.from_data(1 + 2j, tag="a")


def test_double() -> None:
    for data in (0.1, 1e300):
        scalar = Scalar.from_data(data, double=True)
        value = scalar.to_tensor_value("a")
        assert value.tensor.dtype == 2
        assert value.tensor.tensor_content == np.float64(data).tobytes()
        assert value.metadata.data_class == 1
        assert Scalar.from_value(value) == scalar
    assert Scalar.from_data(1e300, double=True).to_field_value("a").simple_value == math.inf


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"dtype": 1, "float_val": [2.5]}, 2.5),  # PyTorch's new_style: no shape
        ({"dtype": 2, "double_val": [0.1]}, 0.1),
        ({"dtype": 19, "half_val": [0x3E00]}, 1.5),
        ({"dtype": 14, "tensor_content": b"\xc0\x3f"}, 1.5),
        ({"dtype": 3, "int_val": [-7]}, -7.0),
        ({"dtype": 10, "bool_val": [True]}, 1.0),
    ],
)
def test_reads_every_tensor_type(fields: dict[str, Any], expected: float) -> None:
    value = proto.Summary.Value(tag="a", tensor=proto.TensorProto(**fields))
    assert Scalar.from_value(value).value == expected


def test_refuses_to_read_what_is_no_scalar() -> None:
    several = proto.TensorProto(dtype=1, float_val=[1, 2])
    several.tensor_shape.dim.add(size=2)
    for value in (
        proto.Summary.Value(tag="a"),
        proto.Summary.Value(tag="a", tensor=proto.TensorProto(dtype=7, string_val=[b"1"])),
        proto.Summary.Value(tag="a", tensor=several),
    ):
        with pytest.raises(ValueError, match="tag 'a'"):
            Scalar.from_value(value)
