"""Each example runs as a user would run it; TensorBoard's own reader judges what it wrote."""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
import wave
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

event_accumulator = pytest.importorskip(
    "tensorboard.backend.event_processing.event_accumulator", reason="tensorboard judges"
)
tensor_util = pytest.importorskip("tensorboard.util.tensor_util")

EXAMPLES = Path(__file__).parent.parent / "examples"
EPOCHS = 3
STEPS_AN_EPOCH = 45  # 1,438 training digits (four fifths of 1,797) in minibatches of 32


def run_example(name: str, *arguments: str, cwd: Path) -> str:
    command = [sys.executable, str(EXAMPLES / name), *arguments]
    done = subprocess.run(
        command, cwd=cwd, capture_output=True, text=True, timeout=240, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def load(run: Path) -> Any:
    """All points of one run; size 0 means that nothing is sampled away."""
    accumulator = event_accumulator.EventAccumulator(str(run), size_guidance={"tensors": 0})
    return accumulator.Reload()


def plugins(run: Any) -> dict[str, str]:
    return {
        tag: run.SummaryMetadata(tag).plugin_data.plugin_name
        for tag in run.Tags()["tensors"]
        if tag in run.summary_metadata
    }


def steps(run: Any, tag: str) -> list[int]:
    return [event.step for event in run.Tensors(tag)]


def arrays(run: Any, tag: str) -> list[np.ndarray[Any, Any]]:
    return [tensor_util.make_ndarray(event.tensor_proto) for event in run.Tensors(tag)]


def picture_sizes(value: np.ndarray[Any, Any]) -> set[tuple[int, int]]:
    """The sizes of the decoded PNGs of one point, after checking the size logged with them."""
    logged = (int(value[0]), int(value[1]))
    pictures = [Image.open(io.BytesIO(png)) for png in value[2:]]
    for picture in pictures:
        picture.load()
        assert picture.format == "PNG"
        assert picture.size == logged
    return {picture.size for picture in pictures}


@pytest.fixture(scope="module")
def quickstart(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """Log directory and printed text of one short run."""
    folder = tmp_path_factory.mktemp("quickstart")
    arguments = ("--logdir", "logs", "--epochs", str(EPOCHS), "--seed", "1")
    return folder / "logs", run_example("quickstart.py", *arguments, cwd=folder)


def test_digits_file() -> None:
    # The class counts are those that UCI states for its test part.
    with np.load(EXAMPLES / "data" / "digits.npz") as data:
        images, labels = data["images"], data["labels"]
    assert (images.shape, images.dtype, images.min(), images.max()) == ((1797, 8, 8), "u1", 0, 16)
    assert labels.dtype == np.uint8
    assert np.bincount(labels).tolist() == [178, 182, 177, 183, 181, 182, 181, 179, 174, 180]
    assert (EXAMPLES / "data" / "digits.npz").stat().st_size < 60_000


def test_quickstart_tags(quickstart: tuple[Path, str]) -> None:
    logdir, _ = quickstart
    parameters = [
        f"{layer}/{kind}" for layer in ("hidden", "output") for kind in ("kernel", "bias")
    ]
    epoch = {"epoch/loss": "scalars", "epoch/accuracy": "scalars"}
    assert sorted(path.name for path in logdir.iterdir()) == ["train", "validation"]
    assert plugins(load(logdir / "train")) == {
        **epoch,
        "batch/loss": "scalars",
        "batch/learning_rate": "scalars",
        "batch/gradient_norm": "scalars",
        **{f"weights/{name}": "histograms" for name in parameters},
        **{f"gradients/{name}": "histograms" for name in parameters},
        "configuration": "text",
        "inputs": "images",
        "loss": "audio",
    }
    validation = {**epoch, "confusion": "images", "mistakes": "images"}
    assert plugins(load(logdir / "validation")) == validation


def test_quickstart_steps(quickstart: tuple[Path, str]) -> None:
    train = load(quickstart[0] / "train")
    by_epoch = [STEPS_AN_EPOCH * (epoch + 1) for epoch in range(EPOCHS)]
    assert steps(train, "batch/loss") == list(range(1, by_epoch[-1] + 1))
    assert steps(train, "epoch/loss") == by_epoch
    assert steps(train, "weights/hidden/kernel") == by_epoch
    assert steps(load(quickstart[0] / "validation"), "confusion") == by_epoch


def test_quickstart_prints_what_it_logged(quickstart: tuple[Path, str]) -> None:
    logdir, printed = quickstart
    validation = load(logdir / "validation")
    accuracy = float(arrays(validation, "epoch/accuracy")[-1])
    found = re.search(r"final validation accuracy (\S+)", printed)
    assert found is not None
    assert float(found[1]) == pytest.approx(accuracy, abs=5e-5)
    assert accuracy > 0.9
    losses = [float(loss) for loss in arrays(validation, "epoch/loss")]
    table = re.findall(r"^ +(\d+) +\S+ +\S+ +(\S+) +\S+$", printed, re.MULTILINE)
    assert [int(step) for step, _ in table] == steps(validation, "epoch/loss")
    assert [float(loss) for _, loss in table] == pytest.approx(losses, abs=5e-5)
    assert printed.splitlines()[-1] == "tensorboard --logdir logs"


def test_quickstart_histograms_count_every_weight(quickstart: tuple[Path, str]) -> None:
    train = load(quickstart[0] / "train")
    for tag in ("weights/hidden/kernel", "gradients/hidden/kernel"):
        for buckets in arrays(train, tag):
            assert buckets.shape == (30, 3)
            assert buckets[:, 2].sum() == 64 * 64


@pytest.mark.parametrize(
    ("run", "tag", "count", "size"),
    [
        ("train", "inputs", 10, (64, 64)),
        ("validation", "confusion", 1, (470, 470)),
        ("validation", "mistakes", 1, (480, 306)),
    ],
)
def test_quickstart_images(
    quickstart: tuple[Path, str], run: str, tag: str, count: int, size: tuple[int, int]
) -> None:
    for value in arrays(load(quickstart[0] / run), tag):
        assert len(value) == 2 + count
        assert picture_sizes(value) == {size}


def test_quickstart_draws_a_dark_diagonal(quickstart: tuple[Path, str]) -> None:
    png = arrays(load(quickstart[0] / "validation"), "confusion")[-1][2]
    pixels = np.asarray(Image.open(io.BytesIO(png)).convert("L"), float)
    cells = pixels[60:460, 60:460].reshape(10, 40, 10, 40).mean(axis=(1, 3))
    off_diagonal = cells[~np.eye(10, dtype=bool)]
    assert np.diag(cells).max() < 120 < np.median(off_diagonal)


def test_quickstart_audio(quickstart: tuple[Path, str]) -> None:
    (value,) = arrays(load(quickstart[0] / "train"), "loss")
    with wave.open(io.BytesIO(value[0, 0])) as clip:
        assert (clip.getnchannels(), clip.getsampwidth(), clip.getframerate()) == (1, 2, 16_000)
        samples = np.frombuffer(clip.readframes(clip.getnframes()), "<i2")
    assert len(samples) == 4 * 16_000
    # The tone swings to 0.4 of full scale, and falls with the loss: fewer zero crossings.
    assert np.abs(samples).max() == pytest.approx(0.4 * 32768, rel=0.01)
    crossings = np.diff(np.signbit(samples)).reshape(-1)
    assert crossings[:16_000].sum() > 2 * crossings[-16_000:].sum()


def test_quickstart_configuration(quickstart: tuple[Path, str]) -> None:
    (value,) = arrays(load(quickstart[0] / "train"), "configuration")
    lines = value.item().decode().splitlines()
    assert lines[:2] == ["| setting | value |", "|---|---|"]
    assert {f"| epochs | {EPOCHS} |", "| seed | 1 |"} < set(lines)


def test_quickstart_keeps_runs_apart(tmp_path: Path) -> None:
    arguments = ("--logdir", "logs", "--epochs", "1")
    run_example("quickstart.py", *arguments, cwd=tmp_path)
    second = run_example("quickstart.py", *arguments, cwd=tmp_path)
    assert second.splitlines()[-1] == "tensorboard --logdir logs-2"
    for logdir in (tmp_path / "logs", tmp_path / "logs-2"):
        assert steps(load(logdir / "validation"), "epoch/loss") == [STEPS_AN_EPOCH]


def test_quickstart_fails_when_the_log_disagrees(tmp_path: Path) -> None:
    tampered = (
        "import sys, quickstart; train = quickstart.train_and_log;"
        "quickstart.train_and_log = lambda *a: train(*a) + 0.001; sys.exit(quickstart.main())"
    )
    command = [sys.executable, "-c", tampered, "--logdir", "logs", "--epochs", "1"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(EXAMPLES), *sys.path])}
    done = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert "the log does not say what was trained" in done.stderr


@pytest.fixture(scope="module")
def listings(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    folder = tmp_path_factory.mktemp("tf_summary")
    return folder / "logs", run_example("tf_summary.py", "--logdir", "logs", cwd=folder)


# One line a tag: what TensorFlow 2.21 wrote for the same listings.
LISTED = [
    ("default_writer", "distance", "scalars", list(range(100))),
    ("image_batches", "rings", "images", list(range(5))),
    ("image_batches", "colours", "images", list(range(5))),
    ("custom_loop", "loss", "scalars", list(range(60))),
    ("custom_loop", "dense/kernel/mean", "scalars", list(range(60))),
    ("custom_loop", "dense/kernel/stddev", "scalars", list(range(60))),
    ("custom_loop", "dense/kernel/values", "histograms", list(range(60))),
    ("custom_loop", "dense/bias/mean", "scalars", list(range(60))),
    ("custom_loop", "dense/bias/stddev", "scalars", list(range(60))),
    ("custom_loop", "dense/bias/values", "histograms", list(range(60))),
    ("every_tenth", "every_tenth", "scalars", list(range(0, 100, 10))),
    ("every_tenth", "last_ten", "scalars", list(range(90, 100))),
    ("step_set_once", "sine", "scalars", list(range(0, 50, 5))),
    ("step_set_once", "cosine", "scalars", list(range(0, 50, 5))),
    ("step_set_once", "first", "scalars", [0] * 10),
    ("shifting_normal", "normal/shifting", "histograms", list(range(40))),
    ("shifting_normal", "normal/bimodal", "histograms", list(range(40))),
    ("texts", "note", "text", [0, 1]),
    ("texts", "optimizers", "text", [0]),
    ("chords", "chord", "audio", [0, 1]),
    ("fibonacci", "fibonacci", "scalars", list(range(101))),
]


@pytest.mark.parametrize(("run", "tag", "plugin", "expected"), LISTED)
def test_listing(
    listings: tuple[Path, str], run: str, tag: str, plugin: str, expected: list[int]
) -> None:
    log = load(listings[0] / run)
    assert plugins(log)[tag] == plugin
    assert steps(log, tag) == expected


def test_listings_have_no_other_tags(listings: tuple[Path, str]) -> None:
    written = {
        (run.name, tag) for run in listings[0].iterdir() for tag in load(run).Tags()["tensors"]
    }
    assert written == {(run, tag) for run, tag, *_ in LISTED} | {("any_tensor", "identity")}


@pytest.mark.parametrize(
    ("run", "tag", "last"),
    [
        ("default_writer", "distance", np.float32(2.9512666e-05)),  # 0.9 ** 99
        ("every_tenth", "every_tenth", np.float32(9.486833)),  # sqrt(90)
        ("step_set_once", "sine", np.float32(-0.61168224)),  # sin(45 / 8)
        ("fibonacci", "fibonacci", np.float32(354224848179261915075)),
    ],
)
def test_listing_values(listings: tuple[Path, str], run: str, tag: str, last: np.float32) -> None:
    value = arrays(load(listings[0] / run), tag)[-1]
    assert value.dtype == np.float32
    assert value == pytest.approx(last, rel=1e-6)
    assert re.search(rf"scalars +{tag} .*: {re.escape(f'{float(value):.7g}')}$", listings[1], re.M)


def test_listing_fibonacci_beyond_int64(listings: tuple[Path, str]) -> None:
    values = arrays(load(listings[0] / "fibonacci"), "fibonacci")
    assert values[:8] == [0, 1, 1, 2, 3, 5, 8, 13]
    # The 93rd number is the first above 2**63; rounded to float32's 24 bits.
    assert values[93] == np.float32(12200160415121876738)


def test_listing_images(listings: tuple[Path, str]) -> None:
    log = load(listings[0] / "image_batches")
    assert [len(value) for value in arrays(log, "rings")] == [2 + 4] * 5
    assert picture_sizes(arrays(log, "rings")[0]) == {(64, 48)}
    colours = Image.open(io.BytesIO(arrays(log, "colours")[2][2]))
    assert colours.getpixel((63, 47)) == (47 * 5, 63 * 4, 100)


def test_listing_bimodal_buckets(listings: tuple[Path, str]) -> None:
    for buckets in arrays(load(listings[0] / "shifting_normal"), "normal/bimodal"):
        assert buckets.shape == (50, 3)
        assert buckets[:, 2].sum() == 2000


def test_listing_chord(listings: tuple[Path, str]) -> None:
    for value in arrays(load(listings[0] / "chords"), "chord"):
        with wave.open(io.BytesIO(value[0, 0])) as clip:
            assert (clip.getnchannels(), clip.getframerate(), clip.getnframes()) == (
                2,
                16_000,
                16_000,
            )


def test_listing_texts(listings: tuple[Path, str]) -> None:
    log = load(listings[0] / "texts")
    assert arrays(log, "note")[1].item() == b"Restarted with a *small* one."
    table = [[b"optimizer", b"learning rate"], [b"momentum", b"0.1"], [b"Adam", b"0.001"]]
    assert arrays(log, "optimizers")[0].tolist() == table
    assert log.SummaryMetadata("optimizers").summary_description == "Rows as they were tried."


def test_listing_tensor(listings: tuple[Path, str]) -> None:
    (identity,) = arrays(load(listings[0] / "any_tensor"), "identity")
    assert identity.dtype == np.float32
    assert identity.tolist() == np.eye(3).tolist()
