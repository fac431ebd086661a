"""Meshes and point clouds: vertices, and if known the faces between them and a colour of each.

A mesh is up to three values, each part with a tag of its own: `<tag>_VERTEX`, `<tag>_FACE`,
`<tag>_COLOR`. TensorBoard joins them by the name and the set of parts that every one of them
states. The format is TensorBoard's tensorboard/plugins/mesh/plugin_data.proto.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, TypeAlias

import numpy as np

from tfevents import _warn, arrays, plugin, proto, tensor

__all__ = ["DTypes", "Mesh"]

_Array: TypeAlias = "np.ndarray[Any, np.dtype[Any]]"
DTypes: TypeAlias = Literal["float32", "own", "fixed"]

# Parts in the order they are written: attribute, end of the tag, MeshPluginData.ContentType, and
# the type that TensorBoard's mesh_pb gives it.
_PARTS = (
    ("vertices", "VERTEX", 1, np.float32),
    ("faces", "FACE", 2, np.int32),
    ("colors", "COLOR", 3, np.uint8),
)
_ATTRIBUTES = {number: name for name, _, number, _ in _PARTS}
_ALL_PARTS = sum(1 << number for _, _, number, _ in _PARTS)


@dataclass(frozen=True, slots=True, eq=False)
class Mesh:
    """A batch of meshes; read from a file, it has the one part that its value held.

    Attributes:
        vertices: [b, n, 3] coordinates.
        faces: [b, f, 3] triangles, as indices of vertices.
        colors: [b, n, 3] RGB of each vertex, 0 to 255.
        config: JSON of the viewer's camera, material and lights.
        name: the tag without its end; set where read from a file.
        components: 2 for vertices + 4 for faces + 8 for colors, of all that the mesh consists of.
    """

    vertices: _Array | None = None
    faces: _Array | None = None
    colors: _Array | None = None
    config: str = "{}"
    name: str = ""
    components: int = 0

    @classmethod
    def from_data(
        cls,
        vertices: object,
        colors: object = None,
        faces: object = None,
        *,
        tag: str = "",
        config_dict: Mapping[str, Any] | None = None,
        dtypes: DTypes = "float32",
    ) -> Mesh:
        """Checks and copies the parts.

        Args:
            vertices: [b, n, 3] numbers.
            colors: [b, n, 3] numbers from 0 to 255.
            faces: [b, f, 3] integers below n.
            tag: named in errors and warnings.
            config_dict: options of the viewer, see TensorBoard's mesh plugin.
            dtypes: "float32" writes all as float32, as PyTorch does; "own" keeps those given
                (Python floats are float32, ints int32), as TensorBoard's `mesh`; "fixed" writes
                float32, int32 and uint8, as its `mesh_pb`.

        Raises:
            TypeError: not real numbers, or a config that is no dict of JSON.
            ValueError: another rank or shape, or parts that do not fit each other.
        """
        given = {"vertices": vertices, "faces": faces, "colors": colors}
        parts: dict[str, _Array] = {}
        for name, _, _, fixed in _PARTS:
            if given[name] is not None or name == "vertices":
                read = _read(given[name], name, tag)
                dtype = {"own": read.dtype, "fixed": fixed, "float32": np.float32}[dtypes]
                parts[name] = _snapshot(read, dtype, name, tag)
        _check_fit(parts, tag)
        components = sum(1 << number for name, _, number, _ in _PARTS if name in parts)
        return cls(
            parts["vertices"],
            parts.get("faces"),
            parts.get("colors"),
            config=_config(config_dict, tag),
            components=components,
        )

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return len(self.config) + sum(array.nbytes for _, _, array in self._present())

    def _present(self) -> list[tuple[str, int, _Array]]:
        found = ((end, number, getattr(self, name)) for name, end, number, _ in _PARTS)
        return [part for part in found if part[2] is not None]

    def parts(
        self, tag: str, *, display_name: str = "", description: str = "", packed: bool = False
    ) -> list[tuple[str, Callable[[str], proto.Summary.Value]]]:
        """Each part's own tag, and what makes its value of that tag in the writing thread.

        The numbers are in `float_val` and its like, as PyTorch writes them, or `packed` in
        `tensor_content`.
        """

        def encode(number: int, array: _Array, part_tag: str) -> proto.Summary.Value:
            content = proto.MeshPluginData(
                name=tag,
                content_type=number,
                json_config=self.config,
                shape=array.shape,
                components=self.components,
            )
            return proto.Summary.Value(
                tag=part_tag,
                tensor=tensor.to_proto(array, packed=packed),
                metadata=plugin.metadata(
                    plugin.MESH,
                    content.SerializeToString(),
                    display_name=display_name,
                    description=description,
                ),
            )

        return [
            (f"{tag}_{end}", partial(encode, number, array))
            for end, number, array in self._present()
        ]

    def to_tensor_values(
        self, tag: str, *, display_name: str = "", description: str = ""
    ) -> list[proto.Summary.Value]:
        """A value for each part, in the order vertices, faces, colors."""
        parts = self.parts(tag, display_name=display_name, description=description, packed=True)
        return [encode(part_tag) for part_tag, encode in parts]

    def to_field_values(
        self, tag: str, *, display_name: str = "", description: str = ""
    ) -> list[proto.Summary.Value]:
        """The same, with the numbers in `float_val` and its like, as PyTorch writes them."""
        parts = self.parts(tag, display_name=display_name, description=description)
        return [encode(part_tag) for part_tag, encode in parts]

    @classmethod
    def from_value(cls, value: proto.Summary.Value) -> Mesh:
        """Decodes one part.

        Raises:
            ValueError: not a value of the mesh plugin, of an unknown part, or without numbers.
        """
        from google.protobuf.message import DecodeError

        try:
            content = proto.MeshPluginData.FromString(value.metadata.plugin_data.content)
        except DecodeError as error:
            raise ValueError(f"tag {value.tag!r}: the mesh metadata cannot be parsed") from error
        name = _ATTRIBUTES.get(content.content_type)
        if value.metadata.plugin_data.plugin_name != plugin.MESH or name is None:
            raise ValueError(f"tag {value.tag!r}: the value is no part of a mesh")
        if not value.HasField("tensor"):
            raise ValueError(f"tag {value.tag!r}: the mesh has no tensor")
        array = tensor.from_proto(value.tensor)
        if array.dtype.kind not in "biuf":
            raise ValueError(f"tag {value.tag!r}: the mesh holds {array.dtype}, not numbers")
        return cls(
            vertices=array if name == "vertices" else None,
            faces=array if name == "faces" else None,
            colors=array if name == "colors" else None,
            config=content.json_config or "{}",
            name=content.name,
            # Older writers leave it out, and TensorBoard then assumes all parts.
            components=content.components or _ALL_PARTS,
        )


def _read(data: object, what: str, tag: str) -> _Array:
    where = f"{tag}: {what}" if tag else what
    if isinstance(data, (list, tuple)):
        found = arrays.as_tensor(data, tag=where)
    else:
        found = arrays.to_numpy(data, tag=where)
    if found.dtype.kind not in "biuf":
        raise TypeError(f"tag {tag!r}: {what} must be real numbers; got {found.dtype}")
    if found.ndim != 3 or found.shape[2] != 3:
        raise ValueError(
            f"tag {tag!r}: {what} must have shape [batch, count, 3]; got {found.shape}"
        )
    return found


def _snapshot(array: _Array, dtype: Any, what: str, tag: str) -> _Array:
    dtype = np.dtype(dtype).newbyteorder("=")
    if dtype.kind in "iu" and array.size and array.dtype != dtype:
        limits = np.iinfo(dtype)
        if not (limits.min <= array.min() and array.max() <= limits.max):
            raise ValueError(f"tag {tag!r}: {what} do not fit {dtype}")
    with np.errstate(over="ignore"):
        return np.array(array, dtype=dtype, order="C", copy=True)


def _check_fit(parts: Mapping[str, _Array], tag: str) -> None:
    batch, count, _ = parts["vertices"].shape
    colors, faces = parts.get("colors"), parts.get("faces")
    if colors is not None and colors.shape != (batch, count, 3):
        raise ValueError(
            f"tag {tag!r}: colors of shape {colors.shape} do not fit vertices of shape "
            f"{(batch, count, 3)}: each vertex has one"
        )
    if faces is None:
        return
    if faces.shape[0] != batch:
        raise ValueError(
            f"tag {tag!r}: faces of shape {faces.shape} do not fit vertices of shape "
            f"{(batch, count, 3)}: the batches differ"
        )
    if faces.size and not (faces.min() >= 0 and faces.max() < count):
        _warn.warn(
            tag,
            "mesh-faces",
            f"tag {tag!r}: faces name the vertices {faces.min()} to {faces.max()}, but there are "
            f"only 0 to {count - 1}",
        )


def _config(config: Mapping[str, Any] | None, tag: str) -> str:
    if config is None:
        return "{}"
    if not isinstance(config, Mapping):
        raise TypeError(f"tag {tag!r}: config_dict must be a dict; got {type(config).__name__}")
    try:
        return json.dumps(dict(config), sort_keys=True)
    except (TypeError, ValueError) as error:
        raise TypeError(f"tag {tag!r}: config_dict is no JSON: {error}") from error
