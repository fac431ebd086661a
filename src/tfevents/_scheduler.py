"""The one thread that works for all writers of this process.

Strategy. A caller puts requests into a SimpleQueue; to wait for an answer it waits for a bell,
which is another one. Their methods are single C calls that may interrupt each other. A lock between
a caller and the thread is avoided on purpose: a signal handler or a finalizer that waits for the
thread, while the code it interrupted holds that lock, would wait for ever.

Nothing rests on the thread being there. Where it is not (none can be started, the interpreter is
ending), `visit` and `urge` say so and `run` does the job itself.
"""

from __future__ import annotations

import atexit
import os
import sys
import threading
import time
import weakref
from collections.abc import Callable, Iterable
from queue import Empty, SimpleQueue
from typing import Any, Protocol, TypeAlias

from tfevents._fork import finish_imports, forget_imports, free_imports

__all__ = ["EXIT_TIMEOUT", "TICK", "Bell", "Client", "Scheduler", "scheduler", "wait_for"]

#: Seconds between two rounds of visits. An event reaches the system within about twice this.
TICK = 0.5
#: Seconds that the interpreter's exit waits for the thread.
EXIT_TIMEOUT = 30.0

Job: TypeAlias = Callable[[], None]
Bell: TypeAlias = "SimpleQueue[None]"
_Request: TypeAlias = "tuple[Client | None, Job | None, Bell | None] | None"


class Client(Protocol):
    """What the thread works for. None of these raises."""

    def begin(self) -> None:
        """Called by the thread when regular visits begin."""

    def tick(self) -> bool:
        """A regular visit; returns whether to come again."""

    def leave(self) -> None:
        """The last visit, at the end of the process."""

    def leftover(self) -> None:
        """Called after the last visit, or where it did not come about: warns of what is lost."""

    def after_fork(self) -> None:
        """Called in a forked child, before anything else runs there."""


def wait_for(bell: Bell, seconds: float) -> bool:
    """Whether the bell rings within that time."""
    try:
        bell.get(timeout=max(seconds, 0.0))
    except Empty:
        return False
    return True


class Scheduler:
    """Requests, the thread that serves them, and its clients (held weakly)."""

    def __init__(self) -> None:
        self._clients: weakref.WeakSet[Client] = weakref.WeakSet()
        self._reset()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(before=finish_imports, after_in_child=self._after_fork)

    def _reset(self) -> None:
        """No thread and no requests: the state of a new process, also of a forked one."""
        self._requests: SimpleQueue[_Request] = SimpleQueue()
        self._thread: threading.Thread | None = None
        self._lock = threading.RLock()  # for callers only; the thread never takes it
        self.exiting = False

    def register(self, client: Client) -> None:
        """Takes a client that visits and the end of the process shall reach."""
        with self._lock:
            self._clients.add(client)

    def clients(self) -> list[Client]:
        """The clients that are still alive."""
        with self._lock:
            return list(self._clients)

    def is_here(self) -> bool:
        """Whether the caller is the thread itself, which must not wait for its own work."""
        return threading.current_thread() is self._thread

    def visit(self, client: Client) -> bool:
        """Asks for regular visits; False if there is no thread to make them."""
        return self._send((client, None, None))

    def urge(self, job: Job) -> bool:
        """Has a job done as soon as possible; False if there is no thread to do it."""
        return self._send((None, job, None))

    def run(self, job: Job, patience: float = float("inf")) -> bool:
        """Has a job done, and returns when it is; does it here where there is no thread.

        Returns whether it is done: not where patience ends, nor in the thread itself, which does
        it next.

        The work is left to the thread even though the caller waits, because a KeyboardInterrupt
        reaches the main thread only: here it ends the waiting and not the writing.
        """
        bell: Bell = SimpleQueue()
        if not self._send((None, job, bell)):
            job()
            return True
        if self.is_here():  # a finalizer or a callback that the job before this one ran
            return False
        deadline = time.monotonic() + patience
        while not wait_for(bell, min(TICK, deadline - time.monotonic())):
            if time.monotonic() >= deadline:
                return False
            if not self._alive():
                job()
                return True
            free_imports()  # the thread may wait for one that this caller was interrupted in
        return True

    def stop(self, jobs: Iterable[Job], timeout: float) -> bool:
        """Ends the thread after a last round; False if it is not done in time.

        From the first moment on every other caller does its jobs itself.
        """
        self.exiting = True
        if not self._alive():
            for job in jobs:
                job()
            return True
        bell: Bell = SimpleQueue()
        for job in jobs:
            self._requests.put((None, job, None))
        self._requests.put((None, None, bell))
        self._requests.put(None)
        free_imports()
        return wait_for(bell, timeout)

    def _alive(self) -> bool:
        return self._thread is not None and self._thread.is_alive()

    def _send(self, request: _Request) -> bool:
        if self.exiting or not (self._alive() or self._start()):
            return False
        self._requests.put(request)
        return True

    def _start(self) -> bool:
        with self._lock:
            thread = self._thread
            if thread is not None and (thread.is_alive() or thread.ident is None):
                return True  # by another caller, or by the one that this one interrupts
            _register_exit()
            self._thread = threading.Thread(
                target=self._serve, args=(self.clients(),), name="tfevents-writer", daemon=True
            )
            try:
                self._thread.start()
            except RuntimeError:  # the interpreter is ending, or the system is out of threads
                self._thread = None
                return False
        return True

    def _serve(self, clients: list[Client]) -> None:
        # Everybody gets a first visit: a thread before this one may have died in the middle.
        active = set(clients)
        clients.clear()
        due = time.monotonic() + TICK
        while True:
            pause = max(due - time.monotonic(), 0.0) if active else None
            try:
                request = self._requests.get(timeout=pause)
            except Empty:
                pass
            else:
                if request is None:
                    return
                client, job, bell = request
                if client is not None and client not in active:
                    if not active:
                        due = time.monotonic() + TICK
                    active.add(client)
                    client.begin()
                if job is not None:
                    job()
                if bell is not None:
                    bell.put(None)
                del request, client, job, bell  # or an idle thread keeps garbage alive
            if active and time.monotonic() >= due:
                active = {each for each in active if each.tick()}
                due = time.monotonic() + TICK

    def _after_fork(self) -> None:
        forget_imports()
        clients = list(self._clients)
        self._reset()
        for client in clients:
            client.after_fork()


#: The scheduler of this process.
scheduler = Scheduler()


def _at_exit() -> None:
    """The last round; the thread makes it, so that a second Ctrl-C cannot tear a record."""
    if scheduler.exiting:  # a child of multiprocessing may come here by a finalizer and by atexit
        return
    clients = scheduler.clients()
    done = scheduler.stop([each.leave for each in clients], EXIT_TIMEOUT)
    for each in clients:
        if done:
            each.leave()  # for what a daemon thread added in between
        each.leftover()


def _register_exit() -> None:
    """Once in every process: a multiprocessing child runs finalizers and no atexit hooks."""
    util: Any = sys.modules.get("multiprocessing.util")
    process: Any = sys.modules.get("multiprocessing.process")
    if util is not None and process is not None and process.parent_process() is not None:
        util.Finalize(None, _at_exit, exitpriority=0)
    atexit.unregister(_at_exit)
    atexit.register(_at_exit)
