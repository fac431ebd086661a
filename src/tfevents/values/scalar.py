"""One number a step."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from tfevents import _warn, arrays, plugin, proto, tensor

__all__ = ["FLOAT32_LIMIT", "Scalar"]

#: From here on, rounding to float32 gives infinity; below it, at most the greatest float32.
FLOAT32_LIMIT = 2.0**128 - 2.0**103


@dataclass(frozen=True, slots=True)
class Scalar:
    """A number, stored with 32 bits unless `double` asks for 64.

    NaN and the infinities are values like any other.
    """

    value: float
    double: bool = False

    @classmethod
    def from_data(cls, data: object, *, tag: str = "", double: bool = False) -> Scalar:
        """Takes anything with exactly one real element.

        A finite number that float32 cannot hold becomes an infinity, with a UserWarning.

        Raises:
            TypeError: not a real number.
            ValueError: not exactly one element, or beyond float64.
        """
        value = arrays.scalar(data, tag=tag)
        if not double and abs(value) >= FLOAT32_LIMIT:
            value = _overflown(value, tag)
        return cls(value, double)

    @classmethod
    def from_tensor(cls, data: object, *, tag: str = "") -> Scalar:
        """Takes what TensorFlow takes: numbers and arrays of rank 0.

        A Python float beyond float32 is an error, as in TensorFlow; a NumPy float64 becomes an
        infinity with a UserWarning. Of a complex number the real part is kept, with a UserWarning.

        Raises:
            ValueError: another rank, a string, a number out of range, None.
        """
        found = arrays.as_tensor(data, tag=tag)
        about = arrays.about(tag)
        if found.ndim:
            raise ValueError(f"{about}Expected scalar shape, saw shape: {found.shape}.")
        if found.dtype.kind == "O":
            raise ValueError(f"{about}Cast string to float is not supported")
        if found.dtype.kind == "c":
            _warn.warn(tag, "complex", f"{about}the imaginary part of {found[()]} is dropped")
            found = found.real
        return cls.from_data(found, tag=tag)

    @property
    def nbytes(self) -> int:
        """Bytes held, roughly."""
        return 8

    def to_tensor_value(
        self, tag: str, *, display_name: str = "", description: str = ""
    ) -> proto.Summary.Value:
        """DT_FLOAT, or DT_DOUBLE if `double`, of shape []."""
        return proto.Summary.Value(
            tag=tag,
            tensor=tensor.to_proto(self._array()),
            metadata=plugin.metadata(
                plugin.SCALARS,
                display_name=display_name,
                description=description,
                # Readers which know only float scalars need to be told; others derive it.
                data_class=plugin.DATA_CLASS_SCALAR if self.double else plugin.DATA_CLASS_UNKNOWN,
            ),
        )

    def to_torch_value(
        self, tag: str, *, display_name: str = "", description: str = ""
    ) -> proto.Summary.Value:
        """The same in `float_val` or `double_val` and without a shape, as PyTorch writes it."""
        value = self.to_tensor_value(tag, display_name=display_name, description=description)
        value.tensor.CopyFrom(tensor.to_proto(self._array(), packed=False))
        value.tensor.ClearField("tensor_shape")
        return value

    def _array(self) -> np.ndarray[Any, np.dtype[Any]]:
        return np.array(self.value, np.float64 if self.double else np.float32)

    def to_field_value(self, tag: str) -> proto.Summary.Value:
        """`simple_value`, which is a float32: `double` has no effect here."""
        with np.errstate(over="ignore"):  # rounded here: protobuf's ways near the limit differ
            value = float(np.float32(self.value))
        return proto.Summary.Value(tag=tag, simple_value=value)

    @classmethod
    def from_value(cls, value: proto.Summary.Value) -> Scalar:
        """Reads either form; a tensor may have any numeric type and must have one element.

        Raises:
            ValueError: the value holds no number, or several.
        """
        if value.HasField("simple_value"):
            return cls(value.simple_value)
        if not value.HasField("tensor"):
            raise ValueError(
                f"tag {value.tag!r}: the value is no scalar but {value.WhichOneof('value')}"
            )
        found = tensor.from_proto(value.tensor)
        if found.size != 1 or found.dtype.kind not in "biuf":
            raise ValueError(
                f"tag {value.tag!r}: a scalar tensor has one real number, this one has shape "
                f"{found.shape} and type {tensor.dtype_name(found.dtype)}"
            )
        return cls(float(found.reshape(-1)[0]), double=not np.can_cast(found.dtype, np.float32))


def _overflown(value: float, tag: str) -> float:
    if math.isinf(value):
        return value
    about = arrays.about(tag)
    _warn.warn(tag, "overflow", f"{about}{value!r} is beyond float32 and is stored as infinity")
    return math.copysign(math.inf, value)
