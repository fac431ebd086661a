"""One stretch of GPU recording, from subscribing to the last buffer.

    start   library, driver, callbacks; then subscribe, and only then anything else: a second
            user of the activity API would silently take the first one's buffers away
    push/pop  around a span, so that work launched inside carries the span's id
    stop    wait for the GPU, flush, disable, flush the rest, unsubscribe; then parse

The subscription lasts no longer than that: torch.profiler cannot set itself up while somebody
else holds it. Whatever happens (an exception, a session dropped without stop, interpreter exit),
everything enabled is disabled again. In a forked child a session does nothing.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import re
import sys
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tfevents.profiler.cupti import _driver, _lib, _sizes, _trampoline
from tfevents.profiler.cupti._lib import Cupti, CuptiError, GpuUnavailableError
from tfevents.profiler.cupti._names import Names, demangle
from tfevents.profiler.cupti._records import EXTERNAL_KIND, LAYOUTS, Parser
from tfevents.profiler.cupti.trace import DRIVER, GpuTrace

ESSENTIAL = {10: "kernels", 1: "copies", 2: "memsets", 5: "runtime calls", 39: "external ids"}
"""Kinds without which there is nothing to show. CONCURRENT_KERNEL, since KERNEL serialises."""

EXTRA = {
    4: "driver calls",
    22: "peer copies",
    12: "NVTX markers",
    17: "overheads",
    38: "synchronisations",
    49: "memory operations",
}
"""Kinds that are left out with a note where they are not supported."""

STANDING = {8: "devices", 9: "contexts"}
"""Kinds reported once when the thing is made, so what exists already has to be asked for."""

WHOLE_GRAPHS = {51: "whole graphs"}

FORCED = 1
"""Flush flag: hand over buffers with unfinished records too."""

SAME_CLOCK_NS = 100_000
"""CUPTI's clock is the system's on Linux; smaller differences are those of reading two clocks."""


class _Attachment:
    """Our hold on the library: the subscription and the enabled kinds, undone in reverse once."""

    def __init__(self, cupti: Cupti, buffers: _trampoline.Buffers) -> None:
        self.cupti = cupti
        self.buffers = buffers
        self.pid = os.getpid()
        self.notes: list[str] = []
        self._handle = ctypes.c_void_p()
        self.lost_before = 0
        self._enabled: dict[int, str] = {}
        self._lock = threading.RLock()
        self._held = False

    def open(self, kinds: dict[int, str], sizes: dict[int, int]) -> None:
        """Subscribe and enable; whatever fails, nothing stays enabled."""
        # Each step is taken back before it is known to be done: an interrupt may come in between.
        self._held = True
        try:
            self._subscribe()
            self._settle()
            self.cupti.call(
                "cuptiActivityRegisterCallbacks", self.buffers.request, self.buffers.complete
            )
            for kind, what in kinds.items():
                self._enable(kind, what, sizes)
        except BaseException:
            self.close()
            raise

    def _subscribe(self) -> None:
        try:
            self.cupti.call("cuptiSubscribe", ctypes.byref(self._handle), self.buffers.ignore, None)
        except CuptiError:
            self._handle.value = None  # whatever is in it now, it is not ours to undo
            raise

    def _settle(self) -> None:
        """Close the account of whoever recorded before, maybe ourselves.

        Buffers that are under way still would come to `complete` if it did not make them: so they
        go back to their owner while its callbacks are there.
        """
        with contextlib.suppress(CuptiError):  # most often there were no callbacks yet
            self.cupti.call("cuptiActivityFlushAll", FORCED)
        _dropped_by_library(self.cupti, [])
        for one in self.buffers.drain():
            self.buffers.release(one.node)
        self.lost_before = self.buffers.counters().lost

    def _enable(self, kind: int, what: str, sizes: dict[int, int]) -> None:
        function = "cuptiActivityEnableAndDump" if kind in STANDING else "cuptiActivityEnable"
        try:
            if sizes.get(kind, 0) < LAYOUTS[kind].prefix:
                raise GpuUnavailableError(f"{self.cupti.where} has no known layout of {what}")
            self._enabled[kind] = what
            self.cupti.call(function, kind)
        except (CuptiError, GpuUnavailableError) as error:
            if kind in ESSENTIAL:
                raise GpuUnavailableError(f"{what} cannot be recorded: {error}") from error
            self.notes.append(f"no {what} were recorded: {error}")
            if kind in self._enabled:
                with contextlib.suppress(CuptiError):  # it may be enabled in spite of the error
                    self.cupti.call("cuptiActivityDisable", kind)
                del self._enabled[kind]

    def close(self) -> None:
        """Disable, flush, unsubscribe; safe to call twice, from the collector and at exit."""
        if self.pid != os.getpid():
            return
        with self._lock:
            if self._held and self._handle.value:
                while self._enabled:
                    kind, what = next(reversed(self._enabled.items()))
                    self.attempt(f"{what} are recorded still", "cuptiActivityDisable", kind)
                    self._enabled.pop(kind, None)
                self.attempt("the last records may be missing", "cuptiActivityFlushAll", FORCED)
                self.attempt("the library is held still", "cuptiUnsubscribe", self._handle)
            self._held = False  # last, so that closing goes on after an interrupt

    def attempt(self, otherwise: str, name: str, *arguments: object) -> None:
        """Call, and note what a failure means: nothing may keep the rest from being undone."""
        try:
            self.cupti.call(name, *arguments)
        except CuptiError as error:
            self.notes.append(f"{otherwise}: {error}")

    @property
    def held(self) -> bool:
        """Whether the library is ours now."""
        return self._held and self.pid == os.getpid()


_starting = threading.Lock()
_current: _Attachment | None = None


class GpuSession:
    """Records GPU activity of this process between `start()` and `stop()`.

    Args:
        limit_bytes: bytes of raw records held at most; what comes later is counted as dropped. A
            launch takes about 250 bytes, and some 100 more where driver calls are recorded too.
        buffer_bytes: bytes of one buffer, a multiple of 8.
        driver_calls: record calls of the driver API beside those of the runtime API.
        whole_graphs: record CUDA graphs as one row each, in place of their kernels.
        python_callbacks: where native callbacks cannot be had, use Python ones; they can deadlock
            with threads that call CUDA while they hold the GIL.
    """

    def __init__(
        self,
        *,
        limit_bytes: int = _trampoline.LIMIT_BYTES,
        buffer_bytes: int = _trampoline.BUFFER_BYTES,
        driver_calls: bool = True,
        whole_graphs: bool = False,
        python_callbacks: bool = False,
    ) -> None:
        if buffer_bytes < 4096 or buffer_bytes % 8:
            raise ValueError(
                f"buffer_bytes is {buffer_bytes}; it must be a multiple of 8 and at least 4096"
            )
        if limit_bytes < buffer_bytes:
            raise ValueError(
                f"limit_bytes is {limit_bytes}, less than one buffer of {buffer_bytes} bytes"
            )
        self._limit, self._size = limit_bytes, buffer_bytes
        self._python = python_callbacks
        self._kinds = ESSENTIAL | EXTRA | STANDING | (WHOLE_GRAPHS if whole_graphs else {})
        if not driver_calls:
            del self._kinds[4]
        self._attachment: _Attachment | None = None
        self._tie: Callable[..., int] | None = None
        self._untie: Callable[..., int] | None = None
        self._pid = 0
        self._finalizer: weakref.finalize[[], GpuSession] | None = None
        self._sizes: dict[int, int] = {}
        self._shift = 0
        self._failed_pushes = self._failed_pops = 0

    def start(self) -> None:
        """Begin to record.

        Raises:
            GpuUnavailableError: one sentence that says why not; nothing is left enabled.
        """
        global _current
        with _one_at_a_time():
            _refuse_company()
            cupti = _lib.load()
            buffers = _trampoline.buffers(python_callbacks=self._python)
            _driver.prove()
            attachment = _Attachment(cupti, buffers)
            self._finalizer = weakref.finalize(self, attachment.close)
            try:
                self._sizes = _sizes.record_sizes(cupti)
                self._shift = clock_shift(cupti)
                buffers.configure(self._size, self._limit, self._sizes)
                attachment.open(self._kinds, self._sizes)
            except CuptiError as error:
                raise GpuUnavailableError(str(error)) from error
            self._failed_pushes = self._failed_pops = 0
            self._attachment = _current = attachment
            self._pid = attachment.pid
            self._untie = cupti.functions["cuptiActivityPopExternalCorrelationId"]
            self._tie = cupti.functions["cuptiActivityPushExternalCorrelationId"]

    def stop(self) -> GpuTrace:
        """Wait for the GPU, end recording and give back what happened.

        Errors on the way are notes of the trace. In a forked child the trace is empty.

        Raises:
            RuntimeError: the session was not started, or has been stopped.
        """
        attachment, self._attachment, self._tie = self._attachment, None, None
        if attachment is None or self._finalizer is None:
            raise RuntimeError("this GPU session is not running")
        if not attachment.held:
            return GpuTrace(notes=("the GPU was recorded by the parent process, not by this one",))
        try:
            attachment.notes += _driver.prove().synchronise()
            attachment.attempt("the first flush failed", "cuptiActivityFlushAll", 0)
        finally:
            attachment.close()
        self._finalizer.detach()
        if self._failed_pushes:
            attachment.notes.append(f"{self._failed_pushes} spans could not be tied to their work")
        if self._failed_pops:
            attachment.notes.append(f"later work may be tied to {self._failed_pops} earlier spans")
        return self._read(attachment)

    def _read(self, attachment: _Attachment) -> GpuTrace:
        buffers, cupti = attachment.buffers, attachment.cupti
        parser = Parser(self._sizes, Names(ctypes.string_at, demangle))
        filled = buffers.drain()
        try:
            while filled:
                one = filled.pop(0)
                try:
                    parser.feed(_bytes_at(one.address, one.valid))
                finally:
                    buffers.release(one.node)
        finally:
            for one in filled:
                buffers.release(one.node)
        lost = buffers.counters().lost - attachment.lost_before
        notes = list(attachment.notes)
        if lost:
            notes.append(f"{lost} records did not fit into {self._limit} bytes and were dropped")
        return parser.trace(
            shift=self._shift,
            api_name=lambda domain, cbid: call_name(cupti, domain, cbid),
            dropped=lost + _dropped_by_library(cupti, notes),
            notes=tuple(notes),
        )

    def push(self, external_id: int) -> bool:
        """Tie what this thread launches from now on to an id; True if `pop` must follow.

        Args:
            external_id: 0 to 2**64 - 1; it comes back in `GpuTrace.external`.
        """
        tie = self._tie
        if tie is None or os.getpid() != self._pid:
            return False
        if tie(EXTERNAL_KIND, external_id):
            self._failed_pushes += 1
            return False
        return True

    def pop(self) -> None:
        """Undo this thread's last push, also after `stop`."""
        untie = self._untie
        if untie is not None and os.getpid() == self._pid and untie(EXTERNAL_KIND, None):
            self._failed_pops += 1


@dataclass(frozen=True, slots=True)
class Status:
    """Whether GPU activity can be recorded, and why or why not in one sentence."""

    available: bool
    reason: str

    def __bool__(self) -> bool:
        return self.available


def status() -> Status:
    """Whether a session could be started now, found out by starting and stopping one.

    This initialises CUDA in the process (children forked later cannot use it) and waits for work
    that is under way; where a session runs already it is not disturbed.
    """
    if _current is not None and _current.held:
        return Status(True, "GPU activity is being recorded at this moment")
    session = GpuSession()
    try:
        session.start()
        session.stop()
    except GpuUnavailableError as error:
        return Status(False, f"GPU activity cannot be recorded: {error}")
    return Status(True, f"GPU activity can be recorded with {_lib.load().where}")


@contextlib.contextmanager
def _one_at_a_time() -> Iterator[None]:
    """Held while a session starts; never waited for, as a forked child may inherit it locked."""
    if not _starting.acquire(blocking=False):
        raise GpuUnavailableError("another GPU session of this process is being started")
    try:
        yield
    finally:
        _starting.release()


def _refuse_company() -> None:
    if _current is not None and _current.held:
        raise GpuUnavailableError("another GPU session of this process is running")
    if _current is not None and _current.pid != os.getpid():
        raise GpuUnavailableError("this process was forked from one that recorded the GPU")
    if torch_is_profiling():
        raise GpuUnavailableError("torch.profiler is running and has the GPU's records for itself")


def torch_is_profiling() -> bool:
    """Whether a torch profiler is active in this process; torch is not imported for that."""
    autograd = getattr(sys.modules.get("torch"), "autograd", None)
    enabled = getattr(autograd, "_profiler_enabled", None)
    return enabled is not None and bool(enabled())


def clock_shift(cupti: Cupti) -> int:
    """Nanoseconds to add to CUPTI's timestamps to get the system's; 0 where the clocks agree."""
    stamp = ctypes.c_uint64()
    best = (sys.maxsize, 0)
    for _ in range(5):
        before = time.time_ns()
        cupti.call("cuptiGetTimestamp", ctypes.byref(stamp))
        after = time.time_ns()
        best = min(best, (after - before, (before + after) // 2 - stamp.value))
    return best[1] if abs(best[1]) > SAME_CLOCK_NS else 0


def call_name(cupti: Cupti, domain: int, cbid: int) -> str:
    """Name of an API function, without the version suffix of the runtime's."""
    name = ctypes.c_char_p()
    with contextlib.suppress(CuptiError):
        cupti.call("cuptiGetCallbackName", domain, cbid, ctypes.byref(name))
    if not name.value:
        return f"{'driver' if domain == DRIVER else 'runtime'} call {cbid}"
    return re.sub(r"_v\d{4,}$", "", name.value.decode("utf-8", "replace"))


def _dropped_by_library(cupti: Cupti, notes: list[str]) -> int:
    count = ctypes.c_size_t()
    try:
        cupti.call("cuptiActivityGetNumDroppedRecords", None, 0, ctypes.byref(count))
    except CuptiError as error:
        notes.append(f"how many records the library dropped is unknown: {error}")
    if count.value:
        notes.append(f"{count.value} records were dropped by the library for want of a buffer")
    return count.value


def _bytes_at(address: int, length: int) -> npt.NDArray[np.uint8]:
    return np.frombuffer(memoryview((ctypes.c_uint8 * length).from_address(address)), np.uint8)
