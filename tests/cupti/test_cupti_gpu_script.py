"""tests/gpu/run_on_gpu.py over the fake library, with a stand-in for torch: each check runs to its
end, and passes but for what needs a GPU."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from cupti_fake import library_folder

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the fake library is for Linux")

SCRIPT = Path(__file__).parent.parent / "gpu" / "run_on_gpu.py"

TORCH = """
import contextlib, ctypes, os, time
from types import SimpleNamespace
fake = ctypes.CDLL(os.environ["TFEVENTS_CUPTI_PATH"])
fake.fake_emit_each.argtypes = [ctypes.c_uint64]
launched = 0
profiling = False
KERNEL_MS = 503e-6  # on average, see emit_kernel
def mm(a, b):
    global launched
    launched += 1
    fake.fake_launch(1)
class Tensor:
    def __init__(self, *size, **options): pass
    def to(self, device, non_blocking): return self
    def zero_(self): pass
    def cpu(self): fake.fake_emit_each(time.time_ns())
randn = zeros = Tensor
class Event:
    def __init__(self, enable_timing): pass
    def record(self): self.launched = launched
    def elapsed_time(self, end): return (end.launched - self.launched) * KERNEL_MS
class profile:
    def __init__(self, activities): self.launched = launched
    def __enter__(self):
        global profiling
        profiling = True
        return self
    def __exit__(self, *error):
        global profiling
        profiling = False
    def events(self):
        time_range = SimpleNamespace(elapsed_us=lambda: KERNEL_MS * 1e3)
        one = SimpleNamespace(device_type="DeviceType.CUDA", time_range=time_range)
        return [one] * (launched - self.launched)
cuda = SimpleNamespace(
    is_available=lambda: "NO_GPU" not in os.environ, init=lambda: None, Event=Event,
    synchronize=lambda: fake.cuCtxSynchronize(), get_device_name=lambda: "Fake H100",
    Stream=lambda: None, stream=lambda stream: contextlib.nullcontext(),
)
version = SimpleNamespace(cuda="13.0")
autograd = SimpleNamespace(_profiler_enabled=lambda: profiling)
profiler = SimpleNamespace(profile=profile, ProfilerActivity=SimpleNamespace(CUDA=1, CPU=2))
"""

NEEDS_A_GPU = (
    "measured sizes are those of the table",  # the fake knows fewer kinds
    "copies to and from the device were seen",
    "with their bytes",
    "recording costs",  # launching costs the fake next to nothing
)


def run_script(tmp_path: Path, *arguments: str, **environ: str) -> tuple[int, list[str]]:
    """Its exit status and lines."""
    folder = library_folder()
    (tmp_path / "torch.py").write_text(TORCH)
    path = os.pathsep.join([str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])])
    env = dict(
        os.environ,
        PYTHONPATH=path,
        TFEVENTS_CUPTI_PATH=str(folder / "libcupti.so"),
        LD_LIBRARY_PATH=str(folder),
        FAKE_RELEASE="1300",
        **environ,
    )
    command = [sys.executable, str(SCRIPT), *arguments]
    ran = subprocess.run(command, env=env, capture_output=True, text=True, timeout=120, check=False)
    assert ran.stderr == ""
    return ran.returncode, ran.stdout.splitlines()


def checks() -> list[str]:
    sys.path.insert(0, str(SCRIPT.parent))
    try:
        script: Any = importlib.import_module("run_on_gpu")
    finally:
        sys.path.remove(str(SCRIPT.parent))
    return list(script.CHECKS)


def test_every_check_passes_but_for_what_needs_a_gpu(tmp_path: Path) -> None:
    code, lines = run_script(tmp_path)
    verdicts = [line.partition("  ")[::2] for line in lines[:-1]]
    assert [what.strip() for verdict, what in verdicts if verdict == "--"] == checks()
    failed = [what for verdict, what in verdicts if verdict == "FAIL"]
    assert [what for what in failed if not what.startswith(NEEDS_A_GPU)] == []
    assert sum(verdict == "PASS" for verdict, _ in verdicts) > 25
    assert {verdict for verdict, _ in verdicts} <= {"--", "PASS", "FAIL", "NOTE"}
    assert code == int(lines[-1].split(" checks passed, ")[1].split()[0])


def test_without_a_gpu_a_check_is_skipped_by_name(tmp_path: Path) -> None:
    code, (line,) = run_script(tmp_path, "little_room", NO_GPU="1")
    assert code == 101
    assert line.startswith("SKIP  little_room: torch sees no GPU")


def test_an_unknown_check_is_refused(tmp_path: Path) -> None:
    code, (line,) = run_script(tmp_path, "nonsense")
    assert (code, line.split(":")[0]) == (2, "one of these checks, please")
