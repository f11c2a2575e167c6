"""Put companies together from what sources said since the last time."""

import asyncio
import time
from collections import Counter, deque
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from typing import Final
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from scrapersky.companies.candidates import MatchingContext, read_matching_context
from scrapersky.companies.clustering import Clusters, Union
from scrapersky.companies.judging import judge_companies
from scrapersky.companies.merging import lock_companies, merge_companies
from scrapersky.companies.own_column import fill_own_columns
from scrapersky.companies.reading import (
    NO_ID,
    QUERIES,
    Cursor,
    RecordSlice,
    finish_reading,
    read_slice,
    start_of,
    store_slice,
)
from scrapersky.companies.setback import DueTenant, due_tenants, recover, set_back
from scrapersky.companies.summary import (
    MOST_RECORDS,
    FirstMember,
    start_companies,
    sum_up,
)
from scrapersky.db.transaction import run_in_transaction
from scrapersky.kit.json_text import json_text
from scrapersky.kit.stopping import IsStopping, never

MAX_CHUNK: Final = 1_000
"""Records matched in one transaction."""
FIRST_CHUNK: Final = 100
MAX_COMPARISONS: Final = 20_000
"""Pairs compared in one chunk, but for its last record: about half a second."""
SUMMED_AT_ONCE: Final = 1_000

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


@dataclass(slots=True)
class MatchingRun:
    """One run of the matcher: what bounds it, and what it has come to."""

    engine: AsyncEngine
    limit: int | None = None
    """Records that are matched at most."""
    ends_at: float = float("inf")
    """By `time.monotonic`."""
    is_stopping: IsStopping = never
    give_way: Callable[[float], Awaitable[None]] | None = None
    """Called after every step with the seconds that it took."""
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
    is_stopping: IsStopping = never,
    give_way: Callable[[float], Awaitable[None]] | None = None,
) -> MatchingRun:
    """Read, match and sum up what changed, of every tenant in turn.

    `limit` bounds the records that are matched, `within` the time. A turn is one short
    transaction, which is whole: whoever is interrupted goes on from there. After each,
    `give_way` gets how long it took, and may wait for others. A tenant at which it
    fails rests, and the others go on.
    """
    ends_at = time.monotonic() + within.total_seconds() if within else float("inf")
    run = MatchingRun(engine, limit, ends_at, is_stopping, give_way)
    turns = deque(
        (tenant, tenant_steps(run, tenant.id)) for tenant in await due_tenants(engine)
    )
    while turns and not run.is_over():
        tenant, steps = turns.popleft()
        began = time.monotonic()
        if await take_step(run, tenant, steps):
            turns.append((tenant, steps))
        if run.give_way is not None:
            await run.give_way(time.monotonic() - began)
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
        while last := await read_step(run.engine, tenant_id, kind, cursor):
            yield 0
            cursor = last
        ended = partial(finish_reading, tenant_id, kind, cursor.began)
        await run_in_transaction(run.engine, ended)
    size, after = FIRST_CHUNK, NO_ID
    while most := run.chunk_of(size):
        chunk = await match_chunk(run.engine, tenant_id, most, after, run.is_over)
        if chunk is None:
            break
        # From the last one on: those before it are matched, and long to step over.
        size, after = chunk.next_size, chunk.ids[-1]
        run.records += len(chunk.ids)
        yield len(chunk.ids)
    await run_in_transaction(run.engine, partial(complete, tenant_id))


async def read_step(
    engine: AsyncEngine, tenant_id: UUID, kind: str, after: Cursor
) -> Cursor | None:
    """Read some records, and sum up the companies they are of; None: there are none."""
    refused: RecordSlice | None = None
    while stretch := await read_slice(engine, tenant_id, kind, after):
        try:
            await run_in_transaction(engine, partial(keep_step, tenant_id, stretch))
        except IntegrityError:
            # What was deleted since is not among them when they are read again.
            if stretch == refused:
                raise
            refused = stretch
        else:
            return stretch.last
    return None


async def keep_step(
    tenant_id: UUID, stretch: RecordSlice, connection: AsyncConnection
) -> None:
    """Keep some records, and sum up the companies they are of already."""
    await lock_companies(connection, tenant_id)
    await sum_up(connection, await store_slice(connection, tenant_id, stretch))


async def complete(tenant_id: UUID, connection: AsyncConnection) -> None:
    """Forget records that are gone, and sum up what has lost something."""
    await lock_companies(connection, tenant_id)
    values = {"tenant": tenant_id, "most": SUMMED_AT_ONCE}
    gone = (await connection.scalars(GONE, values)).all()
    rows = (await connection.scalars(INCOMPLETE, values)).all()
    await sum_up(connection, {each for each in (*gone, *rows) if each is not None})


async def match_chunk(
    engine: AsyncEngine,
    tenant_id: UUID,
    most: int,
    after: UUID,
    is_over: Callable[[], bool],
) -> Chunk | None:
    """Find the companies of some records; None: all are matched."""
    while sight := await read_matching_context(engine, tenant_id, after, most):
        clusters = sight.clusters()
        # In a thread and in no transaction: the loop goes on, and nobody waits for us.
        placed = await asyncio.to_thread(
            place_some, clusters, sight.ids, sight.near, is_over
        )
        step = partial(store, tenant_id, sight, placed, clusters)
        if await run_in_transaction(engine, step):
            return Chunk(placed, clusters.comparisons)
        # Somebody was faster: less is sooner done.
        most = max(1, most // 2)
    return None


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


async def store(
    tenant_id: UUID,
    sight: MatchingContext,
    ids: list[UUID],
    clusters: Clusters,
    connection: AsyncConnection,
) -> bool:
    """Store what was decided, and write the rows of the companies anew.

    False: what it rests on has changed since, and nothing was stored.
    """
    await lock_companies(connection, tenant_id)
    if not await sight.is_current(connection):
        return False
    started = {*clusters.started}
    await start_companies(connection, begun_by(clusters))
    assigned = [
        {
            "id": each,
            "company_id": one.company_id,
            "score": one.score,
            "reasons": one.reasons,
        }
        for each, one in clusters.assigned.items()
    ]
    if assigned:
        await connection.execute(ASSIGN, {"rows": json_text(assigned)})
    await connection.execute(SETTLED, {"ids": ids})
    await unite(connection, tenant_id, clusters.unions)
    await ask(connection, tenant_id, clusters)
    touched = {clusters.company_of[each] for each in ids} - started
    touched |= {each for union in clusters.unions for each in (union.one, union.other)}
    await sum_up(connection, touched)
    await fill_own_columns(connection, ids)
    # What begins is summed up before its records get its key; the website is asked after that.
    await judge_companies(connection, started)
    return True


def begun_by(clusters: Clusters) -> list[FirstMember]:
    """List the records that new companies begin with, with how sure each is."""
    counted = Counter[UUID]()
    begun = []
    started = {*clusters.started}
    for member_id, one in clusters.assigned.items():
        if one.company_id in started and counted[one.company_id] < MOST_RECORDS:
            counted[one.company_id] += 1
            begun.append(FirstMember(one.company_id, member_id, one.score))
    return begun


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
