"""Lists the runs of a log directory, and the tags of each: points, last step, last value."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from tfevents.cli import _logs
from tfevents.cli._output import Output, count, size_text, time_text

if TYPE_CHECKING:
    from tfevents.cli._output import Group
    from tfevents.logdir import Run

HELP = "list runs and tags"
_HEADERS = ("tag", "kind", "points", "last step", "last value")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of `tfevents ls`."""
    parser.add_argument("logdir", nargs="?", default=".", help="a log directory, file or URL (.)")
    parser.add_argument("--runs", action="store_true", help="only the runs, one on a line")
    _logs.add_selection(parser)
    _logs.add_jobs(parser)


def run(args: argparse.Namespace, out: Output) -> int:
    """Lists."""
    log = _logs.open_log(args.logdir, out, args.jobs)
    runs = _logs.selected_runs(log, args.run)
    found = [_described(each, args.tag) for each in out.progress(runs, len(runs), "reading")]
    if args.tag is not None:
        found = [each for each in found if each["tags"]]
    if out.as_json:
        out.json({"path": log.path, "runs": found})
    elif args.runs:
        out.table(("run", "files", "size", "tags", "points", "last step", "last written"),
                  [("", "", [_run_row(each) for each in found])], right=(1, 2, 3, 4, 5))
    else:
        out.table(_HEADERS, [_group(each) for each in found], right=(2, 3))
    if not found:
        out.note(_logs.nothing(args.logdir, args.run, args.tag))
    notices = sum(each["notices"] for each in found)
    if notices:
        out.note(f"{count(notices, 'place')} cannot be read; see: tfevents check")
    return 0 if found else 1


def _described(run: Run, tags: list[str] | None) -> dict[str, Any]:
    """All that is printed of a run."""
    rows = [_tag(run, kind, tag) for kind, tag in _logs.selected_tags(run, tags)]
    return {
        "run": run.name,
        "files": len(run.files),
        "size": sum(_logs.file_size(path) for path in run.paths),
        "points": sum(row["points"] for row in rows),
        "last_step": _highest(row["last_step"] for row in rows),
        "last_wall_time": _highest(row["last_wall_time"] for row in rows),
        "notices": len(run.notices),
        "tags": rows,
    }


def _highest(numbers: Iterable[Any]) -> Any:
    return max((each for each in numbers if each is not None), default=None)


def _tag(run: Run, kind: str, tag: str) -> dict[str, Any]:
    """A row; of large values only the last is read, so a broken one among them counts."""
    from tfevents.cli import _values

    row: dict[str, Any] = {
        "tag": tag, "kind": kind, "points": run.count(kind, tag), "last_step": None,
        "last_wall_time": None, "last_value": None,
    }
    last = run.last(kind, tag)
    if last is not None:
        step, wall_time, value = last
        row |= {
            "last_step": step,
            "last_wall_time": wall_time,
            "last_value": float(value) if kind == "scalars" else _values.brief(kind, value),
        }
    return row


def _group(found: dict[str, Any]) -> Group:
    rows = [
        [row["tag"], row["kind"], str(row["points"]), _or_blank(row["last_step"]), _shown(row)]
        for row in found["tags"]
    ]
    note = f"{count(found['files'], 'file')}, {size_text(found['size'])}"
    if found["last_wall_time"]:
        note += f", last written {time_text(found['last_wall_time'])}"
    return found["run"], note, rows


def _run_row(found: dict[str, Any]) -> list[str]:
    time = found["last_wall_time"]
    return [
        found["run"], str(found["files"]), size_text(found["size"]), str(len(found["tags"])),
        str(found["points"]), _or_blank(found["last_step"]), time_text(time) if time else "",
    ]


def _shown(row: dict[str, Any]) -> str:
    from tfevents.cli._values import number

    value = row["last_value"]
    return number(value) if isinstance(value, float) else _or_blank(value)


def _or_blank(value: object) -> str:
    return "" if value is None else str(value)

