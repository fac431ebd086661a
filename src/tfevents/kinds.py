"""Which kind of data a stored value is, and what decodes it.

The kind of a value is told by the field that is set in it; a tensor, which all values of the newer
form are, has the kind of the plugin that its tag's metadata name.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

from tfevents import plugin, tensor
from tfevents._near import did_you_mean

if TYPE_CHECKING:
    from tfevents import proto

__all__ = ["KINDS", "SERIES", "Decoder", "checked", "decoder", "kind_of", "plugin_data"]

#: Makes a value of its form, its bytes, and the metadata of its tag (serialized).
Decoder = Callable[[str, bytes, bytes], Any]

#: The kinds of data that `Run.tags()` lists, in its order.
KINDS = (
    "scalars",
    "images",
    "audio",
    "histograms",
    "texts",
    "tensors",
    "hparams",
    "pr_curves",
    "meshes",
    "custom_scalars",
    "graphs",
    "run_metadata",
)

#: Those that `Run` gives as series by their name.
SERIES = tuple(kind for kind in KINDS if kind != "graphs")

_FORM_KINDS = {
    "simple_value": "scalars",
    "histo": "histograms",
    "image": "images",
    "audio": "audio",
    "graph_def": "graphs",
    "meta_graph_def": "graphs",
    "tagged_run_metadata": "run_metadata",
}
_PLUGIN_KINDS = {
    plugin.SCALARS: "scalars",
    plugin.IMAGES: "images",
    plugin.AUDIO: "audio",
    plugin.HISTOGRAMS: "histograms",
    plugin.TEXT: "texts",
    plugin.HPARAMS: "hparams",
    plugin.PR_CURVES: "pr_curves",
    plugin.MESH: "meshes",
    plugin.CUSTOM_SCALARS: "custom_scalars",
    plugin.GRAPH_RUN_METADATA: "run_metadata",
    plugin.GRAPH_RUN_METADATA_GRAPH: "run_metadata",
}


def checked(kind: str, known: Sequence[str] = KINDS) -> str:
    """Returns `kind`.

    Raises:
        ValueError: it is none of those known; the text names a near one.
    """
    if kind in known:
        return kind
    hint = did_you_mean(kind, known, most=1)
    raise ValueError(f"kind must be one of {', '.join(known)}, not {kind!r}{hint}")


def kind_of(form: str, name: str) -> str | None:
    """The kind of a value, by the field that is set or else by its plugin."""
    if form in _FORM_KINDS:
        return _FORM_KINDS[form]
    if form == "tensor":
        return _PLUGIN_KINDS.get(name, "tensors")
    return "hparams" if name == plugin.HPARAMS else None


def plugin_data(metadata: bytes) -> Any:
    """The plugin's part of serialized metadata."""
    from tfevents import proto

    return proto.SummaryMetadata.FromString(metadata).plugin_data


def _message(form: str, data: bytes, metadata: bytes) -> proto.Summary.Value:
    """A value; where its tag's metadata are on an earlier event, with those."""
    from tfevents import proto

    value = proto.Summary.Value.FromString(data)
    if metadata and form in ("", "tensor") and not value.metadata.plugin_data.plugin_name:
        value.metadata.plugin_data.CopyFrom(plugin_data(metadata))
    return value


def _decode_graph(form: str, data: bytes, metadata: bytes) -> proto.GraphDef:
    from tfevents import proto

    if form == "meta_graph_def":
        return proto.MetaGraphDef.FromString(data).graph_def
    return proto.GraphDef.FromString(data)


def _decode_run_metadata(form: str, data: bytes, metadata: bytes) -> proto.RunMetadata:
    from tfevents import proto

    if form != "tagged_run_metadata":
        data = tensor.from_proto(proto.Summary.Value.FromString(data).tensor).ravel()[0]
    return proto.RunMetadata.FromString(data)


def _decode_number(form: str, data: bytes, metadata: bytes) -> float:
    return float(tensor.from_proto(_message(form, data, metadata).tensor).item())


# Kind -> module and class in tfevents.values, imported when such a value is first decoded.
_VALUES = {
    "images": ("image", "Image"),
    "audio": ("audio", "Audio"),
    "histograms": ("histogram", "Histogram"),
    "texts": ("text", "Text"),
    "tensors": ("tensor", "Tensor"),
    "hparams": ("hparams", "HParams"),
    "pr_curves": ("pr_curve", "PrCurve"),
    "meshes": ("mesh", "Mesh"),
    "custom_scalars": ("custom_scalars", "CustomScalars"),
}
_DECODERS: dict[str, Decoder] = {
    "scalars": _decode_number,
    "graphs": _decode_graph,
    "run_metadata": _decode_run_metadata,
}


def decoder(kind: str) -> Decoder:
    """What makes a value of this kind of its form, its bytes and the metadata of its tag."""
    if kind in _DECODERS:
        return _DECODERS[kind]
    module, name = _VALUES[kind]
    from_value = getattr(import_module(f"tfevents.values.{module}"), name).from_value
    return lambda form, data, metadata: from_value(_message(form, data, metadata))
