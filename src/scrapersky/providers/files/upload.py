"""A file that somebody uploads: what its columns hold, and what they are called by us."""

import csv
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Final

from scrapersky.errors import BadPlaceFile
from scrapersky.providers.files.column import (
    ALIASES,
    OWN_FIELD,
    meaning_of,
    meanings_of,
)
from scrapersky.providers.files.encoding import encoding_of
from scrapersky.providers.files.record import PROVIDER
from scrapersky.providers.files.source import distinct, read_row, refuse_other_forms
from scrapersky.providers.files.table import (
    Header,
    Row,
    header_of,
    is_list_of_websites,
    read_table,
    usable_columns,
)
from scrapersky.providers.source import FoundPlace, PlaceQuery, RowProblem
from scrapersky.providers.value import text_of

FIELDS: Final = tuple(ALIASES)
"""What a column may hold."""
PREVIEW_ROWS: Final = 1_000
MAX_PROBLEMS: Final = 100
MAX_EXAMPLES: Final = 3
MAX_EXAMPLE_CHARACTERS: Final = 80


@dataclass(frozen=True, slots=True)
class FileColumn:
    """A column of a file: its heading, what it seems to hold, and some of its cells."""

    heading: str
    field: str | None
    examples: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FilePreview:
    """What the beginning of a file holds."""

    columns: tuple[FileColumn, ...]
    rows: int
    places: int
    duplicates: int
    problems: tuple[RowProblem, ...]
    """The first hundred."""
    problems_count: int = 0
    found: tuple[FoundPlace, ...] = ()
    """The businesses themselves, to compare with what is known."""


def read_preview(
    path: Path, fields: Sequence[str], dataset: str | None = None
) -> FilePreview:
    """Read the beginning of a file as the import would, with these fields or its own."""
    refuse_other_forms(path)
    header = header_of(path)
    known = meanings_of(header.cells)
    shown = tuple(known.get(index) for index in range(len(header.cells)))
    if fields:
        shown = tuple(field or None for field in check_fields(header, fields))
    columns = tuple(
        FileColumn(text_of(heading) or "", field, examples_of(header, index))
        for index, (heading, field) in enumerate(zip(header.cells, shown, strict=True))
    )
    if not {"name", "website"} & {*shown} and not is_list_of_websites(header.cells):
        return FilePreview(columns, 0, 0, 0, ())
    query = PlaceQuery(file=path.name, dataset=dataset)
    return checked_rows(path, columns, headings_for(header, fields), query)


def checked_rows(
    path: Path,
    columns: tuple[FileColumn, ...],
    headings: list[str] | None,
    query: PlaceQuery,
) -> FilePreview:
    """Make places of the first rows, to see how many of them are not places."""
    problems: list[RowProblem] = []
    seen: dict[str, FoundPlace] = {}
    ids: set[str] = set()
    rows = duplicates = 0
    for row in islice(read_table(path, headings), PREVIEW_ROWS):
        rows += 1
        if not isinstance(row, Row):
            problems.append(row)
            continue
        place, found = read_row(row, query)
        problems += found
        if place is None:
            continue
        if (place := distinct(place, ids)) is None:
            duplicates += 1
        else:
            seen[place.source_place_id] = place
    return FilePreview(
        columns,
        rows,
        len(seen),
        duplicates,
        tuple(problems[:MAX_PROBLEMS]),
        len(problems),
        tuple(seen.values()),
    )


def examples_of(header: Header, index: int) -> tuple[str, ...]:
    """Return some cells of a column."""
    cells = (
        text_of(row[index], longest=MAX_EXAMPLE_CHARACTERS)
        for row in header.sample
        if index < len(row)
    )
    return tuple(islice(filter(None, cells), MAX_EXAMPLES))


def check_fields(header: Header, fields: Sequence[str]) -> Sequence[str]:
    """Return a field for each column, "" for none; raise if they do not fit."""
    named = [field for field in fields if field]
    ours = [field for field in named if not field.startswith(OWN_FIELD)]
    if unknown := [field for field in ours if field not in FIELDS]:
        raise BadPlaceFile(
            PROVIDER,
            f"there is no field {unknown[0][:40]!r}",
            hint=f"Choose of: {', '.join(FIELDS)}.",
        )
    if len(fields) != len(header.cells):
        raise BadPlaceFile(
            PROVIDER, f"{len(fields)} fields for {len(header.cells)} columns"
        )
    if len({*named}) < len(named):
        raise BadPlaceFile(PROVIDER, "two columns have the same field")
    return fields


def headings_for(header: Header, fields: Sequence[str]) -> list[str] | None:
    """Return headings by which the import understands the columns; None: their own."""
    if not fields:
        return None
    return [
        field or unread(heading, number)
        for number, (heading, field) in enumerate(
            zip(header.cells, check_fields(header, fields), strict=True), start=1
        )
    ]


def unread(heading: str, number: int) -> str:
    """Return a heading that is kept with its cells and means nothing to us."""
    is_understood = meaning_of(heading) is not None
    return f"Column {number}: {heading}" if is_understood else heading


def store_renamed(path: Path, target: Path, fields: Sequence[str]) -> dict[str, str]:
    """Write an uploaded file where it is imported from, under our headings.

    Return by these what stood there. Every row stays on its line, so that what is wrong
    with it can be found.
    """
    refuse_other_forms(path)
    header = header_of(path)
    headings = headings_for(header, fields)
    if not is_list_of_websites(header.cells):
        usable_columns(headings or header.cells)
    encoding = encoding_of(path)
    with (
        path.open(encoding=encoding, errors="replace", newline="") as source,
        target.open("w", encoding="utf-8", newline="") as written,
    ):
        if headings is not None and not is_list_of_websites(header.cells):
            for _ in range(header.first_line - 1):
                written.write(source.readline())
            for _ in range(header.first_line, header.last_line + 1):
                source.readline()
            row = csv.writer(written, delimiter=header.delimiter, lineterminator="\n")
            row.writerow(headings)
            written.write("\n" * (header.last_line - header.first_line))
        shutil.copyfileobj(source, written)
    return dict(zip(headings or (), header.cells, strict=False))
