from __future__ import annotations

import contextlib
import errno
import gc
import os
import threading
import time
import warnings
from collections.abc import Callable, Iterable
from typing import Any

import pytest

from tfevents import _scheduler, async_writer
from tfevents._types import Encode
from tfevents.async_writer import AsyncWriter
from tfevents.errors import TfEventsError, WriteError, WriterClosedError

HANG = 60.0  # seconds after which a wait counts as a hang


class Recorder:
    """An event writer that fails or blocks on demand and keeps what it takes."""

    def __init__(self) -> None:
        self.events: list[bytes] = []
        self.attempts = self.opened = self.flushes = self.closes = 0
        self.fault: Exception | None = None
        self.close_fault: Exception | None = None
        self.gate = threading.Event()
        self.gate.set()
        self.path = "/run/file"

    def open(self, *, fresh: bool = True) -> Recorder:
        self.opened += 1
        return self

    def write(self, events: Iterable[bytes]) -> None:
        self.attempts += 1
        assert self.gate.wait(HANG)
        if self.fault is not None:
            raise self.fault
        self.events += events

    def flush(self) -> None:
        self.flushes += 1

    def close(self) -> None:
        self.closes += 1
        if self.close_fault is not None:
            raise self.close_fault


def encode(wall_time: float, step: int, payload: Any) -> bytes:
    return b"%d" % step


def refuse(wall_time: float, step: int, payload: Any) -> bytes:
    raise ZeroDivisionError(f"step {step}")


def numbers(count: int) -> list[bytes]:
    return [b"%d" % number for number in range(count)]


def until(condition: Callable[[], bool]) -> None:
    limit = time.monotonic() + HANG
    while not condition():
        assert time.monotonic() < limit, "hangs"
        time.sleep(0.01)


def no_space() -> OSError:
    return OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "/run/file")


def test_order_is_the_order_of_calls_small_and_large() -> None:
    sink = Recorder()
    writer = AsyncWriter(sink.open)
    for step in range(20000):
        if step % 7:
            writer.add(encode, 0.0, step, None)
        else:
            writer.add_large(encode, 0.0, step, None, 1000)
    writer.close()
    assert sink.events == numbers(20000)


def test_flush_is_a_barrier() -> None:
    sink = Recorder()
    writer = AsyncWriter(sink.open)
    for step in range(300):
        writer.add(encode, 0.0, step, None)
        writer.flush()
        assert sink.events == numbers(step + 1)
    writer.close()


def test_events_are_written_without_flush_and_made_durable_after_flush_secs() -> None:
    sink = Recorder()
    writer = AsyncWriter(sink.open, flush_secs=0.0)
    for round_number in range(3):  # also after the thread has gone to sleep
        writer.add(encode, 0.0, round_number, None)
        until(lambda: len(sink.events) == round_number + 1 == sink.flushes)  # noqa: B023
        until(lambda: not writer._visited)
    writer.close()


def test_flush_of_a_buffered_writer_uploads() -> None:
    class Buffered(Recorder):
        buffered = True

    sink = Buffered()
    writer = AsyncWriter(sink.open)
    writer.add(encode, 0.0, 0, None)
    writer.flush()
    assert sink.flushes == 1
    writer.close()


def test_close_writes_makes_durable_and_releases_once() -> None:
    sink = Recorder()
    writer = AsyncWriter(sink.open)
    writer.add(encode, 0.0, 0, None)
    writer.close()
    writer.close()
    writer.flush()
    assert (sink.events, sink.flushes, sink.closes) == ([b"0"], 1, 1)
    assert writer.closed
    with pytest.raises(WriterClosedError, match="already closed: /run/file"):
        writer.add(encode, 0.0, 1, None)
    with pytest.raises(WriterClosedError, match="already closed: /run/file"):
        writer.add_large(encode, 0.0, 1, None, 10)
    assert sink.events == [b"0"]


def test_threads_that_add_while_another_closes_lose_nothing_silently() -> None:
    for _ in range(20):
        sink = Recorder()
        writer = AsyncWriter(sink.open)
        accepted: list[int] = []

        def add(
            number: int, writer: AsyncWriter = writer, accepted: list[int] = accepted
        ) -> None:
            for step in range(number, 10**9, 4):
                try:
                    writer.add(encode, 0.0, step, None)
                except WriterClosedError:
                    return
                accepted.append(step)

        threads = [threading.Thread(target=add, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        time.sleep(0.005)
        writer.close()
        for thread in threads:
            thread.join(HANG)
        written = [int(data) for data in sink.events]
        assert set(accepted) <= set(written)
        assert len(written) - len(accepted) <= 4  # an add that was interrupted by the close
        for number in range(4):
            own = [step for step in written if step % 4 == number]
            assert own == sorted(own)


def test_a_thread_that_adds_at_any_moment_of_a_close_is_refused_or_written() -> None:
    tried, accepted = [0], [0]

    class Interrupted(AsyncWriter):
        """Another thread adds an event each time before the way in is shut."""

        def _shut(self) -> None:
            thread = threading.Thread(target=self.try_to_add)
            thread.start()
            thread.join(HANG)
            super()._shut()

        def try_to_add(self) -> None:
            step = len(tried)
            tried.append(step)
            with contextlib.suppress(WriterClosedError):
                self.add(encode, 0.0, step, None)
                accepted.append(step)

    sink = Recorder()
    writer = Interrupted(sink.open)
    writer.add(encode, 0.0, 0, None)
    writer.close()
    assert len(tried) > 2
    assert sink.events == [b"%d" % step for step in accepted]


def test_an_add_that_a_close_overtakes_is_told_once() -> None:
    class Overtaken(AsyncWriter):
        """A thread that adds sleeps between finding the way in and taking it."""

        def add(self, encode: Encode, wall_time: float, step: int, payload: Any) -> None:
            way_in = self._append
            self.close()
            self._append = way_in
            super().add(encode, wall_time, step, payload)

    writer = Overtaken(Recorder().open)
    with pytest.raises(WriterClosedError):
        writer.add(encode, 0.0, 0, None)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        writer.leftover()


# -- faults


def test_errors_reach_the_caller_at_flush_and_nothing_is_lost_or_doubled() -> None:
    sink = Recorder()
    sink.fault = no_space()
    writer = AsyncWriter(sink.open)
    writer.add(encode, 0.0, 0, None)
    with pytest.raises(WriteError, match="cannot write events: No space") as caught:
        writer.flush()
    assert (caught.value.errno, caught.value.filename) == (errno.ENOSPC, "/run/file")
    for step in (1, 2):
        with pytest.raises(WriteError):
            writer.add(encode, 0.0, step, None)
    sink.fault = None
    writer.flush()
    writer.add(encode, 0.0, 3, None)
    writer.close()
    assert sink.events == numbers(4)


def test_errors_reach_the_caller_at_the_next_add() -> None:
    sink = Recorder()
    sink.fault = no_space()
    writer = AsyncWriter(sink.open)
    writer.add(encode, 0.0, 0, None)
    until(lambda: writer._faulty)
    with pytest.raises(WriteError):
        writer.add(encode, 0.0, 1, None)
    with pytest.raises(WriteError, match="lost: 2 events"):
        writer.close()
    writer.close()
    assert (sink.events, sink.closes) == ([], 1)


def test_errors_that_pass_without_loss_are_retried_without_a_call() -> None:
    sink = Recorder()
    sink.fault = no_space()
    writer = AsyncWriter(sink.open)
    writer.add(encode, 0.0, 0, None)
    until(lambda: writer._faulty)
    sink.fault = None
    until(lambda: sink.events == [b"0"])
    writer.add(encode, 0.0, 1, None)
    writer.close()
    assert sink.events == [b"0", b"1"]


def test_errors_partly_written_batches_continue_where_they_stopped() -> None:
    class Partial(Recorder):
        def write(self, events: Iterable[bytes]) -> None:
            events = list(events)
            if self.fault is not None and events:
                fault, self.fault = self.fault, None
                self.events += events[:3]
                assert isinstance(fault, WriteError)
                fault.written = 3
                raise fault
            self.events += events

    sink = Partial()
    sink.fault = WriteError(errno.ENOSPC, "full", "/run/file")
    writer = AsyncWriter(sink.open)
    for step in range(10):
        writer.add(encode, 0.0, step, None)
    with pytest.raises(WriteError):
        writer.flush()
    writer.close()
    assert sink.events == numbers(10)


def test_errors_of_one_event_are_told_once_and_the_others_are_written() -> None:
    sink = Recorder()
    writer = AsyncWriter(sink.open)
    writer.add(encode, 0.0, 0, None)
    writer.add(refuse, 0.0, 1, None)
    writer.add(refuse, 0.0, 2, None)
    writer.add(encode, 0.0, 3, None)
    with pytest.raises(TfEventsError, match=r"ZeroDivisionError: step 2; lost: 2 events") as caught:
        writer.flush()
    assert isinstance(caught.value.__cause__, ZeroDivisionError)
    writer.flush()
    writer.add(encode, 0.0, 4, None)
    writer.close()
    assert sink.events == [b"0", b"3", b"4"]


def test_errors_of_close_reach_the_caller_and_the_thread_lives_on() -> None:
    sink, other = Recorder(), Recorder()
    sink.close_fault = OSError(errno.EIO, "late", "/run/file")
    writer, second = AsyncWriter(sink.open), AsyncWriter(other.open)
    writer.add(encode, 0.0, 0, None)
    with pytest.raises(WriteError, match="late"):
        writer.close()
    writer.close()
    second.add(encode, 0.0, 0, None)
    until(lambda: other.events == [b"0"])
    second.close()


def test_errors_of_fsync_are_told_though_the_next_write_succeeds() -> None:
    class Failing(Recorder):
        def flush(self) -> None:
            super().flush()
            if self.flushes == 1:
                raise WriteError(errno.EIO, "disk", "/run/file")

    sink = Failing()
    writer = AsyncWriter(sink.open, flush_secs=0.0)
    writer.add(encode, 0.0, 0, None)
    until(lambda: sink.flushes > 1)
    with pytest.raises(WriteError, match="disk"):
        writer.flush()
    writer.flush()
    writer.close()


def test_errors_even_those_that_end_threads_leave_the_thread_alive() -> None:
    def leave(wall_time: float, step: int, payload: Any) -> bytes:
        raise SystemExit(3)

    sink = Recorder()
    writer = AsyncWriter(sink.open)
    writer.add(leave, 0.0, 0, None)
    with pytest.raises(TfEventsError, match="SystemExit"):
        writer.flush()
    writer.add(encode, 0.0, 1, None)
    until(lambda: sink.events == [b"1"])
    writer.close()


def test_errors_as_warnings_keep_the_caller_alive_and_say_what_was_lost(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(async_writer, "_MAX_ITEMS", 50)
    sink = Recorder()
    sink.fault = no_space()
    writer = AsyncWriter(sink.open, on_error="warn")
    writer.add(encode, 0.0, 0, None)
    with pytest.warns(RuntimeWarning, match="No space") as seen:
        writer.flush()
    assert seen[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # once is enough
        for step in range(1, 60):
            writer.add(encode, 0.0, step, None)
        attempts = sink.attempts
        until(lambda: sink.attempts >= attempts + 2)
        writer.add(encode, 0.0, 60, None)
    sink.fault = None
    with pytest.warns(RuntimeWarning, match="lost: 11 events"):
        writer.flush()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        writer.flush()
        writer.add(encode, 0.0, 61, None)
        writer.close()
    assert sink.events == [*numbers(50), b"61"]


def test_errors_a_long_queue_does_not_hasten_the_next_attempt(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(async_writer, "RETRY", 10 * HANG)
    sink = Recorder()
    sink.fault = no_space()
    writer = AsyncWriter(sink.open, on_error="warn")
    writer.add(encode, 0.0, 0, None)
    with pytest.warns(RuntimeWarning, match="No space"):
        writer.flush()
    attempts = sink.attempts
    for step in range(1, async_writer._HIGH_WATER + 100):
        writer.add(encode, 0.0, step, None)
    _scheduler.scheduler.run(lambda: None)  # whatever the thread was asked for is done
    assert sink.attempts == attempts
    sink.fault = None
    writer.close()
    assert sink.events == numbers(async_writer._HIGH_WATER + 100)


def test_errors_a_mode_that_does_not_exist() -> None:
    with pytest.raises(ValueError, match=r"on_error.*'ignore'"):
        AsyncWriter(Recorder().open, on_error="ignore")  # type: ignore[arg-type]


# -- bounds


@pytest.mark.parametrize(
    ("bounds", "allowed"),
    [({"max_large": 10}, 11), ({"max_bytes": 10_000}, 11), ({"max_bytes": 10}, 2)],
)
def test_bounded_memory_callers_wait_while_too_much_is_queued(
    bounds: dict[str, Any], allowed: int
) -> None:
    sink = Recorder()
    sink.gate.clear()
    writer = AsyncWriter(sink.open, **bounds)
    added: list[int] = []

    def add() -> None:
        for step in range(50):
            writer.add_large(encode, 0.0, step, None, 1000)
            added.append(step)

    thread = threading.Thread(target=add)
    thread.start()
    time.sleep(1.5)
    # the queue is full; what was being encoded when the writer blocked has left it
    waiting = len(added)
    assert len(writer._queue) <= allowed
    assert thread.is_alive()
    assert waiting < 50
    sink.gate.set()
    thread.join(HANG)
    writer.close()
    assert sink.events == numbers(50)


def test_bounded_memory_of_small_events(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(async_writer, "_HIGH_WATER", 50)
    monkeypatch.setattr(async_writer, "_MAX_ITEMS", 100)
    sink = Recorder()
    sink.gate.clear()
    writer = AsyncWriter(sink.open)

    def add() -> None:
        for step in range(2000):
            writer.add(encode, 0.0, step, None)

    thread = threading.Thread(target=add)
    thread.start()
    time.sleep(0.7)
    assert thread.is_alive()
    assert len(writer._queue) <= 101
    sink.gate.set()
    thread.join(HANG)
    writer.close()
    assert sink.events == numbers(2000)


def test_bounded_memory_while_writing_fails() -> None:
    sink = Recorder()
    sink.fault = no_space()
    writer = AsyncWriter(sink.open, max_large=4, on_error="warn")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for step in range(50):
            writer.add_large(encode, 0.0, step, None, 1000)
        writer.flush()
    assert len(writer._queue) + len(writer._encoded) <= 10
    sink.fault = None
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        writer.close()
    lost = 50 - len(sink.events)
    assert f"lost: {lost} events" in str(seen[-1].message)
    assert [int(data) for data in sink.events] == sorted(int(data) for data in sink.events)


def test_bounded_memory_is_given_back_after_refusals() -> None:
    """What was refused is not counted as queued for ever."""
    sink = Recorder()
    sink.fault = no_space()
    writer = AsyncWriter(sink.open, max_large=2, on_error="warn")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for step in range(20):
            writer.add_large(encode, 0.0, step, None, 10)
        sink.fault = None
        writer.flush()
        writer.flush()
    assert (writer._large_in, writer._bytes_in) == (writer._large_out, writer._bytes_out)
    writer.close()


def test_a_finalizer_that_logs_in_the_thread_does_not_wait_for_itself(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(async_writer, "_MAX_ITEMS", 3)
    sink = Recorder()
    writer = AsyncWriter(sink.open)

    def log_more(wall_time: float, step: int, payload: Any) -> bytes:
        for extra in range(10):
            writer.add(encode, 0.0, 100 + extra, None)
            writer.add_large(encode, 0.0, 200 + extra, None, 1 << 30)
        writer.flush()
        return b"0"

    writer.add(log_more, 0.0, 0, None)
    writer.flush()
    writer.close()
    assert len(sink.events) == 21


def test_drains_inside_a_drain_leave_the_work_to_the_outer_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Where there is no thread, a finalizer or a handler may interrupt a caller's own drain."""
    monkeypatch.setattr(_scheduler.scheduler, "_send", lambda request: False)
    sink = Recorder()
    writer = AsyncWriter(sink.open)

    def interrupt(wall_time: float, step: int, payload: Any) -> bytes:
        writer.flush()
        writer.close()
        return b"%d" % step

    jobs = [encode, interrupt, encode]
    writer._queue.extend((each, 0.0, step, None, 0) for step, each in enumerate(jobs))
    writer.flush()
    assert sink.events == numbers(3)
    assert (sink.closes, writer.writer) == (1, None)


def test_exit_a_garbage_writer_is_written_and_closed() -> None:
    class Owner:
        pass

    sink = Recorder()
    writer = AsyncWriter(sink.open)
    owner = Owner()
    writer.closes_with(owner)
    writer.add(encode, 0.0, 0, None)
    owner.cycle = owner  # type: ignore[attr-defined]
    del owner
    gc.collect()
    assert (sink.events, sink.closes) == ([b"0"], 1)


@pytest.mark.parametrize("full", [False, True])
def test_exit_garbage_that_the_thread_finds_is_written_and_only_a_loss_is_told(
    full: bool
) -> None:
    class Owner:
        pass

    sink, others = Recorder(), Recorder()
    writer, other = AsyncWriter(sink.open), AsyncWriter(others.open)
    owners = [Owner()]
    writer.closes_with(owners[0])
    _scheduler.scheduler.run(lambda: None)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        sink.fault = no_space() if full else None
        writer.add(encode, 0.0, 0, None)

        def collect(wall_time: float, step: int, payload: Any) -> bytes:
            owners.clear()  # the last reference goes in the thread
            return b"1"

        other.add(collect, 0.0, 1, None)
        other.flush()
        other.flush()
        other.flush()  # the thread has done what it gave to itself
    assert sink.closes == 1
    assert sink.events == ([] if full else [b"0"])
    assert ["lost: 1 event" in str(each.message) for each in told] == [True] * full
    other.close()


def test_exit_garbage_found_while_it_is_written_by_the_last_round(
    monkeypatch: pytest.MonkeyPatch
) -> None:
    class Owner:
        pass

    sink = Recorder()
    writer = AsyncWriter(sink.open)
    owners = [Owner()]
    writer.closes_with(owners[0])

    def collect(wall_time: float, step: int, payload: Any) -> bytes:
        owners.clear()
        return b"0"

    monkeypatch.setattr(_scheduler.scheduler, "exiting", True)  # every caller works for itself
    monkeypatch.setattr(async_writer, "_CHUNK_ITEMS", 1)
    with writer._lock:
        writer._queue.append((collect, 0.0, 0, None, 0))
        writer._queue.append((encode, 0.0, 1, None, 0))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        writer.leave()
        writer.leftover()
    assert (sink.events, sink.closes) == (numbers(2), 1)


def test_threads_a_dead_thread_is_replaced() -> None:
    sink = Recorder()
    writer = AsyncWriter(sink.open)
    writer.add(encode, 0.0, 0, None)
    writer.flush()
    thread = _scheduler.scheduler._thread
    assert thread is not None
    _scheduler.scheduler._requests.put(None)
    thread.join(HANG)
    writer.add(encode, 0.0, 1, None)
    writer.flush()
    writer.add(encode, 0.0, 2, None)
    until(lambda: len(sink.events) == 3)
    writer.close()
    assert sink.events == numbers(3)


def test_flush_all_flushes_the_rest_when_one_fails() -> None:
    sinks = [Recorder(), Recorder(), Recorder()]
    writers = [AsyncWriter(sink.open) for sink in sinks]
    sinks[1].fault = no_space()
    for writer in writers:
        writer.add(encode, 0.0, 0, None)
    with pytest.raises(WriteError):
        async_writer.flush_all()
    assert [sink.events for sink in sinks] == [[b"0"], [], [b"0"]]
    sinks[1].fault = None
    for writer in writers:
        writer.close()
