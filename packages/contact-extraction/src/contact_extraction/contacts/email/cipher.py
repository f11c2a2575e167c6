"""Undo the simple ciphers that content management systems hide addresses with."""

import base64
import binascii
import codecs
import re
from collections.abc import Iterator
from typing import Final

MAX_CODED: Final = 2_000


def from_base64(text: str) -> str:
    """Decode base64; '' if it is not base64 of a text."""
    try:
        return base64.b64decode(text[:MAX_CODED], validate=True).decode()
    except (binascii.Error, ValueError):
        return ""


def rot13(text: str) -> str:
    """Turn each letter by half the alphabet."""
    return codecs.encode(text, "rot13")


def moved(text: str, by: int) -> str:
    """Replace each character by the one whose number is higher by `by`."""
    return "".join(chr(code) for c in text if 0x20 <= (code := ord(c) + by) < 0xD800)


def deciphered(text: str) -> Iterator[str]:
    """Yield what a text without white space may stand for: turned, moved, backwards."""
    if plain := unsalted(text):
        yield plain
    yield rot13(text)
    yield moved(text, -1)
    yield moved(text, 1)
    yield text[::-1]


def unsalted(text: str) -> str:
    """Undo CryptX, which moves each character by the digit it puts before it."""
    moves = text[::2]
    if len(text) % 2 or not (moves.isascii() and moves.isdecimal()):
        return ""
    pairs = zip(moves, text[1::2], strict=True)
    return "".join(moved(letter, -int(by)) for by, letter in pairs)


# The characters TYPO3 turns within each range; all others stay as they are.
_TURNED: Final = ((0x2B, 0x3A), (0x40, 0x5A), (0x61, 0x7A))
_MAILTO: Final = "mailto:"


def typo3(secret: str, shift: int | None = None) -> str:
    """Undo the letter shift of TYPO3; an unknown shift is the one that gives `mailto:`."""
    secret = secret.replace("\\", "")[:MAX_CODED]
    for by in range(-26, 27) if shift is None else (-shift,):
        if by and turned(secret[: len(_MAILTO)], by).lower() == _MAILTO:
            return turned(secret, by)[len(_MAILTO) :]
    return ""


def turned(text: str, by: int) -> str:
    """Turn each character by `by` places within its range."""
    letters = []
    for letter in text:
        code = ord(letter)
        for low, high in _TURNED:
            if low <= code <= high:
                code = low + (code - low + by) % (high - low + 1)
                break
        letters.append(chr(code))
    return "".join(letters)


_ELEMENT: Final = re.compile(
    r"""\b(\w{1,20})\[(\d{1,4})\]\s?=\s?(?:'([^'\\\n]{0,40})'|"([^"\\\n]{0,40})")"""
)
MAX_CELLS: Final = 5_000


def codeigniter(source: str) -> Iterator[str]:
    """Read CodeIgniter's arrays: one character a cell, the last first, `|109` a code."""
    arrays: dict[str, dict[int, str]] = {}
    for count, match in enumerate(_ELEMENT.finditer(source)):
        if count > MAX_CELLS:
            break
        cell = match[3] if match[3] is not None else match[4]
        # A second array of the same name begins anew at 0.
        if match[2] == "0" and (done := arrays.pop(match[1], None)):
            yield _from_cells(done)
        arrays.setdefault(match[1], {})[int(match[2])] = cell
    yield from map(_from_cells, arrays.values())


def _from_cells(cells: dict[int, str]) -> str:
    return "".join(_cell(cells[place]) for place in sorted(cells, reverse=True))


def _cell(text: str) -> str:
    code = text[1:]
    if text[:1] == "|" and code.isdecimal() and 0x20 <= int(code) < 0xD800:
        return chr(int(code))
    return text
