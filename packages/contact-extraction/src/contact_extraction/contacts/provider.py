"""Give a sole proprietor what their legal notice says reaches them.

In many countries a website must name its provider and how they are reached. Where that is
one person and no company, the office's number and address are theirs. A mailbox that is
named after a function or after the firm reaches them too, and stays the firm's; so it does
where the firm bears the whole name of its owner.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from contact_extraction.contacts.linking import SeenValue, is_shared_mailbox
from contact_extraction.contacts.model import (
    Email,
    PersonEntry,
    PersonLink,
    Phone,
    PhoneKind,
)
from contact_extraction.contacts.page_text import PageText
from contact_extraction.text import name_key

LINES_BELOW: Final = 12
"""How many lines below their name what reaches a provider ends at most."""
LINES_ABOVE: Final = 4
"""How many lines above their name a company or another person may stand."""
MAX_MENTIONS: Final = 5
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
    sheet: PageText,
    url: str,
    people: Sequence[SeenValue[PersonEntry]],
    reach: Sequence[SeenValue[Email] | SeenValue[Phone]],
    firm: Sequence[str],
) -> tuple[PersonLink, ...]:
    """Link the provider to what is theirs, where a legal notice names one and no company."""
    for person, below in _providers(sheet, url, people):
        if links := tuple(_links(person, _within(below, reach), firm)):
            return links
    return ()


def provider_of(
    sheet: PageText, url: str, people: Sequence[SeenValue[PersonEntry]]
) -> PersonEntry | None:
    """Give whom alone a legal notice names first as the provider, and no company."""
    named = sorted((line, n) for n, seen in enumerate(people) for line in seen.lines)
    for line, number in named[:1]:
        above = sheet.lines[max(0, line - LAW_LINES) : line + 1]
        if any(_LAW.search(one.text[:MAX_LINE]) for one in above) and not any(
            _COMPANY.search(one.text[:MAX_LINE])
            for one in sheet.lines[max(0, line - LAW_LINES) : line + LAW_LINES]
        ):
            return people[number].value
    return next((person for person, _ in _providers(sheet, url, people)), None)


LAW_LINES: Final = 3
"""How many lines above the provider's name what makes them name it stands at most."""
# Under any law's name: it changes, the paragraph stays.
_LAW: Final = re.compile(
    r"(?:gemäß|gem\.|laut|lt\.|nach|i\.\s?s\.\s?d\.|im sinne (?:des|von)) § ?\d+|diensteanbieter|anbieter dieser|seitenbetreiber|"
    r"betreiber(?:in)? der (?:web)?seite|medieninhaber|éditeur (?:du|de ce) site|titular (?:de la|del)|titolare del (?:sito|trattamento)|"
    r"site owner|owner of (?:the|this) (?:web)?site",
    re.IGNORECASE,
)


def _providers(
    sheet: PageText, url: str, people: Sequence[SeenValue[PersonEntry]]
) -> Iterator[tuple[PersonEntry, range]]:
    """Yield who may be the provider, with the lines of what reaches them."""
    if not people or not (
        _NOTICE.search(url) or _NOTICE.search(sheet.page.title or "")
    ):
        return
    named = [
        (line, name_key(seen.value.name), seen.value)
        for seen in people
        for line in seen.lines
    ]
    named.sort(key=lambda one: one[0])
    for first, key, person in named[:MAX_MENTIONS]:
        block = range(max(0, first - LINES_ABOVE), first + LINES_BELOW + 1)
        if any(line in block and other != key for line, other, _ in named):
            continue
        lines = sheet.lines[block.start : block.stop]
        if _SEVERAL.search(sheet.lines[first].text[:MAX_LINE]) or any(
            _COMPANY.search(line.text[:MAX_LINE]) for line in lines
        ):
            continue
        yield person, range(first, block.stop)


def _within(
    lines: range, reach: Sequence[SeenValue[Email] | SeenValue[Phone]]
) -> list[Email | Phone]:
    return [
        seen.value
        for seen in reach
        if seen.value.owner.is_ours and any(line in lines for line in seen.lines)
    ]


def _links(
    person: PersonEntry, values: Sequence[Email | Phone], firm: Sequence[str]
) -> Iterator[PersonLink]:
    """Link the only address and the only number: of two, one may be a colleague's."""
    emails = [one for one in values if isinstance(one, Email)]
    shared = [one for one in emails if is_shared_mailbox(one, firm)]
    if len(emails) == 1 or len(shared) == len(emails):
        for email in emails:
            yield PersonLink(
                person, email=email, why=WHY, confidence=0.9, is_shared=bool(shared)
            )
    phones = [
        one
        for one in values
        if isinstance(one, Phone) and one.kind is not PhoneKind.FAX
    ]
    if len(phones) == 1:
        yield PersonLink(person, phone=phones[0], why=WHY, confidence=0.9)
