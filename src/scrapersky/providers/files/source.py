"""The source itself: a file is read in pages; read twice, it gives the same places."""

import asyncio
import hashlib
import re
from collections.abc import AsyncIterator, Callable, Collection, Iterator
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import islice
from pathlib import Path
from typing import Any

from scrapersky.errors import BadPlaceFile, BadPlaceQuery, PlaceGone
from scrapersky.providers.area import fence
from scrapersky.providers.budget import Budget
from scrapersky.providers.cell import Coverage
from scrapersky.providers.files.column import meaning_of
from scrapersky.providers.files.lines import (
    cells_from_object,
    is_overture,
    read_lines,
    record_from_overture,
)
from scrapersky.providers.files.nothing import REACHED_BY, is_nothing
from scrapersky.providers.files.record import (
    PROVIDER,
    FileRecord,
    RowNotes,
    facts_of,
    found_place,
    identify,
    identify_person,
    note_long_values,
    note_unread_phones,
    record_from_cells,
)
from scrapersky.providers.files.table import Row, read_table
from scrapersky.providers.source import (
    NO_IDS,
    Estimate,
    FoundPlace,
    Json,
    PlaceFacts,
    PlacePage,
    PlaceQuery,
    ResumePoint,
    RowProblem,
    SearchProgress,
    SearchState,
)

FetchFile = Callable[[str], AbstractAsyncContextManager[Path | None]]
LICENCE = "as supplied"
TABLE_SUFFIXES = frozenset({".csv", ".tsv", ".tab", ".txt"})
LINE_SUFFIXES = frozenset(
    {".jsonl", ".ndjson", ".json", ".geojsonl", ".geojsonseq", ".geojson"}
)
MAX_REMEMBERED_IDS = 500_000
"""Ids kept in memory to find duplicates; beyond, only those within a page are found."""
READ_BYTES = 65_536


@dataclass(frozen=True, slots=True)
class FileSettings:
    """Where files are read from, and how much at once."""

    root: Path
    """Only files below this directory are read."""
    fetch: FetchFile | None = None
    """Gives a file that somebody uploaded, by its name, for as long as it is read."""
    page_size: int = 500


@dataclass(slots=True)
class FilePosition(SearchState):
    """How far a file was read."""

    file: str
    rows: int = 0
    found: int = 0
    duplicates: int = 0
    problems: int = 0
    is_over: bool = False
    cut_by_limit: bool = False


class PlaceFiles:
    """Places from files in one directory."""

    name = PROVIDER
    licence = LICENCE
    attribution = ""

    def __init__(self, settings: FileSettings) -> None:
        self._settings = settings

    async def close(self) -> None:
        """Do nothing: no file stays open between two pages of nobody."""

    async def estimate(
        self, query: PlaceQuery, *, resume: ResumePoint | None = None
    ) -> Estimate:
        """Say what reading costs: nothing."""
        del resume
        async with self._opened(query):
            pass  # it is there
        nothing = Decimal(0)
        return Estimate(
            requests_low=0,
            requests_likely=0,
            requests_high=0,
            price_low=nothing,
            price_likely=nothing,
            price_high=nothing,
            is_exact=True,
            assumes=("a file costs nothing to read",),
        )

    async def search(
        self,
        query: PlaceQuery,
        budget: Budget,
        *,
        resume: ResumePoint | None = None,
        fresh: Collection[str] = NO_IDS,
    ) -> AsyncIterator[PlacePage]:
        """Give the places of the file, page by page, with what is wrong in each row."""
        del budget, fresh
        async with self._opened(query) as path:
            async for page in self._pages(path, query, resume):
                yield page

    async def _pages(
        self, path: Path, query: PlaceQuery, resume: ResumePoint | None
    ) -> AsyncIterator[PlacePage]:
        mark = await asyncio.to_thread(position_of, path, query, resume)
        if mark.is_over:
            yield page_of(mark, query)
            return
        # A file that changed is read as if for the first time.
        seen = set(resume.delivered) if resume and mark.rows else set()
        rows = rows_of(path)
        try:
            await asyncio.to_thread(skip, rows, mark.rows)
            while not mark.is_over:
                page = await asyncio.to_thread(self._next_page, rows, mark, query, seen)
                yield page
        finally:
            await asyncio.to_thread(rows.close)

    def facts(self, raw: Json, *, region: str | None = None) -> PlaceFacts:
        """Read the facts out of a stored row."""
        return file_facts(raw, region=region)

    async def details(
        self,
        place_id: str,
        budget: Budget,
        *,
        raw: Json | None = None,
        region: str | None = None,
    ) -> PlaceFacts:
        """Return what the row said; a file can be asked no more than that."""
        del budget
        if raw is None:
            raise PlaceGone(PROVIDER, f"nothing was stored of {place_id[:64]}")
        return self.facts(raw, region=region)

    @asynccontextmanager
    async def _opened(self, query: PlaceQuery) -> AsyncIterator[Path]:
        """Give the file of a query: one that was uploaded, or one of this machine."""
        async with AsyncExitStack() as stack:
            path = None
            if query.file and self._settings.fetch is not None:
                name = query.file.replace("\x00", "")
                path = await stack.enter_async_context(self._settings.fetch(name))
            refuse_bad_limit(query)
            yield self._path(query) if path is None else path

    def _path(self, query: PlaceQuery) -> Path:
        if not query.file:
            raise BadPlaceQuery(PROVIDER, "a search needs the name of a file")
        root = self._settings.root.resolve()
        path = (root / query.file.replace("\x00", "")).resolve()
        if not path.is_relative_to(root) or not path.is_file():
            raise BadPlaceFile(
                PROVIDER,
                f"there is no file {Path(query.file).name!r} to import",
                hint=f"Put it into {root}.",
            )
        return path

    def _next_page(
        self,
        rows: "Iterator[Row | RowProblem]",
        mark: FilePosition,
        query: PlaceQuery,
        seen: set[str],
    ) -> PlacePage:
        places: dict[str, FoundPlace] = {}
        problems: list[RowProblem] = []
        is_inside = fence(query.area) if query.area else None
        taken = 0
        for row in islice(rows, self._settings.page_size):
            taken += 1
            mark.rows += 1
            if isinstance(row, RowProblem):
                problems.append(row)
                continue
            place, found = read_row(row, query)
            problems += found
            if place is None:
                continue
            if is_inside and place.point and not is_inside(place.point):
                continue
            place = distinct(place, seen)
            if place is None:
                mark.duplicates += 1
                continue
            places[place.source_place_id] = place
            if query.limit is not None and mark.found + len(places) >= query.limit:
                mark.cut_by_limit = mark.is_over = True
                break
        mark.found += len(places)
        mark.problems += sum(problem.is_fatal for problem in problems)
        mark.is_over = mark.is_over or taken < self._settings.page_size
        return page_of(
            mark, query, places=tuple(places.values()), problems=tuple(problems)
        )


def refuse_bad_limit(query: PlaceQuery) -> None:
    """Raise unless the query asks for a place at least."""
    if query.limit is not None and query.limit < 1:
        raise BadPlaceQuery(PROVIDER, "a limit is 1 or more")


def refuse_other_forms(path: Path) -> bytes:
    """Return how a file begins; raise BadPlaceFile unless it is a text."""
    with path.open("rb") as file:
        start = file.read(4096)
    if start.startswith((b"PK\x03\x04", b"\xd0\xcf\x11\xe0")):
        raise BadPlaceFile(
            PROVIDER, "this is a spreadsheet", hint="Save it as CSV (UTF-8)."
        )
    if not start.strip():
        raise BadPlaceFile(PROVIDER, "the file is empty")
    return start


def rows_of(path: Path) -> Any:  # noqa: ANN401 - a generator of rows
    """Open the file in the form it has."""
    start = refuse_other_forms(path)
    suffix = path.suffix.lower()
    begins_object = start.lstrip(b"\xef\xbb\xbf\x1e \t\r\n")[:1] == b"{"
    if suffix in LINE_SUFFIXES or (suffix not in TABLE_SUFFIXES and begins_object):
        return read_lines(path)
    return read_table(path)


def position_of(
    path: Path, query: PlaceQuery, resume: ResumePoint | None
) -> FilePosition:
    """Return where to begin: a file that changed is read anew from the top."""
    fingerprint = fingerprint_of(path)
    new = FilePosition(query.fingerprint, fingerprint)
    old = FilePosition.from_json(resume.state) if resume and resume.state else None
    if old is None:
        return new
    if old.query != query.fingerprint:
        raise BadPlaceQuery(PROVIDER, "the state belongs to another search")
    return old if old.file == fingerprint else new


def fingerprint_of(path: Path) -> str:
    """Return a short name of the content: its size, its beginning and its end."""
    size = path.stat().st_size
    with path.open("rb") as file:
        start = file.read(READ_BYTES)
        file.seek(max(size - READ_BYTES, 0))
        end = file.read(READ_BYTES)
    return hashlib.sha256(b"%d\0%b\0%b" % (size, start, end)).hexdigest()[:16]


def skip(rows: "Iterator[Row | RowProblem]", count: int) -> None:
    """Pass over rows that were read before."""
    next(islice(rows, count, count), None)


def read_row(row: Row, query: PlaceQuery) -> tuple[FoundPlace | None, list[RowProblem]]:
    """Make a place of a row, or say why it is none."""
    notes = RowNotes(list(row.notes))
    record = record_of(row.cells, notes)
    note_unread_phones(record, query.region, notes)
    note_long_values(record, notes)
    problems = [
        RowProblem(
            row.line, note.why, is_fatal=False, field=note.field, value=note.value
        )
        for note in notes.all
    ]
    if not record.is_usable:
        return None, [*problems, RowProblem(row.line, "neither a name nor a website")]
    dataset = query.dataset or Path(query.file or "").name
    licence = record.licence or query.licence or LICENCE
    raw: Json = {
        "row": row.cells,
        "dataset": dataset,
        "licence": licence,
        "line": row.line,
    }
    if query.region:
        raw["region"] = query.region
    return found_place(record, identify(record, dataset), raw, licence), problems


def distinct(place: FoundPlace, seen: set[str]) -> FoundPlace | None:
    """Return a place under an id that no line before had, or None if all of it is known.

    Another line about a place is one of its own if it names somebody else, or another address
    or number: matching puts them together, and nobody is lost.
    """
    first, other = place.source_place_id, id_of_person(place.raw)
    is_known = first in seen
    if is_known and (other == first or other in seen):
        return None
    if len(seen) < MAX_REMEMBERED_IDS:
        seen |= {first, other}
    if not is_known:
        return place
    return replace(place, source_place_id=other, raw={**place.raw, "is_other": True})


def id_of_person(raw: Json) -> str:
    """Return the id of a stored row as another line about its place."""
    record = record_of(raw["row"], RowNotes())
    return identify_person(record, identify(record, str(raw.get("dataset"))))


def file_facts(raw: Json, *, region: str | None = None) -> PlaceFacts:
    """Read the facts out of a row as it was stored, or will be."""
    data = raw.get("row")
    if not isinstance(data, dict):
        raise PlaceGone(PROVIDER, "what was stored is not a row of a file")
    record = record_of(data, RowNotes())
    place_id = identify(record, str(raw.get("dataset")))
    if raw.get("is_other"):
        place_id = identify_person(record, place_id)
    return facts_of(record, place_id, raw, region)


def record_of(data: Json, notes: RowNotes) -> FileRecord:
    """Make a record of a row of any form."""
    if is_overture(data):
        return record_from_overture(data)
    if all(isinstance(value, str) for value in data.values()):
        return record_of_cells(data, notes)
    return record_from_cells(cells_from_object(data, notes), notes)


def record_of_cells(data: Json, notes: RowNotes) -> FileRecord:
    """Make a record of cells by heading; what has no place in it is kept beside it."""
    cells: dict[str, str] = {}
    headings: dict[str, str] = {}
    extra: Json = {}
    for column, value in data.items():
        meaning = meaning_of(column)
        if meaning in REACHED_BY and is_nothing(value):
            continue
        if meaning is not None and meaning not in cells:
            cells[meaning], headings[meaning] = value, column
        elif value and len(extra) < MOST_EXTRA:
            extra[UNREAD.sub("", column)[:LONGEST_HEADING]] = value[:LONGEST_EXTRA]
    record = record_from_cells(cells, notes)
    for meaning, attribute in READ_FROM.items():
        if cells.get(meaning) and not getattr(record, attribute):
            extra[headings[meaning]] = cells[meaning][:LONGEST_EXTRA]
    return replace(record, extra=extra)


MOST_EXTRA = 100
LONGEST_HEADING = 100
LONGEST_EXTRA = 2_000
UNREAD = re.compile(r"^Column \d+: ")
"""What a heading begins with whose column was said to mean nothing."""
READ_FROM = {
    "email": "emails",
    "website": "websites",
    "country": "country",
    "rating": "rating",
    "reviews": "reviews_count",
    "status": "status",
    "latitude": "point",
}
"""Columns whose values may be none, and what they are read into."""


def page_of(
    mark: FilePosition,
    query: PlaceQuery,
    *,
    places: tuple[FoundPlace, ...] = (),
    problems: tuple[RowProblem, ...] = (),
) -> PlacePage:
    """Return a page with the state to go on from."""
    return PlacePage(
        places=places,
        state=mark.to_json(),
        progress=SearchProgress(
            phase="done" if mark.is_over else "collect",
            requests=0,
            found=mark.found,
            requests_left=0,
            duplicates=mark.duplicates,
        ),
        coverage=coverage_of(mark, query) if mark.is_over else None,
        problems=problems,
    )


def counted(count: int, one: str) -> str:
    """Write how many there are of something."""
    return f"{count:,} {one}{'' if count == 1 else 's'}"


def coverage_of(mark: FilePosition, query: PlaceQuery) -> Coverage:
    """Say how much of the file became places."""
    if mark.cut_by_limit:
        return Coverage((), why=f"stopped at the limit of {query.limit} places")
    why = f"{counted(mark.rows, 'row')}: {counted(mark.found, 'place')}"
    if mark.duplicates:
        why += f", {counted(mark.duplicates, 'duplicate')}"
    if mark.problems:
        skipped = counted(mark.problems, "row")
        return Coverage((), why=f"{why}, {skipped} skipped")
    return Coverage((), is_complete=True, why=why)
