"""Shows the points of a tag: a table and, on a terminal, a curve or the last pictures.

TAG may be a pattern ('train/*'). The curves of all runs with a tag are drawn over one another.
"""

from __future__ import annotations

import argparse
import os
from typing import TYPE_CHECKING, Any

from tfevents.cli import _logs
from tfevents.cli._output import Output, count, escape, time_text

if TYPE_CHECKING:
    from tfevents.series import Series

    Found = tuple[str, str, str, Series]  # run, kind, tag, points

HELP = "show the points of a tag, with curves and pictures"
_COLOURS = ("36", "33", "35", "32", "34", "31")
_PLOT_HEIGHT = 12
_BINS = 12


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of `tfevents show`."""
    parser.add_argument("logdir", nargs="?", default=".", help="a log directory, file or URL (.)")
    parser.add_argument("tag", metavar="TAG", help="a tag, or a pattern of tags")
    parser.add_argument("--run", action="append", metavar="GLOB", help="only runs like this")
    parser.add_argument(
        "-n", "--last", type=_logs.whole_number, default=10, metavar="N",
        help="points listed (10; 0 for all)",
    )
    parser.add_argument("--smooth", type=_logs.real_number(0, 1), default=0.0, metavar="WEIGHT",
                        help="smooth curves as TensorBoard does, 0 to 1")
    parser.add_argument("--no-plot", action="store_true", help="only the table")
    _logs.add_jobs(parser)


def run(args: argparse.Namespace, out: Output) -> int:
    """Shows."""
    logdir, tag = args.logdir, args.tag
    if os.path.exists(tag) and not os.path.exists(logdir) and "://" not in logdir:
        logdir, tag = tag, logdir  # the other way round is as natural
    log = _logs.open_log(logdir, out, args.jobs)
    found = list(_find(log, tag, args))
    if not found:
        out.error(_missing(logdir, tag, args.run))
        return 1
    if out.as_json:
        out.json([_document(each) for each in found])
        return 0
    by_tag: dict[tuple[str, str], list[Found]] = {}
    for each in found:
        by_tag.setdefault(each[1:3], []).append(each)
    for number, ((kind, _), group) in enumerate(by_tag.items()):
        if number:
            out.line()
        _show(kind, group, args, out)
    return 0


def _find(log: Any, tag: str, args: argparse.Namespace) -> Any:
    from tfevents.cli._values import series_of

    for each in _logs.selected_runs(log, args.run):
        for kind, name in _logs.selected_tags(each, [tag]):
            yield each.name, kind, name, series_of(each, kind, name)


def _missing(logdir: str, tag: str, runs: list[str] | None) -> str:
    text = _logs.nothing(logdir, runs, [tag])
    return f"{text}; {tag!r} is a directory: which TAG of it?" if os.path.isdir(tag) else text


def _document(found: Found) -> dict[str, Any]:
    from tfevents.cli._values import as_data

    run, kind, tag, series = found
    return {
        "run": run, "kind": kind, "tag": tag, "steps": series.steps,
        "wall_times": series.wall_times,
        "values": series.values if kind == "scalars" else [as_data(kind, v) for v in series.values],
    }


def _show(kind: str, group: list[Found], args: argparse.Namespace, out: Output) -> None:
    tag = group[0][2]
    if kind == "scalars" and out.draws and not args.no_plot:
        out.heading(tag)
        _plot(group, args.smooth, out)
        out.line()
    for number, (name, _, _, series) in enumerate(group):
        if number:
            out.line()
        first = max(len(series) - args.last, 0) if args.last else 0
        note = count(len(series), "point") + (f", the last {args.last}" if first else "")
        rows = _rows(kind, series, first)
        out.table(("step", "time", "value"), [(f"{name}  {tag}", note, rows)], right=(0, 2))
        if not args.no_plot and len(series):
            _show_value(kind, series.values[-1], out)


def _rows(kind: str, series: Series, first: int) -> list[list[str]]:
    from tfevents.cli._values import brief

    columns = zip(
        series.steps[first:].tolist(), series.wall_times[first:].tolist(), series.values[first:],
        strict=True,
    )
    return [[str(step), time_text(when), brief(kind, value)] for step, when, value in columns]


def _plot(group: list[Found], smooth: float, out: Output) -> None:
    from tfevents.cli._plot import curves

    drawn = [series.smoothed(smooth) if smooth else series for *_, series in group]
    lines = curves(
        [(each.steps, each.values) for each in drawn],
        width=min(out.width, 100), height=_PLOT_HEIGHT,
        paint=lambda text, number: out.styled(text, _COLOURS[number % len(_COLOURS)]),
    )
    for line in lines:
        out.line(line)
    if len(group) > 1:
        for number, (name, *_) in enumerate(group):
            out.line("  " + out.styled(f"━━ {escape(name)}", _COLOURS[number % len(_COLOURS)]))


def _show_value(kind: str, value: Any, out: Output) -> None:
    """What a table has no room for, of the last point: all of a text, a histogram, a picture."""
    if kind == "texts":
        out.line()
        for each in value.strings:
            out.line(escape(each.decode("utf-8", "backslashreplace"), keep="\n"))
    elif kind == "histograms" and out.draws:
        out.line()
        _bars(value.buckets, out)
    elif kind == "images" and out.draws and out.colour:
        for data in value.images():
            out.line()
            _picture(data, out)


def _bars(rows: Any, out: Output) -> None:
    """A bar for each of some bins of the same width; counts of buckets are spread over them."""
    import numpy as np

    from tfevents.cli._values import number

    if not len(rows):
        return
    ends = np.append(rows[0, 0], rows[:, 1])
    edges = np.linspace(ends[0], ends[-1], _BINS + 1 if ends[-1] > ends[0] else 2)
    below = np.append(0.0, np.cumsum(rows[:, 2]))
    counts = np.diff(np.interp(edges, ends, below)) if len(edges) > 2 else below[-1:]
    if not np.isfinite(counts).all():
        return
    labels = [number(edge) for edge in edges[:-1].tolist()]
    margin = max(map(len, labels))
    full = min(out.width, 100) - margin - 16
    highest = max(float(counts.max()), 1e-300)
    for label, each in zip(labels, counts.tolist(), strict=True):
        bar = "█" * round(full * each / highest)
        out.line(f"  {label:>{margin}} ┤{out.styled(bar, _COLOURS[0])} {each:.4g}")


def _picture(data: bytes, out: Output) -> None:
    from tfevents.cli._picture import half_blocks

    true_colour = os.environ.get("COLORTERM", "") in ("truecolor", "24bit")
    try:
        for line in half_blocks(data, width=out.width, height=30, true_colour=true_colour):
            out.line(line)
    except ValueError as error:
        out.note(str(error))
