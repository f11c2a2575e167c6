"""Read a file that was exported here: CSV, a workbook, or JSON lines."""

import csv
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import orjson

from scrapersky.errors import InvalidImport
from scrapersky.export.proof import PROOF
from scrapersky.kit.cell import cell_of, restored
from scrapersky.kit.workbook import as_table

FIRST_ROW: Final = 2
"""The line of a table's first row: the headings stand above it."""
MOST_CELL_BYTES: Final = 1 << 20

NumberedRow = tuple[int, dict[str, str]]


@contextmanager
def exported_rows(path: Path) -> Iterator[Iterator[NumberedRow]]:
    """Give the rows of an exported file, each with its line; raise InvalidImport if it is none."""
    if not path.is_file():
        raise InvalidImport(f"There is no file {path}.")
    if path.suffix == ".jsonl":
        with path.open("rb") as lines:
            yield json_rows(lines)
        return
    with TemporaryDirectory(prefix="scrapersky-verify-") as folder:
        table = path
        if path.suffix == ".xlsx":
            table = Path(folder) / "table.csv"
            as_table(path, table)
        csv.field_size_limit(MOST_CELL_BYTES)
        with table.open(encoding="utf-8-sig", newline="") as file:
            yield table_rows(file, is_workbook=table is not path)


def table_rows(file: Any, *, is_workbook: bool) -> Iterator[NumberedRow]:  # noqa: ANN401 - a file
    """Yield the rows of a table."""
    reader = csv.DictReader(file, restval="")
    try:
        if PROOF not in (reader.fieldnames or ()):
            raise no_proofs()
        for number, row in enumerate(reader, FIRST_ROW):
            row.pop(None, None)
            # A workbook keeps texts as they are; in CSV they are made harmless.
            if not is_workbook:
                row = {name: restored(value) for name, value in row.items()}  # noqa: PLW2901
            yield number, row
    except (csv.Error, UnicodeDecodeError) as error:
        raise InvalidImport(f"The file is not a table: {error}.") from error


def json_rows(lines: Any) -> Iterator[NumberedRow]:  # noqa: ANN401 - a file
    """Yield the rows of JSON lines, as cells."""
    for number, line in enumerate(lines, 1):
        try:
            row = orjson.loads(line)
        except orjson.JSONDecodeError as error:
            raise InvalidImport(f"Line {number} is not JSON.") from error
        if not isinstance(row, dict) or PROOF not in row:
            raise no_proofs()
        yield number, {str(name): text_of(value) for name, value in row.items()}


def text_of(value: Any) -> str:  # noqa: ANN401 - any JSON
    """Write a value as a table does."""
    cell = cell_of(value)
    return "" if cell is None else str(cell)


def no_proofs() -> InvalidImport:
    """Say that a file cannot be verified."""
    return InvalidImport(
        f"The file has no column '{PROOF}'.",
        hint="Export contacts or companies without a preset, or name the column in --columns.",
    )
