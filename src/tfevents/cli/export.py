"""Converts a log to CSV, JSON lines or Parquet; pictures and sound to files.

CSV and JSON lines have one point on a line: run, kind, tag, step, wall_time, value. CSV has only
scalars unless --kind or --media asks for more. Parquet is a dataset in the Hive layout,
run=.../kind=.../part-0.parquet, with the columns tag, step, wall_time, value (of scalars), text
(all other kinds; JSON except texts that are one string) and file. With --media pictures, sound and
graphs become files, DIR/<run>/<tag>/<step>-<number>, each name percent-encoded into one component
of the path.
"""

from __future__ import annotations

import argparse
import contextlib
import csv
import io
import json
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from tfevents._whole_file import whole_file
from tfevents.cli import _logs
from tfevents.cli._output import Output, count, plain

if TYPE_CHECKING:
    from tfevents.logdir import Run

HELP = "convert to CSV, JSON lines or Parquet"
_COLUMNS = ("run", "kind", "tag", "step", "wall_time", "value")


@dataclass(frozen=True)
class Job:
    """What is done to each run."""

    format: str
    output: str
    media: str | None
    kinds: list[str] | None
    tags: list[str] | None
    order: str
    keep: str


@dataclass
class Exported:
    """What became of a run: its text, and how much it was."""

    text: str = ""
    points: int = 0
    files: int = 0


@dataclass(frozen=True)
class Point:
    """One row."""

    kind: str
    tag: str
    step: int
    wall_time: float
    value: Any
    files: list[str]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of `tfevents export`."""
    parser.add_argument("logdir", nargs="?", default=".", help="a log directory, file or URL (.)")
    parser.add_argument("--format", choices=("csv", "jsonl", "parquet"),
                        help="default: by the ending of --output, else csv")
    parser.add_argument("-o", "--output", metavar="PATH",
                        help="a new file (default: stdout), or for parquet a new directory")
    parser.add_argument("--media", metavar="DIR", help="directory for pictures, sound and graphs")
    parser.add_argument("--kind", action="append", metavar="KIND",
                        help="only such values: scalars, images, texts, ...; can be repeated")
    parser.add_argument("--order", choices=("file", "step"), default="file",
                        help="order of points (default: as they were logged)")
    parser.add_argument("--keep", choices=("all", "first", "last"), default="all",
                        help="of points with the same step (default: all)")
    _logs.add_selection(parser)
    _logs.add_jobs(parser)


def run(args: argparse.Namespace, out: Output) -> int:
    """Exports. With --json and no --output the data themselves are JSON lines."""
    job = _job(args)
    out.streams = not job.output
    runs = [item for item in _runs(args.logdir) if _logs.matches(item[0], args.run)]
    results = _logs.every(partial(export_run, job), runs, out, args.jobs, "exporting")
    points = files = 0
    with _target(job) as write, contextlib.closing(results):
        for result in results:
            write(result.text)
            points += result.points
            files += result.files
    if out.as_json and job.output:
        out.json({"path": job.output, "format": job.format, "runs": len(runs), "points": points,
                  "media": files})
    elif job.output or files:
        out.note(f"{count(points, 'point')} of {count(len(runs), 'run')} exported"
                 + (f", {count(files, 'file')} in {job.media}" if files else ""))
    if not points:
        out.note(_logs.nothing(args.logdir, args.run, args.tag, job.kinds))
    return 0 if points else 1


def _job(args: argparse.Namespace) -> Job:
    from tfevents.kinds import checked

    form = args.format
    if form is None:
        ending = os.path.splitext(args.output or "")[1].removeprefix(".")
        if ending in ("jsonl", "ndjson") or (args.json and not args.output):
            ending = "jsonl"
        form = ending if ending in ("jsonl", "parquet") else "csv"
    kinds = args.kind or (["scalars"] if form == "csv" and args.media is None else None)
    for kind in kinds or ():
        checked(kind)
    if form == "parquet":
        if not args.output:
            raise ValueError("--format parquet needs --output, a directory")
        _need_pyarrow()
        if os.path.lexists(args.output) and (
            not os.path.isdir(args.output) or os.listdir(args.output)
        ):
            raise FileExistsError(f"{args.output} exists, and nothing is overwritten")
        os.makedirs(args.output, exist_ok=True)
    return Job(
        form, args.output or "", args.media, kinds, args.tag, args.order, args.keep
    )


def _runs(path: str) -> list[tuple[str, list[str]]]:
    """Names of runs, and their files."""
    runs: dict[str, list[str]] = {}
    for name, file in _logs.event_files(path):
        runs.setdefault(name, []).append(file)
    return list(runs.items())


@contextlib.contextmanager
def _target(job: Job) -> Iterator[Callable[[str], object]]:
    """What takes the text of all runs; an output that did not become whole does not stay."""
    head = ",".join(_COLUMNS) + "\n" if job.format == "csv" else ""
    if job.format == "parquet":
        try:
            yield _nowhere
        except BaseException:
            shutil.rmtree(job.output, ignore_errors=True)
            raise
    elif job.output:
        with whole_file(job.output) as sink:
            sink.write(head.encode())
            yield lambda text: sink.write(text.encode("utf-8", "surrogateescape"))
    else:
        sys.stdout.write(head)
        yield sys.stdout.write


def _nowhere(text: str) -> None:
    """Takes the text of runs that are written elsewhere: none."""


def export_run(job: Job, item: tuple[str, list[str]]) -> Exported:
    """Converts one run, given by name and files; in a process of its own if there are several."""
    from tfevents.logdir import Run
    from tfevents.store import open_store

    name, files = item
    run = Run(name)
    for file in files:
        run.add(*open_store(file), strict=False)
    media = None if job.media is None else _Media(os.path.join(job.media, _logs.quoted(name)))
    convert = _to_parquet if job.format == "parquet" else _to_text
    result = convert(job, run, media)
    result.files = 0 if media is None else media.count
    return result


def _points(job: Job, run: Run, kind: str, tag: str, media: _Media | None) -> Iterator[Point]:
    from tfevents.cli import _values

    options = {} if kind == "graphs" else {"order": job.order, "keep": job.keep}
    for step, wall_time, value in _values.series_of(run, kind, tag, **options):
        files = []
        if media is not None:
            files = [media.save(tag, step, *each) for each in _values.as_files(kind, value)]
        yield Point(kind, tag, step, wall_time, _values.as_data(kind, value), files)


def _to_text(job: Job, run: Run, media: _Media | None) -> Exported:
    buffer = io.StringIO()
    table = csv.writer(buffer, lineterminator="\n")
    result = Exported()
    for kind, tag in _logs.selected_tags(run, job.tags, job.kinds):
        for point in _points(job, run, kind, tag, media):
            result.points += 1
            stamp = (point.tag, point.step, point.wall_time)
            if job.format == "csv":
                row = (run.name, kind, *stamp, _cell(point))
                table.writerow([_without_nul(cell) for cell in row])
                continue
            named = dict(zip(_COLUMNS, (run.name, kind, *stamp, point.value), strict=True))
            if point.files:
                named["files"] = point.files
            buffer.write(_json(named) + "\n")
    result.text = buffer.getvalue()
    return result


def _cell(point: Point) -> str | float:
    """The value column of CSV: a number, a text, a path, or JSON."""
    if point.files:
        return ";".join(point.files)
    return point.value if isinstance(point.value, (float, str)) else _json(point.value)


def _without_nul(cell: str | float) -> str | float:
    """NUL as a terminal shows it: few readers of CSV take it, and CPython 3.10 cannot write it."""
    return cell.replace("\0", r"\x00") if isinstance(cell, str) else cell


def _json(value: Any) -> str:
    return json.dumps(plain(value), allow_nan=False)


class _Media:
    """Files below one directory. A tag or step is never more than one component of their path."""

    def __init__(self, folder: str) -> None:
        self.count = 0
        self._folder = folder
        self._numbers: dict[tuple[str, int], int] = {}

    def save(self, tag: str, step: int, ending: str, data: bytes) -> str:
        """Writes a new file; returns its path."""
        number = self._numbers.get((tag, step), 0)
        self._numbers[tag, step] = number + 1
        folder = os.path.join(self._folder, _logs.quoted(tag))
        path = os.path.join(folder, f"{step:08d}-{number}{ending}")
        with whole_file(path, durable=False) as file:
            file.write(data)
        self.count += 1
        return path


def _need_pyarrow() -> None:
    try:
        import pyarrow.parquet  # noqa: F401
    except ImportError as error:
        raise ImportError("Parquet needs pyarrow: pip install 'tfevents[arrow]'") from error


def _to_parquet(job: Job, run: Run, media: _Media | None) -> Exported:
    """One file for each kind that the run has, all with the same columns."""
    import pyarrow as pa
    from pyarrow import parquet

    schema = pa.schema([
        ("tag", pa.string()), ("step", pa.int64()), ("wall_time", pa.float64()),
        ("value", pa.float64()), ("text", pa.string()), ("file", pa.list_(pa.string())),
    ])
    result = Exported()
    tags: dict[str, list[str]] = {}
    for kind, tag in _logs.selected_tags(run, job.tags, job.kinds):
        tags.setdefault(kind, []).append(tag)
    for kind, names in tags.items():
        folder = os.path.join(job.output, f"run={_logs.quoted(run.name)}", f"kind={kind}")
        os.makedirs(folder, exist_ok=True)
        with open(os.path.join(folder, "part-0.parquet"), "xb") as file, parquet.ParquetWriter(
            file, schema, compression="zstd"
        ) as writer:
            for tag in names:
                rows = [_row(each) for each in _points(job, run, kind, tag, media)]
                writer.write_table(pa.Table.from_pylist(rows, schema))
                result.points += len(rows)
    return result


def _row(point: Point) -> dict[str, Any]:
    is_number = point.kind == "scalars"
    value = point.value
    return {
        "tag": point.tag, "step": point.step, "wall_time": point.wall_time,
        "value": value if is_number else None,
        "text": None if is_number else value if isinstance(value, str) else _json(value),
        "file": point.files,
    }
