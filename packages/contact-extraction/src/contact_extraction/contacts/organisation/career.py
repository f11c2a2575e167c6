"""Firms named in what a page says about people: `was a director at Acme and Bolt`."""

import re
from collections.abc import Iterator
from typing import Final

from contact_extraction.contacts.organisation.source import (
    MAX_FOUND,
    NameSource,
    Nomination,
)
from contact_extraction.contacts.page_text import PageText
from contact_extraction.contacts.person import has_role_word

MIN_LINE: Final = 200
MAX_LINE: Final = 4000


def employers(sheet: PageText) -> Iterator[Nomination]:
    """Nominate where people worked, in lines long enough to describe a career."""
    given = 0
    signs = [sign for sign in _SIGNS if sign in sheet.text]
    for line in sheet.lines if signs else ():
        text = line.text
        if not MIN_LINE < len(text) < MAX_LINE:
            continue
        if not any(sign in text for sign in signs) or not _CAREER.search(text):
            continue
        for match in _EMPLOYERS.finditer(text):
            for name in _PART.split(match[1]):
                yield name, NameSource.EMPLOYER
                given += 1
                if given > MAX_FOUND:
                    return


def offices(sheet: PageText) -> Iterator[Nomination]:
    """Nominate the firm in lines such as `Ann Lee, CEO, Acme` and `Owner, Acme`."""
    for line in sheet.lines:
        if len(line.text) > MAX_OFFICE or ", " not in line.text:
            continue
        head, _, last = line.text.rpartition(", ")
        if has_role_word(head.rpartition(", ")[2]) and not has_role_word(last):
            yield last, NameSource.OFFICE


MAX_OFFICE: Final = 90
_PART: Final = re.compile(r",? and |, | \(now ")


_SIGNS: Final = (
    " at ",
    " joined ",
    " founded ",
    " acquired by ",
    " formerly of ",
    " positions with ",
)
_CAREER: Final = re.compile(
    r"\b(?:Vice President|VP|EVP|President|C[ETFO]O|[Ff]ounder|Chairman|[Dd]irector|[Mm]anager|"
    r"[Ee]xecutive|[Ee]ngineer|[Pp]artner|positions?|roles?|career)\b"
)
_EMPLOYER: Final = r"(?:[A-Z][\w&/'’-]{0,24}(?:\.com)?)(?:\s(?:&\s|of\s|for\s)?[A-Z][\w&/'’-]{0,24}){0,4}"
_EMPLOYERS: Final = re.compile(
    rf"\b(?:at|at the|joined|founded|acquired by|formerly of|positions with) "
    rf"({_EMPLOYER}(?:(?:, | \(now ){_EMPLOYER}\)?){{0,5}}(?:,? and {_EMPLOYER})?)"
)
