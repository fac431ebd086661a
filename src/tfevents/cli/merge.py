"""Merges the event files of a run into one; of a log directory, those of each run.

Events come in the order of the file names, then as they stand. Tags can be renamed or deleted, and
of several values with one tag and step only the last (or first) kept. The old files are left alone.
"""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Callable
from dataclasses import asdict
from typing import TYPE_CHECKING

from tfevents.cli import _logs
from tfevents.cli._output import Output, count, escape
from tfevents.cli.repair import new_path

if TYPE_CHECKING:
    from tfevents._rewrite import Merged

HELP = "merge the files of a run, rename or delete tags"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of `tfevents merge`."""
    parser.add_argument("paths", nargs="+", metavar="PATH",
                        help="a log directory, or the files of one run, oldest first")
    parser.add_argument("-o", "--output", required=True, metavar="DIR",
                        help="directory of the new files; it is made if it is missing")
    parser.add_argument("--keep", choices=("all", "first", "last"), default="all",
                        help="of values with one tag and step (default: all)")
    parser.add_argument("--rename", action="append", default=[], metavar="OLD=NEW", type=_renaming,
                        help="give a tag another name; can be repeated")
    parser.add_argument("--regex", action="store_true",
                        help="OLD is a regular expression, found anywhere; NEW may hold \\1")
    parser.add_argument("--delete", action="append", metavar="GLOB", help="leave out such tags")


def _renaming(text: str) -> tuple[str, str]:
    old, equals, new = text.partition("=")
    if not equals or not old:
        raise argparse.ArgumentTypeError(f"must be OLD=NEW, not {text!r}")
    return old, new


def run(args: argparse.Namespace, out: Output) -> int:
    """Merges."""
    from tfevents._rewrite import merge

    rename = renamer(args.rename, regex=args.regex)
    deleted = args.delete or []
    results: list[Merged] = []
    runs = _runs(args.paths)
    for name, files in out.progress(runs.items(), len(runs), "merging"):
        result = merge(
            files, new_path(args.output, name, files[0]), keep=args.keep, rename=rename,
            delete=lambda tag: _logs.matches(tag, deleted),
        )
        results.append(result)
    if out.as_json:
        out.json([asdict(each) for each in results])
    for result in () if out.as_json else results:
        _print(result, out)
    if not results:
        out.note("no event files")
    return 0 if results else 1


def renamer(pairs: list[tuple[str, str]], *, regex: bool) -> Callable[[str], str]:
    """What the pairs make of a tag: the first that fits, or with `regex` one after the other.

    Raises:
        ValueError: an expression that is none.
    """
    if not regex:
        table = dict(reversed(pairs))
        return lambda tag: table.get(tag, tag)
    try:
        compiled = [(re.compile(old), new) for old, new in pairs]
        for pattern, new in compiled:
            re.sub(f"|(?:{pattern.pattern})", new, "")  # does NEW name groups that are there?
    except re.error as error:
        raise ValueError(f"--rename: {error}") from error

    def rename(tag: str) -> str:
        for pattern, new in compiled:
            tag = pattern.sub(new, tag)
        return tag

    return rename


def _runs(paths: list[str]) -> dict[str, list[str]]:
    """Files by run. Files that are named are one run, in the order in which they are named."""
    if len(paths) == 1:
        runs: dict[str, list[str]] = {}
        for name, path in _logs.event_files(paths[0]):
            runs.setdefault(name, []).append(path)
        return runs
    for path in paths:
        if os.path.isdir(path):
            raise ValueError(f"{path}: one directory, or several files")
    return {".": [path for each in paths for _, path in _logs.event_files(each)]}


def _print(result: Merged, out: Output) -> None:
    for fault in result.notices:
        out.note(f"{fault.path}: byte {fault.offset}: {fault.kind}: {fault.message}")
    counts = {
        "dropped as duplicates": result.duplicates,
        "deleted": result.deleted,
        "renamed": result.renamed,
    }
    parts = [count(len(result.sources), "file"), count(result.events, "event")]
    parts += [f"{count(each, 'value')} {what}" for what, each in counts.items() if each]
    out.line(f"{escape(result.target) or 'nothing written'}: {', '.join(parts)}")
