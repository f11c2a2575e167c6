"""Find e-mail addresses, also those written to hide from machines.

Addresses that CSS hides are bait for machines: they are refused unless the page also
shows them. Every search is linear: a cheap `in` test or an '@' comes first.
"""

from collections.abc import Iterator

from contact_extraction.contacts.email.attribute import from_attributes, from_images
from contact_extraction.contacts.email.link import (
    from_cloudflare,
    from_links,
    is_left_over,
)
from contact_extraction.contacts.email.script import script_addresses
from contact_extraction.contacts.email.sighting import as_found, sighting
from contact_extraction.contacts.email.spelling import from_spelling
from contact_extraction.contacts.email.syntax import (
    MAX_FOUND,
    addresses_in,
    addresses_in_field,
    all_addresses_in,
    is_plausible,
)
from contact_extraction.contacts.model import Method, Sighting
from contact_extraction.contacts.page_text import PageText
from contact_extraction.html import HtmlPage

__all__ = [
    "addresses_in",
    "addresses_in_field",
    "find_all_emails",
    "find_emails",
    "is_plausible",
]


def find_emails(sheet: PageText) -> list[Sighting]:
    """Find every address of a page, each sighting once per place and method."""
    return find_all_emails(sheet)[0]


def find_all_emails(sheet: PageText) -> tuple[list[Sighting], list[Sighting]]:
    """Find the addresses of a page, and apart those that a template left behind."""
    page = sheet.page
    written = list(_from_text(sheet))
    found = [
        *from_links(page),
        *(one for one, is_template in written if not is_template),
        *from_spelling(sheet),
        *from_cloudflare(page),
        *_from_scripts(page),
        *from_attributes(page),
        *from_images(page),
    ]
    templates = [one for one, is_template in written if is_template]
    return found[:MAX_FOUND], [*templates, *_template_links(page)][:MAX_FOUND]


def _from_text(sheet: PageText) -> Iterator[tuple[Sighting, bool]]:
    for start, end, address, is_template in all_addresses_in(sheet.visible_text):
        found = Sighting(
            key=address,
            value=address,
            method=Method.TEXT,
            line=sheet.line_at(start),
            start=start,
            end=end,
            snippet=sheet.snippet(start, end),
        )
        yield found, is_template


def _template_links(page: HtmlPage) -> Iterator[Sighting]:
    for link in page.links:
        if not link.hidden and link.href[:7].lower() == "mailto:":
            for _, _, address, is_template in all_addresses_in(link.href[7:500]):
                if is_template or is_left_over([address], link):
                    yield sighting(address, Method.MAILTO, link.line, link.text)


def _from_scripts(page: HtmlPage) -> Iterator[Sighting]:
    for script in page.scripts:
        if script.text and "json" not in script.type:
            yield from as_found(script_addresses(script.text), Method.SCRIPT, -1, "")
    for handler in page.mail_handlers:
        yield from as_found(script_addresses(handler), Method.SCRIPT, -1, "")
