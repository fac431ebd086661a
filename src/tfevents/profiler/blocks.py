"""Functions of every kind, run in blocks: what `annotate` does as a decorator."""

from __future__ import annotations

import functools
import inspect
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import AbstractContextManager
from typing import Any, TypeAlias, TypeVar

__all__ = ["in_blocks"]

Function = TypeVar("Function", bound=Callable[..., Any])
Block: TypeAlias = "AbstractContextManager[Any]"


def in_blocks(function: Function, block: Callable[[], Block]) -> Function:
    """Wraps a function, so that every call runs in a block of its own.

    Args:
        function: a function, coroutine function or generator function of both kinds; a generator
            is in a block each time it is resumed, not between. Of a static or class method, what
            it holds is wrapped.
        block: makes a context manager.

    Raises:
        TypeError: what it should wrap cannot be called.
    """
    if isinstance(function, (staticmethod, classmethod)):
        return type(function)(in_blocks(function.__func__, block))
    for fits, wrap in _WRAPS:
        if fits(function):
            made: Any = functools.wraps(function)(wrap(block, function))
            return made  # type: ignore[no-any-return]
    raise TypeError(f"annotate decorates functions, got {type(function).__name__}")


def _plain(block: Callable[[], Block], function: Callable[..., Any]) -> Callable[..., Any]:
    def call(*args: Any, **kwargs: Any) -> Any:
        with block():
            return function(*args, **kwargs)

    return call


def _coroutine(block: Callable[[], Block], function: Callable[..., Any]) -> Callable[..., Any]:
    async def call(*args: Any, **kwargs: Any) -> Any:
        with block():
            return await function(*args, **kwargs)

    return call


def _generator(block: Callable[[], Block], function: Callable[..., Any]) -> Callable[..., Any]:
    def iterate(*args: Any, **kwargs: Any) -> Generator[Any, Any, Any]:
        inner = function(*args, **kwargs)
        resume = functools.partial(inner.send, None)
        while True:
            try:
                with block():
                    item = resume()
            except StopIteration as end:
                return end.value
            try:
                resume = functools.partial(inner.send, (yield item))
            except GeneratorExit:
                with block():
                    inner.close()
                raise
            except BaseException as error:  # it is for the inner generator
                resume = functools.partial(inner.throw, error)

    return iterate


def _async_generator(
    block: Callable[[], Block], function: Callable[..., Any]
) -> Callable[..., Any]:
    async def iterate(*args: Any, **kwargs: Any) -> AsyncGenerator[Any, Any]:
        inner = function(*args, **kwargs)
        resume = functools.partial(inner.asend, None)
        while True:
            try:
                with block():
                    item = await resume()
            except StopAsyncIteration:
                return
            try:
                resume = functools.partial(inner.asend, (yield item))
            except GeneratorExit:
                with block():
                    await inner.aclose()
                raise
            except BaseException as error:  # it is for the inner generator
                resume = functools.partial(inner.athrow, error)

    return iterate


_WRAPS: tuple[tuple[Callable[[Any], bool], Callable[..., Callable[..., Any]]], ...] = (
    (inspect.isasyncgenfunction, _async_generator),
    (inspect.isgeneratorfunction, _generator),
    (inspect.iscoroutinefunction, _coroutine),
    (callable, _plain),
)
