"""Empty tables that a running application goes on reading."""

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from scrapersky.db.transaction import committed


async def empty_tables(engine: AsyncEngine, tables: str) -> None:
    """TRUNCATE, and again where the application's reading got between the locks.

    TRUNCATE locks table after table, and a join that runs meanwhile locks them in an
    order of its own; PostgreSQL then ends one of the two, which may be ours.
    """

    async def truncate(connection: AsyncConnection) -> None:
        await connection.execute(text(f"TRUNCATE {tables} CASCADE"))

    await committed(engine, truncate)
