"""TFRecord framing: how a file of events is cut into records. Bytes in, bytes out, no I/O.

A record is

    uint64  length of the data              little endian
    uint32  masked CRC-32C of those 8 bytes
    bytes   the data
    uint32  masked CRC-32C of the data

and a file is records and nothing else. A CRC is stored masked (rotated by 15 bits and shifted by a
constant), because a CRC over bytes that hold CRCs is weak. If the data do not match, this record is
lost and the next can be read; if the length does not match, nothing after it can be located, except
by searching for the next header whose own CRC holds.

Format: https://www.tensorflow.org/tutorials/load_data/tfrecord
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np
from crc32c import crc32c

from tfevents.errors import (
    BadChecksumError,
    BadLengthError,
    RecordError,
    TruncatedRecordError,
)

__all__ = ["OVERHEAD", "Batch", "Record", "RecordParser", "encode", "encode_all", "masked_crc"]

_LENGTH = struct.Struct("<Q")
_CRC = struct.Struct("<I")
_HEADER_SIZE = 12
_FOOTER_SIZE = 4
_MASK_DELTA = 0xA282EAD8

#: Bytes that framing adds to the data of a record.
OVERHEAD = _HEADER_SIZE + _FOOTER_SIZE


def masked_crc(data: bytes) -> int:
    """The masked CRC-32C of `data`, as TFRecord stores it."""
    crc = crc32c(data)
    return ((crc >> 15 | crc << 17) + _MASK_DELTA) & 0xFFFFFFFF


@lru_cache(maxsize=4096)
def _header(length: int) -> bytes:
    """The 12 bytes before data of this length. Most records of a file share a few lengths."""
    size = _LENGTH.pack(length)
    return size + _CRC.pack(masked_crc(size))


def encode(data: bytes) -> bytes:
    """One framed record."""
    return b"".join((_header(len(data)), data, _CRC.pack(masked_crc(data))))


def encode_all(payloads: Iterable[bytes]) -> bytes:
    """The framed records of all `payloads`, in order, in one piece."""
    parts: list[bytes] = []
    pack = _CRC.pack
    for data in payloads:
        # masked_crc(), written out: this line runs once for every event of a training run
        crc = crc32c(data)
        masked = ((crc >> 15 | crc << 17) + _MASK_DELTA) & 0xFFFFFFFF
        parts += (_header(len(data)), data, pack(masked))
    return b"".join(parts)


@dataclass(frozen=True, slots=True)
class Record:
    """The data of one record, and the byte offset of the record in its stream."""

    offset: int
    data: bytes


@dataclass(frozen=True, slots=True)
class Batch:
    """The records that a piece of a stream completed.

    Attributes:
        buffer: bytes that hold the records.
        base: offset in the stream of `buffer[0]`.
        starts, ends: where the data of each record lie in `buffer`; bad records included.
        bad: the records, by index, whose data do not match their CRC.
        stop: set if a header is bad, so that nothing can be read after these records.
    """

    buffer: bytes
    base: int
    starts: list[int]
    ends: list[int]
    bad: dict[int, BadChecksumError] = field(default_factory=dict)
    stop: BadLengthError | None = None

    def __len__(self) -> int:
        return len(self.starts)

    def offset(self, index: int) -> int:
        """Stream offset of a record (of its header)."""
        return self.base + self.starts[index] - _HEADER_SIZE

    def items(self) -> Iterator[Record | RecordError]:
        """Records and errors in the order of the stream."""
        buffer, bad = self.buffer, self.bad
        for index, (start, end) in enumerate(zip(self.starts, self.ends, strict=True)):
            if index in bad:
                yield bad[index]
            else:
                yield Record(self.base + start - _HEADER_SIZE, buffer[start:end])
        if self.stop is not None:
            yield self.stop


class RecordParser:
    """Cuts a stream that arrives in pieces into records; may be fed for ever.

    Memory is bounded by the pieces given, never by what a length claims: see `needed`.

    Args:
        offset: offset in the stream of the first byte that will be fed.
        resync: after a bad length, search for the next valid header instead of stopping there.
    """

    def __init__(self, *, offset: int = 0, resync: bool = False) -> None:
        self._pieces: list[bytes] = []
        self._held = 0
        self._needed = _HEADER_SIZE
        self._offset = offset
        self._resync = resync
        self._searching = False
        self._stopped: BadLengthError | None = None

    @property
    def offset(self) -> int:
        """Stream offset of the first byte that is not part of a complete record."""
        return self._offset

    @property
    def needed(self) -> int:
        """Bytes still missing before the next record is complete, as far as is known.

        A reader compares this with what its file still has, before it reads or allocates.
        """
        return max(self._needed - self._held, 0)

    @property
    def stopped(self) -> BadLengthError | None:
        """The error that ended the stream, if one did."""
        return self._stopped

    def feed(self, data: bytes) -> list[Batch]:
        """Takes the next bytes of the stream and returns the records which they complete.

        There is one batch, or none; more only where a bad length was skipped (`resync`).
        """
        if self._stopped is not None:
            return []
        self._pieces.append(data)
        self._held += len(data)
        if self._held < self._needed:
            return []
        # All batches share one buffer, so that a stream full of bad lengths copies nothing.
        buffer = self._pieces[0] if len(self._pieces) == 1 else b"".join(self._pieces)
        base, position = self._offset, 0
        batches: list[Batch] = []
        while True:
            if self._searching:
                found = _find_header(buffer, position)
                self._searching = found is None
                position = max(position, len(buffer) - _HEADER_SIZE + 1) if found is None else found
                if found is None:
                    break
            batch, position = _cut(buffer, base, position)
            batches.append(batch)
            if batch.stop is None:
                break
            if not self._resync:
                self._stopped = batch.stop
                break
            self._searching = True
            position += 1
        self._keep(buffer, position)
        return batches

    def finish(self) -> TruncatedRecordError | None:
        """What is left over if the stream ends here: None, or half a record."""
        if self._held == 0 or self._searching:
            return None
        reason = f"the stream ends {self.needed} bytes before the end of a record"
        return TruncatedRecordError(reason, self._offset)

    def _keep(self, buffer: bytes, consumed: int) -> None:
        """Holds on to what is not consumed: less than a record, or nothing once stopped."""
        rest = buffer[consumed:] if self._stopped is None else b""
        self._pieces = [rest] if rest else []
        self._held = len(rest)
        self._offset += consumed
        self._needed = _HEADER_SIZE
        if self._held >= _HEADER_SIZE and not self._searching:
            self._needed = OVERHEAD + _LENGTH.unpack_from(rest)[0]


def _cut(buffer: bytes, base: int, position: int) -> tuple[Batch, int]:
    """All complete records from `position`, and where they end."""
    starts, ends, consumed, ok = _walk(buffer, position)
    bad = _check_data(buffer, starts, ends, base)
    stop = None
    if not ok:
        stop = BadLengthError("the length of a record does not match its CRC", base + consumed)
    return Batch(buffer, base, starts, ends, bad, stop), consumed


# Headers seen and found right. A file has few distinct ones, so a look-up replaces most checks.
_known_headers: dict[bytes, int] = {}


def _header_length(head: bytes) -> int | None:
    """The length that 12 header bytes tell, or None if their CRC does not hold."""
    size = head[:8]
    if _CRC.unpack_from(head, 8)[0] != masked_crc(size):
        return None
    length: int = _LENGTH.unpack(size)[0]
    if len(_known_headers) >= 4096:
        _known_headers.clear()
    _known_headers[head] = length
    return length


def _walk(buffer: bytes, position: int) -> tuple[list[int], list[int], int, bool]:
    """Data bounds of the complete records, where they end, and whether the next header is right."""
    starts: list[int] = []
    ends: list[int] = []
    size = len(buffer)
    known = _known_headers.get
    while (start := position + _HEADER_SIZE) <= size:
        head = buffer[position:start]
        length = known(head)
        if length is None and (length := _header_length(head)) is None:
            return starts, ends, position, False
        end = start + length
        if end + _FOOTER_SIZE > size:
            break
        starts.append(start)
        ends.append(end)
        position = end + _FOOTER_SIZE
    return starts, ends, position, True


def _check_data(
    buffer: bytes, starts: list[int], ends: list[int], base: int
) -> dict[int, BadChecksumError]:
    """Compares the CRCs of all records at once and returns the errors by index."""
    if not starts:
        return {}
    pieces = map(buffer.__getitem__, map(slice, starts, ends))
    found = np.fromiter(map(crc32c, pieces), dtype=np.uint32, count=len(starts))
    masked = (found >> np.uint32(15) | found << np.uint32(17)) + np.uint32(_MASK_DELTA)
    octets = np.frombuffer(buffer, dtype=np.uint8)
    where = np.asarray(ends, dtype=np.int64)[:, None] + np.arange(_FOOTER_SIZE)
    stored = np.ascontiguousarray(octets[where]).view("<u4")[:, 0]
    return {
        index: BadChecksumError(
            "the data of a record do not match their CRC", base + starts[index] - _HEADER_SIZE
        )
        for index in np.flatnonzero(masked != stored).tolist()
    }


def _find_header(buffer: bytes, position: int) -> int | None:
    """Position of the first 12 bytes, from `position` on, that are a valid header."""
    window = 1 << 10  # small at first: the next header is often near
    while position + _HEADER_SIZE <= len(buffer):
        found = np.flatnonzero(_headers(buffer[position : position + window + _HEADER_SIZE - 1]))
        if len(found):
            return position + int(found[0])
        position += window
        window = min(4 * window, 1 << 20)
    return None


def _headers(piece: bytes) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """For each position of `piece` whether a header of a record below 4 GiB stands there."""
    octets = np.frombuffer(piece, dtype=np.uint8)
    count = len(octets) - _HEADER_SIZE + 1
    crc = np.full(count, crc32c(bytes(8)), dtype=np.uint32)
    high = np.zeros(count, dtype=np.uint8)
    stored = np.zeros(count, dtype=np.uint32)
    for place, table in enumerate(_crc_tables()):
        crc ^= table[octets[place : place + count]]
        high |= octets[place + 4 : place + 4 + count]
        stored |= octets[place + 8 : place + 8 + count].astype(np.uint32) << np.uint32(8 * place)
    masked = (crc >> np.uint32(15) | crc << np.uint32(17)) + np.uint32(_MASK_DELTA)
    valid: np.ndarray[Any, np.dtype[np.bool_]] = np.logical_and(masked == stored, high == 0)
    return valid


@lru_cache(maxsize=1)
def _crc_tables() -> list[np.ndarray[Any, np.dtype[np.uint32]]]:
    """What each of the four low bytes of a length adds (by XOR) to the CRC of length 0."""
    zero = crc32c(bytes(8))
    return [
        np.array(
            [crc32c(_LENGTH.pack(octet << 8 * place)) ^ zero for octet in range(256)], np.uint32
        )
        for place in range(4)
    ]
