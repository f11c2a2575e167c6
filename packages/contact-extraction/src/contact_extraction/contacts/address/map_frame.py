"""Addresses that only a map on the page says: what it was asked for, or its title."""

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Final
from urllib.parse import parse_qsl, unquote, urlsplit

from contact_extraction.contacts.address.reader import Reader
from contact_extraction.contacts.model import AddressSighting, Method
from contact_extraction.contacts.page_text import PageText
from contact_extraction.html import HtmlPage, Line, clean

MAX_FRAMES: Final = 10
MAX_SOURCE: Final = 4_000
MAX_TEXT: Final = 200


def mapped_addresses(
    page: HtmlPage, regions: tuple[str, ...]
) -> Iterator[AddressSighting]:
    """Yield the addresses of a page's maps that have a street, its number and a code."""
    frames = zip(page.frames, page.frame_titles, strict=True)
    maps = [one for one in frames if _IS_MAP.match(one[0])]
    for source, title in maps[:MAX_FRAMES]:
        for text in dict.fromkeys((*_asked(source[:MAX_SOURCE]), title)):
            yield from _read(page, clean(text[:MAX_TEXT]), regions)


def _asked(source: str) -> Iterator[str]:
    """Give what a map was asked to show."""
    try:
        query = urlsplit(source).query
    except ValueError:
        return
    for name, value in parse_qsl(query):
        if name in _QUERIES:
            yield value
        elif name == "pb":
            yield from (unquote(found) for found in _NAMED.findall(value))


def _read(
    page: HtmlPage, text: str, regions: tuple[str, ...]
) -> Iterator[AddressSighting]:
    line = Line(text, "p", 0, "", False, 0, ())  # noqa: FBT003 - a tuple's fields
    sheet = PageText(page, (line,), text, (0,), len(text))
    for found in Reader(sheet, regions).addresses():
        if found.postal_code and _DIGIT.search(found.street or ""):
            yield replace(
                found,
                method=Method.ATTRIBUTE,
                line=-1,
                start=0,
                end=0,
                snippet=text,
            )


_DIGIT: Final = re.compile(r"\d")
_QUERIES: Final = ("q", "query", "daddr", "destination", "place")
_IS_MAP: Final = re.compile(
    r"(?:https?:)?//(?:(?:www|maps)\.google\.[a-z.]{2,6}/(?:maps|\?)|(?:www\.)?openstreetmap\.org/|"
    r"maps\.apple\.com/|(?:www\.)?bing\.com/maps/)",
    re.IGNORECASE,
)
# What a map of Google was made for stands in fields that begin so.
_NAMED: Final = re.compile(r"!2s([^!]{5,400})")
