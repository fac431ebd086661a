"""The summary operations of TensorFlow 1, evaluated at once: each returns a Summary message.

In a name, what is neither letter, digit nor one of "-_./" becomes "_", and leading slashes go. The
tag is the name below the name scope around it; with a family it is "family/scope/family/name",
which gives the family a group of its own in TensorBoard. Two summaries of one name have one tag: a
suffix such as "_1" would start a new curve at every step.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Sequence
from typing import Any, SupportsIndex

import numpy as np

from tfevents import _context, arrays, proto
from tfevents.compat.v1._collections import collect
from tfevents.compat.v1._pixels import stretch
from tfevents.values._batch import check_max_outputs
from tfevents.values.audio import Audio
from tfevents.values.histogram import Histogram
from tfevents.values.image import Image
from tfevents.values.scalar import Scalar
from tfevents.values.tensor import Tensor
from tfevents.values.text import Text

__all__ = ["audio", "histogram", "image", "scalar", "tensor_summary", "text"]

_Collections = Sequence[str] | str | None
_NOT_IN_NAMES = re.compile(r"[^-/\w.]")


def scalar(
    name: str, tensor: Any, collections: _Collections = None, family: str | None = None
) -> proto.Summary:
    """A number, as `simple_value`.

    Args:
        name: see the module's text.
        tensor: one real number; beyond float32 it becomes infinite, with a warning.
        collections: names of the collections that keep it for `merge_all`.
        family: groups tags.

    Raises:
        TypeError, ValueError: not one real number, or `name` is not a str.
    """
    tag = _tag(name, family)
    value = Scalar.from_data(tensor, tag=tag).to_field_value(tag)
    return _summary("scalar", tag, [value], collections)


def histogram(
    name: str, values: Any, collections: _Collections = None, family: str | None = None
) -> proto.Summary:
    """Numbers of any shape, as `histo` with TensorFlow 1's exponential buckets.

    Args:
        name: see the module's text.
        values: finite numbers; there may be none.
        collections: names of the collections that keep it for `merge_all`.
        family: groups tags.

    Raises:
        TypeError: not real numbers.
        ValueError: a value is NaN or infinite.
    """
    tag = _tag(name, family)
    value = Histogram.from_data_v1(_numbers(values, tag), tag=tag).to_field_value(tag)
    return _summary("histogram", tag, [value], collections)


def image(
    name: str,
    tensor: Any,
    max_outputs: SupportsIndex = 3,
    collections: _Collections = None,
    family: str | None = None,
) -> proto.Summary:
    """Images, tagged "name/image" if `max_outputs` is 1, else "name/image/0", "name/image/1", ….

    Args:
        name: see the module's text.
        tensor: [k, h, w, c], c from 1 to 4. uint8 is kept, other integers are cut to 0..255, each
            image of floats is stretched to its own maximum: see `_pixels`.
        max_outputs: at most so many images of the batch are kept; at least 1.
        collections: names of the collections that keep it for `merge_all`.
        family: groups tags.

    Raises:
        TypeError, ValueError: not such numbers, another rank, or `max_outputs` is below 1.
    """
    tag = _tag(name, family)
    limit = _limit(max_outputs, tag)
    pixels = _numbers(tensor, tag)
    if pixels.dtype.kind == "f" and pixels.ndim == 4:
        Image.from_data(pixels[:1], tag=tag)  # refuses a wrong number of channels
        pixels = stretch(pixels[:limit])
    images = Image.from_data(pixels, tag=tag, max_outputs=limit).arrays()
    tags = _numbered(f"{tag}/image", len(images), limit)
    values = [
        Image.from_data(each[np.newaxis], tag=tag).to_field_value(own)
        for each, own in zip(images, tags, strict=True)
    ]
    return _summary("image", tag, values, collections)


def audio(
    name: str,
    tensor: Any,
    sample_rate: Any,
    max_outputs: SupportsIndex = 3,
    collections: _Collections = None,
    family: str | None = None,
) -> proto.Summary:
    """Clips as 16-bit WAV, tagged "name/audio" or "name/audio/0", … as images are.

    Args:
        name: see the module's text.
        tensor: [k, frames] or [k, frames, channels]; floats in [-1, 1], or PCM as int16, int32 or
            uint8.
        sample_rate: Hz; a fraction is kept in the message, but not in the WAV.
        max_outputs: at most so many clips of the batch are kept; at least 1.
        collections: names of the collections that keep it for `merge_all`.
        family: groups tags.

    Raises:
        TypeError, ValueError: another type or rank, or `max_outputs` is below 1.
    """
    tag = _tag(name, family)
    limit = _limit(max_outputs, tag)
    samples = _numbers(tensor, tag)
    if samples.ndim == 2:
        samples = samples[..., np.newaxis]
    rate = arrays.scalar(sample_rate, tag=tag)
    whole = int(rate) if np.isfinite(rate) else 0
    batch = Audio.from_data(samples, whole, tag=tag, max_outputs=limit)
    tags = _numbered(f"{tag}/audio", len(batch), limit)
    values = [
        dataclasses.replace(
            Audio.from_data(samples[index : index + 1], whole, tag=tag), sample_rate=rate
        ).to_field_value(own)
        for index, own in enumerate(tags)
    ]
    return _summary("audio", tag, values, collections)


def text(name: str, tensor: Any, collections: _Collections = None) -> proto.Summary:
    """Strings of any shape.

    Args:
        name: see the module's text.
        tensor: str, bytes, nested lists or arrays of them.
        collections: names of the collections that keep it for `merge_all`.

    Raises:
        TypeError, ValueError: not strings.
    """
    tag = _tag(name, None)
    value = Text.from_data(tensor, tag=tag).to_tensor_value(tag)
    return _summary("text", tag, [value], collections)


def tensor_summary(
    name: str,
    tensor: Any,
    summary_description: str | None = None,
    collections: _Collections = None,
    summary_metadata: proto.SummaryMetadata | bytes | None = None,
    family: str | None = None,
    display_name: str | None = None,
) -> proto.Summary:
    """A tensor of any type and shape, always with metadata, be they empty.

    Args:
        name: see the module's text.
        tensor: an array, which keeps its type, or Python values.
        summary_description: Markdown, shown with the tag.
        collections: names of the collections that keep it for `merge_all`.
        summary_metadata: which plugin shows it, and how; of any origin.
        family: groups tags.
        display_name: shown instead of the tag.

    Raises:
        TypeError, ValueError: no tensor can be made of it, or the metadata are none.
    """
    tag = _tag(name, family)
    metadata = proto.SummaryMetadata()
    if summary_metadata is not None:
        metadata.CopyFrom(proto.coerce(proto.SummaryMetadata, summary_metadata))
    array = arrays.as_tensor(tensor, tag=tag)
    value = Tensor(array, metadata.SerializeToString()).to_tensor_value(
        tag, display_name=display_name or "", description=summary_description or ""
    )
    return _summary("tensor", tag, [value], collections)


def _summary(
    kind: str, tag: str, values: Iterable[proto.Summary.Value], collections: _Collections
) -> proto.Summary:
    summary = proto.Summary(value=values)
    collect(kind, tag, summary, collections)
    return summary


def _tag(name: str, family: str | None) -> str:
    base = _clean(name)
    group = "" if family is None else f"{_clean(family)}/"
    with _context.name_scope(group + base) as scope:
        return (group + scope).rstrip("/")


def _clean(name: str) -> str:
    if not isinstance(name, str):
        raise TypeError(f"the name of a summary must be a str, got {type(name).__name__}")
    name.encode()  # UnicodeEncodeError is a ValueError
    return _NOT_IN_NAMES.sub("_", name).lstrip("/")


def _numbers(data: Any, tag: str) -> np.ndarray[Any, np.dtype[Any]]:
    """An array, of which Python's floats are float32, as TensorFlow has them."""
    if isinstance(data, (float, *arrays.SEQUENCES)):
        return arrays.as_tensor(data, tag=tag)
    return arrays.to_numpy(data, tag=tag)


def _limit(max_outputs: SupportsIndex, tag: str) -> int:
    limit = check_max_outputs(max_outputs, tag)
    if limit < 1:
        raise ValueError(f"tag {tag!r}: max_outputs must be at least 1, got {limit}")
    return limit


def _numbered(base: str, count: int, limit: int) -> list[str]:
    """Numbers are left out only where never more than one could be."""
    return [base] * count if limit == 1 else [f"{base}/{index}" for index in range(count)]
