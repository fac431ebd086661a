"""The `max_outputs` rule that image and audio batches share."""

from __future__ import annotations

import operator
from typing import SupportsIndex

import numpy as np

__all__ = ["check_max_outputs"]


def check_max_outputs(max_outputs: SupportsIndex, tag: str) -> int:
    """How many items of a batch to keep, as an int >= 0.

    Raises:
        TypeError: not an integer; a bool and a float such as 2.0 are none.
        ValueError: None, or below zero.
    """
    if max_outputs is None:
        raise ValueError(f"tag {tag!r}: max_outputs must be an integer >= 0, got None")
    if isinstance(max_outputs, (bool, np.bool_)):
        raise TypeError(f"tag {tag!r}: max_outputs must be an integer >= 0, got {max_outputs!r}")
    try:
        limit = operator.index(max_outputs)
    except TypeError:
        message = f"tag {tag!r}: max_outputs must be an integer >= 0, got {max_outputs!r}"
        raise TypeError(message) from None
    if limit < 0:
        raise ValueError(f"tag {tag!r}: max_outputs must be >= 0, got {limit}")
    return limit
