"""The one place that knows the HTML library: bytes in, a plain typed `Page` out.

Everything else in `extraction` reads `Page`, so the parser can be changed here. A
page is walked once; what a visitor would read becomes `lines` (one per block, white
space collapsed), what CSS hides becomes lines marked `hidden`.
"""

import codecs
from typing import Final

import turbohtml

from contact_extraction.errors import NotMarkup
from contact_extraction.html.item import Item
from contact_extraction.html.page import (
    MAIL_NAMES,
    Form,
    HeadLink,
    HtmlLink,
    HtmlPage,
    Image,
    Line,
    Script,
)
from contact_extraction.html.phone import (
    PhoneDetector,
    PhoneSpan,
    find_phones,
    phone_detector,
)
from contact_extraction.html.text import clean, text_language, words
from contact_extraction.html.walk import read_page
from contact_extraction.utf16 import decode_utf16

__all__ = [
    "MAIL_NAMES",
    "MAX_TAGS",
    "Form",
    "HeadLink",
    "HtmlLink",
    "HtmlPage",
    "Image",
    "Item",
    "Line",
    "NotMarkup",
    "PhoneDetector",
    "PhoneSpan",
    "Script",
    "clean",
    "find_phones",
    "parse_page",
    "phone_detector",
    "text_language",
    "words",
]

MAX_CHARACTERS: Final = 10 * 1024 * 1024
MAX_TAGS: Final = 25_000
"""Seven times as many as any page of a business had; more are read for nothing."""


def parse_page(markup: bytes | str, *, encoding: str | None = None) -> HtmlPage:
    """Parse a page however broken it is; `encoding` is the one the server named."""
    is_long = len(markup) > MAX_CHARACTERS
    whole = markup[:MAX_CHARACTERS]
    if isinstance(whole, bytes) and (codec := _utf16_codec(whole, encoding)):
        whole = decode_utf16(whole, codec)
    part = _within_tags(whole)
    document = _document(part, encoding)
    source = part if isinstance(part, str) else _decoded(part, document)
    return read_page(document, source, truncated=is_long or len(part) < len(whole))


def _utf16_codec(markup: bytes, encoding: str | None) -> str | None:
    """Give the codec of a page in UTF-16, by its mark or by the server's word."""
    if markup.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        is_big = markup.startswith(codecs.BOM_UTF16_BE)
        return "utf-16-be" if is_big else "utf-16-le"
    label = (encoding or "").lower()
    if not label.startswith("utf-16"):
        return None
    return "utf-16-be" if label.endswith("be") else "utf-16-le"


def _within_tags(markup: bytes | str) -> bytes | str:
    """Cut before the first tag of those that are too many."""
    count = markup.count("<") if isinstance(markup, str) else markup.count(b"<")
    if count <= MAX_TAGS:
        return markup
    most = MAX_TAGS + 1
    tags = (
        markup.split("<", most) if isinstance(markup, str) else markup.split(b"<", most)
    )
    return markup[: -len(tags[-1]) - 1]


def _document(markup: bytes | str, encoding: str | None) -> turbohtml.Document:
    if encoding and isinstance(markup, bytes):
        try:
            return _parsed(markup, encoding)
        except LookupError:
            # The library knows the labels of the web; Python names some codecs otherwise.
            markup = _by_codec(markup, encoding)
    return _parsed(markup, None)


def _parsed(markup: bytes | str, label: str | None) -> turbohtml.Document:
    try:
        return turbohtml.parse(
            markup,
            encoding=label,
            detect_encoding=isinstance(markup, bytes),
            positions=False,
        )
    except (ValueError, MemoryError, RecursionError, OverflowError) as error:
        raise NotMarkup(f"the page cannot be parsed: {error}") from error


def _by_codec(markup: bytes, encoding: str) -> bytes | str:
    """Decode by a codec of Python; the bytes themselves if there is none."""
    try:
        return markup.decode(encoding, "replace").removeprefix("\ufeff")
    except (LookupError, ValueError):
        return markup


def _decoded(markup: bytes, document: turbohtml.Document) -> str:
    # The raw text only serves cheap `in` tests, so a wrong byte is harmless.
    try:
        return markup.decode(document.encoding or "utf-8", "replace")
    except LookupError:
        return markup.decode("utf-8", "replace")
