from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tfevents import proto
from tfevents.values.text import Text

GOLDEN = [
    json.loads(line)
    for line in (Path(__file__).parents[1] / "golden" / "golden.jsonl").read_text().splitlines()
]
CASES = [
    pytest.param(case["args"]["data"], case["result"], id=case["id"])
    for case in GOLDEN
    if case["call"] == "text" and case["id"].startswith("text/") and not case.get("ctx")
]


def python_value(data: Any) -> Any:
    if isinstance(data, list):
        return [python_value(x) for x in data]
    if not isinstance(data, dict):
        return data
    ((kind, inner),) = data.items()
    if kind == "bytes":
        return base64.b64decode(inner)
    if kind == "float":
        return float(inner)
    dtype = object if inner["dtype"] == "object" else None
    return np.array(python_value(inner["data"]), dtype).reshape(inner["shape"])


@pytest.mark.parametrize(("data", "result"), CASES)
def test_as_tensorflow(data: Any, result: Any) -> None:
    if "exception" in result:
        error = {"TypeError": TypeError, "ValueError": ValueError}[result["exception"]["type"]]
        with pytest.raises(error, match="tag 't'") as caught:
            Text.from_data(python_value(data), tag="t")
        if error is TypeError:  # "tensor must be of type tf.string; got tf.int32"
            assert result["exception"]["message"] in str(caught.value)
        return
    expected = result["events"][0]["values"][0]["tensor"]
    value = Text.from_data(python_value(data), tag="t").to_tensor_value("t")
    assert value.tensor.dtype == 7
    assert [dim.size for dim in value.tensor.tensor_shape.dim] == expected["shape"]
    assert list(value.tensor.string_val) == [base64.b64decode(x) for x in expected["values"]]
    assert value.tensor.HasField("tensor_shape")


def test_metadata() -> None:
    value = Text.from_data("x").to_tensor_value("t", display_name="D", description="d")
    assert value.metadata.SerializeToString() == b"\x0a\x06\x0a\x04text\x12\x01D\x1a\x01d"


@pytest.mark.parametrize("data", ["naïve 猫 🐈", "a\0b", "", "x" * 5_000_000])
def test_as_pytorch(data: str) -> None:
    value = Text.from_str(data).to_field_value("note/text_summary")
    assert value.tag == "note/text_summary"
    assert list(value.tensor.string_val) == [data.encode()]
    assert [dim.size for dim in value.tensor.tensor_shape.dim] == [1]
    assert value.metadata.plugin_data.plugin_name == "text"


@pytest.mark.parametrize("data", [5, {}, ["a"], None, b"a"])
def test_pytorch_form_takes_str_only(data: object) -> None:
    with pytest.raises(TypeError, match=f"tag 't'.*{type(data).__name__}"):
        Text.from_str(data, tag="t")


@pytest.mark.parametrize("take", [Text.from_data, Text.from_str])
def test_lone_surrogates_raise_in_the_caller(take: Any) -> None:
    with pytest.raises(ValueError, match="tag 't'"):
        take("\ud800", tag="t")


def test_later_changes_of_the_data_change_nothing() -> None:
    data = np.array(["a", "b"], object)
    text = Text.from_data(data)
    data[0] = "z"
    assert text.strings == (b"a", b"b")


def test_from_value() -> None:
    text = Text((b"a", b"b", b"c", b"d"), (2, 2))
    assert Text.from_value(text.to_tensor_value("t")) == text
    assert text.array.tolist() == [[b"a", b"b"], [b"c", b"d"]]
    assert text.nbytes >= 4
    for value in (
        proto.Summary.Value(tag="t", simple_value=1),
        proto.Summary.Value(tag="t", tensor=proto.TensorProto(dtype=1, float_val=[1])),
    ):
        with pytest.raises(ValueError, match="tag 't'"):
            Text.from_value(value)


def test_strings_must_fill_the_shape() -> None:
    with pytest.raises(ValueError, match="shape"):
        Text((b"a",), (2,))
