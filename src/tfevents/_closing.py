"""What every writer is: a context manager that closes when its block ends."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import TracebackType

    from typing_extensions import Self

__all__ = ["Closing"]


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
