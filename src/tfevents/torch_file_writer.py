"""FileWriter as torch.utils.tensorboard and tensorboardX have it: one run directory.

Experiment trackers patch `add_event` and `add_summary` of this class, or of one object, to see
what is logged. `SummaryWriter` therefore goes through them whenever one is patched, and past them
otherwise.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

from tfevents._fork import ForkLock
from tfevents.run_writer import RunWriter, checked_step, checked_time
from tfevents.store import pinned

if TYPE_CHECKING:
    from tfevents import proto
    from tfevents._types import PathLike

__all__ = ["ADD_EVENT", "ADD_SUMMARY", "Defaults", "FileWriter"]


class Defaults:
    """Step and wall time for calls that give none, set by `use_metadata` for a block."""

    def __init__(self) -> None:
        self.global_step: Any = None
        self.walltime: float | None = None

    @contextlib.contextmanager
    def use(self, global_step: Any, walltime: float | None) -> Iterator[None]:
        """Sets the defaults for a block."""
        before = self.global_step, self.walltime
        self.global_step, self.walltime = global_step, walltime
        try:
            yield
        finally:
            self.global_step, self.walltime = before


class FileWriter:
    """Writes Event and Summary messages to an event file of a directory.

    Args:
        log_dir: directory of the run; made if missing.
        max_queue, flush_secs, filename_suffix: see `RunWriter`.
        options: further options of `RunWriter`.

    A pickled or copied writer opens a new file in the same directory.

    Raises:
        OSError: the file cannot be made.
    """

    # With slots for what is ours, `__dict__` holds what somebody else has set, and nothing else.
    __slots__ = (
        "__dict__", "__weakref__", "_defaults", "_directory", "_lock", "_log_dir",
        "_options", "_run",
    )

    def __init__(
        self,
        log_dir: PathLike,
        max_queue: int | None = None,
        flush_secs: float = 120,
        filename_suffix: str = "",
        **options: Any,
    ) -> None:
        self._log_dir = os.fsdecode(log_dir)
        self._directory = pinned(log_dir)
        self._options = {
            "max_queue": max_queue, "flush_secs": flush_secs, "filename_suffix": filename_suffix,
            **options,
        }
        self._lock = ForkLock()
        self._run = RunWriter(log_dir, **self._options)
        self._options.pop("purge_step", None)  # a later file must not void this one
        self._defaults = Defaults()

    @property
    def run(self) -> RunWriter:
        """The run writer beneath."""
        return self._run

    def patched(self) -> bool:
        """Whether somebody wants to see every event: a subclass, or a replaced method."""
        kind = type(self)
        return (
            kind.add_summary is not ADD_SUMMARY
            or kind.add_event is not ADD_EVENT
            or bool(self.__dict__)
        )

    def get_logdir(self) -> str:
        """The directory of the run."""
        return self._log_dir

    def add_event(
        self, event: proto.Event | Any, step: Any = None, walltime: float | None = None
    ) -> None:
        """Adds an Event message of any origin; it is copied, and the caller's is not changed.

        Args:
            event: the message, or its bytes.
            step: replaces the step of the event.
            walltime: seconds since the epoch; by default now, whatever the event says.

        Raises:
            TypeError, ValueError: no Event, or step or wall time is none.
            OSError: the writer is closed, or an earlier event could not be written.
        """
        from tfevents import proto

        if self._run.closed:
            raise OSError("Writer is closed")
        copy = proto.Event()
        copy.MergeFrom(proto.coerce(proto.Event, event))
        step = self._defaults.global_step if step is None else step
        walltime = self._defaults.walltime if walltime is None else walltime
        about = next((value.tag for value in copy.summary.value), copy.WhichOneof("what") or "")
        copy.wall_time = time.time() if walltime is None else checked_time(walltime, about)
        if step is not None:
            copy.step = checked_step(step, about)
        self._run.add_event(copy)

    def add_summary(
        self, summary: proto.Summary | Any, global_step: Any = None, walltime: float | None = None
    ) -> None:
        """Adds a Summary message of any origin, or its bytes, as one event."""
        from tfevents import proto

        event = proto.Event(summary=proto.coerce(proto.Summary, summary))
        self.add_event(event, global_step, walltime)

    def add_graph(self, graph_profile: tuple[Any, Any], walltime: float | None = None) -> None:
        """Adds a graph and what running it cost.

        Args:
            graph_profile: a GraphDef and a RunMetadata (whose tag becomes "step1"), messages or
                bytes.
            walltime: seconds since the epoch; by default now.
        """
        from tfevents import proto

        graph, metadata = graph_profile
        self.add_onnx_graph(graph, walltime)
        if metadata is not None:
            tagged = proto.TaggedRunMetadata(
                tag="step1",
                run_metadata=proto.coerce(proto.RunMetadata, metadata).SerializeToString(),
            )
            self.add_event(proto.Event(tagged_run_metadata=tagged), None, walltime)

    def add_onnx_graph(self, graph: Any, walltime: float | None = None) -> None:
        """Adds a graph: a GraphDef message or its bytes."""
        from tfevents import proto

        data = proto.coerce(proto.GraphDef, graph).SerializeToString()
        self.add_event(proto.Event(graph_def=data), None, walltime)

    def use_metadata(
        self, *, global_step: Any = None, walltime: float | None = None
    ) -> contextlib.AbstractContextManager[None]:
        """Sets step and wall time for calls in the block that give none."""
        return self._defaults.use(global_step, walltime)

    def flush(self) -> None:
        """Returns when everything added before is visible to other processes."""
        if self._run.closed:
            raise OSError("Writer is closed")
        self._run.flush()

    def close(self) -> None:
        """Writes everything and closes the file; a second call does nothing."""
        self._run.close()

    def reopen(self) -> None:
        """Opens a new file in the same directory; does nothing unless the writer is closed."""
        with self._lock:
            if self._run.closed:
                self._run = RunWriter(self._directory, **self._options)

    def __reduce__(self) -> tuple[Any, ...]:
        # A copy in another process logs to a new file of the same directory.
        return partial(type(self), self._directory, **self._options), (), self.__dict__

# The methods as they are unless somebody replaces them.
ADD_EVENT = FileWriter.add_event
ADD_SUMMARY = FileWriter.add_summary
