"""How many bytes a record of each kind takes in the library at hand.

The library itself is asked: it walks a buffer of ours and the distance it steps is the size. That
needs no table of versions and holds for later ones, which only append fields. The table below
serves where the walk does not answer but cuptiGetVersion does.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterable

from tfevents.profiler.cupti._lib import Cupti, CuptiError

PROBE_BYTES = 4096
KINDS = range(1, 64)
"""Activity kinds that are measured; 13.5 knows 59."""

BY_VERSION: dict[int, tuple[tuple[int, int], ...]] = {
    1: ((17, 88), (26, 96), (130400, 112)),
    2: ((17, 88), (130400, 104)),
    3: ((17, 176), (20, 208), (130000, 216), (130100, 224), (130300, 232), (130400, 248)),
    4: ((17, 40),),
    5: ((17, 40),),
    8: ((17, 176), (20, 184), (130200, 192)),
    9: ((17, 16), (22, 24), (23, 32), (130100, 40)),
    10: ((17, 176), (20, 208), (130000, 216), (130100, 224), (130300, 232), (130400, 248)),
    11: ((17, 32),),
    12: ((17, 56),),
    13: ((17, 32), (130000, 40)),
    17: ((17, 40), (21, 48), (22, 56)),
    22: ((17, 96),),
    37: ((17, 24),),
    38: ((17, 40), (26, 56)),
    39: ((17, 24),),
    49: ((17, 120), (24, 128)),
    51: ((17, 48), (21, 56)),
}
"""Kind -> (first value of cuptiGetVersion, size), ascending. Version 18 is not told apart here:
11.8, 12.0 and 12.1 all report it and differ in the size of a kernel."""

AMBIGUOUS = 18


def measure(cupti: Cupti, kinds: Iterable[int] = KINDS) -> dict[int, int]:
    """Record sizes by kind as the library steps over them; kinds it does not know are absent."""
    sizes = {}
    for kind in kinds:
        size = _step(cupti, kind)
        if size and size % 8 == 0:
            sizes[kind] = size
    return sizes


def _step(cupti: Cupti, kind: int) -> int:
    probe = (ctypes.c_uint64 * (PROBE_BYTES // 8))(*[kind] * (PROBE_BYTES // 8))
    record = ctypes.c_void_p()
    try:
        for _ in range(2):
            cupti.call(
                "cuptiActivityGetNextRecord",
                ctypes.addressof(probe),
                PROBE_BYTES,
                ctypes.byref(record),
            )
    except CuptiError:
        return 0
    return (record.value or 0) - ctypes.addressof(probe)


def from_version(version: int) -> dict[int, int]:
    """Record sizes by kind for a value of cuptiGetVersion; empty where it does not tell."""
    if version == AMBIGUOUS:
        return {}
    sizes = {}
    for kind, steps in BY_VERSION.items():
        fitting = [size for first, size in steps if first <= version]
        if fitting:
            sizes[kind] = fitting[-1]
    return sizes


def record_sizes(cupti: Cupti) -> dict[int, int]:
    """Measured sizes, else those of the version, else nothing."""
    sizes = measure(cupti)
    if sizes:
        return sizes
    version = ctypes.c_uint32()
    try:
        cupti.call("cuptiGetVersion", ctypes.byref(version))
    except CuptiError:
        return {}
    return from_version(version.value)
