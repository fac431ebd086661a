"""Bucketing: samples to counts, in pure arithmetic.

Strategy. Samples are read in chunks that stay in the processor's cache, so memory does not grow
with the data. Exponential buckets need no search: the leading bits of a float name a cell so
narrow that at most one edge lies in it, hence `slot[cell] + (bits >= change[cell])` is exact.
Types of one or two bytes are counted by bit pattern first, and only the patterns are bucketed.

All arrays are flat and finite; counts are exact up to 2**53.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

__all__ = [
    "Moments",
    "exponential_counts",
    "exponential_edges",
    "finite_part",
    "linear_edges",
    "linear_rows",
    "merge",
    "moments",
    "numpy_counts",
]

Array: TypeAlias = "npt.NDArray[Any]"
Floats: TypeAlias = "npt.NDArray[np.float64]"
Counts: TypeAlias = "npt.NDArray[np.int64]"

CHUNK = 1 << 15
# Sixteen cells an octave: 6.25 % at their widest, below the 10 % from one edge to the next.
MANTISSA_BITS = 4
NATIVE = frozenset("?bBhHiIlLqQefd")


@dataclass(frozen=True)
class Moments:
    """Sums over the samples, in float64; NaN where a number is not known."""

    min: float
    max: float
    num: float
    sum: float
    sum_squares: float


def finite_part(data: Array) -> tuple[Array, int]:
    """Copies the finite values into a flat array; also returns how many values were left out.

    Real types the counters do not know (long double, foreign byte order) become float64.
    """
    native = data.dtype.char in NATIVE and data.dtype.isnative
    # Order "K" copies in the order of memory, whatever the strides: a histogram has no order.
    flat = np.array(data, dtype=data.dtype if native else np.float64, order="K").ravel("K")
    if _all_finite(flat):
        return flat, 0
    kept = flat[np.isfinite(flat)]
    return kept, flat.size - kept.size


def _all_finite(flat: Array) -> bool:
    if flat.dtype.kind != "f" or not flat.size:
        return True
    if flat.dtype == np.float16:  # numpy compares half floats slowly; their bits it does not
        return int((flat.view(np.uint16) & np.uint16(0x7FFF)).max()) < 0x7C00
    # min() and max() propagate NaN, so two vector passes see every value.
    with np.errstate(invalid="ignore"):
        return math.isfinite(flat.min()) and math.isfinite(flat.max())


@lru_cache(maxsize=1)
def exponential_edges() -> Floats:
    """The 1549 edges of TensorFlow's histograms: 0 and ±1e-12·1.1^k below 1e20, ascending."""
    positive = []
    edge = 1e-12
    while edge < 1e20:  # rounding in every step is part of the format
        positive.append(edge)
        edge *= 1.1
    half = np.array(positive)
    edges = np.concatenate([-half[::-1], [0.0], half])
    edges.setflags(write=False)
    return edges


def moments(data: Array) -> Moments:
    """Minimum, maximum, number, sum and sum of squares; NaN, NaN, 0, 0, 0 without samples."""
    if not data.size:
        return Moments(math.nan, math.nan, 0.0, 0.0, 0.0)
    sums, squares = [], []
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        for values, weights in _weighted(data):
            weighted = values if weights is None else values * weights
            sums.append(float(weighted.sum()))
            squares.append(float(np.einsum("i,i->", weighted, values)))
    low, high = _range(data)
    total = _total(sums)
    if not math.isfinite(total):
        total = _total([float((v * 2.0**-100).sum()) for v, _ in _weighted(data)]) * 2.0**100
    return Moments(low, high, float(data.size), total, _total(squares))


def _total(parts: list[float]) -> float:
    try:
        return math.fsum(parts)
    except (OverflowError, ValueError):  # beyond float64, if only on the way
        return math.inf if min(parts) >= 0 else math.nan


def _range(data: Array) -> tuple[float, float]:
    if data.dtype == np.float16:
        data = data.astype(np.float32)
    return float(data.min()) + 0.0, float(data.max()) + 0.0  # -0.0 reads as 0.0


def _weighted(data: Array) -> Iterator[tuple[Floats, Floats | None]]:
    """Samples as (float64 values, how often each occurs, or None for once) in small pieces."""
    if data.dtype.itemsize > 2:
        for chunk in _chunks(data):
            yield chunk.astype(np.float64, copy=False), None
        return
    kinds = np.dtype(f"u{data.dtype.itemsize}")
    size = 1 << (8 * data.dtype.itemsize)
    occurrences = np.zeros(size, np.int64)
    for chunk in _chunks(data.view(kinds)):
        occurrences += np.bincount(chunk, minlength=size)
    present = np.flatnonzero(occurrences)
    values = present.astype(kinds).view(data.dtype).astype(np.float64)
    yield values, occurrences[present].astype(np.float64)


def _chunks(data: Array) -> Iterator[Array]:
    # Two-byte patterns are counted into a table of 65536: longer chunks, fewer additions of it.
    length = CHUNK if data.dtype.itemsize > 2 else 8 * CHUNK
    for start in range(0, data.size, length):
        yield data[start : start + length]


def _tally(slots: npt.NDArray[np.int64], weights: Floats | None, size: int) -> Counts:
    return np.bincount(slots, weights, size).astype(np.int64, copy=False)


# Linear buckets


def linear_edges(low: float, high: float, buckets: int) -> Floats:
    """`buckets` + 1 evenly spaced edges with exact ends, finite for every finite range."""
    scale = _scale(low, high)
    edges = np.linspace(low * scale, high * scale, buckets + 1) / scale
    edges[0], edges[-1] = low, high
    return edges


def _scale(low: float, high: float) -> float:
    """A power of two that keeps the width of a bucket from overflowing or vanishing."""
    spread = high - low
    if spread > 1e300:
        return 0.25
    return 2.0**600 if spread < 1e-290 and max(-low, high) < 1e-100 else 1.0


def linear_rows(data: Array, buckets: int) -> Floats:
    """Rows (left, right, count), float64 [buckets, 3], in TensorFlow 2's arithmetic.

    Without samples all rows are zero; with one value only, all rows are that value and the
    last one has the count. The last bucket is closed.
    """
    rows = np.zeros((max(buckets, 0), 3))
    if not data.size or not len(rows):
        return rows
    low, high = _range(data)
    if low == high:
        rows[:, :2] = low
        rows[-1, 2] = data.size
        return rows
    edges = linear_edges(low, high, buckets)
    rows[:, 0], rows[:, 1] = edges[:-1], edges[1:]
    scale = _scale(low, high)
    width = (high * scale - low * scale) / buckets
    counts = np.zeros(buckets, np.int64)
    for values, weights in _weighted(data):
        place = values * scale if scale != 1.0 else values
        place = place - low * scale
        place /= width
        slots = place.astype(np.int64)
        counts += _tally(np.minimum(slots, buckets - 1, out=slots), weights, buckets)
    rows[:, 2] = counts
    return rows


# Buckets between given edges


def numpy_counts(data: Array, edges: Floats) -> Counts:
    """Counts below, between and above the edges, int64 [len(edges) + 1].

    Between them the rule is numpy.histogram's: buckets hold their left edge, the last both.
    """
    counts = np.zeros(edges.size + 1, np.int64)
    last = edges.size - 1
    for values, weights in _weighted(data):
        slots = np.searchsorted(edges, values, side="right")
        slots[values == edges[-1]] = last
        counts += _tally(slots, weights, counts.size)
    return counts


def merge(counts: Counts, edges: Floats, max_bins: int) -> tuple[Counts, Floats]:
    """Joins neighbours into groups of len(counts) // max_bins, as torch does.

    The result may have one bucket more than `max_bins`.
    """
    group = counts.size // max_bins
    if group < 2:
        return counts, edges
    starts = np.arange(0, counts.size, group)
    return np.add.reduceat(counts, starts), np.append(edges[starts], edges[-1])


# Exponential buckets


def exponential_counts(data: Array, *, closed: bool) -> Counts:
    """Counts below, between and above the exponential edges, int64 [1550].

    `closed`: the last bucket holds its right edge too (numpy.histogram's rule).
    """
    if data.dtype.itemsize <= 2:
        return _search_counts(data, _thresholds(closed))
    kind = np.dtype(np.float32 if data.dtype == np.float32 else np.float64)
    count = _single_counts if kind == np.float32 else _double_counts
    slots = np.zeros(_thresholds(closed).size + 2, np.int64)
    for chunk in _chunks(data):
        count(chunk.astype(kind, copy=False), closed, slots)
    return _unfold(slots, closed)


def _thresholds(closed: bool) -> Floats:
    edges: Floats = exponential_edges().copy()
    if closed:
        edges[-1] = np.nextafter(edges[-1], np.inf)
    return edges


def _search_counts(data: Array, thresholds: Floats) -> Counts:
    counts = np.zeros(thresholds.size + 1, np.int64)
    for values, weights in _weighted(data):
        counts += _tally(np.searchsorted(thresholds, values, side="right"), weights, counts.size)
    return counts


# A slot numbers a bucket so that it grows with the magnitude on both sides of zero, as the bits
# of a float do: -0.0 is slot 0, the negative buckets follow outward, then the others from zero.


def _unfold(slots: Counts, closed: bool) -> Counts:
    zero = _zero_bucket(closed)
    counts = np.concatenate([slots[zero:0:-1], slots[zero + 1 :]])
    counts[zero] += slots[0]
    return counts


def _zero_bucket(closed: bool) -> int:
    return int(np.searchsorted(_thresholds(closed), 0.0, side="right"))


def _single_counts(chunk: Array, closed: bool, slots: Counts) -> None:
    table = _single_table(closed)
    bits = chunk.view(np.uint32)
    cells = (bits >> np.uint32(23 - MANTISSA_BITS)).astype(np.intp)
    # The table holds the slot above bit 32 and, below it, what is missing until it changes:
    # the addition carries exactly where bits >= change.
    found = table.take(cells)
    found += bits
    found >>= 32
    slots += np.bincount(found, minlength=slots.size)


def _double_counts(chunk: Array, closed: bool, slots: Counts) -> None:
    base, change = _cells(np.float64, closed)
    bits = chunk.view(np.uint64)
    cells = (bits >> np.uint64(52 - MANTISSA_BITS)).view(np.int64)
    found = base.take(cells)
    found += bits >= change.take(cells)
    slots += np.bincount(found, minlength=slots.size)


@lru_cache(maxsize=2)
def _single_table(closed: bool) -> npt.NDArray[np.int64]:
    base, change = _cells(np.float32, closed)
    missing = (1 << 32) - change.astype(np.int64)
    table: npt.NDArray[np.int64] = (base << 32) + missing
    return table


@lru_cache(maxsize=4)
def _cells(kind: type[Any], closed: bool) -> tuple[npt.NDArray[np.int64], Array]:
    """For each cell of a float type: its first slot, and the bits from which on it is the next."""
    thresholds = _thresholds(closed)
    zero = _zero_bucket(closed)
    bits = np.dtype(kind).itemsize * 8
    pattern = np.dtype(f"u{bits // 8}")
    shift = (23 if bits == 32 else 52) - MANTISSA_BITS
    first = np.arange(1 << (bits - shift), dtype=np.uint64) << np.uint64(shift)
    sign = 1 << (bits - 1)

    def slot(patterns: npt.NDArray[np.uint64]) -> npt.NDArray[np.int64]:
        with np.errstate(invalid="ignore"):  # some patterns are NaN; no sample is
            values = patterns.astype(pattern).view(kind).astype(np.float64)
        index = np.searchsorted(thresholds, values, side="right")
        slots: npt.NDArray[np.int64] = np.where(
            patterns >= np.uint64(sign), zero - index, index + 1
        )
        return slots

    # Bisection over the bits finds the change; cells without an edge keep "never".
    base = slot(first)
    changes = np.flatnonzero(slot(first + np.uint64((1 << shift) - 1)) > base)
    start, low = base[changes], first[changes]
    high = low + np.uint64((1 << shift) - 1)
    for _ in range(shift):
        middle = low + (high - low) // np.uint64(2)
        later = slot(middle) > start
        high = np.where(later, middle, high)
        low = np.where(later, low, np.minimum(middle + np.uint64(1), high))
    never = np.uint64(1 << 32 if bits == 32 else (1 << 64) - 1)
    change = np.full(base.size, never)
    change[changes] = high
    return base, change
