"""Samples of bounded size, chosen as TensorBoard chooses them: same seed, same items."""

from __future__ import annotations

import random
import threading
from collections import defaultdict
from collections.abc import Callable
from typing import Any

__all__ = ["Reservoir"]


def _same(item: Any) -> Any:
    return item


class Reservoir:
    """Items by key, at most `size` of each key; every item has the same chance to stay.

    What stays depends on the seed and on the items of its own key only.

    Args:
        size: items kept of each key; 0 keeps all.
        seed: of each key's random numbers.
        always_keep_last: the newest item is always kept, as the last.

    Raises:
        ValueError: the size is negative or no integer.
    """

    def __init__(self, size: float, seed: int = 0, always_keep_last: bool = True) -> None:
        if size < 0 or size % 1:
            raise ValueError(f"size must be nonnegative integer, was {size}")
        self.size = size
        self.always_keep_last = always_keep_last
        self._buckets: dict[Any, _ReservoirBucket] = defaultdict(
            lambda: _ReservoirBucket(size, random.Random(seed), always_keep_last)
        )
        self._mutex = threading.Lock()

    def Keys(self) -> list[Any]:
        """All keys, in the order of their first items."""
        with self._mutex:
            return list(self._buckets)

    def Items(self, key: Any) -> list[Any]:
        """The items of a key; KeyError if it never had any."""
        with self._mutex:
            if key not in self._buckets:
                raise KeyError(f"Key {key} was not found in Reservoir")
            return self._buckets[key].Items()

    def AddItem(self, key: Any, item: Any, f: Callable[[Any], Any] = _same) -> None:
        """Offers an item. Only if it is kept, `f` is called to make what is stored."""
        with self._mutex:
            bucket = self._buckets[key]
        bucket.AddItem(item, f)

    def FilterItems(self, filterFn: Callable[[Any], bool], key: Any = None) -> int:  # noqa: N803
        """Removes the items that a function is false for, of one key or all; returns how many."""
        with self._mutex:
            if key:
                return self._buckets[key].FilterItems(filterFn) if key in self._buckets else 0
            return sum(bucket.FilterItems(filterFn) for bucket in self._buckets.values())


class _ReservoirBucket:
    """The items of one key."""

    def __init__(
        self,
        _max_size: float,
        _random: random.Random | None = None,
        always_keep_last: bool = True,
    ) -> None:
        if _max_size < 0 or _max_size % 1:
            raise ValueError(f"_max_size must be nonnegative int, was {_max_size}")
        self.items: list[Any] = []
        self.always_keep_last = always_keep_last
        self._max_size = _max_size
        self._num_items_seen = 0
        self._random = random.Random(0) if _random is None else _random
        self._mutex = threading.Lock()

    def AddItem(self, item: Any, f: Callable[[Any], Any] = _same) -> None:
        with self._mutex:
            if self._max_size == 0 or len(self.items) < self._max_size:
                self.items.append(f(item))
            else:
                place = self._random.randint(0, self._num_items_seen)
                if place < self._max_size:
                    del self.items[place]
                    self.items.append(f(item))
                elif self.always_keep_last:
                    self.items[-1] = f(item)
            self._num_items_seen += 1

    def FilterItems(self, filterFn: Callable[[Any], bool]) -> int:  # noqa: N803
        with self._mutex:
            before = len(self.items)
            self.items = [item for item in self.items if filterFn(item)]
            # How many of the items seen would pass is not known; those kept are taken for typical.
            share = len(self.items) / before if before else 0
            self._num_items_seen = round(self._num_items_seen * share)
            return before - len(self.items)

    def Items(self) -> list[Any]:
        with self._mutex:
            return list(self.items)
