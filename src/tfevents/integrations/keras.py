"""Keras models as TensorBoard's conceptual graph: layers instead of operations.

TensorBoard takes the model's own JSON and makes the picture itself, so this works with every
backend of Keras. It is a tensor value of the plugin `graph_keras_model`, tag "keras".

TensorBoard reads positional arguments of a layer's call alone, and fails on one that is a plain
number; it wants the outputs of a model as a list, its inputs as a list of names. What Keras writes
otherwise is put so.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tfevents import plugin, proto, tensor

try:
    import keras
except ImportError as error:
    raise ImportError("graphs of Keras models need keras: pip install keras") from error

__all__ = ["KERAS_TAG", "keras_model_json", "keras_model_value"]

KERAS_TAG = "keras"  # of keras.callbacks.TensorBoard
# keras.Model(inputs, outputs) makes one; the class itself has no public name.
_FUNCTIONAL = type(keras.Model(*[keras.Input((1,))] * 2))
_VERSION = b"1"  # content of the plugin's metadata; TensorBoard ignores any other


def keras_model_json(model: Any) -> str:
    """The JSON of a Functional or Sequential model.

    Raises:
        TypeError: not such a model: subclassed ones have no graph that could be shown.
        ValueError: a layer without a config.
    """
    if not isinstance(model, (keras.Sequential, _FUNCTIONAL)):
        raise TypeError(
            f"a Functional or Sequential model of Keras is needed; got {type(model).__name__}"
        )
    try:
        return str(model.to_json())
    except NotImplementedError as error:
        raise ValueError(f"model {model.name!r} cannot be written as JSON: {error}") from error


def keras_model_value(model: Any, tag: str = KERAS_TAG) -> proto.Summary.Value:
    """The summary value that shows a model in the GRAPHS tab, as keras.callbacks.TensorBoard's.

    Raises:
        TypeError, ValueError: as `keras_model_json`.
    """
    value = proto.Summary.Value(tag=tag)
    value.metadata.CopyFrom(plugin.metadata(plugin.GRAPH_KERAS_MODEL, _VERSION))
    shown = json.loads(keras_model_json(model))
    _simplify(shown)
    value.tensor.CopyFrom(tensor.to_proto(np.array(json.dumps(shown), dtype=object)))
    return value


def _simplify(layer: dict[str, Any]) -> None:
    config = layer["config"]
    for call in layer.get("inbound_nodes") or ():
        arguments = [call.get("args"), call.get("kwargs")]
        call["args"] = list(_found(arguments, _is_tensor))
        call["kwargs"] = {}
    if "output_layers" in config:
        config["input_layers"] = [x[0] for x in _found(config["input_layers"], _is_history)]
        config["output_layers"] = list(_found(config["output_layers"], _is_history))
    for inner in config.get("layers") or ():
        if isinstance(inner, dict) and isinstance(inner.get("config"), dict):
            _simplify(inner)


def _is_tensor(node: Any) -> bool:
    return isinstance(node, dict) and node.get("class_name") == "__keras_tensor__"


def _is_history(node: Any) -> bool:
    """Whether this is [layer, call, output]."""
    return isinstance(node, list) and len(node) == 3 and isinstance(node[0], str)


def _found(node: Any, wanted: Callable[[Any], bool]) -> Iterator[Any]:
    """What is wanted in nested lists and dicts, in order."""
    if wanted(node):
        yield node
    elif isinstance(node, (dict, list)):
        for item in node.values() if isinstance(node, dict) else node:
            yield from _found(item, wanted)
