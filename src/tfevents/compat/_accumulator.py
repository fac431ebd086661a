"""What the two accumulators of TensorBoard have in common: all but how values are kept."""

from __future__ import annotations

import os
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from dataclasses import fields
from typing import TYPE_CHECKING, Any, Protocol

from tfevents import filename, proto, store
from tfevents.compat.reservoir import Reservoir

if TYPE_CHECKING:
    from tfevents._types import PathLike

__all__ = ["Accumulator", "Loader", "Record", "source_of"]

# Our messages by name -> TensorBoard's module for the same.
_THEIR_MODULES = {
    "GraphDef": "graph_pb2",
    "MetaGraphDef": "meta_graph_pb2",
    "RunMetadata": "config_pb2",
    "SummaryMetadata": "summary_pb2",
}
_LONGEST_WRITER = 128  # TensorBoard ignores longer names


class Loader(Protocol):
    """What gives events, each once."""

    def Load(self) -> Iterator[Any]:
        """The events that were added since the last call."""


class Record:
    """A frozen record that equals TensorBoard's own of the same name and content."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        if type(other).__name__ != type(self).__name__:
            return NotImplemented
        names = [field.name for field in fields(self)]  # type: ignore[arg-type]
        return all(getattr(self, name) == getattr(other, name, self) for name in names)

    def __hash__(self) -> int:
        values = [getattr(self, field.name) for field in fields(self)]  # type: ignore[arg-type]
        return hash(tuple(values))


class Accumulator:
    """Takes events in and answers by tag.

    Messages are given out in the caller's own classes: TensorBoard's where that is imported,
    because code that was written for its accumulator compares with those.
    """

    def __init__(self, path: Any, purge_orphaned_data: bool, load: Callable[[str], Loader]) -> None:
        self.path = path
        self.purge_orphaned_data = purge_orphaned_data
        self.summary_metadata: dict[str, Any] = {}
        self.most_recent_step: int = -1
        self.most_recent_wall_time: float = -1
        self.file_version: float | None = None
        self._generator: Loader = path if hasattr(path, "Load") else source_of(path, load)
        self._generator_mutex = threading.Lock()
        self._first_event_timestamp: float | None = None
        self._source_writer: str | None = None
        self._graph: bytes | None = None
        self._graph_from_metagraph = False
        self._meta_graph: bytes | None = None
        self._tagged_metadata: dict[str, bytes] = {}
        self._plugin_to_tag_to_content: dict[str, dict[str, bytes]] = {}

    # -- loading

    def Reload(self) -> Any:
        """Takes in what was written since the last call; returns itself."""
        with self._generator_mutex:
            for event in self._generator.Load():
                self._take(event)
        return self

    def FirstEventTimestamp(self) -> float:
        """The wall time of the first event, which is loaded if none was yet.

        Raises:
            ValueError: there is no event.
        """
        if self._first_event_timestamp is None:
            self._take_one()
        if self._first_event_timestamp is None:
            raise ValueError("No event timestamp could be found")
        return self._first_event_timestamp

    def GetSourceWriter(self) -> str | None:
        """The name of the program that wrote the events, if they tell."""
        if self._source_writer is None:
            self._take_one()
        return self._source_writer

    def _take_one(self) -> None:
        with self._generator_mutex:
            for event in self._generator.Load():
                self._take(event)
                return

    # -- answers

    def PluginTagToContent(self, plugin_name: str) -> dict[str, bytes]:
        """The first metadata content of each tag of a plugin.

        Raises:
            KeyError: no tag has that plugin.
        """
        if plugin_name not in self._plugin_to_tag_to_content:
            raise KeyError(f"Plugin {plugin_name!r} could not be found.")
        return dict(self._plugin_to_tag_to_content[plugin_name])

    def SummaryMetadata(self, tag: str) -> Any:
        """The first metadata of a tag; KeyError if it has none."""
        return _given_out("SummaryMetadata", self.summary_metadata[tag].SerializeToString())

    def PluginAssets(self, plugin_name: str) -> list[str]:
        """The files that a plugin keeps beside the events, by name."""
        directory = self._assets(plugin_name)
        try:
            return sorted(os.listdir(directory))
        except OSError:
            return []

    def RetrievePluginAsset(self, plugin_name: str, asset_name: str) -> str:
        """The text of such a file; KeyError if it cannot be read."""
        path = os.path.join(self._assets(plugin_name), asset_name)
        try:
            with open(path, encoding="utf-8") as file:
                return file.read()
        except OSError as error:
            raise KeyError(f"Asset path {path} cannot be read: {error}") from error

    def Graph(self) -> Any:
        """The GraphDef of the run, of a graph event or else of a meta graph.

        Raises:
            ValueError: there is none.
        """
        if self._graph is None:
            raise ValueError("There is no graph in this EventAccumulator")
        return _given_out("GraphDef", self._graph)

    def MetaGraph(self) -> Any:
        """The MetaGraphDef of the run; ValueError if there is none."""
        if self._meta_graph is None:
            raise ValueError("There is no metagraph in this EventAccumulator")
        return _given_out("MetaGraphDef", self._meta_graph)

    def RunMetadata(self, tag: str) -> Any:
        """The RunMetadata of a tag; ValueError if there are none."""
        if tag not in self._tagged_metadata:
            raise ValueError("There is no run metadata with this tag name")
        return _given_out("RunMetadata", self._tagged_metadata[tag])

    def _assets(self, plugin_name: str) -> str:
        return os.path.join(os.fsdecode(self.path), "plugins", plugin_name)

    # -- events

    def _take(self, event: Any) -> None:
        """Takes in one event, whoever's class it is of."""
        if self._first_event_timestamp is None:
            self._first_event_timestamp = event.wall_time
        if event.HasField("source_metadata"):
            writer = event.source_metadata.writer
            self._source_writer = writer if 0 < len(writer) <= _LONGEST_WRITER else None
        if event.HasField("file_version"):
            self.file_version = _version(event.file_version)
        if self.purge_orphaned_data:
            self._check_restart(event)
        what = event.WhichOneof("what")
        if what == "graph_def":
            self._graph, self._graph_from_metagraph = event.graph_def, False
        elif what == "meta_graph_def":
            self._take_meta_graph(event.meta_graph_def)
        elif what == "tagged_run_metadata":
            tagged = event.tagged_run_metadata
            self._tagged_metadata[tagged.tag] = tagged.run_metadata
        elif what == "summary":
            for value in event.summary.value:
                if value.HasField("metadata"):
                    self._see_metadata(value.tag, value.metadata)
                self._take_value(event, value)

    def _take_meta_graph(self, data: bytes) -> None:
        self._meta_graph = data
        if self._graph is None or self._graph_from_metagraph:
            graph = proto.MetaGraphDef.FromString(data).graph_def
            self._graph, self._graph_from_metagraph = graph.SerializeToString(), True

    def _see_metadata(self, tag: str, metadata: Any) -> None:
        """Keeps the first metadata of a tag; a restarted job writes them again."""
        if tag not in self.summary_metadata:
            self.summary_metadata[tag] = metadata
            name = metadata.plugin_data.plugin_name
            if name:
                contents = self._plugin_to_tag_to_content.setdefault(name, {})
                contents[tag] = metadata.plugin_data.content

    def _take_value(self, event: Any, value: Any) -> None:
        raise NotImplementedError

    # -- restarts

    def _check_restart(self, event: Any) -> None:
        """Purges what a restart overtook: told by a session log, or in old files by the steps."""
        raise NotImplementedError

    def _purge(self, event: Any, reservoirs: list[Reservoir], keys: list[Any]) -> None:
        """Drops items at or after the event's step, of some keys; of all, where none are given."""
        step = event.step
        removed = sum(
            each.FilterItems(lambda item: item.step < step, key)
            for each in reservoirs
            for key in keys or [None]
        )
        if removed:
            warnings.warn(
                f"the log restarts at step {step}: {removed} items at or after it, written "
                f"before, are left out (purge_orphaned_data=False keeps them)",
                stacklevel=6,
            )


def source_of(path: PathLike, load: Callable[[str], Loader]) -> Loader:
    """What loads an event file, or those of a directory.

    Raises:
        ValueError: an empty path.
    """
    name = os.fsdecode(path)
    if not name:
        raise ValueError("path must be a valid string")
    place, inner = store.open_store(name)
    if filename.is_event_file(inner) or inner in place.list(inner):
        return load(name)
    return _Directory(name, load)


class _Directory:
    """The event files of one directory, in the order of their names; sub-directories are not."""

    def __init__(self, path: str, load: Callable[[str], Loader]) -> None:
        self._path = path
        self._load = load
        self._loaders: dict[str, Loader] = {}

    def Load(self) -> Iterator[Any]:
        place, inner = store.open_store(self._path)
        home = inner.rstrip("/" + os.sep)
        for path in place.list(inner):
            inside = os.path.dirname(path).rstrip("/" + os.sep) == home
            if inside and filename.is_event_file(path) and path not in self._loaders:
                self._loaders[path] = self._load(path)
        for path in sorted(self._loaders):
            yield from self._loaders[path].Load()


def _version(text: str) -> float:
    """The number in "brain.Event:2"; -1 where there is none, so that steps tell of restarts."""
    try:
        return float(text.rpartition("brain.Event:")[2])
    except ValueError:
        return -1.0


def _given_out(name: str, data: bytes) -> Any:
    theirs = sys.modules.get(f"tensorboard.compat.proto.{_THEIR_MODULES[name]}")
    return getattr(theirs or proto, name).FromString(data)
