"""CSV in any dialect, row by row, with the number of the line each row began on."""

import csv
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TextIO

from scrapersky.errors import BadPlaceFile
from scrapersky.providers.files.column import meaning_of, meanings_of
from scrapersky.providers.files.encoding import encoding_of
from scrapersky.providers.files.record import (
    PROVIDER,
    RowNote,
    RowNotes,
    clean_cell,
)
from scrapersky.providers.source import Json, RowProblem
from scrapersky.providers.value import text_of, website_of

DELIMITERS = (",", ";", "\t", "|")
MAX_LINE_CHARACTERS = 1_000_000
SAMPLE_LINES = 20
MAX_COLUMNS = 1000


@dataclass(frozen=True, slots=True)
class Row:
    """A row that could be read: its cells by the name of their column."""

    line: int
    cells: Json
    notes: tuple[RowNote, ...] = ()


@dataclass(frozen=True, slots=True)
class Header:
    """The first row of a file, where it is, and some rows below it."""

    cells: list[str]
    first_line: int
    last_line: int
    delimiter: str
    sample: tuple[list[str], ...]


def header_of(path: Path) -> Header:
    """Read the header of a file, whether or not a place can be made of its columns."""
    with open_table(path) as (reader, lines, delimiter):
        first, cells = lines.number + 1, next_row(reader)
        while isinstance(cells, list) and not any(cells):
            first, cells = lines.number + 1, next_row(reader)
        if not isinstance(cells, list):
            raise BadPlaceFile(PROVIDER, "the file is empty")
        last = lines.number
        rows = iter(lambda: next_row(reader), None)
        some = islice((row for row in rows if isinstance(row, list)), SAMPLE_LINES)
        return Header(cells, first, last, delimiter, tuple(some))


def read_table(
    path: Path, headings: Sequence[str] | None = None
) -> Iterator[Row | RowProblem]:
    """Give every row of the file; what cannot be read is a problem with its line.

    With headings, those take the place of the file's own.
    """
    with open_table(path) as (reader, lines, _):
        yield from read_rows(reader, lines, headings)


@contextmanager
def open_table(
    path: Path,
) -> Iterator[tuple[Iterator[list[str]], "LineReader", str]]:
    """Open a file at the first line of its table; give what separates its cells, too."""
    encoding = encoding_of(path)
    # cp1252 leaves five bytes undefined; a wrong letter is better than a lost file.
    with path.open(encoding=encoding, errors="replace", newline="") as file:
        delimiter, skip = dialect_of(file)
        file.seek(0)
        lines = LineReader(file)
        for _ in range(skip):
            next(lines, None)
        yield csv.reader(lines, delimiter=delimiter), lines, delimiter


def read_rows(
    reader: Iterator[list[str]],
    lines: "LineReader",
    headings: Sequence[str] | None = None,
) -> Iterator[Row | RowProblem]:
    """Give the rows below the header."""
    header = next_row(reader)
    while header is not None and not isinstance(header, csv.Error) and not any(header):
        header = next_row(reader)
    if not isinstance(header, list):
        raise BadPlaceFile(PROVIDER, "the file is empty")
    first: list[str] | None = None
    if is_list_of_websites(header):
        header, first = ["website"], header
    elif headings is not None:
        header = [*headings]
    meanings = usable_columns(header)
    if first is not None:
        yield row_of(lines.number, first, header, meanings)
    while True:
        start = lines.number + 1
        cells = next_row(reader)
        if cells is None:
            return
        for line in lines.take_cut():
            yield RowProblem(
                line, f"the line is longer than {MAX_LINE_CHARACTERS:,} letters"
            )
        if isinstance(cells, csv.Error):
            yield RowProblem(start, f"not readable as CSV: {cells}")
        elif any(cell.strip() for cell in cells):
            yield row_of(start, cells, header, meanings)


def next_row(reader: Iterator[list[str]]) -> list[str] | csv.Error | None:
    """Return the next row, the error it is, or None at the end."""
    try:
        return next(reader)
    except StopIteration:
        return None
    except csv.Error as error:
        return error


def row_of(
    line: int, cells: list[str], header: list[str], meanings: dict[int, str]
) -> Row | RowProblem:
    """Put cells under their columns; a row with too many cells has slipped."""
    if any(cell.strip() for cell in cells[len(header) :]):
        return RowProblem(
            line, f"{len(cells)} cells where the header has {len(header)}"
        )
    notes = RowNotes()
    found: Json = {}
    for index, (column, cell) in enumerate(zip(header, cells, strict=False)):
        value = clean_cell(cell, meanings.get(index), notes)
        if value is not None and column not in found:
            found[column] = value
    return Row(line, found, tuple(notes.all))


def usable_columns(header: list[str]) -> dict[int, str]:
    """Return the meanings of the columns; raise unless a place can be made of them."""
    meanings = meanings_of(header)
    if "name" not in meanings.values() and "website" not in meanings.values():
        shown = ", ".join(text_of(name, longest=40) or "" for name in header[:10])
        raise BadPlaceFile(
            PROVIDER,
            f"no column is a name or a website (columns: {shown})",
            hint="Name a column `name` or `website`; docs/reference/place-sources.md "
            "lists all names that are understood.",
        )
    return meanings


def is_list_of_websites(header: list[str]) -> bool:
    """Say whether the first row is data: one column whose first cell is a website."""
    cells = [cell.strip() for cell in header if cell.strip()]
    if len(cells) != 1 or meaning_of(cells[0]) is not None:
        return False
    return "." in cells[0] and website_of(cells[0]) is not None


def dialect_of(file: TextIO) -> tuple[str, int]:
    """Return the delimiter, and how many lines come before the header."""
    lines = [file.readline(MAX_LINE_CHARACTERS) for _ in range(SAMPLE_LINES)]
    first = lines[0].strip()
    # Excel's own way to say what it is, which other programs must skip.
    if first[:4].lower() == "sep=" and len(first) == 5:  # noqa: PLR2004
        return first[4], 1
    if first.lower() == "sep=":
        return "\t", 1
    return max(DELIMITERS, key=lambda mark: fitness(lines, mark)), 0


def fitness(lines: list[str], delimiter: str) -> tuple[int, int, int]:
    """Return how well a delimiter explains the first lines."""
    try:
        rows = [row for row in csv.reader(lines, delimiter=delimiter) if any(row)]
    except csv.Error:
        return (0, 0, 0)
    if not rows or len(rows[0]) > MAX_COLUMNS:
        return (0, 0, 0)
    known = len(meanings_of(rows[0]))
    same = sum(len(row) == len(rows[0]) for row in rows) if len(rows[0]) > 1 else 0
    return (known, same, len(rows[0]))


class LineReader:
    """The lines of a file, counted, none of them longer than memory allows."""

    def __init__(self, file: TextIO) -> None:
        self._file = file
        self._cut: list[int] = []
        self.number = 0

    def __iter__(self) -> "LineReader":
        return self

    def __next__(self) -> str:
        line = self._file.readline(MAX_LINE_CHARACTERS)
        if not line:
            raise StopIteration
        self.number += 1
        if len(line) >= MAX_LINE_CHARACTERS and not line.endswith("\n"):
            self._cut.append(self.number)
            while (
                more := self._file.readline(MAX_LINE_CHARACTERS)
            ) and not more.endswith("\n"):
                pass
            return "\n"
        return line

    def take_cut(self) -> list[int]:
        """Return the lines that were too long since the last time."""
        cut, self._cut = self._cut, []
        return cut
