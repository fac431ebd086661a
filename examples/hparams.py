"""Random search over hyperparameters, each trial a run, compared in the HPARAMS tab.

    python examples/hparams.py
    tensorboard --logdir logs/hparams

and open http://localhost:6006/#hparams: a table of the trials, parallel coordinates, and every
metric plotted over every hyperparameter. Habits worth copying:

* Hyperparameters and metrics stand in the run they belong to (`run_name="."`), beside its curves,
  in one file a trial.
* Every trial states the same domains: all values that each hyperparameter may take. The tab makes
  check boxes of them, also for values that no trial has tried yet.
* The table can be read back; nobody has to keep results in a second place.

The network is plain numpy, so that trials take a fraction of a second.
"""

from __future__ import annotations

import argparse
import itertools
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from tfevents import SummaryWriter, read

DATA = Path(__file__).parent / "data" / "digits.npz"
DOMAINS: dict[str, list[Any]] = {
    "learning_rate": [0.003, 0.01, 0.03, 0.1, 0.3, 1.0],
    "hidden": [4, 16, 64],
    "activation": ["relu", "tanh"],
}
METRICS = ("final/accuracy", "final/loss")
# Name to the function, and its slope as a function of its result.
Function = Callable[[np.ndarray], np.ndarray]
ACTIVATIONS: dict[str, tuple[Function, Function]] = {
    "relu": (lambda x: np.maximum(x, 0), lambda y: (y > 0).astype(float)),
    "tanh": (np.tanh, lambda y: 1 - y**2),
}


class Network:
    """Pixels [n, 64] to ten classes by one hidden layer."""

    def __init__(self, hidden: int, activation: str, rng: np.random.Generator) -> None:
        self.inner, self.inner_bias = rng.normal(0, 1 / 8, (64, hidden)), np.zeros(hidden)
        self.outer, self.outer_bias = rng.normal(0, hidden**-0.5, (hidden, 10)), np.zeros(10)
        self.function, self.slope = ACTIVATIONS[activation]

    def forward(self, pixels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The hidden layer [n, hidden], and log-probabilities [n, 10]."""
        middle = self.function(pixels @ self.inner + self.inner_bias)
        logits = middle @ self.outer + self.outer_bias
        logits -= logits.max(axis=1, keepdims=True)
        return middle, logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))

    def learn(self, pixels: np.ndarray, labels: np.ndarray, rate: float) -> None:
        """One step of gradient descent on the mean cross-entropy."""
        middle, log_p = self.forward(pixels)
        d_logits = (np.exp(log_p) - np.eye(10)[labels]) / len(labels)
        d_middle = d_logits @ self.outer.T * self.slope(middle)
        self.outer -= rate * middle.T @ d_logits
        self.outer_bias -= rate * d_logits.sum(axis=0)
        self.inner -= rate * pixels.T @ d_middle
        self.inner_bias -= rate * d_middle.sum(axis=0)

    def evaluate(self, pixels: np.ndarray, labels: np.ndarray) -> tuple[float, float]:
        """Accuracy and mean loss."""
        log_p = self.forward(pixels)[1]
        loss = -log_p[np.arange(len(labels)), labels].mean()
        return float((log_p.argmax(axis=1) == labels).mean()), float(loss)


def run_trial(logdir: Path, chosen: dict[str, Any], epochs: int) -> None:
    """Trains with the chosen hyperparameters; curves, hyperparameters and metrics in one file."""
    rng = np.random.default_rng(0)  # trials differ by what was chosen alone
    with np.load(DATA) as data:
        pixels, labels = data["images"].reshape(-1, 64) / 16, data["labels"]
    validation, training = np.split(rng.permutation(len(labels)), [len(labels) // 5])
    network = Network(chosen["hidden"], chosen["activation"], rng)
    with SummaryWriter(logdir) as writer:
        for epoch in range(1, epochs + 1):
            order = rng.permutation(training)
            for batch in np.array_split(order, len(order) // 32):
                network.learn(pixels[batch], labels[batch], chosen["learning_rate"])
            scores = network.evaluate(pixels[validation], labels[validation])
            writer.log(dict(zip(("epoch/accuracy", "epoch/loss"), scores, strict=True)), epoch)
        writer.add_hparams(
            chosen,
            dict(zip(METRICS, scores, strict=True)),
            hparam_domain_discrete=DOMAINS,
            run_name=".",
            global_step=epochs,
        )


def show(logdir: Path) -> None:
    """The table of trials, best first, as the event files tell it."""
    trials = [
        (*(run.scalars(tag).values[-1] for tag in METRICS), name, run.hparams())
        for name, run in read(logdir).items()
    ]
    print(f"{'trial':10}{'learning_rate':>14}{'hidden':>8}{'activation':>12}{'accuracy':>10}  loss")
    for accuracy, loss, name, chosen in sorted(trials, key=lambda trial: (-trial[0], trial[1])):
        values = f"{chosen['learning_rate']:14g}{chosen['hidden']:8g}{chosen['activation']:>12}"
        print(f"{name:10}{values}{accuracy:10.4f}  {loss:.4f}")


def fresh(logdir: Path) -> Path:
    """The first of logdir, logdir-2, logdir-3, ... that does not exist."""
    later = (logdir.with_name(f"{logdir.name}-{n}") for n in itertools.count(2))
    return next(path for path in itertools.chain([logdir], later) if not path.exists())


def main() -> None:
    every = itertools.product(*DOMAINS.values())
    grid = [dict(zip(DOMAINS, values, strict=True)) for values in every]
    parser = argparse.ArgumentParser(description="Search hyperparameters of a digit classifier.")
    parser.add_argument("--logdir", type=Path, default=Path("logs/hparams"))
    parser.add_argument("--trials", type=int, default=24, help=f"how many of {len(grid)}")
    parser.add_argument("--epochs", type=int, default=8)
    options = parser.parse_args()
    if not 1 <= options.trials <= len(grid) or options.epochs < 1:
        parser.error(f"--trials must be from 1 to {len(grid)}, --epochs at least 1")

    logdir = fresh(options.logdir)
    order = np.random.default_rng(0).permutation(len(grid))
    for number, index in enumerate(order[: options.trials]):
        run_trial(logdir / f"trial-{number:02}", grid[index], options.epochs)
    show(logdir)
    print(f"\n{options.trials} trials in {logdir}; see http://localhost:6006/#hparams after")
    print(f"tensorboard --logdir {logdir}")


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        print("\ninterrupted; what was logged so far can be read", file=sys.stderr)
        raise SystemExit(130) from None
