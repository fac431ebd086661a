"""Warnings about data: shown at the caller's line, and once per tag and reason by each writer.

The conversions in `values` know what is wrong and not who asks; the writers know who asks. So a
writer lends its memory of what it has told to the conversions that it starts.
"""

from __future__ import annotations

import contextlib
import os
import sys
import warnings
from collections.abc import Iterator
from contextvars import ContextVar
from typing import TypeAlias

__all__ = ["Told", "once", "outside", "warn"]

#: The (tag, reason) pairs that a writer has warned of.
Told: TypeAlias = "set[tuple[str, str]]"

_told: ContextVar[Told | None] = ContextVar("tfevents_told", default=None)
_PACKAGE = os.path.dirname(__file__) + os.sep
# A program that invents tags for ever must not fill the memory.
_MAX_TOLD = 1 << 14


def warn(tag: str, reason: str, text: str) -> None:
    """Shows a UserWarning, unless the writer at work has shown it for this tag and reason."""
    told = _told.get()
    if told is not None:
        if (tag, reason) in told:
            return
        if len(told) >= _MAX_TOLD:
            told.clear()
        told.add((tag, reason))
    warnings.warn(text, UserWarning, stacklevel=outside())


@contextlib.contextmanager
def once(told: Told) -> Iterator[None]:
    """Within the block, warns of what is not in `told`, and adds it there."""
    token = _told.set(told)
    try:
        yield
    finally:
        _told.reset(token)


def outside() -> int:
    """The `stacklevel` that names the line which called into this package."""
    level = 1
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame = frame.f_back
        level += 1
    return level
