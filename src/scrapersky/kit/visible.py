"""Texts of one line in which nothing is hidden: titles, headings, names that people give."""

import re
from typing import Final

HIDDEN_SIGNS: Final = (
    r"\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff"
)
"""Control characters, ends of lines, and what turns the direction of a text around.

What joins letters and emoji is not among them: people write it.
"""
HIDDEN: Final = re.compile(f"[{HIDDEN_SIGNS}]")


def has_hidden(text: str) -> bool:
    """Say whether a text is not what it looks like, or breaks out of its line."""
    return HIDDEN.search(text) is not None


def visible(text: str) -> str:
    """Return a text without what is hidden in it, in one line."""
    return " ".join(HIDDEN.sub(" ", text).split())
