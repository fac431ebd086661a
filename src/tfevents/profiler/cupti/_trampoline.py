"""Buffer callbacks for CUPTI that never wait for Python.

CUPTI calls them from its own threads while it holds its lock. A callback written in Python waits
there for the GIL; a thread that holds the GIL and launches a kernel waits for CUPTI's lock; neither
goes on. So both callbacks are a few hundred bytes of native code (trampoline_<machine>.s, which
a test assembles and compares): `request` allocates, `complete` pushes the buffer on a lock-free
list, and Python takes the whole list with one exchange.

The page is filled while writable and made executable afterwards, never both. It is mapped once a
process and never unmapped: the library may call it at any time, even while the process exits.

Room is bounded: beyond `limit` bytes, `request` hands out small buffers whose records `complete`
counts and throws away. Returning no buffer would be simpler, but versions before 12.9 can crash
on that; it is left for the case that malloc itself fails.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import platform
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from tfevents.profiler.cupti._lib import GpuUnavailableError

BUFFER_BYTES = 4 << 20
LIMIT_BYTES = 512 << 20
SMALL_BYTES = 64 << 10

STATE = 0x10000
"""Where the state lies after the code: one page of the largest size in use."""

HEADER = 64
"""Bytes before each buffer: next, valid, holds (8 bytes each)."""

FIELDS = {
    "malloc": 0,
    "free": 1,
    "head": 2,
    "size": 3,
    "small": 4,
    "limit": 5,
    "held": 6,
    "requested": 7,
    "completed": 8,
    "refused": 9,
    "lost": 10,
}
"""The state, as indices of 64-bit words; the table of record sizes follows at byte 128."""

STEPS_AT = 128
STEPS = 64


@dataclass(frozen=True, slots=True)
class Code:
    """Machine code and the offsets of its entry points."""

    request: int
    complete: int
    drain: int
    release: int
    ignore: int
    text: bytes


CODE: dict[str, Code] = {
    "x86_64": Code(
        request=0x0,
        complete=0xA0,
        drain=0x110,
        release=0x120,
        ignore=0x140,
        text=bytes.fromhex(
            "53415441554889fb4989f448c70200000000f048ff051e0001004c8b2df7ff00004c89e8f0480fc1"
            "05030001004c01e8483b05f1ff00007715498d7d40ff15bdff00004885c074064c896810eb26f04c"
            "292ddaff00004c8b2dc3ff0000498d7d40ff1599ff00004885c0740e48c74010000000004883c040"
            "eb0bf048ff05c6ff00004531ed4889034d892c24415d415c5bc3cccccccccccccccccccccccccccc"
            "4885d2742cf048ff0593ff0000488d7ac048837f1000741a4c894708488b054dff0000488907f048"
            "0fb13d41ff000075f2c331c04901d04c8d0da2ff00004c39c2731948ffc08b0a83f940730f410fb6"
            "0c0985c97406488d14caebe2f04801054cff0000ff25fefe0000cccccccccccc31c0488705f7fe00"
            "00c3cccccccccccc488b4710f048290504ff0000ff25d6fe0000cccccccccccccccccccccccccccc"
            "c3"
        ),
    ),
    "aarch64": Code(
        request=0x0,
        complete=0xF0,
        drain=0x1A0,
        release=0x1C0,
        ignore=0x1F0,
        text=bytes.fromhex(
            "fd7bbda9fd030091f35301a9f55b02a9f30300aaf40301aa5f0000f936ff0710e90316aa2d0080d2"
            "2ce100918afd5fc84a010d8b8afd0bc8abffff35d50e40f92cc100918afd5fc84a01158b8afd0bc8"
            "abffff35cd1640f95f010debe8000054a0020191c90240f920013fd6600000b4150800f90e000014"
            "e90316aaed0315cb2cc100918afd5fc84a010d8b8afd0bc8abffff35d51240f9a0020191c90240f9"
            "20013fd6800000b41f0800f90000019109000014e90316aa2d0080d22c2101918afd5fc84a010d8b"
            "8afd0bc8abffff35f5031faa600200f9950200f9f35341a9f55b42a9fd7bc3a8c0035fd600000000"
            "220500b469f807102d0080d22c0101918afd5fc84a010d8b8afd0bc8abffff35400001d10d0840f9"
            "6d0100b4040400f92c4100918a0140f90a0000f98bfd5fc87f010aeb81ffff5480fd0ec88effff35"
            "c0035fd6e5031faa8400028b260102915f0004eb22010054a5040091470040b9ff000171a2000054"
            "c768673867000034420c078bf7ffff172c4101918afd5fc84a01058b8afd0bc8abffff35290540f9"
            "20011fd6c0035fd6000000000000000009f307102941009120fd5fc83ffd0bc8cbffff35c0035fd6"
            "000000000000000009f207100d0840f9ed030dcb2cc100918afd5fc84a010d8b8afd0bc8abffff35"
            "290540f920011fd60000000000000000c0035fd6"
        ),
    ),
}
"""By `platform.machine()`; written from the assembled sources."""


@dataclass(frozen=True, slots=True)
class Filled:
    """A completed buffer: `valid` bytes of records at `address`; `node` gives it back."""

    node: int
    address: int
    valid: int


@dataclass(frozen=True, slots=True)
class Counters:
    """Sums since the process began.

    Attributes:
        requested, completed: calls of the callbacks.
        refused: requests that got no buffer at all.
        lost: records in buffers that were thrown away.
        held: bytes in use now.
    """

    requested: int
    completed: int
    refused: int
    lost: int
    held: int


class Buffers(Protocol):
    """Where CUPTI's buffers come from and go to, by the addresses of three callbacks."""

    request: int
    complete: int
    ignore: int

    def configure(self, size: int, limit: int, sizes: Mapping[int, int]) -> None:
        """Bytes of a buffer, bytes held at most, record sizes by kind (to count lost ones)."""

    def drain(self) -> list[Filled]:
        """Every buffer completed since the last call, oldest first."""

    def release(self, node: int) -> None:
        """Give a drained buffer back."""

    def counters(self) -> Counters:
        """What happened so far."""


class NativeBuffers:
    """Callbacks as machine code.

    Raises:
        GpuUnavailableError: no code for this machine, or the system refuses executable memory.
    """

    def __init__(self) -> None:
        code = _code()
        libc = ctypes.CDLL(None, use_errno=True)
        base = _map(libc, code.text)
        self._state = (ctypes.c_uint64 * len(FIELDS)).from_address(base + STATE)
        self._steps = (ctypes.c_uint8 * STEPS).from_address(base + STATE + STEPS_AT)
        self._set("malloc", _address(libc.malloc))
        self._set("free", _address(libc.free))
        self._set("small", SMALL_BYTES)
        self.request = base + code.request
        self.complete = base + code.complete
        self.ignore = base + code.ignore
        self._drain = ctypes.CFUNCTYPE(ctypes.c_void_p)(base + code.drain)
        self._release = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(base + code.release)
        self.configure(BUFFER_BYTES, LIMIT_BYTES, {})

    def configure(self, size: int, limit: int, sizes: Mapping[int, int]) -> None:
        self._set("size", size)
        self._set("limit", limit)
        for kind in range(STEPS):
            step, odd = divmod(sizes.get(kind, 0), 8)
            self._steps[kind] = step if not odd and step < 256 else 0

    def drain(self) -> list[Filled]:
        filled = []
        node = self._drain()
        while node:
            following, valid = (ctypes.c_uint64 * 2).from_address(node)
            filled.append(Filled(node, node + HEADER, valid))
            node = following
        filled.reverse()
        return filled

    def release(self, node: int) -> None:
        self._release(node)

    def counters(self) -> Counters:
        return Counters(*(self._get(name) for name in Counters.__slots__))

    def _get(self, name: str) -> int:
        return int(self._state[FIELDS[name]])

    def _set(self, name: str, value: int) -> None:
        self._state[FIELDS[name]] = value


def _code() -> Code:
    machine, system = platform.machine(), platform.system()
    code = CODE.get(machine)
    if code is None or system != "Linux" or ctypes.sizeof(ctypes.c_void_p) != 8:
        raise GpuUnavailableError(
            f"there are no native buffer callbacks for {system} on {machine} "
            "(python_callbacks=True would do, at the risk of a deadlock)"
        )
    return code


def _map(libc: Any, text: bytes) -> int:
    """Address of a mapping with the code made executable and the zeroed state behind it."""
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_ssize_t]
    libc.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
    access, flags = mmap.PROT_READ | mmap.PROT_WRITE, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
    base = libc.mmap(None, 2 * STATE, access, flags, -1, 0)
    if base in (None, ctypes.c_void_p(-1).value):
        raise GpuUnavailableError(f"no memory for the buffer callbacks: {_errno()}")
    ctypes.memmove(base, text, len(text))
    if libc.mprotect(base, STATE, mmap.PROT_READ | mmap.PROT_EXEC):
        reason = _errno()
        libc.munmap(base, 2 * STATE)
        raise GpuUnavailableError(
            f"this system refuses executable memory ({reason}), which the buffer callbacks need "
            "(python_callbacks=True would do, at the risk of a deadlock)"
        )
    _clear_cache(base, len(text))
    return int(base)


def _errno() -> str:
    return os.strerror(ctypes.get_errno())


def _clear_cache(base: int, length: int) -> None:
    """Make the processor see the new code; Linux does so at mprotect, but does not promise it."""
    if platform.machine() != "aarch64":
        return
    try:
        clear = ctypes.CDLL("libgcc_s.so.1").__clear_cache
    except (OSError, AttributeError):
        return
    clear(ctypes.c_void_p(base), ctypes.c_void_p(base + length))


def _address(function: Any) -> int:
    return ctypes.cast(function, ctypes.c_void_p).value or 0


_REQUEST = ctypes.CFUNCTYPE(
    None,
    ctypes.POINTER(ctypes.c_void_p),
    ctypes.POINTER(ctypes.c_size_t),
    ctypes.POINTER(ctypes.c_size_t),
)
_COMPLETE = ctypes.CFUNCTYPE(
    None, ctypes.c_void_p, ctypes.c_uint32, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_size_t
)


class PythonBuffers:
    """Callbacks as Python functions, for systems without executable memory, on request only.

    They can deadlock with any thread that calls CUDA while it holds the GIL. Buffers beyond the
    limit are refused, so the library counts what it drops.
    """

    def __init__(self) -> None:
        self._callbacks = (
            _REQUEST(self._on_request),
            _COMPLETE(self._on_complete),
            ctypes.CFUNCTYPE(None)(lambda: None),
        )
        self.request, self.complete, self.ignore = map(_address, self._callbacks)
        self._blocks: dict[int, ctypes.Array[ctypes.c_char]] = {}
        self._filled: list[Filled] = []
        self._size, self._limit = BUFFER_BYTES, LIMIT_BYTES
        self._requested = self._completed = self._refused = 0

    def configure(self, size: int, limit: int, sizes: Mapping[int, int]) -> None:
        self._size, self._limit = size, limit

    def drain(self) -> list[Filled]:
        filled, self._filled = self._filled, []
        return filled

    def release(self, node: int) -> None:
        self._blocks.pop(node, None)

    def counters(self) -> Counters:
        held = len(self._blocks) * self._size
        return Counters(self._requested, self._completed, self._refused, 0, held)

    def _on_request(self, buffer: Any, size: Any, records: Any) -> None:
        self._requested += 1
        buffer[0], size[0], records[0] = None, 0, 0
        if (len(self._blocks) + 1) * self._size > self._limit:
            self._refused += 1
            return
        block = ctypes.create_string_buffer(self._size + 8)
        address = ctypes.addressof(block) + 7 & ~7
        self._blocks[address] = block
        buffer[0], size[0] = address, self._size

    def _on_complete(
        self, _context: Any, _stream: Any, buffer: Any, _size: Any, valid: Any
    ) -> None:
        self._completed += 1
        if buffer:
            self._filled.append(Filled(buffer, buffer, valid))


_made: dict[type, Buffers] = {}


def buffers(*, python_callbacks: bool = False) -> Buffers:
    """The one set of callbacks of this process; it lives as long as the process does.

    Not for two threads at once: sessions are started one at a time.

    Raises:
        GpuUnavailableError: native callbacks cannot be had, and Python ones were not asked for.
    """
    kind: type[NativeBuffers] | type[PythonBuffers]
    kind = PythonBuffers if python_callbacks else NativeBuffers
    if kind not in _made:
        _made[kind] = kind()
    return _made[kind]
