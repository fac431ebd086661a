"""TensorBoard's EventAccumulator over our reader: much code that reads logs is written for it.

The names, the records and the sampling are TensorBoard's (same seed, so the same points). What it
never did is told by `tfevents.read`: scalars that TensorFlow 2 wrote are tensors here, as there.
Two things differ: a damaged record costs itself and not the rest of its file, and of several files
an older one that grows is still read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tfevents.compat._accumulator import Accumulator, Loader, Record
from tfevents.compat.event_file_loader import LegacyEventFileLoader
from tfevents.compat.reservoir import Reservoir

if TYPE_CHECKING:
    from tfevents._types import PathLike

__all__ = [
    "DEFAULT_SIZE_GUIDANCE",
    "NORMAL_HISTOGRAM_BPS",
    "STORE_EVERYTHING_SIZE_GUIDANCE",
    "AudioEvent",
    "CompressedHistogramEvent",
    "EventAccumulator",
    "HistogramEvent",
    "HistogramValue",
    "ImageEvent",
    "ScalarEvent",
    "TensorEvent",
]

COMPRESSED_HISTOGRAMS = "distributions"
HISTOGRAMS = "histograms"
IMAGES = "images"
AUDIO = "audio"
SCALARS = "scalars"
TENSORS = "tensors"
GRAPH = "graph"
META_GRAPH = "meta_graph"
RUN_METADATA = "run_metadata"

#: Where a normal distribution has its minimum, -1.5σ, -σ, -σ/2, median and so on, in 1/10000.
NORMAL_HISTOGRAM_BPS = (0, 668, 1587, 3085, 5000, 6915, 8413, 9332, 10000)
#: How many items of a tag are kept unless told otherwise.
DEFAULT_SIZE_GUIDANCE = {
    COMPRESSED_HISTOGRAMS: 500,
    IMAGES: 4,
    AUDIO: 4,
    SCALARS: 10000,
    HISTOGRAMS: 1,
    TENSORS: 10,
}
STORE_EVERYTHING_SIZE_GUIDANCE = dict.fromkeys(DEFAULT_SIZE_GUIDANCE, 0)


@dataclass(frozen=True, eq=False)
class ScalarEvent(Record):
    """A number."""

    wall_time: float
    step: int
    value: float


@dataclass(frozen=True, eq=False)
class CompressedHistogramEvent(Record):
    """A histogram as pairs: a share of the samples in 1/10000, and the value below which it is."""

    wall_time: float
    step: int
    compressed_histogram_values: Sequence[tuple[float, float]]


@dataclass(frozen=True, eq=False)
class HistogramValue(Record):
    """The fields of a HistogramProto; `bucket_limit` are right edges."""

    min: float
    max: float
    num: float
    sum: float
    sum_squares: float
    bucket_limit: Sequence[float]
    bucket: Sequence[float]


@dataclass(frozen=True, eq=False)
class HistogramEvent(Record):
    """A histogram."""

    wall_time: float
    step: int
    histogram_value: HistogramValue


@dataclass(frozen=True, eq=False)
class ImageEvent(Record):
    """An image as its file."""

    wall_time: float
    step: int
    encoded_image_string: bytes
    width: int
    height: int


@dataclass(frozen=True, eq=False)
class AudioEvent(Record):
    """A clip as its file."""

    wall_time: float
    step: int
    encoded_audio_string: bytes
    content_type: str
    sample_rate: float
    length_frames: int


@dataclass(frozen=True, eq=False)
class TensorEvent(Record):
    """A TensorProto message; `tfevents.tensor.from_proto` makes an array of it."""

    wall_time: float
    step: int
    tensor_proto: Any


class EventAccumulator(Accumulator):
    """The events of a run, by kind and tag, in bounded memory.

    Args:
        path: an event file, or a directory of them; or any object with a `Load()` that yields
            events.
        size_guidance: kind -> items kept of each tag; 0 keeps all. For kinds not named,
            `DEFAULT_SIZE_GUIDANCE` holds.
        compression_bps: where compressed histograms are evaluated, in 1/10000, ascending.
        purge_orphaned_data: drop what a restart has overtaken.
    """

    def __init__(
        self,
        path: PathLike | Loader,
        size_guidance: Mapping[str, int] | None = None,
        compression_bps: Sequence[int] = NORMAL_HISTOGRAM_BPS,
        purge_orphaned_data: bool = True,
    ) -> None:
        super().__init__(path, purge_orphaned_data, LegacyEventFileLoader)
        sizes = {**DEFAULT_SIZE_GUIDANCE, **(size_guidance or {})}
        self.scalars = Reservoir(sizes[SCALARS])
        self.histograms = Reservoir(sizes[HISTOGRAMS])
        self.compressed_histograms = Reservoir(sizes[COMPRESSED_HISTOGRAMS], always_keep_last=False)
        self.images = Reservoir(sizes[IMAGES])
        self.audios = Reservoir(sizes[AUDIO])
        self.tensors = Reservoir(sizes[TENSORS])
        self._compression_bps = compression_bps

    def Tags(self) -> dict[str, Any]:
        """Kind -> its tags; for the two kinds of graph, whether there is one."""
        return {
            IMAGES: self.images.Keys(),
            AUDIO: self.audios.Keys(),
            HISTOGRAMS: self.histograms.Keys(),
            SCALARS: self.scalars.Keys(),
            COMPRESSED_HISTOGRAMS: self.compressed_histograms.Keys(),
            TENSORS: self.tensors.Keys(),
            GRAPH: self._graph is not None,
            META_GRAPH: self._meta_graph is not None,
            RUN_METADATA: list(self._tagged_metadata),
        }

    def Scalars(self, tag: str) -> list[ScalarEvent]:
        """The numbers of a tag that were kept; KeyError if there is no such tag."""
        return self.scalars.Items(tag)

    def Histograms(self, tag: str) -> list[HistogramEvent]:
        """The histograms of a tag; KeyError as in `Scalars`."""
        return self.histograms.Items(tag)

    def CompressedHistograms(self, tag: str) -> list[CompressedHistogramEvent]:
        """The same, compressed; KeyError as in `Scalars`."""
        return self.compressed_histograms.Items(tag)

    def Images(self, tag: str) -> list[ImageEvent]:
        """The images of a tag; KeyError as in `Scalars`."""
        return self.images.Items(tag)

    def Audio(self, tag: str) -> list[AudioEvent]:
        """The clips of a tag; KeyError as in `Scalars`."""
        return self.audios.Items(tag)

    def Tensors(self, tag: str) -> list[TensorEvent]:
        """The tensors of a tag; KeyError as in `Scalars`."""
        return self.tensors.Items(tag)

    def _take_value(self, event: Any, value: Any) -> None:
        tag, time, step = value.tag, event.wall_time, event.step
        form = value.WhichOneof("value")
        if form == "simple_value":
            self.scalars.AddItem(tag, ScalarEvent(time, step, value.simple_value))
        elif form == "tensor":
            # In the first form of tensor summaries the tag is in another field.
            self.tensors.AddItem(tag or value.node_name, TensorEvent(time, step, value.tensor))
        elif form == "histo":
            item = HistogramEvent(time, step, _histogram(value.histo))
            self.histograms.AddItem(tag, item)
            self.compressed_histograms.AddItem(tag, item, self._compressed)
        elif form == "image":
            image = value.image
            self.images.AddItem(
                tag,
                ImageEvent(time, step, image.encoded_image_string, image.width, image.height),
            )
        elif form == "audio":
            clip = value.audio
            data, kind = clip.encoded_audio_string, clip.content_type
            self.audios.AddItem(
                tag, AudioEvent(time, step, data, kind, clip.sample_rate, clip.length_frames)
            )

    def _compressed(self, event: HistogramEvent) -> CompressedHistogramEvent:
        values = compressed(event.histogram_value, self._compression_bps)
        return CompressedHistogramEvent(event.wall_time, event.step, values)

    def _check_restart(self, event: Any) -> None:
        # TensorBoard's own list; it leaves tensors alone.
        reservoirs = [
            self.scalars,
            self.histograms,
            self.compressed_histograms,
            self.images,
            self.audios,
        ]
        what = event.WhichOneof("what")
        if self.file_version is not None and self.file_version >= 2:
            if what == "session_log" and event.session_log.status == event.session_log.START:
                self._purge(event, reservoirs, [])
        elif what == "summary" and event.step < self.most_recent_step:
            tags = [value.tag for value in event.summary.value if value.tag]
            if tags:
                self._purge(event, reservoirs, tags)
        else:
            self.most_recent_step = event.step
            self.most_recent_wall_time = event.wall_time


def _histogram(field: Any) -> HistogramValue:
    limits, counts = list(field.bucket_limit), list(field.bucket)
    return HistogramValue(
        field.min, field.max, field.num, field.sum, field.sum_squares, limits, counts
    )


def compressed(histogram: HistogramValue, bps: Sequence[int]) -> list[tuple[float, float]]:
    """The values below which a share of the samples lies, for each share.

    Within a bucket samples count as evenly spread; the outer edges are the minimum and maximum.

    Args:
        histogram: any histogram, also an empty one, for which all values are 0.
        bps: shares in 1/10000, ascending; the last is the whole.
    """
    if not histogram.num:
        return [(share, 0.0) for share in bps]
    counts = np.array(histogram.bucket, np.float64)
    reached = (counts * bps[-1] / (counts.sum() or 1.0)).cumsum()
    before = np.concatenate([[0.0], reached[:-1]])
    grows = np.flatnonzero(reached != before)
    pairs: list[tuple[float, float]] = []
    for share in bps:
        place = np.searchsorted(reached, share, side="right")
        bucket = next(iter(grows[np.searchsorted(grows, place) :].tolist()), None)
        if bucket is None:
            break
        low, high = float(before[bucket]), float(reached[bucket])
        first = bucket == 0 or low == 0
        left = histogram.min if first else max(histogram.bucket_limit[bucket - 1], histogram.min)
        right = min(histogram.bucket_limit[bucket], histogram.max)
        pairs.append((share, left + (share - low) * float(right - left) / (high - low)))
    return pairs + [(share, histogram.max) for share in bps[len(pairs) :]]
