"""The look-alikes beside the originals, over the same files."""

from __future__ import annotations

import importlib
import random
import warnings
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tfevents
from tfevents import proto
from tfevents.compat import (
    event_accumulator,
    event_file_loader,
    plugin_event_accumulator,
    reservoir,
)

THEIRS = "tensorboard.backend.event_processing"
their_accumulator = pytest.importorskip(f"{THEIRS}.event_accumulator")
their_plugin_accumulator = pytest.importorskip(f"{THEIRS}.plugin_event_accumulator")
their_loader = pytest.importorskip(f"{THEIRS}.event_file_loader")
their_reservoir = pytest.importorskip(f"{THEIRS}.reservoir")

KINDS = ["Scalars", "Images", "Audio", "Histograms", "CompressedHistograms"]
TAG_KINDS = ["scalars", "images", "audio", "histograms", "distributions"]


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """A run with every kind in the older form and some in the newer, and a restart."""
    rng = np.random.default_rng(0)
    with tfevents.SummaryWriter(tmp_path, filename_suffix=".1") as writer:
        for step in range(40):
            writer.add_scalar("loss", rng.normal(), step, walltime=100.0 + step)
            writer.add_scalar("exact", rng.normal(), step, new_style=True, walltime=100.0 + step)
            writer.add_histogram("weights", rng.normal(size=50), step, walltime=100.0 + step)
            writer.add_histogram("none", np.zeros(3), step, walltime=100.0 + step)
        for step in range(7):
            pixels = rng.integers(0, 255, (3, 4, 5), dtype=np.uint8)
            writer.add_image("image", pixels, step, walltime=200.0)
            writer.add_audio("clip", rng.uniform(-1, 1, 60), step, 8000, walltime=200.0)
        writer.add_text("note", "hello", 0, walltime=300.0)
        writer.add_hparams({"lr": 0.1}, {"hparam/loss": 1.0}, run_name=".")
    with tfevents.SummaryWriter(tmp_path, purge_step=30, filename_suffix=".2") as writer:
        for step in range(30, 35):
            writer.add_scalar("loss", step, step, walltime=400.0)
    return tmp_path


@pytest.mark.filterwarnings("ignore:the log restarts")
@pytest.mark.parametrize("purge", [True, False])
@pytest.mark.parametrize(
    "guidance", [None, {"scalars": 5, "histograms": 0}, dict.fromkeys(TAG_KINDS, 3)]
)
def test_the_accumulator_gives_what_tensorboards_gives(
    log: Path, purge: bool, guidance: dict[str, int] | None
) -> None:
    ours: Any = event_accumulator.EventAccumulator(str(log), guidance, purge_orphaned_data=purge)
    theirs = their_accumulator.EventAccumulator(str(log), guidance, purge_orphaned_data=purge)
    assert ours.Reload() is ours
    theirs.Reload()
    assert ours.Tags() == theirs.Tags()
    assert all(ours.Tags()[kind] for kind in TAG_KINDS)
    for method, kind in zip(KINDS, TAG_KINDS, strict=True):
        for tag in theirs.Tags()[kind]:
            got, want = getattr(ours, method)(tag), getattr(theirs, method)(tag)
            assert [asdict(item) for item in got] == [asdict(item) for item in want], (method, tag)
            assert got == want
    for tag in theirs.Tags()["tensors"]:
        got, want = ours.Tensors(tag), theirs.Tensors(tag)
        assert [item.step for item in got] == [item.step for item in want]
        assert [item.tensor_proto.SerializeToString() for item in got] == [
            item.tensor_proto.SerializeToString() for item in want
        ]
        assert ours.SummaryMetadata(tag) == theirs.SummaryMetadata(tag)
    assert ours.FirstEventTimestamp() == theirs.FirstEventTimestamp()
    assert ours.file_version == theirs.file_version == 2.0
    assert ours.PluginTagToContent("scalars") == theirs.PluginTagToContent("scalars")


@pytest.mark.filterwarnings("ignore:the log restarts")
@pytest.mark.parametrize("guidance", [None, {"tensors": 3}])
def test_the_plugin_accumulator_gives_what_tensorboards_gives(
    log: Path, guidance: dict[str, int] | None
) -> None:
    sizes = {"images": 2}
    ours = plugin_event_accumulator.EventAccumulator(str(log), guidance, sizes).Reload()
    theirs = their_plugin_accumulator.EventAccumulator(str(log), guidance, sizes).Reload()
    assert ours.Tags() == theirs.Tags()
    assert ours.ActivePlugins() == theirs.ActivePlugins()
    for tag in theirs.Tags()["tensors"]:
        assert [serialized(item) for item in ours.Tensors(tag)] == [
            serialized(item) for item in theirs.Tensors(tag)
        ], tag
    assert {tag: str(each) for tag, each in ours.AllSummaryMetadata().items()} == {
        tag: str(each) for tag, each in theirs.AllSummaryMetadata().items()
    }


def serialized(item: Any) -> tuple[float, int, bytes]:
    return item.wall_time, item.step, item.tensor_proto.SerializeToString(deterministic=True)


@pytest.mark.parametrize("name", ["LegacyEventFileLoader", "EventFileLoader"])
def test_loaders_give_the_events_that_tensorboards_give(log: Path, name: str) -> None:
    for path in sorted(log.glob("*tfevents*")):
        ours = getattr(event_file_loader, name)(str(path))
        theirs = getattr(their_loader, name)(str(path))
        got = [event.SerializeToString(deterministic=True) for event in ours.Load()]
        assert got == [event.SerializeToString(deterministic=True) for event in theirs.Load()]
        assert len(got) > 5
        assert list(ours.Load()) == []


def wire_form(event: Any) -> bytes:
    """In the order of field numbers, whatever order the schema declares them in."""
    data: bytes = event.SerializeToString(deterministic=True)
    return data


def test_graphs_and_run_metadata_migrate_as_in_tensorboard(tmp_path: Path) -> None:
    graph = proto.GraphDef(node=[proto.NodeDef(name="x", op="Const")]).SerializeToString()
    run = proto.TaggedRunMetadata(tag="step 1", run_metadata=b"")
    with tfevents.EventFileWriter(tmp_path) as writer:
        graph_event = proto.Event(wall_time=1, graph_def=graph)
        writer.write([graph_event, proto.Event(wall_time=2, tagged_run_metadata=run)])
    (path,) = tmp_path.iterdir()
    got = list(event_file_loader.EventFileLoader(path).Load())
    want = list(their_loader.EventFileLoader(str(path)).Load())
    assert [wire_form(event) for event in got] == [wire_form(event) for event in want]
    ours = event_accumulator.EventAccumulator(tmp_path).Reload()
    theirs = their_accumulator.EventAccumulator(str(tmp_path)).Reload()
    assert ours.Graph() == theirs.Graph()  # of TensorBoard's class, since that is imported
    assert ours.RunMetadata("step 1") == theirs.RunMetadata("step 1")
    assert ours.Tags() == theirs.Tags()


def test_loads_resume_where_an_iteration_was_left(log: Path) -> None:
    path = min(log.glob("*tfevents*"))
    loader = event_file_loader.TimestampedEventFileLoader(path)
    first = [next(loader.Load()) for _ in range(5)]
    rest = list(loader.Load())
    whole = list(event_file_loader.TimestampedEventFileLoader(path).Load())
    assert [str(event) for _, event in [*first, *rest]] == [str(event) for _, event in whole]
    assert [time for time, _ in whole] == [event.wall_time for _, event in whole]


def test_a_damaged_record_costs_only_itself(log: Path) -> None:
    path = min(log.glob("*tfevents*"))
    data = bytearray(path.read_bytes())
    events = list(event_file_loader.RawEventFileLoader(path).Load())
    data[sum(len(event) + 16 for event in events[:9]) + 12] ^= 1
    path.write_bytes(data)
    loader = event_file_loader.RawEventFileLoader(path)
    assert list(loader.Load()) == events[:9] + events[10:]
    assert [notice.kind for notice in loader.notices] == ["bad-checksum"]


def test_reload_sees_older_and_newer_files_grow(tmp_path: Path) -> None:
    one = tfevents.SummaryWriter(tmp_path, filename_suffix=".1")
    two = tfevents.SummaryWriter(tmp_path, filename_suffix=".2")
    for writer in (one, two):
        writer.add_scalar("a", 1.0, 1)
        writer.flush()
    accumulator = event_accumulator.EventAccumulator(tmp_path).Reload()
    assert len(accumulator.Scalars("a")) == 2
    one.add_scalar("a", 2.0, 2)
    one.close()
    two.close()
    assert [item.value for item in accumulator.Reload().Scalars("a")] == [1.0, 1.0, 2.0]


def test_a_purge_warns_and_can_be_switched_off(log: Path) -> None:
    with pytest.warns(UserWarning, match="the log restarts at step 30"):
        event_accumulator.EventAccumulator(log).Reload()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kept = event_accumulator.EventAccumulator(log, purge_orphaned_data=False).Reload()
    assert [item.step for item in kept.Scalars("loss")] == [*range(40), *range(30, 35)]


@pytest.mark.parametrize("method", ["Scalars", "Images", "Audio", "Histograms", "Tensors"])
def test_unknown_tags_are_key_errors(log: Path, method: str) -> None:
    accumulator = event_accumulator.EventAccumulator(log, purge_orphaned_data=False).Reload()
    with pytest.raises(KeyError):
        getattr(accumulator, method)("nothing")


def test_what_is_not_there_raises_as_in_tensorboard(tmp_path: Path) -> None:
    accumulator = event_accumulator.EventAccumulator(tmp_path).Reload()
    calls: list[Callable[[], Any]] = [
        accumulator.Graph,
        accumulator.MetaGraph,
        accumulator.FirstEventTimestamp,
        lambda: accumulator.RunMetadata("a"),
        lambda: event_accumulator.EventAccumulator(""),
        lambda: event_file_loader.EventFileLoader(None),
    ]
    for call in calls:
        with pytest.raises(ValueError, match=r"[a-z]"):
            call()
    assert accumulator.GetSourceWriter() is None
    with pytest.raises(KeyError, match="nothing"):
        accumulator.PluginTagToContent("nothing")


def test_plugin_assets_are_read(tmp_path: Path) -> None:
    (tmp_path / "plugins" / "mine").mkdir(parents=True)
    (tmp_path / "plugins" / "mine" / "b.txt").write_text("é", encoding="utf-8")
    accumulator = event_accumulator.EventAccumulator(tmp_path)
    assert accumulator.PluginAssets("mine") == ["b.txt"]
    assert accumulator.PluginAssets("other") == []
    assert accumulator.RetrievePluginAsset("mine", "b.txt") == "é"
    with pytest.raises(KeyError, match=r"c\.txt"):
        accumulator.RetrievePluginAsset("mine", "c.txt")


def test_any_object_that_loads_is_a_source() -> None:
    class Source:
        def Load(self) -> Any:  # noqa: N802
            for step in (1, 2, 1):
                event = proto.Event(step=step, wall_time=step)
                event.summary.value.add(tag="a", simple_value=step)
                yield event

    with pytest.warns(UserWarning, match="restarts at step 1"):  # no version: the steps tell
        accumulator = event_accumulator.EventAccumulator(Source()).Reload()
    assert accumulator.Scalars("a") == [event_accumulator.ScalarEvent(1.0, 1, 1.0)]


@pytest.mark.parametrize("last", [True, False])
@pytest.mark.parametrize("size", [0, 1, 7])
def test_reservoirs_choose_as_tensorboards_do(size: int, last: bool) -> None:
    ours = reservoir.Reservoir(size, seed=3, always_keep_last=last)
    theirs = their_reservoir.Reservoir(size, seed=3, always_keep_last=last)
    numbers = random.Random(1)
    for item in range(500):
        key = numbers.choice("abc")
        for each in (ours, theirs):
            each.AddItem(key, item, lambda item: -item)
        if item % 97 == 0:
            removed = [each.FilterItems(lambda item: item % 5, "a") for each in (ours, theirs)]
            assert removed[0] == removed[1]
    assert ours.Keys() == theirs.Keys()
    assert [ours.Items(key) for key in "abc"] == [theirs.Items(key) for key in "abc"]


def test_compressed_histograms_equal_tensorboards() -> None:
    compressor = importlib.import_module("tensorboard.plugins.distribution.compressor")
    rng = np.random.default_rng(4)
    for _ in range(300):
        count = int(rng.integers(0, 9))
        limits = np.sort(rng.normal(size=count)).tolist()
        counts = (rng.integers(0, 4, count) * rng.integers(0, 2, count)).astype(float).tolist()
        histogram = event_accumulator.HistogramValue(
            -2.0, 2.0, sum(counts), 0.0, 0.0, limits, counts
        )
        bps = event_accumulator.NORMAL_HISTOGRAM_BPS
        want = compressor.compress_histogram_proto(histogram, bps)
        got = event_accumulator.compressed(histogram, bps)
        np.testing.assert_allclose(np.array(got), np.array(want), rtol=1e-12)
