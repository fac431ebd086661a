"""Runs in several files: where they are cut, what is removed, and that nothing else is lost."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pytest

from readback import event_files, events, records
from tfevents import event
from tfevents.event_file import EventFileWriter
from tfevents.rotation import KeepLastImages, RotatingWriter
from tfevents.values.image import Image

FRAME = 16  # bytes that a record adds to its data


class Sink:
    """Takes events, and remembers what was done to it."""

    def __init__(self) -> None:
        self.events: list[bytes] = []
        self.done: list[str] = []

    def write(self, events: Iterable[bytes]) -> None:
        self.events += events

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
