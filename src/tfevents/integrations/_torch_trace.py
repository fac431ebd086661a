"""PyTorch models as `torch.jit.trace` sees them: the operations of one run."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch

from tfevents.graph import GraphBuilder, clean_name
from tfevents.integrations._torch_nodes import (
    Ref,
    Scopes,
    add,
    attribute,
    describe,
    device_name,
    outputs_of,
)

__all__ = ["traced"]

_log = logging.getLogger(__name__)


def traced(
    model: Any, arguments: tuple[Any, ...], verbose: bool, use_strict_trace: bool
) -> GraphBuilder:
    if isinstance(model, torch.jit.ScriptFunction):
        graph = model.graph
    else:
        graph = torch.jit.trace(model, arguments, strict=use_strict_trace, check_trace=False).graph
    graph = graph.copy()
    torch._C._jit_pass_inline(graph)
    if verbose:
        _log.info("%s", graph)
    return _TracedGraph(model, graph).builder


_LISTS = ("prim::ListConstruct", "prim::TupleConstruct")
_UNPACKS = ("prim::ListUnpack", "prim::TupleUnpack")


class _TracedGraph:
    """Walks a TorchScript graph.

    `refs` maps the names of values to references, lists of references, or constants.
    """

    def __init__(self, model: Any, graph: Any) -> None:
        self.builder = GraphBuilder()
        self._scopes = Scopes(model)
        self._refs: dict[str, Any] = {}
        self._paths: dict[str, str] = {}  # of values that are modules
        self._parameters: dict[str, Ref] = {}
        self._tensors: dict[str, torch.Tensor] = {}
        if isinstance(model, torch.nn.Module):
            self._tensors.update(model.named_parameters(remove_duplicate=False))
            self._tensors.update(model.named_buffers(remove_duplicate=False))
        for value in graph.inputs():
            if value.type().kind() == "ClassType":
                self._paths[value.debugName()] = ""
            else:
                with self.builder.scope("input"):
                    self._make(value.debugName(), "IO Node", [], [value])
        for node in graph.nodes():
            self._node(node, None)
        count = 0
        for value in graph.outputs():
            refs = self._flat(value)
            details = _traced_details([value]) if len(refs) == 1 else {}
            for ref in refs:
                count += 1
                add(self.builder, f"output/output.{count}", "IO Node", [ref], **details)

    def _node(self, node: Any, inside: str | None) -> None:
        kind = node.kind()
        scope = inside or self._scope(node)
        if kind == "prim::GetAttr":
            self._get_attribute(node)
        elif kind == "prim::Constant":
            value = node.output()
            constant = value.toIValue()
            if isinstance(constant, torch.Tensor) and constant.dim():
                with self.builder.scope(scope):
                    self._make("constant", "Const", [], [value])
            else:
                self._refs[value.debugName()] = constant
        elif kind in _LISTS:
            items = [self._refs.get(value.debugName()) for value in node.inputs()]
            self._refs[node.output().debugName()] = items
        elif kind in _UNPACKS and self._unpack(node):
            pass
        else:
            self._operation(node, scope)

    def _scope(self, node: Any) -> str:
        last = node.scopeName().rpartition("/")[2]
        return self._scopes.of(last.removeprefix("__module").removeprefix("."))

    def _get_attribute(self, node: Any) -> None:
        path = self._paths.get(node.input().debugName(), "")
        path = f"{path}.{node.s('name')}" if path else node.s("name")
        value = node.output()
        if value.type().kind() == "ClassType":
            self._paths[value.debugName()] = path
            return
        if path not in self._parameters:
            tensor = self._tensors.get(path)
            scope, name = self._scopes.of_parameter(path)
            op = "Buffer" if tensor is not None and not _is_parameter(tensor) else "Parameter"
            with self.builder.scope(scope):
                details = _traced_details([value]) if tensor is None else describe([tensor])
                self._parameters[path] = add(self.builder, name, op, [], **details)
        self._refs[value.debugName()] = self._parameters[path]

    def _unpack(self, node: Any) -> bool:
        ref = self._refs.get(node.input().debugName())
        names = [value.debugName() for value in node.outputs()]
        if isinstance(ref, Ref):  # a list that an operation made
            ref = outputs_of(ref, len(names))
        if not isinstance(ref, list) or len(ref) != len(names):
            return False
        self._refs.update(zip(names, ref, strict=True))
        return True

    def _operation(self, node: Any, scope: str) -> None:
        names = _argument_names(node)
        inputs: list[Ref] = []
        attributes: dict[str, Any] = {}
        for index, value in enumerate(node.inputs()):
            linked = self._flat(value)
            inputs += linked
            constant = self._refs.get(value.debugName())
            if not linked and constant is not None:
                name = names[index] if index < len(names) else f"arg{index}"
                attributes[name] = attribute(constant)
        name = clean_name(node.kind().rpartition("::")[2])
        operands = [self._flat(value) for value in node.inputs()]
        for index, block in enumerate(node.blocks()):
            inputs += self._block(block, f"{scope}/{name}/block_{index}", operands)
        with self.builder.scope(scope):
            self._make(name, node.kind(), inputs, list(node.outputs()), attributes)

    def _block(self, block: Any, scope: str, operands: list[list[Ref]]) -> list[Ref]:
        """Adds a branch, or the body of a loop, whose last arguments are the last operands."""
        values = list(block.inputs())
        first = len(operands) - len(values)
        for index, value in enumerate(values, first):
            with self.builder.scope(scope):
                given = operands[index] if index >= 0 else []
                self._make("argument", "Placeholder", given, [value])
        for node in block.nodes():
            self._node(node, scope)
        return [ref for value in block.outputs() for ref in self._flat(value)]

    def _flat(self, value: Any) -> list[Ref]:
        """The references in a value, also in nested lists; none in a constant."""
        return list(_references(self._refs.get(value.debugName())))

    def _make(
        self,
        name: str,
        op: str,
        inputs: Sequence[str],
        values: list[Any],
        attributes: dict[str, Any] | None = None,
    ) -> None:
        details = _traced_details(_items(values))
        made = add(self.builder, clean_name(name), op, inputs, attributes=attributes, **details)
        for value, ref in zip(values, outputs_of(made, len(values)), strict=True):
            self._refs[value.debugName()] = ref


def _is_parameter(tensor: torch.Tensor) -> bool:
    return isinstance(tensor, torch.nn.Parameter) or tensor.requires_grad


def _references(value: Any) -> Iterator[Ref]:
    if isinstance(value, Ref):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from _references(item)


def _items(values: list[Any]) -> list[Any]:
    """What a node makes; for a single list, the items that the node after it takes out."""
    if len(values) == 1:
        for use in values[0].uses():
            if use.user.kind() in _UNPACKS:
                return list(use.user.outputs())
    return values


def _traced_details(values: list[Any]) -> dict[str, Any]:
    details: dict[str, Any] = {"shapes": [_traced_shape(value) for value in values]}
    dtypes = [_traced_type(value, "dtype") for value in values]
    if dtypes and all(dtypes):
        details["dtypes"] = [str(dtype).removeprefix("torch.") for dtype in dtypes]
    device = next(filter(None, (_traced_type(value, "device") for value in values)), None)
    if device is not None:
        details["device"] = device_name(str(device))
    return details


def _traced_type(value: Any, name: str) -> Any:
    method: Callable[[], Any] | None = getattr(value.type(), name, None)
    return method() if value.type().kind() == "TensorType" and method is not None else None


def _traced_shape(value: Any) -> list[int | None] | None:
    sizes = _traced_type(value, "sizes")
    return None if sizes is None else list(sizes)


def _argument_names(node: Any) -> list[str]:
    try:
        schema = torch._C.parse_schema(node.schema())
    except RuntimeError:  # kinds of TorchScript itself have none
        return []
    return [argument.name for argument in schema.arguments]
