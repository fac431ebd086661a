from __future__ import annotations

import itertools
import struct

import pytest
from crc32c import crc32c
from hypothesis import given
from hypothesis import strategies as st

from tfevents import record
from tfevents.errors import BadChecksumError, BadLengthError, RecordError, TruncatedRecordError
from tfevents.record import Record, RecordParser

# TensorFlow's own bytes for tf.io.TFRecordWriter.write(b"") and write(b"abc").
EMPTY = bytes.fromhex("0000000000000000 29039807 d8ea82a2")
ABC = bytes.fromhex("0300000000000000 b099490e 616263 6e57f121")


def items(data: bytes, size: int = 1 << 20, *, resync: bool = False) -> list[Record | RecordError]:
    parser = RecordParser(resync=resync)
    pieces = [data[at : at + size] for at in range(0, len(data), size)]
    return [item for piece in pieces for batch in parser.feed(piece) for item in batch.items()]


def datas(found: list[Record | RecordError]) -> list[bytes]:
    return [item.data for item in found if isinstance(item, Record)]


def test_a_crc_is_rotated_by_15_bits_and_shifted() -> None:
    # crc32c(b"123456789") is 0xE3069283, the check value of the CRC's definition
    rotated = (0xE3069283 >> 15 | 0xE3069283 << 17) & 0xFFFFFFFF
    assert record.masked_crc(b"123456789") == (rotated + 0xA282EAD8) & 0xFFFFFFFF


def test_encode_makes_tensorflows_bytes() -> None:
    assert record.encode(b"") == EMPTY
    assert record.encode(b"abc") == ABC
    assert record.encode_all([b"", b"abc"]) == EMPTY + ABC


def test_tensorboards_own_reader_reads_our_records(tmp_path: object) -> None:
    loader = pytest.importorskip("tensorboard.compat.tensorflow_stub.pywrap_tensorflow")
    path = f"{tmp_path}/records"
    with open(path, "wb") as file:
        file.write(record.encode_all([b"one", b"", b"x" * 70_000]))
    reader = loader.PyRecordReader_New(path)
    found = []
    for _ in range(3):
        reader.GetNext()
        found.append(reader.record())
    assert found == [b"one", b"", b"x" * 70_000]


def test_records_come_with_their_offsets() -> None:
    assert items(EMPTY + ABC) == [Record(0, b""), Record(16, b"abc")]


def test_a_parser_may_begin_at_any_offset() -> None:
    (batch,) = RecordParser(offset=1000).feed(ABC)
    assert list(batch.items()) == [Record(1000, b"abc")]
    assert batch.offset(0) == 1000


@given(st.lists(st.binary(max_size=40), max_size=12), st.lists(st.integers(0, 400), max_size=8))
def test_any_split_of_a_stream_gives_the_same_records(
    payloads: list[bytes], cuts: list[int]
) -> None:
    data = record.encode_all(payloads)
    bounds = [0, *sorted(min(cut, len(data)) for cut in cuts), len(data)]
    parser = RecordParser()
    found = [
        item
        for start, end in itertools.pairwise(bounds)
        for batch in parser.feed(data[start:end])
        for item in batch.items()
    ]
    assert datas(found) == payloads
    assert parser.finish() is None
    assert parser.offset == len(data)


@pytest.mark.parametrize("cut", range(len(EMPTY + ABC)))
def test_a_cut_stream_gives_the_complete_records_and_says_where_it_was_cut(cut: int) -> None:
    parser = RecordParser()
    count = sum(len(batch) for batch in parser.feed((EMPTY + ABC)[:cut]))
    assert count == (1 if cut >= len(EMPTY) else 0)
    left = parser.finish()
    if cut in (0, len(EMPTY)):
        assert left is None
    else:
        assert isinstance(left, TruncatedRecordError)
        assert left.offset == (16 if cut > 16 else 0)


@pytest.mark.parametrize("position", [12, 13, 14, 15, 16, 17, 18])
def test_a_flipped_bit_in_the_data_or_their_crc_loses_that_record_only(position: int) -> None:
    broken = bytearray(ABC)
    broken[position] ^= 0x10
    first, second, third = items(EMPTY + bytes(broken) + ABC)
    assert (first, third) == (Record(0, b""), Record(35, b"abc"))
    assert isinstance(second, BadChecksumError)
    assert second.offset == 16


@pytest.mark.parametrize("position", range(12))
def test_a_flipped_bit_in_the_length_ends_the_stream(position: int) -> None:
    broken = bytearray(ABC)
    broken[position] ^= 0x01
    parser = RecordParser()
    found = [item for batch in parser.feed(EMPTY + bytes(broken) + ABC) for item in batch.items()]
    assert found[0] == Record(0, b"")
    assert isinstance(found[1], BadLengthError)
    assert found[1].offset == 16
    assert len(found) == 2
    assert parser.stopped is found[1]
    assert parser.feed(ABC) == []


@pytest.mark.parametrize("size", [1, 5, 11, 12, 13, 1000])
@pytest.mark.parametrize("position", range(12))
def test_resync_goes_on_at_the_next_header(position: int, size: int) -> None:
    broken = bytearray(ABC)
    broken[position] ^= 0x01
    found = items(EMPTY + bytes(broken) + ABC + EMPTY, size, resync=True)
    assert datas(found) == [b"", b"abc", b""]
    assert [type(item) for item in found].count(BadLengthError) == 1


@given(st.binary(max_size=60), st.lists(st.binary(max_size=20), min_size=1, max_size=4))
def test_resync_finds_records_behind_any_garbage(garbage: bytes, payloads: list[bytes]) -> None:
    data = record.encode_all(payloads)
    parser = RecordParser(resync=True)
    found = [item for batch in parser.feed(garbage + data) for item in batch.items()]
    if len(garbage) >= 12 and RecordParser().feed(garbage[:12])[0].stop is None:
        return  # a valid header by chance
    assert datas(found) == payloads


def test_resync_searches_zeros_and_many_bad_lengths_in_reasonable_space() -> None:
    piece = ABC + b"\xff" * 12
    found = RecordParser(resync=True).feed(bytes(1 << 20) + piece * 2000)
    assert sum(len(batch) for batch in found) == 2000
    # all batches look into one buffer, or 2,000 gaps would make 2,000 copies of it
    assert len({id(batch.buffer) for batch in found}) == 1


def test_a_huge_length_makes_the_parser_wait_and_allocate_nothing() -> None:
    size = struct.pack("<Q", 1 << 60)
    crc = crc32c(size)
    head = size + struct.pack("<I", ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF)
    parser = RecordParser()
    parser.feed(ABC + head + b"abc")
    assert parser.needed == (1 << 60) + 4 - 3
    left = parser.finish()
    assert left is not None
    assert left.offset == 19


def test_a_stopped_parser_holds_nothing() -> None:
    parser = RecordParser()
    parser.feed(b"no event file at all")
    for _ in range(3):
        assert parser.feed(bytes(1000)) == []
    assert parser.offset == 0
    assert parser.finish() is None


@given(st.binary(max_size=200), st.integers(1, 50), st.booleans())
def test_any_bytes_are_parsed_without_an_exception(data: bytes, size: int, resync: bool) -> None:
    for item in items(data, size, resync=resync):
        assert isinstance(item, (Record, BadLengthError, BadChecksumError))
