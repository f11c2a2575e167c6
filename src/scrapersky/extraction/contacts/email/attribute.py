"""Addresses in `data-` attributes and in the texts of images."""

from collections.abc import Iterator
from typing import Final
from urllib.parse import unquote

from scrapersky.extraction.contacts.email.sighting import as_found
from scrapersky.extraction.contacts.email.spelling import respelled
from scrapersky.extraction.contacts.email.syntax import addresses_in
from scrapersky.extraction.contacts.model import Found, Method
from scrapersky.extraction.html import Page


def from_attributes(page: Page) -> Iterator[Found]:
    """Find addresses that attributes hold whole, backwards or in parts."""
    for attributes in page.mail_attributes:
        whole = _address_of_attributes(attributes)
        yield from as_found([whole], Method.ATTRIBUTE, -1, "")


def from_images(page: Page) -> Iterator[Found]:
    """Find addresses in the alternative texts of images."""
    for image in page.images:
        if "@" in image.alt and not image.hidden:
            addresses = [address for _, _, address in addresses_in(image.alt)]
            yield from as_found(addresses, Method.IMAGE, image.line, image.alt)


def _address_of_attributes(attributes: dict[str, str]) -> str | None:
    low = {name.lower(): value for name, value in attributes.items()}
    for name in (
        "data-email",
        "data-mail",
        "data-mailto",
        "data-e-mail",
        "data-address",
    ):
        value = unquote(low.get(name, ""))
        for text in (value, value[::-1], respelled(value) or ""):
            found = next((a for _, _, a in addresses_in(text)), None)
            if found:
                return found
    local = next((low[n] for n in _LOCAL_NAMES if low.get(n)), "")
    domain = next((low[n] for n in _DOMAIN_NAMES if low.get(n)), "")
    ending = low.get("data-tld", "")
    if local and domain:
        domain = f"{domain}.{ending}" if ending else domain
        text = f"{local}@{domain.lstrip('@')}"
        return next((a for _, _, a in addresses_in(text)), None)
    return None


_LOCAL_NAMES: Final = ("data-user", "data-name", "data-local", "data-u", "data-account")
_DOMAIN_NAMES: Final = ("data-domain", "data-host", "data-website", "data-d")
