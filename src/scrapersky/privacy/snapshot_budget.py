"""Pages make way for newer ones where a tenant has no more room for them, or wants none."""

from functools import partial
from typing import Any, Final
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from scrapersky.db.transaction import run_in_transaction
from scrapersky.kit.stopping import IsStopping, never
from scrapersky.privacy.snapshot import remove_in_steps
from scrapersky.records.snapshot import VoidReason

PAGES_PER_STEP: Final = 500
ROOM_LEFT: Final = 0.9
"""Of what a tenant may keep: so much is left when pages have made way."""
OVERFULL: Final = text("""
SELECT t.id, coalesce(CAST(t.budget->>'snapshot_bytes' AS bigint), :most) AS most
FROM tenants t JOIN snapshot_usage u ON u.tenant_id = t.id
WHERE u.bytes > 0 AND u.bytes >= coalesce(CAST(t.budget->>'snapshot_bytes' AS bigint), :most)
ORDER BY t.id
""")
USED: Final = text("SELECT bytes FROM snapshot_usage WHERE tenant_id = :tenant")
VOID_OLDEST: Final = text("""
UPDATE page_snapshots SET voided_at = clock_timestamp(), void_reason = :reason
WHERE id IN (SELECT id FROM page_snapshots WHERE tenant_id = :tenant AND voided_at IS NULL
  ORDER BY seen_at LIMIT :most FOR UPDATE SKIP LOCKED)
RETURNING hash
""")


async def trim_snapshots(
    engine: AsyncEngine, most: int, is_stopping: IsStopping = never
) -> int:
    """Remove the oldest pages of every tenant that keeps more than it may; return how many."""
    async with engine.connect() as connection:
        tenants = (await connection.execute(OVERFULL, {"most": most})).all()
    removed = 0
    for tenant in tenants:
        while not is_stopping() and await is_above(engine, tenant):
            hashes = await run_in_transaction(engine, partial(void_oldest, tenant.id))
            if not hashes:
                break
            removed += await remove_in_steps(engine, tenant.id, hashes)
    return removed


async def is_above(engine: AsyncEngine, tenant: Any) -> bool:  # noqa: ANN401 - a row
    """Say whether a tenant keeps more than is left when pages make way."""
    async with engine.connect() as connection:
        used = await connection.scalar(USED, {"tenant": tenant.id})
    return bool(int(used or 0) > ROOM_LEFT * tenant.most)


async def void_oldest(tenant_id: UUID, connection: AsyncConnection) -> list[bytes]:
    """Void the pages that were seen longest ago; return their hashes."""
    values = {
        "tenant": tenant_id,
        "most": PAGES_PER_STEP,
        "reason": VoidReason.BUDGET.value,
    }
    return [bytes(one) for one in await connection.scalars(VOID_OLDEST, values)]
