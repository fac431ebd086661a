"""PyTorch modules as graphs.

`torch.export` knows the operations of a model, the module each stands in and every shape, so it
comes first. Models it refuses, such as those whose Python code looks at values, are traced by
`torch.jit`. Either way each module is a scope named `Class[attribute]`, as in PyTorch's own graphs,
and holds its parameters; numbers and flags are attributes of their operation, not nodes.
"""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

try:
    import torch
except ImportError as error:
    raise ImportError(
        "graphs of PyTorch modules need torch: pip install 'tfevents[torch]'"
    ) from error

from tfevents.integrations._torch_export import MutableOutputError, exported
from tfevents.integrations._torch_nodes import device_name
from tfevents.integrations._torch_trace import traced

if TYPE_CHECKING:
    from tfevents import proto

__all__ = ["torch_graph"]


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
        TypeError: the model cannot be called.
        RuntimeError: neither way works; the text has both reasons.
    """
    if not callable(model):
        raise TypeError(f"a torch module or function is needed, got {type(model).__name__}")
    arguments = _arguments(example_inputs)
    with _evaluating(model), warnings.catch_warnings(), torch.no_grad():
        warnings.simplefilter("ignore")
        try:
            builder = exported(model, arguments, verbose, use_strict_trace)
        except MutableOutputError:
            raise
        except Exception as export_error:
            try:
                builder = traced(model, arguments, verbose, use_strict_trace)
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
    devices = {node.device for node in graph.node if node.device} or {device_name("cpu")}
    for device in sorted(devices):
        metadata.step_stats.dev_stats.add(device=device)
    return metadata
