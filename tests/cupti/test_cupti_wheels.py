"""The real libcupti from wheels, on a machine without a driver.

TFEVENTS_CUPTI_WHEELS names a folder of folders made by `pip install --target`, for example
`pip install --no-deps --target wheels/cu12.4 'nvidia-cuda-cupti-cu12==12.4.*'`. Each library is
loaded in a process of its own, and no function of 13.2 is ever called: it would crash.
"""

from __future__ import annotations

import ctypes
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

WHEELS = os.environ.get("TFEVENTS_CUPTI_WHEELS", "")
LIBRARIES = sorted(Path(WHEELS).glob("*/nvidia/*/lib/libcupti.so.*")) if WHEELS else []

pytestmark = [
    pytest.mark.cupti_wheels,
    pytest.mark.skipif(not WHEELS, reason="TFEVENTS_CUPTI_WHEELS is not set"),
    pytest.mark.skipif(sys.platform != "linux", reason="the wheels are for Linux"),
]

KINDS = (1, 2, 3, 4, 5, 8, 9, 10, 11, 12, 13, 17, 22, 37, 38, 39, 49, 51)
MEASURED = {
    (11, 7): (88, 88, 176, 40, 40, 176, 16, 176, 32, 56, 32, 40, 96, 24, 40, 24, 120, 48),
    (11, 8): (88, 88, 200, 40, 40, 176, 16, 200, 32, 56, 32, 40, 96, 24, 40, 24, 120, 48),
    (12, 0): (88, 88, 208, 40, 40, 176, 16, 208, 32, 56, 32, 40, 96, 24, 40, 24, 120, 48),
    (12, 1): (88, 88, 208, 40, 40, 176, 16, 208, 32, 56, 32, 40, 96, 24, 40, 24, 120, 48),
    (12, 2): (88, 88, 208, 40, 40, 184, 16, 208, 32, 56, 32, 40, 96, 24, 40, 24, 120, 48),
    (12, 3): (88, 88, 208, 40, 40, 184, 16, 208, 32, 56, 32, 48, 96, 24, 40, 24, 120, 56),
    (12, 4): (88, 88, 208, 40, 40, 184, 24, 208, 32, 56, 32, 56, 96, 24, 40, 24, 120, 56),
    (12, 5): (88, 88, 208, 40, 40, 184, 32, 208, 32, 56, 32, 56, 96, 24, 40, 24, 120, 56),
    (12, 6): (88, 88, 208, 40, 40, 184, 32, 208, 32, 56, 32, 56, 96, 24, 40, 24, 128, 56),
    (12, 8): (96, 88, 208, 40, 40, 184, 32, 208, 32, 56, 32, 56, 96, 24, 56, 24, 128, 56),
    (12, 9): (96, 88, 208, 40, 40, 184, 32, 208, 32, 56, 32, 56, 96, 24, 56, 24, 128, 56),
    (13, 0): (96, 88, 216, 40, 40, 184, 32, 216, 32, 56, 40, 56, 96, 24, 56, 24, 128, 56),
    (13, 1): (96, 88, 224, 40, 40, 184, 40, 224, 32, 56, 40, 56, 96, 24, 56, 24, 128, 56),
}
"""Record sizes of KINDS that each release steps over; later ones do not answer without a driver."""


def release(library: Path) -> tuple[int, int]:
    """(major, minor) of the wheel, from the metadata beside it."""
    (info,) = library.parents[3].glob("nvidia_cuda_cupti*.dist-info")
    major, minor = info.name.removesuffix(".dist-info").split("-")[1].split(".")[:2]
    return int(major), int(minor)


def has_driver() -> bool:
    try:
        ctypes.CDLL("libcuda.so.1")
    except OSError:
        return False
    return True


def run(script: str, library: Path) -> dict[str, Any]:
    preamble = """
import ctypes, json, os, random, sys
import numpy as np
from tfevents.profiler.cupti import CuptiError, _lib, _records, _sizes, status
path = os.environ["TFEVENTS_CUPTI_PATH"]
def say(**values):
    print(json.dumps(values), flush=True)
"""
    ran = subprocess.run(
        [sys.executable, "-c", preamble + script],
        env=dict(os.environ, TFEVENTS_CUPTI_PATH=str(library)),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert ran.returncode == 0, f"exit {ran.returncode}: {ran.stderr}"
    said: dict[str, Any] = json.loads(ran.stdout.splitlines()[-1])
    return said


each_library = pytest.mark.parametrize("library", LIBRARIES, ids=lambda path: path.parents[3].name)


def test_the_folder_that_is_named_has_libraries() -> None:
    assert LIBRARIES


@each_library
def test_it_is_found_among_installed_packages(library: Path) -> None:
    from tfevents.profiler.cupti import _lib

    path = [str(library.parents[3])]
    pairs = list(_lib.candidates(_lib.LAYOUTS["Linux"], None, {}, path))
    assert pairs[0] == ("site-packages", str(library))


@each_library
def test_only_the_broken_release_is_taken_for_it(library: Path) -> None:
    said = run(
        """
library = ctypes.CDLL(path)
say(broken=_lib.is_broken(library), lacks=[n for n in _lib.SIGNATURES if not hasattr(library, n)])
""",
        library,
    )
    assert said == {"broken": release(library) == (13, 2), "lacks": []}


@each_library
def test_measured_sizes_are_those_of_the_table(library: Path) -> None:
    if release(library) == (13, 2):
        pytest.skip("must not be called")
    said = run(
        """
cupti = _lib.Cupti(ctypes.CDLL(path), path)
version = ctypes.c_uint32()
try:
    cupti.call("cuptiGetVersion", ctypes.byref(version))
except CuptiError as error:
    version.value = 0
say(measured=_sizes.measure(cupti), table=_sizes.from_version(version.value))
""",
        library,
    )
    measured = {int(kind): size for kind, size in said["measured"].items()}
    if release(library) >= (13, 2):
        assert measured == {}
        return
    assert tuple(measured[kind] for kind in KINDS) == MEASURED[release(library)]
    assert {kind: measured[int(kind)] for kind in said["table"]} == said["table"]
    assert {*_record_kinds()} <= measured.keys()


def _record_kinds() -> set[int]:
    from tfevents.profiler.cupti import _records

    return set(_records.LAYOUTS)


@each_library
def test_buffers_are_walked_as_the_library_walks_them(library: Path) -> None:
    if release(library) >= (13, 2):
        pytest.skip("does not answer without a driver")
    said = run(
        """
cupti = _lib.Cupti(ctypes.CDLL(path), path)
sizes = _sizes.measure(cupti)
random.seed(7)
kinds = random.choices(sorted(set(sizes) & set(_records.LAYOUTS) | {11, 37}), k=5000)
noise = random.Random(8)
buffer = b"".join(
    kind.to_bytes(4, "little") + noise.randbytes(sizes[kind] - 4) for kind in kinds
) + b"\\0" * 8
data = np.frombuffer(bytearray(buffer), np.uint8)
ours, stop = _records.walk(data, sizes)
record, theirs = ctypes.c_void_p(), []
try:
    while True:
        cupti.call("cuptiActivityGetNextRecord", data.ctypes.data, len(data), ctypes.byref(record))
        theirs.append(record.value - data.ctypes.data)
except CuptiError as error:
    last = error.code
say(same=theirs == (ours * 4).tolist(), count=len(theirs), stop=len(buffer) - stop, last=last)
""",
        library,
    )
    assert (said["same"], said["count"], said["stop"]) == (True, 5000, 8)
    assert said["last"] in {12, 21, 999}  # the zero kind at the end; 11.x and 12.1 say UNKNOWN


@each_library
@pytest.mark.skipif(has_driver(), reason="this machine has a driver")
def test_errors_without_a_driver_are_mapped(library: Path) -> None:
    if release(library) == (13, 2):
        pytest.skip("must not be called")
    said = run(
        """
cupti = _lib.Cupti(ctypes.CDLL(path), path)
errors = []
for name, arguments in (
    ("cuptiSubscribe", (ctypes.byref(ctypes.c_void_p()), None, None)),
    ("cuptiActivityEnable", (10,)),
    ("cuptiActivityFlushAll", (0,)),
    ("cuptiActivityPushExternalCorrelationId", (5, 1)),
    ("cuptiActivityPopExternalCorrelationId", (5, None)),
):
    try:
        cupti.call(name, *arguments)
        errors.append([name, 0, ""])
    except CuptiError as error:
        errors.append([error.function, error.code, error.name])
say(errors=errors)
""",
        library,
    )
    code, name = (999, "UNKNOWN") if release(library) >= (13, 0) else (15, "NOT_INITIALIZED")
    assert [error[1:] for error in said["errors"]] == [[code, name]] * 5


@each_library
@pytest.mark.skipif(has_driver(), reason="this machine has a driver")
def test_status_says_why_and_never_crashes(library: Path) -> None:
    said = run("found = status(); say(available=found.available, reason=found.reason)", library)
    assert said["available"] is False
    wanted = "CUPTI 13.2" if release(library) == (13, 2) else "there is no CUDA driver"
    assert wanted in said["reason"]


@each_library
def test_names_of_calls(library: Path) -> None:
    if release(library) >= (13, 2):
        pytest.skip("does not answer without a driver")
    said = run(
        """
from tfevents.profiler.cupti.session import call_name
cupti = _lib.Cupti(ctypes.CDLL(path), path)
say(names=[call_name(cupti, 2, 211), call_name(cupti, 1, 307), call_name(cupti, 1, 999999)])
""",
        library,
    )
    assert said["names"] == ["cudaLaunchKernel", "cuLaunchKernel", "driver call 999999"]
