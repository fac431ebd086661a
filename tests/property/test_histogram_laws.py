"""Laws of histograms, for every array."""

from __future__ import annotations

import math
import warnings
from typing import Any

import hypothesis.extra.numpy as hnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tfevents.values import _buckets
from tfevents.values.histogram import Histogram

pytestmark = pytest.mark.filterwarnings("error")  # no law may end in a warning of numpy's

EDGES = _buckets.exponential_edges().tolist()
DTYPES = ["f2", "f4", "f8", "u1", "i1", "u2", "i2", "i4", "u4", "i8", "u8", "?"]


def near_an_edge(width: int) -> st.SearchStrategy[float]:
    kind = np.float32 if width == 32 else np.float64

    def neighbour(edge: float, side: float) -> float:
        at = kind(edge)
        return float(np.nextafter(at, kind(side)) if side else at)

    return st.builds(neighbour, st.sampled_from(EDGES), st.sampled_from([0.0, 1e30, -1e30]))


def finite_arrays() -> st.SearchStrategy[Any]:
    def of(dtype: str) -> st.SearchStrategy[Any]:
        elements: st.SearchStrategy[Any] = hnp.from_dtype(
            np.dtype(dtype), allow_nan=False, allow_infinity=False
        )
        if dtype in ("f4", "f8"):
            elements |= near_an_edge(8 * int(dtype[1]))
        return hnp.arrays(dtype, hnp.array_shapes(min_side=1, max_side=12), elements=elements)

    return st.sampled_from(DTYPES).flatmap(of)


def numpys(data: Any, edges: Any) -> list[int]:
    counts, _ = np.histogram(data.astype(np.float64), bins=edges)
    return [int(count) for count in counts]


@given(finite_arrays())
def test_exponential_counts_are_numpys(data: Any) -> None:
    counts = _buckets.exponential_counts(data.ravel(), closed=True)
    assert counts[1:-1].tolist() == numpys(data, EDGES)
    assert counts[0] == np.count_nonzero(data.astype(np.float64) < EDGES[0])
    assert counts.sum() == data.size


@given(finite_arrays())
def test_right_open_counts_are_a_search(data: Any) -> None:
    counts = _buckets.exponential_counts(data.ravel(), closed=False)
    places = np.searchsorted(EDGES, data.astype(np.float64).ravel(), side="right")
    assert counts.tolist() == np.bincount(places, minlength=1550).tolist()


@given(
    finite_arrays(),
    st.lists(st.floats(-1e9, 1e9), min_size=2, max_size=9, unique=True).map(sorted),
)
def test_counts_between_edges_are_numpys(data: Any, edges: list[float]) -> None:
    counts = _buckets.numpy_counts(data.ravel(), np.array(edges))
    assert counts[1:-1].tolist() == numpys(data, edges)
    assert counts.sum() == data.size


@given(finite_arrays(), st.sampled_from([None, "tensorflow", 5, [0.0, 1.0]]), st.integers(1, 40))
def test_every_value_is_counted_once(data: Any, bins: Any, size: int) -> None:
    options = {"buckets": size} if bins is None else {"bins": bins, "max_bins": size}
    histogram = Histogram.from_data(data, **options)
    histo = histogram.to_field_value("h").histo
    values = data.astype(np.float64)
    assert sum(histo.bucket) == histo.num == data.size
    assert (histo.min, histo.max) == (values.min(), values.max())
    rows = histogram.buckets
    assert rows[:, 2].sum() == data.size
    assert np.isfinite(rows).all()
    assert (rows[:, 0] <= rows[:, 1]).all()
    assert (rows[1:, 0] == rows[:-1, 1]).all()
    assert (rows[0, 0], rows[-1, 1]) == (values.min(), values.max())


@given(finite_arrays(), st.sampled_from([None, "tensorflow", 5]), st.randoms(use_true_random=False))
def test_order_and_shape_do_not_matter(data: Any, bins: Any, random: Any) -> None:
    shuffled = data.ravel().tolist()
    random.shuffle(shuffled)
    other = Histogram.from_data(np.array(shuffled, data.dtype), bins=bins)
    assert np.array_equal(other.buckets, Histogram.from_data(data, bins=bins).buckets)
    assert np.array_equal(other.buckets, Histogram.from_data(data.T, bins=bins).buckets)


@given(
    hnp.arrays(
        st.sampled_from(["f2", "f4", "f8"]),
        st.integers(1, 20),
        elements=st.sampled_from([math.nan, math.inf, -math.inf, 0.0, 1.5, -7.0]),
    )
)
def test_what_is_not_finite_changes_nothing_else(data: Any) -> None:
    finite = data[np.isfinite(data)]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        histogram = Histogram.from_data(data, buckets=7)
    assert len(caught) == (finite.size < data.size)
    assert np.array_equal(histogram.buckets, Histogram.from_data(finite, buckets=7).buckets)


@given(finite_arrays(), st.sampled_from([None, "tensorflow", 3]))
def test_both_forms_decode_to_what_was_encoded(data: Any, bins: Any) -> None:
    histogram = Histogram.from_data(data, bins=bins)
    for value in (histogram.to_tensor_value("h"), histogram.to_field_value("h")):
        decoded = Histogram.from_value(value)
        if bins is not None or value.WhichOneof("value") == "tensor":
            assert np.array_equal(decoded.buckets, histogram.buckets)
        form = "to_tensor_value" if value.HasField("tensor") else "to_field_value"
        assert getattr(decoded, form)("h").WhichOneof("value") == value.WhichOneof("value")
        assert decoded.moments.num == data.size


@given(finite_arrays(), st.sampled_from([None, "tensorflow", 3]))
def test_later_changes_are_not_seen(data: Any, bins: Any) -> None:
    histogram = Histogram.from_data(data, bins=bins)
    before = histogram.to_field_value("h")
    data[...] = 1
    assert histogram.to_field_value("h") == before
