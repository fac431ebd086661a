"""`profile`: a block that is recorded and, when it ends, written."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tfevents.profiler import _output, _session, chrome, host, step_stats, timeline, xspace

if TYPE_CHECKING:
    from types import TracebackType

    from typing_extensions import Self

    from tfevents import proto
    from tfevents._types import PathLike

__all__ = ["Recording", "profile", "start", "stop"]

SPANS = "spans"
"""Asks for a graph of the spans themselves."""


class Recording:
    """What was recorded, in every form.

    Attributes:
        timeline: host and GPU on one time axis.
        gpu_reason: why there is no GPU activity in it, "" if there is or nobody asked.
    """

    def __init__(self, recorded: _session.Recorded, step: int | None = None) -> None:
        self.timeline = timeline.join(recorded.host, recorded.gpu, step)
        self.gpu_reason = recorded.reason

    def run_metadata(self, step: int | None = None) -> proto.RunMetadata:
        """Time and memory by op: of one step, or of everything."""
        return step_stats.run_metadata(self.timeline, step)

    def save_run_metadata(
        self, target: Any, tag: str | None = None, graph: Any = None
    ) -> None:
        """Writes a RunMetadata for each step to a writer or log directory.

        Args:
            target: a writer, or the path or URL of a log directory.
            tag: name in the GRAPHS tab, "step 10" by default; of several steps each gets its
                number appended.
            graph: as of `profile`.
        """
        steps, shown = self.timeline.steps(), _graph_def(graph)
        if shown == SPANS:
            shown = step_stats.span_graph(self.timeline)
        _output.write_events(
            target,
            (
                _output.event_of(self.run_metadata(step), _tag(tag, step, len(steps)), step, shown)
                for step in steps
            ),
        )

    def save_xspace(self, logdir: PathLike, session: str | None = None) -> str:
        """Writes the file of the Profile tab below a log directory; returns its path.

        No file is ever replaced: of a session that is there the file gets another name.
        """
        machine = _output.host_name()
        return _output.write_xspace(logdir, lambda: xspace.encode(self.timeline, machine), session)

    def save_chrome(self, path: PathLike) -> str:
        """Writes a trace for Perfetto or Chrome, compressed if the name ends in ".gz"."""
        return _output.write_chrome(path, chrome.encode(self.timeline))


def _tag(tag: str | None, step: int, count: int) -> str:
    if tag is None:
        return f"step {step}"
    return tag if count == 1 else f"{tag} {step}"


def start(
    *, gpu: bool | str | _session.Gpu = "auto", memory: bool = False,
    max_spans: int = host.MAX_SPANS,
) -> None:
    """Begins to record, until `stop`; arguments as of `profile`.

    Raises:
        RuntimeError: a profile of this process runs already.
    """
    _session.start(gpu=gpu, memory=memory, max_spans=max_spans)


def stop(step: int | None = None) -> Recording | None:
    """Ends what `start` began; None in a process that was forked meanwhile.

    Args:
        step: number of the step, if no steps were marked.

    Raises:
        TypeError, ValueError: `step` is no step; the profile goes on.
        RuntimeError: no profile runs.
    """
    number = None if step is None else host.step_number(step)
    recorded = _session.stop()
    return None if recorded is None else Recording(recorded, number)


class profile:  # noqa: N801 - used like a function
    """Records what runs in a block, and writes it when the block ends, also by an exception.

    Written are, to the run: a RunMetadata for each step, by which the GRAPHS tab colours the graph;
    and below its directory `plugins/profile/<session>/<host>.xplane.pb` for the Profile tab.

    Args:
        target: a writer (SummaryWriter, RunWriter, a FileWriter, a writer of tf.summary; also those
            of torch and tensorboardX), or the path or URL of a log directory, which gets an event
            file of its own.
        step: number of the step, if the block marks none itself with `profile.step(n)`.
        tag: name in the GRAPHS tab, "step 10" by default.
        graph: a GraphDef to show with it, or "spans" for a graph of the names of the spans; by
            default the graph that the run has is coloured, and without one the tab shows nothing.
        gpu: "auto" records GPUs where an NVIDIA driver seems to be there; True does so anywhere,
            False nowhere. Where it cannot be done one warning says why, and the rest is recorded.
            A `cupti.GpuSession` of your own sets its limits.
        memory: record allocations of Python (tracemalloc) and the resident size. This makes
            everything several times slower.
        chrome: file for a trace that Perfetto and Chrome show; compressed if it ends in ".gz".
        xspace: whether to write the file of the Profile tab.
        session: name of the profile in the Profile tab, by default the time. Processes and
            hosts that give the same name are shown together.
        max_spans: host spans kept; later ones are counted only.

    Raises:
        TypeError, ValueError: an argument is none of these.
        RuntimeError: when the block begins, if another profile of this process runs.
    """

    def __init__(
        self, target: Any, *, step: int | None = None, tag: str | None = None,
        graph: Any = None, gpu: bool | str | _session.Gpu = "auto", memory: bool = False,
        chrome: PathLike | None = None, xspace: bool = True, session: str | None = None,
        max_spans: int = host.MAX_SPANS,
    ) -> None:
        _output.check_target(target)
        self._target = target
        self._number = None if step is None else host.step_number(step)
        for what, text in (("tag", tag), ("session's name", session)):
            if text is not None and not isinstance(text, str):
                raise TypeError(f"a {what} must be a str, got {type(text).__name__}")
            (text or "").encode()  # no event could carry what UTF-8 cannot, and no page show it
        if session is not None and (session in ("", ".", "..") or set(session) & set("/\\\0")):
            raise ValueError(f"a session's name is one part of a path, got {session!r}")
        self._tag, self._graph, self._name = tag, _graph_def(graph), session
        self._chrome = None if chrome is None else os.fsdecode(chrome)
        self._xspace = xspace
        self._session = _session.Session(gpu=gpu, memory=memory, max_spans=max_spans)
        self.recording: Recording | None = None

    @staticmethod
    def step(number: int, name: str = "step") -> host.step:
        """Marks a block as a training step of the profile that runs; does nothing without one."""
        return host.step(number, name)

    def __enter__(self) -> Self:
        self._session.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        recorded = self._session.stop()
        if recorded is None:
            return
        failures: list[Exception] = []
        self.recording = made = Recording(recorded, self._number)
        for save in self._outputs(made):
            _attempt(save, failures)
        for failed in failures if error is not None else failures[1:]:
            _session.warn(f"a part of the profile was not written: {failed}")
        if failures and error is None:
            raise failures[0]

    def _outputs(self, made: Recording) -> list[Callable[[], object]]:
        target, chrome = self._target, self._chrome
        saves: list[Callable[[], object]] = [
            lambda: made.save_run_metadata(target, self._tag, self._graph)
        ]
        logdir = _output.logdir_of(target)
        if self._xspace and logdir is not None:
            saves.append(lambda: made.save_xspace(logdir, self._name))
        if chrome is not None:
            saves.append(lambda: made.save_chrome(chrome))
        return saves


def _attempt(save: Callable[[], object], failures: list[Exception]) -> None:
    """Saves, and notes a failure: the other outputs are written all the same."""
    try:
        save()
    except Exception as failure:
        failures.append(failure)


def _graph_def(graph: Any) -> Any:
    if isinstance(graph, str) and graph != SPANS:
        raise ValueError(f"graph must be a GraphDef or {SPANS!r}, got {graph!r}")
    if graph is None or isinstance(graph, str):
        return graph
    from tfevents import proto

    build = getattr(graph, "build", None) or getattr(graph, "as_graph_def", None)
    return proto.coerce("GraphDef", graph if build is None else build())
