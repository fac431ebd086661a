"""tf.summary.experimental: default steps, scopes and raw summaries."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from tfevents import _context, arrays
from tfevents.summary._state import (
    get_step,
    is_recording,
    resolve_step,
    set_step,
    summary_scope,
)

if TYPE_CHECKING:
    from tfevents import proto

__all__ = ["get_step", "set_step", "summary_scope", "write_raw_pb"]


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
    explicit = None if step is None else arrays.strict_step(step)
    writer = context.writer
    if writer is None:
        return False
    number = resolve_step(explicit, context)
    if not is_recording(context.recording):
        return False
    values = _values(tensor)
    pairs = [(value.tag, partial(_as_it_is, value)) for value in values]
    writer.run.add_values(pairs, number, nbytes=sum(value.ByteSize() for value in values))
    if writer.written is not None:
        writer.written(writer.run)
    return True


def _values(tensor: Any) -> list[proto.Summary.Value]:
    from tfevents import proto

    found = arrays.as_tensor(tensor, tag="write_raw_pb")
    if found.dtype.kind != "O":
        raise ValueError(f"a Summary must be given as bytes, got {type(tensor).__name__}")
    values: list[proto.Summary.Value] = []
    for index, data in enumerate(found.reshape(-1).tolist()):
        try:
            values.extend(proto.coerce(proto.Summary, data).value)
        except ValueError:
            raise ValueError(
                f"Bad tf.compat.v1.Summary binary proto tensor string at index {index}"
            ) from None
    return values


def _as_it_is(value: proto.Summary.Value, tag: str) -> proto.Summary.Value:
    return value
