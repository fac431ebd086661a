from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tfevents import proto
from tfevents.compat import pr_curve as api
from tfevents.values.pr_curve import PrCurve

LABELS = [0, 1, 1, 0]
PREDICTIONS = [0.1, 0.4, 0.35, 0.8]


@pytest.mark.parametrize(
    ("weights", "counts"),
    [
        (None, [[2, 2, 0, 0, 0], [2, 1, 1, 1, 0], [0, 1, 1, 1, 2], [0, 0, 2, 2, 2]]),
        ([1, 2, 3, 4], [[5, 5, 0, 0, 0], [5, 4, 4, 4, 0], [0, 1, 1, 1, 5], [0, 0, 5, 5, 5]]),
        (2, [[4, 4, 0, 0, 0], [4, 2, 2, 2, 0], [0, 2, 2, 2, 4], [0, 0, 4, 4, 4]]),
    ],
)
def test_worked_example(weights: Any, counts: Any) -> None:
    rows = PrCurve.from_data(LABELS, PREDICTIONS, num_thresholds=5, weights=weights).rows
    np.testing.assert_array_equal(rows[:4], counts)
    first = np.array(counts, float)[:2, :2]
    np.testing.assert_allclose(rows[4], [*first[0] / first.sum(0), 0, 0, 0], rtol=1e-6)
    np.testing.assert_array_equal(rows[5], [1, 1, 0, 0, 0])


def test_message() -> None:
    curve = PrCurve.from_data(LABELS, PREDICTIONS, num_thresholds=200)
    assert curve.rows.shape == (6, 200)
    for value in (curve.to_tensor_value("t"), curve.to_field_value("t")):
        plugin_data = value.metadata.plugin_data
        # field 2, the varint 200
        assert (plugin_data.plugin_name, plugin_data.content) == ("pr_curves", b"\x10\xc8\x01")
        assert value.tensor.dtype == 1
        assert [dim.size for dim in value.tensor.tensor_shape.dim] == [6, 200]
    assert len(curve.to_tensor_value("t").tensor.tensor_content) == 4 * 6 * 200
    assert len(curve.to_field_value("t").tensor.float_val) == 6 * 200


def test_reading() -> None:
    curve = PrCurve.from_data(LABELS, PREDICTIONS, num_thresholds=9)
    for value in (curve.to_tensor_value("t"), curve.to_field_value("t")):
        found = PrCurve.from_value(value)
        np.testing.assert_array_equal(found.rows, curve.rows)
        assert found.num_thresholds == 9


@pytest.mark.parametrize("count", [1, 2, 5, 50, 127])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_as_torch(count: int, dtype: str) -> None:
    torch_summary = pytest.importorskip("torch.utils.tensorboard.summary")
    rng = np.random.default_rng(count)
    labels, scores = rng.integers(0, 2, 500), rng.random(500).astype(dtype)
    for weights in (None, rng.random(500)):
        ours = PrCurve.from_data(labels, scores, num_thresholds=count, weights=weights)
        theirs = torch_summary.pr_curve("t", labels, scores, count, weights).value[0]
        expected = proto.Summary.Value.FromString(theirs.SerializeToString())
        assert ours.to_field_value("t") == expected


def test_out_of_range_predictions_are_counted() -> None:
    with pytest.warns(UserWarning, match=r"tag 't'.*-0\.5 to 1\.5"):
        rows = PrCurve.from_data([0, 1, 1], [-0.5, 0.5, 1.5], tag="t", num_thresholds=3).rows
    np.testing.assert_array_equal(rows[:4], [[2, 2, 1], [1, 0, 0], [0, 1, 1], [0, 0, 1]])


def test_nan_predictions_warn() -> None:
    with pytest.warns(UserWarning, match="tag 't': 1 predictions are NaN"):
        rows = PrCurve.from_data([1, 1], [np.nan, 1.0], tag="t", num_thresholds=2).rows
    np.testing.assert_array_equal(rows[0], [1, 1])


def test_no_predictions() -> None:
    rows = PrCurve.from_data(np.zeros(0), np.zeros(0), num_thresholds=4).rows
    np.testing.assert_array_equal(rows, np.zeros((6, 4)))


def test_bools_and_any_shape() -> None:
    rows = PrCurve.from_data(
        np.array([[False, True], [True, False]]), np.array(PREDICTIONS), num_thresholds=5
    ).rows
    np.testing.assert_array_equal(rows[0], [2, 2, 0, 0, 0])


def test_the_callers_arrays_are_not_kept() -> None:
    row = np.array([1.0, 0.5])
    curve = PrCurve.from_raw(row, row, row, row, row, row)
    row[:] = 9
    np.testing.assert_array_equal(curve.rows, [[1, 0.5]] * 6)


def test_raw_states_its_own_width() -> None:
    row = [1, 2, 3]
    curve = PrCurve.from_raw(row, row, row, row, row, row, tag="t")
    assert curve.to_field_value("t").metadata.plugin_data.content == b"\x10\x03"
    np.testing.assert_array_equal(curve.rows, [[1, 2, 3]] * 6)


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        ({"labels": [1, 0, 1]}, ValueError, "differ in number"),
        ({"labels": [0, 1, 2, 0]}, ValueError, "labels must lie in"),
        ({"labels": [0, 1, np.nan, 0]}, ValueError, "labels must lie in"),
        ({"labels": None}, TypeError, "labels"),
        ({"predictions": ["a"] * 4}, TypeError, "predictions"),
        ({"predictions": [1j] * 4}, TypeError, "predictions"),
        ({"weights": [1, 2]}, ValueError, "weights of shape"),
        ({"weights": np.inf}, ValueError, "weights must be finite"),
        ({"num_thresholds": 0}, ValueError, "num_thresholds"),
        ({"num_thresholds": 5.0}, TypeError, "num_thresholds"),
    ],
)
def test_bad_input(arguments: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=f"t.*{text}"):
        PrCurve.from_data(**{"labels": LABELS, "predictions": PREDICTIONS, **arguments}, tag="t")


@pytest.mark.parametrize("last", [[1], [[1, 2]], 1, []])
def test_bad_rows(last: Any) -> None:
    row = [1, 2]
    with pytest.raises(ValueError, match="tag 't'"):
        PrCurve.from_raw(row, row, row, row, row, last, tag="t")


def test_reading_something_else() -> None:
    value = proto.Summary.Value(tag="t", simple_value=1)
    with pytest.raises(ValueError, match="tag 't'"):
        PrCurve.from_value(value)
    value.tensor.dtype = 1
    value.tensor.tensor_shape.dim.add(size=5)
    with pytest.raises(ValueError, match=r"tag 't'.*\(5,\)"):
        PrCurve.from_value(value)


def test_tensorboards_names() -> None:
    (value,) = api.pb("n", LABELS, PREDICTIONS, description="d").value
    assert value.tag == "n/pr_curves"
    assert (value.metadata.display_name, value.metadata.summary_description) == ("n", "d")
    assert [dim.size for dim in value.tensor.tensor_shape.dim] == [6, 201]
    row = [1.0, 2.0]
    (raw,) = api.raw_data_pb("n", row, row, row, row, row, row, display_name="D").value
    assert (raw.tag, raw.metadata.display_name) == ("n/pr_curves", "D")
