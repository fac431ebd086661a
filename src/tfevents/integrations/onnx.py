"""ONNX models as graphs.

ONNX links nodes by the names of the values between them, and leaves most nodes unnamed. A node here
is named after its own name, or after its first output; exporters that write module paths there
("/encoder/layer.0/MatMul_output_0") so give nested scopes. Weights are `Const` nodes with their
shape and without their numbers, bodies of If and Loop are scopes, so are functions' nodes by name.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tfevents.graph import GraphBuilder, clean_name

try:
    import onnx  # type: ignore[import-not-found, unused-ignore]
except ImportError as error:
    raise ImportError("graphs of ONNX models need onnx: pip install onnx") from error

if TYPE_CHECKING:
    from tfevents import proto

__all__ = ["onnx_graph"]

_DTYPES = {"float": "float32", "double": "float64"}  # where ONNX's names differ from ours


def onnx_graph(model: Any) -> proto.GraphDef:
    """The graph of a model, with the shapes that inference finds.

    Args:
        model: a path, serialized bytes, or a ModelProto. Weights in files beside the model are
            not needed.

    Raises:
        TypeError: none of these.
        ValueError: the bytes are no ONNX model.
        OSError: the file cannot be read.
    """
    message = _load(model)
    with contextlib.suppress(Exception):  # shapes are a help; models beyond 2 GB go without
        message = onnx.shape_inference.infer_shapes(message)
    builder = GraphBuilder()
    _Walk(builder, message.graph, "", {}).run()
    return builder.build()


def _load(model: Any) -> Any:
    if isinstance(model, onnx.ModelProto):
        return model
    if isinstance(model, (str, os.PathLike)):
        with open(model, "rb") as file:
            model = file.read()
    if not isinstance(model, (bytes, bytearray)):
        raise TypeError(f"a path, bytes or ModelProto is needed; got {type(model).__name__}")
    message = onnx.ModelProto()
    try:
        message.ParseFromString(bytes(model))
    except Exception as error:  # DecodeError of whichever protobuf onnx uses
        raise ValueError(f"these {len(model)} bytes are no ONNX model: {error}") from error
    if not message.HasField("graph"):
        raise ValueError(f"these {len(model)} bytes are no ONNX model: they hold no graph")
    return message


class _Walk:
    """One graph: the model's, or the body of a node, which sees the values around it."""

    def __init__(
        self, builder: GraphBuilder, graph: Any, scope: str, outer: dict[str, str]
    ) -> None:
        self._builder = builder
        self._graph = graph
        self._scope = scope
        self._refs = dict(outer)  # value name -> reference to its node
        self._types = {
            info.name: info.type.tensor_type
            for info in (*graph.input, *graph.output, *graph.value_info)
            if info.type.HasField("tensor_type")
        }

    def run(self, given: Sequence[str] = ()) -> list[str]:
        """Adds all nodes; the last of `given` feed a body. Returns references to the results."""
        weights = [*self._graph.initializer, *(x.values for x in self._graph.sparse_initializer)]
        for weight in weights:
            details = _details([(list(weight.dims), weight.data_type)])
            self._refs[weight.name] = self._add(weight.name, "Const", [], **details)
        names = {weight.name for weight in weights}
        inputs = [value for value in self._graph.input if value.name not in names]
        first = len(given) - len(inputs)
        for index, value in enumerate(inputs, first):
            name = value.name if self._scope else f"input/{_clean(value.name)}"
            op = "Placeholder" if self._scope else "IO Node"
            self._refs[value.name] = self._add(
                name,
                op,
                given[index : index + 1] if index >= 0 else (),
                **self._describe([value.name]),
            )
        for node in self._graph.node:
            self._node(node)
        results = [self._refs[value.name] for value in self._graph.output if self._known(value)]
        if not self._scope:
            for value in filter(self._known, self._graph.output):
                details = self._describe([value.name])
                name = f"output/{_clean(value.name)}"
                self._add(name, "IO Node", [self._refs[value.name]], **details)
        return results

    def _known(self, value: Any) -> bool:
        return value.name in self._refs

    def _node(self, node: Any) -> None:
        name = _path(node.name or next(filter(None, node.output), "") or node.op_type)
        full = f"{self._scope}/{name}" if self._scope else name
        inputs = [self._refs[value] for value in node.input if value in self._refs]
        operands = list(inputs)
        attributes: dict[str, Any] = {}
        for attribute in node.attribute:
            bodies = [*attribute.graphs, *([attribute.g] if attribute.HasField("g") else [])]
            for index, body in enumerate(bodies):
                scope = f"{full}/{_clean(attribute.name)}" + (f"_{index}" if index else "")
                walk = _Walk(self._builder, body, scope, self._refs)
                inputs += walk.run(operands)
            if not bodies:
                attributes[_text(attribute.name)] = _attribute(attribute)
        if node.domain and node.domain != "ai.onnx":
            attributes["domain"] = node.domain
        made = self._add(
            name, node.op_type, inputs, attributes=attributes, **self._describe(node.output)
        )
        for index, value in enumerate(node.output):
            self._refs[value] = made if index == 0 else f"{made}:{index}"
        self._refs.pop("", None)  # an output that is left out

    def _describe(self, values: Sequence[str]) -> dict[str, Any]:
        found = [self._types.get(value) for value in values]
        return _details([(_shape(kind), kind.elem_type if kind else 0) for kind in found])

    def _add(self, name: str, op: str, inputs: Sequence[str], **details: Any) -> str:
        name = _path(name)
        if self._scope:
            name = f"{self._scope}/{name}"
        return self._builder.unique_node(name, _text(op), inputs, **details)


def _text(name: str | bytes) -> str:
    """A name of the file; protobuf gives bytes where it is no UTF-8."""
    return name.decode("utf-8", "replace") if isinstance(name, bytes) else name


def _clean(name: str | bytes) -> str:
    return clean_name(_text(name))


def _path(name: str | bytes) -> str:
    """Slashes are kept: they are the scopes of the exporter."""
    return "/".join(map(clean_name, filter(None, _text(name).split("/")))) or "_"


def _shape(kind: Any) -> list[int | None] | None:
    if kind is None or not kind.HasField("shape"):
        return None
    return [
        dim.dim_value if dim.HasField("dim_value") and dim.dim_value >= 0 else None
        for dim in kind.shape.dim
    ]


def _details(values: Sequence[tuple[list[int | None] | None, int]]) -> dict[str, Any]:
    names = [_dtype(number) for _, number in values]
    return {
        "shapes": [shape for shape, _ in values],
        "dtypes": [_DTYPES.get(name, name) for name in names],
    }


def _dtype(number: int) -> str:
    """ONNX's name of an element type; "" for 0 and for those of a later version."""
    kinds = onnx.TensorProto.DataType
    return str(kinds.Name(number)).lower() if number in kinds.values() and number else ""


def _attribute(attribute: Any) -> Any:
    kinds = onnx.AttributeProto
    if attribute.type == kinds.TENSOR:
        return f"{_dtype(attribute.t.data_type)} {list(attribute.t.dims)}"
    value = onnx.helper.get_attribute_value(attribute)
    if attribute.type in (kinds.FLOAT, kinds.INT, kinds.STRING):
        return value
    if attribute.type in (kinds.FLOATS, kinds.INTS, kinds.STRINGS):
        return list(value)
    return str(value)[:1000]
