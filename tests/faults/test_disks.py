"""What disks do to writers: they fill up, and directories vanish and come back."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from pathlib import Path

import pytest

from readback import event_files, run_script, scalars, steps
from tfevents.errors import WriteError
from tfevents.run_writer import RunWriter

HANG = 60.0


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return tmp_path / "run"


def test_errors_reach_the_caller_when_a_file_may_not_grow(run: Path) -> None:
    """Each call raises or returns soon, and the file holds the first events and nothing torn."""
    pytest.importorskip("resource")
    run_script(run, """
        import errno, resource, signal
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        w = RunWriter(d, flush_secs=1)
        hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
        resource.setrlimit(resource.RLIMIT_FSIZE, (20000, hard))
        told = 0
        for i in range(3000):
            try: w.add_scalar('a', i, i)
            except OSError as error: told += error.errno == errno.EFBIG
            if i == 1000: time.sleep(1.2)
        assert told >= 1900, told
        for call in (w.flush, w.flush, w.close):
            try: call()
            except OSError as error: assert error.errno == errno.EFBIG and error.filename == path
            else: raise SystemExit('no error')
            path = w.path
    """.replace("told = 0", "told, path = 0, w.path"), timeout=HANG)
    (path,) = event_files(run)
    found = steps(run, "a")
    assert found == list(range(len(found)))
    assert 19900 < path.stat().st_size <= 20000


def test_errors_reach_the_caller_and_a_disk_with_room_again_takes_the_rest(run: Path) -> None:
    pytest.importorskip("resource")
    run_script(run, """
        import resource, signal
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        def limit(size): resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
        hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
        w = RunWriter(d)
        limit(5000)
        told = 0
        for i in range(3000):
            try: w.add_scalar('a', i, i)
            except OSError: told += 1
            if i == 100:
                try: w.flush()
                except OSError: told += 1
            if i == 300:
                try: w.flush()
                except OSError: told += 1
        assert told
        limit(hard)
        w.flush()
        w.add_scalar('a', 3000, 3000)
        w.close()
    """, timeout=HANG)
    assert steps(run, "a") == list(range(3001))
    assert len(event_files(run)) == 1


def fill(writer: RunWriter) -> None:
    for step in range(5000):
        writer.add_scalar("a", step, step)
        if step % 500 == 0:
            writer.flush()


def test_errors_on_a_really_full_disk(tmp_path: Path) -> None:
    place = tmp_path / "disk"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(place)]
    if (
        not shutil.which("mount")
        or subprocess.run(mount, capture_output=True, check=False).returncode
    ):
        pytest.skip("a file system cannot be mounted here")
    try:
        writer = RunWriter(place / "run")
        with pytest.raises(WriteError, match="No space left"):
            fill(writer)
        found = steps(place, "a")
        assert found == list(range(len(found)))
        subprocess.run(["mount", "-o", "remount,size=4m", str(place)], check=True)
        writer.flush()
        last = steps(place, "a")[-1]
        assert steps(place, "a") == list(range(last + 1))
        assert last > len(found)
        writer.close()
    finally:
        subprocess.run(["umount", "-l", str(place)], check=True)


@pytest.mark.skipif(os.name != "posix", reason="open files cannot be removed here")
def test_errors_reach_the_caller_when_the_directory_is_removed_and_pass_when_it_is_back(
    run: Path,
) -> None:
    writer = RunWriter(run)
    writer.add_scalar("lost", 0, 0)
    writer.flush()
    shutil.rmtree(run)
    writer.add_scalar("a", 1, 1)
    with pytest.raises(WriteError) as caught:
        writer.flush()
    assert isinstance(caught.value, OSError)
    assert str(run) in str(caught.value)
    with pytest.raises(OSError):
        writer.add_scalar("a", 2, 2)
    with pytest.raises(OSError):
        writer.flush()
    assert not run.exists()  # who removes a directory does not want it back
    run.mkdir()
    writer.flush()
    writer.add_scalar("a", 3, 3)
    writer.close()
    assert steps(run, "a") == [1, 2, 3]
    assert len(event_files(run)) == 1


@pytest.mark.skipif(os.name != "posix", reason="open files cannot be removed here")
def test_errors_reach_the_caller_once_when_only_the_file_is_removed(run: Path) -> None:
    writer = RunWriter(run)
    writer.add_scalar("lost", 0, 0)
    writer.flush()
    event_files(run)[0].unlink()
    writer.add_scalar("a", 1, 1)
    limit = time.monotonic() + HANG
    while not event_files(run):  # the thread helps itself
        assert time.monotonic() < limit
        time.sleep(0.05)
    with pytest.raises(OSError, match="removed while open"):
        writer.add_scalar("a", 2, 2)
    writer.flush()
    writer.close()
    assert scalars(run) == [("a", 1, 1.0), ("a", 2, 2.0)]


@pytest.mark.skipif(os.name != "posix", reason="open files cannot be removed here")
def test_errors_as_warnings_when_the_directory_is_removed(run: Path) -> None:
    writer = RunWriter(run, on_error="warn")
    writer.add_scalar("a", 0, 0)
    writer.flush()
    shutil.rmtree(run)
    writer.add_scalar("a", 1, 1)  # the thread sleeps for half a second
    with pytest.warns(RuntimeWarning, match="removed while open") as seen:
        writer.flush()
    assert seen[0].filename == __file__
    with pytest.warns(RuntimeWarning, match="lost: 1 event"):
        writer.close()


def test_a_relative_directory_stays_where_it_was(
    run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run.mkdir()
    other = run.with_name("other")
    other.mkdir()
    monkeypatch.chdir(run.parent)
    writer = RunWriter("run")
    monkeypatch.chdir(other)
    event_files(run)[0].unlink()
    writer.add_scalar("a", 1, 1)
    with pytest.raises(OSError):
        writer.flush()
    writer.close()
    assert steps(run, "a") == [1]
    assert not list(other.iterdir())
    assert writer.logdir == "run"
