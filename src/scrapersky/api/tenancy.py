"""Whose rows a transaction sees: the tenant of the request, set in one place."""

from collections.abc import AsyncIterator, Iterator
from contextlib import AbstractContextManager, asynccontextmanager, contextmanager
from contextvars import ContextVar, Token
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any, Final, Literal
from uuid import UUID

from sqlalchemy import Connection, event, text
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine
from typing_extensions import override

from scrapersky.compat.asyncpg import PrefacedConnection
from scrapersky.db.connection import Target, connect
from scrapersky.errors import TenantUnknown

ROLE: Final = "scrapersky_api"
MAX_ACTOR_CHARS: Final = 200
MILLISECOND: Final = timedelta(milliseconds=1)
STATEMENT_TIMEOUT: Final = timedelta(seconds=5)
BULK_TIMEOUT: Final = timedelta(seconds=25)
"""How long one statement about thousands of rows may take."""
POOL_TIMEOUT: Final = timedelta(seconds=1)
"""How long a request waits for its connection before it is asked to come back later.

It waits once for its transaction, and before that at most once to be recognised."""

TRUSTED: Final = text(
    "SELECT bool_and(proleakproof) FROM pg_catalog.pg_proc WHERE oid IN"
    " ('pg_catalog.enum_eq(anyenum, anyenum)'::regprocedure,"
    " 'pg_catalog.texticlike(text, text)'::regprocedure)"
)
SET_TIMEOUT: Final = "SELECT set_config('statement_timeout', $1, true)"


@dataclass(frozen=True, slots=True)
class TransactionScope:
    """What a transaction that begins now may see and do."""

    tenant_id: UUID | None = None
    statement_timeout: timedelta = STATEMENT_TIMEOUT
    plan_cache_mode: Literal["force_custom_plan", "auto"] = "force_custom_plan"
    """A plan made for any value of a filter reads a million rows for a rare one."""
    bypasses_rls: bool = False
    """Whether it may read everyone's rows, and write none."""
    is_read_only: bool = False
    """Whether nothing may be written: a request that only asks is rolled back."""
    keeps_statements: bool = True
    """Whether statements are kept for requests like this: with them, the values they had."""
    actor: str = ""
    """Who the change log says has changed what the transaction changes."""

    def preface(self) -> str:
        """Return the statements that the transaction begins with."""
        tenant = require_tenant()
        is_read_only = self.bypasses_rls or self.is_read_only
        actor = self.actor[:MAX_ACTOR_CHARS].replace("\x00", "").replace("'", "''")
        return (
            f"SET LOCAL role = '{'none' if self.bypasses_rls else ROLE}'; "
            f"SET LOCAL scrapersky.tenant_id = '{UUID(int=tenant.int)}'; "
            f"SET LOCAL statement_timeout = {self.statement_timeout // MILLISECOND}; "
            f"SET LOCAL plan_cache_mode = {self.plan_cache_mode}; "
            f"SET LOCAL transaction_read_only = {'on' if is_read_only else 'off'};"
            + (f" SET LOCAL scrapersky.actor = '{actor}';" if actor else "")
        )


SCOPE: ContextVar[TransactionScope] = ContextVar("scope", default=TransactionScope())  # noqa: B039 - frozen


class TenantConnection(PrefacedConnection):
    """A connection whose every transaction is one tenant's, as the API's role."""

    @override
    def preface(self) -> str:
        return SCOPE.get().preface()


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


def change_scope(**changes: Any) -> Token[TransactionScope]:  # noqa: ANN401 - its fields
    """Change what transactions that begin from now on may see and do."""
    return SCOPE.set(replace(SCOPE.get(), **changes))


@contextmanager
def transaction_scope(**changes: Any) -> Iterator[None]:  # noqa: ANN401 - its fields
    """Change what transactions that begin in the block may see and do."""
    before = change_scope(**changes)
    try:
        yield
    finally:
        SCOPE.reset(before)


def acting_for(
    tenant_id: UUID, *, statement_timeout: timedelta = STATEMENT_TIMEOUT
) -> AbstractContextManager[None]:
    """Do what follows for this tenant: for work that outlives its request."""
    return transaction_scope(tenant_id=tenant_id, statement_timeout=statement_timeout)


@asynccontextmanager
async def statement_timeout(
    timeout: timedelta, connection: AsyncConnection | None = None
) -> AsyncIterator[None]:
    """Let the statements that follow take longer than a request's usually may.

    This also holds for a transaction that the connection is in already.
    """
    with transaction_scope(statement_timeout=timeout):
        if connection is not None and connection.in_transaction():
            await connection.exec_driver_sql(
                SET_TIMEOUT, (str(timeout // MILLISECOND),)
            )
        yield


def allow_generic_plans() -> AbstractContextManager[None]:
    """Let PostgreSQL plan once what is asked often: where no value makes a difference.

    For a transaction that begins in the block.
    """
    return transaction_scope(plan_cache_mode="auto")


def bypass_rls(*, needed: bool) -> AbstractContextManager[None]:
    """Read as the owner of the tables, where row-level security would be slow.

    For a transaction that begins in the block, and whose every query names its tenant.
    """
    return transaction_scope(bypasses_rls=needed)


async def is_slow_under_policies(engine: AsyncEngine) -> bool:
    """Tell whether PostgreSQL may not use indexes on statuses and words under policies.

    Only a superuser can let it, by calling the comparisons leakproof; see revision 0022.
    """
    async with engine.connect() as connection:
        return not await connection.scalar(TRUSTED)


def require_tenant() -> UUID:
    """Return the tenant of what is being done, or raise TenantUnknown."""
    tenant = SCOPE.get().tenant_id
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
    if not SCOPE.get().keeps_statements:
        connection.execution_options(compiled_cache=None)


def stay_inside(_connection: Connection, options: dict[str, Any]) -> None:
    """Refuse what would leave the transaction that knows the tenant."""
    if options.get("isolation_level") == "AUTOCOMMIT":
        raise TenantUnknown("The API works in transactions only.")
