"""The CUDA driver: proof that it works, and waiting for the device.

`prove()` calls cuInit, after which forked children of this process can no longer use CUDA; so it
runs only when somebody asks for GPU activity, never at import and never in such a child.
"""

from __future__ import annotations

import ctypes
import os
import platform

from tfevents.profiler.cupti._lib import GpuUnavailableError

NAMES = {"Linux": "libcuda.so.1", "Windows": "nvcuda.dll"}

_INT, _PTR = ctypes.c_int, ctypes.c_void_p

SIGNATURES: dict[str, tuple[type, ...]] = {
    "cuInit": (ctypes.c_uint,),
    "cuDeviceGetCount": (ctypes.POINTER(_INT),),
    "cuDeviceGet": (ctypes.POINTER(_INT), _INT),
    "cuDevicePrimaryCtxGetState": (_INT, ctypes.POINTER(ctypes.c_uint), ctypes.POINTER(_INT)),
    "cuDevicePrimaryCtxRetain": (ctypes.POINTER(_PTR), _INT),
    "cuDevicePrimaryCtxRelease_v2": (_INT,),
    "cuCtxGetCurrent": (ctypes.POINTER(_PTR),),
    "cuCtxPushCurrent_v2": (_PTR,),
    "cuCtxPopCurrent_v2": (ctypes.POINTER(_PTR),),
    "cuCtxSynchronize": (),
}
"""Every driver function used and its arguments; all return a CUresult."""

MEANINGS = {
    2: "out of memory",
    3: "CUDA is not initialised in this process (it was forked from one that used CUDA)",
    34: "the installed libcuda is a stub for linking",
    46: "the device is busy or reserved by another process",
    100: "no CUDA device is visible",
    101: "the device is invalid",
    802: "the system is not ready to use CUDA",
    803: "driver and kernel module do not match",
    804: "the driver is too old for this device",
    900: "a stream is being captured into a graph",
    999: "the driver gives no reason",
}
"""CUresult values worth a sentence."""

_proven: Driver | None = None
_proven_in: int | None = None


class Driver:
    """A driver that answered cuInit and has a device.

    Attributes:
        devices: how many devices it shows.
    """

    def __init__(self, library: ctypes.CDLL) -> None:
        self._functions = {}
        for name, arguments in SIGNATURES.items():
            function = getattr(library, name)
            function.restype, function.argtypes = _INT, list(arguments)
            self._functions[name] = function
        self.devices = 0

    def call(self, name: str, *arguments: object) -> int:
        """The CUresult of one function, called without the GIL."""
        return int(self._functions[name](*arguments))

    def synchronise(self) -> list[str]:
        """Wait for the current context and every active primary context; what failed, in words.

        Errors are reported, not raised: work launched before a failing kernel was recorded too.
        """
        current = _PTR()
        failed = [self.call("cuCtxGetCurrent", ctypes.byref(current))]
        if current.value:
            failed.append(self.call("cuCtxSynchronize"))
        failed += [self._synchronise_primary(device) for device in range(self.devices)]
        codes = dict.fromkeys(code for code in failed if code)
        return [f"waiting for the GPU failed: {explain(code)}" for code in codes]

    def _synchronise_primary(self, ordinal: int) -> int:
        device, flags, active = _INT(), ctypes.c_uint(), _INT()
        code = self.call("cuDeviceGet", ctypes.byref(device), ordinal)
        if code:
            return code
        state = ctypes.byref(flags), ctypes.byref(active)
        code = self.call("cuDevicePrimaryCtxGetState", device, *state)
        if code or not active.value:  # retaining an idle one would create a context
            return code
        context, popped = _PTR(), _PTR()
        code = self.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
        if code:
            return code
        code = self.call("cuCtxPushCurrent_v2", context)
        if not code:
            code = self.call("cuCtxSynchronize")
            code = self.call("cuCtxPopCurrent_v2", ctypes.byref(popped)) or code
        return self.call("cuDevicePrimaryCtxRelease_v2", device) or code


def explain(code: int) -> str:
    """A CUresult in words."""
    return f"{MEANINGS.get(code, 'an error')} (CUDA error {code})"


def prove() -> Driver:
    """The working driver of this process.

    Raises:
        GpuUnavailableError: no driver, no device, or this process was forked from one that
            already used it through us.
    """
    global _proven, _proven_in
    if _proven_in not in (None, os.getpid()):
        raise GpuUnavailableError("this process was forked from one that was using the GPU")
    if _proven is None:
        driver = _open()
        code = driver.call("cuInit", 0)
        if code:
            raise GpuUnavailableError(f"the CUDA driver does not start: {explain(code)}")
        _proven_in = os.getpid()
        count = _INT()
        code = driver.call("cuDeviceGetCount", ctypes.byref(count))
        if code or count.value < 1:
            raise GpuUnavailableError(f"there is no GPU: {explain(code or 100)}")
        driver.devices = count.value
        _proven = driver
    return _proven


def _open() -> Driver:
    name = NAMES.get(platform.system())
    if name is None:
        raise GpuUnavailableError(f"there is no CUDA driver for {platform.system()}")
    try:
        return Driver(ctypes.CDLL(name))
    except OSError:
        raise GpuUnavailableError(f"there is no CUDA driver ({name} is not installed)") from None
    except AttributeError as error:
        raise GpuUnavailableError(f"the CUDA driver is too old: {error}") from None
