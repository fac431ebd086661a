"""The same calls on TensorFlow's tf.summary and on ours; what lies on disk must be equal.

Beyond the recorded facts in `golden`: random data, bfloat16, every numeric type, tensors and
variables as data, steps and conditions of odd kinds, the life of writers. Exceptions are compared
by class, where a builtin stands for each of TensorFlow's own.
"""

from __future__ import annotations

import contextlib
import os
import re
import threading
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import decoded
import tfevents

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
tf: Any = pytest.importorskip("tensorflow")

Call = Callable[[Any], Any]
CASES: dict[str, Call] = {}
# What the tables below are looped over with is of every type.
number: Any
bad: Any
data: Any
shape: Any
count: Any
graph: Any
RNG = np.random.default_rng(20)
BFLOAT16 = tf.bfloat16.as_numpy_dtype
FLOATS = ("float16", "float32", "float64")
INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
NUMBERS = (*FLOATS, *INTEGERS, "bool")

Metadata = tf.compat.v1.SummaryMetadata
METADATA = Metadata(
    display_name="D", summary_description="of it", data_class=2,
    plugin_data=Metadata.PluginData(plugin_name="mine", content=b"\x00\xff"),
)


def add(name: str, call: Call) -> None:
    name = re.sub(r" at 0x\w+|\s+", " ", name)
    while name in CASES:
        name += "'"
    CASES[name] = call


def add_call(name: str, kind: str, *args: Any, **kwargs: Any) -> None:
    """A call of `summary.<kind>` at step 1, if no other is given."""
    kwargs.setdefault("step", 1)
    add(f"{kind}/{name}", lambda lib: getattr(lib.summary, kind)(*args, **kwargs))


# Scalars

for number in (0.1, -1e-40, 3.4028235677973362e38, 5e-324, 2**53 + 1, 2**60 + 2**36 + 1,
               -(2**60) - 2**36 - 1, 2**62 + 2**38, -(2**63), float("inf"), [[1]], (), {}, set(),
               b"1", "1", 3.5j, object):
    add_call(f"python {number!r:.30}", "scalar", "a", number)
for dtype in NUMBERS:
    add_call(f"numpy {dtype}", "scalar", "a", np.array(1, dtype))
    add_call(f"tensor {dtype}", "scalar", "a", tf.constant(np.array(1, dtype)))
    add_call(f"variable {dtype}", "scalar", "a", tf.Variable(np.array(1, dtype)))
for bits in (0x3F80, 0x7F7F, 0x0001, 0xFF80):
    wide = (np.array(bits, np.uint32) << 16).view(np.float32)
    add_call(f"bfloat16 {bits:x}", "scalar", "a", wide.astype(BFLOAT16))
    add_call(f"bfloat16 tensor {bits:x}", "scalar", "a", tf.constant(wide, tf.bfloat16))
for number in RNG.integers(-(2**63), 2**63 - 1, 6):
    add_call(f"int64 {number}", "scalar", "a", number)
FLOAT8 = tf.dtypes.experimental.float8_e5m2.as_numpy_dtype
add_call("float8", "scalar", "a", np.array(0.5).astype(FLOAT8))
add_call("uint64", "scalar", "a", np.uint64(2**63 + 2**39 + 1))
add_call("rank 1 tensor", "scalar", "a", tf.constant([1.0]))
add_call("string tensor", "scalar", "a", tf.constant("x"))
for name in ("ü b", "\ud800", b"a", np.str_("a"), 0, False, [], ["a"], "a\nb", "a\0b"):
    add_call(f"name {name!r}", "scalar", name, 1.0)
for text in ("*md*", "", None, b"bytes", b"\xff", 5, 0, ["x"], "\ud800", np.str_("x")):
    add_call(f"description {text!r}", "scalar", "a", 1.0, description=text)
    add_call(f"description {text!r}", "text", "a", "t", description=text)

# Images

for dtype in ("uint8", *FLOATS):
    for shape in ((1, 4, 5, 1), (2, 3, 2, 2), (4, 2, 3, 3), (1, 3, 7, 4)):
        pixels = (RNG.random(shape) * (256 if dtype == "uint8" else 1)).astype(dtype)
        add_call(f"{dtype} {shape}", "image", "i", pixels)
ones = np.ones((5, 2, 2, 1), np.float32)
add_call("tensor", "image", "i", tf.constant(RNG.random((1, 2, 2, 3)), tf.float32))
add_call("variable", "image", "i", tf.Variable(RNG.random((1, 2, 2, 3))))
add_call("wide range", "image", "i", RNG.normal(0.5, 2, (1, 9, 9, 3)).astype(np.float32))
add_call("nested list", "image", "i", [[[[0.1], [0.9]], [[0.501], [1.2]]]])
add_call("flipped", "image", "i", np.arange(24, dtype=np.uint8).reshape(1, 4, 6, 1)[:, ::-1, ::-1])
add_call("big endian", "image", "i", np.linspace(0, 1, 4).reshape(1, 2, 2, 1).astype(">f4"))
for limit in (np.int32(1), tf.constant(2), 2**31, "1", [1], -5, np.float64(2)):
    add_call(f"max_outputs {limit!r}", "image", "i", ones, max_outputs=limit)
for bad in (None, "x", ["x"], [[1], [1, 2]], {}, np.zeros((1, 2, 2, 7)), np.zeros(3)):
    add_call(f"bad {bad!r:.40}", "image", "i", bad)

# Histograms

for dtype in NUMBERS:
    samples = (RNG.normal(0, 50, 200) % 200).astype(dtype)
    add_call(f"{dtype}", "histogram", "h", samples)
    add_call(f"{dtype} in 7", "histogram", "h", samples, buckets=7)
add_call("bfloat16", "histogram", "h", RNG.normal(0, 1, 50).astype(BFLOAT16), buckets=5)
add_call("normal", "histogram", "h", RNG.normal(0, 1, 10_000))
add_call("skewed", "histogram", "h", RNG.exponential(1e6, 1000), buckets=100)
add_call("tensor", "histogram", "h", tf.constant(RNG.normal(0, 1, (3, 4, 5))), buckets=4)
add_call("variable", "histogram", "h", tf.Variable([0.1, 0.2, 0.7]), buckets=3)
add_call("python floats", "histogram", "h", [0.1, 0.2, 0.7], buckets=3)
add_call("python ints", "histogram", "h", [[1, 2], [3, 4]], buckets=3)
add_call("bools", "histogram", "h", [True, False, True], buckets=2)
add_call("no samples", "histogram", "h", np.zeros((3, 0)), buckets=4)
add_call("big endian", "histogram", "h", np.arange(9, dtype=">i4"), buckets=4)
for count in (np.int32(3), np.int64(3), 3.0, "3", [3], True, tf.constant(3),
              tf.constant(3, tf.int64), -7, np.array(3, np.int32), None, 2**31):
    add_call(f"buckets {count!r}", "histogram", "h", np.arange(9.0), buckets=count)
for bad in ("x", ["x"], None, {}, [[1], [1, 2]], [1, "x"]):
    add_call(f"bad {bad!r}", "histogram", "h", bad)

# Audio

for shape in ((1, 50, 1), (3, 20, 2), (5, 1, 3), (2, 0, 1)):
    sound = RNG.normal(0, 0.6, shape).astype(np.float32)
    add_call(f"{shape}", "audio", "s", sound, 16000)
    add_call(f"tensor {shape}", "audio", "s", tf.constant(sound), 44100, encoding="wav")
silence = np.zeros((4, 3, 1), np.float32)
for limit in (0, 2, 9, -1, None, 1.0, np.int32(1)):
    add_call(f"max_outputs {limit!r}", "audio", "s", silence, 8000, max_outputs=limit)
for rate in (8000, np.int32(8000), tf.constant(8000), 0, -3, 2**31 - 1, "8000", None, [8000]):
    add_call(f"rate {rate!r}", "audio", "s", silence[:1], rate)
for encoding in ("", "WAV", "flac", 5, b"wav"):
    add_call(f"encoding {encoding!r}", "audio", "s", silence, 8000, encoding=encoding)
for bad in (None, "x", {}, np.zeros((2, 2), np.float32), np.zeros((1, 2, 1), np.complex64)):
    add_call(f"bad {bad!r:.40}", "audio", "s", bad, 8000)

# Text

for data in ("naïve 猫 🐈", b"\xff", "", "a\0b", ["a", b"b"], [["a"], ["b"]], (), [[]], [["a"], []],
             tf.constant("t"), tf.constant([["a", "b"]]), tf.Variable("v"), np.array(["x", "yy"]),
             np.array(b"z"), np.array(["é", b"\xfe"], object), np.zeros((0, 2), object), None, 5,
             1.5, ["a", 5], {}, "\udc80", tf.constant(5), np.array([1, None], object)):
    add_call(f"{data!r:.40}", "text", "t", data)

# Tensors

for dtype in (*NUMBERS, "complex64", "complex128", BFLOAT16):
    for shape in ((), (3,), (2, 0, 3), (2, 1, 2, 1, 3)):
        data = np.asarray(RNG.integers(0, 100, shape)).astype(dtype)
        add_call(f"{np.dtype(dtype)} {shape}", "write", "w", data)
    add_call(f"tensor {np.dtype(dtype)}", "write", "w", tf.constant(np.array([1, 0], dtype)))
    add_call(f"variable {np.dtype(dtype)}", "write", "w", tf.Variable(np.array([1, 0], dtype)))
for data in (1, 2**40, -(2**63), 2**63, 1.5, 1e39, True, None, "x", b"\xff", "\ud800", [], [[], []],
             [1, 2.5], [1, True], [1, "x"], ["x", b"y"], [[1], [2, 3]], (1, (2,)), {}, {1},
             range(3), [np.float32(0.1), 0.2], [np.float64(0.1), 0.2], [np.int8(1), 2], [None],
             [1j, 2], np.nan, np.array(["a", "b"]), np.array([b"a"]), np.datetime64("2020-01-01"),
             [tf.constant(1.0), 2.0], [np.zeros(2), np.ones(2)], np.arange(6).reshape(2, 3).T):
    add_call(f"{data!r:.50}", "write", "w", data)
add_call("callable", "write", "w", lambda: tf.constant([1, 2]))
add_call("callable of bad", "write", "w", lambda: None)
add_call("string tensor", "write", "w", tf.constant(["a", "b"]))
for metadata in (None, METADATA, METADATA.SerializeToString(), Metadata(), b"", "", b"\xff\xff",
                 tf.constant(METADATA.SerializeToString()), 5, ["x"]):
    add_call(f"metadata {metadata!r:.60}", "write", "w", 1.0, metadata=metadata)
for tag in ("", "a b/ü", b"bytes", tf.constant("tensor"), np.array("array"), None, 5,
            ["list"], "/a//", "\ud800", "x" * 500):
    add_call(f"tag {tag!r:.20}", "write", tag, 1.0)

# Steps, explicit and by default

STEPS: tuple[Any, ...] = (
    0, -7, 2**62, 2**63 - 1, -(2**63), 2**63, True, 4.0, 1.5, "4", b"4", None, [4], (4,), [],
    [4, 5], [[4]], {}, 4j, np.int8(4), np.uint64(4), np.float32(4), np.float64(4.5), np.bool_(True),
    np.array(4), np.array([4]), np.array([[4]]), np.array([4, 5]), np.array(4.0), np.array("4"),
    tf.constant(4, tf.int64), tf.Variable(4, dtype=tf.int64), tf.constant([4], tf.int64),
    tf.Variable([4], dtype=tf.int64), float("nan"),
)


def call_of(kind: str, step: Any, lib: Any) -> Any:
    return getattr(lib.summary, kind)("a", 1.0, step=step)


for step in STEPS:
    label = f"{type(step).__name__} {step!r:.40}"
    add(f"step/{label}", partial(call_of, "scalar", step))
    add(f"step of write/{label}", partial(call_of, "write", step))


def set_step(lib: Any, step: Any) -> Any:
    lib.summary.experimental.set_step(step)
    assert lib.summary.experimental.get_step() is step
    return lib.summary.text("a", "x")


def step_of_block(lib: Any, step: Any) -> Any:
    with lib.summary.create_file_writer(directory_of(lib)).as_default(step=step):
        lib.summary.scalar("a", 1.0)
    return lib.summary.experimental.get_step()


for step in (0, 7, None, "7", 1.5, np.int32(3), tf.Variable(4, dtype=tf.int64), [3], 2**63):
    label = f"{type(step).__name__} {step!r:.40}"
    add(f"set_step/{label}", partial(set_step, step=step))
    add(f"step of block/{label}", partial(step_of_block, step=step))

# Recording


def recorded(lib: Any, condition: Any) -> Any:
    with lib.summary.record_if(condition):
        return [
            outcome(lib.summary.should_record_summaries),
            outcome(lambda: lib.summary.scalar("a", 1.0, step=1)),
            outcome(lambda: lib.summary.histogram("h", ["x"], step=1)),
            outcome(lambda: lib.summary.image("i", None)),
            outcome(lambda: lib.summary.write("w", lambda: 1.0, step=1)),
            outcome(lambda: lib.summary.experimental.write_raw_pb(b"")),
            outcome(lambda: lib.summary.graph(5)),
        ]


def recorded_by_call(lib: Any, result: Any) -> Any:
    return recorded(lib, lambda: result)


def failing() -> bool:
    raise KeyError("condition")


for condition in (True, False, None, 0, 1, 0.0, 1.0, "", "x", [True], np.bool_(False),
                  np.array(True), np.array(False), np.array([True]), tf.constant(True),
                  tf.constant(False), tf.Variable(True), tf.Variable(False)):
    label = f"{type(condition).__name__} {condition!r:.60}"
    add(f"record_if/{label}", partial(recorded, condition=condition))
    add(f"record_if/returns {label}", partial(recorded_by_call, result=condition))
add("record_if/empty list", lambda lib: recorded(lib, []))
add("record_if/raises", lambda lib: recorded(lib, failing))


def every_second(lib: Any) -> Any:
    step = tf.Variable(-1, dtype=tf.int64)

    def count() -> bool:
        step.assign_add(1)
        return int(step) % 2 == 0

    with lib.summary.record_if(count):
        return [bool(lib.summary.scalar("a", 1.0, step=step)) for _ in range(5)]


def as_decorator(lib: Any) -> Any:
    def loud() -> Any:
        return bool(lib.summary.scalar("a", 1.0, step=1))

    quiet = lib.summary.record_if(False)(loud)
    return [quiet(), quiet(), bool(lib.summary.scalar("a", 1.0, step=1))]


def nested_conditions(lib: Any) -> Any:
    with lib.summary.record_if(False):
        with lib.summary.record_if(True):
            lib.summary.scalar("inner", 1.0, step=1)
        lib.summary.scalar("outer", 1.0, step=1)


add("record_if/counts", every_second)
add("record_if/decorates", as_decorator)
add("record_if/nests", nested_conditions)

# Names


def scoped(lib: Any, scopes: tuple[Any, ...], name: Any) -> Any:
    with contextlib.ExitStack() as stack:
        yielded = [stack.enter_context(lib.name_scope(scope)) for scope in scopes]
        with lib.summary.experimental.summary_scope(name, "default", values=[1]) as pair:
            yielded.append(list(pair))
            lib.summary.scalar("in", 1.0, step=1)
        lib.summary.text(name, "x", step=1)
        lib.summary.write("as it is", 1.0, step=1)
        return yielded


for scopes in ((), ("a",), ("a", "b"), ("a/b",), ("a", "b/"), ("a", ""), ("/",), ("a//",),
               ("/a", "/b"), ("ü !", "c"), ("a", "a"), (".",)):
    for name in ("n", "", None, "x y/é:z", "n/", "/n", "!!"):
        add(f"scope/{scopes} {name!r}", partial(scoped, scopes=scopes, name=name))
for scope in (5, b"a", ["a"], "\ud800"):
    add(f"scope/bad {scope!r}", partial(scoped, scopes=(scope,), name="n"))

# Graphs, raw messages, traces


def graph_call(lib: Any, graph: Any) -> Any:
    return lib.summary.graph(graph)


def raw_call(lib: Any, raw: Any) -> Any:
    return lib.summary.experimental.write_raw_pb(raw, step=np.int64(3))


NODE = tf.compat.v1.NodeDef(name="n", op="NoOp")
GRAPH = tf.Graph()
with GRAPH.as_default():
    tf.constant(3.0, name="c") + tf.constant(4.0, name="d")
for graph in (tf.compat.v1.GraphDef(node=[NODE]), tf.compat.v1.GraphDef(), GRAPH, NODE, None, b"",
              []):
    add(f"graph/{type(graph).__name__} {graph!r:.30}", partial(graph_call, graph=graph))

Summary = tf.compat.v1.Summary
RAW = Summary(value=[
    Summary.Value(tag="a", simple_value=1.5, metadata=METADATA),
    Summary.Value(tag="b", simple_value=2),
    Summary.Value(tag="", histo=tf.compat.v1.HistogramProto(min=1, bucket_limit=[2], bucket=[3])),
]).SerializeToString()
for raw in (RAW, [RAW, RAW], [[RAW], [b""]], b"", [], b"\xff", [RAW, b"\xff"], tf.constant(RAW), 5,
            None, np.array([RAW], object)):
    add(f"raw/{raw!r:.40}", partial(raw_call, raw=raw))


def traced(lib: Any) -> Any:
    found = [outcome(lambda: lib.summary.trace_export("t", step=1))]
    found.append(outcome(lambda: lib.summary.trace_export("t", step="x")))
    lib.summary.trace_off()
    lib.summary.trace_on()
    found.append(outcome(lambda: lib.summary.trace_export("t")))
    with lib.name_scope("s"):
        found.append(outcome(lambda: lib.summary.trace_export("", step=1)))
    found.append(outcome(lambda: lib.summary.trace_export("t", step=1)))
    return found


add("trace/export", traced)

# Writers


def directory_of(lib: Any) -> str:
    return str(DIRECTORY[lib.__name__])


def life(lib: Any) -> Any:
    writer = lib.summary.create_file_writer(directory_of(lib))
    found: list[Any] = [isinstance(writer, lib.summary.SummaryWriter)]
    with writer.as_default() as entered:
        found.append(entered is writer)
        lib.summary.scalar("a", 1.0, step=1)
    found += [outcome(method) for method in (writer.init, writer.flush, writer.close, writer.close)]
    found += [outcome(getattr(writer, name)) for name in (
        "flush", "init", "as_default", "set_as_default")]
    found.append(outcome(lambda: lib.summary.flush(writer)))
    return found


def closed_inside(lib: Any) -> Any:
    writer = lib.summary.create_file_writer(directory_of(lib))
    with writer.as_default():
        lib.summary.scalar("a", 1.0, step=1)
        writer.close()
        return [outcome(lambda: lib.summary.scalar("b", 1.0, step=1)),
                outcome(lib.summary.flush), outcome(lib.summary.should_record_summaries)]


def nested_writers(lib: Any) -> Any:
    inner = lib.summary.create_file_writer(directory_of(lib) + "/inner")
    with inner.as_default(step=5):
        lib.summary.scalar("inner", 1.0)
        with lib.summary.create_noop_writer().as_default(step=9) as nothing:
            lib.summary.scalar("through", 1.0)
        lib.summary.experimental.set_step(6)
        lib.summary.scalar("later", 1.0)
    return [nothing, lib.summary.experimental.get_step(),
            outcome(lambda: lib.summary.scalar("outer", 1.0))]


def step_set_inside(lib: Any) -> Any:
    with lib.summary.create_file_writer(directory_of(lib)).as_default():
        lib.summary.experimental.set_step(3)
    return lib.summary.experimental.get_step()


def error_inside(lib: Any) -> Any:
    writer = lib.summary.create_file_writer(directory_of(lib) + "/inner", max_queue=1000)
    with contextlib.suppress(KeyError), writer.as_default(step=2):
        lib.summary.scalar("kept", 1.0)
        raise KeyError
    return [len(decoded.events(directory_of(lib) + "/inner", tf.compat.v1.Event)),
            lib.summary.experimental.get_step()]


def set_as_default(lib: Any) -> Any:
    writer = lib.summary.create_file_writer(directory_of(lib))
    found = [writer.set_as_default(step=4), bool(lib.summary.scalar("a", 1.0))]
    with lib.summary.create_noop_writer().as_default():
        found.append(bool(lib.summary.scalar("b", 1.0)))
    lib.summary.create_noop_writer().set_as_default()
    found.append(bool(lib.summary.scalar("c", 1.0)))
    lib.summary.flush()
    return found


def other_thread(lib: Any) -> Any:
    found: list[Any] = []

    def run() -> None:
        found.append(bool(lib.summary.scalar("a", 1.0, step=1)))
        found.append(lib.summary.experimental.get_step())
        found.append(bool(lib.summary.should_record_summaries()))

    lib.summary.experimental.set_step(8)
    with lib.summary.record_if(True):
        thread = threading.Thread(target=run)
        thread.start()
        thread.join()
    return found


def without_writer(lib: Any) -> Any:
    found: list[Any] = []

    def run() -> None:
        s = lib.summary
        calls: list[Callable[[], Any]] = [
            lambda: s.scalar(5, 1.0), lambda: s.scalar("a", [1]), lambda: s.scalar("a", "x"),
            lambda: s.scalar("a", 1.0, step="x"), lambda: s.scalar("a", 1.0, description=5),
            lambda: s.image(5, None), lambda: s.image("a", None),
            lambda: s.image("a", None, step=1.5),
            lambda: s.image("a", None, description=5), lambda: s.histogram("a", "x", buckets="x"),
            lambda: s.audio("a", None, None), lambda: s.audio("a", None, None, encoding="x"),
            lambda: s.text("a", 5), lambda: s.text("a", "x"), lambda: s.write(5, None, metadata=5),
            lambda: s.write("a", None, step=[1, 2]), lambda: s.graph(5), s.flush,
            lambda: s.experimental.write_raw_pb(5), s.should_record_summaries,
        ]
        found.extend(outcome(call) for call in calls)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    return found


def bad_arguments(lib: Any) -> Any:
    make, path = lib.summary.create_file_writer, directory_of(lib)
    calls: list[Callable[[], Any]] = [
        lambda: make(None), lambda: make(5), lambda: make(path, max_queue="x"),
        lambda: make(path, filename_suffix=5), lambda: make(path, flush_millis="x"),
        lambda: lib.summary.flush(5), lambda: lib.summary.flush(writer="x"),
        lib.summary.SummaryWriter().flush, lib.summary.SummaryWriter().close,
        lib.summary.SummaryWriter().init,
    ]
    return [outcome(call) for call in calls]


def late_flush(lib: Any) -> Any:
    path = directory_of(lib) + "/inner"
    with lib.summary.create_file_writer(path, max_queue=1000, flush_millis=50).as_default():
        lib.summary.scalar("a", 1.0, step=1)
        time.sleep(0.1)
        lib.summary.scalar("a", 2.0, step=2)
        return len(decoded.events(path, tf.compat.v1.Event))


def many(lib: Any) -> Any:
    for step in range(300):
        lib.summary.scalar("loss", np.float32(1) / (step + 1), step=step)
        lib.summary.scalar("accuracy", step / 300, step=step, description="of all")


for life_case in (life, closed_inside, nested_writers, step_set_inside, error_inside,
                  set_as_default, other_thread, without_writer, bad_arguments, late_flush, many):
    add(f"writer/{life_case.__name__}", life_case)


# Running them

MAPPED = {
    "InvalidArgumentError": "ValueError", "UnimplementedError": "ValueError",
    "InternalError": "ValueError", "DataLossError": "ValueError", "OutOfRangeError": "ValueError",
    "UnicodeEncodeError": "ValueError", "UnicodeDecodeError": "ValueError",
    "NotFoundError": "RuntimeError", "WriterClosedError": "RuntimeError",
}
DIRECTORY: dict[str, Path] = {}


def outcome(call: Callable[[], Any]) -> Any:
    """What a call returns, plainly, or the name of what it raises."""
    try:
        return _plain(call())
    except Exception as error:
        return MAPPED.get(type(error).__name__, type(error).__name__)


def _plain(result: Any) -> Any:
    if isinstance(result, (list, tuple)):
        return [_plain(item) for item in result]
    if isinstance(result, tf.Variable):
        return "variable"
    if hasattr(result, "numpy"):
        (item,) = result.numpy().reshape(-1).tolist()
        return item
    return result if isinstance(result, (bool, int, float, str, type(None))) else "object"


@dataclass
class Done:
    result: Any
    events: list[dict[str, Any]]


def _run(call: Call, lib: Any, directory: Path) -> Done:
    """The call, in a thread of its own, since all state belongs to the thread."""
    DIRECTORY[lib.__name__] = directory
    results: list[Any] = []

    def run() -> None:
        writer = lib.summary.create_file_writer(str(directory))
        with warnings.catch_warnings(), writer.as_default():
            warnings.simplefilter("ignore")
            results.append(outcome(lambda: call(lib)))
        writer.close()

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    lib.summary.trace_off()
    return Done(results[0], decoded.events(directory, tf.compat.v1.Event))


def _both(name: str, tmp_path: Path) -> tuple[Done, Done]:
    return (
        _run(CASES[name], tf, tmp_path / "theirs"), _run(CASES[name], tfevents, tmp_path / "ours")
    )


# What TensorFlow accepts, or refuses with another class, and what is raised here: (why, class).
NO_ARRAY = "an object that is no array at all is of a wrong type"
WRONG_TYPE = "a wrong type is a TypeError for every argument"
DIFFERENT = {
    "scalar/python <class 'object'>": (NO_ARRAY, "TypeError"),
    "step/dict {}": (NO_ARRAY, "TypeError"),
    "step of write/dict {}": (NO_ARRAY, "TypeError"),
    "audio/rate None": (WRONG_TYPE, "TypeError"),
    "audio/rate [8000]": (WRONG_TYPE, "TypeError"),
    "audio/bad array([[[0.+0.j], [0.+0.j]]], dt": (WRONG_TYPE, "TypeError"),
    "histogram/buckets 2147483648": ("an integer out of range is a ValueError", "ValueError"),
    "write/[1, True]": ("mixed kinds are refused in any order, not only in some", "ValueError"),
    "write/[1j, 2]": ("mixed kinds are refused in any order, not only in some", "ValueError"),
    "write/metadata ['x']": (WRONG_TYPE, "TypeError"),
    "write/tag ['list']": (WRONG_TYPE, "TypeError"),
    "step/float64 np.float64(4.5)": ("a fraction of a step is not cut off", "ValueError"),
    "step of write/float64 np.float64(4.5)": ("a fraction of a step is not cut off", "ValueError"),
    "step/ndarray array('4', dtype='<U1')": ("a string is no step in any wrapping", "TypeError"),
    "step of write/ndarray array('4', dtype='<U1')": (
        "a string is no step in any wrapping", "TypeError"),
}


@pytest.mark.parametrize("name", [name for name in CASES if name not in DIFFERENT])
def test_same_as_tensorflow(name: str, tmp_path: Path) -> None:
    theirs, ours = _both(name, tmp_path)
    assert ours.result == theirs.result
    assert ours.events == theirs.events


@pytest.mark.parametrize("name", DIFFERENT)
def test_different_on_purpose(name: str, tmp_path: Path) -> None:
    theirs, ours = _both(name, tmp_path)
    assert ours.result != theirs.result
    assert ours == Done(DIFFERENT[name][1], [])


def test_the_table_is_large() -> None:
    assert len(CASES) >= 600
