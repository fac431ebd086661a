"""Train a small network on handwritten digits and log what is worth looking at.

    python examples/quickstart.py
    tensorboard --logdir logs/quickstart

The network is plain numpy, so whatever is not arithmetic here is logging. Habits worth copying:

* One directory a run. Training and validation write the same tags, so their curves share a chart.
* One step axis: the number of minibatches seen. Curves by epoch and by batch line up.
* Cheap numbers at every step; pictures and histograms once an epoch; sound once a run.
* The configuration is in the log too, as text beside what came of it.
"""

from __future__ import annotations

import argparse
import itertools
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFont

import tfevents as tf

DATA = Path(__file__).parent / "data" / "digits.npz"
Arrays = dict[str, np.ndarray]  # parameters, or their gradients, by name


@dataclass(frozen=True)
class Config:
    """Everything that decides the result; logged as a table."""

    epochs: int = 20
    seed: int = 0
    hidden: int = 64
    batch_size: int = 32
    learning_rate: float = 0.1
    momentum: float = 0.9
    warmup: int = 45  # minibatches


@dataclass(frozen=True)
class Digits:
    images: np.ndarray  # [n, 8, 8], float32, 0 (paper) to 1 (ink)
    labels: np.ndarray  # [n], 0 to 9

    def batches(self, size: int, rng: np.random.Generator) -> Iterator[Digits]:
        order = rng.permutation(len(self.labels))
        for start in range(0, len(order), size):
            chosen = order[start : start + size]
            yield Digits(self.images[chosen], self.labels[chosen])


class Network:
    """64 pixels, one hidden layer of ReLUs, ten classes by softmax; trained with momentum."""

    def __init__(self, hidden: int, rng: np.random.Generator) -> None:
        self.parameters: Arrays = {
            "hidden/kernel": rng.normal(0, np.sqrt(2 / 64), (64, hidden)),
            "hidden/bias": np.zeros(hidden),
            "output/kernel": rng.normal(0, np.sqrt(1 / hidden), (hidden, 10)),
            "output/bias": np.zeros(10),
        }
        self.velocity: Arrays = {k: np.zeros_like(v) for k, v in self.parameters.items()}

    def forward(self, images: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Images [n, 8, 8] to hidden activations [n, hidden] and log-probabilities [n, 10]."""
        p = self.parameters
        hidden = np.maximum(images.reshape(-1, 64) @ p["hidden/kernel"] + p["hidden/bias"], 0)
        logits = hidden @ p["output/kernel"] + p["output/bias"]
        logits -= logits.max(axis=1, keepdims=True)  # exp() cannot overflow
        return hidden, logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))

    def evaluate(self, digits: Digits) -> tuple[float, float, np.ndarray]:
        """Mean loss, accuracy, and the predicted labels [n]."""
        log_p = self.forward(digits.images)[1]
        loss = -log_p[np.arange(len(log_p)), digits.labels].mean()
        predicted = log_p.argmax(axis=1)
        return float(loss), float((predicted == digits.labels).mean()), predicted

    def gradients(self, digits: Digits) -> tuple[float, Arrays]:
        """The mean cross-entropy of a minibatch and its gradient for every parameter."""
        hidden, log_p = self.forward(digits.images)
        target = np.eye(10)[digits.labels]
        d_logits = (np.exp(log_p) - target) / len(target)
        d_hidden = (d_logits @ self.parameters["output/kernel"].T) * (hidden > 0)
        return float(-(target * log_p).sum(axis=1).mean()), {
            "hidden/kernel": digits.images.reshape(-1, 64).T @ d_hidden,
            "hidden/bias": d_hidden.sum(axis=0),
            "output/kernel": hidden.T @ d_logits,
            "output/bias": d_logits.sum(axis=0),
        }

    def update(self, gradients: Arrays, learning_rate: float, momentum: float) -> None:
        for name, gradient in gradients.items():
            self.velocity[name] = momentum * self.velocity[name] - learning_rate * gradient
            self.parameters[name] += self.velocity[name]


def load_digits(rng: np.random.Generator) -> tuple[Digits, Digits]:
    """Training and validation digits: a random four fifths, and the rest."""
    with np.load(DATA) as data:
        images, labels = data["images"].astype(np.float32) / 16, data["labels"]
    order = rng.permutation(len(labels))
    train, validation = order[len(order) // 5 :], order[: len(order) // 5]
    return Digits(images[train], labels[train]), Digits(images[validation], labels[validation])


def schedule(step: int, steps: int, config: Config) -> float:
    """The learning rate: a linear warm-up, then half a cosine down to zero."""
    warm = min(1.0, (step + 1) / config.warmup)
    return config.learning_rate * warm * 0.5 * (1 + float(np.cos(np.pi * step / steps)))


def font(size: int) -> ImageFont.ImageFont | ImageFont.FreeTypeFont:
    try:
        return ImageFont.load_default(size=size)
    except TypeError:  # Pillow before 10.1 has one size only
        return ImageFont.load_default()


def enlarged(digit: np.ndarray) -> np.ndarray:
    """A digit [8, 8] of 0 to 1 as uint8 [64, 64], dark ink on white paper."""
    return np.kron(255 - 255 * digit, np.ones((8, 8))).astype(np.uint8)


def draw_mistakes(digits: Digits, predicted: np.ndarray) -> np.ndarray:
    """The first 18 misread digits, [height, width, 3]; "3 as 5" is a 3 that was read as a 5."""
    sheet = Image.new("RGB", (480, 306), "white")
    draw = ImageDraw.Draw(sheet)
    for place, index in enumerate(np.flatnonzero(predicted != digits.labels)[:18]):
        x, y = place % 6 * 80, place // 6 * 102
        draw.rectangle((x + 7, y + 7, x + 72, y + 72), outline="#b0b0b0")
        sheet.paste(Image.fromarray(enlarged(digits.images[index])), (x + 8, y + 8))
        text = f"{digits.labels[index]} as {predicted[index]}"
        draw.text((x + 40, y + 85), text, fill="#a01010", font=font(16), anchor="mm")
    return np.asarray(sheet)


def draw_confusion(labels: np.ndarray, predicted: np.ndarray) -> np.ndarray:
    """Counts by true digit (rows) and predicted digit (columns), [height, width, 3]."""
    counts = np.zeros((10, 10), int)
    np.add.at(counts, (labels, predicted), 1)
    # The square root of each row's share: one mistake shows beside a full diagonal.
    share = np.sqrt(counts / np.maximum(counts.sum(axis=1, keepdims=True), 1))
    stops = [0.0, 0.35, 0.7, 1.0]  # from nearly white to dark blue, a channel a line
    red = np.interp(share, stops, [247, 158, 49, 8])
    green = np.interp(share, stops, [250, 202, 130, 48])
    blue = np.interp(share, stops, [253, 225, 189, 107])
    cells = np.stack([red, green, blue], axis=-1).astype(np.uint8)

    cell, margin = 40, 60
    picture = Image.new("RGB", (margin + 10 * cell + 10, margin + 10 * cell + 10), "white")
    picture.paste(Image.fromarray(cells.repeat(cell, 0).repeat(cell, 1)), (margin, margin))
    draw = ImageDraw.Draw(picture)

    def write(text: str, x: float, y: float, ink: str = "black") -> None:
        draw.text((margin + x * cell, margin + y * cell), text, ink, font(16), anchor="mm")

    write("rows: true digit     columns: predicted digit", 4.5, -1.1)
    for digit in range(10):
        write(str(digit), digit + 0.5, -0.35)
        write(str(digit), -0.4, digit + 0.5)
    for row, column in np.argwhere(counts):
        ink = "white" if share[row, column] > 0.6 else "black"
        write(str(counts[row, column]), column + 0.5, row + 0.5, ink)
    return np.asarray(picture)


def sonify(losses: list[float], sample_rate: int, seconds: float = 4.0) -> np.ndarray:
    """The loss as a tone that falls by up to three octaves with it: float32 [1, samples, 1]."""
    level = np.log(np.convolve(losses, np.ones(9) / 9, mode="valid") + 1e-6)
    level = (level - level.min()) / max(float(np.ptp(level)), 1e-6)
    time = np.linspace(0, 1, int(seconds * sample_rate))
    pitch = 165 * 2 ** (3 * np.interp(time, np.linspace(0, 1, len(level)), level))
    tone = np.sin(2 * np.pi * np.cumsum(pitch) / sample_rate)  # summing the phase avoids clicks
    fade = np.minimum(1, 50 * np.minimum(time, 1 - time))
    return np.asarray(0.4 * fade * tone, np.float32).reshape(1, -1, 1)


def log_start(config: Config, train: Digits) -> None:
    """The settings, and the first digit of every class."""
    rows = [f"| {name} | {value} |" for name, value in asdict(config).items()]
    tf.summary.text("configuration", "\n".join(["| setting | value |", "|---|---|", *rows]), step=0)
    first = [int(np.argmax(train.labels == label)) for label in range(10)]
    images = np.stack([enlarged(train.images[i]) for i in first])[..., None]  # [10, 64, 64, 1]
    tf.summary.image("inputs", images, step=0, max_outputs=10, description="One of each class.")


def log_batch(loss: float, gradients: Arrays, learning_rate: float, step: int) -> None:
    with tf.name_scope("batch"):  # tags batch/loss, batch/learning_rate, ...
        tf.summary.scalar("loss", loss, step=step)
        tf.summary.scalar("learning_rate", learning_rate, step=step)
        norm = np.sqrt(sum(float(np.square(g).sum()) for g in gradients.values()))
        tf.summary.scalar("gradient_norm", norm, step=step)


def log_epoch(loss: float, accuracy: float, step: int) -> None:
    """The same two tags for both runs: whichever writer is the default gets them."""
    with tf.name_scope("epoch"):
        tf.summary.scalar("loss", loss, step=step)
        tf.summary.scalar("accuracy", accuracy, step=step)


def log_histograms(network: Network, gradients: Arrays, step: int) -> None:
    """Every parameter, and its gradient in the last minibatch."""
    for name, values in network.parameters.items():
        tf.summary.histogram(f"weights/{name}", values, step=step)
        tf.summary.histogram(f"gradients/{name}", gradients[name], step=step)


def log_failures(digits: Digits, predicted: np.ndarray, step: int) -> None:
    """Images have a batch axis: [1, height, width, 3]."""
    tf.summary.image("confusion", draw_confusion(digits.labels, predicted)[None], step=step)
    note = '"3 as 5" is a 3 that was read as a 5.'
    tf.summary.image("mistakes", draw_mistakes(digits, predicted)[None], step, description=note)


def progress(line: str, last: bool) -> None:
    """One line that rewrites itself on a terminal; a line an epoch elsewhere."""
    terminal = sys.stdout.isatty()
    print(f"\r{line}" if terminal else line, end="" if terminal and not last else "\n", flush=True)


def train_and_log(logdir: Path, config: Config) -> np.ndarray:
    """Returns a row an epoch: step, training loss and accuracy, validation loss and accuracy."""
    rng = np.random.default_rng(config.seed)
    train, validation = load_digits(rng)
    network = Network(config.hidden, rng)
    steps = config.epochs * -(-len(train.labels) // config.batch_size)
    losses: list[float] = []
    rows = []

    train_log = tf.summary.create_file_writer(str(logdir / "train"))
    validation_log = tf.summary.create_file_writer(str(logdir / "validation"))
    with train_log.as_default():  # from here tf.summary writes to the training run
        log_start(config, train)
        for epoch in range(1, config.epochs + 1):
            for batch in train.batches(config.batch_size, rng):
                learning_rate = schedule(len(losses), steps, config)
                loss, gradients = network.gradients(batch)
                network.update(gradients, learning_rate, config.momentum)
                losses.append(loss)
                log_batch(loss, gradients, learning_rate, step=len(losses))

            step = len(losses)
            train_loss, train_accuracy, _ = network.evaluate(train)
            log_epoch(train_loss, train_accuracy, step)
            log_histograms(network, gradients, step)
            with validation_log.as_default():  # and in this block to the validation run
                validation_loss, accuracy, predicted = network.evaluate(validation)
                log_epoch(validation_loss, accuracy, step)
                log_failures(validation, predicted, step)
            rows.append((step, train_loss, train_accuracy, validation_loss, accuracy))
            line = f"epoch {epoch:3}/{config.epochs}  training loss {train_loss:.4f}"
            line += f"  validation accuracy {accuracy:.4f}"
            progress(line, last=epoch == config.epochs)
        tf.summary.audio("loss", sonify(losses, 16_000), sample_rate=16_000, step=len(losses))
    train_log.close()
    validation_log.close()
    return np.array(rows)


def read_back(logdir: Path) -> np.ndarray:
    """The table that `train_and_log` returned, as the event files tell it."""
    log = tf.read(str(logdir))
    runs, tags = (log["train"], log["validation"]), ("epoch/loss", "epoch/accuracy")
    curves = [run.scalars(tag) for run in runs for tag in tags]
    if not all(np.array_equal(curve.steps, curves[0].steps) for curve in curves):
        raise ValueError(f"the curves in {logdir} do not have the same steps")
    return np.stack([curves[0].steps, *(curve.values for curve in curves)], axis=1)


def fresh(logdir: Path) -> Path:
    """`logdir`, or the first free one of logdir-2, logdir-3, ...: a directory holds one run."""
    later = (logdir.with_name(f"{logdir.name}-{n}") for n in itertools.count(2))
    free = (d for d in itertools.chain([logdir], later) if not d.exists() or not any(d.iterdir()))
    return next(free)


def main() -> int:
    parser = argparse.ArgumentParser(description="Train a digit classifier; log for TensorBoard.")
    parser.add_argument("--logdir", type=Path, default=Path("logs/quickstart"))
    parser.add_argument("--epochs", type=int, default=Config.epochs)
    parser.add_argument("--seed", type=int, default=Config.seed)
    options = parser.parse_args()
    if options.epochs < 1 or options.seed < 0:
        parser.error("--epochs must be at least 1, --seed at least 0")

    logdir = fresh(options.logdir)
    try:
        trained = train_and_log(logdir, Config(epochs=options.epochs, seed=options.seed))
    except KeyboardInterrupt:
        print(f"\ninterrupted; what was logged so far is in {logdir}", file=sys.stderr)
        return 130
    logged = read_back(logdir)
    print("\n          ----- training -----    ---- validation ----")
    print("    step        loss  accuracy        loss  accuracy")
    for step, *scores in logged:
        print(f"{step:8.0f}{scores[0]:12.4f}{scores[1]:10.4f}{scores[2]:12.4f}{scores[3]:10.4f}")
    if not np.array_equal(logged.astype(np.float32), trained.astype(np.float32)):
        print("the log does not say what was trained", file=sys.stderr)
        return 1
    print(f"\nfinal validation accuracy {logged[-1, 4]:.4f}")
    print(f"tensorboard --logdir {logdir}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
