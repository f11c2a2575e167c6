"""Work joins the caller's transaction, and is tried again when another's was preferred."""

from collections.abc import AsyncIterator

import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from scrapersky.db.connection import connect, parse_target
from scrapersky.db.transaction import commit_chunk, run_in_transaction, transaction
from tests.conftest import TestDatabase

LOST = "DO $$ BEGIN RAISE EXCEPTION 'lost' USING ERRCODE = '40P01'; END $$"
"""What PostgreSQL says to who loses a deadlock."""


@pytest.fixture
async def engine(database: TestDatabase) -> AsyncIterator[AsyncEngine]:
    engine = connect(parse_target(database.url))
    async with engine.begin() as connection:
        await connection.execute(text("CREATE TABLE lines (line text)"))
    yield engine
    await engine.dispose()


async def write(connection: AsyncConnection, line: str) -> None:
    await connection.execute(text("INSERT INTO lines VALUES (:line)"), {"line": line})


async def lines(engine: AsyncEngine) -> list[str]:
    async with engine.connect() as connection:
        return [*await connection.scalars(text("SELECT line FROM lines"))]


class LosesOnce:
    """Writes a line, and loses a deadlock the first time."""

    def __init__(self) -> None:
        self.tries = 0

    async def __call__(self, connection: AsyncConnection) -> int:
        self.tries += 1
        await write(connection, f"try {self.tries}")
        if self.tries == 1:
            await connection.execute(text(LOST))
        return self.tries


async def test_an_engine_is_given_a_transaction_and_a_connection_keeps_its_own(
    engine: AsyncEngine,
) -> None:
    async with transaction(engine) as own:
        await write(own, "own")
    async with engine.connect() as caller:
        async with transaction(caller) as joined:
            await write(joined, "joined")
        assert joined is caller
        await caller.rollback()

    assert await lines(engine) == ["own"]


async def test_what_lost_a_deadlock_is_done_again_and_the_rest_is_kept(
    engine: AsyncEngine,
) -> None:
    async with engine.begin() as caller:
        await write(caller, "before")
        assert await run_in_transaction(caller, LosesOnce()) == 2

    assert await lines(engine) == ["before", "try 2"]


async def test_where_nothing_came_before_no_savepoint_is_needed(
    engine: AsyncEngine,
) -> None:
    async with engine.connect() as caller:
        assert await run_in_transaction(caller, LosesOnce()) == 2
        await commit_chunk(caller)
        await write(caller, "not committed")

    assert await lines(engine) == ["try 2"]


async def test_another_error_is_not_tried_again(engine: AsyncEngine) -> None:
    tries = 0

    async def fail(connection: AsyncConnection) -> None:
        nonlocal tries
        tries += 1
        await connection.execute(text("SELECT 1 / 0"))

    with pytest.raises(DBAPIError, match="division"):
        await run_in_transaction(engine, fail)

    assert tries == 1
