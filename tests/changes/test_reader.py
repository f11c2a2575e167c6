"""The change log: written with each change, read once, in order, however transactions overlap."""

import asyncio
import random
from collections import Counter, defaultdict
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID, uuid4

import asyncpg
import pytest
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine

from scrapersky.changes.cursor import ChangeCursor, parse_cursor
from scrapersky.changes.reader import ChangeEntry, head_cursor, read_changes
from scrapersky.db.connection import connect, parse_target
from scrapersky.db.migrations.change_log import function_of, logged_columns
from scrapersky.errors import ChangesForgotten, InvalidCursor
from scrapersky.records import KINDS
from scrapersky.records.change import ChangeEvent, continue_numbering, note_changes
from tests.conftest import TestDatabase

INSERT = "INSERT INTO domains (tenant_id, domain) VALUES ($1, $2) RETURNING id"
RENAME = "UPDATE domains SET title = $2 WHERE id = $1"


@dataclass(slots=True)
class Log:
    """The log of one tenant, and sessions that change what it is about."""

    engine: AsyncEngine
    dsn: str
    tenant: UUID
    cursor: ChangeCursor = field(init=False)
    sessions: list["asyncpg.Connection[Any]"] = field(default_factory=list)

    async def session(self) -> "asyncpg.Connection[Any]":
        self.sessions.append(await asyncpg.connect(self.dsn))
        return self.sessions[-1]

    async def go_to_head(self) -> None:
        async with self.engine.connect() as connection:
            self.cursor = await head_cursor(connection, self.tenant)

    async def read(self, limit: int = 100) -> list[ChangeEntry]:
        found: list[ChangeEntry] = []
        more = True
        while more:
            async with self.engine.connect() as connection:
                page = await read_changes(connection, self.tenant, self.cursor, limit)
            # As a client sends it back.
            self.cursor, more = parse_cursor(str(page.cursor)), page.more
            found += page.entries
        return found


@pytest.fixture
async def log(database: TestDatabase) -> AsyncIterator[Log]:
    engine = connect(parse_target(database.url), pool_size=2)
    async with engine.begin() as connection:
        tenant = await connection.scalar(
            text("INSERT INTO tenants (name, slug) VALUES ('log', 'log') RETURNING id")
        )
    log = Log(engine, database.dsn, tenant)
    await log.go_to_head()
    yield log
    for session in log.sessions:
        await session.close()
    await engine.dispose()


def told(entries: list[ChangeEntry]) -> list[tuple[str, str, tuple[str, ...]]]:
    return [(one.kind, one.event.value, one.fields) for one in entries]


async def test_every_change_is_read_once_with_its_fields_and_who_made_it(
    log: Log,
) -> None:
    session = await log.session()
    one = await session.fetchval(INSERT, log.tenant, "a.test")
    await session.execute(RENAME, one, "A")
    await session.execute("UPDATE domains SET title = title WHERE id = $1", one)
    async with session.transaction():
        await session.execute("SET LOCAL scrapersky.actor = 'someone'")
        await session.execute(RENAME, one, "B")
        await session.execute("UPDATE domains SET priority = 2 WHERE id = $1", one)
    await session.execute("DELETE FROM domains WHERE id = $1", one)

    entries = await log.read()

    assert told(entries) == [
        ("domains", "created", ()),
        ("domains", "changed", ("title",)),
        ("domains", "changed", ("title", "priority")),
        ("domains", "removed", ()),
    ]
    assert {entry.record_id for entry in entries} == {one}
    assert entries[2].actor == "someone"
    assert await log.read() == []


async def test_what_commits_late_is_read_later_and_keeps_nobody_waiting(
    log: Log,
) -> None:
    slow, quick = await log.session(), await log.session()
    async with slow.transaction():
        late = await slow.fetchval(INSERT, log.tenant, "late.test")
        soon = await quick.fetchval(INSERT, log.tenant, "soon.test")
        assert [entry.record_id for entry in await log.read()] == [soon]

    assert [entry.record_id for entry in await log.read()] == [late]
    assert await log.read() == []


async def test_a_record_that_an_older_transaction_changed_last_was_told_backwards(
    log: Log,
) -> None:
    old, young = await log.session(), await log.session()
    async with old.transaction():
        await old.fetchval(INSERT, log.tenant, "first.test")
        one = await young.fetchval(INSERT, log.tenant, "a.test")
        await old.execute("DELETE FROM domains WHERE id = $1", one)

    events = [e.event.value for e in await log.read() if e.record_id == one]

    assert events == ["created", "removed"]


async def test_a_large_transaction_that_commits_late_is_read_in_parts(log: Log) -> None:
    slow, other, quick = [await log.session() for _ in range(3)]
    many = "SELECT $1, g || $2 FROM generate_series(1, 50) g"
    async with other.transaction():
        last = await other.fetchval(INSERT, log.tenant, "last.test")
        async with slow.transaction():
            await slow.execute(
                f"INSERT INTO domains (tenant_id, domain) {many}", log.tenant, ".test"
            )
            await quick.fetchval(INSERT, log.tenant, "soon.test")
            assert len(await log.read()) == 1
        found = await log.read(limit=7)
        assert len({entry.record_id for entry in found}) == len(found) == 50

    assert [entry.record_id for entry in await log.read(limit=7)] == [last]


@pytest.mark.slow
async def test_nothing_is_missed_or_told_twice_among_overlapping_transactions(
    log: Log,
) -> None:
    randomly = random.Random(3)
    session = await log.session()
    ids = [await session.fetchval(INSERT, log.tenant, f"{n}.test") for n in range(5)]
    await log.read()
    done: dict[UUID, list[str]] = defaultdict(list)

    async def change(worker: int) -> None:
        mine = await log.session()
        for turn in range(40):
            chosen = sorted(randomly.sample(ids, 2))
            async with mine.transaction():
                for one in chosen:
                    await mine.execute(RENAME, one, f"{worker} {turn}")
                    await asyncio.sleep(randomly.random() / 300)
                for one in chosen:
                    done[one].append(f"{worker} {turn}")
                await mine.execute(
                    "SELECT set_config('scrapersky.actor', $1, true)", f"{turn}"
                )

    writers = asyncio.gather(*map(change, range(6)))
    heard: list[ChangeEntry] = []
    while not writers.done():
        heard += await log.read(limit=randomly.choice((1, 3, 100)))
        await asyncio.sleep(0.002)
    heard += await log.read()

    counts = Counter(entry.record_id for entry in heard)
    assert counts == {one: len(turns) for one, turns in done.items()}
    for one in ids:
        positions = [entry.position for entry in heard if entry.record_id == one]
        assert positions == sorted(set(positions)), "in the order of its changes"


async def test_the_reason_why_a_record_went_is_told_instead_of_that_it_went(
    log: Log,
) -> None:
    session = await log.session()
    one = await session.fetchval(INSERT, log.tenant, "a.test")
    into = uuid4()
    await log.read()
    async with log.engine.begin() as connection:
        await note_changes(
            connection, log.tenant, "domains", [one], ChangeEvent.MERGED,
            details={"into": str(into)},
        )  # fmt: skip
        await connection.execute(
            text("DELETE FROM domains WHERE id = :id"), {"id": one}
        )

    (entry,) = await log.read()

    assert (entry.event, entry.details) == (ChangeEvent.MERGED, {"into": str(into)})


async def test_a_cursor_whose_entry_is_gone_is_told_to_start_over(log: Log) -> None:
    session = await log.session()
    await session.fetchval(INSERT, log.tenant, "a.test")
    empty = log.cursor
    await log.read()
    await session.execute(
        "UPDATE record_changes SET created_at = now() - interval '1 s'"
    )

    with pytest.raises(ChangesForgotten):
        await log.read()
    log.cursor = ChangeCursor(0, empty.moment - 2 * 86_400_000_000)
    with pytest.raises(ChangesForgotten):
        await log.read()
    for given in ("", "1", "1-0", "2-0-0---0", "1-0-0--", "1-0-0---!", "1" * 20_000):
        with pytest.raises(InvalidCursor):
            parse_cursor(given)


async def test_after_a_restore_on_another_server_numbers_go_on(log: Log) -> None:
    session = await log.session()
    one = await session.fetchval(INSERT, log.tenant, "a.test")
    await log.read()
    ahead = 1_000_000_000_000
    await session.execute("UPDATE record_changes SET transaction_id = $1", ahead)

    async with log.engine.begin() as connection:
        assert await continue_numbering(connection)
    async with log.engine.begin() as connection:
        assert not await continue_numbering(connection)
    await session.execute(RENAME, one, "B")

    assert told(await log.read()) == [("domains", "changed", ("title",))]
    last = "SELECT transaction_id FROM record_changes ORDER BY position DESC LIMIT 1"
    assert await session.fetchval(last) > ahead


async def test_a_column_that_a_migration_added_was_not_logged(log: Log) -> None:
    async with log.engine.connect() as connection:
        for kind in KINDS.values():
            body = str(
                await connection.scalar(
                    text("SELECT prosrc FROM pg_proc WHERE proname = :name"),
                    {"name": function_of(kind.table)},
                )
            )
            columns = await connection.run_sync(logged_columns, kind.table)

            named = [part.split()[0] for part in body.split("CASE WHEN n.")[1:]]
            assert named == columns, f"call log_changes again for {kind.table}"
            assert f"'{kind.name}'" in body


async def test_what_a_migration_fills_in_is_no_change(log: Log) -> None:
    session = await log.session()
    one = await session.fetchval(INSERT, log.tenant, "a.test")
    await log.read()
    async with session.transaction():
        await session.execute("SET LOCAL scrapersky.keep_updated_at = 'on'")
        await session.execute(RENAME, one, "A")

    assert await log.read() == []
