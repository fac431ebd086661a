"""Keras models as TensorBoard's conceptual graph: layers instead of operations.

TensorBoard takes the model's own JSON and makes the picture itself, so this works with every
backend of Keras. It is a tensor value of the plugin `graph_keras_model`, tag "keras".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tfevents import plugin, tensor

try:
    import keras
except ImportError as error:
    raise ImportError("graphs of Keras models need keras: pip install 'tfevents[keras]'") from error

if TYPE_CHECKING:
    from tfevents import proto

__all__ = ["KERAS_TAG", "keras_model_json", "keras_model_value"]

KERAS_TAG = "keras"  # of keras.callbacks.TensorBoard
# keras.Model(inputs, outputs) makes one; the class itself has no public name.
_FUNCTIONAL = type(keras.Model(*[keras.Input((1,))] * 2))
_VERSION = b"1"  # content of the plugin's metadata; TensorBoard ignores any other


def keras_model_json(model: Any) -> str:
    """The JSON of a Functional or Sequential model.

    Raises:
        TypeError: not such a model: subclassed ones have no graph that could be shown.
        ValueError: a Sequential model that is not built, or a layer without a config.
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
    from tfevents import proto

    value = proto.Summary.Value(tag=tag)
    value.metadata.CopyFrom(plugin.metadata(plugin.GRAPH_KERAS_MODEL, _VERSION))
    value.tensor.CopyFrom(tensor.to_proto(np.array(keras_model_json(model), dtype=object)))
    return value
