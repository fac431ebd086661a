"""`python -m benchmarks`: every row of the report, printed and kept as JSON."""

from __future__ import annotations

import argparse
import datetime
import json
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmarks import machine
from benchmarks.rows import BUDGETS, ROWS, Row, verdict
from benchmarks.runner import ask_child, run_row
from benchmarks.stats import times_better
from benchmarks.table import Outcome, is_ours, metric_lines

RESULTS = Path(__file__).resolve().parent / "results"


def parsed(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    rows = [row.name for row in ROWS]
    everybody = sorted({name for row in ROWS for name in row.contenders})
    parser.add_argument("--only", nargs="+", choices=rows, metavar="ROW", help=", ".join(rows))
    parser.add_argument(
        "--contenders", nargs="+", choices=everybody, metavar="NAME", help=", ".join(everybody)
    )
    parser.add_argument("--repeat", type=int, help="repeats of each measurement (5; quick: 2)")
    parser.add_argument("--quick", action="store_true", help="small counts, to try the harness")
    parser.add_argument("--long", action="store_true", help="also the run of 10 million scalars")
    parser.add_argument("--json", type=Path, help="where the numbers go, benchmarks/results else")
    options = parser.parse_args(arguments)
    options.repeat = options.repeat or (2 if options.quick else 5)
    return options


def chosen(options: argparse.Namespace) -> list[Row]:
    if options.only:
        return [row for row in ROWS if row.name in options.only]
    return [row for row in ROWS if options.long or not row.only_long]


def report(row: Row, outcomes: Mapping[str, Outcome]) -> str:
    lines = [f"== {row.title} ({row.name})"]
    for metric in row.metrics:
        lines += ["", *metric_lines(metric, outcomes)]
    budgets = [verdict(b, row, outcomes) for b in BUDGETS if b.row == row.name]
    return "\n".join([*lines, *(["", "budgets:"] if budgets else []), *budgets, ""])


def record(row: Row, outcomes: Mapping[str, Outcome], raw: Mapping[str, Any]) -> dict[str, Any]:
    """The row for the JSON file: spreads and values in SI units, and ratios of medians."""
    spreads = {name: o for name, o in outcomes.items() if not isinstance(o, str)}
    return {
        "spreads": {n: {k: asdict(s) for k, s in o.items()} for n, o in spreads.items()},
        "times_better": {
            own: {
                peer: {
                    m.key: times_better(m, spreads[own][m.key], theirs[m.key])
                    for m in row.metrics
                    if m.key in theirs and m.key in spreads[own]
                }
                for peer, theirs in spreads.items()
                if not is_ours(peer)
            }
            for own in filter(is_ours, spreads)
        },
        "values": raw,
    }


def main(arguments: Sequence[str] | None = None) -> int:
    options = parsed(arguments)
    where = machine.describe()
    print(machine.line(where), end="\n\n", flush=True)
    kept: dict[str, Any] = {}
    with tempfile.TemporaryDirectory(prefix="tfevents-bench-") as shared:
        for row in chosen(options):
            settings = dict(row.quick if options.quick else row.full)
            if "log" in settings:
                settings["log"] = {"directory": f"{shared}/log", **settings["log"]}
                made = ask_child("make_log", "", settings)
                if "absent" in made:
                    print(f"the log to read could not be written: {made['absent']}")
            names = [n for n in row.contenders if not options.contenders or n in options.contenders]
            outcomes, raw = run_row(row, names, settings, options.repeat, progress=_progress)
            kept[row.name] = {"settings": settings, **record(row, outcomes, raw)}
            print(report(row, outcomes), flush=True)
    now = datetime.datetime.now(datetime.timezone.utc)
    path = options.json or RESULTS / f"{now:%Y-%m-%d}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    run = {"date": now.isoformat(timespec="seconds"), "repeat": options.repeat}
    content = {**run, "quick": options.quick, "machine": where, "rows": kept}
    path.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    print(f"written: {path}")
    return 0


def _progress(text: str) -> None:
    if sys.stderr.isatty():
        sys.stderr.write(f"\r\x1b[K{text}")
        sys.stderr.flush()


if __name__ == "__main__":
    sys.exit(main())
