"""Tensors of any type and shape, with metadata of the caller's choice."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tfevents import _warn, arrays, proto, tensor

__all__ = ["Tensor"]


@dataclass(frozen=True, slots=True, eq=False)
class Tensor:
    """An array (strings: object array of bytes) and the serialized SummaryMetadata beside it.

    `metadata` None means no metadata at all, b"" means metadata without content.
    """

    array: np.ndarray[Any, np.dtype[Any]]
    metadata: bytes | None = None

    @classmethod
    def from_data(cls, data: object, *, tag: str = "", metadata: object = None) -> Tensor:
        """Takes what tf.summary.write takes, and copies it.

        Args:
            data: an array, which keeps its dtype, or Python values; see `arrays.as_tensor`.
            tag: named in errors.
            metadata: a SummaryMetadata message of any origin, or its serialized bytes (also as a
                str). An empty one counts as none; bytes that cannot be parsed become empty
                metadata, as in TensorFlow, but with a UserWarning.

        Raises:
            TypeError: the metadata are of another type, or the data cannot be read.
            ValueError: the data are no tensor: mixed kinds, None, out of range.
        """
        return cls(np.array(arrays.as_tensor(data, tag=tag), copy=True), _serialized(metadata, tag))

    @property
    def nbytes(self) -> int:
        """Bytes held, roughly."""
        strings = self.array.reshape(-1).tolist() if self.array.dtype.kind == "O" else ()
        return self.array.nbytes + sum(map(len, strings))

    def to_tensor_value(
        self, tag: str, *, display_name: str = "", description: str = ""
    ) -> proto.Summary.Value:
        """The tensor in its own type and shape; names given here override those of the metadata."""
        value = proto.Summary.Value(tag=tag, tensor=tensor.to_proto(self.array))
        if self.metadata is not None:
            value.metadata.SetInParent()
            value.metadata.MergeFromString(self.metadata)
        if display_name:
            value.metadata.display_name = display_name
        if description:
            value.metadata.summary_description = description
        return value

    def to_field_value(self, tag: str) -> proto.Summary.Value:
        """The same value: tensors never had a field of their own."""
        return self.to_tensor_value(tag)

    @classmethod
    def from_value(cls, value: proto.Summary.Value) -> Tensor:
        """Reads any tensor.

        Raises:
            ValueError: the value holds something else, or the tensor cannot be decoded.
        """
        if not value.HasField("tensor"):
            raise ValueError(
                f"tag {value.tag!r}: the value is no tensor but {value.WhichOneof('value')}"
            )
        metadata = value.metadata.SerializeToString() if value.HasField("metadata") else None
        return cls(tensor.from_proto(value.tensor), metadata)


def _serialized(metadata: Any, tag: str) -> bytes | None:
    if metadata is None:
        return None
    if isinstance(metadata, str):
        metadata = metadata.encode("utf-8")
    elif hasattr(metadata, "SerializeToString"):
        metadata = metadata.SerializeToString()
    if not isinstance(metadata, bytes):
        raise TypeError(
            f"tag {tag!r}: metadata must be a SummaryMetadata or its bytes; got "
            f"{type(metadata).__name__}"
        )
    return _parsable(metadata, tag) if metadata else None


def _parsable(metadata: bytes, tag: str) -> bytes:
    from google.protobuf.message import DecodeError

    try:
        proto.SummaryMetadata.FromString(metadata)
    except DecodeError:
        _warn.warn(
            tag, "metadata", f"tag {tag!r}: the metadata cannot be parsed and are left empty"
        )
        return b""
    return metadata
