"""The one recording of this process: begun, ended, and nothing left behind.

Order at the start: claim, host, GPU, then let annotations in; at the end the other way round. A
forked child has no recording: its parent's goes on in the parent alone.
"""

from __future__ import annotations

import os
import sys
import threading
import warnings
from dataclasses import dataclass
from typing import Any, Protocol

from tfevents.profiler import host
from tfevents.profiler.cupti.trace import GpuTrace
from tfevents.profiler.spans import HostTrace

__all__ = ["Gpu", "Recorded", "Session", "start", "stop"]


class Gpu(host.Ties, Protocol):
    """Records a GPU; `cupti.GpuSession` is one."""

    def start(self) -> None:
        """Begins; raises `cupti.GpuUnavailableError` where it cannot."""

    def stop(self) -> GpuTrace:
        """Ends, and gives what happened."""


@dataclass(frozen=True, slots=True)
class Recorded:
    """What one session saw.

    Attributes:
        host: spans of this process.
        gpu: GPU activity, or None where it was not recorded.
        reason: why it was not, in one sentence; "" where it was or nobody asked.
    """

    host: HostTrace
    gpu: GpuTrace | None = None
    reason: str = ""


_lock = threading.Lock()
_current: Session | None = None


class Session:
    """A recording.

    Args:
        gpu: True to record the GPU, with a warning where that fails; "auto" to do so where an
            NVIDIA driver seems to be there; False not to; or a `GpuSession` of your own.
        memory: whether allocations of Python are recorded; this makes everything slower.
        max_spans: host spans kept; later ones are counted only.

    Raises:
        TypeError, ValueError: an argument is none of these.
    """

    def __init__(
        self, *, gpu: bool | str | Gpu = "auto", memory: bool = False,
        max_spans: int = host.MAX_SPANS,
    ) -> None:
        if isinstance(gpu, str) and gpu != "auto":
            raise ValueError(f"gpu must be True, False, 'auto' or a GpuSession, got {gpu!r}")
        if not isinstance(gpu, (bool, str)) and not hasattr(gpu, "push"):
            raise TypeError(
                f"gpu must be True, False, 'auto' or a GpuSession, got {type(gpu).__name__}"
            )
        if max_spans < 1:
            raise ValueError(f"max_spans must be at least 1, got {max_spans}")
        self._wanted = gpu
        self._memory, self._max_spans = memory, max_spans
        self._gpu: Gpu | None = None
        self._recorder: host.Recorder | None = None
        self._reason = ""
        self._pid = 0

    def start(self) -> None:
        """Begins to record.

        Raises:
            RuntimeError: another recording of this process runs, or this one was started before.
        """
        global _current
        with _lock:
            if _current is not None:
                raise RuntimeError(
                    "a profile of this process is running already; end it before the next begins"
                )
            if self._pid:
                raise RuntimeError("a profile cannot be started twice; make a new one")
            _current, self._pid = self, os.getpid()
        try:
            self._start_gpu()
            self._recorder = host.Recorder(
                self._gpu, memory=self._memory, max_spans=self._max_spans
            )
            host.activate(self._recorder)
        except BaseException:
            self._undo()
            raise

    def _start_gpu(self) -> None:
        if self._wanted is False or (self._wanted == "auto" and not driver_seems_there()):
            return
        from tfevents.profiler.cupti import GpuSession, GpuUnavailableError

        gpu: Any = GpuSession() if isinstance(self._wanted, (bool, str)) else self._wanted
        try:
            gpu.start()
        except GpuUnavailableError as error:
            self._reason = str(error)
            warn(f"the profile is without GPU activity: {error}")
        else:
            self._gpu = gpu

    def stop(self) -> Recorded | None:
        """Ends the recording; None in a forked child, which has none.

        Raises:
            RuntimeError: it does not run.
        """
        if self._pid and self._pid != os.getpid():
            return None
        recorder, gpu = self._recorder, self._gpu
        if recorder is None or _current is not self:
            raise RuntimeError("no profile is running")
        try:
            host.deactivate()
            seen = recorder.stop()
            self._gpu = None
            trace = None if gpu is None else self._stop_gpu(gpu)
        finally:
            self._undo()
        _tell_of_losses(seen, trace)
        return Recorded(seen, trace, self._reason)

    def forget(self) -> None:
        """In a forked child: the recording is the parent's, and stops nothing of its."""
        if self._recorder is not None:
            self._recorder.forget()

    def _stop_gpu(self, gpu: Gpu) -> GpuTrace | None:
        """What the GPU did; a failure costs that part only."""
        try:
            return gpu.stop()
        except Exception as error:
            self._reason = f"{type(error).__name__}: {error}"
            warn(f"the profile is without GPU activity: {self._reason}")
            return None

    def _undo(self) -> None:
        """Leaves nothing enabled."""
        global _current
        host.deactivate()
        recorder, self._recorder = self._recorder, None
        gpu, self._gpu = self._gpu, None
        try:
            if recorder is not None:
                recorder.abandon()
        finally:
            try:
                if gpu is not None:
                    gpu.stop()
            finally:
                _current = None


def _tell_of_losses(seen: HostTrace, trace: GpuTrace | None) -> None:
    """Warns once of what there was no room for; the files carry the same as notes."""
    losses = [f"{seen.dropped} host spans, beyond max_spans"] if seen.dropped else []
    if trace is not None and trace.dropped:
        losses.append(f"{trace.dropped} GPU records ({'; '.join(trace.notes)})")
    if losses:
        warn(f"the profile is incomplete; it lacks {' and '.join(losses)}")


def warn(message: str) -> None:
    """Warns at the line outside this package that led here."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("tfevents."):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, stacklevel=level)


def start(
    *, gpu: bool | str | Gpu = "auto", memory: bool = False, max_spans: int = host.MAX_SPANS
) -> None:
    """Begins to record; see `Session` for the arguments.

    Raises:
        RuntimeError: a recording of this process runs already.
    """
    Session(gpu=gpu, memory=memory, max_spans=max_spans).start()


def stop() -> Recorded | None:
    """Ends the recording that runs.

    Raises:
        RuntimeError: there is none.
    """
    if _current is None:
        raise RuntimeError("no profile is running")
    return _current.stop()


def driver_seems_there() -> bool:
    """Whether files of an NVIDIA driver are to be found; nothing is loaded or initialised."""
    system = os.environ.get("SYSTEMROOT", r"C:\Windows")
    return any(
        os.path.exists(path)
        for path in (
            "/dev/nvidiactl", "/proc/driver/nvidia/version", "/usr/lib/wsl/lib/libcuda.so.1",
            os.path.join(system, "System32", "nvcuda.dll"),
        )
    )


def _forget() -> None:
    global _current, _lock
    _lock = threading.Lock()
    forgotten, _current = _current, None
    host.deactivate()
    if forgotten is not None:
        forgotten.forget()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
