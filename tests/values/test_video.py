from __future__ import annotations

import contextlib
import io
from typing import Any

import numpy as np
import pytest
from PIL import Image as Pillow
from PIL import ImageSequence

from tfevents import proto
from tfevents.values.image import Image
from tfevents.values.video import Video

rng = np.random.default_rng(0)


def frames_of(data: bytes, mode: str = "RGB") -> list[Any]:
    """What another decoder sees."""
    with Pillow.open(io.BytesIO(data)) as movie:
        return [np.array(frame.convert(mode)) for frame in ImageSequence.Iterator(movie)]


def durations_of(data: bytes) -> list[int]:
    """Milliseconds of each frame."""
    with Pillow.open(io.BytesIO(data)) as movie:
        return [frame.info["duration"] for frame in ImageSequence.Iterator(movie)]


def gif_of(data: Any, **arguments: Any) -> bytes:
    value = Video.from_data(data, tag="t", **arguments).to_field_value("t")
    encoded: bytes = value.image.encoded_image_string
    return encoded


def test_message() -> None:
    clips = rng.integers(0, 256, (3, 5, 3, 8, 10), np.uint8)
    value = Video.from_data(clips).to_field_value("t")
    assert value.tag == "t"
    assert value.image.encoded_image_string[:6] == b"GIF89a"
    # three clips and an empty one in 1 row: 2 ** ((bit length of 3 - 1) // 2)
    assert (value.image.height, value.image.width, value.image.colorspace) == (8, 40, 3)
    tensor = Video.from_data(clips).to_tensor_value("t", description="d")
    assert list(tensor.tensor.string_val) == [b"40", b"8", value.image.encoded_image_string]
    assert tensor.metadata.plugin_data.plugin_name == "images"
    assert tensor.metadata.summary_description == "d"


def test_few_colors_are_exact() -> None:
    clips = rng.integers(0, 256, (1, 7, 3, 12, 20), np.uint8)
    frames = frames_of(gif_of(clips))
    np.testing.assert_array_equal(frames, clips[0].transpose(0, 2, 3, 1))


def test_gray_is_exact() -> None:
    clips = np.arange(256, dtype=np.uint8).reshape(1, 1, 1, 16, 16)
    (frame,) = frames_of(gif_of(clips))
    np.testing.assert_array_equal(frame, clips[0, 0, 0][..., None].repeat(3, 2))


def test_many_colors_are_near() -> None:
    ramp = np.linspace(0, 1, 64)
    clip = np.stack(np.broadcast_arrays(ramp[None, :], ramp[:, None], 0.5))[None, None]
    (frame,) = frames_of(gif_of(clip))
    difference = np.abs(frame.astype(float) - clip[0, 0].transpose(1, 2, 0) * 255)
    assert difference.mean() < 8


def test_equal_frames_are_kept() -> None:
    clips = np.zeros((1, 9, 3, 4, 4), np.uint8)
    clips[0, 5:] = 200
    frames = frames_of(gif_of(clips))
    assert [frame[0, 0, 0] for frame in frames] == [0] * 5 + [200] * 4


@pytest.mark.parametrize("fps", [0.5, 1, 4, 7, 12.5, 24, 30, 45, 50])
def test_rate_is_right_on_average(fps: float) -> None:
    count = 50
    durations = durations_of(gif_of(np.zeros((1, count, 1, 2, 2), np.uint8), fps=fps))
    assert len(durations) == count
    assert sum(durations) == pytest.approx(1000 * count / fps, abs=10)
    assert min(durations) >= 20


@pytest.mark.parametrize("fps", [60, 1000])
def test_faster_than_a_browser_shows(fps: float) -> None:
    with pytest.warns(UserWarning, match=f"tag 't': {fps} frames a second are shown as 50"):
        data = gif_of(np.zeros((1, 6, 1, 2, 2), np.uint8), fps=fps)
    assert durations_of(data) == [20] * 6


def test_it_repeats_for_ever() -> None:
    with Pillow.open(io.BytesIO(gif_of(np.zeros((1, 2, 1, 2, 2), np.uint8)))) as movie:
        assert movie.info["loop"] == 0


@pytest.mark.parametrize(
    ("data", "level"),
    [
        (0.5, 127),
        (2.0, 255),
        (-1.0, 0),
        (np.nan, 0),
        (np.uint8(100), 100),
        (np.int64(100), 100),
        (np.float64(0.5), 127),
        (True, 255),
    ],
)
@pytest.mark.filterwarnings("ignore:tag")
def test_levels(data: Any, level: int) -> None:
    (frame,) = frames_of(gif_of(np.full((1, 1, 1, 2, 2), data)))
    assert frame.tolist() == [[[level] * 3] * 2] * 2


def test_transparency() -> None:
    clip = np.zeros((1, 2, 4, 1, 3), np.uint8)
    clip[0, 0, :, 0] = [[10, 20, 30], [1, 2, 3], [7, 8, 9], [255, 127, 128]]
    clip[0, 1, :, 0] = [[40, 50, 60], [4, 5, 6], [6, 5, 4], [0, 255, 255]]
    first, second = frames_of(gif_of(clip), "RGBA")
    assert first[0, 0].tolist() == [10, 1, 7, 255]
    assert first[0, 1, 3] == 0
    assert first[0, 2].tolist() == [30, 3, 9, 255]
    assert second[0, 0, 3] == 0
    assert second[0, 1].tolist() == [50, 5, 5, 255]


def test_transparency_among_many_colors() -> None:
    clip = rng.integers(0, 256, (1, 1, 4, 40, 40), np.uint8)
    clip[:, :, :3, :10] = 255
    (frame,) = frames_of(gif_of(clip), "RGBA")
    np.testing.assert_array_equal(frame[:, :, 3] > 0, clip[0, 0, 3] >= 128)
    seen = frame[:, :, 3] > 0
    difference = frame[seen][:, :3].astype(int) - clip[0, 0, :3].transpose(1, 2, 0)[seen]
    assert np.abs(difference).mean() < 12


@pytest.mark.parametrize(
    ("dataformats", "axes"),
    [("NTCHW", (0, 1, 2, 3, 4)), ("nthwc", (0, 1, 3, 4, 2)), ("TNCHW", (1, 0, 2, 3, 4))],
)
def test_dataformats(dataformats: str, axes: tuple[int, ...]) -> None:
    clips = rng.integers(0, 256, (2, 3, 3, 4, 5), np.uint8)
    assert gif_of(clips.transpose(axes), dataformats=dataformats) == gif_of(clips)


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5, 6, 8, 9, 16])
def test_grid_as_torch(count: int) -> None:
    utils = pytest.importorskip("torch.utils.tensorboard._utils")
    clips = rng.integers(0, 256, (count, 2, 3, 4, 5), np.uint8)
    expected = np.rint(utils._prepare_video(clips) * 255)
    np.testing.assert_array_equal(Video.from_data(clips).arrays(), expected)


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
def test_the_callers_array_is_not_kept(dtype: str) -> None:
    clips = np.zeros((1, 2, 1, 3, 3), dtype)
    video = Video.from_data(clips)
    clips[:] = 1
    assert np.max(video.arrays()) == 0


def test_reading() -> None:
    clips = rng.integers(0, 256, (1, 6, 3, 4, 4), np.uint8)
    video = Video.from_data(clips, fps=20)
    for value in (video.to_field_value("t"), video.to_tensor_value("t")):
        found = Video.from_value(value)
        assert (len(found), found.fps, found.width, found.height) == (6, 20, 4, 4)
        np.testing.assert_array_equal(found.arrays(), video.arrays())
        assert found.gif() == video.gif()


def test_an_image_reader_sees_the_first_frame() -> None:
    clips = rng.integers(0, 256, (1, 2, 3, 4, 4), np.uint8)
    found = Image.from_value(Video.from_data(clips).to_field_value("t"))
    np.testing.assert_array_equal(found.arrays()[0], clips[0, 0].transpose(1, 2, 0))


@pytest.mark.parametrize(
    ("data", "arguments", "error", "text"),
    [
        (np.zeros((1, 1, 2, 2)), {}, ValueError, r"rank 5.*\(1, 1, 2, 2\)"),
        (np.zeros((1, 1, 2, 2, 2)), {}, ValueError, "2 channels; allowed are 1, 3 and 4"),
        (np.zeros((1, 0, 3, 2, 2)), {}, ValueError, "empty"),
        (np.zeros((0, 1, 3, 2, 2)), {}, ValueError, "empty"),
        (np.zeros((1, 1, 1, 1, 65536)), {}, ValueError, "65535"),
        (np.zeros((1, 1, 3, 2, 2)), {"dataformats": "NTCHH"}, ValueError, "dataformats"),
        (np.zeros((1, 1, 3, 2, 2)), {"fps": 0}, ValueError, "fps"),
        (np.zeros((1, 1, 3, 2, 2)), {"fps": np.inf}, ValueError, "fps"),
        (np.zeros((1, 1, 3, 2, 2)), {"fps": "4"}, TypeError, "fps"),
        (np.zeros((1, 1, 3, 2, 2), complex), {}, TypeError, "complex"),
        (None, {}, TypeError, "NoneType"),
    ],
)
def test_bad_input(data: Any, arguments: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=f"t.*{text}"):
        Video.from_data(data, tag="t", **arguments)


def test_reading_something_else() -> None:
    value = proto.Summary.Value(tag="t")
    value.image.encoded_image_string = b"\x89PNG"
    with pytest.raises(ValueError, match="tag 't'"):
        Video.from_value(value)


@pytest.mark.parametrize("length", [3, 6, 13, 40, 300])
def test_a_torn_gif(length: int) -> None:
    whole = gif_of(rng.integers(0, 256, (1, 3, 3, 8, 8), np.uint8))
    value = proto.Summary.Value(tag="t")
    value.image.encoded_image_string = whole[:length]
    found = Video.from_value(value)
    assert len(found) < 3
    with contextlib.suppress(ValueError):  # Pillow shows a torn frame as far as it goes
        assert len(found.arrays()) < 3
