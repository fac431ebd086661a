from __future__ import annotations

import math
import pickle
import struct

import numpy as np
import pytest

from tfevents.columns import Columns
from tfevents.record import RecordParser, encode_all

TIME = struct.pack("<d", 1.7e9)


def field(number: int, data: bytes) -> bytes:
    assert len(data) < 128
    return bytes([number << 3 | 2, len(data)]) + data


def scalar(step: bytes, value: bytes, tag: bytes = b"a") -> bytes:
    """An event by the wire format's rules; `step` is a varint, `value` the fields of the value."""
    summary = field(1, field(1, tag) + value)
    return b"\x09" + TIME + (b"\x10" + step if step else b"") + field(5, summary)


def simple(number: float) -> bytes:
    return b"\x15" + struct.pack("<f", number)


def read(payloads: list[bytes], *, hold: bool = False) -> Columns:
    columns = Columns(hold=hold)
    for batch in RecordParser().feed(encode_all(payloads)):
        assert columns.add(batch) == []
    return columns


SCALARS = field(9, field(1, field(1, b"scalars")))


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (simple(0.1), np.float32(0.1)),
        (simple(math.inf), math.inf),
        (field(8, b"\x08\x01" + field(2, b"") + field(4, struct.pack("<f", 0.1))), np.float32(0.1)),
        (field(8, b"\x08\x02" + field(4, struct.pack("<d", 0.1))), 0.1),
        (field(8, b"\x08\x13" + field(4, struct.pack("<e", 0.1))), np.float16(0.1)),
        (field(8, b"\x08\x01" + field(5, struct.pack("<f", 0.1))), np.float32(0.1)),
        (field(8, b"\x08\x01\x2d" + struct.pack("<f", 0.1)), np.float32(0.1)),
        (field(8, b"\x08\x02" + field(6, struct.pack("<d", 0.1))), 0.1),
        (field(8, b"\x08\x02\x31" + struct.pack("<d", 0.1)), 0.1),
    ],
)
@pytest.mark.parametrize("count", [1, 20])
def test_every_wire_form_of_a_scalar_gives_the_stored_number(
    value: bytes, expected: float, count: int
) -> None:
    found = read([scalar(b"\x07", value + SCALARS)] * count).scalars("a")
    assert found.values.tolist() == [float(expected)] * count
    assert found.steps.tolist() == [7] * count
    assert found.wall_times.tolist() == [1.7e9] * count
    assert found.values.dtype == np.float64


@pytest.mark.parametrize(
    ("step", "expected"),
    [
        (b"", 0),
        (b"\x7f", 127),
        (b"\x80\x01", 128),
        (b"\xac\x02", 300),  # the example of protobuf's own description of varints
        (b"\x80\x00", 0),
        (b"\xff\xff\xff\xff\xff\xff\xff\xff\x7f", 2**63 - 1),
        (b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", -1),
    ],
)
@pytest.mark.parametrize("count", [1, 20])
def test_steps_of_every_length(step: bytes, expected: int, count: int) -> None:
    found = read([scalar(step, simple(1))] * count).scalars("a")
    assert found.steps.tolist() == [expected] * count


def test_steps_of_several_lengths_and_several_tags_keep_the_order_of_the_file() -> None:
    payloads, expected = [], []
    for number in range(300):
        step = bytes([number]) if number < 128 else bytes([number & 0x7F | 0x80, number >> 7])
        tag = b"tag%d" % (number * 7 % 13)
        payloads.append(scalar(step if number else b"", simple(number / 2), tag))
        expected.append((tag.decode(), number, number / 2))
    columns = read(payloads)
    table = columns.scalars()
    found = zip(table.tags.tolist(), table.steps.tolist(), table.values.tolist(), strict=True)
    assert [(columns.tags[tag], step, value) for tag, step, value in found] == expected
    assert (np.diff(table.offsets) > 0).all()
    assert columns.scalars("tag7").steps.tolist() == [
        step for tag, step, _ in expected if tag == "tag7"
    ]


def test_several_scalars_of_one_event_keep_their_order() -> None:
    values = field(1, field(1, b"b") + simple(1)) + field(1, field(1, b"a") + simple(2))
    columns = read([b"\x10\x05" + field(5, values)] * 10)
    table = columns.scalars()
    assert [columns.tags[tag] for tag in table.tags] == ["b", "a"] * 10
    assert table.values.tolist() == [1, 2] * 10
    assert table.wall_times.tolist() == [0] * 20


@pytest.mark.parametrize("count", [1, 20])
def test_the_last_of_repeated_fields_counts(count: int) -> None:
    twice = scalar(b"\x07", simple(1)) + b"\x10\x09"
    assert read([twice] * count).scalars("a").steps.tolist() == [9] * count


@pytest.mark.parametrize("count", [1, 20])
def test_a_tag_that_is_no_text_is_a_bad_message(count: int) -> None:
    columns = Columns()
    good, bad = scalar(b"\x07", simple(1)), scalar(b"\x07", simple(1), tag=b"\xff")
    (batch,) = RecordParser().feed(encode_all([good] * count + [bad, good]))
    assert [error.offset for error in columns.add(batch)] == [count * (len(good) + 16)]
    assert len(columns.scalars("a").steps) == count + 1


def test_other_values_are_known_by_their_place() -> None:
    image = field(4, b"\x08\x01" + field(4, b"png"))
    text = field(8, b"\x08\x07" + field(8, b"hello")) + field(9, field(1, field(1, b"text")))
    payloads = [scalar(b"\x03", image, b"i"), scalar(b"\x04", text, b"t")]
    columns = read(payloads)
    assert columns.entry_kinds() == [("i", "image", ""), ("t", "tensor", "text")]
    (entry,) = columns.entries("t", "tensor", "text")
    assert (entry.step, entry.wall_time, entry.offset) == (4, 1.7e9, 16 + len(payloads[0]))
    data = encode_all(payloads)[entry.start :][: entry.size]
    assert data == field(1, b"t") + text
    assert entry.data is None
    assert columns.metadata == {"t": field(1, field(1, b"text"))}
    (held,) = read(payloads, hold=True).entries("t", "tensor", "text")
    assert held.data == data


def test_columns_pickle_with_what_they_know() -> None:
    columns = read([scalar(b"\x07", simple(1))] * 20)
    again = pickle.loads(pickle.dumps(columns))
    (batch,) = RecordParser().feed(encode_all([scalar(b"\x08", simple(2))] * 9))
    again.add(batch)
    assert again.scalars("a").steps.tolist() == [7] * 20 + [8] * 9
    assert again.tags == ["a"]
