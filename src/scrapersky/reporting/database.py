"""How the database itself stands: connections, age of transactions, dead rows, money spent."""

import time
from collections.abc import Mapping
from dataclasses import dataclass

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine

from curation_sdk import queries
from scrapersky.records import PlaceSearch
from scrapersky.stages import PIPELINE

SERVER = text("""SELECT
  (SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()) AS connections,
  current_setting('max_connections')::int AS connections_at_most,
  pg_database_size(current_database()) AS size_bytes,
  coalesce((SELECT extract(epoch FROM clock_timestamp() - min(xact_start))
    FROM pg_stat_activity WHERE datname = current_database()
      AND backend_xmin IS NOT NULL AND pid <> pg_backend_pid()), 0)::float8
    AS oldest_snapshot_seconds,
  extract(epoch FROM clock_timestamp())::float8 AS epoch""")
DEAD_ROWS = text("""SELECT relname, n_dead_tup FROM pg_stat_user_tables
  WHERE schemaname || '.' || relname = ANY(:tables)""")
DEAD_LETTERS = text(
    f"SELECT stage, count(*) FROM {queries.DEAD_LETTERS} GROUP BY 1"  # noqa: S608
)
MONEY = text(f"""SELECT source, sum(spent)::float8 AS spent,
  coalesce(sum(budget - spent) FILTER (WHERE finished_at IS NULL), 0)::float8 AS budget_left
  FROM {PlaceSearch.__tablename__} GROUP BY 1""")  # noqa: S608

QUEUES = sorted(
    {f"public.{stage.model.__tablename__}" for stage in PIPELINE}
    | set(queries.ITEM_TABLES)
)
"""The tables whose rows change with every item."""


@dataclass(frozen=True, slots=True)
class DatabaseFigures:
    """The database at one moment."""

    connections: int
    connections_at_most: int
    size_bytes: int
    oldest_snapshot_seconds: float
    clock_skew_seconds: float
    dead_rows: Mapping[str, int]
    dead_letters: Mapping[str, int]
    """By stage, also of those that have none."""
    spent: Mapping[str, float]
    """By source of places."""
    budget_left: Mapping[str, float]


async def database_figures(engine: AsyncEngine) -> DatabaseFigures:
    """Look at the database; what its role may not see counts as nothing."""
    async with engine.connect() as connection:
        asked = time.time()
        server = (await connection.execute(SERVER)).one()
        skew = (asked + time.time()) / 2 - server.epoch
        dead = await connection.execute(DEAD_ROWS, {"tables": QUEUES})
        counted = await connection.execute(DEAD_LETTERS)
        letters = {row[0]: row[1] for row in counted}
        money = (await connection.execute(MONEY)).all()
        return DatabaseFigures(
            connections=server.connections,
            connections_at_most=server.connections_at_most,
            size_bytes=server.size_bytes,
            oldest_snapshot_seconds=server.oldest_snapshot_seconds,
            clock_skew_seconds=skew,
            dead_rows={row[0]: row[1] for row in dead},
            dead_letters={s.name: letters.get(s.name, 0) for s in PIPELINE},
            spent={row.source: row.spent for row in money},
            budget_left={row.source: row.budget_left for row in money},
        )
