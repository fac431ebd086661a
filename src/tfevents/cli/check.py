"""Checks every record of event files: its CRCs, and that it is an Event.

Each fault is a line: path, byte offset of the record, kind of fault, text. Exit code 1 if there is
one. Behind a wrong length the search goes on at the next valid header.
"""

from __future__ import annotations

import argparse
from dataclasses import asdict, dataclass
from functools import partial
from typing import TYPE_CHECKING

from tfevents.cli import _logs
from tfevents.cli._output import Output, count, escape, size_text

if TYPE_CHECKING:
    from tfevents.reader import Notice

HELP = "verify the CRCs and messages of all records"


@dataclass(frozen=True)
class Checked:
    """One file, checked."""

    path: str
    size: int
    events: int
    faults: list[Notice]
    unreadable: str = ""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of `tfevents check`."""
    parser.add_argument("paths", nargs="*", default=["."], metavar="PATH",
                        help="log directories, files or URLs (.)")
    parser.add_argument("--values", action="store_true",
                        help="also decode every value: tensors, histograms, plugin messages")
    parser.add_argument("--growing", action="store_true",
                        help="an incomplete record at the end of a file is no fault")
    _logs.add_jobs(parser)


def run(args: argparse.Namespace, out: Output) -> int:
    """Checks."""
    files = [path for root in args.paths for _, path in _logs.event_files(root)]
    job = partial(check_file, values=args.values, growing=args.growing)
    results = list(_logs.every(job, files, out, args.jobs, "checking"))
    if not out.as_json:
        for result in results:
            _print(result, out)
    damaged = sum(bool(each.faults) for each in results)
    unreadable = sum(bool(each.unreadable) for each in results)
    if out.as_json:
        out.json({"files": [_document(each) for each in results], "damaged": damaged})
    else:
        events, size = sum(each.events for each in results), sum(each.size for each in results)
        out.line(
            f"{count(len(results), 'file')}, {count(events, 'event')}, {size_text(size)}: "
            + (f"{damaged} damaged" if damaged else "no damage" if results else "nothing to check")
        )
    return 2 if unreadable else 1 if damaged or not results else 0


def check_file(path: str, *, values: bool, growing: bool) -> Checked:
    """Reads all of a file."""
    from tfevents.reader import EventFileReader

    reader = EventFileReader(path, resync=True)
    events = 0
    try:
        for _ in reader:
            events += 1
    except OSError as error:
        return Checked(path, 0, events, [], error.strerror or str(error))
    faults = dict.fromkeys(reader.notices)
    if values:
        faults |= dict.fromkeys(_value_faults(path))
    found = sorted(faults, key=lambda fault: fault.offset)
    seen: dict[tuple[int, str, str], Notice] = {}
    for fault in found:
        if not (growing and fault.kind == "truncated"):
            seen.setdefault((fault.offset, fault.kind, fault.message), fault)
    return Checked(path, _logs.file_size(path), events, list(seen.values()))


def _value_faults(path: str) -> list[Notice]:
    from tfevents.cli._values import series_of
    from tfevents.logdir import read

    log = read(path)
    for each in log.values():
        for kind, tag in _logs.selected_tags(each, None):
            series_of(each, kind, tag)
    return log.notices


def _print(result: Checked, out: Output) -> None:
    path = escape(result.path)
    for fault in result.faults:
        kind = out.styled(fault.kind, "31")
        out.line(f"{path}: byte {fault.offset}: {kind}: {escape(fault.message)}")
    if result.unreadable:
        out.error(f"{result.path}: {result.unreadable}")


def _document(result: Checked) -> dict[str, object]:
    faults = [
        {"offset": each.offset, "kind": each.kind, "message": each.message}
        for each in result.faults
    ]
    return asdict(result) | {"faults": faults}
