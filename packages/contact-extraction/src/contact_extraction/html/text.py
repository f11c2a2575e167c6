"""Clean text, and the language it is written in."""

import re
from functools import lru_cache
from typing import Final

from turbohtml.detect import detect_language


def clean(text: str) -> str:
    """Collapse white space and drop control, bidi and zero-width characters."""
    text = " ".join(text.split())
    if "\u2011" in text:
        text = text.replace("\u2011", "-")  # one that no line breaks behind
    if text.isprintable():
        return text
    if "\u202e" in text:
        text = _OVERRIDE_RUN.sub(lambda run: run[1][::-1], text)
    return " ".join(text.translate(_INVISIBLE).split())


def words(text: str) -> frozenset[str]:
    """Read a set from words parted by white space; keeps tables readable."""
    return frozenset(text.split())


SURE_LANGUAGE: Final = 0.6
ENOUGH_TEXT: Final = 120
"""A line or two is too short to detect a language by."""


def text_language(text: str) -> str | None:
    """Guess the ISO 639-3 code of the language a text is written in."""
    if len(text) < ENOUGH_TEXT:
        return None
    return _detected(text[:4000])


# Several readers ask about the same page.
@lru_cache(8)
def _detected(text: str) -> str | None:
    match = detect_language(text)
    return match.language if match.confidence >= SURE_LANGUAGE else None


_INVISIBLE: Final = dict.fromkeys(
    (
        *range(0x20),
        *range(0x7F, 0xA0),
        0xAD,
        0x61C,
        0x180E,
        *range(0x200B, 0x2010),
        *range(0x202A, 0x202F),
        *range(0x2060, 0x2070),
        0xFEFF,
        *range(0xFFF0, 0xFFFC),
        *range(0xE0000, 0xE0080),
        *range(0xD800, 0xE000),
    )
)
_OVERRIDE_RUN: Final = re.compile("\u202e([^\u202c\u202d\u202e\n]*)[\u202c\u202d]?")
