"""Whose rows a transaction sees: the tenant of the request, set in one place."""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from contextvars import ContextVar
from datetime import timedelta
from typing import Any, Final
from uuid import UUID

from sqlalchemy import Connection, event, text
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine
from typing_extensions import override

from scrapersky.compat.asyncpg import PrefacedConnection
from scrapersky.db.connection import Target, connect
from scrapersky.errors import TenantUnknown

ROLE: Final = "scrapersky_api"
MILLISECOND: Final = timedelta(milliseconds=1)
STATEMENT_TIMEOUT: Final = timedelta(seconds=5)
POOL_TIMEOUT: Final = timedelta(seconds=1)
"""How long a request waits for its connection before it is asked to come back later.

It waits once for its transaction, and before that at most once to be recognised."""

TENANT: ContextVar[UUID | None] = ContextVar("tenant", default=None)
TIMEOUT: ContextVar[timedelta | None] = ContextVar("statement_timeout", default=None)
"""How long a statement may take where that is not the usual time."""
PLANS: ContextVar[str] = ContextVar("plans", default="force_custom_plan")
"""A plan made for any value of a filter reads a million rows for a rare one."""

SEES_ALL: ContextVar[bool] = ContextVar("sees_all", default=False)
"""Whether the transaction may read everyone's rows, and write none."""
READS_ONLY: ContextVar[bool] = ContextVar("reads_only", default=False)
"""Whether nothing may be written: a request that only asks is rolled back."""
KEEPS_STATEMENTS: ContextVar[bool] = ContextVar("keeps_statements", default=True)
"""Whether statements are kept for requests like this: with them, the values they had."""
TRUSTED: Final = text(
    "SELECT bool_and(proleakproof) FROM pg_catalog.pg_proc WHERE oid IN"
    " ('pg_catalog.enum_eq(anyenum, anyenum)'::regprocedure,"
    " 'pg_catalog.texticlike(text, text)'::regprocedure)"
)
SET_TIMEOUT: Final = "SELECT set_config('statement_timeout', $1, true)"


class TenantConnection(PrefacedConnection):
    """A connection whose every transaction is one tenant's, as the API's role."""

    @override
    def preface(self) -> str:
        tenant = require_tenant()
        sees_all = SEES_ALL.get()
        reads_only = sees_all or READS_ONLY.get()
        timeout = TIMEOUT.get() or STATEMENT_TIMEOUT
        return (
            f"SET LOCAL role = '{'none' if sees_all else ROLE}'; "
            f"SET LOCAL scrapersky.tenant_id = '{UUID(int=tenant.int)}'; "
            f"SET LOCAL statement_timeout = {timeout // MILLISECOND}; "
            f"SET LOCAL plan_cache_mode = {PLANS.get()}; "
            f"SET LOCAL transaction_read_only = {'on' if reads_only else 'off'};"
        )


def connect_as_api(target: Target, *, pool_size: int) -> AsyncEngine:
    """Make the engine of the requests: every transaction is one tenant's."""
    engine = connect(
        target,
        name="scrapersky-api",
        pool_size=pool_size,
        pool_timeout=POOL_TIMEOUT,
        role=ROLE,
        connection_class=TenantConnection,
    )
    event.listen(engine.sync_engine, "begin", lambda _connection: require_tenant())
    event.listen(engine.sync_engine, "engine_connect", forget_large_statements)
    event.listen(engine.sync_engine, "set_connection_execution_options", stay_inside)
    return engine


@contextmanager
def acting_for(
    tenant_id: UUID, *, statement_timeout: timedelta | None = None
) -> Iterator[None]:
    """Do what follows for this tenant: for work that outlives its request."""
    tenant = TENANT.set(tenant_id)
    timeout = TIMEOUT.set(statement_timeout)
    try:
        yield
    finally:
        TIMEOUT.reset(timeout)
        TENANT.reset(tenant)


@asynccontextmanager
async def statement_timeout(
    timeout: timedelta, connection: AsyncConnection | None = None
) -> AsyncIterator[None]:
    """Let the statements that follow take longer than a request's usually may.

    This also holds for a transaction that the connection is in already.
    """
    before = TIMEOUT.set(timeout)
    try:
        if connection is not None and connection.in_transaction():
            await connection.exec_driver_sql(
                SET_TIMEOUT, (str(timeout // MILLISECOND),)
            )
        yield
    finally:
        TIMEOUT.reset(before)


@contextmanager
def plans_kept() -> Iterator[None]:
    """Let PostgreSQL plan once what is asked often: where no value makes a difference.

    For a transaction that begins in the block.
    """
    before = PLANS.set("auto")
    try:
        yield
    finally:
        PLANS.reset(before)


@contextmanager
def naming_its_tenant(*, needed: bool) -> Iterator[None]:
    """Read as the owner of the tables, where row-level security would be slow.

    For a transaction that begins in the block, and whose every query names its tenant.
    """
    before = SEES_ALL.set(needed)
    try:
        yield
    finally:
        SEES_ALL.reset(before)


async def is_slow_under_policies(engine: AsyncEngine) -> bool:
    """Tell whether PostgreSQL may not use indexes on statuses and words under policies.

    Only a superuser can let it, by calling the comparisons leakproof; see revision 0004.
    """
    async with engine.connect() as connection:
        return not await connection.scalar(TRUSTED)


def require_tenant() -> UUID:
    """Return the tenant of what is being done, or raise TenantUnknown."""
    tenant = TENANT.get()
    if tenant is None:
        # Without it every table is empty, and empty is not an answer.
        raise TenantUnknown("A transaction of the API began without a tenant.")
    return tenant


async def check_isolation(engine: AsyncEngine) -> None:
    """Raise unless the engine's transactions really are one tenant's."""
    nobody = UUID(int=0)
    query = text("SELECT current_user, current_setting('scrapersky.tenant_id')")
    with acting_for(nobody):
        async with engine.connect() as connection:
            found = tuple((await connection.execute(query)).one())
    if found != (ROLE, str(nobody)):
        raise TenantUnknown("A transaction of the API does not act for its tenant.")


def forget_large_statements(connection: Connection) -> None:
    """Keep no statement of a large request: 500 of them could be a gigabyte."""
    if not KEEPS_STATEMENTS.get():
        connection.execution_options(compiled_cache=None)


def stay_inside(_connection: Connection, options: dict[str, Any]) -> None:
    """Refuse what would leave the transaction that knows the tenant."""
    if options.get("isolation_level") == "AUTOCOMMIT":
        raise TenantUnknown("The API works in transactions only.")
