"""Recording conditions, default steps and the scopes of summary names."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from typing import Any

import numpy as np

from tfevents import _context, arrays, steps

__all__ = [
    "full_tag", "get_step", "in_scope", "is_recording", "no_step", "record_if", "resolve_step",
    "set_step", "should_record_summaries", "strict_step", "summary_scope",
]

_PLAIN = (bool, int, float, str, bytes, list, tuple, dict)
_NOT_IN_SCOPES = re.compile(r"[^-_/.A-Za-z0-9]")


def record_if(condition: Any) -> contextlib.AbstractContextManager[None]:
    """Sets whether summaries are recorded, for a block or (as decorator) a function.

    Args:
        condition: a bool, something with one bool in it, or a callable that returns such. A
            callable is asked at every write. None records always.
    """
    return _context.recording(condition)


def should_record_summaries() -> bool:
    """Whether a summary written now would be recorded: a default writer, and recording is on."""
    context = _context.state()
    return context.writer is not None and is_recording(context.recording)


def is_recording(condition: Any) -> bool:
    """The value of a recording condition.

    Raises:
        TypeError: it is not a bool.
    """
    if callable(condition):
        condition = condition()
    elif isinstance(condition, _PLAIN) and not condition:
        return False  # TensorFlow takes every plain value that is false, though no other number
    if condition is None or isinstance(condition, (bool, np.bool_)):
        return condition is None or bool(condition)
    found = _array(condition)
    if found is None or found.dtype != np.bool_ or found.size != 1:
        raise TypeError(f"a recording condition must be a bool, got {condition!r:.80}")
    return bool(found.reshape(-1)[0])


def _array(data: Any) -> np.ndarray[Any, Any] | None:
    try:
        return arrays.to_numpy(data)
    except (TypeError, ValueError):
        return None


def set_step(step: Any) -> None:
    """Sets the default step of this thread: any object, converted when a summary is written."""
    _context.change(step=step)


def get_step() -> Any:
    """The default step as it was set; None at first."""
    return _context.state().step


def strict_step(step: Any, tag: str) -> int:
    """An explicit step as an int.

    Raises:
        TypeError, ValueError: it is no integer of 64 bits; the text names the tag.
    """
    return steps.named(steps.strict, step, tag)


def resolve_step(step: Any, context: _context.State, tag: str) -> int:
    """The step of a write, explicit or the default; variables are read only now.

    Raises:
        ValueError: there is neither.
    """
    step = context.step if step is None else step
    if step is None:
        raise no_step(tag)
    return strict_step(step, tag)


def no_step(tag: str) -> ValueError:
    """What is raised where there is neither an explicit nor a default step."""
    return ValueError(
        f"tag {tag!r}: No step set. Please specify one either through the `step` argument or "
        "through tf.summary.experimental.set_step()"
    )


@contextlib.contextmanager
def summary_scope(
    name: str | None, default_name: str = "summary", values: Any = None
) -> Iterator[tuple[str, str]]:
    """A scope for one summary: yields its tag and the name scope it opens.

    Args:
        name: name of the summary; None and "" stand for `default_name`.
        default_name: see `name`.
        values: accepted as in TensorFlow; not used.

    Yields:
        The tag, which is `name` verbatim below the current scope, and the scope, which is `name`
        without the characters that a scope cannot have, with a trailing slash.

    Raises:
        TypeError: `name` is not a str.
    """
    tag = full_tag(name, default_name, _context.state())
    scope = _NOT_IN_SCOPES.sub("", name or default_name) or default_name
    with _context.name_scope(scope) as opened:
        yield tag, opened


def full_tag(name: str | None, default_name: str, context: _context.State) -> str:
    """The tag of a summary in the name scope of `context`.

    Raises:
        TypeError: `name` is not a str.
    """
    name = name or default_name
    if not isinstance(name, str):
        raise TypeError(
            f"the name of a summary must be a str, got {type(name).__name__}: {name!r:.80}"
        )
    return in_scope(context.scope, name)


def in_scope(scope: str, name: str) -> str:
    """The tag `name` in a name scope, whose own slashes at the end do not count: "a//" is "a"."""
    bare = scope.rstrip("/")
    return f"{bare}/{name}" if bare else name
