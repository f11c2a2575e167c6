"""Give a sole proprietor what their legal notice says reaches them.

In many countries a website must name its provider and how they are reached. Where that is
one person and no company, the office's number and address are theirs.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from contact_extraction.contacts.linking import Seen
from contact_extraction.contacts.model import (
    Email,
    Person,
    PersonLink,
    Phone,
    PhoneKind,
)
from contact_extraction.contacts.sheet import Sheet
from contact_extraction.plain import name_key

REACH: Final = 12
"""How many lines below their name what reaches a provider ends at most."""
ABOVE: Final = 4
"""How many lines above their name a company or another person may stand."""
MENTIONS: Final = 5
"""How many of the first mentions of people are looked at."""
MAX_LINE: Final = 300
WHY: Final = "the only person whom the legal notice names as the provider"
_NOTICE: Final = re.compile(
    r"impressum|imprint\b|anbieterkennzeichnung|mentions[-_ ]?l[ée]gales|aviso[-_ ]?legal|"
    r"note[-_ ]?legali|legal[-_ ]?notice",
    re.IGNORECASE,
)
# A company's mailbox is not its director's.
_COMPANY: Final = re.compile(
    r"(?<!\w)(?:AG|KG|OHG|UG|SA|S\.A|SAS|SASU|SARL|S\.A\.R\.L|EURL|SCI|SCP|SL|S\.L|SLP|SRL|Srl|"
    r"S\.r\.l|S\.R\.L|SpA|S\.p\.A|BV|B\.V|NV|N\.V|A/S|ApS|Oy|AB|Ltd|LTD|Limited|Inc|LLC|LLP|PLC)(?!\w)|"
    r"(?i:gmbh|kgaa|\be\. ?v\.|genossenschaft|partg|gesellschaft|sp\. z o|s\. ?r\. ?o\.|geschäftsführ|"
    r"handelsregister|représentant légal|legale rappresentante|represented by|vertreten durch)"
)
# "Anna Vale und Karl Lund": whoever else is named may not have been read as a person.
_SEVERAL: Final = re.compile(r"\s(?:und|and|&|et|y|e|en|og|och|i|ja)\s", re.IGNORECASE)


def link_provider(
    sheet: Sheet,
    url: str,
    people: Sequence[Seen[Person]],
    reach: Sequence[Seen[Email] | Seen[Phone]],
) -> tuple[PersonLink, ...]:
    """Link the provider to what is theirs, where a legal notice names one and no company."""
    if not people or not (
        _NOTICE.search(url) or _NOTICE.search(sheet.page.title or "")
    ):
        return ()
    named = [
        (line, name_key(seen.value.name), seen.value)
        for seen in people
        for line in seen.lines
    ]
    named.sort(key=lambda one: one[0])
    for first, key, person in named[:MENTIONS]:
        block = range(max(0, first - ABOVE), first + REACH + 1)
        if any(line in block and other != key for line, other, _ in named):
            continue
        lines = sheet.lines[block.start : block.stop]
        if _SEVERAL.search(sheet.lines[first].text[:MAX_LINE]) or any(
            _COMPANY.search(line.text[:MAX_LINE]) for line in lines
        ):
            continue
        below = range(first, block.stop)
        if links := tuple(_links(person, _within(below, reach))):
            return links
    return ()


def _within(
    lines: range, reach: Sequence[Seen[Email] | Seen[Phone]]
) -> list[Email | Phone]:
    return [
        seen.value
        for seen in reach
        if seen.value.owner.is_ours and any(line in lines for line in seen.lines)
    ]


def _links(person: Person, values: Sequence[Email | Phone]) -> Iterator[PersonLink]:
    """Link the only address and the only number: of two, one may be a colleague's."""
    emails = [one for one in values if isinstance(one, Email)]
    if len(emails) == 1:
        yield PersonLink(person, email=emails[0], why=WHY)
    phones = [
        one
        for one in values
        if isinstance(one, Phone) and one.kind is not PhoneKind.FAX
    ]
    if len(phones) == 1:
        yield PersonLink(person, phone=phones[0], why=WHY)
