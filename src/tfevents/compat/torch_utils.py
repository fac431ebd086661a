"""Helpers of torch.utils.tensorboard that other packages import, though it calls them private.

`make_np` is that of its `_convert_np`, `graph` that of its `_pytorch_graph`, the others are those
of its `_utils`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from tfevents import arrays

if TYPE_CHECKING:
    from tfevents import proto

__all__ = ["convert_to_HWC", "figure_to_image", "graph", "make_grid", "make_np", "prepare_video"]

Array: TypeAlias = "np.ndarray[Any, np.dtype[Any]]"

_FORMATS = {frozenset("HW"), frozenset("HWC"), frozenset("NCHW")}


def make_np(x: Any) -> Array:
    """An array of anything array-like; a single number has the shape [1].

    Raises:
        NotImplementedError: `x` is nothing of that kind.
    """
    if isinstance(x, np.ndarray):
        return x
    try:
        found = arrays.to_numpy(x)
    except TypeError as error:
        raise NotImplementedError(
            f"Got {type(x)}, but numpy array or torch tensor are expected."
        ) from error
    return found.reshape(1) if np.isscalar(x) else found


def figure_to_image(figures: Any, close: bool = True) -> Array:
    """The pixels of a matplotlib figure, uint8 [3, h, w], or of a list of n, [n, 3, h, w].

    Raises:
        TypeError: no figure.
    """
    from tfevents.values import figure

    if isinstance(figures, list):
        return np.stack([figure_to_image(each, close) for each in figures])
    pixels: Array = figure.render(figures, close=close).arrays()[0].transpose(2, 0, 1)
    return pixels


def make_grid(I: Array, ncols: int = 8) -> Array:  # noqa: E741, N803 - torch's name
    """Images [n, c, h, w] side by side, [c, rows * h, columns * w]; one channel becomes three."""
    images = np.asarray(I)
    if images.ndim != 4:
        raise ValueError(f"a batch of images [n, c, h, w] is needed; got shape {images.shape}")
    if images.shape[1] == 1:
        images = np.repeat(images, 3, axis=1)
    count, channels, height, width = images.shape
    columns = max(min(count, ncols), 1)
    rows = -(-count // columns)
    cells = np.zeros((rows * columns, channels, height, width), images.dtype)
    cells[:count] = images
    ordered = cells.reshape(rows, columns, channels, height, width).transpose(2, 0, 3, 1, 4)
    grid: Array = ordered.reshape(channels, rows * height, columns * width)
    return grid


def convert_to_HWC(tensor: Array, input_format: str) -> Array:  # noqa: N802 - torch's name
    """An image, or a batch as a grid, as [h, w, c]; one channel becomes three.

    Args:
        tensor: an array with one axis for each letter of `input_format`.
        input_format: the letters of HW, HWC or NCHW in any order and case.

    Raises:
        ValueError: the letters are others, or do not fit the array.
    """
    letters = input_format.upper()
    if len(set(letters)) < len(letters) or frozenset(letters) not in _FORMATS:
        raise ValueError(f"input_format must be HW, HWC or NCHW in any order; got {input_format!r}")
    if len(letters) != tensor.ndim:
        raise ValueError(f"shape {tensor.shape} does not fit the input_format {input_format!r}")
    ordered = tensor.transpose([letters.index(axis) for axis in "NCHW" if axis in letters])
    if "C" not in letters:
        ordered = ordered[np.newaxis]
    grid = make_grid(ordered if "N" in letters else ordered[np.newaxis])
    image: Array = grid.transpose(1, 2, 0)
    return image


def prepare_video(V: Array) -> Array:  # noqa: N803 - torch's name
    """Clips [n, t, c, h, w] side by side, [t, rows * h, columns * w, c].

    There are a power of two of cells; those without a clip are black. uint8 becomes floats in
    [0, 1].
    """
    clips = np.float32(V) / np.float32(255) if V.dtype == np.uint8 else V
    count, frames, channels, height, width = clips.shape
    rows = 2 ** ((count.bit_length() - 1) // 2)
    columns = (1 << (count - 1).bit_length()) // rows
    cells = np.zeros((rows * columns, *clips.shape[1:]), clips.dtype)
    cells[:count] = clips
    grid = cells.reshape(rows, columns, frames, channels, height, width)
    ordered = grid.transpose(2, 0, 4, 1, 5, 3)
    video: Array = ordered.reshape(frames, rows * height, columns * width, channels)
    return video


_prepare_video = prepare_video


def graph(
    model: Any, args: Any, verbose: bool = False, use_strict_trace: bool = True
) -> tuple[proto.GraphDef, proto.RunMetadata]:
    """The graph of a torch module, see `SummaryWriter.add_graph`.

    Raises:
        ImportError: torch is not installed.
        RuntimeError: torch cannot follow the model.
    """
    from tfevents.integrations.torch import torch_graph

    return torch_graph(model, args, verbose, use_strict_trace)
