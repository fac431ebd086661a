"""Memory and use of GPUs as numbers to log, through NVML (`pip install tfevents[gpu]`).

A `GpuMonitor` gives a dict for `SummaryWriter.log`; nothing is read unless it is asked.
"""

from __future__ import annotations

import contextlib
import importlib
from collections.abc import Callable
from typing import Any

from tfevents._closing import Closing

__all__ = ["GpuMonitor"]


_QUESTIONS: dict[str, Callable[[Any, Any], float]] = {
    "memory_used_bytes": lambda nvml, handle: nvml.nvmlDeviceGetMemoryInfo(handle).used,
    "utilization": lambda nvml, handle: nvml.nvmlDeviceGetUtilizationRates(handle).gpu,
    "memory_utilization": lambda nvml, handle: nvml.nvmlDeviceGetUtilizationRates(handle).memory,
    "temperature_celsius": lambda nvml, handle: nvml.nvmlDeviceGetTemperature(handle, 0),
    "power_watts": lambda nvml, handle: nvml.nvmlDeviceGetPowerUsage(handle) / 1000,
}


class GpuMonitor(Closing):
    """Reads what the driver knows of each GPU, whichever process uses it.

    Args:
        prefix: first part of the tags.

    Raises:
        ImportError: the package nvidia-ml-py is not installed.
        RuntimeError: NVML does not work here; the text says why.
    """

    def __init__(self, prefix: str = "gpu") -> None:
        try:
            pynvml: Any = importlib.import_module("pynvml")
        except ImportError as error:
            raise ImportError(
                "GpuMonitor needs nvidia-ml-py: pip install tfevents[gpu]"
            ) from error
        self._nvml = pynvml
        self._prefix, self._open = prefix, False
        try:
            pynvml.nvmlInit()
            self._open = True
            count = pynvml.nvmlDeviceGetCount()
            self._handles = [pynvml.nvmlDeviceGetHandleByIndex(index) for index in range(count)]
        except pynvml.NVMLError as error:
            self.close()
            raise RuntimeError(f"NVML does not work here: {error}") from error

    def read(self) -> dict[str, float]:
        """Tag to number, for each GPU by its index in NVML.

        `gpu_0/memory_used_bytes`, `gpu_0/utilization` and `gpu_0/memory_utilization` in percent
        of the last sample time, `gpu_0/temperature_celsius`, `gpu_0/power_watts`. What a GPU does
        not tell is left out.
        """
        nvml = self._nvml
        result: dict[str, float] = {}
        for index, handle in enumerate(self._handles):
            for name, ask in _QUESTIONS.items():
                with contextlib.suppress(nvml.NVMLError):
                    result[f"{self._prefix}_{index}/{name}"] = float(ask(nvml, handle))
        return result

    def close(self) -> None:
        """Lets NVML go; a second call does nothing."""
        if self._open:
            self._open = False
            self._nvml.nvmlShutdown()
