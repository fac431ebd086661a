"""Which known names a wrong one may stand for, and how an error says so."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

__all__ = ["did_you_mean"]


def did_you_mean(name: object, known: Iterable[str], *, most: int = 3) -> str:
    """The names that may have been meant, as the end of a sentence, or nothing.

    Args:
        name: what was asked for; of any type, since a wrong type is a mistake like another.
        known: what there is.
        most: how many names are offered.
    """
    found = list(dict.fromkeys(known))
    small = str(name).lower().strip("/")
    # The usual slip is a forgotten or an added scope, which difflib finds too different.
    scoped = [
        other
        for other in found
        if small and (f"/{small}/" in (path := f"/{other.lower()}/") or path in f"/{small}/")
    ]
    spellings: dict[str, list[str]] = {}
    for other in found:
        lower = other.lower()
        for spelling in {lower: None, lower.rpartition("/")[2]: None}:
            spellings.setdefault(spelling, []).append(other)
    near = difflib.get_close_matches(small, spellings, n=most)
    alike = [other for spelling in near for other in spellings[spelling]]
    meant = list(dict.fromkeys([*scoped, *alike]))[:most]
    return f"; did you mean {' or '.join(map(repr, meant))}?" if meant else ""
