"""Traces: graphs that are collected between trace_on and trace_export, and written together.

TensorFlow records the graphs of the functions that run meanwhile. Here they are given, as the
`graph` argument of `trace_on`; each call adds one.
"""

from __future__ import annotations

import os
import warnings
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tfevents import _context, plugin
from tfevents._fork import ForkLock
from tfevents.graph import to_graph_def
from tfevents.summary._ops import emit, gate
from tfevents.summary._state import full_tag, strict_step

if TYPE_CHECKING:
    from tfevents.profiler import Recording

__all__ = ["trace_export", "trace_off", "trace_on"]


@dataclass
class _Trace:
    plugin: str
    wants_graph: bool
    graphs: list[bytes] = field(default_factory=list)
    outdir: str | None = None  # where the profile goes, if one runs


_lock = ForkLock()
_trace: _Trace | None = None


def trace_on(
    graph: Any = True, profiler: bool = False, profiler_outdir: str | None = None
) -> None:
    """Begins a trace.

    Args:
        graph: True or False as in TensorFlow, or a graph that the trace shall hold: a GraphDef
            message or an object with `as_graph_def()`. More may be added by further calls. With
            True and a profile, a trace that was given none holds a graph of the spans.
        profiler: record what runs, see `tfevents.profiler`.
        profiler_outdir: the log directory for the Profile tab; as in TensorFlow there is no
            profile without it, but a warning.

    Raises:
        ValueError: `graph` is neither a bool nor a graph.
        RuntimeError: another profile of this process runs.
    """
    global _trace
    if profiler and profiler_outdir is None:
        warnings.warn(
            "No `profiler_outdir` passed to trace_on(). Profiler won't be enabled.", stacklevel=2
        )
    data = None if isinstance(graph, bool) else to_graph_def(graph).SerializeToString()
    outdir = os.fsdecode(profiler_outdir) if profiler and profiler_outdir is not None else None
    with _lock:
        if _trace is not None and data is None:
            warnings.warn("Trace already enabled", stacklevel=2)
            return
        graphs_only = graph is not False and not profiler
        wanted = plugin.GRAPH_RUN_METADATA_GRAPH if graphs_only else plugin.GRAPH_RUN_METADATA
        if _trace is None:
            if outdir is not None:
                from tfevents.profiler import start

                start()
            _trace = _Trace(wanted, wants_graph=graph is not False, outdir=outdir)
        if data is not None:
            _trace.graphs.append(data)


def trace_off() -> None:
    """Ends a trace and drops what it holds; without one nothing happens."""
    global _trace
    with _lock:
        trace, _trace = _trace, None
    if trace is not None and trace.outdir is not None:
        _stop(None)


def _stop(step: int | None) -> Recording | None:
    """Ends the profile of a trace, where it was not ended by itself."""
    from tfevents.profiler import stop

    try:
        return stop(step)
    except RuntimeError:
        return None


def trace_export(name: str, step: Any = None, profiler_outdir: str | None = None) -> None:
    """Writes the graphs and the profile of the trace as one summary, and ends the trace.

    Args:
        name: name of the summary.
        step: monotonic step; by default the one set before.
        profiler_outdir: accepted as in TensorFlow; the one of `trace_on` counts.

    Raises:
        ValueError: there is no trace, or no step (the trace then goes on).
        OSError: the file of the Profile tab cannot be written; the summary was, and the trace
            is over.
    """
    from tfevents.values.tensor import Tensor

    context = _context.state()
    tag = full_tag(name, "graph_run_metadata_graph_summary", context)
    if step is not None:
        strict_step(step, tag)
    with _lock:
        trace = _trace
    if trace is None:
        raise ValueError("Must enable trace before export through tf.summary.trace_on.")
    passed = gate(step, context, tag)
    outdir, recording = trace.outdir, None
    if outdir is not None:
        # TensorFlow takes steps below 0; a profile has none of these, and begins at 0
        recording = _stop(None if passed is None else max(passed[1], 0))
        trace.outdir = None
    if passed is not None:
        writer, step = passed
        value = Tensor.from_data(
            _run_metadata(trace, recording), tag=tag,
            metadata=plugin.metadata(trace.plugin, b"1"),
        )
        emit(writer, tag, value.to_tensor_value, step, nbytes=value.nbytes)
    trace_off()
    if recording is not None and outdir is not None:
        recording.save_xspace(outdir)


def _run_metadata(trace: _Trace, recording: Recording | None) -> bytes:
    from tfevents import proto

    message = proto.RunMetadata() if recording is None else recording.run_metadata()
    graphs = trace.graphs
    if recording is not None and trace.wants_graph and not graphs:
        from tfevents.profiler.step_stats import span_graph

        # the page shows no colours without nodes to colour
        graphs = [span_graph(recording.timeline).SerializeToString()]
    for data in graphs:
        message.partition_graphs.add().ParseFromString(data)
        functions = message.function_graphs.add()
        functions.partition_graphs.add().ParseFromString(data)
        functions.pre_optimization_graph.ParseFromString(data)
        functions.post_optimization_graph.ParseFromString(data)
    return message.SerializeToString()
