"""Chrome's trace format, for ui.perfetto.dev and chrome://tracing; pure.

Process 0 is the host, with a thread for each of its threads, and others for the NVTX ranges, waits
and overheads of each; every GPU is a process whose threads are its streams. Arrows lead from the
call that launched something to what it launched.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator

import numpy as np

from tfevents.profiler.spans import Rows, chosen, numbers
from tfevents.profiler.timeline import Timeline

__all__ = ["encode"]

_HOST = 0
_BATCH = 1000
"""Events in a part of the text."""


def encode(timeline: Timeline) -> Iterator[str]:
    """The JSON text, in parts. Times are microseconds since the recording began."""
    yield f'{{"displayTimeUnit":"ns","otherData":{{"start_ns":{timeline.start}}},"traceEvents":[\n'
    events, separator = _events(timeline), ""
    while batch := list(itertools.islice(events, _BATCH)):
        yield separator + ",\n".join(batch)
        separator = ",\n"
    yield "\n]}\n"


def _events(timeline: Timeline) -> Iterator[str]:
    yield _called("process_name", _HOST, 0, "host")
    for number, thread in enumerate(timeline.threads):
        yield _called("thread_name", _HOST, number, thread.name)
    for number, line in enumerate(timeline.extra_lines, len(timeline.threads)):
        yield _called("thread_name", _HOST, number, line)
    yield from _host(timeline)
    for number in np.unique(timeline.work["device"]).tolist():
        process = number + 1
        yield _called("process_name", process, 0, f"GPU {number}")
        work = chosen(timeline.work, timeline.work["device"] == number)
        for stream in np.unique(work["stream"]).tolist():
            yield _called("thread_name", process, stream, f"stream {stream}")
        yield from _work(timeline, work, process)


_quoted = json.JSONEncoder().encode


def _called(what: str, process: int, thread: int, name: str) -> str:
    called = f'"args":{{"name":{_quoted(name)}}}'
    return f'{{"ph":"M","name":"{what}","pid":{process},"tid":{thread},{called}}}'


_SPAN_COLUMNS = ("step", "peak", "live", "traced", "resident")


def _host(timeline: Timeline) -> Iterator[str]:
    for *place, thread, marks_step, step, peak, live, traced, resident in numbers(
        timeline.spans, (*_PLACE, "thread", "marks_step", *_SPAN_COLUMNS)
    ):
        more = f'"step":{step}'
        if traced:
            more += f',"peak":{peak},"live":{live},"traced":{traced},"resident":{resident}'
        kind = "step" if marks_step else "span"
        yield _complete(timeline, place, kind, _HOST, thread, more)
    for *place, thread, correlation in numbers(
        timeline.calls, (*_PLACE, "thread", "correlation")
    ):
        more = f'"correlation":{correlation}'
        yield _complete(timeline, place, "cuda", _HOST, thread, more)
    for *place, line in numbers(timeline.extras, (*_PLACE, "line")):
        yield _complete(timeline, place, "extra", _HOST, len(timeline.threads) + line, "")


_KINDS = ("kernel", "memcpy", "memset", "graph")
_WORK_COLUMNS = (
    "stream", "kind", "op", "detail", "correlation", "step", "launched", "launcher",
)


def _work(timeline: Timeline, work: Rows, process: int) -> Iterator[str]:
    names, zero = timeline.names, timeline.start
    for *place, stream, kind, op, detail, correlation, step, launched, launcher in numbers(
        work, (*_PLACE, *_WORK_COLUMNS)
    ):
        more = (
            f'"op":{_quoted(names[op])},"detail":{_quoted(names[detail])},'
            f'"correlation":{correlation},"step":{step}'
        )
        yield _complete(timeline, place, _KINDS[kind], process, stream, more)
        if launched:
            flow = f'"name":"launch","cat":"launch","id":{correlation}'
            begin, end = (launched - zero) / 1000, (place[0] - zero) / 1000
            yield f'{{"ph":"s","pid":{_HOST},"tid":{launcher},"ts":{begin},{flow}}}'
            yield f'{{"ph":"f","bp":"e","pid":{process},"tid":{stream},"ts":{end},{flow}}}'


_PLACE = ("start", "end", "name")


def _complete(
    timeline: Timeline, place: list[int], category: str, process: int, thread: int, more: str
) -> str:
    """An event with a beginning and an end; `place` is these and its name, `more` is JSON."""
    start, end, name = place
    begin, lasts = (start - timeline.start) / 1000, (end - start) / 1000
    return (
        f'{{"ph":"X","name":{_quoted(timeline.names[name])},"cat":"{category}","pid":{process},'
        f'"tid":{thread},"ts":{begin},"dur":{lasts},"args":{{{more}}}}}'
    )
