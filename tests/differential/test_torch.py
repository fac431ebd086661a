"""The same calls on torch's SummaryWriter and on ours; what lies on disk must be equal.

Compared are the decoded events of every run, and the projector's files. Where we differ on
purpose, the table says from what and why, and the test says what is written instead.
"""

from __future__ import annotations

import base64
import hashlib
import inspect
import os
import warnings
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import decoded
import tfevents

torch: Any = pytest.importorskip("torch")
theirs: Any = pytest.importorskip("torch.utils.tensorboard")
event_pb2: Any = pytest.importorskip("tensorboard.compat.proto.event_pb2")
pr_curve_pb2: Any = pytest.importorskip("tensorboard.plugins.pr_curve.plugin_data_pb2")
hparams_pb2: Any = pytest.importorskip("tensorboard.plugins.hparams.plugin_data_pb2")

Call = Callable[[Any], Any]
SAME: dict[str, Call] = {}
RNG = np.random.default_rng(20)
# What the tables below are looped over with is of every type.
number: Any
step: Any
data: Any
bins: Any


def add(title: str, method: str, /, *args: Any, **kwargs: Any) -> None:
    """A call that must write the same."""
    name = f"{method}/{title}"
    assert name not in SAME, name
    SAME[name] = lambda writer: getattr(writer, method)(*args, **kwargs)


def tensors(array: Any) -> Any:
    return torch.from_numpy(np.array(array))


# Scalars

NUMBERS: tuple[Any, ...] = (
    0, 3, -7, True, 0.1, 16777217, 123456789, 1e300, -1e300, Fraction(1, 2),
    Decimal("0.5"), float("inf"), float("-inf"), float("nan"), -0.0,
    2**60, 1e-46, np.float16(0.5), np.float32(0.1), np.float64(0.1), np.int8(-3), np.int64(3),
    np.uint8(200), np.bool_(True), np.array(2.0), np.array([2.5]), np.array([[2.5]]),
    torch.tensor(0.3), torch.tensor([0.3], requires_grad=True), torch.tensor(3),
    torch.tensor(True), torch.tensor(0.5, dtype=torch.float16), torch.tensor(1.5).bfloat16(),
    torch.tensor(0.1, dtype=torch.float64),
)
for index, number in enumerate(NUMBERS):
    add(f"{index} {type(number).__name__} {number}", "add_scalar", "a", number, 1)
for step in (None, 0, -5, 2**40, 2**63 - 1, -(2**63), True, 3.0, np.int64(7), np.int32(7),
             np.array(7), np.float64(7.0), torch.tensor(7), torch.tensor(7.0)):
    add(f"step {type(step).__name__} {step}", "add_scalar", "a", 0.5, step)
for tag in ("", "a b", "/lead", "a:b", "ロス/テスト", "acc (top 1)", "cpu %", "x" * 2000, "a\nb",
            "trail/", "a//b", "a\\b", "..", "../x"):
    add(f"tag {tag[:20]!r}", "add_scalar", tag, 0.5, 1)
add("new style", "add_scalar", "a", 0.1, 1, new_style=True)
add("double without new style", "add_scalar", "a", 0.1, 1, double_precision=True)
add("two keys", "add_scalars", "m", {"a": 1, "b": torch.tensor(0.5)}, 3)
add("slash in the tag", "add_scalars", "m/n", {"a": 1, "b c": 2}, 3)
add("slash in a key", "add_scalars", "m", {"a/b": 1}, 3)
add("no key", "add_scalars", "m", {}, 3)

# Histograms

for kind in ("float16", "float32", "float64", "int8", "int16", "int32", "int64", "uint8", "uint16",
             "uint32", "bool"):
    numbers = (RNG.normal(0, 40, 200) % 100).astype(kind)
    add(kind, "add_histogram", "h", numbers, 1)
    if not kind.startswith("uint") or kind == "uint8":
        add(f"tensor {kind}", "add_histogram", "h", tensors(numbers), 1)
NORMAL = RNG.normal(0, 1, 1000)
for bins in ("tensorflow", "auto", "fd", "doane", "sqrt", 1, 7, 64, [-9.0, 0.0, 0.5, 9.0]):
    add(f"bins {bins}", "add_histogram", "h", NORMAL, 1, bins=bins)
for limit in (1, 5, 10, 100, 5000):
    add(f"max_bins {limit}", "add_histogram", "h", NORMAL, 1, bins=64, max_bins=limit)
    add(f"max_bins {limit} tensorflow", "add_histogram", "h", NORMAL, 1, max_bins=limit)
add("constant", "add_histogram", "h", np.full(100, 3.0), 1)
add("zeros", "add_histogram", "h", np.zeros(10), 1)
add("one", "add_histogram", "h", np.array(5.0), 1)
add("a number", "add_histogram", "h", 5, 1)
add("rank 3", "add_histogram", "h", RNG.normal(0, 1, (3, 4, 5)), 1)
add("negative and small", "add_histogram", "h", np.array([-1e-20, -1e10, 1e-13, 1e15]), 1)
add("exact edges", "add_histogram", "h", np.array([1e-12, 1.1e-12, 0.0]), 1)
add("requires grad", "add_histogram", "h", torch.arange(5.0, requires_grad=True), 1)
add("uint64", "add_histogram", "h", np.array([2**63, 2**64 - 1], np.uint64), 1)
add("strided", "add_histogram", "h", NORMAL[::-3], 1)
RAW = {"min": 0.0, "max": 5, "num": 4, "sum": 7.5, "sum_squares": 20.25}
add("lists", "add_histogram_raw", "h", **RAW, bucket_limits=[1, 3, 6.5], bucket_counts=[1, 2, 1],
    global_step=4)
add("arrays", "add_histogram_raw", "h", **RAW, bucket_limits=np.arange(3.0),
    bucket_counts=np.arange(3), global_step=4)
add("no buckets", "add_histogram_raw", "h", **RAW, bucket_limits=[], bucket_counts=[])

# Images

LEVELS = RNG.integers(0, 256, (3, 5, 7), np.uint8)
UNIT = RNG.random((3, 5, 7))
for kind in ("float16", "float32", "float64"):
    add(kind, "add_image", "i", UNIT.astype(kind), 1)
    add(f"tensor {kind}", "add_image", "i", tensors(UNIT.astype(kind)), 1)
add("uint8", "add_image", "i", LEVELS, 1)
add("tensor uint8", "add_image", "i", tensors(LEVELS), 1)
add("bool", "add_image", "i", UNIT > 0.5, 1)
add("all levels", "add_image", "i", np.arange(256, dtype=np.uint8).reshape(1, 16, 16), 1)
add("out of range", "add_image", "i", UNIT * 4 - 2, 1)
add("negative strides", "add_image", "i", LEVELS[:, ::-1, ::-2], 1)
add("requires grad", "add_image", "i", torch.rand(3, 2, 2).requires_grad_(), 1)
for channels in (1, 2, 3, 4):
    add(f"{channels} channels", "add_image", "i", RNG.random((channels, 3, 2)), 1)
for formats in ("HWC", "hwc", "WHC"):
    add(formats, "add_image", "i", LEVELS.transpose(1, 2, 0), 1, dataformats=formats)
for formats in ("CWH", "cHw"):
    add(formats, "add_image", "i", LEVELS, 1, dataformats=formats)
for formats in ("HW", "WH", "hw"):
    add(formats, "add_image", "i", LEVELS[0], 1, dataformats=formats)
add("NCHW", "add_image", "i", RNG.random((2, 3, 4, 5)), 1, dataformats="NCHW")
for count in (1, 2, 8, 9, 17):
    add(f"{count} images", "add_images", "i", RNG.random((count, 3, 2, 4)), 1)
    add(f"{count} gray", "add_images", "i", RNG.random((count, 1, 2, 4)), 1)
add("NHWC", "add_images", "i", RNG.integers(0, 256, (3, 4, 5, 3), np.uint8), 1, dataformats="NHWC")
add("CNHW", "add_images", "i", RNG.random((3, 4, 2, 2)), 1, dataformats="CNHW")
BOXES = np.array([[2.0, 3.0, 20.0, 30.0], [10.0, 5.0, 31.0, 12.5]])
LARGE = RNG.random((3, 40, 48))
add("two", "add_image_with_boxes", "b", LARGE, BOXES, 1)
add("tensors", "add_image_with_boxes", "b", tensors(LARGE), tensors(BOXES), 1)
add("labels", "add_image_with_boxes", "b", LARGE, BOXES, 1, labels=["cat", "a dog"])
add("one label", "add_image_with_boxes", "b", LARGE, BOXES[:1], 1, labels="cat")
add("labels of another number", "add_image_with_boxes", "b", LARGE, BOXES, 1, labels=["x"])
add("HWC", "add_image_with_boxes", "b", LEVELS.transpose(1, 2, 0), BOXES, 1, dataformats="HWC")
add("outside", "add_image_with_boxes", "b", LARGE, BOXES * 10 - 50, 1)
add("none", "add_image_with_boxes", "b", LARGE, np.zeros((0, 4)), 1)

# Sound and text

for kind in ("float32", "float64"):
    add(kind, "add_audio", "s", (RNG.random(60) * 2 - 1).astype(kind), 1)
add("tensor", "add_audio", "s", torch.rand(60), 1, sample_rate=8000)
add("reference", "add_audio", "s", np.array([0, 0.5, -0.5, 1, -1, 1 / 3, -1 / 3]), 1)
add("out of range", "add_audio", "s", np.array([0.0, 2, -3]), 1)
add("[1, L]", "add_audio", "s", RNG.random((1, 30)), 1)
add("[L, 1]", "add_audio", "s", RNG.random((30, 1)), 1)
for text in ("hello", "", "naïve 猫 🐈", "a\0b", "| a | b |\n|---|---|", "x" * 100_000):
    add(f"{text[:20]!r}", "add_text", "t", text, 1)
add("tag with slash", "add_text", "a/b", "x", 1)

# Tensors

for kind in ("float32", "float64", "int8", "int16", "int32", "int64", "bool", "complex64",
             "complex128"):
    for shape in ((), (3,), (2, 0), (2, 3, 4)):
        values = (RNG.normal(0, 50, shape)).astype(kind)
        add(f"{kind} {shape}", "add_tensor", "t", tensors(values), 1)

# Precision and recall

LABELS, SCORES = RNG.integers(0, 2, 100), RNG.random(100)
for count in (1, 2, 5, 127):
    add(f"{count} thresholds", "add_pr_curve", "p", LABELS, SCORES, 1, num_thresholds=count)
add("default", "add_pr_curve", "p", LABELS, SCORES, 1)
add("float32", "add_pr_curve", "p", LABELS.astype(bool), SCORES.astype(np.float32), 1)
add("weights", "add_pr_curve", "p", LABELS, SCORES, 1, weights=RNG.random(100))
add("one weight", "add_pr_curve", "p", LABELS, SCORES, 1, weights=2.5)
add("tensors", "add_pr_curve", "p", tensors(LABELS), tensors(SCORES), 1)
add("reference", "add_pr_curve", "p", np.array([0, 1, 1, 0]), np.array([0.1, 0.4, 0.35, 0.8]), 1,
    num_thresholds=5)
ROWS = [RNG.random(5) for _ in range(6)]
add("arrays", "add_pr_curve_raw", "p", *ROWS, 1, num_thresholds=5)
add("lists", "add_pr_curve_raw", "p", *[row.tolist() for row in ROWS], 1, num_thresholds=5)

# Meshes

VERTICES = RNG.normal(0, 1, (1, 200, 3))
COLORS, FACES = RNG.integers(0, 256, (1, 200, 3)), RNG.integers(0, 200, (1, 90, 3))
add("points", "add_mesh", "m", VERTICES, global_step=1)
add("float32", "add_mesh", "m", VERTICES.astype(np.float32), global_step=1)
add("colours", "add_mesh", "m", VERTICES, COLORS, global_step=1)
add("faces", "add_mesh", "m", VERTICES, faces=FACES, global_step=1)
add("all", "add_mesh", "a/m", VERTICES, COLORS, FACES, global_step=1)
add("tensors", "add_mesh", "m", tensors(VERTICES), tensors(COLORS), tensors(FACES), global_step=1)
add("batch", "add_mesh", "m", RNG.normal(0, 1, (3, 4, 3)), global_step=1)
add("config", "add_mesh", "m", VERTICES, config_dict={"lights": [{"cls": "x"}], "camera": {}},
    global_step=1)

# Hyperparameters

METRICS = {"hparam/accuracy": 0.9, "loss": torch.tensor(0.25)}
for title, hparams in {
    "numbers": {"lr": 0.1, "layers": 3}, "texts": {"opt": "adam", "naïve": "猫"},
    "none": {"a": None, "b": 1.0}, "empty": {}, "tensor": {"t": torch.tensor([2.5])},
    "float64": {"x": np.float64(0.5)}, "large": {"x": 2**53, "y": 1e300},
}.items():
    add(title, "add_hparams", hparams, METRICS, run_name="run")
add("step", "add_hparams", {"lr": 0.1}, METRICS, run_name="run", global_step=5)
add("domain", "add_hparams", {"lr": 0.1, "opt": "adam"}, METRICS,
    {"lr": [0.1, 0.2], "opt": ["adam", "sgd"]}, "run")
add("no metric", "add_hparams", {"lr": 0.1}, {}, run_name="run")
add("run in a run", "add_hparams", {"lr": 0.1}, METRICS, run_name="a/b")

# Custom scalars

LAYOUT = {
    "Taiwan": {"twse": ["Multiline", ["twse/0050", "twse/2330"]]},
    "USA": {"dow": ["Margin", ["dow/a", "dow/b", "dow/c"]], "n": ["Multiline", []]},
}
add("layout", "add_custom_scalars", LAYOUT)
add("empty", "add_custom_scalars", {})
add("multiline", "add_custom_scalars_multilinechart", ["a", "b"])
add("names", "add_custom_scalars_multilinechart", ["a"], "category", "title")
add("margin", "add_custom_scalars_marginchart", ["a", "b", "c"], title="t")

# The projector

POINTS = RNG.normal(0, 3, (10, 4)).astype(np.float32)
WORDS = [f"w{index}" for index in range(10)]
PAIRS = [(word, str(index)) for index, word in enumerate(WORDS)]
SPRITES = torch.from_numpy(RNG.random((10, 3, 6, 6)))
add("points", "add_embedding", POINTS)
add("float64", "add_embedding", POINTS.astype(np.float64), global_step=3)
add("tensor", "add_embedding", tensors(POINTS), WORDS, global_step=12345, tag="a/b c")
add("integers", "add_embedding", tensors(np.arange(6).reshape(2, 3)), [1, 2.5])
add("columns", "add_embedding", POINTS, PAIRS, metadata_header=["word", "number"])
add("tensor labels", "add_embedding", POINTS, torch.arange(10).tolist())
add("sprites", "add_embedding", POINTS, WORDS, SPRITES)
add("9 sprites", "add_embedding", POINTS[:9], label_img=SPRITES[:9].float())


def several_embeddings(writer: Any) -> None:
    writer.add_embedding(POINTS, WORDS, global_step=1)
    writer.add_embedding(POINTS * 2, WORDS, global_step=2)
    writer.add_embedding(POINTS, tag="other")


SAME["add_embedding/several"] = several_embeddings


# Bad input: neither writes anything

for number in ("abc", {"a": 1}, 1 + 2j, np.array([1, 2]), np.array([]), 10**400, torch.zeros(2)):
    add(f"bad {type(number).__name__} {number!r:.20}", "add_scalar", "bad", number, 1)
add("step nan", "add_scalar", "bad", 1, float("nan"))
add("step of 65 bits", "add_scalar", "bad", 1, 2**63)
add("tag 5", "add_scalar", 5, 1, 1)
add("surrogate", "add_scalar", "\ud800", 1, 1)
add("empty", "add_histogram", "bad", np.zeros(0), 1)
add("str", "add_histogram", "bad", "abc", 1)
add("unknown bins", "add_histogram", "bad", NORMAL, 1, bins="no such")
add("unequal", "add_histogram_raw", "bad", **RAW, bucket_limits=[1], bucket_counts=[1, 2])
add("5 channels", "add_image", "bad", np.zeros((5, 4, 4)), 1)
add("HWC as CHW", "add_image", "bad", np.zeros((32, 48, 3)), 1)
add("rank 4", "add_image", "bad", np.zeros((2, 3, 4, 4)), 1)
add("twice H", "add_image", "bad", np.zeros((3, 4, 4)), 1, dataformats="CHH")
add("empty", "add_image", "bad", np.zeros((3, 0, 4)), 1)
add("None", "add_image", "bad", None, 1)
add("rank 2", "add_audio", "bad", np.zeros((3, 4)), 1)
add("empty", "add_audio", "bad", np.zeros(0), 1)
for data in (5, b"bytes", ["x"], None, {}):
    add(f"bad {data!r}", "add_text", "bad", data, 1)
add("rank 2", "add_mesh", "bad", np.zeros((4, 3)), global_step=1)
add("no dict", "add_hparams", [], {})
add("key 1", "add_hparams", {1: 2}, {})
add("domain of another type", "add_hparams", {"a": 1.0}, {}, {"a": ["x"]})
add("domain without name", "add_hparams", {"a": 1.0}, {}, {"b": [1.0]})
add("a list as metric", "add_hparams", {"a": 1.0}, {"m": [1, 2]})
add("two tags", "add_custom_scalars_marginchart", ["a", "b"])
add("3 labels", "add_embedding", POINTS, WORDS[:3])
add("rank 1", "add_embedding", np.zeros(3))
add("None", "add_embedding", None)


# What lies on disk


def outcome(call: Call, kind: type, directory: Path) -> Any:
    """The exception, if there was one, and all files."""
    raised = None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        writer = kind(str(directory))
        try:
            call(writer)
        except Exception as error:
            raised = error
        writer.close()
    return raised, written(directory)


def written(directory: Path) -> dict[str, Any]:
    found: dict[str, Any] = dict(decoded.runs(directory, event_pb2.Event))
    for events in found.values():
        for event in events:
            for value in event.get("values", []):
                plainly(value)
    for path in sorted(directory.rglob("*")):
        if path.is_file() and "tfevents" not in path.name:
            found[str(path.relative_to(directory))] = projector_file(path)
    return found


def plainly(value: dict[str, Any]) -> None:
    if value.get("plugin_name") == "hparams":  # the order in a map is not fixed
        content = bytes.fromhex(value["plugin_content"])
        value["plugin_content"] = str(hparams_pb2.HParamsPluginData.FromString(content))
    if value.get("plugin_name") in ("tensor", "scalars"):
        # Theirs are in the field of the type; ours in `tensor_content`, or with a shape.
        value["tensor"].pop("field")
    for name in ("sum", "sum_squares"):  # sums depend on the order in which they are made
        if name in value.get("histo", {}):
            value["histo"][name] = float(f"{float(value['histo'][name]):.10g}")


def projector_file(path: Path) -> Any:
    if path.suffix == ".png":
        return decoded._png(path.read_bytes())
    if path.suffix == ".pbtxt":
        from google.protobuf import text_format
        from tensorboard.plugins.projector.projector_config_pb2 import ProjectorConfig

        return str(text_format.Parse(path.read_text(), ProjectorConfig()))
    if path.name == "tensors.tsv":
        return np.loadtxt(path, np.float32, delimiter="\t", ndmin=2).tolist()
    return path.read_text()


@pytest.mark.parametrize("name", SAME)
def test_same_as_torch(name: str, tmp_path: Path) -> None:
    error, expected = outcome(SAME[name], theirs.SummaryWriter, tmp_path / "theirs")
    ours, found = outcome(SAME[name], tfevents.SummaryWriter, tmp_path / "ours")
    assert (ours is None) == (error is None), (ours, error)
    if error is None:
        assert found == expected
    else:
        assert isinstance(ours, (TypeError, ValueError))
        assert found == {".": []}


def test_the_table_is_large() -> None:
    assert len(SAME) >= 250


# Where we differ on purpose

FIRST = ("values", 0)  # in the first event of the run


def part(found: dict[str, Any], *path: Any, run: str = ".") -> Any:
    item = found[run][0]
    for key in path:
        item = item[key]
    return item


def pixels(found: dict[str, Any], key: str = "pixels") -> Any:
    return part(found, *FIRST, "image", "encoded_image_string", "png", key)


def samples(found: dict[str, Any]) -> Any:
    return part(found, *FIRST, "audio", "encoded_audio_string", "wav", "samples")


def simple(found: dict[str, Any]) -> Any:
    return part(found, *FIRST, "simple_value")


def counts(found: dict[str, Any]) -> Any:
    histo = part(found, *FIRST, "histo")
    return [histo["min"], histo["max"], histo["num"], sum(histo["bucket"])]


def numbers_of(found: dict[str, Any]) -> Any:
    return part(found, *FIRST, "tensor", "values")


def shape_of(found: dict[str, Any]) -> Any:
    return part(found, *FIRST, "tensor", "shape")


def chart(found: dict[str, Any]) -> Any:
    from tensorboard.plugins.custom_scalar.layout_pb2 import Layout

    (text,) = numbers_of(found)
    return Layout.FromString(base64.b64decode(text)).category[0].chart[0].WhichOneof("content")


def thresholds(found: dict[str, Any]) -> Any:
    content = bytes.fromhex(part(found, *FIRST, "plugin_content"))
    return pr_curve_pb2.PrCurvePluginData.FromString(content).num_thresholds


def session(found: dict[str, Any]) -> Any:
    text = found["run"][1]["values"][0]["plugin_content"]
    return sorted(line.strip() for line in text.splitlines() if "value:" in line and "_" in line)


def sprite(found: dict[str, Any]) -> Any:
    png = found["00000/default/sprite.png"]
    return [png["width"], png["height"], png["color_type"], png.get("pixels", [])[:1]]


def class_of(found: dict[str, Any]) -> Any:
    return part(found, *FIRST, "data_class")


BFLOAT = torch.tensor([1.5, 70000, 1e38, 1e-20]).bfloat16()
NAN, INF = float("nan"), float("inf")
ODD_FLOATS = np.array([0.1, 0.3333], np.float16)
FOUR = np.zeros((4, 3, 3, 2), np.float32)
# (title, why, call, what is looked at, what torch has there or the class it raises, what we have)
ERROR = "refused"
DIFFERENT: list[tuple[str, str, Call, Callable[[Any], Any], Any, Any]] = [
    ("text as a number", "a text is no number", lambda w: w.add_scalar("a", "1.5", 1), simple,
     1.5, ERROR),
    ("list as a number", "one element is a number", lambda w: w.add_scalar("a", [5.0], 1), simple,
     ERROR, 5.0),
    ("bfloat16 beyond float16", "widened exactly", lambda w: w.add_scalar("a", BFLOAT[2], 1),
     simple, "inf", 9.969209968386869e37),
    ("fraction of a step", "two points would become one", lambda w: w.add_scalar("a", 1, 1.7),
     lambda found: part(found, "step"), 1, ERROR),
    ("step in a text", "a text is no number", lambda w: w.add_scalar("a", 1, "5"),
     lambda found: part(found, "step"), 5, ERROR),
    ("step in an array", "one element is a number", lambda w: w.add_scalar("a", 1, np.array([7])),
     lambda found: part(found, "step"), ERROR, 7),
    ("tag None", "would be an empty tag", lambda w: w.add_scalar(None, 1, 1),
     lambda found: part(found, *FIRST, "tag"), "", ERROR),
    ("tag of bytes", "a tag is a str", lambda w: w.add_scalar(b"a", 1, 1),
     lambda found: part(found, *FIRST, "tag"), "a", ERROR),
    ("double", "readers that know float scalars only must be told",
     lambda w: w.add_scalar("a", 0.1, 1, new_style=True, double_precision=True), class_of,
     "UNKNOWN", "SCALAR"),
    ("NaN in a histogram", "the others count",
     lambda w: w.add_histogram("h", np.array([1, NAN, 2]), 1), counts,
     ["nan", "nan", 3.0, 2.0], [1.0, 2.0, 2.0, 2.0]),
    ("inf in a histogram", "the others count",
     lambda w: w.add_histogram("h", np.array([1, INF]), 1), counts,
     [1.0, "inf", 2.0, 1.0], [1.0, 1.0, 1.0, 1.0]),
    ("NaN and bins", "the others count",
     lambda w: w.add_histogram("h", np.array([1, NAN, 2]), 1, bins=4), counts,
     ERROR, [1.0, 2.0, 2.0, 2.0]),
    ("histogram of a list", "a list is an array", lambda w: w.add_histogram("h", [1, 2, 2], 1),
     counts, ERROR, [1.0, 2.0, 3.0, 3.0]),
    ("histogram of bfloat16", "widened exactly", lambda w: w.add_histogram("h", BFLOAT[1:3], 1),
     counts, ERROR, [70144.0, 9.969209968386869e37, 2.0, 2.0]),
    ("numbers beyond the buckets", "every number is counted",
     lambda w: w.add_histogram("h", np.array([-1e25, 1, 1e25]), 1), counts,
     [-1e25, 1e25, 3.0, 1.0], [-1e25, 1e25, 3.0, 3.0]),
    ("numbers beyond the bins", "every number is counted",
     lambda w: w.add_histogram("h", np.arange(5.0), 1, bins=[1, 2, 3]), counts,
     [0.0, 4.0, 5.0, 3.0], [0.0, 4.0, 5.0, 5.0]),
    ("complex histogram", "half of the data would be dropped",
     lambda w: w.add_histogram("h", np.array([1 + 2j, 3]), 1), counts, [1.0, 3.0, 2.0, 2.0], ERROR),
    ("integer image", "integers are levels",
     lambda w: w.add_image("i", np.array([[0, 1], [128, 255]]), 1, dataformats="HW"),
     lambda found: pixels(found)[::3], [0, 255, 255, 255], [0, 1, 128, 255]),
    ("integers out of range", "clipped, with a warning",
     lambda w: w.add_image("i", np.array([[-1, 300], [7, 8]]), 1, dataformats="HW"),
     lambda found: pixels(found)[::3], [0, 255, 255, 255], [0, 255, 7, 8]),
    ("batch of RGBA", "a single one is taken, too", lambda w: w.add_images("i", FOUR.swapaxes(0, 1)
     .reshape(3, 4, 3, 2), 1), lambda found: pixels(found, "channels"), ERROR, 4),
    ("list of images", "as in tensorboardX",
     lambda w: w.add_images("i", [np.zeros((3, 2, 2))] * 2, 1, dataformats="CHW"),
     lambda found: pixels(found, "width"), ERROR, 4),
    ("rescaled boxes", "the size of the picture that is written",
     lambda w: w.add_image_with_boxes("b", LARGE, BOXES, 1, rescale=0.5),
     lambda found: [part(found, *FIRST, "image", "width"), pixels(found, "width")],
     [48, 24], [24, 24]),
    ("audio of integers", "integers are samples",
     lambda w: w.add_audio("s", np.array([0, 1000, -1000, 32767, -32768], np.int16), 1), samples,
     [0, 32767, -32767, 32767, -32767], [0, 1000, -1000, 32767, -32768]),
    ("audio of float16", "computed in float32", lambda w: w.add_audio("s", ODD_FLOATS, 1), samples,
     [3276, 10920], [3275, 10919]),
    ("stereo", "as in tensorboardX", lambda w: w.add_audio("s", np.zeros((9, 2)), 1),
     lambda found: part(found, *FIRST, "audio", "num_channels"), ERROR, 2),
    ("NumPy tensor", "an array is a tensor", lambda w: w.add_tensor("t", np.arange(3.0), 1),
     numbers_of, ERROR, [0.0, 1.0, 2.0]),
    ("uint16 tensor", "any type", lambda w: w.add_tensor("t", torch.ones(2, dtype=torch.uint16), 1),
     numbers_of, ERROR, [1, 1]),
    ("128 thresholds and more", "any number",
     lambda w: w.add_pr_curve("p", LABELS, SCORES, 1, num_thresholds=200),
     lambda found: [thresholds(found), *shape_of(found)], [127, 6, 127], [200, 6, 200]),
    ("curve that is computed", "as many thresholds as there are",
     lambda w: w.add_pr_curve_raw("p", *ROWS, 1), thresholds, 127, 5),
    ("predictions out of range", "taken as 0 or 1, with a warning",
     lambda w: w.add_pr_curve("p", np.array([1, 0]), np.array([1.5, 0.5]), 1, num_thresholds=3),
     lambda found: numbers_of(found)[:3], [0.0, 0.0, 0.0], [1.0, 1.0, 1.0]),
    ("curve of lists", "a list is an array",
     lambda w: w.add_pr_curve("p", [0, 1], [0.2, 0.7], 1, num_thresholds=2), shape_of,
     ERROR, [6, 2]),
    ("colours that do not fit", "no page could show it",
     lambda w: w.add_mesh("m", VERTICES, COLORS[:, :5]), shape_of, [1, 200, 3], ERROR),
    ("margin in small letters", "it is meant", lambda w: w.add_custom_scalars(
        {"c": {"t": ["margin", ["a", "b", "c"]]}}), chart, "multiline", "margin"),
    ("bool", "a bool is a bool", lambda w: w.add_hparams({"h": True}, {}, run_name="run"), session,
     ["number_value: 1"], ["bool_value: true"]),
    ("NumPy hyperparameters", "numbers are numbers",
     lambda w: w.add_hparams({"i": np.int64(3), "f": np.float32(0.5)}, {}, run_name="run"), session,
     ERROR, ["number_value: 0.5", "number_value: 3"]),
    ("tensor of rank 0", "a number", lambda w: w.add_hparams(
        {"t": torch.tensor(2.5)}, {}, run_name="run"), session, ERROR, ["number_value: 2.5"]),
    ("tensor of several elements", "the others would be dropped", lambda w: w.add_hparams(
        {"t": torch.tensor([1, 2])}, {}, run_name="run"), session, ["number_value: 1"],
     ['string_value: "[1, 2]"']),
    ("list as hyperparameter", "shown as JSON", lambda w: w.add_hparams(
        {"l": [1, 2]}, {}, run_name="run"), session, ERROR, ['string_value: "[1, 2]"']),
    ("no metrics", "they may come later", lambda w: w.add_hparams({"h": 1}, run_name="run"),
     session, ERROR, ["number_value: 1"]),
    ("metric None", "left out, with a warning", lambda w: w.add_hparams(
        {"h": 1}, {"m": None}, run_name="run"), session, ERROR, ["number_value: 1"]),
    ("flat sprites", "the page finds them in as many rows as columns",
     lambda w: w.add_embedding(POINTS, label_img=SPRITES[:, :, :3]), sprite,
     [24, 24, 2, []], [24, 12, 2, []]),
    ("gray sprites", "a smaller file of the same picture",
     lambda w: w.add_embedding(POINTS, label_img=SPRITES[:, :1]), sprite,
     [24, 24, 2, []], [24, 24, 0, []]),
    ("uint8 sprites", "uint8 are levels", lambda w: w.add_embedding(
        POINTS[:1], label_img=torch.full((1, 3, 2, 2), 100, dtype=torch.uint8)), sprite,
     [2, 2, 2, [255]], [2, 2, 2, [100]]),
    ("NumPy sprites", "an array is a tensor", lambda w: w.add_embedding(
        POINTS[:1], label_img=np.full((1, 3, 2, 2), 100, np.uint8)), sprite,
     ERROR, [2, 2, 2, [100]]),
]


@pytest.mark.parametrize("case", DIFFERENT, ids=lambda case: case[0])
def test_different_on_purpose(
    case: tuple[str, str, Call, Callable[[Any], Any], Any, Any], tmp_path: Path
) -> None:
    _, _, call, look, expected, wanted = case
    for kind, directory, what in (
        (theirs.SummaryWriter, tmp_path / "theirs", expected),
        (tfevents.SummaryWriter, tmp_path / "ours", wanted),
    ):
        error, found = outcome(call, kind, directory)
        if what == ERROR:
            assert error is not None
        else:
            assert error is None
            assert look(found) == what
        if error is not None and kind is tfevents.SummaryWriter:
            assert isinstance(error, (TypeError, ValueError))
            assert found == {".": []}


def test_half_precision_tensors_can_be_read(tmp_path: Path) -> None:
    values = {
        "half": torch.tensor([0.5, 1e-3], dtype=torch.float16), "bfloat16": BFLOAT,
        "uint8": torch.tensor([1, 255], dtype=torch.uint8),
    }
    with tfevents.SummaryWriter(tmp_path) as writer:
        for tag, tensor in values.items():
            writer.add_tensor(tag, tensor)
    found = {event["values"][0]["tag"]: event["values"][0]["tensor"] for event in
             decoded.events(tmp_path, event_pb2.Event)}
    assert {tag: tensor["values"] for tag, tensor in found.items()} == {
        tag: tensor.double().tolist() for tag, tensor in values.items()
    }


# Video, figures, time, life


@pytest.mark.parametrize(
    "shape", [(1, 3, 1, 4, 4), (1, 4, 3, 4, 6), (3, 2, 3, 4, 4), (5, 2, 1, 3, 3)]
)
def test_frames_of_a_video(shape: tuple[int, ...], tmp_path: Path) -> None:
    utils = pytest.importorskip("torch.utils.tensorboard._utils")
    clips = RNG.integers(0, 256, shape, np.uint8)
    with tfevents.SummaryWriter(tmp_path) as writer:
        writer.add_video("v", torch.from_numpy(clips), 1, fps=5)
    frames = np.rint(utils._prepare_video(clips) * 255).astype(np.uint8)
    found = part(written(tmp_path), *FIRST, "image")
    assert [found["height"], found["width"], found["colorspace"]] == list(frames.shape[1:])
    gif = found["encoded_image_string"]["gif"]
    assert gif["durations"] == [200] * len(frames)
    assert gif["sha256"] == [
        hashlib.sha256(np.broadcast_to(frame, (*frame.shape[:2], 3)).tobytes()).hexdigest()
        for frame in frames
    ]


@pytest.mark.parametrize("count", [1, 3])
def test_figures(count: int, tmp_path: Path) -> None:
    pyplot = pytest.importorskip("matplotlib.pyplot")
    pyplot.switch_backend("agg")
    for kind, name in ((theirs.SummaryWriter, "theirs"), (tfevents.SummaryWriter, "ours")):
        figures = [pyplot.figure(figsize=(2, 1.5), dpi=50) for _ in range(count)]
        for figure in figures:
            figure.add_subplot().plot([1, 3, 2])
        with kind(tmp_path / name) as writer:
            writer.add_figure("f", figures if count > 1 else figures[0], 2)
        assert not pyplot.get_fignums()
    assert written(tmp_path / "ours") == written(tmp_path / "theirs")


TIMED: list[Call] = [
    lambda w: w.add_scalar("a", 1, 2, 12.5),
    lambda w: w.add_scalars("a", {"b": 1}, 2, 12.5),
    lambda w: w.add_tensor("a", torch.ones(2), 2, 12.5),
    lambda w: w.add_histogram("a", NORMAL, 2, "auto", 12.5, 9),
    lambda w: w.add_histogram_raw("a", 0, 1, 2, 3, 4, [1.0], [2], 2, 12.5),
    lambda w: w.add_image("a", LEVELS, 2, 12.5, "CHW"),
    lambda w: w.add_images("a", LEVELS[None], 2, 12.5, "NCHW"),
    lambda w: w.add_image_with_boxes("a", LARGE, BOXES, 2, 12.5, 1, "CHW", ["a", "b"]),
    lambda w: w.add_audio("a", NORMAL / 9, 2, 8000, 12.5),
    lambda w: w.add_text("a", "b", 2, 12.5),
    lambda w: w.add_pr_curve("a", LABELS, SCORES, 2, 9, None, 12.5),
    lambda w: w.add_pr_curve_raw("a", *ROWS, 2, 5, None, 12.5),
    lambda w: w.add_mesh("a", VERTICES, COLORS, FACES, {"b": 1}, 2, 12.5),
    lambda w: w.add_scalar("a", 1, 2, 0),
    lambda w: w.add_scalar("a", 1, 2, -5.5),
    lambda w: w.add_scalar("a", 1, 2, 1e18),
]


@pytest.mark.parametrize("index", range(len(TIMED)))
def test_positions_and_wall_times(index: int, tmp_path: Path) -> None:
    times, trees = [], []
    for kind, name in ((theirs.SummaryWriter, "theirs"), (tfevents.SummaryWriter, "ours")):
        error, tree = outcome(TIMED[index], kind, tmp_path / name)
        assert error is None
        trees.append(tree)
        times.append([
            event.wall_time for path in decoded.event_files(tmp_path / name)
            for data in list(decoded.records(path))[1:]
            if (event := event_pb2.Event.FromString(data))
        ])
    assert trees[0] == trees[1]
    assert times[0] == times[1]


def test_purge_step(tmp_path: Path) -> None:
    heads = []
    for kind, name in ((theirs.SummaryWriter, "theirs"), (tfevents.SummaryWriter, "ours")):
        writer = kind(str(tmp_path / name), purge_step=5)
        writer.add_scalar("a", 1, 5)
        writer.close()
        writer.add_scalar("a", 2, 6)
        writer.close()
        heads.append([
            [(event.step, event.WhichOneof("what"), event.session_log.status)
             for event in map(event_pb2.Event.FromString, decoded.records(path))]
            for path in decoded.event_files(tmp_path / name)
        ])
    assert heads[0] == heads[1]


def test_attributes(tmp_path: Path) -> None:
    writers: list[Any] = [
        kind(tmp_path / "x", filename_suffix=".s", flush_secs=9)
        for kind in (theirs.SummaryWriter, tfevents.SummaryWriter)
    ]
    for name in ("log_dir", "purge_step", "flush_secs", "filename_suffix"):
        assert getattr(writers[1], name) == getattr(writers[0], name)
    assert writers[1].get_logdir() == str(writers[0].get_logdir())
    assert list(writers[1].all_writers) == [os.fspath(key) for key in writers[0].all_writers]
    for writer in writers:
        writer.close()
        assert writer.file_writer is writer.all_writers is None
        file = writer._get_file_writer()
        file.close()
        with pytest.raises(OSError, match="Writer is closed"):
            file.flush()


def test_signatures() -> None:
    for name in ("__init__", *(each for each in dir(theirs.SummaryWriter) if each[0] != "_")):
        expected = inspect.signature(getattr(theirs.SummaryWriter, name)).parameters
        found = inspect.signature(getattr(tfevents.SummaryWriter, name)).parameters
        shared = list(found)[: len(expected)]
        assert shared == list(expected), name
        for each in shared:
            optional = expected[each].default is not inspect.Parameter.empty
            if (name, each) != ("__init__", "max_queue") and optional:
                assert found[each].default == expected[each].default, (name, each)
