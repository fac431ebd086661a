from __future__ import annotations

import dataclasses
import gzip
import io
import itertools
import os
import pickle
import struct
import threading
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest
from crc32c import crc32c

from tfevents import proto
from tfevents.errors import (
    BadChecksumError,
    BadLengthError,
    BadMessageError,
    RecordError,
    TruncatedRecordError,
)
from tfevents.reader import EventFileReader, Notice, RecordReader, read_events
from tfevents.store import MemoryStore, redirect

event_pb2 = pytest.importorskip("tensorboard.compat.proto.event_pb2")
event_file_writer = pytest.importorskip("tensorboard.summary.writer.event_file_writer")


@pytest.fixture(scope="module")
def stream(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """TensorBoard's own file of ten scalars, tag 'a', steps 0 to 9."""
    directory = tmp_path_factory.mktemp("tensorboard")
    writer = event_file_writer.EventFileWriter(str(directory))
    for step in range(10):
        event = event_pb2.Event(wall_time=1.7e9 + step, step=step)
        event.summary.value.add(tag="a", simple_value=step / 2)
        writer.add_event(event)
    writer.close()
    (path,) = directory.iterdir()
    return path.read_bytes()


@pytest.fixture(scope="module")
def ends(stream: bytes) -> list[int]:
    """Where each record ends, told by TensorBoard's lengths."""
    found, position = [], 0
    while position < len(stream):
        position += 16 + struct.unpack_from("<Q", stream, position)[0]
        found.append(position)
    assert len(found) == 11
    return found


def header(length: int) -> bytes:
    size = struct.pack("<Q", length)
    crc = crc32c(size)
    return size + struct.pack("<I", ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF)


def framed(data: bytes) -> bytes:
    crc = crc32c(data)
    masked = ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF
    return header(len(data)) + data + struct.pack("<I", masked)


def steps(reader: EventFileReader) -> list[int]:
    return [event.step for event in reader if event.HasField("summary")]


def kinds(reader: EventFileReader) -> list[tuple[str, int]]:
    return [(notice.kind, notice.offset) for notice in reader.notices]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "events.out.tfevents.1700000000.host.1.0"


def test_read_events_gives_what_tensorboard_wrote(path: Path, stream: bytes) -> None:
    path.write_bytes(stream)
    first, *rest = read_events(path)
    assert first.file_version == "brain.Event:2"
    assert [(event.wall_time, event.step) for event in rest] == [(1.7e9 + i, i) for i in range(10)]
    assert [event.summary.value[0].simple_value for event in rest] == [i / 2 for i in range(10)]
    assert all(isinstance(event, proto.Event) for event in rest)


def test_read_events_equals_tensorboards_loader(path: Path, stream: bytes) -> None:
    loader = pytest.importorskip("tensorboard.backend.event_processing.event_file_loader")
    path.write_bytes(stream)
    theirs = [event.SerializeToString() for event in loader.LegacyEventFileLoader(str(path)).Load()]
    assert [event.SerializeToString() for event in read_events(path)] == theirs


def test_case_95_cut_at_every_byte(path: Path, stream: bytes, ends: list[int]) -> None:
    for cut in range(len(stream)):
        path.write_bytes(stream[:cut])
        reader = EventFileReader(path)
        complete = [end for end in ends if end <= cut]
        assert len(list(reader)) == len(complete)
        last = complete[-1] if complete else 0
        assert kinds(reader) == ([] if last == cut else [("truncated", last)])
        assert reader.offset == last


def test_case_95_strict_raises_after_the_complete_records(
    path: Path, stream: bytes, ends: list[int]
) -> None:
    path.write_bytes(stream[:-1])
    found: list[int] = []
    with pytest.raises(TruncatedRecordError, match="1 bytes before the end") as caught:
        found.extend(event.step for event in read_events(path, strict=True))
    assert caught.value.path == str(path)
    assert caught.value.offset == ends[-2]


def test_case_96_one_flipped_bit_loses_one_record(
    path: Path, stream: bytes, ends: list[int]
) -> None:
    broken = bytearray(stream)
    broken[ends[3] + 14] ^= 4  # in the data of step 3, the fifth record
    path.write_bytes(broken)
    reader = EventFileReader(path)
    assert steps(reader) == [0, 1, 2, 4, 5, 6, 7, 8, 9]
    assert kinds(reader) == [("bad-checksum", ends[3])]
    assert reader.notices[0].path == str(path)
    with pytest.raises(BadChecksumError) as caught:
        list(read_events(path, strict=True))
    assert (caught.value.path, caught.value.offset) == (str(path), ends[3])


@pytest.mark.parametrize("place", [0, 7, 8, 11])
def test_case_97_a_flipped_bit_in_the_length_stops_or_is_searched_over(
    path: Path, stream: bytes, ends: list[int], place: int
) -> None:
    broken = bytearray(stream)
    broken[ends[3] + place] ^= 4
    path.write_bytes(broken)
    reader = EventFileReader(path)
    assert steps(reader) == [0, 1, 2]
    assert steps(reader) == []
    assert kinds(reader) == [("bad-length", ends[3])]
    reader = EventFileReader(path, resync=True)
    assert steps(reader) == [0, 1, 2, 4, 5, 6, 7, 8, 9]
    assert kinds(reader) == [("bad-length", ends[3])]
    with pytest.raises(BadLengthError):
        list(read_events(path, strict=True))


@pytest.mark.parametrize("length", [1 << 60, 2**64 - 1, 10_000_000])
def test_case_99_a_huge_length_is_compared_with_the_file(
    path: Path, stream: bytes, ends: list[int], length: int
) -> None:
    path.write_bytes(stream[: ends[1]] + header(length) + stream[ends[2] :])
    tracemalloc.start()
    reader = EventFileReader(path)
    assert steps(reader) == [0]
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1_000_000
    assert kinds(reader) == [("truncated", ends[1])]


def test_case_101_zero_length_records_and_unknown_fields(path: Path, stream: bytes) -> None:
    unknown = b"\x10\x05" + b"\x7a\x03abc" + b"\xa0\x06\x01"  # step 5, fields 15 and 100
    path.write_bytes(stream + framed(b"") + framed(unknown))
    reader = EventFileReader(path)
    *_, empty, last = reader
    assert empty == proto.Event()
    assert last.step == 5
    assert reader.notices == []


def test_case_102_empty_header_only_and_foreign_files(
    path: Path, stream: bytes, ends: list[int]
) -> None:
    path.write_bytes(b"")
    reader = EventFileReader(path)
    assert (list(reader), reader.notices) == ([], [])
    path.write_bytes(stream[: ends[0]])
    reader = EventFileReader(path)
    assert (len(list(reader)), reader.notices) == (1, [])
    path.write_text("epoch,loss\n1,0.5\n2,0.25\n")
    reader = EventFileReader(path)
    assert list(reader) == []
    assert kinds(reader) == [("not-event-file", 0)]
    with pytest.raises(BadLengthError) as caught:
        list(read_events(path, strict=True))
    assert caught.value.offset == 0


def test_case_109_an_explicit_file_is_read_whatever_its_name(tmp_path: Path, stream: bytes) -> None:
    path = tmp_path / "run.tfrecord"
    path.write_bytes(stream)
    assert len(list(read_events(str(path)))) == 11
    assert len(list(read_events(os.fsencode(path)))) == 11


def test_case_112_gzip_files_are_read_through(path: Path, stream: bytes) -> None:
    path.write_bytes(gzip.compress(stream[:100]) + gzip.compress(stream[100:]) + bytes(8))
    reader = EventFileReader(path)
    assert steps(reader) == list(range(10))
    assert reader.notices == []


def test_a_broken_or_cut_gzip_file_gives_what_can_be_read(path: Path, stream: bytes) -> None:
    packed = gzip.compress(stream * 50)
    path.write_bytes(packed[:-10])
    reader = EventFileReader(path)
    assert len(list(reader)) > 500
    assert [notice.kind for notice in reader.notices] == ["truncated"]
    path.write_bytes(packed[:-6] + b"\xff\xff" + packed[-4:])
    reader = EventFileReader(path)
    assert len(list(reader)) > 500
    assert [notice.kind for notice in reader.notices] == ["bad-gzip"]
    with pytest.raises(BadLengthError, match="compressed"):
        list(read_events(path, strict=True))


def test_a_growing_gzip_file_is_resumed(path: Path, stream: bytes) -> None:
    packed = gzip.compress(stream)
    path.write_bytes(packed[:60])
    reader = EventFileReader(path)
    first = list(reader)
    path.write_bytes(packed)
    assert len(first + list(reader)) == 11


def test_a_gzip_bomb_is_refused(path: Path) -> None:
    path.write_bytes(gzip.compress(header(1 << 40) + bytes(100_000_000)))
    tracemalloc.start()
    reader = EventFileReader(path)
    assert list(reader) == []
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 60_000_000
    assert [notice.kind for notice in reader.notices] == ["bad-gzip"]


def test_a_record_whose_length_looks_like_gzip_is_a_record(path: Path) -> None:
    size = 0x088B1F
    path.write_bytes(framed(bytes(size)))
    assert [len(data) for data in RecordReader(path)] == [size]


def test_a_record_that_is_no_event_is_a_notice(path: Path, stream: bytes) -> None:
    path.write_bytes(framed(b"\xff\xff") + stream)
    reader = EventFileReader(path)
    assert steps(reader) == list(range(10))
    assert kinds(reader) == [("bad-message", 0)]
    with pytest.raises(BadMessageError) as caught:
        list(read_events(path, strict=True))
    assert caught.value.path == str(path)


def test_reading_goes_on_after_an_error_was_raised(
    path: Path, stream: bytes, ends: list[int]
) -> None:
    broken = bytearray(stream)
    broken[ends[3] + 14] ^= 4
    path.write_bytes(broken)
    reader = EventFileReader(path, strict=True)
    found: list[int] = []
    with pytest.raises(RecordError):
        found.extend(event.step for event in reader)
    assert steps(reader) == [4, 5, 6, 7, 8, 9]


def test_a_growing_file_is_resumed_and_nothing_comes_twice(path: Path, stream: bytes) -> None:
    reader: EventFileReader | None = None
    found: list[int] = []
    for end in range(0, len(stream) + 7, 7):
        with open(path, "ab") as file:
            file.write(stream[end : end + 7])
        reader = reader or EventFileReader(path)
        found += steps(reader)
    assert reader is not None
    assert found == list(range(10))
    assert reader.offset == len(stream)
    offsets = [notice.offset for notice in reader.notices]
    assert len(offsets) == len(set(offsets))  # each unfinished record was reported once


def test_events_of_an_iteration_that_was_left_come_in_the_next(
    path: Path, stream: bytes, ends: list[int]
) -> None:
    path.write_bytes(stream)
    reader = EventFileReader(path)
    for event in reader:
        if event.step == 4:
            break
    assert reader.offset == ends[5]
    assert steps(reader) == [5, 6, 7, 8, 9]


def test_a_missing_file_raises_and_a_vanished_one_is_a_notice(path: Path, stream: bytes) -> None:
    with pytest.raises(FileNotFoundError):
        list(read_events(path))
    path.write_bytes(stream)
    reader = EventFileReader(path)
    list(reader)
    path.unlink()
    assert list(reader) == []
    assert list(reader) == []
    assert kinds(reader) == [("vanished", len(stream))]


def test_a_file_that_shrank_is_a_notice(path: Path, stream: bytes) -> None:
    path.write_bytes(stream)
    reader = EventFileReader(path)
    list(reader)
    path.write_bytes(stream[:100])
    assert list(reader) == []
    assert kinds(reader) == [("shrunk", len(stream))]


def test_follow_yields_events_as_they_are_written(
    path: Path, stream: bytes, ends: list[int]
) -> None:
    path.write_bytes(stream[: ends[0]])

    def grow() -> None:
        for at in range(ends[0], len(stream), 50):
            time.sleep(0.02)
            with open(path, "ab") as file:
                file.write(stream[at : at + 50])

    thread = threading.Thread(target=grow)
    thread.start()
    reader = EventFileReader(path, strict=True)  # half a record is no error while one follows
    following = itertools.islice(reader.follow(timeout=60, interval=0.01), 11)
    found = [event.step for event in following]
    thread.join()
    assert found == [0, *range(10)]


def test_follow_ends_after_its_timeout_and_at_a_bad_length(path: Path, stream: bytes) -> None:
    path.write_bytes(stream[:-3])
    reader = EventFileReader(path)
    assert len(list(reader.follow(timeout=0))) == 10
    assert [kind for kind, _ in kinds(reader)] == ["truncated"]
    path.write_bytes(b"no event file, not at all")
    assert list(EventFileReader(path).follow()) == []


@pytest.mark.parametrize("pack", [bytes, gzip.compress], ids=["plain", "gzip"])
def test_a_record_that_was_completed_is_no_longer_noticed(
    path: Path, stream: bytes, pack: Callable[[bytes], bytes]
) -> None:
    packed = pack(stream)
    reader = EventFileReader(path)
    found: list[int] = []
    seen = set()
    for end in range(len(packed)):
        path.write_bytes(packed[:end])
        found += steps(reader)
        seen |= {kind for kind, _ in kinds(reader)}
        assert len(reader.notices) <= 1
    path.write_bytes(packed)
    found += steps(reader)
    assert (found, seen, reader.notices) == (list(range(10)), {"truncated"}, [])


def test_a_record_that_was_completed_wrongly_is_noticed_for_that(
    path: Path, stream: bytes, ends: list[int]
) -> None:
    path.write_bytes(stream[: ends[2] + 3])
    reader = EventFileReader(path)
    list(reader)
    assert kinds(reader) == [("truncated", ends[2])]
    path.write_bytes(stream[: ends[2] + 3] + bytes(40))
    list(reader)
    assert kinds(reader) == [("bad-length", ends[2])]


def test_notices_are_frozen_and_pickle() -> None:
    notice = Notice("truncated", "p", 3, "text")
    assert pickle.loads(pickle.dumps(notice)) == notice
    with pytest.raises(dataclasses.FrozenInstanceError):
        notice.offset = 4  # type: ignore[misc]


def test_record_reader_reads_paths_and_open_files(path: Path, stream: bytes) -> None:
    path.write_bytes(stream)
    expected = [event.SerializeToString() for event in read_events(path)]
    assert list(RecordReader(path)) == expected
    with open(path, "rb") as file:
        reader = RecordReader(file)
        assert list(reader) == expected
        assert not file.closed
        assert reader.notices == []
    file_in_memory = io.BytesIO(b"head" + stream[:-1])
    file_in_memory.seek(4)
    reader = RecordReader(file_in_memory)
    assert list(reader) == expected[:-1]
    assert [notice.kind for notice in reader.notices] == ["truncated"]


def test_record_reader_reads_a_pipe(stream: bytes) -> None:
    read_end, write_end = os.pipe()
    with open(write_end, "wb") as sink:
        sink.write(stream + header(1 << 60) + b"rest")
    with open(read_end, "rb") as source:
        reader = RecordReader(source)
        assert len(list(reader)) == 11
        assert [(notice.kind, notice.offset) for notice in reader.notices] == [
            ("truncated", len(stream))
        ]


def test_record_reader_refuses_other_things() -> None:
    with pytest.raises(TypeError, match="int"):
        RecordReader(3)  # type: ignore[arg-type]


def test_readers_read_from_any_store(stream: bytes) -> None:
    store = MemoryStore()
    store.files["dir/file"] = bytearray(stream)
    with redirect(store):
        assert len(list(read_events("dir/file"))) == 11
        with pytest.raises(FileNotFoundError):
            list(read_events("other"))
