"""Text, of any shape: one string, a list, a table."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from tfevents import arrays, plugin, proto, tensor

__all__ = ["Text"]


@dataclass(frozen=True, slots=True)
class Text:
    """Strings in row-major order, as bytes (UTF-8 where they were str), and their shape.

    Raises:
        ValueError: the number of strings is not that of the shape.
    """

    strings: tuple[bytes, ...]
    shape: tuple[int, ...]

    def __post_init__(self) -> None:
        if len(self.strings) != math.prod(self.shape):
            raise ValueError(f"{len(self.strings)} strings do not fill the shape {self.shape}")

    @classmethod
    def from_data(cls, data: object, *, tag: str = "") -> Text:
        """Takes what tf.summary.text takes: str, bytes, nested lists and arrays of them.

        Raises:
            TypeError: not strings.
            ValueError: mixed kinds, unequal lengths, None, or a lone surrogate.
        """
        found = arrays.as_tensor(data, tag=tag)
        if found.dtype.kind != "O":
            about = arrays.about(tag)
            name = tensor.dtype_name(found.dtype)
            raise TypeError(f"{about}tensor must be of type tf.string; got tf.{name}")
        return cls(tuple(found.reshape(-1).tolist()), found.shape)

    @classmethod
    def from_str(cls, data: object, *, tag: str = "") -> Text:
        """Takes what PyTorch's add_text takes: one str, which is stored in shape [1].

        Raises:
            TypeError: not a str.
            ValueError: a lone surrogate.
        """
        if not isinstance(data, str):
            about = arrays.about(tag)
            raise TypeError(f"{about}text must be a str; got {type(data).__name__}")
        return cls.from_data([data], tag=tag)

    @property
    def array(self) -> np.ndarray[Any, np.dtype[Any]]:
        """The strings as an object array of bytes, in their shape."""
        found = np.empty(len(self.strings), dtype=object)
        found[:] = self.strings
        return found.reshape(self.shape)

    def __str__(self) -> str:
        """The strings as text, one a line; bytes that are no UTF-8 are replaced."""
        return "\n".join(each.decode("utf-8", "replace") for each in self.strings)

    @property
    def nbytes(self) -> int:
        """Bytes held, roughly."""
        return sum(map(len, self.strings)) + 8 * len(self.strings)

    def to_tensor_value(
        self, tag: str, *, display_name: str = "", description: str = ""
    ) -> proto.Summary.Value:
        """DT_STRING in `string_val`, in the data's own shape."""
        return proto.Summary.Value(
            tag=tag,
            tensor=tensor.to_proto(self.array),
            metadata=plugin.metadata(
                plugin.TEXT, display_name=display_name, description=description
            ),
        )

    def to_field_value(self, tag: str) -> proto.Summary.Value:
        """The same tensor: text never had a field of its own."""
        return self.to_tensor_value(tag)

    @classmethod
    def from_value(cls, value: proto.Summary.Value) -> Text:
        """Reads a tensor of strings.

        Raises:
            ValueError: the value holds something else.
        """
        found = tensor.from_proto(value.tensor) if value.HasField("tensor") else None
        if found is None or found.dtype.kind != "O":
            raise ValueError(f"tag {value.tag!r}: the value is no tensor of strings")
        return cls(tuple(found.reshape(-1).tolist()), found.shape)
