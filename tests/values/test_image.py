from __future__ import annotations

import base64
import hashlib
import io
import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import PIL.Image
import pytest

from tfevents import proto
from tfevents.values import image as image_module
from tfevents.values.image import Image

GOLDEN = Path(__file__).parents[1] / "golden" / "golden.jsonl"
# Where TensorFlow's outcome is not ours, by golden id; docs list the same differences.
LEVELS = {
    "image/i8": [0, 0, 0, 1, 2, 63, 64, 127],
    "image/i16": [0, 0, 0, 127, 128, 255, 255, 255],
    "image/i32": [0, 255, 255, 255, 255, 255, 255, 0],
    "image/i64": [0, 255, 255, 255, 255, 255, 255, 1],
    "image/u16": [0, 255, 255, 255, 255, 255, 255, 255],
    "image/uint32": [0, 1],
    "image/uint64": [0, 1],
    "image/bool": [0, 255],
    "image/list_int": [1, 200],
}
# Exceptions of TensorFlow's own, and what stands for them here.
ERRORS: dict[str, type[Exception]] = {
    "InvalidArgumentError": ValueError,
    "InternalError": ValueError,
    "ValueError": ValueError,
    "TypeError": TypeError,
    "AttributeError": TypeError,
}


def golden(call: str) -> list[Any]:
    rows = map(json.loads, GOLDEN.read_text().splitlines())
    chosen = [row for row in rows if row["call"] == call and row["id"].startswith(f"{call}/")]
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
    if dtype.startswith("complex"):
        return np.array([complex(*pair) for pair in data], dtype).reshape(shape)
    return np.array([float(x) if isinstance(x, str) else x for x in data], dtype).reshape(shape)


def opened(png: bytes) -> PIL.Image.Image:
    PIL.Image.open(io.BytesIO(png)).verify()  # the CRC of every chunk
    picture = PIL.Image.open(io.BytesIO(png))
    picture.load()
    assert picture.format == "PNG"
    return picture


def pixels(png: bytes) -> Any:
    picture = opened(png)
    return np.asarray(picture).reshape(picture.height, picture.width, -1)


def picture_of(data: Any, dataformats: str) -> Any:
    value = Image.from_data(data, tag="t", dataformats=dataformats).to_field_value("t")
    decoded = pixels(value.image.encoded_image_string)
    assert decoded.shape == (value.image.height, value.image.width, value.image.colorspace)
    return decoded


def batch_of(data: Any, **options: Any) -> list[Any]:
    value = Image.from_data(data, tag="t", **options).to_tensor_value("t")
    return [pixels(png) for png in value.tensor.string_val[2:]]


def test_golden_rows_are_there() -> None:
    assert len(golden("image")) >= 40


@pytest.mark.parametrize("row", golden("image"))
@pytest.mark.filterwarnings("ignore:.*were clipped:UserWarning")
def test_golden(row: Any) -> None:
    args = {key: python(item) for key, item in row["args"].items() if key != "data"}
    options = {"max_outputs": args["max_outputs"]} if "max_outputs" in args else {}
    data = python(row["args"]["data"])
    result = row["result"]
    if row["id"] in LEVELS:
        (levels,) = batch_of(data)
        assert levels.ravel().tolist() == LEVELS[row["id"]]
        return
    if "exception" in result:
        with pytest.raises(ERRORS[result["exception"]["type"]], match="'t'"):
            Image.from_data(data, tag="t", **options)
        return
    expected = result["events"][0]["values"][0]
    made = Image.from_data(data, tag="i", **options)
    value = made.to_tensor_value(expected["tag"], description=args.get("description", ""))
    assert value.tag == expected["tag"]
    assert value.metadata.plugin_data.plugin_name == expected["plugin_name"]
    assert value.metadata.plugin_data.content == b""
    assert value.metadata.summary_description == expected["description"]
    assert value.tensor.dtype == proto.DT_STRING
    shape = [dim.size for dim in value.tensor.tensor_shape.dim]
    assert shape == expected["tensor"]["shape"]
    strings = list(value.tensor.string_val)
    wanted = expected["tensor"]["values"]
    assert strings[:2] == [base64.b64decode(size) for size in wanted[:2]]
    for png, want in zip(strings[2:], wanted[2:], strict=True):
        decoded = pixels(png)
        facts = want["png"]
        assert decoded.shape == (facts["height"], facts["width"], facts["channels"])
        assert png[24] == facts["bit_depth"]
        assert png[25] == facts["color_type"]
        assert hashlib.sha256(decoded.tobytes()).hexdigest() == facts["sha256"]
        if "pixels" in facts:
            assert decoded.ravel().tolist() == facts["pixels"]


@pytest.mark.parametrize(
    ("values", "dataformats", "expected"),
    [
        (np.array([0, 0.5, 1, 0.999], np.float32), None, [0, 127, 255, 255]),
        (np.array([0, 0.5, 1, 0.999], np.float32), "HWC", [0, 127, 255, 254]),
        (np.array([1.5, -0.2, 2, -1], np.float32), None, [255, 0, 255, 0]),
        (np.array([1.5, -0.2, 2, -1], np.float32), "HWC", [255, 0, 255, 0]),
        (np.array([0.5, 1], np.float16), "HWC", [127, 255]),
        (np.array([0.5, 1], np.float64), "HWC", [127, 255]),
        (np.array([0.5, 1], ">f4"), None, [127, 255]),
        (np.array([0.5, 1], np.longdouble), None, [127, 255]),
        (np.array([False, True]), "HWC", [0, 255]),
        (np.array([0, 1, 128, 255]), None, [0, 1, 128, 255]),
        (np.array([0, 1, 128, 255]), "HWC", [0, 1, 128, 255]),
        (np.array([0, 127], np.int8), "HWC", [0, 127]),
        (np.array([0, 258], ">u2") - np.uint16(3), "HWC", None),
    ],
)
def test_levels(values: Any, dataformats: str | None, expected: list[int] | None) -> None:
    if expected is None:
        with pytest.warns(UserWarning, match="65533"):
            picture_of(values.reshape(1, -1, 1), "HWC")
        return
    if dataformats is None:
        decoded = batch_of(values.reshape(1, 1, -1, 1))[0][..., 0]
    else:
        decoded = picture_of(values.reshape(1, -1, 1), dataformats)[..., 1]
    assert decoded.ravel().tolist() == expected


@pytest.mark.parametrize("dataformats", [None, "HWC"])
def test_integers_out_of_range_warn_once_and_clip(dataformats: str | None) -> None:
    data = np.array([-1, 300, 7, 8]).reshape(1, 4, 1)
    with pytest.warns(UserWarning, match=r"'my/tag'.*-1 to 300") as caught:
        made = Image.from_data(
            data if dataformats else data[None], tag="my/tag", dataformats=dataformats
        )
    assert len(caught) == 1
    assert made.arrays()[0][0, :, 0].tolist() == [0, 255, 7, 8]


def test_non_finite_pixels_of_a_picture_warn_once() -> None:
    data = np.array([np.nan, np.inf, -np.inf, 0.5], np.float32).reshape(1, 1, 4)
    with pytest.warns(UserWarning, match=r"'t'.*non-finite") as caught:
        decoded = picture_of(data, "CHW")
    assert len(caught) == 1
    assert decoded[0, :, 0].tolist() == [0, 255, 0, 127]


def test_non_finite_pixels_of_a_batch_are_silent() -> None:
    data = np.array([np.nan, np.inf, -np.inf, 0.5], np.float32).reshape(1, 1, 4, 1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        (decoded,) = batch_of(data)
    assert decoded.ravel().tolist() == [0, 255, 0, 127]


def test_uint8_is_kept() -> None:
    ramp = np.arange(256, dtype=np.uint8).reshape(1, 16, 16)
    decoded = picture_of(ramp, "CHW")
    assert decoded.shape == (16, 16, 3)
    assert (decoded == ramp[0, :, :, None]).all()
    assert (picture_of(np.full((3, 3, 4, 5), 200, np.uint8), "NCHW") == 200).all()


@pytest.mark.parametrize(("depth", "mode"), [(2, "LA"), (3, "RGB"), (4, "RGBA")])
def test_channels_become_modes(depth: int, mode: str) -> None:
    data = np.array([10, 20, 30, 40][:depth], np.uint8).reshape(depth, 1, 1)
    value = Image.from_data(data, dataformats="CHW").to_field_value("t")
    picture = opened(value.image.encoded_image_string)
    assert picture.mode == mode
    assert picture.getpixel((0, 0)) == (10, 20, 30, 40)[:depth]


def test_letters_in_any_order_and_case() -> None:
    hwc = np.arange(2 * 3 * 3, dtype=np.uint8).reshape(2, 3, 3)
    assert (picture_of(hwc, "hWc") == hwc).all()
    assert (picture_of(hwc.transpose(2, 0, 1), "CHW") == hwc).all()
    assert (picture_of(hwc.transpose(1, 2, 0), "wch") == hwc).all()
    assert (picture_of(hwc[..., 0].T, "WH") == hwc[..., :1]).all()
    nhwc = np.stack([hwc, hwc + 100])
    expected = np.concatenate([hwc, hwc + 100], axis=1)
    assert (picture_of(nhwc.transpose(1, 3, 2, 0), "HCWN") == expected).all()


@pytest.mark.parametrize("depth", [1, 3, 4])
def test_ten_tiles_fill_two_rows(depth: int) -> None:
    data = np.arange(1, 11, dtype=np.uint8).reshape(10, 1, 1, 1) * np.ones(
        (10, depth, 2, 3), np.uint8
    )
    decoded = picture_of(data, "NCHW")
    assert decoded.shape == (4, 24, max(3, depth))
    assert decoded[1, ::3, -1].tolist() == [1, 2, 3, 4, 5, 6, 7, 8]
    assert decoded[2, ::3, 0].tolist() == [9, 10, 0, 0, 0, 0, 0, 0]


@pytest.mark.parametrize(
    ("shape", "dataformats", "words"),
    [
        ((32, 48, 3), "CHW", ["(32, 48, 3)", "'CHW'", "32 channels", "1, 2, 3 and 4"]),
        ((5, 4, 4), "CHW", ["(5, 4, 4)", "5 channels"]),
        ((3, 0, 4), "CHW", ["(3, 0, 4)", "no pixels"]),
        ((0, 3, 4, 4), "NCHW", ["(0, 3, 4, 4)", "no pixels"]),
        ((2, 3, 4, 4), "CHW", ["(2, 3, 4, 4)", "'CHW'", "3 axes"]),
        ((3, 4, 4), "CHH", ["'CHH'", "each once"]),
        ((3, 4, 4), "NHW", ["'NHW'", "(3, 4, 4)"]),
        ((3, 4, 4), "", ["''"]),
    ],
)
def test_wrong_pictures_raise(shape: tuple[int, ...], dataformats: str, words: list[str]) -> None:
    with pytest.raises(ValueError) as caught:
        Image.from_data(np.zeros(shape, np.uint8), tag="some/tag", dataformats=dataformats)
    for word in ["'some/tag'", *words]:
        assert word in str(caught.value)


@pytest.mark.parametrize("data", [np.array([["a"]]), np.array([[1j]])])
def test_data_that_are_no_numbers_raise(data: Any) -> None:
    with pytest.raises(TypeError, match="'t'"):
        Image.from_data(data, tag="t", dataformats="HW")


@pytest.mark.parametrize("dtype", [np.uint8, np.float32, np.float64, np.int64, np.bool_])
@pytest.mark.parametrize("dataformats", [None, "NHWC"])
def test_later_changes_of_the_data_change_nothing(dtype: Any, dataformats: str | None) -> None:
    data = np.zeros((1, 2, 2, 3), dtype)
    made = Image.from_data(data, dataformats=dataformats)
    data[...] = 1
    assert not made.arrays()[0].any()


def test_memory_layout_does_not_matter() -> None:
    rng = np.random.default_rng(0)
    base = rng.random((6, 8, 3), dtype=np.float32)
    expected = (base * np.float32(255)).astype(np.uint8)
    assert (picture_of(np.asfortranarray(base), "HWC") == expected).all()
    assert (picture_of(base[::-1, ::-1], "HWC") == expected[::-1, ::-1]).all()
    assert (picture_of(base[::2, 1:5], "HWC") == expected[::2, 1:5]).all()
    assert (picture_of(base[..., ::-1].transpose(2, 0, 1), "CHW") == expected[..., ::-1]).all()


def test_large_floats_are_converted_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(image_module, "_CHUNK", 40)
    data = np.random.default_rng(1).random((7, 5, 3), dtype=np.float32)
    assert (picture_of(data, "HWC") == (data * np.float32(255)).astype(np.uint8)).all()


def test_a_pillow_image_is_data() -> None:
    picture = PIL.Image.new("RGB", (3, 2), (1, 2, 3))
    assert picture_of(picture, "HWC")[1, 2].tolist() == [1, 2, 3]


def test_nbytes_counts_what_is_held() -> None:
    made = Image.from_data(np.zeros((4, 2, 2, 3), np.float32), max_outputs=2)
    assert made.nbytes == 2 * 2 * 2 * 3 * 4


def test_a_batch_of_two_has_no_field_form() -> None:
    with pytest.raises(ValueError, match=r"'t'.*not 2"):
        Image.from_data(np.zeros((2, 1, 1, 1), np.uint8)).to_field_value("t")


def test_both_forms_decode_and_keep_their_bytes() -> None:
    buffer = io.BytesIO()
    PIL.Image.new("RGB", (3, 2), (9, 8, 7)).save(buffer, "PNG")
    png = buffer.getvalue()
    field = proto.Summary.Value(tag="a")
    field.image.width, field.image.height, field.image.colorspace = 3, 2, 3
    field.image.encoded_image_string = png
    strings = proto.Summary.Value(tag="a")
    strings.tensor.dtype = proto.DT_STRING
    strings.tensor.string_val.extend([b"3", b"2", png, png])
    strings.tensor.tensor_shape.dim.add(size=4)
    for value, count in ((field, 1), (strings, 2)):
        read = Image.from_value(value)
        assert (read.width, read.height, read.channels, len(read)) == (3, 2, 3, count)
        assert read.encoded == (png,) * count
        assert read.arrays()[-1].shape == (2, 3, 3)
        assert (read.arrays()[-1] == [9, 8, 7]).all()
        assert list(read.to_tensor_value("b").tensor.string_val) == [b"3", b"2"] + [png] * count
    assert Image.from_value(field).to_field_value("a") == field


@pytest.mark.parametrize(
    ("format_", "mode", "color", "expected"),
    [
        ("JPEG", "L", 128, [128]),
        ("GIF", "P", 0, [0, 0, 0]),
        ("PNG", "1", 1, [255]),
        ("PNG", "I;16", 0x1234, [0x12]),
    ],
)
def test_other_formats_are_read(format_: str, mode: str, color: int, expected: list[int]) -> None:
    picture = PIL.Image.new(mode, (4, 4), color)
    if mode == "P":
        picture.putpalette([0, 0, 0, 255, 255, 255])
    buffer = io.BytesIO()
    picture.save(buffer, format_)
    value = proto.Summary.Value(tag="a")
    value.image.encoded_image_string = buffer.getvalue()
    (decoded,) = Image.from_value(value).arrays()
    assert decoded.dtype == np.uint8
    assert decoded[2, 2].tolist() == expected


@pytest.mark.parametrize(
    "data", [b"no image", b"\x89PNG\r\n\x1a\n", b"\x89PNG\r\n\x1a\n" + b"\0" * 40]
)
def test_damaged_images_raise_only_when_asked_for(data: bytes) -> None:
    value = proto.Summary.Value(tag="a")
    value.image.encoded_image_string = data
    read = Image.from_value(value)
    with pytest.raises(ValueError, match="cannot be decoded"):
        read.arrays()


@pytest.mark.parametrize(
    "strings", [[], [b"3"], [b"x", b"2"], [b"1" * 5000, b"2"], [b"2147483648", b"2"]]
)
def test_tensors_that_are_no_images_raise(strings: list[bytes]) -> None:
    value = proto.Summary.Value(tag="a")
    value.tensor.dtype = proto.DT_STRING
    value.tensor.string_val.extend(strings)
    value.tensor.tensor_shape.dim.add(size=len(strings))
    with pytest.raises(ValueError, match="'a'"):
        Image.from_value(value)
    with pytest.raises(ValueError, match="'a'"):
        Image.from_value(proto.Summary.Value(tag="a", simple_value=1.0))


@pytest.mark.parametrize(
    ("shape", "dataformats"),
    [
        ((3, 7, 5), "CHW"),
        ((1, 7, 5), "CHW"),
        ((2, 7, 5), "CHW"),
        ((4, 7, 5), "CHW"),
        ((7, 5), "HW"),
        ((7, 5, 3), "HWC"),
        ((11, 3, 4, 5), "NCHW"),
        ((3, 4, 5, 1), "NHWC"),
    ],
)
@pytest.mark.parametrize("dtype", [np.uint8, np.float32, np.float64, np.float16])
def test_pixels_equal_torch(shape: tuple[int, ...], dataformats: str, dtype: Any) -> None:
    pytest.importorskip("torch")
    summary = pytest.importorskip("torch.utils.tensorboard.summary")
    uniform = np.random.default_rng(2).uniform(-0.2, 1.2, shape)
    data = (
        (uniform * 255).clip(0, 255).astype(dtype) if dtype == np.uint8 else uniform.astype(dtype)
    )
    theirs = summary.image("t", data, dataformats=dataformats).value[0].image
    ours = Image.from_data(data, dataformats=dataformats).to_field_value("t").image
    assert (ours.height, ours.width, ours.colorspace) == (
        theirs.height,
        theirs.width,
        theirs.colorspace,
    )
    expected = pixels(theirs.encoded_image_string)
    assert (pixels(ours.encoded_image_string) == expected).all()
