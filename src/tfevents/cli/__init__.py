"""The `tfevents` command: looks at log directories, checks, repairs, converts and merges them.

One module a subcommand; each has `HELP`, `add_arguments(parser)` and `run(args, out) -> int`. What
a subcommand needs is imported when it runs, so that `tfevents --help` is quick. Only the modules
here print. Everything that comes out of a file is escaped before it reaches a terminal.

Exit codes:

    0    done
    1    `check` found damage, or nothing in the log matches what was asked for
    2    wrong arguments, a file that cannot be read or written, an optional package that is missing
    130  interrupted (Ctrl-C)
    141  the reader of our output went away; nothing is said about it
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any

__all__ = ["COMMANDS", "build_parser", "main"]

DONE, NOTHING, FAILED, INTERRUPTED, PIPE_CLOSED = 0, 1, 2, 130, 141

#: The subcommands, in the order in which they are listed.
COMMANDS = ("ls", "show", "tail", "check", "repair", "export", "merge", "completion")

_EXIT_CODES = (
    "exit codes: 0 done; 1 damage found, or nothing matches; 2 wrong arguments or a file that "
    "cannot be read or written; 130 interrupted; 141 output pipe closed"
)


def build_parser() -> argparse.ArgumentParser:
    """The parser of the command with all its subcommands."""
    parser = argparse.ArgumentParser(
        prog="tfevents",
        description="Look at TensorBoard log directories; check, repair, convert and merge them.",
        epilog=_EXIT_CODES,
    )
    parser.add_argument("--version", action=_Version, nargs=0, help="show the version and exit")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name in COMMANDS:
        module = _module(name)
        command = commands.add_parser(
            name, help=module.HELP, description=module.__doc__, epilog=_EXIT_CODES,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        module.add_arguments(command)
        if name != "completion":
            command.add_argument("--json", action="store_true", help="print JSON")
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the command and returns its exit code; argparse exits by itself with 0 or 2."""
    try:
        return _run(build_parser().parse_args(argv))
    except KeyboardInterrupt:
        sys.stderr.write("tfevents: interrupted\n")
        return INTERRUPTED


def _run(args: argparse.Namespace) -> int:
    from tfevents.cli._output import Output

    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # whoever started us closed it
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115
    out = Output(as_json=getattr(args, "json", False))
    try:
        code: int = _module(args.command).run(args, out)
        sys.stdout.flush()
    except BrokenPipeError:
        _forget_stdout()
        return PIPE_CLOSED
    except (OSError, ValueError, ImportError) as error:
        out.error(_text(error))
        return FAILED
    return code


def _module(name: str) -> Any:
    return import_module(f"tfevents.cli.{name}")


def _text(error: BaseException) -> str:
    """What an error says, without its number."""
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    return str(error)


def _forget_stdout() -> None:
    """Lets the interpreter flush what is left at exit to nowhere."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, sys.stdout.fileno())
    except (OSError, ValueError):  # not a real file, in process
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - until the exit
    finally:
        os.close(nowhere)


class _Version(argparse.Action):
    """Looks the version up only when it is asked for."""

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> None:
        from tfevents import __version__

        print(f"tfevents {__version__}")
        parser.exit()
