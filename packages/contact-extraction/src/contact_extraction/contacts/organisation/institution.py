"""Names recognised by their trade: Miller Roofing, University of Leeds, Rose Hotel."""

import re
from collections.abc import Iterator
from functools import cache
from typing import Final

from contact_extraction import wordlist
from contact_extraction.contacts.organisation.source import (
    NameSource,
    Nomination,
    lines_with,
)
from contact_extraction.contacts.page_text import PageText
from contact_extraction.html import Line, words

MIN_LINE: Final = 6
SHORT_LINE: Final = 60
MAX_LINE: Final = 4000
MAX_WORDS: Final = 6


def institutions(sheet: PageText) -> Iterator[Nomination]:
    """Nominate short lines that end in a trade, and schools and offices in any line."""
    named = set()
    trades = _all_trades() & sheet.words
    may_name_one = bool(trades) or " of " in sheet.text
    for number, line in enumerate(sheet.lines) if may_name_one else ():
        if not MIN_LINE <= len(line.text) < SHORT_LINE or line.tag == "option":
            continue
        text = line.text.rstrip(" ,.:")
        if text.rpartition(" ")[2] not in trades and " of " not in text:
            continue
        if is_trade_name(text) and _may_be_firm(sheet, line, text):
            named.add(number)
            yield text, NameSource.SCHOOL if _is_school(text) else NameSource.TRADE
    for number in sorted(lines_with(sheet, _SCHOOLS) - named):
        text = sheet.lines[number].text
        for match in _INSTITUTE.finditer(text) if len(text) < MAX_LINE else ():
            if _is_school(match[0]):
                yield match[0], NameSource.SCHOOL


def _may_be_firm(sheet: PageText, line: Line, text: str) -> bool:
    """Rule out most of the menus and product lists, whose lines end in goods as well."""
    if trade_of(text) == "house":
        return True
    is_plain = text.partition(" ")[0].lower() in sheet.words
    return not is_plain and line.tag != "li" and line.region != "nav"


def is_trade_name(text: str) -> bool:
    """Say whether a text is a name that ends in a trade, or a `City of` somewhere."""
    if trade_of(text) is None:
        return False
    parts = text.split()
    return 1 < len(parts) <= MAX_WORDS and all(
        part[0].isupper() or part in _JOINING for part in parts
    )


def trade_of(name: str) -> str | None:
    """Say whether the last word of a name is a kind of house or of goods, or neither."""
    if " of " in name and _BODY_OF.match(name):
        return "house"
    last = name.rpartition(" ")[2]
    if last in _trades("houses"):
        return "house"
    return "goods" if last in _trades("goods") else None


@cache
def _trades(kind: str) -> frozenset[str]:
    lines = wordlist.load_ordered(f"trade_{kind}")
    return frozenset(word for line in lines for word in line.split())


@cache
def _all_trades() -> frozenset[str]:
    return _trades("houses") | _trades("goods")


def _is_school(name: str) -> bool:
    return name.endswith(_SCHOOLS) or _STATE_BODY.search(name) is not None


_JOINING: Final = words("& and of the for de la du und y et van von")
_SCHOOLS: Final = (
    "University", "College", "School", "School District", "Hospital", "Institute", "Clinic",
    "Department of",
)  # fmt: skip
_BODIES: Final = (
    "University|College|Bank|Church|Museum|Institute|School|City|Town|Village|County|"
    "Department|Ministry|Chamber|Board|Society|Association"
)
_BODY_OF: Final = re.compile(rf"(?:The )?(?:[A-Z][a-z]+ ){{0,3}}(?:{_BODIES}) of [A-Z]")
_STATE_BODY: Final = re.compile(
    r"\b(?:University|College|Department|Ministry|Institute|Chamber) of "
)
_INSTITUTE: Final = re.compile(
    rf"(?<![\w&])(?:(?:The )?(?:[A-Z][a-z]{{1,20}} ){{0,3}}(?:{_BODIES}) of (?:the )?"
    r"(?:[A-Z][\w'’&-]{1,20}(?: and | of | )?){1,4}"
    r"|(?:[A-Z][\w'’.&-]{1,20} (?:of |and |& )?){1,4}"
    r"(?:University|College|School(?: District)?|Hospital|Clinic|Institute)(?! [A-Z][a-z]))(?![\w-])"
    # The university of "S. University Ave" is none.
    r"(?! (?:Ave|Avenue|St|Street|Blvd|Boulevard|Rd|Road|Dr|Drive|Way|Lane|Pl|Place)\b)"
)
