"""What an import came to: what was kept of every column, and what differs from what is known."""

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from fastapi import APIRouter
from pydantic import BaseModel, Field
from sqlalchemy import text

from scrapersky.api.dependency import Reader, Transaction
from scrapersky.api.records.detail import record_of
from scrapersky.api.records.router import address_of
from scrapersky.api.schema import NOT_FOUND, REFUSALS
from scrapersky.curation.imported_line import IMPORTED
from scrapersky.curation.lead_import import HEADINGS, import_action
from scrapersky.providers.files.column import OWN_FIELD, meaning_of
from scrapersky.providers.files.nothing import NOTHING_WORDS, REACHED_BY
from scrapersky.records.contact import BY_HAND
from scrapersky.records.place_search import SEARCHES

MOST_LINES: Final = 100_000
MOST_DIFFERENCES: Final = 200
EXTRA: Final = "extra"

router = APIRouter(tags=["records"])

COLUMNS: Final = text(
    """SELECT cell.key AS heading, count(*) AS lines, count(*) FILTER (
      WHERE rtrim(lower(btrim(cell.value)), '. ') = ANY(:nothing)) AS nothing FROM (
      SELECT p.raw->'row' AS row FROM place_search_hits h
      JOIN places_staging p ON p.id = h.place_id
      WHERE h.search_id = :search LIMIT :most) p, jsonb_each_text(p.row) AS cell
    WHERE jsonb_typeof(p.row) = 'object' AND cell.value <> ''
    GROUP BY cell.key ORDER BY 2 DESC, 1 LIMIT 1000"""
)
MADE: Final = text(
    """SELECT after->>'kind' AS kind, count(*) AS made FROM curation_changes
    WHERE action_id = :action GROUP BY 1"""
)
# What a line says and is known otherwise stands beside it: nothing is overwritten.
DIFFERENCES: Final = text(
    """SELECT c.id AS company_id, c.name AS company, e.field, e.value AS imported,
      to_jsonb(x)->>e.field AS known, e.snippet AS origin
    FROM place_search_hits h JOIN company_members m ON m.place_id = h.place_id
    JOIN companies c ON c.id = m.company_id
    JOIN contacts x ON x.domain_id = c.domain_id
    JOIN contact_evidence e ON e.contact_id = x.id AND e.method = :method
      AND e.snippet ^@ ANY(:origins)
    WHERE h.search_id = :search AND e.field IN ('name', 'role', 'phone')
      AND to_jsonb(x)->>e.field IS DISTINCT FROM e.value
    ORDER BY c.id, e.field LIMIT :most"""
)


class ImportedColumn(BaseModel):
    """What became of a column."""

    heading: str = Field(description="As it stands in the file.")
    field: str = Field(
        description="Where it went; `extra`: beside the others, as it is."
    )
    lines: int = Field(description="How many lines have a value in it, all kept.")
    unread: int = Field(
        0,
        description="How many of these are none for that field, and kept beside the others.",
    )


class ImportDifference(BaseModel):
    """What a line says of a known contact, and what was known before and stays."""

    company_id: UUID
    company: str | None
    field: str
    known: str | None
    imported: str
    origin: str


class ImportOut(BaseModel):
    """What an import came to."""

    action_id: UUID | None = Field(description="The handle to undo all of it by.")
    undone_at: datetime | None = Field(
        None, description="When it was undone; what it made is not there any more."
    )
    made: dict[str, int] = Field(
        description="New records by kind.", examples=[{"places": 95, "contacts": 80}]
    )
    columns: list[ImportedColumn]
    problems: list[Any] = Field(description="Lines and values that could not be read.")
    differences: list[ImportDifference] = Field(description="The first two hundred.")


@router.get(
    f"{address_of(SEARCHES)}/{{record_id}}/import",
    operation_id="read_import",
    summary="Read what an import came to",
    responses=REFUSALS | NOT_FOUND,
)
async def read_import(
    who: Reader, connection: Transaction, record_id: UUID
) -> ImportOut:
    """Report what was kept of every column, what is new, and what differs."""
    search = await record_of(connection, SEARCHES, record_id)
    values = {"search": record_id}
    action = await import_action(connection, who.tenant_id, record_id)
    is_undone = action is not None and action.undone_at is not None
    open_id = action.id if action is not None and not is_undone else None
    made = await connection.execute(MADE, {"action": open_id})
    asked = {**values, "most": MOST_LINES, "nothing": [*NOTHING_WORDS]}
    headings = await connection.execute(COLUMNS, asked)
    known = {**values, "method": BY_HAND, "origins": [*IMPORTED]}
    found = await connection.execute(DIFFERENCES, {**known, "most": MOST_DIFFERENCES})
    return ImportOut(
        action_id=open_id,
        undone_at=action.undone_at if action is not None else None,
        made={row.kind: row.made for row in made},
        columns=columns_of(
            headings.all(), search.params.get(HEADINGS) or {}, search.problems
        ),
        problems=search.problems,
        differences=[ImportDifference(**row._asdict()) for row in found],
    )


def columns_of(
    rows: Sequence[Any],
    written: Mapping[str, str],
    problems: Sequence[Mapping[str, Any]],
) -> list[ImportedColumn]:
    """Say where each column went; of two that mean the same, the second is kept beside."""
    unread = Counter(problem.get("field") for problem in problems)
    columns = []
    for row in rows:
        is_own = row.heading.startswith(OWN_FIELD)
        field = row.heading if is_own else meaning_of(row.heading) or EXTRA
        lines = row.lines - row.nothing if field in REACHED_BY else row.lines
        if lines:
            heading = written.get(row.heading) or row.heading
            columns.append(
                ImportedColumn(
                    heading=heading,
                    field=field,
                    lines=lines,
                    unread=unread.pop(field, 0),
                )
            )
    return columns
