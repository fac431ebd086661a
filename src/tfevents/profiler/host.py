"""Spans of time on the host: `annotate` and `step`, and the recorder that keeps them.

Spans nest by a context variable, so threads and asyncio tasks have nests of their own. While no
recorder is active an annotation does next to nothing; while one is, it reads the clock twice and
appends one tuple. The clock is `time.perf_counter_ns`, moved to the epoch once a recording.
"""

from __future__ import annotations

import itertools
import operator
import threading
from collections.abc import Callable
from contextvars import ContextVar
from threading import get_ident
from time import perf_counter_ns, time_ns
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np

from tfevents.profiler.blocks import in_blocks
from tfevents.profiler.memory import Memory
from tfevents.profiler.spans import NO_STEP, SPAN, HostTrace, Thread

if TYPE_CHECKING:
    from types import TracebackType

    from typing_extensions import Self

__all__ = [
    "MAX_SPANS", "Recorder", "Ties", "activate", "annotate", "deactivate", "step", "step_number",
]

MAX_SPANS = 1_000_000
"""Spans kept by default, about 200 bytes each while they are recorded."""

Function = TypeVar("Function", bound=Callable[..., Any])


class Ties(Protocol):
    """Ties the GPU work that a thread launches to spans; `cupti.GpuSession` is one."""

    def push(self, external_id: int) -> bool:
        """Ties what this thread launches from now on to an id; True if `pop` must follow."""

    def pop(self) -> None:
        """Undoes this thread's last push."""


class _Open:
    """A span that has begun."""

    __slots__ = (
        "closed", "floor", "id", "marks_step", "name", "outer", "owner", "parent", "peak",
        "recorder", "start", "step", "thread", "tied",
    )

    id: int
    parent: int
    name: str
    thread: int
    start: int
    step: int
    marks_step: bool
    outer: _Open | None
    owner: annotate | None
    recorder: Recorder
    tied: bool
    closed: bool
    floor: int
    peak: int


_current: ContextVar[_Open | None] = ContextVar("tfevents_span", default=None)
_recorder: Recorder | None = None


class annotate:  # noqa: N801 - used like a function
    """Names the work of a block or a function; recorded while a profile runs.

    As a decorator it takes functions, coroutine functions and generators of both kinds; a
    generator gets a span each time it is resumed. One object may be used again, nested too, and
    from many threads and tasks.

    Args:
        name: the full name of a node in the graph ("dense/MatMul") to colour that node, or any
            other text. It is used as it is, not joined with names around it.

    Raises:
        TypeError: `name` is not a str.
        ValueError: it is empty.
    """

    __slots__ = ("_last", "_name")

    def __init__(self, name: str) -> None:
        if type(name) is not str or not name:
            _check_name(name)
        self._name = name
        self._last: _Open | None = None

    def __enter__(self) -> Self:
        if _recorder is not None:
            self._last = _recorder.open(self, self._name)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        span = _current.get()
        if span is None and self._last is None:
            return
        if span is None or span.owner is not self:
            span = self._own(span)
        if span is not None:
            self._last = None
            span.recorder.close(span)

    def _own(self, span: _Open | None) -> _Open | None:
        """The innermost span of this object around here, or else its last one."""
        while span is not None and span.owner is not self:
            span = span.outer
        return self._last if span is None else span

    def _again(self) -> annotate:
        """A new object for the same span."""
        return annotate(self._name)

    def __call__(self, function: Function) -> Function:
        """Wraps a function, so that every call is such a span.

        Raises:
            TypeError: what it should wrap cannot be called.
        """
        return in_blocks(function, self._again)


class step(annotate):  # noqa: N801 - used like a function
    """Marks a block as training step `number`; spans and GPU work inside belong to it.

    Args:
        number: the global step, an integer from 0 on.
        name: shown beside the number.

    Raises:
        TypeError: `number` is no integer.
        ValueError: it is negative or beyond 64 bits.
    """

    __slots__ = ("_number",)

    def __init__(self, number: int, name: str = "step") -> None:
        super().__init__(name)
        self._number = step_number(number)

    def __enter__(self) -> Self:
        if _recorder is not None:
            self._last = _recorder.open(self, self._name, self._number)
        return self

    def _again(self) -> annotate:
        return step(self._number, self._name)


def step_number(number: Any) -> int:
    """Checks the number of a step.

    Raises:
        TypeError: it is no integer.
        ValueError: it is negative or beyond 64 bits.
    """
    if not hasattr(number, "__index__"):
        raise TypeError(f"a step must be an integer, got {type(number).__name__}")
    checked = operator.index(number)
    if not 0 <= checked < 1 << 63:
        raise ValueError(f"a step must be from 0 to 2**63 - 1, got {checked}")
    return checked


def _check_name(name: object) -> None:
    if not isinstance(name, str):
        raise TypeError(f"the name of an annotation must be a str, got {type(name).__name__}")
    if not name:
        raise ValueError("the name of an annotation cannot be empty")


_ID = 2
"""Place of the id in a row."""

_NO_MEMORY = (0, 0, 0, 0)


# Recording ---------------------------------------------------------------------------------------


class _Here(threading.local):
    """This thread: its ident, and the spans that it pushed, innermost last.

    Args:
        names: gets the thread's name at the end of those that its ident had before, since the
            system gives the ident of a thread that has ended to a later one.
    """

    def __init__(self, names: dict[int, list[str]]) -> None:
        self.ident = get_ident()
        self.spans: list[_Open] = []
        names.setdefault(self.ident, []).append(threading.current_thread().name)


class Recorder:
    """Keeps the spans of one recording.

    Args:
        ties: where spans are tied to GPU work, if anywhere.
        memory: whether allocations of Python are recorded, by tracemalloc.
        max_spans: spans kept; later ones are counted only.
    """

    def __init__(
        self, ties: Ties | None = None, *, memory: bool = False, max_spans: int = MAX_SPANS
    ) -> None:
        self._ties = ties
        self._memory = Memory() if memory else None
        self._room = max_spans
        self._dropped = 0
        self._ids = itertools.count(1)
        self._threads: dict[int, list[str]] = {}
        self._here = _Here(self._threads)
        self._rows: list[tuple[Any, ...]] = []
        self._open: dict[int, _Open] = {}
        self._running = True
        self._epoch = _epoch_of_clock()
        self._begin = perf_counter_ns()

    def open(self, owner: annotate, name: str, number: int = NO_STEP) -> _Open:
        """Begins a span in this thread, inside the current one."""
        span = _Open()
        outer = _current.get()
        while outer is not None and outer.closed:  # elsewhere, or before this task went on
            outer = outer.outer
        span.outer = outer
        if outer is not None and outer.recorder is self:
            span.parent, span.step = outer.id, outer.step
        else:
            span.parent, span.step = 0, NO_STEP
        span.marks_step = number != NO_STEP
        if span.marks_step:
            span.step = number
        span.owner, span.recorder, span.name = owner, self, name
        span.thread = self._here.ident
        span.id = next(self._ids)
        span.tied = span.closed = False
        span.start = 0  # `stop`, in another thread, may meet it before it begins
        self._open[span.id] = span
        _current.set(span)
        if self._ties is not None:
            self._tie(span)
        if self._memory is not None:
            self._memory.opened(span)
        span.start = perf_counter_ns()
        return span

    def close(self, span: _Open) -> None:
        """Ends a span, in whichever thread or task; a second call does nothing."""
        end = perf_counter_ns()
        if span.closed:
            return
        span.closed = True
        used = _NO_MEMORY if self._memory is None else self._memory.closed(span)
        if span.tied:
            self._untie(span)
        _leave(span)
        span.owner = None  # the two would keep each other alive
        if self._running:  # in this order `stop`, in another thread, finds it in one of the two
            self._keep(self._rows, span, end, used)
            self._open.pop(span.id, None)

    def _keep(
        self, rows: list[tuple[Any, ...]], span: _Open, end: int, used: tuple[int, int, int, int]
    ) -> None:
        if len(rows) >= self._room:
            self._dropped += 1
            return
        rows.append(
            (
                span.start, end, span.id, span.parent, span.name, span.thread, span.step,
                span.marks_step, *used,
            )
        )

    # -- GPU work

    def _tie(self, span: _Open) -> None:
        spans = self._here.spans
        while spans and spans[-1].closed:  # closed in another thread, which cannot pop here
            self._pop(spans)
        if self._ties is not None and self._ties.push(span.id):
            spans.append(span)
            span.tied = True

    def _untie(self, span: _Open) -> None:
        """Pops a span; what was pushed after it, by other tasks, is pushed again."""
        spans = self._here.spans
        if span not in spans:
            return
        above: list[_Open] = []
        while spans[-1] is not span:
            above.append(self._pop(spans))
        self._pop(spans)
        for other in reversed(above):
            if not other.closed:
                self._tie(other)

    def _pop(self, spans: list[_Open]) -> _Open:
        if self._ties is not None:
            self._ties.pop()
        return spans.pop()

    # -- the end

    def stop(self) -> HostTrace:
        """Ends the recording; spans that are still open end now."""
        stop = perf_counter_ns()
        self._running = False
        begun = {span.id: span for span in list(self._open.values()) if span.start}
        rows, self._rows = self._rows.copy(), []  # a thread may be about to append
        for row in rows if begun else ():
            begun.pop(row[_ID], None)  # it ended meanwhile
        for span in begun.values():
            self._keep(rows, span, stop, _NO_MEMORY)
        self._open.clear()
        if self._memory is not None:
            self._memory.stop()
        known = list(self._threads.items())
        threads = tuple(Thread(ident, _together(names)) for ident, names in known)
        names, spans = _table(rows, [thread.ident for thread in threads], self._epoch)
        return HostTrace(
            self._begin + self._epoch, stop + self._epoch, threads, spans, names, self._dropped
        )

    def abandon(self) -> None:
        """Ends the recording and gives up what it has; a second call does nothing."""
        self._running = False
        self._rows.clear()
        self._open.clear()
        if self._memory is not None:
            self._memory.stop()

    def forget(self) -> None:
        """In a forked child: gives up what it has, whatever other threads were about to do."""
        if self._memory is not None:
            self._memory.renew()
        self.abandon()


def activate(recorder: Recorder) -> None:
    """Lets annotations go to `recorder`."""
    global _recorder
    _recorder = recorder


def deactivate() -> None:
    """Lets annotations go nowhere."""
    global _recorder
    _recorder = None


def _leave(span: _Open) -> None:
    """Makes the outer span the current one, where `span` is around here at all."""
    current = _current.get()
    around = current
    while around is not None and around is not span:
        around = around.outer
    if around is not None:
        _current.set(span.outer)


def _together(names: list[str]) -> str:
    """One name for the threads that had one ident."""
    more = [f"{len(names) - 3} more"] if len(names) > 3 else []
    return ", ".join([*names[:3], *more])


def _epoch_of_clock() -> int:
    """Nanoseconds from the zero of `perf_counter_ns` to now's epoch, by the closest of readings."""
    readings = []
    for _ in range(7):
        before, wall, after = perf_counter_ns(), time_ns(), perf_counter_ns()
        readings.append((after - before, wall - (before + after) // 2))
    return min(readings)[1]


def _table(
    rows: list[tuple[Any, ...]], idents: list[int], epoch: int
) -> tuple[tuple[str, ...], np.ndarray[Any, Any]]:
    """Rows with names and thread idents to the string table and the spans."""
    numbers: dict[str, int] = {"": 0}
    place = {ident: index for index, ident in enumerate(idents)}
    spans = np.zeros(len(rows), SPAN)
    if rows:
        columns = list(zip(*rows, strict=True))
        columns[4] = tuple(numbers.setdefault(name, len(numbers)) for name in columns[4])
        columns[5] = tuple(place[ident] for ident in columns[5])
        for name, column in zip(SPAN.names or (), columns, strict=True):
            spans[name] = column
    spans["start"] += epoch
    spans["end"] += epoch
    return tuple(numbers), spans[np.lexsort((-spans["end"], spans["start"]))]
