"""Images with boxes drawn on them, and a label in each: PyTorch's add_image_with_boxes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from tfevents import _warn, arrays
from tfevents.values import _png
from tfevents.values.image import Image

if TYPE_CHECKING:
    from PIL.Image import Image as PilImage
    from PIL.ImageDraw import ImageDraw

    from tfevents import proto

__all__ = ["ImageWithBoxes", "rescaled"]

_COLOR = "red"
_LABEL_COLOR = "black"
_THICKNESS = 2
_FAR = 1e6  # beyond every picture; Pillow cannot draw at larger coordinates
_MAX_SIDE = 1 << 16


@dataclass(frozen=True, slots=True, eq=False)
class ImageWithBoxes:
    """A picture and what is to be drawn on it.

    Attributes:
        image: one picture of any layout.
        boxes: float64 [k, 4]: left, top, right, bottom, in pixels of the picture.
        labels: one for each box, or none at all.
        width: of the picture after rescaling.
        height: likewise.
    """

    image: Image
    boxes: npt.NDArray[np.float64]
    labels: tuple[str, ...]
    width: int
    height: int

    @classmethod
    def from_data(
        cls,
        image: object,
        boxes: object,
        *,
        tag: str = "",
        labels: Sequence[object] | str | None = None,
        rescale: float = 1,
        dataformats: str = "CHW",
    ) -> ImageWithBoxes:
        """Checks and copies.

        Args:
            image: numbers, see `Image.from_data`.
            boxes: [k, 4] numbers, left, top, right, bottom.
            tag: named in errors and warnings.
            labels: k texts, or one str for one box. Another number than k draws none of them, with
                a warning.
            rescale: the picture grows or shrinks by it after drawing.
            dataformats: the letters of the image's axes.

        Raises:
            TypeError: not real numbers.
            ValueError: shapes that do not fit, coordinates that are not finite, a rescale that is
                not above 0 or leaves nothing.
        """
        picture = Image.from_data(image, tag=tag, dataformats=dataformats)
        found = _boxes(boxes, tag)
        width, height = _new_size(picture, rescale, tag)
        return cls(picture, found, _labels(labels, len(found), tag), width, height)

    @property
    def nbytes(self) -> int:
        """Bytes held, roughly."""
        return self.image.nbytes + int(self.boxes.nbytes) + sum(map(len, self.labels))

    def arrays(self) -> list[npt.NDArray[np.uint8]]:
        """The picture with its boxes, uint8 [h, w, c]; drawn at each call."""
        return self._drawn().arrays()

    def _drawn(self) -> Image:
        from PIL import Image as Pillow
        from PIL import ImageDraw

        (pixels,) = self.image.arrays()
        picture = Pillow.fromarray(pixels)
        draw = ImageDraw.Draw(picture)
        for index, box in enumerate(self.boxes.tolist()):
            _draw_box(draw, box)
            if self.labels and self.labels[index]:
                _draw_label(draw, box[0], box[3], self.labels[index])
        return Image(
            self.width, self.height, self.image.channels, (_png.encode(self._resized(picture)),)
        )

    def _resized(self, picture: PilImage) -> npt.NDArray[np.uint8]:
        from PIL import Image as Pillow

        size = (self.width, self.height)
        if picture.size != size:
            picture = picture.resize(size, Pillow.Resampling.LANCZOS)
        return np.array(picture)

    def to_tensor_value(
        self, tag: str, *, display_name: str = "", description: str = ""
    ) -> proto.Summary.Value:
        """TensorFlow 2's form of an image."""
        drawn = self._drawn()
        return drawn.to_tensor_value(tag, display_name=display_name, description=description)

    def to_field_value(self, tag: str) -> proto.Summary.Value:
        """The `image` field."""
        return self._drawn().to_field_value(tag)


def rescaled(image: Image, rescale: float = 1, *, tag: str = "") -> Image | ImageWithBoxes:
    """One picture, made larger or smaller when it is encoded.

    Raises:
        TypeError: rescale is no number.
        ValueError: rescale is not above 0 or leaves nothing.
    """
    size = _new_size(image, rescale, tag)
    if size == (image.width, image.height):
        return image
    return ImageWithBoxes(image, np.zeros((0, 4)), (), *size)


def _boxes(data: object, tag: str) -> npt.NDArray[np.float64]:
    found = arrays.to_numpy(data, tag=f"{tag}: boxes" if tag else "boxes")
    if found.dtype.kind not in "biuf":
        raise TypeError(f"tag {tag!r}: boxes must be real numbers; got {found.dtype}")
    if found.size == 0 and found.ndim <= 2:
        return np.zeros((0, 4))
    if found.ndim != 2 or found.shape[1] != 4:
        raise ValueError(
            f"tag {tag!r}: boxes must have shape [count, 4] (left, top, right, bottom); got "
            f"{found.shape}"
        )
    if not np.isfinite(found).all():
        raise ValueError(f"tag {tag!r}: boxes must have finite coordinates")
    return np.clip(found.astype(np.float64), -_FAR, _FAR)


def _labels(labels: Sequence[object] | str | None, count: int, tag: str) -> tuple[str, ...]:
    if labels is None:
        return ()
    found = (labels,) if isinstance(labels, str) else tuple(map(str, labels))
    if len(found) != count:
        _warn.warn(
            tag,
            "box-labels",
            f"tag {tag!r}: {len(found)} labels for {count} boxes; no label is drawn",
        )
        return ()
    return found


def _new_size(picture: Image, rescale: object, tag: str) -> tuple[int, int]:
    factor = arrays.scalar(rescale, tag=f"{tag}: rescale" if tag else "rescale")
    if not (factor > 0 and math.isfinite(factor)):
        raise ValueError(f"tag {tag!r}: rescale must be above 0; got {rescale!r}")
    width, height = int(picture.width * factor), int(picture.height * factor)
    if not (0 < width < _MAX_SIDE and 0 < height < _MAX_SIDE) and factor != 1:
        raise ValueError(
            f"tag {tag!r}: an image of {picture.width} x {picture.height} rescaled by {factor:g} "
            f"has {width} x {height} pixels; 1 to {_MAX_SIDE - 1} a side are allowed"
        )
    return width, height


def _draw_box(draw: ImageDraw, box: Sequence[float]) -> None:
    left, top, right, bottom = box
    corners = [(left, top), (left, bottom), (right, bottom), (right, top), (left, top)]
    draw.line(corners, fill=_COLOR, width=_THICKNESS)


def _draw_label(draw: ImageDraw, left: float, bottom: float, label: str) -> None:
    """The label on a red ground, in the box's lower left corner."""
    from PIL import ImageFont

    font: Any = ImageFont.load_default()
    if isinstance(font, ImageFont.ImageFont):  # the bitmap font, where Pillow has no other
        label = label.encode("latin-1", "replace").decode("latin-1")
        width, height = font.getmask(label).size
    else:
        x0, y0, x1, y1 = font.getbbox(label)
        width, height = x1 - x0, y1 - y0
    margin = math.ceil(0.05 * height)
    draw.rectangle(
        [(left, bottom - height - 2 * margin), (left + width, bottom)], fill=_COLOR
    )
    draw.text((left + margin, bottom - height - margin), label, fill=_LABEL_COLOR, font=font)
