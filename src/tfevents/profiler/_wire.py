"""Many protobuf messages of one shape at once, by numpy.

A message here is a row of integer fields, and of messages that hold one constant and one integer.
Each field becomes a block, (byte of the field, row), with a mask of the bytes that count; gathering
the masked bytes row by row gives the canonical encoding. Memory goes with the number of rows, some
60 bytes for each, so callers give them in chunks.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

__all__ = ["Field", "delimited", "messages", "varint"]

Values: TypeAlias = npt.NDArray[Any]
Block: TypeAlias = tuple[npt.NDArray[np.uint8], npt.NDArray[np.bool_]]

@dataclass(frozen=True, slots=True)
class Field:
    """One integer a row.

    Attributes:
        key: number and wire type of the field, one byte.
        values: integers, negative ones in two's complement of 64 bits.
        present: which rows have the field; None for all.
        within: where the integer stands in a message, the bytes of that message's own key and of
            all it holds before; the message gets its length between key and contents.
    """

    key: int
    values: Values
    present: npt.NDArray[np.bool_] | None = None
    within: tuple[int, bytes] | None = None


def messages(key: int, fields: list[Field]) -> bytes:
    """All rows as length-delimited fields `key`, one after the other."""
    blocks: list[Block] = []
    for field in fields:
        blocks += _field(field)
    length = np.sum([mask.sum(axis=0) for _, mask in blocks], axis=0)
    blocks = [_constant(bytes((key,)), len(length)), _varints(length), *blocks]
    octets = np.concatenate([block for block, _ in blocks])
    kept: npt.NDArray[np.uint8] = octets.T[np.concatenate([mask for _, mask in blocks]).T]
    return kept.tobytes()


def _field(field: Field) -> list[Block]:
    count = len(field.values)
    number = _varints(field.values)
    blocks = [_constant(bytes((field.key,)), count), number]
    if field.within is not None:
        outer, before = field.within
        length = number[1].sum(axis=0) + (len(before) + 1)
        head = [_constant(bytes((outer,)), count), _varints(length), _constant(before, count)]
        blocks = [*head, *blocks]
    if field.present is not None:
        blocks = [(octets, mask & field.present) for octets, mask in blocks]
    return blocks


def _constant(data: bytes, count: int) -> Block:
    octets = np.frombuffer(data, np.uint8)[:, None]
    return np.broadcast_to(octets, (len(data), count)), np.ones((len(data), count), bool)


def _varints(values: Values) -> Block:
    """Base-128 forms, as wide as the largest needs."""
    numbers = values.astype(np.uint64)
    width = max((int(numbers.max()).bit_length() + 6) // 7, 1) if len(numbers) else 1
    octets = np.empty((width, len(numbers)), np.uint8)
    mask = np.ones((width, len(numbers)), bool)
    for index in range(width):
        octets[index] = numbers & np.uint64(0x7F)
        numbers = numbers >> np.uint64(7)
        more = numbers > 0
        octets[index] |= more.astype(np.uint8) << 7
        if index + 1 < width:
            mask[index + 1] = more
    return octets, mask


def varint(number: int) -> bytes:
    """Base-128 form of one integer, a negative one in two's complement of 64 bits."""
    number &= 0xFFFFFFFFFFFFFFFF
    octets = bytearray()
    while number > 0x7F:
        octets.append(number & 0x7F | 0x80)
        number >>= 7
    octets.append(number)
    return bytes(octets)


def delimited(number: int, parts: list[bytes]) -> list[bytes]:
    """A length-delimited field in parts, which are not joined."""
    return [varint(number << 3 | 2) + varint(sum(map(len, parts))), *parts]
