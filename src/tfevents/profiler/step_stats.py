"""RunMetadata: what TensorBoard's GRAPHS tab colours nodes by, and TensorFlow's timeline reads.

The GRAPHS tab looks only at devices whose name ends in ".../device:CPU:0" and the like, and takes
for a node the time from its first start to its last end; so there each op has one entry, which
lasts as long as all its executions together. Beside these stand TensorFlow's devices of streams,
copies and host threads, with an entry for each execution.

Format: tensorflow/core/framework/step_stats.proto.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from tfevents.profiler.spans import Rows, chosen
from tfevents.profiler.timeline import COPY, Timeline

if TYPE_CHECKING:
    from tfevents import proto

__all__ = ["DETAIL", "run_metadata", "span_graph"]

DETAIL = 5_000
"""Executions that are listed one by one for each device; a browser gets all of this as text."""

_TASK = "/job:localhost/replica:0/task:0"


def run_metadata(
    timeline: Timeline, step: int | None = None, *, detail: int = DETAIL
) -> proto.RunMetadata:
    """What ran, where, for how long, and with how much memory.

    Args:
        timeline: a recording.
        step: only what belongs to this step; None for everything.
        detail: executions that are listed one by one for each device, the first ones; the totals
            of ops are of all.
    """
    from tfevents import proto

    metadata = proto.RunMetadata()
    stats = metadata.step_stats
    spans, work = _of_step(timeline.spans, step), _of_step(timeline.work, step)
    spans = chosen(spans, ~spans["marks_step"])
    _host_totals(stats, timeline, spans)
    for device in np.unique(work["device"]).tolist():
        ours = chosen(work, work["device"] == device)
        _gpu_totals(stats, timeline, ours, device, step)
        _streams(stats, timeline, ours, device, detail)
    _threads(stats, timeline, spans[:detail])
    return metadata


def span_graph(timeline: Timeline) -> proto.GraphDef:
    """A graph for the page where there is no other: a node for each name of a span, no edges.

    A slash in a name makes a scope. A name with an empty part ("/x") is left out: the page fails on
    a graph that has it.
    """
    from tfevents import proto
    from tfevents.graph import PRODUCER

    graph = proto.GraphDef()
    graph.versions.producer = PRODUCER
    spans = timeline.spans[~timeline.spans["marks_step"]]
    numbers, first = np.unique(spans["name"], return_index=True)
    for number in numbers[np.argsort(first)].tolist():
        parts = timeline.names[number].split("/")
        if "" not in parts:
            graph.node.add(name=timeline.names[number], op=parts[-1])
    return graph


def _of_step(rows: Rows, step: int | None) -> Rows:
    return rows if step is None else chosen(rows, rows["step"] == step)


# Totals of ops -----------------------------------------------------------------------------------


def _groups(rows: Rows, key: Any) -> Iterator[tuple[int, int, int]]:
    """Key, first start and summed duration of the rows with one key, in order of start."""
    keys, inverse = np.unique(key, return_inverse=True)
    first = np.full(len(keys), np.iinfo(np.int64).max)
    np.minimum.at(first, inverse, rows["start"])
    total = np.zeros(len(keys), np.int64)
    np.add.at(total, inverse, rows["end"] - rows["start"])
    for index in np.argsort(first, kind="stable"):
        yield int(keys[index]), int(first[index]), int(total[index])


def _host_totals(stats: proto.StepStats, timeline: Timeline, spans: Rows) -> None:
    if not len(spans):
        return
    device = stats.dev_stats.add(device=f"{_TASK}/device:CPU:0")
    memory = {}
    for name in np.unique(spans["name"]) if spans["traced"].any() else ():
        own = spans[spans["name"] == name]
        memory[int(name)] = (
            int(own["peak"].max()), int(own["live"].sum()), int(own["traced"][-1]),
            int(own["resident"].max()),
        )
    for name, start, total in _groups(spans, spans["name"]):
        node = _add(device, timeline.names[name], start, total)
        if name in memory:
            peak, live, traced, resident = memory[name]
            node.memory.add(
                allocator_name="python", total_bytes=peak, peak_bytes=peak, live_bytes=live,
                allocator_bytes_in_use=traced,
            )
            if resident:
                node.memory.add(allocator_name="process", allocator_bytes_in_use=resident)


def _gpu_totals(
    stats: proto.StepStats, timeline: Timeline, work: Rows, number: int, step: int | None
) -> None:
    device = stats.dev_stats.add(device=f"{_TASK}/device:GPU:{number}")
    allocations = _of_step(timeline.allocations, step)
    allocations = allocations[allocations["device"] == number]
    op = np.where(work["op"] > 0, work["op"], work["name"])
    for name, start, total in _groups(work, op):
        node = _add(device, timeline.names[name], start, total)
        own = allocations["bytes"][allocations["op"] == name]
        if len(own):
            taken = int(own[own > 0].sum())
            node.memory.add(
                allocator_name=f"gpu_{number}", total_bytes=taken, live_bytes=int(own.sum())
            )


# Every execution ---------------------------------------------------------------------------------


def _streams(
    stats: proto.StepStats, timeline: Timeline, work: Rows, number: int, detail: int
) -> None:
    """TensorFlow's devices of one GPU: all streams, each stream, and all copies."""
    work = work[:detail]
    prefix = f"/device:GPU:{number}"
    streams = np.unique(work["stream"]).tolist()
    chosen = [(f"{prefix}/stream:all", work)]
    chosen += [(f"{prefix}/stream:{n}", work[work["stream"] == n]) for n in streams]
    copies = work[work["kind"] == COPY]
    if len(copies):
        chosen.append((f"{prefix}/memcpy", copies))
    for name, rows in chosen:
        device = stats.dev_stats.add(device=name)
        for row in rows:
            _add_work(device, timeline, row)


def _add_work(device: proto.DeviceStepStats, timeline: Timeline, row: Any) -> None:
    names = timeline.names
    name, op, detail = names[row["name"]], names[row["op"]], names[row["detail"]]
    node = _add(device, op or name, int(row["start"]), int(row["end"] - row["start"]))
    if row["kind"] == COPY:
        # What TensorFlow's timeline takes the kind of copy from
        kind = name.removeprefix("Memcpy").replace("2", "to")
        node.node_name = f"{op or 'unknown'}:MEMCPY{kind}"
        node.timeline_label = f"MEMCPY{kind} {row['bytes']} bytes ({detail})"
    else:
        node.timeline_label = f"{name} {detail}@@{op}"
    if row["launched"]:
        node.scheduled_micros = int(row["launched"]) // 1000
        node.scheduled_nanos = int(row["launched"])
    node.thread_id = max(int(row["launcher"]), 0)


def _threads(stats: proto.StepStats, timeline: Timeline, spans: Rows) -> None:
    if not len(spans):
        return
    device = stats.dev_stats.add(device="/host:CPU")
    for number in np.unique(spans["thread"]).tolist():
        device.thread_names[number] = timeline.threads[number].name
    for row in spans:
        name = timeline.names[row["name"]]
        node = _add(device, name, int(row["start"]), int(row["end"] - row["start"]))
        node.timeline_label = f"{name} = {name.rsplit('/', 1)[-1]}()"
        node.thread_id = int(row["thread"])


def _add(
    device: proto.DeviceStepStats, name: str, start: int, duration: int
) -> proto.NodeExecStats:
    """Adds an execution; times are nanoseconds. One of no microsecond would not be shown."""
    micros = max(round(duration / 1000), 1)
    return device.node_stats.add(
        node_name=name, all_start_micros=start // 1000, op_end_rel_micros=micros,
        all_end_rel_micros=micros, all_start_nanos=start, op_end_rel_nanos=duration,
        all_end_rel_nanos=duration,
    )
