"""Lines cut into the pieces an address is made of."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from contact_extraction.contacts.address.unit import NOT_ADDRESS
from contact_extraction.contacts.sheet import Sheet

MAX_PIECE: Final = 90


@dataclass(slots=True)
class Piece:
    """A part of an address: a line, or what stands between two commas."""

    text: str
    line: int
    start: int
    end: int
    kind: str = ""


def cut(sheet: Sheet, number: int, offset: int) -> Iterator[Piece]:
    """Cut a line into pieces from an offset on."""
    base = sheet.starts[number]
    text = sheet.lines[number].text
    for match in _PIECE.finditer(text, offset, min(len(text), offset + 300)):
        piece = match[0].strip(" .–-")
        if piece:
            at = base + match.start() + match[0].index(piece[0])
            yield Piece(piece, number, at, at + len(piece))


def pieces_after(sheet: Sheet, number: int, offset: int) -> list[Piece]:
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
    return pieces[:10]


_PIECE: Final = re.compile(r"[^,;|•·\n]{1,200}")
