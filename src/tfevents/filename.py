"""The names of event files: built, taken apart, recognised.

    events.out.tfevents.<seconds, 10 digits>.<host>[.<pid>.<counter>][<suffix>]

TensorFlow 2, PyTorch and TensorBoard write process id and counter, so that two writers never share
a file; TensorFlow 1 and tensorboardX do not. A host name may hold dots, a suffix is appended as it
is (TensorFlow 2's is ".v2"). Readers take any file with "tfevents" in its name.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

__all__ = ["EventFileName", "build", "is_event_file", "parse"]

_PREFIX = "events.out.tfevents."
_UNIQUE = re.compile(
    r"events\.out\.tfevents\.(\d{1,19})\.(.+?)\.(\d{1,19})\.(\d{1,19})((?:[^0-9].*)?)", re.DOTALL
)
_PLAIN = re.compile(r"events\.out\.tfevents\.(\d{1,19})\.(.+?)((?:\.v2)?)", re.DOTALL)

# A name has at most 255 bytes; the rest is prefix, numbers and suffix.
_LONGEST_HOST = 100
_UNSAFE = re.compile(r"[^\w.-]|[\ud800-\udfff]")
# TensorBoard writes an empty file of this name to announce a profile.
_PROFILE_MARK = ".profile-empty"


@dataclass(frozen=True, slots=True)
class EventFileName:
    """The parts of an event file's name; `pid` and `counter` are None where it has none."""

    timestamp: int
    host: str
    pid: int | None
    counter: int | None
    suffix: str


def build(timestamp: int, host: str, pid: int, counter: int, suffix: str = "") -> str:
    """The name of a new event file.

    Letters and digits of any script, dots and hyphens of `host` are kept; what a file system or a
    shell may stumble over becomes "_", and a long host is cut to 100 bytes of UTF-8.

    Args:
        timestamp: seconds since 1970.
        host: name of the machine, whatever it holds.
        pid: process id.
        counter: number of this file in its process.
        suffix: appended without a dot, e.g. ".v2".

    Raises:
        TypeError: the suffix is no str.
        ValueError: the suffix has a path separator or NUL in it.
    """
    if not isinstance(suffix, str):
        raise TypeError(f"a file name suffix must be a str, got {type(suffix).__name__}")
    if any(character in suffix for character in "/\\\0"):
        raise ValueError(f"a file name suffix cannot hold '/', '\\' or NUL: {suffix!r}")
    # readers take the files of a run in the order of their names, so the counter is padded
    return f"{_PREFIX}{timestamp:010d}.{_safe(host)}.{pid}.{counter:04d}{suffix}"


def _safe(host: str) -> str:
    safe = _UNSAFE.sub("_", host).encode()[:_LONGEST_HOST].decode(errors="ignore").strip(".")
    return safe or "localhost"


def parse(name: str) -> EventFileName | None:
    """The parts of a name without directories, or None if no known program makes such names.

    In a name without process id, a host that ends in two numbers ("10.0.0.7") cannot be told from
    one with it: such a host is cut there.
    """
    if match := _UNIQUE.fullmatch(name):
        timestamp, host, pid, counter, suffix = match.groups()
        return EventFileName(int(timestamp), host, int(pid), int(counter), suffix)
    if match := _PLAIN.fullmatch(name):
        return EventFileName(int(match[1]), match[2], None, None, match[3])
    return None


def is_event_file(path: str) -> bool:
    """Whether a file found in a log directory is to be read, as TensorBoard decides it."""
    base = re.split(r"[/\\]", path)[-1]
    return "tfevents" in base and not base.endswith(_PROFILE_MARK)
