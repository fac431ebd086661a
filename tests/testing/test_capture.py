"""What tfevents writers log goes to memory: all of it, from any thread, and only inside."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import numpy as np
import pytest
from tensorboard.backend.event_processing.event_file_loader import LegacyEventFileLoader

import tfevents as tf
from tfevents.store import open_store
from tfevents.summary_writer import SummaryWriter
from tfevents.testing import capture


def files_below(directory: Path) -> list[str]:
    return [os.path.join(root, name) for root, _, names in os.walk(directory) for name in names]


@pytest.fixture(autouse=True)
def directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def log_scalar(path: str | Path, value: float) -> None:
    with SummaryWriter(path) as writer:
        writer.add_scalar("loss", value, 0)


def test_nothing_touches_the_disk(directory: Path) -> None:
    with capture() as log:
        writer = SummaryWriter()  # runs/<date>_<host>
        writer.add_scalar("loss", 0.5, 3)
        writer.add_scalars("group", {"a": 1.0, "b": 2.0}, 0)
        writer.add_hparams({"lr": 0.1}, {"accuracy": 0.9})
        writer.add_image("image", np.zeros((3, 4, 5), np.uint8))
        writer.add_embedding(np.eye(3))
        with tf.summary.create_file_writer(str(directory / "elsewhere")).as_default():
            tf.summary.text("note", "hello", step=1)
        log.assert_scalar("loss", 0.5, step=3)
        log.assert_image("image", np.zeros((4, 5, 3)))
        log.assert_text("note", "hello")
        log.assert_hparams({"lr": 0.1})
        writer.close()
    assert files_below(directory) == []
    assert list(directory.iterdir()) == []
    assert any("projector" in path for path in log.files)


def test_old_images_are_removed_from_memory_too(directory: Path) -> None:
    with capture() as log:
        with SummaryWriter("run", keep_images=2, max_file_bytes=500) as writer:
            for step in range(9):
                writer.add_image("i", np.zeros((3, 4, 5), np.uint8), step)
                writer.add_scalar("a", step, step)
        steps = log.runs["."].images("i").steps.tolist()
        assert sorted(log.runs["."].scalars("a").steps.tolist()) == list(range(9))
    assert sorted(steps) == list(range(9 - len(steps), 9))
    assert 2 <= len(steps) <= 4
    assert list(directory.iterdir()) == []


def test_a_single_run_is_the_root() -> None:
    with capture() as log:
        log_scalar("logs/train", 1.0)
    assert list(log.runs) == ["."]
    log.assert_scalar("loss", 1.0, run=".")
    log.assert_scalar("loss", 1.0, run="train")
    log.assert_scalar("loss", 1.0, run="logs/train")


def test_runs_are_named_below_what_they_share(directory: Path) -> None:
    with capture() as log:
        log_scalar("logs/train", 1.0)
        log_scalar(directory / "logs" / "validation", 2.0)
        assert list(log.runs) == ["train", "validation"]
        log_scalar("gs://bucket/run", 3.0)
    log.assert_scalar("loss", 2.0, run="validation")
    log.assert_scalar("loss", 3.0, run="gs://bucket/run")
    log.assert_scalar("loss", 3.0, run="bucket/run")
    with pytest.raises(AssertionError, match="no run 'rain'"):
        log.assert_scalar("loss", 1.0, run="rain")
    with pytest.raises(AssertionError, match="in 3 runs"):
        log.assert_scalar("loss", 1.0)


def test_blocks_nest(directory: Path) -> None:
    with capture() as outer:
        log_scalar("a", 1.0)
        with capture() as inner:
            log_scalar("b", 2.0)
        log_scalar("c", 3.0)
    log_scalar("d", 4.0)
    assert list(outer.runs) == ["a", "c"]
    inner.assert_scalar("loss", 2.0)
    assert [Path(path).parent.name for path in files_below(directory)] == ["d"]


def test_an_error_restores_the_disk(directory: Path) -> None:
    logs = []

    def fail() -> None:
        with capture() as log:
            logs.append(log)
            log_scalar("a", 1.0)
            raise RuntimeError("training failed")

    with pytest.raises(RuntimeError, match="training failed"):
        fail()
    log_scalar("b", 2.0)
    logs[0].assert_scalar("loss", 1.0)
    assert [Path(path).parent.name for path in files_below(directory)] == ["b"]
    store, path = open_store("b")
    assert len(list(store.list(path))) == 1


def test_threads(directory: Path) -> None:
    def train(number: int) -> None:
        with SummaryWriter(f"runs/{number}") as writer:
            for step in range(100):
                writer.add_scalar("loss", number * 1000 + step, step)

    with capture() as log:
        threads = [threading.Thread(target=train, args=(number,)) for number in range(8)]
        for thread in threads:
            thread.start()
        while any(thread.is_alive() for thread in threads):
            log.runs  # noqa: B018 - reading meanwhile must not fail
        for thread in threads:
            thread.join()
        for number in range(8):
            expected = [number * 1000 + step for step in range(100)]
            log.assert_scalars("loss", expected, run=str(number))
    assert files_below(directory) == []


def test_a_writer_that_outlives_the_block_stays_in_memory(directory: Path) -> None:
    with capture() as log:
        writer = SummaryWriter("a")
    writer.add_scalar("loss", 1.0, 0)
    log.assert_scalar("loss", 1.0)
    writer.close()
    assert files_below(directory) == []


def test_the_code_under_test_may_read_its_log() -> None:
    with capture():
        log_scalar("logs/a", 1.0)
        assert tf.read("logs")["a"].scalars("loss").values.tolist() == [1.0]


def test_raw_events() -> None:
    with capture() as log:
        writer = tf.EventFileWriter("raw")
        value = tf.proto.Summary.Value(tag="loss", simple_value=0.5)
        writer.write([tf.proto.Event(step=2, summary=tf.proto.Summary(value=[value]))])
        writer.close()
    log.assert_scalars("loss", {2: 0.5})


def test_a_writer_that_was_open_before_logs_to_memory_and_then_to_its_file(tmp_path: Path) -> None:
    with SummaryWriter(tmp_path) as writer:
        writer.add_scalar("a", 1, 1)
        with capture() as outer:
            writer.add_scalar("a", 2, 2)
            with capture() as inner:
                writer.add_scalar("a", 3, 3)
            inner.assert_scalars("a", {3: 3})
            writer.add_scalar("a", 4, 4)
            outer.assert_scalars("a", {2: 2, 4: 4})
        writer.add_scalar("a", 5, 5)
    (path,) = tmp_path.iterdir()
    steps = [event.step for event in LegacyEventFileLoader(str(path)).Load()]
    assert steps == [0, 1, 5]


def test_a_writer_that_is_closed_in_the_block_closes_its_file(tmp_path: Path) -> None:
    writer = SummaryWriter(tmp_path)
    with capture() as log:
        writer.add_scalar("a", 2, 2)
        writer.close()
        log.assert_scalars("a", {2: 2})
    (path,) = tmp_path.iterdir()
    assert len(list(LegacyEventFileLoader(str(path)).Load())) == 1
    assert not any(str(path) in os.readlink(each) for each in _descriptors())


def _descriptors() -> list[str]:
    folder = "/proc/self/fd"
    if not os.path.isdir(folder):
        return []
    names = [os.path.join(folder, name) for name in os.listdir(folder)]
    return [name for name in names if os.path.islink(name)]
