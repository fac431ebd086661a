"""Logs of every producer, read by us and by TensorBoard's own reader: each value is the same.

TensorBoard's accumulator turns all values into tensors; what stands in those is compared with what
our series give.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tfevents
from tfevents.values.audio import Audio
from tfevents.values.custom_scalars import CustomScalars
from tfevents.values.histogram import Histogram
from tfevents.values.hparams import HParams
from tfevents.values.image import Image
from tfevents.values.mesh import Mesh
from tfevents.values.pr_curve import PrCurve
from tfevents.values.text import Text

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
accumulator = pytest.importorskip("tensorboard.backend.event_processing.plugin_event_accumulator")
tensor_util = pytest.importorskip("tensorboard.util.tensor_util")
config_pb2 = pytest.importorskip("tensorboard.compat.proto.config_pb2")
layout_pb2 = pytest.importorskip("tensorboard.plugins.custom_scalar.layout_pb2")
hparams_pb2 = pytest.importorskip("tensorboard.plugins.hparams.plugin_data_pb2")
mesh_metadata = pytest.importorskip("tensorboard.plugins.mesh.metadata")

STEPS = 12
_KINDS = {
    "scalars": "scalars",
    "images": "images",
    "audio": "audio",
    "histograms": "histograms",
    "text": "texts",
    "hparams": "hparams",
    "pr_curves": "pr_curves",
    "mesh": "meshes",
    "custom_scalars": "custom_scalars",
    "graphs": "graphs",
    "graph_tagged_run_metadata": "run_metadata",
    "graph_run_metadata_graph": "run_metadata",
}


def random_data() -> Any:
    return np.random.default_rng(5)


def write_torch_like(writer: Any) -> None:
    rng = random_data()
    for step in range(STEPS):
        writer.add_scalar("loss", float(rng.normal()), step * 2**40)
        writer.add_scalars("both", {"a": step, "b": -step}, step)
        writer.add_histogram("weights", rng.normal(size=40), step)
    writer.add_scalar("odd", float("nan"), 1)
    writer.add_scalar("odd", float("-inf"), 2)
    writer.add_image("image", rng.integers(0, 255, (3, 6, 4), dtype=np.uint8), 3)
    writer.add_images("images", rng.uniform(size=(3, 3, 6, 4)), 4)
    writer.add_audio("clip", rng.uniform(-1, 1, (60, 1)).astype(np.float32), 5, 8000)
    writer.add_text("note", "wörds", 6)
    writer.add_pr_curve("pr", rng.integers(0, 2, 30), rng.uniform(size=30), 7)
    writer.add_custom_scalars({"c": {"d": ["Multiline", ["loss", "odd"]]}})
    writer.add_hparams({"lr": 0.1, "net": "x", "deep": True}, {"m": 1.0})
    writer.close()


def torch_log(path: Path) -> None:
    writers = pytest.importorskip("torch.utils.tensorboard")
    writer = writers.SummaryWriter(str(path))
    writer.add_scalar("new", 0.1, 3, new_style=True, double_precision=True)
    vertices = np.arange(9, dtype=np.float32).reshape(1, 3, 3)
    writer.add_mesh("mesh", pytest.importorskip("torch").from_numpy(vertices))
    write_torch_like(writer)


def tensorboardx_log(path: Path) -> None:
    write_torch_like(pytest.importorskip("tensorboardX").SummaryWriter(str(path)))


def tensorflow_log(path: Path) -> None:
    tf = pytest.importorskip("tensorflow")
    rng = random_data()
    with tf.summary.create_file_writer(str(path)).as_default():
        for step in range(STEPS):
            tf.summary.scalar("loss", rng.normal(), step * 2**40)
            tf.summary.histogram("weights", rng.normal(size=40), step)
        tf.summary.histogram("empty", [], 1)
        tf.summary.image("image", rng.uniform(size=(4, 6, 4, 3)), 3, max_outputs=4)
        tf.summary.audio("clip", rng.uniform(-1, 1, (2, 60, 2)).astype(np.float32), 8000, 5)
        tf.summary.text("note", [["a", "b"], ["c", "wörds"]], 6)
        tf.summary.write("tensor", rng.integers(0, 9, (2, 3)), 7)
        tf.summary.graph(tf.Graph().as_graph_def())
        tf.summary.trace_on(graph=True, profiler=False)
        tf.function(lambda x: x + 1)(tf.constant(1))
        tf.summary.trace_export("trace", 8)


def tensorflow1_log(path: Path) -> None:
    tf = pytest.importorskip("tensorflow").compat.v1
    rng = random_data()
    with tf.Graph().as_default() as graph, tf.Session() as session:
        number = tf.placeholder(tf.float32, [])
        tf.summary.scalar("loss", number)
        tf.summary.histogram("weights", number * np.arange(9.0, dtype=np.float32))
        tf.summary.image("image", rng.uniform(size=(2, 6, 4, 3)).astype(np.float32))
        tf.summary.audio("clip", rng.uniform(-1, 1, (2, 60, 1)).astype(np.float32), 8000)
        tf.summary.text("note", tf.constant(["a", "b"]))
        tf.summary.tensor_summary("tensor", number * [1.0, 2.0])
        merged = tf.summary.merge_all()
        writer = tf.summary.FileWriter(str(path), graph)
        metadata = tf.RunMetadata()
        for step in range(STEPS):
            options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
            data = session.run(merged, {number: rng.normal()}, options, metadata)
            writer.add_summary(data, step)
        writer.add_run_metadata(metadata, "step 11", 11)
        writer.close()


def keras_log(path: Path) -> None:
    keras = pytest.importorskip("keras")
    keras.utils.set_random_seed(1)
    model = keras.Sequential([keras.layers.Input((3,)), keras.layers.Dense(2)])
    model.compile(optimizer="sgd", loss="mse")
    callback = keras.callbacks.TensorBoard(
        str(path), histogram_freq=1, write_graph=True, write_images=True, update_freq=1
    )
    x, y = np.ones((8, 3), np.float32), np.zeros((8, 2), np.float32)
    model.fit(x, y, epochs=2, verbose=0, batch_size=4, validation_data=(x, y), callbacks=[callback])


GOLDEN = Path(__file__).parents[1] / "golden"


def stored(name: str) -> Callable[[Path], None]:
    """A log that was written once, for where its producer is not installed."""

    def log(path: Path) -> None:
        shutil.copy(GOLDEN / f"{name}.tfevents", path / "events.out.tfevents.1")

    return log


PRODUCERS = {
    "torch": torch_log,
    "tensorboardX": tensorboardx_log,
    "tensorflow": tensorflow_log,
    "tensorflow1": tensorflow1_log,
    "keras": keras_log,
    **{f"stored {name}": stored(name) for name in ("torch", "tensorboardx", "tf2", "tf1")},
}
# Kinds that each log has, so that a reader of nothing would not pass.
_BOTH = {
    "scalars", "images", "audio", "histograms", "texts", "hparams", "pr_curves", "custom_scalars",
}  # fmt: skip
EXPECTED = {
    "torch": {*_BOTH, "meshes"},
    "tensorboardX": _BOTH,
    "tensorflow": {
        "scalars", "images", "audio", "histograms", "texts", "tensors", "graphs", "run_metadata",
    },
    "tensorflow1": {
        "scalars", "images", "audio", "histograms", "texts", "tensors", "graphs", "run_metadata",
    },
    "keras": {"scalars", "images", "histograms", "tensors"},
    "stored torch": {*_BOTH, "meshes", "graphs"},
    "stored tensorboardx": {*_BOTH - {"hparams"}, "meshes"},
    "stored tf2": {
        "scalars", "images", "audio", "histograms", "texts", "tensors", "hparams", "run_metadata",
    },
    "stored tf1": {
        "scalars", "images", "audio", "histograms", "texts", "tensors", "graphs", "run_metadata",
    },
}  # fmt: skip


@pytest.mark.parametrize("name", PRODUCERS)
def test_every_value_is_what_tensorboard_reads(name: str, tmp_path: Path) -> None:
    PRODUCERS[name](tmp_path)
    log = tfevents.read(tmp_path)
    assert log.notices == []
    seen: set[str] = set()
    for run_name, run in log.items():
        theirs = accumulator.EventAccumulator(str(tmp_path / run_name), {"tensors": 0})
        theirs.Reload()
        kinds = {tag: kind for kind, tags in run.tags().items() for tag in tags}
        assert set(theirs.Tags()["tensors"]) <= set(kinds)
        for tag in theirs.Tags()["tensors"]:
            metadata = theirs.summary_metadata.get(tag)
            plugin = metadata.plugin_data.plugin_name if metadata else ""
            assert kinds[tag] == _KINDS.get(plugin, "tensors"), (tag, plugin)
            seen.add(kinds[tag])
            content = metadata.plugin_data.content if metadata else b""
            compare(run, kinds[tag], tag, theirs.Tensors(tag), content)
        for tag in theirs.Tags()["run_metadata"]:  # the older form, which is no tensor
            seen.add(kinds[tag])
            (value,) = run.run_metadata(tag).values
            same_run_metadata(value, theirs.RunMetadata(tag).SerializeToString())
    assert seen >= EXPECTED[name]


def compare(run: tfevents.Run, kind: str, tag: str, items: list[Any], content: bytes) -> None:
    if kind == "graphs":
        (data,) = tensor_util.make_ndarray(items[-1].tensor_proto).tolist()
        assert run.graph().SerializeToString(deterministic=True) == type(run.graph()).FromString(
            data
        ).SerializeToString(deterministic=True)
        return
    series = getattr(run, kind)(tag)
    assert series.steps.tolist() == [item.step for item in items]
    assert series.wall_times.tolist() == [item.wall_time for item in items]
    for value, item in zip(series.values, items, strict=True):
        array = tensor_util.make_ndarray(item.tensor_proto)
        if kind in BY_METADATA:
            BY_METADATA[kind](value, array, content)
        else:
            COMPARISONS[kind](value, array)


def same_scalar(value: float, array: Any) -> None:
    np.testing.assert_array_equal(value, float(array))


def same_images(value: Image, array: Any) -> None:
    width, height, *images = array.tolist()
    assert (b"%d" % value.width, b"%d" % value.height) == (width, height)
    assert list(value.encoded) == images


def same_audio(value: Audio, array: Any) -> None:
    assert list(value.encoded) == array.tolist()
    assert all(value.samples(index)[1] == 8000 for index in range(len(value)))


def same_histogram(value: Histogram, array: Any) -> None:
    # TensorBoard converts older histograms to float32 and drops their empty outer buckets
    ours = np.stack([value.left, value.right, value.counts], axis=1).reshape(-1, 3)
    filled = np.flatnonzero(ours[:, 2])
    theirs = np.asarray(array, np.float64).reshape(-1, 3)
    if len(theirs) and len(filled) and len(theirs) != len(ours):
        ours = ours[filled[0] : filled[-1] + 1]
    np.testing.assert_allclose(ours, theirs, rtol=1e-6)


def same_text(value: Text, array: Any) -> None:
    assert value.array.tolist() == array.tolist()


def same_tensor(value: Any, array: Any) -> None:
    np.testing.assert_array_equal(value.array, array)
    assert value.array.dtype == array.dtype


def same_pr_curve(value: PrCurve, array: Any) -> None:
    np.testing.assert_array_equal(value.rows, array)


def same_custom_scalars(value: CustomScalars, array: Any) -> None:
    layout = layout_pb2.Layout.FromString(array.item())
    ours = [
        (group.title, group.closed, [(chart.title, list(chart.tags)) for chart in group.charts])
        for group in value.categories
    ]
    assert ours == [
        (
            group.title,
            group.closed,
            [(each.title, list(each.multiline.tag)) for each in group.chart],
        )
        for group in layout.category
    ]


def same_run_metadata(value: Any, array: Any) -> None:
    data = array if isinstance(array, bytes) else array.item()
    theirs = config_pb2.RunMetadata.FromString(data)
    assert value.SerializeToString(deterministic=True) == theirs.SerializeToString(
        deterministic=True
    )


def same_hparams(value: HParams, array: Any, content: bytes) -> None:
    theirs = hparams_pb2.HParamsPluginData.FromString(content)
    which = theirs.WhichOneof("data")
    if which == "session_start_info":
        start = theirs.session_start_info
        numbers = {name: getattr(x, x.WhichOneof("kind")) for name, x in start.hparams.items()}
        assert value.start is not None
        assert dict(value.start.hparams) == numbers
        assert (value.start.group_name, value.start.start_time_secs) == (
            start.group_name, start.start_time_secs,
        )  # fmt: skip
    elif which == "session_end_info":
        end = theirs.session_end_info
        assert value.end is not None
        assert (value.end.status, value.end.end_time_secs) == (end.status, end.end_time_secs)
    else:
        assert value.experiment is not None
        experiment = theirs.experiment
        assert [(info.name, info.type) for info in value.experiment.hparams] == [
            (info.name, info.type) for info in experiment.hparam_infos
        ]
        assert [(info.group, info.tag) for info in value.experiment.metrics] == [
            (info.name.group, info.name.tag) for info in experiment.metric_infos
        ]


def same_mesh(value: Mesh, array: Any, content: bytes) -> None:
    names = {1: "vertices", 2: "faces", 3: "colors"}
    parsed = mesh_metadata.parse_plugin_metadata(content)
    np.testing.assert_array_equal(getattr(value, names[parsed.content_type]), array)
    assert (value.config, value.name) == (parsed.json_config, parsed.name)


COMPARISONS: dict[str, Callable[[Any, Any], None]] = {
    "scalars": same_scalar,
    "images": same_images,
    "audio": same_audio,
    "histograms": same_histogram,
    "texts": same_text,
    "tensors": same_tensor,
    "pr_curves": same_pr_curve,
    "custom_scalars": same_custom_scalars,
    "run_metadata": same_run_metadata,
}
BY_METADATA: dict[str, Callable[[Any, Any, bytes], None]] = {
    "hparams": same_hparams,
    "meshes": same_mesh,
}
