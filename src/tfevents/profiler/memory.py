"""What Python allocates during spans, by tracemalloc, and what the process holds."""

from __future__ import annotations

import contextlib
import os
import threading
import tracemalloc
from typing import Any

__all__ = ["Memory"]


class Memory:
    """Follows the memory of open spans.

    tracemalloc counts for the process, not for a thread: spans that run at the same time share
    what they see. It is started where it does not run, and then stopped at the end.
    """

    def __init__(self) -> None:
        self._started = not tracemalloc.is_tracing()
        if self._started:
            tracemalloc.start()
        self._lock = threading.Lock()
        self._open: set[Any] = set()
        self._statm = _open_statm()

    def opened(self, span: Any) -> None:
        """Notes the level at which a span begins."""
        with self._lock:
            span.floor = span.peak = self._sample()
            self._open.add(span)

    def closed(self, span: Any) -> tuple[int, int, int, int]:
        """Bytes that a span allocated at most and left, that Python and that the process holds."""
        with self._lock:
            now = self._sample()
            if span not in self._open:
                return 0, 0, now, self._resident()
            self._open.discard(span)
        return max(span.peak - span.floor, 0), now - span.floor, now, self._resident()

    def _sample(self) -> int:
        """The level now; all open spans learn of the peak since the last time."""
        now, peak = tracemalloc.get_traced_memory()
        if tracemalloc.is_tracing():
            tracemalloc.reset_peak()
        for span in self._open:
            span.peak = max(span.peak, peak)
        return now

    def renew(self) -> None:
        """In a forked child: makes a new lock, since nobody will ever release the old one."""
        self._lock = threading.Lock()

    def _resident(self) -> int:
        if self._statm < 0:
            return 0
        try:
            return int(os.pread(self._statm, 128, 0).split()[1]) * _PAGE
        except (OSError, ValueError, IndexError):
            return 0

    def stop(self) -> None:
        """Stops tracemalloc if it was started here."""
        with self._lock:
            if self._started:
                tracemalloc.stop()
            self._started = False
            self._open.clear()
            descriptor, self._statm = self._statm, -1
        if descriptor >= 0:
            os.close(descriptor)


_PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096


def _open_statm() -> int:
    """A descriptor that tells the resident size, on Linux; else -1."""
    with contextlib.suppress(OSError, AttributeError):
        return os.open("/proc/self/statm", os.O_RDONLY | os.O_CLOEXEC)
    return -1
