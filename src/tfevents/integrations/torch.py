"""PyTorch modules as graphs.

`torch.export` knows the operations of a model, the module each stands in and every shape, so it
comes first. Models it refuses, such as those whose Python code looks at values, are traced by
`torch.jit`. Either way each module is a scope named `Class[attribute]`, as in PyTorch's own graphs,
and holds its parameters; numbers and flags are attributes of their operation, not nodes.
"""

from __future__ import annotations

import contextlib
import logging
import re
import sys
import threading
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from tfevents.graph import GraphBuilder, clean_name

try:
    import torch
except ImportError as error:
    raise ImportError(
        "graphs of PyTorch modules need torch: pip install 'tfevents[torch]'"
    ) from error

if TYPE_CHECKING:
    from tfevents import proto

__all__ = ["torch_graph"]

_log = logging.getLogger(__name__)

_PLAIN = (bool, int, float, str)


class _Ref(str):
    """The name of one output of a node, as the inputs of other nodes have it."""

    __slots__ = ()


def torch_graph(
    model: Any, example_inputs: Any, verbose: bool = False, use_strict_trace: bool = True
) -> tuple[proto.GraphDef, proto.RunMetadata]:
    """The graph of a module, as it is in evaluation mode.

    The model runs on stand-ins for `example_inputs`, or on these themselves if it has to be traced.
    The training mode of each of its modules is restored.

    Args:
        model: a Module, ScriptModule or ScriptFunction.
        example_inputs: a tuple of arguments, or the only one.
        verbose: logs what PyTorch made of the model, at level INFO.
        use_strict_trace: refuse lists and dicts among the outputs, as `torch.jit.trace` does.

    Returns:
        The graph, and metadata that lists the devices its tensors are on.

    Raises:
        RuntimeError: neither way works; the text has both reasons.
    """
    arguments = _arguments(example_inputs)
    with _evaluating(model), warnings.catch_warnings(), torch.no_grad():
        warnings.simplefilter("ignore")
        try:
            builder = _exported(model, arguments, verbose, use_strict_trace)
        except _MutableOutputError:
            raise
        except Exception as export_error:
            try:
                builder = _traced(model, arguments, verbose, use_strict_trace)
            except Exception as trace_error:
                raise RuntimeError(
                    f"no graph of {type(model).__name__}: torch.export failed "
                    f"({_first_line(export_error)}), and so did torch.jit.trace "
                    f"({_first_line(trace_error)})"
                ) from trace_error
    graph = builder.build()
    return graph, _run_metadata(graph)


class _MutableOutputError(RuntimeError):
    pass


def _arguments(example_inputs: Any) -> tuple[Any, ...]:
    if isinstance(example_inputs, (tuple, list)):
        return tuple(example_inputs)
    return (example_inputs,)


@contextlib.contextmanager
def _evaluating(model: Any) -> Iterator[None]:
    modules = list(model.modules()) if isinstance(model, torch.nn.Module) else []
    modes = [module.training for module in modules]
    try:
        if modules:
            model.eval()
        yield
    finally:
        for module, mode in zip(modules, modes, strict=True):
            module.training = mode


def _first_line(error: Exception) -> str:
    text = str(error).strip().split("\n")[0]
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def _run_metadata(graph: proto.GraphDef) -> proto.RunMetadata:
    from tfevents import proto

    metadata = proto.RunMetadata()
    for device in sorted({node.device for node in graph.node if node.device}) or [_device("cpu")]:
        metadata.step_stats.dev_stats.add(device=device)
    return metadata


# Tensors


_DEVICE_NAMES = {"cpu": "CPU", "cuda": "GPU"}


def _device(name: str) -> str:
    kind, _, index = str(name).partition(":")
    return f"/device:{_DEVICE_NAMES.get(kind, kind.upper())}:{index or 0}"


def _describe(values: Sequence[Any]) -> dict[str, Any]:
    """Shapes, dtypes and device of the tensors a node makes, as GraphBuilder.node takes them."""
    result: dict[str, Any] = {"shapes": [_shape(value) for value in values]}
    tensors = [value for value in values if isinstance(value, torch.Tensor)]
    if tensors:
        result["device"] = _device(str(tensors[0].device))
    if tensors and len(tensors) == len(values):
        result["dtypes"] = [str(value.dtype).removeprefix("torch.") for value in values]
    return result


def _shape(value: Any) -> list[int | None] | None:
    if isinstance(value, torch.Tensor):
        return [size if isinstance(size, int) else None for size in value.shape]
    return [] if isinstance(value, (*_PLAIN, torch.SymInt, torch.SymFloat)) else None


def _add(builder: GraphBuilder, name: str, op: str, inputs: Sequence[str], **details: Any) -> _Ref:
    """Adds a node under a free name; without its dtypes, if TensorFlow has no word for them."""
    name = builder.unique_name(name)
    try:
        return _Ref(builder.node(name, op, inputs, **details))
    except ValueError:
        return _Ref(builder.node(name, op, inputs, **{**details, "dtypes": None}))


def _attribute(value: Any) -> Any:
    """A constant argument as an attribute."""
    if isinstance(value, _PLAIN):
        return value if not isinstance(value, int) or abs(value) < 1 << 62 else str(value)
    if isinstance(value, (list, tuple)) and value:
        kinds = {type(item) for item in value}
        if len(kinds) == 1 and kinds <= set(_PLAIN):
            return list(value)
    return str(value)


# Scopes


class _Scopes:
    """Module paths as scopes: "block.0" of Net is "Net/Sequential[block]/Linear[0]"."""

    def __init__(self, model: Any) -> None:
        self._root = clean_name(_class_name(model))
        named = model.named_modules() if isinstance(model, torch.nn.Module) else ()
        self._classes = {path: _class_name(module) for path, module in named}

    def of(self, path: str) -> str:
        parts = path.split(".") if path else []
        result = [self._root]
        for end in range(1, len(parts) + 1):
            # A module that is called again has a path with the number of the call: "fc@1".
            prefix = re.sub(r"@\d+", "", ".".join(parts[:end]))
            name = self._classes.get(prefix)
            label = f"{name}[{parts[end - 1]}]" if name else parts[end - 1]
            result.append(clean_name(label))
        return "/".join(result)

    def of_parameter(self, path: str) -> tuple[str, str]:
        """The scope of a parameter's module, and its own name."""
        module, _, name = path.rpartition(".")
        return self.of(module), clean_name(name)


def _class_name(module: Any) -> str:
    return str(getattr(module, "original_name", None) or type(module).__name__)


# torch.export


def _exported(
    model: Any, arguments: tuple[Any, ...], verbose: bool, use_strict_trace: bool
) -> GraphBuilder:
    with _quiet():
        program = torch.export.export(model, arguments, strict=False)
    if verbose:
        _log.info("%s", program)
    out_spec = program.call_spec.out_spec
    if use_strict_trace and out_spec is not None and _has_mutable(out_spec):
        raise _MutableOutputError(
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
        self._scopes = _Scopes(model)
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
            if value is None or isinstance(value, _PLAIN):
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
            self._refs[node] = _add(self.builder, name, op, [], **_describe([value]))

    def _inner(self, node: Any, scope: str, owner: Any) -> None:
        if node.op == "get_attr":
            value = _attribute_of(owner, node.target)
            if isinstance(value, torch.fx.GraphModule):
                self._refs[node] = value
            else:
                with self.builder.scope(scope):
                    name = clean_name(str(node.target).rpartition(".")[2])
                    self._refs[node] = _add(self.builder, name, "Const", [], **_describe([value]))
            return
        name = getattr(node.target, "__name__", str(node.target))
        if name == "getitem" and isinstance(self._refs.get(node.args[0]), list):
            self._refs[node] = self._refs[node.args[0]][node.args[1]]
            return
        operands, attributes = self._operands(node)
        bodies = [x for x in operands if isinstance(x, torch.fx.GraphModule)]
        inputs = [x for x in operands if isinstance(x, _Ref)]
        if bodies:
            inputs += self._bodies(node, bodies, inputs, scope)
        value = node.meta.get("val")
        values = list(value) if isinstance(value, (list, tuple)) else [value]
        with self.builder.scope(scope):
            made = _add(
                self.builder,
                clean_name(node.name),
                _op_name(node.target),
                inputs,
                attributes=attributes,
                **_describe(values),
            )
        several = isinstance(value, (list, tuple))
        self._refs[node] = _outputs_of(made, len(values)) if several else made

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
            linked = [x for x in found if isinstance(x, (_Ref, torch.fx.GraphModule))]
            operands += linked
            if not linked and value is not None and not (leaves and found == [None] * len(found)):
                attributes[name] = _attribute(found[0] if leaves else value)
        return operands, attributes

    def _bodies(self, node: Any, bodies: list[Any], operands: list[_Ref], scope: str) -> list[_Ref]:
        """The branches of a condition, the body of a loop: a scope each. Returns their results."""
        results: list[Any] = []
        for index, body in enumerate(bodies):
            inner = f"{scope}/{clean_name(node.name)}/body_{index}"
            placeholders = [n for n in body.graph.nodes if n.op == "placeholder"]
            given = operands[-len(placeholders) :] if placeholders else []
            given = given if len(given) == len(placeholders) else []
            for position, placeholder in enumerate(placeholders):
                with self.builder.scope(inner):
                    self._refs[placeholder] = _add(
                        self.builder,
                        clean_name(placeholder.name),
                        "Placeholder",
                        given[position : position + 1],
                        **_describe([placeholder.meta.get("val")]),
                    )
            for child in body.graph.nodes:
                if child.op == "output":
                    torch.fx.map_arg(child.args, lambda leaf: results.append(self._refs.get(leaf)))
                elif child.op != "placeholder":
                    self._inner(child, inner, body)
        return [result for result in results if isinstance(result, _Ref)]

    def _outputs(self, node: Any) -> None:
        leaves: list[Any] = []
        torch.fx.map_arg(node.args, leaves.append)
        named = {leaf.name: leaf for leaf in leaves}
        # A program may also return the buffers that it changes.
        results = [spec.arg for spec in self._results if spec.kind.name == "USER_OUTPUT"]
        for index, result in enumerate(results, 1):
            leaf = named.get(getattr(result, "name", None))
            ref = self._refs.get(leaf)
            if leaf is not None and isinstance(ref, _Ref):
                details = _describe([leaf.meta.get("val")])
                _add(self.builder, f"output/output.{index}", "IO Node", [ref], **details)


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


def _outputs_of(node: _Ref, count: int) -> list[_Ref]:
    return [node if index == 0 else _Ref(f"{node}:{index}") for index in range(count)]


# torch.jit


def _traced(
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
    """Walks a TorchScript graph; `refs` maps the names of values as in `_ExportedGraph`."""

    def __init__(self, model: Any, graph: Any) -> None:
        self.builder = GraphBuilder()
        self._scopes = _Scopes(model)
        self._refs: dict[str, Any] = {}
        self._paths: dict[str, str] = {}  # of values that are modules
        self._parameters: dict[str, _Ref] = {}
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
                _add(self.builder, f"output/output.{count}", "IO Node", [ref], **details)

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
                details = _traced_details([value]) if tensor is None else _describe([tensor])
                self._parameters[path] = _add(self.builder, name, op, [], **details)
        self._refs[value.debugName()] = self._parameters[path]

    def _unpack(self, node: Any) -> bool:
        ref = self._refs.get(node.input().debugName())
        names = [value.debugName() for value in node.outputs()]
        if isinstance(ref, _Ref):  # a list that an operation made
            ref = _outputs_of(ref, len(names))
        if not isinstance(ref, list) or len(ref) != len(names):
            return False
        self._refs.update(zip(names, ref, strict=True))
        return True

    def _operation(self, node: Any, scope: str) -> None:
        names = _argument_names(node)
        inputs: list[_Ref] = []
        attributes: dict[str, Any] = {}
        for index, value in enumerate(node.inputs()):
            linked = self._flat(value)
            inputs += linked
            constant = self._refs.get(value.debugName())
            if not linked and constant is not None:
                name = names[index] if index < len(names) else f"arg{index}"
                attributes[name] = _attribute(constant)
        name = clean_name(node.kind().rpartition("::")[2])
        operands = list(inputs)
        for index, block in enumerate(node.blocks()):
            inputs += self._block(block, f"{scope}/{name}/block_{index}", operands)
        with self.builder.scope(scope):
            self._make(name, node.kind(), inputs, list(node.outputs()), attributes)

    def _block(self, block: Any, scope: str, operands: list[_Ref]) -> list[_Ref]:
        values = list(block.inputs())
        given = operands[-len(values) :] if values else []
        for index, value in enumerate(values):
            with self.builder.scope(scope):
                self._make("argument", "Placeholder", given[index : index + 1], [value])
        for node in block.nodes():
            self._node(node, scope)
        return [ref for value in block.outputs() for ref in self._flat(value)]

    def _flat(self, value: Any) -> list[_Ref]:
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
        made = _add(self.builder, clean_name(name), op, inputs, attributes=attributes, **details)
        for value, ref in zip(values, _outputs_of(made, len(values)), strict=True):
            self._refs[value.debugName()] = ref


def _is_parameter(tensor: torch.Tensor) -> bool:
    return isinstance(tensor, torch.nn.Parameter) or tensor.requires_grad


def _references(value: Any) -> Iterator[_Ref]:
    if isinstance(value, _Ref):
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
        details["device"] = _device(str(device))
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
