"""A bounded queue of events and the one thread that writes them.

Strategy. A caller appends to a deque and returns: an event is queued as a function with its
arguments, and the thread does the encoding. All writers of a process share one thread, which wakes
in batches, every `TICK` seconds while there is work. No promise rests on that thread being alive:
every job it does can be done by the caller under the same lock, and is, where there is no thread
(at interpreter exit, or where none can be started).

What is promised, each by a test of that name:

- order: the deque is drained from one end, under a lock
- flush: a barrier for everything added before it
- exit: `_drain_at_exit` runs as an atexit hook, and as a finalizer in multiprocessing children
- errors: a fault is kept until a caller has heard of it, and what is queued is kept with it
- bounded memory: a caller waits where a bound is reached
- fork: a child drops its parent's queue, lock and file, and opens a file of its own

The fast path has one test: `len(queue) > limit`. Whatever needs attention (a full queue, a sleeping
thread, an error, a closed writer) sets the limit to -1, and the next call comes by `_attend`.
"""

from __future__ import annotations

import atexit
import errno
import os
import sys
import threading
import time
import warnings
import weakref
from collections import deque
from collections.abc import Callable, Iterator
from queue import Empty, SimpleQueue
from typing import Any, Literal, TypeAlias

from tfevents._types import Encode, EventWriter
from tfevents.errors import TfEventsError, WriteError, WriterClosedError

__all__ = ["AsyncWriter", "flush_all"]

#: Seconds between two batches of a busy writer. An event reaches the system within about twice this.
TICK = 0.5
#: Seconds between attempts to write after a fault.
RETRY = 1.0
#: Seconds that the interpreter's exit waits for a writer that another thread is busy with.
EXIT_TIMEOUT = 30.0

_MAX_ITEMS = 16384  # events queued, large ones included
_HIGH_WATER = 4096  # where the thread is asked not to wait for its tick
_CHUNK_ITEMS, _CHUNK_BYTES = 512, 4 << 20  # what is encoded between two writes

_Item: TypeAlias = "tuple[Encode, float, int, Any, int]"
OnError: TypeAlias = Literal["raise", "warn"]


class AsyncWriter:
    """Queues events for an EventWriter; safe from many threads.

    Args:
        open_writer: makes the writer; called at once, and again in a forked child or after the
            file was lost. With `fresh=False` it must not make missing directories.
        max_bytes: bytes of large values that may be queued; one value may exceed it alone.
        max_large: number of large values that may be queued.
        flush_secs: at most so many seconds pass between a write and its fsync.
        on_error: "raise" reports a fault at the next call, and at every call while it lasts;
            "warn" warns once, keeps what there is room for and says how much was lost.

    Raises:
        OSError: what `open_writer` raises.
    """

    def __init__(
        self,
        open_writer: Callable[..., EventWriter],
        *,
        max_bytes: int = 64 << 20,
        max_large: int = 1024,
        flush_secs: float = 120.0,
        on_error: OnError = "raise",
    ) -> None:
        self._open_writer = open_writer
        self._max_bytes, self._max_large = max_bytes, max_large
        self._flush_secs, self._on_error = flush_secs, on_error
        self._writer: EventWriter | None = open_writer()
        self._closed = self._finished = False
        self._reset()
        _scheduler.register(self)

    def _reset(self) -> None:
        """A state with nothing queued. Also the state of a forked child."""
        self._queue: deque[_Item] = deque()
        self._append: Callable[[_Item], None] = self._queue.append
        self._limit = -1
        self._idle = True
        self._lock = threading.Lock()  # who holds it may take from the queue and write
        self._room = threading.Condition()  # guards the two sums; notified of progress
        self._large, self._bytes = 0, 0
        self._encoded: list[bytes] = []
        self._error: Exception | None = None  # what a caller must still hear of
        self._faulty = False  # the last write failed
        self._retry_at = 0.0
        self._lost = 0
        self._warned = False
        self._dirty_since: float | None = None  # when the oldest write without fsync was

    # -- the caller's side

    def add(self, encode: Encode, wall_time: float, step: int, payload: Any) -> None:
        """Queues one small event, to be encoded by `encode(wall_time, step, payload)`."""
        self._append((encode, wall_time, step, payload, 0))
        if len(self._queue) > self._limit:
            self._attend()

    def add_large(
        self, encode: Encode, wall_time: float, step: int, payload: Any, nbytes: int
    ) -> None:
        """Queues an event that holds `nbytes` of memory; waits while too much is queued."""
        if self._reserve(nbytes):
            self._append((encode, wall_time, step, payload, max(nbytes, 1)))
            if len(self._queue) > self._limit:
                self._attend()

    def flush(self) -> None:
        """Returns when every event added before is with the operating system.

        Raises:
            WriteError: the system refuses; the events stay queued.
        """
        if not self._closed:
            _scheduler.run(self.drain)
            self._report()

    def close(self) -> None:
        """Writes everything, makes it durable and closes the file; a second call does nothing.

        Raises:
            WriteError: the system refuses; what is not written is lost.
        """
        if self._shut():
            _scheduler.run(self._finish)
            self._report()

    @property
    def closed(self) -> bool:
        """Whether `close` was called."""
        return self._closed

    @property
    def writer(self) -> EventWriter | None:
        """The writer beneath; None in a forked child until it writes."""
        return self._writer

    def closes_with(self, owner: object) -> None:
        """Closes this writer when `owner` is garbage; a fault then becomes a warning."""
        weakref.finalize(owner, _close_garbage, self).atexit = False

    def _attend(self) -> None:
        """What the fast path leaves to do."""
        if self._closed:
            raise WriterClosedError("this writer is already closed")
        if self._idle:
            self._idle = False
            self._settle()
            if not _scheduler.wake(self):
                self._idle = True
                self.drain()
        self._report()
        queued = len(self._queue)
        if queued > _MAX_ITEMS:
            with self._room:
                while len(self._queue) > _MAX_ITEMS and not self._faulty:
                    self._await_progress()
        elif queued > _HIGH_WATER and self._limit == _HIGH_WATER:
            self._limit = _MAX_ITEMS
            _scheduler.urge(self.drain)

    def _reserve(self, nbytes: int) -> bool:
        """Waits for room for a large event; False if it is lost because writing fails."""
        with self._room:
            while self._large and not (
                self._large < self._max_large and self._bytes + nbytes <= self._max_bytes
            ):
                if self._faulty:
                    self._lost += 1
                    self._report()
                    return False
                self._await_progress()
            self._large += 1
            self._bytes += nbytes
        return True

    def _await_progress(self) -> None:
        """Waits, with `_room` held, until the thread has written something, or writes it here."""
        if _scheduler.urge(self.drain):
            self._room.wait(TICK)
        else:
            self._room.release()
            try:
                self.drain()
            finally:
                self._room.acquire()

    def _shut(self) -> bool:
        """Refuses further events; False if that was done before."""
        if self._closed:
            return False
        self._closed = True
        self._append = self._refuse
        self._settle()
        return True

    # -- faults

    def _refuse(self, item: _Item) -> None:
        raise WriterClosedError("this writer is already closed")

    def _append_bounded(self, item: _Item) -> None:
        """Keeps an event if there is room; nothing is taken from the queue while writing fails."""
        if len(self._queue) < _MAX_ITEMS:
            self._queue.append(item)
        else:
            self._lost += 1

    def _settle(self) -> None:
        """Derives the limit and the way in from the state."""
        healthy = not (self._idle or self._closed or self._faulty or self._error is not None)
        self._limit = _HIGH_WATER if healthy else -1
        if not self._closed:
            self._append = self._append_bounded if self._faulty else self._queue.append

    def _fail(self, error: Exception) -> None:
        self._error, self._faulty = error, True
        self._retry_at = time.monotonic() + RETRY
        self._settle()
        self._notify()

    def _report(self) -> None:
        """Tells the caller of a fault: at every call while it lasts, and once after it passed."""
        error = self._error
        if error is None:
            return
        if not self._faulty:
            self._error = None
            self._settle()
        told = _retell(error, self._lost)
        if self._on_error == "raise":
            self._lost = 0
            raise told from error
        if not self._warned or (self._lost and not self._faulty):
            warnings.warn(f"{told}", RuntimeWarning, stacklevel=4)
            self._lost = 0
        self._warned = self._faulty

    # -- the thread's side

    def drain(self) -> None:
        """Writes everything that is queued now. Never raises: a fault is kept for the caller."""
        with self._lock:
            if self._finished:  # a job that was asked for before the last one
                return
            try:
                self._write_encoded()
                left = len(self._queue)
                while left > 0:
                    left -= self._encode_some()
                    self._write_encoded()
            except Exception as error:  # whatever it is, the thread goes on and the caller is told
                self._fail(error)
            else:
                self._faulty = False
                self._settle()

    def tick(self) -> bool:
        """A regular visit of the thread; returns whether it shall come again."""
        now = time.monotonic()
        if self._closed:
            return False
        if self._faulty and now < self._retry_at:
            return True
        busy = bool(self._queue)
        self.drain()
        if self._dirty_since is not None and now - self._dirty_since >= self._flush_secs:
            self._sync()
        if busy or self._faulty or self._dirty_since is not None:
            return True
        # Callers append first and look at the limit after. So either this sees the event, or its
        # caller sees the limit and wakes the thread again.
        self._idle = True
        self._settle()
        if self._queue:
            self._idle = False
        return not self._idle

    def _encode_some(self) -> int:
        """Takes a chunk from the queue; returns how many events that were."""
        queue, encoded = self._queue, self._encoded
        count = large = size = 0
        for _ in range(min(len(queue), _CHUNK_ITEMS)):
            encode, wall_time, step, payload, nbytes = queue.popleft()
            count += 1
            try:
                encoded.append(encode(wall_time, step, payload))
            except Exception as error:
                self._error, self._lost = error, self._lost + 1
            if nbytes:
                large += 1
                size += nbytes
                if size > _CHUNK_BYTES:
                    break
        if large:
            with self._room:
                self._large -= large
                self._bytes -= size
        return count

    def _write_encoded(self) -> None:
        """Writes what is encoded; with nothing to write, checks that the file is still there."""
        writer = self._writer
        if writer is None:
            writer = self._writer = self._open_writer(fresh=False)
        try:
            writer.write(self._encoded)
        except WriteError as error:
            del self._encoded[: error.written]
            if error.errno == errno.ENOENT:  # the file is gone, so a new one is tried next time
                self._abandon_file()
            raise
        if self._encoded:
            self._encoded.clear()
            if self._dirty_since is None:
                self._dirty_since = time.monotonic()
            self._notify()

    def _sync(self) -> None:
        with self._lock:
            try:
                if self._writer is not None:
                    self._writer.flush()
                self._dirty_since = None
            except Exception as error:
                self._fail(error)

    def _finish(self) -> None:
        """The last job of a writer: write, make durable, release."""
        self.drain()
        if self._dirty_since is not None and not self._faulty:
            self._sync()
        with self._lock:
            self._lost += len(self._queue) + len(self._encoded)
            self._queue.clear()
            self._encoded.clear()
            self._abandon_file()
            self._finished = True

    def _abandon_file(self) -> None:
        writer, self._writer = self._writer, None
        if writer is not None:
            writer.close()

    def _notify(self) -> None:
        with self._room:
            self._room.notify_all()

    def leave(self) -> None:
        """At the end of the process: writes what is queued, and says what could not be."""
        if not self._lock.acquire(timeout=EXIT_TIMEOUT):
            warnings.warn(
                f"gave up writing {len(self._queue)} events at exit: a write did not return within "
                f"{EXIT_TIMEOUT:g} s", RuntimeWarning, stacklevel=2,
            )
            return
        self._lock.release()
        self.drain()
        unwritten = self._lost + len(self._queue) + len(self._encoded)
        if self._error is not None and unwritten and not self._closed:
            warnings.warn(f"{_retell(self._error, unwritten)}", RuntimeWarning, stacklevel=2)

    def after_fork(self) -> None:
        """In the child: the queue and the file are the parent's, so they are left alone."""
        if not self._closed:
            self._writer = None
            self._reset()


def _retell(error: Exception, lost: int) -> Exception:
    """An error for one more caller, since an exception is raised once."""
    tail = f"; {lost} events are lost" if lost else ""
    if isinstance(error, OSError):
        text = f"cannot write events: {error.strerror or error}{tail}"
        return WriteError(error.errno, text, error.filename)
    return TfEventsError(f"cannot write an event: {type(error).__name__}: {error}{tail}")


def _close_garbage(writer: AsyncWriter) -> None:
    if writer._shut():
        _scheduler.run(writer._finish, patience=5.0)
        if writer._error is not None and writer._lost:
            warnings.warn(f"{_retell(writer._error, writer._lost)}", RuntimeWarning, stacklevel=2)


_Job: TypeAlias = Callable[[], None]


class _Scheduler:
    """The thread that serves all writers of this process. Its jobs never raise."""

    def __init__(self) -> None:
        self._writers: weakref.WeakSet[AsyncWriter] = weakref.WeakSet()
        self.reset()

    def reset(self) -> None:
        """No thread, no requests; also the state of a forked child."""
        # A SimpleQueue may be used from a finalizer that interrupts another use of it.
        self._requests: SimpleQueue[tuple[AsyncWriter | None, _Job, threading.Event | None] | None]
        self._requests = SimpleQueue()
        self._thread: threading.Thread | None = None
        self._lock = threading.RLock()
        self._exiting = False

    def register(self, writer: AsyncWriter) -> None:
        with self._lock:
            self._writers.add(writer)

    def writers(self) -> list[AsyncWriter]:
        with self._lock:
            return list(self._writers)

    def wake(self, writer: AsyncWriter) -> bool:
        """Begins regular visits; False if there is no thread to make them."""
        return self._send(writer, writer.drain, None)

    def urge(self, job: _Job) -> bool:
        """Has a job done as soon as possible; False if there is no thread to do it."""
        return self._send(None, job, None)

    def run(self, job: _Job, patience: float = float("inf")) -> None:
        """Has a job done, and returns when it is; does it here where there is no thread.

        The work is left to the thread even though the caller waits, because a KeyboardInterrupt
        reaches the main thread only: here it ends the waiting and not the writing.
        """
        done = threading.Event()
        if not self._send(None, job, done):
            job()
        elif threading.current_thread() is not self._thread:  # else a finalizer, run by a job
            deadline = time.monotonic() + patience
            while not done.wait(TICK) and time.monotonic() < deadline:
                if self._thread is None or not self._thread.is_alive():
                    job()
                    break

    def _send(self, writer: AsyncWriter | None, job: _Job, done: threading.Event | None) -> bool:
        if self._exiting or not self._ensure_thread():
            return False
        self._requests.put((writer, job, done))
        return True

    def _ensure_thread(self) -> bool:
        if self._thread is not None and self._thread.is_alive():
            return True
        with self._lock:
            if self._thread is None:
                _register_exit()
                self._thread = threading.Thread(
                    target=self._serve, name="tfevents-writer", daemon=True
                )
                try:
                    self._thread.start()
                except RuntimeError:  # the interpreter is ending, or the system is out of threads
                    self._thread = None
                    return False
        return True

    def _serve(self) -> None:
        requests = self._requests
        active: set[AsyncWriter] = set()
        due = float("inf")
        while True:
            pause = max(due - time.monotonic(), 0.0) if active else None
            try:
                request = requests.get(timeout=pause)
            except Empty:
                pass
            else:
                if request is None:
                    return
                writer, job, done = request
                if writer is None:
                    job()
                elif not active:
                    due = time.monotonic() + TICK
                if writer is not None:
                    active.add(writer)
                if done is not None:
                    done.set()
                del request, writer, job, done  # or an idle thread keeps garbage alive
            if active and time.monotonic() >= due:
                active = {each for each in active if each.tick()}
                due = time.monotonic() + TICK

    def stop(self) -> None:
        """Ends the thread for good; from now on every caller writes for itself."""
        self._exiting = True
        thread = self._thread
        if thread is not None and thread.is_alive():
            self._requests.put(None)
            thread.join(EXIT_TIMEOUT)


_scheduler = _Scheduler()


def flush_all() -> None:
    """Flushes every open writer of this process."""
    for writer in _scheduler.writers():
        writer.flush()


def _drain_at_exit() -> None:
    _scheduler.stop()
    for writer in _scheduler.writers():
        writer.leave()


def _register_exit() -> None:
    """Once in every process: a multiprocessing child runs finalizers and no atexit hooks."""
    util: Any = sys.modules.get("multiprocessing.util")
    process: Any = sys.modules.get("multiprocessing.process")
    if util is not None and process is not None and process.parent_process() is not None:
        util.Finalize(None, _drain_at_exit, exitpriority=0)
    atexit.unregister(_drain_at_exit)
    atexit.register(_drain_at_exit)


def _after_fork() -> None:
    writers: Iterator[AsyncWriter] = iter(list(_scheduler._writers))
    _scheduler.reset()
    for writer in writers:
        writer.after_fork()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
