"""Writes a clean copy of event files, without the records that cannot be read.

What is good is copied byte for byte. The old files are left alone, and no file is overwritten. Of a
directory, the copy has all event files, in the same sub-directories.
"""

from __future__ import annotations

import argparse
import os
from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING

from tfevents.cli import _logs
from tfevents.cli._output import Output, count, escape, size_text

if TYPE_CHECKING:
    from tfevents._rewrite import Repaired

HELP = "write a clean copy of damaged files"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of `tfevents repair`."""
    parser.add_argument("path", help="a log directory, file or URL")
    parser.add_argument("-o", "--output", required=True, metavar="DIR",
                        help="directory of the copy; it is made if it is missing")
    parser.add_argument(
        "--resync", action=argparse.BooleanOptionalAction, default=True,
        help="behind a wrong length, go on at the next valid header (default), or drop the rest",
    )
    _logs.add_jobs(parser)


def run(args: argparse.Namespace, out: Output) -> int:
    """Repairs."""
    files = _logs.event_files(args.path)
    job = partial(repair_file, output=args.output, resync=args.resync)
    results = list(_logs.every(job, files, out, args.jobs, "repairing"))
    if not out.as_json:
        for result in results:
            _print(result, out)
    if out.as_json:
        out.json([asdict(each) for each in results])
    elif not results:
        out.note(f"no event files in {args.path}")
    return 0 if results else 1


def repair_file(item: tuple[str, str], *, output: str, resync: bool) -> Repaired:
    """Repairs one file of a run."""
    from tfevents._rewrite import repair

    return repair(item[1], new_path(output, *item), resync=resync)


def new_path(output: str, run: str, path: str) -> str:
    """Where the copy of a file belongs: the same run, the same name, below `output`."""
    name = path.replace("\\", "/").rsplit("/", 1)[-1] if "://" in path else os.path.basename(path)
    parts = [part for part in run.split("/") if part != "."]
    if ".." in parts or name in ("", ".", ".."):
        raise ValueError(f"{path!r} would be written outside {output!r}")
    return os.path.join(output, *parts, name.removesuffix(".gz"))


def _print(result: Repaired, out: Output) -> None:
    for fault in result.notices:
        out.line(
            f"{escape(fault.path)}: byte {fault.offset}: {fault.kind}: {escape(fault.message)}"
        )
    kept = f"{count(result.events, 'event')} kept"
    dropped = "nothing dropped"
    if result.dropped_bytes:
        dropped = f"{size_text(result.dropped_bytes)} of {size_text(result.size)} dropped"
    header = ", header added" if result.header_added else ""
    target = escape(result.target) or "nothing written"
    out.line(f"{escape(result.source)} -> {target}: {kept}, {dropped}{header}")
