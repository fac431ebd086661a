"""What all tests share: reproducible laws, and no context that leaks from one test to the next."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

try:
    from hypothesis import HealthCheck, settings
except ImportError:  # environments of the differential tests do without the laws
    pass
else:
    quiet = [HealthCheck.too_slow]  # a busy machine is no fault of the code
    settings.register_profile("default", deadline=None, suppress_health_check=quiet)
    settings.register_profile("ci", settings.get_profile("default"), derandomize=True)
    settings.load_profile("ci" if os.environ.get("CI") else "default")


@pytest.fixture(autouse=True)
def _fresh_context() -> Iterator[None]:
    """Each test begins without default writer, step, recording condition and name scope."""
    from tfevents import _context

    token = _context._state.set(_context.State())
    yield
    _context._state.reset(token)
