from __future__ import annotations

import math
import re

import numpy as np
import pytest

from tfevents.series import Series


def series(values: list[float], steps: list[int] | None = None, tag: str = "loss") -> Series:
    found = np.arange(len(values)) if steps is None else np.array(steps)
    return Series(
        tag, found.astype(np.int64), np.arange(len(values), dtype=float), np.array(values, float)
    )


def expected(values: list[float], weight: float) -> list[float]:
    """TensorBoard's formula in closed form: a weighted mean of the finite values so far."""
    found: list[float] = []
    seen: list[float] = []
    for value in values:
        if not math.isfinite(value):
            found.append(value)
            continue
        seen.append(value)
        weights = [weight ** (len(seen) - 1 - place) for place in range(len(seen))]
        found.append(sum(w * v for w, v in zip(weights, seen, strict=True)) / sum(weights))
    return found


def test_a_slice_is_a_series() -> None:
    found = series([1.0, 2.0, 4.0, 8.0], steps=[3, 4, 5, 9])
    part = found[1:3]
    assert (part.tag, part.steps.tolist(), part.values.tolist()) == ("loss", [4, 5], [2.0, 4.0])
    assert list(found[::-2]) == [(9, 3.0, 8.0), (4, 1.0, 2.0)]
    assert found[-1] == (9, 3.0, 8.0)
    texts = Series("t", found.steps, found.wall_times, ["a", "b", "c", "d"])
    assert texts[2:].values == ["c", "d"]


def test_smoothing_by_hand() -> None:
    # 0.5·1 / 0.5; (0.25·1 + 0.5·2) / 0.75; (0.125·1 + 0.25·2 + 0.5·4) / 0.875
    assert series([1, 2, 4]).smoothed(0.5).values.tolist() == [1.0, 1.25 / 0.75, 2.625 / 0.875]


@pytest.mark.parametrize("weight", [0.0, 0.1, 0.6, 0.99])
def test_smoothing_is_a_debiased_average_of_finite_values(weight: float) -> None:
    values = [3.0, -1.0, math.nan, 2.5, math.inf, 0.0, -math.inf, 1e6, 7.0]
    got = series(values).smoothed(weight).values
    np.testing.assert_allclose(got, expected(values, weight), rtol=1e-12)


def test_smoothing_leaves_constant_series_alone() -> None:
    # (0.1·1 + …) would not give exactly 0.1 back; TensorBoard does not try
    assert series([0.1] * 9).smoothed(0.9).values.tolist() == [0.1] * 9
    assert len(series([]).smoothed(0.5)) == 0


def test_the_full_weight_gives_zeros_as_in_tensorboard() -> None:
    assert series([1, 2, 3]).smoothed(1).values.tolist() == [0, 0, 0]


def test_smoothing_keeps_steps_and_times_and_the_original() -> None:
    original = series([1, 5], steps=[2**40, 2**62])
    smooth = original.smoothed(0.5)
    assert smooth.steps.tolist() == [2**40, 2**62]
    assert smooth.wall_times.tolist() == original.wall_times.tolist()
    assert original.values.tolist() == [1, 5]


@pytest.mark.parametrize("weight", [-0.1, 1.1, math.nan])
def test_other_weights_are_refused(weight: float) -> None:
    with pytest.raises(ValueError, match="'loss': the weight must be from 0 to 1"):
        series([1, 2]).smoothed(weight)


def test_only_numbers_are_smoothed_and_drawn() -> None:
    texts = Series("t", np.zeros(1, np.int64), np.zeros(1), ["a"])
    for call in (lambda: texts.smoothed(0.5), texts.plot):
        with pytest.raises(TypeError, match="'t': only scalars"):
            call()


def points(html: str) -> list[tuple[float, float]]:
    (found,) = re.findall(r'points="([^"]*)"', html)
    pairs = [pair.split(",") for pair in found.split()]
    return [(float(x), float(y)) for x, y in pairs]


def test_the_curve_of_a_notebook_runs_by_step_from_edge_to_edge() -> None:
    found = points(series([1, 0, math.nan, 3], steps=[0, 5, 7, 10])._repr_html_())
    assert found == [(0.0, pytest.approx(28 * 2 / 3, abs=0.1)), (80.0, 28.0), (160.0, 0.0)]


@pytest.mark.parametrize("values", [[], [math.nan], [1.0], [1e308, -1e308], [2.0, 2.0]])
def test_any_values_have_a_curve_or_none(values: list[float]) -> None:
    html = series(values)._repr_html_()
    assert "nan" not in html
    assert "inf" not in html


def test_a_long_curve_keeps_its_peaks_in_few_points() -> None:
    values = [0.0] * 100_000
    values[54_321] = 9.0
    found = points(series(values)._repr_html_())
    assert len(found) < 700
    assert min(y for _, y in found) == 0.0


def test_tags_are_escaped() -> None:
    html = series([1, 2], tag="<script>&")._repr_html_()
    assert "<script>" not in html
    assert "&lt;script&gt;&amp;" in html


def test_plot_draws_steps_values_and_smoothing() -> None:
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("agg")
    from matplotlib.figure import Figure

    axes = Figure().subplots()
    data = series([1, 2, 4], steps=[3, 1, 2])
    assert data.plot(axes, smooth=0.5, color="red") is axes
    smooth, plain = axes.lines
    assert plain.get_xdata().tolist() == [1, 2, 3]
    assert plain.get_ydata().tolist() == [2, 4, 1]
    assert smooth.get_ydata().tolist() == pytest.approx(expected([2, 4, 1], 0.5))
    assert smooth.get_color() == plain.get_color() == "red"
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["loss"]
