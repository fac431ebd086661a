"""A log with all assertions. Each reads anew, compares, and fails with a text that tells enough."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tfevents import arrays
from tfevents._near import did_you_mean
from tfevents.kinds import checked
from tfevents.testing import _baseline, _compare, _texts
from tfevents.testing._compare import tolerance
from tfevents.testing._scalars import ScalarAssertions
from tfevents.testing._texts import LoggedSeries

if TYPE_CHECKING:
    from tfevents._types import PathLike
    from tfevents.logdir import Run

__all__ = ["UPDATE_VARIABLE", "EventLog"]

#: The environment variable that has baselines rewritten.
UPDATE_VARIABLE = "TFEVENTS_UPDATE_BASELINES"

_HOW_TO = (
    "to accept what was logged: pytest --update-event-baselines, "
    f"or {UPDATE_VARIABLE}=1, or update=True"
)


class EventLog(ScalarAssertions):
    """A log directory with assertions that read it back, whoever wrote it.

    tfevents' own writers in this process are flushed first. In every method:

    - `run` names the run; without it the tag has to be in exactly one.
    - `step=None` means the last point that was logged. Of several points at a step the last counts.
    - A number passes if it is the expected one or its float32 rounding, which is what event files
      hold as a rule; `rel` and `abs` allow more, each by itself, as in pytest.approx.
    - A failure is an AssertionError.

    Args:
        path: the directory, or a single event file, or a URL. It need not exist yet.
        baseline_dir: where relative paths of baselines begin; by default the current directory.
        update_baselines: rewrite baselines instead of comparing. By default what the environment
            variable TFEVENTS_UPDATE_BASELINES says; empty and "0" mean no.
    """

    def __init__(
        self,
        path: PathLike,
        *,
        baseline_dir: PathLike | None = None,
        update_baselines: bool | None = None,
    ) -> None:
        super().__init__(path)
        self._baseline_dir = Path(os.fsdecode(baseline_dir)) if baseline_dir else Path()
        if update_baselines is None:
            update_baselines = os.environ.get(UPDATE_VARIABLE, "") not in ("", "0")
        self._update = update_baselines

    # -- tags and steps

    def assert_tags(
        self, tags: Iterable[str], kind: str | None = None, run: str | None = None
    ) -> None:
        """Asserts which tags there are, no fewer and no more: of one kind or of all."""
        __tracebackhide__ = True
        if isinstance(tags, str):
            raise TypeError(f"tags must be a set of tags, not the str {tags!r}")
        found = self.tags(run=run)
        if kind is not None:
            checked(kind)
        kinds = {
            tag: each for each, names in found.items() for tag in names if kind in (None, each)
        }
        wanted = set(tags)
        lines = [
            f"not logged: {tag!r}{did_you_mean(tag, kinds.keys() - wanted)}"
            for tag in sorted(wanted - kinds.keys())
        ]
        lines += [f"unexpected: {tag!r} ({kinds[tag]})" for tag in sorted(kinds.keys() - wanted)]
        if lines:
            what = "the tags" if kind is None else f"the {_texts.singular(kind)} tags"
            where = "" if run is None else f" of run {run!r}"
            runs = self._candidates(run)
            raise self._failure(
                [f"{what}{where} are not as expected:", *lines, *self._overview(runs)], runs
            )

    def assert_steps(
        self, tag: str, steps: Iterable[int], run: str | None = None, kind: str | None = None
    ) -> None:
        """Asserts all steps of a tag of any kind, in the order in which they were logged."""
        __tracebackhide__ = True
        holder, series = self._series(kind or self._any_kind(tag, run), tag, run)
        wanted, logged = [int(step) for step in steps], series.steps.tolist()
        if wanted == logged:
            return
        lines = [
            f"steps of {tag!r} in run {holder.name!r}:",
            f"expected {_texts.steps(wanted)}",
            f"logged   {_texts.steps(logged)}",
        ]
        missing, extra = sorted(set(wanted) - set(logged)), sorted(set(logged) - set(wanted))
        lines += [f"not logged: {_texts.steps(missing)}"] if missing else []
        lines += [f"unexpected: {_texts.steps(extra)}"] if extra else []
        if not missing and not extra:
            lines.append("the same steps, but repeated or in another order")
        raise self._failure(lines, [holder])

    # -- images, sounds, texts, histograms, hyperparameters

    def assert_image(
        self,
        tag: str,
        array: object,
        step: int | None = None,
        atol: float | None = None,
        run: str | None = None,
    ) -> None:
        """Asserts pixels.

        `array` is [h, w], [h, w, c], or [n, h, w, c] for a summary of n images; channels first if
        only that fits. Integers are levels from 0 to 255, floats are cut to [0, 1], a bool is 0 or
        255. One channel is also found where it was written as RGB.

        `atol` is the allowed difference, in the unit of `array`. By default it is none for
        integers, and for floats the rounding to a level (1/255).
        """
        __tracebackhide__ = True
        holder, series = self._series("images", tag, run)
        image = self._at(holder, series, step)
        self._compared(holder, series, step, _compare.image_difference(image, array, atol))

    def assert_audio(
        self,
        tag: str,
        samples: object,
        rate: float | None = None,
        step: int | None = None,
        atol: float | None = None,
        run: str | None = None,
    ) -> None:
        """Asserts samples, and with `rate` how many there are in a second.

        `samples` are [t], [t, c], or [k, t, c] for k clips; channels first if only that fits.
        Floats are cut to [-1, 1]; integers are PCM.

        `atol` is the allowed difference, in the unit of float or int16 samples. By default it is
        none for integers, and for floats the rounding to 16 bits (2/32768).
        """
        __tracebackhide__ = True
        holder, series = self._series("audio", tag, run)
        audio = self._at(holder, series, step)
        self._compared(holder, series, step, _compare.audio_difference(audio, samples, rate, atol))

    def assert_text(
        self,
        tag: str,
        text: str | re.Pattern[str] | Sequence[str],
        step: int | None = None,
        run: str | None = None,
    ) -> None:
        """Asserts a text: equal to a str (several strs if it has several), or matched by a regex.

        The "/text_summary" that torch appends to the tag may be left out. A pattern made with
        `re.compile` is searched for.
        """
        __tracebackhide__ = True
        holder, series = self._series("texts", tag, run)
        found = self._at(holder, series, step)
        self._compared(holder, series, step, _compare.text_difference(found, text))

    def assert_histogram(
        self,
        tag: str,
        like: object = None,
        mean: object = None,
        std: object = None,
        step: int | None = None,
        run: str | None = None,
        rel: float | None = None,
        abs: float | None = None,
    ) -> None:
        """Asserts a histogram by what it was made from, or by its mean and standard deviation.

        `like` are the samples: every bucket has to count those that lie in it. `mean` and `std`
        are exact where the writer stored sums (torch, tensorboardX); TensorFlow stores buckets
        only, and by default passes what these leave open. `rel` and `abs` are for mean and std.
        """
        __tracebackhide__ = True
        if like is None and mean is None and std is None:
            raise TypeError(f"{tag!r}: say what is expected: like=, mean= or std=")
        holder, series = self._series("histograms", tag, run)
        histogram = self._at(holder, series, step)
        if like is not None:
            self._compared(holder, series, step, _compare.sample_difference(histogram, like))
        for name, expected in (("mean", mean), ("std", std)):
            if expected is not None:
                wanted = arrays.scalar(expected, tag=tag)
                text = _compare.moment_difference(histogram, name, wanted, rel, abs)
                self._compared(holder, series, step, text)

    def assert_hparams(self, hparams: Mapping[str, Any], run: str | None = None) -> None:
        """Asserts the hyperparameters of a run, no fewer and no more."""
        __tracebackhide__ = True
        logged, wanted = self.hparams(run=run), dict(hparams)
        lines = [
            f"not logged: {name!r}{did_you_mean(name, logged.keys() - wanted)}"
            for name in sorted(wanted.keys() - logged.keys())
        ]
        lines += [
            f"unexpected: {name!r}: {logged[name]!r}" for name in sorted(logged.keys() - wanted)
        ]
        lines += [
            f"{name!r}: expected {wanted[name]!r}, logged {logged[name]!r}"
            for name in sorted(wanted.keys() & logged.keys())
            if not _compare.hparams_equal(logged[name], wanted[name])
        ]
        if lines:
            every = f"logged: {_texts.hparams_line(logged)}"
            raise self._failure(["the hyperparameters are not as expected:", *lines, every])

    # -- the whole log

    def assert_no_notices(self) -> None:
        """Asserts that every record and every value could be read."""
        __tracebackhide__ = True
        log = self._logdir()
        for run in log.values():
            for kind, tags in run.tags().items():
                for tag in tags if kind not in ("scalars", "graphs") else ():
                    getattr(run, kind)(tag)
        found = log.notices
        if found:
            head = f"the reader has {_texts.count(len(found), 'notice')} about {self._place()}:"
            raise self._failure([head, *_texts.notices(found, limit=10)])

    def assert_matches(
        self,
        baseline: PathLike,
        rel: float | None = None,
        abs: float | None = None,
        run: str | None = None,
        ignore: Iterable[str] = (),
        update: bool | None = None,
    ) -> None:
        """Asserts that all scalars are those of a stored baseline.

        Args:
            baseline: the JSON file; a relative path begins at the directory of the test file in
                pytest, else at `baseline_dir`.
            rel: allowed difference, as a part of the expected number.
            abs: allowed difference.
            run: compare one run only.
            ignore: patterns like "time/*" of tags that are left out.
            update: write the baseline instead; by default as `update_baselines` says.
        """
        __tracebackhide__ = True
        path = self._baseline_dir / os.fsdecode(baseline)
        logged = _baseline.scalars_of(self._candidates(run), ignore)
        if not logged:
            raise self._failure(["there are no scalars to compare", *self._overview()])
        if self._update if update is None else update:
            _baseline.dump(path, logged)
            return
        if not path.exists():
            head = f"there is no baseline {path}; it would hold:"
            raise self._failure([head, *_baseline.summary(logged), _HOW_TO])
        stored = _baseline.load(path, ignore)
        if run is not None:
            stored = {name: tags for name, tags in stored.items() if name in logged}
        lines = _baseline.differences(stored, logged, rel, abs)
        if lines:
            allowed = f"allowed: {tolerance(rel, abs)}"
            raise self._failure(
                [f"the scalars differ from the baseline {path}", *lines, allowed, _HOW_TO]
            )

    def _compared(
        self, holder: Run, series: LoggedSeries, step: int | None, difference: str | None
    ) -> None:
        __tracebackhide__ = True
        if difference is None:
            return
        at = int(series.steps[-1]) if step is None else step
        which = ", the last," if step is None else ""
        head = f"{series.tag!r} at step {at}{which} in run {holder.name!r}:"
        raise self._failure(
            [head, difference, f"steps logged: {_texts.steps(series.steps)}"], [holder]
        )
