"""Put companies together from what sources said since the last time."""

from collections import defaultdict
from collections.abc import Collection, Iterable
from datetime import datetime
from functools import partial
from typing import Final
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from scrapersky.companies.clustering import Clusters, Union, in_order
from scrapersky.companies.evidence import Facts
from scrapersky.companies.merging import lock_companies, merge_companies
from scrapersky.companies.reading import (
    NO_ID,
    QUERIES,
    Stretch,
    finish_reading,
    read_stretch,
    start_of,
)
from scrapersky.companies.summary import sum_up
from scrapersky.db.transaction import committed
from scrapersky.kit.json_text import json_text
from scrapersky.records.status import PairVerdict

CHUNK: Final = 1_000
"""Records matched in one transaction: well under a second."""
SUMMED_AT_ONCE: Final = 1_000

TENANTS: Final = text("SELECT id FROM tenants WHERE suspended_at IS NULL ORDER BY id")
UNMATCHED: Final = text(
    """SELECT id FROM company_members WHERE tenant_id = :tenant AND NOT is_matched
      AND id > :after ORDER BY id LIMIT :most"""
)
COLUMNS: Final = """m.id, m.name, m.domain, m.phone, m.social, m.street, m.locality, m.postal_code,
  m.latitude, m.longitude, m.company_id, m.domain_id IS NOT NULL AS is_domain,
  (SELECT n.id FROM places_staging q JOIN company_members n ON n.place_id = q.id
    WHERE m.moved_to IS NOT NULL AND q.tenant_id = m.tenant_id
      AND q.source = m.source AND q.source_place_id = m.moved_to) AS moved_to"""
BY_IDS: Final = text(
    f"SELECT {COLUMNS} FROM company_members m WHERE m.id = ANY(:ids)"  # noqa: S608
)
BY_COMPANIES: Final = text(
    f"""SELECT {COLUMNS} FROM unnest(CAST(:ids AS uuid[])) AS c(id)
    CROSS JOIN LATERAL (SELECT * FROM company_members f WHERE f.company_id = c.id
      LIMIT 50) m"""  # noqa: S608
)
# Every way to a candidate is bounded, so that a directory's phone number or a brand of
# thousands costs no more than a neighbour.
CANDIDATES: Final = text(
    """
WITH one AS MATERIALIZED (
  SELECT m.id, m.source, m.domain, m.phone, m.social, m.name_block, r.probes,
    r.moved_to, p.source_place_id
  FROM jsonb_to_recordset(CAST(:rows AS jsonb)) AS r(id uuid, probes text[], moved_to uuid)
  JOIN company_members m ON m.id = r.id
  LEFT JOIN places_staging p ON p.id = m.place_id
)
SELECT DISTINCT one.id AS one, found.id AS other FROM one CROSS JOIN LATERAL (
  (SELECT o.id FROM company_members o WHERE o.tenant_id = :tenant
    AND o.domain = one.domain AND (o.is_matched OR o.id = ANY(:ids)) LIMIT 30)
  UNION ALL
  (SELECT o.id FROM company_members o WHERE o.tenant_id = :tenant
    AND o.phone = one.phone AND (o.is_matched OR o.id = ANY(:ids)) LIMIT 20)
  UNION ALL
  (SELECT o.id FROM company_members o WHERE o.tenant_id = :tenant
    AND o.social = one.social AND (o.is_matched OR o.id = ANY(:ids)) LIMIT 20)
  UNION ALL
  (SELECT o.id FROM company_members o WHERE o.tenant_id = :tenant
    AND o.name_block = one.name_block AND (o.is_matched OR o.id = ANY(:ids)) LIMIT 20)
  UNION ALL
  (SELECT o.id FROM company_members o WHERE o.tenant_id = :tenant
    AND o.near_block = ANY(one.probes) AND (o.is_matched OR o.id = ANY(:ids)) LIMIT 50)
  UNION ALL
  (SELECT one.moved_to WHERE one.moved_to IS NOT NULL)
  UNION ALL
  (SELECT o.id FROM company_members o WHERE o.tenant_id = :tenant
    AND o.moved_to = one.source_place_id AND o.source = one.source LIMIT 20)
  UNION ALL
  (SELECT CASE WHEN v.left_id = one.id THEN v.right_id ELSE v.left_id END
    FROM company_pairs v
    WHERE v.verdict = 'same' AND one.id IN (v.left_id, v.right_id) LIMIT 20)
) found WHERE found.id <> one.id
"""
)
VERDICTS: Final = text(
    """SELECT left_id, right_id, verdict::text AS verdict FROM company_pairs
    WHERE verdict IS NOT NULL AND left_id = ANY(:ids) AND right_id = ANY(:ids)"""
)
WORKED: Final = text(
    """SELECT id FROM companies WHERE id = ANY(:ids)
      AND (worked_at IS NOT NULL OR lead_status <> 'New')"""
)
START: Final = text(
    """INSERT INTO companies (id, tenant_id)
    SELECT unnest(CAST(:ids AS uuid[])), CAST(:tenant AS uuid)"""
)
ASSIGN: Final = text(
    """UPDATE company_members m SET company_id = r.company_id, score = r.score,
      reasons = r.reasons, is_matched = true
    FROM jsonb_to_recordset(CAST(:rows AS jsonb))
      AS r(id uuid, company_id uuid, score float8, reasons text[])
    WHERE m.id = r.id"""
)
SETTLED: Final = text(
    "UPDATE company_members SET is_matched = true WHERE id = ANY(:ids) AND NOT is_matched"
)
ASK: Final = text(
    """INSERT INTO company_pairs AS k (tenant_id, left_id, right_id, score, reasons)
    SELECT CAST(:tenant AS uuid), left_id, right_id, score, reasons
    FROM jsonb_to_recordset(CAST(:rows AS jsonb))
      AS r(left_id uuid, right_id uuid, score float8, reasons text[])
    ON CONFLICT (left_id, right_id) DO UPDATE
      SET score = excluded.score, reasons = excluded.reasons WHERE k.verdict IS NULL"""
)
GONE: Final = text(
    """DELETE FROM company_members WHERE id IN (SELECT id FROM company_members
      WHERE tenant_id = :tenant
        AND num_nonnulls(place_id, business_id, domain_id) = 0 LIMIT :most)
    RETURNING company_id"""
)
INCOMPLETE: Final = text(
    """(SELECT id FROM companies WHERE tenant_id = :tenant
      AND email_kind IS NOT NULL AND email_contact_id IS NULL LIMIT :most)
    UNION (SELECT id FROM companies WHERE tenant_id = :tenant
      AND decision_maker_reason IS NOT NULL AND decision_maker_id IS NULL LIMIT :most)"""
)


async def match_companies(engine: AsyncEngine, limit: int | None = None) -> int:
    """Read, match and sum up what changed, of every tenant; return how many records.

    `limit` bounds the records that are matched. It works in short transactions, each
    of which is whole: interrupted, it goes on from there.
    """
    async with engine.connect() as connection:
        tenants = (await connection.scalars(TENANTS)).all()
    total = 0
    for tenant_id in tenants:
        total += await match_tenant(engine, tenant_id, limit)
    return total


async def match_tenant(
    engine: AsyncEngine, tenant_id: UUID, limit: int | None = None
) -> int:
    """Bring the companies of one tenant up to date; return how many records it took."""
    for kind in QUERIES:
        await read_kind(engine, tenant_id, kind)
    total, after = 0, NO_ID
    while limit is None or total < limit:
        most = CHUNK if limit is None else min(CHUNK, limit - total)
        ids = await committed(engine, partial(match_chunk, tenant_id, most, after))
        if not ids:
            break
        # From the last one on: those before it are matched, and long to step over.
        total, after = total + len(ids), ids[-1]
    await committed(engine, partial(complete, tenant_id))
    return total


async def read_kind(engine: AsyncEngine, tenant_id: UUID, kind: str) -> None:
    """Read what changed of one kind, and sum up the companies it is of already."""
    start, began = await start_of(engine, tenant_id, kind)
    after = (start, NO_ID)
    while True:
        step = partial(read_step, tenant_id, kind, after, began)
        found = await committed(engine, step)
        if found is None:
            break
        after = (found.at, found.id)
    await committed(
        engine, lambda connection: finish_reading(connection, tenant_id, kind, began)
    )


async def read_step(
    tenant_id: UUID,
    kind: str,
    after: tuple[datetime, UUID],
    began: datetime,
    connection: AsyncConnection,
) -> Stretch | None:
    """Read some records, in a transaction of its own."""
    await lock_companies(connection, tenant_id)
    found = await read_stretch(connection, tenant_id, kind, after, began)
    if found is not None:
        await sum_up(connection, found.companies)
    return found


async def complete(tenant_id: UUID, connection: AsyncConnection) -> None:
    """Forget records that are gone, and sum up what has lost something."""
    await lock_companies(connection, tenant_id)
    values = {"tenant": tenant_id, "most": SUMMED_AT_ONCE}
    gone = (await connection.scalars(GONE, values)).all()
    rows = (await connection.scalars(INCOMPLETE, values)).all()
    await sum_up(connection, {each for each in (*gone, *rows) if each is not None})


async def match_chunk(
    tenant_id: UUID, most: int, after: UUID, connection: AsyncConnection
) -> list[UUID]:
    """Find the companies of some records; return which there were."""
    await lock_companies(connection, tenant_id)
    values = {"tenant": tenant_id, "most": most, "after": after}
    ids = [*(await connection.scalars(UNMATCHED, values)).all()]
    if not ids:
        return []
    facts = await read_facts(connection, ids)
    near = await candidates(connection, tenant_id, [facts[each] for each in ids])
    await add_surroundings(connection, facts, near)
    clusters = Clusters(
        facts,
        verdicts=await verdicts_among(connection, facts),
        worked=await worked_among(connection, facts),
    )
    for each in ids:
        clusters.place(each, sorted(near[each]))
    await store(connection, tenant_id, ids, clusters)
    return ids


async def read_facts(
    connection: AsyncConnection, ids: Collection[UUID]
) -> dict[UUID, Facts]:
    """Read some members."""
    rows = await connection.execute(BY_IDS, {"ids": [*ids]})
    return {row["id"]: Facts(**row) for row in rows.mappings()}


async def candidates(
    connection: AsyncConnection, tenant_id: UUID, members: list[Facts]
) -> defaultdict[UUID, set[UUID]]:
    """Find for every member the few others that share something with it."""
    asked = [
        {"id": one.id, "probes": one.probes, "moved_to": one.moved_to}
        for one in members
    ]
    values = {
        "tenant": tenant_id,
        "ids": [one.id for one in members],
        "rows": json_text(asked),
    }
    near: defaultdict[UUID, set[UUID]] = defaultdict(set)
    known = {one.id for one in members}
    for row in await connection.execute(CANDIDATES, values):
        near[row.one].add(row.other)
        # Whoever comes second finds the first, whatever the order.
        if row.other in known:
            near[row.other].add(row.one)
    return near


async def add_surroundings(
    connection: AsyncConnection,
    facts: dict[UUID, Facts],
    near: defaultdict[UUID, set[UUID]],
) -> None:
    """Read the candidates, and everyone of the companies that may change."""
    wanted = {other for others in near.values() for other in others} - {*facts}
    facts |= await read_facts(connection, wanted)
    companies = {one.company_id for one in facts.values()} - {None}
    if companies:
        rows = await connection.execute(BY_COMPANIES, {"ids": [*companies]})
        facts |= {row["id"]: Facts(**row) for row in rows.mappings()}


async def verdicts_among(
    connection: AsyncConnection, ids: Iterable[UUID]
) -> dict[tuple[UUID, UUID], PairVerdict]:
    """Return what people said about pairs of these."""
    rows = await connection.execute(VERDICTS, {"ids": [*ids]})
    return {
        in_order(row.left_id, row.right_id): PairVerdict(row.verdict) for row in rows
    }


async def worked_among(
    connection: AsyncConnection, facts: dict[UUID, Facts]
) -> frozenset[UUID]:
    """Return which companies of these people have written about."""
    companies = {one.company_id for one in facts.values()} - {None}
    rows = await connection.scalars(WORKED, {"ids": [*companies]})
    return frozenset(rows.all())


async def store(
    connection: AsyncConnection, tenant_id: UUID, ids: list[UUID], clusters: Clusters
) -> None:
    """Store what was decided, and write the rows of the companies anew."""
    if clusters.started:
        values = {"ids": clusters.started, "tenant": tenant_id}
        await connection.execute(START, values)
    assigned = [
        {
            "id": each,
            "company_id": one.company_id,
            "score": one.score,
            "reasons": one.reasons,
        }
        for each, one in clusters.assigned.items()
    ]
    await connection.execute(ASSIGN, {"rows": json_text(assigned)})
    await connection.execute(SETTLED, {"ids": ids})
    await unite(connection, tenant_id, clusters.unions)
    await ask(connection, tenant_id, clusters)
    touched = {clusters.company_of[each] for each in ids}
    touched |= {each for union in clusters.unions for each in (union.one, union.other)}
    await sum_up(connection, touched)


async def unite(
    connection: AsyncConnection, tenant_id: UUID, unions: Iterable[Union]
) -> None:
    """Merge companies that records showed to be one; the first may be gone by then."""
    kept: dict[UUID, UUID] = {}
    for union in unions:
        one, other = union.one, union.other
        while one in kept:
            one = kept[one]
        merged = await merge_companies(
            connection,
            tenant_id,
            one,
            other,
            reasons=union.score.reasons,
            score=union.score.share,
        )
        if merged is not None:
            kept[merged.gone] = merged.into


async def ask(connection: AsyncConnection, tenant_id: UUID, clusters: Clusters) -> None:
    """Keep the questions to people, but for those that have answered themselves."""
    open_pairs = [
        {
            "left_id": left,
            "right_id": right,
            "score": score.share,
            "reasons": score.reasons,
        }
        for (left, right), score in clusters.questions.items()
        if clusters.company_of[left] != clusters.company_of[right]
    ]
    if open_pairs:
        values = {"tenant": tenant_id, "rows": json_text(open_pairs)}
        await connection.execute(ASK, values)
