"""The accumulator of TensorBoard's plugins over our reader: every value is a tensor."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from tfevents.compat._accumulator import Accumulator, Loader
from tfevents.compat.event_accumulator import (
    GRAPH,
    META_GRAPH,
    RUN_METADATA,
    TENSORS,
    TensorEvent,
)
from tfevents.compat.event_file_loader import EventFileLoader
from tfevents.compat.reservoir import Reservoir

if TYPE_CHECKING:
    from tfevents._types import PathLike

__all__ = [
    "DEFAULT_SIZE_GUIDANCE",
    "STORE_EVERYTHING_SIZE_GUIDANCE",
    "EventAccumulator",
    "TensorEvent",
]

#: How many tensors of a tag are kept unless told otherwise.
DEFAULT_SIZE_GUIDANCE = {TENSORS: 500}
STORE_EVERYTHING_SIZE_GUIDANCE = {TENSORS: 0}

_KEY = "."  # a reservoir for each tag, since their sizes differ


class EventAccumulator(Accumulator):
    """The events of a run by tag, all as tensors.

    Args:
        path: an event file, or a directory of them; or any object with a `Load()` that yields
            events.
        size_guidance: {"tensors": items kept of each tag}; 0 keeps all.
        tensor_size_guidance: the same by plugin, for tags whose plugin is named here.
        purge_orphaned_data: drop what a restart has overtaken.
        event_file_active_filter: taken and not used; all files of a directory are always watched.
        detect_file_replacement: taken and not used; files that were replaced are always noticed.
    """

    def __init__(
        self,
        path: PathLike | Loader,
        size_guidance: Mapping[str, int] | None = None,
        tensor_size_guidance: Mapping[str, int] | None = None,
        purge_orphaned_data: bool = True,
        event_file_active_filter: Any = None,
        detect_file_replacement: bool | None = None,
    ) -> None:
        super().__init__(path, purge_orphaned_data, EventFileLoader)
        self.tensors_by_tag: dict[str, Reservoir] = {}
        self._size = {**DEFAULT_SIZE_GUIDANCE, **(size_guidance or {})}[TENSORS]
        self._plugin_sizes = dict(tensor_size_guidance or {})
        self._seen_session_start = False
        self._lock = threading.Lock()

    def Tags(self) -> dict[str, Any]:
        """The tags of tensors and run metadata, and whether there is each kind of graph."""
        return {
            TENSORS: list(self.tensors_by_tag),
            GRAPH: self._graph is not None,
            META_GRAPH: self._meta_graph is not None,
            RUN_METADATA: list(self._tagged_metadata),
        }

    def Tensors(self, tag: str) -> list[TensorEvent]:
        """The tensors of a tag that were kept; KeyError if there is no such tag."""
        return self.tensors_by_tag[tag].Items(_KEY)

    def ActivePlugins(self) -> frozenset[str]:
        """The plugins that some tag names."""
        return frozenset(self._plugin_to_tag_to_content)

    def AllSummaryMetadata(self) -> dict[str, Any]:
        """Tag -> its first metadata."""
        return {tag: self.SummaryMetadata(tag) for tag in self.summary_metadata}

    def SerializedGraph(self) -> bytes | None:
        """The GraphDef of the run, serialized, or None."""
        return self._graph

    def _take_value(self, event: Any, value: Any) -> None:
        if not value.HasField("tensor"):
            return
        tag = value.tag or value.node_name
        with self._lock:
            if tag not in self.tensors_by_tag:
                self.tensors_by_tag[tag] = Reservoir(self._size_of(tag))
        item = TensorEvent(event.wall_time, event.step, value.tensor)
        self.tensors_by_tag[tag].AddItem(_KEY, item)

    def _size_of(self, tag: str) -> int:
        metadata = self.summary_metadata.get(tag)
        name = "" if metadata is None else metadata.plugin_data.plugin_name
        return self._plugin_sizes.get(name, self._size)

    def _check_restart(self, event: Any) -> None:
        what = event.WhichOneof("what")
        if self.file_version is not None and self.file_version >= 2:
            if what == "session_log" and event.session_log.status == event.session_log.START:
                if self._seen_session_start:  # the first is no restart
                    self._purge(event, list(self.tensors_by_tag.values()), [])
                self._seen_session_start = True
        elif what == "summary" and event.step < self.most_recent_step:
            tags = {value.tag for value in event.summary.value}
            found = [self.tensors_by_tag[tag] for tag in tags if tag in self.tensors_by_tag]
            self._purge(event, found, [])
        if what == "summary":
            self.most_recent_step = event.step
            self.most_recent_wall_time = event.wall_time
