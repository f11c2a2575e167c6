"""All stages together, checked before anything starts: what would fail silently is refused."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import orjson
from asyncpg import UndefinedTableError
from sqlalchemy import Column, Index, inspect, text
from sqlalchemy.exc import DBAPIError, ProgrammingError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine
from sqlalchemy.orm import Mapper

from scrapersky.engine import sql
from scrapersky.engine.lane import is_transient, root_of
from scrapersky.engine.queue import Queue, column_of, literal, queue_of
from scrapersky.engine.stage import Attribute, Stage
from scrapersky.errors import EngineError, StageRefused

AnyStage = Stage[Any, Any]

WITHOUT_DETOURS = "SELECT " + ", ".join(
    f"set_config('enable_{method}', 'off', true)"
    for method in ("seqscan", "bitmapscan", "sort", "incremental_sort")
)

PARTIAL = """SELECT count(*) FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid
  WHERE relname = ANY(:names) AND indpred IS NOT NULL AND indisvalid"""

ALIKE_BY_KEY = """SELECT count(*) FROM pg_index i JOIN pg_index used
    ON used.indrelid = i.indrelid AND used.indpred IS NOT NULL
    AND pg_get_expr(used.indpred, used.indrelid) = pg_get_expr(i.indpred, i.indrelid)
  JOIN pg_class ON pg_class.oid = used.indexrelid
  WHERE relname = ANY(:names) AND i.indisvalid
    AND pg_get_indexdef(i.indexrelid, 1, true) = :key"""
"""Partial indexes of the same rows as those named, in the order of the key."""


@dataclass(frozen=True, slots=True)
class Ready:
    """A stage that passed the check: its queue, and whether its index ends in the key."""

    stage: AnyStage
    queue: Queue
    keyed: bool


class Registry:
    """Every stage of an application; `queues` are columns that some stage must consume."""

    def __init__(
        self, stages: Iterable[AnyStage], *, queues: Iterable[Attribute] = ()
    ) -> None:
        self._stages: dict[str, AnyStage] = {}
        for stage in stages:
            if stage.name in self._stages:
                raise StageRefused(stage.name, "two stages have this name")
            self._stages[stage.name] = stage
        refuse_shared_columns(self._stages.values())
        refuse_unconsumed(self._stages.values(), queues)

    def __iter__(self) -> Iterator[AnyStage]:
        return iter(self._stages.values())

    def __getitem__(self, name: str) -> AnyStage:
        return self._stages[name]

    def __contains__(self, name: object) -> bool:
        return name in self._stages

    async def check(
        self, engine: AsyncEngine, stages: Sequence[AnyStage] | None = None
    ) -> list[Ready]:
        """Check stages (all, unless told which) against the database; record them."""
        chosen = list(stages) if stages is not None else list(self)
        async with engine.connect() as connection:
            await refuse_missing_tables(connection)
            ready = [await check_stage(connection, stage) for stage in chosen]
            await connection.rollback()
        async with engine.begin() as connection:
            # In the order of names: two starting workers must not lock crosswise.
            for each in sorted(ready, key=lambda r: r.queue.stage):
                await connection.execute(
                    text(
                        "INSERT INTO curation.stage (name, queue)"
                        " VALUES (:name, CAST(:queue AS jsonb))"
                        " ON CONFLICT (name) DO UPDATE SET queue = excluded.queue,"
                        " seen_at = clock_timestamp()"
                    ),
                    {"name": each.queue.stage, "queue": each.queue.dumps()},
                )
        return ready


def queue_index(claims: Attribute, queued: object, **order: Attribute) -> Index:
    """Return the partial index a stage's claims need, to put on its table.

    `order` takes `order_by`, `priority` and `tenant` as the stage has them.
    """
    mapper: Mapper[Any] = inspect(claims.class_)
    status: Column[Any] = claims.property.columns[0]
    columns: list[Any] = []
    if "tenant" in order:
        columns.append(order["tenant"].property.columns[0])
    if "priority" in order:
        columns.append(order["priority"].property.columns[0].desc().nulls_last())
    by = order.get("order_by")
    rank = by.property.columns[0] if by is not None else mapper.columns["updated_at"]
    if rank is not mapper.primary_key[0]:
        columns.append(rank)
    columns.append(mapper.primary_key[0])
    name = f"{status.table.name}_{status.name}_queue"
    return Index(name[:63], *columns, postgresql_where=status == queued)


def refuse_shared_columns(stages: Iterable[AnyStage]) -> None:
    """Raise if two stages own one column."""
    owners: dict[str, str] = {}
    for stage in stages:
        column = str(column_of(stage, stage.claims))
        if column in owners:
            raise StageRefused(
                stage.name,
                f"stage '{owners[column]}' owns {column} already",
                hint="Give each stage a status column of its own.",
            )
        owners[column] = stage.name


def refuse_unconsumed(stages: Iterable[AnyStage], queues: Iterable[Attribute]) -> None:
    """Raise if a queue is filled that no stage empties."""
    known = {stage.name: str(column_of(stage, stage.claims)) for stage in stages}
    for stage in stages:
        for fed in stage.feeds:
            if fed not in known:
                raise StageRefused(
                    stage.name,
                    f"it feeds '{fed}', which no registered stage consumes",
                    hint=f"Register '{fed}' too, or mend the name in feeds=.",
                )
    for queue in queues:
        column = str(queue.property.columns[0])
        if column not in known.values():
            raise EngineError(
                f"Rows queued in {column} would wait for ever: no stage consumes it.",
                hint="Register the stage that claims this column.",
            )


async def refuse_missing_tables(connection: AsyncConnection) -> None:
    """Raise unless the engine's own tables exist."""
    found = await connection.scalar(text("SELECT to_regclass('curation.claim')"))
    if found is None:
        raise EngineError(
            "The engine's tables are missing (schema curation).",
            hint="Run the migrations, or call scrapersky.engine.install(engine) once.",
        )


async def check_stage(connection: AsyncConnection, stage: AnyStage) -> Ready:
    """Check one stage against the table it names."""
    queue = queue_of(stage, connection.dialect)
    await refuse_unknown_status(connection, stage, queue)
    refuse_nullable_tenant(stage)
    for keyed in (True, False):
        if await uses_partial_index(connection, queue, keyed=keyed):
            return Ready(stage, queue, keyed)
    raise StageRefused(
        stage.name,
        f"{queue.table} has no partial index for its claims, so every claim would "
        "read the whole table",
        hint=f"Create it: {index_statement(queue)}",
    )


async def refuse_unknown_status(
    connection: AsyncConnection, stage: AnyStage, queue: Queue
) -> None:
    """Raise if the database's column cannot hold one of the stage's statuses."""
    statuses = (queue.queued, queue.processing, queue.done, queue.failed)
    casts = ", ".join(f"{literal(s)}::{queue.status_type}" for s in statuses)
    try:
        async with connection.begin_nested():
            await connection.exec_driver_sql(
                f"SELECT {casts} FROM {queue.table} LIMIT 0"  # noqa: S608 - quoted
            )
    except ProgrammingError as error:
        cause = root_of(error)
        if isinstance(cause, UndefinedTableError):
            raise StageRefused(
                stage.name,
                f"table {queue.table} does not exist",
                hint="Run the migrations, or create the table.",
            ) from error
        raise StageRefused(stage.name, f"{cause}") from error
    except DBAPIError as error:
        if is_transient(error):
            raise  # it says nothing about the stage
        raise StageRefused(
            stage.name,
            f"the database refuses one of its statuses: {root_of(error)}",
            hint="Code and database must know the same statuses; run the migrations.",
        ) from error


def refuse_nullable_tenant(stage: AnyStage) -> None:
    """Raise if an item may belong to no tenant: it would have no share at all."""
    if stage.tenant is not None and column_of(stage, stage.tenant).nullable:
        raise StageRefused(
            stage.name,
            f"{stage.tenant} may be null",
            hint="A tenant column must be NOT NULL to share the work fairly.",
        )


async def uses_partial_index(
    connection: AsyncConnection, queue: Queue, *, keyed: bool
) -> bool:
    """Ask the planner whether a claim can walk a partial index in claim order."""
    by_key = queue.order == f"m.{queue.key}" and not queue.tenant
    rows = sql.next_rows(queue, 1, keyed=keyed)
    if by_key:
        # The index of the key gives this order too, and would hide the partial one.
        rows = rows.replace(f"ORDER BY {queue.order}, m.{queue.key}\n", "\n")
        rows = rows.replace(f"ORDER BY {queue.order}\n", "\n")
    if queue.tenant:
        where = f"m.{queue.tenant} = (SELECT NULL::{queue.tenant_type})\n    ORDER BY"
        rows = rows.replace("\n    ORDER BY", f"\n AND {where}")
    async with connection.begin_nested() as savepoint:
        # Only whether it can, not whether it would: a small table is read whole.
        await connection.exec_driver_sql(WITHOUT_DETOURS)
        plan = await connection.exec_driver_sql(f"EXPLAIN (FORMAT JSON) {rows}")
        found = plan.scalar_one()
        await savepoint.rollback()
    nodes = list(plan_nodes(found if isinstance(found, list) else orjson.loads(found)))
    kinds = {node["Node Type"] for node in nodes}
    if kinds & {"Sort", "Incremental Sort", "Seq Scan", "Bitmap Heap Scan"}:
        return False
    names = [node["Index Name"] for node in nodes if "Index Name" in node]
    query = text(ALIKE_BY_KEY if by_key else PARTIAL)
    values = {"names": names, "key": queue.key} if by_key else {"names": names}
    return bool(await connection.scalar(query, values))


def plan_nodes(plan: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Walk through every node of an EXPLAIN."""
    for top in plan:
        waiting = [top["Plan"]]
        while waiting:
            node = waiting.pop()
            yield node
            waiting.extend(node.get("Plans", ()))


def index_statement(queue: Queue) -> str:
    """Write the CREATE INDEX a queue needs."""
    columns = [
        *([queue.tenant] if queue.tenant else []),
        *([f"{queue.priority} DESC NULLS LAST"] if queue.priority else []),
        *([queue.order_by] if queue.order_by != queue.key else []),
        queue.key,
    ]
    return (
        f"CREATE INDEX CONCURRENTLY ON {queue.table} ({', '.join(columns)})"
        f" WHERE {queue.status} = {literal(queue.queued)};"
    )
