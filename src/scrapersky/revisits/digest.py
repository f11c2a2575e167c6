"""Once a day, how much differed of a search, for those who follow changes and asked for it."""

from datetime import timedelta
from typing import Any, Final

from sqlalchemy import Row, func, or_, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from scrapersky.records import SearchSchedule
from scrapersky.records.change import ChangeEvent, note_changes
from scrapersky.records.place_search import SEARCHES
from scrapersky.revisits.reading import count_differences, differences

DIGEST_INTERVAL: Final = timedelta(days=1)
MOST_AT_ONCE: Final = 50


async def note_digests(connection: AsyncConnection) -> int:
    """Log the digests that are due, each once; where nothing differed there is none."""
    now = func.statement_timestamp()
    query = (
        select(SearchSchedule)
        .where(
            SearchSchedule.has_digest,
            or_(
                SearchSchedule.digest_at.is_(None),
                SearchSchedule.digest_at <= now - DIGEST_INTERVAL,
            ),
        )
        .order_by(SearchSchedule.digest_at.nulls_first())
        .limit(MOST_AT_ONCE)
        .with_for_update(skip_locked=True)
    )
    due = (await connection.execute(query)).all()
    return sum([await note_digest(connection, schedule) for schedule in due])


async def note_digest(connection: AsyncConnection, schedule: Row[Any]) -> bool:
    """Log how much differed since the digest before, if anything did."""
    since = schedule.digest_at or schedule.created_at
    query = differences(schedule.tenant_id, search_id=schedule.search_id, since=since)
    counts = await count_differences(connection, query)
    await connection.execute(
        update(SearchSchedule)
        .where(SearchSchedule.id == schedule.id)
        .values(digest_at=func.statement_timestamp())
    )
    if counts:
        await note_changes(
            connection,
            schedule.tenant_id,
            SEARCHES.name,
            [schedule.search_id],
            ChangeEvent.DIGEST,
            details={"since": since.isoformat(), "counts": counts},
        )
    return bool(counts)
