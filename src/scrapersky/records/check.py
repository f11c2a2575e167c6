"""Whether this database is one the product may work on."""

from uuid import UUID

from sqlalchemy import insert, literal, select
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from scrapersky.db.connection import explain_refusal
from scrapersky.db.roles import check_rights
from scrapersky.db.schema import check_schema
from scrapersky.errors import ConfigurationError
from scrapersky.records import METADATA
from scrapersky.records.audit import AuditEntry
from scrapersky.records.change import continue_numbering
from scrapersky.records.tenant import Tenant, User


async def check_database(engine: AsyncEngine, system_user_id: UUID) -> None:
    """Raise unless we may work here, schema and code agree, and the system user exists.

    Where it was restored on another server, the change log goes on after its last entry.
    """
    await check_rights(engine, *METADATA)
    await check_schema(engine, *METADATA)
    await check_system_user(engine, system_user_id)
    async with engine.begin() as connection:
        await continue_numbering(connection)


async def check_writing(engine: AsyncEngine) -> None:
    """Raise unless a row can be written: what every change ends with is tried and undone.

    A schema may agree and rights be granted where no row can be stored: on a replica, on a full
    disk, with a default that calls what the server does not have.
    """
    try:
        async with engine.connect() as connection:
            await try_write(connection)
    except DBAPIError as error:
        where = engine.url.set(drivername="postgresql").render_as_string()
        raise explain_refusal(error, where) from error


async def try_write(connection: AsyncConnection) -> None:
    """Write a row and take it back, within the caller's transaction."""
    tenant = select(Tenant.id, literal("check"), literal("check"), literal("write"))
    columns = ["tenant_id", "actor", "action", "subject"]
    attempt = await connection.begin_nested()
    await connection.execute(insert(AuditEntry).from_select(columns, tenant.limit(1)))
    await attempt.rollback()


async def check_system_user(engine: AsyncEngine, system_user_id: UUID) -> None:
    """Raise unless SCHEDULER_SYSTEM_USER_ID names a user who is not disabled."""
    query = select(User.disabled_at).where(User.id == system_user_id)
    async with engine.connect() as connection:
        found = (await connection.execute(query)).one_or_none()
    if found is None or found.disabled_at is not None:
        state = "is disabled" if found else "does not exist"
        raise ConfigurationError(
            f"The user SCHEDULER_SYSTEM_USER_ID={system_user_id} {state}.",
            hint="Leave the setting out to use the built-in system user, or name an "
            "enabled user of this database.",
        )
