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


@pytest.fixture
def tensorboards_names_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files that TensorBoard's own writer makes in one second have names in the order of making.

    Files are read in the order of their names, and TensorBoard numbers them with as many digits as
    it takes: 9, 10. Of three digits each, they are in order.
    """
    module = pytest.importorskip("tensorboard.summary.writer.event_file_writer")
    monkeypatch.setattr(module, "_global_uid", module.AtomicCounter(100))
