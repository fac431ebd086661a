"""TensorBoard's message builders for PR curves (`tensorboard.plugins.pr_curve.summary`)."""

from __future__ import annotations

from typing import Any

from tfevents import proto
from tfevents.values.pr_curve import PrCurve

__all__ = ["pb", "raw_data_pb"]

_NUM_THRESHOLDS = 201


def pb(
    name: str,
    labels: Any,
    predictions: Any,
    num_thresholds: int | None = None,
    weights: Any = None,
    display_name: str | None = None,
    description: str | None = None,
) -> proto.Summary:
    """The Summary of a curve, with the tag `<name>/pr_curves`; see `PrCurve.from_data`."""
    curve = PrCurve.from_data(
        labels,
        predictions,
        tag=name,
        num_thresholds=_NUM_THRESHOLDS if num_thresholds is None else num_thresholds,
        weights=weights,
    )
    return _summary(curve, name, display_name, description)


def raw_data_pb(
    name: str,
    true_positive_counts: Any,
    false_positive_counts: Any,
    true_negative_counts: Any,
    false_negative_counts: Any,
    precision: Any,
    recall: Any,
    num_thresholds: int | None = None,
    display_name: str | None = None,
    description: str | None = None,
) -> proto.Summary:
    """The Summary of finished counts; see `PrCurve.from_raw`."""
    curve = PrCurve.from_raw(
        true_positive_counts,
        false_positive_counts,
        true_negative_counts,
        false_negative_counts,
        precision,
        recall,
        tag=name,
        num_thresholds=num_thresholds,
    )
    return _summary(curve, name, display_name, description)


def _summary(
    curve: PrCurve, name: str, display_name: str | None, description: str | None
) -> proto.Summary:
    value = curve.to_tensor_value(
        f"{name}/pr_curves",
        display_name=name if display_name is None else display_name,
        description=description or "",
    )
    return proto.Summary(value=[value])
