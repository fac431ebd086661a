"""Tests of a training loop by what it logs.

    pip install tfevents pytest
    pytest test_training_log.py

The loop below fits a line by gradient descent. Its tests ask for the two fixtures that tfevents
brings along: `event_log`, a directory that is read back, and `captured_events`, which keeps what
is logged in memory.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

import tfevents as tf

if TYPE_CHECKING:
    from tfevents.testing import CapturedLog, EventLog


def train(log_dir: str | Path, *, steps: int = 50, learning_rate: float = 0.1) -> np.ndarray:
    """Fits y = 3 x + 1, logging to `log_dir`; returns the slope and the intercept."""
    rng = np.random.default_rng(0)
    x = rng.uniform(-1.0, 1.0, 200)
    y = 3.0 * x + 1.0 + rng.normal(0.0, 0.1, 200)
    inputs = np.stack([x, np.ones_like(x)], axis=1)
    weights = np.zeros(2)
    with tf.summary.create_file_writer(str(log_dir)).as_default():
        tf.summary.text("config", f"learning rate {learning_rate}", step=0)
        for step in range(steps):
            errors = inputs @ weights - y
            tf.summary.scalar("train/loss", np.mean(errors**2), step=step)
            tf.summary.scalar("train/learning_rate", learning_rate, step=step)
            weights -= learning_rate * 2.0 * inputs.T @ errors / len(y)
        tf.summary.histogram("errors", inputs @ weights - y, step=steps)
        tf.summary.image("fit", draw(weights)[None], step=steps)
    return weights


def draw(weights: np.ndarray, size: int = 32) -> np.ndarray:
    """The fitted line as white pixels on black, [size, size, 1]."""
    columns = np.arange(size)
    heights = weights[0] * np.linspace(-1.0, 1.0, size) + weights[1]
    rows = np.clip((5.0 - heights) / 10.0 * size, 0, size - 1).astype(int)
    picture = np.zeros((size, size, 1), np.uint8)
    picture[rows, columns] = 255
    return picture


def test_the_loss_falls(event_log: EventLog) -> None:
    train(event_log.path)
    event_log.assert_decreasing("train/loss", window=5)
    assert event_log.scalars("train/loss").values[-1] < 0.1
    event_log.assert_finite()


def test_everything_is_logged(event_log: EventLog) -> None:
    train(event_log.path, steps=3)
    event_log.assert_tags({"config", "errors", "fit", "train/learning_rate", "train/loss"})
    event_log.assert_steps("train/loss", range(3))
    event_log.assert_scalars("train/learning_rate", [0.1, 0.1, 0.1])
    event_log.assert_text("config", re.compile(r"learning rate 0\.1"))


def test_the_picture_is_the_line(event_log: EventLog) -> None:
    weights = train(event_log.path)
    event_log.assert_image("fit", draw(weights), step=50)


def test_the_errors_are_centred(event_log: EventLog) -> None:
    train(event_log.path)
    event_log.assert_histogram("errors", mean=0.0, abs=0.05)
    event_log.assert_histogram("errors", std=0.1, abs=0.02)


def test_two_runs(captured_events: CapturedLog) -> None:
    """Nothing is written to the disk, whatever directories the code chooses."""
    train("logs/slow", learning_rate=0.01)
    train("logs/fast", learning_rate=0.3)
    slow = captured_events.scalars("train/loss", run="slow").values[-1]
    fast = captured_events.scalars("train/loss", run="fast").values[-1]
    assert fast < slow
    assert not Path("logs/slow").exists()


def test_too_large_a_step_diverges(captured_events: CapturedLog) -> None:
    train("logs", learning_rate=1.5)
    captured_events.assert_increasing("train/loss")
