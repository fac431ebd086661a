from __future__ import annotations

import hashlib
import io
import json
import re
import struct
import warnings
import wave
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tfevents import proto
from tfevents.values import _wav
from tfevents.values import audio as audio_module
from tfevents.values.audio import Audio, Layout, Rounding, check_encoding

GOLDEN = Path(__file__).parents[1] / "golden" / "golden.jsonl"
# TensorFlow raises for these; they are accepted here. By golden id, with the samples.
ACCEPTED = {
    "audio/f64": [0, 0, 0],
    "audio/f16": [0, 0, 0],
    "audio/i16": [0, 0, 0],
    "audio/list": [16384, 8192],
}
ERRORS: dict[str, type[Exception]] = {
    "InvalidArgumentError": ValueError,
    "ValueError": ValueError,
    "TypeError": TypeError,
}
# What the front door of each library passes.
TORCH: dict[str, Any] = {"layout": "T", "scale": 32767, "rounding": "trunc"}
TENSORBOARDX: dict[str, Any] = {"layout": "TC", "scale": 32768, "rounding": "floor"}


def golden() -> list[Any]:
    rows = map(json.loads, GOLDEN.read_text().splitlines())
    chosen = [row for row in rows if row["call"] == "audio" and row["id"].startswith("audio/")]
    return [pytest.param(row, id=row["id"]) for row in chosen]


def python(item: Any) -> Any:
    if isinstance(item, list):
        return [python(part) for part in item]
    if not isinstance(item, dict):
        return item
    if "float" in item:
        return float(item["float"])
    if "np" in item:
        return np.dtype(item["np"]["dtype"]).type(item["np"]["data"])
    dtype, shape, data = (item["nd"][key] for key in ("dtype", "shape", "data"))
    return np.array([float(x) if isinstance(x, str) else x for x in data], dtype).reshape(shape)


def opened(data: bytes) -> tuple[Any, int]:
    with wave.open(io.BytesIO(data)) as file:
        assert file.getsampwidth() == 2
        samples = np.frombuffer(file.readframes(file.getnframes()), "<i2")
        return samples.reshape(-1, file.getnchannels()), file.getframerate()


def clip_of(data: Any, options: dict[str, Any], rate: Any = 8000) -> list[int]:
    field = Audio.from_data(data, rate, tag="t", **options).to_field_value("t").audio
    samples, header_rate = opened(field.encoded_audio_string)
    assert header_rate == field.sample_rate
    assert samples.shape == (field.length_frames, field.num_channels)
    assert field.content_type == "audio/wav"
    numbers: list[int] = samples.ravel().tolist()
    return numbers


def test_golden_rows_are_there() -> None:
    assert len(golden()) >= 30


@pytest.mark.parametrize("row", golden())
def test_golden(row: Any) -> None:
    names = ("max_outputs", "encoding", "sample_rate")
    options = {key: python(item) for key, item in row["args"].items() if key in names}
    data = python(row["args"]["data"])
    result = row["result"]
    if row["id"] in ACCEPTED:
        value = Audio.from_data(data, tag="t", **options).to_tensor_value("t")
        assert opened(value.tensor.string_val[0])[0].ravel().tolist() == ACCEPTED[row["id"]]
        return
    if "exception" in result:
        with pytest.raises(ERRORS[result["exception"]["type"]]):
            Audio.from_data(data, tag="t", **options)
        return
    expected = result["events"][0]["values"][0]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        made = Audio.from_data(data, tag="au", **options)
        value = made.to_tensor_value("au", description=row["args"].get("description", ""))
    assert value.metadata.plugin_data.plugin_name == "audio"
    assert value.metadata.plugin_data.content.hex() == expected["plugin_content"]
    assert value.metadata.summary_description == expected["description"]
    assert value.tensor.dtype == proto.DT_STRING
    shape = [dim.size for dim in value.tensor.tensor_shape.dim]
    assert shape == expected["tensor"]["shape"]
    strings = list(value.tensor.string_val)
    wanted = expected["tensor"]["values"]
    for wav, label, want in zip(strings[::2], strings[1::2], wanted[::2], strict=True):
        facts = want["wav"]
        assert label == b""
        fields = struct.unpack("<4sI4s4sIHHIIHH4sI", wav[:44])
        assert fields[1] == facts["riff_size"]
        assert fields[4] == facts["fmt_size"]
        assert fields[5] == facts["format"]
        assert fields[6] == facts["channels"]
        assert fields[7] == facts["rate"]
        assert fields[8] == facts["byte_rate"]
        assert fields[9] == facts["block_align"]
        assert fields[10] == facts["bits"]
        assert fields[12] == facts["data_size"]
        assert len(wav) == 44 + facts["data_size"]
        if "samples" in facts:
            assert opened(wav)[0].ravel().tolist() == facts["samples"]
        assert hashlib.sha256(wav[44:]).hexdigest() == facts["sha256"]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (TORCH, [0, 16383, -16383, 32767, -32767]),
        (TENSORBOARDX, [0, 16384, -16384, 32767, -32768]),
    ],
)
def test_reference_samples(options: dict[str, Any], expected: list[int]) -> None:
    data = np.array([0, 0.5, -0.5, 1, -1], np.float32)
    assert clip_of(data, options) == expected
    assert clip_of(data.astype(np.float64), options) == expected
    assert clip_of(data.astype(np.float16), options) == expected
    assert clip_of(data.astype(">f4"), options) == expected


def test_thirds_are_floored_for_tensorboardx_and_cut_for_torch() -> None:
    data = np.array([1 / 3, -1 / 3])
    assert clip_of(data, TENSORBOARDX) == [10922, -10923]
    assert clip_of(data, TORCH) == [10922, -10922]


def test_half_away_from_zero_looks_at_the_exact_product() -> None:
    below = np.nextafter(np.float32(0.5), np.float32(0)) / np.float32(32768)
    batch = Audio.from_data(np.array([[[below], [-below]]]), 8000)
    assert batch.samples()[0].ravel().tolist() == [0, 0]


@pytest.mark.parametrize("options", [TORCH, TENSORBOARDX, {}])
@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (np.array([0, 1000, -1000, 32767, -32768], np.int16), [0, 1000, -1000, 32767, -32768]),
        (np.array([0, 1000 << 16, (-5 << 16) + 9], np.int32), [0, 1000, -5]),
        (np.array([0, 128, 129, 255], np.uint8), [-32768, 0, 256, 32512]),
    ],
)
def test_integer_samples_are_pcm(data: Any, options: dict[str, Any], expected: list[int]) -> None:
    if options:
        assert clip_of(data, options) == expected
    else:
        samples, rate = Audio.from_data(data.reshape(1, -1, 1), 8000).samples()
        assert (samples.ravel().tolist(), rate) == (expected, 8000)


@pytest.mark.parametrize("dtype", [np.int64, np.uint16, np.int8, np.bool_, np.complex64])
def test_other_dtypes_raise(dtype: Any) -> None:
    for layout, shape in (("T", (3,)), ("KTC", (1, 3, 1))):
        with pytest.raises(TypeError, match=r"'my/tag'.*int16"):
            Audio.from_data(np.zeros(shape, dtype), tag="my/tag", layout=layout)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("options", "expected"), [(TORCH, [0, 32767, -32767]), (TENSORBOARDX, [0, 32767, -32768])]
)
def test_a_clip_out_of_range_warns(
    options: dict[str, Any], expected: list[int], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.warns(UserWarning, match=r"'t'.*-3 to 2.*clipped") as caught:
        assert clip_of(np.array([0.0, 2, -3]), options) == expected
    assert len(caught) == 1
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("options", [TORCH, TENSORBOARDX])
def test_nan_is_silence(options: dict[str, Any]) -> None:
    with pytest.warns(UserWarning, match="NaN") as caught:
        assert clip_of(np.array([0.5, np.nan, 0]), options)[1:] == [0, 0]
    assert len(caught) == 1


@pytest.mark.parametrize(
    ("layout", "shape", "channels"),
    [("T", (1, 6), 1), ("T", (6, 1), 1), ("T", (1, 1), 1), ("TC", (6,), 1), ("TC", (6, 2), 2)],
)
def test_shapes_of_one_clip(layout: Layout, shape: tuple[int, ...], channels: int) -> None:
    data = np.arange(np.prod(shape), dtype=np.int16).reshape(shape)
    field = Audio.from_data(data, 8000, layout=layout).to_field_value("t").audio
    assert (field.length_frames, field.num_channels) == (data.size // channels, channels)
    decoded = opened(field.encoded_audio_string)[0]
    assert decoded.ravel().tolist() == list(range(data.size))


@pytest.mark.parametrize(
    ("layout", "shape"),
    [("T", (3, 2)), ("T", (0,)), ("TC", (0, 2)), ("TC", (2, 3)), ("TC", (1, 2, 3)), ("TC", ())],
)
def test_wrong_shapes_raise(layout: Layout, shape: tuple[int, ...]) -> None:
    with pytest.raises(ValueError) as caught:
        Audio.from_data(np.zeros(shape), tag="my/tag", layout=layout)
    assert "'my/tag'" in str(caught.value)
    assert str(shape) in str(caught.value)


def test_rank_is_checked_before_the_dtype() -> None:
    with pytest.raises(ValueError, match="must have rank 3"):
        Audio.from_data(np.array([[1]]), 44100)


def test_negative_max_outputs_says_the_bound() -> None:
    with pytest.raises(ValueError, match=">= 0"):
        Audio.from_data(np.zeros((1, 1, 1), np.float32), 44100, max_outputs=-1)


@pytest.mark.parametrize("encoding", ["mp3", "WAV", "", 5, np.zeros(2)])
def test_unknown_encodings_raise(encoding: Any) -> None:
    text = f"tag 'the/tag': Unknown encoding: {encoding!r}; allowed is \"wav\""
    with pytest.raises(ValueError, match=re.escape(text)):
        check_encoding(encoding, tag="the/tag")


def test_rates_of_one_clip_are_rounded_as_the_wave_module_does() -> None:
    assert clip_of(np.zeros(2), TORCH, 22050.0) == [0, 0]
    assert Audio.from_data(np.zeros(2), 22050.6, **TORCH).sample_rate == 22051
    for rate in (float("nan"), True, "8000", None):
        with pytest.raises(TypeError, match="sample_rate"):
            Audio.from_data(np.zeros(2), rate, **TORCH)  # type: ignore[arg-type]


@pytest.mark.parametrize(("shape", "rate"), [((1, 1, 32768), 1), ((1, 1, 2), 2**31 - 1)])
def test_what_a_header_cannot_hold_raises(shape: tuple[int, ...], rate: int) -> None:
    with pytest.raises(ValueError, match=r"'t'.*do not fit"):
        Audio.from_data(np.zeros(shape, np.float32), rate, tag="t")


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int16, np.int32])
def test_later_changes_of_the_data_change_nothing(dtype: Any) -> None:
    data = np.zeros((1, 4, 1), dtype)
    batch = Audio.from_data(data)
    clip = Audio.from_data(data, layout="T")
    data[...] = -1
    assert not batch.samples()[0].any()
    assert not clip.samples()[0].any()


def test_memory_layout_does_not_matter() -> None:
    data = np.arange(12, dtype=np.int16).reshape(6, 2)
    assert clip_of(np.asfortranarray(data), TENSORBOARDX) == list(range(12))
    assert clip_of(data[::-1], TENSORBOARDX) == data[::-1].ravel().tolist()
    assert clip_of(data[::2, 1], TORCH) == [1, 5, 9]


def test_long_clips_are_converted_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audio_module, "_CHUNK", 3)
    assert clip_of(np.arange(8) / 32768, TENSORBOARDX) == list(range(8))


def test_nbytes_counts_what_is_held() -> None:
    assert Audio.from_data(np.zeros((5, 10, 2), np.float32), max_outputs=2).nbytes == 160


def test_a_batch_of_two_has_no_field_form() -> None:
    with pytest.raises(ValueError, match=r"'t'.*not 2"):
        Audio.from_data(np.zeros((2, 3, 1), np.float32)).to_field_value("t")


def stdlib_wav(raw: bytes, width: int, channels: int = 1) -> bytes:
    buffer = io.BytesIO()
    with wave.open(buffer, "wb") as file:
        file.setnchannels(channels)
        file.setsampwidth(width)
        file.setframerate(16000)
        file.writeframes(raw)
    return buffer.getvalue()


def test_both_forms_decode_and_keep_their_bytes() -> None:
    wav = stdlib_wav(struct.pack("<4h", 1, -2, 32767, -32768), 2, channels=2)
    field = proto.Summary.Value(tag="a")
    field.audio.sample_rate, field.audio.num_channels, field.audio.length_frames = 16000, 2, 2
    field.audio.content_type, field.audio.encoded_audio_string = "audio/wav", wav
    strings = proto.Summary.Value(tag="a")
    strings.tensor.dtype = proto.DT_STRING
    strings.tensor.string_val.extend([wav, "é".encode(), wav, b"\xff"])
    for size in (2, 2):
        strings.tensor.tensor_shape.dim.add(size=size)
    for value, count in ((field, 1), (strings, 2)):
        read = Audio.from_value(value)
        assert (len(read), read.sample_rate, read.encoded) == (count, 16000, (wav,) * count)
        samples, rate = read.samples(count - 1)
        assert samples.dtype == np.int16
        assert (samples.tolist(), rate) == ([[1, -2], [32767, -32768]], 16000)
        floats, _ = read.waveform()
        assert floats.dtype == np.float32
        assert floats[1].tolist() == [32767 / 32768, -1.0]
    assert Audio.from_value(field).to_field_value("a") == field
    assert Audio.from_value(strings).labels == ("é", "�")


def float_wav(samples: list[float], *, extensible: bool = False) -> bytes:
    data = struct.pack(f"<{len(samples)}f", *samples)
    tag = 0xFFFE if extensible else 3
    fmt = struct.pack("<HHIIHH", tag, 1, 8000, 32000, 4, 32)
    if extensible:
        guid = bytes.fromhex("0300000000001000800000aa00389b71")
        fmt += struct.pack("<HHI", 22, 32, 4) + guid
    odd = b"LIST" + struct.pack("<I", 3) + b"abc\0"
    body = b"WAVE" + odd + b"fmt " + struct.pack("<I", len(fmt)) + fmt
    body += b"data" + struct.pack("<I", len(data)) + data
    return b"RIFF" + struct.pack("<I", len(body)) + body


@pytest.mark.parametrize(
    ("wav", "samples", "floats"),
    [
        (stdlib_wav(bytes([0, 128, 255]), 1), [-32768, 0, 32512], [-1, 0, 127 / 128]),
        (
            stdlib_wav(bytes.fromhex("010000 ffff7f 000080"), 3),
            [0, 32767, -32768],
            [2**-23, 1 - 2**-23, -1],
        ),
        (stdlib_wav(struct.pack("<2i", 1 << 16, -1), 4), [1, -1], [2**-15, -(2**-31)]),
        (float_wav([0.5, -1, 2]), [16384, -32768, 32767], [0.5, -1, 2]),
        (float_wav([0.25], extensible=True), [8192], [0.25]),
    ],
)
def test_wav_of_other_producers(wav: bytes, samples: list[int], floats: list[float]) -> None:
    value = proto.Summary.Value(tag="a")
    value.audio.encoded_audio_string = wav
    read = Audio.from_value(value)
    assert read.samples()[0].ravel().tolist() == samples
    assert read.waveform()[0].ravel().tolist() == floats


def test_a_torn_or_overlong_file_is_cut_to_whole_frames() -> None:
    wav = stdlib_wav(struct.pack("<4h", 1, 2, 3, 4), 2, channels=2)
    assert _wav.decode(wav[:-1])[0].tolist() == [[1, 2]]
    endless = wav[:40] + b"\xff\xff\xff\xff" + wav[44:]
    assert _wav.decode(endless)[0].tolist() == [[1, 2], [3, 4]]


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"OggS" + bytes(40),
        b"RIFF\0\0\0\0WAVE",
        stdlib_wav(b"\0\0", 2)[:36],
        stdlib_wav(b"\0\0", 2)[:20] + b"\x55\0" + stdlib_wav(b"\0\0", 2)[22:],
        stdlib_wav(b"\0\0", 2)[:22] + b"\0\0" + stdlib_wav(b"\0\0", 2)[24:],
        b"RIFF\0\0\0\0WAVEfmt \2\0\0\0\1\0data\2\0\0\0\0\0",
    ],
)
def test_bytes_that_are_no_wav_raise_only_when_asked_for(data: bytes) -> None:
    strings = proto.Summary.Value(tag="a")
    strings.tensor.dtype = proto.DT_STRING
    strings.tensor.string_val.extend([data, b""])
    for size in (1, 2):
        strings.tensor.tensor_shape.dim.add(size=size)
    read = Audio.from_value(strings)
    assert read.to_field_value("a").audio.encoded_audio_string == data
    with pytest.raises(ValueError, match="WAV"):
        read.samples()


def test_values_without_audio_raise() -> None:
    with pytest.raises(ValueError, match="'a'"):
        Audio.from_value(proto.Summary.Value(tag="a", simple_value=1.0))
    value = proto.Summary.Value(tag="a")
    value.tensor.dtype = proto.DT_FLOAT
    value.tensor.float_val.append(1)
    with pytest.raises(ValueError, match=r"'a'.*\[n, 2\]"):
        Audio.from_value(value)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_samples_equal_torch(dtype: Any) -> None:
    pytest.importorskip("torch")
    summary = pytest.importorskip("torch.utils.tensorboard.summary")
    data = np.random.default_rng(0).uniform(-1, 1, 5000).astype(dtype)
    theirs = summary.audio("t", data, 22050).value[0].audio
    ours = Audio.from_data(data, 22050, **TORCH).to_field_value("t").audio
    assert ours.SerializeToString() == theirs.SerializeToString()


@pytest.mark.parametrize("rounding", ["half-away", "trunc", "floor"])
def test_every_rounding_keeps_full_scale(rounding: Rounding) -> None:
    data = np.array([[[1.0], [-1.0]]], np.float32)
    made = Audio.from_data(data, 8000, rounding=rounding)
    assert made.samples()[0].ravel().tolist() == [32767, -32768]
