"""What a source of places says differently since it was asked before."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import zip_longest
from typing import Any, Final
from uuid import UUID

from sqlalchemy import select, text
from sqlalchemy.ext.asyncio import AsyncConnection

from scrapersky.records import Place, PlaceSearch
from scrapersky.records.difference import DifferenceType
from scrapersky.records.status import DeepScanStatus, TaskStatus
from scrapersky.revisits.difference import FoundDifference, store_differences

COMPARED: Final = (
    "name", "address", "categories", "website", "phone", "business_status", "moved_to",
)  # fmt: skip
"""What shows that a place has changed."""
BY_STATUS: Final = {
    "closed_temporarily": DifferenceType.CLOSED,
    "closed_permanently": DifferenceType.CLOSED,
    "moved": DifferenceType.MOVED,
}
BY_FIELD: Final = {
    "name": DifferenceType.RENAMED,
    "address": DifferenceType.MOVED,
    "moved_to": DifferenceType.MOVED,
}
EARLIER_RUNS: Final = 10
EARLIER: Final = text(
    f"""SELECT s.id, s.status = '{TaskStatus.COMPLETED}' AS is_done,
      s.status = '{TaskStatus.COMPLETED}'
        AND coalesce((s.coverage->>'complete')::boolean, false) AS is_complete,
      s.found_count > 0 OR EXISTS (SELECT FROM place_search_hits h WHERE h.search_id = s.id)
        AS has_places
    FROM place_searches s WHERE s.tenant_id = :tenant AND (s.id = :first OR s.repeats_id = :first)
      AND s.id <> :run AND s.created_at < :at
      AND s.status IN ('{TaskStatus.COMPLETED}', '{TaskStatus.ERROR}')
    ORDER BY coalesce(s.finished_at, s.created_at) DESC LIMIT {EARLIER_RUNS}"""  # noqa: S608 - ours
)
LOST: Final = text("""SELECT DISTINCT ON (p.id) p.id, p.name, p.source, p.expires_at, h.found_at
  FROM place_search_hits h JOIN places_staging p ON p.id = h.place_id
  WHERE h.search_id = ANY(:before) AND NOT EXISTS (SELECT FROM place_search_hits o
    WHERE o.search_id = :run AND o.place_id = h.place_id)
  ORDER BY p.id, h.found_at DESC""")
# What a run has found that failed later, or that has gone on since, is told once.
FOUND: Final = text(
    f"""SELECT p.id, p.name, p.source, p.expires_at, EXISTS (
      SELECT FROM place_search_hits o JOIN place_searches s ON s.id = o.search_id
      WHERE o.place_id = h.place_id AND :first IN (s.id, s.repeats_id) AND s.id <> :run
        AND s.created_at < :at AND s.status = '{TaskStatus.COMPLETED}') AS was_there
    FROM place_search_hits h JOIN places_staging p ON p.id = h.place_id
    WHERE h.search_id = :run AND NOT EXISTS (SELECT FROM place_search_hits o
        WHERE o.search_id = ANY(:done) AND o.place_id = h.place_id)
      AND NOT EXISTS (SELECT FROM differences d WHERE d.place_id = h.place_id
        AND d.field IS NULL AND d.run_id = ANY(:reporting)
        AND d.what IN ('{DifferenceType.NEW}', '{DifferenceType.BACK}'))"""  # noqa: S608 - ours
)
# A business says what its place says: it is read again from what was stored.
SCAN_AGAIN: Final = text(
    f"""UPDATE places_staging SET deep_scan_status = '{DeepScanStatus.QUEUED}'
    WHERE id = ANY(:places) AND deep_scan_status = '{DeepScanStatus.COMPLETED}'"""  # noqa: S608
)


@dataclass(frozen=True, slots=True)
class KnownPlace:
    """What a source said of a place, and when."""

    facts: Mapping[str, Any]
    source: str
    seen_at: datetime | None
    """None where what its source had lent was forgotten."""
    expires_at: datetime | None


async def known_places(
    connection: AsyncConnection, tenant_id: UUID, source: str, ids: Collection[str]
) -> dict[UUID, KnownPlace]:
    """Read what is stored of some places of a source."""
    columns = [getattr(Place, name) for name in COMPARED]
    query = select(
        Place.id, Place.source, Place.seen_at, Place.expires_at, *columns
    ).where(
        Place.tenant_id == tenant_id,
        Place.source == source,
        Place.source_place_id.in_(list(ids)),
    )
    return {
        row.id: KnownPlace(
            {name: getattr(row, name) for name in COMPARED},
            row.source,
            row.seen_at,
            row.expires_at,
        )
        for row in await connection.execute(query)
    }


async def note_place_differences(
    connection: AsyncConnection,
    run: PlaceSearch,
    before: Mapping[UUID, KnownPlace],
    now: Mapping[UUID, KnownPlace],
) -> bool:
    """Keep how places differ from what they were; say whether any is to be scanned again."""
    found = [
        difference
        for place_id, was in before.items()
        if place_id in now
        for difference in changes_of_place(run, place_id, was, now[place_id])
    ]
    if not found:
        return False
    await store_differences(connection, found)
    places = sorted({one.place_id for one in found if one.place_id is not None})
    scanned = await connection.execute(SCAN_AGAIN, {"places": places})
    return bool(scanned.rowcount)


def changes_of_place(
    run: PlaceSearch, place_id: UUID, was: KnownPlace, now: KnownPlace
) -> list[FoundDifference]:
    """Say field by field what a source says differently of a place."""
    if was.seen_at is None:
        return []
    return [
        FoundDifference(
            tenant_id=run.tenant_id,
            run_id=run.id,
            place_id=place_id,
            what=type_of(field, was.facts[field], now.facts[field]),
            field=field,
            old_value=written(was.facts[field]),
            new_value=written(now.facts[field]),
            old_source=was.source,
            new_source=now.source,
            old_seen_at=was.seen_at,
            expires_at=was.expires_at,
        )
        for field in COMPARED
        # What a source has left out this time it has not taken back.
        if now.facts[field] and was.facts[field] != now.facts[field]
    ]


def type_of(field: str, old: object, new: object) -> DifferenceType:
    """Say what it means that a field has changed."""
    if field == "business_status" and new in BY_STATUS:
        return BY_STATUS[str(new)]
    if field == "business_status" and BY_STATUS.get(str(old)) is DifferenceType.CLOSED:
        return DifferenceType.REOPENED
    return BY_FIELD.get(field, DifferenceType.CHANGED)


def written(value: object) -> str | None:
    """Write a value as people read it."""
    if isinstance(value, list):
        return ", ".join(map(str, value)) or None
    return None if value is None else str(value)


async def note_run_differences(
    connection: AsyncConnection, run: PlaceSearch, *, is_complete: bool
) -> None:
    """Keep which places a run has found first, and which it has not found any more.

    A run that stopped early has not said what is gone. One that finds nothing where the
    one before found something is not believed at first.
    """
    if run.repeats_id is None:
        return
    asked = {"run": run.id, "first": run.repeats_id, "at": run.created_at}
    rows = await connection.execute(EARLIER, {**asked, "tenant": run.tenant_id})
    earlier = rows.all()
    if not any(one.is_done for one in earlier):
        return
    before = runs_to_compare(earlier)
    done = [one.id for one in before if one.is_done]
    reporting = [run.id, *(one.id for one in before if not one.is_done)]
    rows = await connection.execute(
        FOUND, {**asked, "done": done, "reporting": reporting}
    )
    found = [
        FoundDifference(
            tenant_id=run.tenant_id,
            run_id=run.id,
            place_id=row.id,
            what=DifferenceType.BACK if row.was_there else DifferenceType.NEW,
            new_value=row.name,
            new_source=row.source,
            expires_at=row.expires_at,
        )
        for row in rows
    ]
    if is_complete and await is_believed(connection, run.id, earlier[0]):
        ids = [one.id for one in before]
        rows = await connection.execute(LOST, {"run": run.id, "before": ids})
        found += [
            FoundDifference(
                tenant_id=run.tenant_id,
                run_id=run.id,
                place_id=row.id,
                what=DifferenceType.GONE,
                old_value=row.name,
                old_source=row.source,
                new_source=row.source,
                old_seen_at=row.found_at,
                expires_at=row.expires_at,
            )
            for row in rows
        ]
    await store_differences(connection, found)


def runs_to_compare(earlier: Sequence[Any]) -> Sequence[Any]:
    """Return the runs that say what was there: back to the last that says all there was."""
    for at, (one, before) in enumerate(zip_longest(earlier, earlier[1:])):
        is_second = before is not None and before.is_done and not before.has_places
        if one.is_complete and (one.has_places or is_second):
            return earlier[: at + 1]
    return earlier


async def is_believed(
    connection: AsyncConnection,
    run_id: UUID,
    before: Any,  # noqa: ANN401 - a row
) -> bool:
    """Say whether a run found something, or nothing for the second time."""
    if before.is_done and not before.has_places:
        return True
    hits = text("SELECT EXISTS (SELECT FROM place_search_hits WHERE search_id = :run)")
    return bool(await connection.scalar(hits, {"run": run_id}))
