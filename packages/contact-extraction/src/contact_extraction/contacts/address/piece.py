"""Lines cut into the pieces an address is made of."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from contact_extraction.contacts.address.unit import NOT_ADDRESS
from contact_extraction.contacts.page_text import PageText

MAX_PIECE: Final = 90


@dataclass(slots=True)
class Piece:
    """A part of an address: a line, or what stands between two commas."""

    text: str
    line: int
    start: int
    end: int
    kind: str = ""


def cut(sheet: PageText, number: int, offset: int) -> Iterator[Piece]:
    """Cut a line into pieces from an offset on."""
    base = sheet.starts[number]
    text = sheet.lines[number].text
    label = _CONTACT_LABEL.search(text, offset)
    end = label.start() if label else len(text)
    for match in _PIECE.finditer(text, offset, min(end, offset + 300)):
        piece = match[0].strip(" .–-")
        if piece:
            at = base + match.start() + match[0].index(piece[0])
            yield Piece(piece, number, at, at + len(piece))


def pieces_after(sheet: PageText, number: int, offset: int) -> list[Piece]:
    """Cut what follows a place into pieces: this line, then up to five short ones."""
    pieces = list(cut(sheet, number, offset))
    own = sheet.lines[number].container
    for below in range(number + 1, min(number + 6, len(sheet.lines))):
        line = sheet.lines[below]
        # A heading ends an address, unless the whole address is set as one.
        is_new = line.heading and line.container != own
        if len(line.text) > MAX_PIECE or is_new or NOT_ADDRESS.search(line.text):
            break
        pieces.extend(cut(sheet, below, 0))
    return [*_with_whole_codes(pieces[:10])]


def _with_whole_codes(pieces: list[Piece]) -> Iterator[Piece]:
    """Join the halves of a British code that a line break parted: `Leeds LS1`, `4AP`."""
    last: Piece | None = None
    for piece in pieces:
        is_half = last is not None and _HALF_CODE.search(last.text)
        if last is not None and is_half and _OTHER_HALF.match(piece.text):
            last = replace(piece, text=f"{last.text} {piece.text}", start=last.start)
            continue
        if last is not None:
            yield last
        last = piece
    if last is not None:
        yield last


def without_preposition(piece: Piece) -> None:
    """Take "in Portland" behind a street for Portland."""
    if found := _IN_PLACE.match(piece.text):
        piece.text = piece.text[found.end() :]
        piece.start += found.end()


_IN_PLACE: Final = re.compile(
    r"(?:in|à|en|w|we|v|ve|em|i|te)\s(?:downtown\s|historic\s|central\s)?(?=[A-ZÀ-ÞŁŚŻŹČŠŽ][^\W\d_])"
)
# "14057 Berlin Telefon: 030 ..." ends at its city, and so does "14057 Berlin 030 28471022".
_CONTACT_LABEL: Final = re.compile(
    r"\s(?:t[eé]l(?:efon|efono|ephone|éphone)?|phone|ph|fax|telefax|mobile?|mob|e-?mail|gsm|puh|tlf)\b\s?[.:]|"
    r"(?<=[^\W\d_]|\))\s(?!\d{5}-\d{3,4}(?!\d))(?=\(?(?:\+|0)(?:[ ()/.-]{0,3}\d){7}|(?:\d{9}|\d{2,4}(?:[ .-]\d{2,4}){2,4})\s?(?:$|[,;|·•]))|"
    r"\s(?=\S{2,40}@)",
    re.IGNORECASE,
)
_HALF_CODE: Final = re.compile(r"(?:^|\s)[A-Z]{1,2}\d[A-Z\d]?$")
_OTHER_HALF: Final = re.compile(r"\d[ABD-HJLNP-UW-Z]{2}(?!\w)")
_PIECE: Final = re.compile(r"[^,;|•·*~\n]{1,200}")
