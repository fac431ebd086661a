"""Prints the last values that were logged; with -f also those that follow, in any file."""

from __future__ import annotations

import argparse
import time
from collections import deque
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from tfevents.cli import DONE, INTERRUPTED, NOTHING, _logs
from tfevents.cli._output import Output, escape

if TYPE_CHECKING:
    from tfevents import proto
    from tfevents.reader import EventFileReader

HELP = "print the last values, and follow"


class Row(NamedTuple):
    """A value that was logged. Rows sort by time."""

    wall_time: float
    run: str
    kind: str
    tag: str
    step: int
    value: Any


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of `tfevents tail`."""
    parser.add_argument("logdir", nargs="?", default=".", help="a log directory, file or URL (.)")
    parser.add_argument("-f", "--follow", action="store_true", help="wait for more, until Ctrl-C")
    parser.add_argument("-n", "--last", type=_logs.whole_number, default=10, metavar="N",
                        help="values (10)")
    parser.add_argument("--interval", type=_logs.real_number(0.01, 3600), default=0.5,
                        metavar="SECONDS", help="between two looks at the files (0.5)")
    parser.add_argument("--timeout", type=_logs.real_number(0, 1e9), metavar="SECONDS",
                        help="stop following after so long without a new value")
    _logs.add_selection(parser)


def run(args: argparse.Namespace, out: Output) -> int:
    """Prints, and follows. With --json each value is a JSON document on a line."""
    try:
        return _print_all(args, out)
    except KeyboardInterrupt:
        if not args.follow:
            raise
        return INTERRUPTED  # the usual end, of which nothing is said


def _print_all(args: argparse.Namespace, out: Output) -> int:
    watch = _Watch(args)
    last = deque(_by_time(watch), maxlen=args.last)
    _print(last, out)
    seen = time.monotonic()
    while args.follow:
        rows = _by_time(watch)
        _print(rows, out)
        now = time.monotonic()
        if rows:
            seen = now
        elif args.timeout is not None and now - seen >= args.timeout:
            return DONE
        time.sleep(args.interval)
    if not watch.matched:
        out.note(_logs.nothing(args.logdir, args.run, args.tag))
        return NOTHING
    return DONE


def _by_time(watch: _Watch) -> list[Row]:
    return sorted(watch.rows(), key=lambda row: row.wall_time)


class _Watch:
    """All files of a log directory, each read on from where it was left."""

    def __init__(self, args: argparse.Namespace) -> None:
        self.matched = False
        self._args = args
        self._readers: dict[str, tuple[str, EventFileReader]] = {}
        self._plugins: dict[tuple[str, str], str] = {}

    def rows(self) -> Iterator[Row]:
        """What was logged since the last call."""
        from tfevents.reader import EventFileReader

        for run, path in _logs.event_files(self._args.logdir):
            if path not in self._readers and _logs.matches(run, self._args.run):
                self._readers[path] = run, EventFileReader(path)
        for run, reader in self._readers.values():
            for message in reader:
                for value in message.summary.value:
                    yield from self._row(run, message, value)

    def _row(self, run: str, message: proto.Event, value: proto.Summary.Value) -> Iterator[Row]:
        from tfevents.kinds import decoder, kind_of

        named = value.metadata.plugin_data.plugin_name
        plugin = self._plugins.setdefault((run, value.tag), named) if named else (
            self._plugins.get((run, value.tag), "")
        )
        form = value.WhichOneof("value") or ""
        kind = kind_of(form, plugin)
        if kind is None or not _logs.matches(value.tag, self._args.tag):
            return
        if plugin and not named:
            value.metadata.plugin_data.plugin_name = plugin
        self.matched = True
        try:
            found = (
                value.simple_value if form == "simple_value"
                else decoder(kind)(form, value.SerializeToString(), b"")
            )
        except Exception:  # whatever decoders say of foreign bytes; `check --values` tells
            return
        yield Row(message.wall_time, run, kind, value.tag, message.step, found)


def _print(rows: Iterable[Row], out: Output) -> None:
    for row in rows:
        _print_row(row, out)
    out.flush()


def _print_row(row: Row, out: Output) -> None:
    from tfevents.cli._values import as_data, brief

    if out.as_json:
        document = row._asdict() | {"value": as_data(row.kind, row.value)}
        out.json(document, compact=True)
        return
    try:
        clock = time.strftime("%H:%M:%S", time.localtime(row.wall_time))
    except (ValueError, OverflowError, OSError):
        clock = repr(row.wall_time)
    out.line(
        f"{out.styled(clock, '2')}  {escape(row.run)}  {row.step:>8}  "
        f"{out.styled(escape(row.tag), '36')}  {escape(brief(row.kind, row.value))}"
    )
