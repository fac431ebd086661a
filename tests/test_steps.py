from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from tfevents import steps

STEPS = [
    (0, 0),
    (-5, -5),
    (2**40, 2**40),
    (2**63 - 1, 2**63 - 1),
    (-(2**63), -(2**63)),
    (True, 1),
    (np.bool_(True), 1),
    (np.array(True), 1),
    (np.int64(7), 7),
    (np.uint8(6), 6),
    (np.array(7), 7),
    (np.array([7]), 7),
    (np.array([[3]]), 3),
    ([4], 4),
    (np.float32(4), 4),
    (np.float64(4), 4),
]
BAD_STEPS = [
    ("5", TypeError),
    (b"5", TypeError),
    (1 + 0j, TypeError),
    ({}, TypeError),
    (2**63, ValueError),
    (-(2**63) - 1, ValueError),
    (np.uint64(2**63), ValueError),
    (1.7, (TypeError, ValueError)),
    (float("nan"), (TypeError, ValueError)),
    (float("inf"), (TypeError, ValueError)),
    (np.float32(4.7), ValueError),
    (np.float64("nan"), ValueError),
    (np.array(["4"]), TypeError),
    ([1, 2], ValueError),
]


@pytest.mark.parametrize("convert", [steps.strict, steps.lenient])
@pytest.mark.parametrize(("value", "expected"), STEPS)
def test_steps(convert: Any, value: object, expected: int) -> None:
    found = convert(value)
    assert type(found) in (int, bool)
    assert found == expected


@pytest.mark.parametrize("convert", [steps.strict, steps.lenient])
@pytest.mark.parametrize(("value", "error"), BAD_STEPS)
def test_bad_steps(convert: Any, value: object, error: Any) -> None:
    with pytest.raises(error):
        convert(value)


def test_steps_differ_for_floats_and_none() -> None:
    assert steps.lenient(1.0) == 1
    assert steps.lenient([1.0]) == 1
    assert steps.lenient(None) == 0
    for value in (4.0, 4.7, [4.0], None, "4"):
        with pytest.raises(TypeError):
            steps.strict(value)


@pytest.mark.parametrize("value", [[4, 5], np.array([4, 5])])
def test_a_step_of_two_elements_reads_as_tensorflows_error(value: object) -> None:
    text = re.escape("Argument `step` must be a scalar. Received step with shape (2,).")
    with pytest.raises(ValueError, match=text):
        steps.strict(value)
