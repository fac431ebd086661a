"""The judge: a real TensorBoard serves what we wrote, and answers with what was logged.

Two servers look at one log: one reads with its Rust data server, one with its Python loader. All
expected values are worked out by hand or by numpy, from what was logged.
"""

from __future__ import annotations

import io
import json
import math
import re
import time
import urllib.error
import urllib.parse
import urllib.request
import wave
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image as PilImage

import tfevents as tf
from served import Server
from tfevents import proto
from tfevents.values.audio import Audio
from tfevents.values.histogram import Histogram
from tfevents.values.image import Image

pytest.importorskip("tensorboard", reason="TensorBoard is the judge")

NAN, INF = float("nan"), float("inf")


# What is logged ----------------------------------------------------------------------------------

LOSS = [(0, 0.5), (1, NAN), (2, INF), (3, -INF), (1 << 40, 0.25)]
RNG = np.random.default_rng(7)
PICTURES = {
    "gray": RNG.integers(0, 256, (2, 5, 7, 1), np.uint8),
    "gray alpha": RNG.integers(0, 256, (1, 6, 3, 2), np.uint8),
    "nested/rgb": RNG.integers(0, 256, (4, 9, 4, 3), np.uint8),
    "rgba": RNG.integers(0, 256, (3, 2, 8, 4), np.uint8),
}
COUNTED = [0, 1, 1, 2, 2, 2, 3, 4]
COUNTED_ROWS = [[0, 1, 1], [1, 2, 2], [2, 3, 3], [3, 4, 2]]
# The cumulative shares 1/8, 3/8, 6/8, 1 at the edges 1, 2, 3, 4; between edges it is linear.
COUNTED_MEDIAN = 2 + (0.5 - 3 / 8) / (3 / 8)
NORMAL = RNG.normal(3, 2, 1000)
PCM = RNG.integers(-(1 << 15), 1 << 15, (2, 50, 2), np.int16)
FLOATS, FLOATS_AS_PCM = [0.0, 0.5, -0.5, 1.0, -1.0], [0, 16384, -16384, 32767, -32768]
TEXTS = {
    "rank 0": ("**bold** ünïcode", "<p><strong>bold</strong> ünïcode</p>"),
    "rank 1": (["one", "two"], "one", "two"),
    "rank 2": ([["a", "b"], ["c", "d"]], "a", "b", "c", "d"),
}


def graph() -> proto.GraphDef:
    made = proto.GraphDef()
    made.node.add(name="layer/x", op="Placeholder")
    made.node.add(name="layer/y", op="Relu", input=["layer/x"])
    return made


def write_tensor_form(logdir: Path) -> None:
    with tf.summary.create_file_writer(logdir).as_default():
        for step, value in LOSS:
            tf.summary.scalar("loss", value, step, description="how *wrong* it is")
        tf.summary.scalar("", -1.5, 0)
        for name, pixels in PICTURES.items():
            for step in (0, 1):
                tf.summary.image(name, np.roll(pixels, step, axis=1), step, max_outputs=4)
        tf.summary.histogram("counted", COUNTED, 5, buckets=4)
        tf.summary.histogram("normal", NORMAL, 0)
        tf.summary.histogram("nothing", [], 0)
        tf.summary.audio("pcm", PCM, 8000, 3)
        tf.summary.audio("floats", np.reshape(FLOATS, (1, -1, 1)).astype(np.float32), 44100, 0)
        for name, (data, *_) in TEXTS.items():
            tf.summary.text(name, data, 0)
        metadata = proto.SummaryMetadata()
        metadata.plugin_data.plugin_name = "nobody_knows_me"
        metadata.plugin_data.content = b"\x00\xff"
        tf.summary.write("unknown", np.eye(3, dtype=np.float32), 4, metadata)
        tf.summary.graph(graph())


def write_field_form(logdir: Path) -> None:
    with tf.RunWriter(logdir) as writer:
        for step, value in LOSS:
            writer.add_scalar("loss", value, step)
        for name, pixels in PICTURES.items():
            image = Image.from_data(pixels[:1])
            writer.add_value(name, image.to_field_value, 0)
        counted = Histogram.from_data(COUNTED, bins=[0, 1, 2, 3, 4])
        writer.add_value("counted", counted.to_field_value, 5)
        exponential = Histogram.from_data(NORMAL, bins="tensorflow")
        writer.add_value("normal", exponential.to_field_value, 0)
        writer.add_value("pcm", Audio.from_data(PCM[0], 8000, layout="TC").to_field_value, 3)
        writer.add_field("graph_def", graph().SerializeToString(), 0)


RUNS = ["tensor", "field/form"]


@pytest.fixture(scope="session")
def logdir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("log")
    write_tensor_form(folder / RUNS[0])
    write_field_form(folder / RUNS[1])
    return folder


@pytest.fixture(scope="session", params=[True, False], ids=["rust", "python"])
def server(
    request: pytest.FixtureRequest, logdir: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Server]:
    started = Server(logdir, tmp_path_factory.mktemp("server"), load_fast=request.param)
    try:
        started.wait_for(
            lambda: [started.json("plugin/graphs/info"), started.json("plugin/scalars/tags")],
            lambda answer: all(set(RUNS) <= set(each) for each in answer),
        )
        yield started
    finally:
        started.stop()


def test_the_server_complains_about_nothing(server: Server) -> None:
    # TensorFlow, where it is installed, has its own complaints about the machine.
    complaints = r"traceback|read error|corrupt|data ?loss|checksum|truncated"
    assert not re.findall(complaints, server.output(), re.IGNORECASE)


# Scalars -----------------------------------------------------------------------------------------


def as_json(value: float) -> Any:
    """TensorBoard's JSON has no NaN and infinities; it sends their names."""
    if math.isnan(value):
        return "NaN"
    return {INF: "Infinity", -INF: "-Infinity"}.get(value, value)


@pytest.mark.parametrize("run", RUNS)
def test_scalars(server: Server, run: str) -> None:
    assert server.scalars(run, "loss") == [(step, as_json(value)) for step, value in LOSS]


def test_scalar_tags(server: Server) -> None:
    tags = server.json("plugin/scalars/tags")
    assert set(tags["tensor"]) == {"loss", "scalar_summary"}
    assert set(tags["field/form"]) == {"loss"}
    assert tags["tensor"]["loss"]["description"] == "<p>how <em>wrong</em> it is</p>"


def test_scalars_in_time_series(server: Server) -> None:
    requests = [{"plugin": "scalars", "tag": "loss"}]
    (answer,) = server.json("plugin/timeseries/timeSeries", requests=json.dumps(requests))
    for run in RUNS:
        points = [(point["step"], point["value"]) for point in answer["runToSeries"][run]]
        assert points == [(step, as_json(value)) for step, value in LOSS]


def test_wall_times_are_now(server: Server) -> None:
    times = [time for time, _, _ in server.json("plugin/scalars/scalars", run="tensor", tag="loss")]
    assert times == sorted(times)
    assert time.time() - 3600 < times[0] <= times[-1] <= time.time()


# Images ------------------------------------------------------------------------------------------


def pixels_of(data: bytes) -> np.ndarray[Any, Any]:
    with PilImage.open(io.BytesIO(data)) as picture:
        assert picture.format == "PNG"
        found = np.asarray(picture)
    return found if found.ndim == 3 else found[:, :, None]


@pytest.mark.parametrize("name", PICTURES)
def test_images_of_a_batch(server: Server, name: str) -> None:
    assert server.json("plugin/images/tags")["tensor"][name]["samples"] == len(PICTURES[name])
    for sample, expected in enumerate(PICTURES[name]):
        where = {"run": "tensor", "tag": name, "sample": sample}
        listed = server.json("plugin/images/images", **where)
        assert [point["step"] for point in listed] == [0, 1]
        for step, point in enumerate(listed):
            query = dict(urllib.parse.parse_qsl(point["query"]))
            data = server.fetch("plugin/images/individualImage", **query)
            assert pixels_of(data).tolist() == np.roll(expected, step, axis=0).tolist()


@pytest.mark.parametrize("name", PICTURES)
def test_images_in_the_field_form(server: Server, name: str) -> None:
    (point,) = server.json("plugin/images/images", run="field/form", tag=name, sample=0)
    query = dict(urllib.parse.parse_qsl(point["query"]))
    data = server.fetch("plugin/images/individualImage", **query)
    assert pixels_of(data).tolist() == PICTURES[name][0].tolist()


def test_images_in_time_series(server: Server) -> None:
    requests = [{"plugin": "images", "tag": "rgba", "run": "tensor", "sample": 2}]
    (answer,) = server.json("plugin/timeseries/timeSeries", requests=json.dumps(requests))
    first = answer["runToSeries"]["tensor"][0]
    data = server.fetch("plugin/timeseries/imageData", imageId=first["imageId"])
    assert pixels_of(data).tolist() == PICTURES["rgba"][2].tolist()


# Histograms --------------------------------------------------------------------------------------


@pytest.mark.parametrize("run", RUNS)
def test_histogram_counted_by_hand(server: Server, run: str) -> None:
    ((_, step, rows),) = server.json("plugin/histograms/histograms", run=run, tag="counted")
    assert step == 5
    # the Rust server keeps the empty bucket that torch's layout begins with
    assert [row for row in rows if row[2]] == COUNTED_ROWS


@pytest.mark.parametrize("run", RUNS)
def test_histogram_keeps_every_value(server: Server, run: str) -> None:
    ((_, _, rows),) = server.json("plugin/histograms/histograms", run=run, tag="normal")
    left, right, counts = np.array(rows).T
    assert counts.sum() == len(NORMAL)
    assert (left[1:] == right[:-1]).all()
    below = [int(np.count_nonzero(edge > NORMAL)) for edge in right[:-1]]
    assert counts.tolist() == np.diff([0, *below, len(NORMAL)]).tolist()
    # the Python loader rounds the field form to float32
    assert right[-1] == pytest.approx(NORMAL.max(), rel=1e-7)
    first = left[np.flatnonzero(counts)[0]]
    assert first <= NORMAL.min() * (1 - 1e-7)


def test_histogram_of_equal_widths(server: Server) -> None:
    ((_, _, rows),) = server.json("plugin/histograms/histograms", run="tensor", tag="normal")
    edges = np.linspace(NORMAL.min(), NORMAL.max(), 31)
    np.testing.assert_allclose(np.array(rows)[:, 0], edges[:-1], rtol=1e-12)


def test_histogram_of_nothing(server: Server) -> None:
    ((_, _, rows),) = server.json("plugin/histograms/histograms", run="tensor", tag="nothing")
    assert rows == [[0, 0, 0]] * 30


@pytest.mark.parametrize("run", RUNS)
def test_distribution(server: Server, run: str) -> None:
    ((_, step, points),) = server.json("plugin/distributions/distributions", run=run, tag="counted")
    quantiles = dict(points)
    assert step == 5
    assert quantiles[0] == 0
    assert quantiles[5000] == pytest.approx(COUNTED_MEDIAN)
    assert quantiles[10000] == 4


# Audio -------------------------------------------------------------------------------------------


def sounds(server: Server, run: str, tag: str, sample: int) -> tuple[int, list[list[int]]]:
    """Rate and samples [t, c] of the only point of a tag."""
    (point,) = server.json("plugin/audio/audio", run=run, tag=tag, sample=sample)
    # the Rust server drops the content type of the field form, and sends the same bytes
    dropped = server.load_fast and run == "field/form"
    assert point["contentType"] == ("application/octet-stream" if dropped else "audio/wav")
    query = dict(urllib.parse.parse_qsl(point["query"]))
    with wave.open(io.BytesIO(server.fetch("plugin/audio/individualAudio", **query))) as clip:
        assert clip.getsampwidth() == 2
        frames = np.frombuffer(clip.readframes(clip.getnframes()), "<i2")
        return clip.getframerate(), frames.reshape(-1, clip.getnchannels()).tolist()


def test_audio_of_a_batch(server: Server) -> None:
    for sample, expected in enumerate(PCM):
        assert sounds(server, "tensor", "pcm", sample) == (8000, expected.tolist())
    assert server.json("plugin/audio/tags")["tensor"]["pcm"]["samples"] == 2


def test_audio_of_floats(server: Server) -> None:
    rate, samples = sounds(server, "tensor", "floats", 0)
    assert rate == 44100
    assert [sample for (sample,) in samples] == FLOATS_AS_PCM


def test_audio_in_the_field_form(server: Server) -> None:
    assert sounds(server, "field/form", "pcm", 0) == (8000, PCM[0].tolist())


# Text, graphs and what no dashboard knows --------------------------------------------------------


def test_text_of_rank_0(server: Server) -> None:
    (point,) = server.json("plugin/text/text", run="tensor", tag="rank 0")
    assert point["text"] == TEXTS["rank 0"][1]


@pytest.mark.parametrize(("tag", "columns"), [("rank 1", 1), ("rank 2", 2)])
def test_text_tables(server: Server, tag: str, columns: int) -> None:
    (point,) = server.json("plugin/text/text", run="tensor", tag=tag)
    cells = re.findall(r"<td><p>(.*?)</p></td>", point["text"])
    assert cells == list(TEXTS[tag][1:])
    assert point["text"].count("<tr>") == len(cells) // columns


@pytest.mark.parametrize("run", RUNS)
def test_graph(server: Server, run: str) -> None:
    assert server.json("plugin/graphs/info")[run]["run_graph"] is True
    shown = server.fetch("plugin/graphs/graph", run=run).decode()
    assert re.findall(r'name: "(.*?)"', shown) == ["layer/x", "layer/y"]
    assert re.findall(r'op: "(.*?)"', shown) == ["Placeholder", "Relu"]
    assert re.findall(r'input: "(.*?)"', shown) == ["layer/x"]


def test_unknown_plugin_disturbs_nobody(server: Server) -> None:
    for route in ("scalars", "images", "histograms", "audio", "text"):
        assert "unknown" not in server.json(f"plugin/{route}/tags").get("tensor", {})


# Files that grow ---------------------------------------------------------------------------------


def has(count: int, points: list[Any]) -> bool:
    return len(points) >= count


def test_an_open_file_shows_what_was_flushed(server: Server, logdir: Path) -> None:
    run = f"live/{'rust' if server.load_fast else 'python'}"
    writer = tf.summary.create_file_writer(logdir / run)
    with writer.as_default():
        for end in (3, 6):  # the second time the server goes on where it was
            for step in range(end - 3, end):
                tf.summary.scalar("growing", step * 0.5, step)
            writer.flush()
            expected = [(step, step * 0.5) for step in range(end)]
            found = server.wait_for(
                lambda: server.scalars(run, "growing"), partial(has, end)
            )
            assert found == expected
    writer.close()


def test_a_restart_replaces_the_steps_it_repeats(server: Server, logdir: Path) -> None:
    run = f"restarted/{'rust' if server.load_fast else 'python'}"
    # The Python loader takes the first start of a run as no restart, so the first file has one too.
    with tf.RunWriter(logdir / run, purge_step=0) as writer:
        for step in range(6):
            writer.add_scalar("loss", 1.0, step)
    time.sleep(1.1)  # files are read in the order of their names, which begin with the second
    with tf.RunWriter(logdir / run, purge_step=3) as writer:
        for step in range(3, 5):
            writer.add_scalar("loss", 2.0, step)
    expected = [(0, 1.0), (1, 1.0), (2, 1.0), (3, 2.0), (4, 2.0)]
    server.wait_for(lambda: server.scalars(run, "loss"), lambda points: points == expected)


# TensorBoard's readers, without a server ---------------------------------------------------------


@pytest.mark.parametrize(
    ("run", "count"), [("tensor", 1 + 6 + 8 + 3 + 2 + 3 + 1 + 1), ("field/form", 1 + 5 + 4 + 3 + 1)]
)
def test_the_raw_loader_reads_every_event(logdir: Path, run: str, count: int) -> None:
    from tensorboard.backend.event_processing.event_file_loader import RawEventFileLoader
    from tensorboard.compat.proto.event_pb2 import Event

    (path,) = (logdir / run).iterdir()
    events = [Event.FromString(data) for data in RawEventFileLoader(str(path)).Load()]
    assert len(events) == count
    assert events[0].file_version == "brain.Event:2"


def test_the_accumulator_reads_the_field_form(logdir: Path) -> None:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    accumulator = EventAccumulator(str(logdir / "field" / "form")).Reload()
    tags = {k: v if isinstance(v, bool) else sorted(v) for k, v in accumulator.Tags().items()}
    assert tags == {
        "audio": ["pcm"],
        "distributions": ["counted", "normal"],
        "graph": True,
        "histograms": ["counted", "normal"],
        "images": sorted(PICTURES),
        "meta_graph": False,
        "run_metadata": [],
        "scalars": ["loss"],
        "tensors": [],
    }
    histogram = accumulator.Histograms("normal")[0].histogram_value
    assert (histogram.num, histogram.min, histogram.max) == (1000, NORMAL.min(), NORMAL.max())
    assert histogram.sum == pytest.approx(NORMAL.sum(), rel=1e-12)
    assert histogram.sum_squares == pytest.approx((NORMAL**2).sum(), rel=1e-12)


def test_the_accumulator_finds_the_unknown_plugin(logdir: Path) -> None:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
    from tensorboard.util.tensor_util import make_ndarray

    accumulator = EventAccumulator(str(logdir / "tensor")).Reload()
    assert accumulator.PluginTagToContent("nobody_knows_me") == {"unknown": b"\x00\xff"}
    (event,) = accumulator.Tensors("unknown")
    assert event.step == 4
    assert make_ndarray(event.tensor_proto).tolist() == np.eye(3).tolist()
