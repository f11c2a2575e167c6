"""Addresses in links: plain, Cloudflare's, TYPO3's and those a script puts together."""

import html as entities
import re
from collections.abc import Iterable, Iterator
from typing import Final
from urllib.parse import unquote

from contact_extraction.contacts.email.cipher import deciphered, typo3
from contact_extraction.contacts.email.script import script_addresses
from contact_extraction.contacts.email.sighting import as_found
from contact_extraction.contacts.email.spelling import respelled
from contact_extraction.contacts.email.syntax import (
    MAX_FOUND,
    addresses_in,
    addresses_in_field,
)
from contact_extraction.contacts.model import Method, Sighting
from contact_extraction.html import HtmlLink, HtmlPage, clean


def from_links(page: HtmlPage) -> Iterator[Sighting]:
    """Find addresses in mail links that a visitor can see, also coded ones."""
    for link in page.links:
        if link.hidden:
            continue
        href = link.href
        low = href[:40].lower()
        if low.startswith(_MAILTO):
            target = entities.unescape(unquote(href[7:5000]))
            yield from _from_mailto(target, link)
        elif "uncryptmailto" in low or "decryptmailto" in low:
            secret = _ARGUMENT.search(unquote(href[:2000]))
            target = typo3(secret[1]) if secret else ""
            yield from _from_mailto(target, link)
        elif low.startswith("javascript:"):
            source = unquote(href[11:2000])
            addresses = [*script_addresses(source), *_in_cipher(source)]
            yield from _on_link(addresses, Method.SCRIPT, link)
        elif "email-protection#" in href[:200]:
            address = _cloudflare(href.rpartition("#")[2])
            yield from _on_link([address], Method.CLOUDFLARE, link)


def _in_cipher(source: str) -> Iterator[str]:
    """Yield the address that a call such as `DeCryptX('jogpA...')` is handed in cipher."""
    coded = _ARGUMENT.search(source)
    for text in deciphered(coded[1]) if coded else ():
        yield from (one for _, _, one in addresses_in(text) if one == text.lower())


def from_cloudflare(page: HtmlPage) -> Iterator[Sighting]:
    """Find addresses in elements that Cloudflare protects."""
    for code, line, certainty in page.protected[:MAX_FOUND]:
        address = _cloudflare(code)
        yield from as_found([address], Method.CLOUDFLARE, line, "", certainty)


_ARGUMENT: Final = re.compile(r"[\"'(]([^\"']{8,500})[\"')]")
_MAILTO: Final = ("mailto:", "mailto ", "maito:", "mail-to:", "malito:", "emailto:")


def _on_link(
    addresses: Iterable[str | None], method: Method, link: HtmlLink
) -> Iterator[Sighting]:
    return as_found(addresses, method, link.line, link.text, link.certainty)


def _from_mailto(target: str, link: HtmlLink) -> Iterator[Sighting]:
    head, _, query = target.partition("?")
    parts = re.split(r"[,;]", head[:2000])[:50]
    for name in ("to", "cc", "bcc") if query else ():
        parts += re.findall(rf"(?:^|&){name}=([^&]{{3,200}})", query[:2000])
    addresses = []
    for part in parts:
        written = clean(part.replace("mailto:", "").strip(" <>\"'/"))
        plain = respelled(written) or written
        addresses += addresses_in_field(plain)
    if is_left_over(addresses, link):
        return
    yield from _on_link(addresses, Method.MAILTO, link)


def is_left_over(addresses: Iterable[str], link: HtmlLink) -> bool:
    """Say whether a link shows another address: whoever filled in the template forgot it."""
    if "@" not in link.text:
        return False
    shown = {address for _, _, address in addresses_in(link.text)}
    return bool(shown) and shown.isdisjoint(addresses)


def _cloudflare(code: str) -> str | None:
    """Decode Cloudflare's hexadecimal address: the first byte is the key."""
    try:
        data = bytes.fromhex(code[:400])
    except ValueError:
        return None
    if len(data) < 4:
        return None
    text = bytes(byte ^ data[0] for byte in data[1:]).decode("utf-8", "replace")
    return next(iter(addresses_in_field(text)), None)
