"""Addresses in links: plain, Cloudflare's and TYPO3's."""

import html as entities
import re
from collections.abc import Iterator
from typing import Final
from urllib.parse import unquote

from scrapersky.extraction.contacts.email.sighting import as_found
from scrapersky.extraction.contacts.email.spelling import respelled
from scrapersky.extraction.contacts.email.syntax import MAX_FOUND, addresses_in
from scrapersky.extraction.contacts.model import Found, Method
from scrapersky.extraction.html import Page, clean


def from_links(page: Page) -> Iterator[Found]:
    """Find addresses in mail links, also coded ones."""
    for link in page.links:
        href = link.href
        low = href[:40].lower()
        if low.startswith(_MAILTO):
            target = entities.unescape(unquote(href[7:5000]))
            yield from _from_mailto(target, link.line, link.text, hidden=link.hidden)
        elif "uncryptmailto" in low or "decryptmailto" in low:
            target = _typo3(href[:2000])
            yield from _from_mailto(target, link.line, link.text, hidden=link.hidden)
        elif "email-protection#" in href[:200]:
            address = _cloudflare(href.rpartition("#")[2])
            yield from as_found(
                [address], Method.CLOUDFLARE, link.line, link.text, hidden=link.hidden
            )


def from_cloudflare(page: Page) -> Iterator[Found]:
    """Find addresses in elements that Cloudflare protects."""
    for code, line in page.protected[:MAX_FOUND]:
        yield from as_found([_cloudflare(code)], Method.CLOUDFLARE, line, "")


_MAILTO: Final = ("mailto:", "mailto ", "maito:", "mail-to:", "malito:", "emailto:")


def _from_mailto(target: str, line: int, text: str, *, hidden: bool) -> Iterator[Found]:
    head, _, query = target.partition("?")
    parts = re.split(r"[,;]", head[:2000])[:50]
    for name in ("to", "cc", "bcc"):
        parts += re.findall(rf"(?:^|&){name}=([^&]{{3,200}})", query[:2000])
    addresses = []
    for part in parts:
        written = clean(part.replace("mailto:", "").strip(" <>\"'/"))
        plain = respelled(written) or written
        addresses += [found for _, _, found in addresses_in(plain)]
    yield from as_found(addresses, Method.MAILTO, line, text, hidden=hidden)


def _cloudflare(code: str) -> str | None:
    """Decode Cloudflare's hexadecimal address: the first byte is the key."""
    try:
        data = bytes.fromhex(code[:400])
    except ValueError:
        return None
    if len(data) < 4:
        return None
    text = bytes(byte ^ data[0] for byte in data[1:]).decode("utf-8", "replace")
    return next((found for _, _, found in addresses_in(text)), None)


def _typo3(href: str) -> str:
    """Undo the letter shift of TYPO3's mail links by looking for `mailto:`."""
    match = re.search(r"[\"'(]([^\"']{8,500})[\"')]", unquote(href))
    if not match:
        return ""
    secret = match[1]
    for shift in range(-25, 26):
        if shift and _shifted(secret[:7], shift).lower() == "mailto:":
            return _shifted(secret, shift)[7:]
    return ""


_SHIFT_RANGES: Final = ((0x2B, 0x3A), (0x40, 0x5A), (0x61, 0x7A))


def _shifted(text: str, shift: int) -> str:
    letters = []
    for letter in text:
        code = ord(letter)
        for low, high in _SHIFT_RANGES:
            if low <= code <= high:
                code = low + (code - low + shift) % (high - low + 1)
                break
        letters.append(chr(code))
    return "".join(letters)
