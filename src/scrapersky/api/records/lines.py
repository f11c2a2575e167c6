"""Read a list as it arrives: CSV or plain lines, of any size, from any program."""

import codecs
import csv
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from scrapersky.curation.batch.submission import CHUNK_LINES, WrittenLine
from scrapersky.errors import InvalidImport
from scrapersky.kit.cell import restored
from scrapersky.providers.files.encoding import PIECE_BYTES, Legibility, wide_encoding

LONGEST_ROW: Final = 65_536
"""Letters of one row; no address is as long."""
MOST_LINES_IN_ROW: Final = 50
SAMPLE_BYTES: Final = 4_096
SHOWN_CHARACTERS: Final = 200
DELIMITERS: Final = (",", ";", "\t", "|")

OTHER_FILES: Final[Mapping[bytes, str]] = {
    b"PK\x03\x04": "a zip archive or an Excel workbook",
    b"PK\x05\x06": "an empty zip archive",
    b"\xd0\xcf\x11\xe0": "an old Excel workbook",
    b"\x1f\x8b": "compressed with gzip",
    b"%PDF": "a PDF document",
    b"\x7fELF": "a program",
    b"\x89PNG": "a picture",
    b"\xff\xd8\xff": "a picture",
    b"PAR1": "a Parquet file",
    b"SQLite": "a database",
    b"BZh": "compressed with bzip2",
    b"(\xb5/\xfd": "compressed with zstd",
    b"7z\xbc\xaf": "a 7-Zip archive",
}
MARKS: Final = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


async def read_lines(
    stream: AsyncIterator[bytes], headings: tuple[str, ...]
) -> AsyncGenerator[Sequence[WrittenLine], None]:
    """Yield the values of a list in chunks, with their line numbers.

    Raises InvalidImport if the file is not text at all; a row that cannot be read is
    yielded with its problem.
    """
    start, rest = await beginning(stream)
    refuse_other_files(start)
    text = LineDecoder(start)
    rows = ColumnReader(headings)
    waiting: list[WrittenLine] = []
    is_empty = True
    async for part in following(start, rest):
        for line in text.feed(part):
            waiting += rows.feed(line)
        while len(waiting) >= CHUNK_LINES:
            is_empty = False
            yield waiting[:CHUNK_LINES]
            del waiting[:CHUNK_LINES]
    for line in text.end():
        waiting += rows.feed(line)
    waiting += rows.end()
    if is_empty and not waiting:
        raise InvalidImport("The file contains no addresses.")
    while waiting:
        yield waiting[:CHUNK_LINES]
        del waiting[:CHUNK_LINES]


async def beginning(
    stream: AsyncIterator[bytes],
) -> tuple[bytes, AsyncIterator[bytes]]:
    """Read as much as says what the file is."""
    start = b""
    async for part in stream:
        start += part
        if len(start) >= SAMPLE_BYTES:
            break
    return start, stream


async def following(start: bytes, rest: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """Yield the beginning again, and then what comes after it."""
    yield start
    async for part in rest:
        yield part


def refuse_other_files(start: bytes) -> None:
    """Raise InvalidImport if a file only looks like a list by its name."""
    for mark, what in OTHER_FILES.items():
        if start.startswith(mark):
            raise InvalidImport(
                f"The file is {what}, not a list.",
                hint="Save it as CSV (UTF-8), or as text with one address a line.",
            )


@dataclass(slots=True)
class LineDecoder:
    """Turns bytes into lines, whatever encoding and line ends the file has."""

    start: bytes
    _decoder: codecs.IncrementalDecoder = field(init=False)
    _skip: int = field(init=False, default=0)
    _legibility: Legibility = field(init=False, default_factory=Legibility)
    _open: list[str] = field(init=False, default_factory=list)
    _length: int = field(init=False, default=0)
    _after_return: bool = field(init=False, default=False)

    def __post_init__(self) -> None:
        encoding, self._skip = encoding_of(self.start[:SAMPLE_BYTES])
        strict = encoding == "utf-8"
        self._decoder = codecs.getincrementaldecoder(encoding)(
            "strict" if strict else "replace"
        )

    def feed(self, part: bytes) -> Iterator[str]:
        """Yield the lines that are complete now, without their ends."""
        if self._skip:
            part, self._skip = part[self._skip :], 0
        for start in range(0, len(part), PIECE_BYTES):
            yield from self._split(self._decode(part[start : start + PIECE_BYTES]))

    def end(self) -> Iterator[str]:
        """Yield what is left."""
        yield from self._split(self._decode(b"", final=True))
        if self._open:
            yield "".join(self._open)

    def _decode(self, part: bytes, *, final: bool = False) -> str:
        held = self._decoder.getstate()[0]
        try:
            text = self._decoder.decode(part, final)
        except UnicodeDecodeError:
            # Not UTF-8 after all: what old Windows programs write.
            self._decoder = codecs.getincrementaldecoder("cp1252")("replace")
            text = self._decoder.decode(held + part, final)
        if not self._legibility.is_kept_by(text):
            raise InvalidImport(
                "Much of the file cannot be read as text.",
                hint="Save it as CSV (UTF-8), or as text with one address a line.",
            )
        return text

    def _split(self, text: str) -> Iterator[str]:
        text = text.replace("\x00", "")
        if not text:
            return
        if self._after_return and text.startswith("\n"):
            text = text[1:]
        self._after_return = text.endswith("\r")
        *whole, rest = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
        for line in whole:
            yield "".join([*self._open, line]) if self._open else line
            self._open, self._length = [], 0
        # Of a line that never ends, the beginning is enough to refuse it.
        if rest and self._length <= LONGEST_ROW:
            self._open.append(rest)
            self._length += len(rest)


def encoding_of(start: bytes) -> tuple[str, int]:
    """Return the encoding a file begins in, and how long its mark is."""
    for mark, encoding in MARKS:
        if start.startswith(mark):
            return encoding, len(mark)
    return wide_encoding(start) or "utf-8", 0


class ColumnReader:
    """Turns lines into the values of one column; a quoted cell may span some lines."""

    def __init__(self, headings: Sequence[str]) -> None:
        self._headings = headings
        self._number = 0
        self._delimiter: str | None = None
        self._column = 0
        self._is_begun = False
        self._open: list[str] = []

    def feed(self, line: str) -> Iterator[WrittenLine]:
        """Yield what a line completes."""
        self._number += 1
        if not self._is_begun:
            if line.strip() and not self._begin(line):
                yield from self._row(line)
            return
        yield from self._row(line)

    def end(self) -> Iterator[WrittenLine]:
        """Yield the row that was never closed, line by line."""
        if self._open:
            yield from self._give_up()

    def _begin(self, line: str) -> bool:
        """Learn the form of the file from its first line; say if that is a heading."""
        if line[:4].lower() == "sep=" and len(line.strip()) <= len("sep=,"):
            self._delimiter = line[4:5] or "\t"
            return True
        self._is_begun = True
        for delimiter in DELIMITERS if self._delimiter is None else [self._delimiter]:
            named = [cell.strip().lower() for cell in cells_of(line, delimiter) or ()]
            for heading in self._headings:
                if heading in named:
                    self._delimiter, self._column = delimiter, named.index(heading)
                    return True
        if self._delimiter is None:
            found = [sign for sign in DELIMITERS if sign in line]
            self._delimiter = found[0] if found else None
        return False

    def _row(self, line: str) -> Iterator[WrittenLine]:
        if not self._open and '"' not in line:
            yield from self._value(self._number, line)
            return
        self._open.append(line)
        whole = "\n".join(self._open)
        if whole.count('"') % 2 == 0:
            first = self._number - len(self._open) + 1
            self._open = []
            yield from self._value(first, whole)
        elif len(self._open) > MOST_LINES_IN_ROW or len(whole) > LONGEST_ROW:
            yield from self._give_up()

    def _give_up(self) -> Iterator[WrittenLine]:
        """Refuse the line where a quote was left open, and read on right after it."""
        first, *rest = self._open
        number = self._number - len(rest)
        self._open = []
        yield WrittenLine(
            number, first[:SHOWN_CHARACTERS], "a quote is opened and never closed"
        )
        for offset, line in enumerate(rest, start=1):
            if '"' in line:
                problem = "it stands after a quote that is never closed"
                yield WrittenLine(number + offset, line[:SHOWN_CHARACTERS], problem)
            else:
                yield from self._value(number + offset, line)

    def _value(self, number: int, line: str) -> Iterator[WrittenLine]:
        if not line.strip():
            return
        if len(line) > LONGEST_ROW:
            problem = f"the row is longer than {LONGEST_ROW:,} letters"
            yield WrittenLine(number, line[:SHOWN_CHARACTERS], problem)
            return
        if self._delimiter is None and '"' not in line:
            yield WrittenLine(number, restored(line.strip()))
            return
        cells = cells_of(line, self._delimiter or ",")
        if cells is None:
            yield WrittenLine(number, line[:SHOWN_CHARACTERS], "not readable as CSV")
        elif len(cells) <= self._column or not cells[self._column].strip():
            if any(cell.strip() for cell in cells):
                yield WrittenLine(
                    number, line[:SHOWN_CHARACTERS], "the column is empty"
                )
        else:
            yield WrittenLine(number, restored(cells[self._column].strip()))


def cells_of(line: str, delimiter: str) -> list[str] | None:
    """Return the cells of one row, or None if it is not CSV."""
    try:
        return next(csv.reader([line], delimiter=delimiter), [])
    except csv.Error:
        return None
