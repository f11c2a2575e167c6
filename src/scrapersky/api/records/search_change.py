"""What a search found against the one before it that asked the same."""

from typing import Any, Final
from uuid import UUID

from pydantic import BaseModel, Field
from sqlalchemy import Row, func, select
from sqlalchemy.ext.asyncio import AsyncConnection

from scrapersky.api.records.detail import MOST_LINKS
from scrapersky.api.records.schema import RecordLink
from scrapersky.records import Place, PlaceSearch, PlaceSearchHit
from scrapersky.records.status import TaskStatus

ASKED: Final = ("business_type", "location", "radius_m", "area")
"""The columns that hold what was asked."""


class SearchChanges(BaseModel):
    """What a search found against the one before it that asked the same."""

    previous_id: UUID | None
    new_count: int
    changed_count: int
    gone_count: int
    new: list[RecordLink] = Field(description="The first twenty.")
    changed: list[RecordLink]
    gone: list[RecordLink]


async def changes_of(connection: AsyncConnection, row: Row[Any]) -> SearchChanges:
    """Compare what a search found with what the one before it found."""
    same = [
        getattr(PlaceSearch, name).is_not_distinct_from(getattr(row, name))
        for name in (*ASKED, "source", "params")
    ]
    earlier = (
        select(PlaceSearch.id)
        .where(
            *same,
            PlaceSearch.created_at < row.created_at,
            PlaceSearch.status == TaskStatus.COMPLETED,
        )
        .order_by(PlaceSearch.created_at.desc())
        .limit(1)
    )
    previous = await connection.scalar(earlier)
    if previous is None:
        return SearchChanges(
            previous_id=None, new_count=row.new_count, changed_count=0, gone_count=0,
            new=[], changed=[], gone=[],
        )  # fmt: skip
    is_over = row.status is TaskStatus.COMPLETED
    found = {
        name: await differing(connection, row.id, previous, name)
        for name in ("new", "changed", *(["gone"] if is_over else []))
    }
    counts = {f"{name}_count": found[name][0] for name in found}
    links = {name: found[name][1] for name in found}
    return SearchChanges(
        previous_id=previous,
        **{"gone_count": 0, **counts},
        **{"gone": [], **links},
    )


async def differing(
    connection: AsyncConnection, search_id: UUID, previous: UUID, which: str
) -> tuple[int, list[RecordLink]]:
    """Count and name the places that are new, changed or gone."""
    here = select(PlaceSearchHit).where(PlaceSearchHit.search_id == search_id)
    there = select(PlaceSearchHit).where(PlaceSearchHit.search_id == previous)
    now, before = here.subquery(), there.subquery()
    match which:
        case "new":
            ids = select(now.c.place_id).where(
                now.c.place_id.not_in(select(before.c.place_id))
            )
        case "gone":
            ids = select(before.c.place_id).where(
                before.c.place_id.not_in(select(now.c.place_id))
            )
        case _:
            ids = (
                select(now.c.place_id)
                .join(before, before.c.place_id == now.c.place_id)
                .where(now.c.facts_hash != before.c.facts_hash)
            )
    places = ids.subquery()
    count = await connection.scalar(select(func.count()).select_from(places))
    named = await connection.execute(
        select(Place.id, Place.name)
        .join(places, places.c.place_id == Place.id)
        .order_by(Place.name, Place.id)
        .limit(MOST_LINKS)
    )
    return int(count or 0), [RecordLink(id=row.id, label=row.name) for row in named]
