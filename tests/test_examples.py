"""Each example runs as a user would run it; TensorBoard's own reader judges what it wrote."""

from __future__ import annotations

import io
import os
import re
import signal
import subprocess
import sys
import time
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
    everything = {"tensors": 0, "histograms": 0}
    accumulator = event_accumulator.EventAccumulator(str(run), size_guidance=everything)
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


def interrupted(name: str, *arguments: str, cwd: Path, after: int) -> str:
    """Ctrl-C when an event file has so many bytes; returns what the example said."""
    process = subprocess.Popen(
        [sys.executable, str(EXAMPLES / name), *arguments], cwd=cwd,
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    end = time.monotonic() + 120
    while not any(file.stat().st_size > after for file in cwd.glob("logs/**/*tfevents*")):
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < end
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    return said


needs_sigint = pytest.mark.skipif(
    sys.platform == "win32", reason="Windows has no SIGINT for one process"
)


@needs_sigint
def test_quickstart_interrupted_leaves_a_whole_log(tmp_path: Path) -> None:
    said = interrupted("quickstart.py", "--epochs", "1000000", cwd=tmp_path, after=300_000)
    assert said == "\ninterrupted; what was logged so far is in logs/quickstart\n"
    logged = steps(load(tmp_path / "logs" / "quickstart" / "train"), "epoch/loss")
    assert len(logged) > 1
    assert logged == list(range(STEPS_AN_EPOCH, STEPS_AN_EPOCH * len(logged) + 1, STEPS_AN_EPOCH))


@needs_sigint
@pytest.mark.parametrize(
    ("name", "endless"), [("hparams.py", "--epochs"), ("profile_host.py", "--steps")]
)
def test_interrupted_in_one_line(tmp_path: Path, name: str, endless: str) -> None:
    said = interrupted(name, endless, "1000000", cwd=tmp_path, after=100)
    assert said == "\ninterrupted; what was logged so far can be read\n"


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


@pytest.fixture(scope="module")
def embedding(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    folder = tmp_path_factory.mktemp("embedding")
    printed = run_example("embedding.py", "--logdir", "logs", "--points", "200", cwd=folder)
    return folder / "logs", printed


def projector_config(logdir: Path) -> Any:
    """The file as TensorBoard's projector plugin parses it."""
    text_format = pytest.importorskip("google.protobuf.text_format")
    config_pb2 = pytest.importorskip("tensorboard.plugins.projector.projector_config_pb2")
    text = (logdir / "projector_config.pbtxt").read_text()
    return text_format.Parse(text, config_pb2.ProjectorConfig())


def test_embedding_files(embedding: tuple[Path, str]) -> None:
    logdir, printed = embedding
    with np.load(EXAMPLES / "data" / "digits.npz") as data:
        images, labels = data["images"][:200], data["labels"][:200]
    found = {each.tensor_name: each for each in projector_config(logdir).embeddings}
    assert set(found) == {"pixels:00000", "components:00000"}
    pixels = np.loadtxt(logdir / found["pixels:00000"].tensor_path, delimiter="\t")
    assert pixels == pytest.approx(images.reshape(200, 64) / 16)
    components = np.loadtxt(logdir / found["components:00000"].tensor_path, delimiter="\t")
    spread = np.cov(components.T)
    widest = np.linalg.eigvalsh(np.cov(pixels.T))[::-1][:16]
    assert spread == pytest.approx(np.diag(widest), abs=1e-4)
    for each in found.values():
        header, *rows = (logdir / each.metadata_path).read_text().splitlines()
        assert header.split("\t") == ["label", "ink", "nearest"]
        words = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]
        assert [row.split("\t")[0] for row in rows] == [words[label] for label in labels]
        assert list(each.sprite.single_image_dim) == [32, 32]
        with Image.open(logdir / each.sprite.image_path) as sprite:
            assert sprite.size == (15 * 32, 15 * 32)  # the least square that holds 200
            ink = np.asarray(sprite.convert("L"))[4:32:8, 4:32:8]
        assert ink.tolist() == (255 - 235 * (images[0, 1::2, 1::2] / 16)).astype(int).tolist()
    assert printed.splitlines()[-1] == "tensorboard --logdir logs"


def test_embedding_table_is_what_was_logged(embedding: tuple[Path, str]) -> None:
    logdir, printed = embedding
    run = load(logdir)
    table = re.findall(r"^ +(\d+) +(\S+)% +(\S+)%$", printed, re.MULTILINE)
    scalars = event_accumulator.EventAccumulator(str(logdir)).Reload()
    assert set(run.Tags()["scalars"]) == {"components/variance", "components/neighbors_agree"}
    for column, tag in enumerate(("components/variance", "components/neighbors_agree"), 1):
        logged = [(event.step, 100 * event.value) for event in scalars.Scalars(tag)]
        assert [step for step, _ in logged] == list(range(1, 17))
        assert [float(row[column]) for row in table] == pytest.approx(
            [value for _, value in logged], abs=0.051
        )


def hparams_parts(run: Any) -> dict[str, Any]:
    """What TensorBoard's hparams plugin finds in a run: experiment, start and end of a session."""
    metadata = pytest.importorskip("tensorboard.plugins.hparams.metadata")
    contents = run.PluginTagToContent("hparams")
    return {
        "experiment": metadata.parse_experiment_plugin_data(
            contents["_hparams_/experiment"]
        ),
        "start": metadata.parse_session_start_info_plugin_data(
            contents["_hparams_/session_start_info"]
        ),
        "end": metadata.parse_session_end_info_plugin_data(
            contents["_hparams_/session_end_info"]
        ),
    }


def domains(experiment: Any) -> dict[str, list[Any]]:
    """Of each hyperparameter the values that it may take, where they are told."""
    return {
        info.name: [
            getattr(value, value.WhichOneof("kind")) for value in info.domain_discrete.values
        ]
        for info in experiment.hparam_infos
    }


def test_hparams(tmp_path: Path) -> None:
    arguments = ("--logdir", "logs", "--trials", "3", "--epochs", "2")
    printed = run_example("hparams.py", *arguments, cwd=tmp_path)
    runs = sorted((tmp_path / "logs").iterdir())
    assert [run.name for run in runs] == ["trial-00", "trial-01", "trial-02"]
    lines = {line.split()[0]: line.split()[1:] for line in printed.splitlines() if line}
    accuracies = []
    for path in runs:
        (_,) = path.iterdir()  # one file, no directory
        run = load(path)
        parts = hparams_parts(run)
        assert domains(parts["experiment"]) == {
            "learning_rate": [0.003, 0.01, 0.03, 0.1, 0.3, 1.0],
            "hidden": [4.0, 16.0, 64.0],
            "activation": ["relu", "tanh"],
        }
        metrics = [info.name.tag for info in parts["experiment"].metric_infos]
        assert metrics == ["final/accuracy", "final/loss"]
        assert parts["end"].status == 1  # STATUS_SUCCESS
        scores = [run.Scalars(tag)[-1].value for tag in metrics]
        for tag, score in zip(("epoch/accuracy", "epoch/loss"), scores, strict=True):
            assert [event.step for event in run.Scalars(tag)] == [1, 2]
            assert run.Scalars(tag)[-1].value == score
        hparams = parts["start"].hparams
        assert lines[path.name] == [
            f"{hparams['learning_rate'].number_value:g}",
            f"{hparams['hidden'].number_value:g}",
            hparams["activation"].string_value,
            f"{scores[0]:.4f}",
            f"{scores[1]:.4f}",
        ]
        accuracies.append((-scores[0], path.name))
    order = [name for name in lines if name.startswith("trial-")]
    assert order == [name for _, name in sorted(accuracies)]
    assert printed.splitlines()[-1] == "tensorboard --logdir logs"


@pytest.fixture(scope="module")
def torch_training(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    pytest.importorskip("torch", reason="the example trains a PyTorch model")
    folder = tmp_path_factory.mktemp("torch_training")
    arguments = ("--logdir", "logs", "--epochs", "2")
    return folder / "logs", run_example("torch_training.py", *arguments, cwd=folder)


RATES = ("0.0003", "0.003", "0.03")
PARAMETERS = [
    f"{layer}.{kind}"
    for layer in ("features.0", "features.3", "hidden.0", "output")
    for kind in ("weight", "bias")
]


def test_torch_training_tags(torch_training: tuple[Path, str]) -> None:
    logdir, _ = torch_training
    assert sorted(path.name for path in logdir.iterdir()) == [f"rate={rate}" for rate in RATES]
    for rate in RATES:
        run = load(logdir / f"rate={rate}")
        tags = run.Tags()
        by_epoch = ["loss/train", "loss/validation", "accuracy"]
        final = ["final/accuracy", "final/loss"]
        assert set(tags["scalars"]) == {"loss/minibatch", *by_epoch, *final}
        assert [event.step for event in run.Scalars("loss/minibatch")] == list(range(1, 91))
        for tag in by_epoch:
            assert [event.step for event in run.Scalars(tag)] == [45, 90]
        assert set(tags["histograms"]) == {
            f"{what}/{name}" for what in ("weights", "gradients") for name in PARAMETERS
        }
        assert [event.step for event in run.Histograms("weights/output.bias")] == [45, 90]
        assert run.Histograms("weights/features.3.weight")[-1].histogram_value.num == 32 * 16 * 9
        assert tags["images"] == ["mistakes"]
        assert set(run.PluginTagToContent("pr_curves")) == {"digit_8"}
        assert set(run.PluginTagToContent("custom_scalars")) == {"custom_scalars__config__"}
        names = {node.name for node in run.Graph().node}
        for part in ("features", "hidden", "output"):
            assert any(f"[{part}]" in name for name in names), (part, sorted(names))


def test_torch_training_counts_of_the_curve(torch_training: tuple[Path, str]) -> None:
    with np.load(EXAMPLES / "data" / "digits.npz") as data:
        eights = int((data["labels"] == 8).sum())
    (value,) = arrays(load(torch_training[0] / "rate=0.003"), "digit_8")
    assert value.shape == (6, 127)
    true_positive, false_positive, true_negative, false_negative = value[:4]
    assert np.all(value[:4].sum(axis=0) == 1797 // 5)
    positives = true_positive + false_negative
    assert np.all(positives == positives[0])
    assert 0 < positives[0] < eights
    assert true_negative[0] == 0  # at threshold 0 all are called eights
    assert false_positive[-1] <= false_positive[0]


def test_torch_training_embedding(torch_training: tuple[Path, str]) -> None:
    logdir = torch_training[0] / "rate=0.003"
    (found,) = projector_config(logdir).embeddings
    assert found.tensor_name == "hidden_layer:00090"
    points = np.loadtxt(logdir / found.tensor_path, delimiter="\t")
    labels = np.loadtxt(logdir / found.metadata_path)
    assert points.shape == (359, 32)
    assert points.min() == 0  # behind a ReLU
    assert set(labels) == set(range(10))
    centers = np.stack([points[labels == digit].mean(axis=0) for digit in range(10)])
    nearest = np.linalg.norm(points[:, None] - centers, axis=2).argmin(axis=1)
    assert (nearest == labels).mean() > 0.5  # labels and points go together; by chance 0.1
    assert list(found.sprite.single_image_dim) == [8, 8]
    with Image.open(logdir / found.sprite.image_path) as sprite:
        assert sprite.size == (19 * 8, 19 * 8)


def test_torch_training_sweep(torch_training: tuple[Path, str]) -> None:
    logdir, printed = torch_training
    table = dict(re.findall(r"^ +(\S+) +(\d\.\d+) +\d+\.\d+$", printed, re.MULTILINE))
    assert set(table) == set(RATES)
    for rate in RATES:
        run = load(logdir / f"rate={rate}")
        parts = hparams_parts(run)
        assert domains(parts["experiment"])["learning_rate"] == [float(rate) for rate in RATES]
        assert parts["start"].hparams["learning_rate"].number_value == float(rate)
        assert parts["start"].hparams["optimizer"].string_value == "Adam"
        (accuracy,) = run.Scalars("final/accuracy")
        assert float(table[rate]) == pytest.approx(accuracy.value, abs=5e-5)
        assert run.Scalars("accuracy")[-1].value == accuracy.value
    assert printed.splitlines()[-1] == "tensorboard --logdir logs"


def test_torch_training_says_what_is_missing(tmp_path: Path) -> None:
    (tmp_path / "torch.py").write_text("raise ImportError('hidden by the test')\n")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])}
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / "torch_training.py")],
        cwd=tmp_path, env=environment, capture_output=True, text=True, check=False,
    )
    assert done.returncode == 1
    assert "pip install torch" in done.stderr
    assert not (tmp_path / "logs").exists()
