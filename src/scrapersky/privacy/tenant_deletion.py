"""Delete a tenant with everything it has, in short steps, beside running workers.

What is the tenant's is read from the tables themselves: every row that says so, what the queue
keeps about such rows, and what is noted elsewhere about the tenant. A table that neither says
whose its rows are nor stands in `SHARED` fails a test.
"""
# ruff: noqa: S608 - built from names of our own tables

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final
from uuid import UUID

from sqlalchemy import Table, text
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from curation_sdk import queries
from curation_sdk.registry import AnyStage
from scrapersky.db.chunks import change_in_chunks
from scrapersky.db.transaction import run_in_transaction
from scrapersky.records import METADATA, RecordChange
from scrapersky.records.audit import Actor, note

SHARED: Final[Mapping[str, str]] = {
    "hosts": "when each host may be asked again is owed to the host, by all tenants together",
    "host_outcomes": "how hosts answered, counted over all tenants",
    "host_robots": "what a host asks of crawlers, read once for all",
    "installation": "the secret of the installation",
    "suppression_keys": "the keys that the lists of all tenants are hashed with",
    "revoked_tokens": "hashes of tokens, until those expire",
    "processes": "the processes that run",
    "scheduler_runs": "what the scheduler did; errors of the tenant's items are removed",
    "stage_overrides": "how stages are set for all",
    "change_epochs": "how the change log numbers transactions",
    "alert_watch": "when the installation was last looked at",
    "alerts": "what was wrong; alerts about the tenant are removed",
    **dict.fromkeys(queries.SHARED_TABLES, "which stages there are, and their tables"),
}
"""Tables whose rows belong to no tenant, and what they are."""


@dataclass(frozen=True, slots=True)
class TenantDeletion:
    """How much was deleted."""

    tables: Mapping[str, int]

    @property
    def rows(self) -> int:
        """All of it."""
        return sum(self.tables.values())


def owned_tables() -> Iterator[Table]:
    """Yield the tables whose rows say whose they are, those that others point to last.

    The change log is the very last: what is deleted from the others is written to it.
    """
    tables = [table for part in METADATA for table in reversed(part.sorted_tables)]
    owned = [table for table in tables if "tenant_id" in table.c]
    yield from sorted(owned, key=lambda table: table is RecordChange.__table__)


async def count_rows(
    connection: AsyncConnection, tenant_id: UUID, stages: Sequence[AnyStage]
) -> dict[str, int]:
    """Count what would be deleted, by table."""
    counts = {
        table.fullname: f"SELECT count(*) FROM {table.fullname} WHERE tenant_id = :tenant"
        for table in owned_tables()
    }
    items = " UNION ALL ".join(
        f"SELECT CAST(id AS text) AS item FROM {name} WHERE tenant_id = :tenant"
        for name in queue_tables(stages)
    )
    counts |= {
        name: f"SELECT count(*) FROM {name} JOIN ({items}) AS mine USING (item)"
        for name in queries.ITEM_TABLES
    }
    values = {"tenant": tenant_id}
    found = {
        name: int(await connection.scalar(text(query), values) or 0)
        for name, query in counts.items()
    }
    return {name: count for name, count in sorted(found.items()) if count}


async def delete_tenant(
    engine: AsyncEngine,
    tenant_id: UUID,
    actor: Actor,
    stages: Sequence[AnyStage],
    report: Callable[[str, int], None],
) -> TenantDeletion:
    """Delete a tenant and all it has; one that was stopped goes on where it was.

    From the first step on nobody of it is let in. Its rows are taken off the queues before any
    is deleted, so that no worker makes new ones of them; what was stored meanwhile is found by
    another round. The last step finds nothing left, or is not taken.
    """
    values = {"tenant": tenant_id}
    total: Counter[str] = Counter()
    await run_in_transaction(engine, partial(shut_out, tenant_id))
    while True:
        for stage in stages:
            await change_in_chunks(engine, (withdrawal(stage),), values)
        await run_in_transaction(engine, partial(forget_errors, values, stages))
        for table in owned_tables():
            count = await change_in_chunks(engine, (deletion(table, stages),), values)
            total[table.fullname] += count
            if count:
                report(table.fullname, count)
        for stage in stages:
            for name in queries.ITEM_TABLES:
                await change_in_chunks(
                    engine, (orphans(name, stage),), {"stage": stage.name}
                )
        done = TenantDeletion(
            {name: count for name, count in sorted(total.items()) if count}
        )
        if await run_in_transaction(engine, partial(finish, tenant_id, actor, done)):
            return done


async def shut_out(tenant_id: UUID, connection: AsyncConnection) -> None:
    """Let nobody of the tenant in."""
    statement = text(
        "UPDATE tenants SET suspended_at = coalesce(suspended_at, clock_timestamp())"
        " WHERE id = :tenant"
    )
    await connection.execute(statement, {"tenant": tenant_id})


def withdrawal(stage: AnyStage) -> str:
    """Take rows off a queue, and out of the hands of whoever works on them."""
    table, status = stage.model.__tablename__, stage.claims.key
    waiting = ", ".join(map(queries.literal, (stage.queued, stage.processing)))
    return queries.forget_items(
        f"""UPDATE {table} SET {status} = {queries.literal(stage.failed)}
        WHERE id IN (SELECT id FROM {table} WHERE tenant_id = :tenant AND {status} IN ({waiting})
          LIMIT :chunk FOR UPDATE SKIP LOCKED) RETURNING CAST(id AS text) AS item""",
        (queries.CLAIMS,),
    )


def deletion(table: Table, stages: Sequence[AnyStage]) -> str:
    """Delete rows of a table, and what the queue keeps about them."""
    name = table.fullname
    rows = f"""DELETE FROM {name} WHERE ctid = ANY(ARRAY(SELECT ctid FROM {name}
      WHERE tenant_id = :tenant LIMIT :chunk FOR UPDATE SKIP LOCKED))"""
    if name not in queue_tables(stages):
        return rows
    return queries.forget_items(f"{rows} RETURNING CAST(id AS text) AS item")


def orphans(name: str, stage: AnyStage) -> str:
    """Delete what the queue keeps about rows that are gone: nobody knows whose they were."""
    return f"""DELETE FROM {name} WHERE ctid = ANY(ARRAY(SELECT kept.ctid FROM {name} AS kept
      WHERE stage = :stage AND NOT EXISTS (SELECT FROM {stage.model.__tablename__} AS m
        WHERE m.id = CAST(kept.item AS uuid)) LIMIT :chunk FOR UPDATE SKIP LOCKED))"""


async def forget_errors(
    values: Mapping[str, Any], stages: Sequence[AnyStage], connection: AsyncConnection
) -> None:
    """Remove errors of the tenant's items from where the scheduler keeps the last one."""
    for name in queue_tables(stages):
        whys = " UNION ".join(
            f"SELECT why FROM {kept} JOIN {name} AS m ON item = CAST(m.id AS text)"
            " WHERE m.tenant_id = :tenant"
            for kept in (queries.ATTEMPTS, queries.DEAD_LETTERS)
        )
        await connection.execute(
            text(
                "UPDATE scheduler_runs SET last_item_error = NULL"
                f" WHERE last_item_error IN ({whys})"
            ),
            values,
        )


async def finish(
    tenant_id: UUID, actor: Actor, done: TenantDeletion, connection: AsyncConnection
) -> bool:
    """Delete the tenant itself if nothing of it is left, and note that it was done.

    Whoever stores a row for the tenant waits for this transaction, and then cannot.
    """
    values = {"tenant": tenant_id}
    lock = text("SELECT id FROM tenants WHERE id = :tenant FOR UPDATE")
    await connection.execute(lock, values)
    left = " UNION ALL ".join(
        f"SELECT FROM {table.fullname} WHERE tenant_id = :tenant"
        for table in owned_tables()
    )
    if await connection.scalar(text(f"SELECT EXISTS ({left})"), values):
        return False
    about = {"tenant": str(tenant_id), "home": actor.tenant_id}
    for statement in ABOUT:
        await connection.execute(statement, about)
    await connection.execute(text("DELETE FROM tenants WHERE id = :tenant"), values)
    await note(
        connection,
        actor,
        "tenant.deleted",
        "tenants",
        {"rows": done.rows, "tables": dict(done.tables)},
    )
    return True


ABOUT: Final = (
    text("DELETE FROM alerts WHERE subject = concat('tenant ', CAST(:tenant AS text))"),
    text(
        "DELETE FROM audit_log WHERE tenant_id = :home"
        " AND subject = concat('tenants/', CAST(:tenant AS text))"
    ),
)
"""What is noted about a tenant where others can read it."""


def queue_tables(stages: Sequence[AnyStage]) -> list[str]:
    """Name the tables whose rows are items of a stage."""
    return [*dict.fromkeys(stage.model.__tablename__ for stage in stages)]
