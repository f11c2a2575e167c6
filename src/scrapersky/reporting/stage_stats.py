"""How the stages stand for one tenant: depth, work in hand, results, speed.

Three questions of different cost, so that whoever asks often can ask the cheap one
often and the expensive one seldom. Of many rows it is not counted how many they are, but
taken from what the planner expects. Each names its tenant, so that they may be asked
without row-level security, under which the SDK's tables are expensive to count.
"""

from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from sqlalchemy import Select, func, literal_column, select, text
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from curation_sdk import queries
from curation_sdk.control import NEVER
from curation_sdk.queries import literal
from curation_sdk.registry import AnyStage
from scrapersky.db.explain import query_plan
from scrapersky.db.transaction import Database, transaction
from scrapersky.stages import PIPELINE

GOOD: Final = "('done', 'skipped')"
LOST: Final = "('gave_up', 'exhausted', 'quarantined')"
TROUBLE: Final = "('gave_up', 'exhausted', 'quarantined', 'retried', 'rescued')"

MOST_DUE: Final = 1_000
COUNTED_ROWS: Final = 10_000
"""Rows of one status that are counted; of more, the number is the planner's estimate."""


@dataclass(frozen=True, slots=True)
class QueueStatus:
    """What a stage has before it and in hand."""

    stage: str
    queued: int = 0
    oldest_seconds: float | None = None
    working: int = 0
    waiting_retry: int = 0
    held: int = 0
    """Held back with their paused batch."""
    longest_seconds: float | None = None
    """How long the item that has been worked on longest has been."""


@dataclass(frozen=True, slots=True)
class Results:
    """What has become of the records that are through."""

    stage: str
    done: int = 0
    failed: int = 0


@dataclass(frozen=True, slots=True)
class Minute:
    """What a stage settled in one minute."""

    stage: str
    at: datetime
    done: int
    failed: int
    errors: int
    """Every attempt that failed, also those that are tried again."""


async def count_waiting(engine: AsyncEngine, tenant_id: UUID) -> list[QueueStatus]:
    """Count what waits and what is in hand, in the order of the pipeline."""
    return await read_waiting(engine, tenant_id)


async def waiting_for_anyone(engine: AsyncEngine) -> list[QueueStatus]:
    """Count what waits and what is in hand over all tenants: for who runs the system."""
    return await read_waiting(engine, None)


async def read_waiting(
    engine: AsyncEngine, tenant_id: UUID | None
) -> list[QueueStatus]:
    """Count what waits and what is in hand, for one tenant or for all."""
    of_all = tenant_id is None
    query = text(
        " UNION ALL ".join(waiting_query(stage, of_all=of_all) for stage in PIPELINE)
    )
    values = {"most": COUNTED_ROWS + 1} | ({} if of_all else {"tenant": tenant_id})
    found = []
    async with engine.connect() as connection:
        rows = {row.stage: row for row in await connection.execute(query, values)}
        for stage in PIPELINE:
            each = QueueStatus(*rows[stage.name])
            if each.queued > COUNTED_ROWS:
                many = await estimate_rows(
                    connection, stage, str(stage.queued), tenant_id
                )
                each = replace(each, queued=many)
            found.append(each)
    return found


async def due(engine: AsyncEngine) -> dict[str, int]:
    """Count what could be worked now, over all tenants: stages without any are left out.

    Nobody needs the exact number of many: it is counted up to a limit.
    """
    query = text(" UNION ALL ".join(due_query(stage) for stage in PIPELINE))
    async with engine.connect() as connection:
        found = await connection.execute(query, {"most": MOST_DUE})
        return {stage: count for stage, count in found if count}


async def results(engine: AsyncEngine, tenant_id: UUID, stage: AnyStage) -> Results:
    """Count what one stage has done and failed; rare ones are looked for in all rows."""
    return await results_by(count_status, engine, tenant_id, stage)


async def expected_results(
    engine: AsyncEngine, tenant_id: UUID, stage: AnyStage
) -> Results:
    """Return about what one stage has done and failed, without reading any row."""
    return await results_by(estimate, engine, tenant_id, stage)


async def results_by(
    count: Callable[[AsyncConnection, AnyStage, str, UUID], Awaitable[int]],
    engine: AsyncEngine,
    tenant_id: UUID,
    stage: AnyStage,
) -> Results:
    """Find out, in one way or the other, what one stage has done and failed."""
    async with engine.connect() as connection:
        done, failed = [
            await count(connection, stage, str(status), tenant_id)
            for status in (stage.done, stage.failed)
        ]
    return Results(stage.name, done, failed)


async def count_status(
    connection: AsyncConnection, stage: AnyStage, status: str, tenant_id: UUID
) -> int:
    """Count the rows of a tenant that have a status, if they are not too many."""
    rows = rows_of(stage, status, tenant_id).limit(COUNTED_ROWS + 1).subquery()
    count = int(await connection.scalar(select(func.count()).select_from(rows)) or 0)
    if count <= COUNTED_ROWS:
        return count
    return await estimate_rows(connection, stage, status, tenant_id)


async def estimate_rows(
    connection: AsyncConnection, stage: AnyStage, status: str, tenant_id: UUID | None
) -> int:
    """Return how many rows the planner expects to have a status, which are many."""
    return max(await estimate(connection, stage, status, tenant_id), COUNTED_ROWS + 1)


async def estimate(
    connection: AsyncConnection, stage: AnyStage, status: str, tenant_id: UUID | None
) -> int:
    """Return how many rows the planner expects to have a status."""
    plan = await query_plan(connection, rows_of(stage, status, tenant_id).limit(1))
    # The planner never expects less than one row.
    return plan.rows if plan.rows > 1 else 0


def rows_of(stage: AnyStage, status: str, tenant_id: UUID | None) -> Select[Any]:
    """Select a 1 for each row that has a status, of one tenant or of all."""
    model: Any = stage.model
    query: Select[Any] = select(literal_column("1")).where(stage.claims == status)
    return query if tenant_id is None else query.where(model.tenant_id == tenant_id)


async def minutes(
    database: Database, tenant_id: UUID, *, since: datetime, until: datetime | None
) -> list[Minute]:
    """Count what was settled per minute, from a moment on, before another."""
    query = text(" UNION ALL ".join(minutes_query(stage) for stage in PIPELINE))
    values = {"tenant": tenant_id, "since": since, "until": until}
    async with transaction(database) as connection:
        rows = await connection.execute(query, values)
        return [Minute(*row) for row in rows]


def full_queues(
    waiting: Iterable[QueueStatus], marks: Mapping[str, int]
) -> dict[str, str]:
    """Say which stages wait for room in a queue that they feed, and in which.

    `waiting` is of all tenants. What the feeding stages have in hand takes room too.
    """
    now = {each.stage: each for each in waiting}
    found: dict[str, str] = {}
    for fed in PIPELINE:
        feeders = [stage.name for stage in PIPELINE if fed.name in stage.feeds]
        taken = now[fed.name].queued + sum(now[name].working for name in feeders)
        mark = marks[fed.name]
        if mark and taken >= mark:
            why = f"{fed.title} has no room: at most {mark:,} may wait for it"
            found |= {name: why for name in feeders if now[name].queued}
    return found


def waiting_query(stage: AnyStage, *, of_all: bool = False) -> str:
    """Write the query for what waits before one stage, for one tenant or for all."""
    table, column = stage.model.__tablename__, stage.claims.key
    queued = literal(str(stage.queued))
    mine = "true" if of_all else "m.tenant_id = :tenant"
    # By the item's key: claims are few beside the rows they are about.
    return f"""SELECT '{stage.name}' AS stage, q.queued, q.oldest, k.working, k.later,
        k.held, k.longest
      FROM (SELECT count(*) AS queued,
          extract(epoch FROM clock_timestamp() - min(updated_at))::float8 AS oldest
        FROM (SELECT m.updated_at FROM {table} m WHERE {mine} AND m.{column} = {queued}
          LIMIT :most) first) q,
      (SELECT count(*) FILTER (WHERE c.is_working) AS working,
          count(*) FILTER (WHERE NOT c.is_working AND c.due_at < '{NEVER}') AS later,
          count(*) FILTER (WHERE NOT c.is_working AND c.due_at >= '{NEVER}') AS held,
          extract(epoch FROM clock_timestamp()
            - min(c.claimed_at) FILTER (WHERE c.is_working))::float8 AS longest
        FROM {queries.claims(stage.name)} c JOIN {table} m ON m.id = CAST(c.item AS uuid)
        WHERE {mine}) k"""  # noqa: S608


def due_query(stage: AnyStage) -> str:
    """Write the query for how many items of a stage could be worked now."""
    table, column = stage.model.__tablename__, stage.claims.key
    return f"""SELECT '{stage.name}', (SELECT count(*) FROM (SELECT 1 FROM {table} m
        WHERE m.{column} = {literal(str(stage.queued))} LIMIT :most) q)
      + (SELECT count(*) FROM (SELECT 1 FROM {queries.claims(stage.name)} c
        WHERE c.due_at <= clock_timestamp() LIMIT :most) k)"""  # noqa: S608 - our names


def minutes_query(stage: AnyStage) -> str:
    """Write the query for what one stage settled per minute."""
    table = stage.model.__tablename__
    return f"""(SELECT '{stage.name}' AS stage, date_trunc('minute', a.settled_at) AS at,
        count(*) FILTER (WHERE a.outcome IN {GOOD}) AS done,
        count(*) FILTER (WHERE a.outcome IN {LOST}) AS failed,
        count(*) FILTER (WHERE a.outcome IN {TROUBLE}) AS errors
      FROM {queries.attempts(stage.name)} a JOIN {table} m ON m.id = CAST(a.item AS uuid)
      WHERE m.tenant_id = :tenant
        AND a.settled_at >= CAST(:since AS timestamptz)
        AND a.settled_at < coalesce(CAST(:until AS timestamptz), 'infinity')
      GROUP BY 1, 2)"""  # noqa: S608 - our names
