"""Our own stores do what a store must do, and one that does not is found out."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tfevents._types import Sink, Store
from tfevents.store import LocalStore, MemoryStore
from tfevents.testing import StoreConformance


class TestMemoryStore(StoreConformance):
    root = "/logs"

    def make_store(self) -> Store:
        return MemoryStore()


class TestLocalStore(StoreConformance):
    @pytest.fixture(autouse=True)
    def _root(self, tmp_path: Path) -> None:
        self.root = str(tmp_path)

    def make_store(self) -> Store:
        return LocalStore()


class Forgetful(MemoryStore):
    """Opens the file of another writer, and lists nothing."""

    def create(self, path: str, *, parents: bool = True) -> Sink:
        self.files.pop(path, None)
        return super().create(path, parents=parents)

    def list(self, path: str) -> Iterator[str]:
        return iter(())


class Broken(StoreConformance):
    root = "/logs"

    def make_store(self) -> Store:
        return Forgetful()


@pytest.mark.parametrize(
    "law",
    [
        Broken.test_a_name_is_given_once,
        Broken.test_all_files_below_a_directory_are_listed_in_order,
    ],
)
def test_a_broken_store_is_found_out(law: object) -> None:
    with pytest.raises(AssertionError, match="expected"):
        law(Broken())  # type: ignore[operator]
