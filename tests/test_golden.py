"""Every recorded fact of TensorFlow's tf.summary, run here and compared."""

from __future__ import annotations

import ast
import base64
import contextlib
import hashlib
import json
import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import decoded
import tfevents as tf
from tfevents import proto
from tfevents.values.histogram import Histogram

ROWS: list[dict[str, Any]] = [
    json.loads(line)
    for line in (Path(__file__).parent / "golden" / "golden.jsonl").read_text().splitlines()
]
BY_ID = {row["id"]: row for row in ROWS}
CALLS: dict[str, Any] = {
    "scalar": tf.summary.scalar,
    "image": tf.summary.image,
    "histogram": tf.summary.histogram,
    "audio": tf.summary.audio,
    "text": tf.summary.text,
    "write": tf.summary.write,
    "graph": tf.summary.graph,
    "write_raw_pb": tf.summary.experimental.write_raw_pb,
    "should_record_summaries": tf.summary.should_record_summaries,
    "summary_scope": lambda *args, **kwargs: _entered(
        tf.summary.experimental.summary_scope(*args, **kwargs)
    ),
}
# TensorFlow's own exception classes stand for these.
ERRORS = {
    "InvalidArgumentError": ValueError,
    "UnimplementedError": ValueError,
    "InternalError": ValueError,
    "DataLossError": ValueError,
    "ValueError": ValueError,
    "TypeError": TypeError,
    "RuntimeError": RuntimeError,
}


def _entered(scope: contextlib.AbstractContextManager[tuple[str, str]]) -> list[str]:
    with scope as found:
        return list(found)


# Arguments


def _argument(code: Any) -> Any:
    if isinstance(code, list):
        return [_argument(item) for item in code]
    if not isinstance(code, dict) or not code:
        return code
    ((kind, data),) = code.items()
    return _DECODERS[kind](data)


def _array(data: dict[str, Any]) -> Any:
    name = data["dtype"]
    # NumPy's names of string types ("str96") are none that it takes back.
    dtype = np.dtype({"str": "U", "bytes": "S"}.get(name.rstrip("0123456789"), name))
    items = [_item(item, dtype) for item in data["data"]]
    return np.array(items, dtype=dtype).reshape(data["shape"])


def _item(item: Any, dtype: np.dtype[Any]) -> Any:
    if isinstance(item, dict):
        return _argument(item)
    if dtype.kind == "c":
        return complex(float(item[0]), float(item[1]))
    return float(item) if dtype.kind == "f" else item


def _message(data: dict[str, str]) -> Any:
    kind = getattr(proto, data["type"].removeprefix("tensorflow."))
    return kind.FromString(base64.b64decode(data["b64"]))


_DECODERS: dict[str, Any] = {
    "float": float,
    "bytes": base64.b64decode,
    "complex": lambda data: complex(*data),
    "nd": _array,
    "np": lambda data: _array({"shape": [], "dtype": data["dtype"], "data": [data["data"]]})[()],
    # There are no variables without TensorFlow; what reads them reads arrays of rank 0.
    "variable": lambda data: np.array(data["data"][0], data["dtype"]),
    "returns": lambda data: lambda: _argument(data),
    "proto": _message,
    "repr": ast.literal_eval,
}


# One row


@contextlib.contextmanager
def _context(writer: Any, context: dict[str, Any]) -> Iterator[None]:
    with contextlib.ExitStack() as stack:
        if "set_step" in context:
            tf.summary.experimental.set_step(context["set_step"])
        if writer is not None:
            stack.enter_context(writer.as_default(step=context.get("default_step")))
        if "record_if" in context:
            stack.enter_context(tf.summary.record_if(context["record_if"]))
        for scope in context.get("scopes", ()):
            stack.enter_context(tf.name_scope(scope))
        yield


def _run(row: dict[str, Any], directory: Path) -> dict[str, Any]:
    """What the row would record if it were made of this package."""
    context = {key: _argument(code) for key, code in row.get("ctx", {}).items()}
    arguments = {key: _argument(code) for key, code in row["args"].items()}
    result: dict[str, Any] = {}
    has_writer = context.get("writer", True)
    writer = tf.summary.create_file_writer(directory) if has_writer else None
    try:
        with warnings.catch_warnings(), _context(writer, context):
            warnings.simplefilter("ignore")
            for _ in range(context.get("repeat", 1)):
                result["return"] = CALLS[row["call"]](**arguments)
    except Exception as error:
        result = {"exception": error}
    if writer is not None:
        writer.close()
    result["events"] = decoded.events(directory, proto.Event)
    return result


def _differs(row: dict[str, Any], found: dict[str, Any]) -> str:
    expected = row["result"]
    if found["events"] != expected["events"]:
        return f"events {found['events']} are not {expected['events']}"
    if "exception" not in expected:
        if "exception" in found:
            return f"raised {found['exception']!r}"
        return "" if found["return"] == expected["return"] else f"returned {found['return']}"
    name = expected["exception"]["type"]
    if "exception" not in found:
        return f"no {name}: {expected['exception']['message']}"
    if isinstance(found["exception"], ERRORS.get(name, ())):
        return ""
    return f"{found['exception']!r} is not {name}: {expected['exception']['message']}"


# What we do differently on purpose, with the right outcome


@dataclass(frozen=True)
class Different:
    """Either what is raised, or the one value that is written (a tensor in decoded form)."""

    why: str
    raises: type[Exception] | None = None
    tag: str = ""
    plugin: str = ""
    content: str = ""
    tensor: dict[str, Any] | None = None
    step: int = 1

    def result(self) -> dict[str, Any]:
        value = {
            "tag": self.tag, "kind": "tensor", "has_metadata": True, "plugin_name": self.plugin,
            "plugin_content": self.content, "display_name": "", "description": "",
            "data_class": "UNKNOWN", "tensor": self.tensor,
        }
        return {"step": self.step, "what": "summary", "values": [value]}


def _packed(dtype: str, shape: list[int], values: list[Any]) -> dict[str, Any]:
    return {"dtype": dtype, "shape": shape, "values": values, "field": ["tensor_content"]}


def _scalar(why: str, number: float, step: int = 1) -> Different:
    return Different(
        why, tag="a", plugin="scalars", tensor=_packed("float32", [], [number]), step=step
    )


def _image(why: str, width: int, height: int, pixels: list[int]) -> Different:
    png = {
        "width": width, "height": height, "bit_depth": 8, "color_type": 0, "channels": 1,
        "sha256": hashlib.sha256(bytes(pixels)).hexdigest(), "pixels": pixels,
    }
    size = [base64.b64encode(str(number).encode()).decode() for number in (width, height)]
    tensor = {
        "dtype": "string", "shape": [3], "values": [*size, {"png": png}], "field": ["string_val"],
    }
    return Different(why, tag="i", plugin="images", tensor=tensor)


def _histogram(why: str, rows: list[list[float]]) -> Different:
    values = [number for row in rows for number in row]
    return Different(
        why, tag="h", plugin="histograms", tensor=_packed("float64", [len(rows), 3], values)
    )


def _audio(why: str, samples: list[int]) -> Different:
    data = np.array(samples, "<i2").tobytes()
    wav = {
        "riff_size": 36 + len(data), "fmt_size": 16, "format": 1, "channels": 1, "rate": 8000,
        "byte_rate": 16000, "block_align": 2, "bits": 16, "data_size": len(data),
        "sha256": hashlib.sha256(data).hexdigest(), "samples": samples,
    }
    tensor = {
        "dtype": "string", "shape": [1, 2], "values": [{"wav": wav}, ""], "field": ["string_val"],
    }
    return Different(why, tag="au", plugin="audio", content="100b", tensor=tensor)


LEVELS = "integers are levels from 0 to 255, clipped; TensorFlow scales their range: 255 is black"
MORE_TYPES = "TensorFlow refuses types that have an obvious meaning"
FINITE = "values that are not finite are left out, with a warning; TensorFlow spoils all edges"
NO_PIXELS = "complex numbers have no meaning here; TensorFlow raises AttributeError"
COMPLEX = "half of the data would be dropped"
NO_ARRAY = "an object that is no array at all is of a wrong type"
ROWS_OF_12 = np.linspace(1, 2, 4).tolist()

DIFFERENT = {
    "scalar/py8": _scalar("Python integers have no bound; TensorFlow stops at 64 bits", 2.0**63),
    "step/variable_i32": _scalar("variables of any integer type are steps", 1.0, step=5),
    "image/i8": _image(LEVELS, 4, 2, [0, 0, 0, 1, 2, 63, 64, 127]),
    "image/i16": _image(LEVELS, 4, 2, [0, 0, 0, 127, 128, 255, 255, 255]),
    "image/i32": _image(LEVELS, 4, 2, [0, 255, 255, 255, 255, 255, 255, 0]),
    "image/i64": _image(LEVELS, 4, 2, [0, 255, 255, 255, 255, 255, 255, 1]),
    "image/u16": _image(LEVELS, 4, 2, [0, 255, 255, 255, 255, 255, 255, 255]),
    "image/uint32": _image(LEVELS, 2, 1, [0, 1]),
    "image/uint64": _image(LEVELS, 2, 1, [0, 1]),
    "image/list_int": _image(LEVELS, 2, 1, [1, 200]),
    "image/bool": _image(MORE_TYPES, 2, 1, [0, 255]),
    "image/complex64": Different(NO_PIXELS, raises=TypeError),
    "histogram/nan": _histogram(FINITE, [
        [ROWS_OF_12[0], ROWS_OF_12[1], 1.0], [ROWS_OF_12[1], ROWS_OF_12[2], 0.0],
        [ROWS_OF_12[2], ROWS_OF_12[3], 1.0],
    ]),
    "histogram/all_nan": _histogram(FINITE, [[0.0, 0.0, 0.0]] * 3),
    "histogram/inf_inf": _histogram(FINITE, [[0.0, 0.0, 0.0]] * 3),
    "histogram/both_inf": _histogram(FINITE, [[0.0, 0.0, 0.0]] * 3),
    "histogram/big_range": _histogram(
        "the width of the range overflows in TensorFlow, which then loses values",
        [[-1e308, -1e308 / 3, 1.0], [-1e308 / 3, 1e308 / 3, 0.0], [1e308 / 3, 1e308, 1.0]],
    ),
    "histogram/dtype_complex64": Different(COMPLEX, raises=TypeError),
    "audio/f64": _audio(MORE_TYPES, [0, 0, 0]),
    "audio/f16": _audio(MORE_TYPES, [0, 0, 0]),
    "audio/i16": _audio(MORE_TYPES, [0, 0, 0]),
    "audio/list": _audio(MORE_TYPES, [16384, 8192]),
    "raw/proto_object": Different(NO_ARRAY, raises=TypeError),
}
DIFFERENT["histogram/inf"] = DIFFERENT["histogram/neginf"] = DIFFERENT["histogram/nan"]

CALL_ROWS = [row for row in ROWS if row["call"] in CALLS]


@pytest.mark.parametrize(
    "row", [row for row in CALL_ROWS if row["id"] not in DIFFERENT], ids=lambda row: row["id"]
)
def test_call_writes_what_tensorflow_writes(row: dict[str, Any], tmp_path: Path) -> None:
    assert not _differs(row, _run(row, tmp_path))


@pytest.mark.parametrize("name", DIFFERENT)
def test_call_writes_what_is_right(name: str, tmp_path: Path) -> None:
    different = DIFFERENT[name]
    found = _run(BY_ID[name], tmp_path)
    assert _differs(BY_ID[name], found), "no longer a difference"
    if different.raises is not None:
        assert isinstance(found["exception"], different.raises)
        assert found["events"] == []
    else:
        assert "exception" not in found
        assert _rounded(found["events"]) == _rounded([different.result()])


def _rounded(events: Any) -> Any:
    """Thirds of 1e308 may differ in their last digit."""
    return json.loads(json.dumps(events), parse_float=lambda text: float(f"{float(text):.15g}"))


# Writers


@pytest.mark.parametrize("queue", [0, 1, 3])
def test_max_queue_flushes_no_later_than_tensorflow(queue: int, tmp_path: Path) -> None:
    expected = BY_ID[f"writer/max_queue_{queue}"]["result"]["events_on_disk_after_each_write"]
    found = []
    with tf.summary.create_file_writer(tmp_path, max_queue=queue).as_default():
        for step in range(12):
            tf.summary.scalar("a", 1, step=step)
            found.append(len(decoded.events(tmp_path, proto.Event)))
    assert all(ours >= theirs for ours, theirs in zip(found, expected, strict=True))
    assert len(decoded.events(tmp_path, proto.Event)) == 12


def test_default_queue_is_flushed_by_the_end_of_the_block(tmp_path: Path) -> None:
    # TensorFlow flushes at the 11th write; here everything is visible within a second.
    expected = BY_ID["writer/max_queue_None"]["result"]["after_context_exit"]
    with tf.summary.create_file_writer(tmp_path).as_default():
        for step in range(12):
            tf.summary.scalar("a", 1, step=step)
    assert len(decoded.events(tmp_path, proto.Event)) == expected


def test_new_file_is_named_and_headed_as_tensorflows(tmp_path: Path) -> None:
    expected = BY_ID["writer/create"]["result"]
    tf.summary.create_file_writer(tmp_path)
    (path,) = decoded.event_files(tmp_path)
    assert expected["name"].endswith(".<uid>.v2")
    pattern = r"events\.out\.tfevents\.\d{10}\.[^.].*\.\d+\.\d+\.v2"
    assert re.fullmatch(pattern, Path(path).name)
    (first,) = decoded.records(path)
    event = proto.Event.FromString(first)
    assert event.file_version == expected["file_version"]
    assert event.step == expected["step"]
    # We say who we are, and the time as we know it.
    assert expected["source_writer"] != event.source_metadata.writer
    assert event.source_metadata.writer.startswith("tfevents")


def test_suffix_replaces_the_default_one(tmp_path: Path) -> None:
    row = BY_ID["writer/suffix"]["result"]
    tf.summary.create_file_writer(tmp_path, filename_suffix=row["suffix"])
    (path,) = decoded.event_files(tmp_path)
    assert path.endswith(row["suffix"]) is row["name_ends_with_suffix"]
    assert (".v2" in path) is row["v2_in_name"]


@pytest.mark.parametrize("method", ["close", "flush", "init", "as_default", "set_as_default"])
def test_closed_writer(method: str, tmp_path: Path) -> None:
    writer = tf.summary.create_file_writer(tmp_path)
    writer.close()
    expected = BY_ID[f"writer/closed_{method}"]["result"].get("exception")
    if expected is None:
        assert getattr(writer, method)() is None
    else:
        with pytest.raises(ERRORS[expected["type"]], match="already closed"):
            getattr(writer, method)()


@pytest.mark.parametrize(("row", "logdir"), [("none", None), ("int", 5)])
def test_bad_logdir(row: str, logdir: Any) -> None:
    expected = BY_ID[f"writer/logdir_{row}"]["result"]["exception"]
    with pytest.raises(ERRORS[expected["type"]]):
        tf.summary.create_file_writer(logdir)


def test_logdir_of_bytes(tmp_path: Path) -> None:
    assert BY_ID["writer/logdir_bytes"]["result"]["ok"]
    tf.summary.create_file_writer(bytes(tmp_path / "run")).close()
    assert len(decoded.event_files(tmp_path / "run")) == 1


def test_flush_of_no_writer() -> None:
    expected = BY_ID["flush/bad"]["result"]["exception"]
    with pytest.raises(ERRORS[expected["type"]], match=re.escape(expected["message"])):
        tf.summary.flush(5)  # type: ignore[arg-type]


# Version 1


@pytest.mark.parametrize(
    "row", [row for row in ROWS if row["call"] == "v1_histogram"], ids=lambda row: row["id"]
)
def test_v1_histogram(row: dict[str, Any]) -> None:
    data = _argument(row["args"]["values"])
    if "exception" in row["result"]:
        with pytest.raises(ERRORS[row["result"]["exception"]["type"]]):
            Histogram.from_data_v1(data, tag="h")
        return
    found = decoded.value(Histogram.from_data_v1(data, tag="h").to_field_value("h"))
    (expected,) = row["result"]["values"]
    # The numbers may be added in another order.
    theirs, ours = dict(expected["histo"]), found["histo"]
    slack = 1e-15 * float(np.abs(data).sum())
    assert ours.pop("sum") == pytest.approx(theirs.pop("sum"), rel=1e-15, abs=slack)
    assert ours.pop("sum_squares") == pytest.approx(theirs.pop("sum_squares"), rel=1e-15)
    assert found == {**expected, "histo": theirs}


def test_every_row_is_judged() -> None:
    judged_by_hand = {
        "writer/create", "writer/suffix", "flush/bad", "writer/logdir_bytes",
        *(f"writer/max_queue_{queue}" for queue in (0, 1, 3, None)),
        *(f"writer/logdir_{kind}" for kind in ("none", "int")),
        *(f"writer/closed_{name}"
          for name in ("close", "flush", "init", "as_default", "set_as_default")),
    }
    # The rows of tf.compat.v1's FileWriter wait for that class.
    left = {
        row["id"] for row in ROWS
        if row["call"] not in (*CALLS, "v1_histogram", "v1_FileWriter")
    }
    assert left == judged_by_hand
    assert len(ROWS) == 399
    assert set(DIFFERENT) <= set(BY_ID)
