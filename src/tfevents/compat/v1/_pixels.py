"""How TensorFlow 1 makes pixels of floats: each image is stretched over the whole range."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["stretch"]

_BAD_COLOR = (255, 0, 0, 255)
_ALMOST_ZERO = 1e-6


def stretch(images: npt.NDArray[np.floating[Any]]) -> npt.NDArray[np.uint8]:
    """uint8 levels of float images [k, h, w, c], each scaled by itself.

    Without negative values, 0 stays 0 and the maximum becomes 255. With them, 0 becomes 128 and
    the largest magnitude 1 or 255. Fractions are cut off. Pixels with a value that is not finite
    become red (white in a gray image) and have no part in the scale.
    """
    levels = np.empty(images.shape, np.uint8)
    for image, result in zip(images, levels, strict=True):
        finite = np.isfinite(image).all(axis=-1)
        result[~finite] = _BAD_COLOR[: image.shape[-1]]
        result[finite] = _scaled(image[finite])
    return levels


def _scaled(pixels: npt.NDArray[np.floating[Any]]) -> npt.NDArray[np.uint8]:
    low, high = pixels.min(initial=0), pixels.max(initial=0)
    largest = max(-low, high)
    top, zero = (127, 128) if low < 0 else (255, 0)
    if largest < _ALMOST_ZERO:
        return np.full(pixels.shape, zero, np.uint8)
    # Factor and product in TensorFlow's types; unless the factor is beyond them, where its image
    # is black or worse.
    with np.errstate(over="ignore"):
        factor = pixels.dtype.type(np.float32(top) / np.float32(largest))
    if not factor or not np.isfinite(factor):
        pixels, factor = pixels.astype(np.float64), np.float64(top) / np.float64(largest)
    levels: npt.NDArray[np.uint8] = (pixels * factor + pixels.dtype.type(zero)).astype(np.uint8)
    return levels
