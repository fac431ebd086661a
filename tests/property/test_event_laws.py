from __future__ import annotations

import struct

from hypothesis import example, given
from hypothesis import strategies as st

from tfevents import event, plugin, proto

# Around the lengths where one more byte is needed to say them.
LENGTHS = st.sampled_from(
    [0, 1, *range(100, 130), 255, 300, *range(16330, 16390)]
)
TEXTS = st.text(max_size=40) | st.builds(lambda n, c: c * n, LENGTHS, st.sampled_from("aé猫🐈\0"))
STEPS = st.integers(-(1 << 63), (1 << 63) - 1) | st.sampled_from([0, 127, 128, 16383, 16384, -1])
TIMES = st.floats() | st.sampled_from([0.0, -0.0, 1.7e9])
SINGLES = st.floats(width=32) | st.just(-0.0)
WHAT = st.sampled_from(["graph_def", "meta_graph_def"])


def envelope(wall_time: float, step: int) -> proto.Event:
    return proto.Event(wall_time=wall_time, step=step)


@given(TEXTS, TIMES, STEPS, SINGLES)
@example("", -0.0, 0, 0.0)
@example("a", float("nan"), -1, float("nan"))
@example("a", 1.0, 1, 1e-45)
@example("a", 1.0, 1, float("-inf"))
def test_simple_scalars_are_protobufs_own_bytes(
    tag: str, wall_time: float, step: int, value: float
) -> None:
    message = envelope(wall_time, step)
    message.summary.value.add(tag=tag, simple_value=value)
    wanted = message.SerializeToString(deterministic=True)
    assert event.simple_scalar_encoder(tag)(wall_time, step, value) == wanted


@given(TEXTS, TIMES, STEPS, SINGLES, TEXTS, TEXTS)
@example("", -0.0, 0, 0.0, "", "")
def test_tensor_scalars_are_protobufs_own_bytes(
    tag: str, wall_time: float, step: int, value: float, description: str, display_name: str
) -> None:
    encode = event.tensor_scalar_encoder(tag, description=description, display_name=display_name)
    message = envelope(wall_time, step)
    made = message.summary.value.add(tag=tag)
    made.tensor.dtype = 1
    made.tensor.tensor_shape.SetInParent()
    made.tensor.tensor_content = struct.pack("<f", value)
    made.metadata.plugin_data.plugin_name = "scalars"
    made.metadata.summary_description = description
    made.metadata.display_name = display_name
    assert encode(wall_time, step, value) == message.SerializeToString(deterministic=True)


@given(TEXTS, TIMES, STEPS, st.floats())
def test_double_scalars_are_protobufs_own_bytes(
    tag: str, wall_time: float, step: int, value: float
) -> None:
    message = envelope(wall_time, step)
    made = message.summary.value.add(tag=tag)
    made.tensor.dtype = 2
    made.tensor.tensor_shape.SetInParent()
    made.tensor.tensor_content = struct.pack("<d", value)
    made.metadata.plugin_data.plugin_name = plugin.SCALARS
    made.metadata.data_class = 1
    wanted = message.SerializeToString(deterministic=True)
    assert event.tensor_scalar_encoder(tag, double=True)(wall_time, step, value) == wanted


@given(TIMES, TEXTS)
def test_headers_are_protobufs_own_bytes(wall_time: float, writer: str) -> None:
    message = proto.Event(wall_time=wall_time, file_version="brain.Event:2")
    message.source_metadata.SetInParent()
    message.source_metadata.writer = writer
    assert event.encode_version(wall_time, writer) == message.SerializeToString(deterministic=True)


@given(WHAT, TIMES, STEPS, st.binary(max_size=40) | st.builds(bytes, LENGTHS))
def test_fields_are_protobufs_own_bytes(
    what: str, wall_time: float, step: int, payload: bytes
) -> None:
    message = envelope(wall_time, step)
    setattr(message, what, payload)
    wanted = message.SerializeToString(deterministic=True)
    assert event.encoder(what)(wall_time, step, payload) == wanted


@given(TIMES, STEPS, st.lists(st.tuples(TEXTS, SINGLES), max_size=5))
def test_summaries_are_protobufs_own_bytes(
    wall_time: float, step: int, values: list[tuple[str, float]]
) -> None:
    message = envelope(wall_time, step)
    message.summary.SetInParent()
    for tag, value in values:
        message.summary.value.add(tag=tag, simple_value=value)
    parts = [
        (tag, lambda tag, value=value: proto.Summary.Value(tag=tag, simple_value=value))
        for tag, value in values
    ]
    wanted = message.SerializeToString(deterministic=True)
    assert event.encode_values(wall_time, step, parts) == wanted
