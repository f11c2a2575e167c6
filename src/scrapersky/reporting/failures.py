"""What goes wrong, in words, grouped by its cause; for one tenant."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Any, Final
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.dialects.postgresql.asyncpg import dialect
from sqlalchemy.ext.asyncio import AsyncConnection

from curation_sdk import queries
from curation_sdk.queries import literal
from curation_sdk.registry import AnyStage
from scrapersky.db.transaction import Database, transaction
from scrapersky.records import kind_of
from scrapersky.reporting.stage_stats import TROUBLE
from scrapersky.stages import PIPELINE

LONGEST_CAUSE: Final = 300
MOST_AT_ONCE: Final = 5_000
DIALECT: Final = dialect()  # type: ignore[no-untyped-call]


@dataclass(frozen=True, slots=True)
class FailureSummary:
    """One cause of failures in one stage, lately."""

    stage: str
    cause: str
    count: int
    items: int
    final: int
    """How many of the failures were the last: the item is a dead letter."""
    example: str | None
    first_at: datetime
    last_at: datetime


@dataclass(frozen=True, slots=True)
class DeadLetterGroup:
    """Dead letters of one stage that died of the same."""

    stage: str
    kind: str
    cause: str
    count: int
    first_at: datetime
    last_at: datetime


@dataclass(frozen=True, slots=True)
class DeadLetterSummary:
    """One dead letter, with a name of its record that people know."""

    stage: str
    item: str
    kind: str
    why: str | None
    cause: str
    tries: int
    deaths: int
    died_at: datetime
    label: str | None


@dataclass(frozen=True, slots=True)
class DeadLetterFilter:
    """Which dead letters are meant: everything that is given must hold."""

    stage: str | None = None
    kind: str | None = None
    cause: str | None = None
    items: Sequence[tuple[str, str]] | None = None
    """These alone: stage and item of each."""


async def recent_failures(
    database: Database, tenant_id: UUID, *, since: datetime, limit: int
) -> list[FailureSummary]:
    """Return what failed since a moment, by cause, the latest first."""
    each = " UNION ALL ".join(
        f"""SELECT '{stage.name}' AS stage, a.item, a.why, a.outcome, a.settled_at
      FROM {queries.attempts(stage.name)} a JOIN {stage.model.__tablename__} m
        ON m.id = CAST(a.item AS uuid)
      WHERE m.tenant_id = :tenant
        AND a.settled_at >= :since AND a.outcome IN {TROUBLE}"""  # noqa: S608 - ours
        for stage in PIPELINE
    )
    query = text(
        f"""SELECT stage, {cause_of("why")} AS cause, count(*), count(DISTINCT item),
        count(*) FILTER (WHERE outcome NOT IN ('retried', 'rescued')),
        left((array_agg(why ORDER BY settled_at DESC))[1], 1000),
        min(settled_at), max(settled_at)
      FROM ({each}) failed GROUP BY 1, 2 ORDER BY 8 DESC LIMIT :limit"""  # noqa: S608
    )
    values = {"tenant": tenant_id, "since": since, "limit": limit}
    async with transaction(database) as connection:
        return [FailureSummary(*row) for row in await connection.execute(query, values)]


async def dead_groups(
    database: Database, tenant_id: UUID, chosen: DeadLetterFilter, *, limit: int
) -> list[DeadLetterGroup]:
    """Return the causes of death, the most frequent first."""
    query = text(
        f"""SELECT stage, kind, {cause_of("why")}, count(*), min(died_at), max(died_at)
      FROM ({dead_letters(chosen)}) dead {filter_clause(chosen)}
      GROUP BY 1, 2, 3 ORDER BY 4 DESC, 1, 2, 3 LIMIT :limit"""  # noqa: S608 - ours
    )
    values = {"tenant": tenant_id, "limit": limit, **values_of(chosen)}
    async with transaction(database) as connection:
        return [
            DeadLetterGroup(*row) for row in await connection.execute(query, values)
        ]


async def dead_page(
    database: Database,
    tenant_id: UUID,
    chosen: DeadLetterFilter,
    *,
    after: tuple[datetime, str, str] | None,
    limit: int,
) -> list[DeadLetterSummary]:
    """Return dead letters, the latest first, from after a place in the list."""
    # Each stage has an index by time: of each its latest are read, and no others.
    latest = " UNION ALL ".join(
        f"""(SELECT * FROM ({dead_of(stage)}) dead {filter_clause(chosen)}
        {beyond(stage.name, after)} ORDER BY died_at DESC, item DESC LIMIT :limit)"""  # noqa: S608
        for stage in stages_of(chosen)
    )
    # The cause is worked out for what is shown, not for all there is.
    query = text(
        f"""SELECT stage, item, kind, left(why, 1000), {cause_of("why")}, tries, deaths,
        died_at, left(label, 300)
      FROM ({latest or dead_of(None)}) latest
      ORDER BY died_at DESC, stage DESC, item DESC LIMIT :limit"""  # noqa: S608 - ours
    )
    place = {"at": after[0], "item_at": after[2]} if after else {}
    values = {"tenant": tenant_id, "limit": limit, **place, **values_of(chosen)}
    async with transaction(database) as connection:
        return [
            DeadLetterSummary(*row) for row in await connection.execute(query, values)
        ]


async def count_dead(
    database: Database, tenant_id: UUID, chosen: DeadLetterFilter, *, at_most: int
) -> int:
    """Count dead letters, but not beyond `at_most`."""
    query = text(
        f"""SELECT count(*) FROM (SELECT FROM ({dead_letters(chosen)}) dead
      {filter_clause(chosen)} LIMIT :most) counted"""  # noqa: S608 - ours
    )
    values = {"tenant": tenant_id, "most": at_most, **values_of(chosen)}
    async with transaction(database) as connection:
        return int(await connection.scalar(query, values) or 0)


async def some_dead(
    connection: AsyncConnection, tenant_id: UUID, chosen: DeadLetterFilter
) -> dict[str, list[str]]:
    """Return some of the dead letters meant, by stage; empty when there are no more."""
    query = text(
        f"""SELECT stage, item FROM ({dead_letters(chosen)}) dead {filter_clause(chosen)}
      ORDER BY stage, item LIMIT :limit"""  # noqa: S608 - ours
    )
    values = {"tenant": tenant_id, "limit": MOST_AT_ONCE, **values_of(chosen)}
    found: dict[str, list[str]] = {}
    for stage, item in await connection.execute(query, values):
        found.setdefault(stage, []).append(item)
    return found


def cause_of(column: str) -> str:
    """Write the SQL that takes out of a reason what differs from item to item."""
    shortened = f"left({column}, {LONGEST_CAUSE})"
    named = rf"regexp_replace({shortened}, '^\S+://\S+: ', '')"
    urls = rf"regexp_replace({named}, '\m\w+://\S+', '…', 'g')"
    numbers = rf"regexp_replace({urls}, '[0-9]+([.:][0-9]+)+|[0-9]{{4,}}', '…', 'g')"
    return f"coalesce(nullif({numbers}, ''), 'no reason given')"


def dead_letters(chosen: DeadLetterFilter) -> str:
    """Write the query for a tenant's dead letters whose record is still failed."""
    each = (dead_of(stage) for stage in stages_of(chosen))
    return " UNION ALL ".join(each) or dead_of(None)


def stages_of(chosen: DeadLetterFilter) -> list[AnyStage]:
    """Return the stages whose dead letters are meant."""
    return [stage for stage in PIPELINE if chosen.stage in {None, stage.name}]


def beyond(stage: str, after: tuple[datetime, str, str] | None) -> str:
    """Write the condition for what one stage has after a place in the list of all."""
    if after is None:
        return ""
    at = "CAST(:at AS timestamptz)"
    if stage == after[1]:
        return f"AND (died_at, item) < ({at}, :item_at)"
    return f"AND died_at {'<=' if stage < after[1] else '<'} {at}"


def dead_of(stage: AnyStage | None) -> str:
    """Write the query for the dead letters of one stage; None has none."""
    if stage is None:
        stage, never = PIPELINE[0], " AND false"
    else:
        never = ""
    table, column = stage.model.__tablename__, stage.claims.key
    # The offset keeps the planner from reading the whole table of records for a few.
    return f"""SELECT '{stage.name}' AS stage, d.item, d.kind, d.why, d.tries,
        d.crashes AS deaths, d.died_at, label
      FROM {queries.dead_letters(stage.name)} d CROSS JOIN LATERAL (
        SELECT {label_of(stage)} AS label FROM {table}
        WHERE {table}.id = CAST(d.item AS uuid) AND {table}.tenant_id = :tenant
          AND {table}.{column} = {literal(str(stage.failed))} OFFSET 0) m
      WHERE true{never}"""  # noqa: S608 - ours


@cache
def label_of(stage: AnyStage) -> str:
    """Write what people know the records of a stage by."""
    label = kind_of(stage.model).label_expression
    return str(label.compile(dialect=DIALECT, compile_kwargs={"literal_binds": True}))


def filter_clause(chosen: DeadLetterFilter) -> str:
    """Write the condition for what is meant."""
    conditions = ["true"]
    if chosen.kind is not None:
        conditions.append("kind = :kind")
    if chosen.cause is not None:
        conditions.append(f"{cause_of('why')} = :cause")
    if chosen.items is not None:
        conditions.append(
            "(stage, item) IN (SELECT * FROM unnest(CAST(:stages AS text[]),"
            " CAST(:items AS text[])))"
        )
    return f"WHERE {' AND '.join(conditions)}"


def values_of(chosen: DeadLetterFilter) -> dict[str, Any]:
    """Return the values for what `filter_clause` names."""
    values: dict[str, Any] = {}
    if chosen.kind is not None:
        values["kind"] = chosen.kind
    if chosen.cause is not None:
        values["cause"] = chosen.cause
    if chosen.items is not None:
        values["stages"] = [stage for stage, _ in chosen.items]
        values["items"] = [item for _, item in chosen.items]
    return values
