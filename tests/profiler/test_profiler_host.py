"""Spans: what is recorded, by whom it nests, and that nothing stays behind."""

from __future__ import annotations

import asyncio
import contextvars
import gc
import sys
import threading
import time
import tracemalloc
from collections.abc import AsyncIterator, Generator, Iterator
from typing import Any

import numpy as np
import pytest

from tfevents.profiler import annotate, host, step, timeline
from tfevents.profiler.host import Recorder
from tfevents.profiler.spans import NO_STEP, HostTrace


class Recorded:
    """A recorder that is active in a block, and afterwards what it saw."""

    def __init__(self, **options: Any) -> None:
        self._recorder = Recorder(**options)
        self.trace = HostTrace(0, 0, ())

    def __enter__(self) -> Recorded:
        host.activate(self._recorder)
        return self

    def __exit__(self, *error: object) -> None:
        host.deactivate()
        self.trace = self._recorder.stop()

    def tree(self) -> list[tuple[str, str]]:
        """Name of each span and of its parent, by start."""
        spans, names = self.trace.spans, self.trace.names
        by_id = {int(span["id"]): names[span["name"]] for span in spans}
        return [(names[s["name"]], by_id.get(int(s["parent"]), "")) for s in spans]


def test_nothing_is_recorded_without_a_recorder() -> None:
    with annotate("before"):
        recorded = Recorded()
        with recorded, annotate("inside"):
            pass
    assert recorded.tree() == [("inside", "")]


def test_nesting() -> None:
    with Recorded() as recorded:
        with annotate("a"):
            with annotate("b"):
                pass
            with annotate("c"):
                pass
        with annotate("d"):
            pass
    assert recorded.tree() == [("a", ""), ("b", "a"), ("c", "a"), ("d", "")]


def test_times_are_those_of_the_system_clock() -> None:
    before = time.time_ns()
    with Recorded() as recorded, annotate("a"):
        time.sleep(0.02)
    after = time.time_ns()
    (span,) = recorded.trace.spans
    slack = 50_000_000
    assert before - slack <= recorded.trace.start <= span["start"]
    assert span["start"] + 20_000_000 <= span["end"] + 1000
    assert span["end"] <= recorded.trace.stop <= after + slack


def test_an_exception_ends_the_span_and_passes() -> None:
    with Recorded() as recorded:
        with pytest.raises(KeyError), annotate("a"):
            raise KeyError("x")
        with annotate("b"):
            pass
    assert recorded.tree() == [("a", ""), ("b", "")]


def test_one_object_nested_in_itself_and_used_again() -> None:
    again = annotate("a")
    with Recorded() as recorded:
        with again, annotate("b"), again:
            pass
        with again:
            pass
    assert recorded.tree() == [("a", ""), ("b", "a"), ("a", "b"), ("a", "")]


def test_threads_nest_by_themselves() -> None:
    shared = annotate("shared")
    barrier = threading.Barrier(2)

    def work() -> None:
        with shared:
            barrier.wait(10)
            with annotate("inner"):
                barrier.wait(10)

    threads = [threading.Thread(target=work, name=f"worker {n}") for n in range(2)]
    with Recorded() as recorded, annotate("main"):
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert sorted(recorded.tree()) == [
        ("inner", "shared"), ("inner", "shared"), ("main", ""), ("shared", ""), ("shared", ""),
    ]
    trace = recorded.trace
    assert sorted(t.name for t in trace.threads) == ["MainThread", "worker 0", "worker 1"]
    by_thread = [sorted(trace.spans["name"][trace.spans["thread"] == n]) for n in range(3)]
    shared_name, inner = trace.names.index("shared"), trace.names.index("inner")
    assert by_thread[1] == by_thread[2] == sorted([shared_name, inner])


def test_threads_with_one_ident_share_a_line_with_both_their_names() -> None:
    """The system gives the ident of a thread that has ended to a later one."""
    idents: dict[int, list[str]] = {}

    def work() -> None:
        idents.setdefault(threading.get_ident(), []).append(threading.current_thread().name)
        with annotate("work"):
            pass

    with Recorded() as recorded:
        for number in range(6):
            thread = threading.Thread(target=work, name=f"loader-{number}")
            thread.start()
            thread.join()
    lines = {thread.ident: thread.name for thread in recorded.trace.threads[1:]}
    assert lines.keys() == idents.keys()
    for ident, names in idents.items():
        shown = names if len(names) <= 3 else [*names[:3], f"{len(names) - 3} more"]
        assert lines[ident] == ", ".join(shown)


def test_tasks_that_take_turns_nest_by_themselves() -> None:
    shared = annotate("outer")

    async def task(first: asyncio.Event, second: asyncio.Event, name: str) -> None:
        with shared:
            first.set()
            await second.wait()
            with annotate(name):
                await asyncio.sleep(0)

    async def main() -> None:
        a, b = asyncio.Event(), asyncio.Event()
        await asyncio.gather(task(a, b, "x"), task(b, a, "y"))

    with Recorded() as recorded:
        asyncio.run(main())
    assert sorted(recorded.tree()) == [("outer", ""), ("outer", ""), ("x", "outer"), ("y", "outer")]


def test_a_span_across_a_yield_does_not_end_its_neighbours() -> None:
    def numbers() -> Iterator[int]:
        with annotate("generator"):
            yield 1
            yield 2

    with Recorded() as recorded:
        iterator = numbers()
        with annotate("a"):
            next(iterator)
        with annotate("b"):
            list(iterator)
        with annotate("c"):
            pass
    assert [name for name, _ in recorded.tree()] == ["a", "generator", "b", "c"]
    assert dict(recorded.tree())["c"] == ""


# Decorators --------------------------------------------------------------------------------------


def test_a_task_that_outlives_its_span_is_not_inside_it() -> None:
    """Nor in the step that it was made in: it works for whichever step runs."""

    async def main() -> None:
        async def prefetch() -> None:
            await begin.wait()
            with annotate("late"):
                pass

        begin = asyncio.Event()
        with step(1), annotate("made"):
            task = asyncio.create_task(prefetch())
        with step(2):
            begin.set()
            await task

    with Recorded() as recorded:
        asyncio.run(main())
    assert ("late", "") in recorded.tree()
    late = recorded.trace.names.index("late")
    steps = timeline.join(recorded.trace).spans
    assert steps["step"][steps["name"] == late].tolist() == [2]


def test_spans_that_end_in_another_context_leave_nothing_behind() -> None:
    def alive() -> int:
        return sum(type(thing) is host._Open for thing in gc.get_objects())

    here, there = contextvars.Context(), contextvars.Context()
    before = alive()
    with Recorded() as recorded:
        for _ in range(100):
            span = annotate("handed over")
            here.run(span.__enter__)
            there.run(span.__exit__, None, None, None)
        gc.collect()
        assert alive() - before <= 1  # the last one, which the context still has
    assert recorded.tree() == [("handed over", "")] * 100


def test_decorated_function() -> None:
    @annotate("sum")
    def add(a: int, b: int = 1) -> int:
        """Adds."""
        return a + b

    with Recorded() as recorded:
        assert add(1, b=2) == 3
        assert add(1) == 2
    assert recorded.tree() == [("sum", ""), ("sum", "")]
    assert (add.__name__, add.__doc__) == ("add", "Adds.")


def test_decorated_methods() -> None:
    class Model:
        @annotate("method")
        def method(self) -> Any:
            return type(self)

        @annotate("static")
        @staticmethod
        def static(value: int) -> Any:
            return value

        @annotate("class")
        @classmethod
        def of_class(cls) -> Any:
            return cls

    with Recorded() as recorded:
        assert Model().method() is Model
        assert (Model.static(1), Model().static(2)) == (1, 2)
        assert (Model.of_class(), Model().of_class()) == (Model, Model)
    assert [name for name, _ in recorded.tree()] == ["method", *["static"] * 2, *["class"] * 2]


def test_decorated_coroutine_function() -> None:
    @annotate("later")
    async def later() -> int:
        with annotate("inner"):
            await asyncio.sleep(0)
        return 7

    with Recorded() as recorded:
        assert asyncio.run(later()) == 7
    assert recorded.tree() == [("later", ""), ("inner", "later")]


def test_decorated_generator_has_a_span_each_time_it_is_resumed() -> None:
    log = []

    @annotate("produce")
    def produce() -> Generator[int, str, str]:
        try:
            log.append((yield 1))
            try:
                yield 2
            except KeyError:
                yield 3
        finally:
            log.append("end")
        return "value"

    with Recorded() as recorded:
        made = produce()
        assert next(made) == 1
        with annotate("consume"):
            pass
        assert made.send("sent") == 2
        assert made.throw(KeyError("x")) == 3
        with pytest.raises(StopIteration) as end:
            next(made)
        assert end.value.value == "value"
        closed = produce()
        next(closed)
        closed.close()
    assert log == ["sent", "end", "end"]
    expected = ["produce", "consume", "produce", "produce", "produce", "produce", "produce"]
    assert recorded.tree() == [(name, "") for name in expected]


def test_decorated_async_generator() -> None:
    @annotate("produce")
    async def produce() -> AsyncIterator[int]:
        yield 1
        yield 2

    async def main() -> list[int]:
        return [number async for number in produce()]

    with Recorded() as recorded:
        assert asyncio.run(main()) == [1, 2]
    assert recorded.tree() == [("produce", "")] * 3


@pytest.mark.parametrize(
    ("make", "error", "text"),
    [
        (lambda: annotate(7), TypeError, "must be a str, got int"),  # type: ignore[arg-type]
        (lambda: annotate(""), ValueError, "cannot be empty"),
        (lambda: annotate("a")(3), TypeError, "got int"),  # type: ignore[type-var]
        (lambda: step(1.5), TypeError, "float"),  # type: ignore[arg-type]
        (lambda: step(-1), ValueError, "got -1"),
        (lambda: step(1 << 63), ValueError, "2\\*\\*63 - 1"),
    ],
)
def test_bad_arguments(make: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        make()


# Steps, limits, memory ---------------------------------------------------------------------------


def test_spans_inherit_the_step() -> None:
    with Recorded() as recorded:
        with annotate("before"):
            pass
        with step(np.int64(7)), annotate("inside"):
            pass
    spans, names = recorded.trace.spans, recorded.trace.names
    assert [(names[s["name"]], int(s["step"]), bool(s["marks_step"])) for s in spans] == [
        ("before", NO_STEP, False), ("step", 7, True), ("inside", 7, False),
    ]


def test_spans_beyond_the_limit_are_counted() -> None:
    with Recorded(max_spans=3) as recorded:
        for _ in range(5):
            with annotate("a"):
                pass
    assert (len(recorded.trace.spans), recorded.trace.dropped) == (3, 2)


def test_spans_that_are_still_open_end_with_the_recording() -> None:
    opened, over = threading.Event(), threading.Event()

    def work() -> None:
        with annotate("long"):
            opened.set()
            over.wait(10)

    thread = threading.Thread(target=work)
    with Recorded() as recorded:
        thread.start()
        opened.wait(10)
    over.set()
    thread.join()
    (span,) = recorded.trace.spans
    assert recorded.trace.names[span["name"]] == "long"
    assert span["end"] == recorded.trace.stop


class StopsInBetween:
    """Ties by which the recording is stopped while a span begins or ends, as by another thread."""

    def __init__(self, when: str) -> None:
        self.when = when
        self.recorder: Recorder | None = None
        self.trace: HostTrace | None = None

    def _at(self, when: str) -> None:
        if when == self.when and self.trace is None and self.recorder is not None:
            self.trace = self.recorder.stop()

    def push(self, external_id: int) -> bool:
        self._at("push")
        return True

    def pop(self) -> None:
        self._at("pop")


@pytest.mark.parametrize(("when", "seen"), [("push", []), ("pop", ["inner", "outer"])])
def test_a_recording_that_stops_while_a_span_begins_or_ends(when: str, seen: list[str]) -> None:
    ties = StopsInBetween(when)
    ties.recorder = Recorder(ties)
    host.activate(ties.recorder)
    try:
        with annotate("outer"), annotate("inner"):
            pass
    finally:
        host.deactivate()
    trace = ties.trace
    assert trace is not None
    assert sorted(trace.names[span["name"]] for span in trace.spans) == seen
    assert all(span["start"] <= span["end"] == trace.stop for span in trace.spans)


def test_threads_at_work_lose_no_span_when_recordings_stop() -> None:
    halt = threading.Event()

    def work() -> None:
        while not halt.is_set():
            with annotate("outer"), annotate("inner"):
                pass

    threads = [threading.Thread(target=work) for _ in range(4)]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for thread in threads:
            thread.start()
        for _ in range(60):
            with Recorded() as recorded:
                time.sleep(0.002)
            spans = recorded.trace.spans
            numbers = spans["id"].tolist()
            assert len(set(numbers)) == len(numbers)
            assert set(spans["parent"].tolist()) <= {0, *numbers}
    finally:
        halt.set()
        for thread in threads:
            thread.join()
        sys.setswitchinterval(interval)


def test_memory_of_nested_spans() -> None:
    with Recorded(memory=True) as recorded, annotate("outer"):
        with annotate("released"):
            np.zeros(1_000_000, np.uint8)
        with annotate("kept"):
            kept = np.zeros(500_000, np.uint8)
    assert kept.nbytes == 500_000
    spans, names = recorded.trace.spans, recorded.trace.names
    seen = {names[span["name"]]: (int(span["peak"]), int(span["live"])) for span in spans}
    assert seen["released"] == pytest.approx((1_000_000, 0), abs=20_000)
    assert seen["kept"] == pytest.approx((500_000, 500_000), abs=20_000)
    assert seen["outer"] == pytest.approx((1_000_000, 500_000), abs=40_000)
    assert (spans["resident"] > 1 << 20).all()


@pytest.mark.parametrize("running", [False, True])
def test_tracemalloc_is_left_as_it_was(running: bool) -> None:
    if running:
        tracemalloc.start()
    try:
        with Recorded(memory=True):
            assert tracemalloc.is_tracing()
        assert tracemalloc.is_tracing() is running
    finally:
        tracemalloc.stop()


# Ties to GPU work --------------------------------------------------------------------------------


class Ties:
    """A stack of ids for each thread, as the driver has it."""

    def __init__(self) -> None:
        self._local = threading.local()

    @property
    def stack(self) -> list[int]:
        if not hasattr(self._local, "stack"):
            self._local.stack = []
        stack: list[int] = self._local.stack
        return stack

    def push(self, external_id: int) -> bool:
        self.stack.append(external_id)
        return True

    def pop(self) -> None:
        self.stack.pop()


def test_the_innermost_span_is_tied() -> None:
    ties = Ties()
    with Recorded(ties=ties) as recorded, annotate("a"):
        outer = list(ties.stack)
        with annotate("b"):
            inner = list(ties.stack)
        assert ties.stack == outer
    assert ties.stack == []
    ids = {recorded.trace.names[s["name"]]: int(s["id"]) for s in recorded.trace.spans}
    assert (outer, inner) == ([ids["a"]], [ids["a"], ids["b"]])


def test_tasks_that_take_turns_leave_no_ties_behind() -> None:
    ties = Ties()
    seen = []

    async def task(name: str, turns: int) -> None:
        with annotate(name):
            for _ in range(turns):
                await asyncio.sleep(0)
        seen.append((name, len(ties.stack)))

    async def main() -> None:
        await asyncio.gather(task("short", 1), task("long", 3))

    with Recorded(ties=ties):
        asyncio.run(main())
    assert seen == [("short", 1), ("long", 0)]


def test_a_span_closed_in_another_thread_is_untied_in_its_own() -> None:
    ties = Ties()
    with Recorded(ties=ties) as recorded:
        span = annotate("a")
        span.__enter__()
        thread = threading.Thread(target=span.__exit__, args=(None, None, None))
        thread.start()
        thread.join()
        with annotate("b"):
            assert len(ties.stack) == 1
    assert ties.stack == []
    assert [name for name, _ in recorded.tree()] == ["a", "b"]


def test_a_refused_tie_is_not_undone() -> None:
    class Refusing(Ties):
        def push(self, external_id: int) -> bool:
            return False

    with Recorded(ties=Refusing()), annotate("a"):
        pass
