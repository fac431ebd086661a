"""Event files as plain data, to compare what two producers wrote.

The form is that of `golden/golden.jsonl`. Records, tensors, PNG, GIF and WAV files are taken apart
here and not by the package under test; only the message class is the caller's, who may pass that of
another producer.
"""

from __future__ import annotations

import base64
import hashlib
import io
import math
import os
import struct
from collections.abc import Iterator
from typing import Any

import numpy as np

_DTYPES = {
    1: ("float32", "<f4"), 2: ("float64", "<f8"), 3: ("int32", "<i4"), 4: ("uint8", "|u1"),
    5: ("int16", "<i2"), 6: ("int8", "|i1"), 7: ("string", ""), 8: ("complex64", "<c8"),
    9: ("int64", "<i8"), 10: ("bool", "|b1"), 14: ("bfloat16", "<u2"), 17: ("uint16", "<u2"),
    18: ("complex128", "<c16"), 19: ("float16", "<f2"), 22: ("uint32", "<u4"),
    23: ("uint64", "<u8"),
}
_DATA_CLASSES = ("UNKNOWN", "SCALAR", "TENSOR", "BLOB_SEQUENCE")
_CHANNELS = {0: 1, 4: 2, 2: 3, 6: 4}  # by the colour type of a PNG
_SHOWN = 64  # pixels or samples; the digest covers the rest


def event_files(directory: str | os.PathLike[str]) -> list[str]:
    """All event files below a directory, in the order of their names."""
    found = [
        os.path.join(root, name)
        for root, _, names in os.walk(directory) for name in names if "tfevents" in name
    ]
    return sorted(found)


def records(path: str) -> Iterator[bytes]:
    """The data of the records of a file; the checksums are not looked at."""
    with open(path, "rb") as file:
        while head := file.read(12):
            (size,) = struct.unpack("<Q", head[:8])
            yield file.read(size)
            file.read(4)


def events(directory: str | os.PathLike[str], message_class: Any) -> list[dict[str, Any]]:
    """All events below a directory but the first of each file, decoded."""
    return [event for found in runs(directory, message_class).values() for event in found]


def runs(directory: str | os.PathLike[str], message_class: Any) -> dict[str, list[dict[str, Any]]]:
    """The events of each directory with event files, by its path below the one given."""
    found: dict[str, list[dict[str, Any]]] = {}
    for path in event_files(directory):
        run = found.setdefault(os.path.relpath(os.path.dirname(path), directory), [])
        for index, data in enumerate(records(path)):
            event = message_class.FromString(data)
            if index or not event.file_version:
                run.append(_event(event, message_class))
    return found


def _event(event: Any, message_class: Any) -> dict[str, Any]:
    what = event.WhichOneof("what")
    result = {"step": event.step, "what": what}
    if what == "summary":
        result["values"] = [value(item) for item in event.summary.value]
    elif what == "graph_def":
        result["nodes"] = _nodes(event.graph_def)
    return result


def _nodes(graph: bytes) -> list[list[Any]]:
    from tfevents import proto

    parsed = proto.GraphDef.FromString(graph)
    return [[node.name, node.op, sorted(node.attr)] for node in parsed.node]


def value(message: Any) -> dict[str, Any]:
    """One Summary.Value."""
    kind = message.WhichOneof("value")
    result: dict[str, Any] = {
        "tag": message.tag, "kind": kind, "has_metadata": message.HasField("metadata"),
    }
    if message.HasField("metadata"):
        metadata = message.metadata
        result |= {
            "plugin_name": metadata.plugin_data.plugin_name,
            "plugin_content": metadata.plugin_data.content.hex(),
            "display_name": metadata.display_name,
            "description": metadata.summary_description,
            "data_class": _DATA_CLASSES[metadata.data_class],
        }
    if kind == "tensor":
        result["tensor"] = _tensor(message.tensor)
    elif kind == "simple_value":
        result["simple_value"] = _number(message.simple_value)
    elif kind == "histo":
        result["histo"] = _histo(message.histo)
    elif kind in ("image", "audio"):
        result[kind] = {
            field.name: _blob(item) if isinstance(item, bytes) else item
            for field, item in getattr(message, kind).ListFields()
        }
    return result


def _histo(histo: Any) -> dict[str, Any]:
    result: dict[str, Any] = {
        name: _number(getattr(histo, name)) for name in ("min", "max", "num", "sum", "sum_squares")
    }
    for name in ("bucket_limit", "bucket"):
        result[name] = [_number(number) for number in getattr(histo, name)]
    return result


def _tensor(message: Any) -> dict[str, Any]:
    name, content = _DTYPES[message.dtype]
    shape = [dim.size for dim in message.tensor_shape.dim]
    if name == "string":
        values = [_blob(item) for item in message.string_val]
    else:
        array = np.frombuffer(message.tensor_content, content)
        if not array.size:
            array = _typed(message, content)
        if name == "bfloat16":
            array = (array.astype(np.uint32) << np.uint32(16)).view(np.float32)
        values = numbers(array)
    assert len(values) == math.prod(shape)
    fields = [
        field.name for field, _ in message.ListFields()
        if field.name not in ("dtype", "tensor_shape")
    ]
    return {"dtype": name, "shape": shape, "values": values, "field": fields}


def _typed(message: Any, content: str) -> Any:
    """The numbers in `float_val` and its like; complex ones are pairs there, halves are bits."""
    found = [
        list(items) for field, items in message.ListFields()
        if field.name.endswith("_val") and field.name != "string_val"
    ]
    (items,) = found or [[]]
    if content.startswith("<c"):
        return np.array(items, content.replace("c8", "f4").replace("c16", "f8")).view(content)
    if message.half_val:
        return np.array(items, np.uint16).view(content)
    return np.array(items, content)


def numbers(array: Any) -> list[Any]:
    """Numbers as JSON has them: "nan" and "inf" as str, complex ones as pairs."""
    if array.dtype.kind == "c":
        return [[_number(item.real), _number(item.imag)] for item in array.reshape(-1)]
    return [_number(item) for item in array.reshape(-1).tolist()]


def _number(item: Any) -> Any:
    if isinstance(item, float) and not math.isfinite(item):
        return str(item)
    return item if isinstance(item, (bool, int)) else float(item)


def _blob(data: bytes) -> Any:
    if data.startswith(b"\x89PNG\r\n\x1a\n"):
        return {"png": _png(data)}
    if data.startswith(b"RIFF"):
        return {"wav": _wav(data)}
    if data.startswith(b"GIF89a"):
        return {"gif": _gif(data)}
    return base64.b64encode(data).decode()


def _png(data: bytes) -> dict[str, Any]:
    from PIL import Image

    width, height, depth, color = struct.unpack(">IIBB", data[16:26])
    pixels = np.asarray(Image.open(io.BytesIO(data)))
    return {
        "width": width, "height": height, "bit_depth": depth, "color_type": color,
        "channels": _CHANNELS[color], "sha256": hashlib.sha256(pixels.tobytes()).hexdigest(),
        **({"pixels": pixels.reshape(-1).tolist()} if pixels.size <= _SHOWN else {}),
    }


def _gif(data: bytes) -> dict[str, Any]:
    from PIL import Image, ImageSequence

    picture = Image.open(io.BytesIO(data))
    frames = [
        (frame.info["duration"], np.asarray(frame.convert("RGB")))
        for frame in ImageSequence.Iterator(picture)
    ]
    return {
        "size": list(picture.size), "durations": [duration for duration, _ in frames],
        "sha256": [hashlib.sha256(pixels.tobytes()).hexdigest() for _, pixels in frames],
    }


def _wav(data: bytes) -> dict[str, Any]:
    riff, fmt_size, kind, channels, rate, byte_rate, align, bits, size = struct.unpack(
        "<4xI8xIHHIIHH4xI", data[:44]
    )
    samples = np.frombuffer(data[44:], "<i2")
    return {
        "riff_size": riff, "fmt_size": fmt_size, "format": kind, "channels": channels,
        "rate": rate, "byte_rate": byte_rate, "block_align": align, "bits": bits,
        "data_size": size, "sha256": hashlib.sha256(data[44:]).hexdigest(),
        **({"samples": samples.tolist()} if samples.size <= _SHOWN else {}),
    }
