from __future__ import annotations

import contextlib
import gc
import pickle
import subprocess
import sys
import textwrap
import warnings
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import decoded
import tfevents as tf
from tfevents import proto
from tfevents.summary.experimental import get_step, set_step, write_raw_pb


def events(directory: Path) -> list[dict[str, Any]]:
    return decoded.events(directory, proto.Event)


def values(directory: Path) -> list[dict[str, Any]]:
    return [value for event in events(directory) for value in event.get("values", ())]


def messages(directory: Path) -> list[proto.Event]:
    (path,) = decoded.event_files(directory)
    return [proto.Event.FromString(data) for data in decoded.records(path)][1:]


def number(value: dict[str, Any]) -> Any:
    return value["tensor"]["values"][0]


PIXELS = np.zeros((1, 1, 1, 1), np.uint8)
SOUND = np.zeros((1, 1, 1), np.float32)


# What is imported

EVERY_KIND = """
    import sys
    from importlib.abc import MetaPathFinder

    class Refuse(MetaPathFinder):
        def find_spec(self, name, path=None, target=None):
            if name.partition(".")[0] in ("tensorflow", "torch", "jax", "keras", "tensorboard"):
                raise AssertionError("imports " + name)

    sys.meta_path.insert(0, Refuse())
    import numpy as np
    import tfevents as tf

    s = tf.summary
    graph = tf.proto.GraphDef()
    with s.create_file_writer(sys.argv[1]).as_default(step=1), tf.name_scope("x"):
        assert s.scalar("scalar", 1, description="d") and s.scalar("scalar", 0.5)
        assert s.image("image", np.zeros((1, 2, 2, 3)))
        assert s.histogram("histogram", [1.0, 2.0])
        assert s.audio("audio", np.zeros((1, 4, 1), np.float32), 8000)
        assert s.text("text", ["a", b"b"])
        assert s.write("write", np.arange(3), metadata=tf.proto.SummaryMetadata(display_name="n"))
        assert s.graph(graph)
        assert s.experimental.write_raw_pb(tf.proto.Summary().SerializeToString())
        s.trace_on(graph)
        s.trace_export("trace")
        s.flush()
    assert not {"tensorflow", "torch", "jax", "keras", "tensorboard"} & set(sys.modules)
"""


def test_every_kind_is_logged_without_any_framework(tmp_path: Path) -> None:
    command = [sys.executable, "-c", textwrap.dedent(EVERY_KIND), str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert [event["what"] for event in events(tmp_path)].count("graph_def") == 1
    assert [value["tag"] for value in values(tmp_path)] == [
        "x/scalar", "x/scalar", "x/image", "x/histogram", "x/audio", "x/text", "write", "x/trace",
    ]


# Scalars


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (2**63, 2.0**63),
        (-(2**63) - 1, -(2.0**63)),
        # The 150th Fibonacci number, and float32's neighbour of it.
        (9969216677189303386214405760200, float(np.float32("9969216677189303386214405760200"))),
        # Just above the middle of two float32 numbers: by way of float64 it would be rounded down.
        (2**60 + 2**36 + 1, 2.0**60 + 2.0**37),
        (-(2**60) - 2**36 - 1, -(2.0**60) - 2.0**37),
        (np.int64(2**60 + 2**36 + 1), 2.0**60 + 2.0**37),
        (np.array(2**63 + 2**39 + 1, np.uint64), 2.0**63 + 2.0**40),
        (2**60 + 2**36, 2.0**60),  # exactly the middle: to even
        (16777217, 16777216.0),
    ],
)
def test_integers_of_any_size_are_rounded_once(data: Any, expected: float, tmp_path: Path) -> None:
    with tf.summary.create_file_writer(tmp_path).as_default():
        assert tf.summary.scalar("fibonacci", data, step=1)
    (value,) = values(tmp_path)
    assert (number(value), value["tensor"]["dtype"]) == (expected, "float32")


def test_an_integer_beyond_float32_is_infinite_with_a_warning(tmp_path: Path) -> None:
    with tf.summary.create_file_writer(tmp_path).as_default():
        with pytest.warns(UserWarning, match="'big'"):
            tf.summary.scalar("big", 10**39, step=1)
        with pytest.raises(ValueError, match=r"'big'.*float64"):
            tf.summary.scalar("big", 10**400, step=2)
    assert [number(value) for value in values(tmp_path)] == ["inf"]


def test_metadata_and_description_are_in_every_event(tmp_path: Path) -> None:
    with tf.summary.create_file_writer(tmp_path).as_default():
        for step in range(2):
            tf.summary.scalar("a", 1.0, step=step)
            tf.summary.scalar("b", 2.0, step=step, description="*of* b")
    assert [(v["tag"], v["plugin_name"], v["description"]) for v in values(tmp_path)] == [
        ("a", "scalars", ""), ("b", "scalars", "*of* b"),
    ] * 2


# Errors


BAD_CALLS: dict[str, Any] = {
    "scalar of rank 1": (ValueError, lambda s: s.scalar("culprit", [1.0], step=1)),
    "scalar str": (ValueError, lambda s: s.scalar("culprit", "x", step=1)),
    "scalar None": (ValueError, lambda s: s.scalar("culprit", None, step=1)),
    "scalar too large": (ValueError, lambda s: s.scalar("culprit", 1e300, step=1)),
    "scalar no step": (ValueError, lambda s: s.scalar("culprit", 1.0)),
    "scalar step str": (TypeError, lambda s: s.scalar("culprit", 1.0, step="x")),
    "scalar step float": (TypeError, lambda s: s.scalar("culprit", 1.0, step=1.5)),
    "scalar step large": (ValueError, lambda s: s.scalar("culprit", 1.0, step=2**63)),
    "scalar description": (
        TypeError, lambda s: s.scalar("culprit", 1.0, step=1, description=5)),
    "image rank": (ValueError, lambda s: s.image("culprit", np.zeros(3), step=1)),
    "image None": (ValueError, lambda s: s.image("culprit", None, step=1)),
    "image no step": (ValueError, lambda s: s.image("culprit", PIXELS)),
    "image max_outputs": (TypeError, lambda s: s.image("culprit", PIXELS, step=1, max_outputs=1.5)),
    "image description": (TypeError, lambda s: s.image("culprit", PIXELS, 1, description=b"x"[0])),
    "histogram str": (ValueError, lambda s: s.histogram("culprit", "x", step=1)),
    "histogram buckets": (TypeError, lambda s: s.histogram("culprit", [1], step=1, buckets=1.5)),
    "histogram step": (ValueError, lambda s: s.histogram("culprit", [1], step=[1, 2])),
    "audio rank": (ValueError, lambda s: s.audio("culprit", np.zeros(3), 8000, step=1)),
    "audio rate": (TypeError, lambda s: s.audio("culprit", SOUND, 1.5, step=1)),
    "text int": (TypeError, lambda s: s.text("culprit", 5, step=1)),
    "text mixed": (ValueError, lambda s: s.text("culprit", ["a", 5], step=1)),
    "write None": (ValueError, lambda s: s.write("culprit", None, step=1)),
    "write ragged": (ValueError, lambda s: s.write("culprit", [[1], [1, 2]], step=1)),
    "write metadata": (TypeError, lambda s: s.write("culprit", 1, step=1, metadata=5)),
    "write no step": (ValueError, lambda s: s.write("culprit", 1)),
    "trace no step": (ValueError, lambda s: s.trace_export("culprit")),
    "trace step": (TypeError, lambda s: s.trace_export("culprit", step="x")),
}


@pytest.mark.parametrize("name", BAD_CALLS)
def test_errors_name_the_tag_and_nothing_is_written(name: str, tmp_path: Path) -> None:
    error, call = BAD_CALLS[name]
    tf.summary.trace_on()
    try:
        writer = tf.summary.create_file_writer(tmp_path)
        with writer.as_default(), tf.name_scope("scope"), pytest.raises(error, match="culprit"):
            call(tf.summary)
    finally:
        tf.summary.trace_off()
    assert events(tmp_path) == []


@pytest.mark.parametrize("tag", ["\ud800", 5])
def test_what_cannot_be_a_tag_is_refused_by_the_call(tag: Any, tmp_path: Path) -> None:
    with tf.summary.create_file_writer(tmp_path).as_default(step=1):
        with pytest.raises((TypeError, ValueError)):
            tf.summary.scalar(tag, 1.0)
        with pytest.raises((TypeError, ValueError)):
            tf.summary.write(tag, 1.0)
        with pytest.raises((TypeError, ValueError)):
            tf.summary.image(tag, PIXELS)
    assert events(tmp_path) == []


# Writers


def test_a_block_that_fails_is_flushed_and_left(tmp_path: Path) -> None:
    writer = tf.summary.create_file_writer(tmp_path)
    with contextlib.suppress(KeyError), writer.as_default(step=3):
        tf.summary.scalar("a", 1.0)
        raise KeyError
    assert len(events(tmp_path)) == 1  # without close
    assert get_step() is None
    assert not tf.summary.should_record_summaries()


def test_a_block_is_left_even_if_its_flush_fails() -> None:
    class Failing(tf.summary.SummaryWriter):
        def flush(self) -> None:
            raise OSError("disk")

    with pytest.raises(OSError, match="disk"), Failing().as_default(step=1):
        assert tf.summary.should_record_summaries()
    assert not tf.summary.should_record_summaries()
    assert get_step() is None


def test_a_block_flushes_the_writer_that_is_the_default_at_its_end(tmp_path: Path) -> None:
    first = tf.summary.create_file_writer(tmp_path / "first")
    second = tf.summary.create_file_writer(tmp_path / "second")
    with first.as_default(step=1):
        second.set_as_default()
        tf.summary.scalar("a", 1.0)
    assert len(events(tmp_path / "second")) == 1
    assert not tf.summary.should_record_summaries()


def test_a_closed_writer_refuses_at_the_call_of_as_default(tmp_path: Path) -> None:
    writer = tf.summary.create_file_writer(tmp_path)
    writer.close()
    with pytest.raises(RuntimeError, match="already closed"):
        writer.as_default()  # as in TensorFlow, before the block


def test_closed_inside_its_own_block(tmp_path: Path) -> None:
    writer = tf.summary.create_file_writer(tmp_path)
    with writer.as_default():
        tf.summary.scalar("a", 1.0, step=1)
        writer.close()
        with pytest.raises(RuntimeError, match="closed"):
            tf.summary.scalar("a", 2.0, step=2)
    assert [number(value) for value in values(tmp_path)] == [1.0]


def test_dropping_the_last_reference_closes_the_file(tmp_path: Path) -> None:
    writer = tf.summary.create_file_writer(tmp_path)
    with writer.as_default():
        tf.summary.scalar("a", 1.0, step=1)
    run = writer.run._events
    del writer
    gc.collect()
    assert run.closed


def test_an_explicit_flush_empties_the_counted_queue(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer = tf.summary.create_file_writer(tmp_path, max_queue=2)
    step, flushed = 0, []
    monkeypatch.setattr(writer.run, "flush", lambda: flushed.append(step))
    with writer.as_default():
        for step in range(8):
            tf.summary.scalar("a", 1.0, step=step)
            if step == 1:
                tf.summary.flush()
    # By hand after step 1, then whenever three are queued, then at the end of the block.
    assert flushed == [1, 4, 7, 7]


def test_a_noop_writer_leaves_the_writer_and_step_around_it(tmp_path: Path) -> None:
    writer, noop = tf.summary.create_file_writer(tmp_path), tf.summary.create_noop_writer()
    with writer.as_default(step=2), noop.as_default(step=9) as nothing:
        assert nothing is None
        assert tf.summary.scalar("a", 1.0)
    assert [event["step"] for event in events(tmp_path)] == [2]


@pytest.mark.parametrize("method", ["init", "flush", "close"])
def test_the_interface_can_be_made_but_does_nothing(method: str) -> None:
    writer = tf.summary.SummaryWriter()
    with pytest.raises(NotImplementedError):
        getattr(writer, method)()


@pytest.mark.parametrize("name", ["max_queue", "flush_millis"])
def test_queue_arguments_must_be_integers(name: str, tmp_path: Path) -> None:
    with pytest.raises(TypeError, match=name):
        tf.summary.create_file_writer(tmp_path / "run", **{name: "5"})  # type: ignore[arg-type]


def test_any_kind_of_path_is_a_directory(tmp_path: Path) -> None:
    for logdir in (tmp_path / "p", str(tmp_path / "s"), bytes(tmp_path / "b")):
        tf.summary.create_file_writer(logdir, name="n", experimental_trackable=True).close()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["b", "p", "s"]


# Values are what they were at the call


def test_changes_after_the_call_are_not_logged(tmp_path: Path) -> None:
    pixels, samples, numbers = np.full((1, 1, 1, 1), 7, np.uint8), np.ones(3), np.arange(2)
    sound, step = np.full((1, 1, 1), 0.5, np.float32), np.array(3)
    with tf.summary.create_file_writer(tmp_path).as_default(step=step):
        tf.summary.image("i", pixels)
        tf.summary.histogram("h", samples, buckets=1)
        tf.summary.audio("s", sound, 8000)
        tf.summary.write("w", numbers)
        for array in (pixels, samples, sound, numbers, step):
            array[...] = 0
    image, histogram, audio, tensor = (v["tensor"]["values"] for v in values(tmp_path))
    assert image[2]["png"]["pixels"] == [7]
    assert histogram == [1.0, 1.0, 3.0]
    assert audio[0]["wav"]["samples"] == [16384]
    assert tensor == [0, 1]
    assert {event["step"] for event in events(tmp_path)} == {3}


def test_a_step_is_read_when_it_is_written(tmp_path: Path) -> None:
    step = np.array(0)

    def even() -> bool:
        step[...] += 1
        return bool(step % 2 == 0)

    with tf.summary.create_file_writer(tmp_path).as_default(), tf.summary.record_if(even):
        written = [tf.summary.scalar("a", 1.0, step=step) for _ in range(4)]
        written += [tf.summary.write("a", 1.0, step=step) for _ in range(4)]
    assert written == [False, True] * 4
    assert [event["step"] for event in events(tmp_path)] == [2, 4, 6, 8]


def test_python_floats_have_32_bits_in_every_kind(tmp_path: Path) -> None:
    with tf.summary.create_file_writer(tmp_path).as_default(step=1):
        tf.summary.histogram("h", [0.1, 0.1], buckets=1)
        tf.summary.histogram("h", np.array([0.1, 0.1]), buckets=1)
    found = [number(value) for value in values(tmp_path)]
    assert found == [0.10000000149011612, 0.1]


def test_numbers_that_tensorflow_does_not_know(tmp_path: Path) -> None:
    with tf.summary.create_file_writer(tmp_path).as_default(step=1):
        tf.summary.scalar("a", Fraction(1, 2))
        tf.summary.scalar("b", Decimal("0.25"))
        tf.summary.histogram("c", np.array([1.0, 3.0], np.longdouble), buckets=1)
    first, second, third = values(tmp_path)
    assert (number(first), number(second)) == (0.5, 0.25)
    assert third["tensor"]["values"] == [1.0, 3.0, 2.0]


# Recording


def test_a_callable_is_asked_once_a_write(tmp_path: Path) -> None:
    answers = [True, False, True, False]
    writer = tf.summary.create_file_writer(tmp_path)
    with writer.as_default(step=1), tf.summary.record_if(lambda: answers.pop(0)):
        written = [
            tf.summary.scalar("a", 1.0), tf.summary.text("a", "x"), tf.summary.write("a", 1),
        ]
    assert (written, answers) == ([True, False, True], [False])


def test_data_of_what_is_not_recorded_are_not_asked_for(tmp_path: Path) -> None:
    def data() -> Any:
        raise AssertionError("asked for")

    with tf.summary.create_file_writer(tmp_path).as_default(), tf.summary.record_if(False):
        assert not tf.summary.write("a", data)
    assert not tf.summary.write("a", data)


# Raw messages


def test_raw_messages_are_one_event_with_all_values(tmp_path: Path) -> None:
    first = proto.Summary(value=[proto.Summary.Value(tag="a", simple_value=1.0)])
    second = proto.Summary(value=[proto.Summary.Value(tag="b", simple_value=2.0)])
    data = [first.SerializeToString(), second.SerializeToString()]
    with tf.summary.create_file_writer(tmp_path).as_default():
        assert write_raw_pb(data, step=3)
    (event,) = messages(tmp_path)
    expected = proto.Summary(value=[*first.value, *second.value])
    assert (event.step, event.summary) == (3, expected)


def test_a_default_step_is_converted_only_if_a_raw_message_is_written(tmp_path: Path) -> None:
    set_step("x")
    with tf.summary.create_file_writer(tmp_path).as_default():
        with tf.summary.record_if(False):
            assert not write_raw_pb(b"")
        with pytest.raises(TypeError, match="step"):
            write_raw_pb(b"")


# Graphs and traces


def graph_of(name: str) -> proto.GraphDef:
    return proto.GraphDef(node=[proto.NodeDef(name=name, op="NoOp")])


class LikeGraph:
    def __init__(self, message: Any) -> None:
        self.message = message

    def as_graph_def(self, add_shapes: bool = False) -> Any:
        assert add_shapes
        return self.message


def test_graphs_are_messages_or_make_them(tmp_path: Path) -> None:
    with tf.summary.create_file_writer(tmp_path).as_default(step=5):
        assert tf.summary.graph(graph_of("a"))
        assert tf.summary.graph(LikeGraph(graph_of("b")))
    assert [(event["step"], event["nodes"]) for event in events(tmp_path)] == [
        (0, [["a", "NoOp", []]]), (0, [["b", "NoOp", []]]),
    ]


def test_a_trace_holds_every_graph_it_was_given(tmp_path: Path) -> None:
    tf.summary.trace_on(graph=graph_of("a"))
    tf.summary.trace_on(graph=LikeGraph(graph_of("b")))
    with tf.summary.create_file_writer(tmp_path).as_default():
        with pytest.raises(ValueError, match="No step set"):
            tf.summary.trace_export("t")  # the trace goes on
        tf.summary.trace_export("t", step=2)
        with pytest.raises(ValueError, match="Must enable trace before export"):
            tf.summary.trace_export("t", step=3)
    (event,) = messages(tmp_path)
    (value,) = event.summary.value
    plugin = value.metadata.plugin_data
    assert (event.step, value.tag, plugin.plugin_name, plugin.content) == (
        2, "t", "graph_run_metadata_graph", b"1")
    run = proto.RunMetadata.FromString(value.tensor.string_val[0])
    assert [graph.node[0].name for graph in run.partition_graphs] == ["a", "b"]
    assert [each.partition_graphs[0].node[0].name for each in run.function_graphs] == ["a", "b"]


def test_a_second_trace_on_only_warns() -> None:
    tf.summary.trace_on()
    with pytest.warns(UserWarning, match="Trace already enabled"):
        tf.summary.trace_on()
    tf.summary.trace_off()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tf.summary.trace_off()


@pytest.mark.parametrize("graph", [5, "x", b""])
def test_a_trace_takes_nothing_but_graphs(graph: Any) -> None:
    with pytest.raises(ValueError, match=r"is not tf\.Graph"):
        tf.summary.trace_on(graph=graph)


def test_a_pickled_writer_opens_a_file_of_its_own(tmp_path: Path) -> None:
    writer = tf.summary.create_file_writer(tmp_path, max_queue=3)
    copy = pickle.loads(pickle.dumps(writer))
    with writer.as_default(step=1):
        tf.summary.scalar("a", 1.0)
    with copy.as_default(step=2):
        tf.summary.scalar("a", 2.0)
    assert len(decoded.event_files(tmp_path)) == 2
    assert sorted(event["step"] for event in events(tmp_path)) == [1, 2]


def test_a_warning_is_shown_once_per_tag_and_reason_at_the_callers_line(tmp_path: Path) -> None:
    with warnings.catch_warnings(record=True) as shown, _writer_in(tmp_path):
        warnings.simplefilter("always")
        for step in range(3):
            tf.summary.histogram("h", [1.0, float("nan"), float(step)], step)
            tf.summary.histogram("other", [1.0, float("inf")], step)
            tf.summary.image("i", np.full((1, 2, 2, 1), 300 + step), step)
            tf.summary.scalar("s", np.float64(1e300), step)
    assert sorted(str(each.message).split("'")[1] for each in shown) == ["h", "i", "other", "s"]
    assert {each.filename for each in shown} == {__file__}


def _writer_in(tmp_path: Path) -> contextlib.AbstractContextManager[object]:
    return tf.summary.create_file_writer(tmp_path).as_default()


def test_a_trace_with_profiler_has_the_graph_and_what_running_it_cost(tmp_path: Path) -> None:
    graph = proto.GraphDef()
    graph.node.add(name="a/MatMul", op="MatMul")
    with tf.summary.create_file_writer(tmp_path).as_default():
        tf.summary.trace_on(graph=graph, profiler=True, profiler_outdir=str(tmp_path))
        with tf.profiler.annotate("a/MatMul"):
            pass
        tf.summary.trace_export("trace", step=4)
        tf.summary.trace_on(profiler=True, profiler_outdir=str(tmp_path))
        tf.summary.trace_off()
        with pytest.warns(UserWarning, match="profiler_outdir"):
            tf.summary.trace_on(profiler=True)
        tf.summary.trace_off()
    (event,) = messages(tmp_path)
    (value,) = event.summary.value
    found = proto.RunMetadata.FromString(value.tensor.string_val[0])
    assert (event.step, value.tag) == (4, "trace")
    assert value.metadata.plugin_data.plugin_name == "graph_run_metadata"
    assert found.function_graphs[0].pre_optimization_graph.node[0].name == "a/MatMul"
    assert found.step_stats.dev_stats[0].node_stats[0].node_name == "a/MatMul"
    assert len(list(tmp_path.glob("plugins/profile/*/*.xplane.pb"))) == 1


@pytest.mark.parametrize(("graph", "nodes"), [(True, [["a/MatMul"]]), (False, [])])
def test_a_trace_that_was_given_no_graph_has_that_of_its_spans(
    graph: bool, nodes: list[list[str]], tmp_path: Path
) -> None:
    with tf.summary.create_file_writer(tmp_path).as_default():
        tf.summary.trace_on(graph=graph, profiler=True, profiler_outdir=str(tmp_path))
        with tf.profiler.annotate("a/MatMul"):
            pass
        tf.summary.trace_export("trace", step=4)
    (event,) = messages(tmp_path)
    found = proto.RunMetadata.FromString(event.summary.value[0].tensor.string_val[0])
    graphs = [function.pre_optimization_graph for function in found.function_graphs]
    assert [[node.name for node in each.node] for each in graphs] == nodes


def test_a_trace_with_profiler_of_a_step_below_0_ends_its_profile(tmp_path: Path) -> None:
    with tf.summary.create_file_writer(tmp_path).as_default():
        tf.summary.trace_on(profiler=True, profiler_outdir=str(tmp_path))
        tf.summary.trace_export("trace", step=-1)
        tf.summary.trace_on(profiler=True, profiler_outdir=str(tmp_path))
        tf.summary.trace_off()
    assert [event.step for event in messages(tmp_path)] == [-1]
    assert len(list(tmp_path.glob("plugins/profile/*/*.xplane.pb"))) == 1


def test_a_trace_into_no_path_begins_no_profile(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="int"):
        tf.summary.trace_on(profiler=True, profiler_outdir=3)  # type: ignore[arg-type]
    with tf.profiler.profile(tmp_path, gpu=False):
        pass


def test_a_trace_whose_profile_cannot_be_written_is_over(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with tf.summary.create_file_writer(tmp_path / "log").as_default():
        tf.summary.trace_on(profiler=True, profiler_outdir=str(tmp_path / "file"))
        with pytest.raises(NotADirectoryError):
            tf.summary.trace_export("trace", step=4)
        with pytest.raises(ValueError, match="Must enable trace"):
            tf.summary.trace_export("trace", step=4)
    assert [event.step for event in messages(tmp_path / "log")] == [4]
