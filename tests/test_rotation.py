"""Runs in several files: where they are cut, what is removed, and that nothing else is lost."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pytest

from readback import event_files, events, records
from tfevents import event
from tfevents.errors import WriteError
from tfevents.event_file import EventFileWriter
from tfevents.rotation import KeepLastImages, RotatingWriter
from tfevents.values.image import Image

FRAME = 16  # bytes that a record adds to its data


class Sink:
    """Takes events, and remembers what was done to it."""

    def __init__(self) -> None:
        self.events: list[bytes] = []
        self.done: list[str] = []
        self.room = 1 << 30  # events until it fails

    def write(self, events: Iterable[bytes]) -> None:
        batch = list(events)
        fit = batch[: self.room - len(self.events)]
        self.events += fit
        if len(fit) < len(batch):
            error = WriteError(errno.ENOSPC, "full", "file")
            error.written = len(fit)
            raise error

    def flush(self) -> None:
        self.done.append("flush")

    def close(self) -> None:
        self.done.append("close")


def rotated(sizes: list[int], limit: int, batch: int = 1) -> list[list[int]]:
    """The sizes of the events in each file."""
    sinks = [Sink()]

    def open_file() -> Sink:
        sinks.append(Sink())
        return sinks[-1]

    writer = RotatingWriter(sinks[0], open_file, limit)
    data = [bytes([index]) * size for index, size in enumerate(sizes)]
    for start in range(0, len(data), batch):
        writer.write(data[start : start + batch])
    writer.flush()
    writer.close()
    assert [each for sink in sinks for each in sink.events] == data
    assert [sink.done for sink in sinks] == [["flush", "close"]] * len(sinks)
    return [[len(each) for each in sink.events] for sink in sinks]


@pytest.mark.parametrize("batch", [1, 2, 3, 100])
@pytest.mark.parametrize(
    ("sizes", "limit", "files"),
    [
        ([10] * 6, 2 * (10 + FRAME), [[10, 10], [10, 10], [10, 10]]),
        ([10] * 3, 2 * (10 + FRAME) - 1, [[10], [10], [10]]),
        ([10, 500, 10], 100, [[10], [500], [10]]),
        ([500, 500], 1, [[500], [500]]),
        ([], 100, [[]]),
        ([10, 10], 1000, [[10, 10]]),
    ],
)
def test_a_file_is_cut_before_it_is_too_large(
    sizes: list[int], limit: int, files: list[list[int]], batch: int
) -> None:
    assert rotated(sizes, limit, batch) == files


@pytest.mark.parametrize("limit", [0, -1])
def test_limits_must_be_positive(limit: int, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="positive"):
        RotatingWriter(Sink(), Sink, limit)
    with pytest.raises(ValueError, match="positive"):
        KeepLastImages(Sink(), lambda: EventFileWriter(tmp_path), limit)


def image(tag: str, step: int, *, tensor: bool = False) -> bytes:
    value = Image.from_data(np.zeros((1, 2, 2, 1), np.uint8))
    make = value.to_tensor_value if tensor else value.to_field_value
    return event.encode_values(1.0, step, ((tag, make),))


def scalar(step: int) -> bytes:
    return event.simple_scalar_encoder("a")(1.0, step, 0.5)


@pytest.mark.parametrize("tensor", [False, True])
@pytest.mark.parametrize("keep", [1, 3])
def test_the_last_images_of_each_tag_stay(keep: int, tensor: bool, tmp_path: Path) -> None:
    main = EventFileWriter(tmp_path)
    writer = KeepLastImages(main, lambda: EventFileWriter(tmp_path), keep)
    writer.write([image("rare", 0, tensor=tensor)])
    for step in range(20):
        writer.write([image("often", step, tensor=tensor), scalar(step)])
    writer.flush()
    kept: dict[str, list[int]] = {}
    for found in events(tmp_path):
        kept.setdefault(found.summary.value[0].tag, []).append(found.step)
    assert kept["a"] == list(range(20))
    assert kept["rare"] == [0]
    steps = sorted(kept["often"])
    assert steps == list(range(20 - len(steps), 20))
    assert keep <= len(steps) <= 2 * keep
    assert writer.path == main.path
    writer.close()


def test_an_event_of_several_values_stays_whole(tmp_path: Path) -> None:
    value = Image.from_data(np.zeros((1, 2, 2, 1), np.uint8))
    both = event.encode_values(
        1.0, 0, (("a", value.to_field_value), ("b", value.to_field_value))
    )
    main = EventFileWriter(tmp_path)
    writer = KeepLastImages(main, lambda: EventFileWriter(tmp_path), 1)
    writer.write([both] * 5)
    writer.close()
    (path,) = event_files(tmp_path)
    assert records(path)[1:] == [both] * 5


def test_what_was_removed_is_gone_from_the_disk(tmp_path: Path) -> None:
    writer = KeepLastImages(
        EventFileWriter(tmp_path), lambda: EventFileWriter(tmp_path), 2
    )
    for step in range(50):
        writer.write([image("i", step)])
        assert len(os.listdir(tmp_path)) <= 3
    writer.close()


def written(writer: RotatingWriter | KeepLastImages, batch: list[bytes]) -> int:
    """How many events of a batch that fails are in files, as the error says."""
    with pytest.raises(WriteError, match="full") as caught:
        writer.write(batch)
    assert caught.value.errno == errno.ENOSPC
    return caught.value.written


@pytest.mark.parametrize("faults", [1, 3])
def test_where_the_next_file_cannot_be_made_nothing_is_lost_or_repeated(faults: int) -> None:
    sinks, attempts = [Sink()], iter(range(100))

    def open_file() -> Sink:
        if next(attempts) in range(1, 1 + faults):  # the second file is made
            raise OSError(errno.ENOSPC, "full", "next")
        sinks.append(Sink())
        return sinks[-1]

    writer = RotatingWriter(sinks[0], open_file, 2 * (1 + FRAME))
    rest = data = [b"%d" % number for number in range(8)]
    for _ in range(faults):
        writer.write([])  # as the queue asks after its file
        rest = rest[written(writer, rest) :]
    writer.write(rest)
    writer.close()
    assert [sink.events for sink in sinks] == [data[n : n + 2] for n in range(0, 8, 2)]
    assert [sink.done.count("close") for sink in sinks] == [1] * 4


def test_a_full_disk_in_a_later_file_counts_the_events_of_all() -> None:
    sinks = [Sink(), Sink()]
    sinks[1].room = 1
    writer = RotatingWriter(sinks[0], lambda: sinks[1], 2 * (1 + FRAME))
    assert written(writer, [b"0", b"1", b"2", b"3"]) == 3
    sinks[1].room = 2
    writer.write([b"3"])
    assert [sink.events for sink in sinks] == [[b"0", b"1"], [b"2", b"3"]]


def test_images_and_other_events_are_written_in_their_order_up_to_a_fault(tmp_path: Path) -> None:
    main = Sink()
    writer = KeepLastImages(main, lambda: EventFileWriter(tmp_path), 100)
    rest = data = [scalar(0), image("i", 1), scalar(2), image("i", 3), scalar(4), scalar(5)]
    for main.room in (0, 1, 3):
        rest = rest[written(writer, rest) :]
    assert rest == data[5:]
    main.room = 100
    writer.write(rest)
    writer.close()
    assert main.events == [scalar(step) for step in (0, 2, 4, 5)]
    assert [found.step for found in events(tmp_path)] == [1, 3]


def test_an_image_whose_first_file_cannot_be_made_is_written_later(tmp_path: Path) -> None:
    faults = [OSError(errno.ENOSPC, "full", "first")]

    def open_file() -> EventFileWriter:
        if faults:
            raise faults.pop()
        return EventFileWriter(tmp_path)

    main = Sink()
    writer = KeepLastImages(main, open_file, 3)
    batch = [scalar(0), image("i", 1)]
    assert written(writer, batch) == 1
    writer.flush()
    writer.write(batch[1:])
    writer.close()
    assert main.events == batch[:1]
    assert [found.step for found in events(tmp_path)] == [1]


def test_images_go_on_when_an_old_file_is_gone_already(tmp_path: Path) -> None:
    writer = KeepLastImages(EventFileWriter(tmp_path), EventFileWriter(tmp_path).another, 1)
    for step in range(5):
        writer.write([image("i", step)])
        for path in event_files(tmp_path)[2:-1]:
            path.unlink()
    writer.close()
    assert [found.step for found in events(tmp_path)][-1] == 4


@pytest.mark.parametrize("kind", ["rotating", "images"])
def test_what_is_asked_of_a_file_is_asked_of_the_one_within(kind: str) -> None:
    class Uploading(Sink):
        buffered = True
        path = "s3://file"

    writer: RotatingWriter | KeepLastImages
    if kind == "rotating":
        writer = RotatingWriter(Uploading(), Sink, 10)
    else:
        writer = KeepLastImages(Uploading(), lambda: EventFileWriter("never"), 10)
    assert writer.buffered
    assert writer.path == "s3://file"
