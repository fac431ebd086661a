"""A Ctrl-C that falls into an import leaves the lock of that module closed, for ever."""

from __future__ import annotations

import importlib._bootstrap as importer
from pathlib import Path

import pytest

from readback import run_script, steps

# What `with _ModuleLockManager(name)` does until its block begins, where the exception comes.
INTERRUPTED = """
    import importlib._bootstrap as importer
    from tfevents.values.text import Text
    lock = importer._get_module_lock("google.protobuf.descriptor_pool")
    lock.acquire()
    text = Text.from_data("x")
    w = RunWriter(d)
    w.add_value("t", text.to_tensor_value, 7, nbytes=text.nbytes)
"""


@pytest.mark.skipif(not hasattr(importer, "_get_module_lock"), reason="other import locks")
@pytest.mark.parametrize("end", ["w.flush()", "w.close()", ""])
def test_interrupted_import(tmp_path: Path, end: str) -> None:
    run_script(tmp_path / "run", f"{INTERRUPTED}\n    {end}")
    assert steps(tmp_path / "run", "t") == [7]


@pytest.mark.skipif(not hasattr(importer, "_get_module_lock"), reason="other import locks")
def test_a_full_queue_after_an_interrupted_import(tmp_path: Path) -> None:
    run_script(tmp_path / "run", """
        import importlib._bootstrap as importer
        from tfevents.values.text import Text
        lock = importer._get_module_lock("google.protobuf.descriptor_pool")
        lock.acquire()
        text = Text.from_data("x" * 1000)
        w = RunWriter(d, max_queue=3)
        for step in range(20):
            w.add_value("t", text.to_tensor_value, step, nbytes=text.nbytes)
    """)
    assert steps(tmp_path / "run", "t") == list(range(20))
