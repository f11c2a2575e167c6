"""How well the part before the @ of an address spells somebody's name."""

import re
from collections import defaultdict
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import islice, product
from typing import Final

from contact_extraction import wordlist
from contact_extraction.text import compact, fold, spellings

MIN_LETTERS: Final = 3
"""Letters of a name that are enough to find it inside an address."""
NAME_PARTS: Final = 2
"""A given name and a surname; and the letters of their initials."""
NICKNAME_LETTERS: Final = 3
"""Letters that a short form shares with a given name: the Kenn of Kenny."""

MAX_SPELLINGS: Final = 100
"""Spellings of one name that are compared at most: names may have many parts."""


@dataclass(frozen=True, slots=True)
class NameParts:
    """The ways in which the parts of a name are spelt; none of a single word."""

    first: tuple[str, ...] = ()
    last: tuple[str, ...] = ()
    middle: tuple[str, ...] = ()
    short: tuple[str, ...] = ()
    """What people with this given name are called, or it is short for: Bob, Robert."""
    initials: str = ""


def strength(local: str, name: str) -> float:
    """Report how well the part before the @ spells a name; 0: not at all."""
    return LocalPart(local).strength(parts_of(name))


class LocalPart:
    """The part before the @, to be compared with many names."""

    __slots__ = ("_letters", "_short")

    def __init__(self, local: str) -> None:
        self._letters = compact(local)
        self._short = re.sub(r"(?:y|ie|i)$", "", self._letters)

    def strength(self, name: NameParts) -> float:
        """Report how well it spells a name, by its parts."""
        written, first = self._letters, name.first
        if not first or len(written) < NAME_PARTS:
            return 0.0
        if written == name.initials:
            return 0.5
        has_first = _has_one(written, first) or _has_one(written, name.short)
        if _has_one(written, name.last):
            if has_first:
                return 3.0
            is_initial = any(f[:1] == written[:1] for f in first)
            return 2.5 if is_initial else 2.0
        if has_first and written.startswith(first):
            return 1.5
        short = self._short
        is_short = len(short) >= NICKNAME_LETTERS and any(
            f.startswith(short) for f in first
        )
        return 1.0 if is_short or written in (*name.short, *name.middle) else 0.0


def _has_one(written: str, spelt: tuple[str, ...]) -> bool:
    # Thousands of times on a page of many names: a generator costs more than the search.
    for one in spelt:  # noqa: SIM110
        if len(one) >= MIN_LETTERS and one in written:
            return True
    return False


def spells_alone(local: str, name: str) -> bool:
    """Say whether an address is made of a name and nothing else: jroe, jane.roe, roe.j.

    Enough to give an address to somebody whom another page of the site names.
    """
    written = compact(local).rstrip("0123456789")
    return len(written) >= MIN_LETTERS and written in _whole_spellings(name)


@lru_cache(maxsize=1024)
def _whole_spellings(name: str) -> frozenset[str]:
    """Spell a name in the ways whole addresses do."""
    parts = parts_of(name)
    firsts = (*parts.first, *parts.short)
    found = {*firsts, *parts.middle, parts.initials}
    between = ("", *parts.middle, *(one[:1] for one in parts.middle))
    for first, last in islice(product(firsts, parts.last), MAX_SPELLINGS):
        found |= {last, last + first, last + first[:1], first + last[:1]}
        for inner in between:
            found |= {first + inner + last, first[:1] + inner + last, first + inner}
    return frozenset(one for one in found if one)


@lru_cache(maxsize=1024)
def parts_of(name: str) -> NameParts:
    """Spell the parts of a name; a single word has none."""
    bare = name.partition(",")[0]
    words = [word for word in re.split(r"[\s.]+", bare) if compact(word)]
    if len(words) < NAME_PARTS:
        return NameParts()
    letters = [fold(word)[:1] for word in words]
    return NameParts(
        first=_spelt(words[0]),
        last=_spelt(words[-1]),
        middle=tuple(
            spelt
            for word in words[1:-1]
            for spelt in spellings(word)
            if len(spelt) >= MIN_LETTERS
        ),
        short=tuple(sorted(_short_forms().get(fold(words[0]), ()))),
        initials="".join(letters),
    )


def _spelt(word: str) -> tuple[str, ...]:
    """Spell a word of a name, and each half of a double one: Berg-Lund is berg too."""
    halves = [half for half in word.split("-") if len(half) >= MIN_LETTERS]
    more = halves if len(halves) > 1 else []
    return tuple(dict.fromkeys(s for one in (word, *more) for s in spellings(one)))


@cache
def _short_forms() -> dict[str, set[str]]:
    """Give what people of a given name are called, and what short ones are short for."""
    found: dict[str, set[str]] = defaultdict(set)
    for line in wordlist.load_ordered("short_names"):
        name, *forms = fold(line).split()
        found[name].update(forms)
        for form in forms:
            found[form].add(name)
    return found
