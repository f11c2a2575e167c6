"""What people do: roles, and whether one stands beside a name."""

import re
from functools import cache
from typing import Final

from scrapersky.extraction import wordlist
from scrapersky.extraction.contacts.sheet import Sheet

MAX_ROLE: Final = 90
MAX_SHORT: Final = 70


def role_in(text: str) -> str | None:
    """Give a text back if it reads as a role and nothing more."""
    text = text.strip(" ,.;:|–—-()\u2022")
    if not 2 < len(text) <= MAX_ROLE or "@" in text or re.search(r"\d{3}", text):
        return None
    if len(text.split()) > 10 or not _role_pattern().search(text):
        return None
    if _SENTENCE.search(text) or _OPEN_END.search(text):
        return None
    return text


def has_role_word(text: str) -> bool:
    """Say whether one of the words of a text is a role."""
    roles = wordlist.load("roles")
    return any(word.strip(".,()") in roles for word in text.casefold().split())


_OPEN_END: Final = re.compile(r"\s(?:&|and|und|et|y|en|och|og)$")
_SENTENCE: Final = re.compile(
    r"[.!?]\s+[A-Z]|\b(?:is|are|was|were|has|have|will|please|click|our|your|we|you|they|"
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
    """Give the role beside a name, or on a line of its own next to it."""
    text = sheet.lines[number].text
    after = text[end : end + MAX_ROLE + 10]
    cut = _AFTER.match(after)
    if cut and (role := role_in(_first_clause(cut[1]))):
        return role
    before = text[max(0, start - 60) : start]
    label = _BEFORE.search(before)
    if label and (role := role_in(label[1])):
        return role
    if not stands_alone(text, start, end):
        return None
    if not after.strip(" ,:|–—-"):
        for near in (number + 1, number - 1):
            if 0 <= near < len(sheet.lines):
                line = sheet.lines[near].text
                if len(line) <= MAX_SHORT and (role := role_in(line)):
                    return role
    return None


def stands_alone(text: str, start: int, end: int) -> bool:
    """Say whether only signs stand before and after a part of a line."""
    before = text[:start].strip()
    after = text[end:].strip()
    return (not before or before[-1] in ":|-–—•(/") and (
        not after or after[0] in ",:|-–—•(/)" or len(text) < end - start + 4
    )


_AFTER: Final = re.compile(r"^\s?[,:|–—(/-]\s?(.{3,100})")
_BEFORE: Final = re.compile(r"(?:^|[.;|•(]\s?)([^.;|•(]{3,50}?)\s?[:–—-]?\s?$")


def _first_clause(text: str) -> str:
    return re.split(r"[;|•()]|\s[-–—]\s|\.\s|,\s(?=[a-z]+\s)|\s{2}", text)[0]
