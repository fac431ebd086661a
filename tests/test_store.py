from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from readback import steps
from tfevents.errors import WriteError
from tfevents.run_writer import RunWriter
from tfevents.store import LocalStore, MemoryStore, open_store, redirect
from tfevents.summary_writer import SummaryWriter


@pytest.mark.parametrize(
    ("path", "inside"),
    [
        ("logs/a", "logs/a"), ("C:\\x", "C:\\x"), ("C:/x", "C:/x"), (b"logs", "logs"),
        (Path("logs"), "logs"), ("file:///tmp/a", "/tmp/a"), ("FILE:///tmp/a", "/tmp/a"),
        ("file://localhost/tmp/a", "/tmp/a"), ("file:///C:/logs", "C:/logs"), ("a:b", "a:b"),
        ("run:1/a", "run:1/a"), ("file:///a%20b", "/a%20b"),
    ],
)
def test_local_paths(path: Any, inside: str) -> None:
    store, found = open_store(path)
    assert isinstance(store, LocalStore)
    assert found == inside


@pytest.mark.parametrize("url", ["s3://b/x", "gs://b/x", "hdfs://h/x", "memory://x"])
def test_urls_without_fsspec_name_scheme_and_extra_and_make_nothing(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("fsspec", "fsspec.core"):
        monkeypatch.setitem(__import__("sys").modules, name, None)
    with pytest.raises(ImportError, match=rf"{url[:2]}.*tfevents\[fsspec\]"):
        RunWriter(url)
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("path", ["gs:/b/x", Path("gs://b/x"), "s3:/b"])
def test_urls_that_lost_a_slash_make_no_local_folder(
    path: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match="swallows a slash"):
        RunWriter(path)
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(
    ("path", "error"), [("a\0b", ValueError), (None, TypeError), (5, TypeError)]
)
def test_paths_that_are_none(path: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        open_store(path)


def test_redirect_sends_everything_to_one_store(tmp_path: Path) -> None:
    store = MemoryStore()
    with redirect(store), RunWriter(tmp_path / "run") as writer:
        writer.add_scalar("a", 1, 1)
    assert [Path(path).parent for path in store.files] == [tmp_path / "run"]
    assert not list(tmp_path.iterdir())


# -- local files


def test_local_files_are_new(tmp_path: Path) -> None:
    store = LocalStore()
    sink = store.create(str(tmp_path / "a" / "f"))
    sink.write(b"one")
    assert (tmp_path / "a" / "f").read_bytes() == b"one"  # nothing is buffered
    with pytest.raises(FileExistsError):
        store.create(str(tmp_path / "a" / "f"))
    sink.flush()
    sink.close()
    sink.close()
    source = store.open(str(tmp_path / "a" / "f"))
    assert (source.size(), source.read(1, 10), source.read(3, 1)) == (3, b"ne", b"")
    source.close()


def test_local_writes_that_fail_leave_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "f"
    sink = LocalStore().create(str(path))
    sink.write(b"whole")
    write = os.write

    def full(fd: int, data: bytes) -> int:
        if len(data) > 2:
            return write(fd, bytes(data[:2]))  # takes a part, then refuses
        raise OSError(errno.ENOSPC, "full")

    with monkeypatch.context() as patch:
        patch.setattr(os, "write", full)
        with pytest.raises(WriteError) as caught:
            sink.write(b"torn")
    assert (caught.value.errno, caught.value.filename) == (errno.ENOSPC, str(path))
    assert path.read_bytes() == b"whole"
    sink.write(b"again")
    sink.close()
    assert path.read_bytes() == b"wholeagain"


@pytest.mark.skipif(not hasattr(os, "ftruncate"), reason="files cannot be cut here")
def test_local_files_stay_refused_while_they_cannot_be_cut_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whole records after a torn one would be lost to every reader."""
    path = tmp_path / "f"
    sink = LocalStore().create(str(path))
    sink.write(b"whole")
    write, answers = os.write, iter([2])

    def torn(fd: int, data: bytes) -> int:
        for count in answers:
            return write(fd, bytes(data[:count]))
        raise OSError(errno.EIO, "broken")

    def no(*arguments: Any) -> None:
        raise OSError(errno.EIO, "broken")

    with monkeypatch.context() as patch:
        patch.setattr(os, "write", torn)
        patch.setattr(os, "ftruncate", no)
        with pytest.raises(WriteError):
            sink.write(b"torn")
    assert path.read_bytes() == b"wholeto"
    with monkeypatch.context() as patch:
        patch.setattr(os, "ftruncate", no)
        with pytest.raises(WriteError):
            sink.write(b"next")
    sink.write(b"next")
    sink.close()
    assert path.read_bytes() == b"wholenext"


def test_local_list_follows_links_but_not_in_circles(tmp_path: Path) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / "f").write_text("")
    (tmp_path / "a" / "b" / "f").write_text("")
    try:
        (tmp_path / "a" / "b" / "up").symlink_to(tmp_path / "a")
        (tmp_path / "twin").symlink_to(tmp_path / "a" / "b")
    except OSError:
        pytest.skip("no links here")
    found = [os.path.relpath(path, tmp_path) for path in LocalStore().list(str(tmp_path))]
    inner = [path for path in found if path.startswith("a")]
    assert inner == [os.path.join("a", "b", "f"), os.path.join("a", "f")]
    assert os.path.join("twin", "f") in found
    assert list(LocalStore().list(str(tmp_path / "a" / "f"))) == [str(tmp_path / "a" / "f")]
    assert list(LocalStore().list(str(tmp_path / "nothing"))) == []


def test_a_dropped_sink_closes_its_descriptor(tmp_path: Path) -> None:
    sink: Any = LocalStore().create(str(tmp_path / "f"))
    fd = sink._fd
    os.fstat(fd)
    del sink
    with pytest.raises(OSError):
        os.fstat(fd)


# -- memory and fsspec


@pytest.mark.parametrize("closed", [True, False])
def test_a_sink_that_outlives_its_module_is_silent(
    closed: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sink: Any = LocalStore().create(str(tmp_path / "file"))
    if closed:
        sink.close()
    with monkeypatch.context() as ending:  # Python's own end makes such names None
        for name in ("contextlib", "os"):
            ending.setattr(f"tfevents.store.{name}", None)
        sink.__del__()


def test_memory_files() -> None:
    store = MemoryStore()
    sink = store.create("run/f")
    sink.write(b"ab")
    sink.write(b"c")
    with pytest.raises(FileExistsError):
        store.create("run/f")
    with pytest.raises(FileNotFoundError, match="nothing"):
        store.open("nothing")
    assert (store.open("run/f").size(), store.open("run/f").read(1, 9)) == (3, b"bc")
    assert list(store.list("run")) == list(store.list("run/f")) == ["run/f"]
    assert list(store.list("ru")) == []


@pytest.mark.parametrize("appends", [True, False])
def test_fsspec_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, appends: bool) -> None:
    fsspec = pytest.importorskip("fsspec")
    from tfevents import _fsspec_store

    if not appends:
        monkeypatch.setattr(_fsspec_store, "_APPENDING", frozenset())
    memory = fsspec.filesystem("memory")
    url = f"memory://logs{appends}/run"
    with RunWriter(url) as writer:
        writer.add_scalar("a", 1, 1)
        writer.flush()
        (path,) = open_store(url)[0].list(url)
        assert path.startswith(url + "/events.out.tfevents.")
        (tmp_path / "tfevents.1").write_bytes(memory.cat_file(path))
        assert steps(tmp_path, "a") == [1]  # a flush is a barrier here too
        writer.add_scalar("a", 2, 2)
    store = open_store(url)[0]
    source = store.open(path)
    content = source.read(0, source.size())
    (tmp_path / "tfevents.1").write_bytes(content)
    assert steps(tmp_path, "a") == [1, 2]
    assert source.read(3, 4) == content[3:7]
    with pytest.raises(FileExistsError):
        store.create(path)
    with pytest.raises(FileNotFoundError):
        store.open(url + "/nothing")


@pytest.mark.parametrize("appends", [True, False])
@pytest.mark.parametrize("fault", [OSError(errno.EIO, "down"), LookupError("503")])
def test_fsspec_faults_of_any_class_lose_and_repeat_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, appends: bool, fault: Exception
) -> None:
    fsspec = pytest.importorskip("fsspec")
    from tfevents import _fsspec_store

    if not appends:
        monkeypatch.setattr(_fsspec_store, "_APPENDING", frozenset())
    memory = fsspec.filesystem("memory")
    url = f"memory://faults{appends}{type(fault).__name__}/run"
    writer = SummaryWriter(url, max_file_bytes=1000, keep_images=2)
    for step in range(100):
        writer.add_scalar("a", step, step)
        writer.add_image("i", np.zeros((1, 2, 2)), step)
        if step in (30, 60):
            with monkeypatch.context() as broken:
                def refuse(path: str, mode: str = "rb", **options: Any) -> Any:
                    raise fault

                broken.setattr(memory, "open", refuse)
                for _ in range(2):
                    with pytest.raises(WriteError, match=r"down|LookupError: 503"):
                        writer.flush()
            writer.flush()
    writer.close()
    for number, path in enumerate(open_store(url)[0].list(url)):
        (tmp_path / f"tfevents.{number}").write_bytes(memory.cat_file(path))
    assert sorted(steps(tmp_path, "a")) == list(range(100))
    images = sorted(steps(tmp_path, "i"))
    assert images == list(range(100 - len(images), 100))
    assert 2 <= len(images) <= 4


def test_fsspec_schemes_it_does_not_know() -> None:
    pytest.importorskip("fsspec")
    with pytest.raises(ValueError, match="nosuch"):
        open_store("nosuch://x")
