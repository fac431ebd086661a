"""Where the numbers were taken: processor, cores, load, Python and versions of everybody."""

from __future__ import annotations

import os
import platform
from importlib import metadata
from pathlib import Path

DISTRIBUTIONS = (
    "tfevents",
    "numpy",
    "protobuf",
    "crc32c",
    "pillow",
    "torch",
    "tensorboardX",
    "tensorflow",
    "tensorflow-cpu",
    "tensorboard",
    "tensorboard-data-server",
    "vibetrack",
    "tuff-bird",
)


def describe() -> dict[str, object]:
    return {
        "cpu": _processor(),
        "cores": os.cpu_count(),
        "load": [round(x, 2) for x in os.getloadavg()] if hasattr(os, "getloadavg") else None,
        "system": platform.platform(),
        "python": platform.python_version(),
        "versions": {name: found for name in DISTRIBUTIONS if (found := _version(name))},
    }


def line(machine: dict[str, object]) -> str:
    versions = machine["versions"]
    listed = versions.items() if isinstance(versions, dict) else ()
    return (
        f"{machine['cpu']}, {machine['cores']} cores, load {machine['load']}, "
        f"{machine['system']}, Python {machine['python']}; "
        + ", ".join(f"{name} {version}" for name, version in listed)
    )


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    for text in info.read_text().splitlines() if info.exists() else ():
        if text.startswith("model name"):
            return text.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None
