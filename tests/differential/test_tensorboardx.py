"""The same calls on tensorboardX's SummaryWriter and on ours; what lies on disk must be equal.

tensorboardX and torch differ in places, and there ours is torch's: `DIFFERENT` says where.
"""

from __future__ import annotations

import inspect
import json
import multiprocessing
import os
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import decoded
import tfevents
from tfevents.compat import tensorboardx as ours

theirs: Any = pytest.importorskip("tensorboardX")
event_pb2: Any = pytest.importorskip("tensorboard.compat.proto.event_pb2")
hparams_pb2: Any = pytest.importorskip("tensorboard.plugins.hparams.plugin_data_pb2")

Call = Callable[[Any], Any]
RNG = np.random.default_rng(20)
NORMAL = RNG.normal(0, 1, 500)
LEVELS = RNG.integers(0, 256, (3, 20, 30), np.uint8)
UNIT = RNG.random((3, 20, 30))
BOXES = np.array([[2.0, 3.0, 20.0, 30.0], [10.0, 5.0, 31.0, 12.5]])
LABELS, SCORES = RNG.integers(0, 2, 100), RNG.random(100)
ROWS = [RNG.random(5) for _ in range(6)]
POINTS = RNG.normal(0, 3, (9, 4)).astype(np.float32)
LAYOUT = {"a": {"b": ["Multiline", ["c", "d"]], "e": ["Margin", ["f", "g", "h"]]}}

SAME: list[Call] = [
    lambda w: w.add_scalar("a", 0.1, 1),
    lambda w: w.add_scalar("a", 3, 1, 12.5),
    lambda w: w.add_scalar("a", [5.0], 1),
    lambda w: w.add_scalar("a", np.array([[2.5]]), 2**40),
    lambda w: w.add_scalar("a/b-c.d", np.float16(0.1)),
    lambda w: w.add_scalar("ロス", 1, 1),
    lambda w: w.add_scalar("a", float("nan"), 1),
    lambda w: w.add_scalar("a", 1, 1, 2.5, "Name", "What *it* is"),
    lambda w: w.add_scalar("a", 1, 1, display_name="Name"),
    lambda w: w.add_scalar("a", 1, 1, summary_description="What"),
    lambda w: w.add_histogram("h", NORMAL, 1),
    lambda w: w.add_histogram("h", NORMAL, 1, "auto", 12.5, 7),
    lambda w: w.add_histogram("h", [1, 2, 2, 5], 1),
    lambda w: w.add_histogram("h", np.array([True, False]), 1),
    lambda w: w.add_histogram("h", np.arange(9, dtype=np.uint8), 1, bins=4),
    lambda w: w.add_histogram_raw("h", 0, 1, 2, 3, 4, [1.0, 2.5], [2, 3], 2, 12.5),
    lambda w: w.add_image("i", LEVELS, 1),
    lambda w: w.add_image("i", UNIT, 1, 12.5, "CHW"),
    lambda w: w.add_image("i", UNIT[:1], 1),
    lambda w: w.add_image("i", UNIT.transpose(1, 2, 0), 1, dataformats="HWC"),
    lambda w: w.add_image("i", LEVELS[0], 1, dataformats="HW"),
    lambda w: w.add_image("i", np.concatenate([LEVELS, LEVELS[:1]]), 1),
    lambda w: w.add_images("i", RNG.integers(0, 256, (9, 1, 2, 3), np.uint8), 1),
    lambda w: w.add_images("i", RNG.integers(0, 256, (3, 4, 2, 3), np.uint8), 1),
    lambda w: w.add_images("i", [UNIT, UNIT / 2], 1, dataformats="CHW"),
    lambda w: w.add_image_with_boxes("b", UNIT, BOXES, 1, 12.5),
    lambda w: w.add_image_with_boxes("b", UNIT, BOXES, 1, 12.5, "CHW", ["cat", "dog"]),
    lambda w: w.add_text("t", "naïve 猫 🐈", 1, 12.5),
    lambda w: w.add_pr_curve("p", LABELS, SCORES, 1, 50, None, 12.5),
    lambda w: w.add_pr_curve("p", LABELS, SCORES, 1, weights=RNG.random(100)),
    lambda w: w.add_pr_curve_raw("p", *ROWS, 1, 5, None, 12.5),
    lambda w: w.add_custom_scalars(LAYOUT),
    lambda w: w.add_custom_scalars_multilinechart(["a", "b"], "c", "d"),
    lambda w: w.add_custom_scalars_marginchart(["a", "b", "c"], title="d"),
    lambda w: w.add_hparams({"a": 1, "b": "c"}, {"m": 0.5}, "name", 0),
    lambda w: w.add_hparams({"a": True}, {"m": 0.5}, name="name"),
    lambda w: w.add_embedding(POINTS),
    lambda w: w.add_embedding(POINTS, list("abcdefghi"), global_step=4, tag="a/b"),
    lambda w: w.add_embedding(POINTS, [(str(i), "x") for i in range(9)],
                              metadata_header=["p", "q"]),
    lambda w: w.add_embedding(POINTS, label_img=RNG.random((9, 3, 5, 5))),
]


def seed_of(call: Call, index: int) -> None:
    """Random data of a call are the same for both."""
    global RNG
    RNG = np.random.default_rng(index)


def written(directory: Path) -> dict[str, Any]:
    found: dict[str, Any] = dict(decoded.runs(directory, event_pb2.Event))
    for events in found.values():
        for value in (value for event in events for value in event.get("values", [])):
            if value.get("plugin_name") == "hparams":
                content = bytes.fromhex(value["plugin_content"])
                value["plugin_content"] = str(hparams_pb2.HParamsPluginData.FromString(content))
            for name in ("sum", "sum_squares"):  # sums depend on the order in which they are made
                if name in value.get("histo", {}):
                    value["histo"][name] = float(f"{float(value['histo'][name]):.10g}")
    for path in sorted(directory.rglob("*")):
        if path.is_file() and "tfevents" not in path.name:
            found[str(path.relative_to(directory))] = projector_file(path)
    return found


def projector_file(path: Path) -> Any:
    if path.suffix == ".png":
        return decoded._png(path.read_bytes())
    if path.suffix == ".pbtxt":
        from google.protobuf import text_format
        from tensorboard.plugins.projector.projector_config_pb2 import ProjectorConfig

        return str(text_format.Parse(path.read_text(), ProjectorConfig()))
    if path.name == "tensors.tsv":
        return np.loadtxt(path, np.float32, delimiter="\t", ndmin=2).tolist()
    return path.read_text()


def outcome(call: Call, kind: type, directory: Path) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with kind(str(directory)) as writer:
            call(writer)
    return written(directory)


@pytest.mark.parametrize("index", range(len(SAME)))
def test_same_as_tensorboardx(index: int, tmp_path: Path) -> None:
    seed_of(SAME[index], index)
    expected = outcome(SAME[index], theirs.SummaryWriter, tmp_path / "theirs")
    seed_of(SAME[index], index)
    found = outcome(SAME[index], tfevents.SummaryWriter, tmp_path / "ours")
    assert found == expected


def value_of(found: dict[str, Any], run: str = ".") -> Any:
    return found[run][-1]["values"][0]


def pixels(found: dict[str, Any]) -> Any:
    return value_of(found)["image"]["encoded_image_string"]["png"]["pixels"][::3]


# (title, why, call, what is looked at, what tensorboardX has, what we have)
DIFFERENT: list[tuple[str, str, Call, Callable[[Any], Any], Any, Any]] = [
    ("tag", "kept as it is", lambda w: w.add_scalar("/acc (top 1)", 1, 1),
     lambda found: value_of(found)["tag"], "acc__top_1_", "/acc (top 1)"),
    ("add_scalars", "torch's directories", lambda w: w.add_scalars("a/b", {"c": 1}, 1),
     max, "a/b/c", "a_b_c"),
    ("wrapped pixels", "clipped",
     lambda w: w.add_image("i", np.array([[1.5, -0.2], [2, -1]]), 1, dataformats="HW"), pixels,
     [126, 205, 254, 1], [255, 0, 255, 0]),
    ("integer image", "integers are levels",
     lambda w: w.add_image("i", np.array([[0, 1], [128, 255]]), 1, dataformats="HW"), pixels,
     [0, 255, 128, 1], [0, 1, 128, 255]),
    ("mesh", "TensorBoard's own tags and components",
     lambda w: w.add_mesh("m", np.zeros((1, 2, 3)), np.zeros((1, 2, 3))),
     lambda found: [each["tag"] for each in found["."][0]["values"]],
     ["m_1", "m_3"], ["m_VERTEX", "m_COLOR"]),
    ("step of hparams", "torch's", lambda w: w.add_hparams({"a": 1}, {"m": 1}, "name", 4),
     lambda found: [event["step"] for event in found["name"]], [0, 0, 0, 4], [4, 4, 4, 4]),
    ("other hparams", "what has a text is a text",
     lambda w: w.add_hparams({"a": [1, 2]}, {}, "name"),
     lambda found: "string_value" in found["name"][1]["values"][0]["plugin_content"],
     False, True),
    ("NaN in a histogram", "the others count",
     lambda w: w.add_histogram("h", np.array([1, np.nan, 2]), 1),
     lambda found: value_of(found)["histo"]["num"], 3.0, 2.0),
    ("128 thresholds and more", "any number",
     lambda w: w.add_pr_curve("p", LABELS, SCORES, 1, 200),
     lambda found: value_of(found)["tensor"]["shape"], [6, 127], [6, 200]),
    ("uint8 sprites", "uint8 are levels",
     lambda w: w.add_embedding(POINTS[:1], label_img=np.full((1, 3, 2, 2), 100, np.uint8)),
     lambda found: found["00000/default/sprite.png"]["pixels"][:1], [255], [100]),
]


@pytest.mark.parametrize("case", DIFFERENT, ids=lambda case: case[0])
def test_different_on_purpose(
    case: tuple[str, str, Call, Callable[[Any], Any], Any, Any], tmp_path: Path
) -> None:
    _, _, call, look, expected, wanted = case
    assert look(outcome(call, theirs.SummaryWriter, tmp_path / "theirs")) == expected
    assert look(outcome(call, tfevents.SummaryWriter, tmp_path / "ours")) == wanted


def test_audio_is_torchs(tmp_path: Path) -> None:
    pytest.importorskip("soundfile")
    sound = np.array([0, 0.5, -0.5, 1, -1, 1 / 3, -1 / 3])
    samples = []
    for kind, name in ((theirs.SummaryWriter, "theirs"), (tfevents.SummaryWriter, "ours")):
        found = outcome(lambda w: w.add_audio("s", sound, 1), kind, tmp_path / name)
        samples.append(value_of(found)["audio"]["encoded_audio_string"]["wav"]["samples"])
    assert samples == [
        [0, 16384, -16384, 32767, -32768, 10922, -10923],
        [0, 16383, -16383, 32767, -32767, 10922, -10922],
    ]


def test_every_argument_has_its_name_here() -> None:
    for name in (each for each in dir(theirs.SummaryWriter) if each[0] != "_"):
        expected = inspect.signature(getattr(theirs.SummaryWriter, name)).parameters
        found = inspect.signature(getattr(tfevents.SummaryWriter, name)).parameters
        assert set(expected) - {"kwargs"} <= set(found), name
        for each in set(expected) - {"kwargs"}:
            default = expected[each].default
            if default is not inspect.Parameter.empty:
                assert found[each].default in (default, None), (name, each)
    made = inspect.signature(tfevents.SummaryWriter).parameters
    assert set(inspect.signature(theirs.SummaryWriter).parameters) - {"kwargs"} <= set(made)


def test_use_metadata(tmp_path: Path) -> None:
    points = []
    for kind, name in ((theirs.SummaryWriter, "theirs"), (tfevents.SummaryWriter, "ours")):
        with kind(str(tmp_path / name)) as writer:
            with writer.use_metadata(global_step=17, walltime=13.0):
                writer.add_scalar("a", 1)
                writer.add_scalar("a", 1, 7)
                writer.add_scalar("a", 1, walltime=18.0)
            writer.add_scalar("a", 1, 5, walltime=1.0)
        (path,) = decoded.event_files(tmp_path / name)
        events = [event_pb2.Event.FromString(data) for data in decoded.records(path)][1:]
        points.append([(event.step, event.wall_time) for event in events])
    assert points[0] == points[1] == [(17, 13.0), (7, 13.0), (17, 18.0), (5, 1.0)]


def test_export_scalars_to_json(tmp_path: Path) -> None:
    tables = []
    for kind, name in ((theirs.SummaryWriter, "theirs"), (tfevents.SummaryWriter, "ours")):
        with kind(str(tmp_path / name)) as writer:
            writer.add_scalars("m", {"a": 1.5, "b": 2}, 3, walltime=4.0)
            writer.export_scalars_to_json(str(tmp_path / f"{name}.json"))
        tables.append(json.loads((tmp_path / f"{name}.json").read_text()))
    assert sorted(tables[0].values()) == sorted(tables[1].values()) == [
        [[4.0, 3, 1.5]], [[4.0, 3, 2.0]],
    ]  # fmt: skip


# Beside the writer


@pytest.mark.parametrize("data", [1.1, 2**63, np.float16(1), np.int64(7), [1, 2], NORMAL])
def test_make_np(data: Any) -> None:
    expected = theirs.x2num.make_np(data)
    found = ours.make_np(data)
    assert found.shape == expected.shape
    assert found.tolist() == expected.tolist()
    with pytest.raises(NotImplementedError):
        theirs.x2num.make_np({"a": 1})
    with pytest.raises(NotImplementedError):
        ours.make_np({"a": 1})


@pytest.mark.parametrize("count", [1, 2, 3, 5, 8])
@pytest.mark.parametrize("channels", [1, 3, 4])
def test_pictures_side_by_side(count: int, channels: int) -> None:
    utils = theirs.utils
    clips = RNG.integers(0, 256, (count, 2, channels, 3, 4), np.uint8)
    assert np.array_equal(ours._prepare_video(clips.copy()), utils._prepare_video(clips.copy()))
    images = clips[:, 0]
    assert np.array_equal(ours.make_grid(images), utils.make_grid(images))
    for data, formats in (
        (images, "NCHW"), (images.transpose(0, 2, 3, 1), "nhwc"), (images[0], "CHW"),
        (images[0, 0], "HW"), (images[0].transpose(2, 1, 0), "WHC"),
    ):  # fmt: skip
        expected = utils.convert_to_HWC(data, formats)
        found = ours.convert_to_HWC(data, formats)
        assert found.dtype == expected.dtype
        assert np.array_equal(found, expected)
    with pytest.raises(ValueError, match="input_format"):
        ours.convert_to_HWC(images, "CHW")
    with pytest.raises(ValueError, match="input_format"):
        ours.convert_to_HWC(images[0], "CHH")


def test_figure_to_image() -> None:
    pyplot = pytest.importorskip("matplotlib.pyplot")
    pyplot.switch_backend("agg")
    figures = [pyplot.figure(figsize=(2, 1), dpi=50, facecolor="red") for _ in range(2)]
    expected = theirs.utils.figure_to_image(figures, close=False)
    assert np.array_equal(ours.figure_to_image(figures, close=False), expected)
    assert np.array_equal(ours.figure_to_image(figures[0]), expected[0])
    assert len(pyplot.get_fignums()) == 1
    pyplot.close("all")


def test_event_file_writer(tmp_path: Path) -> None:
    event = event_pb2.Event(wall_time=3.0, step=4)
    event.summary.value.add(tag="a", simple_value=1)
    writer = ours.EventFileWriter(str(tmp_path), filename_suffix=".x")
    writer.add_event(event)
    writer.flush()
    (path,) = decoded.event_files(tmp_path)
    assert path.endswith(".x")
    assert list(decoded.records(path))[1] == event.SerializeToString()
    writer.close()
    with pytest.raises(OSError, match="closed"):
        writer.add_event(event)
    writer.reopen()
    writer.add_event(event)
    writer.close()
    assert len(decoded.event_files(tmp_path)) == 2


def test_a_global_writer_takes_the_arguments_in_their_order(tmp_path: Path) -> None:
    def arguments(module: Any, run: str) -> list[str]:
        directory = str(tmp_path / run)
        module.GlobalSummaryWriter(directory, "", 3, 10, 60, ".end", True, None).close()
        (name,) = os.listdir(directory)
        kinds = [event["what"] for event in decoded.events(directory, event_pb2.Event)]
        return [name.rpartition(".")[2], *kinds]

    assert arguments(ours, "ours") == arguments(theirs, "theirs")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_global_steps_are_counted_across_processes(tmp_path: Path) -> None:
    context = multiprocessing.get_context("fork")

    def log(writer: Any) -> None:
        for index in range(10):
            writer.add_scalar("a", index)
            time.sleep(0.001)
        writer.flush()

    with ours.GlobalSummaryWriter(str(tmp_path)) as writer:
        writer.add_scalar("a", 0)
        writer.add_text("t", "x")
        writer.add_image("i", LEVELS)
        with pytest.raises(TypeError, match="'a'"):
            writer.add_scalar("a", "x")
        children = [context.Process(target=log, args=(writer,)) for _ in range(3)]
        for child in children:
            child.start()
        for child in children:
            child.join(30)
            assert child.exitcode == 0
        writer.add_scalar("a", 0)
    steps = sorted(
        (event["values"][0]["tag"], event["step"])
        for event in decoded.events(tmp_path, event_pb2.Event)
    )
    assert steps == [("a", step) for step in range(32)] + [("i", 0), ("t/text_summary", 0)]
