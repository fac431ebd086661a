"""GPU activity through libcupti, without a compiler on the machine.

`GpuSession` records; `status()` says in one sentence whether it could. Importing this loads no
library and touches no driver.
"""

from __future__ import annotations

from tfevents.profiler.cupti._lib import CuptiError, GpuUnavailableError
from tfevents.profiler.cupti.session import GpuSession, Status, status
from tfevents.profiler.cupti.trace import GpuTrace

__all__ = ["CuptiError", "GpuSession", "GpuTrace", "GpuUnavailableError", "Status", "status"]
