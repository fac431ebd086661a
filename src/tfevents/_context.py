"""What tf.summary keeps between calls: default writer, step, recording condition, name scope.

All four are one frozen value in one context variable, so a call reads them with one look-up. As in
TensorFlow a new thread begins with none of them, also where Python lets threads inherit context
variables; unlike there, an asyncio task inherits them and keeps its own.
"""

from __future__ import annotations

import contextlib
import dataclasses
import sys
from collections.abc import Iterator
from contextvars import ContextVar
from threading import get_ident
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from types import TracebackType

    from tfevents.summary._writers import SummaryWriter

__all__ = ["State", "change", "name_scope", "recording", "state"]


@dataclasses.dataclass(frozen=True, slots=True)
class State:
    """The context of a summary call.

    Attributes:
        writer: the default writer.
        step: the default step, any object; it is converted when it is used.
        recording: a bool, a callable that returns one, or None for always.
        scope: the name scope as `tf.name_scope` yields it: "" at the root, else with a slash.
        thread: identity of the thread that set it.
    """

    writer: SummaryWriter | None = None
    step: Any = None
    recording: Any = None
    scope: str = ""
    thread: int = 0


_state: ContextVar[State] = ContextVar("tfevents_state")
_ROOT = State()
# Free-threaded builds of Python 3.14 start threads with a copy of their parent's context.
_THREADS_INHERIT = bool(getattr(sys.flags, "thread_inherit_context", False))


def state() -> State:
    """The context of this thread or task."""
    found = _state.get(_ROOT)
    return _ROOT if _THREADS_INHERIT and found.thread != get_ident() else found


def change(**changes: Any) -> State:
    """Replaces some of the context; returns what it was."""
    before = state()
    _state.set(dataclasses.replace(before, thread=get_ident(), **changes))
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

    Scopes nest with slashes. A name that ends with a slash is absolute; "" is the root, and so is
    None, as in TensorFlow 1. Names are not made unique.

    Args:
        name: the scope.

    Raises:
        ValueError: `name` is not a str.
    """

    def __init__(self, name: str | None) -> None:
        if name is not None and not isinstance(name, str):
            raise ValueError(  # TensorFlow's class for it
                f"name for name_scope must be a string, got {type(name).__name__}"
            )
        self._name = name or ""
        self._outer: list[str] = []

    @property
    def name(self) -> str:
        """The name as it was given; "" for None."""
        return self._name

    def __enter__(self) -> str:
        scope = _inside(state().scope, self._name)
        self._outer.append(change(scope=scope).scope)
        return scope

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        change(scope=self._outer.pop())


def _inside(outer: str, name: str) -> str:
    """The scope `name` inside the scope `outer`."""
    if not name or name.endswith("/"):
        return name
    return f"{outer}{name}/"
