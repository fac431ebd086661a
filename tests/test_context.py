from __future__ import annotations

import asyncio
import contextvars
import threading
from typing import Any

import pytest

import tfevents as tf
from tfevents import _context
from tfevents.summary.experimental import get_step, set_step, summary_scope


def tag_of(name: str) -> str:
    with summary_scope(name) as (tag, _):
        return tag


def in_thread(call: Any) -> Any:
    found: list[Any] = []
    thread = threading.Thread(target=lambda: found.append(call()))
    thread.start()
    thread.join()
    return found[0]


# What TensorFlow 2.21 yields for each nest of name scopes, and the tag "q" inside them.
@pytest.mark.parametrize(
    ("scopes", "yielded", "tag"),
    [
        (["x"], "x/", "x/q"),
        (["x", "y"], "x/y/", "x/y/q"),
        (["x", "y/"], "y/", "y/q"),
        (["x", ""], "", "q"),
        (["x", "/"], "/", "q"),
        (["x", "//"], "//", "q"),
        (["x", "/a"], "x//a/", "x//a/q"),
        (["x", "b//"], "b//", "b/q"),
        (["a b"], "a b/", "a b/q"),
    ],
)
def test_name_scopes_nest_as_tensorflows(scopes: list[str], yielded: str, tag: str) -> None:
    outer = [tf.name_scope(scope) for scope in scopes]
    entered = [scope.__enter__() for scope in outer]
    assert entered[-1] == yielded
    assert tag_of("q") == tag
    for scope in reversed(outer):
        scope.__exit__(None, None, None)
    assert tag_of("q") == "q"


def test_none_is_the_root_as_in_tensorflow_1() -> None:
    with tf.name_scope("x"), tf.name_scope(None) as scope:
        assert scope == ""
        assert tag_of("q") == "q"


def test_a_scope_can_be_entered_again_inside_itself() -> None:
    scope = tf.name_scope("k")
    with scope, scope:
        assert tag_of("q") == "k/k/q"
    assert scope.name == "k"


def test_a_scope_ends_where_an_exception_leaves_it() -> None:
    with pytest.raises(KeyError), tf.name_scope("x"):
        raise KeyError
    assert tag_of("q") == "q"


@pytest.mark.parametrize("name", [5, b"x", ["x"]])
def test_a_scope_must_be_a_string(name: Any) -> None:
    with pytest.raises(ValueError, match="must be a string"):
        tf.name_scope(name)


def test_a_new_thread_begins_with_nothing() -> None:
    set_step(4)
    with tf.name_scope("x"):
        assert in_thread(lambda: (get_step(), tag_of("q"))) == (None, "q")
    assert get_step() == 4


def test_a_thread_that_inherits_context_variables_begins_with_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(_context, "_THREADS_INHERIT", True)
    set_step(4)
    inherited = contextvars.copy_context()

    def run() -> Any:
        before = get_step()
        set_step(5)
        return before, get_step()

    assert in_thread(lambda: inherited.run(run)) == (None, 5)
    assert get_step() == 4


def test_a_task_inherits_and_keeps_its_own() -> None:
    async def child() -> tuple[Any, Any]:
        before = get_step()
        set_step(9)
        await asyncio.sleep(0)
        return before, get_step()

    async def main() -> tuple[Any, Any]:
        set_step(1)
        return await asyncio.create_task(child()), get_step()

    assert asyncio.run(main()) == ((1, 9), 1)


def test_change_returns_what_was() -> None:
    before = _context.change(step=1)
    assert before.step is None
    assert _context.change(step=2, scope="a/").step == 1
    assert _context.state().scope == "a/"
