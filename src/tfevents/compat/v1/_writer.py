"""FileWriter and FileWriterCache of TensorFlow 1, over a `RunWriter` for each file."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from tfevents import event, proto, steps
from tfevents._closing import Closing, call_all
from tfevents._fork import ForkLock
from tfevents.errors import WriterClosedError
from tfevents.graph import to_graph_def
from tfevents.run_writer import RunWriter
from tfevents.store import LocalStore, open_store, pinned

if TYPE_CHECKING:
    from tfevents._types import EventWriter, PathLike

__all__ = ["FileWriter", "FileWriterCache"]

_CLOSED = (
    "Attempting to use a closed FileWriter. The operation will be a noop unless the FileWriter is "
    "explicitly reopened."
)

# Held while a file is made or the cache changes.
_lock = ForkLock()


class FileWriter(Closing):
    """Writes messages to an event file, which is made with the first of them.

    Safe from many threads. No two writers share a file, also not a reopened one with itself.

    Args:
        logdir: directory of the run, made now if it is missing. A path or a URL.
        graph: written first, as `add_graph` does, with a MetaGraphDef of the same.
        max_queue: messages that may be queued before a call waits; 0 or less leaves it to memory.
        flush_secs: at most so many seconds pass between a write and its fsync; messages are handed
            to the operating system about every second in any case.
        graph_def: the deprecated way to give a GraphDef.
        filename_suffix: appended to the file name as it is. With one the file is made at once.
        session: must be None; there are no sessions here.

    Raises:
        OSError: the directory cannot be made or written to.
        TypeError: `graph` is no graph, `logdir` no path.
        ValueError: both graphs are given, or a session.
    """

    def __init__(
        self,
        logdir: PathLike,
        graph: Any = None,
        max_queue: int = 10,
        flush_secs: float = 120,
        graph_def: Any = None,
        filename_suffix: str | None = None,
        session: Any = None,
    ) -> None:
        if session is not None:
            raise ValueError("FileWriter(session=...) needs TensorFlow; leave `session` out")
        graph = None if graph is None and graph_def is None else _one_graph(graph, graph_def)
        self._logdir = os.fsdecode(logdir) or "."
        self._directory = pinned(self._logdir)  # files that are opened later lie there, too
        self._suffix = filename_suffix or ""
        self._max_queue, self._flush_secs = int(max_queue), float(flush_secs)
        self._run_tags: set[str] = set()
        self._closed = False
        self._run: RunWriter | None = None
        self._strip = _Stripper()
        _check_directory(self._directory)
        if self._suffix:
            self._open()
        if graph is not None:
            self.add_graph(graph)
            self.add_meta_graph(proto.MetaGraphDef(graph_def=graph))

    def add_summary(self, summary: proto.Summary | bytes, global_step: Any = None) -> None:
        """Adds a Summary.

        The metadata of a tag are written once a file, with its first value there. The caller's
        message stays as it is.

        Args:
            summary: a Summary of any origin, or a serialized one; copied now.
            global_step: a whole number, also as str; of a float the fraction is cut off. None is 0.

        Raises:
            TypeError, ValueError: no Summary, or no step.
            WriteError: an earlier event could not be written.
        """
        if isinstance(summary, proto.Summary):
            own = proto.Summary()
            own.CopyFrom(summary)
        else:
            own = proto.coerce(proto.Summary, summary)
        step, size = _step(global_step), own.ByteSize()
        self._put(lambda run: run.add_encoded(self._strip.encode, step, own, None, nbytes=size))

    def add_event(self, event: proto.Event | bytes) -> None:
        """Adds a whole Event as it is: its time, its step, its metadata.

        Raises:
            TypeError, ValueError: no Event.
        """
        own = proto.coerce(proto.Event, event)
        self._put(lambda run: run.add_event(own))

    def add_session_log(
        self, session_log: proto.SessionLog | bytes, global_step: Any = None
    ) -> None:
        """Adds a SessionLog, e.g. `SessionLog(status=SessionLog.START)`.

        Raises:
            TypeError, ValueError: no SessionLog, or no step.
        """
        self._add_field("session_log", _serialized("SessionLog", session_log), global_step)

    def add_graph(self, graph: Any = None, global_step: Any = None, graph_def: Any = None) -> None:
        """Adds a graph.

        Args:
            graph: a GraphDef of any origin, or an object with `as_graph_def()`.
            global_step: as in `add_summary`.
            graph_def: the deprecated way to give a GraphDef.

        Raises:
            TypeError: neither is given, or it is no graph.
            ValueError: both are given.
        """
        payload = _one_graph(graph, graph_def).SerializeToString()
        self._add_field("graph_def", payload, global_step)

    def add_meta_graph(
        self, meta_graph_def: proto.MetaGraphDef, global_step: Any = None
    ) -> None:
        """Adds a MetaGraphDef.

        Raises:
            TypeError: it is something else.
        """
        try:
            payload = _serialized("MetaGraphDef", meta_graph_def)
        except TypeError:
            raise TypeError(
                f"meta_graph_def must be type MetaGraphDef, saw type: {type(meta_graph_def)}"
            ) from None
        self._add_field("meta_graph_def", payload, global_step)

    def add_run_metadata(
        self, run_metadata: proto.RunMetadata | bytes, tag: str, global_step: Any = None
    ) -> None:
        """Adds what a run of a graph took, which TensorBoard offers as `tag` in its GRAPHS tab.

        Raises:
            TypeError: no RunMetadata, or the tag is not a str.
            ValueError: the tag was used before.
        """
        if not isinstance(tag, str):
            raise TypeError(f"a tag must be a str, got {type(tag).__name__}")
        if tag in self._run_tags:
            raise ValueError(
                f"The provided tag was already used for this event type: run metadata {tag!r}"
            )
        payload = _serialized("RunMetadata", run_metadata)
        tagged = proto.TaggedRunMetadata(tag=tag, run_metadata=payload)
        if self._add_field("tagged_run_metadata", tagged.SerializeToString(), global_step):
            self._run_tags.add(tag)

    def get_logdir(self) -> str:
        """The directory, as a str."""
        return self._logdir

    def flush(self) -> None:
        """Returns when everything added before is visible to other processes.

        Raises:
            WriteError: the system refuses; the events stay queued.
        """
        if self._run is not None:
            self._run.flush()

    def close(self) -> None:
        """Writes everything and closes the file; what is added after is ignored, with a warning."""
        self._closed = True
        with _lock:
            run, self._run = self._run, None
        if run is not None:
            run.close()

    def reopen(self) -> None:
        """After `close`: takes messages again, into a new file. Otherwise nothing happens."""
        self._closed = False

    def __reduce__(self) -> tuple[Any, ...]:
        # A copy in another process writes a file of its own to the same directory.
        arguments = (self._directory, None, self._max_queue, self._flush_secs, None, self._suffix)
        return type(self), arguments

    def _add_field(self, what: str, payload: bytes, global_step: Any) -> bool:
        step = _step(global_step)
        return self._put(lambda run: run.add_field(what, payload, step), stacklevel=4)

    def _put(self, add: Callable[[RunWriter], None], *, stacklevel: int = 3) -> bool:
        """Adds something to the file, or warns; returns whether it was added."""
        try:
            add(self._run or self._open())
        except WriterClosedError:
            warnings.warn(_CLOSED, UserWarning, stacklevel=stacklevel)
            return False
        return True

    def _open(self) -> RunWriter:
        with _lock:
            if self._closed:
                raise WriterClosedError(_CLOSED)
            if self._run is None:
                self._run = RunWriter(
                    self._directory,
                    filename_suffix=self._suffix,
                    max_queue=self._max_queue if self._max_queue > 0 else None,
                    flush_secs=self._flush_secs,
                    wrap=self._strip.new_file,
                )
            return self._run


class _Stripper:
    """Encodes Summaries without the metadata that their file has already.

    This is done where events are encoded, since only there their order in the file is known.
    """

    def __init__(self) -> None:
        self._seen: set[str] = set()
        self._encode = event.encoder("summary")

    def new_file(self, file: EventWriter) -> EventWriter:
        self._seen = set()
        return file

    def encode(self, wall_time: float, step: int, summary: proto.Summary) -> bytes:
        for value in summary.value:
            if value.tag in self._seen:
                value.ClearField("metadata")
            else:
                self._seen.add(value.tag)
        return self._encode(wall_time, step, summary.SerializeToString())


class FileWriterCache:
    """One FileWriter for each directory."""

    _cache: dict[str, FileWriter] = {}  # noqa: RUF012 - the cache of the process

    @staticmethod
    def get(logdir: PathLike) -> FileWriter:
        """The writer of a directory; at the first call it is made, and its file too."""
        key = os.fsdecode(logdir)
        with _lock:
            writer = FileWriterCache._cache.get(key)
            if writer is not None:
                return writer
            writer = FileWriterCache._cache[key] = FileWriter(logdir)
        writer._open()
        return writer

    @staticmethod
    def clear() -> None:
        """Closes all writers and forgets them."""
        with _lock:
            writers = list(FileWriterCache._cache.values())
            FileWriterCache._cache.clear()
        call_all(writer.close for writer in writers)


def _check_directory(logdir: str) -> None:
    """Finds out now what would otherwise fail at the first event."""
    place, path = open_store(logdir)
    if isinstance(place, LocalStore):
        os.makedirs(path, exist_ok=True)
        if not os.access(path, os.W_OK | os.X_OK):
            raise PermissionError(f"no events can be written to the directory {path!r}")


def _one_graph(graph: Any, graph_def: Any) -> proto.GraphDef:
    if graph is not None and graph_def is not None:
        raise ValueError("give either graph or graph_def, not both")
    given = graph if graph is not None else graph_def
    try:
        return to_graph_def(given)
    except ValueError:
        raise TypeError(
            "The passed graph must be an instance of `Graph` or the deprecated `GraphDef`; got "
            f"{type(given).__name__}"
        ) from None


def _serialized(kind: str, message: Any) -> bytes:
    data: bytes = proto.coerce(kind, message).SerializeToString()
    return data


def _step(global_step: Any) -> int:
    if isinstance(global_step, (str, float, np.floating)):
        try:
            global_step = int(global_step)
        except OverflowError as error:
            raise ValueError(f"global_step must be a number: {error}") from None
    return steps.lenient(global_step)
