"""Repair XML that people wrote by hand or by string concatenation."""

import re
import sys
from html.entities import html5
from typing import Final
from xml.sax.saxutils import escape


def repaired(xml: bytes) -> bytes:
    """Return the XML with every character and reference in it made legal.

    Stray ampersands are escaped, HTML's named characters are put in, control characters
    and wrong bytes go. Tags are left alone. Takes time linear in the length.
    """
    text = xml.decode("utf-8", "surrogateescape")
    if _WRONG_BYTE.search(text):
        text = text.translate(_AS_WINDOWS)
    text = _without_cdata(text)
    text = _ILLEGAL.sub("", text)
    return _AMPERSAND.sub(_reference, text).encode("utf-8", "replace")


_WRONG_BYTE: Final = re.compile("[\udc80-\udcff]")
_AS_WINDOWS: Final = {
    0xDC00 + byte: bytes([byte]).decode("cp1252", "replace")
    for byte in range(0x80, 0x100)
}
_ILLEGAL: Final = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_AMPERSAND: Final = re.compile(
    r"&(?:#(\d{1,7});|#[xX]([0-9A-Fa-f]{1,6});|([A-Za-z][A-Za-z0-9]{1,31});)?"
)
_OWN: Final = frozenset(("amp", "lt", "gt", "quot", "apos"))
_CDATA: Final = "<![CDATA["
_CDATA_END: Final = "]]>"


def _without_cdata(text: str) -> str:
    """Write CDATA as plain escaped text, so that one rule fits all ampersands."""
    start = text.find(_CDATA)
    if start < 0:
        return text
    parts: list[str] = []
    done = 0
    while start >= 0:
        end = text.find(_CDATA_END, start)
        if end < 0:
            break
        parts.append(text[done:start])
        parts.append(escape(text[start + len(_CDATA) : end]))
        done = end + len(_CDATA_END)
        start = text.find(_CDATA, done)
    parts.append(text[done:])
    return "".join(parts)


def _reference(found: re.Match[str]) -> str:
    decimal, hexadecimal, name = found.groups()
    if name:
        if name in _OWN:
            return found[0]
        character = html5.get(f"{name};")
        return escape(character) if character else f"&amp;{name};"
    if decimal or hexadecimal:
        code = int(decimal) if decimal else int(hexadecimal, 16)
        legal = 0 < code <= sys.maxunicode and not _ILLEGAL.match(chr(code))
        return escape(chr(code)) if legal else ""
    return "&amp;"
