"""What both ways of following a PyTorch model share: references, tensors, constants, scopes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import torch

from tfevents.graph import GraphBuilder, clean_name

__all__ = ["PLAIN", "Ref", "Scopes", "add", "attribute", "describe", "device_name", "outputs_of"]

PLAIN = (bool, int, float, str)


class Ref(str):
    """The name of one output of a node, as the inputs of other nodes have it."""

    __slots__ = ()


_DEVICE_NAMES = {"cpu": "CPU", "cuda": "GPU"}


def device_name(name: str) -> str:
    kind, _, index = str(name).partition(":")
    return f"/device:{_DEVICE_NAMES.get(kind, kind.upper())}:{index or 0}"


def describe(values: Sequence[Any]) -> dict[str, Any]:
    """Shapes, dtypes and device of the tensors a node makes, as GraphBuilder.node takes them."""
    result: dict[str, Any] = {"shapes": [_shape(value) for value in values]}
    tensors = [value for value in values if isinstance(value, torch.Tensor)]
    if tensors:
        result["device"] = device_name(str(tensors[0].device))
    if tensors and len(tensors) == len(values):
        result["dtypes"] = [str(value.dtype).removeprefix("torch.") for value in values]
    return result


def _shape(value: Any) -> list[int | None] | None:
    if isinstance(value, torch.Tensor):
        return [size if isinstance(size, int) else None for size in value.shape]
    return [] if isinstance(value, (*PLAIN, torch.SymInt, torch.SymFloat)) else None


def add(builder: GraphBuilder, name: str, op: str, inputs: Sequence[str], **details: Any) -> Ref:
    return Ref(builder.unique_node(name, op, inputs, **details))


def attribute(value: Any) -> Any:
    """A constant argument as an attribute."""
    if isinstance(value, PLAIN):
        return value if not isinstance(value, int) or abs(value) < 1 << 62 else str(value)
    if isinstance(value, (list, tuple)) and value:
        kinds = {type(item) for item in value}
        if len(kinds) == 1 and kinds <= set(PLAIN):
            return list(value)
    return str(value)


def outputs_of(node: Ref, count: int) -> list[Ref]:
    return [node if index == 0 else Ref(f"{node}:{index}") for index in range(count)]


class Scopes:
    """Module paths as scopes: "block.0" of Net is "Net/Sequential[block]/Linear[0]"."""

    def __init__(self, model: Any) -> None:
        self._root = clean_name(_class_name(model))
        self._classes: dict[str, str] = {}
        if isinstance(model, torch.nn.Module):
            named = model.named_modules(remove_duplicate=False)  # also the other names of a module
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
