"""TensorFlow's own v1 writer and summaries, evaluated in a session, beside ours."""

from __future__ import annotations

import io
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image as PilImage

import tfevents.compat.v1 as ours
from tfevents import proto, read_events

tensorflow = pytest.importorskip("tensorflow", reason="TensorFlow is the peer")
v1 = tensorflow.compat.v1


def evaluated(make: Callable[[Any], Any]) -> proto.Summary:
    """What TensorFlow's operation gives; `make` gets `tf.compat.v1.summary`."""
    with tensorflow.Graph().as_default(), v1.Session() as session:
        return proto.Summary.FromString(session.run(make(v1.summary)))


RANDOM = np.random.default_rng(1)
EIGHTHS = RANDOM.integers(-99, 99, (4, 25)) / 8  # their sums are exact in any order
EXACT: list[Callable[[Any], Any]] = [
    lambda s: s.scalar("a", 0.1),
    lambda s: s.scalar("a b:0/c", np.float64(3)),
    lambda s: s.scalar("a", np.int64(2**53 + 1), family="fam"),
    lambda s: s.scalar("/lead", np.float32("nan")),
    lambda s: s.scalar("a/", np.float32("inf")),
    lambda s: s.histogram("h", np.array([], np.float32)),
    lambda s: s.histogram("h", [True, False, True]),
    lambda s: s.histogram("h x", np.array([0, 1e-13, -1e-13, 1e21, -1e300])),
    lambda s: s.histogram("h", EIGHTHS, family="f"),
    lambda s: s.histogram("h", [0.1]),
    lambda s: s.histogram("h", 0.1),
    lambda s: s.tensor_summary("t", np.arange(6, dtype=np.int64).reshape(2, 3)),
    lambda s: s.tensor_summary("t", "text", "described", display_name="shown"),
    lambda s: s.tensor_summary("t", [1.0, 2.0], family="f"),
    lambda s: s.text("t x", tensorflow.constant([["a", "b"], ["c", "d"]])),
    lambda s: s.audio("x", np.array([[0.5, -1, 1, 2, -2, 0.3]], np.float32), 16000.5),
    lambda s: s.audio("x", np.full((3, 4, 2), 0.1, np.float32), 8000, max_outputs=2, family="f"),
    lambda s: s.audio("x", np.full((3, 4, 2), 0.1, np.float32), 8000, max_outputs=1),
    lambda s: s.audio("x", np.zeros((1, 0, 1), np.float32), 8000),
    lambda s: s.merge([s.scalar("a", 1.0), s.histogram("b", [1.0])]),
]


@pytest.mark.parametrize("number", range(len(EXACT)))
def test_summaries_are_the_same_messages(number: int) -> None:
    expected = evaluated(EXACT[number])
    got = EXACT[number](ours.summary)
    assert got.SerializeToString() == expected.SerializeToString() or got == expected


PICTURES = [
    RANDOM.random((2, 3, 4, 3), np.float32),
    RANDOM.random((2, 30, 40, 3)),
    RANDOM.random((1, 30, 40, 3)).astype(np.float16),
    RANDOM.standard_normal((1, 30, 40, 3)).astype(np.float16),
    RANDOM.standard_normal((1, 5, 4, 1)).astype(np.float32),
    RANDOM.standard_normal((4, 50, 4, 4)),
    RANDOM.integers(0, 256, (1, 3, 3, 3)).astype(np.uint8),
    np.zeros((1, 2, 2, 1), np.float32),
    np.where(RANDOM.random((2, 6, 6, 3)) < 0.1, np.nan, RANDOM.random((2, 6, 6, 3))),
    np.where(RANDOM.random((1, 6, 6, 1)) < 0.3, -np.inf, 5.0).astype(np.float32),
    np.full((1, 2, 2, 3), -3.5, np.float32),
    RANDOM.random((0, 2, 2, 3), np.float32),
    [[[[0.61, 0.73, 0.54]]]],
]


def looked_at(made: proto.Summary) -> list[tuple[Any, ...]]:
    return [
        (
            value.tag, value.image.height, value.image.width, value.image.colorspace,
            np.asarray(PilImage.open(io.BytesIO(value.image.encoded_image_string))).tolist(),
        )
        for value in made.value
    ]


@pytest.mark.parametrize("most", [1, 3])
@pytest.mark.parametrize("data", PICTURES, ids=lambda data: str(np.shape(data)))
def test_images_have_the_same_pixels(data: Any, most: int) -> None:
    expected = evaluated(lambda s: s.image("i x", data, max_outputs=most, family="f"))
    got = ours.summary.image("i x", data, max_outputs=most, family="f")
    assert looked_at(got) == looked_at(expected)


def test_name_scopes() -> None:
    def make(tf: Any) -> Any:
        with tf.name_scope("outer"), tf.name_scope("inner"):
            return tf.summary.scalar("a", 1.0, family="fam")

    with tensorflow.Graph().as_default(), v1.Session() as session:
        expected = proto.Summary.FromString(session.run(make(v1)))
    assert make(ours) == expected


def log(tf: Any, writer: Any) -> None:
    """One call of each kind, with messages of TensorFlow's own classes."""
    value = v1.Summary.Value(tag="a", simple_value=1.0)
    value.metadata.plugin_data.plugin_name = "p"
    for step in (1, np.int64(2), 3.9, "4", None):
        # TensorFlow strips the caller's message, so that each gets its own
        writer.add_summary(v1.Summary(value=[value, value]), step)
    writer.add_summary(v1.Summary(value=[value]).SerializeToString(), 6)
    writer.add_event(v1.Event(wall_time=3.5, step=7, summary=v1.Summary(value=[value])))
    writer.add_session_log(v1.SessionLog(status=v1.SessionLog.START), 8)
    metadata = v1.RunMetadata()
    metadata.step_stats.dev_stats.add(device="cpu").node_stats.add(node_name="n")
    writer.add_run_metadata(metadata, "run", 9)
    with tensorflow.Graph().as_default() as graph:
        tensorflow.constant([1.0, 2.0], name="two")
    writer.add_graph(graph, 10)
    writer.add_graph(graph.as_graph_def(), 11)
    writer.add_graph(None, graph_def=graph.as_graph_def(), global_step=12)
    writer.add_meta_graph(v1.MetaGraphDef(graph_def=graph.as_graph_def()), 13)


def written(logdir: Path) -> list[bytes]:
    """All events but the header, without the times that were taken from the clock."""
    (path,) = logdir.iterdir()
    found = list(read_events(path, strict=True))[1:]
    for event in found:
        if event.wall_time > 1e9:
            assert abs(event.wall_time - time.time()) < 600
            event.wall_time = 1
        if event.HasField("graph_def"):  # protobuf serializes maps in any order
            graph = proto.GraphDef.FromString(event.graph_def)
            event.graph_def = graph.SerializeToString(deterministic=True)
        if event.HasField("meta_graph_def"):
            meta = proto.MetaGraphDef.FromString(event.meta_graph_def)
            event.meta_graph_def = meta.SerializeToString(deterministic=True)
    return [event.SerializeToString() for event in found]


def test_the_writer_writes_the_same_bytes(tmp_path: Path) -> None:
    with tensorflow.Graph().as_default(), v1.summary.FileWriter(
        os.fspath(tmp_path / "theirs")
    ) as writer:
        log(v1, writer)
    with ours.summary.FileWriter(tmp_path / "ours") as mine:
        log(ours, mine)
    assert written(tmp_path / "ours") == written(tmp_path / "theirs")


@pytest.mark.parametrize("as_graph_def", [False, True])
def test_a_graph_of_the_constructor(as_graph_def: bool, tmp_path: Path) -> None:
    with tensorflow.Graph().as_default() as graph:
        tensorflow.constant([1.0, 2.0], name="two")
        given: Any = graph.as_graph_def() if as_graph_def else graph
        v1.summary.FileWriter(os.fspath(tmp_path / "theirs"), given).close()
    ours.summary.FileWriter(tmp_path / "ours", given).close()
    theirs = [proto.Event.FromString(data) for data in written(tmp_path / "theirs")]
    mine = [proto.Event.FromString(data) for data in written(tmp_path / "ours")]
    assert mine[0] == theirs[0]
    assert [event.WhichOneof("what") for event in mine] == ["graph_def", "meta_graph_def"]
    assert [event.WhichOneof("what") for event in theirs] == ["graph_def", "meta_graph_def"]
    meta, their_meta = (
        proto.MetaGraphDef.FromString(events[1].meta_graph_def) for events in (mine, theirs)
    )
    assert meta.graph_def == their_meta.graph_def


def test_messages_of_tensorboard_are_taken(tmp_path: Path) -> None:
    from tensorboard.compat.proto import event_pb2, summary_pb2

    value = summary_pb2.Summary.Value(tag="a", simple_value=1.0)
    with ours.summary.FileWriter(tmp_path) as writer:
        writer.add_summary(summary_pb2.Summary(value=[value]), 1)
        writer.add_event(event_pb2.Event(step=2, file_version="x"))
    found = [proto.Event.FromString(data) for data in written(tmp_path)]
    assert [event.step for event in found] == [1, 2]


def test_tensorflow_reads_our_files(tmp_path: Path) -> None:
    with ours.summary.FileWriter(tmp_path) as writer:
        for step in range(3):
            writer.add_summary(ours.summary.scalar("a", step), step)
    (path,) = tmp_path.iterdir()
    found = list(v1.train.summary_iterator(os.fspath(path)))
    assert found[0].file_version == "brain.Event:2"
    assert [event.summary.value[0].simple_value for event in found[1:]] == [0, 1, 2]
