from __future__ import annotations

import gzip
import os
import shutil
import tracemalloc
from collections.abc import Callable
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tfevents import SummaryWriter, logdir, proto, record
from tfevents.errors import BadChecksumError, BadMessageError
from tfevents.logdir import KINDS, LogDir
from tfevents.store import MemoryStore, redirect

event_pb2 = pytest.importorskip("tensorboard.compat.proto.event_pb2")
summary_pb2 = pytest.importorskip("tensorboard.compat.proto.summary_pb2")
event_file_writer = pytest.importorskip("tensorboard.summary.writer.event_file_writer")
tensor_util = pytest.importorskip("tensorboard.util.tensor_util")

Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path, tensorboards_names_in_order: None) -> Write:
    """Writes events with TensorBoard's own writer and returns the file."""

    def write(*events: Any, run: str = ".", suffix: str = "") -> Path:
        directory = tmp_path / run
        before = set(directory.glob("*"))
        writer = event_file_writer.EventFileWriter(str(directory), filename_suffix=suffix)
        for event in events:
            writer.add_event(event)
        writer.close()
        (path,) = {path for path in directory.glob("*") if path.is_file()} - before
        return path

    return write


def event(step: int, *values: Any, wall_time: float | None = None) -> Any:
    time = 1.7e9 + step if wall_time is None else wall_time
    made = event_pb2.Event(step=step, wall_time=time)
    for value in values:  # TensorBoard's modules make TensorFlow's messages where that is installed
        made.summary.value.add().ParseFromString(value.SerializeToString())
    return made


def simple(tag: str, number: float) -> Any:
    return summary_pb2.Summary.Value(tag=tag, simple_value=number)


def tensor(tag: str, data: Any, plugin: str = "", content: bytes = b"") -> Any:
    value = summary_pb2.Summary.Value(tag=tag, tensor=tensor_util.make_tensor_proto(data))
    if plugin:
        value.metadata.plugin_data.plugin_name = plugin
        value.metadata.plugin_data.content = content
    return value


def tags(run: logdir.Run) -> dict[str, list[str]]:
    return {kind: names for kind, names in run.tags().items() if names}


def test_scalars_are_arrays_of_the_stored_numbers(tmp_path: Path, write: Write) -> None:
    write(*(event(step, simple("a", step * 0.1)) for step in range(10)))
    series = logdir.read(tmp_path)["."].scalars("a")
    assert series.steps.tolist() == list(range(10))
    assert series.wall_times.tolist() == [1.7e9 + step for step in range(10)]
    assert series.values.tolist() == [float(np.float32(step * 0.1)) for step in range(10)]
    assert (series.steps.dtype.str, series.values.dtype.str) == ("<i8", "<f8")
    assert len(series) == 10
    assert series[-1] == (9, 1.7e9 + 9, float(np.float32(0.9)))
    assert list(series)[1] == (1, 1.7e9 + 1, float(np.float32(0.1)))


def test_scalars_equal_tensorboards_accumulator(tmp_path: Path, write: Write) -> None:
    module = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    rng = np.random.default_rng(3)
    write(
        *(
            event(step, *(simple(f"tag{i}", rng.normal()) for i in range(step % 4)))
            for step in range(200)
        )
    )
    theirs = module.EventAccumulator(str(tmp_path), {module.SCALARS: 0})
    theirs.Reload()
    run = logdir.read(tmp_path)["."]
    assert run.tags()["scalars"] == sorted(theirs.Tags()["scalars"])
    for tag in run.tags()["scalars"]:
        expected = [(point.step, point.wall_time, point.value) for point in theirs.Scalars(tag)]
        assert list(run.scalars(tag)) == expected


def test_case_104_all_of_10001_points_are_kept(tmp_path: Path, write: Write) -> None:
    write(*(event(step, simple("a", step)) for step in range(10_001)))
    assert len(logdir.read(tmp_path)["."].scalars("a")) == 10_001


STEPS_BACK = [0, 1, 2, 3, 2, 3, 4]


@pytest.mark.parametrize(
    ("order", "keep", "expected"),
    [
        ("file", "all", [(0, 0), (1, 1), (2, 2), (3, 3), (2, 4), (3, 5), (4, 6)]),
        ("step", "all", [(0, 0), (1, 1), (2, 2), (2, 4), (3, 3), (3, 5), (4, 6)]),
        ("file", "last", [(0, 0), (1, 1), (2, 4), (3, 5), (4, 6)]),
        ("step", "last", [(0, 0), (1, 1), (2, 4), (3, 5), (4, 6)]),
        ("file", "first", [(0, 0), (1, 1), (2, 2), (3, 3), (4, 6)]),
        ("step", "first", [(0, 0), (1, 1), (2, 2), (3, 3), (4, 6)]),
    ],
)
def test_case_105_steps_that_go_back(
    tmp_path: Path, write: Write, order: str, keep: str, expected: list[tuple[int, int]]
) -> None:
    write(
        *(
            event(step, simple("a", n), tensor("t", [n]), wall_time=1e9 + n)
            for n, step in enumerate(STEPS_BACK)
        )
    )
    run = logdir.read(tmp_path)["."]
    series = run.scalars("a", order=order, keep=keep)
    assert [(step, value) for step, _, value in series] == expected
    tensors = run.tensors("t", order=order, keep=keep)
    assert [(step, value.array.item()) for step, _, value in tensors] == expected


def start(step: int) -> Any:
    made = event(step)
    made.session_log.status = event_pb2.SessionLog.START
    return made


def test_case_49_purge_leaves_out_what_a_restart_has_overtaken(tmp_path: Path) -> None:
    with SummaryWriter(tmp_path, filename_suffix=".1") as writer:
        for step in range(10):
            writer.add_scalar("a", step, step)
            writer.add_scalar("tensor", step, step, new_style=True)
            writer.add_text("note", str(step), step)
    with SummaryWriter(tmp_path, purge_step=5, filename_suffix=".2") as writer:
        for step in (5, 6, 7):
            writer.add_scalar("a", 100 + step, step)
    plain = logdir.read(tmp_path)["."]
    purged = logdir.read(tmp_path, purge=True)["."]
    assert len(plain.scalars("a")) == 13
    assert purged.scalars("a").values.tolist() == [0, 1, 2, 3, 4, 105, 106, 107]
    assert purged.scalars("tensor").steps.tolist() == [0, 1, 2, 3, 4]
    assert purged.texts("note/text_summary").steps.tolist() == [0, 1, 2, 3, 4]


def test_purge_is_what_tensorboards_accumulator_does(tmp_path: Path, write: Write) -> None:
    first = [event(step, simple("a", step), histogram_of(step)) for step in range(9)]
    # restarts inside a file, one below the other, and one that is no session's start
    stop = event(0)
    stop.session_log.status = event_pb2.SessionLog.STOP
    second = [*first[4:], start(6), event(6, simple("a", 60)), stop, start(2), *first[2:4]]
    write(*first).rename(tmp_path / "events.out.tfevents.1")
    write(start(7), *second, event(9, simple("a", 90))).rename(tmp_path / "tfevents.2")
    module = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    theirs = module.EventAccumulator(str(tmp_path), dict.fromkeys(["scalars", "histograms"], 0))
    theirs.Reload()
    ours = logdir.read(tmp_path, purge=True)["."]
    assert [(item.step, item.value) for item in theirs.Scalars("a")] == [
        (step, value) for step, _, value in ours.scalars("a")
    ]
    assert [item.step for item in theirs.Histograms("h")] == ours.histograms("h").steps.tolist()
    assert ours.scalars("a").steps.tolist() == [0, 1, 2, 3, 9]


def histogram_of(step: int) -> Any:
    histo = summary_pb2.HistogramProto(num=1, bucket_limit=[step], bucket=[1])
    return summary_pb2.Summary.Value(tag="h", histo=histo)


@pytest.mark.parametrize("step", [-(2**63), 2**63 - 1])
def test_purge_at_the_ends_of_the_steps(tmp_path: Path, write: Write, step: int) -> None:
    write(event(5, simple("a", 1)), event(2**63 - 1, simple("a", 2)), start(step))
    steps = logdir.read(tmp_path, purge=True)["."].scalars("a").steps.tolist()
    assert steps == ([] if step < 0 else [5])


def test_hparams_are_dicts(tmp_path: Path) -> None:
    for name, rate in (("a", 0.1), ("b", 0.2)):
        with SummaryWriter(tmp_path / name) as writer:
            writer.add_hparams({"lr": rate, "net": "x", "bn": True}, {"loss": 1.0}, run_name=".")
    SummaryWriter(tmp_path / "c").close()
    log = logdir.read(tmp_path)
    assert log["a"].hparams() == {"lr": 0.1, "net": "x", "bn": True}
    assert log["c"].hparams() == {}
    assert log.hparams() == {
        "a": {"lr": 0.1, "net": "x", "bn": True},
        "b": {"lr": 0.2, "net": "x", "bn": True},
    }
    (start,) = [v for v in log["b"].hparams("_hparams_/session_start_info").values if v.start]
    assert start.hparams["lr"] == 0.2


def test_values_are_what_people_use(tmp_path: Path) -> None:
    pixels = np.arange(60, dtype=np.uint8).reshape(4, 5, 3)
    with SummaryWriter(tmp_path) as writer:
        writer.add_image("image", pixels, 1, dataformats="HWC")
        writer.add_text("note", "hé\nllo", 1)
        writer.add_audio("clip", np.array([0.0, 0.5]), 1, sample_rate=8000)
    run = logdir.read(tmp_path)["."]
    (image,) = run.images("image").values
    assert image.pil().mode == "RGB"
    np.testing.assert_array_equal(np.asarray(image.pil()), pixels)
    np.testing.assert_array_equal(image.arrays()[0], pixels)
    assert str(run.texts("note/text_summary").values[0]) == "hé\nllo"
    samples, rate = run.audio("clip").values[0].samples()
    assert (samples[:, 0].tolist(), rate) == ([0, 16383], 8000)  # 0.5 * 32767, cut off


def test_plots_have_a_line_for_each_run_or_tag(tmp_path: Path, write: Write) -> None:
    pytest.importorskip("matplotlib")
    from matplotlib.figure import Figure

    write(event(2, simple("a", 1), simple("b", 3)), event(4, simple("a", 2)), run="x")
    write(event(1, simple("a", 9)), run="y")
    log = logdir.read(tmp_path)
    axes = log.plot("a", Figure().subplots())
    lines = [(line.get_label(), *line.get_xydata().tolist()) for line in axes.lines]
    assert lines == [("x", [2, 1], [4, 2]), ("y", [1, 9])]
    assert [line.get_label() for line in log["x"].plot(ax=Figure().subplots()).lines] == ["a", "b"]
    with pytest.raises(KeyError, match="no run has the scalars tag 'c'"):
        log.plot("c")


def test_notebooks_show_tags_escaped(tmp_path: Path, write: Write) -> None:
    write(event(3, simple("<b>", 0.5)), event(4, simple("<b>", 0.25)), run="x&y")
    log = logdir.read(tmp_path)
    for html in (log._repr_html_(), log["x&y"]._repr_html_()):
        assert "<td>&lt;b&gt;</td>" in html
        assert "<td>2</td><td>4</td><td>0.25</td>" in html
        assert html.count("<polyline") == 1
        assert "x&amp;y" in html


def test_dask_reads_all_files(tmp_path: Path, write: Write) -> None:
    distributed = pytest.importorskip("distributed")
    for name in "abcde":
        write(*(event(step, simple(name, step)) for step in range(50)), run=name)
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None}
    with (
        distributed.LocalCluster(**options, silence_logs=40) as cluster,
        distributed.Client(cluster) as client,
    ):
        log = logdir.read(tmp_path, executor=client.get_executor())
        assert {run.files[0].tail.offset for run in log.values()} == {
            path.stat().st_size for path in tmp_path.glob("*/*")
        }
        for name in "abcde":
            assert log[name].scalars(name).values.tolist() == list(range(50))
        write(event(7, simple("f", 1)), run="f")
        with next((tmp_path / "a").iterdir()).open("ab") as file:
            file.write(record.encode(event(50, simple("a", 50)).SerializeToString()))
        log.reload()
        assert log["f"].scalars("f").values.tolist() == [1]
        assert log["a"].scalars("a").values.tolist() == list(range(51))


def test_unknown_orders_are_refused(tmp_path: Path, write: Write) -> None:
    write(event(0, simple("a", 1)))
    run = logdir.read(tmp_path)["."]
    with pytest.raises(ValueError, match=r"'a'.*order"):
        run.scalars("a", order="time")
    with pytest.raises(ValueError, match=r"'a'.*keep"):
        run.scalars("a", keep="best")


@pytest.mark.parametrize(
    "data",
    [
        np.float32(0.1),
        np.float64(0.1),
        np.float16(0.1),
        np.int32(3),
        np.bool_(True),
        np.array([0.1], np.float32),
        np.array([[7]], np.int64),
    ],
)
def test_case_106_both_forms_are_one_scalar_view(tmp_path: Path, write: Write, data: Any) -> None:
    write(
        event(0, simple("a", 0.5)),
        *(event(step, tensor("a", data, "scalars")) for step in range(1, 10)),
        event(10, simple("a", 2.5)),
    )
    run = logdir.read(tmp_path)["."]
    assert tags(run) == {"scalars": ["a"]}
    series = run.scalars("a")
    assert series.steps.tolist() == list(range(11))
    assert series.values.tolist() == [0.5, *[float(data.item())] * 9, 2.5]


def test_the_first_metadata_of_a_tag_hold_for_events_without(tmp_path: Path, write: Write) -> None:
    write(
        event(0, tensor("a", 0.5, "scalars"), tensor("t", b"hello", "text"), tensor("x", [1.0])),
        event(1, tensor("a", 1.5), tensor("t", b"world"), tensor("x", [2.0])),
    )
    write(event(2, tensor("a", 2.5)), suffix=".z")
    run = logdir.read(tmp_path)["."]
    assert tags(run) == {"scalars": ["a"], "texts": ["t"], "tensors": ["x"]}
    assert run.scalars("a").values.tolist() == [0.5, 1.5, 2.5]
    assert [text.strings for text in run.texts("t").values] == [(b"hello",), (b"world",)]


def test_every_kind_is_told_by_its_field_or_its_plugin(tmp_path: Path, write: Write) -> None:
    image = summary_pb2.Summary.Value(tag="i")
    image.image.width, image.image.height, image.image.encoded_image_string = 2, 3, b"png"
    audio = summary_pb2.Summary.Value(tag="au")
    audio.audio.sample_rate, audio.audio.encoded_audio_string = 8000, b"wav"
    histogram = summary_pb2.Summary.Value(tag="h")
    histogram.histo.bucket_limit.extend([1.0, 2.0])
    histogram.histo.bucket.extend([3.0, 4.0])
    graph = event_pb2.Event(
        graph_def=proto.GraphDef(node=[proto.NodeDef(name="n")]).SerializeToString()
    )
    metadata = event_pb2.Event(step=4)
    metadata.tagged_run_metadata.tag = "step4"
    stats = proto.RunMetadata()
    stats.step_stats.dev_stats.add(device="cpu")
    metadata.tagged_run_metadata.run_metadata = stats.SerializeToString()
    write(
        event(1, image, audio, histogram, simple("s", 1)),
        event(2, tensor("i2", [b"2", b"3", b"png"], "images")),
        event(2, tensor("h2", [[0.0, 1.0, 5.0]], "histograms")),
        event(2, tensor("t2", [b"a", b"b"], "text"), tensor("new", 1.0, "a plugin of my own")),
        graph,
        metadata,
    )
    run = logdir.read(tmp_path)["."]
    assert tuple(run.tags()) == KINDS
    assert tags(run) == {
        "scalars": ["s"],
        "images": ["i", "i2"],
        "audio": ["au"],
        "histograms": ["h", "h2"],
        "texts": ["t2"],
        "tensors": ["new"],
        "graphs": ["__run_graph__"],
        "run_metadata": ["step4"],
    }
    assert run.notices == []
    assert [image.encoded for image in run.images("i").values] == [(b"png",)]
    assert [(i.width, i.height) for i in run.images("i2").values] == [(2, 3)]
    assert [audio.sample_rate for audio in run.audio("au").values] == [8000]
    assert run.histograms("h2").values[0].buckets.tolist() == [[0.0, 1.0, 5.0]]
    assert run.histograms("h2").steps.tolist() == [2]
    assert run.texts("t2").values[0].strings == (b"a", b"b")
    assert run.tensors("new").values[0].array.item() == 1.0
    assert [node.name for node in run.graph().node] == ["n"]
    found = run.run_metadata("step4")
    assert found.steps.tolist() == [4]
    assert found.values[0].step_stats.dev_stats[0].device == "cpu"


def test_an_unknown_tag_or_run_names_near_ones(tmp_path: Path, write: Write) -> None:
    write(event(0, simple("train/loss", 1)), run="first")
    log = logdir.read(tmp_path)
    with pytest.raises(KeyError, match=r"'train/lost'.*'train/loss'"):
        log["first"].scalars("train/lost")
    with pytest.raises(KeyError, match="among scalars"):
        log["first"].images("train/loss")
    with pytest.raises(KeyError, match="has no graph"):
        log["first"].graph()
    with pytest.raises(KeyError, match=r"'frist'.*'first'"):
        log["frist"]
    with pytest.raises(KeyError, match=r"tag 'loss'; did you mean 'train/loss'\?"):
        log.plot("loss")
    odd: list[Any] = [0, None]
    assert [name in log for name in odd] == [False, False]
    assert "frist" not in log


def test_runs_are_directories_and_only_tfevents_files_count(tmp_path: Path, write: Write) -> None:
    path = write(event(0, simple("a", 1)))
    write(event(0, simple("b", 1)), run="x/y")
    write(event(0, simple("c", 1)), run="x")
    shutil.copy(path, tmp_path / "x" / "other.bin")
    shutil.copy(path, tmp_path / "x" / "events.out.tfevents.1.h.profile-empty")
    (tmp_path / "empty").mkdir()
    log = logdir.read(str(tmp_path) + os.sep)
    assert list(log) == [".", "x", "x/y"]
    assert list(log.runs) == [".", "x", "x/y"]
    assert len(log) == 3
    assert log["x"].tags()["scalars"] == ["c"]
    assert log["x/y"].tags()["scalars"] == ["b"]


def test_relative_directories_give_the_same_names(
    tmp_path: Path, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(event(0, simple("a", 1)), run="x")
    monkeypatch.chdir(tmp_path)
    for path in (".", "./", "x/..", tmp_path):
        assert list(logdir.read(path)) == ["x"]
    assert list(logdir.read("x")) == ["."]


def test_files_of_a_run_are_read_in_the_order_of_their_names(tmp_path: Path, write: Write) -> None:
    late = write(event(1, simple("a", 1)))
    early = write(event(2, simple("a", 2)))
    late.rename(tmp_path / "events.out.tfevents.2000000000.h")
    early.rename(tmp_path / "events.out.tfevents.1000000000.h")
    run = logdir.read(tmp_path)["."]
    assert run.scalars("a").steps.tolist() == [2, 1]
    assert run.scalars("a", order="step").steps.tolist() == [1, 2]


def test_case_109_a_file_given_by_name_is_read(tmp_path: Path, write: Write) -> None:
    path = write(event(0, simple("a", 1))).rename(tmp_path / "run.tfrecord")
    assert logdir.read(tmp_path).runs == {}
    log = logdir.read(path)
    assert list(log) == ["."]
    assert len(log["."].scalars("a")) == 1


def test_case_112_gzip_files_are_read_with_their_large_values(tmp_path: Path, write: Write) -> None:
    path = write(event(0, simple("a", 1), tensor("t", [b"x" * 9000], "text")))
    path.write_bytes(gzip.compress(path.read_bytes()))
    run = logdir.read(tmp_path)["."]
    assert run.scalars("a").values.tolist() == [1]
    assert run.texts("t").values[0].strings == (b"x" * 9000,)


def test_a_missing_path_raises_and_an_empty_directory_does_not(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        logdir.read(tmp_path / "nowhere")
    assert logdir.read(tmp_path).runs == {}


def test_reload_finds_new_events_files_and_runs(tmp_path: Path, write: Write) -> None:
    path = write(event(0, simple("a", 0)))
    log = logdir.read(tmp_path)
    before = log["."].scalars("a")
    more = write(event(1, simple("a", 1)), run="elsewhere")
    version_size = 88
    with open(path, "ab") as file:
        file.write(more.read_bytes()[version_size:])
    write(event(2, simple("b", 2)), suffix=".z")
    assert log["."].scalars("a").steps.tolist() == [0]
    assert log.reload() is log
    assert list(log) == [".", "elsewhere"]
    assert log["."].scalars("a").steps.tolist() == [0, 1]
    assert log["."].scalars("b").steps.tolist() == [2]
    assert before.steps.tolist() == [0]
    assert log.notices == []


def test_notices_name_file_and_offset_and_strict_raises(tmp_path: Path, write: Write) -> None:
    path = write(*(event(step, simple("a", step)) for step in range(10)), run="r")
    content = bytearray(path.read_bytes())
    content[-6] ^= 1
    path.write_bytes(content[:])
    (tmp_path / "r" / "text.tfevents").write_text("not an event file, but text")
    log = logdir.read(tmp_path)
    assert log["r"].scalars("a").steps.tolist() == list(range(9))
    bad, foreign = log.notices
    assert (bad.kind, bad.path) == ("bad-checksum", str(path))
    assert 0 < bad.offset < len(content)
    assert (foreign.kind, foreign.offset) == ("not-event-file", 0)
    with pytest.raises(BadChecksumError) as caught:
        logdir.read(tmp_path, strict=True)
    assert (caught.value.path, caught.value.offset) == (str(path), bad.offset)


def test_a_value_that_cannot_be_decoded_is_a_notice(tmp_path: Path, write: Write) -> None:
    good = tensor("h", np.array([[0.0, 1.0, 5.0]]), "histograms")
    write(event(1, good), event(2, tensor("h", b"no histogram", "histograms")), event(3, good))
    log = logdir.read(tmp_path)
    for _ in range(2):
        assert log["."].histograms("h").steps.tolist() == [1, 3]
    assert [notice.kind for notice in log.notices] == ["bad-message"]
    with pytest.raises(BadMessageError, match="'h'"):
        logdir.read(tmp_path, strict=True)["."].histograms("h")


def test_a_scalar_tensor_of_several_numbers_is_a_notice(tmp_path: Path, write: Write) -> None:
    write(event(1, tensor("a", 1.0, "scalars")), event(2, tensor("a", [1.0, 2.0], "scalars")))
    log = logdir.read(tmp_path)
    assert log["."].scalars("a").steps.tolist() == [1]
    assert [notice.kind for notice in log.notices] == ["bad-message"]


def test_a_file_that_vanishes_before_it_is_read_is_a_notice(tmp_path: Path, write: Write) -> None:
    path = write(event(0, simple("a", 0)), run="r")
    write(event(1, simple("a", 1)), run="r", suffix=".z")
    log = logdir.read(tmp_path)
    path.unlink()
    assert log["r"].scalars("a").steps.tolist() == [1]
    assert [(notice.kind, notice.path) for notice in log.notices] == [("vanished", str(path))]
    log.reload()
    assert log["r"].scalars("a").steps.tolist() == [1]


@pytest.mark.parametrize("make", [ThreadPoolExecutor, ProcessPoolExecutor])
def test_an_executor_reads_all_files(
    tmp_path: Path, write: Write, make: Callable[[int], Executor]
) -> None:
    path = write(*(event(step, simple("a", step)) for step in range(20)), run="r")
    packed = write(*(event(step, simple("a", step)) for step in range(20)), run="gz")
    packed.write_bytes(gzip.compress(packed.read_bytes()))
    write(event(0, tensor("t", b"text", "text")), run="s")
    with make(2) as executor:
        log = logdir.read(tmp_path, executor=executor)
        with open(path, "ab") as file:
            file.write(b"half a record")
        for _ in range(2):
            assert log["r"].scalars("a").steps.tolist() == list(range(20))
            assert log["gz"].scalars("a").steps.tolist() == list(range(20))
            assert log["s"].texts("t").values[0].strings == (b"text",)
            assert log.reload() is log
        assert [notice.kind for notice in log.notices] == ["bad-length"]


def test_counts_and_the_last_point_decode_nothing_else(tmp_path: Path, write: Write) -> None:
    text = [event(step, tensor("t", b"%d" % step, "text")) for step in range(3)]
    plain = [event(step, simple("a", step)) for step in range(4)]
    odd = [event(step, tensor("a", [float(step)], "scalars")) for step in (8, 9)]
    bad = event(7, summary_pb2.Summary.Value(tag="t", tensor={"dtype": 99}))
    write(*text[:2], *plain, run="r")
    path = write(*odd, text[2], bad, run="r", suffix=".v2")
    log = logdir.read(tmp_path)
    run = log["r"]
    assert (run.count("scalars", "a"), run.count("texts", "t")) == (6, 4)
    assert log.notices == []  # the broken text was counted, not decoded
    assert run.last("scalars", "a") == (9, 1.7e9 + 9, 9.0)
    step, wall_time, value = run.last("texts", "t") or (0, 0, None)
    assert (step, wall_time, str(value)) == (2, 1.7e9 + 2, "2")
    assert [(notice.kind, notice.path) for notice in log.notices] == [("bad-message", str(path))]
    with pytest.raises(KeyError, match="no texts tag 'a'"):
        run.count("texts", "a")
    with pytest.raises(ValueError, match=r"kind must be one of scalars.*did you mean 'texts'"):
        run.last("text", "t")


def test_a_log_looked_at_while_it_is_written_has_no_notice_in_the_end(
    tmp_path: Path, write: Write
) -> None:
    path = write(event(0, simple("a", 1.0)), event(1, simple("a", 2.0)))
    data = path.read_bytes()
    path.write_bytes(data[:-5])
    log = logdir.read(tmp_path)
    assert [(notice.kind, notice.path) for notice in log.notices] == [("truncated", str(path))]
    path.write_bytes(data)
    assert log.reload().notices == []
    assert log["."].scalars("a").values.tolist() == [1.0, 2.0]


def test_counts_leave_out_what_a_restart_has_overtaken(tmp_path: Path, write: Write) -> None:
    first = [event(step, simple("a", step), tensor("t", b"x", "text")) for step in range(10)]
    start = event_pb2.Event(step=4, session_log={"status": "START"})
    write(*first, start, event(4, simple("a", 7)))
    run = logdir.read(tmp_path, purge=True)["."]
    assert (run.count("scalars", "a"), run.count("texts", "t")) == (5, 4)
    assert (run.last("texts", "t") or (None,))[0] == 3
    assert logdir.read(tmp_path)["."].count("texts", "t") == 10


def test_a_series_is_the_users_own(tmp_path: Path, write: Write) -> None:
    write(*(event(step, simple("a", step)) for step in range(9)))
    run = logdir.read(tmp_path)["."]
    run.scalars("a").values[:] = -1
    run.scalars("a").steps[:] = -1
    assert list(run.scalars("a"))[8] == (8, 1.7e9 + 8, 8.0)


def test_an_executor_is_used(tmp_path: Path, write: Write) -> None:
    path = write(event(0, simple("a", 0)))
    with ThreadPoolExecutor(1) as executor:
        log = logdir.read(tmp_path, executor=executor)
    path.unlink()  # what was read at once needs no file any more
    assert len(log["."].scalars("a")) == 1


def test_large_values_are_not_held(tmp_path: Path) -> None:
    data = event(1, tensor("t", b"x" * 1_000_000, "text")).SerializeToString()
    (tmp_path / "tfevents").write_bytes(record.encode_all([data] * 30))
    tracemalloc.start()
    log = logdir.read(tmp_path)
    assert log["."].tags()["texts"] == ["t"]
    held, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert held < 2_000_000
    assert peak < 20_000_000
    assert len(log["."].texts("t")) == 30


def test_a_memory_store_is_read(tmp_path: Path, write: Write) -> None:
    store = MemoryStore()
    content = write(event(0, simple("a", 0))).read_bytes()
    store.files["logs/x/events.out.tfevents.1.h"] = bytearray(content)
    with redirect(store):
        log: LogDir = logdir.read("logs")
        assert list(log) == ["x"]
        assert len(log["x"].scalars("a")) == 1


def test_torch_files_read_as_torch_wrote_them(tmp_path: Path) -> None:
    tensorboard = pytest.importorskip("torch.utils.tensorboard")
    writer = tensorboard.SummaryWriter(str(tmp_path))
    for step in range(20):
        writer.add_scalar("loss", step / 4, step)
        writer.add_scalar("new", step / 4, step, new_style=True)
        writer.add_scalar("double", 0.1, step, new_style=True, double_precision=True)
    writer.add_text("note", "hello", 3)
    writer.add_histogram("h", np.arange(10.0), 2)
    writer.add_image("i", np.zeros((3, 4, 5), np.uint8), 1)
    writer.add_tensor("t", pytest.importorskip("torch").arange(3), 5)
    writer.close()
    log = logdir.read(tmp_path)
    run = log["."]
    assert tags(run) == {
        "scalars": ["double", "loss", "new"],
        "images": ["i"],
        "histograms": ["h"],
        "texts": ["note/text_summary"],
        "tensors": ["t"],
    }
    for tag in ("loss", "new"):
        assert run.scalars(tag).values.tolist() == [step / 4 for step in range(20)]
    assert run.scalars("double").values.tolist() == [0.1] * 20
    assert run.texts("note/text_summary").values[0].strings == (b"hello",)
    assert run.images("i").values[0].width == 5
    assert run.tensors("t").values[0].array.tolist() == [0, 1, 2]
    assert log.notices == []


def test_tensorboardx_files_read_as_it_wrote_them(tmp_path: Path) -> None:
    tensorboardx = pytest.importorskip("tensorboardX")
    writer = tensorboardx.SummaryWriter(str(tmp_path))
    for step in range(20):
        writer.add_scalar("loss", step / 4, step)
    writer.add_text("note", "hello", 3)
    writer.close()
    run = logdir.read(tmp_path)["."]
    assert tags(run) == {"scalars": ["loss"], "texts": ["note/text_summary"]}
    assert run.scalars("loss").values.tolist() == [step / 4 for step in range(20)]


def test_tensorflow_files_read_as_it_wrote_them(tmp_path: Path) -> None:
    tf = pytest.importorskip("tensorflow")
    with tf.summary.create_file_writer(str(tmp_path)).as_default():
        for step in range(20):
            tf.summary.scalar("loss", step / 4, step)
        tf.summary.text("note", ["a", "b"], 3)
        tf.summary.histogram("h", [1.0, 2.0], 2)
        tf.summary.image("i", np.zeros((2, 4, 5, 3), np.uint8), 1)
        tf.summary.audio("au", np.zeros((1, 8, 1), np.float32), 8000, 1)
        tf.summary.graph(tf.Graph().as_graph_def())
    log = logdir.read(tmp_path)
    run = log["."]
    assert tags(run) == {
        "scalars": ["loss"],
        "images": ["i"],
        "audio": ["au"],
        "histograms": ["h"],
        "texts": ["note"],
        "graphs": ["__run_graph__"],
    }
    assert run.scalars("loss").values.tolist() == [step / 4 for step in range(20)]
    assert run.texts("note").values[0].strings == (b"a", b"b")
    assert len(run.images("i").values[0].encoded) == 2
    assert run.audio("au").values[0].sample_rate == 8000
    assert log.notices == []


def test_the_kinds_of_tensorboards_own_summary_modules(tmp_path: Path, write: Write) -> None:
    hparams = pytest.importorskip("tensorboard.plugins.hparams.summary")
    pr_curve = pytest.importorskip("tensorboard.plugins.pr_curve.summary")
    custom = pytest.importorskip("tensorboard.plugins.custom_scalar.summary")
    layouts = pytest.importorskip("tensorboard.plugins.custom_scalar.layout_pb2")
    mesh = pytest.importorskip("tensorboard.plugins.mesh.summary")
    curve = pr_curve.raw_data_pb("curve", [3], [1], [2], [4], [0.75], [0.6], num_thresholds=1)
    charts = custom.pb(layouts.Layout(category=[layouts.Category(title="all")]))
    points = mesh.mesh_pb("cloud", np.ones((1, 4, 3), np.float32))
    write(
        event(0, *hparams.session_start_pb({"lr": 0.5}).value),
        event(1, *curve.value, *charts.value),
        event(2, *points.value),
    )
    log = logdir.read(tmp_path)
    run = log["."]
    assert tags(run) == {
        "hparams": ["_hparams_/session_start_info"],
        "pr_curves": ["curve/pr_curves"],
        "meshes": ["cloud_VERTEX"],
        "custom_scalars": ["custom_scalars__config__"],
    }
    start = run.hparams("_hparams_/session_start_info").values[0].start
    assert start.hparams == {"lr": 0.5}
    assert len(run.pr_curves("curve/pr_curves")) == 1
    assert run.meshes("cloud_VERTEX").values[0].vertices.shape == (1, 4, 3)
    layout = run.custom_scalars("custom_scalars__config__").values[0]
    assert [category.title for category in layout.categories] == ["all"]
    assert log.notices == []
