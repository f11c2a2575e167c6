"""Which characters a body is made of: one order of rules, and the answer recorded."""

import codecs
import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from contact_extraction.utf16 import decode_utf16
from scrapersky.crawler.encoding import CODECS

SCAN_BYTES = 64 * 1024


class CharsetSource(StrEnum):
    """Who said what the charset is; the first that speaks is believed."""

    BOM = "bom"
    HEADER = "header"
    META = "meta"
    DEFAULT = "default"


@dataclass(frozen=True, slots=True)
class Charset:
    """A Python codec name that is sure to decode, and who named it."""

    name: str
    source: CharsetSource


def decide_charset(body: bytes, content_type: str) -> Charset:
    """Decide by byte order mark, header, meta tag or XML declaration.

    A body that nobody declared is UTF-8 if it can be, else what old editors wrote.
    """
    for mark, marked in _MARKS:
        if body.startswith(mark):
            return Charset(marked, CharsetSource.BOM)
    if (header := _PARAMETER.search(content_type)) and (said := _known(header[1])):
        return Charset(said, CharsetSource.HEADER)
    for label in _declared(body):
        if declared := _known(label):
            # A page that can be read well enough to say UTF-16 is not UTF-16.
            plain = "utf-8" if declared.startswith("utf-16") else declared
            return Charset(plain, CharsetSource.META)
    return Charset("utf-8" if _is_utf8(body) else "cp1252", CharsetSource.DEFAULT)


def _declared(body: bytes) -> Iterator[str]:
    """Yield the labels of meta tags and XML declarations that are markup, not text."""
    place = 0
    while mark := _MARKUP.search(body, place, SCAN_BYTES):
        place = mark.end()
        end = _ENDINGS.get(mark[0].lower())
        if end is not None:
            found = end.search(body, place, SCAN_BYTES)
            if found is None:
                return
            place = found.end()
        elif tag := _DECLARED.match(body, mark.start(), SCAN_BYTES):
            yield (tag[1] or tag[2]).decode("ascii")


def _is_utf8(body: bytes) -> bool:
    """Say whether a body is UTF-8; what was cut at its end does not count."""
    try:
        codecs.getincrementaldecoder("utf-8")().decode(body)
    except UnicodeDecodeError:
        return False
    return True


def decode(body: bytes, charset: Charset) -> str:
    """Decode with replacement, without byte order mark and NUL; never raises."""
    if charset.name.startswith("utf-16"):
        text = decode_utf16(body, charset.name)
    else:
        text = body.decode(charset.name, "replace").removeprefix("\ufeff")
    # PostgreSQL's text refuses NUL, and no reader misses it.
    return text.replace("\0", "") if "\0" in text else text


_MARKS = (
    (b"\xef\xbb\xbf", "utf-8"),
    (b"\xff\xfe", "utf-16-le"),
    (b"\xfe\xff", "utf-16-be"),
)
_PARAMETER = re.compile(
    r"""charset\s*=\s*["']?([A-Za-z0-9_.:-]{1,40})""", re.IGNORECASE
)
_MARKUP = re.compile(rb"<!--|<script|<style|<meta|<\?xml", re.IGNORECASE)
_ENDINGS = {
    b"<!--": re.compile(rb"-->"),
    b"<script": re.compile(rb"</script", re.IGNORECASE),
    b"<style": re.compile(rb"</style", re.IGNORECASE),
}
_DECLARED = re.compile(
    rb"""<meta\s[^>]{0,200}?charset\s*=\s*["']?\s*([A-Za-z0-9_.:-]{1,40})"""
    rb"""|<\?xml\s[^>]{0,100}?encoding\s*=\s*["']([A-Za-z0-9_.:-]{1,40})""",
    re.IGNORECASE,
)


def _known(label: str) -> str | None:
    return CODECS.get(label.strip().lower())
