"""Names in another case: `s Janou Novákovou`, `Jana Kowalskiego`, `Matti Virtasen`.

They are the names of people whom the page names in the first case as well.
"""

from collections import defaultdict
from collections.abc import Iterable
from typing import Final

from contact_extraction.contacts.model import PersonSighting
from contact_extraction.html import words
from contact_extraction.text import fold

MIN_STEM: Final = 3
MAX_ENDING: Final = 5
ALIKE_LETTERS: Final = 2
_LANGUAGES: Final = words("cs sk pl fi hu et lt lv hr sl sr ro uk ru")
_ENDINGS: Final = words(
    # Czech and Slovak
    "ou e u em ovi a y i ove ovou eho emu ym ej "
    # Polish
    "iem owi ego iego ow a skiego skiemu skim ska iej owej "
    # Finnish
    "n in en sen seen sella selle selta sesta sessa lla lle lta sta ssa an "
    # Hungarian
    "t et ot at ot nak nek val vel tol hoz hez ert rol ra re "
    # and what falls away
    "nen"
) | {""}


def without_inflected(
    found: Iterable[PersonSighting], language: str | None
) -> list[PersonSighting]:
    """Leave out of the people of a page those who are another one in another case."""
    some = list(found)
    if (language or "")[:2].lower() not in _LANGUAGES:
        return some
    first = {one.value for one in some if one.is_alone or one.role}
    # By how they begin: on a page of hundreds each is compared with a few.
    bases: dict[str, set[tuple[str, ...]]] = defaultdict(set)
    for name in first:
        parts = _folded(name)
        bases[parts[0][:ALIKE_LETTERS]].add(parts)
    # Who is only named in sentences may be in any case.
    return [
        one
        for one in some
        if one.value in first
        or not any(
            is_inflected(parts, base)
            for parts in (_folded(one.value),)
            for base in bases.get(parts[0][:ALIKE_LETTERS], ())
        )
    ]


def _folded(name: str) -> tuple[str, ...]:
    return tuple(fold(name).split())


def is_inflected(name: tuple[str, ...], base: tuple[str, ...]) -> bool:
    """Say whether a name may be another one in another case, both folded, in words."""
    is_like = len(name) == len(base) > 1 and name != base
    return is_like and all(map(_is_form, name, base))


def _is_form(word: str, base: str) -> bool:
    if word == base:
        return True
    stem = 0
    while stem < min(len(word), len(base)) and word[stem] == base[stem]:
        stem += 1
    # "Kucera" is "Kucery": what is left of the first case is short.
    return (
        stem >= min(MIN_STEM, len(base) - 1)
        and len(base) - stem <= MIN_STEM
        and len(word) - stem <= MAX_ENDING
        and word[stem:] in _ENDINGS
    )
