"""How well the part before the @ of an address spells somebody's name."""

import re
from functools import lru_cache
from typing import Final

from contact_extraction.plain import plain, spellings, squeezed

SHORTEST: Final = 3
"""Letters of a name that are enough to find it inside an address."""
PARTS: Final = 2
"""A given name and a surname; and the letters of their initials."""
NICKNAME: Final = 3
"""Letters that a short form shares with a given name: the Kenn of Kenny."""

Ends = tuple[tuple[str, ...], tuple[str, ...]]
"""The ways in which the first and the last word of a name are spelt."""


def strength(local: str, name: str) -> float:
    """Report how well the part before the @ spells a name; 0: not at all."""
    return Written(local).strength(ends_of(name))


class Written:
    """The part before the @, to be compared with many names."""

    __slots__ = ("_letters", "_short")

    def __init__(self, local: str) -> None:
        self._letters = squeezed(local)
        self._short = re.sub(r"(?:y|ie|i)$", "", self._letters)

    def strength(self, ends: Ends) -> float:
        """Report how well it spells a name, by its first and last word."""
        written, (first, last) = self._letters, ends
        if not first or len(written) < PARTS:
            return 0.0
        has_first = _has_one(written, first)
        if _has_one(written, last):
            if has_first:
                return 3.0
            is_initial = any(f[:1] == written[:1] for f in first)
            return 2.5 if is_initial else 2.0
        if has_first and written.startswith(first):
            return 1.5
        short = self._short
        is_short = len(short) >= NICKNAME and any(f.startswith(short) for f in first)
        return 1.0 if is_short else 0.0


def _has_one(written: str, spelt: tuple[str, ...]) -> bool:
    # Thousands of times on a page of many names: a generator costs more than the search.
    for one in spelt:  # noqa: SIM110
        if len(one) >= SHORTEST and one in written:
            return True
    return False


def spells_alone(local: str, name: str) -> bool:
    """Say whether an address is made of a name and nothing else: jroe, jane.roe, roe.j.

    Enough to give an address to somebody whom another page of the site names.
    """
    written = squeezed(local).rstrip("0123456789")
    first, last = ends_of(name)
    pairs = [(f, one) for f in first for one in last if f and one]
    return len(written) >= SHORTEST and any(
        written in (f, one, f + one, one + f, f[0] + one, one + f[0], f + one[0])
        for f, one in pairs
    )


@lru_cache(maxsize=1024)
def ends_of(name: str) -> Ends:
    """Spell the first and the last word of a name; a single word has no ends."""
    bare = name.partition(",")[0]
    parts = [part for part in re.split(r"[\s.]+", plain(bare)) if part]
    if len(parts) < PARTS:
        return (), ()
    return spellings(name.split(maxsplit=1)[0]), spellings(bare.split()[-1])
