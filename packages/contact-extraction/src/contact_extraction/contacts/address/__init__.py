"""Find postal addresses: street grammar of many languages, postal codes of countries.

A street or a postal code is the anchor. From it the neighbouring pieces (parts of the
line, or the short lines above and below) are read as unit, building, city, state,
postal code and country until one is none of these.
"""

from contact_extraction.contacts.address.map_frame import mapped_addresses
from contact_extraction.contacts.address.reader import Reader
from contact_extraction.contacts.address.street import street_match
from contact_extraction.contacts.model import AddressSighting
from contact_extraction.contacts.page_text import PageText
from contact_extraction.html import HtmlPage


def find_addresses(sheet: PageText, regions: tuple[str, ...]) -> list[AddressSighting]:
    """Find every postal address of a page, in reading order."""
    reader = Reader(sheet, regions)
    return list(reader.addresses())


def find_mapped(page: HtmlPage, regions: tuple[str, ...]) -> list[AddressSighting]:
    """Find the addresses that a page's maps show, for a page that writes none."""
    return list(mapped_addresses(page, regions)) if page.frames else []


def split_street(text: str) -> str | None:
    """Give the street part of a one-line address, or None if there is none."""
    match = street_match(text)
    return match[0].strip(" ,") if match else None
