"""Old forms of events in the form that TensorBoard works with: every value a tensor.

The fields `simple_value`, `histo`, `image` and `audio` become tensors of their plugins; graphs and
run metadata become values too; and metadata are told their data class, which older writers left
out. Differences from our own encoders are TensorBoard's: histograms of float32 without their outer
empty buckets, and the tag as the display name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tfevents import plugin, tensor

if TYPE_CHECKING:
    from tfevents import proto

__all__ = ["Migration"]

# What TensorBoard puts in the plugin's content for a converted image or audio clip.
_CONVERTED_IMAGE = b"\x10\x01"
_CONVERTED_AUDIO = b"\x10\x0b\x18\x01"


class Migration:
    """Migrates the events of one run, in order: the first metadata of a tag rule its later ones."""

    def __init__(self) -> None:
        self._first: dict[str, Any] = {}

    def events(self, event: proto.Event) -> list[proto.Event]:
        """The events that take the place of one."""
        what = event.WhichOneof("what")
        if what == "graph_def":
            made = _blob(event, plugin.GRAPH_TAG, plugin.GRAPHS, event.graph_def)
            return [event, made]
        if what == "tagged_run_metadata":
            run = event.tagged_run_metadata
            return [_blob(event, run.tag, plugin.GRAPH_TAGGED_RUN_METADATA, run.run_metadata)]
        if what == "summary":
            for value in event.summary.value:
                form = value.WhichOneof("value")
                if form in _TENSORS:
                    _as_tensor(value, form)
                self._complete(value)
        return [event]

    def _complete(self, value: Any) -> None:
        """Tells the metadata their data class, and straightens what depends on it."""
        first = self._first.get(value.tag)
        if first is None:
            first = type(value.metadata)()
            first.CopyFrom(value.metadata)
            self._first[value.tag] = first
        name = first.plugin_data.plugin_name
        if first.data_class or name not in plugin.DATA_CLASSES or name == plugin.TENSOR:
            return
        if value.HasField("metadata"):
            value.metadata.data_class = plugin.DATA_CLASSES[name]
        shape = value.tensor.tensor_shape.dim
        if name == plugin.AUDIO:
            _drop_labels(value.tensor)
        elif name == plugin.HPARAMS and not value.HasField("tensor"):
            value.tensor.MergeFromString(_empty().SerializeToString())
        elif name in _GRAPHS and not shape:
            shape.add(size=1)


_GRAPHS = (plugin.GRAPH_RUN_METADATA, plugin.GRAPH_RUN_METADATA_GRAPH, plugin.GRAPH_KERAS_MODEL)


def _empty() -> proto.TensorProto:
    return tensor.to_proto(np.zeros(0, np.float32))


def _blob(event: Any, tag: str, name: str, data: bytes) -> Any:
    made = type(event)(wall_time=event.wall_time, step=event.step)
    value = made.summary.value.add(tag=tag)
    _fill(value.tensor, np.array([data], object))
    value.metadata.plugin_data.plugin_name = name
    value.metadata.data_class = plugin.DATA_CLASS_BLOB_SEQUENCE
    return made


def _as_tensor(value: Any, form: str) -> None:
    """Puts the tensor form in the place of a field."""
    name, content, convert = _TENSORS[form]
    data = convert(value)
    about = value.metadata
    made = plugin.metadata(
        name,
        content,
        display_name=about.display_name or value.tag,
        description=about.summary_description,
    )
    value.ClearField(form)
    value.ClearField("metadata")
    value.metadata.MergeFromString(made.SerializeToString())
    _fill(value.tensor, data)


def _fill(target: Any, data: np.ndarray[Any, np.dtype[Any]]) -> None:
    target.MergeFromString(tensor.to_proto(data, packed=data.size > 1).SerializeToString())


def _drop_labels(message: Any) -> None:
    """Audio of rank 2 is clips and labels; only the clips are kept."""
    stride = 1
    while len(message.tensor_shape.dim) > 1:
        stride *= message.tensor_shape.dim.pop().size
    if stride > 1:
        message.string_val[:] = message.string_val[::stride]


def _number(value: Any) -> np.ndarray[Any, np.dtype[Any]]:
    return np.array(value.simple_value, np.float32)


def _image(value: Any) -> np.ndarray[Any, np.dtype[Any]]:
    image = value.image
    return np.array([b"%d" % image.width, b"%d" % image.height, image.encoded_image_string], object)


def _audio(value: Any) -> np.ndarray[Any, np.dtype[Any]]:
    return np.array([[value.audio.encoded_audio_string, b""]], object)


def _histogram(value: Any) -> np.ndarray[Any, np.dtype[Any]]:
    """[k, 3] left, right, count. The outer limits may be ±DBL_MAX, so min and max replace them."""
    field = value.histo
    counts = np.array(field.bucket)
    filled = np.flatnonzero(counts > 0)
    if not len(filled):
        return np.zeros((0, 3), np.float32)
    start, end = int(filled[0]), int(filled[-1])
    inner = list(field.bucket_limit[start:end])
    with np.errstate(over="ignore"):
        columns = [[field.min, *inner], [*inner, field.max], counts[start : end + 1]]
        rows: np.ndarray[Any, np.dtype[Any]] = np.array(columns, np.float64).T.astype(np.float32)
    return rows


_TENSORS = {
    "simple_value": (plugin.SCALARS, b"", _number),
    "histo": (plugin.HISTOGRAMS, b"", _histogram),
    "image": (plugin.IMAGES, _CONVERTED_IMAGE, _image),
    "audio": (plugin.AUDIO, _CONVERTED_AUDIO, _audio),
}
