"""Text of strangers on one line, with nothing in it that a terminal or a log obeys."""

import re
from typing import Final

TERMINAL_SEQUENCE: Final = re.compile(
    # Colours and cursor moves; then titles, links and device strings up to their end.
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"
    r"|(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)?"
    r"|\x1b[ -/]*[0-~]?"
)


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
