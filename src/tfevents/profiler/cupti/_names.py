"""Strings behind the pointers in records: read once, demangled, kept in one table."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt


class Names:
    """A string table filled through pointers.

    Args:
        read: the bytes at an address, up to their NUL; called once for each distinct address.
        demangle: from a mangled C++ name to a readable one.
    """

    def __init__(
        self, read: Callable[[int], bytes], demangle: Callable[[bytes], bytes] | None = None
    ) -> None:
        self._read = read
        self._demangle = demangle or (lambda name: name)
        self._by_pointer = {0: 0}
        self._by_text = {"": 0}

    def table(self) -> tuple[str, ...]:
        """Every string so far, in the order of its index."""
        return tuple(self._by_text)

    def add(self, text: str) -> int:
        """The index of a string."""
        return self._by_text.setdefault(text, len(self._by_text))

    def indices(self, pointers: npt.NDArray[np.uint64]) -> npt.NDArray[np.int32]:
        """The index of each string; the null pointer is 0."""
        distinct, inverse = np.unique(pointers, return_inverse=True)
        found = np.array([self._index(int(pointer)) for pointer in distinct], np.int32)
        return found[inverse.reshape(-1)]

    def _index(self, pointer: int) -> int:
        index = self._by_pointer.get(pointer)
        if index is None:
            name = self._demangle(self._read(pointer))
            index = self._by_pointer[pointer] = self.add(name.decode("utf-8", "replace"))
        return index


def demangle(name: bytes) -> bytes:
    """A C++ symbol in words, or the name as it is where that cannot be had."""
    function = _demangler() if name.startswith(b"_Z") else None
    if function is None:
        return name
    return function(name)


@lru_cache(maxsize=1)
def _demangler() -> Callable[[bytes], bytes] | None:
    try:
        library: Any = ctypes.CDLL("libstdc++.so.6")
        free: Any = ctypes.CDLL(None).free
        function = library.__cxa_demangle
    except (OSError, AttributeError, TypeError):
        return None
    pointer = ctypes.c_void_p
    function.restype = pointer
    function.argtypes = [ctypes.c_char_p, pointer, pointer, ctypes.POINTER(ctypes.c_int)]
    free.restype, free.argtypes = None, [pointer]

    def demangled(name: bytes) -> bytes:
        status = ctypes.c_int()
        text = function(name, None, None, ctypes.byref(status))
        if not text:
            return name
        try:
            return ctypes.string_at(text)
        finally:
            free(text)

    return demangled
