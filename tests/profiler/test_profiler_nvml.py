"""The numbers of NVML, from a stand-in for its package."""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any

import pytest

from tfevents.profiler import nvml


class NVMLError(Exception):
    pass


def package(*, trouble: bool = False) -> Any:
    """Two GPUs, of which the second does not tell its power."""

    def init() -> None:
        if trouble:
            raise NVMLError("Driver Not Loaded")

    def power(handle: int) -> int:
        if handle:
            raise NVMLError("Not Supported")
        return 350_500

    return SimpleNamespace(
        NVMLError=NVMLError,
        nvmlInit=init,
        nvmlShutdown=lambda: None,
        nvmlDeviceGetCount=lambda: 2,
        nvmlDeviceGetHandleByIndex=lambda index: index,
        nvmlDeviceGetMemoryInfo=lambda handle: SimpleNamespace(used=1000 + handle),
        nvmlDeviceGetUtilizationRates=lambda handle: SimpleNamespace(gpu=90, memory=40),
        nvmlDeviceGetTemperature=lambda handle, sensor: 60,
        nvmlDeviceGetPowerUsage=power,
    )


def test_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pynvml", package())
    with nvml.GpuMonitor() as monitor:
        assert monitor.read() == {
            "gpu_0/memory_used_bytes": 1000.0, "gpu_0/utilization": 90.0,
            "gpu_0/memory_utilization": 40.0, "gpu_0/temperature_celsius": 60.0,
            "gpu_0/power_watts": 350.5,
            "gpu_1/memory_used_bytes": 1001.0, "gpu_1/utilization": 90.0,
            "gpu_1/memory_utilization": 40.0, "gpu_1/temperature_celsius": 60.0,
        }  # fmt: skip


def test_without_a_driver(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pynvml", package(trouble=True))
    with pytest.raises(RuntimeError, match="Driver Not Loaded"):
        nvml.GpuMonitor()


def test_without_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pynvml", None)
    with pytest.raises(ImportError, match=r"tfevents\[gpu\]"):
        nvml.GpuMonitor()


def test_trouble_after_the_start_is_told_and_lets_nvml_go(monkeypatch: pytest.MonkeyPatch) -> None:
    def count() -> int:
        raise NVMLError("GPU is lost")

    calls: list[str] = []
    made = package()
    made.nvmlDeviceGetCount, made.nvmlShutdown = count, lambda: calls.append("shutdown")
    monkeypatch.setitem(sys.modules, "pynvml", made)
    with pytest.raises(RuntimeError, match="GPU is lost"):
        nvml.GpuMonitor()
    assert calls == ["shutdown"]
