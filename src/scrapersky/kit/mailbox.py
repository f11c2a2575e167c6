"""How well the part before the @ of an address spells somebody's name."""

import re
from functools import lru_cache
from typing import Final

from scrapersky.kit.plain import plain, spellings, squeezed

SHORTEST: Final = 3
"""Letters of a name that are enough to find it inside an address."""
PARTS: Final = 2
"""A given name and a surname; and the letters of their initials."""
NICKNAME: Final = 3
"""Letters that a short form shares with a given name: the Kenn of Kenny."""


def strength(local: str, name: str) -> float:
    """Report how well the part before the @ spells a name; 0: not at all."""
    written, (first, last) = _as_host(local), _ends_of(name)
    if not first or len(written) < PARTS:
        return 0.0
    has_first = any(len(f) >= SHORTEST and f in written for f in first)
    has_last = any(len(one) >= SHORTEST and one in written for one in last)
    if has_first and has_last:
        return 3.0
    if has_last:
        is_initial = any(f[:1] == written[:1] for f in first)
        return 2.5 if is_initial else 2.0
    if has_first and any(written.startswith(f) for f in first):
        return 1.5
    short = re.sub(r"(?:y|ie|i)$", "", written)
    is_short = len(short) >= NICKNAME and any(f.startswith(short) for f in first)
    return 1.0 if is_short else 0.0


def spells_alone(local: str, name: str) -> bool:
    """Say whether an address is made of a name and nothing else: jroe, jane.roe, roe.j.

    Enough to give an address to somebody whom another page of the site names.
    """
    written = _as_host(local).rstrip("0123456789")
    first, last = _ends_of(name)
    pairs = [(f, one) for f in first for one in last if f and one]
    return len(written) >= SHORTEST and any(
        written in (f, one, f + one, one + f, f[0] + one, one + f[0], f + one[0])
        for f, one in pairs
    )


# Every address is compared with every name of the page.
_as_host = lru_cache(maxsize=64)(squeezed)


@lru_cache(maxsize=1024)
def _ends_of(name: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Spell the first and the last word of a name; a single word has no ends."""
    bare = name.partition(",")[0]
    parts = [part for part in re.split(r"[\s.]+", plain(bare)) if part]
    if len(parts) < PARTS:
        return (), ()
    return spellings(name.split(maxsplit=1)[0]), spellings(bare.split()[-1])
