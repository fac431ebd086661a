"""Comparisons of a logged value with what it was made from: None, or a text about the difference.

Writers round: scalars to float32, pixels to 8 bits, samples to 16. Each comparison lets that
rounding pass and nothing else, unless its caller allows more.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from tfevents import arrays
from tfevents.testing._texts import number

if TYPE_CHECKING:
    from tfevents.values.audio import Audio
    from tfevents.values.histogram import Histogram
    from tfevents.values.image import Image
    from tfevents.values.text import Text

__all__ = [
    "audio_difference",
    "close",
    "hparams_equal",
    "image_difference",
    "moment_difference",
    "sample_difference",
    "text_difference",
    "tolerance",
]

_Array = npt.NDArray[Any]

_LEVEL = 1 / 255  # TensorFlow multiplies by 255.5, torch by 255; both cut the fraction off
_SAMPLE = 2 / 32768  # scaled by 32767 or 32768, and rounded in three ways
_EXACT_SUMS = 1e-5  # sums of float32 data
_EDGE = 1e-6  # edges may have been computed in float32


def close(actual: float, expected: float, rel: float | None, abs_: float | None) -> bool:
    """Whether a logged number is the expected one, its float32 rounding, or within tolerance."""
    if actual == expected or (math.isnan(actual) and math.isnan(expected)):
        return True
    if not (math.isfinite(actual) and math.isfinite(expected)):
        return False
    with np.errstate(over="ignore"):
        if actual == float(np.float32(expected)):
            return True
    return abs(actual - expected) <= max((rel or 0.0) * abs(expected), abs_ or 0.0)


def tolerance(rel: float | None, abs_: float | None) -> str:
    """What `close` allows, in words."""
    given = [f"{name}={value:g}" for name, value in (("rel", rel), ("abs", abs_)) if value]
    return ", ".join(given) or "the float32 rounding of the expected value"


# Arrays


def image_difference(image: Image, expected: object, atol: float | None) -> str | None:
    """Pixels against an array of levels (integers) or of [0, 1] (floats)."""
    wanted = arrays.to_numpy(expected)
    logged = np.stack(image.arrays()) if len(image) else np.zeros((0, 0, 0, 0), np.uint8)
    is_float = wanted.dtype.kind == "f"
    if wanted.dtype.kind == "b":
        wanted = wanted * np.uint8(255)
    fitting = next((view for view in _nhwc(wanted) if _fits(view.shape, logged.shape)), None)
    if fitting is None:
        return (
            f"expected shape {wanted.shape}\n"
            f"logged   shape {logged.shape[1:]} [h, w, c], {len(logged)} of them"
        )
    if is_float:
        limit = _LEVEL if atol is None else atol
        return _array_difference(logged / 255, np.clip(fitting, 0.0, 1.0), limit, "nhwc")
    return _array_difference(logged, fitting, atol or 0.0, "nhwc")


def _nhwc(array: _Array) -> Iterator[_Array]:
    """The ways to read an array as [n, h, w, c]."""
    if array.ndim == 2:
        yield array[None, :, :, None]
    elif array.ndim == 3:
        yield array[None]
        yield array.transpose(1, 2, 0)[None]
    elif array.ndim == 4:
        yield array
        yield array.transpose(0, 2, 3, 1)


def _fits(shape: tuple[int, ...], logged: tuple[int, ...]) -> bool:
    """Whether these are the same; torch writes gray as RGB."""
    return shape[:3] == logged[:3] and shape[3] in (logged[3], 1 if logged[3] == 3 else logged[3])


def audio_difference(
    audio: Audio, expected: object, rate: float | None, atol: float | None
) -> str | None:
    """Samples against floats of [-1, 1] or PCM integers, and the rate in Hz."""
    clips = [audio.waveform(index) for index in range(len(audio))]
    logged_rate = clips[0][1] if clips else audio.sample_rate
    if rate is not None and logged_rate != rate:
        return f"expected rate {rate} Hz\nlogged   rate {logged_rate} Hz"
    wanted = arrays.to_numpy(expected)
    logged = np.stack([samples for samples, _ in clips]) if clips else np.zeros((0, 0, 0))
    fitting = next((view for view in _ktc(wanted) if view.shape == logged.shape), None)
    if fitting is None:
        return (
            f"expected shape {wanted.shape}\n"
            f"logged   shape {logged.shape[1:]} [t, c], {len(logged)} of them"
        )
    if wanted.dtype == np.int16 and atol is not None:
        atol = atol / 32768
    limit = (_SAMPLE if wanted.dtype.kind == "f" else 0.0) if atol is None else atol
    return _array_difference(logged, _full_scale(fitting), limit, "ktc")


def _ktc(array: _Array) -> Iterator[_Array]:
    """The ways to read an array as clips [k, t, c]."""
    if array.ndim == 1:
        yield array[None, :, None]
    elif array.ndim == 2:
        yield array[None]
        yield array.T[None]
    elif array.ndim == 3:
        yield array


def _full_scale(samples: _Array) -> _Array:
    """Samples as the float32 of [-1, 1] that they are when they come out of a file."""
    if samples.dtype.kind == "f":
        return np.clip(samples, -1.0, 1.0)
    info = np.iinfo(samples.dtype)
    centre = 0 if info.min else 128
    full = -float(info.min) or 128.0
    if samples.dtype.itemsize == 4:  # written with 16 bits
        samples, full = samples >> 16, 32768.0
    return (samples.astype(np.float64) - centre) / full


def _array_difference(logged: _Array, wanted: _Array, limit: float, axes: str) -> str | None:
    """Where two arrays of compatible shapes differ most."""
    wide = np.broadcast_to(wanted, logged.shape).astype(np.float64)
    gaps = np.abs(logged.astype(np.float64) - wide)
    bad = ~(gaps <= limit + 1e-9)  # NaN is bad
    if not bad.any():
        return None
    where = np.unravel_index(
        int(np.argmax(np.where(bad, np.nan_to_num(gaps, nan=np.inf), -1))), gaps.shape
    )
    place = ", ".join(f"{axis}={int(index)}" for axis, index in zip(axes, where, strict=True))
    return (
        f"{int(bad.sum())} of {bad.size} numbers differ by more than {limit:g}; most at {place}:\n"
        f"expected {wide[where]:g}\n"
        f"logged   {float(logged[where]):g}"
    )


# Histograms


def sample_difference(histogram: Histogram, like: object) -> str | None:
    """Counts against those of samples; a value on an edge may be counted on either side."""
    samples = np.sort(arrays.to_numpy(like).astype(np.float64).ravel())
    samples = samples[np.isfinite(samples)]
    rows = histogram.buckets
    total = float(rows[:, 2].sum())
    if total != samples.size:
        return f"expected {samples.size} values\nlogged   {total:g} values"
    if not samples.size:
        return None
    slack = _EDGE * np.maximum(np.abs(rows[:, :2]), samples[-1] - samples[0])
    upto = np.cumsum(rows[:, 2])
    low = np.searchsorted(samples, rows[:, 1] - slack[:, 1], side="left")
    high = np.searchsorted(samples, rows[:, 1] + slack[:, 1], side="right")
    before = np.searchsorted(samples, rows[0, 0] - slack[0, 0], side="left")
    if before:
        return f"{before} expected values lie below the first bucket, at {number(rows[0, 0])}"
    bad = np.flatnonzero((upto < low) | (upto > high))
    if not bad.size:
        return None
    left, right, logged = rows[bad[0]]
    wanted = np.count_nonzero((samples > left) & (samples <= right))
    return (
        f"{bad.size} of {len(rows)} buckets differ; the first reaches from {number(left)} to "
        f"{number(right)}:\n"
        f"expected {wanted} values there, {high[bad[0]]} up to its end\n"
        f"logged   {logged:g} values there, {upto[bad[0]]:g} up to its end"
    )


def moment_difference(
    histogram: Histogram, name: str, expected: float, rel: float | None, abs_: float | None
) -> str | None:
    """The mean or std; by default within what the buckets leave open."""
    actual = float(getattr(histogram, name))
    if rel is None and abs_ is None:
        rel, abs_ = _EXACT_SUMS, _blur(histogram)
    if close(actual, expected, rel, abs_):
        return None
    return (
        f"expected {name} {number(expected)}\n"
        f"logged   {name} {number(actual)}, beyond {tolerance(rel, abs_)}"
    )


def _blur(histogram: Histogram) -> float:
    """How far mean and std from the middles of buckets may lie from those of the values.

    The root mean square of the half widths bounds both. With stored sums only rounding is left.
    """
    moments = histogram.moments
    if math.isfinite(moments.sum) and math.isfinite(moments.sum_squares):
        return (
            _EXACT_SUMS * math.sqrt(abs(moments.sum_squares) / moments.num) if moments.num else 0.0
        )
    left, right, counts = histogram.buckets.T
    if not counts.sum():
        return 0.0
    return float(math.sqrt(np.average(((right - left) / 2) ** 2, weights=counts)))


# Texts and hyperparameters


def text_difference(text: Text, expected: str | re.Pattern[str] | Sequence[str]) -> str | None:
    """Strings against one text, all of several, or a pattern that one of them has to match."""
    logged = [part.decode("utf-8", "backslashreplace") for part in text.strings]
    if isinstance(expected, re.Pattern):
        if any(expected.search(part) for part in logged):
            return None
        return f"expected a match of {expected.pattern!r}\nlogged   {_shown(logged)}"
    wanted = [expected] if isinstance(expected, str) else list(expected)
    if logged == wanted:
        return None
    return f"expected {_shown(wanted)}\nlogged   {_shown(logged)}"


def _shown(parts: list[str]) -> str:
    return repr(parts[0] if len(parts) == 1 else parts)


def hparams_equal(logged: object, expected: object) -> bool:
    """Whether two hyperparameters are the same; 1, 1.0 and float32 roundings are, True is not 1."""
    kinds = [isinstance(value, (bool, np.bool_)) for value in (logged, expected)]
    if any(kinds) or isinstance(logged, str) or logged is None:
        if isinstance(logged, str) and not isinstance(expected, str):
            return logged == str(expected)  # what is neither number nor bool is logged as its str
        return kinds[0] == kinds[1] and bool(logged == expected)
    try:
        return close(float(logged), arrays.scalar(expected), None, None)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return False
