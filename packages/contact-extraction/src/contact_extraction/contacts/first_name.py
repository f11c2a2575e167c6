"""Lines that call somebody by the given name alone: `Maja`, `Call Petra: 0161 496 0102`."""

import re
from functools import lru_cache
from typing import Final

from contact_extraction.contacts.person.word import (
    AMBIGUOUS,
    HARD,
    PARTICLE,
    SOFT,
    UPPER,
    WORD,
    given_names,
    is_given,
)

MAX_LINE: Final = 60
MAX_NAME: Final = 40
_NAME: Final = rf"(?P<{{}}>[{UPPER}][\w-]{{{{1,20}}}})"
# A line with a given name and nothing else, or one that says to call them.
_CALLED: Final = re.compile(
    _NAME.format("lone")
    + r"\W{0,3}"
    + r"|(?:.{0,30}\W)?(?i:call|text|ring|phone|ask for|speak to|contact|anruf bei|rufen sie|bel(?: met)?|"
    r"appelez|contactez|llama a|llame a|chiama|chiamate|contatta|zadzwoń do|volejte|ring til|ring|soita)\s"
    + _NAME.format("asked")
    + r"(?![ -]?[A-ZÀ-Ž])(?:\W.*)?"
)


# Pages of a site share the lines of their header and footer.
@lru_cache(4_096)
def called_in(text: str) -> str | None:
    """Give the given name by which a line calls somebody; None if it does not."""
    if len(text) > MAX_LINE:
        return None
    match = _CALLED.fullmatch(text.strip())
    if match is None:
        return None
    name = match["lone"] or match["asked"]
    first = name.casefold().partition("-")[0]
    is_given = name.casefold() in given_names() or first in given_names()
    return name if is_given and name.casefold() not in AMBIGUOUS else None


def is_like_name(text: str) -> bool:
    """Say whether a line looks like a whole name, read as one or not: `Karen Holm Krag`."""
    if len(text) > MAX_NAME or not _WHOLE.fullmatch(text):
        return False
    words = text.casefold().replace(",", "").split()
    is_other = any(word in HARD or word in SOFT for word in words)
    return not is_other and (is_given(words[0]) or is_given(words[-1]))


_WHOLE: Final = re.compile(
    rf"(?:[A-Z]\w{{0,4}}\.\s?){{0,3}}{WORD},?(?:\s(?:{PARTICLE}\s)?{WORD}){{1,3}}"
)
