"""What people are, as the page says it of them beside others.

Only of people who are known already: a line below a name that looks like those below the
other names of the page makes nobody a person. Learned on two of the annotated pages and on
invented ones: of 208 roles on open sites, looked at for other things, 122 are right with it
and 93 were without.
"""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from contact_extraction.contacts.model import PersonSighting
from contact_extraction.contacts.page_text import PageText
from contact_extraction.contacts.person.role import role_in
from contact_extraction.seniority import Seniority, seniority_of
from contact_extraction.text import small

MIN_CARDS: Final = 2
"""Names with a role on the line below after which a line below another is one too."""
MAX_TITLE: Final = 45
MAX_TITLE_WORDS: Final = 6
MAX_SENTENCE: Final = 90

_Kind = tuple[str, str]


def with_titles(sheet: PageText, found: list[PersonSighting]) -> list[PersonSighting]:
    """Complete what people are called by the lines below them, or their sentence."""
    if not found:
        return found
    names = {one.line for one in found}
    kinds = Counter(
        _kind(sheet, one.line)
        for one in found
        if one.role and one.role == role_in(_below(sheet, one.line, 1))
    )
    return [_with_title(sheet, one, names, kinds) for one in found]


def _with_title(
    sheet: PageText, one: PersonSighting, names: set[int], kinds: Mapping[_Kind, int]
) -> PersonSighting:
    below = _below(sheet, one.line, 1)
    if one.role:
        return one
    if (
        one.is_alone
        and one.line + 1 not in names
        and kinds.get(_kind(sheet, one.line), 0) >= MIN_CARDS
        and _is_title(below, sheet.lines[one.line + 1].marks)
    ):
        return replace(one, role=below)
    if role := _calling_in_sentence(sheet, one):
        return replace(one, role=role)
    return one


def _calling_in_sentence(sheet: PageText, one: PersonSighting) -> str | None:
    """Give what somebody is by their sentence: "Ann Lind is a dentist in Ludlow"."""
    text = sheet.lines[one.line].text
    text = text[one.end - sheet.starts[one.line] :]
    if not text.strip() and (surname := _LAST_WORD.search(one.value)):
        # "Dr. Lind is a pediatrician" below "Ann Lind, M.D."
        below = _below(sheet, one.line, 1)
        text = below.partition(surname[0])[2] if surname[0] in below[:40] else ""
    said = _IS_ONE.match(small(text[:MAX_SENTENCE]))
    role = role_in(text[said.start(1) : said.end(1)]) if said else None
    return role if role and seniority_of(role) is Seniority.PROFESSIONAL else None


def _kind(sheet: PageText, number: int) -> _Kind:
    lines = sheet.lines
    after = lines[number + 1].tag if number + 1 < len(lines) else ""
    return lines[number].tag, after


def _below(sheet: PageText, number: int, lines: int) -> str:
    at = number + lines
    return sheet.lines[at].text.strip() if at < len(sheet.lines) else ""


def _is_title(text: str, marks: tuple[str, ...]) -> bool:
    """Say whether a line may be what somebody is: few words, and no link or sentence."""
    return (
        bool(_TITLE.fullmatch(text))
        and len(text) <= MAX_TITLE
        and len(text.split()) <= MAX_TITLE_WORDS
        and text not in marks
        and not _PLACE.search(text)
    )


_LAST_WORD: Final = re.compile(r"[^\W\d_][\w'’-]+(?=$|,)")
_TITLE: Final = re.compile(r"[^\W\d_][^\d@:!?\n]{2,}[^\W\d_]|[^\W\d_][^\d@:!?\n]{2,}\)")
_PLACE: Final = re.compile(r",\s[A-Z]{2}$|[^\W\d_]{3}\.\s|https?|www\.")
_IS_ONE: Final = re.compile(
    r"\s(?:is|ist|est|è|es|é|är|er)\s(?:an?|eine?|une?|un[ao]?|uma?|en|ett?|een)\s"
    r"([^\W\d_][\w -]{2,50}?)"
    r"(?=[.,;!]|$|\s(?:in|who|with|at|for|from|and|based|aus|mit|für|die|der|das|und|qui|à|en|et|con|che|que|e|som|och|og|i|på|"
    r"met|voor|[a-z]{4,}ing)\s)"
)
