"""Text on one line: of strangers, with nothing that a terminal obeys; titles that hide nothing."""

import re
from typing import Final

TERMINAL_SEQUENCE: Final = re.compile(
    # Colours and cursor moves; then titles, links and device strings up to their end.
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"
    r"|(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)?"
    r"|\x1b[ -/]*[0-~]?"
)
HIDDEN_SIGNS: Final = (
    r"\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff"
)
"""Control characters, ends of lines, and what turns the direction of a text around.

What joins letters and emoji is not among them: people write it.
"""
HIDDEN: Final = re.compile(f"[{HIDDEN_SIGNS}]")


def plain_text(text: str) -> str:
    """Return a text without terminal sequences, control and invisible characters.

    Line breaks and other spaces become one space each.
    """
    if text.isprintable():
        return text
    return "".join(map(plain_sign, TERMINAL_SEQUENCE.sub("", text)))


def plain_lines(text: str) -> str:
    """Return a text of several lines, each of them plain."""
    return "\n".join(map(plain_text, text.splitlines()))


def plain_sign(sign: str) -> str:
    """Return a character, a space for a kind of space, or nothing if nobody sees it."""
    if sign.isprintable():
        return sign
    return " " if sign.isspace() else ""


def has_hidden(text: str) -> bool:
    """Say whether a text is not what it looks like, or breaks out of its line."""
    return HIDDEN.search(text) is not None


def visible(text: str) -> str:
    """Return a text without what is hidden in it, in one line."""
    return " ".join(HIDDEN.sub(" ", text).split())


def split_name(name: str | None) -> tuple[str | None, str | None]:
    """Split a name before its last word."""
    first, _, last = (name or "").strip().rpartition(" ")
    return first.strip() or None, last or None
