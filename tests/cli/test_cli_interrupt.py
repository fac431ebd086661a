"""Ctrl-C, and output that cannot be written to its end: what stays, and what does not."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from cli_logs import TIME, command, environment, scalar, write

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes are looked up in /proc")

NAME = "events.out.tfevents.1700000000.host"


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two runs that keep every command busy for many seconds."""
    log = tmp_path_factory.mktemp("large")
    file = log / "a" / NAME
    write(file, [scalar("a", step, 1.0) for step in range(1000)])
    data = file.read_bytes()
    with file.open("wb") as target:
        for _ in range(2000):
            target.write(data)
    (log / "b").mkdir()
    shutil.copy(file, log / "b" / NAME)
    return log


def children(pid: int) -> list[int]:
    found = Path(f"/proc/{pid}/task/{pid}/children")
    return [int(number) for number in found.read_text().split()]


def is_alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


def interrupted(*args: object) -> tuple[int, str, list[int]]:
    """Sends SIGINT once two workers are busy; exit code, stderr, workers that are left."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tfevents", *map(str, args)], stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE, text=True, env=environment(), start_new_session=True,
    )  # fmt: skip
    end = time.monotonic() + 60
    while len(workers := children(process.pid)) < 2:
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < end
        time.sleep(0.01)
    time.sleep(0.5)
    os.killpg(process.pid, signal.SIGINT)
    _, said = process.communicate(timeout=60)
    return process.returncode, said, [worker for worker in workers if is_alive(worker)]


@pytest.mark.parametrize("arguments", [("check",), ("export", "-o", "{}/out.csv")], ids=str)
def test_ctrl_c_ends_all_processes_at_once(
    arguments: tuple[str, ...], large: Path, tmp_path: Path
) -> None:
    name, *options = (each.format(tmp_path) for each in arguments)
    code, said, left = interrupted(name, large, "--jobs", 2, *options)
    assert (code, left) == (130, [])
    assert "Traceback" not in said
    assert list(tmp_path.iterdir()) == []


def test_a_table_that_does_not_fit_does_not_stay(tmp_path: Path) -> None:
    write(tmp_path / "log" / NAME, [scalar("a", step, float(TIME)) for step in range(10)])
    limited = f"ulimit -f 0; exec {sys.executable} -m tfevents export log -o out.csv"
    done = subprocess.run(
        ["bash", "-c", limited], capture_output=True, text=True, timeout=60, check=False,
        cwd=tmp_path, env=environment(),
    )
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "out.csv").exists()
    assert command("export", "log", "-o", "out.csv", cwd=tmp_path).returncode == 0
