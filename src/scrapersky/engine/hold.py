"""Hold items back from a stage, and let them go on: what pausing a batch means."""

from collections.abc import Sequence

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection

from scrapersky.engine.queue import Queue, literal

NEVER = "9999-01-01T00:00:00Z"
"""When a held item is due; a real time, because not every client reads infinity."""


async def hold(connection: AsyncConnection, queue: Queue, items: Sequence[str]) -> int:
    """Keep queued and waiting items from being claimed; return how many.

    Items in work are finished. A held item waits like one between two tries.
    """
    statement = f"""WITH taken AS (
        UPDATE {queue.table} m SET {queue.status} = {literal(queue.processing)}
        WHERE m.{queue.key} = ANY(CAST(:items AS {queue.key_type}[]))
          AND m.{queue.status} = {literal(queue.queued)}
        RETURNING m.{queue.key}::text AS item
      )
      INSERT INTO curation.claim AS k (stage, item, due_at, tries)
      SELECT :stage, item, TIMESTAMPTZ '{NEVER}', 0 FROM taken
      ON CONFLICT (stage, item) DO UPDATE SET due_at = excluded.due_at
        WHERE k.fence IS NULL"""  # noqa: S608 - names are quoted by Queue
    values = {"items": list(items), "stage": queue.stage}
    held = await connection.execute(text(statement), values)
    waiting = await connection.execute(
        text(
            f"UPDATE curation.claim SET due_at = TIMESTAMPTZ '{NEVER}'"  # noqa: S608
            " WHERE stage = :stage AND item = ANY(CAST(:items AS text[]))"
            f" AND fence IS NULL AND due_at < TIMESTAMPTZ '{NEVER}'"
        ),
        {"items": list(items), "stage": queue.stage},
    )
    return int(held.rowcount) + int(waiting.rowcount)


async def release(
    connection: AsyncConnection, queue: Queue, items: Sequence[str]
) -> int:
    """Let held items be claimed at once; return how many."""
    result = await connection.execute(
        text(
            "UPDATE curation.claim SET due_at = clock_timestamp()"  # noqa: S608
            " WHERE stage = :stage AND item = ANY(CAST(:items AS text[]))"
            f" AND fence IS NULL AND due_at = TIMESTAMPTZ '{NEVER}'"
        ),
        {"items": list(items), "stage": queue.stage},
    )
    return int(result.rowcount)


async def withdraw(
    connection: AsyncConnection, queue: Queue, items: Sequence[str], why: str
) -> int:
    """Take items that nobody works on out of the stage as failed; return how many."""
    error = f", {queue.error} = :why" if queue.error else ""
    statement = f"""WITH waiting AS (
        DELETE FROM curation.claim k WHERE k.stage = :stage
          AND k.item = ANY(CAST(:items AS text[])) AND k.fence IS NULL
        RETURNING k.item
      )
      UPDATE {queue.table} m SET {queue.status} = {literal(queue.failed)}{error}
      WHERE m.{queue.key} = ANY(CAST(:items AS {queue.key_type}[]))
        AND (m.{queue.status} = {literal(queue.queued)} OR (
          m.{queue.status} = {literal(queue.processing)}
          AND m.{queue.key}::text IN (SELECT item FROM waiting)))"""  # noqa: S608 - quoted
    values = {"items": list(items), "stage": queue.stage, "why": why[:1024]}
    result = await connection.execute(text(statement), values)
    return int(result.rowcount)
