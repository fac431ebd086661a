"""What a fork or a Ctrl-C must not break: locks of ours, and those of Python's imports."""

from __future__ import annotations

import contextlib
import importlib
import os
import sys
import threading
import weakref
from typing import Any

__all__ = ["ForkLock", "finish_imports", "forget_imports", "free_imports"]


class ForkLock:
    """A reentrant lock; a forked child finds it free, whoever held it."""

    def __init__(self) -> None:
        self.renew()
        _locks.add(self)

    def renew(self) -> None:
        """Makes it free."""
        self._lock = threading.RLock()

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(self, *error: object) -> None:
        with contextlib.suppress(RuntimeError):  # a child that was forked inside the block
            self._lock.release()


_locks: weakref.WeakSet[ForkLock] = weakref.WeakSet()


def _renew_locks() -> None:
    for lock in list(_locks):
        lock.renew()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_locks)


# Packages that are imported on first use, maybe by a thread while another one forks.
_LATE = frozenset({"PIL", "google", "tfevents"})
_IMPORT_ROUNDS = 100


def _imports_under_way() -> dict[str, Any]:
    """Python's locks of the modules that are being imported, where it lets us see them."""
    locks = getattr(sys.modules.get("_frozen_importlib"), "_module_locks", {})
    return {name: lock() for name, lock in list(locks.items()) if name.partition(".")[0] in _LATE}


def finish_imports() -> None:
    """Before a fork: waits for the imports of other threads.

    A lock that another thread holds stays locked in the child, where nobody will ever open it.
    """
    for _ in range(_IMPORT_ROUNDS):
        names = [
            name for name, lock in _imports_under_way().items()
            if getattr(lock, "owner", None) not in (None, threading.get_ident())
        ]
        if not names:
            return
        for name in names:
            with contextlib.suppress(Exception):
                importlib.import_module(name)


def forget_imports() -> None:
    """In a forked child: imports anew what a thread of the parent began in the last moment."""
    importer: Any = sys.modules.get("_frozen_importlib")
    for name, lock in _imports_under_way().items():
        if getattr(lock, "owner", None) not in (None, threading.get_ident()):
            importer._module_locks.pop(name, None)
            spec = getattr(sys.modules.get(name), "__spec__", None)
            if getattr(spec, "_initializing", False):
                del sys.modules[name]


def _is_importing(name: str) -> bool:
    """Whether this thread is at work on the import of a module."""
    frame: Any = sys._getframe()
    while frame is not None:
        if frame.f_code.co_name == "_find_and_load" and frame.f_locals.get("name") == name:
            return True
        frame = frame.f_back
    return False


def free_imports() -> None:
    """Opens locks of imports that a KeyboardInterrupt left closed in this thread.

    It may come between the taking of such a lock and the block that gives it back; whoever imports
    that module in another thread would wait for ever.
    """
    for name, lock in _imports_under_way().items():
        if getattr(lock, "owner", None) == threading.get_ident() and not _is_importing(name):
            while lock.owner == threading.get_ident():
                lock.release()
