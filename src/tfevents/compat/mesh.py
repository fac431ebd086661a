"""TensorBoard's mesh summaries (`tensorboard.plugins.mesh.summary_v2`), without TensorBoard."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tfevents import proto
from tfevents.values.mesh import Mesh

__all__ = ["mesh", "mesh_pb"]


def mesh(
    name: str,
    vertices: Any,
    faces: Any = None,
    colors: Any = None,
    config_dict: Mapping[str, Any] | None = None,
    step: Any = None,
    description: str | None = None,
) -> bool:
    """Writes a mesh to the default writer, an event for each part; no part if one is wrong.

    Name scopes do not apply to the tag, as in TensorBoard.

    Returns:
        Whether anything was written.

    Raises:
        TypeError, ValueError: see `Mesh.from_data`; also without a step.
    """
    from tfevents.summary import experimental

    data = Mesh.from_data(
        vertices, colors, faces, tag=name, config_dict=config_dict, dtypes="own"
    )
    written = True
    for value in data.to_tensor_values(name, description=description or ""):
        summary = proto.Summary(value=[value]).SerializeToString()
        written = experimental.write_raw_pb(summary, step=step) and written
    return written


def mesh_pb(
    tag: str,
    vertices: Any,
    faces: Any = None,
    colors: Any = None,
    config_dict: Mapping[str, Any] | None = None,
    description: str | None = None,
) -> proto.Summary:
    """The Summary of a mesh, as float32 vertices, int32 faces and uint8 colors.

    Raises:
        TypeError, ValueError: see `Mesh.from_data`.
    """
    data = Mesh.from_data(
        vertices, colors, faces, tag=tag, config_dict=config_dict, dtypes="fixed"
    )
    return proto.Summary(value=data.to_tensor_values(tag, description=description or ""))
