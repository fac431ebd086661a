"""Stored scalars that a log is compared with: a JSON file that reads well in a diff.

    {
      "runs": {
        "train": {
          "loss": {
            "0": 0.5,
            "1": 0.25
          }
        }
      }
    }

Runs and tags are sorted, steps too, by number. A step that was logged more than once has a list. A
number is written as short as its float32 allows; what JSON does not have is "nan", "inf" or "-inf".
"""

from __future__ import annotations

import contextlib
import json
import math
import os
from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, TypeAlias

from tfevents.logdir import Run
from tfevents.testing import _texts
from tfevents.testing._compare import close

__all__ = ["Scalars", "differences", "dump", "load", "scalars_of", "summary"]

#: Run -> tag -> step -> the values logged at it, in their order.
Scalars: TypeAlias = "dict[str, dict[str, dict[int, list[float]]]]"

_SHOWN = 5  # differing points of a tag


def scalars_of(runs: Iterable[Run], ignore: Iterable[str]) -> Scalars:
    """Every scalar series but those whose tag matches a pattern."""
    patterns = list(ignore)
    found: Scalars = {}
    for run in runs:
        for tag in run.tags()["scalars"]:
            if any(fnmatchcase(tag, pattern) for pattern in patterns):
                continue
            steps = found.setdefault(run.name, {}).setdefault(tag, {})
            series = run.scalars(tag)
            for step, value in zip(series.steps.tolist(), series.values.tolist(), strict=True):
                steps.setdefault(step, []).append(value)
    return found


def dump(path: Path, scalars: Scalars) -> None:
    """Writes a baseline, whole or not at all."""
    runs = {
        run: {tag: _steps_to_json(steps) for tag, steps in sorted(tags.items())}
        for run, tags in sorted(scalars.items())
    }
    text = json.dumps({"runs": runs}, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_name(f"{path.name}.{os.getpid()}")
    try:
        fresh.write_text(text, encoding="utf-8", newline="\n")
        os.replace(fresh, path)
    except BaseException:
        with contextlib.suppress(OSError):
            fresh.unlink()
        raise


def load(path: Path, ignore: Iterable[str]) -> Scalars:
    """Reads a baseline.

    Raises:
        OSError: the file cannot be read.
        ValueError: it is no baseline.
    """
    patterns = list(ignore)
    text = path.read_text(encoding="utf-8")
    try:
        return {
            run: {
                tag: {int(step): _values_from_json(value) for step, value in steps.items()}
                for tag, steps in tags.items()
                if not any(fnmatchcase(tag, pattern) for pattern in patterns)
            }
            for run, tags in json.loads(text)["runs"].items()
        }
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise ValueError(f"{path} is no baseline of scalars: {error}") from error


def differences(
    baseline: Scalars, logged: Scalars, rel: float | None, abs_: float | None
) -> list[str]:
    """Lines that tell every tag that differs, and at which steps."""
    lines: list[str] = []
    for run in sorted({*baseline, *logged}):
        old, new = baseline.get(run, {}), logged.get(run, {})
        for tag in sorted({*old, *new}):
            about = _tag_differences(old.get(tag), new.get(tag), rel, abs_)
            if about:
                lines.append(f"run {run!r}, tag {tag!r}:")
                lines += [f"  {line}" for line in about]
    return lines


def summary(scalars: Scalars) -> list[str]:
    """Lines that tell the tags and their steps."""
    return [
        f"run {run!r}, tag {tag!r}: steps {_texts.steps(sorted(steps))}"
        for run, tags in sorted(scalars.items())
        for tag, steps in sorted(tags.items())
    ]


def _tag_differences(
    old: Mapping[int, list[float]] | None,
    new: Mapping[int, list[float]] | None,
    rel: float | None,
    abs_: float | None,
) -> list[str]:
    if old is None or new is None:
        where = "baseline" if old is None else "log"
        return [f"not in the {where}: steps {_texts.steps(sorted(old or new or {}))}"]
    lines = []
    if gone := sorted(old.keys() - new.keys()):
        lines.append(f"not in the log: steps {_texts.steps(gone)}")
    if added := sorted(new.keys() - old.keys()):
        lines.append(f"not in the baseline: steps {_texts.steps(added)}")
    other = [
        step
        for step in sorted(old.keys() & new.keys())
        if len(old[step]) != len(new[step])
        or not all(
            close(got, want, rel, abs_) for got, want in zip(new[step], old[step], strict=True)
        )
    ]
    if other:
        lines.append(f"other values: steps {_texts.steps(other)}")
        lines += [_point(step, old[step], new[step]) for step in other[:_SHOWN]]
    if len(other) > _SHOWN:
        lines.append("  …")
    return lines


def _point(step: int, old: list[float], new: list[float]) -> str:
    text = f"  step {step}: expected {_texts.numbers(old)}, logged {_texts.numbers(new)}"
    if len(old) == len(new) == 1:
        text += f" ({new[0] - old[0]:+.3g})"
    return text


def _steps_to_json(steps: Mapping[int, list[float]]) -> dict[str, Any]:
    return {
        str(step): _to_json(values[0]) if len(values) == 1 else [_to_json(each) for each in values]
        for step, values in sorted(steps.items())
    }


def _to_json(value: float) -> float | str:
    text = _texts.number(value)
    return float(text) if math.isfinite(value) else text


def _values_from_json(value: Any) -> list[float]:
    return [float(each) for each in (value if isinstance(value, list) else [value])]
