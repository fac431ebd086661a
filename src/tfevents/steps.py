"""Steps as TensorFlow and as PyTorch take them: one 64-bit integer each."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from tfevents.arrays import REFUSED, SEQUENCES, as_tensor, to_numpy

__all__ = ["lenient", "named", "strict"]

_MIN_STEP = -(1 << 63)
_MAX_STEP = (1 << 63) - 1


def strict(value: Any) -> int:
    """A step as TensorFlow takes it: an integer of Python or NumPy, or a one-element array.

    Whole floats are taken from arrays only. Negative steps are kept.

    Raises:
        TypeError: a Python float, a str or another type without an integer in it.
        ValueError: not one element, a fraction, or beyond int64.
    """
    if type(value) is int and _MIN_STEP <= value <= _MAX_STEP:
        return value
    if isinstance(value, float) and not isinstance(value, np.generic):
        raise _refusal(value)
    if isinstance(value, SEQUENCES):
        found = as_tensor(value, tag="step")
        if found.size and found.dtype.kind not in "bi":
            raise _refusal(value)
    return _whole(value)


def lenient(value: Any) -> int:
    """A step as PyTorch takes it: also whole floats, and None for 0. Negative steps are kept.

    Raises:
        TypeError: a str or another type without a number in it.
        ValueError: not one element, a fraction, NaN, infinity, or beyond int64.
    """
    if type(value) is int and _MIN_STEP <= value <= _MAX_STEP:
        return value
    return 0 if value is None else _whole(value)


def named(convert: Callable[[Any], int], value: Any, tag: str) -> int:
    """A step by `strict` or `lenient`, whose errors then name the tag."""
    try:
        return convert(value)
    except TypeError as error:
        raise TypeError(f"tag {tag!r}: {error}") from None
    except ValueError as error:
        raise ValueError(f"tag {tag!r}: {error}") from None


def _refusal(value: object) -> TypeError:
    return TypeError(f"step must be an integer; got {value!r:.80} of type {type(value).__name__}")


def _whole(value: Any) -> int:
    number = value if isinstance(value, (int, float)) else _single(value)
    if isinstance(number, (float, np.floating)):
        if not number.is_integer():
            raise ValueError(f"step must be a whole number; got {value!r}")
        number = int(number)
    try:
        step = operator.index(number)
    except TypeError:
        raise _refusal(value) from None
    if not _MIN_STEP <= step <= _MAX_STEP:
        raise ValueError(f"step must fit into 64 bits; got {step}")
    return step


def _single(value: Any) -> Any:
    """The one element of an array-like, or the value itself if it is no array."""
    if isinstance(value, REFUSED):
        raise _refusal(value)
    try:
        found = to_numpy(value)
    except TypeError:
        if hasattr(value, "__index__"):
            return value
        raise _refusal(value) from None
    if found.size != 1:
        raise ValueError(
            f"Argument `step` must be a scalar. Received step with shape {found.shape}."
        )
    return found.reshape(-1)[0].item() if found.dtype.kind in "biu" else found.reshape(-1)[0]
