"""A small PyTorch model on handwritten digits, trained with three learning rates; needs torch.

    python examples/torch_training.py
    tensorboard --logdir logs/torch_training

Each learning rate is a run of its own, so every tab shows the three beside each other. Nothing of
torch.utils.tensorboard is used, and no tensorboard package. With TensorBoard started:

    http://localhost:6006/#timeseries      losses and accuracy, by minibatch and by epoch
    http://localhost:6006/#custom_scalars  both losses of a run in one chart
    http://localhost:6006/#images          the validation digits that are misread
    http://localhost:6006/#histograms      weights and gradients
    http://localhost:6006/#graphs          the model; double-click a box to open it
    http://localhost:6006/#projector       the last hidden layer; color it by label
    http://localhost:6006/#pr_curves       how well one digit is told from the others
    http://localhost:6006/#hparams         learning rates and what they led to
"""

from __future__ import annotations

import argparse
import itertools
import sys
from collections import OrderedDict
from pathlib import Path
from typing import NamedTuple

import numpy as np

from tfevents import SummaryWriter, read

try:
    import torch
    from torch import Tensor, nn
except ImportError:
    sys.exit("this example trains a PyTorch model: pip install torch")

DATA = Path(__file__).parent / "data" / "digits.npz"
RATES = [0.0003, 0.003, 0.03]
BATCH = 32
CURVE_OF = 8  # the digit of the precision-recall curve
ACCURACY, LOSS = "final/accuracy", "final/loss"


class Digits(NamedTuple):
    images: Tensor  # [n, 1, 8, 8], float32, 0 (paper) to 1 (ink)
    labels: Tensor  # [n], int64


def load_digits() -> tuple[Digits, Digits]:
    """Training and validation digits: a random four fifths, and the rest."""
    with np.load(DATA) as data:
        images = torch.from_numpy(data["images"]).float()[:, None] / 16
        labels = torch.from_numpy(data["labels"]).long()
    order = torch.randperm(len(labels), generator=torch.Generator().manual_seed(0))
    validation, train = order.tensor_split([len(order) // 5])
    return Digits(images[train], labels[train]), Digits(images[validation], labels[validation])


def build() -> nn.Sequential:
    """Digits to logits; the parts are the boxes of the graph."""
    features = nn.Sequential(
        nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(),
    )
    hidden = nn.Sequential(nn.Linear(128, 32), nn.ReLU())
    return nn.Sequential(OrderedDict(features=features, hidden=hidden, output=nn.Linear(32, 10)))


def log_outcome(writer: SummaryWriter, model: nn.Sequential, digits: Digits, step: int) -> None:
    """What the trained model makes of digits: mistakes, a precision-recall curve, an embedding."""
    with torch.no_grad():
        hidden = model[:2](digits.images)
        likely = model.output(hidden).softmax(dim=1)
    writer.add_pr_curve(f"digit_{CURVE_OF}", digits.labels == CURVE_OF, likely[:, CURVE_OF], step)
    paper = 1 - digits.images
    pictures = paper.repeat_interleave(3, dim=1)  # the page wants color
    writer.add_embedding(hidden, digits.labels.tolist(), pictures, step, "hidden_layer")
    read_as = likely.argmax(dim=1)
    wrong = torch.nonzero(read_as != digits.labels)[:16, 0]
    if len(wrong):
        large = nn.functional.interpolate(paper[wrong], scale_factor=8)
        tiles = nn.functional.pad(large, [4] * 4, value=0.5)
        blank = tiles.new_full((-len(tiles) % 8, *tiles.shape[1:]), 0.5)  # fills the last row of 8
        writer.add_images("mistakes", torch.cat([tiles, blank]), step)
        said = ", ".join(f"{digits.labels[i]} as {read_as[i]}" for i in wrong)
        writer.add_text("mistakes", f"The pictures, row by row: {said}.", step)


def train(logdir: Path, rate: float, epochs: int) -> None:
    """One run. The step is the number of minibatches seen."""
    torch.manual_seed(0)
    digits, validation = load_digits()
    model, loss_of = build(), nn.CrossEntropyLoss()
    optimizer = torch.optim.Adam(model.parameters(), lr=rate)
    step = 0
    with SummaryWriter(logdir) as writer:
        writer.add_graph(model, digits.images[:1])
        writer.add_custom_scalars_multilinechart(["loss/train", "loss/validation"], title="loss")
        for _ in range(epochs):
            total = 0.0
            for batch in torch.randperm(len(digits.labels)).split(BATCH):
                optimizer.zero_grad()
                loss = loss_of(model(digits.images[batch]), digits.labels[batch])
                loss.backward()
                optimizer.step()
                step += 1
                total += loss.item() * len(batch)
                writer.add_scalar("loss/minibatch", loss, step)
            with torch.no_grad():
                logits = model(validation.images)
            loss = loss_of(logits, validation.labels)
            accuracy = (logits.argmax(dim=1) == validation.labels).float().mean()
            writer.log({"loss/validation": loss, "accuracy": accuracy}, step)
            writer.add_scalar("loss/train", total / len(digits.labels), step)
            for name, parameter in model.named_parameters():
                writer.add_histogram(f"weights/{name}", parameter, step)
                writer.add_histogram(f"gradients/{name}", parameter.grad, step)
        log_outcome(writer, model, validation, step)
        chosen = {"learning_rate": rate, "batch_size": BATCH, "optimizer": "Adam"}
        metrics = {ACCURACY: accuracy, LOSS: loss}
        writer.add_hparams(chosen, metrics, {"learning_rate": RATES}, ".", step)


def fresh(logdir: Path) -> Path:
    """The first of logdir, logdir-2, logdir-3, ... that does not exist."""
    later = (logdir.with_name(f"{logdir.name}-{n}") for n in itertools.count(2))
    return next(path for path in itertools.chain([logdir], later) if not path.exists())


def main() -> None:
    parser = argparse.ArgumentParser(description="Train a PyTorch model; log for TensorBoard.")
    parser.add_argument("--logdir", type=Path, default=Path("logs/torch_training"))
    parser.add_argument("--epochs", type=int, default=10)
    options = parser.parse_args()
    if options.epochs < 1:
        parser.error("--epochs must be at least 1")

    torch.set_num_threads(1)  # the model is too small to be shared among cores
    logdir = fresh(options.logdir)
    for rate in RATES:
        train(logdir / f"rate={rate}", rate, options.epochs)
    print("learning rate  accuracy    loss")
    for run in read(logdir).values():
        accuracy, loss = (run.scalars(tag).values[-1] for tag in (ACCURACY, LOSS))
        print(f"{run.hparams()['learning_rate']:13g}{accuracy:10.4f}{loss:8.4f}")
    print(f"\nsee http://localhost:6006/#hparams after\ntensorboard --logdir {logdir}")


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        print("\ninterrupted; what was logged so far can be read", file=sys.stderr)
        raise SystemExit(130) from None
