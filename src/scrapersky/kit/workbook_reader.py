"""The process that reads a workbook, under limits of its own.

python -m scrapersky.kit.workbook_reader BOOK.xlsx TABLE.csv ROWS
"""

import csv
import resource
import sys
from collections.abc import Iterable, Iterator
from datetime import date, datetime, time
from pathlib import Path
from typing import IO, Any, Final, Literal
from xml.parsers.expat import ParserCreate
from zipfile import ZipFile, ZipInfo

from openpyxl.cell.cell import ERROR_CODES
from openpyxl.reader.excel import ExcelReader

from scrapersky.kit.workbook import NOT_READABLE

MAX_UNPACKED_BYTES: Final = 500 * 1024**2
MAX_PARTS: Final = 2_000
MAX_COLUMNS: Final = 1_000
PIECE_BYTES: Final = 4_096
MAX_MEMORY_BYTES: Final = 2 * 1024**3
MAX_CPU_SECONDS: Final = 300


def main(book: str, table: str, rows: str) -> int:
    """Be the process that reads."""
    if sys.platform == "linux":  # others do not keep it, or refuse it
        resource.setrlimit(resource.RLIMIT_AS, (MAX_MEMORY_BYTES, MAX_MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CPU, (MAX_CPU_SECONDS, MAX_CPU_SECONDS))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (MAX_UNPACKED_BYTES, MAX_UNPACKED_BYTES))
    try:
        with Path(table).open("w", encoding="utf-8", newline="") as written:
            # All in quotes: no cell can be taken for a delimiter, or a line of its own.
            lines = csv.writer(written, quoting=csv.QUOTE_ALL, lineterminator="\n")
            lines.writerows(rows_of(Path(book), int(rows)))
    except MemoryError:
        return 1
    except Exception:  # noqa: BLE001 - a library that reads strangers' bytes raises anything
        return NOT_READABLE
    return 0


def rows_of(book: Path, most: int) -> Iterator[list[str]]:
    """Give the rows of the first sheet that is shown."""
    refuse_bombs(book)
    reader = ExcelReader(book, read_only=True, data_only=True, keep_links=False)
    reader.archive.close()
    reader.archive = SafeParts(book)
    reader.read()
    sheets = reader.wb.worksheets
    shown = [sheet for sheet in sheets if sheet.sheet_state == "visible"]
    # Programs write sizes that do not hold; the rows themselves tell.
    shown[0].reset_dimensions()
    rows: Iterable[tuple[Any, ...]] = shown[0].iter_rows(
        max_row=most, max_col=MAX_COLUMNS, values_only=True
    )
    for row in rows:
        cells = [text_of_cell(value) for value in row]
        while cells and not cells[-1]:
            cells.pop()
        yield cells


def refuse_bombs(book: Path) -> None:
    """Raise where more would be unpacked, or written out, than a workbook needs.

    What a part says of its own size binds: no more of it is ever unpacked.
    """
    with ZipFile(book) as packed:
        parts = packed.infolist()
        size = sum(part.file_size for part in parts)
        if len(parts) > MAX_PARTS or size > MAX_UNPACKED_BYTES:
            raise ValueError("The workbook unpacks to more than is read.")


class DocumentTypeFound(Exception):
    """A part of a workbook begins with a document type.

    Not a ValueError: the library would take that for one of its own.
    """


class SafeParts(ZipFile):
    """The parts of a workbook; one with a document type cannot be opened.

    Relationships may call a part anything, so its name says nothing of what it is read as.
    Everything that is read of a workbook is XML; what is not (pictures) is never opened.
    """

    def open(
        self,
        name: str | ZipInfo,
        mode: Literal["r", "w"] = "r",
        pwd: bytes | None = None,
        *,
        force_zip64: bool = False,
    ) -> IO[bytes]:
        """Open a part, after a look at how it begins."""
        with super().open(name, mode, pwd, force_zip64=force_zip64) as text:
            refuse_document_type(text)
        return super().open(name, mode, pwd, force_zip64=force_zip64)


def refuse_document_type(text: IO[bytes]) -> None:
    """Raise where XML begins with a document type: entities are made there, without end."""

    def refuse(*_: object) -> None:
        raise DocumentTypeFound

    begun: list[object] = []
    parser = ParserCreate()
    parser.StartDoctypeDeclHandler = refuse
    parser.StartElementHandler = lambda *_: begun.append(True)
    while not begun and (piece := text.read(PIECE_BYTES)):
        parser.Parse(piece)


def text_of_cell(value: object) -> str:
    """Write what a cell shows, on one line."""
    match value:
        case None:
            return ""
        case bool():
            return "true" if value else "false"
        case float() if value.is_integer():
            # Phone numbers and postal codes are kept as numbers by many.
            return str(int(value))
        case datetime() if value.time() == time():
            return value.date().isoformat()
        case datetime() | date() | time():
            return value.isoformat()
    text = str(value)
    return "" if text in ERROR_CODES else " ".join(text.split())


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
