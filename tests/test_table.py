from __future__ import annotations

import math
import pickle
import struct

import numpy as np
import pytest

from tfevents.table import Entries, Entry, Groups, ScalarColumns, concatenate

LOW, HIGH = -(2**63), 2**63 - 1


def table(steps: list[int], values: list[float], tags: list[int] | None = None) -> ScalarColumns:
    count = len(steps)
    return ScalarColumns(
        np.arange(count, dtype=np.int64) * 43,
        np.array(tags or [0] * count, np.int32),
        np.array(steps, np.int64),
        np.arange(count, dtype=np.float64) * 0.1 + 1.7e9,
        np.array(values, np.float64),
    )


@pytest.mark.parametrize(
    "steps",
    [
        [],
        [7],
        [5, 5, 5],
        [0, 1, 2, 3],
        [0, 1, 300, 2, 70_000, 3],
        [3, 2**40, -5],
        [LOW, HIGH, LOW, 0, HIGH],
    ],
)
def test_steps_survive_pickling(steps: list[int]) -> None:
    again = pickle.loads(pickle.dumps(table(steps, [0.5] * len(steps))))
    assert again.steps.tolist() == steps
    assert again.offsets.tolist() == [43 * place for place in range(len(steps))]
    assert [column.dtype.str for column in again] == ["<i8", "<i4", "<i8", "<f8", "<f8"]


@pytest.mark.parametrize("tags", [[0, 1, 0], [0, 300, 2], [70_000, 1, 5], [9, 9, 9]])
def test_tags_survive_pickling(tags: list[int]) -> None:
    assert pickle.loads(pickle.dumps(table([1, 2, 3], [0.0] * 3, tags))).tags.tolist() == tags


@pytest.mark.parametrize(
    "values",
    [
        [0.5, -0.0, math.inf, -math.inf],
        [0.1, 0.5],  # no float32
        [1e300, 1.0],
        [5e-324],
        [math.nan, 1.0],
        struct.unpack("<1d", (0x7FF8000000000001).to_bytes(8, "little")),  # NaN with low bits
    ],
)
def test_no_bit_of_a_value_is_lost(values: list[float]) -> None:
    again = pickle.loads(pickle.dumps(table([1] * len(values), list(values))))
    assert again.values.tobytes() == struct.pack(f"<{len(values)}d", *values)


def test_a_float32_scalar_of_a_training_run_takes_fifteen_bytes_at_most() -> None:
    rng = np.random.default_rng(0)
    count = 10_000
    values = rng.normal(size=count).astype(np.float32).astype(np.float64)
    data = pickle.dumps(
        ScalarColumns(
            np.cumsum(rng.integers(40, 50, count)),
            np.tile(np.arange(5, dtype=np.int32), count // 5),
            np.arange(count) // 5,
            1.7e9 + np.cumsum(rng.uniform(size=count)),
            values,
        )
    )
    # wall time 8, value 4; offset, step and tag one byte each
    assert len(data) < 15 * count + 2000


def test_tables_are_joined_in_order() -> None:
    joined = concatenate([table([3, 1], [1, 2]), table([], []), table([2], [3])])
    assert joined.steps.tolist() == [3, 1, 2]
    assert joined.values.tolist() == [1, 2, 3]
    assert concatenate([]).steps.tolist() == []


@pytest.mark.parametrize("offset", [0, 70_000])  # sorted as 16 bits, and as 32
def test_groups_are_rows_in_order(offset: int) -> None:
    groups = Groups(np.array([2, 0, 2, 5, 0], np.int32) + np.int32(offset))
    assert groups.rows(offset).tolist() == [1, 4]
    assert groups.rows(offset + 2).tolist() == [0, 2]
    assert groups.rows(offset + 5).tolist() == [3]
    for absent in (-1, offset + 1, offset + 6):
        assert groups.rows(absent).tolist() == []
    assert groups.firsts() == [(offset, 1), (offset + 2, 0), (offset + 5, 3)]


def test_groups_of_nothing() -> None:
    groups = Groups(np.zeros(0, np.int32))
    assert groups.firsts() == []
    assert groups.rows(0).tolist() == []


def test_entries_of_a_kind_in_order_also_after_more_and_in_another_process() -> None:
    entries = Entries()
    first, second = (Entry(at, at + 1, 2.0, "image", "", 5, 6, None) for at in (0, 50))
    other = Entry(20, 1, 2.0, "tensor", "text", 0, 0, b"held")
    entries.add(4, first)
    entries.add(1, other)
    assert list(entries.select((4, "image", ""))) == [first]
    entries.add(4, second)
    for each in (entries, pickle.loads(pickle.dumps(entries))):
        assert list(each.select((4, "image", ""))) == [first, second]
        assert list(each.select((1, "tensor", "text"))) == [other]
        assert list(each.select((1, "image", ""))) == []
        assert list(each.kinds) == [(4, "image", ""), (1, "tensor", "text")]
