"""What TensorFlow 2.21's v1 FileWriter wrote, and raised, for the same calls."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tfevents import proto, read_events
from tfevents.compat.v1 import summary

GOLDEN = Path(__file__).parents[1] / "golden" / "golden.jsonl"


def rows(call: str) -> dict[str, dict[str, Any]]:
    with GOLDEN.open(encoding="utf-8") as lines:
        found = [row for row in map(json.loads, lines) if row["call"] == call]
    return {row["id"].split("/", 1)[1]: row["result"] for row in found}


def one(value: float = 1.0, *, named: bool = False) -> proto.Summary:
    made = proto.Summary.Value(tag="a", simple_value=value)
    if named:
        made.metadata.display_name = "dn"
    return proto.Summary(value=[made])


def repeated(writer: summary.FileWriter) -> None:
    writer.add_summary(one(named=True), 1)
    writer.add_summary(one(named=True), 2)


def after_plain(writer: summary.FileWriter) -> None:
    writer.add_summary(one(), 1)
    writer.add_summary(one(named=True), 2)


def two_values(writer: summary.FileWriter) -> None:
    writer.add_summary(proto.Summary(value=[one().value[0], one(2.0, named=True).value[0]]), 1)


def untouched_events(writer: summary.FileWriter) -> None:
    for _ in range(2):
        writer.add_event(proto.Event(step=9, summary=one(named=True)))


def run_metadata_twice(writer: summary.FileWriter) -> None:
    writer.add_run_metadata(proto.RunMetadata(), "t", 1)
    writer.add_run_metadata(proto.RunMetadata(), "t", 2)


CALLS: dict[str, Callable[[summary.FileWriter], None]] = {
    "dup_tag_metadata_stripped": repeated,
    "metadata_after_plain_is_stripped": after_plain,
    "two_values_one_tag": two_values,
    "bytes_and_no_step": lambda writer: writer.add_summary(one().SerializeToString()),
    "float_step_truncated": lambda writer: writer.add_summary(one(), 4.9),
    "add_event_untouched": untouched_events,
    "session_log": lambda writer: writer.add_session_log(proto.SessionLog(status=1), 6),
    "run_metadata_dup": run_metadata_twice,
    "graph_def": lambda writer: writer.add_graph(
        proto.GraphDef(node=[proto.NodeDef(name="n", op="NoOp")]), 10
    ),
    "graph_none": lambda writer: writer.add_graph(None),
    "meta_graph_bad": lambda writer: writer.add_meta_graph("x"),  # type: ignore[arg-type]
    "bad_bytes": lambda writer: writer.add_summary(b"\xff"),
}
ERRORS = {"ValueError": ValueError, "TypeError": TypeError, "DecodeError": ValueError}


def decoded(event: proto.Event) -> dict[str, Any]:
    what = event.WhichOneof("what")
    result: dict[str, Any] = {"what": what, "step": event.step}
    if what == "summary":
        result["values"] = [decoded_value(value) for value in event.summary.value]
    elif what == "session_log":
        result["status"] = event.session_log.status
    elif what == "tagged_run_metadata":
        result["tag"] = event.tagged_run_metadata.tag
    elif what == "graph_def":
        nodes = proto.GraphDef.FromString(event.graph_def).node
        result["nodes"] = [[node.name, node.op, list(node.input)] for node in nodes]
    return result


def decoded_value(value: proto.Summary.Value) -> dict[str, Any]:
    result: dict[str, Any] = {
        "tag": value.tag, "kind": value.WhichOneof("value"), "simple_value": value.simple_value,
        "has_metadata": value.HasField("metadata"),
    }
    if value.HasField("metadata"):
        metadata = value.metadata
        result |= {
            "data_class": proto.DataClass.Name(metadata.data_class).removeprefix("DATA_CLASS_"),
            "description": metadata.summary_description,
            "display_name": metadata.display_name,
            "plugin_content": metadata.plugin_data.content.decode(),
            "plugin_name": metadata.plugin_data.plugin_name,
        }
    return result


def test_every_golden_call_is_made_here() -> None:
    assert set(rows("v1_FileWriter")) == set(CALLS)


@pytest.mark.parametrize("name", CALLS)
def test_events_are_tensorflows(name: str, tmp_path: Path) -> None:
    expected = rows("v1_FileWriter")[name]
    with summary.FileWriter(tmp_path) as writer:
        if error := expected.get("exception"):
            with pytest.raises(ERRORS[error["type"]]) as caught:
                CALLS[name](writer)
            if error["type"] != "DecodeError":
                assert str(caught.value).startswith(error["message"])
        else:
            CALLS[name](writer)
    events = [event for file in tmp_path.iterdir() for event in read_events(file)]
    assert [decoded(event) for event in events[1:]] == expected["events"]
