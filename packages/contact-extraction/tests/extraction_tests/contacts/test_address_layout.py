"""Addresses of 22 countries in the layouts of pages, written before any was read."""

import re

import pytest

from contact_extraction.contacts.finder import find_contacts
from extraction_tests.address_forms import FORMS
from extraction_tests.address_layouts import LAYOUTS

LANGUAGES = {
    "us": "en", "gb": "en", "ie": "en", "de": "de", "at": "de", "ch": "de", "fr": "fr", "be": "nl",
    "nl": "nl", "es": "es", "it": "it", "pt": "pt", "se": "sv", "no": "nb", "dk": "da", "fi": "fi",
    "pl": "pl", "cz": "cs", "hu": "hu", "au": "en", "ca": "en", "nz": "en",
}  # fmt: skip
HOSTS = {"us": "acme.com", "gb": "acme.co.uk", "au": "acme.com.au", "nz": "acme.co.nz"}


def read(country: str, snippet: str) -> list[tuple[str | None, str | None, str | None]]:
    """Read a page of a country without being told which."""
    page = (
        f'<html lang="{LANGUAGES[country]}"><body><nav><a href="/">Home</a></nav>'
        f"<main>{snippet}</main></body></html>"
    )
    host = HOSTS.get(country, f"acme.{country}")
    found = find_contacts(page, f"https://{host}/")
    return [(one.street, one.postal_code, one.city) for one in found.addresses]


@pytest.mark.parametrize("layout", LAYOUTS | FORMS)
def test_an_address_is_read_whole_in_every_layout(layout: str) -> None:
    country, snippet, places = (LAYOUTS | FORMS)[layout]

    found = read(country, snippet)

    for street, code, city in places:
        assert any(
            street in (one[0] or "")
            and bare(one[1]) == bare(code)
            and city in (None, one[2])
            for one in found
        ), found


def bare(code: str | None) -> str:
    """Give a code without the letters of its country."""
    return re.sub(r"^[A-Z]{1,3}[- ]", "", code or "")
