"""OpenVINO models as graphs: the XML file of an intermediate representation, without its weights.

Layers are named by their path ("encoder/layer.0/MatMul"), so scopes nest. An edge goes from a port
of one layer to a port of another; the ports of a layer's outputs carry their shapes.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

from tfevents.graph import GraphBuilder, clean_name

if TYPE_CHECKING:
    from tfevents import proto
    from tfevents._types import PathLike

__all__ = ["openvino_graph"]


def openvino_graph(path: PathLike) -> proto.GraphDef:
    """The graph of a model.

    Args:
        path: the .xml file of the model.

    Raises:
        OSError: the file cannot be read.
        ValueError: it is no such file, or an edge leads nowhere.
    """
    try:
        root = ElementTree.parse(os.fsdecode(path)).getroot()
    except ElementTree.ParseError as error:
        raise ValueError(f"{os.fsdecode(path)} is no XML file: {error}") from error
    layers = root.findall("./layers/layer")
    if not layers:
        raise ValueError(f"{os.fsdecode(path)} is no OpenVINO model: it has no layers")
    builder = GraphBuilder()
    names = _names(layers)
    ports = {_text(layer, "id"): _outputs(layer) for layer in layers}
    inputs: dict[str, list[tuple[int, str]]] = {identity: [] for identity in names}
    for edge in root.findall("./edges/edge"):
        source, target = _text(edge, "from-layer"), _text(edge, "to-layer")
        if source not in names or target not in names:
            raise ValueError(f"an edge from layer {source} to {target}: there is no such layer")
        index = ports[source].get(edge.get("from-port", ""), (0, []))[0]
        reference = names[source] if index == 0 else f"{names[source]}:{index}"
        inputs[target].append((int(edge.get("to-port", "0")), reference))
    for layer in layers:
        identity = _text(layer, "id")
        data = layer.find("data")
        builder.node(
            names[identity],
            layer.get("type") or "Layer",
            [reference for _, reference in sorted(inputs[identity])],
            shapes=[shape for _, shape in sorted(ports[identity].values())],
            attributes={} if data is None else dict(data.attrib),
        )
    return builder.build()


def _names(layers: list[ElementTree.Element]) -> dict[str, str]:
    """A path for each layer's id; of layers with one name, the later ones have their id in it."""
    names: dict[str, str] = {}
    taken: set[str] = set()
    for layer in layers:
        path, identity = _path(layer), _text(layer, "id")
        names[identity] = f"{path}_{identity}" if path in taken else path
        taken.add(names[identity])
    return names


def _text(element: ElementTree.Element, name: str) -> str:
    found = element.get(name)
    if found is None:
        raise ValueError(f"a <{element.tag}> of the model has no {name!r}")
    return found


def _path(layer: ElementTree.Element) -> str:
    parts = [clean_name(part) for part in (layer.get("name") or "").split("/") if part]
    return "/".join(parts) or clean_name(layer.get("type") or "layer")


def _outputs(layer: ElementTree.Element) -> dict[str, tuple[int, list[Any]]]:
    """The output ports of a layer: their index among the outputs, and their shape."""
    return {
        port.get("id", ""): (index, [_size(dim.text) for dim in port.findall("dim")])
        for index, port in enumerate(layer.findall("./output/port"))
    }


def _size(text: str | None) -> int | None:
    size = int(text or -1)
    return size if size >= 0 else None
