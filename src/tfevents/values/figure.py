"""Figures of Matplotlib, drawn to pixels.

Drawing happens in the caller, since Matplotlib is not made for threads; the PNG is made later,
like that of any image. Neither the backend nor the figure's own canvas is touched.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from tfevents.values.image import Image

__all__ = ["render"]

_Levels = npt.NDArray[np.uint8]


def render(figures: object, *, tag: str = "", close: bool = True) -> Image:
    """Draws a figure, or a list of figures of one size as one grid of up to 8 columns.

    Args:
        figures: a Figure, or a list or tuple of them.
        tag: named in errors.
        close: closes the figures in pyplot, if that is in use.

    Raises:
        TypeError: not figures.
        ValueError: an empty list, or figures of several sizes; none is closed then.
    """
    each: Sequence[object] = figures if isinstance(figures, (list, tuple)) else [figures]
    several = each is figures
    for figure in each:
        _check(figure, tag)
    pixels = [_draw(figure) for figure in each]
    shapes = {drawn.shape for drawn in pixels}
    if len(shapes) != 1:
        seen = ", ".join(f"{width} x {height}" for height, width, _ in sorted(shapes)) or "none"
        raise ValueError(f"tag {tag!r}: figures of one size are needed; got {seen}")
    image = Image.from_data(
        np.stack(pixels) if several else pixels[0],
        tag=tag,
        dataformats="NHWC" if several else "HWC",
    )
    if close:
        _close(each)
    return image


def _close(figures: Sequence[object]) -> None:
    pyplot: Any = sys.modules.get("matplotlib.pyplot")  # not in use if nobody has imported it
    if pyplot is not None:
        for figure in figures:
            pyplot.close(figure)


def _check(figure: object, tag: str) -> None:
    # Without Matplotlib's module in memory there can be no figure.
    module: Any = sys.modules.get("matplotlib.figure")
    if module is None or not isinstance(figure, module.Figure):
        raise TypeError(
            f"tag {tag!r}: a matplotlib Figure or a list of them is needed; got "
            f"{type(figure).__module__}.{type(figure).__qualname__}"
        )


def _draw(figure: Any) -> _Levels:
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    own = figure.canvas
    try:
        canvas = FigureCanvasAgg(figure)  # makes itself the figure's canvas
        canvas.draw()
        pixels = np.asarray(canvas.buffer_rgba())[:, :, :3]
        return np.array(pixels, dtype=np.uint8)
    finally:
        figure.set_canvas(own)
