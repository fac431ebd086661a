"""What every store must do, as tests that a store of your own can inherit."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tfevents._types import Store

__all__ = ["StoreConformance"]


class StoreConformance:
    """Tests for a `Store`; subclass it in a test file and define the two attributes.

        class TestMyStore(StoreConformance):
            root = "my://bucket/logs"

            def make_store(self):
                return MyStore()

    Attributes:
        root: a directory that is empty at the beginning of each test.
    """

    root: str

    def make_store(self) -> Store:
        """A store in which nothing lies below `root`."""
        raise NotImplementedError

    def test_a_file_has_what_was_written_in_order(self) -> None:
        """Two writes stand one behind the other, and can be read while the file is open."""
        store = self.make_store()
        sink = store.create(f"{self.root}/run/file")
        sink.write(b"first ")
        sink.write(b"second")
        sink.flush()
        source = store.open(f"{self.root}/run/file")
        _same(source.read(0, 100), b"first second")
        _same(source.size(), 12)
        sink.close()
        sink.close()
        source.close()

    def test_reading_begins_anywhere_and_ends_at_the_end(self) -> None:
        """A read gives what there is, and nothing beyond the end."""
        store = self.make_store()
        sink = store.create(f"{self.root}/file")
        sink.write(bytes(range(100)))
        sink.close()
        source = store.open(f"{self.root}/file")
        _same(source.read(10, 5), bytes(range(10, 15)))
        _same(source.read(98, 50), bytes((98, 99)))
        _same(source.read(100, 1), b"")
        source.close()

    def test_a_growing_file_is_seen_to_grow(self) -> None:
        """A source that is open sees what is flushed later."""
        store = self.make_store()
        sink = store.create(f"{self.root}/file")
        sink.write(b"a")
        sink.flush()
        source = store.open(f"{self.root}/file")
        _same(source.size(), 1)
        sink.write(b"b")
        sink.flush()
        _same(source.size(), 2)
        _same(source.read(1, 1), b"b")
        sink.close()
        source.close()

    def test_a_name_is_given_once(self) -> None:
        """No writer opens the file of another."""
        store = self.make_store()
        store.create(f"{self.root}/file").close()
        _raises(FileExistsError, lambda: store.create(f"{self.root}/file"))

    def test_what_is_not_there_cannot_be_opened(self) -> None:
        """A missing file is an OSError."""
        store = self.make_store()
        _raises(OSError, lambda: store.open(f"{self.root}/missing"))

    def test_all_files_below_a_directory_are_listed_in_order(self) -> None:
        """Also those of directories below; a file lists itself."""
        store = self.make_store()
        paths = [f"{self.root}/a/x", f"{self.root}/b", f"{self.root}/c/d/y"]
        for path in reversed(paths):
            store.create(path).close()
        _same(sorted(store.list(self.root)), paths)
        _same(list(store.list(paths[1])), [paths[1]])
        _same(list(store.list(f"{self.root}/empty")), [])


def _same(found: object, expected: object) -> None:
    if found != expected:
        raise AssertionError(f"expected {expected!r}, got {found!r}")


def _raises(kind: type[Exception], call: Callable[[], object]) -> None:
    try:
        call()
    except kind:
        return
    raise AssertionError(f"expected {kind.__name__}, and nothing was raised")
