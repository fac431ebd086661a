"""The same assertions on what other libraries wrote."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tfevents.testing import EventLog

RNG = np.random.default_rng(7)
PIXELS = RNG.integers(0, 256, (6, 5, 3), dtype=np.uint8)
FLOAT_PIXELS = RNG.random((6, 5, 3))
SOUND = np.sin(np.linspace(0, 50, 400)).astype(np.float32)
WEIGHTS = RNG.normal(1.0, 2.0, 2000)


def check(log: EventLog, *, exact_sums: bool) -> None:
    log.assert_scalar("loss", 1 / 3, step=2)
    log.assert_scalars("loss", [1 / (step + 1) for step in range(5)])
    log.assert_decreasing("loss")
    log.assert_image("levels", PIXELS)
    log.assert_image("floats", FLOAT_PIXELS)
    log.assert_audio("sound", SOUND, rate=8000)
    log.assert_text("note", "Größe")
    log.assert_histogram("weights", like=WEIGHTS, mean=WEIGHTS.mean(), std=WEIGHTS.std())
    log.assert_finite()
    log.assert_no_notices()
    for wrong in (PIXELS[::-1], FLOAT_PIXELS):
        with pytest.raises(AssertionError):
            log.assert_image("levels", wrong)
    with pytest.raises(AssertionError):
        log.assert_audio("sound", -SOUND)
    with pytest.raises(AssertionError):
        log.assert_histogram("weights", like=WEIGHTS * 1.1)
    with pytest.raises(AssertionError):
        log.assert_histogram("weights", mean=WEIGHTS.mean() + (1e-3 if exact_sums else 0.5))


def use_torch_api(writer: Any) -> None:
    for step in range(5):
        writer.add_scalar("loss", 1 / (step + 1), step)
    writer.add_image("levels", PIXELS, 0, dataformats="HWC")
    writer.add_image("floats", FLOAT_PIXELS, 0, dataformats="HWC")
    writer.add_text("note", "Größe", 0)
    writer.add_histogram("weights", WEIGHTS, 0)
    writer.add_hparams({"lr": 0.1, "name": "a"}, {"accuracy": 0.5})


def test_torch(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    tensorboard = pytest.importorskip("torch.utils.tensorboard")
    with tensorboard.SummaryWriter(str(tmp_path)) as writer:
        use_torch_api(writer)
        writer.add_audio("sound", SOUND[None], 0, sample_rate=8000)
    log = EventLog(tmp_path)
    check(log, exact_sums=True)
    log.assert_hparams({"lr": 0.1, "name": "a"})
    log.assert_scalar("accuracy", 0.5)


def test_tensorboardx(tmp_path: Path) -> None:
    tensorboardx = pytest.importorskip("tensorboardX")
    with tensorboardx.SummaryWriter(str(tmp_path)) as writer:
        use_torch_api(writer)
        writer.add_audio("sound", SOUND[:, None], 0, sample_rate=8000)
    log = EventLog(tmp_path)
    check(log, exact_sums=True)
    log.assert_hparams({"lr": 0.1, "name": "a"})


def test_tensorflow(tmp_path: Path) -> None:
    tensorflow = pytest.importorskip("tensorflow")
    summary = tensorflow.summary
    with summary.create_file_writer(str(tmp_path)).as_default():
        for step in range(5):
            summary.scalar("loss", 1 / (step + 1), step)
        summary.image("levels", PIXELS[None], 0)
        summary.image("floats", FLOAT_PIXELS[None], 0)
        summary.audio("sound", SOUND[None, :, None], 8000, 0)
        summary.text("note", "Größe", 0)
        summary.histogram("weights", WEIGHTS, 0)
        summary.flush()
    check(EventLog(tmp_path), exact_sums=False)
