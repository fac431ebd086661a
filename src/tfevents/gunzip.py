"""Decompresses gzip streams that arrive in pieces, in bounded memory."""

from __future__ import annotations

import contextlib
import zlib
from collections.abc import Iterator
from typing import Any

from tfevents.record import RecordParser

__all__ = ["Gunzip", "is_gzip"]

# Bytes given at a time, about.
_PIECE = 4 << 20
_MAGIC = b"\x1f\x8b\x08"
# Event files compress to a half or a tenth. A stream that grows more than this is an attack.
_RATIO = 100
_ALLOWANCE = 16 << 20
# Compressed bytes taken at a time; deflate makes at most a thousand times as many of them.
_STEP = 4096


def is_gzip(head: bytes) -> bool:
    """Whether a file that begins so is compressed, and not one whose first length looks like it."""
    probe = RecordParser()
    probe.feed(head[:12])
    return head.startswith(_MAGIC) and probe.stopped is not None


class Gunzip:
    """Decompresses a stream of gzip members in pieces of bounded size."""

    def __init__(self, *, skip: int = 0) -> None:
        self.given = 0
        self.failed: str | None = None
        self._taken = 0
        self._skip = skip
        self._member: Any = None

    @property
    def open(self) -> bool:
        """Whether a member is not complete."""
        return self._member is not None

    def restarted(self) -> Gunzip:
        """One to be fed from the beginning, that gives only what this one has not given."""
        return Gunzip(skip=self.given + self._skip)

    def feed(self, data: bytes) -> Iterator[bytes]:
        """The bytes that `data` decompress to, in pieces of a few MiB."""
        held: list[bytes] = []
        size = 0
        for at in range(0, len(data), _STEP):
            for piece in self._inflate(data[at : at + _STEP]):
                held.append(piece)
                size += len(piece)
            if size >= _PIECE:
                yield b"".join(held)
                held, size = [], 0
            if self.failed is not None:
                break
        if held:
            yield b"".join(held)

    def _inflate(self, data: bytes) -> Iterator[bytes]:
        self._taken += len(data)
        while data and self.failed is None:
            if self._member is None:
                data = data.lstrip(b"\0")  # padding between members, as gzip itself allows
                if not data:
                    return
                self._member = zlib.decompressobj(wbits=31)
            before = self._member.copy()
            try:
                piece = self._member.decompress(data)
            except zlib.error as error:
                piece = _up_to_error(before, data)
                self.failed = f"the compressed stream is broken: {error}"
            data = self._member.unused_data
            if self._member.eof:
                self._member = None
            self.given += len(piece)
            if self.given > _RATIO * self._taken + _ALLOWANCE:
                self.failed = f"{self._taken} bytes decompress to more than {self.given}"
            skipped = min(self._skip, len(piece))
            self._skip -= skipped
            if len(piece) > skipped:
                yield piece[skipped:]


def _up_to_error(member: Any, data: bytes) -> bytes:
    """What zlib can make of `data` before the byte that it fails at."""
    found: list[bytes] = []
    with contextlib.suppress(zlib.error):
        found.extend(member.decompress(data[at : at + 1]) for at in range(len(data)))
    return b"".join(found)
