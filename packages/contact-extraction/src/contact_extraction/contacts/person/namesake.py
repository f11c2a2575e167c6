"""Somebody after whom a business is called, and who is named nowhere else on the page.

`tamsinhart.co.uk` of *Tamsin Hart Photography* is Tamsin Hart's: of a business of one person the
title, the logo and the domain are often all that says who they are. It takes the whole name in the
domain and a trade behind it, or a title before it: a brand, a street or a school that bears a name
is nobody.
"""

from collections.abc import Iterable
from typing import Final

from contact_extraction import wordlist
from contact_extraction.contacts.model import Method, PersonSighting
from contact_extraction.contacts.page_text import PageText
from contact_extraction.contacts.person.name import person_key
from contact_extraction.contacts.person.support import is_no_name, is_place_or_role
from contact_extraction.contacts.person.word import (
    AMBIGUOUS,
    HARD,
    HONORIFIC,
    NOT_NAMES,
    SOFT,
    is_given,
)
from contact_extraction.html import words
from contact_extraction.text import compact, spellings

NAMESAKE_CONFIDENCE: Final = 0.8
"""How likely a business of such a name and domain is that person's: what we expect."""
MIN_WORDS: Final = 2
WORDS_WITH_TRADE: Final = 3
MIN_LETTERS: Final = 3
MAX_WORDS: Final = 6
# What bears the name of somebody who is long dead, or of no one.
_MONUMENTS: Final = words(
    "school college university academy institute foundation trust museum library memorial hospital church park "
    "hotel house hall theatre theater club award prize elementary high primary gymnasium schule stiftung klinikum "
    "lycée collège école fondation liceo istituto fondazione colegio instituto fundación szkoła fundacja brewery "
    "whisky whiskey fashion jewellery watches shoes cosmetics perfume records museet museo musée"
)


def find_namesake(
    sheet: PageText, host: str, firms: Iterable[str], known: Iterable[str]
) -> PersonSighting | None:
    """Give who bears the name of the business and of its domain, unless a page names them.

    `firms` are the names of the business, `known` the keys of the people of the page.
    """
    taken = {word for key in known for word in key.split()}
    for firm in firms:
        name = _name_in(firm)
        if name is None or name[1].casefold() in taken:
            continue
        given, last = name
        if last.casefold() in sheet.words:
            continue  # "Hayden Outdoors" writes of the outdoors
        if not any(f"{compact(given)}{s}" in compact(host) for s in spellings(last)):
            continue
        written = f"{given} {last}"
        return PersonSighting(
            key=person_key(written),
            value=written,
            method=Method.NAME_LIST,
            line=_line_of(sheet, written),
            snippet=firm[:200],
            is_alone=True,
            confidence=NAMESAKE_CONFIDENCE,
        )
    return None


def _name_in(firm: str) -> tuple[str, str] | None:
    """Give the given name and the surname that the name of a firm begins with."""
    parts = firm.replace(",", " ").split()
    has_title = bool(parts) and parts[0].casefold() in HONORIFIC
    while parts and parts[0].casefold() in HONORIFIC:
        parts.pop(0)
    if not (MIN_WORDS if has_title else WORDS_WITH_TRADE) <= len(parts) <= MAX_WORDS:
        return None
    given, last = parts[0], parts[1]
    folded = last.casefold()
    if not is_given(given) or given.casefold() in AMBIGUOUS or len(last) < MIN_LETTERS:
        return None
    others = {part.casefold().strip(".'’") for part in parts}
    is_word = (
        not last[0].isupper()
        or folded in HARD | SOFT | NOT_NAMES
        or folded in wordlist.load("roles")
        or folded in wordlist.load("company_legal_forms")
        or folded in wordlist.load("company_common_words")
        or bool(
            others & (_MONUMENTS | {"&", "and", "und", "et", "y", "e", "och", "og"})
        )
    )
    name = f"{given} {last}"
    if is_word or is_no_name(name) or is_place_or_role(name, has_given=True):
        return None
    return given, last


def _line_of(sheet: PageText, name: str) -> int:
    """Give the first line that has a name; -1 if only the title has it."""
    at = sheet.text.find(name)
    return sheet.line_at(at) if at >= 0 else -1
