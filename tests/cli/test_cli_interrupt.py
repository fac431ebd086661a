"""Ctrl-C, and output that cannot be written to its end: what stays, and what does not."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from cli_logs import TIME, command, environment, scalar, write

from tfevents.cli import _logs
from tfevents.cli.export import _Media

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


def descendants(pid: int) -> list[int]:
    """Processes that a process started, or that were started for it by those."""
    try:
        listed = Path(f"/proc/{pid}/task/{pid}/children").read_text()
    except FileNotFoundError:
        return []
    children = [int(number) for number in listed.split()]
    return [each for child in children for each in (child, *descendants(child))]


def is_alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


def has_open(pid: int, name: str) -> bool:
    with contextlib.suppress(FileNotFoundError):
        for entry in Path(f"/proc/{pid}/fd").iterdir():
            with contextlib.suppress(FileNotFoundError):
                if os.readlink(entry).endswith(name):
                    return True
    return False


def started(*args: object) -> tuple[subprocess.Popen[str], list[int]]:
    """The command at work, that is reading: in two workers, or with no --jobs itself."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tfevents", *map(str, args)], stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE, text=True, env=environment(), start_new_session=True,
    )  # fmt: skip
    end = time.monotonic() + 60
    wanted = 2 if "--jobs" in args else 1
    while True:
        # some start methods put processes of their own between the command and its workers
        family = descendants(process.pid) if wanted == 2 else [process.pid]
        readers = [each for each in family if has_open(each, NAME)]
        if len(readers) == wanted:
            return process, readers
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < end
        time.sleep(0.01)


def interrupted(*args: object) -> tuple[int, str, list[int]]:
    """Sends SIGINT to the command at work; exit code, stderr, readers that are left."""
    process, readers = started(*args)
    os.killpg(process.pid, signal.SIGINT)
    _, said = process.communicate(timeout=60)
    return process.returncode, said, [reader for reader in readers if is_alive(reader)]


JOBS = ("--jobs", "2")


@pytest.mark.parametrize(
    "arguments",
    [
        ("check", *JOBS),
        ("ls", *JOBS),
        ("export", *JOBS, "-o", "{}/out.csv"),
        ("repair", *JOBS, "-o", "{}/clean"),
        ("repair", "-o", "{}/clean"),
        ("merge", "-o", "{}/merged"),
    ],
    ids=" ".join,
)
def test_ctrl_c_ends_all_processes_at_once(
    arguments: tuple[str, ...], large: Path, tmp_path: Path
) -> None:
    name, *options = (each.format(tmp_path) for each in arguments)
    code, said, left = interrupted(name, large, *options)
    assert (code, said, left) == (130, "tfevents: interrupted\n", [])
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_a_worker_that_was_killed_is_an_error_of_one_line(large: Path) -> None:
    process, workers = started("check", large, *JOBS)
    os.kill(workers[0], signal.SIGKILL)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 2
    assert said == "tfevents: error: a process was killed before it was done; out of memory?\n"
    assert [worker for worker in workers if is_alive(worker)] == []


def slow(place: str) -> None:
    """Work that has to tidy up when it is stopped."""
    Path(place, "begun").touch()
    try:
        time.sleep(60)
    finally:
        Path(place, "tidied").touch()


def large_result(place: str) -> bytes:
    """What does not fit into a pipe, and takes a while to be sent."""
    Path(place, "begun").touch()
    return bytes(1 << 28)


def give_up(job: Callable[[str], object], places: list[Path]) -> None:
    """Gives items to two workers, and fails when both are at work."""
    with _logs._pool(2) as pool:
        pool.map(_logs._Work(job), map(str, places))
        end = time.monotonic() + 60
        while not all((place / "begun").exists() for place in places[:2]):
            assert time.monotonic() < end
            time.sleep(0.01)
        raise ZeroDivisionError


@pytest.mark.parametrize("job", [slow, large_result])
def test_workers_that_are_stopped_tidy_up_and_end(
    job: Callable[[str], object], tmp_path: Path
) -> None:
    places = [tmp_path / name for name in "abcd"]
    for place in places:
        place.mkdir()
    with pytest.raises(ZeroDivisionError):
        give_up(job, places)
    assert multiprocessing.active_children() == []
    if job is slow:
        found = [sorted(path.name for path in place.iterdir()) for place in places]
        assert found == [["begun", "tidied"]] * 2 + [[]] * 2


def test_a_picture_that_cannot_be_written_to_its_end_does_not_stay(tmp_path: Path) -> None:
    media = _Media(str(tmp_path))
    with pytest.raises(TypeError):
        media.save("img", 1, ".png", None)  # type: ignore[arg-type]
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []
    path = media.save("img", 2, ".png", b"data")
    assert Path(path).read_bytes() == b"data"
    with pytest.raises(FileExistsError):
        _Media(str(tmp_path)).save("img", 2, ".png", b"other")
    assert Path(path).read_bytes() == b"data"


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
