"""Images: arrays to 8-bit PNGs, in TensorFlow's form and in the field form.

Two families of callers differ in shape, so `dataformats` tells them apart. Without it the data
are a batch [k, h, w, c] and every image is kept by itself, as in tf.summary.image. With it they
are one picture, or a batch laid out as one, as in torch's add_image and add_images.

Whatever the family: uint8 is kept, a bool is 0 or 255, other integers are levels 0 to 255 and are
clipped, floats are cut to [0, 255] after scaling, NaN is 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, SupportsIndex

import numpy as np
import numpy.typing as npt

from tfevents import _warn, plugin, proto, tensor
from tfevents import arrays as array_likes
from tfevents.values import _png
from tfevents.values._batch import check_max_outputs

if TYPE_CHECKING:
    from PIL.Image import Image as PILImage

__all__ = ["Image", "snapshot", "to_levels"]

_Levels = npt.NDArray[np.uint8]

_LAYOUTS = {frozenset("HW"), frozenset("HWC"), frozenset("NHWC")}
_GRID_COLUMNS = 8
_MAX_SIZE = 2**31 - 1  # what PNG, and the message's int32, can hold
_BATCH_SCALE = 255.5
_PICTURE_SCALE = 255.0
_CHUNK = 1 << 16  # elements converted at a time: a float copy of that size stays in the cache


@dataclass(frozen=True, slots=True, eq=False)
class Image:
    """The images of one summary; all of one size.

    Attributes:
        width: pixels in a row.
        height: rows.
        channels: 1 gray, 2 gray + alpha, 3 RGB, 4 RGBA; 0 where a file does not tell.
        encoded: the PNGs (or JPEGs, GIFs) of a file, empty for fresh data.
        raw: [n, h, w, c] snapshot of fresh data, uint8 levels or unscaled floats.
        scale: what a float 1.0 becomes before the cut to [0, 255].
        tiled: the n images of `raw` are the tiles of one picture.
    """

    width: int
    height: int
    channels: int
    encoded: tuple[bytes, ...] = ()
    raw: npt.NDArray[Any] | None = None
    scale: float = _BATCH_SCALE
    tiled: bool = False

    @classmethod
    def from_data(
        cls,
        data: object,
        *,
        tag: str = "",
        dataformats: str | None = None,
        max_outputs: SupportsIndex = 3,
        scale: float | None = None,
    ) -> Image:
        """Checks and copies image data.

        Args:
            data: numbers, [k, h, w, c] or as `dataformats` says; c in 1 to 4.
            tag: named in errors and warnings.
            dataformats: the letters N, H, W, C of the axes in any order and case: HW, HWC or NHWC.
                The result is one picture: a batch becomes rows of up to 8 tiles without borders,
                the last row filled up with zeros; one channel is written as RGB; floats are
                computed in float32; non-finite floats warn.
            max_outputs: images kept of a batch; unused with `dataformats`.
            scale: what 1.0 becomes; 255.5 for a batch (TensorFlow's), 255 with `dataformats`
                (torch's). The fraction is cut off.

        Raises:
            TypeError: data that are not real numbers, or a max_outputs that is no integer.
            ValueError: a wrong rank, layout, number of channels, an empty image, or a
                max_outputs that is None or negative.
        """
        array = array_likes.to_numpy(data, tag=tag)
        if dataformats is not None:
            return cls._picture(array, tag, dataformats, _PICTURE_SCALE if scale is None else scale)
        return cls._batch(array, tag, max_outputs, _BATCH_SCALE if scale is None else scale)

    @classmethod
    def _batch(
        cls, array: npt.NDArray[Any], tag: str, max_outputs: SupportsIndex, scale: float
    ) -> Image:
        if array.ndim != 4:
            raise ValueError(
                f"tag {tag!r}: image data must have rank 4 [k, h, w, c]; "
                f"received rank {array.ndim}, shape {array.shape}"
            )
        kept = array[: check_max_outputs(max_outputs, tag)]
        count, height, width, depth = kept.shape
        if count:
            if not 1 <= depth <= 4:
                raise ValueError(
                    f"tag {tag!r}: image must have 1, 2, 3, or 4 channels, got {depth} "
                    f"in shape {array.shape} [k, h, w, c]"
                )
            _check_size(kept.shape, f"tag {tag!r}: image of shape {array.shape} [k, h, w, c]")
        raw = snapshot(kept, tag)
        return cls(width, height, depth, raw=raw, scale=scale)

    @classmethod
    def _picture(cls, array: npt.NDArray[Any], tag: str, dataformats: str, scale: float) -> Image:
        tiles = _to_nhwc(array, tag, dataformats)
        where = f"tag {tag!r}: image of shape {array.shape} read as {dataformats!r}"
        count, height, width, depth = tiles.shape
        if not 1 <= depth <= 4:
            raise ValueError(f"{where} has {depth} channels; allowed are 1, 2, 3 and 4")
        _check_size(tiles.shape, where)
        raw = snapshot(tiles, tag, np.dtype(np.float32))
        if raw.dtype.kind == "f":
            _warn_non_finite(raw, tag)
        rows, columns = _grid(count)
        return cls(
            width * columns,
            height * rows,
            3 if depth == 1 else depth,
            raw=raw,
            scale=scale,
            tiled=True,
        )

    def __len__(self) -> int:
        if self.raw is None:
            return len(self.encoded)
        return 1 if self.tiled else len(self.raw)

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        held = 0 if self.raw is None else self.raw.nbytes
        return held + sum(map(len, self.encoded))

    def arrays(self) -> list[_Levels]:
        """The pixels of each image, uint8 [h, w, c]; decoded at each call.

        Raises:
            ValueError: bytes of a file that are no readable image.
        """
        if self.raw is None:
            return [_png.decode(data) for data in self.encoded]
        if not self.tiled:
            return [to_levels(image, self.scale) for image in self.raw]
        return [_tile([to_levels(image, self.scale) for image in self.raw], self.channels)]

    def pil(self, index: int = 0) -> PILImage:
        """Image `index` as a `PIL.Image.Image`, in the mode that its file has.

        Raises:
            IndexError: no such image.
            ValueError: bytes of a file that are no readable image.
        """
        return _png.picture(self.images()[index])

    def images(self) -> tuple[bytes, ...]:
        """Each image as a file holds it: fresh data as PNG, read data unchanged."""
        if self.raw is None:
            return self.encoded
        return tuple(map(_png.encode, self.arrays()))

    def to_tensor_value(
        self, tag: str, *, display_name: str = "", description: str = ""
    ) -> proto.Summary.Value:
        """TensorFlow 2's form: strings [2 + n], width and height in decimal, then the images."""
        strings = [b"%d" % self.width, b"%d" % self.height, *self.images()]
        value = proto.Summary.Value(tag=tag)
        value.metadata.CopyFrom(
            plugin.metadata(plugin.IMAGES, display_name=display_name, description=description)
        )
        value.tensor.CopyFrom(tensor.to_proto(np.array(strings, dtype=object)))
        return value

    def to_field_value(self, tag: str) -> proto.Summary.Value:
        """The `image` field.

        Raises:
            ValueError: not exactly one image; a picture made with `dataformats` always is one.
        """
        if len(self) != 1:
            raise ValueError(f"tag {tag!r}: the image field holds one image, not {len(self)}")
        value = proto.Summary.Value(tag=tag)
        value.image.height = self.height
        value.image.width = self.width
        value.image.colorspace = self.channels
        value.image.encoded_image_string = self.images()[0]
        return value

    @classmethod
    def from_value(cls, value: proto.Summary.Value) -> Image:
        """Decodes either form; the images themselves are decoded by `arrays()`.

        Raises:
            ValueError: neither form, or a tensor that does not begin with two sizes.
        """
        if value.HasField("image"):
            field = value.image
            data = field.encoded_image_string
            return cls(field.width, field.height, field.colorspace, (data,) if data else ())
        if not value.HasField("tensor"):
            raise ValueError(f"tag {value.tag!r}: no image: neither an image nor a tensor is set")
        strings = tensor.from_proto(value.tensor).ravel().tolist()
        if len(strings) < 2 or not all(isinstance(item, bytes) for item in strings):
            raise ValueError(f"tag {value.tag!r}: an image tensor holds width, height and images")
        width, height = (_decimal(item, value.tag) for item in strings[:2])
        images = tuple(strings[2:])
        return cls(width, height, _png.channels(images[0]) if images else 0, images)


def _check_size(shape: tuple[int, ...], where: str) -> None:
    if 0 in shape:
        raise ValueError(f"{where} has no pixels; every size must be at least 1")


def _decimal(text: bytes, tag: str) -> int:
    if not text.isdigit() or len(text) > 10 or int(text) > _MAX_SIZE:
        raise ValueError(
            f"tag {tag!r}: an image size is {text[:20]!r}, not a number up to {_MAX_SIZE}"
        )
    return int(text)


def _to_nhwc(array: npt.NDArray[Any], tag: str, dataformats: str) -> npt.NDArray[Any]:
    """A view of `array` with the axes N, H, W, C."""
    letters = dataformats.upper()
    if len(set(letters)) != len(letters) or frozenset(letters) not in _LAYOUTS:
        raise ValueError(
            f"tag {tag!r}: dataformats {dataformats!r} for shape {array.shape} must be the letters "
            f"of HW, HWC or NHWC, each once, in any order"
        )
    if len(letters) != array.ndim:
        raise ValueError(
            f"tag {tag!r}: image of shape {array.shape} has rank {array.ndim}, but dataformats "
            f"{dataformats!r} names {len(letters)} axes (allowed channels: 1 to 4)"
        )
    view: npt.NDArray[Any] = array.transpose(
        [letters.index(axis) for axis in "NHWC" if axis in letters]
    )
    if "C" not in letters:
        view = view[..., np.newaxis]
    return view if "N" in letters else view[np.newaxis]


def snapshot(
    array: npt.NDArray[Any], tag: str, float_dtype: np.dtype[Any] | None = None
) -> npt.NDArray[Any]:
    """One copy of the caller's pixels: uint8 levels, or floats that the writer thread scales.

    Order "K" keeps the memory layout, so that the copy of a transposed view is a plain one.
    """
    kind = array.dtype.kind
    if array.dtype == np.uint8:
        return np.array(array, order="K", copy=True)
    if kind == "b":
        levels: _Levels = array.astype(np.uint8, order="K")
        levels *= 255
        return levels
    if kind in "iu":
        return _int_levels(array, tag)
    if kind != "f":
        raise TypeError(
            f"tag {tag!r}: image dtype must be either floating point or integer, got {array.dtype} "
            f"of shape {array.shape}"
        )
    if float_dtype is None:
        float_dtype = np.dtype(np.float64) if array.dtype.itemsize > 8 else array.dtype
    with np.errstate(over="ignore"):
        return np.array(array, dtype=float_dtype.newbyteorder("="), order="K", copy=True)


def _int_levels(array: npt.NDArray[np.integer[Any]], tag: str) -> _Levels:
    if array.size and (array.min() < 0 or array.max() > 255):
        _warn.warn(
            tag,
            "image-range",
            f"tag {tag!r}: image has integers from {array.min()} to {array.max()}; "
            f"they are levels and were clipped to 0..255",
        )
        top = min(255, np.iinfo(array.dtype).max)
        array = np.clip(array, 0, top)
    return array.astype(np.uint8, order="K")


def _warn_non_finite(floats: npt.NDArray[Any], tag: str) -> None:
    # NaN passes through min and max, so two fast passes see every kind without a mask.
    with np.errstate(invalid="ignore"):
        ends = np.array([floats.min(), floats.max()])
    if not np.isfinite(ends).all():
        _warn.warn(
            tag,
            "image-non-finite",
            f"tag {tag!r}: image has non-finite values; written as 0 (NaN, -inf) and 255 (inf)",
        )


def to_levels(pixels: npt.NDArray[Any], scale: float) -> _Levels:
    """uint8 [h, w, c] of one snapshot image, contiguous; a few rows at a time."""
    if pixels.dtype == np.uint8:
        return np.ascontiguousarray(pixels)
    height, width, depth = pixels.shape
    levels = np.empty((height, width, depth), np.uint8)
    step = max(1, _CHUNK // (width * depth))
    factor = pixels.dtype.type(scale)
    with np.errstate(all="ignore"):
        for start in range(0, height, step):
            part = pixels[start : start + step] * factor
            np.fmax(part, 0, out=part)  # the number wins over NaN
            np.fmin(part, 255, out=part)
            np.copyto(levels[start : start + step], part, casting="unsafe")
    return levels


def _grid(count: int) -> tuple[int, int]:
    """Rows and columns of a grid of `count` tiles."""
    columns = min(count, _GRID_COLUMNS)
    return -(-count // columns), columns


def _tile(tiles: list[_Levels], channels: int) -> _Levels:
    """The tiles row by row, the last row filled up with zeros; one channel is repeated."""
    if len(tiles) == 1 and tiles[0].shape[2] == channels:
        return tiles[0]
    rows, columns = _grid(len(tiles))
    height, width, _ = tiles[0].shape
    canvas = np.zeros((rows * height, columns * width, channels), np.uint8)
    for index, pixels in enumerate(tiles):
        top, left = index // columns * height, index % columns * width
        canvas[top : top + height, left : left + width] = pixels
    return canvas
