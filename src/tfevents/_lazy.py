"""Names of a module that are loaded on first use (PEP 562)."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping
from typing import Any

__all__ = ["exports"]


def exports(
    module: str, homes: Mapping[str, str]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """The functions `__getattr__` and `__dir__` of a module.

    Args:
        module: its `__name__`.
        homes: name -> the module that has it; `<module>.<name>` is a module itself.
    """
    own = sys.modules[module].__dict__

    def load(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        found = importlib.import_module(homes[name])
        own[name] = value = found if homes[name] == f"{module}.{name}" else getattr(found, name)
        return value

    def names() -> list[str]:
        return sorted({*own, *homes})

    return load, names
