"""Small logs of known content, written with TensorBoard's own record writer, and the command."""

from __future__ import annotations

import fcntl
import os
import struct
import subprocess
import sys
import termios
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

event_pb2: Any = pytest.importorskip("tensorboard.compat.proto.event_pb2")
summary_pb2: Any = pytest.importorskip("tensorboard.compat.proto.summary_pb2")
writer: Any = pytest.importorskip("tensorboard.summary.writer.record_writer")

NAME = "events.out.tfevents.0000000001.host"
TIME = 86400.0


def header() -> Any:
    return event_pb2.Event(wall_time=TIME, file_version="brain.Event:2")


def scalar(tag: str, step: int, value: float, wall_time: float = TIME) -> Any:
    values = [summary_pb2.Summary.Value(tag=tag, simple_value=value)]
    return event_pb2.Event(
        wall_time=wall_time + step, step=step, summary=summary_pb2.Summary(value=values)
    )


def tensor_scalar(tag: str, step: int, value: float, plugin: str = "") -> Any:
    """The newer form, with metadata only if a plugin is named, as TensorFlow 2 writes it."""
    from tensorboard.compat.proto import types_pb2

    event = scalar(tag, step, 0.0)
    item = event.summary.value[0]
    item.ClearField("simple_value")
    item.tensor.dtype = types_pb2.DT_FLOAT
    item.tensor.tensor_shape.SetInParent()
    item.tensor.float_val.append(value)
    if plugin:
        item.metadata.plugin_data.plugin_name = plugin
    return event


def write(path: Path, events: Sequence[Any]) -> list[int]:
    """Writes a file; returns the offset of each record, and the size."""
    path.parent.mkdir(parents=True, exist_ok=True)
    offsets = [0]
    with path.open("wb") as file:
        records = writer.RecordWriter(file)
        for event in events:
            records.write(event.SerializeToString())
            records.flush()
            offsets.append(file.tell())
    return offsets


def read(path: Path) -> list[Any]:
    """The events of a file, as TensorBoard's loader reads them."""
    from tensorboard.backend.event_processing import event_file_loader

    raw = event_file_loader.RawEventFileLoader(str(path)).Load()
    return [event_pb2.Event.FromString(data) for data in raw]


def scalars(path: Path) -> list[tuple[str, int, float]]:
    return [
        (value.tag, event.step, value.simple_value)
        for event in read(path) for value in event.summary.value
    ]


def command(*args: object, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Runs the command in a process of its own, its output in pipes."""
    return subprocess.run(
        [sys.executable, "-m", "tfevents", *map(str, args)], capture_output=True, text=True,
        timeout=120, check=False, cwd=cwd, env=environment(),
    )


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONUTF8": "1", "TZ": "UTC"}


def on_terminal(
    args: Sequence[object], *, columns: int = 80, **extra: str
) -> tuple[str, int]:
    """Runs the command on a pseudo terminal; returns what appears, and the exit code."""
    import pty

    main, terminal = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    env = {**environment(), "TERM": "xterm-256color", "COLORTERM": "truecolor", **extra}
    for name in ("COLUMNS", "LINES", "NO_COLOR"):
        if name not in extra:
            env.pop(name, None)
    child = subprocess.Popen(
        [sys.executable, "-m", "tfevents", *map(str, args)],
        stdin=terminal, stdout=terminal, stderr=terminal, env=env,
    )
    os.close(terminal)
    parts = []
    try:
        while data := os.read(main, 1 << 16):
            parts.append(data)
    except OSError:  # Linux says so at the end
        pass
    finally:
        os.close(main)
    return b"".join(parts).decode().replace("\r\n", "\n"), child.wait(60)
