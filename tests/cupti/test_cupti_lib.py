from __future__ import annotations

import platform
import sys
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType, SimpleNamespace

import pytest
from cupti_fake import run, start

from tfevents.errors import TfEventsError
from tfevents.profiler.cupti import CuptiError, GpuUnavailableError, _driver, _lib

LINUX, WINDOWS = _lib.LAYOUTS["Linux"], _lib.LAYOUTS["Windows"]

linux_only = pytest.mark.skipif(sys.platform != "linux", reason="the fake library is for Linux")


def touch(root: Path, *files: str) -> None:
    for file in files:
        (root / file).parent.mkdir(parents=True, exist_ok=True)
        (root / file).touch()


def found(
    layout: _lib.Layout,
    root: Path,
    *,
    major: int | None = None,
    path: tuple[str, ...] = (),
    environ: Mapping[str, str] = MappingProxyType({}),
) -> list[tuple[str, str]]:
    """The candidates below root, as (rule, relative path)."""
    places = {name: str(root / value) for name, value in environ.items()}
    pairs = _lib.candidates(layout, major, places, [str(root / entry) for entry in path])
    return [
        (rule, Path(name).relative_to(root).as_posix())
        for rule, name in pairs
        if Path(name).is_relative_to(root)
    ]


def test_wheels_of_every_major_are_found(tmp_path: Path) -> None:
    touch(
        tmp_path,
        "site/nvidia/cu13/lib/libcupti.so.13",
        "site/nvidia/cuda_cupti/lib/libcupti.so.12",
        "other/nvidia/cuda_cupti/lib/libcupti.so.11.8",
    )
    pairs = [
        ("site-packages", "site/nvidia/cu13/lib/libcupti.so.13"),
        ("site-packages", "site/nvidia/cuda_cupti/lib/libcupti.so.12"),
        ("site-packages", "other/nvidia/cuda_cupti/lib/libcupti.so.11.8"),
    ]
    assert found(LINUX, tmp_path, path=("site", "other", "nothing")) == pairs
    assert found(LINUX, tmp_path, path=("site", "other"), major=12)[0] == pairs[1]


def test_the_order_is_packages_conda_loader_toolkit(tmp_path: Path) -> None:
    touch(
        tmp_path,
        "site/nvidia/cu13/lib/libcupti.so.13",
        "conda/lib/libcupti.so.12",
        "home/extras/CUPTI/lib64/libcupti.so.12",
        "path/lib64/libcupti.so.13",
    )
    places = {"CONDA_PREFIX": "conda", "CUDA_HOME": "home", "CUDA_PATH": "path"}
    names = {name: str(tmp_path / value) for name, value in places.items()}
    rules = [rule for rule, _ in _lib.candidates(LINUX, None, names, [str(tmp_path / "site")])]
    order = list(dict.fromkeys(rules))
    expected = ["site-packages", "conda", "loader path", "CUDA_HOME", "CUDA_PATH"]
    assert order[: len(expected)] == expected
    assert found(LINUX, tmp_path, path=("site",), environ=places)[2:] == [
        ("CUDA_HOME", "home/extras/CUPTI/lib64/libcupti.so.12"),
        ("CUDA_PATH", "path/lib64/libcupti.so.13"),
    ]


def test_a_place_that_cannot_be_looked_into_is_passed_over(tmp_path: Path) -> None:
    """Too long a name, which the system refuses as it does a folder without the rights."""
    touch(tmp_path, "cuda/lib64/libcupti.so.13")
    places = {"CONDA_PREFIX": "x" * 5000, "CUDA_HOME": "x" * 5000, "CUDA_PATH": "cuda"}
    pairs = found(LINUX, tmp_path, path=("x" * 5000,), environ=places)
    assert pairs == [("CUDA_PATH", "cuda/lib64/libcupti.so.13")]


def test_the_override_is_tried_alone(tmp_path: Path) -> None:
    touch(tmp_path, "site/nvidia/cu13/lib/libcupti.so.13")
    environ = {_lib.OVERRIDE: "/some/where.so"}
    pairs = list(_lib.candidates(LINUX, None, environ, [str(tmp_path / "site")]))
    assert pairs == [(_lib.OVERRIDE, "/some/where.so")]


def test_names_on_windows(tmp_path: Path) -> None:
    touch(
        tmp_path,
        "site/nvidia/cu13/bin/cupti64_13.dll",
        "site/nvidia/cuda_cupti/bin/cupti64_2022.4.1.dll",
        "cuda/extras/CUPTI/lib64/cupti64_2026.3.1.dll",
    )
    assert found(WINDOWS, tmp_path, path=("site",), environ={"CUDA_PATH": "cuda"}) == [
        ("site-packages", "site/nvidia/cu13/bin/cupti64_13.dll"),
        ("site-packages", "site/nvidia/cuda_cupti/bin/cupti64_2022.4.1.dll"),
        ("CUDA_PATH", "cuda/extras/CUPTI/lib64/cupti64_2026.3.1.dll"),
    ]


@pytest.mark.parametrize(("version", "major"), [("12.8", 12), ("13.0", 13), (None, None)])
def test_the_major_of_torch_is_preferred(
    version: str | None, major: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_lib, "_mapped", lambda name: None)
    torch = SimpleNamespace(version=SimpleNamespace(cuda=version))
    monkeypatch.setitem(sys.modules, "torch", torch)
    assert _lib.framework_major() == major


def test_sonames_of_the_wanted_major_come_first() -> None:
    assert _lib.by_major(LINUX.sonames, 12)[0] == "libcupti.so.12"
    assert _lib.by_major(LINUX.sonames, None) == [
        "libcupti.so.13",
        "libcupti.so.12",
        "libcupti.so.11.8",
        "libcupti.so.11.7",
    ]


def test_every_function_is_in_both_tables() -> None:
    assert set(_lib.SIGNATURES) == set(_lib.MEANINGS)
    for meanings in _lib.MEANINGS.values():
        assert set(meanings) <= set(_lib.RESULTS)


@pytest.mark.parametrize(
    ("function", "code", "name", "text"),
    [
        ("cuptiSubscribe", 39, "MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED", "another profiler"),
        ("cuptiActivityEnable", 35, "INSUFFICIENT_PRIVILEGES", "restricted to administrators"),
        ("cuptiActivityFlushAll", 999, "UNKNOWN", "cuptiActivityFlushAll returned 999 (UNKNOWN)"),
        ("cuptiActivityFlushAll", 12345, "?", "cuptiActivityFlushAll returned 12345 (?)"),
    ],
)
def test_errors_carry_function_code_and_name(
    function: str, code: int, name: str, text: str
) -> None:
    error = CuptiError(function, code)
    assert isinstance(error, TfEventsError)
    assert (error.function, error.code, error.name) == (function, code, name)
    assert text in str(error)


def test_a_system_without_cuda_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "system", lambda: "Darwin")
    monkeypatch.setattr(_lib, "_loaded", None)
    with pytest.raises(GpuUnavailableError, match="no CUPTI for Darwin"):
        _lib.load()
    monkeypatch.setattr(_driver, "_proven", None)
    monkeypatch.setattr(_driver, "_proven_in", None)
    with pytest.raises(GpuUnavailableError, match="no CUDA driver for Darwin"):
        _driver.prove()


@linux_only
def test_a_wrong_override_is_named() -> None:
    script = "say(reason=status().reason)"
    missing = run(f"os.environ['TFEVENTS_CUPTI_PATH'] = '/nowhere/libcupti.so'\n{script}")
    assert "/nowhere/libcupti.so (TFEVENTS_CUPTI_PATH) cannot be loaded" in missing["reason"]
    alien = run(f"os.environ['TFEVENTS_CUPTI_PATH'] = 'libc.so.6'\n{script}")
    assert "libc.so.6 (TFEVENTS_CUPTI_PATH) lacks cuptiGetVersion" in alien["reason"]


@linux_only
def test_the_copy_in_the_process_comes_before_the_override(tmp_path: Path) -> None:
    """Two copies would not know of each other."""
    said = run(
        f"""
import shutil, subprocess
own = os.path.join({str(tmp_path)!r}, "libcupti.so.12")
subprocess.run(["gcc", "-shared", "-fPIC", "-Wl,-soname,libcupti.so.12", "-x", "c", "-",
    "-o", own], input=b"int cuptiGetVersion(void) {{ return 0; }}", check=True)
mapped = ctypes.CDLL(own)
say(reason=status().reason)
"""
    )
    assert "libcupti.so.12 (already in the process) lacks cuptiGetTimestamp" in said["reason"]


@linux_only
def test_asking_twice_gives_the_same_answer() -> None:
    process = start("say(same=status() == status())")
    out, err = process.communicate(timeout=30)
    assert '{"same": true}' in out, err
