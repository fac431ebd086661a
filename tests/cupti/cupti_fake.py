"""Builds fakecupti.c and runs scripts against it, each in a process of its own with a deadline."""

from __future__ import annotations

import atexit
import json
import os
import shutil
import subprocess
import sys
import tempfile
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent
RELEASES = (
    *(1107, 1108, 1200, 1201, 1202, 1203, 1204, 1205, 1206, 1208, 1209),
    *(1300, 1301, 1302, 1303, 1304, 1305),
)

PREAMBLE = """
import ctypes, gc, json, os, sys, threading, time
from tfevents.profiler.cupti import GpuSession, GpuUnavailableError, status
path = os.environ["TFEVENTS_CUPTI_PATH"]
fake = ctypes.CDLL(path)
held = ctypes.PyDLL(path)  # the same library, called without giving up the GIL
for library in fake, held:
    library.fake_emitted.restype = ctypes.c_uint64
    library.fake_launch.argtypes = [ctypes.c_long]
    library.fake_launch_threads.argtypes = [ctypes.c_int, ctypes.c_long]
    library.fake_emit_each.argtypes = [ctypes.c_uint64]
def say(**values):
    print(json.dumps(values, default=lambda array: array.tolist()), flush=True)
"""


def compiler(name: str = "gcc") -> str:
    """Path of a compiler, or a skip."""
    found = shutil.which(name)
    if found is None:
        pytest.skip(f"needs {name}")
    return found


@lru_cache(maxsize=1)
def library_folder() -> Path:
    """Holds libcupti.so (the fake), libcuda.so.1 (the same file) and broken.so (as 13.2)."""
    gcc = compiler()
    folder = Path(tempfile.mkdtemp(prefix="fakecupti"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    source = str(HERE / "fakecupti.c")
    flags = [gcc, "-O1", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-pthread", source]
    subprocess.run([*flags, "-o", str(folder / "libcupti.so")], check=True, timeout=120)
    subprocess.run([*flags, "-DBROKEN", "-o", str(folder / "broken.so")], check=True, timeout=120)
    (folder / "libcuda.so.1").symlink_to("libcupti.so")
    return folder


def start(
    script: str, *, library: str = "libcupti.so", driver: bool = True, **environ: str
) -> subprocess.Popen[str]:
    """A Python process that runs the script after PREAMBLE."""
    folder = library_folder()
    env = dict(os.environ, TFEVENTS_CUPTI_PATH=str(folder / library), **environ)
    env["LD_LIBRARY_PATH"] = str(folder) if driver else ""
    return subprocess.Popen(
        [sys.executable, "-c", PREAMBLE + script],
        env=env,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def run(script: str, *, timeout: float = 60, **options: Any) -> dict[str, Any]:
    """What the script said last; fails if it hangs, crashes or says nothing."""
    process = start(script, **options)
    try:
        out, err = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        pytest.fail(f"no end within {timeout} s")
    assert process.returncode == 0, f"exit {process.returncode}: {err}"
    said: dict[str, Any] = json.loads(out.strip().splitlines()[-1])
    return said
