"""What has changed in a tenant's records since a moment, as the stream says it.

Every record's `updated_at` is set by the database when it is written, and becomes
visible when its transaction commits, which may be later. So a reader goes back behind
the oldest transaction that was still writing when it last looked, and leaves out what
it has reported already.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection

from scrapersky.records import CURATED, PlaceSearch

MOST: Final = 2_000
"""Changes of one kind reported one by one; more of them are reported as "many"."""
OVERLAP: Final = timedelta(seconds=3)
"""How far a reader goes back at least, for writers whom we may not see."""
LONGEST_OVERLAP: Final = timedelta(seconds=60)
"""How far at most; a transaction that writes for longer is reported by nobody."""


@dataclass(frozen=True, slots=True)
class Change:
    """A record as it is now."""

    id: UUID
    status: str
    stage_status: str | None
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class Horizon:
    """What the database's clock says, and since when nothing new can appear before it."""

    now: datetime
    settled: datetime


async def look_at_horizon(connection: AsyncConnection) -> Horizon:
    """Return the moment behind which every writer has committed, as far as we see."""
    query = text(
        "SELECT clock_timestamp() AS now, min(xact_start) AS writing"
        " FROM pg_stat_activity WHERE backend_xid IS NOT NULL"
        " AND datname = current_database()"
    )
    row = (await connection.execute(query)).one()
    oldest = min(row.now - OVERLAP, row.writing or row.now)
    return Horizon(row.now, max(oldest, row.now - LONGEST_OVERLAP))


async def changes_since(
    connection: AsyncConnection, tenant_id: UUID, since: datetime
) -> dict[str, list[Change]]:
    """Return what was written after a moment, by kind, the latest first.

    A kind with more than `MOST` changes is cut one beyond that.
    """
    values = {"tenant": tenant_id, "since": since, "most": MOST + 1}
    found: dict[str, list[Change]] = {}
    for kind, *change in await connection.execute(CHANGES, values):
        found.setdefault(kind, []).append(Change(*change))
    return found


async def actions_since(
    connection: AsyncConnection, tenant_id: UUID, since: datetime
) -> Sequence[Mapping[str, Any]]:
    """Return decisions about many records that have got further since a moment."""
    rows = await connection.execute(ACTIONS, {"tenant": tenant_id, "since": since})
    return [row._asdict() for row in rows]


async def batches_since(
    connection: AsyncConnection, tenant_id: UUID, since: datetime
) -> set[UUID]:
    """Return the batches that were made, paused or cancelled since a moment."""
    rows = await connection.scalars(BATCHES, {"tenant": tenant_id, "since": since})
    return set(rows)


async def noted_since(
    connection: AsyncConnection, tenant_id: UUID, since: datetime
) -> dict[UUID, str]:
    """Return what only the audit log records, with the kind it is about.

    No row is left of contacts that have gone, and whom we have informed is kept beside them.
    """
    rows = await connection.execute(NOTED, {"tenant": tenant_id, "since": since})
    return {row.id: row.kind for row in rows}


def sources() -> Iterable[tuple[str, str, str, str]]:
    """Name every table that is watched: kind, table, status and stage status."""
    yield "searches", PlaceSearch.__tablename__, "status", "status"
    for kind in CURATED.values():
        decision = kind.deciding
        stage = decision.queue.column if decision.queue else decision.column
        yield kind.name, kind.table, decision.column.key, stage.key


CHANGES: Final = text(
    " UNION ALL ".join(
        f"(SELECT '{kind}' AS kind, m.id, m.{status}::text, m.{stage_status}::text,"  # noqa: S608
        f" m.updated_at FROM {table} m WHERE m.tenant_id = :tenant"
        " AND m.updated_at > :since ORDER BY m.updated_at DESC LIMIT :most)"
        for kind, table, status, stage_status in sources()
    )
)
ACTIONS: Final = text(
    "SELECT a.id, a.kind, a.status, a.rule_id, a.changed_count AS changed,"
    " a.queued_count AS queued, a.skipped, a.undone_at, a.created_at, a.updated_at"
    " FROM curation_actions a WHERE a.tenant_id = :tenant AND a.updated_at > :since"
    # A decision takes minutes at the most; its index knows when it began.
    " AND a.created_at > CAST(:since AS timestamptz) - interval '1 hour'"
    " ORDER BY a.updated_at DESC LIMIT 50"
)
BATCHES: Final = text(
    "SELECT b.id FROM batch_jobs b WHERE b.tenant_id = :tenant"
    " AND b.updated_at > :since ORDER BY b.updated_at DESC LIMIT 20"
)
NOTED: Final = text(
    "SELECT a.id, CASE a.subject WHEN 'notices' THEN 'notices' ELSE 'contacts' END"
    " AS kind FROM audit_log a WHERE a.tenant_id = :tenant AND a.created_at > :since"
    " AND (a.subject = 'notices'"
    " OR a.action IN ('deleted', 'merged', 'suppressed', 'erased', 'purged'))"
    " ORDER BY a.created_at DESC LIMIT 100"
)
