"""Points of an embedding, their labels and thumbnails, as the files that the projector reads.

What TensorBoard's page does with the files decides the details. It reads numbers as float32, skips
blank lines of the metadata (and then misses a label), takes the first line for a header exactly
when it holds a tab, refuses sprites wider or higher than 8192 pixels, and finds thumbnail i of
a non-square picture only where there are as many rows as columns.
"""

from __future__ import annotations

import contextlib
import itertools
import math
import re
import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from tfevents import arrays
from tfevents.values import _png
from tfevents.values.image import Image

__all__ = ["MAX_SPRITE_SIDE", "Sprite", "checked_points", "metadata_lines", "tensor_lines"]

Array: TypeAlias = "np.ndarray[Any, np.dtype[Any]]"

MAX_SPRITE_SIDE = 8192

_CHUNK = 1 << 14  # numbers made into text at a time
_LINES = 1 << 12  # labels at a time


# Points


def checked_points(mat: object, tag: str) -> Array:
    """Points [n, d], n and d at least 1; see `projector.write_embedding` for what is refused."""
    if not isinstance(tag, str):
        raise TypeError(f"the tag of an embedding must be a str; got {type(tag).__name__}")
    points = arrays.to_numpy(mat, tag=tag)
    if points.ndim != 2 or 0 in points.shape:
        raise ValueError(
            f"embedding {tag!r}: mat must be [points, dimensions] with at least one of each; "
            f"got shape {points.shape}"
        )
    if points.dtype.kind == "c":
        raise TypeError(f"embedding {tag!r}: mat must be real numbers; got dtype {points.dtype}")
    return points


def tensor_lines(points: Array, tag: str) -> Iterator[bytes]:
    """Tab-separated lines, a chunk at a time; each number reads back as the same float32."""
    count, width = points.shape
    rows = max(1, _CHUNK // width)
    line = "\t".join(["%.9g"] * width) + "\n"
    finite = True
    for start in range(0, count, rows):
        with np.errstate(over="ignore"):
            part = points[start : start + rows].astype(np.float32).ravel()
        finite = finite and bool(np.isfinite(part).all())
        numbers = tuple(_short(part).tolist())
        yield (line * (len(numbers) // width) % numbers).encode("ascii")
    if not finite:
        warnings.warn(
            f"embedding {tag!r} has numbers that are not finite as float32; the projector cannot "
            f"place their points",
            stacklevel=2,
        )


_POWERS = 10.0 ** np.arange(23)  # those that float64 holds exactly


def _short(part: Array) -> Array:
    """float64 numbers whose nine digits are the fewest that read back as the float32 in `part`.

    A decimal m / 10^k with integers m < 2^53 and k <= 22 is rounded once by the division, as a
    reader rounds its text, so what the comparison finds holds for the reader too. That covers
    magnitudes from 1e-14 up to 1e5; outside, all nine digits are printed, which always suffice.
    """
    wide = part.astype(np.float64)
    size = np.abs(wide)
    simple = (size >= 1e-14) & (size < 1e5)
    exponent = np.floor(np.log10(np.where(simple, size, 1.0))).astype(np.intp)
    result: Array = wide.copy()
    for digits in (8, 7, 6):
        power = _POWERS[digits - 1 - exponent]
        shorter = np.rint(wide * power)
        shorter /= power
        with np.errstate(over="ignore"):
            same = shorter.astype(np.float32) == part
        np.copyto(result, shorter, where=simple & same)
    return result


# Labels


def metadata_lines(
    metadata: Iterable[object], header: Sequence[object] | None, count: int, tag: str
) -> Iterator[bytes]:
    """Checks the number of labels now; the rows are checked as they are written."""
    listed = metadata.tolist() if hasattr(metadata, "tolist") else metadata
    if isinstance(listed, (str, bytes)) or not isinstance(listed, Iterable):
        raise TypeError(
            f"embedding {tag!r}: metadata must be a list of labels; got {type(metadata).__name__}"
        )
    rows = listed if isinstance(listed, (list, tuple)) else list(listed)
    if len(rows) != count:
        raise ValueError(f"embedding {tag!r}: {len(rows)} labels in metadata for {count} points")
    columns = len(header) if header else 0
    lines: Iterable[str]
    if header:
        lines = (_row(row, columns, f"embedding {tag!r}: row {i}") for i, row in enumerate(rows))
    else:
        lines = map(_cell, rows)
    filled = (line if line.strip() else "(empty)" + line for line in lines)
    head = ["\t".join(map(_cell, header))] if header and columns > 1 else []
    return _encoded(itertools.chain(head, filled))


def _encoded(lines: Iterator[str]) -> Iterator[bytes]:
    while chunk := list(itertools.islice(lines, _LINES)):
        yield ("\n".join(chunk) + "\n").encode("utf-8", "replace")


def _row(row: object, columns: int, where: str) -> str:
    cells = row.tolist() if hasattr(row, "tolist") else row
    if isinstance(cells, (str, bytes)) or not isinstance(cells, Sequence):
        cells = [cells]
    if len(cells) != columns:
        raise ValueError(f"{where} of metadata has {len(cells)} values for {columns} columns")
    return "\t".join(map(_cell, cells))


# What ends a line or a column for any reader of the file.
_BREAKS = re.compile(r"\r\n|[\t\n\v\f\r\x1c-\x1e\x85\u2028\u2029]")


def _cell(value: object) -> str:
    if isinstance(value, bytes):
        return _BREAKS.sub(" ", value.decode("utf-8", "replace"))
    if hasattr(value, "item") and getattr(value, "size", None) != 0:  # a number of a framework
        with contextlib.suppress(TypeError, ValueError, RuntimeError):
            value = value.item()
    return _BREAKS.sub(" ", str(value))


# Thumbnails


@dataclass(frozen=True, slots=True, eq=False)
class Sprite:
    """Thumbnails [n, h, w, c] and the size each gets in the sprite."""

    images: Array
    height: int
    width: int
    tag: str

    @classmethod
    def from_data(cls, label_img: object, count: int, tag: str) -> Sprite:
        """Thumbnails [n, c, h, w] of `count` points; shrunk, with a warning, where needed."""
        images = arrays.to_numpy(label_img, tag=tag)
        shape = images.shape
        if images.ndim != 4 or 0 in shape or shape[1] > 4:
            raise ValueError(
                f"embedding {tag!r}: label_img must be [points, channels, height, width] with "
                f"1 to 4 channels; got shape {shape}"
            )
        if len(images) != count:
            raise ValueError(
                f"embedding {tag!r}: {len(images)} images in label_img for {count} points"
            )
        if images.dtype.kind == "c":
            raise TypeError(f"embedding {tag!r}: label_img has dtype {images.dtype}")
        side = _side(count)
        if side > MAX_SPRITE_SIDE:
            raise ValueError(
                f"embedding {tag!r}: {count} images do not fit a sprite of {MAX_SPRITE_SIDE} "
                f"pixels a side"
            )
        height, width = shape[2:]
        scale = min(1.0, MAX_SPRITE_SIDE / (side * max(height, width)))
        if scale < 1:
            height, width = max(1, int(height * scale)), max(1, int(width * scale))
            warnings.warn(
                f"embedding {tag!r}: {count} images of {shape[2]}x{shape[3]} pixels exceed the "
                f"{MAX_SPRITE_SIDE} pixels a side that TensorBoard shows; they were shrunk to "
                f"{height}x{width}",
                stacklevel=3,
            )
        return cls(images.transpose(0, 2, 3, 1), height, width, tag)

    def png(self) -> Iterator[bytes]:
        """The sprite: k rows of k cells, the last ones black."""
        side = _side(len(self.images))
        depth = self.images.shape[3]
        canvas = np.zeros((side * self.height, side * self.width, depth), np.uint8)
        for row in range(-(-len(self.images) // side)):
            strip = self._strip(self.images[row * side : (row + 1) * side])
            canvas[row * self.height : (row + 1) * self.height, : strip.shape[1]] = strip
        yield _png.encode(canvas)

    def _strip(self, images: Array) -> Array:
        """The cells of one row, side by side: uint8 [h, k * w, c]."""
        levels = Image.from_data(images, tag=self.tag, max_outputs=len(images), scale=255.0)
        strip = np.concatenate(levels.arrays(), axis=1)
        if images.shape[1:3] == (self.height, self.width):
            return strip
        from PIL import Image as PilImage

        # Averaging over boxes cannot mix neighbours: the edge of a cell is the edge of a box.
        size = (len(images) * self.width, self.height)
        planes = [
            np.asarray(PilImage.fromarray(plane).resize(size, PilImage.Resampling.BOX))
            for plane in np.moveaxis(strip, 2, 0)
        ]
        return np.stack(planes, axis=2)


def _side(count: int) -> int:
    return math.isqrt(count - 1) + 1
