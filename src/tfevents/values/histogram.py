"""Histograms: rows of buckets (tf.summary) or a HistogramProto (torch, tensorboardX, TensorFlow 1).

Tensor form: plugin `histograms`, DT_DOUBLE [buckets, 3]: left edge, right edge, count.
Field form: `histo`, parallel lists `bucket_limit` (right edges) and `bucket` (counts) beside min,
max, num, sum and sum_squares. Its first left edge is nowhere stored, so torch puts an empty bucket
in front; TensorBoard shows `min` and `max` as the outer edges, and so do we.

Values that are not finite are left out, with a warning. Finite values beyond the outermost edge
have a bucket of their own, from that edge to the minimum or maximum: counts add up to `num`.
"""

from __future__ import annotations

import math
import operator
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, TypeAlias, cast

import numpy as np
import numpy.typing as npt

from tfevents import _warn, arrays, plugin, proto, tensor
from tfevents.values import _buckets as arithmetic
from tfevents.values._buckets import Array, Counts, Floats, Moments

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["DEFAULT_BUCKETS", "Histogram"]

DEFAULT_BUCKETS = 30
# A message must stay below 2 GiB, and a row takes 24 bytes.
MAX_BUCKETS = (1 << 31) // 24 - 1024

Bins: TypeAlias = "str | int | npt.ArrayLike"


@dataclass(frozen=True)
class _Field:
    """The field form: right edges and counts, both float64 [n], and the moments."""

    limits: Floats
    counts: Floats
    moments: Moments

    @property
    def nbytes(self) -> int:
        return self.limits.nbytes + self.counts.nbytes

    def field(self) -> _Field:
        return self

    def rows(self) -> Floats:
        filled = np.flatnonzero(self.counts > 0)
        if not filled.size:
            return np.zeros((0, 3))
        first, last = int(filled[0]), int(filled[-1])
        inner = self.limits[first:last]
        left = np.concatenate([[self.moments.min], inner])
        right = np.concatenate([inner, [self.moments.max]])
        return np.stack([left, right, self.counts[first : last + 1]], axis=1)


@dataclass(frozen=True)
class _Rows:
    """The tensor form: left, right, count in a float64 [n, 3]; the sums only samples know."""

    array: Floats
    known: Callable[[], Moments] | None = None

    @property
    def nbytes(self) -> int:
        return self.array.nbytes

    def rows(self) -> Floats:
        return self.array

    def field(self) -> _Field:
        left, right, counts = self.array.T
        return _Field(
            limits=np.concatenate([left[:1], right]),
            counts=np.concatenate([np.zeros(min(len(left), 1)), counts]),
            moments=(self.known or self._moments)(),
        )

    def _moments(self) -> Moments:
        left, right, counts = self.array.T
        num = float(counts.sum())
        low, high = (float(left[0]), float(right[-1])) if num else (math.nan, math.nan)
        return Moments(low, high, num, math.nan, math.nan)


@dataclass(frozen=True)
class _Samples:
    """The samples themselves, flat and finite, and how to count them when the time comes."""

    data: Array
    count: Callable[[Array], _Field | _Rows]

    @property
    def nbytes(self) -> int:
        return self.data.nbytes

    def field(self) -> _Field:
        return self.count(self.data).field()

    def rows(self) -> Floats:
        return self.count(self.data).rows()


@dataclass(frozen=True, slots=True, eq=False)
class Histogram:
    """A histogram of real numbers.

    Made from samples it is counted each time it is encoded or looked at; decoded ones hold
    their buckets.
    """

    _content: _Field | _Rows | _Samples

    @classmethod
    def from_data(
        cls,
        data: object,
        *,
        tag: str = "",
        buckets: object = None,
        bins: Bins | None = None,
        max_bins: int | None = None,
        strict: bool = False,
    ) -> Histogram:
        """Copies samples of any shape: bool, integers, floats (bfloat16 too), lists of them.

        Without `bins` the buckets are tf.summary's: `buckets` (30; none if negative) of equal
        width, and no samples make `buckets` rows of zeros. With `bins` they are torch's:
        "tensorflow" for exponential edges, else whatever numpy.histogram takes, trimmed to the
        filled ones. `max_bins` joins neighbouring bins into groups.

        NaN and infinities are left out with one warning; `strict` refuses them.

        Raises:
            TypeError: data are complex or no numbers; `buckets` is not an int or int32.
            ValueError: `buckets` is not a scalar; with `bins`: there is no (finite) value, or
                numpy refuses `bins`; with `strict`: a value is not finite.
        """
        count: Callable[[Array], _Field | _Rows]
        if bins is None:
            width = _bucket_count(buckets, tag)
            samples = _snapshot(data, tag, strict=strict)
            return cls(_Samples(samples, partial(_linear, buckets=width)))
        groups = _group_limit(max_bins, tag)
        samples = _snapshot(data, tag, strict=strict, may_be_empty=False)
        if isinstance(bins, str) and bins == "tensorflow":
            count = partial(_exponential, max_bins=groups)
        else:
            edges = _numpy_edges(samples, bins, tag)
            count = partial(_between, edges=edges, max_bins=groups)
        return cls(_Samples(samples, count))

    @classmethod
    def from_data_v1(cls, data: object, *, tag: str = "", strict: bool = True) -> Histogram:
        """Copies samples for TensorFlow 1's 1551 right-open buckets, from -DBL_MAX to DBL_MAX.

        Raises TypeError and ValueError as `from_data` does. TensorFlow 1 refuses values that are
        not finite; `strict=False` leaves them out with a warning. No samples are allowed.
        """
        return cls(_Samples(_snapshot(data, tag, strict=strict), _version1))

    @classmethod
    def from_raw(
        cls,
        *,
        min: float,
        max: float,
        num: float,
        sum: float,
        sum_squares: float,
        bucket_limits: npt.ArrayLike | Sequence[float],
        bucket_counts: npt.ArrayLike | Sequence[float],
        tag: str = "",
    ) -> Histogram:
        """Takes buckets counted elsewhere: right edges and counts, both [n], kept as given.

        Raises:
            ValueError: the two differ in length.
            TypeError: something is not a number.
        """
        limits = _list_of_floats(bucket_limits, "bucket_limits", tag)
        counts = _list_of_floats(bucket_counts, "bucket_counts", tag)
        if limits.size != counts.size:
            raise ValueError(
                f"histogram {tag!r}: len(bucket_limits) != len(bucket_counts), "
                f"{limits.size} and {counts.size}; there must be one right edge for each count"
            )
        numbers = (arrays.scalar(x, tag=tag) for x in (min, max, num, sum, sum_squares))
        return cls(_Field(limits, counts, Moments(*numbers)))

    @classmethod
    def from_value(cls, value: proto.Summary.Value) -> Histogram:
        """Decodes either form.

        Raises:
            ValueError: it is neither, or its parts do not fit together.
        """
        kind = value.WhichOneof("value")
        if kind == "histo":
            return cls(_decode_field(value))
        if kind == "tensor":
            rows = tensor.from_proto(value.tensor)
            if rows.ndim == 2 and rows.shape[1] == 3 and rows.dtype.kind in "fiu":
                return cls(_Rows(rows.astype(np.float64)))
            raise ValueError(
                f"histogram {value.tag!r}: expected a numeric tensor of shape [n, 3], "
                f"got {rows.dtype} of shape {rows.shape}"
            )
        raise ValueError(f"histogram {value.tag!r}: the value holds {kind or 'nothing'}")

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return self._content.nbytes

    def to_tensor_value(
        self, tag: str, *, display_name: str = "", description: str = ""
    ) -> proto.Summary.Value:
        """TensorFlow 2's form: the rows as a DT_DOUBLE tensor [n, 3]."""
        return proto.Summary.Value(
            tag=tag,
            tensor=tensor.to_proto(self._content.rows()),
            metadata=plugin.metadata(
                plugin.HISTOGRAMS, display_name=display_name, description=description
            ),
        )

    def to_field_value(self, tag: str) -> proto.Summary.Value:
        """The form of torch, tensorboardX and TensorFlow 1: a HistogramProto, no metadata."""
        field = self._content.field()
        known = field.moments
        value = proto.Summary.Value(tag=tag)
        value.histo.min = known.min
        value.histo.max = known.max
        value.histo.num = known.num
        value.histo.sum = known.sum
        value.histo.sum_squares = known.sum_squares
        value.histo.bucket_limit.extend(field.limits.tolist())
        value.histo.bucket.extend(field.counts.tolist())
        return value

    @property
    def buckets(self) -> Floats:
        """Both forms in one view: left edge, right edge, count, float64 [n, 3].

        The field form is converted as TensorBoard does: empty buckets at both ends dropped,
        `min` and `max` as the outer edges.
        """
        return self._content.rows()

    @property
    def left(self) -> Floats:
        """Left edges, float64 [n]."""
        return self.buckets[:, 0]

    @property
    def right(self) -> Floats:
        """Right edges, float64 [n]."""
        return self.buckets[:, 1]

    @property
    def counts(self) -> Floats:
        """Number of values in each bucket, float64 [n]."""
        return self.buckets[:, 2]

    @property
    def edges(self) -> Floats:
        """Edges from the first left one to the last right one, float64 [n + 1]; empty if n = 0."""
        rows = self.buckets
        return np.concatenate([rows[:1, 0], rows[:, 1]])

    @property
    def moments(self) -> Moments:
        """Minimum, maximum, number, sum, sum of squares: each NaN where it is not known.

        The tensor form stores no sums; its minimum and maximum are the outer edges, which
        TensorFlow takes from the data.
        """
        known = self._content.field().moments
        if known.num:
            return known
        return Moments(math.nan, math.nan, known.num, known.sum, known.sum_squares)

    @property
    def mean(self) -> float:
        """Mean: exact where the sum is known, else from the middles of buckets; NaN if empty."""
        return self._average()[0]

    @property
    def std(self) -> float:
        """Standard deviation (of all values, not of a sample), from the same numbers as `mean`."""
        return self._average()[1]

    def _average(self) -> tuple[float, float]:
        known = self.moments
        if not known.num:
            return math.nan, math.nan
        if not (math.isfinite(known.sum) and math.isfinite(known.sum_squares)):
            return self._average_of_buckets()
        mean = known.sum / known.num
        # Rounding may take the difference below zero, when all values are nearly the same.
        return mean, math.sqrt(max(0.0, known.sum_squares / known.num - mean * mean))

    def _average_of_buckets(self) -> tuple[float, float]:
        left, right, counts = self.buckets.T
        with np.errstate(all="ignore"):
            middle = left / 2 + right / 2
            share = counts / counts.sum()
            mean = float(middle @ share)
            return mean, math.sqrt(float((middle - mean) ** 2 @ share))


# What from_data checks and copies, in the caller


def _snapshot(data: object, tag: str, *, strict: bool, may_be_empty: bool = True) -> Array:
    array = _numbers(data, tag)
    with np.errstate(over="ignore"):
        finite, lost = arithmetic.finite_part(array)
    if not (finite.size or lost or may_be_empty):
        raise ValueError(f"histogram {tag!r}: the input has no element, shape {array.shape}")
    if not lost:
        return finite
    if strict:
        raise ValueError(f"histogram {tag!r}: {lost} of {array.size} values are not finite")
    if not (finite.size or may_be_empty):
        raise ValueError(
            f"histogram {tag!r}: none of its {lost} values is finite (all are NaN or infinite)"
        )
    _warn.warn(
        tag,
        "histogram-non-finite",
        f"histogram {tag!r}: {lost} of {array.size} values are not finite and were left out",
    )
    return finite


def _numbers(data: object, tag: str) -> Array:
    array: Array = arrays.to_numpy(data, tag=tag)
    if array.dtype.kind == "c":
        raise TypeError(
            f"histogram {tag!r}: real numbers are needed, got {array.dtype} of shape {array.shape}"
        )
    return array


def _bucket_count(buckets: object, tag: str) -> int:
    """TensorFlow's rule: a Python int or an int32, and nothing else."""
    if buckets is None:
        return DEFAULT_BUCKETS
    if type(buckets) is not int:
        array: Array = arrays.to_numpy(buckets, tag=tag)
        if array.ndim:
            raise ValueError(
                f"histogram {tag!r}: buckets: Expected scalar shape, saw shape: {array.shape}"
            )
        if array.dtype != np.int32:
            raise TypeError(
                f"histogram {tag!r}: buckets must be of type int32 or int, got {array.dtype}"
            )
        buckets = int(array)
    if buckets > MAX_BUCKETS:
        raise ValueError(
            f"histogram {tag!r}: {buckets} buckets do not fit into an event, "
            f"at most {MAX_BUCKETS} do"
        )
    return max(buckets, 0)


def _group_limit(max_bins: int | None, tag: str) -> int:
    if max_bins is None:
        return sys.maxsize
    try:
        limit = operator.index(max_bins)
    except TypeError:
        raise TypeError(
            f"histogram {tag!r}: max_bins must be an integer, got {max_bins!r:.60}"
        ) from None
    if limit < 1:
        raise ValueError(f"histogram {tag!r}: max_bins must be at least 1, got {max_bins}")
    return limit


def _numpy_edges(samples: Array, bins: Bins, tag: str) -> Floats:
    """The edges numpy.histogram would use; worked out in the caller because they can fail.

    Infinite edges are dropped: values beyond the finite ones have their buckets anyway.
    """
    try:
        if isinstance(bins, str):
            with np.errstate(all="ignore"):
                edges = np.histogram_bin_edges(samples.astype(np.float64), bins)
        elif np.ndim(bins) == 0:
            edges = _even_edges(samples, operator.index(cast("int", bins)))
        else:
            edges = np.asarray(bins, dtype=np.float64)
            edges = edges[~np.isinf(edges)] if edges.ndim == 1 else edges
    except TypeError as error:
        raise TypeError(f"histogram {tag!r}: bins {bins!r:.60}: {error}") from error
    except (ValueError, OverflowError, MemoryError) as error:
        raise ValueError(f"histogram {tag!r}: bins {bins!r:.60}: {error}") from error
    if edges.ndim != 1 or not edges.size or not np.isfinite(edges).all():
        raise ValueError(f"histogram {tag!r}: bins must make a flat list of finite edges")
    if (edges[1:] < edges[:-1]).any():
        raise ValueError(f"histogram {tag!r}: bins must increase monotonically")
    return edges  # a copy in every case


def _even_edges(samples: Array, bins: int) -> Floats:
    if bins < 1:
        raise ValueError("`bins` must be positive")
    low, high = float(samples.min()), float(samples.max())
    if low == high:
        low, high = low - 0.5, high + 0.5
    return arithmetic.linear_edges(low, high, bins)


def _list_of_floats(numbers: object, name: str, tag: str) -> Floats:
    array: Array = arrays.to_numpy(numbers, tag=tag)
    if array.dtype.kind not in "biuf":
        raise TypeError(f"histogram {tag!r}: {name} must be real numbers, got {array.dtype}")
    return np.array(array, dtype=np.float64).reshape(-1)


# What the encoders do, later


def _linear(data: Array, buckets: int) -> _Rows:
    return _Rows(arithmetic.linear_rows(data, buckets), partial(arithmetic.moments, data))


def _exponential(data: Array, max_bins: int) -> _Field:
    counts = arithmetic.exponential_counts(data, closed=True)
    return _trimmed(counts, arithmetic.exponential_edges(), max_bins, arithmetic.moments(data))


def _between(data: Array, edges: Floats, max_bins: int) -> _Field:
    counts = arithmetic.numpy_counts(data, edges)
    return _trimmed(counts, edges, max_bins, arithmetic.moments(data))


def _trimmed(counts: Counts, edges: Floats, max_bins: int, known: Moments) -> _Field:
    """Torch's layout: from the first to the last filled bucket, behind an empty one.

    `counts` [len(edges) + 1] begins with what is below all edges and ends with what is above.
    """
    inner, edges = arithmetic.merge(counts[1:-1], edges, max_bins)
    below, above = int(counts[0]), int(counts[-1])
    edges = np.concatenate([[known.min] * bool(below), edges, [known.max] * bool(above)])
    filled = np.concatenate([[below] * bool(below), inner, [above] * bool(above)])
    where = np.flatnonzero(filled)
    first, last = int(where[0]), int(where[-1])
    return _Field(
        limits=edges[first : last + 2],
        counts=np.concatenate([[0.0], filled[first : last + 1]]),
        moments=known,
    )


def _version1(data: Array) -> _Field:
    """TensorFlow 1's layout: of a run of empty buckets only the last remains."""
    greatest = sys.float_info.max
    limits = np.concatenate([[-greatest], arithmetic.exponential_edges(), [greatest]])
    counts = np.concatenate([[0], arithmetic.exponential_counts(data, closed=False)])
    kept = counts > 0
    kept[:-1] |= counts[1:] > 0
    kept[-1] = True
    known = arithmetic.moments(data)
    if not data.size:
        known = Moments(greatest, -greatest, 0.0, 0.0, 0.0)
    return _Field(limits[kept], counts[kept].astype(np.float64), known)


def _decode_field(value: proto.Summary.Value) -> _Field:
    histo = value.histo
    limits, counts = np.array(histo.bucket_limit, np.float64), np.array(histo.bucket, np.float64)
    if limits.size != counts.size:
        raise ValueError(
            f"histogram {value.tag!r}: {limits.size} bucket limits beside {counts.size} counts"
        )
    known = Moments(histo.min, histo.max, histo.num, histo.sum, histo.sum_squares)
    return _Field(limits, counts, known)
