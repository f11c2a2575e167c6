"""Which tenants are due, and which rest because their records could not be matched."""

from typing import Any, Final, NamedTuple
from uuid import UUID

import structlog
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine

log = structlog.get_logger(__name__)

KIND: Final = "matching"
"""The row of a tenant's progress that says how often matching it has failed."""
FIRST_REST: Final = "1 minute"
LONGEST_REST: Final = "6 hours"
MAX_ERROR_CHARACTERS: Final = 300

# Whoever was read longest ago comes first, so that no tenant is always the last one.
DUE: Final = text(
    f"""SELECT t.id, coalesce(max(p.failures), 0) AS failures
    FROM tenants t LEFT JOIN company_progress p ON p.tenant_id = t.id
    WHERE t.suspended_at IS NULL GROUP BY t.id
    HAVING coalesce(max(p.resume_at) <= clock_timestamp(), true)
    ORDER BY coalesce(min(p.read_until) FILTER (WHERE p.kind <> '{KIND}'), to_timestamp(0)),
      t.id"""  # noqa: S608 - a constant
)
SET_BACK: Final = text(
    f"""INSERT INTO company_progress AS p (tenant_id, kind, failures, error, resume_at)
    VALUES (:tenant, '{KIND}', 1, :error, clock_timestamp() + interval '{FIRST_REST}')
    ON CONFLICT (tenant_id, kind) DO UPDATE SET failures = p.failures + 1,
      error = excluded.error, resume_at = clock_timestamp() + least(
        interval '{FIRST_REST}' * power(2, least(p.failures, 20)), interval '{LONGEST_REST}')
    RETURNING failures, resume_at"""  # noqa: S608 - constants
)
RECOVERED: Final = text(
    f"DELETE FROM company_progress WHERE tenant_id = :tenant AND kind = '{KIND}'"  # noqa: S608
)
FAILING: Final = text(
    f"""SELECT tenant_id, failures, error, resume_at FROM company_progress
    WHERE kind = '{KIND}' ORDER BY tenant_id"""  # noqa: S608 - a constant
)


class DueTenant(NamedTuple):
    """A tenant whose companies may be brought up to date now."""

    id: UUID
    failures: int
    """How often in a row that has failed."""


class Setback(NamedTuple):
    """Why a tenant's records are not matched for now."""

    tenant_id: UUID
    failures: int
    error: str


async def due_tenants(engine: AsyncEngine) -> list[DueTenant]:
    """List the tenants to look at, those that have waited longest first."""
    async with engine.connect() as connection:
        return [DueTenant(*row) for row in await connection.execute(DUE)]


async def set_back(engine: AsyncEngine, tenant_id: UUID, error: Exception) -> str:
    """Let a tenant rest, twice as long each time; return why."""
    why = f"{type(error).__name__}: {error}"[:MAX_ERROR_CHARACTERS]
    async with engine.begin() as connection:
        values = {"tenant": tenant_id, "error": why}
        row = (await connection.execute(SET_BACK, values)).one()
    log.error(
        "companies.tenant_failed",
        tenant_id=str(tenant_id),
        failures=row.failures,
        resume_at=row.resume_at.isoformat(),
        exc_info=error,
    )
    return why


async def recover(engine: AsyncEngine, tenant_id: UUID) -> None:
    """Forget that matching a tenant's records has failed."""
    async with engine.begin() as connection:
        await connection.execute(RECOVERED, {"tenant": tenant_id})


async def failing_tenants(engine: AsyncEngine) -> list[Setback]:
    """List the tenants whose records could not be matched when that was last tried."""
    async with engine.connect() as connection:
        rows: Any = await connection.execute(FAILING)
        return [Setback(row.tenant_id, row.failures, row.error) for row in rows]
