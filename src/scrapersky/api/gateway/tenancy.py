"""Whose rows a transaction sees: the tenant of the request, set in one place."""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from contextvars import ContextVar
from datetime import timedelta
from typing import Any, Final
from uuid import UUID

from sqlalchemy import Connection, event
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from scrapersky.db.connection import Target, connect
from scrapersky.errors import TenantUnknown

ROLE: Final = "scrapersky_api"
STATEMENT_PATIENCE: Final = timedelta(seconds=5)
POOL_PATIENCE: Final = timedelta(seconds=1)
"""How long a request waits for its connection before it is told to come back later.

It waits once for its transaction, and before that at most once to be recognised."""

TENANT: ContextVar[UUID | None] = ContextVar("tenant", default=None)
PATIENCE: ContextVar[timedelta] = ContextVar("patience", default=STATEMENT_PATIENCE)

BEGIN: Final = (
    f"SELECT set_config('role', '{ROLE}', true), "
    "set_config('scrapersky.tenant_id', $1, true), "
    "set_config('statement_timeout', $2, true), "
    "set_config('plan_cache_mode', 'force_custom_plan', true)"
)
"""A plan made for any value of a filter reads a million rows for a rare one."""
PATIENT: Final = "SELECT set_config('statement_timeout', $1, true)"


def connect_as_api(target: Target, *, pool_size: int) -> AsyncEngine:
    """Make the engine of the requests: every transaction is one tenant's."""
    engine = connect(
        target,
        name="scrapersky-api",
        pool_size=pool_size,
        pool_patience=POOL_PATIENCE,
        role=ROLE,
    )
    event.listen(engine.sync_engine, "begin", name_the_tenant)
    event.listen(engine.sync_engine, "set_connection_execution_options", stay_inside)
    return engine


@contextmanager
def acting_for(
    tenant_id: UUID, *, patience: timedelta = STATEMENT_PATIENCE
) -> Iterator[None]:
    """Do what follows for this tenant: for work that outlives its request."""
    tenant = TENANT.set(tenant_id)
    patient = PATIENCE.set(patience)
    try:
        yield
    finally:
        PATIENCE.reset(patient)
        TENANT.reset(tenant)


@asynccontextmanager
async def patient(
    patience: timedelta, connection: AsyncConnection | None = None
) -> AsyncIterator[None]:
    """Let the statements that follow take longer than a request's usually may.

    A transaction that the connection is in already is told so, too.
    """
    before = PATIENCE.set(patience)
    try:
        if connection is not None and connection.in_transaction():
            milliseconds = patience // timedelta(milliseconds=1)
            await connection.exec_driver_sql(PATIENT, (str(milliseconds),))
        yield
    finally:
        PATIENCE.reset(before)


def name_the_tenant(connection: Connection) -> None:
    """Begin a transaction: as the API's role, for one tenant, not for long."""
    tenant = TENANT.get()
    if tenant is None:
        # Without it every table is empty, and empty is not an answer.
        raise TenantUnknown("A transaction of the API began without a tenant.")
    milliseconds = PATIENCE.get() // timedelta(milliseconds=1)
    connection.exec_driver_sql(BEGIN, (str(tenant), str(milliseconds)))


def stay_inside(_connection: Connection, options: dict[str, Any]) -> None:
    """Refuse what would leave the transaction that knows the tenant."""
    if options.get("isolation_level") == "AUTOCOMMIT":
        raise TenantUnknown("The API works in transactions only.")
