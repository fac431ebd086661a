"""Chrome's trace format, for ui.perfetto.dev and chrome://tracing; pure.

Process 0 is the host, with a thread for each of its threads, and others for the NVTX ranges, waits
and overheads of each; every GPU is a process whose threads are its streams. Arrows lead from the
call that launched something to what it launched.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import numpy as np

from tfevents.profiler.spans import Rows
from tfevents.profiler.timeline import Timeline

__all__ = ["encode"]

_HOST = 0


def encode(timeline: Timeline) -> Iterator[str]:
    """The JSON text, in parts. Times are microseconds since the recording began."""
    head = {"displayTimeUnit": "ns", "otherData": {"start_ns": timeline.start}}
    yield json.dumps(head)[:-1] + ', "traceEvents": [\n'
    separator = ""
    for event in _events(timeline):
        yield separator + json.dumps(event)
        separator = ",\n"
    yield "\n]}\n"


def _events(timeline: Timeline) -> Iterator[dict[str, Any]]:
    yield _called("process_name", _HOST, 0, "host")
    for number, thread in enumerate(timeline.threads):
        yield _called("thread_name", _HOST, number, thread.name)
    for number, line in enumerate(timeline.extra_lines, len(timeline.threads)):
        yield _called("thread_name", _HOST, number, line)
    yield from _spans(timeline)
    for number in np.unique(timeline.work["device"]).tolist():
        process = number + 1
        yield _called("process_name", process, 0, f"GPU {number}")
        work = timeline.work[timeline.work["device"] == number]
        for stream in np.unique(work["stream"]).tolist():
            yield _called("thread_name", process, stream, f"stream {stream}")
        yield from _work(timeline, work, process)


def _called(what: str, process: int, thread: int, name: str) -> dict[str, Any]:
    return {"ph": "M", "name": what, "pid": process, "tid": thread, "args": {"name": name}}


def _spans(timeline: Timeline) -> Iterator[dict[str, Any]]:
    for row in timeline.spans:
        arguments: dict[str, Any] = {"step": int(row["step"])}
        if row["traced"]:
            arguments |= {name: int(row[name]) for name in ("peak", "live", "traced", "resident")}
        kind = "step" if row["marks_step"] else "span"
        yield _complete(timeline, row, kind, _HOST, int(row["thread"]), arguments)
    for row in timeline.calls:
        arguments = {"correlation": int(row["correlation"])}
        yield _complete(timeline, row, "cuda", _HOST, int(row["thread"]), arguments)
    for row in timeline.extras:
        number = len(timeline.threads) + int(row["line"])
        yield _complete(timeline, row, "extra", _HOST, number, {})


_KINDS = ("kernel", "memcpy", "memset", "graph")


def _work(timeline: Timeline, work: Rows, process: int) -> Iterator[dict[str, Any]]:
    for row in work:
        correlation, stream = int(row["correlation"]), int(row["stream"])
        arguments = {
            "op": timeline.names[row["op"]], "detail": timeline.names[row["detail"]],
            "correlation": correlation, "step": int(row["step"]),
        }
        yield _complete(timeline, row, _KINDS[row["kind"]], process, stream, arguments)
        if row["launched"]:
            flow = {"name": "launch", "cat": "launch", "id": correlation}
            yield flow | {
                "ph": "s", "pid": _HOST, "tid": int(row["launcher"]),
                "ts": _micros(row["launched"] - timeline.start),
            }
            yield flow | {
                "ph": "f", "bp": "e", "pid": process, "tid": stream,
                "ts": _micros(row["start"] - timeline.start),
            }


def _complete(
    timeline: Timeline, row: Any, category: str, process: int, thread: int,
    arguments: dict[str, Any],
) -> dict[str, Any]:
    return {
        "ph": "X", "name": timeline.names[row["name"]], "cat": category, "pid": process,
        "tid": thread, "ts": _micros(row["start"] - timeline.start),
        "dur": _micros(row["end"] - row["start"]), "args": arguments,
    }


def _micros(nanoseconds: Any) -> float:
    return int(nanoseconds) / 1000
