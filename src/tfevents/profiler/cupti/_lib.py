"""libcupti as data: where to look for it, what its functions take, what its codes mean.

Nothing here runs at import, and nothing here calls a CUPTI function: loading a library and asking
it for symbols is safe on a machine without a driver, the first call is not (13.2 overflows the
stack there). So `load()` may run before the driver is proven, `Cupti.call()` only after.

A copy that is already mapped comes first, whoever loaded it: a second copy from another path
would be an independent one, blind to the first one's subscribers.
"""

from __future__ import annotations

import ctypes
import os
import platform
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tfevents.errors import TfEventsError

OVERRIDE = "TFEVENTS_CUPTI_PATH"
"""Environment variable with the path of the library to use."""

RESULTS = {
    0: "SUCCESS",
    1: "INVALID_PARAMETER",
    2: "INVALID_DEVICE",
    3: "INVALID_CONTEXT",
    4: "INVALID_EVENT_DOMAIN_ID",
    5: "INVALID_EVENT_ID",
    6: "INVALID_EVENT_NAME",
    7: "INVALID_OPERATION",
    8: "OUT_OF_MEMORY",
    9: "HARDWARE",
    10: "PARAMETER_SIZE_NOT_SUFFICIENT",
    11: "API_NOT_IMPLEMENTED",
    12: "MAX_LIMIT_REACHED",
    13: "NOT_READY",
    14: "NOT_COMPATIBLE",
    15: "NOT_INITIALIZED",
    16: "INVALID_METRIC_ID",
    17: "INVALID_METRIC_NAME",
    18: "QUEUE_EMPTY",
    19: "INVALID_HANDLE",
    20: "INVALID_STREAM",
    21: "INVALID_KIND",
    22: "INVALID_EVENT_VALUE",
    23: "DISABLED",
    24: "INVALID_MODULE",
    25: "INVALID_METRIC_VALUE",
    26: "HARDWARE_BUSY",
    27: "NOT_SUPPORTED",
    28: "UM_PROFILING_NOT_SUPPORTED",
    29: "UM_PROFILING_NOT_SUPPORTED_ON_DEVICE",
    30: "UM_PROFILING_NOT_SUPPORTED_ON_NON_P2P_DEVICES",
    31: "UM_PROFILING_NOT_SUPPORTED_WITH_MPS",
    32: "CDP_TRACING_NOT_SUPPORTED",
    33: "VIRTUALIZED_DEVICE_NOT_SUPPORTED",
    34: "CUDA_COMPILER_NOT_COMPATIBLE",
    35: "INSUFFICIENT_PRIVILEGES",
    36: "OLD_PROFILER_API_INITIALIZED",
    37: "OPENACC_UNDEFINED_ROUTINE",
    38: "LEGACY_PROFILER_NOT_SUPPORTED",
    39: "MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED",
    40: "VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES",
    41: "CONFIDENTIAL_COMPUTING_NOT_SUPPORTED",
    42: "CMP_DEVICE_NOT_SUPPORTED",
    43: "MIG_DEVICE_NOT_SUPPORTED",
    44: "SLI_DEVICE_NOT_SUPPORTED",
    45: "WSL_DEVICE_NOT_SUPPORTED",
    46: "INVALID_CHIP_NAME",
    47: "HES_TRACE_NOT_SUPPORTED_ON_MPS",
    999: "UNKNOWN",
}
"""CUptiResult by value, without its prefix CUPTI_ERROR_. The library's own cuptiGetResultString
is no substitute: some versions leave the string NULL."""

_U32, _U64, _PTR = ctypes.c_uint32, ctypes.c_uint64, ctypes.c_void_p

SIGNATURES: dict[str, tuple[type, ...]] = {
    "cuptiGetVersion": (ctypes.POINTER(_U32),),
    "cuptiGetTimestamp": (ctypes.POINTER(_U64),),
    "cuptiGetCallbackName": (_U32, _U32, ctypes.POINTER(ctypes.c_char_p)),
    "cuptiSubscribe": (ctypes.POINTER(_PTR), _PTR, _PTR),
    "cuptiUnsubscribe": (_PTR,),
    "cuptiActivityRegisterCallbacks": (_PTR, _PTR),
    "cuptiActivityEnable": (_U32,),
    "cuptiActivityEnableAndDump": (_U32,),
    "cuptiActivityDisable": (_U32,),
    "cuptiActivityFlushAll": (_U32,),
    "cuptiActivityGetNextRecord": (_PTR, ctypes.c_size_t, ctypes.POINTER(_PTR)),
    "cuptiActivityGetNumDroppedRecords": (_PTR, _U32, ctypes.POINTER(ctypes.c_size_t)),
    "cuptiActivityPushExternalCorrelationId": (_U32, _U64),
    "cuptiActivityPopExternalCorrelationId": (_U32, ctypes.POINTER(_U64)),
}
"""Every function used and its arguments; all return a CUptiResult."""

_NO_RIGHTS = {
    35: "access to the GPU's counters is restricted to administrators on this machine",
    40: "the hypervisor does not let this virtual GPU be profiled",
}
_NO_DEVICE = {
    33: "this virtual GPU cannot be profiled",
    41: "a GPU in confidential computing mode cannot be profiled",
    42: "a crypto mining processor cannot be profiled",
    43: "this MIG device cannot be profiled",
    44: "GPUs joined by SLI cannot be profiled",
    45: "a GPU under WSL cannot be profiled with this driver",
}
_NO_DRIVER = {15: "CUPTI cannot initialise, most often because it is newer than the driver"}
_TAKEN = "another profiler (torch.profiler, Nsight, cuda-gdb, ...) is attached to this process"
_NEWER_API = {14: "another tool uses the newer API family"}
_NO_KIND = {21: "the kind is not supported here"}
_CANNOT_ENABLE = {
    14: "the kind clashes with one another tool has enabled",
    **_NO_KIND,
    **_NO_DRIVER,
    **_NO_RIGHTS,
    **_NO_DEVICE,
}

MEANINGS: dict[str, dict[int, str]] = {
    "cuptiGetVersion": _NO_DRIVER,
    "cuptiGetTimestamp": _NO_DRIVER,
    "cuptiGetCallbackName": {1: "the function id is unknown to this version"},
    "cuptiSubscribe": {
        39: _TAKEN,
        12: _TAKEN,
        **_NEWER_API,
        **_NO_DRIVER,
        **_NO_RIGHTS,
        **_NO_DEVICE,
    },
    "cuptiUnsubscribe": {19: "the subscription is gone already"},
    "cuptiActivityRegisterCallbacks": {**_NEWER_API, **_NO_DRIVER},
    "cuptiActivityEnable": _CANNOT_ENABLE,
    "cuptiActivityEnableAndDump": _CANNOT_ENABLE,
    "cuptiActivityDisable": {**_NO_KIND, **_NO_DRIVER},
    "cuptiActivityFlushAll": {7: "the buffer callbacks are not registered", **_NO_DRIVER},
    "cuptiActivityGetNextRecord": {
        12: "there are no more records",
        21: "the kind of the next record is unknown to this version",
    },
    "cuptiActivityGetNumDroppedRecords": _NO_DRIVER,
    "cuptiActivityPushExternalCorrelationId": {1: "the kind of external id is invalid"},
    "cuptiActivityPopExternalCorrelationId": {18: "nothing was pushed on this thread"},
}
"""What a code means coming from that function, where it means something in particular."""


class GpuUnavailableError(TfEventsError, RuntimeError):
    """GPU activity cannot be recorded here and now; the text is one sentence that says why."""


class CuptiError(TfEventsError):
    """A CUPTI function failed.

    Attributes:
        function: its name.
        code: the CUptiResult it returned.
        name: that code's name without CUPTI_ERROR_, or "?" where it is not a known one.
    """

    def __init__(self, function: str, code: int) -> None:
        super().__init__(function, code)
        self.function = function
        self.code = code
        self.name = RESULTS.get(code, "?")

    def __str__(self) -> str:
        meaning = MEANINGS.get(self.function, {}).get(self.code)
        text = f"{self.function} returned {self.code} ({self.name})"
        return f"{text}: {meaning}" if meaning else text


class Cupti:
    """A loaded libcupti with every function of SIGNATURES bound.

    Attributes:
        where: path or soname it was loaded by, and which rule found it.

    Raises:
        GpuUnavailableError: a function is missing, or this is the release that must not be called.
    """

    def __init__(self, library: ctypes.CDLL, where: str) -> None:
        self.where = where
        if is_broken(library):
            raise GpuUnavailableError(
                f"{where} is CUPTI 13.2, which can crash the process on any call; "
                "install nvidia-cuda-cupti 13.3 or newer"
            )
        missing = [name for name in SIGNATURES if not hasattr(library, name)]
        if missing:
            raise GpuUnavailableError(f"{where} lacks {', '.join(missing)}")
        self.functions = {name: _bind(library, name, args) for name, args in SIGNATURES.items()}

    def call(self, name: str, *arguments: object) -> None:
        """Call a function of SIGNATURES, without the GIL; CuptiError unless it returns 0."""
        code = self.functions[name](*arguments)
        if code:
            raise CuptiError(name, code)


def is_broken(library: ctypes.CDLL) -> bool:
    """Whether this is 13.2, told by its symbols alone since no function may be called."""
    newer = hasattr(library, "cuptiIsTracingSessionRunning")
    return hasattr(library, "cuptiActivityGetStructSize") and not newer


def _bind(library: ctypes.CDLL, name: str, arguments: tuple[type, ...]) -> ctypes._NamedFuncPointer:
    function = getattr(library, name)
    function.restype, function.argtypes = ctypes.c_int, list(arguments)
    return function  # type: ignore[no-any-return]


# --- finding it ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Layout:
    """How one operating system names and places the library.

    Attributes:
        sonames: names its loader knows, newest first, with the CUDA major each belongs to.
        patterns: file names inside a folder, by CUDA major.
        wheel, toolkit: folders below site-packages and below a CUDA installation.
        prefix: folder below a conda environment.
        roots: patterns of CUDA installations that no variable names.
    """

    sonames: tuple[tuple[int, str], ...]
    patterns: tuple[tuple[int, str], ...]
    wheel: tuple[str, ...]
    toolkit: tuple[str, ...]
    prefix: str
    roots: tuple[str, ...] = ()


LAYOUTS = {
    "Linux": Layout(
        sonames=(
            (13, "libcupti.so.13"),
            (12, "libcupti.so.12"),
            (11, "libcupti.so.11.8"),
            (11, "libcupti.so.11.7"),
        ),
        patterns=((13, "libcupti.so.13"), (12, "libcupti.so.12"), (11, "libcupti.so.11.*")),
        wheel=("nvidia/cu13/lib", "nvidia/cuda_cupti/lib"),
        toolkit=("extras/CUPTI/lib64", "lib64", "lib"),
        prefix="lib",
        roots=("/usr/local/cuda", "/usr/local/cuda-*"),
    ),
    "Windows": Layout(
        sonames=((13, "cupti64_13.dll"),),
        patterns=(
            (13, "cupti64_13.dll"),
            (13, "cupti64_202[5-9].*.dll"),
            (12, "cupti64_202[2-5].*.dll"),
        ),
        wheel=("nvidia/cu13/bin", "nvidia/cu13/bin/x86_64", "nvidia/cuda_cupti/bin"),
        toolkit=("extras/CUPTI/lib64", "bin", "bin/x64"),
        prefix="Library/bin",
    ),
}

RUNTIMES = ((13, "libcudart.so.13"), (12, "libcudart.so.12"), (11, "libcudart.so.11.0"))
"""The CUDA runtime's sonames, which tell the major a process works with."""

_loaded: Cupti | None = None


def load() -> Cupti:
    """The library of this process, found once.

    Raises:
        GpuUnavailableError: there is none, or none that can be used; the reason of the first bad
            one is kept, as it is the one a user would expect to be taken.
    """
    global _loaded
    if _loaded is None:
        _loaded = _find()
    return _loaded


def _find() -> Cupti:
    layout = LAYOUTS.get(platform.system())
    if layout is None:
        raise GpuUnavailableError(f"there is no CUPTI for {platform.system()}")
    major = framework_major()
    for soname in by_major(layout.sonames, major):
        mapped = _mapped(soname)
        if mapped is not None:
            return Cupti(mapped, f"{soname} (already in the process)")
    refused = []
    for source, name in candidates(layout, major, os.environ, sys.path):
        try:
            return Cupti(ctypes.CDLL(name), f"{name} ({source})")
        except GpuUnavailableError as error:
            refused.append(str(error))
        except OSError as error:
            if Path(name).is_absolute() or source == OVERRIDE:
                refused.append(f"{name} ({source}) cannot be loaded: {error}")
    raise GpuUnavailableError(
        refused[0] if refused else "no libcupti was found (install nvidia-cuda-cupti)"
    )


def candidates(
    layout: Layout, major: int | None, environ: Mapping[str, str], path: Sequence[str]
) -> Iterator[tuple[str, str]]:
    """(rule, path or soname) in the order they are tried; files are only listed where they exist.

    The override is tried alone: it failing is news, and no reason to take another.

    Args:
        layout: the operating system's.
        major: CUDA major to try first, or None for the newest.
        environ: the process environment.
        path: directories of installed packages, as sys.path has them.
    """
    patterns = by_major(layout.patterns, major)
    if environ.get(OVERRIDE):
        yield OVERRIDE, environ[OVERRIDE]
        return
    for directory in path:
        yield from _files("site-packages", Path(directory or "."), layout.wheel, patterns)
    if environ.get("CONDA_PREFIX"):
        yield from _files("conda", Path(environ["CONDA_PREFIX"]), (layout.prefix,), patterns)
    for soname in by_major(layout.sonames, major):
        yield "loader path", soname
    for variable in ("CUDA_HOME", "CUDA_PATH"):
        if environ.get(variable):
            yield from _files(variable, Path(environ[variable]), layout.toolkit, patterns)
    for root in layout.roots:
        for installed in sorted(Path("/").glob(root.lstrip("/")), reverse=True):
            yield from _files("toolkit", installed, layout.toolkit, patterns)


def by_major(names: Sequence[tuple[int, str]], major: int | None) -> list[str]:
    """The names, those of the wanted CUDA major first, else in the order of the table."""
    return [name for _, name in sorted(names, key=lambda entry: entry[0] != major)]


def _files(
    rule: str, root: Path, folders: Sequence[str], patterns: Sequence[str]
) -> Iterator[tuple[str, str]]:
    # os.path, since Path.is_dir raises where a folder above must not be read
    present = [root / folder for folder in folders if os.path.isdir(root / folder)]
    for pattern in patterns:
        for folder in present:
            for file in sorted(folder.glob(pattern), reverse=True):
                yield rule, str(file)


def _mapped(name: str) -> ctypes.CDLL | None:
    """The library if it is in the process already; nothing is loaded."""
    no_load = getattr(os, "RTLD_NOLOAD", None)
    if no_load is None:
        return None
    try:
        return ctypes.CDLL(name, mode=no_load | os.RTLD_NOW)
    except OSError:
        return None


def framework_major() -> int | None:
    """CUDA major the process already works with: torch's, else that of the mapped runtime."""
    version = getattr(getattr(sys.modules.get("torch"), "version", None), "cuda", None)
    if isinstance(version, str) and version.split(".")[0].isdigit():
        return int(version.split(".")[0])
    return next((major for major, soname in RUNTIMES if _mapped(soname) is not None), None)
