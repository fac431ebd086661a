from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from tfevents import proto
from tfevents.compat import mesh as api
from tfevents.values.mesh import Mesh

rng = np.random.default_rng(0)
VERTICES = rng.random((1, 200, 3))
COLORS = rng.integers(0, 256, (1, 200, 3))
FACES = rng.integers(0, 200, (1, 40, 3))


def content(value: proto.Summary.Value) -> proto.MeshPluginData:
    return proto.MeshPluginData.FromString(value.metadata.plugin_data.content)


@pytest.mark.parametrize(
    ("colors", "faces", "ends", "components"),
    [
        (None, None, ["VERTEX"], 2),
        (COLORS, None, ["VERTEX", "COLOR"], 10),
        (None, FACES, ["VERTEX", "FACE"], 6),
        (COLORS, FACES, ["VERTEX", "FACE", "COLOR"], 14),
    ],
)
def test_parts(colors: Any, faces: Any, ends: list[str], components: int) -> None:
    mesh = Mesh.from_data(VERTICES, colors, faces, tag="m")
    for values in (mesh.to_field_values("m"), mesh.to_tensor_values("m")):
        assert [value.tag for value in values] == [f"m_{end}" for end in ends]
        assert [content(value).components for value in values] == [components] * len(ends)
        assert [value.tensor.dtype for value in values] == [1] * len(ends)


def test_metadata_bytes() -> None:
    (value,) = Mesh.from_data(VERTICES).to_field_values("m")
    # name (1 is 2 here), content_type 1, config "{}", shape [1, 200, 3] packed, components 2
    assert value.metadata.plugin_data.content == (
        b"\x12\x01m" b"\x18\x01" b"\x2a\x02{}" b"\x32\x04\x01\xc8\x01\x03" b"\x38\x02"
    )
    assert value.metadata.plugin_data.plugin_name == "mesh"


@pytest.mark.parametrize("given", [(None, None), (COLORS, None), (None, FACES), (COLORS, FACES)])
@pytest.mark.parametrize("config", [None, {"b": 1, "a": {"x": [1.5]}}])
def test_as_torch(given: Any, config: Any) -> None:
    torch_summary = pytest.importorskip("torch.utils.tensorboard.summary")
    theirs = torch_summary.mesh("m", VERTICES, *given, config, "D", "d")
    expected = proto.Summary.FromString(theirs.SerializeToString())
    mesh = Mesh.from_data(VERTICES, *given, config_dict=config)
    ours = mesh.to_field_values("m", display_name="D", description="d")
    for value, other in zip(ours, expected.value, strict=True):
        assert content(value) == content(other)
        value.metadata.plugin_data.content = other.metadata.plugin_data.content
        assert value == other


def test_as_tensorboard() -> None:
    theirs = pytest.importorskip("tensorboard.plugins.mesh.summary_v2")
    pytest.importorskip("tensorflow")
    other = theirs.mesh_pb("m", VERTICES, FACES, COLORS, {"a": 1}, "d")
    expected = proto.Summary.FromString(other.SerializeToString())
    ours = api.mesh_pb("m", VERTICES, FACES, COLORS, {"a": 1}, "d")
    for value, same in zip(ours.value, expected.value, strict=True):
        assert content(value) == content(same)
        assert (value.tag, value.tensor) == (same.tag, same.tensor)


def test_dtypes() -> None:
    def numbers(dtypes: Any) -> list[int]:
        mesh = Mesh.from_data(VERTICES, COLORS, FACES, dtypes=dtypes)
        return [value.tensor.dtype for value in mesh.to_tensor_values("m")]

    assert numbers("float32") == [1, 1, 1]
    assert numbers("own") == [2, 9, 9]  # DT_DOUBLE, DT_INT64
    assert numbers("fixed") == [1, 3, 4]  # DT_FLOAT, DT_INT32, DT_UINT8


def test_config_is_sorted_json() -> None:
    (value,) = Mesh.from_data(VERTICES, config_dict={"b": 1, "a": 2}).to_tensor_values("m")
    assert content(value).json_config == '{"a": 2, "b": 1}'


def test_the_callers_arrays_are_not_kept() -> None:
    vertices = np.zeros((1, 2, 3), np.float32)
    mesh = Mesh.from_data(vertices)
    vertices[:] = 9
    assert list(mesh.to_field_values("m")[0].tensor.float_val) == [0.0] * 6


def test_reading() -> None:
    mesh = Mesh.from_data(VERTICES, COLORS, FACES, config_dict={"a": 1})
    for values in (mesh.to_field_values("m"), mesh.to_tensor_values("m")):
        first, second, third = map(Mesh.from_value, values)
        np.testing.assert_array_equal(first.vertices, VERTICES.astype(np.float32))
        np.testing.assert_array_equal(second.faces, FACES)
        np.testing.assert_array_equal(third.colors, COLORS)
        assert (first.faces, second.vertices) == (None, None)
        assert {(x.name, x.components, x.config) for x in (first, second, third)} == {
            ("m", 14, '{"a": 1}')
        }


def test_components_that_an_old_file_leaves_out() -> None:
    (value,) = Mesh.from_data(VERTICES).to_field_values("m")
    data = content(value)
    data.components = 0
    value.metadata.plugin_data.content = data.SerializeToString()
    assert Mesh.from_value(value).components == 14


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        ({"vertices": VERTICES[0]}, ValueError, "vertices must have shape"),
        ({"vertices": VERTICES[..., :2]}, ValueError, r"vertices.*\(1, 200, 2\)"),
        ({"vertices": None}, TypeError, "vertices"),
        ({"vertices": VERTICES.astype(str)}, TypeError, "vertices"),
        ({"vertices": VERTICES * 1j}, TypeError, "vertices"),
        ({"colors": COLORS[:, :5]}, ValueError, "colors of shape"),
        ({"faces": FACES[[0, 0]]}, ValueError, "faces of shape"),
        ({"colors": COLORS + 256, "dtypes": "fixed"}, ValueError, "colors do not fit uint8"),
        ({"config_dict": "{}"}, TypeError, "config_dict must be a dict"),
        ({"config_dict": {"a": {1}}}, TypeError, "config_dict is no JSON"),
    ],
)
def test_bad_input(arguments: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=f"t.*{text}"):
        Mesh.from_data(**{"vertices": VERTICES, **arguments}, tag="t")


@pytest.mark.parametrize("wrong", [-1, 200])
def test_faces_without_vertices_warn(wrong: int) -> None:
    faces = FACES.copy()
    faces[0, 0, 0] = wrong
    with pytest.warns(UserWarning, match=f"tag 't'.*{wrong}.*0 to 199"):
        Mesh.from_data(VERTICES, faces=faces, tag="t")


def test_reading_something_else() -> None:
    value = proto.Summary.Value(tag="t", simple_value=1)
    with pytest.raises(ValueError, match="tag 't'"):
        Mesh.from_value(value)
    value.metadata.plugin_data.plugin_name = "mesh"
    value.metadata.plugin_data.content = json.dumps({}).encode()
    with pytest.raises(ValueError, match="tag 't'"):
        Mesh.from_value(value)
