"""WAV, both directions: 16-bit PCM out; 8, 16, 24, 32-bit PCM and float in.

Format: RIFF chunks (kind, little-endian length, data, padded to even), "fmt " before "data".
Python's own `wave` module refuses float files, and extensible ones before 3.12.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

__all__ = ["HEADER_BYTES", "Header", "check_size", "decode", "encode", "header"]

HEADER_BYTES = 44
_PCM, _FLOAT, _EXTENSIBLE = 1, 3, 0xFFFE
_U16, _U32 = 0xFFFF, 0xFFFFFFFF
_DTYPES = {
    (_PCM, 8): "u1",
    (_PCM, 16): "<i2",
    (_PCM, 24): "u1",
    (_PCM, 32): "<i4",
    (_FLOAT, 32): "<f4",
    (_FLOAT, 64): "<f8",
}


class Header(NamedTuple):
    """What a file says of itself; `start` and `size` locate the samples, cut to the file."""

    encoding: int
    channels: int
    rate: int
    bits: int
    start: int
    size: int

    @property
    def frames(self) -> int:
        """Samples of each channel, whole frames only."""
        return self.size // (self.channels * self.bits // 8)


def check_size(frames: int, channels: int, rate: int, where: str) -> None:
    """Raises ValueError for what the 16 and 32-bit fields of the header cannot hold."""
    limits = (
        (2 * channels, _U16, f"{channels} channels"),
        (2 * channels * rate, _U32, f"{channels} channels at {rate} Hz"),
        (2 * channels * frames, _U32 - HEADER_BYTES, f"{frames} frames of {channels} channels"),
    )
    for size, limit, what in limits:
        if size > limit:
            raise ValueError(f"{where}: {what} do not fit a 16-bit WAV file")


def encode(samples: npt.NDArray[np.int16], rate: int) -> bytes:
    """The file of int16 samples [t, c]; sizes within `check_size`."""
    frames, channels = samples.shape
    size = 2 * frames * channels
    head = struct.pack(
        "<4sI4s4sIHHIIHH4sI",
        b"RIFF",
        HEADER_BYTES - 8 + size,
        b"WAVE",
        b"fmt ",
        16,
        _PCM,
        channels,
        rate,
        2 * channels * rate,
        2 * channels,
        16,
        b"data",
        size,
    )
    return head + samples.astype("<i2").tobytes()


def header(data: bytes) -> Header:
    """Finds the format and the samples.

    A data chunk longer than the file, as streaming producers and torn files leave, is cut.

    Raises:
        ValueError: not a WAV file, or an encoding other than PCM and float.
    """
    if data[:4] != b"RIFF" or data[8:12] != b"WAVE":
        raise ValueError(f"not a WAV file: {len(data)} bytes starting with {data[:12]!r}")
    fmt: bytes | None = None
    for kind, start, size in _chunks(data):
        if kind == b"fmt ":
            fmt = data[start : start + size]
        elif kind == b"data" and fmt is not None:
            return Header(*_format(fmt), start, size)
    raise ValueError("WAV file without a fmt chunk and a data chunk behind it")


def _chunks(data: bytes) -> Iterator[tuple[bytes, int, int]]:
    """(kind, start, size within the file) of each chunk."""
    offset = 12
    while offset + 8 <= len(data):
        kind, size = struct.unpack_from("<4sI", data, offset)
        offset += 8
        yield kind, offset, min(size, len(data) - offset)
        offset += size + size % 2


def _format(fmt: bytes) -> tuple[int, int, int, int]:
    if len(fmt) < 16:
        raise ValueError(f"WAV fmt chunk of {len(fmt)} bytes; at least 16 are needed")
    encoding, channels, rate, _, _, bits = struct.unpack_from("<HHIIHH", fmt)
    if encoding == _EXTENSIBLE and len(fmt) >= 26:
        (encoding,) = struct.unpack_from("<H", fmt, 24)
    if (encoding, bits) not in _DTYPES or channels == 0:
        raise ValueError(
            f"WAV encoding {encoding} with {bits} bits and {channels} channels is not "
            f"8, 16, 24 or 32-bit PCM or 32 or 64-bit float"
        )
    return encoding, channels, rate, bits


def decode(data: bytes) -> tuple[npt.NDArray[Any], int]:
    """(samples [t, c], rate); int16 of 8 and 16 bits, int32 of 24 and 32 bits, floats as stored.

    Integers keep their share of full scale: 8 bits fill the high byte, 24 the three high bytes.

    Raises:
        ValueError: as `header`.
    """
    head = header(data)
    count = head.frames * head.channels
    items = count * 3 if head.bits == 24 else count
    stored = np.frombuffer(data, _DTYPES[head.encoding, head.bits], items, head.start)
    if head.bits == 8:
        samples: npt.NDArray[Any] = (stored.astype(np.int16) - 128) << 8
    elif head.bits == 24:
        padded = np.zeros((count, 4), np.uint8)
        padded[:, 1:] = stored.reshape(count, 3)
        samples = padded.view("<i4").ravel()
    else:
        samples = stored
    native = samples.astype(samples.dtype.newbyteorder("="))
    return native.reshape(head.frames, head.channels), head.rate
