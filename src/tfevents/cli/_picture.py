"""Pictures on a terminal: each character is an upper half block of two pixels, one over the other.

That needs no protocol but colours, so it works wherever there are 256 of them.
"""

from __future__ import annotations

import io
from typing import Any

__all__ = ["half_blocks"]

_UPPER_HALF = "\u2580"
_LARGEST = 1 << 26  # pixels; more of them is no picture for a terminal


def half_blocks(data: bytes, *, width: int, height: int, true_colour: bool) -> list[str]:
    """The lines of a picture.

    Args:
        data: a PNG, JPEG or GIF.
        width: the most characters of a line; small pictures keep their size.
        height: the most lines.
        true_colour: the terminal has 24-bit colours, else it has 256.

    Raises:
        ValueError: the bytes are no picture, or it is too large.
    """
    import numpy as np
    from PIL import Image

    try:
        with Image.open(io.BytesIO(data)) as picture:
            if picture.width * picture.height > _LARGEST:
                raise ValueError(f"too large to show: {picture.width}×{picture.height} pixels")
            scale = min(width / picture.width, 2 * height / picture.height, 1.0)
            size = (
                max(1, round(picture.width * scale)), max(1, round(picture.height * scale))
            )
            filled = Image.new("RGBA", picture.size, "black")
            filled.alpha_composite(picture.convert("RGBA"))
            small = filled.convert("RGB").resize(size, Image.Resampling.BOX)
    except (OSError, SyntaxError, Image.DecompressionBombError) as error:
        raise ValueError(f"cannot be shown: {error}") from error
    pixels = np.asarray(small).astype(int)
    if len(pixels) % 2:
        pixels = np.concatenate([pixels, np.zeros_like(pixels[:1])])
    code = _code_24 if true_colour else _code_256
    return [
        "".join(
            f"\x1b[38;{code(top)};48;{code(bottom)}m{_UPPER_HALF}"
            for top, bottom in zip(upper.tolist(), lower.tolist(), strict=True)
        ) + "\x1b[0m"
        for upper, lower in zip(pixels[::2], pixels[1::2], strict=True)
    ]


def _code_24(pixel: Any) -> str:
    return "2;{};{};{}".format(*pixel)


def _code_256(pixel: Any) -> str:
    """The nearest colour of the 6 × 6 × 6 cube, or of the gray ramp."""
    red, green, blue = pixel
    if red == green == blue and 8 <= red <= 238:
        return f"5;{232 + round((red - 8) / 10)}"
    cube = [0 if level < 48 else 1 if level < 115 else (level - 35) // 40 for level in pixel]
    return f"5;{16 + 36 * cube[0] + 6 * cube[1] + cube[2]}"
