"""What people do: roles, and whether one stands beside a name."""

import re
from functools import cache
from itertools import pairwise
from typing import Final

from contact_extraction import wordlist
from contact_extraction.contacts.person.name import are_degrees
from contact_extraction.contacts.person.word import AMBIGUOUS, given_names
from contact_extraction.contacts.sheet import Sheet
from contact_extraction.seniority import Seniority, seniority_of

MAX_ROLE: Final = 90
MAX_SHORT: Final = 70


def role_in(text: str) -> str | None:
    """Give a text back if it reads as a role and nothing more."""
    text = text.strip(" ,.;:|–—-()\u2022")
    if text in _SHORT_ROLES:
        return text
    if not 2 < len(text) <= MAX_ROLE or "@" in text or re.search(r"\d{3}", text):
        return None
    if len(text.split()) > 10 or not _role_pattern().search(text):
        return None
    if _SENTENCE.search(text) or _OPEN_END.search(text) or _names_somebody(text):
        return None
    return text


def _names_somebody(text: str) -> bool:
    """Tell `Inhaber Karl Weiss`, somebody else's role, from a role by itself."""
    return any(
        one.casefold() in given_names()
        and one.casefold() not in AMBIGUOUS
        and one[0].isupper()
        and other[0].isupper()
        for one, other in pairwise(text.split())
    )


def has_role_word(text: str) -> bool:
    """Say whether one of the words of a text is a role."""
    roles = wordlist.load("roles")
    return any(word.strip(".,()") in roles for word in text.casefold().split())


def is_calling(role: str | None) -> bool:
    """Tell what somebody is from the office they are in: `Verwaltung` heads houses too."""
    return role is not None and role.casefold() not in wordlist.load("departments")


_SHORT_ROLES: Final = frozenset(("VD", "GF", "VP", "TJ"))
_OPEN_END: Final = re.compile(r"\s(?:&|and|und|et|y|en|och|og)$")
# The full stops of "leg. tandläkare" and "staatl. gepr. Masseurin" end no sentence.
_SHORTENED: Final = r"(?<![Ll]eg)(?<![Dd]ipl)(?<!gepr)(?<!taatl)"
_SENTENCE: Final = re.compile(
    rf"(?-i:{_SHORTENED}[.!?]\s+[A-Z])|\b(?:is|are|was|were|has|have|will|please|click|our|your|we|you|they|"
    r"with over|joined|contact|call|email)\b",
    re.IGNORECASE,
)
# What trades end in: neurologist, podiatrist, Heilpraktikerin, Malermeister.
_ROLE_ENDINGS: Final = (
    r"\w{3,}(?:ologist|iatrist|therapist|therapeut(?:in)?|praktiker(?:in)?|meister(?:in)?|"
    r"leiter(?:in)?|anwalt|anwältin|arzt|ärztin|angestellte[r]?|ologue|thérapeute|terapeuta)"
)


@cache
def _role_pattern() -> re.Pattern[str]:
    roles = sorted(wordlist.load("roles"), key=len, reverse=True)
    return re.compile(
        rf"(?<!\w)(?:{'|'.join(map(re.escape, roles))}|{_ROLE_ENDINGS})(?!\w)",
        re.IGNORECASE,
    )


def role_near(sheet: Sheet, number: int, start: int, end: int) -> str | None:
    """Give the role beside a name, or on a line of its own next to it.

    "Dentist Ann Lind" above "Owner" is the owner.
    """
    beside = _role_beside(sheet, number, start, end)
    if beside is None or sheet.lines[number].text[end:].strip(" ,:|–—-"):
        return beside
    below = _role_below(sheet, number)
    return below if below and seniority_of(below) is Seniority.OWNER else beside


def _role_beside(sheet: Sheet, number: int, start: int, end: int) -> str | None:
    text = sheet.lines[number].text
    after = text[end : end + MAX_ROLE + 10]
    cut = _AFTER.match(after)
    is_theirs = cut is not None and not _ANNOUNCES.match(cut[1])
    if cut and is_theirs and (role := role_in(_first_clause(cut[1]))):
        return role
    before = text[max(0, start - 60) : start]
    if short := _ABBREVIATED.search(before):
        return short[1]
    label = _BEFORE.search(before)
    if label and (role := role_in(label[1]) or _of_each(label[0])):
        return role
    if shared := _SHARED.match(text[:start]):
        # "Geschäftsführer: Ann Lind, Ole Berg": what is before the colon is all theirs.
        return role_in(shared[1]) or _of_each(f"{shared[1]}:")
    if not stands_alone(text, start, end):
        return None
    if not after.strip(" ,:|–—-"):
        return _role_of_neighbours(sheet, number)
    return None


def _role_of_neighbours(sheet: Sheet, number: int) -> str | None:
    """Give the role in the line below a name, else above it unless it is another's."""
    lines = sheet.lines
    above = lines[number - 1] if number else None
    if above is None or len(above.text) > MAX_SHORT:
        return _role_below(sheet, number)
    if above.text.endswith(":") and (role := role_in(above.text)):
        return role
    if role := _role_below(sheet, number):
        return role
    # Name, role, name, role: the role above belongs to the name above it; not so where
    # the roles come first.
    mine, tag = lines[number].tag, above.tag
    if number > 1 and lines[number - 2].tag == mine != tag:
        first = lines[number - 3] if number > 2 else None
        if first is None or first.tag != tag or role_in(first.text) is None:
            return None
    return role_in(above.text)


def _role_below(sheet: Sheet, number: int) -> str | None:
    lines = sheet.lines
    if number + 2 < len(lines) and are_degrees(lines[number + 1].text):
        number += 1
    below = lines[number + 1].text if number + 1 < len(lines) else ""
    if len(below) > MAX_SHORT:
        return None
    if role := role_in(below):
        return role
    more = _MORE.search(below)
    return role_in(below[: more.start()]) if more else None


# "Practice owner since 2005 · Harbour Street" states a role and more.
_MORE: Final = re.compile(
    r"\s[·•|]\s|,?\s(?:since|seit|depuis|dal|desde|sinds|sedan|siden|od)\s[^\d]{0,12}\d{4}",
    re.IGNORECASE,
)


def stands_alone(text: str, start: int, end: int) -> bool:
    """Say whether only signs stand before and after a part of a line."""
    before = text[:start].strip()
    after = text[end:].strip()
    return (not before or before[-1] in ":|-–—•(/") and (
        not after or after[0] in ",:|-–—•(/)" or len(text) < end - start + 4
    )


def _of_each(label: str) -> str | None:
    """Give the role of each of several from a label: `Doctors: Ann Lind, Ole Berg`."""
    label = label.rstrip()
    return role_in(label[:-2]) if label.endswith("s:") else None


_AFTER: Final = re.compile(r"^\s?[,:|–—(/-]\s?(.{3,100})")
_BEFORE: Final = re.compile(r"(?:^|[.;|•(]\s?)([^.;|•(]{3,50}?)\s?[:–—-]?\s?$")


_ABBREVIATED: Final = re.compile(
    r"(?:^|[\s;|(,])(Inh|Prop|Gesch\u00e4ftsf|Gf|GF)\.\s?:?\s?$"
)
# "Gartenbau Weiss, Inh. Karl Weiss": the role is that of who follows.
_ANNOUNCES: Final = re.compile(
    r"(?:Inh|Prop|Gesch\u00e4ftsf|Gf|GF)\.:?\s?[A-Z\u00c0-\u017d]"
)
_SHARED: Final = re.compile(
    r"([^:]{3,60}):\s?(?:[A-Z\u00c0-\u017d][\w.'’() -]{3,50}?(?:,|\s(?:und|and|et|e|y|i|a|og|och|en|[&·•|/]))\s){1,6}$"
)


def _first_clause(text: str) -> str:
    return _CLAUSES.split(text)[0]


_CLAUSES: Final = re.compile(
    rf"[;|•()]|\s[-–—]\s|{_SHORTENED}\.\s|,\s(?=[a-z]+\s)|\s{{2}}"
)
