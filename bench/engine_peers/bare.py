"""The limit: claim and settle as a bare asyncpg script, with nothing around them.

Two shapes. `row` keeps the lease in the record itself; `side` keeps it in a table
beside, as the engine does. Both fence, both prefetch the next batch while the last
one settles, and both start one task per item, because every queue must.
"""

import asyncio
import time
from datetime import UTC, datetime

import asyncpg

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

SCHEMA = """
CREATE TABLE item (
    id bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
    name text NOT NULL,
    status text NOT NULL DEFAULT 'queued',
    error text,
    queued_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    fence bigint,
    lease_until timestamptz,
    tries int NOT NULL DEFAULT 0
);
CREATE INDEX item_queued ON item (queued_at, id) WHERE status = 'queued';
CREATE TABLE claim (
    item bigint PRIMARY KEY,
    fence bigint NOT NULL,
    lease_until timestamptz NOT NULL,
    tries int NOT NULL DEFAULT 1
);
CREATE SEQUENCE fence;
"""

CLAIM_ROW = """
WITH next AS MATERIALIZED (
    SELECT id, queued_at FROM item
    WHERE status = 'queued' AND (queued_at, id) > ($2::timestamptz, $3::bigint)
    ORDER BY queued_at, id LIMIT $1 FOR UPDATE SKIP LOCKED
)
UPDATE item SET status = 'processing', fence = nextval('fence'), tries = tries + 1,
    lease_until = clock_timestamp() + interval '60 seconds'
FROM next WHERE item.id = next.id
RETURNING item.id, item.fence, next.queued_at
"""

SETTLE_ROW = """
UPDATE item SET status = 'done'
FROM unnest($1::bigint[], $2::bigint[]) AS mine (id, fence)
WHERE item.id = mine.id AND item.fence = mine.fence AND item.status = 'processing'
"""

CLAIM_SIDE = """
WITH next AS MATERIALIZED (
    SELECT id, queued_at FROM item
    WHERE status = 'queued' AND (queued_at, id) > ($2::timestamptz, $3::bigint)
    ORDER BY queued_at, id LIMIT $1 FOR UPDATE SKIP LOCKED
), moved AS (
    UPDATE item SET status = 'processing' FROM next WHERE item.id = next.id
    RETURNING item.id, next.queued_at
), held AS (
    INSERT INTO claim (item, fence, lease_until)
    SELECT id, nextval('fence'), clock_timestamp() + interval '60 seconds' FROM moved
    RETURNING item, fence
)
SELECT held.item, held.fence, moved.queued_at FROM held JOIN moved ON moved.id = item
"""

SETTLE_SIDE = """
WITH mine AS (
    DELETE FROM claim USING unnest($1::bigint[], $2::bigint[]) AS held (item, fence)
    WHERE claim.item = held.item AND claim.fence = held.fence
    RETURNING claim.item
)
UPDATE item SET status = 'done'
FROM mine WHERE item.id = mine.item AND item.status = 'processing'
"""

SHAPES = {"row": (CLAIM_ROW, SETTLE_ROW), "side": (CLAIM_SIDE, SETTLE_SIDE)}


async def prepare(dsn: str, items: int) -> None:
    """Create the tables and queue `items` records."""
    connection = await asyncpg.connect(dsn)
    await connection.execute(SCHEMA)
    await connection.execute(
        "INSERT INTO item (name) SELECT 'item ' || n FROM generate_series(1, $1::int) n",
        items,
    )
    await connection.execute("VACUUM ANALYZE item")
    await connection.close()


async def drain(dsn: str, batch: int, *, shape: str = "row") -> float:
    """Work everything that is queued; return the seconds it took."""
    claim_sql, settle_sql = SHAPES[shape]
    claiming = await asyncpg.connect(dsn)
    settling = await asyncpg.connect(dsn)
    claim = await claiming.prepare(claim_sql)
    settle = await settling.prepare(settle_sql)
    started = time.perf_counter()
    mark = (EPOCH, 0)
    held = await claim.fetch(batch, *mark)
    while held:
        mark = max((row[2], row[0]) for row in held)
        ahead = asyncio.ensure_future(claim.fetch(batch, *mark))
        await asyncio.gather(*(no_op(row[0]) for row in held))
        await settle.fetch([row[0] for row in held], [row[1] for row in held])
        held = await ahead
    seconds = time.perf_counter() - started
    await claiming.close()
    await settling.close()
    return seconds


async def finished(dsn: str) -> int:
    """Count the records that are done."""
    connection = await asyncpg.connect(dsn)
    count: int = await connection.fetchval(
        "SELECT count(*) FROM item WHERE status = 'done'"
    )
    await connection.close()
    return count


async def no_op(item: int) -> int:
    """Do nothing, as fast as a coroutine can."""
    return item
