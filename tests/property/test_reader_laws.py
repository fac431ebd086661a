"""What the columns say is what protobuf itself reads, for any events and any damage to them."""

from __future__ import annotations

import math
from collections import defaultdict, deque
from typing import Any

import numpy as np
from google.protobuf.message import DecodeError
from hypothesis import given, settings
from hypothesis import strategies as st

from tfevents import logdir, proto, tensor
from tfevents.columns import Columns, Entry
from tfevents.reader import EventFileReader
from tfevents.record import RecordParser, encode_all
from tfevents.store import MemoryStore, redirect

TAGS = st.sampled_from(["a", "b", "loss/train", "", "é", "tag-11", "tag-12"])
STEPS = st.one_of(st.integers(0, 300), st.integers(-(2**63), 2**63 - 1))
TIMES = st.one_of(st.just(0.0), st.just(1.7e9), st.floats())
PLUGINS = st.sampled_from(["", "scalars", "images", "text", "mine"])


@st.composite
def values(draw: st.DrawFn) -> proto.Summary.Value:
    value = proto.Summary.Value(tag=draw(TAGS))
    form = draw(st.sampled_from(["simple_value"] * 4 + ["tensor"] * 4 + ["histo", "image", ""]))
    if form == "simple_value":
        value.simple_value = draw(st.floats(width=32))
    elif form == "tensor":
        value.tensor.CopyFrom(draw(tensors()))
    elif form == "histo":
        value.histo.bucket.extend(draw(st.lists(st.floats(0, 9), max_size=3)))
    elif form == "image":
        value.image.encoded_image_string = draw(st.binary(max_size=5))
    if draw(st.booleans()) or form == "tensor":
        value.metadata.plugin_data.plugin_name = draw(PLUGINS)
    return value


@st.composite
def tensors(draw: st.DrawFn) -> proto.TensorProto:
    number = draw(st.floats(width=16))
    dtype = draw(st.sampled_from([1, 1, 2, 19, 3]))
    message = proto.TensorProto(dtype=dtype)
    form = draw(st.sampled_from(["content", "content", "val", "none"]))
    if form == "content" and dtype in (1, 2, 19):
        message.tensor_content = np.array(number, {1: "<f4", 2: "<f8", 19: "<f2"}[dtype]).tobytes()
    elif form == "val" and dtype == 1:
        message.float_val.append(number)
    elif form == "val" and dtype == 2:
        message.double_val.append(number)
    elif form == "val" and dtype == 3:
        message.int_val.append(draw(st.integers(-5, 5)))
    if draw(st.booleans()):
        message.tensor_shape.SetInParent()
    if draw(st.integers(0, 4)) == 0:
        message.tensor_shape.dim.add(size=draw(st.integers(0, 2)))
    return message


@st.composite
def events(draw: st.DrawFn) -> list[bytes]:
    """Events of one shape, as a loop would log them, and what protobuf may make of odd ones."""
    base = proto.Event(wall_time=draw(TIMES), step=draw(STEPS))
    what = draw(st.sampled_from(["summary"] * 6 + ["none", "graph", "version", "metadata"]))
    if what == "summary":
        base.summary.value.extend(draw(st.lists(values(), max_size=3)))
    elif what == "graph":
        base.graph_def = draw(st.binary(max_size=5))
    elif what == "version":
        base.file_version = "brain.Event:2"
    elif what == "metadata":
        base.tagged_run_metadata.tag = "t"
        base.tagged_run_metadata.run_metadata = draw(st.binary(max_size=5))
    found = []
    for number in range(draw(st.sampled_from([1, 2, 9]))):
        event = proto.Event()
        event.CopyFrom(base)
        event.step = base.step // 2 + number
        for value in event.summary.value:
            if value.HasField("simple_value"):
                value.simple_value += number
            if value.tag.startswith("tag") and number % 3 == 0:
                value.tag = value.tag[:-1] + str(number % 10)
        data = event.SerializeToString()
        odd = draw(st.sampled_from(["", "", "", "unknown", "twice", "reversed"]))
        if odd == "unknown":
            data += b"\x7a\x01x"
        elif odd == "twice":
            data += data
        elif odd == "reversed":
            data = proto.Event(summary=event.summary).SerializeToString() + data[:9]
        found.append(data)
    return found


@st.composite
def damaged(draw: st.DrawFn) -> list[bytes]:
    payloads = draw(streams)
    for _ in range(draw(st.integers(1, 4))):
        which = draw(st.integers(0, len(payloads) - 1))
        data = bytearray(payloads[which])
        if data:
            data[draw(st.integers(0, len(data) - 1))] ^= 1 << draw(st.integers(0, 7))
            payloads[which] = bytes(data)
    return payloads


streams = st.lists(events(), min_size=1, max_size=4).map(
    lambda groups: [data for group in groups for data in group]
)


def read(payloads: list[bytes], size: int) -> tuple[Columns, dict[int, Exception], bytes]:
    data = encode_all(payloads)
    parser, columns = RecordParser(), Columns()
    errors: dict[int, Exception] = {}
    for at in range(0, len(data), size):
        for batch in parser.feed(data[at : at + size]):
            errors.update((error.offset, error) for error in columns.add(batch))
    return columns, errors, data


def check(payloads: list[bytes], size: int) -> None:
    columns, errors, data = read(payloads, size)
    scalars: dict[str, deque[tuple[Any, ...]]] = defaultdict(deque)
    table = columns.scalars()
    for offset, tag, *rest in zip(*(column.tolist() for column in table), strict=True):
        scalars[columns.tags[tag]].append((offset, *rest))
    for tag in columns.tags:  # one tag's columns are those of all tags, filtered
        own = columns.scalars(tag)
        assert [row[0] for row in scalars[tag]] == own.offsets.tolist()
    entries: dict[tuple[str, ...], deque[Entry]] = {
        key: deque(columns.entries(*key)) for key in columns.entry_kinds()
    }
    offset = 0
    for payload in payloads:
        try:
            event = proto.Event.FromString(payload)
        except DecodeError:
            for queue in entries.values():  # seen from outside only; decoding it will tell
                while queue and queue[0].offset == offset:
                    queue.popleft()
            assert not any(queue and queue[0][0] == offset for queue in scalars.values())
        else:
            assert offset not in errors
            expect(event, offset, scalars, entries, data)
        offset += len(payload) + 16
    assert not any(scalars.values())
    assert not any(entries.values())


def expect(event: Any, offset: int, scalars: Any, entries: Any, data: bytes) -> None:
    """Takes what protobuf reads in one event from the front of the queues."""

    def take(tag: str, form: str, name: str) -> bytes:
        entry: Entry = entries[tag, form, name].popleft()
        assert (entry.offset, entry.step) == (offset, event.step)
        assert same(entry.wall_time, event.wall_time)
        return entry.data if entry.data is not None else data[entry.start :][: entry.size]

    what = event.WhichOneof("what")
    if what == "graph_def":
        assert take("", what, "") == event.graph_def
    elif what == "meta_graph_def":
        assert take("", what, "") == event.meta_graph_def
    elif what == "tagged_run_metadata":
        metadata = event.tagged_run_metadata
        assert take(metadata.tag, what, "") == metadata.run_metadata
    for value in event.summary.value:
        form, name = value.WhichOneof("value") or "", value.metadata.plugin_data.plugin_name
        queue, others = scalars[value.tag], entries.get((value.tag, form, name))
        if others and others[0].offset == offset and equal(others[0], value, data):
            assert form != "simple_value"
            take(value.tag, form, name)
        elif form == "simple_value" or (form == "tensor" and name == "scalars"):
            found, step, wall_time, number = queue.popleft()
            assert (found, step) == (offset, event.step)
            assert same(wall_time, event.wall_time)
            plain = form == "simple_value"
            assert same(number, value.simple_value if plain else tensor.from_proto(value.tensor))
        else:
            assert not form
            assert not name


def equal(entry: Entry, value: Any, data: bytes) -> bool:
    stored = entry.data if entry.data is not None else data[entry.start :][: entry.size]
    found = proto.Summary.Value.FromString(stored).SerializeToString(deterministic=True)
    return bool(found == value.SerializeToString(deterministic=True))


def same(left: float, right: Any) -> bool:
    return bool(left == right or (math.isnan(left) and math.isnan(right)))


@settings(max_examples=150, deadline=None)
@given(streams, st.sampled_from([7, 200, 1 << 20]))
def test_columns_are_what_protobuf_reads(payloads: list[bytes], size: int) -> None:
    check(payloads, size)


@settings(max_examples=150, deadline=None)
@given(damaged(), st.sampled_from([200, 1 << 20]))
def test_columns_of_damaged_events_are_what_protobuf_reads(
    payloads: list[bytes], size: int
) -> None:
    check(payloads, size)


@settings(max_examples=150, deadline=None)
@given(st.lists(st.binary(max_size=60), max_size=12))
def test_any_bytes_give_columns_or_errors(payloads: list[bytes]) -> None:
    check(payloads, 1 << 20)


@settings(max_examples=100, deadline=None)
@given(streams, st.lists(st.tuples(st.integers(0), st.integers(0, 7)), max_size=5), st.data())
def test_no_file_makes_the_reader_raise(
    payloads: list[bytes], flips: list[tuple[int, int]], data: st.DataObject
) -> None:
    content = bytearray(encode_all(payloads))
    for position, bit in flips:
        content[position % len(content)] ^= 1 << bit
    store = MemoryStore()
    store.files["logs/tfevents"] = content[: data.draw(st.integers(0, len(content)))]
    with redirect(store):
        run_count = 0
        for run in logdir.read("logs").values():
            run_count += 1
            for kind, tags in run.tags().items():
                for tag in tags if kind != "graphs" else ():
                    series = getattr(run, kind)(tag)
                    assert len(series.steps) == len(series.wall_times) == len(series.values)
            assert all(notice.path == "logs/tfevents" for notice in run.notices)
        assert run_count == 1
        for resync in (False, True):
            list(EventFileReader("logs/tfevents", resync=resync))
