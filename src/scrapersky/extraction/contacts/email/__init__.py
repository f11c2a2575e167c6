"""Find e-mail addresses, also those written to hide from machines.

Addresses that CSS hides are bait for machines: they are refused unless the page also
shows them. Every search is linear: a cheap `in` test or an '@' comes first.
"""

from collections.abc import Callable, Iterator

from scrapersky.extraction.contacts.email.attribute import from_attributes, from_images
from scrapersky.extraction.contacts.email.link import from_cloudflare, from_links
from scrapersky.extraction.contacts.email.script import script_addresses
from scrapersky.extraction.contacts.email.sighting import as_found, sighting
from scrapersky.extraction.contacts.email.spelling import from_spelling
from scrapersky.extraction.contacts.email.syntax import (
    MAX_FOUND,
    addresses_in,
    is_plausible,
    template_addresses_in,
)
from scrapersky.extraction.contacts.model import Found, Method
from scrapersky.extraction.contacts.sheet import Sheet
from scrapersky.extraction.html import Page

__all__ = ["addresses_in", "find_emails", "find_template_emails", "is_plausible"]


def find_emails(sheet: Sheet) -> list[Found]:
    """Find every address of a page, each sighting once per place and method."""
    page = sheet.page
    found = [
        *from_links(page),
        *_from_text(sheet),
        *from_spelling(sheet),
        *from_cloudflare(page),
        *_from_scripts(page),
        *from_attributes(page),
        *from_images(page),
    ]
    return found[:MAX_FOUND]


def find_template_emails(sheet: Sheet) -> list[Found]:
    """Find the addresses that a template left behind, in texts and in mail links."""
    found = [*_from_text(sheet, template_addresses_in)]
    for link in sheet.page.links:
        if not link.hidden and link.href[:7].lower() == "mailto:":
            found += [
                sighting(address, Method.MAILTO, link.line, link.text)
                for _, _, address in template_addresses_in(link.href[7:500])
            ]
    return found[:MAX_FOUND]


Search = Callable[[str], Iterator[tuple[int, int, str]]]


def _from_text(sheet: Sheet, search: Search = addresses_in) -> Iterator[Found]:
    for start, end, address in search(sheet.visible_text):
        yield Found(
            key=address,
            value=address,
            method=Method.TEXT,
            line=sheet.line_at(start),
            start=start,
            end=end,
            snippet=sheet.snippet(start, end),
        )


def _from_scripts(page: Page) -> Iterator[Found]:
    for script in page.scripts:
        if script.text and "json" not in script.type:
            yield from as_found(script_addresses(script.text), Method.SCRIPT, -1, "")
    for handler in page.mail_handlers:
        yield from as_found(script_addresses(handler), Method.SCRIPT, -1, "")
