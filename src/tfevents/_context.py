"""What tf.summary keeps between calls: default writer, step, recording condition, name scope.

All four are one frozen value in one context variable, so a call reads them with one look-up. As in
TensorFlow a new thread begins with none of them; unlike there, an asyncio task inherits them and
keeps its own.
"""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterator
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from types import TracebackType

    from tfevents.summary._writers import FileWriter

__all__ = ["State", "change", "name_scope", "state"]


@dataclasses.dataclass(frozen=True)
class State:
    """The context of a summary call.

    Attributes:
        writer: the default writer.
        step: the default step, any object; it is converted when it is used.
        recording: a bool, a callable that returns one, or None for always.
        scope: name scope, without a trailing slash; "" is the root.
    """

    writer: FileWriter | None = None
    step: Any = None
    recording: Any = None
    scope: str = ""


_state: ContextVar[State] = ContextVar("tfevents_state")
_ROOT = State()


def state() -> State:
    """The context of this thread or task."""
    return _state.get(_ROOT)


def change(**changes: Any) -> State:
    """Replaces some of the context; returns what it was."""
    before = state()
    _state.set(dataclasses.replace(before, **changes))
    return before


@contextlib.contextmanager
def recording(condition: Any) -> Iterator[None]:
    """Sets the recording condition for a block."""
    before = change(recording=condition)
    try:
        yield
    finally:
        change(recording=before.recording)


class name_scope:  # noqa: N801 - TensorFlow's name
    """Prefixes the tags of summaries in its block, as `tf.name_scope` does in eager mode.

    Scopes nest with slashes. A name that ends with a slash is absolute, and "" is the root. Names
    are not made unique.

    Args:
        name: the scope.

    Raises:
        ValueError: `name` is None.
        TypeError: `name` is not a str.
    """

    def __init__(self, name: str) -> None:
        if name is None:
            raise ValueError("name for name_scope cannot be None")
        if not isinstance(name, str):
            raise TypeError(f"name for name_scope must be a str, got {type(name).__name__}")
        self._name = name
        self._outer: list[str] = []

    @property
    def name(self) -> str:
        """The name as it was given."""
        return self._name

    def __enter__(self) -> str:
        outer = state().scope
        self._outer.append(outer)
        inner = join(outer, self._name)
        change(scope=inner)
        return inner + "/" if inner else ""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        change(scope=self._outer.pop())


def join(outer: str, name: str) -> str:
    """The scope `name` inside the scope `outer`, without a trailing slash."""
    if not name:
        return ""
    if name.endswith("/"):
        return name[:-1]
    return f"{outer}/{name}" if outer else name
