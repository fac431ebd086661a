from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from tfevents.values import figure as figures

matplotlib = pytest.importorskip("matplotlib")


@pytest.fixture
def plt() -> Iterator[Any]:
    pyplot = pytest.importorskip("matplotlib.pyplot")
    before = matplotlib.get_backend()
    pyplot.switch_backend("svg")  # a backend that draws no pixels of its own
    yield pyplot
    pyplot.close("all")
    pyplot.switch_backend(before)


def figure(plt: Any, size: tuple[float, float] = (3.0, 2.0), color: str = "red") -> Any:
    fig = plt.figure(figsize=size, dpi=50, facecolor=color)
    fig.add_axes((0.25, 0.25, 0.5, 0.5)).plot([1, 2, 4])
    return fig


def test_pixels(plt: Any) -> None:
    (pixels,) = figures.render(figure(plt)).arrays()
    assert pixels.shape == (100, 150, 3)
    assert pixels[0, 0].tolist() == [255, 0, 0]
    assert len(np.unique(pixels.reshape(-1, 3), axis=0)) > 10


def test_as_torch(plt: Any) -> None:
    utils = pytest.importorskip("torch.utils.tensorboard._utils")
    fig = figure(plt)
    (pixels,) = figures.render(fig, close=False).arrays()
    expected = utils.figure_to_image(fig, close=False)
    np.testing.assert_array_equal(pixels, np.moveaxis(expected, 0, 2))


def test_backend_and_canvas_stay(plt: Any) -> None:
    fig = figure(plt)
    canvas = fig.canvas
    figures.render(fig, close=False)
    assert fig.canvas is canvas
    assert matplotlib.get_backend().lower() == "svg"


@pytest.mark.parametrize("close", [True, False])
def test_close(plt: Any, close: bool) -> None:
    fig = figure(plt)
    figures.render(fig, close=close)
    assert plt.fignum_exists(fig.number) is not close


def test_a_figure_that_pyplot_does_not_know() -> None:
    module = pytest.importorskip("matplotlib.figure")
    (pixels,) = figures.render(module.Figure(figsize=(1, 1), dpi=20, facecolor="blue")).arrays()
    np.testing.assert_array_equal(pixels, np.full((20, 20, 3), (0, 0, 255)))


def test_a_list_is_one_grid(plt: Any) -> None:
    image = figures.render([figure(plt), figure(plt, color="blue")])
    assert (len(image), image.height, image.width) == (1, 100, 300)
    (pixels,) = image.arrays()
    assert pixels[0, [0, 150]].tolist() == [[255, 0, 0], [0, 0, 255]]
    assert not plt.get_fignums()


def test_later_drawing_changes_nothing(plt: Any) -> None:
    fig = figure(plt)
    image = figures.render(fig, close=False)
    fig.set_facecolor("blue")
    fig.canvas.draw()
    assert image.arrays()[0][0, 0].tolist() == [255, 0, 0]


def test_figures_of_two_sizes(plt: Any) -> None:
    both = [figure(plt), figure(plt, (2.0, 2.0))]
    with pytest.raises(ValueError, match=r"tag 't'.*100 x 100, 150 x 100"):
        figures.render(both, tag="t")
    assert len(plt.get_fignums()) == 2


@pytest.mark.parametrize(
    ("data", "error"), [(None, TypeError), ([1], TypeError), ("fig", TypeError), ([], ValueError)]
)
def test_bad_input(data: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match="tag 't'"):
        figures.render(data, tag="t")


def test_axes_are_no_figure(plt: Any) -> None:
    with pytest.raises(TypeError, match="tag 't'"):
        figures.render(figure(plt).axes[0], tag="t")
