"""The version, as it was installed."""

from __future__ import annotations

from importlib.metadata import version

__all__ = ["__version__"]

__version__ = version("tfevents")
