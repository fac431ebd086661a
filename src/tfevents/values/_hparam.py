"""The value of a hyperparameter: what the dashboard can hold of a Python object."""

from __future__ import annotations

import json
import os
from decimal import Decimal
from enum import Enum
from numbers import Real
from typing import Any, TypeAlias

import numpy as np

from tfevents import arrays

__all__ = ["HParamValue", "to_hparam"]

HParamValue: TypeAlias = "bool | int | float | str"

_LONGEST = 1000  # elements of an array that are spelled out


def to_hparam(value: Any, *, name: str = "") -> HParamValue | None:
    """What the dashboard can hold of a value: a bool, a number or a text; None stays None.

    Numbers of every library and arrays of one element are numbers. An Enum is its name, a class
    or function its `__name__`, a path its text; lists, tuples, dicts and arrays of several elements
    are JSON. All else is its `str`, also an int beyond float64 and an array of over 1000 elements.

    Raises:
        TypeError: `str(value)` fails.
        ValueError: text that UTF-8 cannot carry.
    """
    found = _convert(value, name)
    if isinstance(found, str):
        try:
            found.encode()
        except UnicodeEncodeError as error:
            raise ValueError(f"hparam {name!r}: the text {found!r:.80} is no Unicode") from error
    return found


def _convert(value: Any, name: str) -> HParamValue | None:
    if value is None or type(value) in (bool, float):
        found: HParamValue | None = value
        return found
    if isinstance(value, Enum):
        return value.name
    if isinstance(value, (str, np.bool_, bytes)):
        return _plain(value)
    if isinstance(value, (Real, Decimal)):  # NumPy's numbers are registered as Real
        return _number(value)
    if hasattr(value, "__array__") or hasattr(value, "__dlpack__"):
        return _from_array(value, name)
    return _text(value, name)


def _plain(value: str | bytes | np.bool_) -> HParamValue:
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return str(value) if isinstance(value, str) else bool(value)


def _number(value: Any) -> HParamValue:
    try:
        number = float(value)
    except (OverflowError, ValueError):
        return str(value)
    return int(value) if isinstance(value, (int, np.integer)) else number


def _from_array(value: Any, name: str) -> HParamValue:
    try:
        found = arrays.to_numpy(value, tag=name)
    except (TypeError, ValueError):  # a class, or an array that is sparse or of objects
        return _text(value, name)
    if found.size == 1 and found.dtype.kind in "biuf":
        element: HParamValue = found.reshape(-1)[0].item()
        return element
    if found.size > _LONGEST:
        return str(found)
    return json.dumps(found.tolist(), default=str)


def _text(value: Any, name: str) -> str:
    if isinstance(value, os.PathLike):
        return os.fsdecode(value)
    if isinstance(value, (list, tuple, dict)):
        try:
            return json.dumps(value, default=lambda item: _convert(item, name))
        except (TypeError, ValueError, RecursionError):  # keys JSON has not, a list within itself
            return _str(value, name)
    if callable(value):
        return str(getattr(value, "__name__", None) or _str(value, name))
    return _str(value, name)


def _str(value: Any, name: str) -> str:
    try:
        return str(value)
    except Exception as error:  # whatever a foreign __str__ raises
        raise TypeError(f"hparam {name!r}: {type(value).__name__} has no text: {error}") from error
