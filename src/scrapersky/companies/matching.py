"""Put companies together from what sources said since the last time."""

import asyncio
import time
from collections import defaultdict, deque
from collections.abc import AsyncGenerator, Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from itertools import starmap
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
    Cursor,
    Stretch,
    finish_reading,
    read_stretch,
    start_of,
)
from scrapersky.companies.setback import DueTenant, due_tenants, recover, set_back
from scrapersky.companies.summary import sum_up
from scrapersky.db.transaction import committed
from scrapersky.kit.json_text import json_text
from scrapersky.records.status import PairVerdict

MAX_CHUNK: Final = 1_000
"""Records matched in one transaction."""
FIRST_CHUNK: Final = 100
MAX_COMPARISONS: Final = 20_000
"""Pairs compared in one transaction, but for its last record: about half a second."""
MAX_ALIKE: Final = 20
"""Records of one chunk with the same value that each of them is compared with."""
SUMMED_AT_ONCE: Final = 1_000

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
MOST_LIKE: Final = {
    "domain = one.domain": 30,
    "phone = one.phone": 20,
    "social = one.social": 20,
    "name_block = one.name_block": 20,
    "near_block = ANY(one.probes)": 50,
}
"""The ways to a candidate, and how many each one finds."""
MAX_ROWS_SEEN: Final = 200
"""Rows that are looked at for them: those of the same value that wait may be many."""


def matched_where(condition: str, most: int) -> str:
    """Write the part of a query that finds matched members by one of their values."""
    return f"""(SELECT f.id FROM (SELECT o.id, o.is_matched FROM company_members o
      WHERE o.tenant_id = :tenant AND o.{condition} LIMIT {MAX_ROWS_SEEN}) f
    WHERE f.is_matched LIMIT {most})"""  # noqa: S608 - our own columns


LIKE_ONE: Final = " UNION ALL ".join(starmap(matched_where, MOST_LIKE.items()))
# Every way to a candidate is bounded, so that a directory's phone number or a brand of
# thousands costs no more than a neighbour.
CANDIDATES: Final = text(
    f"""
WITH one AS MATERIALIZED (
  SELECT m.id, m.source, m.domain, m.phone, m.social, m.name_block, r.probes,
    r.moved_to, p.source_place_id
  FROM jsonb_to_recordset(CAST(:rows AS jsonb)) AS r(id uuid, probes text[], moved_to uuid)
  JOIN company_members m ON m.id = r.id
  LEFT JOIN places_staging p ON p.id = m.place_id
)
SELECT one.id AS one, array_agg(DISTINCT found.id) AS others FROM one CROSS JOIN LATERAL (
  {LIKE_ONE}
  UNION ALL
  (SELECT one.moved_to WHERE one.moved_to IS NOT NULL)
  UNION ALL
  (SELECT o.id FROM company_members o WHERE o.tenant_id = :tenant
    AND o.moved_to = one.source_place_id AND o.source = one.source LIMIT 20)
  UNION ALL
  (SELECT CASE WHEN v.left_id = one.id THEN v.right_id ELSE v.left_id END
    FROM company_pairs v
    WHERE v.verdict = 'same' AND one.id IN (v.left_id, v.right_id) LIMIT 20)
) found WHERE found.id <> one.id GROUP BY one.id
"""  # noqa: S608 - our own columns
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


def never() -> bool:
    """Say that nothing has to stop."""
    return False


@dataclass(slots=True)
class MatchingRun:
    """One run of the matcher: what bounds it, and what it has come to."""

    engine: AsyncEngine
    limit: int | None = None
    """Records that are matched at most."""
    ends_at: float = float("inf")
    """By `time.monotonic`."""
    is_stopping: Callable[[], bool] = never
    records: int = 0
    failures: dict[UUID, str] = field(default_factory=dict)
    """The tenants whose records could not be matched, and why."""

    def is_over(self) -> bool:
        """Say whether no other step may begin; asked in other threads too."""
        is_full = self.limit is not None and self.records >= self.limit
        return is_full or self.is_stopping() or time.monotonic() >= self.ends_at

    def chunk_of(self, size: int) -> int:
        """Return how many records may be matched next."""
        return size if self.limit is None else min(size, self.limit - self.records)


@dataclass(frozen=True, slots=True)
class Chunk:
    """Some records whose companies were found, and what that took."""

    ids: list[UUID]
    comparisons: int

    @property
    def next_size(self) -> int:
        """Return how many records the next chunk may have to take as long."""
        fitting = MAX_COMPARISONS * len(self.ids) // max(self.comparisons, 1)
        return max(1, min(fitting, 2 * len(self.ids), MAX_CHUNK))


async def match_companies(
    engine: AsyncEngine,
    limit: int | None = None,
    *,
    within: timedelta | None = None,
    is_stopping: Callable[[], bool] = never,
) -> MatchingRun:
    """Read, match and sum up what changed, of every tenant in turn.

    `limit` bounds the records that are matched, `within` the time. A turn is one short
    transaction, which is whole: whoever is interrupted goes on from there. A tenant at
    which it fails rests, and the others go on.
    """
    ends_at = time.monotonic() + within.total_seconds() if within else float("inf")
    run = MatchingRun(engine, limit, ends_at, is_stopping)
    turns = deque(
        (tenant, tenant_steps(run, tenant.id)) for tenant in await due_tenants(engine)
    )
    while turns and not run.is_over():
        tenant, steps = turns.popleft()
        if await take_step(run, tenant, steps):
            turns.append((tenant, steps))
    for _, steps in turns:
        await steps.aclose()
    return run


async def take_step(
    run: MatchingRun, tenant: DueTenant, steps: AsyncGenerator[int]
) -> bool:
    """Take the next step for a tenant; say whether there may be another one."""
    try:
        matched = await anext(steps, None)
    except Exception as error:  # noqa: BLE001 - logged, kept, and tried again later
        run.failures[tenant.id] = await set_back(run.engine, tenant.id, error)
        return False
    # Records that are read are no sign yet: it may be matching them that fails.
    if tenant.failures and matched != 0:
        await recover(run.engine, tenant.id)
    return matched is not None


async def match_tenant(
    engine: AsyncEngine, tenant_id: UUID, limit: int | None = None
) -> int:
    """Bring the companies of one tenant up to date; return how many records it took."""
    run = MatchingRun(engine, limit)
    async for _ in tenant_steps(run, tenant_id):
        pass
    return run.records


async def tenant_steps(run: MatchingRun, tenant_id: UUID) -> AsyncGenerator[int]:
    """Bring the companies of one tenant up to date in short transactions.

    Yields after each, and says how many records it matched.
    """
    for kind in QUERIES:
        cursor = await start_of(run.engine, tenant_id, kind)
        while found := await committed(
            run.engine, partial(read_step, tenant_id, kind, cursor)
        ):
            yield 0
            cursor = found.last
        ended = partial(finish_reading, tenant_id, kind, cursor.began)
        await committed(run.engine, ended)
    size, after = FIRST_CHUNK, NO_ID
    while most := run.chunk_of(size):
        step = partial(match_chunk, tenant_id, most, after, run.is_over)
        chunk = await committed(run.engine, step)
        if chunk is None:
            break
        # From the last one on: those before it are matched, and long to step over.
        size, after = chunk.next_size, chunk.ids[-1]
        run.records += len(chunk.ids)
        yield len(chunk.ids)
    await committed(run.engine, partial(complete, tenant_id))


async def read_step(
    tenant_id: UUID, kind: str, after: Cursor, connection: AsyncConnection
) -> Stretch | None:
    """Read some records, and sum up the companies they are of already."""
    await lock_companies(connection, tenant_id)
    found = await read_stretch(connection, tenant_id, kind, after)
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
    tenant_id: UUID,
    most: int,
    after: UUID,
    is_over: Callable[[], bool],
    connection: AsyncConnection,
) -> Chunk | None:
    """Find the companies of some records; None: all are matched."""
    await lock_companies(connection, tenant_id)
    values = {"tenant": tenant_id, "most": most, "after": after}
    ids = [*(await connection.scalars(UNMATCHED, values)).all()]
    if not ids:
        return None
    facts = await read_facts(connection, ids)
    near = await candidates(connection, tenant_id, [facts[each] for each in ids])
    await add_surroundings(connection, facts, near)
    clusters = Clusters(
        facts,
        verdicts=await verdicts_among(connection, facts),
        worked=await worked_among(connection, facts),
    )
    # In a thread, so that the loop goes on with everything else.
    placed = await asyncio.to_thread(place_some, clusters, ids, near, is_over)
    await store(connection, tenant_id, placed, clusters)
    return Chunk(placed, clusters.comparisons)


def place_some(
    clusters: Clusters,
    ids: list[UUID],
    near: Mapping[UUID, set[UUID]],
    is_over: Callable[[], bool],
) -> list[UUID]:
    """Find the companies of one record after the other; return whose there was time for.

    The first one is placed in any case, so that every chunk comes further.
    """
    for count, each in enumerate(ids):
        if count and (clusters.comparisons >= MAX_COMPARISONS or is_over()):
            return ids[:count]
        clusters.place(each, sorted(near.get(each, ())))
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
    near = await asyncio.to_thread(alike_among, members)
    asked = [
        {"id": one.id, "probes": one.probes, "moved_to": one.moved_to}
        for one in members
    ]
    values = {"tenant": tenant_id, "rows": json_text(asked)}
    for row in await connection.execute(CANDIDATES, values):
        near[row.one].update(row.others)
        # Whoever comes second finds the first, whatever the order.
        for other in near.keys() & row.others:
            near[other].add(row.one)
    return near


def alike_among(members: list[Facts]) -> defaultdict[UUID, set[UUID]]:
    """Find for every member those of the same chunk that share something with it.

    Of many the first ones: they are placed before the others, which then find them.
    """
    blocks: defaultdict[str, list[UUID]] = defaultdict(list)
    for one in members:
        for block in one.blocks:
            blocks[block].append(one.id)
    near: defaultdict[UUID, set[UUID]] = defaultdict(set)
    for one in members:
        alike = (blocks.get(block, ())[:MAX_ALIKE] for block in one.wanted_blocks)
        near[one.id].update(*alike)
        near[one.id].discard(one.id)
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
