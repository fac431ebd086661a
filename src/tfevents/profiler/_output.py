"""Where a profile goes: events to a writer, files beside the event files.

A writer is whatever has `add_event` somewhere: `RunWriter`, `SummaryWriter` and its kin in torch
and tensorboardX, both FileWriters. A directory or URL gets an event file of its own.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import socket
import sys
import time
import zlib
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from tfevents import plugin

if TYPE_CHECKING:
    from tfevents import proto
    from tfevents._types import PathLike

__all__ = ["event_of", "logdir_of", "session_name", "write_chrome", "write_events", "write_xspace"]

_ATTEMPTS = 1000
_UNSAFE = re.compile(r"[^\w.-]")


def is_path(target: Any) -> bool:
    """Whether a target is a directory or URL, not a writer."""
    return isinstance(target, (str, bytes, os.PathLike))


def check_target(target: Any) -> None:
    """Refuses what nothing can be written to.

    Raises:
        TypeError: it is neither a path nor a writer.
    """
    if not is_path(target) and _adder(target) is None:
        raise TypeError(
            f"a profile goes to a writer or a log directory, got {type(target).__name__}"
        )


def logdir_of(target: Any) -> str | None:
    """The log directory of a path or writer; None for a writer that has none or writes nothing."""
    if is_path(target):
        return os.fsdecode(target) or "."
    if not all(getattr(target, name, True) for name in ("write_to_disk", "_write_to_disk")):
        return None  # ours and tensorboardX's
    for holder in (target, getattr(target, "run", None)):
        for name in ("get_logdir", "logdir", "log_dir"):
            found = getattr(holder, name, None)
            found = found() if callable(found) else found
            if isinstance(found, (str, bytes, os.PathLike)):
                return os.fsdecode(found)
    return None


def event_of(
    metadata: proto.RunMetadata, tag: str, step: int, graph: proto.GraphDef | None = None
) -> proto.Event:
    """The event that carries a RunMetadata.

    Without a graph that is a tagged_run_metadata, which colours the graph of its run; with one it
    is the form of tf.summary, which brings its graph along.
    """
    from tfevents import proto, tensor

    event = proto.Event(wall_time=time.time(), step=step)
    if graph is None:
        event.tagged_run_metadata.tag = tag
        event.tagged_run_metadata.run_metadata = metadata.SerializeToString()
        return event
    functions = metadata.function_graphs.add()
    functions.partition_graphs.add().CopyFrom(graph)
    functions.pre_optimization_graph.CopyFrom(graph)
    functions.post_optimization_graph.CopyFrom(graph)
    value = event.summary.value.add(tag=tag)
    value.metadata.CopyFrom(plugin.metadata(plugin.GRAPH_RUN_METADATA, b"1"))
    value.tensor.CopyFrom(tensor.to_proto(_text(metadata.SerializeToString())))
    return event


def _text(data: bytes) -> Any:
    import numpy as np

    array = np.empty((), object)
    array[()] = data
    return array


def write_events(target: Any, events: Iterable[proto.Event]) -> None:
    """Adds events to a writer, which is then flushed, or writes a file of them to a directory."""
    if is_path(target):
        from tfevents.run_writer import RunWriter

        with RunWriter(os.fsdecode(target) or ".", filename_suffix=".profile") as writer:
            for event in events:
                writer.add_event(event)
        return
    check_target(target)
    add: Any = _adder(target)
    for event in events:
        add(event)
    flush = getattr(target, "flush", None)
    if flush is not None:
        flush()


def _adder(target: Any) -> Callable[[Any], Any] | None:
    """The function of a writer that takes whole events, or None."""
    if hasattr(target, "add_event"):
        return lambda event: target.add_event(_own(target, event))
    if hasattr(target, "run"):
        return getattr(target.run, "add_event", None)
    if hasattr(target, "add_run_metadata") or hasattr(target, "file_writer"):
        return lambda event: _by_summary_writer(target, event)
    return None


def _own(writer: Any, event: Any) -> Any:
    """The event as a message that a writer takes: those of other libraries take their own only."""
    for kind in type(writer).__mro__:
        messages = getattr(sys.modules.get(kind.__module__), "event_pb2", None)
        if messages is not None:
            return messages.Event.FromString(event.SerializeToString())
    return event


def _by_summary_writer(writer: Any, event: Any) -> None:
    """A SummaryWriter keeps the step and time of whole events apart from them."""
    if event.HasField("tagged_run_metadata") and hasattr(writer, "add_run_metadata"):
        tagged = event.tagged_run_metadata
        writer.add_run_metadata(tagged.run_metadata, tagged.tag, event.step)
        return
    file_writer = writer.file_writer
    if file_writer is None:  # torch closes it, and makes a new one when it is asked
        file_writer = writer._get_file_writer()
    file_writer.add_event(_own(file_writer, event), event.step, event.wall_time)


# Files -------------------------------------------------------------------------------------------


def session_name() -> str:
    """A name for the files of one profile, by the local time, as TensorFlow has it."""
    return time.strftime("%Y_%m_%d_%H_%M_%S")


def host_name() -> str:
    """The name of this machine, as part of a file name."""
    return _UNSAFE.sub("_", socket.gethostname()).strip(".")[:100] or "localhost"


def write_xspace(
    logdir: PathLike, encode: Callable[[], Iterable[bytes]], session: str | None = None
) -> str:
    """Writes a serialized XSpace where the Profile tab looks for it; no file is ever replaced.

    Args:
        logdir: directory of the run, or a URL.
        encode: gives its parts; once more where another process took the name meanwhile.
        session: name of the profile; by default the time, with a number where it is taken. Hosts
            of one job that give the same name are shown together, and so are processes of one
            host: the files of the later ones have a number.

    Returns:
        The path of the file.

    Raises:
        OSError: it cannot be written.
    """
    base, now, host = os.fsdecode(logdir).rstrip("/") or ".", session_name(), host_name()
    count, more = 0, ""
    while True:
        folder, file = (session, host + more) if session else (now + more, host)
        directory = f"{base}/plugins/profile/{folder}"
        try:
            if not session:
                _make_new(directory)
            return _write(f"{directory}/{file}.xplane.pb", encode(), replace=False)
        except FileExistsError:
            count += 1
            if count == _ATTEMPTS:  # it is not the name: some stores say so of a file on the way
                raise
            more = f"_{count}"


def write_chrome(path: PathLike, parts: Iterable[str]) -> str:
    """Writes a Chrome trace; compressed if the name ends in ".gz"."""
    name = os.fsdecode(path)
    octets: Iterable[bytes] = (part.encode() for part in parts)
    if name.endswith(".gz"):
        octets = _gzipped(octets)
    return _write(name, octets, replace=True)


def _gzipped(parts: Iterable[bytes]) -> Iterator[bytes]:
    squeezer = zlib.compressobj(_QUICK, wbits=16 + zlib.MAX_WBITS)
    for part in parts:
        yield squeezer.compress(part)
    yield squeezer.flush()


_QUICK = 4
"""Level of compression: half the time of the usual 6, for a tenth more bytes."""


def _write(path: str, parts: Iterable[bytes], *, replace: bool) -> str:
    """Writes a file whole: where the store is local, under another name first.

    Raises:
        FileExistsError: there is one, and it is not to be replaced, or the store never does so.
    """
    from tfevents._whole_file import whole_file
    from tfevents.store import LocalStore, open_store

    store, inside = open_store(path)
    if not isinstance(store, LocalStore):
        with contextlib.closing(store.create(inside)) as sink:
            sink.write(b"".join(parts))
            sink.flush()
        return path
    _make_directories(os.path.dirname(inside) or ".")
    with whole_file(inside, durable=False, replace=replace) as sink:
        for part in parts:
            sink.write(part)
    return path


def _make_new(path: str) -> None:
    """Makes a directory where the store has any; it keeps two profiles of one second apart.

    Raises:
        FileExistsError: it is there already.
    """
    from tfevents.store import LocalStore, open_store

    store, inside = open_store(path)
    if isinstance(store, LocalStore):
        _make_directories(os.path.dirname(inside))
        os.mkdir(inside)


def _make_directories(path: str) -> None:
    try:
        os.makedirs(path, exist_ok=True)
    except FileExistsError as error:  # another name would be no better
        raise NotADirectoryError(errno.ENOTDIR, error.strerror, error.filename) from error
