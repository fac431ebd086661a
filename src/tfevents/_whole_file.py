"""New files that are seen whole or not at all."""

from __future__ import annotations

import contextlib
import itertools
import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

from tfevents import store

if TYPE_CHECKING:
    from tfevents._types import Sink

__all__ = ["whole_file"]

_counter = itertools.count()


@contextlib.contextmanager
def whole_file(
    target: str, *, durable: bool = True, replace: bool = False
) -> Iterator[Sink]:
    """A local file that gets its name when the block has ended well.

    Until then it has one that no reader looks at; after an error, nothing of it is left.

    Args:
        target: its path; directories are made.
        durable: wait for the disk to have it first. Of many small files that is most of the time.
        replace: take the place of a file of that name, which else is an error.

    Raises:
        FileExistsError: there is one of that name, and it is not to be replaced.
    """
    if not replace and os.path.lexists(target):
        raise _taken(target)
    folder = os.path.dirname(target) or "."
    part = os.path.join(folder, f".part-{os.getpid()}-{next(_counter)}")
    sink = store.LocalStore().create(part)
    try:
        yield sink
        if durable:
            sink.flush()
        sink.close()
        (os.replace if replace else _give_name)(part, target)
    finally:
        sink.close()
        with contextlib.suppress(FileNotFoundError):
            os.unlink(part)


def _give_name(part: str, target: str) -> None:
    """Renames without replacing, in one step where the system has links."""
    try:
        os.link(part, target)
    except FileExistsError:
        raise
    except (OSError, AttributeError, NotImplementedError):
        if os.path.lexists(target):
            raise _taken(target) from None
        os.rename(part, target)


def _taken(target: str) -> FileExistsError:
    return FileExistsError(f"{target} exists, and nothing is overwritten")
