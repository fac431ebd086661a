"""The message builders of `torch.utils.tensorboard.summary`, which loggers import.

Each returns a Summary message of `tfevents.proto` and writes nothing.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tfevents import arrays, plugin, proto
from tfevents.values.histogram import Histogram
from tfevents.values.image import Image
from tfevents.values.scalar import Scalar
from tfevents.values.tensor import Tensor
from tfevents.values.text import Text

if TYPE_CHECKING:
    import numpy as np

__all__ = [
    "audio",
    "compute_curve",
    "custom_scalars",
    "draw_boxes",
    "half_to_int",
    "histogram",
    "histogram_raw",
    "hparams",
    "image",
    "image_boxes",
    "int_to_half",
    "make_histogram",
    "make_image",
    "make_video",
    "mesh",
    "pr_curve",
    "pr_curve_raw",
    "scalar",
    "tensor_proto",
    "text",
    "video",
]


def _summary(*values: proto.Summary.Value) -> proto.Summary:
    return proto.Summary(value=values)


def half_to_int(f: float) -> int:
    """The bits of a float16, as an int.

    The float32 bits are meant by the function of this name in torch; its results no reader of
    half_val understands.
    """
    bits: int = struct.unpack("<H", struct.pack("<e", f))[0]
    return bits


def int_to_half(i: int) -> float:
    """The float16 of these 16 bits."""
    value: float = struct.unpack("<e", struct.pack("<H", i))[0]
    return value


def scalar(
    name: str, tensor: Any, collections: Any = None, new_style: bool = False,
    double_precision: bool = False,
) -> proto.Summary:
    """A number: `simple_value`, or with `new_style` a tensor of 32 or 64 bits."""
    value = Scalar.from_data(tensor, tag=name, double=new_style and double_precision)
    return _summary(value.to_torch_value(name) if new_style else value.to_field_value(name))


def tensor_proto(tag: str, tensor: Any) -> proto.Summary:
    """A tensor of any type and shape."""
    value = Tensor.from_data(tensor, tag=tag, metadata=plugin.metadata(plugin.TENSOR))
    return _summary(value.to_tensor_value(tag))


def histogram(name: str, values: Any, bins: Any, max_bins: int | None = None) -> proto.Summary:
    """The distribution of numbers."""
    value = Histogram.from_data(values, tag=name, bins=bins, max_bins=max_bins)
    return _summary(value.to_field_value(name))


def make_histogram(values: Any, bins: Any, max_bins: int | None = None) -> proto.HistogramProto:
    """The distribution of numbers, without a tag."""
    return histogram("", values, bins, max_bins).value[0].histo


def histogram_raw(
    name: str, min: float, max: float, num: float, sum: float,
    sum_squares: float, bucket_limits: Any, bucket_counts: Any,
) -> proto.Summary:
    """A histogram that is computed already."""
    value = Histogram.from_raw(
        min=min, max=max, num=num, sum=sum, sum_squares=sum_squares,
        bucket_limits=bucket_limits, bucket_counts=bucket_counts, tag=name,
    )
    return _summary(value.to_field_value(name))


def image(tag: str, tensor: Any, rescale: float = 1, dataformats: str = "NCHW") -> proto.Summary:
    """An image, or a batch as one grid. The default also takes [c, h, w], as in tensorboardX."""
    from tfevents.values import boxes

    data = arrays.to_numpy(tensor, tag=tag)
    if data.ndim == 3 and dataformats == "NCHW":
        dataformats = "CHW"
    value = Image.from_data(data, tag=tag, dataformats=dataformats)
    return _summary(boxes.rescaled(value, rescale).to_field_value(tag))


def make_image(
    tensor: Any, rescale: float = 1, rois: Any = None, labels: Sequence[str] | None = None
) -> proto.Summary.Image:
    """An image message from uint8 [h, w, c], with boxes if there are `rois`."""
    if rois is None:
        return image("", tensor, rescale, "HWC").value[0].image
    return image_boxes("", tensor, rois, rescale, "HWC", labels).value[0].image


def image_boxes(
    tag: str, tensor_image: Any, tensor_boxes: Any, rescale: float = 1, dataformats: str = "CHW",
    labels: Sequence[str] | None = None,
) -> proto.Summary:
    """An image with boxes drawn on it."""
    from tfevents.values.boxes import ImageWithBoxes

    value = ImageWithBoxes.from_data(
        tensor_image, tensor_boxes, tag=tag, rescale=rescale, dataformats=dataformats,
        labels=labels,
    )
    return _summary(value.to_field_value(tag))


def draw_boxes(
    disp_image: Any, boxes: Any, labels: Sequence[str] | None = None
) -> np.ndarray[Any, np.dtype[Any]]:
    """A copy of a uint8 [h, w, c] array (or PIL image) with boxes drawn on it."""
    from tfevents.values.boxes import ImageWithBoxes

    drawn = ImageWithBoxes.from_data(disp_image, boxes, dataformats="HWC", labels=labels)
    return drawn.arrays()[0]


def video(tag: str, tensor: Any, fps: float = 4) -> proto.Summary:
    """A video as animated GIF, from [n, t, c, h, w]."""
    from tfevents.values.video import Video

    return _summary(Video.from_data(tensor, tag=tag, fps=fps).to_field_value(tag))


def make_video(tensor: Any, fps: float) -> proto.Summary.Image:
    """An image message with an animated GIF, from [t, h, w, c]."""
    from tfevents.values.video import Video

    frames = arrays.to_numpy(tensor)[None]
    value = Video.from_data(frames, tag="", fps=fps, dataformats="NTHWC")
    return value.to_field_value("").image


def audio(tag: str, tensor: Any, sample_rate: int = 44100) -> proto.Summary:
    """A sound of one channel as WAV."""
    from tfevents.values.audio import Audio

    value = Audio.from_data(
        tensor, sample_rate, tag=tag, layout="T", scale=32767, rounding="trunc"
    )
    return _summary(value.to_field_value(tag))


def text(tag: str, text: str) -> proto.Summary:
    """A text, under `<tag>/text_summary`."""
    return _summary(Text.from_str(text, tag=tag).to_tensor_value(f"{tag}/text_summary"))


def custom_scalars(layout: Mapping[str, Mapping[str, Sequence[Any]]]) -> proto.Summary:
    """The layout of the CUSTOM SCALARS dashboard."""
    from tfevents.values.custom_scalars import CustomScalars

    value = CustomScalars.from_data(layout)
    return _summary(value.to_tensor_value(plugin.CUSTOM_SCALARS_TAG))


def pr_curve(
    tag: str, labels: Any, predictions: Any, num_thresholds: int = 127, weights: Any = None
) -> proto.Summary:
    """A precision-recall curve."""
    from tfevents.values.pr_curve import PrCurve

    value = PrCurve.from_data(
        labels, predictions, tag=tag, num_thresholds=num_thresholds, weights=weights
    )
    return _summary(value.to_field_value(tag))


def pr_curve_raw(
    tag: str, tp: Any, fp: Any, tn: Any, fn: Any, precision: Any, recall: Any,
    num_thresholds: int = 127, weights: Any = None,
) -> proto.Summary:
    """A precision-recall curve that is computed already."""
    from tfevents.values.pr_curve import PrCurve

    value = PrCurve.from_raw(tp, fp, tn, fn, precision, recall, tag=tag)
    return _summary(value.to_field_value(tag))


def compute_curve(
    labels: Any, predictions: Any, num_thresholds: int | None = None, weights: Any = None
) -> np.ndarray[Any, np.dtype[Any]]:
    """The rows tp, fp, tn, fn, precision and recall of a curve, [6, num_thresholds]."""
    from tfevents.values.pr_curve import PrCurve

    count = 127 if num_thresholds is None else num_thresholds
    return PrCurve.from_data(labels, predictions, num_thresholds=count, weights=weights).rows


def mesh(
    tag: str, vertices: Any, colors: Any = None, faces: Any = None,
    config_dict: Mapping[str, Any] | None = None,
    display_name: str | None = None, description: str | None = None,
) -> proto.Summary:
    """A 3D mesh or point cloud, as up to three values."""
    from tfevents.values.mesh import Mesh

    value = Mesh.from_data(
        vertices, colors=colors, faces=faces, config_dict=config_dict, tag=tag, dtypes="float32"
    )
    parts = value.parts(tag, display_name=display_name or "", description=description or "")
    return _summary(*[make(name) for name, make in parts])


def hparams(
    hparam_dict: Mapping[str, Any] | None = None, metric_dict: Mapping[str, Any] | None = None,
    hparam_domain_discrete: Mapping[str, Sequence[Any]] | None = None,
) -> tuple[proto.Summary, proto.Summary, proto.Summary]:
    """The three summaries of a session: experiment, start and end."""
    from tfevents.values import hparams as values

    pairs = values.session(hparam_dict, metric_dict, hparam_domain_discrete)
    experiment, start, end = (_summary(make(tag)) for tag, make in pairs)
    return experiment, start, end
