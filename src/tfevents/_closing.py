"""What every writer is: closed when its block ends, and with all of its parts."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import TracebackType

    from typing_extensions import Self

__all__ = ["Closing", "call_all"]


class Closing:
    """Closes at the end of a `with` block, whatever ended it."""

    __slots__ = ()

    def close(self) -> None:
        """To be closed; a second call does nothing."""
        raise NotImplementedError

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def call_all(calls: Iterable[Callable[[], object]]) -> None:
    """Makes every call; what the first of them raised is raised after the last."""
    first: Exception | None = None
    for call in calls:
        try:
            call()
        except Exception as error:
            first = first or error
    if first is not None:
        raise first
