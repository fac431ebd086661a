"""Finds what a test asks for in a log, and says well what is missing.

Everything here fails with AssertionError, since in a test a missing tag is a failed expectation.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tfevents import store
from tfevents._near import did_you_mean
from tfevents._scheduler import scheduler
from tfevents.async_writer import AsyncWriter
from tfevents.kinds import SERIES, checked
from tfevents.logdir import KINDS, LogDir, Run
from tfevents.testing import _texts
from tfevents.testing._texts import LoggedSeries

if TYPE_CHECKING:
    from tfevents import proto
    from tfevents._types import PathLike

__all__ = ["LogAccess"]

_TORCH_TEXT = "/text_summary"  # torch and tensorboardX append it to the tag of a text


class LogAccess:
    """Runs, tags and series of a log that may still grow; our own writers are flushed first.

    Where `run` is not given, the tag has to be in exactly one run.
    """

    def __init__(self, path: PathLike) -> None:
        name = os.fsdecode(path)
        #: A pathlib.Path; of a URL a str.
        self.path: Any = name if "://" in name else Path(name)
        self._log: LogDir | None = None

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {str(self.path)!r}>"

    # -- plain access

    @property
    def runs(self) -> dict[str, Run]:
        """The runs by name; that of the directory itself is "."."""
        return self._logdir().runs

    def tags(self, *, run: str | None = None) -> dict[str, list[str]]:
        """The tags of each of `tfevents.logdir.KINDS`, sorted, of one run or of all."""
        __tracebackhide__ = True
        found: dict[str, set[str]] = {kind: set() for kind in KINDS}
        for each in self._candidates(run):
            for kind, tags in each.tags().items():
                found[kind].update(tags)
        return {kind: sorted(tags) for kind, tags in found.items()}

    def scalars(
        self, tag: str, *, run: str | None = None, order: str = "file", keep: str = "all"
    ) -> LoggedSeries:
        """A series of numbers; `values` is a float64 array."""
        __tracebackhide__ = True
        return self._series("scalars", tag, run, order=order, keep=keep)[1]

    def images(self, tag: str, *, run: str | None = None) -> LoggedSeries:
        """A series of `tfevents.values.image.Image`; `.arrays()` gives uint8 [h, w, c]."""
        __tracebackhide__ = True
        return self._series("images", tag, run)[1]

    def audio(self, tag: str, *, run: str | None = None) -> LoggedSeries:
        """A series of `tfevents.values.audio.Audio`; `.samples()` gives (int16 [t, c], Hz)."""
        __tracebackhide__ = True
        return self._series("audio", tag, run)[1]

    def histograms(self, tag: str, *, run: str | None = None) -> LoggedSeries:
        """A series of `tfevents.values.histogram.Histogram`."""
        __tracebackhide__ = True
        return self._series("histograms", tag, run)[1]

    def texts(self, tag: str, *, run: str | None = None) -> LoggedSeries:
        """A series of `tfevents.values.text.Text`; torch's "/text_summary" may be left out."""
        __tracebackhide__ = True
        return self._series("texts", tag, run)[1]

    def tensors(self, tag: str, *, run: str | None = None) -> LoggedSeries:
        """A series of `tfevents.values.tensor.Tensor`."""
        __tracebackhide__ = True
        return self._series("tensors", tag, run)[1]

    def pr_curves(self, tag: str, *, run: str | None = None) -> LoggedSeries:
        """A series of `tfevents.values.pr_curve.PrCurve`."""
        __tracebackhide__ = True
        return self._series("pr_curves", tag, run)[1]

    def meshes(self, tag: str, *, run: str | None = None) -> LoggedSeries:
        """A series of `tfevents.values.mesh.Mesh`."""
        __tracebackhide__ = True
        return self._series("meshes", tag, run)[1]

    def custom_scalars(self, tag: str, *, run: str | None = None) -> LoggedSeries:
        """A series of `tfevents.values.custom_scalars.CustomScalars`."""
        __tracebackhide__ = True
        return self._series("custom_scalars", tag, run)[1]

    def run_metadata(self, tag: str, *, run: str | None = None) -> LoggedSeries:
        """A series of RunMetadata messages."""
        __tracebackhide__ = True
        return self._series("run_metadata", tag, run)[1]

    def graph(self, *, run: str | None = None) -> proto.GraphDef:
        """The graph of a run."""
        __tracebackhide__ = True
        found = [each for each in self._candidates(run) if each.tags()["graphs"]]
        return self._only(found, "a graph").graph()

    def hparams(self, *, run: str | None = None) -> dict[str, Any]:
        """The hyperparameters of a run by name."""
        __tracebackhide__ = True
        found: list[tuple[Run, dict[str, Any]]] = []
        for each in self._candidates(run):
            values = [
                value
                for tag in each.tags()["hparams"]
                for value in each.hparams(tag).values
                if value.start is not None
            ]
            if values:
                found.append((each, dict(values[-1].hparams)))
        chosen = self._only([each for each, _ in found], "hyperparameters")
        return next(values for each, values in found if each is chosen)

    def describe(self, limit: int = 12) -> str:
        """Runs, tags and the ends of scalar series, at most `limit` tags of each of 5 runs."""
        log = self._logdir()
        if not log:
            return self._nothing(log)
        lines = [line for run in list(log.values())[:5] for line in _texts.run_lines(run, limit)]
        if len(log) > 5:
            lines.append(f"… {len(log)} runs in all: {_texts.quoted(log)}")
        return "\n".join([*lines, *_texts.notices(log.notices)])

    # -- finding

    def _logdir(self) -> LogDir:
        """What is there now."""
        self._flush()
        if self._log is None:
            place, path = store.open_store(self.path)
            self._log = LogDir(place, path, strict=False, executor=None)
        return self._log.reload()

    def _flush(self) -> None:
        """Flushes the writers of this process. Faults elsewhere are not this log's business."""
        for client in scheduler.clients():
            if isinstance(client, AsyncWriter):
                try:
                    client.flush()
                except OSError as error:
                    if self._is_mine(error.filename):
                        raise

    def _is_mine(self, path: object) -> bool:
        """Whether a file belongs to this log; errors do not always name one."""
        own, other = os.path.abspath(str(self.path)), os.path.abspath(str(path))
        return path is None or other == own or other.startswith(own + os.sep)

    def _place(self) -> str:
        """The log, in the middle of a sentence."""
        return str(self.path)

    def _named(self, log: LogDir, name: str) -> Run | None:
        return log.runs.get(name)

    def _candidates(self, run: str | None) -> list[Run]:
        """The runs in which to look."""
        __tracebackhide__ = True
        log = self._logdir()
        if run is None:
            return list(log.values())
        found = self._named(log, run)
        if found is None:
            runs = f"runs: {_texts.quoted(log)}" if log else self._nothing(log)
            raise self._failure([f"no run {run!r}{did_you_mean(run, log)}", runs])
        return [found]

    def _only(self, found: list[Run], what: str) -> Run:
        __tracebackhide__ = True
        if len(found) == 1:
            return found[0]
        names = [each.name for each in found]
        if found:
            raise self._failure(
                [f"{what} in {len(found)} runs: {_texts.quoted(names)}; say which, with run="]
            )
        raise self._failure([f"no run has {what}", *self._overview()])

    def _series(
        self, kind: str, tag: str, run: str | None, **arrangement: str
    ) -> tuple[Run, LoggedSeries]:
        """A series, and the run in which it is."""
        __tracebackhide__ = True
        checked(kind, SERIES)
        candidates = self._candidates(run)
        spellings = [tag, tag + _TORCH_TEXT] if kind == "texts" else [tag]
        for name in spellings:
            holders = [each for each in candidates if name in each.tags()[kind]]
            if holders:
                holder = self._only(holders, f"{_texts.singular(kind)} tag {name!r}")
                found = getattr(holder, kind)(name, **arrangement)
                series = LoggedSeries(found.tag, found.steps, found.wall_times, found.values)
                return holder, series
        raise self._missing(kind, tag, candidates)

    def _any_kind(self, tag: str, run: str | None) -> str:
        """The kind of a tag."""
        __tracebackhide__ = True
        candidates = self._candidates(run)
        kinds = [
            kind for kind in SERIES if any(tag in each.tags()[kind] for each in candidates)
        ]
        if not kinds:
            raise self._missing("", tag, candidates)
        return kinds[0]

    # -- failing

    def _failure(self, lines: Iterable[str], runs: Iterable[Run] = ()) -> AssertionError:
        told = _texts.notices(notice for run in runs for notice in run.notices)
        return AssertionError("\n".join([*lines, *told]))

    def _missing(self, kind: str, tag: str, candidates: list[Run]) -> AssertionError:
        kinds = [kind] if kind else list(SERIES)
        known = {name for run in candidates for each in kinds for name in run.tags()[each]}
        where = f" in run {candidates[0].name!r}" if len(candidates) == 1 else ""
        noun = f"{_texts.singular(kind)} tag" if kind else "tag"
        others = [other for other in KINDS if any(tag in run.tags()[other] for run in candidates)]
        hint = f"; it is among {', '.join(others)}" if others else did_you_mean(tag, known)
        lines = [f"no {noun} {tag!r}{where}{hint}", *self._overview(candidates, kind)]
        return self._failure(lines, candidates)

    def _overview(self, candidates: list[Run] | None = None, kind: str = "") -> list[str]:
        """Which tags each run has."""
        log = self._logdir()
        runs = list(log.values()) if candidates is None else candidates
        if not any(tags for run in runs for tags in run.tags().values()):
            return [self._nothing(log)]
        lines = []
        for run in runs[:8]:
            for each, tags in run.tags().items():
                if tags and each in (kind or each, "scalars"):
                    lines.append(f"{each} of run {run.name!r}: {_texts.quoted(tags)}")
        if len(runs) > 8:
            lines.append(f"… {len(runs)} runs in all: {_texts.quoted(run.name for run in runs)}")
        return lines

    def _nothing(self, log: LogDir) -> str:
        files = sum(len(run.paths) for run in log.values())
        if not files:
            return f"nothing was logged: there is no event file in {self._place()}"
        return (
            f"nothing was logged: no values in the {_texts.count(files, 'event file')} of "
            f"{self._place()} (writers of other libraries have to be flushed or closed first)"
        )
