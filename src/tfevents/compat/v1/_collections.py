"""Collections of summaries, and the two ways to join summaries into one.

In TensorFlow 1 a collection holds operations, which a session evaluates. Here it holds results:
of each kind and tag the latest that this thread made since it was last merged, so that a program
which never merges keeps one summary a tag and no more.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterable, Sequence
from typing import Any, Final

from tfevents import proto

__all__ = ["GraphKeys", "collect", "merge", "merge_all"]

# A program that invents tags for ever must not fill the memory.
_MAX_HELD = 1 << 16


class GraphKeys:
    """Names of collections."""

    SUMMARIES: Final = "summaries"


class _Collections(threading.local):
    def __init__(self) -> None:
        # {collection: {(kind, tag): summary}}
        self.held: dict[str, dict[tuple[str, str], proto.Summary]] = {}


_here = _Collections()


def collect(
    kind: str, tag: str, summary: proto.Summary, collections: Sequence[str] | str | None
) -> None:
    """Puts a summary into collections, in the place of an earlier one of its kind and tag."""
    if collections is None:
        collections = (GraphKeys.SUMMARIES,)
    elif isinstance(collections, str):
        collections = (collections,)
    for key in collections:
        held = _here.held.setdefault(key, {})
        held[kind, tag] = summary
        while len(held) > _MAX_HELD:
            del held[next(iter(held))]


def merge(
    inputs: Iterable[proto.Summary | bytes],
    collections: Sequence[str] | str | None = None,
    name: str | None = None,
) -> proto.Summary:
    """One Summary with the values of several.

    Args:
        inputs: Summary messages of any origin, or serialized ones.
        collections: names of collections to put the result into; by default none.
        name: names the result in a collection.

    Raises:
        TypeError: `inputs` are not Summaries.
        ValueError: there are none, bytes are no Summary, or two values have the same tag.
    """
    summaries = [proto.coerce(proto.Summary, each) for each in inputs]
    if not summaries:
        raise ValueError("merge needs at least one Summary")
    merged = proto.Summary()
    for each in summaries:
        merged.MergeFrom(each)
    _check_unique(merged)
    if collections is not None:
        collect("merge", name or "Merge/MergeSummary", merged, collections)
    return merged


def merge_all(
    key: str = GraphKeys.SUMMARIES, scope: str | None = None, name: str | None = None
) -> proto.Summary | None:
    """Joins what this thread collected since the last call, and empties the collection.

    Of each kind and tag the latest summary counts.

    Args:
        key: name of the collection.
        scope: a regular expression; only tags that begin with it are taken, others stay.
        name: accepted as in TensorFlow; not used.

    Returns:
        One Summary, or None if there is nothing to merge.

    Raises:
        ValueError: two kinds of summary have the same tag. They are dropped.
    """
    held = _here.held.get(key, {})
    chosen = [each for each in held if scope is None or re.match(scope, each[1])]
    return merge([held.pop(each) for each in chosen]) if chosen else None


def _check_unique(summary: Any) -> None:
    seen: set[str] = set()
    for value in summary.value:
        if value.tag in seen:
            raise ValueError(f"duplicate tag {value.tag!r} in the summaries to merge")
        seen.add(value.tag)
