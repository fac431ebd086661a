"""The assertions about numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tfevents import arrays
from tfevents.testing import _texts
from tfevents.testing._access import LogAccess
from tfevents.testing._compare import close, tolerance
from tfevents.testing._texts import LoggedSeries, number

if TYPE_CHECKING:
    from tfevents.logdir import Run

__all__ = ["ScalarAssertions"]

_SHOWN = 5  # differences listed


class ScalarAssertions(LogAccess):
    """A log with assertions about its scalars; `EventLog` tells what they have in common."""

    def assert_scalar(
        self,
        tag: str,
        value: object,
        step: int | None = None,
        run: str | None = None,
        rel: float | None = None,
        abs: float | None = None,
    ) -> None:
        """Asserts the number at a step."""
        __tracebackhide__ = True
        expected = arrays.scalar(value, tag=tag)
        holder, series = self._series("scalars", tag, run)
        actual = float(self._at(holder, series, step))
        if close(actual, expected, rel, abs):
            return
        at = int(series.steps[-1]) if step is None else step
        which = ", the last," if step is None else ""
        lines = [
            f"{tag!r} at step {at}{which} in run {holder.name!r}: "
            f"expected {number(expected)}, logged {number(actual)}{_gap(expected, actual)}",
            f"allowed: {tolerance(rel, abs)}",
        ]
        if np.count_nonzero(series.steps == at) > 1:
            lines.append("the step was logged more than once; the last of its points counts")
        raise self._failure([*lines, *_texts.points(series, holder.name, at)], [holder])

    def assert_scalars(
        self,
        tag: str,
        values: Mapping[int, Any] | Sequence[Any] | np.ndarray[Any, Any],
        run: str | None = None,
        rel: float | None = None,
        abs: float | None = None,
    ) -> None:
        """Asserts a whole series: numbers by step, or in the order in which they were logged.

        Nothing else may have been logged. With a mapping, the last point of a step counts.
        """
        __tracebackhide__ = True
        holder, series = self._series("scalars", tag, run)
        if isinstance(values, Mapping):
            wanted = {int(step): arrays.scalar(each, tag=tag) for step, each in values.items()}
            latest = series.arranged(keep="last")
            logged = dict(zip(latest.steps.tolist(), latest.values.tolist(), strict=True))
            lines = _step_lines(wanted, logged)
            pairs = [
                (f"step {step}", wanted[step], logged[step]) for step in wanted if step in logged
            ]
        else:
            numbers = [arrays.scalar(each, tag=tag) for each in values]
            lines = []
            if len(numbers) != len(series):
                lines.append(f"expected {len(numbers)} points, logged {len(series)}")
            pairs = [
                (f"point {index}, step {step}", each, value)
                for index, (each, (step, _, value)) in enumerate(zip(numbers, series, strict=False))
            ]
        bad = [pair for pair in pairs if not close(pair[2], pair[1], rel, abs)]
        lines += [
            f"{where}: expected {number(expected)}, logged {number(actual)}{_gap(expected, actual)}"
            for where, expected, actual in bad[:_SHOWN]
        ]
        if len(bad) > _SHOWN:
            lines.append(f"… {len(bad)} of {len(pairs)} numbers differ")
        if lines:
            head = f"{tag!r} in run {holder.name!r} is not what was expected:"
            allowed = f"allowed: {tolerance(rel, abs)}"
            raise self._failure(
                [head, *lines, allowed, *_texts.points(series, holder.name)], [holder]
            )

    def assert_decreasing(
        self, tag: str, window: int = 1, run: str | None = None, strict: bool = True
    ) -> None:
        """Asserts that means over `window` neighbouring points fall from each to the next.

        Points are taken in the order of their steps. `strict=False` lets neighbours be equal.
        """
        __tracebackhide__ = True
        self._assert_trend(tag, window, run, strict, -1, "decreasing")

    def assert_increasing(
        self, tag: str, window: int = 1, run: str | None = None, strict: bool = True
    ) -> None:
        """Asserts that means over `window` neighbouring points rise; see `assert_decreasing`."""
        __tracebackhide__ = True
        self._assert_trend(tag, window, run, strict, 1, "increasing")

    def _assert_trend(
        self, tag: str, window: int, run: str | None, strict: bool, sign: int, word: str
    ) -> None:
        __tracebackhide__ = True
        if window < 1:
            raise ValueError(f"{tag!r}: window must be at least 1, not {window}")
        holder, found = self._series("scalars", tag, run, order="step", keep="last")
        if len(found) < window + 1:
            needed = (
                f"two windows of {window} need at least {window + 1} points, logged {len(found)}"
            )
            raise self._failure([f"{tag!r} in run {holder.name!r}: {needed}"], [holder])
        windows = np.lib.stride_tricks.sliding_window_view(found.values, window)
        means = windows.mean(axis=1)
        with np.errstate(invalid="ignore"):
            rises = np.diff(means) * sign
        bad = np.flatnonzero(~(rises > 0 if strict else rises >= 0))  # NaN is bad
        if not bad.size:
            return
        spans = [_span(found.steps[first : first + window]) for first in range(len(means))]
        lines = [f"{tag!r} in run {holder.name!r} is not {word}:"]
        lines += [
            f"{spans[first]}: {means[first]:.6g}, then {spans[first + 1]}: "
            f"{means[first + 1]:.6g} ({means[first + 1] - means[first]:+.3g})"
            for first in bad[:_SHOWN].tolist()
        ]
        if bad.size > _SHOWN:
            lines.append(f"… at {bad.size} of {rises.size} places")
        around = int(found.steps[min(int(bad[0]) + window, len(found) - 1)])
        raise self._failure([*lines, *_texts.points(found, holder.name, around)], [holder])

    def assert_finite(self, tag: str | None = None, run: str | None = None) -> None:
        """Asserts that no number is NaN or infinite: of one tag, or of all scalars."""
        __tracebackhide__ = True
        if tag is None:
            runs = self._candidates(run)
            found = [
                (each, LoggedSeries(name, series.steps, series.wall_times, series.values))
                for each in runs
                for name in each.tags()["scalars"]
                for series in [each.scalars(name)]
            ]
            if not found:
                raise self._failure(
                    ["there are no scalars to be finite", *self._overview(runs)], runs
                )
        else:
            found = [self._series("scalars", tag, run)]
        lines: list[str] = []
        for holder, series in found:
            bad = ~np.isfinite(series.values)
            if bad.any():
                kinds = ", ".join(sorted({number(value) for value in series.values[bad]}))
                steps = _texts.steps(series.steps[bad])
                lines.append(f"{series.tag!r} in run {holder.name!r} is {kinds} at steps {steps}")
                first = int(series.steps[np.argmax(bad)])
                lines += [f"  {line}" for line in _texts.points(series, holder.name, first)]
        if lines:
            raise self._failure(lines, [holder for holder, _ in found])

    def _at(self, holder: Run, series: LoggedSeries, step: int | None) -> Any:
        """The value at a step."""
        __tracebackhide__ = True
        if not len(series):
            raise self._failure(
                [f"no value of {series.tag!r} in run {holder.name!r} could be read"], [holder]
            )
        if step is None:
            return series.values[-1]
        where = np.flatnonzero(series.steps == step)
        if not where.size:
            head = f"{series.tag!r} in run {holder.name!r} was not logged at step {step}"
            steps = f"its steps: {_texts.steps(series.steps)}"
            raise self._failure([head, steps, *_texts.points(series, holder.name, step)], [holder])
        return series.values[int(where[-1])]


def _gap(expected: float, actual: float) -> str:
    """How far two numbers lie apart."""
    gap = actual - expected
    if not np.isfinite(gap):
        return ""
    return f" ({gap:+.3g}, {gap / expected:+.2%})" if expected else f" ({gap:+.3g})"


def _step_lines(wanted: Mapping[int, float], logged: Mapping[int, float]) -> list[str]:
    missing, extra = sorted(wanted.keys() - logged.keys()), sorted(logged.keys() - wanted.keys())
    lines = [f"steps not logged: {_texts.steps(missing)}"] if missing else []
    return [*lines, f"unexpected steps: {_texts.steps(extra)}"] if extra else lines


def _span(steps: np.ndarray[Any, Any]) -> str:
    """The steps of a window."""
    if len(steps) == 1:
        return f"step {steps[0]}"
    return f"mean of steps {steps[0]} to {steps[-1]}"
