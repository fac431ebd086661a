"""SummaryWriter's own behaviour: life, seams for trackers, layouts, files. Read by TensorBoard."""

from __future__ import annotations

import contextlib
import copy
import errno
import gc
import glob
import json
import os
import pickle
import shutil
import threading
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from tensorboard.backend.event_processing.event_file_loader import LegacyEventFileLoader

from tfevents import FileWriter, SummaryWriter, proto
from tfevents import summary_writer as module
from tfevents.errors import TfEventsError
from tfevents.store import LocalStore

GRAY = np.arange(48, dtype=np.uint8).reshape(3, 4, 4)


def files(logdir: Any) -> list[str]:
    return sorted(glob.glob(os.path.join(logdir, "*tfevents*")))


def events(logdir: Any) -> list[Any]:
    """All events but the version headers, as TensorBoard's own loader reads them."""
    found = [event for path in files(logdir) for event in LegacyEventFileLoader(path).Load()]
    return [event for event in found if not event.file_version]


def points(logdir: Any) -> list[tuple[str, int, float]]:
    return [
        (value.tag, event.step, value.simple_value)
        for event in events(logdir) for value in event.summary.value
    ]


# -- life


def test_the_file_is_there_with_its_header_when_the_constructor_returns(tmp_path: Path) -> None:
    writer = SummaryWriter(tmp_path)
    (path,) = files(tmp_path)
    (first,) = LegacyEventFileLoader(path).Load()
    assert first.file_version == "brain.Event:2"
    assert first.wall_time > 1e9
    writer.close()


def test_logging_after_close_opens_a_new_file(tmp_path: Path) -> None:
    writer = SummaryWriter(tmp_path)
    writer.add_scalar("a", 1, 0)
    writer.close()
    writer.close()
    assert writer.file_writer is None
    writer.flush()
    writer.add_scalar("a", 2, 1)
    writer.close()
    assert len(files(tmp_path)) == 2
    assert points(tmp_path) == [("a", 0, 1.0), ("a", 1, 2.0)]


def test_a_file_writer_that_was_closed_can_be_reopened(tmp_path: Path) -> None:
    writer = SummaryWriter(tmp_path)
    writer.add_scalar("a", 1, 0)
    file = writer.file_writer
    assert file is not None
    file.close()
    with pytest.raises(OSError, match="closed"):
        file.add_summary(proto.Summary())
    file.reopen()
    file.reopen()
    writer.add_scalar("a", 2, 1)
    writer.close()
    assert points(tmp_path) == [("a", 0, 1.0), ("a", 1, 2.0)]


@pytest.mark.parametrize("call", ["flush", "close"])
def test_a_fault_in_one_run_keeps_none_of_the_others_from_the_disk(
    tmp_path: Path, call: str
) -> None:
    def fail(tag: str) -> Any:
        raise KeyError("odd")

    writer = SummaryWriter(tmp_path)
    writer.add_scalars("x", {"a": 1, "b": 2}, 0)
    runs = [file.run for file in (writer.all_writers or {}).values()]
    for run in runs:
        run.flush()
        run.add_scalar("late", 3, 1)
    runs[0].add_value("bad", fail, 0)
    with pytest.raises(TfEventsError, match="odd"):
        getattr(writer, call)()
    for name in ("x_a", "x_b"):
        assert ("late", 1, 3.0) in points(tmp_path / name)
    assert [run.closed for run in runs] == [call == "close"] * 3
    writer.close()


def test_a_dropped_writer_keeps_its_points(tmp_path: Path) -> None:
    writer = SummaryWriter(tmp_path)
    writer.add_scalar("a", 1, 0)
    del writer
    gc.collect()
    assert points(tmp_path) == [("a", 0, 1.0)]


def test_as_context_manager(tmp_path: Path) -> None:
    with SummaryWriter(log_dir=tmp_path) as writer:
        writer.add_scalar("a", 1)
    assert writer.file_writer is None
    assert points(tmp_path) == [("a", 0, 1.0)]


def test_default_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    SummaryWriter(comment="_lr1").close()
    (run,) = os.listdir(tmp_path / "runs")
    assert run.endswith("_lr1")
    SummaryWriter("here", comment="_lr1").close()
    SummaryWriter(logdir="there").close()
    assert sorted(os.listdir(tmp_path)) == ["here", "runs", "there"]


def test_write_to_disk_false_makes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with SummaryWriter("run", write_to_disk=False) as writer:
        writer.add_scalar("a", 1, 0)
        writer.add_scalars("b", {"c": 1}, 0)
        writer.add_image("i", GRAY)
        writer.add_hparams({"lr": 1}, {"m": 1})
        writer.add_embedding(np.zeros((2, 2)))
        writer.flush()
    assert os.listdir(tmp_path) == []


def test_write_to_disk_false_makes_no_further_files_either(tmp_path: Path) -> None:
    with SummaryWriter(
        tmp_path / "run", write_to_disk=False, max_file_bytes=100, keep_images=1
    ) as writer:
        for step in range(20):
            writer.add_scalar("a", step, step)
            writer.add_image("i", GRAY, step)
    assert os.listdir(tmp_path) == []


def test_purge_step_writes_what_torch_writes(tmp_path: Path) -> None:
    with SummaryWriter(tmp_path, purge_step=5) as writer:
        writer.add_scalar("a", 1, 5)
    (path,) = files(tmp_path)
    first, second, third, fourth = LegacyEventFileLoader(path).Load()
    assert (first.file_version, first.step) == ("brain.Event:2", 0)
    assert (second.file_version, second.step) == ("brain.Event:2", 5)
    assert (third.session_log.status, third.step) == (1, 5)
    assert third.wall_time > 1e9
    assert fourth.summary.value[0].tag == "a"


def test_a_reopened_file_does_not_purge_the_one_before(tmp_path: Path) -> None:
    writer = SummaryWriter(tmp_path, purge_step=5)
    file = writer.file_writer
    assert file is not None
    for step in range(5, 8):
        writer.add_scalar("a", step, step)
        writer.flush()
        if step == 6:
            file.close()
            file.reopen()
    writer.close()
    found = EventAccumulator(str(tmp_path)).Reload().Scalars("a")
    assert [each.step for each in found] == [5, 6, 7]


def test_pickle_gives_a_writer_of_a_new_file(tmp_path: Path) -> None:
    writer = SummaryWriter(tmp_path, filename_suffix=".x")
    copy = pickle.loads(pickle.dumps(writer))
    copy.add_scalar("a", 1, 0)
    copy.close()
    writer.close()
    assert len(files(tmp_path)) == 2
    assert points(tmp_path) == [("a", 0, 1.0)]


@pytest.mark.parametrize(
    "again", [copy.copy, copy.deepcopy, lambda writer: pickle.loads(pickle.dumps(writer))]
)
def test_a_file_writer_is_copied_as_one_of_a_new_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, again: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    writer = FileWriter("run", 10, 30, ".x", purge_step=3)
    writer.mine = 5  # type: ignore[attr-defined]
    (tmp_path / "else").mkdir()
    monkeypatch.chdir(tmp_path / "else")
    other = again(writer)
    assert other.mine == 5
    other.add_summary(proto.Summary(value=[proto.Summary.Value(tag="a", simple_value=1)]), 4)
    other.close()
    writer.close()
    assert [path.endswith(".x") for path in files(tmp_path / "run")] == [True, True]
    assert points(tmp_path / "run") == [("a", 4, 1.0)]
    assert sum(event.HasField("session_log") for event in events(tmp_path / "run")) == 1


class LoggerOf(SummaryWriter):
    """As users write it: a constructor with other arguments, and something of its own."""

    def __init__(self, place: Path, rank: int) -> None:
        self.rank = rank
        super().__init__(place)
        self.seen = [rank]


def test_a_subclass_pickles_with_what_it_has_added(tmp_path: Path) -> None:
    writer = LoggerOf(tmp_path, 3)
    copy = pickle.loads(pickle.dumps(writer))
    assert type(copy) is LoggerOf
    assert (copy.rank, copy.seen) == (3, [3])
    copy.add_scalar("a", 1, 0)
    copy.close()
    writer.close()
    assert points(tmp_path) == [("a", 0, 1.0)]


def test_a_writer_stays_where_it_was_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(tmp_path)
    writer = SummaryWriter("logs")
    monkeypatch.chdir(elsewhere)
    writer.add_scalars("loss", {"a": 1}, 0)
    writer.add_hparams({"lr": 1}, {"m": 2}, run_name="h")
    writer.add_embedding(np.eye(3))
    copy = pickle.loads(pickle.dumps(writer))
    copy.add_scalar("copy", 1, 0)
    copy.close()
    writer.close()
    writer.add_scalar("again", 2, 0)
    writer.close()
    assert list(elsewhere.iterdir()) == []
    assert sorted(points(tmp_path / "logs")) == [("again", 0, 2.0), ("copy", 0, 1.0)]
    assert points(tmp_path / "logs/loss_a") == [("loss", 0, 1.0)]
    assert (tmp_path / "logs/00000/default/tensors.tsv").exists()
    assert writer.get_logdir() == "logs"


@pytest.mark.parametrize("key", ["x/../../../y", "a\0b", "k" * 300], ids=["up", "nul", "long"])
def test_add_scalars_makes_all_runs_or_none(tmp_path: Path, key: str) -> None:
    with SummaryWriter(tmp_path) as writer:
        with pytest.raises(ValueError, match="run"):
            writer.add_scalars("loss", {"good": 1, key: 2}, 0)
        assert [path.name for path in tmp_path.iterdir() if path.is_dir()] == []


@pytest.mark.parametrize("values", [5, None, [("a", 1)]])
def test_scalars_that_are_no_dict(tmp_path: Path, values: Any) -> None:
    with SummaryWriter(tmp_path) as writer:
        with pytest.raises(TypeError, match=r"'loss'.*dict"):
            writer.add_scalars("loss", values, 0)
        with pytest.raises(TypeError, match="dict"):
            writer.log(values, 0)


def test_an_error_of_add_scalars_names_both_tags(tmp_path: Path) -> None:
    with SummaryWriter(tmp_path) as writer, pytest.raises(TypeError, match="'loss/a'"):
        writer.add_scalars("loss", {"a": "x"}, 0)


def test_a_comment_stays_below_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match="stay inside"):
        SummaryWriter(comment="/../../../up")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("option", ["max_file_bytes", "keep_images"])
def test_a_bad_option_makes_no_file(tmp_path: Path, option: str) -> None:
    with pytest.raises(ValueError, match=option):
        SummaryWriter(tmp_path / "logs", **dict[str, Any]({option: -1}))
    assert list(tmp_path.iterdir()) == []


def test_many_sub_runs_share_one_thread(tmp_path: Path) -> None:
    before = threading.active_count()
    with SummaryWriter(tmp_path) as writer, warnings.catch_warnings():
        warnings.simplefilter("error")
        writer.add_scalars("loss", {str(index): index for index in range(100)}, 1)
        for index in range(20):
            writer.add_hparams({"lr": index}, {"m": 1}, run_name=f"h{index}")
        assert threading.active_count() - before <= 1
        assert writer.all_writers is not None
        assert len(writer.all_writers) == 121


# -- seams


class Seen:
    """What a tracker's patch of `add_event` or `add_summary` was called with."""

    def __init__(self) -> None:
        self.calls: list[Any] = []

    def wrap(self, original: Any) -> Any:
        def patched(writer: FileWriter, message: Any, *args: Any, **kwargs: Any) -> Any:
            self.calls.append(message)
            return original(writer, message, *args, **kwargs)

        return patched

    def tags(self) -> list[str]:
        messages = (getattr(each, "summary", each) for each in self.calls)
        return [value.tag for each in messages for value in each.value]


def log_some(writer: SummaryWriter) -> list[str]:
    writer.add_scalar("scalar", 0.5, 1)
    writer.add_scalar("tensor", 0.5, 1, new_style=True)
    writer.log({"x": 1, "y": 2}, 1)
    writer.add_histogram("histogram", np.arange(10.0), 1)
    writer.add_image("image", GRAY, 1)
    writer.add_text("text", "hello", 1)
    writer.add_scalars("several", {"k": 1}, 1)
    return ["scalar", "tensor", "x", "y", "histogram", "image", "text/text_summary", "several"]


@pytest.mark.parametrize("method", ["add_event", "add_summary"])
def test_a_patched_class_sees_every_event(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, method: str
) -> None:
    seen = Seen()
    with SummaryWriter(tmp_path) as writer:
        writer.add_scalar("before", 1, 0)
        monkeypatch.setattr(FileWriter, method, seen.wrap(getattr(FileWriter, method)))
        tags = log_some(writer)
        monkeypatch.undo()
        writer.add_scalar("after", 1, 2)
    assert seen.tags() == tags
    assert [tag for tag, _, _ in points(tmp_path)] == ["before", *tags[:-1], "after"]
    assert [tag for tag, _, _ in points(tmp_path / "several_k")] == ["several"]


def test_a_patched_object_sees_every_event(tmp_path: Path) -> None:
    seen = Seen()
    with SummaryWriter(tmp_path) as writer:
        file = writer.file_writer
        assert file is not None
        original = type(file).add_event
        file.add_event = lambda *args: seen.wrap(original)(file, *args)  # type: ignore[method-assign]
        tags = log_some(writer)
    assert seen.tags() == tags[:-1]  # the sub-run has a file writer of its own
    assert [tag for tag, _, _ in points(tmp_path)] == tags[:-1]


def test_a_replaced_class_sees_every_directory_and_event(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    directories: list[str] = []
    tags: list[str] = []

    class Tracker(FileWriter):
        def __init__(self, log_dir: Any, *args: Any, **kwargs: Any) -> None:
            directories.append(os.fsdecode(log_dir))
            super().__init__(log_dir, *args, **kwargs)

        def add_event(self, event: Any, step: Any = None, walltime: float | None = None) -> None:
            tags.extend(value.tag for value in event.summary.value)
            super().add_event(event, step, walltime)

    monkeypatch.setattr(module, "FileWriter", Tracker)
    with SummaryWriter(tmp_path) as writer:
        logged = log_some(writer)
    assert directories == [str(tmp_path), str(tmp_path / "several_k")]
    assert tags == logged


def test_events_of_other_packages_are_taken_and_left_unchanged(tmp_path: Path) -> None:
    from tensorboard.compat.proto import event_pb2, summary_pb2

    summary = summary_pb2.Summary(value=[summary_pb2.Summary.Value(tag="a", simple_value=2)])
    event = event_pb2.Event(wall_time=1.5, step=3, summary=summary)
    before = event.SerializeToString()
    with SummaryWriter(tmp_path) as writer:
        file = writer.file_writer
        assert file is not None
        file.add_event(event, walltime=7.0)
        file.add_event(event, 9)
        file.add_summary(summary, 4)
        with pytest.raises(TypeError):
            file.add_event("no event")
        assert file.get_logdir() == str(tmp_path)
    assert event.SerializeToString() == before
    assert [(each.step, each.summary.value[0].tag) for each in events(tmp_path)] == [
        (3, "a"), (9, "a"), (4, "a"),
    ]
    assert events(tmp_path)[0].wall_time == 7.0
    assert events(tmp_path)[1].wall_time > 1e9


# -- layouts and defaults


def test_log_is_one_event(tmp_path: Path) -> None:
    with SummaryWriter(tmp_path) as writer:
        writer.log({"a": 1, "b": np.float32(0.1)}, 7, walltime=3.0)
        with pytest.raises(ValueError, match="'b'"):
            writer.log({"a": 1, "b": [1, 2]}, 8)
    (event,) = events(tmp_path)
    assert (event.step, event.wall_time) == (7, 3.0)
    assert [(value.tag, value.simple_value) for value in event.summary.value] == [
        ("a", 1.0), ("b", float(np.float32(0.1))),
    ]


def test_add_scalars_in_runs_as_torch_does(tmp_path: Path) -> None:
    with SummaryWriter(tmp_path) as writer:
        for step in range(2):
            writer.add_scalars("loss/x", {"a": step, "b": -step}, step)
    assert points(tmp_path) == []
    assert points(tmp_path / "loss_x_a") == [("loss/x", 0, 0.0), ("loss/x", 1, 1.0)]
    assert points(tmp_path / "loss_x_b") == [("loss/x", 0, 0.0), ("loss/x", 1, -1.0)]


def test_add_scalars_as_tags_is_one_event_in_one_file(tmp_path: Path) -> None:
    with SummaryWriter(tmp_path) as writer:
        writer.add_scalars("loss/x", {"a": 1, "b": 2}, 3, layout="tags")
        with pytest.raises(ValueError, match="layout"):
            writer.add_scalars("loss", {"a": 1}, layout="rows")  # type: ignore[arg-type]
    assert len(events(tmp_path)) == 1
    assert points(tmp_path) == [("loss/x/a", 3, 1.0), ("loss/x/b", 3, 2.0)]
    assert os.listdir(tmp_path) == [os.path.basename(files(tmp_path)[0])]


@pytest.mark.parametrize("name", ["../out", "/abs", "a/../../out", "..", "nul\0"])
def test_no_name_leaves_the_log_directory(tmp_path: Path, name: str) -> None:
    logdir = tmp_path / "run"
    with SummaryWriter(logdir) as writer:
        with pytest.raises(ValueError, match=r"directory|NUL"):
            writer.add_hparams({"lr": 1}, {"m": 1}, run_name=name)
        with pytest.raises(ValueError, match=r"directory|NUL"):
            writer.add_scalars("x", {f"/../../{name}": 1})
    assert os.listdir(tmp_path) == ["run"]


def test_export_scalars_to_json(tmp_path: Path) -> None:
    with SummaryWriter(tmp_path / "run") as writer:
        writer.add_scalar("other", 1, 0)
        writer.add_scalars("loss", {"a": 1.5}, 3, walltime=2.0)
        writer.export_scalars_to_json(tmp_path / "all.json")
    table = json.loads((tmp_path / "all.json").read_text())
    assert table == {f"{tmp_path / 'run' / 'loss_a'}/loss": [[2.0, 3, 1.5]]}


def test_use_metadata_gives_step_and_time_to_calls_without(tmp_path: Path) -> None:
    with SummaryWriter(tmp_path) as writer:
        with writer.use_metadata(global_step=5, walltime=2.5):
            writer.add_scalar("a", 1)
            writer.add_image("i", GRAY)
            writer.add_scalar("a", 1, 6, walltime=9.0)
            writer.add_scalar("a", 1, 7)
        writer.add_scalar("a", 1)
    found = [(event.step, event.wall_time) for event in events(tmp_path)]
    assert found[:4] == [(5, 2.5), (5, 2.5), (6, 9.0), (7, 2.5)]
    assert found[4][0] == 0
    assert found[4][1] > 1e9


def test_tensorboardx_orders_of_arguments(tmp_path: Path) -> None:
    with SummaryWriter(tmp_path) as writer:
        writer.add_scalar("a", 1, 0, None, "Name", "What it is")
        writer.add_hparams({"lr": 1}, {"m": 2}, "name", 4)
        writer.add_image_with_boxes("b", GRAY, [[0, 0, 2, 2]], 1, None, "CHW", ["x"])
    value = events(tmp_path)[0].summary.value[0]
    assert value.simple_value == 1.0
    assert (value.metadata.display_name, value.metadata.summary_description) == (
        "Name", "What it is",
    )
    assert points(tmp_path / "name")[-1] == ("m", 4, 2.0)


def test_hparams_into_the_same_run_and_file(tmp_path: Path) -> None:
    with SummaryWriter(tmp_path) as writer:
        writer.add_scalar("a", 1, 0)
        writer.add_hparams({"lr": 0.5, "on": True}, {"m": 2}, run_name=".")
        writer.add_hparams({"lr": 0.25}, run_name=".")
    assert len(files(tmp_path)) == 1
    assert [tag for tag, _, _ in points(tmp_path)] == [
        "a", "_hparams_/experiment", "_hparams_/session_start_info",
        "_hparams_/session_end_info", "m", "_hparams_/experiment",
        "_hparams_/session_start_info", "_hparams_/session_end_info",
    ]


@pytest.mark.parametrize("log_dir", [5, 0, False, {}, [], object])
def test_what_is_no_path_is_no_directory(
    log_dir: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(TypeError, match=r"os\.PathLike"):
        SummaryWriter(log_dir)
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(
    "call",
    [
        lambda w: w.add_scalar("bad", "1.5", 0),
        lambda w: w.add_scalar("bad", 1, 1.7),
        lambda w: w.add_scalar(5, 1, 0),
        lambda w: w.add_scalars("bad", {"ok": 1, "no": None}),
        lambda w: w.add_histogram("bad", []),
        lambda w: w.add_image("bad", np.zeros((5, 4, 4))),
        lambda w: w.add_text("bad", b"bytes"),
        lambda w: w.add_audio("bad", []),
        lambda w: w.add_mesh("bad", np.zeros((1, 4, 3)), colors=np.zeros((1, 5, 3))),
        lambda w: w.add_hparams({1: 2}, {}),
        lambda w: w.add_hparams({"ok": 2}, {"m": "x"}),
        lambda w: w.add_custom_scalars_marginchart(["a", "b"]),
        lambda w: w.add_pr_curve("bad", [0, 1], [0.5]),
        lambda w: w.add_video("bad", np.zeros((2, 3, 4))),
        lambda w: w.add_embedding(np.zeros(3)),
        lambda w: w.add_figure("bad", "no figure"),
        lambda w: w.add_run_metadata("no message", "bad"),
    ],
)
def test_bad_input_raises_in_the_caller_and_writes_nothing(tmp_path: Path, call: Any) -> None:
    with SummaryWriter(tmp_path) as writer:
        with pytest.raises((TypeError, ValueError)):
            call(writer)
        writer.add_scalar("good", 1, 1)
    assert points(tmp_path) == [("good", 1, 1.0)]
    assert os.listdir(tmp_path) == [os.path.basename(files(tmp_path)[0])]


# -- several files


def test_rotation_by_size_keeps_every_event_in_order(tmp_path: Path) -> None:
    with SummaryWriter(tmp_path, max_file_bytes=2000) as writer:
        for step in range(200):
            writer.add_scalar("a", step, step)
        writer.add_text("big", "x" * 5000, 200)
        writer.add_scalar("a", 201, 201)
    sizes = [os.path.getsize(path) for path in files(tmp_path)]
    assert len(sizes) > 4
    assert sum(size > 2200 for size in sizes) == 1
    by_time = sorted(files(tmp_path), key=lambda path: int(path.rsplit(".", 1)[1]))
    steps = [
        event.step for path in by_time for event in LegacyEventFileLoader(path).Load()
        if not event.file_version
    ]
    assert steps == list(range(202))


def test_keep_images_removes_old_images_and_nothing_else(tmp_path: Path) -> None:
    with SummaryWriter(tmp_path, keep_images=3) as writer:
        writer.add_image("rare", GRAY, 0)
        for step in range(20):
            writer.add_image("often", GRAY, step)
            writer.add_scalar("a", step, step)
    steps: dict[str, list[int]] = {}
    for tag, step, _ in points(tmp_path):
        steps.setdefault(tag, []).append(step)
    assert sorted(steps["a"]) == list(range(20))
    assert steps["rare"] == [0]
    assert set(steps["often"]) >= {17, 18, 19}
    assert len(steps["often"]) <= 6


@pytest.mark.skipif(os.name != "posix", reason="open files cannot be removed here")
def test_a_removed_directory_is_not_made_again_by_the_next_file(tmp_path: Path) -> None:
    run = tmp_path / "run"
    writer = SummaryWriter(run, max_file_bytes=1000)
    shutil.rmtree(run)
    for step in range(300):
        with contextlib.suppress(OSError):
            writer.add_scalar("a", step, step)
    with pytest.raises(OSError):
        writer.flush()
    assert not run.exists()
    run.mkdir()
    writer.close()
    assert sorted(points(run)) == [("a", step, float(step)) for step in range(300)]


def test_a_full_disk_between_two_files_loses_and_repeats_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    create, attempts = LocalStore.create, iter(range(1000))

    def refuse_some(self: LocalStore, path: str, **options: Any) -> Any:
        if next(attempts) in (2, 3):
            raise OSError(errno.ENOSPC, "full", path)
        return create(self, path, **options)

    monkeypatch.setattr(LocalStore, "create", refuse_some)
    writer = SummaryWriter(tmp_path, max_file_bytes=1000, keep_images=5)
    for step in range(300):
        writer.add_scalar("a", step, step)
    for _ in range(2):
        with pytest.raises(OSError, match="full"):
            writer.flush()
    writer.close()
    assert sorted(points(tmp_path)) == [("a", step, float(step)) for step in range(300)]


@pytest.mark.parametrize(
    ("option", "value"),
    [("max_file_bytes", "5"), ("keep_images", [1]), ("comet_config", 5), ("flush_secs", 1j)],
)
def test_options_of_another_type_are_refused_by_name(
    tmp_path: Path, option: str, value: Any
) -> None:
    with pytest.raises(TypeError, match=option):
        SummaryWriter(tmp_path / "run", **{option: value})
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("option", ["max_file_bytes", "keep_images"])
def test_bounds_must_be_positive(tmp_path: Path, option: str) -> None:
    with pytest.raises(ValueError, match="positive"):
        SummaryWriter(tmp_path, **{option: 0})  # type: ignore[arg-type]
