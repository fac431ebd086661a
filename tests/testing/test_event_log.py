"""Assertions on logs that TensorBoard's own writer made, and the texts of their failures."""

from __future__ import annotations

import io
import re
import wave
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

import tfevents as tf
from tfevents.summary_writer import SummaryWriter
from tfevents.testing import EventLog

event_pb2 = pytest.importorskip("tensorboard.compat.proto.event_pb2")
summary_pb2 = pytest.importorskip("tensorboard.compat.proto.summary_pb2")
event_file_writer = pytest.importorskip("tensorboard.summary.writer.event_file_writer")

Write = Callable[..., None]


@pytest.fixture
def log(tmp_path: Path) -> EventLog:
    return EventLog(tmp_path)


@pytest.fixture
def write(tmp_path: Path, tensorboards_names_in_order: None) -> Write:
    """Writes (step, value) pairs with TensorBoard's own writer."""

    def write(*points: tuple[int, Any], run: str = ".") -> None:
        writer = event_file_writer.EventFileWriter(str(tmp_path / run))
        for step, value in points:
            event = event_pb2.Event(step=step, wall_time=1.7e9 + step)
            event.summary.value.add().ParseFromString(value.SerializeToString())
            writer.add_event(event)
        writer.close()

    return write


def simple(tag: str, number: float) -> Any:
    return summary_pb2.Summary.Value(tag=tag, simple_value=number)


def losses(tag: str = "train/loss", count: int = 10) -> list[tuple[int, Any]]:
    return [(step, simple(tag, 1 / (step + 1))) for step in range(count)]


def failure(function: Callable[..., Any], *args: Any, **options: Any) -> str:
    with pytest.raises(AssertionError) as caught:
        function(*args, **options)
    return str(caught.value)


# Scalars


@pytest.mark.parametrize(
    ("value", "step", "tolerances"),
    [
        (0.1, None, {}),
        (1 / 3, 2, {}),
        (np.float32(1 / 3), 2, {}),
        (float(np.float32(1 / 3)), 2, {}),
        (np.array([1.0]), 0, {}),
        (0.33, 2, {"abs": 0.01}),
        (0.33, 2, {"rel": 0.02}),
        (0.33, 2, {"rel": 0.02, "abs": 1e-9}),
    ],
)
def test_numbers_that_pass(
    log: EventLog, write: Write, value: Any, step: int | None, tolerances: dict[str, Any]
) -> None:
    write(*losses())
    log.assert_scalar("train/loss", value, step=step, **tolerances)


@pytest.mark.parametrize(
    ("value", "tolerances"),
    [
        (float(np.nextafter(np.float32(1 / 3), np.float32(1))), {}),
        (0.33333, {}),
        (0.33, {"abs": 0.003}),
        (0.33, {"rel": 0.01}),
        (float("nan"), {"abs": 1.0}),
        (float("inf"), {"abs": 1.0}),
    ],
)
def test_numbers_that_fail(
    log: EventLog, write: Write, value: float, tolerances: dict[str, float]
) -> None:
    write(*losses())
    assert "logged 0.33333334" in failure(
        log.assert_scalar, "train/loss", value, step=2, **tolerances
    )


@pytest.mark.parametrize("odd", [float("nan"), float("inf"), float("-inf")])
def test_numbers_that_are_none(log: EventLog, write: Write, odd: float) -> None:
    write((0, simple("x", odd)))
    log.assert_scalar("x", odd)


def test_the_text_about_a_number(log: EventLog, write: Write) -> None:
    write(*losses())
    assert failure(log.assert_scalar, "train/loss", 0.2, step=5, rel=0.01) == (
        "'train/loss' at step 5 in run '.': expected 0.2, logged 0.16666667 (-0.0333, -16.67%)\n"
        "allowed: rel=0.01\n"
        "points around step 5 of 'train/loss' in run '.' (10 in all):\n"
        "    step 2  0.33333334\n"
        "    step 3  0.25\n"
        "    step 4  0.2\n"
        "  > step 5  0.16666667\n"
        "    step 6  0.14285715\n"
        "    step 7  0.125\n"
        "    step 8  0.11111111"
    )


def test_the_text_about_the_last_number(log: EventLog, write: Write) -> None:
    write(*losses(count=2))
    text = failure(log.assert_scalar, "train/loss", 1.0)
    assert text.startswith(
        "'train/loss' at step 1, the last, in run '.': expected 1.0, logged 0.5 (-0.5, -50.00%)\n"
        "allowed: the float32 rounding of the expected value\n"
    )


def test_a_step_that_is_not_there(log: EventLog, write: Write) -> None:
    write(*[(step, value) for step, value in losses() if step != 6])
    text = failure(log.assert_scalar, "train/loss", 0.2, step=6)
    assert text.startswith(
        "'train/loss' in run '.' was not logged at step 6\nits steps: 0..5, 7..9\n"
        "points around step 6 of 'train/loss'"
    )
    assert "step 7  0.125" in text


def test_of_a_repeated_step_the_last_counts(log: EventLog, write: Write) -> None:
    write((0, simple("x", 1.0)), (1, simple("x", 2.0)), (1, simple("x", 3.0)))
    log.assert_scalar("x", 3.0, step=1)
    log.assert_scalars("x", {0: 1.0, 1: 3.0})
    log.assert_scalars("x", [1.0, 2.0, 3.0])
    assert "logged more than once" in failure(log.assert_scalar, "x", 2.0, step=1)


def test_a_value_that_is_no_number_is_the_callers_fault(log: EventLog) -> None:
    with pytest.raises(TypeError, match="'x'"):
        log.assert_scalar("x", "much")


@pytest.mark.parametrize(
    ("expected", "text"),
    [
        ([1.0, 0.5], None),
        (np.array([1.0, 0.5], np.float32), None),
        ({0: 1.0, 1: 0.5}, None),
        ([1.0], "expected 1 points, logged 2"),
        ([1.0, 0.5, 0.1], "expected 3 points, logged 2"),
        ([1.0, 0.4], "point 1, step 1: expected 0.4, logged 0.5 (+0.1, +25.00%)"),
        ({0: 1.0}, "unexpected steps: 1"),
        ({0: 1.0, 1: 0.5, 2: 0.1, 3: 0.1, 4: 0.1}, "steps not logged: 2..4"),
        ({0: 0.0, 1: 0.5}, "step 0: expected 0.0, logged 1.0 (+1)"),
    ],
)
def test_whole_series(log: EventLog, write: Write, expected: Any, text: str | None) -> None:
    write(*losses(count=2))
    if text is None:
        log.assert_scalars("train/loss", expected)
        return
    lines = failure(log.assert_scalars, "train/loss", expected).splitlines()
    assert lines[0] == "'train/loss' in run '.' is not what was expected:"
    assert lines[1] == text


ZIGZAG = [5.0, 6.0, 3.0, 4.0, 1.0, 2.0]  # falls, if seen through a window of two


def test_trends(log: EventLog, write: Write) -> None:
    write(*[(step, simple("zigzag", value)) for step, value in enumerate(ZIGZAG)])
    write(*[(step, simple("rising", float(step))) for step in range(4)])
    write(*[(step, simple("flat", 1.0)) for step in range(4)])
    log.assert_decreasing("zigzag", window=2)
    log.assert_increasing("rising")
    log.assert_increasing("flat", strict=False)
    failure(log.assert_increasing, "flat")
    failure(log.assert_decreasing, "rising", window=3)
    assert failure(log.assert_decreasing, "zigzag").startswith(
        "'zigzag' in run '.' is not decreasing:\n"
        "step 0: 5, then step 1: 6 (+1)\n"
        "step 2: 3, then step 3: 4 (+1)\n"
        "step 4: 1, then step 5: 2 (+1)\n"
        "points around step 1"
    )
    assert "mean of steps 0 to 3: 4.5, then mean of steps 1 to 4: 3.5 (-1)" in failure(
        log.assert_increasing, "zigzag", window=4
    )
    assert "at least 7 points, logged 6" in failure(log.assert_decreasing, "zigzag", window=6)
    with pytest.raises(ValueError, match="window"):
        log.assert_decreasing("zigzag", window=0)


def test_a_trend_is_by_step_and_not_by_file(log: EventLog, write: Write) -> None:
    write((2, simple("x", 1.0)), (0, simple("x", 3.0)), (1, simple("x", 2.0)))
    log.assert_decreasing("x")


def test_a_trend_through_nan_is_none(log: EventLog, write: Write) -> None:
    write((0, simple("x", 3.0)), (1, simple("x", float("nan"))), (2, simple("x", 1.0)))
    failure(log.assert_decreasing, "x", strict=False)


def test_finite(log: EventLog, write: Write) -> None:
    write(*losses())
    log.assert_finite()
    write((3, simple("x", 1.0)), (4, simple("x", float("nan"))), (5, simple("x", float("inf"))))
    log.assert_finite("train/loss")
    lines = failure(log.assert_finite).splitlines()
    assert lines[:2] == [
        "'x' in run '.' is inf, nan at steps 4, 5",
        "  points around step 4 of 'x' in run '.' (3 in all):",
    ]
    assert not any("train/loss" in line for line in lines)


def test_nothing_is_not_finite(log: EventLog) -> None:
    assert "no scalars" in failure(log.assert_finite)


# Tags, steps, runs


def test_tags(log: EventLog, write: Write) -> None:
    write(*losses(), (0, simple("lr", 0.1)))
    log.assert_tags({"lr", "train/loss"})
    log.assert_tags(["lr", "train/loss"], kind="scalars")
    log.assert_tags([], kind="images")
    assert failure(log.assert_tags, {"loss", "lr"}).splitlines() == [
        "the tags are not as expected:",
        "not logged: 'loss'; did you mean 'train/loss'?",
        "unexpected: 'train/loss' (scalars)",
        "scalars of run '.': 'lr', 'train/loss'",
    ]
    with pytest.raises(ValueError, match=r"one of scalars, images.*did you mean 'scalars'"):
        log.assert_tags({"lr"}, kind="scalar")
    with pytest.raises(ValueError, match=r"one of scalars, images.*did you mean 'scalars'"):
        log.assert_steps("lr", [0], kind="scalar")
    with pytest.raises(TypeError, match="'lr'"):
        log.assert_tags("lr")


@pytest.mark.parametrize(
    ("asked", "meant"),
    [
        ("loss", "'train/loss'"),
        ("train/los", "'train/loss'"),
        ("Train/Loss", "'train/loss'"),
        ("model/train/loss", "'train/loss'"),
        ("accuracy", None),
    ],
)
def test_near_tags(log: EventLog, write: Write, asked: str, meant: str | None) -> None:
    write(*losses())
    hint = f"; did you mean {meant}?" if meant else ""
    assert failure(log.scalars, asked) == (
        f"no scalar tag {asked!r} in run '.'{hint}\nscalars of run '.': 'train/loss'"
    )


def test_a_tag_of_another_kind(log: EventLog, write: Write) -> None:
    write(*losses())
    assert failure(log.assert_image, "train/loss", [[0]]).startswith(
        "no image tag 'train/loss' in run '.'; it is among scalars"
    )


def test_a_record_that_is_still_being_written_is_forgiven_when_it_is_complete(
    log: EventLog, write: Write, tmp_path: Path
) -> None:
    write(*losses())
    (path,) = tmp_path.glob("*tfevents*")
    data = path.read_bytes()
    path.write_bytes(data[:-4])
    assert "truncated" in failure(log.assert_no_notices)
    path.write_bytes(data)
    log.assert_no_notices()


def test_steps(log: EventLog, write: Write) -> None:
    write(*losses(count=4))
    log.assert_steps("train/loss", range(4))
    log.assert_steps("train/loss", [0, 1, 2, 3])
    assert failure(log.assert_steps, "train/loss", range(2, 20, 3)).splitlines() == [
        "steps of 'train/loss' in run '.':",
        "expected 2..17 by 3",
        "logged   0..3",
        "not logged: 5..17 by 3",
        "unexpected: 0, 1, 3",
    ]
    assert "another order" in failure(log.assert_steps, "train/loss", [3, 2, 1, 0])
    assert "no tag 'loss' in run '.'; did you mean" in failure(log.assert_steps, "loss", [0])


def test_runs(log: EventLog, write: Write) -> None:
    write(*losses("loss"), run="train")
    write(*losses("loss"), (0, simple("accuracy", 0.5)), run="validation")
    log.assert_scalar("accuracy", 0.5)
    log.assert_scalar("loss", 0.1, run="train")
    log.assert_tags({"loss"}, run="train")
    assert sorted(log.runs) == ["train", "validation"]
    assert log.tags()["scalars"] == ["accuracy", "loss"]
    assert failure(log.assert_scalar, "loss", 0.1) == (
        "scalar tag 'loss' in 2 runs: 'train', 'validation'; say which, with run="
    )
    assert failure(log.assert_scalar, "loss", 0.1, run="trian") == (
        "no run 'trian'; did you mean 'train'?\nruns: 'train', 'validation'"
    )


# Plain access


def test_plain_access(log: EventLog, write: Write) -> None:
    write(*losses())
    series = log.scalars("train/loss")
    assert series.values[-1] == pytest.approx(0.1)
    assert series.values == pytest.approx([1 / step for step in range(1, 11)])
    assert series.steps.tolist() == list(range(10))
    assert repr(series) == (
        "<Series 'train/loss': 10 points, steps 0..9: 1.0, 0.5, 0.33333334, 0.25, …, "
        "0.14285715, 0.125, 0.11111111, 0.1>"
    )
    assert log.describe().splitlines()[0] == "run '.'"


def test_a_log_that_grows_is_read_on(log: EventLog, write: Write) -> None:
    write(*losses(count=1))
    log.assert_steps("train/loss", [0])
    write((1, simple("train/loss", 0.5)))
    log.assert_steps("train/loss", [0, 1])


def test_a_single_file(log: EventLog, write: Write, tmp_path: Path) -> None:
    write(*losses())
    (path,) = tmp_path.iterdir()
    EventLog(path).assert_steps("train/loss", range(10))


@pytest.mark.parametrize("name", ["", "never made"])
def test_an_empty_log(tmp_path: Path, name: str) -> None:
    log = EventLog(tmp_path / name)
    assert log.runs == {}
    assert failure(log.scalars, "loss") == (
        f"no scalar tag 'loss'\nnothing was logged: there is no event file in {tmp_path / name}"
    )


def test_a_file_without_events(log: EventLog, write: Write) -> None:
    write()
    assert "no values in the 1 event file" in failure(log.scalars, "loss")
    assert "have to be flushed" in failure(log.scalars, "loss")


# Notices


def test_notices(log: EventLog, write: Write, tmp_path: Path) -> None:
    write(*losses())
    log.assert_no_notices()
    (path,) = tmp_path.iterdir()
    data = bytearray(path.read_bytes())
    data[-5] ^= 1  # in the last event
    path.write_bytes(data)
    broken = EventLog(tmp_path)
    text = failure(broken.assert_no_notices)
    assert text.startswith(
        f"the reader has 1 notice about {tmp_path}:\nreader notice: bad-checksum:"
    )
    assert str(path) in text
    assert "reader notice: bad-checksum" in failure(broken.assert_scalar, "train/loss", 0.1, step=9)


def test_a_value_that_cannot_be_decoded_is_a_notice(log: EventLog, write: Write) -> None:
    value = summary_pb2.Summary.Value(tag="text")
    value.metadata.plugin_data.plugin_name = "text"
    value.tensor.dtype = 1  # DT_FLOAT
    value.tensor.float_val.append(1.0)
    write((0, value))
    assert "bad-message" in failure(log.assert_no_notices)
    assert "could be read" in failure(log.assert_text, "text", "hello")


# Images


PIXELS = np.arange(2 * 3 * 3, dtype=np.uint8).reshape(2, 3, 3) * 14


def picture(pixels: np.ndarray[Any, Any], tag: str = "picture") -> Any:
    buffer = io.BytesIO()
    Image.fromarray(pixels).save(buffer, "PNG")
    value = summary_pb2.Summary.Value(tag=tag)
    value.image.height, value.image.width = pixels.shape[:2]
    value.image.colorspace = 3
    value.image.encoded_image_string = buffer.getvalue()
    return value


@pytest.mark.parametrize(
    "array",
    [
        PIXELS,
        PIXELS[None],
        PIXELS.transpose(2, 0, 1),
        PIXELS.astype(np.int64),
        PIXELS.tolist(),
        PIXELS / 255,
        (PIXELS / 255).astype(np.float32),
    ],
)
def test_images(log: EventLog, write: Write, array: Any) -> None:
    write((3, picture(PIXELS)))
    log.assert_image("picture", array)
    log.assert_image("picture", array, step=3)


def test_gray_images(log: EventLog, write: Write) -> None:
    gray = PIXELS[:, :, 0]
    write((0, picture(gray, "gray")), (0, picture(np.stack([gray] * 3, axis=2), "as RGB")))
    write((0, picture((gray > 100) * np.uint8(255), "mask")))
    for tag in ("gray", "as RGB"):
        log.assert_image(tag, gray)
        log.assert_image(tag, gray[:, :, None])
    log.assert_image("mask", gray > 100)


def test_images_that_differ(log: EventLog, write: Write) -> None:
    write((3, picture(PIXELS)))
    other = PIXELS.copy()
    other[1, 2, 0] += 5
    log.assert_image("picture", other, atol=5)
    log.assert_image("picture", other / 255, atol=5 / 255)
    assert failure(log.assert_image, "picture", other, atol=4) == (
        "'picture' at step 3, the last, in run '.':\n"
        "1 of 18 numbers differ by more than 4; most at n=0, h=1, w=2, c=0:\n"
        "expected 215\n"
        "logged   210\n"
        "steps logged: 3"
    )
    failure(log.assert_image, "picture", other)
    failure(log.assert_image, "picture", other / 255)
    text = failure(log.assert_image, "picture", PIXELS[:, :2])
    assert "expected shape (2, 2, 3)\nlogged   shape (2, 3, 3) [h, w, c], 1 of them" in text


# Audio


SAMPLES = np.array([0, 16384, -32768, 32767, 1], np.int16)


def sound(samples: np.ndarray[Any, Any], rate: int) -> Any:
    buffer = io.BytesIO()
    with wave.open(buffer, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(rate)
        file.writeframes(samples.astype("<i2").tobytes())
    value = summary_pb2.Summary.Value(tag="sound")
    value.audio.sample_rate = rate
    value.audio.num_channels = 1
    value.audio.encoded_audio_string = buffer.getvalue()
    value.audio.content_type = "audio/wav"
    return value


@pytest.mark.parametrize(
    "samples",
    [
        SAMPLES,
        SAMPLES[:, None],
        SAMPLES[None],
        SAMPLES[None, :, None],
        [0.0, 0.5, -1.0, 1.0, 0.0],  # cut and rounded to 16 bits
        np.array([0.0, 0.5, -2.0, 2.0, 0.0], np.float32),
    ],
)
def test_audio(log: EventLog, write: Write, samples: Any) -> None:
    write((0, sound(SAMPLES, 8000)))
    log.assert_audio("sound", samples)
    log.assert_audio("sound", samples, rate=8000, step=0)


def test_audio_that_differs(log: EventLog, write: Write) -> None:
    write((0, sound(SAMPLES, 8000)))
    other = SAMPLES + np.array([0, 0, 0, 0, 2], np.int16)
    log.assert_audio("sound", other, atol=2)
    assert "1 of 5 numbers differ" in failure(log.assert_audio, "sound", other)
    assert "k=0, t=4, c=0" in failure(log.assert_audio, "sound", other, atol=1)
    failure(log.assert_audio, "sound", [0.0, 0.5, -1.0, 1.0, 0.001])
    log.assert_audio("sound", [0.0, 0.5, -1.0, 1.0, 0.001], atol=0.01)
    assert "expected rate 44100 Hz\nlogged   rate 8000 Hz" in failure(
        log.assert_audio, "sound", SAMPLES, rate=44100
    )
    assert "expected shape (4,)" in failure(log.assert_audio, "sound", SAMPLES[:4])


# Texts


def test_texts(log: EventLog, write: Write) -> None:
    value = summary_pb2.Summary.Value(tag="note/text_summary")
    value.metadata.plugin_data.plugin_name = "text"
    value.tensor.dtype = 7  # DT_STRING
    value.tensor.string_val.append("Größe: 3".encode())
    value.tensor.tensor_shape.dim.add(size=1)
    write((0, value))
    for tag in ("note", "note/text_summary"):
        log.assert_text(tag, "Größe: 3")
        log.assert_text(tag, ["Größe: 3"])
        log.assert_text(tag, re.compile(r"\d$"))
    assert "expected 'Größe: 4'\nlogged   'Größe: 3'" in failure(
        log.assert_text, "note", "Größe: 4"
    )
    failure(log.assert_text, "note", "Größe")
    failure(log.assert_text, "note", ["Größe: 3", "Größe: 3"])
    assert "expected a match of '^3'" in failure(log.assert_text, "note", re.compile("^3"))


# Histograms


def buckets_by_hand() -> Any:
    """Of 1, 2, 2, 3, 10: sums are exact, however the buckets lie."""
    value = summary_pb2.Summary.Value(tag="weights")
    histo = value.histo
    histo.min, histo.max, histo.num, histo.sum, histo.sum_squares = 1, 10, 5, 18, 118
    histo.bucket_limit.extend([1, 2.5, 5, 10])
    histo.bucket.extend([1, 2, 1, 1])
    return value


def test_histograms(log: EventLog, write: Write) -> None:
    write((0, buckets_by_hand()))
    log.assert_histogram("weights", like=[10, 1, 2, 3, 2])
    log.assert_histogram("weights", like=[[9, 1, 2], [2, 3, float("nan")]])
    log.assert_histogram("weights", mean=3.6, std=np.std([1, 2, 2, 3, 10]), step=0)
    log.assert_histogram("weights", mean=3.5, abs=0.2)
    assert "expected mean 3.5\nlogged   mean 3.6" in failure(
        log.assert_histogram, "weights", mean=3.5
    )
    assert "std" in failure(log.assert_histogram, "weights", mean=3.6, std=3.0)
    assert "expected 4 values\nlogged   5 values" in failure(
        log.assert_histogram, "weights", like=[1, 2, 2, 3]
    )
    assert (
        "2 of 4 buckets differ; the first reaches from 1.0 to 2.5:\n"
        "expected 1 values there, 2 up to its end\n"
        "logged   2 values there, 3 up to its end"
    ) in failure(log.assert_histogram, "weights", like=[1, 2, 6, 7, 10])
    assert "below the first bucket" in failure(
        log.assert_histogram, "weights", like=[0, 1, 2, 2, 3]
    )
    with pytest.raises(TypeError, match="like=, mean= or std="):
        log.assert_histogram("weights")


def test_histograms_of_buckets_only(log: EventLog, tmp_path: Path) -> None:
    """Sums are not stored: the mean is known as well as the buckets are narrow."""
    samples = np.random.default_rng(0).normal(3.0, 2.0, 10_000)
    with tf.summary.create_file_writer(str(tmp_path)).as_default():
        tf.summary.histogram("weights", samples, step=0)
    log.assert_histogram("weights", like=samples, mean=samples.mean(), std=samples.std())
    failure(log.assert_histogram, "weights", mean=samples.mean() + 0.5)
    failure(log.assert_histogram, "weights", like=samples + 0.5)


# Hyperparameters, and our own writers without a flush


def test_hparams(log: EventLog, tmp_path: Path) -> None:
    writer = SummaryWriter(tmp_path)
    writer.add_hparams({"lr": 0.1, "batch": 32, "adam": True, "name": "a"}, {"loss": 0.5})
    log.assert_hparams({"lr": 0.1, "batch": 32, "adam": True, "name": "a"})
    log.assert_scalar("loss", 0.5)
    assert log.hparams() == {"lr": 0.1, "batch": 32.0, "adam": True, "name": "a"}
    assert failure(log.assert_hparams, {"Lr": 0.1, "batch": 33, "adam": 1, "name": "a"}) == (
        "the hyperparameters are not as expected:\n"
        "not logged: 'Lr'; did you mean 'lr'?\n"
        "unexpected: 'lr': 0.1\n"
        "'adam': expected 1, logged True\n"
        "'batch': expected 33, logged 32.0\n"
        "logged: adam=True, batch=32.0, lr=0.1, name='a'"
    )
    writer.close()


def test_no_hparams(log: EventLog) -> None:
    assert failure(log.assert_hparams, {}).startswith("no run has hyperparameters\n")


def test_our_writers_are_flushed_first(log: EventLog, tmp_path: Path) -> None:
    writer = SummaryWriter(tmp_path / "mine")
    for step in range(3):
        writer.add_scalar("loss", step, step)
        log.assert_scalar("loss", step)
    writer.close()


def test_a_fault_of_another_log_is_not_ours(log: EventLog, tmp_path: Path, write: Write) -> None:
    write(*losses())
    other = SummaryWriter(tmp_path.parent / f"{tmp_path.name} elsewhere")
    assert other.file_writer is not None
    (path,) = Path(other.get_logdir()).iterdir()
    path.unlink()
    path.parent.rmdir()
    other.add_scalar("lost", 1.0, 0)
    log.assert_scalar("train/loss", 0.1)
    with pytest.raises(OSError, match="cannot write events"):
        other.close()
