"""Whether this database is one the product may work on."""

from uuid import UUID

from sqlalchemy import select, text
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from scrapersky.db.schema import check_schema
from scrapersky.errors import ConfigurationError, DatabaseUnsuitable
from scrapersky.records import METADATA
from scrapersky.records.tenant import User


async def check_database(engine: AsyncEngine, system_user_id: UUID) -> None:
    """Raise unless schema and code agree and the system user exists."""
    await check_schema(engine, *METADATA)
    await check_system_user(engine, system_user_id)


async def check_system_user(engine: AsyncEngine, system_user_id: UUID) -> None:
    """Raise unless SCHEDULER_SYSTEM_USER_ID names a user who is not disabled."""
    query = select(User.disabled_at).where(User.id == system_user_id)
    async with engine.connect() as connection:
        found = (await connection.execute(query)).one_or_none()
        if found is None:
            await refuse_half_sight(connection)
    if found is None or found.disabled_at is not None:
        state = "is disabled" if found else "does not exist"
        raise ConfigurationError(
            f"The user SCHEDULER_SYSTEM_USER_ID={system_user_id} {state}.",
            hint="Leave the setting out to use the built-in system user, or name an "
            "enabled user of this database.",
        )


async def refuse_half_sight(connection: AsyncConnection) -> None:
    """Raise if this user does not see all rows: then nothing else it sees means anything."""
    query = text(
        "SELECT current_user AS name, pg_get_userbyid(relowner) AS owner"
        " FROM pg_class WHERE oid = 'users'::regclass AND row_security_active(oid)"
    )
    hidden = (await connection.execute(query)).one_or_none()
    if hidden is not None:
        raise DatabaseUnsuitable(
            f"Row-level security hides rows from the database user {hidden.name}: the tables "
            f"belong to {hidden.owner}.",
            hint=f"Connect as {hidden.owner}, or let an administrator run: ALTER ROLE "
            f'"{hidden.name}" BYPASSRLS;',
        )
