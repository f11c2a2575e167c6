"""Addresses in `data-` attributes and in the texts of images."""

from collections.abc import Iterator
from typing import Final
from urllib.parse import unquote

from contact_extraction.contacts.email.cipher import (
    MAX_CODED,
    deciphered,
    from_base64,
    rot13,
    typo3,
)
from contact_extraction.contacts.email.sighting import as_found
from contact_extraction.contacts.email.spelling import respelled
from contact_extraction.contacts.email.syntax import addresses_in, addresses_in_field
from contact_extraction.contacts.model import Method, Sighting
from contact_extraction.html import MAIL_NAMES, HtmlPage


def from_attributes(page: HtmlPage) -> Iterator[Sighting]:
    """Find addresses that attributes hold whole, in cipher or in parts."""
    for attributes in page.mail_attributes:
        whole = _address_of_attributes(attributes)
        yield from as_found([whole], Method.ATTRIBUTE, -1, "")


def from_images(page: HtmlPage) -> Iterator[Sighting]:
    """Find addresses in the alternative texts of images."""
    for image in page.images:
        if "@" in image.alt and not image.hidden:
            addresses = [address for _, _, address in addresses_in(image.alt)]
            seen = (image.line, image.alt, image.certainty)
            yield from as_found(addresses, Method.IMAGE, *seen)


def _address_of_attributes(attributes: dict[str, str]) -> str | None:
    low = {name.lower(): value[:MAX_CODED] for name, value in attributes.items()}
    if secret := low.get("data-mailto-token"):
        shift = low.get("data-mailto-vector", "")
        return _first(typo3(secret, int(shift) if shift.isdecimal() else None))
    if turned := low.get("data-enc-email"):
        # Email Encoder turns the letters and writes the sign as [at].
        return _first(rot13(turned.replace("[at]", "@")))
    for name in MAIL_NAMES:
        if (value := low.get(name)) and (found := _address_in(unquote(value))):
            return found
    return _address_in_parts(low)


def _address_in(value: str) -> str | None:
    """Read an address that is plain, spelled, in base64, turned or backwards."""
    texts = (value, respelled(value) or "", from_base64(value), *deciphered(value))
    return next((found for text in texts if (found := _first(text))), None)


def _address_in_parts(low: dict[str, str]) -> str | None:
    """Join what is before the sign and what is after it; Joomla codes both."""
    if "first" in low and "last" in low:
        return _first(f"{from_base64(low['first'])}@{from_base64(low['last'])}")
    local = next((low[n] for n in _LOCAL_NAMES if low.get(n)), "")
    domain = next((low[n] for n in _DOMAIN_NAMES if low.get(n)), "")
    if not (local and domain):
        return None
    ending = low.get("data-tld", "")
    domain = f"{domain}.{ending}" if ending else domain
    return _first(f"{local}@{domain.lstrip('@')}")


def _first(text: str) -> str | None:
    return next(iter(addresses_in_field(text)), None)


_LOCAL_NAMES: Final = ("data-user", "data-name", "data-local", "data-u", "data-account")
_DOMAIN_NAMES: Final = ("data-domain", "data-host", "data-website", "data-d")
