"""The summaries that tf.summary lacks: what lies on disk, by TensorBoard's own messages."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image, ImageSequence

import decoded
import tfevents as tf
from readback import events

summary = tf.summary
POINTS = np.arange(12, dtype=np.float32).reshape(1, 4, 3)
FACES = np.array([[[0, 1, 2], [1, 2, 3]]])
COLORS = np.full((1, 4, 3), 200, np.uint8)


def plugin_data(value: Any, kind: type[Any]) -> Any:
    return kind.FromString(value.metadata.plugin_data.content)


def plugin_names(found: list[Any]) -> list[str]:
    return [value.metadata.plugin_data.plugin_name for e in found for value in e.summary.value]


def test_pr_curve(tmp_path: Path) -> None:
    from tensorboard.plugins.pr_curve.plugin_data_pb2 import PrCurvePluginData
    from tensorboard.util import tensor_util

    with summary.create_file_writer(tmp_path).as_default(), tf.name_scope("x"):
        assert summary.pr_curve(
            "pr", [0, 1, 1, 0], [0.1, 0.4, 0.35, 0.8], 3, num_thresholds=5, description="of *it*"
        )
    (event,) = events(tmp_path)
    (value,) = event.summary.value
    assert (event.step, value.tag) == (3, "x/pr")
    assert value.metadata.summary_description == "of *it*"
    assert plugin_names([event]) == ["pr_curves"]
    assert plugin_data(value, PrCurvePluginData).num_thresholds == 5
    expected = [
        [2, 2, 0, 0, 0], [2, 1, 1, 1, 0], [0, 1, 1, 1, 2], [0, 0, 2, 2, 2],
        [0.5, 2 / 3, 0, 0, 0], [1, 1, 0, 0, 0],
    ]  # fmt: skip
    assert tensor_util.make_ndarray(value.tensor) == pytest.approx(np.array(expected))


def test_mesh_is_one_event_of_three_values(tmp_path: Path) -> None:
    from tensorboard.plugins.mesh.plugin_data_pb2 import MeshPluginData
    from tensorboard.util import tensor_util

    with summary.create_file_writer(tmp_path).as_default(step=7), tf.name_scope("x"):
        assert summary.mesh("m", POINTS, FACES, COLORS, {"lights": []}, description="d")
    (event,) = events(tmp_path)
    assert event.step == 7
    assert [value.tag for value in event.summary.value] == ["x/m_VERTEX", "x/m_FACE", "x/m_COLOR"]
    given: list[Any] = [POINTS, FACES, COLORS]
    for value, data, kind in zip(event.summary.value, given, (1, 2, 3), strict=True):
        found = tensor_util.make_ndarray(value.tensor)
        assert found.dtype == data.dtype
        assert found.tolist() == data.tolist()
        content = plugin_data(value, MeshPluginData)
        assert (content.name, content.content_type, content.components) == ("x/m", kind, 14)
        assert content.json_config == '{"lights": []}'
        assert value.metadata.summary_description == "d"


def test_custom_scalars(tmp_path: Path) -> None:
    from tensorboard.plugins.custom_scalar.layout_pb2 import Layout

    layout = {"losses": {"both": ["Multiline", ["a", "b"]], "m": ["Margin", ["v", "l", "u"]]}}
    with summary.create_file_writer(tmp_path).as_default(), tf.name_scope("x"):
        assert summary.custom_scalars(layout)
    (event,) = events(tmp_path)
    (value,) = event.summary.value
    assert (event.step, value.tag) == (0, "custom_scalars__config__")
    (category,) = Layout.FromString(value.tensor.string_val[0]).category
    assert category.title == "losses"
    both, margin = category.chart
    assert list(both.multiline.tag) == ["a", "b"]
    assert margin.margin.series[0].lower == "l"


def test_hparams_of_a_run_that_begins(tmp_path: Path) -> None:
    from tensorboard.plugins.hparams.plugin_data_pb2 import HParamsPluginData

    with summary.create_file_writer(tmp_path).as_default(step=9), tf.name_scope("x"):
        assert summary.hparams({"lr": 0.1, "bn": True, "opt": "adam"}, domain={"lr": [0.1, 1.0]})
    (event,) = events(tmp_path)
    experiment, start = event.summary.value
    assert event.step == 0
    assert (experiment.tag, start.tag) == (
        "_hparams_/experiment", "_hparams_/session_start_info",
    )
    assert start.tensor.dtype == 1
    assert [dim.size for dim in start.tensor.tensor_shape.dim] == [0]
    found = plugin_data(start, HParamsPluginData).session_start_info.hparams
    assert found["lr"].number_value == 0.1
    assert found["bn"].bool_value is True
    assert found["opt"].string_value == "adam"
    columns = plugin_data(experiment, HParamsPluginData).experiment.hparam_infos
    assert [(each.name, each.type) for each in columns] == [("lr", 3), ("bn", 2), ("opt", 1)]
    assert [each.number_value for each in columns[0].domain_discrete.values] == [0.1, 1.0]


def test_hparams_with_metrics_end_the_session(tmp_path: Path) -> None:
    from tensorboard.plugins.hparams.plugin_data_pb2 import HParamsPluginData

    with summary.create_file_writer(tmp_path).as_default():
        assert summary.hparams({"lr": 0.1}, {"accuracy": 0.5})
        assert summary.hparams({"lr": 0.1}, {"accuracy": 0.75}, step=20)
    first, scalar, _, second = events(tmp_path)
    assert [value.tag for value in first.summary.value][-1] == "_hparams_/session_end_info"
    end = plugin_data(first.summary.value[-1], HParamsPluginData).session_end_info
    assert end.status == 1
    assert plugin_names([scalar, second]) == ["scalars", "scalars"]
    assert [(scalar.step, first.step), second.step] == [(0, 0), 20]
    assert second.summary.value[0].tag == "accuracy"
    assert decoded.value(second.summary.value[0])["tensor"]["values"] == [0.75]


def test_embedding(tmp_path: Path) -> None:
    from google.protobuf import text_format
    from tensorboard.plugins.projector.projector_config_pb2 import ProjectorConfig

    images = np.zeros((4, 2, 2, 3), np.uint8)
    images[0, :, :, 1] = 100
    with summary.create_file_writer(tmp_path).as_default(step=3), tf.name_scope("x"):
        assert summary.embedding("words", POINTS[0], ["a", "b", "c", "d"], images)
    config = text_format.Parse((tmp_path / "projector_config.pbtxt").read_text(), ProjectorConfig())
    (entry,) = config.embeddings
    assert entry.tensor_name == "x/words:00003"
    assert np.loadtxt(tmp_path / entry.tensor_path).tolist() == POINTS[0].tolist()
    assert (tmp_path / entry.metadata_path).read_text() == "a\nb\nc\nd\n"
    sprite = np.asarray(Image.open(tmp_path / entry.sprite.image_path))
    assert sprite[0, 0].tolist() == [0, 100, 0]
    assert events(tmp_path) == []


def test_an_embedding_lies_beside_the_events_wherever_the_program_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "else").mkdir()
    monkeypatch.chdir(tmp_path)
    with summary.create_file_writer("run").as_default(step=3):
        monkeypatch.chdir("else")
        assert summary.embedding("words", POINTS[0])
    assert (tmp_path / "run" / "projector_config.pbtxt").exists()
    assert list((tmp_path / "else").iterdir()) == []


def test_figure(tmp_path: Path) -> None:
    pyplot = pytest.importorskip("matplotlib.pyplot")
    pyplot.switch_backend("agg")
    drawn = pyplot.figure(figsize=(2, 1), dpi=50, facecolor="red")
    with summary.create_file_writer(tmp_path).as_default(step=1):
        assert summary.figure("f", drawn, close=False)
        assert pyplot.get_fignums()
        assert summary.figure("f", drawn)
        assert not pyplot.get_fignums()
    first, _ = events(tmp_path)
    width, height, png = first.summary.value[0].tensor.string_val
    assert (width, height) == (b"100", b"50")
    assert np.asarray(Image.open(io.BytesIO(png)))[0, 0].tolist() == [255, 0, 0]
    assert plugin_names([first]) == ["images"]


def test_video(tmp_path: Path) -> None:
    frames = np.zeros((1, 3, 4, 6, 3), np.uint8)
    frames[0, 1] = 255
    with summary.create_file_writer(tmp_path).as_default(step=1):
        assert summary.video("v", frames, fps=10)
        assert summary.video("v", frames.transpose(0, 1, 4, 2, 3), dataformats="NTCHW")
    for event in events(tmp_path):
        width, height, data = event.summary.value[0].tensor.string_val
        assert (width, height) == (b"6", b"4")
        found = ImageSequence.Iterator(Image.open(io.BytesIO(data)))
        assert [np.asarray(frame.convert("RGB")).max() for frame in found] == [0, 255, 0]


def test_run_metadata(tmp_path: Path) -> None:
    from tensorboard.compat.proto.config_pb2 import RunMetadata

    data = RunMetadata()
    data.step_stats.dev_stats.add(device="/device:CPU:0")
    with summary.create_file_writer(tmp_path).as_default(step=4):
        assert summary.run_metadata("step4", data)
        assert summary.run_metadata("step4", data.SerializeToString())
        with pytest.raises(TypeError):
            summary.run_metadata("step4", "no message")
    first, second = events(tmp_path)
    for event in (first, second):
        (value,) = event.summary.value
        assert (event.step, value.tag) == (4, "step4")
        assert RunMetadata.FromString(value.tensor.string_val[0]) == data
        assert value.metadata.plugin_data.content == b"1"
    assert plugin_names([first]) == ["graph_run_metadata"]


# The gates, which are those of every summary

Call = Callable[..., Any]
WITH_STEP: dict[str, Call] = {
    "pr_curve": lambda **o: summary.pr_curve(o.pop("name", "a"), [0, 1], [0.2, 0.4], **o),
    "mesh": lambda **o: summary.mesh(o.pop("name", "a"), POINTS, **o),
    "embedding": lambda **o: summary.embedding(o.pop("name", "a"), POINTS[0], **o),
    "video": lambda **o: summary.video(o.pop("name", "a"), np.zeros((1, 1, 2, 2, 1)), **o),
    "run_metadata": lambda **o: summary.run_metadata(o.pop("name", "a"), b"", **o),
}
BAD: dict[str, Call] = {
    "pr_curve": lambda: summary.pr_curve("bad", [0, 1], [0.5], step=1),
    "mesh": lambda: summary.mesh("bad", np.zeros((4, 3)), step=1),
    "embedding": lambda: summary.embedding("bad", np.zeros(3), step=1),
    "embedding images": lambda: summary.embedding("bad", POINTS[0], images=np.zeros(4), step=1),
    "figure": lambda: summary.figure("bad", "no figure", step=1),
    "video": lambda: summary.video("bad", np.zeros((2, 2)), step=1),
    "run_metadata": lambda: summary.run_metadata("bad", b"\xff", step=1),
    "hparams": lambda: summary.hparams({1: 2}),  # type: ignore[dict-item]
    "hparams metric": lambda: summary.hparams({"a": 2}, {"m": "x"}),
    "custom_scalars": lambda: summary.custom_scalars({"a": {"b": ["Margin", ["c"]]}}),
}


@pytest.mark.parametrize("call", WITH_STEP.values(), ids=WITH_STEP)
def test_gates(call: Call, tmp_path: Path) -> None:
    assert call() is False  # no writer
    with pytest.raises(TypeError, match="step"):
        call(step=1.5)
    with summary.create_file_writer(tmp_path).as_default():
        with summary.record_if(False):
            assert call(step=1) is False
        with pytest.raises(ValueError, match="No step set"):
            call()
        with pytest.raises(TypeError, match="name of a summary"):
            call(name=5, step=1)
    assert events(tmp_path) == []
    assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize("call", BAD.values(), ids=BAD)
def test_bad_input_raises_in_the_caller_and_writes_nothing(call: Call, tmp_path: Path) -> None:
    assert call() is False  # without a writer, data are not looked at
    with (
        summary.create_file_writer(tmp_path).as_default(),
        pytest.raises((TypeError, ValueError)),
    ):
        call()
    assert events(tmp_path) == []
    assert len(list(tmp_path.iterdir())) == 1


def test_the_flushing_policy_of_the_writer_counts_them(tmp_path: Path) -> None:
    writer = summary.create_file_writer(tmp_path, max_queue=0)
    with writer.as_default():
        summary.mesh("m", POINTS, step=1)
        assert len(events(tmp_path)) == 1
        summary.hparams({"a": 1})
        assert len(events(tmp_path)) == 2


def test_writers_of_tensorflow_1() -> None:
    from tfevents.compat.v1 import summary as v1

    assert summary.FileWriter is v1.FileWriter
    assert summary.FileWriterCache is v1.FileWriterCache
    with pytest.raises(AttributeError, match="no attribute 'FileWritter'"):
        summary.FileWritter  # noqa: B018
