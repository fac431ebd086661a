"""Graphs for TensorBoard's GRAPHS tab: nodes in nested name scopes, and the edges between them.

A node's name is its path, `encoder/layer_0/matmul`; the page draws a box for each scope. What a
node takes is written as the name of the node that makes it, `name:1` for an output other than the
first. The page never complains: an edge from a node that does not exist is left out, a repeated
name hides its first node. So everything is checked here, and the error says what to change.

Format: tensorflow/core/framework/{graph,node_def,attr_value}.proto.
"""

from __future__ import annotations

import contextlib
import difflib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from tfevents import proto, tensor

__all__ = ["PRODUCER", "GraphBuilder", "Shape", "clean_name", "to_graph_def"]

# Sizes of the axes, None for one that is not known; None instead of it all: not even the rank is.
Shape: TypeAlias = "Sequence[int | None] | None"

PRODUCER = 22  # of the graphs PyTorch writes; TensorBoard merges only graphs of equal producers

# Characters that mean something in an input, or that the page's parser of text stumbles over.
_FORBIDDEN = re.compile(r"""[\s:^"'\\\x00-\x1f\x7f\ud800-\udfff]""")
_INPUT = re.compile(r"(.*):(\d+)", re.DOTALL)
_LOOP_BACK = {"NextIteration", "RefNextIteration"}


@dataclass(frozen=True, slots=True)
class _Node:
    name: str
    op: str
    inputs: tuple[str, ...]
    control_inputs: tuple[str, ...]
    device: str
    outputs: int | None  # None: not told
    attributes: dict[str, proto.AttrValue]

    def sources(self) -> Iterator[tuple[str, int]]:
        """The node and the output index of every edge into this node."""
        for text in self.inputs:
            found = _INPUT.fullmatch(text)
            yield (found[1], int(found[2])) if found else (text, 0)
        for text in self.control_inputs:
            yield text, 0


class GraphBuilder:
    """Collects nodes in any order; `build()` checks the edges.

    >>> graph = GraphBuilder()
    >>> x = graph.node("x", "Placeholder", shapes=[[None, 784]], dtypes=["float32"])
    >>> with graph.scope("dense"):
    ...     w = graph.node("weights", "Variable", shapes=[[784, 10]])
    ...     y = graph.node("matmul", "MatMul", [x, w], shapes=[[None, 10]])
    >>> y
    'dense/matmul'
    """

    def __init__(self, *, producer: int = PRODUCER) -> None:
        self._producer = producer
        self._scope = ""
        self._nodes: dict[str, _Node] = {}
        self._next_suffix: dict[str, int] = {}

    @contextlib.contextmanager
    def scope(self, name: str) -> Iterator[str]:
        """Puts the nodes that are made meanwhile below `name`; scopes nest, "a/b" is two.

        Yields:
            The full name of the scope.

        Raises:
            ValueError: an empty name, or one with characters that names cannot have.
        """
        _check_name(name, "scope")
        outer = self._scope
        self._scope = f"{outer}{name}/"
        try:
            yield f"{outer}{name}"
        finally:
            self._scope = outer

    def unique_name(self, name: str) -> str:
        """`name`, or with the first of _1, _2, … that no node of the current scope has."""
        full = self._scope + name
        if full not in self._nodes:
            return name
        suffix = self._next_suffix.get(full, 1)
        while f"{full}_{suffix}" in self._nodes:
            suffix += 1
        self._next_suffix[full] = suffix + 1
        return f"{name}_{suffix}"

    def node(
        self,
        name: str,
        op: str,
        inputs: Iterable[str] = (),
        *,
        control_inputs: Iterable[str] = (),
        device: str = "",
        shapes: Sequence[Shape] | None = None,
        dtypes: Sequence[Any] | None = None,
        attributes: Mapping[str, Any] | None = None,
    ) -> str:
        """Adds a node.

        Args:
            name: within the current scope; "a/b" makes a scope, too.
            op: the kind of operation, by which the page colours nodes.
            inputs: full names, as this method returns them: "scope/node", or "scope/node:1" for an
                output other than the first. They may be of nodes that are added later.
            control_inputs: full names of nodes that must run before.
            device: for example "/device:GPU:0".
            shapes: of each output; drawn on the edges.
            dtypes: of each output: NumPy dtypes or their names, "bfloat16" and "string" as well.
                Stored as the attribute `dtype`, or `output_types` if there are several.
            attributes: bool, int, float, str, bytes, NumPy dtypes, numbers and arrays, AttrValue
                messages, and lists of one of the plain types.

        Returns:
            The full name.

        Raises:
            TypeError: a name, input or attribute of another type.
            ValueError: a name that is taken or malformed, an unknown dtype, a negative size or an
                integer beyond 64 bits, lengths of `shapes` and `dtypes` that differ.
        """
        _check_name(name, "node")
        full = self._scope + name
        if full in self._nodes:
            raise ValueError(
                f"node {full!r} exists already, as {self._nodes[full].op!r}; "
                f"unique_name() finds a free name"
            )
        where = f"node {full!r}"
        if not isinstance(op, str):
            raise TypeError(f"{where}: op must be a str; got {type(op).__name__}")
        outputs = None if shapes is None else len(shapes)
        if dtypes is not None:
            if outputs not in (None, len(dtypes)):
                raise ValueError(f"{where}: {outputs} shapes for {len(dtypes)} dtypes")
            outputs = len(dtypes)
        self._nodes[full] = _Node(
            full,
            op,
            _names(inputs, where, "inputs"),
            _names(control_inputs, where, "control_inputs"),
            device,
            outputs,
            _attributes(where, shapes, dtypes, attributes or {}),
        )
        return full

    def unique_node(
        self,
        name: str,
        op: str,
        inputs: Iterable[str] = (),
        *,
        dtypes: Sequence[str] = (),
        **details: Any,
    ) -> str:
        """`node` under a free name, and without dtypes if one of them is not TensorFlow's.

        A dtype is a name here, "" if it is not known.
        """
        known = dtypes and all(map(_dtype_number, dtypes))
        name = self.unique_name(name)
        return self.node(name, op, inputs, dtypes=dtypes if known else None, **details)

    def build(self) -> proto.GraphDef:
        """The graph, its nodes in the order of their making.

        Raises:
            ValueError: an edge from a node or output that does not exist, or edges that run in a
                circle without a NextIteration node in it.
        """
        for node in self._nodes.values():
            self._check_edges(node)
        self._check_cycles()
        graph = proto.GraphDef()
        graph.versions.producer = self._producer
        for node in self._nodes.values():
            message = graph.node.add(name=node.name, op=node.op, device=node.device)
            message.input.extend(node.inputs)
            message.input.extend(f"^{name}" for name in node.control_inputs)
            for key, value in node.attributes.items():
                message.attr[key].CopyFrom(value)
        return graph

    def _check_edges(self, node: _Node) -> None:
        for source, index in node.sources():
            found = self._nodes.get(source)
            if found is None:
                raise ValueError(f"node {node.name!r} takes {source!r}, {self._missing(source)}")
            if found.outputs is not None and index > 0 and index >= found.outputs:
                raise ValueError(
                    f"node {node.name!r} takes output {index} of {source!r}, "
                    f"which has {found.outputs} (counted from 0)"
                )

    def _missing(self, name: str) -> str:
        tail = name.rsplit("/", 1)[-1]
        near = [full for full in self._nodes if full.rsplit("/", 1)[-1] == tail][:3]
        near += [n for n in difflib.get_close_matches(name, self._nodes, 3) if n not in near]
        hint = f"; did you mean {' or '.join(map(repr, near))}?" if near else ""
        return f"which is no node of this graph{hint}"

    def _check_cycles(self) -> None:
        """Walks backwards along the edges; recursion would not survive a deep graph."""
        done: set[str] = set()
        for start in self._nodes:
            if start in done:
                continue
            path: dict[str, Iterator[str]] = {start: self._sources(start)}
            while path:
                name = next(reversed(path))
                source = next(path[name], None)
                if source is None:
                    done.add(name)
                    del path[name]
                elif source in path:
                    names = list(path)
                    circle = [*names[names.index(source) :], source]
                    raise ValueError(
                        f"nodes form a circle: {' -> '.join(reversed(circle))}; a loop needs a "
                        f"node of op 'NextIteration' in it"
                    )
                elif source not in done:
                    path[source] = self._sources(source)

    def _sources(self, name: str) -> Iterator[str]:
        node = self._nodes[name]
        if node.op in _LOOP_BACK:
            return iter(())
        return (source for source, _ in node.sources())


def clean_name(text: str) -> str:
    """`text` as a part of a name: what names cannot have, and slashes, become "_"."""
    return _FORBIDDEN.sub("_", text).replace("/", "_") or "_"


def _check_name(name: str, kind: str) -> None:
    if not isinstance(name, str):
        raise TypeError(f"the name of a {kind} must be a str; got {type(name).__name__}")
    if "" in name.split("/"):
        raise ValueError(f"the name of a {kind} has an empty part: {name!r}")
    found = _FORBIDDEN.search(name)
    if found:
        raise ValueError(f"the name of a {kind} cannot contain {found[0]!r}: {name!r}")


def _names(given: Iterable[str], where: str, argument: str) -> tuple[str, ...]:
    if isinstance(given, str):
        raise TypeError(f"{where}: {argument} must be a list of names, not the str {given!r}")
    names = tuple(given)
    for name in names:
        if not isinstance(name, str):
            raise TypeError(f"{where}: {argument} has {name!r} of type {type(name).__name__}")
        if name.startswith("^"):
            raise ValueError(f"{where}: {name!r} belongs into control_inputs, without the ^")
    return names


# Attributes


def _attributes(
    where: str,
    shapes: Sequence[Shape] | None,
    dtypes: Sequence[Any] | None,
    given: Mapping[str, Any],
) -> dict[str, proto.AttrValue]:
    result = {key: _attribute(value, f"{where}, attribute {key!r}") for key, value in given.items()}
    if shapes is not None:
        value = proto.AttrValue()
        value.list.SetInParent()
        for shape in shapes:
            _fill_shape(value.list.shape.add(), shape, where)
        result["_output_shapes"] = value
    if dtypes:
        numbers = [_named_dtype(dtype, where) for dtype in dtypes]
        if len(numbers) == 1:
            result["dtype"] = proto.AttrValue(type=numbers[0])
        else:
            result["output_types"] = proto.AttrValue(list=proto.AttrValue.ListValue(type=numbers))
    return result


def _fill_shape(message: proto.TensorShapeProto, shape: Shape, where: str) -> None:
    if shape is None:
        message.unknown_rank = True
        return
    for size in shape:
        if size is not None and size < 0:
            raise ValueError(f"{where}: the shape {tuple(shape)} has a negative size")
        message.dim.add(size=-1 if size is None else size)


_DTYPE_NAMES = {"float16": "HALF", "float32": "FLOAT", "float64": "DOUBLE"}


def _dtype_number(dtype: Any) -> int | None:
    """The number of a TensorFlow DataType, from a NumPy dtype or a name; None if it has none."""
    name = dtype if isinstance(dtype, str) else tensor.dtype_name(np.dtype(dtype))
    number: int | None = getattr(proto, f"DT_{_DTYPE_NAMES.get(name, name.upper())}", None)
    return number


def _named_dtype(dtype: Any, where: str) -> int:
    number = _dtype_number(dtype)
    if number is None:
        raise ValueError(f"{where}: {dtype!r} is no dtype of TensorFlow")
    return number


# Field of AttrValue and of its lists for a Python type. A list takes the first row that has all of
# its items, so bool stands before int and int before float.
_FIELDS: tuple[tuple[tuple[type, ...], str], ...] = (
    ((bool, np.bool_), "b"),
    ((int, np.integer), "i"),
    ((int, float, np.integer, np.floating), "f"),
    ((str, bytes), "s"),
    ((np.dtype, type), "type"),
)


def _attribute(value: Any, where: str) -> proto.AttrValue:
    if hasattr(value, "SerializeToString"):
        message: proto.AttrValue = proto.coerce("AttrValue", value)
        return message
    result = proto.AttrValue()
    if isinstance(value, np.ndarray):
        result.tensor.CopyFrom(tensor.to_proto(value))
        return result
    items = value if isinstance(value, (list, tuple)) else [value]
    for types, field in _FIELDS:
        if all(isinstance(item, types) for item in items):
            plain = [_plain(item, field, where) for item in items]
            if items is value:
                result.list.SetInParent()
                getattr(result.list, field).extend(plain)
            else:
                setattr(result, field, plain[0])
            return result
    raise TypeError(
        f"{where}: {value!r} of type {type(value).__name__} is no attribute; allowed are bool, "
        f"int, float, str, bytes, dtypes, arrays, and lists of one of the plain types"
    )


def _plain(item: Any, field: str, where: str) -> Any:
    if field == "type":
        return _named_dtype(item, where)
    if field == "s":
        return item.encode("utf-8", "replace") if isinstance(item, str) else item
    if field == "i" and not -(1 << 63) <= item < 1 << 63:
        raise ValueError(f"{where}: {item} is beyond 64 bits")
    return item.item() if isinstance(item, np.generic) else item


def to_graph_def(graph: Any) -> proto.GraphDef:
    """A GraphDef from a message of any origin or an object with `as_graph_def()`.

    Raises:
        ValueError: it is something else.
    """
    made = graph
    if hasattr(graph, "as_graph_def"):
        try:
            made = graph.as_graph_def(add_shapes=True)
        except TypeError:  # graphs that know no shapes
            made = graph.as_graph_def()
    if getattr(getattr(made, "DESCRIPTOR", None), "name", None) != "GraphDef":
        raise ValueError(
            "Argument 'graph_data' is not tf.Graph or tf.compat.v1.GraphDef. Received graph_data="
            f"{graph!r:.80} of type {type(graph).__name__}."
        )
    return proto.coerce(proto.GraphDef, made)
