from __future__ import annotations

import copy
import errno
import math
import pickle
import struct
import threading
import warnings
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from readback import event_files, events, scalars, steps
from tfevents import _warn, proto, run_writer
from tfevents._types import EventWriter
from tfevents.errors import WriterClosedError
from tfevents.run_writer import RunWriter, child_path
from tfevents.store import LocalStore, MemoryStore

INF, NAN = math.inf, math.nan
FLT_MAX = struct.unpack("<f", b"\xff\xff\x7f\x7f")[0]


def single(value: float) -> float:
    return float(struct.unpack("<f", struct.pack("<f", value))[0])


def write(directory: Path, *arguments: Any, **options: Any) -> list[tuple[str, int, float]]:
    with RunWriter(directory) as writer:
        writer.add_scalar(*arguments, **options)
    return scalars(directory)


# -- scalars


@pytest.mark.parametrize(
    ("value", "stored"),
    [
        (0.1, 0.10000000149011612), (16777217, 16777216.0), (123456789, 123456792.0),
        (3, 3), (True, 1), (np.float16(0.5), 0.5), (np.int64(3), 3), (np.bool_(True), 1),
        (np.array(2.0), 2), (np.array([2.0]), 2), (np.array([[2.0]]), 2), ([5.0], 5),
        (Fraction(1, 2), 0.5), (Decimal("0.5"), 0.5), (INF, INF), (-INF, -INF),
        (np.float64(0.1), 0.10000000149011612), (1e-45, single(1e-45)), (-0.0, -0.0),
    ],
)
def test_values_of_any_type_with_one_number(tmp_path: Path, value: Any, stored: float) -> None:
    assert write(tmp_path, "a", value, 1) == [("a", 1, stored)]


def test_not_a_number_is_a_value(tmp_path: Path) -> None:
    ((_, _, value),) = write(tmp_path, "a", NAN, 1)
    assert math.isnan(value)


@pytest.mark.parametrize(
    ("value", "error", "text"),
    [
        ("1.5", TypeError, "str"), ("abc", TypeError, "str"), (None, TypeError, "None"),
        ({"a": 1}, TypeError, "dict"), (1 + 2j, TypeError, "complex"),
        (np.array([1, 2]), ValueError, r"\(2,\)"), (np.array([]), ValueError, r"\(0,\)"),
        (10**400, ValueError, "int"),
    ],
)
def test_values_that_are_refused_with_tag_and_type(
    tmp_path: Path, value: Any, error: type[Exception], text: str
) -> None:
    with RunWriter(tmp_path) as writer:
        with pytest.raises(error, match=rf"the/tag.*{text}"):
            writer.add_scalar("the/tag", value, 0)
        writer.add_scalar("ok", 1, 1)
    assert scalars(tmp_path) == [("ok", 1, 1.0)]


@pytest.mark.parametrize(
    ("option", "value", "error"),
    [
        ("filename_suffix", 5, TypeError), ("filename_suffix", "/x", ValueError),
        ("max_queue", "10", TypeError), ("max_queue", {}, TypeError),
        ("max_queue", math.nan, ValueError), ("flush_secs", "1", TypeError),
        ("flush_secs", 10**400, ValueError), ("flush_secs", np.zeros(2), TypeError),
        ("flush_secs", None, TypeError), ("flush_secs", math.nan, ValueError),
        ("purge_step", "1", TypeError), ("on_error", "ignore", ValueError),
        ("store", 5, TypeError), ("store", "memory", TypeError), ("store", {}, TypeError),
    ],
)
def test_options_that_are_refused_by_name_make_no_file(
    tmp_path: Path, option: str, value: Any, error: type[Exception]
) -> None:
    with pytest.raises(error, match=option.replace("filename_", "file name ")):
        RunWriter(tmp_path / "run", **{option: value})
    assert not list(tmp_path.rglob("*tfevents*"))


@pytest.mark.parametrize("step", [object(), {}, 1j, "5"])
def test_steps_that_are_refused_name_the_tag_once(tmp_path: Path, step: Any) -> None:
    with RunWriter(tmp_path) as writer, pytest.raises(
        TypeError, match=r"^tag 'the/tag': step must be an integer; got "
    ):
        writer.add_scalar("the/tag", 1.0, step)


@pytest.mark.parametrize(("value", "stored"), [(1e300, INF), (-1e300, -INF), (3.4028236e38, INF)])
def test_overflow_warns_once_a_tag_at_the_line_of_the_call(
    tmp_path: Path, value: float, stored: float
) -> None:
    with RunWriter(tmp_path) as writer:
        with pytest.warns(UserWarning, match="'a'.*beyond float32") as seen:
            writer.add_scalar("a", value, 0)
        assert seen[0].filename == __file__
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            writer.add_scalar("a", value, 1)
        with pytest.warns(UserWarning, match="'b'"):
            writer.add_scalar("b", value, 0)
    assert [each[2] for each in scalars(tmp_path)] == [stored] * 3


@pytest.mark.parametrize("sign", [1, -1])
def test_what_rounds_to_the_greatest_float32_is_no_overflow(tmp_path: Path, sign: int) -> None:
    beyond = math.nextafter(2.0**128 - 2.0**103, 0)  # the last double that rounds down
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert write(tmp_path, "a", sign * beyond, 0) == [("a", 0, sign * FLT_MAX)]
        assert write(tmp_path, "a", np.float64(sign * beyond), 0)[1:] == [("a", 0, sign * FLT_MAX)]


def test_bfloat16_is_widened_exactly(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    with RunWriter(tmp_path) as writer:
        for value in (1.5, 70000, 1e38, 1e-20):
            number: Any = torch.tensor(value, dtype=torch.bfloat16)
            writer.add_scalar("a", number, 0)
    assert [each[2] for each in scalars(tmp_path)] == [
        1.5, 70144.0, 9.969209968386869e37, 1.0005576689441423e-20,
    ]


# -- steps, tags, times


@pytest.mark.parametrize(
    ("step", "stored"),
    [
        (-5, -5), (2**40, 2**40), (2**63 - 1, 2**63 - 1), (-(2**63), -(2**63)), (1.0, 1), (None, 0),
        (True, 1), (np.int64(7), 7), (np.array(7), 7), (np.array([7]), 7), (np.uint8(255), 255),
    ],
)
def test_steps_that_are_taken(tmp_path: Path, step: Any, stored: int) -> None:
    assert write(tmp_path, "a", 1, step) == [("a", stored, 1)]


@pytest.mark.parametrize(
    ("step", "error"),
    [(2**63, ValueError), (1.7, (TypeError, ValueError)), ("5", TypeError), (NAN, ValueError),
     (INF, ValueError), (b"5", TypeError), (np.array([1, 2]), ValueError), (object(), TypeError)],
)
def test_steps_that_are_refused_with_the_tag(tmp_path: Path, step: Any, error: Any) -> None:
    with RunWriter(tmp_path) as writer:
        with pytest.raises(error, match="the/tag"):
            writer.add_scalar("the/tag", 1.0, step)
        with pytest.raises(error, match="the/tag"):
            writer.add_value("the/tag", lambda tag: proto.Summary.Value(tag=tag), step)
    assert scalars(tmp_path) == []


@pytest.mark.parametrize(
    "tag",
    ["ロス/テスト", "acc (top 1)", "cpu %", "/lead", "a:b", "a b", "x" * 2000, "", "a\0b", "../up"],
)
def test_tags_are_kept_as_given(tmp_path: Path, tag: str) -> None:
    assert write(tmp_path, tag, 1, 0) == [(tag, 0, 1)]


@pytest.mark.parametrize("tag", [None, 5, b"by", ["a"], {}])
@pytest.mark.parametrize("call", ["add_scalar", "add_tensor_scalar"])
def test_tags_that_are_no_text_are_type_errors(tmp_path: Path, tag: Any, call: str) -> None:
    with RunWriter(tmp_path) as writer:
        with pytest.raises(TypeError, match="a tag must be a str"):
            getattr(writer, call)(tag, 1.0, 0)
        writer.add_scalar("ok", 1, 1)
    assert scalars(tmp_path) == [("ok", 1, 1.0)]


def test_tags_with_lone_surrogates_are_value_errors_in_the_call(tmp_path: Path) -> None:
    with RunWriter(tmp_path) as writer:
        with pytest.raises(ValueError, match=r"\\ud800"):
            writer.add_scalar("\ud800", 1.0, 0)
        with pytest.raises(ValueError, match=r"\\ud800"):
            writer.add_value("\ud800", lambda tag: proto.Summary.Value(tag=tag), 0)
        writer.add_scalar("ok", 1, 1)
    assert scalars(tmp_path) == [("ok", 1, 1.0)]


@pytest.mark.parametrize("wall_time", [0, -5.5, 1e18, 1700000000.123456, np.float64(2.5), INF])
def test_wall_times_are_kept_exactly(tmp_path: Path, wall_time: Any) -> None:
    write(tmp_path, "a", 1, 0, wall_time=wall_time)
    assert events(tmp_path)[0].wall_time == float(wall_time)


@pytest.mark.parametrize(
    "wall_time", ["noon", "5", b"5", 10**400, object(), NAN, np.zeros(2), 1j, Decimal("sNaN")]
)
def test_wall_times_that_are_refused_with_the_tag(tmp_path: Path, wall_time: Any) -> None:
    with RunWriter(tmp_path) as writer, pytest.raises((TypeError, ValueError), match="'the/tag'"):
        writer.add_scalar("the/tag", 1, 0, wall_time)


def test_wall_times_that_are_not_a_number_are_refused_in_whole_events_too(tmp_path: Path) -> None:
    """TensorBoard's data server stops reading a file at such an event."""
    with RunWriter(tmp_path) as writer:
        for event in (proto.Event(wall_time=NAN), proto.Event(wall_time=NAN, step=1)):
            with pytest.raises(ValueError, match="wall time"):
                writer.add_event(event)
            with pytest.raises(ValueError, match="wall time"):
                writer.add_event(event.SerializeToString())
    assert events(tmp_path) == []


def test_wall_times_are_now_by_default(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_writer, "_clock", lambda: 1700000000.25)
    write(tmp_path, "a", 1, 0)
    assert events(tmp_path)[0].wall_time == 1700000000.25


def test_tags_without_end_do_not_fill_the_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_writer, "_MAX_TAGS", 10)
    monkeypatch.setattr(_warn, "_MAX_TOLD", 10)
    with RunWriter(tmp_path) as writer, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for number in range(35):
            writer.add_scalar(f"tag{number}", 1e300, number)
        assert max(len(writer._simple), len(writer.told)) <= 10
    assert [step for _, step, _ in scalars(tmp_path)] == list(range(35))


# -- files


def test_names_two_writers_of_one_second_do_not_share_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("time.time", lambda: 1700000000.25)
    first = RunWriter(tmp_path)
    first.add_scalar("a", 1, 0)
    first.flush()
    second = RunWriter(tmp_path)
    second.add_scalar("b", 2, 0)
    first.add_scalar("a", 3, 1)
    first.close()
    second.close()
    assert len(event_files(tmp_path)) == 2
    assert sorted(scalars(tmp_path)) == [("a", 0, 1), ("a", 1, 3), ("b", 0, 2)]


def test_names_are_safe_whatever_the_host_is_called(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("socket.gethostname", lambda: "../../ho st\n" + "x" * 300)
    write(tmp_path / "run", "a", 1, 0)
    (path,) = event_files(tmp_path)
    assert path.parent == tmp_path / "run"


def test_purge_step_is_what_tensorboard_expects(tmp_path: Path) -> None:
    accumulators: Any = pytest.importorskip(
        "tensorboard.backend.event_processing.event_accumulator"
    )
    with RunWriter(tmp_path) as writer:
        for step in range(10):
            writer.add_scalar("a", step, step)
    with RunWriter(tmp_path, purge_step=5) as writer:
        for step in (5, 6, 7):
            writer.add_scalar("a", 100 + step, step)
    version, start = events(tmp_path)[10:12]
    assert (version.file_version, version.step) == ("brain.Event:2", 5)
    assert (start.session_log.status, start.step) == (1, 5)
    assert version.wall_time > 0
    assert start.wall_time > 0
    accumulator = accumulators.EventAccumulator(str(tmp_path))
    accumulator.Reload()
    assert [(each.step, each.value) for each in accumulator.Scalars("a")] == [
        *((step, step) for step in range(5)), (5, 105), (6, 106), (7, 107),
    ]


@pytest.mark.parametrize(
    "options", [{"purge_step": "x"}, {"on_error": "no"}, {"max_queue": "x"}, {"flush_secs": "x"}]
)
def test_arguments_that_are_refused_leave_no_file(tmp_path: Path, options: Any) -> None:
    with pytest.raises((TypeError, ValueError)):
        RunWriter(tmp_path / "run", **options)
    assert not list(tmp_path.iterdir())


def test_add_after_close_is_an_error_with_the_file_in_it(tmp_path: Path) -> None:
    writer = RunWriter(tmp_path)
    writer.add_scalar("a", 1, 0)
    writer.close()
    with pytest.raises(WriterClosedError, match=r"already closed: .*tfevents"):
        writer.add_scalar("a", 2, 1)
    with pytest.raises(RuntimeError):
        writer.add_field("graph_def", b"", 1)
    writer.close()
    writer.close()
    assert writer.closed
    assert scalars(tmp_path) == [("a", 0, 1)]


@pytest.mark.parametrize("below", ["", "sub"])
def test_a_directory_that_is_a_file(tmp_path: Path, below: str) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises((FileExistsError, NotADirectoryError)):
        RunWriter(tmp_path / "file" / below)


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="a place that refuses even root")
def test_a_place_that_cannot_be_written() -> None:
    with pytest.raises(OSError):
        RunWriter("/proc/nope")


@pytest.mark.parametrize("kind", [str, Path, lambda path: str(path).encode()])
def test_directories_are_paths_of_any_kind(tmp_path: Path, kind: Any) -> None:
    with RunWriter(kind(tmp_path / "run")) as writer:
        writer.add_scalar("a", 1, 1)
    assert writer.logdir == str(tmp_path / "run")
    assert steps(tmp_path, "a") == [1]


def test_other_events_keep_what_they_are(tmp_path: Path) -> None:
    pb: Any = pytest.importorskip("tensorboard.compat.proto.event_pb2")
    message = pb.Event(wall_time=2.5, step=3)
    message.summary.value.add(tag="foreign", simple_value=4.0)
    with RunWriter(tmp_path) as writer:
        writer.add_event(message)
        message.step = 99  # a copy was taken
        writer.add_event(message.SerializeToString())
        writer.add_field("graph_def", b"graph", 5, 6.5)
        writer.add_tensor_scalar("tensor", 0.5, 7, 8.5)
        writer.add_values([("v", lambda tag: proto.Summary.Value(tag=tag, simple_value=1))], 9)
        with pytest.raises(TypeError):
            writer.add_event({"step": 1})  # type: ignore[arg-type]
    one, two, graph, tensor, values = events(tmp_path)
    assert (one.wall_time, one.step, one.summary.value[0].tag, two.step) == (2.5, 3, "foreign", 99)
    assert (graph.graph_def, graph.step, graph.wall_time) == (b"graph", 5, 6.5)
    assert tensor.summary.value[0].metadata.plugin_data.plugin_name == "scalars"
    assert (tensor.step, tensor.wall_time) == (7, 8.5)
    assert (values.step, values.summary.value[0].tag) == (9, "v")


def test_wrap_sees_what_is_written(tmp_path: Path) -> None:
    seen: list[bytes] = []

    class Spy:
        def __init__(self, inner: EventWriter) -> None:
            self.inner, self.flush, self.close = inner, inner.flush, inner.close

        def write(self, batch: Any) -> None:
            seen.extend(batch)
            self.inner.write(batch)

    with RunWriter(tmp_path, wrap=Spy) as writer:
        writer.add_scalar("a", 1, 1)
    assert [proto.Event.FromString(each).step for each in seen] == [1]
    assert steps(tmp_path, "a") == [1]


def through_pickle(writer: RunWriter) -> Any:
    return pickle.loads(pickle.dumps(writer))


@pytest.mark.parametrize("again", [through_pickle, copy.copy, copy.deepcopy])
def test_fork_and_spawn_a_copy_is_a_new_file_in_the_same_directory(
    tmp_path: Path, again: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with RunWriter("run", purge_step=4, filename_suffix=".x") as writer:
        monkeypatch.chdir("/")
        monkeypatch.chdir(tmp_path)
        with again(writer) as other:
            other.add_scalar("other", 1, 1)
            writer.add_scalar("one", 1, 1)
    assert [path.suffix for path in event_files(tmp_path / "run")] == [".x", ".x"]
    assert sorted(scalars(tmp_path)) == [("one", 1, 1), ("other", 1, 1)]
    assert sum(event.HasField("session_log") for event in events(tmp_path)) == 1


def test_fork_and_spawn_a_copy_goes_where_the_writer_was_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "else").mkdir()
    monkeypatch.chdir(tmp_path)
    with RunWriter("run") as writer:
        monkeypatch.chdir("else")
        through_pickle(writer).close()
    assert len(event_files(tmp_path / "run")) == 2
    assert writer.directory == str(tmp_path / "run")


@pytest.mark.parametrize(
    "options", [{"store": MemoryStore()}, {"wrap": lambda inner: inner}], ids=["store", "wrap"]
)
def test_fork_and_spawn_what_cannot_be_pickled_says_so(tmp_path: Path, options: Any) -> None:
    with RunWriter(tmp_path / "run", **options) as writer:
        for again in (pickle.dumps, copy.deepcopy):
            with pytest.raises(TypeError, match=r"RunWriter.*(store|wrap)"):
                again(writer)


def test_a_store_that_fails_once_loses_nothing(tmp_path: Path) -> None:
    class Flaky(LocalStore):
        def create(self, path: str, *, parents: bool = True) -> Any:
            sink = super().create(path, parents=parents)
            write, attempts = sink.write, iter([None, OSError(errno.EIO, "flaky")])

            def flaky(data: bytes) -> None:
                error = next(attempts, None) if data else None
                if error is not None:
                    raise error
                write(data)

            sink.write = flaky  # type: ignore[method-assign]
            return sink

    writer = RunWriter(tmp_path, store=Flaky())
    for step in range(10):
        writer.add_scalar("a", step, step)
    with pytest.raises(OSError, match="flaky"):
        writer.flush()
    writer.flush()
    writer.close()
    assert steps(tmp_path, "a") == list(range(10))


def test_bounded_memory_a_slow_store_makes_callers_wait(tmp_path: Path) -> None:
    gate = threading.Event()

    class Slow(LocalStore):
        def create(self, path: str, *, parents: bool = True) -> Any:
            sink = super().create(path, parents=parents)
            write = sink.write

            def slow(data: bytes) -> None:
                if b"payload" in data:
                    assert gate.wait(60)
                write(data)

            sink.write = slow  # type: ignore[method-assign]
            return sink

    writer = RunWriter(tmp_path, store=Slow(), max_queue=3)
    done: list[int] = []

    def log() -> None:
        for step in range(20):
            writer.add_field("graph_def", b"payload", step)
            done.append(step)
        writer.flush()
        done.append(-1)

    thread = threading.Thread(target=log)
    thread.start()
    thread.join(1.0)
    assert thread.is_alive()
    assert len(done) < 20
    gate.set()
    thread.join(60)
    assert done[-1] == -1
    assert [event.step for event in events(tmp_path)] == list(range(20))
    writer.close()


# -- sub-runs


@pytest.mark.parametrize(
    ("name", "below"),
    [
        ("a", "a"), ("a/b", "a/b"), ("a//b/", "a/b"), (".", ""), ("", ""), ("./a", "a"),
        ("a:b", "a:b"), ("..a", "..a"), ("a..", "a.."), ("ロス", "ロス"), ("a b%20", "a b%20"),
    ],
)
def test_inside_the_log_directory_names_make_directories(name: str, below: str) -> None:
    assert Path(child_path("/logs", name)) == Path("/logs", below)
    assert child_path("gs://b/logs/", name) == f"gs://b/logs/{below}".rstrip("/")


@pytest.mark.parametrize(
    "name",
    ["..", "../a", "a/..", "a/../../b", "/a", "\\a", "a\\..\\b", "..\\a", "C:/a", "c:\\a", "C:",
     "a\0b", ".. /a", "//server/share"],
)
def test_inside_the_log_directory_names_that_lead_elsewhere(name: str) -> None:
    with pytest.raises(ValueError, match="must stay inside"):
        child_path("/logs", name)


@pytest.mark.parametrize("name", [None, 5, b"a"])
def test_inside_the_log_directory_names_that_are_no_text(name: Any) -> None:
    with pytest.raises(TypeError, match="must be a str"):
        child_path("/logs", name)


@pytest.mark.parametrize("suffix", ["/../x", "\\x", "a\0"])
def test_inside_the_log_directory_suffixes(tmp_path: Path, suffix: str) -> None:
    with pytest.raises(ValueError, match="suffix"):
        RunWriter(tmp_path / "run", filename_suffix=suffix)
