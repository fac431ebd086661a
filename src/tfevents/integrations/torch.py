"""PyTorch modules as graphs.

`torch.export` knows the operations of a model, the module each stands in and every shape, so it
comes first. Models it refuses, such as those whose Python code looks at values, are traced by
`torch.jit`. Either way each module is a scope named `Class[attribute]`, as in PyTorch's own graphs,
and holds its parameters; numbers and flags are attributes of their operation, not nodes.
"""

from __future__ import annotations

import contextlib
import copy
import warnings
from collections import OrderedDict
from collections.abc import Iterator
from typing import Any

from tfevents import proto

try:
    import torch
except ImportError as error:
    raise ImportError("graphs of PyTorch modules need torch: pip install torch") from error

from torch.utils._pytree import tree_leaves, tree_map_only

from tfevents.integrations._torch_export import MutableOutputError, exported
from tfevents.integrations._torch_nodes import device_name
from tfevents.integrations._torch_trace import traced

__all__ = ["torch_graph"]

_CONTAINERS = (dict, OrderedDict, list, set)


def torch_graph(
    model: Any, example_inputs: Any, verbose: bool = False, use_strict_trace: bool = True
) -> tuple[proto.GraphDef, proto.RunMetadata]:
    """The graph of a module, as it is in evaluation mode.

    The model runs on stand-ins for `example_inputs`, or on copies of them if it has to be traced.
    Afterwards its modules have the modes, attributes and buffers that they had, and PyTorch's
    random numbers go on where they were.

    Args:
        model: a Module, ScriptModule or ScriptFunction.
        example_inputs: a tuple of arguments, or the only one.
        verbose: logs what PyTorch made of the model, at level INFO.
        use_strict_trace: refuse lists and dicts among the outputs, as `torch.jit.trace` does.

    Returns:
        The graph, and metadata that lists the devices its tensors are on.

    Raises:
        TypeError: the model cannot be called.
        RuntimeError: neither way works; the text has both reasons.
    """
    if not callable(model):
        raise TypeError(f"a torch module or function is needed, got {type(model).__name__}")
    arguments = _arguments(example_inputs)
    modules = list(model.modules()) if isinstance(model, torch.nn.Module) else []
    with _evaluating(modules), warnings.catch_warnings(), torch.no_grad():
        warnings.simplefilter("ignore")
        try:
            builder = exported(model, arguments, verbose, use_strict_trace)
        except MutableOutputError:
            raise
        except Exception as export_error:
            try:
                with _unchanged(modules, arguments):
                    copies = tree_map_only(torch.Tensor, torch.clone, arguments)
                    builder = traced(model, copies, verbose, use_strict_trace)
            except Exception as trace_error:
                raise RuntimeError(
                    f"no graph of {type(model).__name__}: torch.export failed "
                    f"({_first_line(export_error)}), and so did torch.jit.trace "
                    f"({_first_line(trace_error)})"
                ) from trace_error
    graph = builder.build()
    return graph, _run_metadata(graph)


def _arguments(example_inputs: Any) -> tuple[Any, ...]:
    if isinstance(example_inputs, (tuple, list)):
        return tuple(example_inputs)
    return (example_inputs,)


@contextlib.contextmanager
def _evaluating(modules: list[torch.nn.Module]) -> Iterator[None]:
    """Puts a model into evaluation mode, and then gives its modules back what they had."""
    modes = [module.training for module in modules]
    own = [module for module in modules if not isinstance(module, torch.jit.ScriptModule)]
    # Parameters, buffers and submodules stand in dicts among the attributes of a module.
    tables: list[Any] = [vars(module) for module in own]
    tables += [x for table in tables for x in table.values() if type(x) in _CONTAINERS]
    contents = [copy.copy(table) for table in tables]
    try:
        if modules:
            modules[0].eval()
        yield
    finally:
        # What `forward` has set may be a stand-in of the export, of no use to anybody.
        for table, content in zip(tables, contents, strict=True):
            table.clear()
            (table.extend if isinstance(table, list) else table.update)(content)
        for module, mode in zip(modules, modes, strict=True):
            module.training = mode


@contextlib.contextmanager
def _unchanged(modules: list[torch.nn.Module], arguments: Any) -> Iterator[None]:
    """Undoes what a run of the modules does to their buffers and to the random numbers."""
    buffers = [buffer for module in modules for buffer in module.buffers(recurse=False)]
    kept = [(buffer, buffer._version, buffer.clone()) for buffer in buffers]
    tensors = [*buffers, *(x for x in tree_leaves(arguments) if isinstance(x, torch.Tensor))]
    devices = {x.device.index for x in tensors if x.device.type == "cuda"}
    with torch.random.fork_rng(sorted(devices)):
        try:
            yield
        finally:
            for buffer, version, before in kept:
                if buffer._version != version:
                    buffer.copy_(before)


def _first_line(error: Exception) -> str:
    text = str(error).strip().split("\n")[0]
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def _run_metadata(graph: proto.GraphDef) -> proto.RunMetadata:
    metadata = proto.RunMetadata()
    devices = {node.device for node in graph.node if node.device} or {device_name("cpu")}
    for device in sorted(devices):
        metadata.step_stats.dev_stats.add(device=device)
    return metadata
