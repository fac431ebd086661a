"""tf.summary.experimental: default steps, scopes and raw summaries."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from tfevents import _context, arrays
from tfevents.summary._state import (
    get_step,
    is_recording,
    no_step,
    resolve_step,
    set_step,
    strict_step,
    summary_scope,
)

if TYPE_CHECKING:
    from tfevents import proto

__all__ = ["get_step", "set_step", "summary_scope", "write_raw_pb"]

_NO_TAG = "write_raw_pb"  # in errors: the tags are inside the messages


def write_raw_pb(
    tensor: bytes | Sequence[bytes], step: Any = None, name: str | None = None
) -> bool:
    """Writes serialized Summary messages as one event, with their tags and metadata as they are.

    Args:
        tensor: a serialized Summary, or several.
        step: monotonic step; by default the one set before.
        name: accepted as in TensorFlow; not used.

    Returns:
        Whether it was written.

    Raises:
        ValueError: no Summary can be parsed from the bytes; or there is no step, which here is
            an error even while recording is off.
        TypeError: not bytes.
    """
    context = _context.state()
    if step is not None:
        strict_step(step, _NO_TAG)
    writer = context.writer
    if writer is None:
        return False
    if step is None and context.step is None:
        raise no_step(_NO_TAG)
    if not is_recording(context.recording):
        return False
    number = resolve_step(step, context, _NO_TAG)
    values = _values(tensor)
    pairs = [(value.tag, partial(_as_it_is, value)) for value in values]
    writer.run.add_values(pairs, number, nbytes=sum(value.ByteSize() for value in values))
    if writer.policy is not None:
        writer.policy.written(writer.run)
    return True


def _values(tensor: Any) -> list[proto.Summary.Value]:
    found = arrays.as_tensor(tensor, tag=_NO_TAG)
    if found.dtype.kind != "O":
        raise ValueError(f"a Summary must be given as bytes, got {type(tensor).__name__}")
    summaries = [_parsed(data, index) for index, data in enumerate(found.reshape(-1).tolist())]
    return [value for summary in summaries for value in summary.value]


def _parsed(data: bytes, index: int) -> proto.Summary:
    from tfevents import proto

    try:
        summary: proto.Summary = proto.coerce(proto.Summary, data)
    except ValueError:
        raise ValueError(
            f"Bad tf.compat.v1.Summary binary proto tensor string at index {index}"
        ) from None
    return summary


def _as_it_is(value: proto.Summary.Value, tag: str) -> proto.Summary.Value:
    return value
