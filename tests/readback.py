"""Reads event files with TensorBoard, and runs scripts that write them, each in a process."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest

loader: Any = pytest.importorskip("tensorboard.backend.event_processing.event_file_loader")
event_pb2: Any = pytest.importorskip("tensorboard.compat.proto.event_pb2")

PathLike = str | os.PathLike[str]
_FRAME = 16  # bytes that a record adds to its data


def event_files(directory: PathLike) -> list[Path]:
    """All event files below a directory, by name."""
    return sorted(path for path in Path(directory).rglob("*") if "tfevents" in path.name)


def records(path: Path) -> list[bytes]:
    """The records of a file; there must be nothing else in it."""
    found: list[bytes] = list(loader.RawEventFileLoader(str(path)).Load())
    whole = sum(len(data) + _FRAME for data in found)
    assert whole == path.stat().st_size, f"{path.name}: {whole} bytes of whole records"
    return found


def events(directory: PathLike) -> list[Any]:
    """The events of every file but its header, which must be there."""
    found = []
    for path in event_files(directory):
        head, *rest = (event_pb2.Event.FromString(data) for data in records(path))
        assert head.file_version == "brain.Event:2"
        found += rest
    return found


def scalars(directory: PathLike) -> list[tuple[str, int, float]]:
    """(tag, step, value) of every simple value, in file order."""
    return [
        (value.tag, event.step, value.simple_value)
        for event in events(directory) for value in event.summary.value
    ]


def steps(directory: PathLike, tag: str) -> list[int]:
    """The steps of one tag, in file order."""
    return [step for each, step, _ in scalars(directory) if each == tag]


_PRELUDE = """
import os, sys, threading, time
from tfevents.run_writer import RunWriter
d = sys.argv[1]
"""


def run_script(
    directory: PathLike, code: str, *, status: int = 0, timeout: float = 120.0,
    options: tuple[str, ...] = (),
) -> str:
    """Runs Python code, to which `d` is the directory; returns what it prints to stderr."""
    script = Path(directory).with_suffix(".py")  # a file, since spawned children import it
    script.write_text(_PRELUDE + textwrap.dedent(code), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, *options, str(script), str(directory)],
        capture_output=True, text=True, timeout=timeout, check=False,
    )
    assert done.returncode == status, f"{done.returncode}: {done.stdout}{done.stderr}"
    return done.stderr
