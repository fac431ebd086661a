from __future__ import annotations

import pytest

from tfevents import event, proto
from tfevents.errors import BadMessageError

TIME = b"\x09\x00\x00\x00\x00\x00\x00\xf8\x3f"  # 1.5


def test_header_as_tensorflow_writes_it_but_for_the_name_of_the_writer() -> None:
    wanted = TIME + b"\x1a\x0dbrain.Event:2" + b"\x52\x03\x0a\x01w"
    assert event.encode_version(1.5, "w") == wanted


def test_simple_scalar_worked_by_hand() -> None:
    encode = event.simple_scalar_encoder("a")
    wanted = TIME + b"\x10\x80\x01" + b"\x2a\x0a\x0a\x08\x0a\x01a\x15\x00\x00\x00\x3f"
    assert encode(1.5, 128, 0.5) == wanted


def test_negative_steps_take_ten_bytes() -> None:
    encode = event.simple_scalar_encoder("")
    step = b"\x10" + b"\xff" * 9 + b"\x01"
    assert encode(0.0, -1, 1.0) == step + b"\x2a\x07\x0a\x05\x15\x00\x00\x80\x3f"


def test_values_are_made_when_the_event_is() -> None:
    made: list[str] = []

    def to_value(tag: str) -> proto.Summary.Value:
        made.append(tag)
        return proto.Summary.Value(tag=tag, simple_value=1)

    data = event.encode_values(2.0, 3, [("a", to_value), ("b", to_value)])
    found = proto.Event.FromString(data)
    assert (found.wall_time, found.step) == (2.0, 3)
    assert [each.tag for each in found.summary.value] == made == ["a", "b"]


def test_messages_pass_as_they_are() -> None:
    assert event.encode_message(1.0, 2, b"whole") == b"whole"


def test_unknown_fields_of_an_event() -> None:
    with pytest.raises(KeyError):
        event.encoder("nothing")


def test_decode_says_where_the_bad_message_stands() -> None:
    assert event.decode(b"\x10\x05").step == 5
    with pytest.raises(BadMessageError, match="byte 77") as caught:
        event.decode(b"\x0a\xff", 77)
    assert caught.value.offset == 77
