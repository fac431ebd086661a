"""PyTorch models as `torch.export` sees them: every operation, its module and its shapes."""

from __future__ import annotations

import contextlib
import logging
import sys
import threading
from collections.abc import Iterator
from typing import Any

import torch

from tfevents.graph import GraphBuilder, clean_name
from tfevents.integrations._torch_nodes import (
    PLAIN,
    Ref,
    Scopes,
    add,
    attribute,
    describe,
    outputs_of,
)

__all__ = ["MutableOutputError", "exported"]

_log = logging.getLogger(__name__)


class MutableOutputError(RuntimeError):
    """The model returns a list or dict, and that was not allowed."""


def exported(
    model: Any, arguments: tuple[Any, ...], verbose: bool, use_strict_trace: bool
) -> GraphBuilder:
    with _quiet():
        program = torch.export.export(model, arguments, strict=False)
    if verbose:
        _log.info("%s", program)
    out_spec = program.call_spec.out_spec
    if use_strict_trace and out_spec is not None and _has_mutable(out_spec):
        raise MutableOutputError(
            f"{type(model).__name__} returns a list or dict, which a trace can get wrong; "
            f"return a tuple, or pass use_strict_trace=False"
        )
    return _ExportedGraph(model, program).builder


class _OtherThreads:
    """A text stream that drops what the thread that made it writes."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream
        self._thread = threading.get_ident()

    def write(self, text: str) -> int:
        if threading.get_ident() == self._thread:
            return len(text)
        return int(self._stream.write(text))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Keeps a failing export from printing: its error is handled, so nobody needs the rest."""
    thread = threading.get_ident()
    known = [logging.getLogger(name) for name in logging.root.manager.loggerDict]
    ours = [logger for logger in known if f"{logger.name}.".startswith("torch.")]
    handlers = {handler for logger in [*ours, logging.root] for handler in logger.handlers}

    def of_others(record: logging.LogRecord) -> bool:
        return record.thread != thread

    for handler in handlers:
        handler.addFilter(of_others)
    try:
        with contextlib.redirect_stderr(_OtherThreads(sys.stderr)):
            yield
    finally:
        for handler in handlers:
            handler.removeFilter(of_others)


def _has_mutable(spec: Any) -> bool:
    if spec.type in (list, dict):
        return True
    return any(map(_has_mutable, spec.children() if callable(spec.children) else spec.children))


class _ExportedGraph:
    """Walks an exported program; `refs` maps its nodes to references, lists of them, or values."""

    def __init__(self, model: Any, program: Any) -> None:
        self.builder = GraphBuilder()
        self._scopes = Scopes(model)
        self._refs: dict[Any, Any] = {}
        self._specs = {spec.arg.name: spec for spec in program.graph_signature.input_specs}
        self._results = program.graph_signature.output_specs
        for node in program.graph.nodes:
            if node.op == "placeholder":
                self._input(node)
            elif node.op == "output":
                self._outputs(node)
            else:
                self._inner(node, self._scopes.of(_module_path(node)), program.graph_module)

    def _input(self, node: Any) -> None:
        spec = self._specs.get(node.name)
        kind = spec.kind.name if spec is not None else "USER_INPUT"
        value = node.meta.get("val")
        if kind == "USER_INPUT":
            if value is None or isinstance(value, PLAIN):
                self._refs[node] = value  # an argument that is no tensor
                return
            scope, name, op = "input", clean_name(node.name), "IO Node"
        else:
            target = spec.target if spec is not None else None
            scope, name = self._scopes.of_parameter(target or node.name)
            op = {"PARAMETER": "Parameter", "BUFFER": "Buffer"}.get(kind, "Const")
            if not node.users:
                return
        with self.builder.scope(scope):
            self._refs[node] = add(self.builder, name, op, [], **describe([value]))

    def _inner(self, node: Any, scope: str, owner: Any) -> None:
        if node.op == "get_attr":
            value = _attribute_of(owner, node.target)
            if isinstance(value, torch.fx.GraphModule):
                self._refs[node] = value
            else:
                with self.builder.scope(scope):
                    name = clean_name(str(node.target).rpartition(".")[2])
                    self._refs[node] = add(self.builder, name, "Const", [], **describe([value]))
            return
        name = getattr(node.target, "__name__", str(node.target))
        if name == "getitem" and isinstance(self._refs.get(node.args[0]), list):
            self._refs[node] = self._refs[node.args[0]][node.args[1]]
            return
        operands, attributes = self._operands(node)
        bodies = [x for x in operands if isinstance(x, torch.fx.GraphModule)]
        inputs = [x for x in operands if isinstance(x, Ref)]
        if bodies:
            inputs += self._bodies(node, bodies, inputs, scope)
        value = node.meta.get("val")
        values = list(value) if isinstance(value, (list, tuple)) else [value]
        with self.builder.scope(scope):
            made = add(
                self.builder,
                clean_name(node.name),
                _op_name(node.target),
                inputs,
                attributes=attributes,
                **describe(values),
            )
        several = isinstance(value, (list, tuple))
        self._refs[node] = outputs_of(made, len(values)) if several else made

    def _operands(self, node: Any) -> tuple[list[Any], dict[str, Any]]:
        """References and bodies in order; the constants, by the names of their arguments."""
        schema = getattr(node.target, "_schema", None)
        names = [argument.name for argument in schema.arguments] if schema else []
        named = [(names[i] if i < len(names) else f"arg{i}", x) for i, x in enumerate(node.args)]
        operands: list[Any] = []
        attributes: dict[str, Any] = {}
        for name, value in [*named, *node.kwargs.items()]:
            leaves: list[Any] = []
            torch.fx.map_arg(value, lambda leaf, leaves=leaves: leaves.append(self._refs.get(leaf)))
            found = [x for leaf in leaves for x in (leaf if isinstance(leaf, list) else [leaf])]
            linked = [x for x in found if isinstance(x, (Ref, torch.fx.GraphModule))]
            operands += linked
            if not linked and value is not None and not (leaves and found == [None] * len(found)):
                attributes[name] = attribute(found[0] if leaves else value)
        return operands, attributes

    def _bodies(self, node: Any, bodies: list[Any], operands: list[Ref], scope: str) -> list[Ref]:
        """The branches of a condition, the body of a loop: a scope each. Returns their results."""
        results: list[Any] = []
        for index, body in enumerate(bodies):
            inner = f"{scope}/{clean_name(node.name)}/body_{index}"
            placeholders = [n for n in body.graph.nodes if n.op == "placeholder"]
            given = operands[-len(placeholders) :] if placeholders else []
            given = given if len(given) == len(placeholders) else []
            for position, placeholder in enumerate(placeholders):
                with self.builder.scope(inner):
                    self._refs[placeholder] = add(
                        self.builder,
                        clean_name(placeholder.name),
                        "Placeholder",
                        given[position : position + 1],
                        **describe([placeholder.meta.get("val")]),
                    )
            for child in body.graph.nodes:
                if child.op == "output":
                    torch.fx.map_arg(child.args, lambda leaf: results.append(self._refs.get(leaf)))
                elif child.op != "placeholder":
                    self._inner(child, inner, body)
        return [result for result in results if isinstance(result, Ref)]

    def _outputs(self, node: Any) -> None:
        leaves: list[Any] = []
        torch.fx.map_arg(node.args, leaves.append)
        named = {leaf.name: leaf for leaf in leaves}
        # A program may also return the buffers that it changes.
        results = [spec.arg for spec in self._results if spec.kind.name == "USER_OUTPUT"]
        for index, result in enumerate(results, 1):
            leaf = named.get(getattr(result, "name", None))
            ref = self._refs.get(leaf)
            if leaf is not None and isinstance(ref, Ref):
                details = describe([leaf.meta.get("val")])
                add(self.builder, f"output/output.{index}", "IO Node", [ref], **details)


def _module_path(node: Any) -> str:
    stack = node.meta.get("nn_module_stack")
    if not stack:
        return ""
    return str(list(stack.values())[-1][0])


def _attribute_of(owner: Any, target: str) -> Any:
    for part in target.split("."):
        owner = getattr(owner, part, None)
    return owner


def _op_name(target: Any) -> str:
    schema = getattr(target, "_schema", None)
    if schema is not None:
        return str(schema.name)  # "aten::conv2d", as PyTorch's own graphs have it
    return str(getattr(target, "__name__", target))
