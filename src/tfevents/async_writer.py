"""A bounded queue of events, written by the thread that all writers of a process share.

Strategy. A caller appends to a deque and returns: an event is queued as a function with its
arguments, and the thread does the encoding, in batches, every `TICK` seconds while there is work.
Every job of the thread can be done by a caller under the same lock, and is, where there is none.

What is promised, each by a test of that name:

- order: the deque is drained from one end, under a lock
- flush: a barrier for everything added before it
- exit: the scheduler's last round, an atexit hook or a finalizer of multiprocessing
- errors: a fault is kept until a caller has heard of it, and what is queued is kept with it
- bounded memory: a caller waits where a bound is reached
- fork: a child drops its parent's queue, lock and file, and opens a file of its own

The fast path has one test: `len(queue) > limit`. Whatever needs attention (a full queue, a sleeping
thread, an error, a closed writer) sets the limit to -1, and the next call comes by `_attend`.

Who writes what. Callers lower the limit and never raise it; only who holds `_lock` derives it anew
(`_settle`), so no caller can put an old state back. It never opens a closed writer, not even for a
moment: what another thread added in it would be dropped in silence. Counts come in pairs, what
callers put in and what the drain took out, so that the two sides need no lock between them: one
would deadlock a signal handler that flushes. `_gate` is between callers only.
"""

from __future__ import annotations

import contextlib
import errno
import threading
import time
import warnings
import weakref
from collections import deque
from collections.abc import Callable, Iterator
from queue import SimpleQueue
from typing import Any, Literal, TypeAlias, cast

from tfevents import _scheduler, _warn
from tfevents._closing import call_all
from tfevents._fork import free_imports
from tfevents._scheduler import TICK, Bell, scheduler
from tfevents._types import Encode, EventWriter
from tfevents.errors import TfEventsError, WriteError, WriterClosedError

__all__ = ["AsyncWriter", "OnError", "flush_all", "open_writers"]

#: Seconds between attempts to write after a fault.
RETRY = 1.0
#: Seconds that a finalizer waits for the file of a garbage writer.
PATIENCE = 5.0

_MAX_ITEMS = 16384  # events queued, large ones included
_HIGH_WATER = 4096  # where the thread is asked not to wait for its tick
_CHUNK_ITEMS, _CHUNK_BYTES = 512, 4 << 20  # what is encoded between two writes
_GONE = frozenset({errno.ENOENT, errno.ESTALE})  # the file takes nothing any more

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
        ValueError: `on_error` is neither.
        OSError: what `open_writer` raises.
    """

    # Also for speed: beyond 30 attributes CPython looks each up in a dict of the instance.
    __slots__ = (
        "__weakref__", "_append", "_bells", "_bytes_in", "_bytes_out", "_closed", "_dirty_since",
        "_drainer", "_encoded", "_error", "_failed", "_faulty", "_finished", "_flush_secs", "_gate",
        "_grave", "_large_in", "_large_out", "_limit", "_lock", "_lost_told", "_max_bytes",
        "_max_large", "_on_error", "_open_writer", "_path", "_queue", "_refused", "_retry_at",
        "_told", "_urged", "_visited", "_writer",
    )

    def __init__(
        self,
        open_writer: Callable[..., EventWriter],
        *,
        max_bytes: int = 64 << 20,
        max_large: int = 1024,
        flush_secs: float = 120.0,
        on_error: OnError = "raise",
    ) -> None:
        if on_error not in ("raise", "warn"):
            raise ValueError(f'on_error must be "raise" or "warn"; got {on_error!r}')
        self._max_bytes, self._max_large = max_bytes, max_large
        self._flush_secs, self._on_error = float(flush_secs), on_error
        self._open_writer = open_writer
        self._closed = False
        self._path = ""
        self._reset()
        self._open(fresh=True)
        scheduler.register(self)

    def _reset(self) -> None:
        """A state with nothing queued. Also the state of a forked child."""
        self._queue: deque[_Item] = deque()
        self._append: Callable[[_Item], None] = self._queue.append
        self._limit = -1
        self._visited = False  # the thread comes by, or was asked to
        self._urged = False  # it was asked to come at once
        self._lock = threading.RLock()  # who holds it may take from the queue and write
        self._drainer = 0  # the thread that does so now
        self._gate = threading.RLock()  # guards what callers count
        self._bells: deque[Bell] = deque()  # of callers that wait for progress
        self._large_in = self._large_out = 0
        self._bytes_in = self._bytes_out = 0
        self._refused = self._failed = self._lost_told = 0  # lost by callers, by the drain; told
        self._encoded: list[bytes] = []
        self._writer: EventWriter | None = None
        self._error: BaseException | None = None
        self._told: BaseException | None = None  # the error that a caller has heard of
        self._faulty = False  # the last write failed
        self._grave = False  # what was written may be gone, so a caller must hear of it
        self._retry_at = 0.0
        self._dirty_since: float | None = None  # when the oldest write without fsync was
        self._finished = self._closed

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
        if self._faulty and not self._has_room(1, nbytes):
            self._refuse_one()
        else:
            self._append((encode, wall_time, step, payload, max(nbytes, 1)))
            with self._gate:
                self._large_in += 1
                self._bytes_in += max(nbytes, 1)
        if len(self._queue) > self._limit:
            self._attend()
        if not self._has_room():
            self._wait_until(self._has_room)

    def flush(self) -> None:
        """Returns when every event added before is with the operating system.

        Raises:
            WriteError: the system refuses; the events stay queued.
        """
        if not self._closed:
            scheduler.run(self._drain_visibly)
            self._report()

    def close(self) -> None:
        """Writes everything, makes it durable and closes the file; a second call does nothing.

        Raises:
            WriteError: the system refuses; what is not written is lost.
        """
        self._shut()
        if not self._finished:  # also after a first call that was interrupted
            scheduler.run(self.drain)
            self._report()

    @property
    def closed(self) -> bool:
        """Whether `close` was called."""
        return self._closed

    @property
    def writer(self) -> EventWriter | None:
        """The writer beneath; None after the end, and in a forked child until it writes."""
        return self._writer

    @property
    def path(self) -> str:
        """The file that was opened last; "" where the writer beneath has no path."""
        return self._path

    @contextlib.contextmanager
    def diverted(self, open_writer: Callable[..., EventWriter]) -> Iterator[None]:
        """Writes to another writer what is added within the block, and to the old one after it."""
        self.flush()
        with self._lock:
            kept, self._writer = self._writer, None
            before, self._open_writer = self._open_writer, open_writer
        try:
            yield
        finally:
            scheduler.run(self.drain)
            with self._lock:
                self._release()
                self._open_writer = before
                if self._finished and kept is not None:
                    kept.close()
                else:
                    self._writer = kept

    def closes_with(self, owner: object) -> None:
        """Closes this writer when `owner` is garbage; a fault then becomes a warning."""
        weakref.finalize(owner, _close_garbage, self).atexit = False

    def _attend(self) -> None:
        """What the fast path leaves to do."""
        if self._closed:
            raise self._closed_error()
        if not self._visited or scheduler.exiting:
            self._ask_for_visits()
        self._report()
        queued = len(self._queue)
        if queued > _MAX_ITEMS:
            self._wait_until(lambda: len(self._queue) <= _MAX_ITEMS)
        elif queued > _HIGH_WATER and self._limit == _HIGH_WATER and not self._urged:
            try:
                self._urged = True  # one caller asks, and not each
                if not scheduler.urge(self.drain):
                    self.drain()
            except BaseException:  # Ctrl-C; one request too many does no harm, none at all would
                self._urged = False
                raise

    def _ask_for_visits(self) -> None:
        try:
            self._visited = True
            if not scheduler.visit(self):
                self._visited = False
                self.drain()
        except BaseException:  # Ctrl-C
            self._visited = False
            raise

    def _has_room(self, large: int = 0, nbytes: int = 0) -> bool:
        large += self._large_in - self._large_out
        nbytes += self._bytes_in - self._bytes_out
        return large <= 1 or (large <= self._max_large and nbytes <= self._max_bytes)

    def _wait_until(self, has_room: Callable[[], bool]) -> None:
        """Waits for the drain; not where that would be to wait for oneself."""
        if scheduler.is_here() or self._drainer == threading.get_ident():
            return
        while not (has_room() or self._faulty or self._closed):
            bell: Bell = SimpleQueue()
            self._bells.append(bell)
            if scheduler.urge(self.drain):
                if not _scheduler.wait_for(bell, TICK):
                    free_imports()
            else:
                self.drain()
        self._report()

    def _shut(self) -> None:
        """Refuses further events."""
        self._closed = True
        self._append = self._refuse
        self._limit = -1

    # -- faults, as callers see them

    def _closed_error(self) -> WriterClosedError:
        return WriterClosedError(f"this writer is already closed{self._where()}")

    def _refuse(self, item: _Item) -> None:
        raise self._closed_error()

    def _append_bounded(self, item: _Item) -> None:
        """Keeps an event if there is room; nothing is taken from the queue while writing fails."""
        if len(self._queue) < _MAX_ITEMS:
            self._queue.append(item)
            return
        self._refuse_one()
        if item[4]:
            with self._gate:  # the caller is about to count it
                self._large_in -= 1
                self._bytes_in -= item[4]

    def _refuse_one(self) -> None:
        with self._gate:
            self._refused += 1

    def _report(self) -> None:
        """Tells the caller of a fault: at every call while it lasts, else once."""
        error = self._error
        if error is None:
            return
        with self._gate:
            news = error is not self._told
            self._told = error
            lost = self._refused + self._failed - self._lost_told
            speak = news or self._faulty or lost > 0
            if self._on_error == "warn":
                speak = news or (lost > 0 and (not self._faulty or self._finished))
            if speak:
                self._lost_told += lost
        if speak and self._on_error == "raise":
            raise _retell(error, lost) from error
        if speak:
            text = f"{_retell(error, lost)}"
            warnings.warn(text, RuntimeWarning, stacklevel=_warn.outside())

    # -- the thread's side

    def begin(self) -> None:
        """The thread begins its visits."""
        with self._lock:
            self._settle()

    def drain(self) -> None:
        """Writes everything that is queued now, and finishes a closed writer.

        Never raises: a fault is kept for the caller.
        """
        with self._lock:
            if self._drainer or self._finished:  # interrupted by this call, or done
                return
            self._drainer = threading.get_ident()
            try:
                closed = self._write_all()
                while self._closed and not closed:  # closed meanwhile, with more in the queue
                    closed = self._write_all()
            finally:
                self._drainer = 0
            if closed:
                self._finish()
        self._ring()

    def _drain_visibly(self) -> None:
        """Where writing does not show to others, an upload has to follow."""
        self.drain()
        if getattr(self._writer, "buffered", False):
            self._sync()

    def tick(self) -> bool:
        """A regular visit of the thread; returns whether it shall come again."""
        now = time.monotonic()
        if self._finished:
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
        # caller sees the limit and asks for visits again.
        with self._lock:
            self._visited = False
            self._settle()
            if not self._queue:
                return False
            self._visited = True
        return True

    def leave(self) -> None:
        """At the end of the process: writes what is queued."""
        self._drain_visibly()

    def leftover(self) -> None:
        """At the end of the process: says what could not be written."""
        if self._drainer == threading.get_ident():  # a finalizer within a drain, which goes on
            return
        # What came into a finished queue came from a call that ended in WriterClosedError.
        unwritten = 0 if self._finished else len(self._queue) + len(self._encoded)
        lost = unwritten + self._refused + self._failed - self._lost_told
        if not lost and self._error is self._told:
            return
        if self._error is not None:
            text = f"{_retell(self._error, lost)}"
        else:
            text = (
                f"gave up writing {_events(lost)}: the write before did not return within "
                f"{_scheduler.EXIT_TIMEOUT:g} s{self._where()}"
            )
        self._told = self._error  # who is told now is not told again at the end of the process
        self._lost_told += lost
        warnings.warn(text, RuntimeWarning, stacklevel=2)

    def after_fork(self) -> None:
        """In the child: the queue and the file are the parent's, so they are left alone.

        The reference is dropped, not closed: closing may upload. A local file has a `__del__`.
        """
        self._reset()
        if self._closed:
            self._shut()

    def _settle(self, limit: int = _HIGH_WATER) -> None:
        """Derives the limit and the way in from the state; only for who holds `_lock`."""
        if not self._closed:
            untold = self._error is not None and self._error is not self._told
            healthy = self._visited and not (self._faulty or untold or scheduler.exiting)
            self._append = self._append_bounded if self._faulty else self._queue.append
            self._limit = limit if healthy else -1
        if self._closed:  # asked again, since it may have changed meanwhile
            self._shut()

    def _write_all(self) -> bool:
        """Writes what is queued now; returns whether that is all there will ever be."""
        closed = self._closed
        self._urged = False
        self._settle(_MAX_ITEMS)  # nobody has to ask for what is being done
        try:
            self._write_encoded()
            left = len(self._queue)
            while left > 0:
                left -= self._encode_some()
                self._write_encoded()
                self._ring()
        except KeyboardInterrupt:  # only where there is no thread
            self._limit = -1
            raise
        except BaseException as error:  # whatever it is, the thread goes on and the caller is told
            self._fail(error)
        else:
            healed, self._faulty = self._faulty, False
            told = self._error is self._told or (healed and not self._grave)
            if told and self._refused + self._failed == self._lost_told:
                self._error = self._told = None  # a fault that passed without loss is no news
                self._grave = False
            self._settle()
        return closed

    def _encode_some(self) -> int:
        """Takes a chunk from the queue; returns how many events that were."""
        queue, encoded = self._queue, self._encoded
        count = large = size = 0
        for _ in range(min(len(queue), _CHUNK_ITEMS)):
            item = queue.popleft()
            encode, wall_time, step, payload, nbytes = item
            try:
                encoded.append(encode(wall_time, step, payload))
            except KeyboardInterrupt:  # only where there is no thread
                queue.appendleft(item)
                raise
            except BaseException as error:
                self._error = error
                self._failed += 1
            count += 1
            if nbytes:
                large += 1
                size += nbytes
                if size > _CHUNK_BYTES:
                    break
        self._large_out += large
        self._bytes_out += size
        return count

    def _write_encoded(self) -> None:
        """Writes what is encoded; with nothing to write, checks that the file is still there."""
        if self._writer is None:
            if not self._encoded and not self._queue:
                return  # a file is opened for events only
            self._open(fresh=False)
        writer = cast("EventWriter", self._writer)
        try:
            writer.write(self._encoded)
        except WriteError as error:
            del self._encoded[: error.written]
            if error.errno in _GONE:  # so a new file is tried next time
                self._grave = True
                self._release()
            raise
        if self._encoded:
            self._encoded.clear()
            if self._dirty_since is None:
                self._dirty_since = time.monotonic()

    def _open(self, *, fresh: bool) -> None:
        self._writer = self._open_writer(fresh=fresh)
        self._path = getattr(self._writer, "path", "")

    def _sync(self) -> None:
        with self._lock:
            try:
                if self._writer is not None:
                    self._writer.flush()
                self._dirty_since = None
            except Exception as error:
                self._grave = True
                self._fail(error)

    def _finish(self) -> None:
        """The end of a closed writer: make durable, count what is left over, release."""
        if self._dirty_since is not None and not self._faulty:
            self._sync()
        self._failed += len(self._queue) + len(self._encoded)
        self._queue.clear()
        self._encoded.clear()
        self._release()
        self._finished = True

    def _release(self) -> None:
        writer, self._writer = self._writer, None
        self._dirty_since = None
        if writer is not None:
            try:
                writer.close()
            except Exception as error:
                self._grave = True
                self._fail(error)

    def _fail(self, error: BaseException) -> None:
        if not self._faulty:  # attempts that follow fail for the same reason
            self._error = error
        self._faulty = True
        self._retry_at = time.monotonic() + RETRY
        self._settle()

    def _ring(self) -> None:
        with contextlib.suppress(IndexError):  # another thread may be faster
            while self._bells:
                self._bells.popleft().put(None)

    def _where(self) -> str:
        return f": {self._path}" if self._path else ""


def _events(count: int) -> str:
    return f"{count} event{'' if count == 1 else 's'}"


def _retell(error: BaseException, lost: int) -> Exception:
    """An error for one more caller, since an exception is raised once."""
    tail = f"; lost: {_events(lost)}" if lost else ""
    if isinstance(error, OSError):
        text = f"cannot write events: {error.strerror or error}{tail}"
        return WriteError(error.errno, text, error.filename)
    return TfEventsError(f"cannot write an event: {type(error).__name__}: {error}{tail}")


def _close_garbage(writer: AsyncWriter) -> None:
    if writer.closed:
        return
    writer._shut()
    if scheduler.run(writer.drain, patience=PATIENCE) or not scheduler.is_here():
        writer.leftover()
    else:  # garbage that the thread itself came upon, and writes next
        scheduler.urge(lambda: _tell_leftover(writer))


def _tell_leftover(writer: AsyncWriter) -> None:
    with contextlib.suppress(Warning):  # an exception, by a filter, would end the thread
        writer.leftover()


def open_writers() -> list[AsyncWriter]:
    """The writers of this process that are not closed."""
    clients = scheduler.clients()
    return [each for each in clients if isinstance(each, AsyncWriter) and not each.closed]


def flush_all() -> None:
    """Flushes every open writer of this process.

    Raises:
        WriteError: the first refusal; the writers after it are flushed all the same.
    """
    call_all(writer.flush for writer in open_writers())
