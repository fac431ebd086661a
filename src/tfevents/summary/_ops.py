"""The writing calls of tf.summary.

Each goes through the same gates in TensorFlow's order, since the order decides what is raised when
nothing would be written: the checks of arguments that TensorFlow makes in any case (description,
name, a scalar's or text's data), an explicit step, a default writer, the recording condition, a
step at all, and then the data.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from tfevents import _context, _warn, arrays
from tfevents.run_writer import check_tag
from tfevents.summary._state import full_tag, in_scope, is_recording, resolve_step, strict_step
from tfevents.summary._writers import SummaryWriter
from tfevents.values.scalar import FLOAT32_LIMIT, Scalar

if TYPE_CHECKING:
    import numpy as np

    from tfevents import proto
    from tfevents._types import ToValue

__all__ = [
    "audio", "emit", "gate", "graph", "histogram", "image", "scalar", "text", "text_of",
    "warned_once", "write", "write_kind",
]

_INT64_MIN, _INT64_MAX = -(1 << 63), (1 << 63) - 1
_DOUBLE_BITS = 53


def gate(step: Any, context: _context.State, tag: str) -> tuple[SummaryWriter, int] | None:
    """The writer and step of a call; None if nothing shall be written."""
    if step is not None:
        strict_step(step, tag)
    if context.writer is None or not is_recording(context.recording):
        return None
    return context.writer, resolve_step(step, context, tag)


def emit(writer: SummaryWriter, tag: str, to_value: ToValue, step: int, *, nbytes: int) -> bool:
    """Queues one value."""
    writer.run.add_value(tag, to_value, step, nbytes=nbytes)
    if writer.policy is not None:
        writer.policy.written(writer.run)
    return True


def scalar(name: str, data: Any, step: Any = None, description: str | None = None) -> bool:
    """Writes a number, as float32.

    Args:
        name: name of the summary; its tag is the name below the current name scopes.
        data: a real number: Python, numpy, or an array of rank 0 of any library.
        step: monotonic step, an integer; by default the one set before.
        description: Markdown, shown with the summary.

    Returns:
        Whether it was written: there is a default writer, and recording is on.

    Raises:
        ValueError: `data` has another rank or is no number; or there is no step.
        TypeError: `name`, `step` or `description` is of a wrong type.
    """
    context = _context.state()
    if type(name) is not str or not name:
        name = full_tag(name, "scalar_summary", _context.State())
    tag = in_scope(context.scope, name) if context.scope else name
    if description is not None:
        description = text_of(description, tag)
    if type(data) is not float or not -FLOAT32_LIMIT < data < FLOAT32_LIMIT:
        with warned_once(context.writer):
            data = _to_float32(data, tag)
    plain = type(step) is int and _INT64_MIN <= step <= _INT64_MAX
    if not plain and step is not None:
        strict_step(step, tag)
    writer = context.writer
    if writer is None or (context.recording is not None and not is_recording(context.recording)):
        return False
    if not plain:
        step = resolve_step(step, context, tag)
    if description:
        to_value = partial(Scalar(data).to_tensor_value, description=description)
        return emit(writer, tag, to_value, step, nbytes=8)
    writer.run.add_tensor_scalar(tag, data, step)
    if writer.policy is not None:
        writer.policy.written(writer.run)
    return True


def warned_once(writer: SummaryWriter | None) -> contextlib.AbstractContextManager[None]:
    """Within the block, warnings that this writer has shown before are not shown again."""
    return contextlib.nullcontext() if writer is None else _warn.once(writer.run.told)


def _to_float32(data: Any, tag: str) -> float:
    """A number of any type, rounded to float32 once: integers do not take the way by a double."""
    if not isinstance(data, int):
        data = _tensor(data, tag)
        if data.ndim or data.dtype.kind not in "iu":
            return Scalar.from_tensor(data, tag=tag).value
        data = int(data)
    # What a double cannot hold is rounded to an odd number, from which float32 rounds as from
    # the integer itself.
    spare = max(data.bit_length() - _DOUBLE_BITS, 0)
    rest = data & ((1 << spare) - 1)
    try:
        number = math.ldexp((data >> spare) | (rest != 0), spare)
    except OverflowError:
        raise ValueError(
            f"tag {tag!r}: an integer of {data.bit_length()} bits is beyond the range of float64"
        ) from None
    return Scalar.from_data(number, tag=tag).value


def text_of(description: str | bytes | None, tag: str) -> str:
    """The description as protobuf takes it: "" for None, UTF-8 as bytes.

    Raises:
        TypeError: it is no string.
        ValueError: it has a lone surrogate, or bytes that are not UTF-8.
    """
    if isinstance(description, bytes):
        return description.decode()
    if description is not None and not isinstance(description, str):
        raise TypeError(
            f"tag {tag!r}: the description must be a str, got {type(description).__name__}"
        )
    text = description or ""
    text.encode()  # UnicodeEncodeError is a ValueError
    return text


def write_kind(
    name: str | None, default_name: str, make: Callable[[str], Any], step: Any,
    description: str | None,
) -> bool:
    """Writes a value in the tensor form; `make` is called with the tag, if it is written."""
    context = _context.state()
    tag = full_tag(name, default_name, context)
    description = text_of(description, tag)
    passed = gate(step, context, tag)
    if passed is None:
        return False
    writer, step = passed
    with warned_once(writer):
        value = make(tag)
    to_value = partial(value.to_tensor_value, description=description)
    return emit(writer, tag, to_value, step, nbytes=value.nbytes)


def image(
    name: str, data: Any, step: Any = None, max_outputs: int = 3, description: str | None = None
) -> bool:
    """Writes a batch of images as PNG.

    Args:
        name: name of the summary.
        data: [k, h, w, c] with c in 1 (gray), 2 (gray, alpha), 3 (RGB), 4 (RGBA). Floating
            point in [0, 1], integers and uint8 in [0, 255]; what lies outside is clipped.
        step: monotonic step; by default the one set before.
        max_outputs: at most so many images of the batch are written.
        description: Markdown, shown with the summary.

    Returns:
        Whether it was written.

    Raises:
        ValueError: another rank, number of channels, or no step; `max_outputs` is negative.
        TypeError: a wrong type of `name`, `data`, `step` or `max_outputs`.
    """
    from tfevents.values.image import Image

    make = partial(_inferred, Image.from_data, data, max_outputs=max_outputs)
    return write_kind(name, "image_summary", make, step, description)


def histogram(
    name: str, data: Any, step: Any = None, buckets: int | None = None,
    description: str | None = None,
) -> bool:
    """Writes the distribution of numbers over buckets of equal width.

    Args:
        name: name of the summary.
        data: real numbers of any shape. Non-finite ones are left out, with a warning.
        step: monotonic step; by default the one set before.
        buckets: number of buckets, 30 by default; none if zero or negative.
        description: Markdown, shown with the summary.

    Returns:
        Whether it was written.

    Raises:
        TypeError, ValueError: the data are no real numbers, `buckets` no int, or there is no step.
    """
    from tfevents.values.histogram import Histogram

    make = partial(_inferred, Histogram.from_data, data, buckets=buckets)
    return write_kind(name, "histogram_summary", make, step, description)


def audio(
    name: str, data: Any, sample_rate: int, step: Any = None, max_outputs: int = 3,
    encoding: str | None = None, description: str | None = None,
) -> bool:
    """Writes a batch of sounds as 16-bit WAV.

    Args:
        name: name of the summary.
        data: [k, t, c]: clips, frames, channels. Floating point in [-1, 1], or integer PCM.
        sample_rate: frames per second, in [1, 2**31).
        step: monotonic step; by default the one set before.
        max_outputs: at most so many clips of the batch are written.
        encoding: "wav" or None.
        description: Markdown, shown with the summary.

    Returns:
        Whether it was written.

    Raises:
        ValueError: another rank, an unknown encoding, or no step.
        TypeError: a wrong type of `name`, `data`, `step`, `sample_rate` or `max_outputs`.
    """
    from tfevents.values.audio import Audio, check_encoding

    check_encoding(encoding, tag=f"{name}")
    make = partial(
        _inferred, Audio.from_data, data, sample_rate=sample_rate, max_outputs=max_outputs,
        encoding=encoding,
    )
    return write_kind(name, "audio_summary", make, step, description)


def text(name: str, data: Any, step: Any = None, description: str | None = None) -> bool:
    """Writes text, which TensorBoard shows as Markdown.

    Args:
        name: name of the summary.
        data: str or bytes (UTF-8), or lists or arrays of them, of any rank.
        step: monotonic step; by default the one set before.
        description: Markdown, shown with the summary.

    Returns:
        Whether it was written.

    Raises:
        TypeError: the data are not strings.
        ValueError: mixed kinds, a lone surrogate, or no step.
    """
    from tfevents.values.text import Text

    tag = full_tag(name, "text_summary", _context.state())
    value = Text.from_data(data, tag=tag)
    return write_kind(name, "text_summary", lambda tag: value, step, description)


def write(
    tag: str | bytes, tensor: Any, step: Any = None, metadata: Any = None, name: str | None = None
) -> bool:
    """Writes a tensor of any type and shape.

    Args:
        tag: the tag as it is, also as an array of rank 0; no name scope is added.
        tensor: anything array-like, or a function of no arguments that returns such, which is
            called only if it is written.
        step: monotonic step; by default the one set before.
        metadata: a SummaryMetadata message or its serialized bytes, also as an array of rank 0.
        name: accepted as in TensorFlow; not used.

    Returns:
        Whether it was written.

    Raises:
        ValueError: the data are no tensor, `tag` is None, or there is no step.
        TypeError: `tag` or `metadata` is of a wrong type.
    """
    from tfevents.values.tensor import Tensor

    tag = _unwrapped(tag, "write")
    tag = tag.decode() if isinstance(tag, bytes) else tag
    passed = gate(step, _context.state(), tag)
    if passed is None:
        return False
    writer, step = passed
    if tag is None:
        raise ValueError("the tag of a tensor cannot be None")
    check_tag(tag)
    data = tensor() if callable(tensor) else tensor
    value = Tensor.from_data(data, tag=tag, metadata=_unwrapped(metadata, tag))
    return emit(writer, tag, value.to_tensor_value, step, nbytes=value.nbytes)


def _unwrapped(data: Any, tag: str) -> Any:
    """The bytes in a string tensor of rank 0; anything else as it is."""
    if not hasattr(data, "shape"):
        return data
    found = arrays.as_tensor(data, tag=tag)
    return found.item() if found.ndim == 0 and found.dtype.kind == "O" else data


def graph(graph_data: proto.GraphDef | Any) -> bool:
    """Writes a graph, at step 0.

    Args:
        graph_data: a GraphDef message of any origin, or an object with `as_graph_def()`, such as
            a TensorFlow graph.

    Returns:
        Whether it was written.

    Raises:
        ValueError: `graph_data` is something else.
    """
    from tfevents.graph import to_graph_def

    context = _context.state()
    if context.writer is None or not is_recording(context.recording):
        return False
    writer = context.writer
    writer.run.add_field("graph_def", to_graph_def(graph_data).SerializeToString(), 0)
    if writer.policy is not None:
        writer.policy.written(writer.run)
    return True


def _tensor(data: Any, tag: str) -> np.ndarray[Any, Any]:
    """The array that TensorFlow would see; or, of a type it cannot store, one of a wider type."""
    try:
        return arrays.as_tensor(data, tag=tag)
    except ValueError:
        if not hasattr(data, "dtype"):
            raise
        return arrays.to_numpy(data, tag=tag)


def _inferred(from_data: Callable[..., Any], data: Any, tag: str, **options: Any) -> Any:
    """Makes a value of the array that TensorFlow would see: Python floats have 32 bits there."""
    found = _tensor(data, tag)
    if found.dtype.kind == "O":
        raise ValueError(f"tag {tag!r}: Cast string to float is not supported")
    return from_data(found, tag=tag, **options)
