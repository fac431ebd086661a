"""Precision-recall curves: how a binary classifier does at each of evenly spaced thresholds.

The counts are those of TensorBoard's plugin: a prediction p belongs to the bucket floor(p * (n-1))
and is positive at every threshold up to that bucket's. The format is TensorBoard's
tensorboard/plugins/pr_curve/plugin_data.proto.
"""

from __future__ import annotations

import operator
from dataclasses import dataclass
from typing import Any, SupportsIndex, TypeAlias

import numpy as np

from tfevents import _warn, arrays, plugin, proto, tensor

__all__ = ["PrCurve"]

_Array: TypeAlias = "np.ndarray[Any, np.dtype[Any]]"

_ROWS = ("tp", "fp", "tn", "fn", "precision", "recall")
_LEAST = 1e-7  # divides where there is no count; 1 would be too much for small weights


@dataclass(frozen=True, slots=True, eq=False)
class PrCurve:
    """A curve.

    Attributes:
        rows: float32 [6, n]: true positives, false positives, true negatives, false
            negatives, precision, recall; column i is the threshold i / (n - 1).
        num_thresholds: what is written of n; read from a file, n itself.
    """

    rows: _Array
    num_thresholds: int

    @classmethod
    def from_data(
        cls,
        labels: object,
        predictions: object,
        *,
        tag: str = "",
        num_thresholds: SupportsIndex = 127,
        weights: object = None,
    ) -> PrCurve:
        """Counts the predictions.

        A prediction outside [0, 1] is taken as 0 or 1, and NaN is left out, each with a warning.

        Args:
            labels: truth, any shape: bools, or numbers in [0, 1].
            predictions: scores in [0, 1], as many as labels.
            tag: named in errors and warnings.
            num_thresholds: n >= 1, any number.
            weights: of each prediction; one number, or an array that fits the labels.

        Raises:
            TypeError: not real numbers.
            ValueError: shapes that do not fit, labels outside [0, 1], weights that are not finite.
        """
        count = _count(num_thresholds, tag)
        truth = _real(labels, "labels", tag).astype(np.float64)
        scores = _real(predictions, "predictions", tag)
        if truth.shape != scores.shape:
            if truth.size != scores.size:
                raise ValueError(
                    f"tag {tag!r}: labels of shape {truth.shape} and predictions of shape "
                    f"{scores.shape} differ in number"
                )
            scores = scores.reshape(truth.shape)
        if not np.all((truth >= 0) & (truth <= 1)):
            raise ValueError(f"tag {tag!r}: labels must lie in [0, 1]")
        share = _weights(weights, truth.shape, tag)
        return cls(_curve(_buckets(scores, count, tag), truth, share, count), count)

    @classmethod
    def from_raw(
        cls,
        true_positive_counts: object,
        false_positive_counts: object,
        true_negative_counts: object,
        false_negative_counts: object,
        precision: object,
        recall: object,
        *,
        tag: str = "",
        num_thresholds: SupportsIndex | None = None,
    ) -> PrCurve:
        """Takes a finished curve: six sequences of n numbers each, for increasing thresholds.

        Args:
            true_positive_counts: tp, n numbers, as all the others are.
            false_positive_counts: fp.
            true_negative_counts: tn.
            false_negative_counts: fn.
            precision: tp / (tp + fp).
            recall: tp / (tp + fn).
            tag: named in errors.
            num_thresholds: what the file says of n; by default, n itself.

        Raises:
            TypeError: not real numbers.
            ValueError: sequences of unequal length, or of another rank than 1.
        """
        given = (
            true_positive_counts,
            false_positive_counts,
            true_negative_counts,
            false_negative_counts,
            precision,
            recall,
        )
        rows = [_real(row, name, tag) for name, row in zip(_ROWS, given, strict=True)]
        shapes = [row.shape for row in rows]
        if len(set(shapes)) > 1 or rows[0].ndim != 1 or not rows[0].size:
            raise ValueError(
                f"tag {tag!r}: a curve is six rows of n numbers each, n >= 1; got shapes "
                f"{dict(zip(_ROWS, shapes, strict=True))}"
            )
        count = rows[0].size if num_thresholds is None else _count(num_thresholds, tag)
        with np.errstate(over="ignore"):
            return cls(np.stack(rows).astype(np.float32), count)

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return int(self.rows.nbytes)

    def to_tensor_value(
        self, tag: str, *, display_name: str = "", description: str = ""
    ) -> proto.Summary.Value:
        """DT_FLOAT [6, n] in `tensor_content`."""
        return self._value(tag, display_name, description, packed=True)

    def to_field_value(
        self, tag: str, *, display_name: str = "", description: str = ""
    ) -> proto.Summary.Value:
        """DT_FLOAT [6, n] in `float_val`, as PyTorch writes it."""
        return self._value(tag, display_name, description, packed=False)

    def _value(
        self, tag: str, display_name: str, description: str, *, packed: bool
    ) -> proto.Summary.Value:
        content = proto.PrCurvePluginData(num_thresholds=self.num_thresholds)
        return proto.Summary.Value(
            tag=tag,
            tensor=tensor.to_proto(self.rows, packed=packed),
            metadata=plugin.metadata(
                plugin.PR_CURVES,
                content.SerializeToString(),
                display_name=display_name,
                description=description,
            ),
        )

    @classmethod
    def from_value(cls, value: proto.Summary.Value) -> PrCurve:
        """Decodes a curve.

        Raises:
            ValueError: no tensor of numbers with six rows.
        """
        found = tensor.from_proto(value.tensor) if value.HasField("tensor") else None
        if found is None or found.dtype.kind not in "biuf":
            raise ValueError(f"tag {value.tag!r}: a PR curve is a tensor of numbers")
        if found.ndim != 2 or found.shape[0] != len(_ROWS):
            raise ValueError(f"tag {value.tag!r}: a PR curve is [6, n]; got shape {found.shape}")
        return cls(found.astype(np.float32, copy=False), found.shape[1])


def _count(num_thresholds: SupportsIndex, tag: str) -> int:
    try:
        count = operator.index(num_thresholds)
    except TypeError:
        raise TypeError(
            f"tag {tag!r}: num_thresholds must be an integer >= 1; got {num_thresholds!r}"
        ) from None
    if not 1 <= count < 1 << 28:
        raise ValueError(f"tag {tag!r}: num_thresholds must be an integer >= 1; got {count}")
    return count


def _real(data: object, what: str, tag: str) -> _Array:
    found = arrays.to_numpy(data, tag=f"{tag}: {what}" if tag else what)
    if found.dtype.kind == "c":
        raise TypeError(f"tag {tag!r}: {what} must be real numbers; got {found.dtype}")
    return found


def _weights(weights: object, shape: tuple[int, ...], tag: str) -> _Array:
    share = np.float64(1.0) if weights is None else _real(weights, "weights", tag)
    try:
        spread: _Array = np.broadcast_to(share, shape).astype(np.float64, copy=False)
    except ValueError:
        raise ValueError(
            f"tag {tag!r}: weights of shape {np.shape(share)} do not fit labels of shape {shape}"
        ) from None
    if not np.isfinite(share).all():
        raise ValueError(f"tag {tag!r}: weights must be finite")
    return spread


def _buckets(scores: _Array, count: int, tag: str) -> _Array:
    """The bucket of each score, -1 for NaN; computed in the scores' own type, as PyTorch does."""
    if scores.dtype.kind != "f" or scores.dtype.itemsize < 4:
        scores = scores.astype(np.float64 if scores.dtype.kind in "iu" else np.float32)
    unordered = np.isnan(scores)
    if unordered.any():
        _warn.warn(
            tag,
            "pr-curve-nan",
            f"tag {tag!r}: {np.count_nonzero(unordered)} predictions are NaN and are left out",
        )
        scores = np.where(unordered, scores.dtype.type(0), scores)
    if scores.size and (scores.min() < 0 or scores.max() > 1):
        _warn.warn(
            tag,
            "pr-curve-range",
            f"tag {tag!r}: predictions from {scores.min():g} to {scores.max():g} are taken into "
            f"[0, 1]",
        )
        scores = np.clip(scores, 0, 1)
    found: _Array = np.floor(scores * scores.dtype.type(count - 1)).astype(np.int64)
    found[unordered] = -1
    return found


def _curve(buckets: _Array, truth: _Array, share: _Array, count: int) -> _Array:
    kept = buckets >= 0
    where = buckets[kept]
    positive = truth[kept] * share[kept]
    negative = (1.0 - truth[kept]) * share[kept]
    tp = np.bincount(where, positive, count)[::-1].cumsum()[::-1]
    fp = np.bincount(where, negative, count)[::-1].cumsum()[::-1]
    tn, fn = fp[0] - fp, tp[0] - tp
    precision = tp / np.maximum(_LEAST, tp + fp)
    recall = tp / np.maximum(_LEAST, tp + fn)
    with np.errstate(over="ignore"):
        data: _Array = np.stack((tp, fp, tn, fn, precision, recall)).astype(np.float32)
    return data
