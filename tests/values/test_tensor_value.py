from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tfevents import plugin, proto, tensor
from tfevents.values.tensor import Tensor

GOLDEN = [
    json.loads(line)
    for line in (Path(__file__).parents[1] / "golden" / "golden.jsonl").read_text().splitlines()
]
CASES = [
    pytest.param(case["args"], case["result"], id=case["id"])
    for case in GOLDEN
    if case["call"] == "write"
    and case["id"].startswith("write/")
    and not case["id"].startswith("write/tag")  # the tag is the front door's
    and not case.get("ctx")
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
    if kind == "complex":
        return complex(*inner)
    if kind == "repr":
        return {}
    if kind == "returns":
        return python_value(inner)
    if kind == "np":
        return np.dtype(inner["dtype"]).type(inner["data"])
    if kind == "proto":
        return proto.SummaryMetadata.FromString(base64.b64decode(inner["b64"]))
    items = [complex(*x) for x in inner["data"]] if "complex" in inner["dtype"] else inner["data"]
    return np.array(items, inner["dtype"]).reshape(inner["shape"])


def flat(found: np.ndarray[Any, np.dtype[Any]]) -> list[Any]:
    if found.dtype.kind == "O":
        return [base64.b64encode(x).decode() for x in found.reshape(-1).tolist()]
    if found.dtype.kind == "c":
        return [[x.real, x.imag] for x in found.reshape(-1).tolist()]
    return list(found.reshape(-1).tolist())


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize(("args", "result"), CASES)
def test_as_tensorflow(args: Any, result: Any) -> None:
    data, metadata = python_value(args["tensor"]), python_value(args.get("metadata"))
    if "exception" in result:
        error = {"TypeError": TypeError, "ValueError": ValueError}[result["exception"]["type"]]
        with pytest.raises(error, match="tag 'a'"):
            Tensor.from_data(data, tag="a", metadata=metadata)
        return
    expected = result["events"][0]["values"][0]
    value = Tensor.from_data(data, tag="a", metadata=metadata).to_tensor_value("a")
    found = tensor.from_proto(value.tensor)
    assert tensor.dtype_name(found.dtype) == expected["tensor"]["dtype"]
    assert list(found.shape) == expected["tensor"]["shape"]
    assert flat(found) == expected["tensor"]["values"]
    fields = {f.name for f, _ in value.tensor.ListFields()} - {"dtype", "tensor_shape"}
    assert fields == set(expected["tensor"]["field"])
    assert value.HasField("metadata") is expected["has_metadata"]
    if expected["has_metadata"]:
        seen = value.metadata
        assert seen.plugin_data.plugin_name == expected["plugin_name"]
        assert seen.plugin_data.content.hex() == expected["plugin_content"]
        assert seen.display_name == expected["display_name"]
        assert seen.summary_description == expected["description"]
        assert seen.data_class == {"UNKNOWN": 0, "TENSOR": 2}[expected["data_class"]]


def test_bad_metadata_is_told() -> None:
    with pytest.warns(UserWarning, match="tag 'a'"):
        assert Tensor.from_data(1, tag="a", metadata=b"\xff\xff\xff").metadata == b""


def test_names_override_the_metadata() -> None:
    value = Tensor.from_data(1, metadata=plugin.metadata("pp", b"c", display_name="x"))
    found = value.to_tensor_value("a", display_name="D", description="de").metadata
    assert found == plugin.metadata("pp", b"c", display_name="D", description="de")
    assert Tensor.from_data(1).to_tensor_value("a", description="de").HasField("metadata")


def test_later_changes_of_the_data_change_nothing() -> None:
    data = np.array([1.0, 2.0])
    value = Tensor.from_data(data)
    data[0] = 9
    assert value.array.tolist() == [1, 2]


def test_bfloat16_is_stored_as_such() -> None:
    ml_dtypes = pytest.importorskip("ml_dtypes")
    value = Tensor.from_data(np.array([1.5], ml_dtypes.bfloat16)).to_tensor_value("a")
    assert value.tensor.dtype == 14
    assert value.tensor.tensor_content == b"\xc0\x3f"


def test_from_value() -> None:
    stored = Tensor.from_data([[1, 2]], metadata=plugin.metadata(plugin.TENSOR))
    found = Tensor.from_value(stored.to_field_value("a"))
    assert found.array.tolist() == [[1, 2]]
    assert found.metadata == b"\x0a\x08\x0a\x06tensor"
    assert Tensor.from_value(Tensor.from_data(1).to_field_value("a")).metadata is None
    with pytest.raises(ValueError, match="tag 'a'"):
        Tensor.from_value(proto.Summary.Value(tag="a", simple_value=1))


def test_nbytes_counts_strings() -> None:
    assert Tensor.from_data(np.zeros(10)).nbytes == 80
    assert Tensor.from_data(["x" * 1000]).nbytes >= 1000
