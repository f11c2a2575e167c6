"""Keep what differs, log it for those who follow changes, and visit such sites sooner."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

import orjson
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection

from scrapersky.records.change import ChangeEvent, note_changes
from scrapersky.records.difference import DifferenceType
from scrapersky.records.domain import DOMAINS
from scrapersky.records.place import PLACES
from scrapersky.revisits.rhythm import SHORTEST_PAUSE

STEADY_DAYS: Final = 90
"""What was reported within so many days is not reported again and again."""
MOST_CHANGES: Final = 3
"""A value that changed so often in that time is one that changes on every visit."""
MOST_TURNS: Final = 2
"""How often in that time a record may be said to have gone or closed, or to be back."""
STATUS: Final = "business_status"

STORE: Final = text(
    f"""INSERT INTO differences (tenant_id, run_id, place_id, domain_id, contact_id,
      old_contact_id, person_id, what, field, old_value, new_value, old_source, new_source,
      old_seen_at, expires_at)
    SELECT g.tenant_id, g.run_id, g.place_id, g.domain_id, g.contact_id, g.old_contact_id,
      g.person_id, g.what, g.field, g.old_value, g.new_value, g.old_source, g.new_source,
      g.old_seen_at, g.expires_at
    FROM json_populate_recordset(NULL::differences, CAST(:rows AS json)) g
    CROSS JOIN LATERAL (
      SELECT count(*) FILTER (WHERE d.what = g.what
          AND (d.old_value, d.new_value) IS NOT DISTINCT FROM (g.old_value, g.new_value))
        AS same, count(*) FILTER (WHERE d.what = '{DifferenceType.CHANGED}') AS changes
      FROM differences d
      WHERE d.tenant_id = g.tenant_id
        AND (d.domain_id = g.domain_id OR d.place_id = g.place_id)
        AND d.field IS NOT DISTINCT FROM g.field
        AND d.person_id IS NOT DISTINCT FROM g.person_id
        AND d.created_at > statement_timestamp() - interval '{STEADY_DAYS} days') AS before
    WHERE same < CASE WHEN coalesce(g.field, '{STATUS}') = '{STATUS}' THEN {MOST_TURNS} ELSE 1 END
      AND NOT (g.what = '{DifferenceType.CHANGED}' AND changes >= {MOST_CHANGES})
    RETURNING tenant_id, place_id, domain_id, what, field"""  # noqa: S608 - our own words
)
# The pages of a website are read one by one: what one has lost and another has found, in one
# visit, is a change. One that comes again and again is not kept.
PAIR: Final = text(
    f"""WITH pairs AS (
      SELECT d.domain_id, d.field,
        (array_agg(d.id) FILTER (WHERE d.what = '{DifferenceType.GONE}'))[1] AS lost,
        (array_agg(d.id) FILTER (WHERE d.what = '{DifferenceType.NEW}'))[1] AS found
      FROM differences d JOIN site_visits v ON v.domain_id = d.domain_id
      WHERE d.domain_id = ANY(:domains) AND d.created_at >= v.visited_at
        AND d.field = ANY(:fields)
        AND d.what IN ('{DifferenceType.GONE}', '{DifferenceType.NEW}')
      GROUP BY 1, 2 HAVING count(*) FILTER (WHERE d.what = '{DifferenceType.GONE}') = 1
        AND count(*) = 2
    ), lost AS (
      DELETE FROM differences d USING pairs WHERE d.id = pairs.lost
      RETURNING d.*, pairs.found
    ), same AS (
      DELETE FROM differences d USING lost WHERE d.id = lost.found AND EXISTS (
        SELECT FROM differences o WHERE o.domain_id = d.domain_id AND o.field = d.field
          AND (o.old_value, o.new_value) = (lost.old_value, d.new_value)
          AND o.created_at > statement_timestamp() - interval '{STEADY_DAYS} days')
    )
    UPDATE differences d SET what = CASE d.field WHEN 'address'
        THEN '{DifferenceType.MOVED}' ELSE '{DifferenceType.CHANGED}' END,
      old_value = lost.old_value, old_source = lost.old_source,
      old_seen_at = lost.old_seen_at, old_contact_id = lost.old_contact_id
    FROM lost WHERE d.id = lost.found AND NOT EXISTS (
      SELECT FROM differences o WHERE o.domain_id = d.domain_id AND o.field = d.field
        AND (o.old_value, o.new_value) = (lost.old_value, d.new_value)
        AND o.created_at > statement_timestamp() - interval '{STEADY_DAYS} days')"""  # noqa: S608
)
PAIRED: Final = ("phone", "email", "address", "fax")
# A visit has set the pause as if nothing were to change: half of what it was before that.
VISIT_SOONER: Final = text(
    f"""UPDATE site_visits SET changed_at = clock_timestamp(),
      pause = greatest(interval '{SHORTEST_PAUSE.days} days', pause / 4),
      next_at = least(next_at, visited_at
        + greatest(interval '{SHORTEST_PAUSE.days} days', pause / 4))
    WHERE domain_id = ANY(:domains) AND visited_at IS NOT NULL
      AND (changed_at IS NULL OR changed_at < visited_at)"""  # noqa: S608 - our own number
)


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundDifference:
    """One thing that differs, to be kept."""

    tenant_id: UUID
    what: DifferenceType
    field: str | None = None
    run_id: UUID | None = None
    place_id: UUID | None = None
    domain_id: UUID | None = None
    contact_id: UUID | None = None
    old_contact_id: UUID | None = None
    person_id: UUID | None = None
    old_value: str | None = None
    new_value: str | None = None
    old_source: str | None = None
    new_source: str | None = None
    old_seen_at: datetime | None = None
    expires_at: datetime | None = None


async def store_differences(
    connection: AsyncConnection, found: Sequence[FoundDifference]
) -> int:
    """Keep what differs, but not what differs on every visit; return how much was new."""
    if not found:
        return 0
    rows = orjson.dumps([asdict(one) for one in found], default=str).decode()
    stored = (await connection.execute(STORE, {"rows": rows})).all()
    domains = {row.domain_id for row in stored if row.domain_id}
    if domains:
        paired = {"domains": sorted(domains), "fields": [*PAIRED]}
        await connection.execute(PAIR, paired)
    logged: dict[tuple[UUID, str, str, str | None], set[UUID]] = defaultdict(set)
    for row in stored:
        kind = DOMAINS.name if row.place_id is None else PLACES.name
        key = (row.tenant_id, kind, row.what, row.field)
        logged[key].add(row.place_id or row.domain_id)
    for (tenant_id, kind, what, field), records in logged.items():
        await note_changes(
            connection,
            tenant_id,
            kind,
            records,
            ChangeEvent.DIFFERED,
            fields=[field] if field else [],
            details={"what": what},
        )
    await visit_sooner(connection, domains)
    return len(stored)


async def visit_sooner(connection: AsyncConnection, domains: Iterable[UUID]) -> None:
    """Look sooner at websites on which something has changed."""
    if changed := sorted(domains):
        await connection.execute(VISIT_SOONER, {"domains": changed})
