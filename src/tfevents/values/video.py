"""Videos: clips side by side, as one animated GIF in an image summary.

Pillow compresses each frame to a GIF of its own, and the animation is put together from those:
Pillow's own way of saving animations drops frames that equal the one before, and lays frames over
each other. Here every frame is whole and is kept. A frame of up to 256 colors keeps them exactly.

Format: https://www.w3.org/Graphics/GIF/spec-gif89a.txt
"""

from __future__ import annotations

import io
import math
import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from tfevents import _warn
from tfevents import arrays as array_likes
from tfevents.values.image import Image, snapshot, to_levels

if TYPE_CHECKING:
    from PIL.Image import Image as PilImage

    from tfevents import proto

__all__ = ["Video"]

_Levels = npt.NDArray[np.uint8]

_AXES = "NTHWC"
_MAX_SIDE = 0xFFFF
_MAX_DELAY = 0xFFFF
_SHORTEST = 2  # hundredths; browsers show frames of less than that for ten hundredths
_OPAQUE = 128  # alpha below it is transparent: a GIF knows no shades of it
_SAMPLE = 4096  # pixels
_TRANSPARENT = 255  # the palette index of such pixels

# The first byte of each block of a GIF; a control extension is about the frame after it.
_EXTENSION, _CONTROL, _END = 0x21, 0xF9, 0x3B


@dataclass(frozen=True, slots=True, eq=False)
class Video:
    """An animation.

    Attributes:
        width: pixels in a row of a whole frame, all clips side by side.
        height: rows of it.
        channels: 1 gray, 3 RGB, 4 RGBA.
        fps: frames a second.
        raw: [n, t, h, w, c] snapshot of fresh data, uint8 levels or unscaled float32.
        encoded: the GIF of a file, empty for fresh data.
    """

    width: int
    height: int
    channels: int
    fps: float = 4
    raw: npt.NDArray[Any] | None = None
    encoded: bytes = b""

    @classmethod
    def from_data(
        cls, data: object, *, tag: str = "", fps: float = 4, dataformats: str = "NTCHW"
    ) -> Video:
        """Checks and copies clips.

        Args:
            data: numbers of rank 5: n clips of t frames each. uint8 and other integers are levels
                from 0 to 255, floats are multiplied by 255 and cut to that range, NaN is 0.
            tag: named in errors and warnings.
            fps: frames a second, above 0. Above 50 it is shown at 50, with a warning: browsers
                show frames of less than 20 milliseconds far too long.
            dataformats: the letters N, T, C, H, W of the axes in any order and case.

        Raises:
            TypeError: not real numbers, or fps is no number.
            ValueError: another rank, channels other than 1, 3 or 4, an empty axis, a frame of over
                65535 pixels a side, fps not above 0.
        """
        rate = _rate(fps, tag)
        array = array_likes.to_numpy(data, tag=tag)
        clips = _to_nthwc(array, dataformats, tag)
        count, _, height, width, channels = clips.shape
        if channels not in (1, 3, 4):
            raise ValueError(
                f"tag {tag!r}: video of shape {array.shape} read as {dataformats!r} has "
                f"{channels} channels; allowed are 1, 3 and 4"
            )
        if not clips.size:
            raise ValueError(f"tag {tag!r}: video of shape {array.shape} is empty")
        rows, columns = _grid(count)
        if max(height * rows, width * columns) > _MAX_SIDE:
            raise ValueError(
                f"tag {tag!r}: video of shape {array.shape} has frames of {width * columns} x "
                f"{height * rows} pixels; a GIF has at most {_MAX_SIDE} a side"
            )
        raw = snapshot(clips, tag, np.dtype(np.float32))
        return cls(width * columns, height * rows, channels, rate, raw)

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return len(self.encoded) + (0 if self.raw is None else self.raw.nbytes)

    def __len__(self) -> int:
        if self.raw is not None:
            return int(self.raw.shape[1])
        return len(_delays_of(self.encoded))

    def arrays(self) -> list[_Levels]:
        """Each frame as uint8 [h, w, c]; those of a file are RGB, or RGBA where transparent.

        Raises:
            ValueError: bytes of a file that cannot be decoded.
        """
        return list(self._frames())

    def _frames(self) -> Iterator[_Levels]:
        if self.raw is None:
            yield from _decode(self.encoded)
            return
        height, width = self.raw.shape[2:4]
        columns = self.width // width
        for time in range(self.raw.shape[1]):
            canvas = np.zeros((self.height, self.width, self.channels), np.uint8)
            for index, clip in enumerate(self.raw):
                top, left = index // columns * height, index % columns * width
                canvas[top : top + height, left : left + width] = to_levels(clip[time], 255.0)
            yield canvas

    def gif(self) -> bytes:
        """The animation: endless, one image a frame."""
        if self.raw is None:
            return self.encoded
        return _encode(self._frames(), self.width, self.height, _delays(len(self), self.fps))

    def to_tensor_value(
        self, tag: str, *, display_name: str = "", description: str = ""
    ) -> proto.Summary.Value:
        """TensorFlow 2's form of an image: strings [3], width and height in decimal, the GIF."""
        encoded = Image(self.width, self.height, self.channels, (self.gif(),))
        return encoded.to_tensor_value(tag, display_name=display_name, description=description)

    def to_field_value(self, tag: str) -> proto.Summary.Value:
        """The `image` field."""
        encoded = Image(self.width, self.height, self.channels, (self.gif(),))
        return encoded.to_field_value(tag)

    @classmethod
    def from_value(cls, value: proto.Summary.Value) -> Video:
        """Decodes either form of an image; `fps` is the average, 0 where the file has no times.

        Raises:
            ValueError: no image, several, or one that is no GIF.
        """
        images = Image.from_value(value)
        if len(images.encoded) != 1 or images.encoded[0][:3] != b"GIF":
            raise ValueError(f"tag {value.tag!r}: the value holds no GIF")
        data = images.encoded[0]
        delays = _delays_of(data)
        fps = 100 * len(delays) / sum(delays) if any(delays) else 0.0
        return cls(images.width, images.height, images.channels, fps, encoded=data)


def _rate(fps: object, tag: str) -> float:
    rate = array_likes.scalar(fps, tag=f"{tag}: fps" if tag else "fps")
    if not (rate > 0 and math.isfinite(rate)):
        raise ValueError(f"tag {tag!r}: fps must be above 0; got {fps!r}")
    if rate > 100 / _SHORTEST:
        _warn.warn(
            tag,
            "video-rate",
            f"tag {tag!r}: {rate:g} frames a second are shown as {100 / _SHORTEST:g}, the most "
            f"that browsers show of a GIF",
        )
        rate = 100 / _SHORTEST
    return rate


def _to_nthwc(array: npt.NDArray[Any], dataformats: str, tag: str) -> npt.NDArray[Any]:
    letters = dataformats.upper() if isinstance(dataformats, str) else ""
    if sorted(letters) != sorted(_AXES):
        raise ValueError(
            f"tag {tag!r}: dataformats must have the letters N, T, C, H and W once each; "
            f"got {dataformats!r}"
        )
    if array.ndim != 5:
        raise ValueError(
            f"tag {tag!r}: video must have rank 5 ({dataformats}); got shape {array.shape}"
        )
    ordered: npt.NDArray[Any] = array.transpose([letters.index(axis) for axis in _AXES])
    return ordered


def _grid(count: int) -> tuple[int, int]:
    """Rows and columns for `count` clips; empty clips fill it up to a power of two."""
    padded = 1 << (count - 1).bit_length()
    rows = 1 << (count.bit_length() - 1) // 2
    return rows, padded // rows


def _delays(count: int, fps: float) -> Iterator[int]:
    """Hundredths of a second for each frame: never 0, and right on average."""
    shown = 0
    for index in range(1, count + 1):
        due = round(index * 100 / fps)
        delay = min(max(due - shown, _SHORTEST), _MAX_DELAY)
        shown += delay
        yield delay


# GIF


def _encode(frames: Iterable[_Levels], width: int, height: int, delays: Iterable[int]) -> bytes:
    out = [
        b"GIF89a" + struct.pack("<HHBBB", width, height, 0x70, 0, 0),  # no palette for all frames
        b"\x21\xff\x0bNETSCAPE2.0\x03\x01\x00\x00\x00",  # repeat for ever
    ]
    for pixels, delay in zip(frames, delays, strict=True):
        picture, transparent = _indexed(pixels)
        # The next frame replaces this one: what is transparent must be cleared before (2).
        flags = 2 << 2 | 1 if transparent else 1 << 2
        out.append(b"\x21\xf9\x04" + struct.pack("<BHBB", flags, delay, _TRANSPARENT, 0))
        out.append(_image_block(picture))
    out.append(b"\x3b")
    return b"".join(out)


def _indexed(pixels: _Levels) -> tuple[PilImage, bool]:
    """A frame with a palette, and whether pixels of it are transparent."""
    from PIL import Image as Pillow

    if pixels.shape[2] == 1:
        gray = Pillow.fromarray(pixels[:, :, 0])
        indexed = Pillow.frombytes("P", gray.size, gray.tobytes())
        indexed.putpalette(np.arange(256, dtype=np.uint8).repeat(3).tobytes())
        return indexed, False
    hidden = pixels[:, :, 3] < _OPAQUE if pixels.shape[2] == 4 else np.zeros(0, bool)
    transparent = bool(hidden.any())
    colors = pixels[:, :, :3]
    if transparent:
        colors = np.where(hidden[:, :, np.newaxis], np.uint8(0), colors)
    indexed = _reduced(Pillow.fromarray(np.ascontiguousarray(colors)), 255 if transparent else 256)
    if transparent:
        # Before version 10, Pillow uses entries behind the palette's end too.
        indices = np.minimum(np.array(indexed), np.uint8(_TRANSPARENT - 1))
        indices[hidden] = _TRANSPARENT
        palette = (indexed.getpalette() or []) + [0] * 768
        indexed = Pillow.frombytes("P", indexed.size, indices.tobytes())
        indexed.putpalette(bytes(palette[:768]))
    return indexed, transparent


def _reduced(picture: PilImage, colors: int) -> PilImage:
    """An RGB picture with a palette of at most so many colors: its own, if these suffice."""
    from PIL import Image as Pillow

    found = picture.getcolors(colors)
    if found is None:
        return picture.quantize(palette=_palette(picture, colors), dither=Pillow.Dither.NONE)
    weights = np.array([1 << 16, 1 << 8, 1], np.int32)
    palette = np.array(sorted(color for _, color in found), np.uint8)
    packed = np.asarray(picture).astype(np.int32) @ weights
    indices = np.searchsorted(palette.astype(np.int32) @ weights, packed).astype(np.uint8)
    indexed = Pillow.frombytes("P", picture.size, indices.tobytes())
    indexed.putpalette(palette.tobytes())
    return indexed


def _palette(picture: PilImage, colors: int) -> PilImage:
    """A picture with a palette for another one, chosen by a sample of its pixels.

    On 256 x 256 pixels of a smooth picture with noise this takes 7 ms and errs by 4.0 levels on
    average. The median cut of all pixels takes 75 ms and errs by 3.8, the octree 0.7 ms and 4.5,
    and that one uses far fewer colors where a picture has few.
    """
    from PIL import Image as Pillow

    pixels = np.asarray(picture).reshape(-1, 3)
    chosen = np.random.default_rng(0).integers(0, len(pixels), _SAMPLE)
    sample = Pillow.fromarray(pixels[chosen][np.newaxis])
    return sample.quantize(colors, method=Pillow.Quantize.MEDIANCUT)


def _image_block(picture: PilImage) -> bytes:
    """A frame's descriptor, palette and pixels, out of the GIF that Pillow makes of it."""
    buffer = io.BytesIO()
    picture.save(buffer, "GIF", optimize=False, interlace=0)
    data = buffer.getvalue()
    flags, after_header = data[10], 13
    size = 3 << (flags & 7) + 1  # of the palette, in bytes
    palette = data[after_header : after_header + size]
    start = after_header + size
    while data[start] == _EXTENSION:  # extensions: a label, then blocks up to an empty one
        start = _after_blocks(data, start + 2)
    descriptor = data[start : start + 9] + bytes([0x80 | flags & 7])
    codes = start + 10
    return descriptor + palette + data[codes : _after_blocks(data, codes + 1)]


def _after_blocks(data: bytes, start: int) -> int:
    while data[start]:
        start += data[start] + 1
    return start + 1


def _decode(data: bytes) -> Iterator[_Levels]:
    from PIL import Image as Pillow
    from PIL import ImageSequence

    try:
        with Pillow.open(io.BytesIO(data)) as movie:
            for frame in ImageSequence.Iterator(movie):
                clear = frame.mode == "RGBA" or "transparency" in frame.info
                yield np.array(frame.convert("RGBA" if clear else "RGB"))
    except Exception as error:  # Pillow's plugins raise many types on damaged input
        raise ValueError(f"GIF of {len(data)} bytes cannot be decoded: {error}") from error


def _delays_of(data: bytes) -> list[int]:
    """The hundredths of a second of each frame of a GIF, as far as it is intact."""
    delays: list[int] = []
    delay = 0
    try:
        position = 13 + (3 << (data[10] & 7) + 1 if data[10] & 0x80 else 0)
        while data[position] != _END:
            if data[position] == _EXTENSION:
                if data[position + 1] == _CONTROL:
                    (delay,) = struct.unpack_from("<H", data, position + 4)
                position = _after_blocks(data, position + 2)
                continue
            flags = data[position + 9]
            codes = position + 10 + (3 << (flags & 7) + 1 if flags & 0x80 else 0)
            position = _after_blocks(data, codes + 1)
            delays.append(delay)
    except (IndexError, struct.error):
        pass
    return delays
