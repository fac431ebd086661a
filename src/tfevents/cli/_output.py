"""What goes to stdout and stderr: plain text, tables, JSON, progress.

Colour, control characters and curves go to terminals only. With rich installed a terminal gets
rich's tables and progress bars; without it, the same content in plain text.
"""

from __future__ import annotations

import json
import math
import os
import shutil
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TypeVar

__all__ = ["Group", "Output", "count", "escape", "plain", "size_text", "time_text"]

Item = TypeVar("Item")

# A heading, a note beside it, and the rows of a table below.
Group = tuple[str, str, list[list[str]]]
_BOLD, _DIM = "1", "2"


def escape(text: str, *, keep: str = "") -> str:
    r"""`text` with all that is not printable written as \x1b or \u202e."""
    return "".join(
        character if character.isprintable() or character in keep else _escaped(character)
        for character in text
    )


def _escaped(character: str) -> str:
    code = ord(character)
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def plain(value: Any) -> Any:
    """`value` as JSON can hold it: NaN and infinities as strings, arrays as lists."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if isinstance(value, bytes):
        return value.decode("utf-8", "backslashreplace")
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    return value


def count(number: int, noun: str) -> str:
    """As in "1 file" and "2 files"."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def size_text(size: int) -> str:
    """Bytes for people."""
    if size < 1000:
        return f"{size} B"
    number, units = float(size), ["kB", "MB", "GB", "TB"]
    while True:
        number /= 1000
        unit = units.pop(0)
        if number < 999.5 or not units:
            return f"{number:.1f} {unit}" if number < 99.95 else f"{number:.0f} {unit}"


def time_text(wall_time: float) -> str:
    """Local date and time of seconds since 1970; the number itself if there is no such date."""
    try:
        return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(wall_time))
    except (ValueError, OverflowError, OSError):
        return repr(wall_time)


class Output:
    """Where a subcommand's results go.

    Attributes:
        as_json: JSON was asked for.
        tty: stdout is a terminal, on which curves and pictures may be drawn.
        colour: it may also get colours.
        width: columns of the terminal.
        streams: results are printed while work goes on, so a terminal has no room for a bar.
    """

    def __init__(self, *, as_json: bool) -> None:
        self.as_json = as_json
        self.streams = False
        for stream in (sys.stdout, sys.stderr):
            if hasattr(stream, "reconfigure"):  # a name that cannot be encoded is no reason to stop
                stream.reconfigure(errors="backslashreplace")
        dumb = os.environ.get("TERM") == "dumb"
        self.tty = not as_json and sys.stdout.isatty() and not dumb
        self.colour = self.tty and not os.environ.get("NO_COLOR")
        self.width = max(shutil.get_terminal_size().columns, 40)

    @property
    def draws(self) -> bool:
        """Whether block and braille characters can be shown."""
        try:
            "\u28ff\u2580".encode(sys.stdout.encoding or "ascii")
        except (UnicodeEncodeError, LookupError):
            return False
        return self.tty

    def line(self, text: str = "") -> None:
        """A line of text, which must be escaped already."""
        sys.stdout.write(f"{text}\n")

    def json(self, value: Any, *, compact: bool = False) -> None:
        """A JSON document, or with `compact` one on one line; ASCII only."""
        self.line(json.dumps(plain(value), indent=None if compact else 2, allow_nan=False))

    def flush(self) -> None:
        """Shows what was printed."""
        sys.stdout.flush()

    def error(self, text: str) -> None:
        """An error message on stderr."""
        self.note(f"error: {text}")

    def note(self, text: str) -> None:
        """A remark on stderr, which leaves the output as it is."""
        sys.stderr.write(f"tfevents: {escape(text)}\n")

    def styled(self, text: str, style: str) -> str:
        """The text with an SGR style ("1" bold, "2" dim, "38;5;4" a colour) if there are any."""
        return f"\x1b[{style}m{text}\x1b[0m" if self.colour and text else text

    def heading(self, text: str, note: str = "") -> None:
        """A heading with a note beside it."""
        shown = self.styled(escape(text), _BOLD)
        self.line(f"{shown}  {self.styled(escape(note), _DIM)}" if note else shown)

    def table(self, headers: Sequence[str], groups: Iterable[Group], right: Sequence[int]) -> None:
        """Tables with columns of the same width, each below its heading.

        Args:
            headers: of the columns.
            groups: heading ("" for none), note, and rows of unescaped text.
            right: indices of the columns that are set to the right.
        """
        shown = [
            (heading, note, [[escape(cell) for cell in row] for row in rows])
            for heading, note, rows in groups
        ]
        lines = [list(headers), *(row for _, _, rows in shown for row in rows)]
        widths = [max(_cells(line[place]) for line in lines) for place in range(len(headers))]
        draw = self._rich_table() if self.tty else None
        for number, (heading, note, rows) in enumerate(shown):
            if number and (heading or rows):
                self.line()
            if heading:
                self.heading(heading, note)
            if rows and draw is not None:
                draw(headers, rows, right, widths, self.width)
            elif rows:
                for row in (list(headers), *rows):
                    self.line(_aligned(row, widths, right))

    def _rich_table(self) -> Any:
        try:
            import rich  # noqa: F401
        except ImportError:
            return None
        return _draw_rich

    def progress(self, items: Iterable[Item], total: int, label: str) -> Iterator[Item]:
        """The items, with a bar on stderr meanwhile if that is a terminal."""
        hidden = not sys.stderr.isatty() or os.environ.get("TERM") == "dumb"
        if total < 2 or hidden or (self.streams and sys.stdout.isatty()):
            yield from items
            return
        try:
            from rich.console import Console
            from rich.progress import Progress
        except ImportError:
            yield from _plain_progress(items, total, label)
            return
        # rich must not redirect stdout: that would end up on stderr too
        with Progress(
            console=Console(stderr=True), transient=True, redirect_stdout=False,
            redirect_stderr=False,
        ) as bar:
            yield from bar.track(items, total, description=label)


def _cells(text: str) -> int:
    """Columns that a text takes; East Asian characters take two."""
    if text.isascii():
        return len(text)
    from unicodedata import combining, east_asian_width

    return sum(
        0 if combining(character) else 2 if east_asian_width(character) in "WF" else 1
        for character in text
    )


def _aligned(row: Sequence[str], widths: Sequence[int], right: Sequence[int]) -> str:
    cells = []
    for place, (text, width) in enumerate(zip(row, widths, strict=True)):
        gap = " " * (width - _cells(text))
        cells.append(gap + text if place in right else text + gap)
    return ("  " + "  ".join(cells)).rstrip()


def _draw_rich(
    headers: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[int],
    widths: Sequence[int], width: int,
) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, header_style="dim", show_edge=False, pad_edge=True)
    for place, header in enumerate(headers):
        table.add_column(
            header, justify="right" if place in right else "left", overflow="fold",
            min_width=min(widths[place], max(width // len(headers) - 3, 4)),
            style="cyan" if place == 0 else "",
        )
    for row in rows:
        table.add_row(*map(Text, row))
    Console(file=sys.stdout, width=width).print(table)


def _plain_progress(items: Iterable[Item], total: int, label: str) -> Iterator[Item]:
    shown = 0.0
    try:
        for number, item in enumerate(items, 1):
            now = time.monotonic()
            if now - shown > 0.1:
                shown = now
                sys.stderr.write(f"\r{label} {number}/{total}")
                sys.stderr.flush()
            yield item
    finally:
        sys.stderr.write("\r\x1b[K")
        sys.stderr.flush()
