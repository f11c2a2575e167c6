"""Nominate names from every place of a page that may hold one."""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from contact_extraction.contacts.address.unit import SURE_PART, UNIT
from contact_extraction.contacts.model import Sighting
from contact_extraction.contacts.organisation.career import employers, offices
from contact_extraction.contacts.organisation.institution import institutions
from contact_extraction.contacts.organisation.legal import (
    legal_name_at_start,
    legal_names,
)
from contact_extraction.contacts.organisation.name import core_name, tidy_name
from contact_extraction.contacts.organisation.source import (
    MAX_FOUND,
    NameSource,
    Nomination,
    lines_with,
)
from contact_extraction.contacts.page_text import PageText
from contact_extraction.html import HtmlPage

MAX_HEADING: Final = 200
MAX_COPYRIGHT: Final = 600
MAX_LETTERHEAD: Final = 60
MAX_PARTS: Final = 4
FIRST_IMAGES: Final = 3
REACH_LINES: Final = 5
NEAR_BLOCKS: Final = 2
FAR_BLOCKS: Final = 6
"""How many blocks out a line may share one with the address below it."""


def nominations(
    sheet: PageText,
    *,
    letterheads: Sequence[int],
    known: str | None,
    stated: Sequence[Sighting],
) -> Iterator[Nomination]:
    """Give every name with the place it was taken from, the same name many times."""
    if known:
        yield known, NameSource.KNOWN
    yield from _head_names(sheet.page)
    yield from _logo_names(sheet.page)
    for line in sheet.lines:
        if line.heading == 1 and len(line.text) < MAX_HEADING:
            yield line.text, NameSource.HEADING
    for number in sorted(lines_with(sheet, _COPYRIGHT_SIGNS)):
        if len(sheet.lines[number].text) <= MAX_COPYRIGHT:
            yield from _copyright_names(sheet.lines[number].text)
    yield from _link_names(sheet.page)
    yield from legal_names(sheet)
    yield from institutions(sheet)
    yield from employers(sheet)
    yield from offices(sheet)
    for number in letterheads:
        yield from _letterhead_names(sheet, number)
    for found in stated[:MAX_FOUND]:
        # "Acme Motors - Springfield": a branch is named after its firm.
        yield _DASH.split(found.value, maxsplit=1)[0], NameSource.STATED


def _head_names(page: HtmlPage) -> Iterator[Nomination]:
    for name in _META_NAMES:
        value = page.meta(name)
        if value:
            yield (
                value,
                NameSource.SITE_NAME if name == "og:site_name" else NameSource.META,
            )
    parts = _SEPARATOR.split(page.title[:300])
    # A long title is a list of search words; the firm stands at one end.
    for part in parts if len(parts) <= MAX_PARTS else (parts[0], parts[-1]):
        name = tidy_name(part)
        yield name, NameSource.TITLE_PART
        if (core := core_name(name)) != name:
            yield core, NameSource.TITLE_PART
    if len(parts) == 1:
        yield page.title, NameSource.TITLE


_META_NAMES: Final = (
    "og:site_name",
    "application-name",
    "apple-mobile-web-app-title",
    "author",
    "copyright",
    "dc.publisher",
    "dcterms.publisher",
)
_SEPARATOR: Final = re.compile(
    r"\s+[-–—:~/·]+\s+|\s*[|»«•‹›>]+\s*|\s*[–—]\s+|\s+::\s+|:\s+|\s-\s"
)


def _logo_names(page: HtmlPage) -> Iterator[Nomination]:
    for number, image in enumerate(page.images):
        if image.alt and (
            "logo" in image.names
            or "logo" in image.src.lower()[-80:]
            or "logo" in image.alt.lower()
        ):
            is_own = number < FIRST_IMAGES or image.region == "header"
            yield image.alt, NameSource.LOGO if is_own else NameSource.OTHER_LOGO


def _copyright_names(text: str) -> Iterator[Nomination]:
    match = _COPYRIGHT.search(text)
    if match:
        name = match["name"]
        # "Acme Inc. All rights": the full stop belongs to the legal form.
        legal = legal_name_at_start(name)
        if legal:
            yield legal, NameSource.COPYRIGHT_FORM
            return
        cut = _COPYRIGHT_CUT.search(name)
        yield name[: cut.start()] if cut else name, NameSource.COPYRIGHT
    before = _COPYRIGHT_YEAR.search(text)
    if before:
        yield before["name"], NameSource.BEFORE_COPYRIGHT


_COPYRIGHT_SIGNS: Final = ("©", "copyright", "Copyright", "COPYRIGHT", "(c)", "(C)")
_COPYRIGHT: Final = re.compile(
    r"(?:©|\(c\)|&copy;|copyright|\ufffd copyright)[\s©()cC]{0,6}(?:by\s)?"
    r"(?:(?:19|20)\d\d(?:\s?[-–,/&]\s?(?:(?:19|20)?\d\d))*)?[\s,.:©|–-]{0,4}(?:by\s)?(?:the\s)?"
    r"(?P<name>[^|©\n]{2,90})",
    re.IGNORECASE,
)
_COPYRIGHT_YEAR: Final = re.compile(
    r"(?P<name>[^|©.\n]{2,70}?)\s*(?:©|\(c\))\s*(?:19|20)\d\d", re.IGNORECASE
)
_COPYRIGHT_CUT: Final = re.compile(
    r"(?:\.\s|\.$|\||•|·|\ball rights|\balle rechte|\btous droits|\btodos |\btutti |,? (?:19|20)\d\d\b|"
    r"â€|\bdesign(?:ed)? by\b|\bdesigned\b|\bpowered\b|\bwebsite\b|\bweb design|\bprivacy|\bterms\b|\bsite by\b|\bis a\b|"
    r"\blicensed\b|\btel\b|\bphone\b|\s[-–]\s|\ball right|\bregistered\b|\bmember\b)",
    re.IGNORECASE,
)


def _link_names(page: HtmlPage) -> Iterator[Nomination]:
    for link in page.links[:60]:
        if link.href in ("/", "./", "index.html", "index.php", "#") and link.text:
            yield link.text, NameSource.HOME_LINK


def _letterhead_names(sheet: PageText, number: int) -> Iterator[Nomination]:
    """Nominate the first lines of the block an address stands in."""
    for _ in range(REACH_LINES):
        if number and _is_address_part(sheet.lines[number - 1].text):
            number -= 1
    for above in range(number - 1, max(-1, number - REACH_LINES), -1):
        line = sheet.lines[above]
        if len(line.text) > MAX_LETTERHEAD:
            break
        is_next = above == number - 1
        # The line right above an address often stands in a cell of its own.
        reach = FAR_BLOCKS if is_next else NEAR_BLOCKS
        if set(sheet.ancestors(above, reach)).isdisjoint(
            sheet.ancestors(number, reach)
        ):
            break
        if _NO_LETTERHEAD.search(line.text):
            break
        name = _DASH.split(line.text, maxsplit=1)[0]
        yield name, NameSource.ABOVE_ADDRESS if is_next else NameSource.LETTERHEAD


def _is_address_part(text: str) -> bool:
    """Say whether a line is `Address:` or `First Floor Building 5`, and no name."""
    if len(text) > MAX_LETTERHEAD:
        return False
    return bool(_LABEL.fullmatch(text) or UNIT.match(text) or SURE_PART.search(text))


_LABEL: Final = re.compile(
    r"(?:(?:our|mailing|postal|street|visiting|office|business|physical) )?"
    r"(?:address|location|adresse|anschrift|adres|dirección|direccion|endereço|indirizzo)\W*",
    re.IGNORECASE,
)
_DASH: Final = re.compile(r"\s[-–—|]\s")
_NO_LETTERHEAD: Final = re.compile(r"\d{3}|:|@")
