"""What the stream says of entries of the change log: records as they are now."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection

from scrapersky.changes.cursor import ChangeCursor
from scrapersky.changes.reader import GONE, ChangeEntry, head_cursor, read_changes
from scrapersky.records import CURATED, PlaceSearch

MAX_CHANGES: Final = 2_000
"""Changes of one kind reported one by one; more of them are reported as "many"."""
PAGE_ENTRIES: Final = 5_000
MAX_PAGES: Final = 8
"""Clients further behind fetch everything again."""
MAX_ACTIONS: Final = 50


@dataclass(frozen=True, slots=True)
class Change:
    """A record as it is now."""

    id: UUID
    status: str
    stage_status: str | None
    updated_at: datetime


@dataclass(slots=True)
class ChangeSummary:
    """What the log says since a cursor."""

    cursor: ChangeCursor
    ids: dict[str, dict[UUID, None]] = field(default_factory=dict)
    """Which records have changed, by kind."""
    many: set[str] = field(default_factory=set)
    """Kinds of which more has changed than is reported one by one, or some are gone."""
    is_cut: bool = False
    """Whether so much has happened that not all was read."""

    def add(self, entries: Iterable[ChangeEntry]) -> None:
        """Take in some entries."""
        for entry in entries:
            if entry.kind in self.many:
                continue
            ids = self.ids.setdefault(entry.kind, {})
            ids[entry.record_id] = None
            if entry.event in GONE or entry.kind == "notices" or len(ids) > MAX_CHANGES:
                self.many.add(entry.kind)
                del self.ids[entry.kind]


async def changes_since(
    connection: AsyncConnection, tenant_id: UUID, cursor: ChangeCursor
) -> ChangeSummary:
    """Read the log to its end, unless that is too far."""
    news = ChangeSummary(cursor)
    for _ in range(MAX_PAGES):
        page = await read_changes(connection, tenant_id, news.cursor, PAGE_ENTRIES)
        news.add(page.entries)
        news.cursor = page.cursor
        if not page.more:
            return news
    news.cursor, news.is_cut = await head_cursor(connection, tenant_id), True
    return news


async def changes_of(
    connection: AsyncConnection, tenant_id: UUID, news: ChangeSummary
) -> dict[str, list[Change]]:
    """Return the changed records as they are now, by kind."""
    found: dict[str, list[Change]] = {}
    for kind in news.ids.keys() & CHANGES.keys():
        values = {"tenant": tenant_id, "ids": list(news.ids[kind])}
        rows = await connection.execute(CHANGES[kind], values)
        found[kind] = [Change(*row) for row in rows]
    return found


async def actions_of(
    connection: AsyncConnection, tenant_id: UUID, news: ChangeSummary
) -> Sequence[Mapping[str, Any]]:
    """Return decisions about many records that have got further."""
    ids = list(news.ids.get("actions", ()))[-MAX_ACTIONS:]
    if not ids:
        return []
    rows = await connection.execute(ACTIONS, {"tenant": tenant_id, "ids": ids})
    return [row._asdict() for row in rows]


def sources() -> Iterable[tuple[str, str, str, str]]:
    """Name every table that is watched: kind, table, status and stage status."""
    yield "searches", PlaceSearch.__tablename__, "status", "status"
    for kind in CURATED.values():
        decision = kind.deciding
        stage = decision.queue.column if decision.queue else decision.column
        yield kind.name, kind.table, decision.column.key, stage.key


CHANGES: Final = {
    kind: text(
        f"SELECT m.id, m.{status}::text, m.{stage_status}::text, m.updated_at"  # noqa: S608
        f" FROM {table} m WHERE m.tenant_id = :tenant AND m.id = ANY(:ids)"
    )
    for kind, table, status, stage_status in sources()
}
ACTIONS: Final = text(
    "SELECT a.id, a.kind, a.what, a.status, a.rule_id, a.changed_count AS changed,"
    " a.queued_count AS queued, a.skipped, a.undone_at, a.created_at, a.updated_at"
    " FROM curation_actions a WHERE a.tenant_id = :tenant AND a.id = ANY(:ids)"
    " ORDER BY a.updated_at DESC"
)
REPORTED: Final = frozenset({*CHANGES, "notices"})
"""Kinds whose changes are sent to clients."""
