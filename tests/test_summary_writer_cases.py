"""Where event writers go wrong, and what SummaryWriter writes there, as TensorBoard reads it."""

from __future__ import annotations

import enum
import io
import math
import os
import struct
import subprocess
import sys
import warnings
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image, ImageSequence

from readback import event_files, events, scalars
from tfevents import SummaryWriter


def written(tmp_path: Path, method: str, *args: Any, **kwargs: Any) -> Any:
    """The one value that a call writes."""
    with SummaryWriter(tmp_path) as writer:
        getattr(writer, method)(*args, **kwargs)
    (event,) = events(tmp_path)
    (value,) = event.summary.value
    return value


def pixels(value: Any) -> Any:
    return np.asarray(Image.open(io.BytesIO(value.image.encoded_image_string)))


def array(value: Any) -> Any:
    from tensorboard.util import tensor_util

    return tensor_util.make_ndarray(value.tensor)


def content(value: Any, kind: type[Any]) -> Any:
    return kind.FromString(value.metadata.plugin_data.content)


def refused(tmp_path: Path, kind: Any, match: str, method: str, *args: Any, **kwargs: Any) -> None:
    """A call that raises, and neither writes nor makes anything."""
    with SummaryWriter(tmp_path) as writer:
        before = sorted(tmp_path.rglob("*"))
        with pytest.raises(kind, match=match):
            getattr(writer, method)(*args, **kwargs)
        assert sorted(tmp_path.rglob("*")) == before
        writer.add_scalar("ok", 1, 1)
    assert scalars(tmp_path) == [("ok", 1, 1.0)]


# Scalars and steps


@pytest.mark.parametrize(
    "number", [0.1, 16777217, 123456789, float("inf"), float("-inf"), float("nan"), -0.0]
)
def test_scalars_are_rounded_to_float32_and_nothing_else(number: float, tmp_path: Path) -> None:
    value = written(tmp_path, "add_scalar", "a", number, 0)
    (expected,) = struct.unpack("<f", struct.pack("<f", number))
    assert struct.pack("<f", value.simple_value) == struct.pack("<f", expected)


def test_a_finite_number_beyond_float32_becomes_infinite_with_one_warning(tmp_path: Path) -> None:
    with SummaryWriter(tmp_path) as writer:
        with pytest.warns(UserWarning, match=r"'a'.*float32") as caught:
            writer.add_scalar("a", 1e300, 0)
        assert caught[0].filename == __file__
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            writer.add_scalar("a", -1e300, 1)
    assert [value for _, _, value in scalars(tmp_path)] == [math.inf, -math.inf]


def test_double_precision_is_exact_and_says_that_it_is_a_scalar(tmp_path: Path) -> None:
    value = written(tmp_path, "add_scalar", "a", 0.1, 0, new_style=True, double_precision=True)
    assert (value.tensor.dtype, list(value.tensor.double_val)) == (2, [0.1])
    assert value.metadata.data_class == 1
    assert value.metadata.plugin_data.plugin_name == "scalars"


@pytest.mark.parametrize("step", [-5, 2**40, 2**63 - 1, -(2**63)])
def test_steps_of_64_bits_are_kept(step: int, tmp_path: Path) -> None:
    with SummaryWriter(tmp_path) as writer:
        writer.add_scalar("a", 1, step)
    assert scalars(tmp_path) == [("a", step, 1.0)]


@pytest.mark.parametrize(
    ("step", "kept"),
    [(None, 0), (1.0, 1), (True, 1), (np.int64(7), 7), (np.array(7), 7), (np.array([7]), 7)],
)
def test_steps_that_are_whole_numbers(step: Any, kept: int, tmp_path: Path) -> None:
    with SummaryWriter(tmp_path) as writer:
        writer.add_scalar("a", 1, step)
        writer.add_text("t", "x", step)
    assert [event.step for event in events(tmp_path)] == [kept, kept]


@pytest.mark.parametrize(
    ("step", "kind"),
    [(1.7, ValueError), (2**63, ValueError), (math.nan, ValueError), ("5", TypeError)],
)
@pytest.mark.parametrize("method", ["add_scalar", "add_text", "add_scalars", "add_hparams"])
def test_other_steps_are_refused_in_the_caller(
    step: Any, kind: type[Exception], method: str, tmp_path: Path
) -> None:
    arguments: dict[str, tuple[Any, ...]] = {
        "add_scalar": ("a", 1), "add_text": ("a", "x"), "add_scalars": ("a", {"b": 1}),
        "add_hparams": ({"a": 1}, {"m": 1}),
    }
    refused(tmp_path, kind, "step", method, *arguments[method], global_step=step)


@pytest.mark.parametrize(
    ("data", "number"),
    [
        (3, 3), (True, 1), (np.float16(0.5), 0.5), (np.int64(3), 3), (np.bool_(True), 1),
        (np.array(2.0), 2), (np.array([2.0]), 2), (np.array([[2.0]]), 2), (Fraction(1, 2), 0.5),
        (Decimal("0.5"), 0.5), ([5.0], 5),
    ],
)
def test_anything_with_one_number_is_a_scalar(data: Any, number: float, tmp_path: Path) -> None:
    value = written(tmp_path, "add_scalar", "a", data, 0)
    assert value.simple_value == np.float32(number)


@pytest.mark.parametrize(
    ("given", "number"),
    [(1.5, 1.5), (70000, 70144), (1e38, 9.969209968386869e37), (1e-20, 1.0005576689441423e-20)],
)
def test_bfloat16_is_widened_exactly(given: float, number: float, tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    value = written(tmp_path, "add_scalar", "a", torch.tensor(given, dtype=torch.bfloat16), 0)
    assert value.simple_value == np.float32(number)


@pytest.mark.parametrize(
    "data", ["1.5", "abc", None, {"a": 1}, 1 + 2j, np.array([1, 2]), np.array([]), 10**400]
)
def test_what_is_no_number_is_refused_by_name(data: Any, tmp_path: Path) -> None:
    refused(tmp_path, (TypeError, ValueError), "'the tag'", "add_scalar", "the tag", data, 0)


@pytest.mark.parametrize("walltime", [0, -5.5, 1e18])
def test_a_wall_time_is_kept_exactly(walltime: float, tmp_path: Path) -> None:
    with SummaryWriter(tmp_path) as writer:
        writer.add_scalar("a", 1, 0, walltime)
        writer.add_image("i", np.zeros((1, 2, 2)), 0, walltime)
    assert [event.wall_time for event in events(tmp_path)] == [walltime, walltime]


# Tags


@pytest.mark.parametrize(
    "tag",
    ["ロス/テスト", "acc (top 1)", "cpu %", "/lead", "a:b", "a b", "x" * 2000, "", "../x", "a\0b"],
)
def test_tags_are_kept_as_given(tag: str, tmp_path: Path) -> None:
    logdir = tmp_path / "run"
    with SummaryWriter(logdir) as writer:
        writer.add_scalar(tag, 1, 0)
        writer.add_histogram(tag, [1.0], 0)
        writer.add_image(tag, np.zeros((1, 2, 2)), 0)
        writer.add_text(tag, "x", 0)
        writer.add_audio(tag, np.zeros(3), 0)
    found = [value.tag for event in events(logdir) for value in event.summary.value]
    assert found == [tag, tag, tag, f"{tag}/text_summary", tag]
    assert os.listdir(tmp_path) == ["run"]
    assert len(list(logdir.iterdir())) == 1


@pytest.mark.parametrize(
    ("tag", "kind"), [(None, TypeError), (5, TypeError), (b"by", TypeError), ("\ud800", ValueError)]
)
@pytest.mark.parametrize(
    ("method", "data"),
    [
        ("add_scalar", 1), ("add_histogram", [1.0]), ("add_image", np.zeros((1, 2, 2))),
        ("add_text", "x"), ("add_audio", np.zeros(3)), ("add_mesh", np.zeros((1, 2, 3))),
        ("add_tensor", [1]), ("add_scalars", {"a": 1}),
    ],
)
def test_other_tags_are_refused(
    tag: Any, kind: type[Exception], method: str, data: Any, tmp_path: Path
) -> None:
    refused(tmp_path, kind, "tag", method, tag, data)


def test_text_that_is_no_unicode_is_refused_and_the_next_point_is_kept(tmp_path: Path) -> None:
    refused(tmp_path, ValueError, "t", "add_text", "t", "\ud800", 0)


# Images, video, figures


def test_uint8_levels_are_kept(tmp_path: Path) -> None:
    levels = np.arange(256, dtype=np.uint8).reshape(1, 16, 16)
    found = pixels(written(tmp_path, "add_image", "i", levels, 0))
    assert np.array_equal(found, np.broadcast_to(levels.transpose(1, 2, 0), (16, 16, 3)))


@pytest.mark.parametrize("dataformats", ["NCHW", "NHWC"])
def test_a_uint8_batch_is_kept(dataformats: str, tmp_path: Path) -> None:
    batch = np.full((2, 3, 3, 3), 200, np.uint8)
    found = pixels(written(tmp_path, "add_images", "i", batch, 0, dataformats=dataformats))
    assert found.shape == (3, 6, 3)
    assert (found == 200).all()


NAN, INF = float("nan"), float("inf")


@pytest.mark.filterwarnings("ignore:tag 'i'")
@pytest.mark.parametrize(
    ("data", "levels"),
    [
        ([0, 0.5, 1, 0.999], [0, 127, 255, 254]),
        ([1.5, -0.2, 2, -1], [255, 0, 255, 0]),
        ([NAN, INF, -INF, 0.5], [0, 255, 0, 127]),
        (np.array([0, 1, 128, 255]), [0, 1, 128, 255]),
        (np.array([0, 1, 128, 255], np.uint32), [0, 1, 128, 255]),
        (np.array([-1, 300, 7, 8]), [0, 255, 7, 8]),
        (np.array([True, False, True, False]), [255, 0, 255, 0]),
        (np.array([0, 0.5, 1, 2], np.float16), [0, 127, 255, 255]),
        (np.array([0, 0.5, 1, 2], np.float64), [0, 127, 255, 255]),
    ],
)
def test_levels_of_an_image(data: Any, levels: list[int], tmp_path: Path) -> None:
    picture = np.array(data).reshape(2, 2)
    value = written(tmp_path, "add_image", "i", picture, 0, dataformats="HW")
    assert pixels(value)[:, :, 0].ravel().tolist() == levels


@pytest.mark.parametrize("data", [[-1, 300], [NAN, 0.5]])
def test_a_lossy_image_warns_once_and_numpy_does_not(data: list[Any], tmp_path: Path) -> None:
    picture = np.array([data])
    with SummaryWriter(tmp_path) as writer, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for step in range(3):
            writer.add_image("the tag", picture, step, dataformats="HW")
        writer.flush()
    assert [each.category for each in caught] == [UserWarning]
    assert "'the tag'" in str(caught[0].message)


def test_a_flipped_view_is_flipped(tmp_path: Path) -> None:
    levels = np.arange(6, dtype=np.uint8).reshape(2, 3)
    found = pixels(written(tmp_path, "add_image", "i", levels[::-1, ::-1], 0, dataformats="HW"))
    assert found[:, :, 0].tolist() == [[5, 4, 3], [2, 1, 0]]


@pytest.mark.parametrize("images", [[], [np.zeros((3, 2, 2)), np.zeros((3, 2, 1))]])
def test_a_list_that_is_no_batch_is_refused_by_its_tag(images: list[Any], tmp_path: Path) -> None:
    with SummaryWriter(tmp_path) as writer, pytest.raises(ValueError, match="'the tag'"):
        writer.add_images("the tag", images, 0, dataformats="CHW")


@pytest.mark.parametrize("method", ["add_image", "add_images"])
@pytest.mark.parametrize(("channels", "mode"), [(1, "RGB"), (2, "LA"), (3, "RGB"), (4, "RGBA")])
def test_channels(method: str, channels: int, mode: str, tmp_path: Path) -> None:
    levels = np.array([10, 20, 30, 40], np.uint8)[:channels].reshape(channels, 1, 1)
    data = levels if method == "add_image" else levels[np.newaxis]
    value = written(tmp_path, method, "i", data, 0)
    picture = Image.open(io.BytesIO(value.image.encoded_image_string))
    assert picture.mode == mode
    assert np.asarray(picture)[0, 0].tolist() == (
        [10, 10, 10] if channels == 1 else levels.ravel().tolist()
    )


@pytest.mark.parametrize(
    "shape", [(5, 4, 4), (32, 48, 3), (3, 0, 4), (2, 3, 4, 4), (4,)]
)  # fmt: skip
def test_an_image_of_another_shape_is_refused_by_its_shape(shape: Any, tmp_path: Path) -> None:
    text = str(shape).replace("(", r"\(").replace(")", r"\)")
    refused(tmp_path, ValueError, rf"'bad'.*{text}", "add_image", "bad", np.zeros(shape))


@pytest.mark.parametrize("fps", [1, 4, 30, 50])
def test_a_video_is_a_gif_with_every_frame(fps: int, tmp_path: Path) -> None:
    clip = np.zeros((1, 12, 3, 6, 8), np.uint8)
    clip[0, :, :] = (np.arange(12) // 3 * 60)[:, None, None, None]
    value = written(tmp_path, "add_video", "v", clip, 0, fps=fps)
    assert (value.image.width, value.image.height, value.image.colorspace) == (8, 6, 3)
    assert value.image.encoded_image_string.startswith(b"GIF89a")
    gif = Image.open(io.BytesIO(value.image.encoded_image_string))
    found = [
        (frame.info["duration"], int(np.asarray(frame.convert("RGB")).max()))
        for frame in ImageSequence.Iterator(gif)
    ]
    assert [level for _, level in found] == [index // 3 * 60 for index in range(12)]
    assert sum(duration for duration, _ in found) == pytest.approx(12_000 / fps, abs=12 * 10)


def test_a_video_needs_no_moviepy(tmp_path: Path) -> None:
    code = (
        "import sys, numpy, tfevents; sys.modules['moviepy'] = None\n"
        "with tfevents.SummaryWriter(sys.argv[1]) as w:\n"
        "    w.add_video('v', numpy.zeros((1, 2, 3, 4, 4)))\n"
    )
    command = [sys.executable, "-c", code, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout) == (0, "")
    assert events(tmp_path)[0].summary.value[0].HasField("image")


def test_figures_are_closed_as_asked_and_the_backend_stays(tmp_path: Path) -> None:
    pyplot = pytest.importorskip("matplotlib.pyplot")
    pyplot.switch_backend("svg")
    kept, closed = (pyplot.figure(figsize=(2, 1), dpi=50, facecolor="red") for _ in range(2))
    canvas = kept.canvas
    with SummaryWriter(tmp_path) as writer:
        writer.add_figure("f", kept, 0, close=False)
        writer.add_figure("f", [closed], 1)
    assert pyplot.get_fignums() == [kept.number]
    assert kept.canvas is canvas
    assert pyplot.get_backend() == "svg"
    pyplot.close("all")
    for event in events(tmp_path):
        found = pixels(event.summary.value[0])
        assert found.shape == (50, 100, 3)
        assert found[0, 0].tolist() == [255, 0, 0]


# Histograms, sound, text


@pytest.mark.filterwarnings("ignore:histogram 'h'")
@pytest.mark.parametrize(
    ("data", "numbers"),
    [
        ([3.0] * 100, (3, 3, 100, 300, 900)), ([1, NAN, 2], (1, 2, 2, 3, 5)),
        ([1, INF], (1, 1, 1, 1, 1)), (np.array([0, 255], np.uint8), (0, 255, 2, 255, 65025)),
        ([True, False], (0, 1, 2, 1, 1)), ([[1, 2], [3, 4]], (1, 4, 4, 10, 30)),
        (np.array([2**63, 2**63], np.uint64), (2**63, 2**63, 2, 2**64, 2**127)),
    ],
)
def test_a_histogram_counts_every_finite_number(
    data: Any, numbers: tuple[float, ...], tmp_path: Path
) -> None:
    histo = written(tmp_path, "add_histogram", "h", data, 0).histo
    assert (histo.min, histo.max, histo.num, histo.sum, histo.sum_squares) == numbers
    assert sum(histo.bucket) == histo.num
    assert np.isfinite(histo.bucket_limit).all()


@pytest.mark.parametrize("data", [[], [NAN, INF], "x", [1j]])
def test_what_has_no_distribution_is_refused_by_name(data: Any, tmp_path: Path) -> None:
    refused(tmp_path, (TypeError, ValueError), "'the tag'", "add_histogram", "the tag", data)


@pytest.mark.parametrize(
    ("sound", "samples"),
    [
        ([0, 0.5, -0.5, 1, -1], [0, 16383, -16383, 32767, -32767]),
        (np.array([0, 1000, -1000, 32767, -32768], np.int16), [0, 1000, -1000, 32767, -32768]),
        (np.array([0, 1 << 16, -(1 << 31)], np.int32), [0, 1, -32768]),
        (np.array([0, 128, 255], np.uint8), [-32768, 0, 32512]),
    ],
)
def test_samples(sound: Any, samples: list[int], tmp_path: Path) -> None:
    audio = written(tmp_path, "add_audio", "s", sound, 0, sample_rate=8000).audio
    assert (audio.sample_rate, audio.num_channels, audio.length_frames) == (8000, 1, len(samples))
    assert np.frombuffer(audio.encoded_audio_string[44:], "<i2").tolist() == samples
    assert struct.unpack("<I", audio.encoded_audio_string[24:28]) == (8000,)


def test_loud_sound_is_clipped_with_a_warning_and_nothing_is_printed(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with SummaryWriter(tmp_path) as writer, pytest.warns(UserWarning, match="'s'"):
        writer.add_audio("s", [0.0, 2, -3], 0)
    assert capfd.readouterr() == ("", "")
    data = events(tmp_path)[0].summary.value[0].audio.encoded_audio_string
    assert np.frombuffer(data[44:], "<i2").tolist() == [0, 32767, -32767]


@pytest.mark.parametrize("text", ["naïve 猫 🐈", "a\0b", "", "x" * 5_000_000])
def test_text(text: str, tmp_path: Path) -> None:
    value = written(tmp_path, "add_text", "note", text, 0)
    assert value.tag == "note/text_summary"
    assert list(value.tensor.string_val) == [text.encode()]
    assert [dim.size for dim in value.tensor.tensor_shape.dim] == [1]


@pytest.mark.parametrize("text", [5, {}, [], None, b"x"])
def test_what_is_no_text_is_refused(text: Any, tmp_path: Path) -> None:
    refused(tmp_path, TypeError, "'note'", "add_text", "note", text)


# Hyperparameters


class Kind(enum.Enum):
    """An option of some program."""

    FAST = 1


def session(directory: Path) -> tuple[dict[str, Any], dict[str, int]]:
    """The values and types of hyperparameters, as the plugin of TensorBoard has them."""
    from tensorboard.plugins.hparams.plugin_data_pb2 import HParamsPluginData

    parts = {value.tag: value for event in events(directory) for value in event.summary.value}
    start = content(parts["_hparams_/session_start_info"], HParamsPluginData)
    columns = content(parts["_hparams_/experiment"], HParamsPluginData).experiment.hparam_infos
    found = start.session_start_info.hparams
    values = {name: getattr(found[name], found[name].WhichOneof("kind")) for name in found}
    return values, {column.name: column.type for column in columns}


@pytest.mark.parametrize(
    ("value", "kept", "type_number"),
    [
        (np.int64(3), 3.0, 3), (np.float32(0.5), 0.5, 3), (np.bool_(True), True, 2),
        (True, True, 2), (False, False, 2), ([1, 2], "[1, 2]", 1), ((1, 2), "[1, 2]", 1),
        ({"a": 1}, '{"a": 1}', 1), (Kind.FAST, "FAST", 1), (Path("a/b"), "a/b", 1),
        (np.array(3.0), 3.0, 3), (np.array([2.5]), 2.5, 3), (np.dtype("int8"), "int8", 1),
        ("adam", "adam", 1), (0.1, 0.1, 3), (10**400, str(10**400), 1),
    ],
)
def test_hyperparameters_of_every_type(
    value: Any, kept: Any, type_number: int, tmp_path: Path
) -> None:
    with SummaryWriter(tmp_path) as writer:
        writer.add_hparams({"h": value, "none": None}, {"m": 1}, run_name="run")
    values, types = session(tmp_path / "run")
    assert values == {"h": kept}
    assert type(values["h"]) is type(kept)
    assert types == {"h": type_number}


def test_each_add_hparams_is_a_run_of_its_own_and_loses_nothing(tmp_path: Path) -> None:
    with SummaryWriter(tmp_path) as writer:
        writer.add_scalar("a", 1, 0)
        for index in range(5):
            writer.add_hparams({"lr": index}, {"m": index})
    runs = [path for path in tmp_path.iterdir() if path.is_dir()]
    assert len(runs) == 5
    assert len(event_files(tmp_path)) == 6
    assert sorted(value for run in runs for tag, _, value in scalars(run) if tag == "m") == [
        0, 1, 2, 3, 4,
    ]  # fmt: skip
    assert sorted(session(run)[0]["lr"] for run in runs) == [0, 1, 2, 3, 4]


def test_hparams_in_the_run_itself_lose_nothing(tmp_path: Path) -> None:
    with SummaryWriter(tmp_path) as writer:
        writer.add_scalar("a", 1, 0)
        writer.add_hparams({"lr": 0.5}, {"m": 2}, run_name=".")
    assert len(event_files(tmp_path)) == 1
    assert {tag for tag, _, _ in scalars(tmp_path)} == {
        "a", "_hparams_/experiment", "_hparams_/session_start_info",
        "_hparams_/session_end_info", "m",
    }  # fmt: skip


def test_a_metric_that_is_none_is_left_out_with_a_warning(tmp_path: Path) -> None:
    with SummaryWriter(tmp_path) as writer:
        with pytest.warns(UserWarning, match="'m'"):
            writer.add_hparams({"lr": 1}, {"m": None, "n": 2}, run_name="run")
        writer.add_hparams({"lr": 1}, run_name="no metrics")
    assert ("n", 0, 2.0) in scalars(tmp_path / "run")
    assert "m" not in {tag for tag, _, _ in scalars(tmp_path / "run")}
    assert session(tmp_path / "no metrics")[0] == {"lr": 1.0}


@pytest.mark.parametrize(
    "arguments",
    [({1: 2},), ({"a": 1}, {2: 1}), ({"a": 1}, {"m": "x"}), ([], {}), ({"a": 1}, [1]),
     ({"a": 1}, {}, {"b": [1]}), ({"a": 1}, {}, {"a": ["x"]}), (None, {}), ({"a": 1}, [])],
)  # fmt: skip
def test_hyperparameters_that_are_refused(arguments: Any, tmp_path: Path) -> None:
    kinds = (TypeError, ValueError)
    refused(tmp_path, kinds, "dict|metric|domain|number", "add_hparams", *arguments)


# Curves, meshes, embeddings


@pytest.mark.parametrize(
    ("weights", "tp", "fp"),
    [(None, [2, 2, 0, 0, 0], [2, 1, 1, 1, 0]), ([1, 2, 3, 4], [5, 5, 0, 0, 0], [5, 4, 4, 4, 0])],
)
def test_the_reference_curve(weights: Any, tp: Any, fp: Any, tmp_path: Path) -> None:
    value = written(
        tmp_path, "add_pr_curve", "pr", [0, 1, 1, 0], [0.1, 0.4, 0.35, 0.8], 0, 5, weights
    )
    rows = array(value)
    assert rows.shape == (6, 5)
    assert rows[:2].tolist() == [tp, fp]
    if weights is None:
        assert rows[2:4].tolist() == [[0, 1, 1, 1, 2], [0, 0, 2, 2, 2]]
        assert rows[4] == pytest.approx([0.5, 2 / 3, 0, 0, 0])
        assert rows[5].tolist() == [1, 1, 0, 0, 0]


def test_a_curve_of_any_number_of_thresholds(tmp_path: Path) -> None:
    from tensorboard.plugins.pr_curve.plugin_data_pb2 import PrCurvePluginData

    rng = np.random.default_rng(1)
    with SummaryWriter(tmp_path) as writer:
        writer.add_pr_curve("pr", rng.integers(0, 2, 50), rng.random(50), 0, num_thresholds=200)
        row = np.ones(300)
        writer.add_pr_curve_raw("raw", row, row, row, row, row, row, 1)
    for event, count in zip(events(tmp_path), (200, 300), strict=True):
        (value,) = event.summary.value
        assert array(value).shape == (6, count)
        assert content(value, PrCurvePluginData).num_thresholds == count


@pytest.mark.parametrize(
    ("colors", "faces", "components"),
    [(False, False, 2), (True, False, 10), (False, True, 6), (True, True, 14)],
)
def test_a_mesh_says_which_parts_it_has(
    colors: bool, faces: bool, components: int, tmp_path: Path
) -> None:
    from tensorboard.plugins.mesh.plugin_data_pb2 import MeshPluginData

    points = np.arange(600.0).reshape(1, 200, 3)
    with SummaryWriter(tmp_path) as writer:
        writer.add_mesh(
            "m", points, points % 255 if colors else None,
            np.array([[[0, 1, 2]]]) if faces else None, global_step=3,
        )  # fmt: skip
    (event,) = events(tmp_path)
    found = {value.tag: content(value, MeshPluginData) for value in event.summary.value}
    assert list(found) == ["m_VERTEX", *["m_FACE"] * faces, *["m_COLOR"] * colors]
    assert {each.components for each in found.values()} == {components}
    assert list(found["m_VERTEX"].shape) == [1, 200, 3]
    assert array(event.summary.value[0]).tolist() == points.tolist()


def test_half_a_mesh_is_never_written(tmp_path: Path) -> None:
    points = np.zeros((1, 4, 3))
    refused(tmp_path, ValueError, "'bad'.*colors", "add_mesh", "bad", points, points[:, :3])


def config_of(directory: Path) -> Any:
    from google.protobuf import text_format
    from tensorboard.plugins.projector.projector_config_pb2 import ProjectorConfig

    return text_format.Parse((directory / "projector_config.pbtxt").read_text(), ProjectorConfig())


def test_a_sprite_within_the_limit_of_the_page(tmp_path: Path) -> None:
    images = np.full((1000, 1, 300, 300), 100, np.uint8)
    with SummaryWriter(tmp_path) as writer, pytest.warns(UserWarning, match="8192"):
        writer.add_embedding(np.zeros((1000, 2)), label_img=images)
    (entry,) = config_of(tmp_path).embeddings
    width, height = entry.sprite.single_image_dim
    with Image.open(tmp_path / entry.sprite.image_path) as sprite:
        assert sprite.size == (width * 32, height * 32)
        assert max(sprite.size) <= 8192
        assert sprite.getpixel((0, 0)) == 100


def test_sprites_that_are_not_square(tmp_path: Path) -> None:
    images = np.zeros((4, 3, 2, 5), np.uint8)
    images[3] = 100
    with SummaryWriter(tmp_path) as writer:
        writer.add_embedding(np.zeros((4, 2)), label_img=images)
    (entry,) = config_of(tmp_path).embeddings
    assert list(entry.sprite.single_image_dim) == [5, 2]
    sprite = np.asarray(Image.open(tmp_path / entry.sprite.image_path))
    assert sprite[2:4, 5:10].tolist() == np.full((2, 5, 3), 100).tolist()
    assert sprite[:2].max() == 0


def test_a_restarted_program_keeps_its_embeddings(tmp_path: Path) -> None:
    for tag in ("a", "b", "../../c"):
        with SummaryWriter(tmp_path / "run") as writer:
            writer.add_embedding(np.eye(3), ["x", "y", "z"], global_step=1, tag=tag)
    entries = config_of(tmp_path / "run").embeddings
    assert [entry.tensor_name for entry in entries] == ["a:00001", "b:00001", "../../c:00001"]
    for entry in entries:
        assert np.loadtxt(tmp_path / "run" / entry.tensor_path).tolist() == np.eye(3).tolist()
        assert (tmp_path / "run" / entry.metadata_path).read_text() == "x\ny\nz\n"
    assert os.listdir(tmp_path) == ["run"]


# Graphs that need no framework

OPENVINO = """<?xml version="1.0"?>
<net name="model" version="11"><layers>
<layer id="0" name="x" type="Parameter"><output><port id="0"><dim>-1</dim><dim>4</dim></port>
</output></layer>
<layer id="7" name="enc/w" type="Const"><data element_type="f32"/><output><port id="0">
<dim>4</dim><dim>2</dim></port></output></layer>
<layer id="2" name="enc/mul" type="MatMul"><input><port id="0"/><port id="1"/></input>
<output><port id="2"><dim>-1</dim><dim>2</dim></port></output></layer>
<layer id="3" name="split" type="Split"><input><port id="0"/></input><output><port id="1">
<dim>1</dim></port><port id="2"><dim>1</dim></port></output></layer>
<layer id="4" name="out" type="Result"><input><port id="0"/></input></layer>
</layers><edges>
<edge from-layer="7" from-port="0" to-layer="2" to-port="1"/>
<edge from-layer="0" from-port="0" to-layer="2" to-port="0"/>
<edge from-layer="2" from-port="2" to-layer="3" to-port="0"/>
<edge from-layer="3" from-port="2" to-layer="4" to-port="0"/>
</edges></net>"""


def test_an_openvino_model(tmp_path: Path) -> None:
    from tensorboard.compat.proto.graph_pb2 import GraphDef

    (tmp_path / "model.xml").write_text(OPENVINO)
    with SummaryWriter(tmp_path / "run") as writer:
        writer.add_openvino_graph(tmp_path / "model.xml")
    (event,) = events(tmp_path / "run")
    nodes = {node.name: node for node in GraphDef.FromString(event.graph_def).node}
    assert {name: (node.op, list(node.input)) for name, node in nodes.items()} == {
        "x": ("Parameter", []), "enc/w": ("Const", []), "enc/mul": ("MatMul", ["x", "enc/w"]),
        "split": ("Split", ["enc/mul"]), "out": ("Result", ["split:1"]),
    }  # fmt: skip
    (shape,) = nodes["enc/mul"].attr["_output_shapes"].list.shape
    assert [dim.size for dim in shape.dim] == [-1, 2]


def test_layers_of_one_name_are_all_there(tmp_path: Path) -> None:
    from tfevents.integrations.openvino import openvino_graph

    (tmp_path / "model.xml").write_text(OPENVINO.replace('name="split"', 'name="enc/mul"'))
    graph = openvino_graph(tmp_path / "model.xml")
    assert {node.name: list(node.input) for node in graph.node} == {
        "x": [], "enc/w": [], "enc/mul": ["x", "enc/w"], "enc/mul_3": ["enc/mul"],
        "out": ["enc/mul_3:1"],
    }  # fmt: skip


@pytest.mark.parametrize(
    "text", ["", "no xml", "<net/>", OPENVINO.replace('from-layer="3"', 'from-layer="9"')]
)
def test_a_file_that_is_no_openvino_model(text: str, tmp_path: Path) -> None:
    path = tmp_path.parent / f"{tmp_path.name}.xml"
    path.write_text(text)
    refused(tmp_path, ValueError, "XML|OpenVINO|layer", "add_openvino_graph", path)


# Cost


def test_many_writers_and_sub_runs_share_a_few_threads(tmp_path: Path) -> None:
    import threading

    before = threading.active_count()
    writers = [SummaryWriter(tmp_path / f"w{index}") for index in range(200)]
    for writer in writers:
        writer.add_scalar("a", 1, 0)
    writers[0].add_scalars("s", {f"k{index}": index for index in range(100)}, 0)
    for index in range(100):
        writers[1].add_hparams({"lr": index}, {"m": 1}, run_name=f"r{index}")
    assert threading.active_count() - before <= 4
    for writer in writers:
        writer.close()
    assert len(event_files(tmp_path)) == 400
