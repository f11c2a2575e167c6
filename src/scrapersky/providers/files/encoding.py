"""In what encoding a text file is written."""

import codecs
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from scrapersky.errors import BadPlaceFile
from scrapersky.providers.files.record import PROVIDER

CHUNK_BYTES = 1 << 20
PIECE_BYTES: Final = 8_192
"""Bytes that are decoded at once where many may be wrong: each takes microseconds."""
MAX_UNREADABLE_CHARACTERS: Final = 1_000
MAX_UNREADABLE_SHARE: Final = 0.1
UNREADABLE: Final = "\ufffd"
MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


def encoding_of(path: Path) -> str:
    """Return the encoding: by mark, by pattern, or by being valid UTF-8 to the end.

    The whole file is read once, in pieces: a single name with an umlaut in the last
    row decides, and a wrong guess would spoil it. Raises BadPlaceFile if it is not text.
    """
    encoding = likely_encoding(path)
    if encoding not in {"utf-8", "utf-8-sig"}:
        refuse_illegible(path, encoding)
    return encoding


def likely_encoding(path: Path) -> str:
    """Return the encoding in which a file makes sense, if it makes any."""
    with path.open("rb") as file:
        start = file.read(4096)
        for mark, name in MARKS:
            if start.startswith(mark):
                return name
        if (wide := wide_encoding(start)) is not None:
            return wide
        file.seek(0)
        decoder = codecs.getincrementaldecoder("utf-8")()
        try:
            while chunk := file.read(CHUNK_BYTES):
                decoder.decode(chunk)
            decoder.decode(b"", final=True)
        except UnicodeDecodeError:
            return "cp1252"
    return "utf-8"


@dataclass(slots=True)
class Legibility:
    """Counts the characters of a file, and those that could not be decoded.

    To replace one takes a hundred times as long as to decode one: four megabytes of
    halves of characters took five seconds.
    """

    _characters: int = 0
    _unreadable: int = 0

    def is_kept_by(self, text: str) -> bool:
        """Count a piece; say whether the file still is a text with mistakes."""
        self._characters += len(text)
        self._unreadable += text.count(UNREADABLE)
        return (
            self._unreadable <= MAX_UNREADABLE_CHARACTERS
            or self._unreadable <= self._characters * MAX_UNREADABLE_SHARE
        )


def refuse_illegible(path: Path, encoding: str) -> None:
    """Raise BadPlaceFile if much of a file cannot be decoded."""
    legibility = Legibility()
    decoder = codecs.getincrementaldecoder(encoding)("replace")
    with path.open("rb") as file:
        while piece := file.read(PIECE_BYTES):
            if not legibility.is_kept_by(decoder.decode(piece)):
                raise BadPlaceFile(
                    PROVIDER,
                    "much of the file cannot be read as text",
                    hint="Save it as CSV (UTF-8).",
                )


def wide_encoding(start: bytes) -> str | None:
    """Return UTF-16 without a mark, recognised by every other byte being zero."""
    even, odd = start[0::2], start[1::2]
    if len(start) < 4:  # noqa: PLR2004
        return None
    if odd.count(0) > len(odd) * 0.4 and even.count(0) < len(even) * 0.1:
        return "utf-16-le"
    if even.count(0) > len(even) * 0.4 and odd.count(0) < len(odd) * 0.1:
        return "utf-16-be"
    return None
