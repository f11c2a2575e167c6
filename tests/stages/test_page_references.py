"""What pages refer to is checked once a statement, and holds like a foreign key."""

import asyncio
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, TypeAlias
from uuid import UUID, uuid4

import asyncpg
import pytest

from tests.conftest import TestDatabase

if TYPE_CHECKING:
    Connection: TypeAlias = asyncpg.Connection[asyncpg.Record]
else:
    Connection = asyncpg.Connection
A_PAGE = (
    "INSERT INTO pages (tenant_id, domain_id, sitemap_file_id, created_by, url)"
    " VALUES ($1, $2, $3, $4, $5) RETURNING id"
)
COPIED = ("tenant_id", "domain_id", "sitemap_file_id", "created_by", "url")
PAGES = "SELECT url, sitemap_file_id, created_by FROM pages ORDER BY url"


class Shelf:
    """Two tenants, each with a domain, a sitemap file and a user."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self.mine: dict[str, UUID] = {}
        self.theirs: dict[str, UUID] = {}

    async def fill(self) -> None:
        for owned in (self.mine, self.theirs):
            name = f"{id(owned)}"
            owned["tenant"] = await self.new("tenants", name="T", slug=name)
            own = {"tenant_id": owned["tenant"]}
            owned["user"] = await self.new("users", **own, email=f"{name}@x.bv")
            owned["domain"] = await self.new("domains", **own, domain=f"{name}.bv")
            owned["file"] = await self.new(
                "sitemap_files", **own, domain_id=owned["domain"], url=name,
                sitemap_type="standard",
            )  # fmt: skip

    async def new(self, table: str, **values: object) -> UUID:
        places = ", ".join(f"${n + 1}" for n in range(len(values)))
        found = await self.connection.fetchval(
            f"INSERT INTO {table} ({', '.join(values)}) VALUES ({places}) RETURNING id",
            *values.values(),
        )
        return UUID(str(found))

    async def page(self, url: str = "/", **other: UUID | None) -> UUID:
        row = {**self.mine, **other}
        found = await self.connection.fetchval(
            A_PAGE, row["tenant"], row["domain"], row["file"], row["user"], url
        )
        return UUID(str(found))

    async def pages(self) -> list[tuple[object, ...]]:
        return [tuple(row) for row in await self.connection.fetch(PAGES)]


@pytest.fixture
async def shelf(database: TestDatabase) -> AsyncIterator[Shelf]:
    connection = await asyncpg.connect(database.dsn)
    shelf = Shelf(connection)
    await shelf.fill()
    yield shelf
    await connection.close()


@pytest.fixture
async def other(database: TestDatabase) -> AsyncIterator[Connection]:
    connection = await asyncpg.connect(database.dsn)
    yield connection
    await connection.close()


@pytest.mark.parametrize("what", ["tenant", "domain", "file", "user"])
async def test_a_page_refers_only_to_what_is_there(shelf: Shelf, what: str) -> None:
    await shelf.page("/there")
    column = {"tenant": "tenant_id", "domain": "domain_id", "file": "sitemap_file_id"}

    with pytest.raises(asyncpg.ForeignKeyViolationError):
        await shelf.page("/new", **{what: uuid4()})
    with pytest.raises(asyncpg.ForeignKeyViolationError):
        await shelf.connection.execute(
            f"UPDATE pages SET {column.get(what, 'created_by')} = gen_random_uuid()"
        )
    good, bad = shelf.mine, {**shelf.mine, what: uuid4()}
    rows = [
        (row["tenant"], row["domain"], row["file"], row["user"], url)
        for row, url in ((good, "/good"), (bad, "/bad"))
    ]
    with pytest.raises(asyncpg.ForeignKeyViolationError):
        await shelf.connection.copy_records_to_table(
            "pages", columns=COPIED, records=rows
        )

    assert [page[0] for page in await shelf.pages()] == ["/there"]


async def test_a_page_is_its_domains_tenants(shelf: Shelf) -> None:
    with pytest.raises(asyncpg.ForeignKeyViolationError):
        await shelf.page(domain=shelf.theirs["domain"])


async def test_deletes_go_on_to_pages(shelf: Shelf) -> None:
    domain, file, user = (shelf.mine[name] for name in ("domain", "file", "user"))
    await shelf.page("/1")
    theirs = await shelf.page("/2", **shelf.theirs)
    run = shelf.connection.execute

    await run("DELETE FROM sitemap_files WHERE id = $1", file)
    assert (await shelf.pages())[0] == ("/1", None, user)
    await run("DELETE FROM users WHERE id = $1", user)
    assert (await shelf.pages())[0] == ("/1", None, None)
    await run("DELETE FROM domains WHERE id = $1", domain)
    assert [page[0] for page in await shelf.pages()] == ["/2"]
    assert theirs is not None
    await run("DELETE FROM tenants WHERE id = $1", shelf.theirs["tenant"])
    assert await shelf.pages() == []


async def test_a_domain_with_a_page_that_is_being_stored_waits_and_takes_it_along(
    shelf: Shelf, other: Connection
) -> None:
    async with shelf.connection.transaction():
        await shelf.page()
        deleting = asyncio.create_task(
            other.execute("DELETE FROM domains WHERE id = $1", shelf.mine["domain"])
        )
        await wait_for_a_lock(shelf.connection)
        assert not deleting.done()
    await deleting

    assert await shelf.pages() == []


async def test_a_page_of_a_domain_that_is_being_deleted_waits_and_is_refused(
    shelf: Shelf, other: Connection
) -> None:
    async with other.transaction():
        await other.execute("DELETE FROM domains WHERE id = $1", shelf.mine["domain"])
        storing = asyncio.create_task(shelf.page())
        await wait_for_a_lock(other)
        assert not storing.done()

    with pytest.raises(asyncpg.ForeignKeyViolationError):
        await storing
    assert await shelf.pages() == []


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE domains SET id = gen_random_uuid()",
        "UPDATE domains SET tenant_id = (SELECT id FROM tenants WHERE slug = 'default')",
        "UPDATE sitemap_files SET id = gen_random_uuid()",
        "UPDATE users SET id = gen_random_uuid()",
        "TRUNCATE domains CASCADE",
    ],
)
async def test_keys_stay_what_they_are(shelf: Shelf, statement: str) -> None:
    await shelf.page()

    with pytest.raises(asyncpg.ForeignKeyViolationError):
        await shelf.connection.execute(statement)


async def test_an_old_picture_of_the_table_deletes_nothing(shelf: Shelf) -> None:
    await shelf.page()

    with pytest.raises(asyncpg.FeatureNotSupportedError):
        async with shelf.connection.transaction(isolation="repeatable_read"):
            await shelf.connection.execute("DELETE FROM domains")


async def wait_for_a_lock(connection: Connection) -> None:
    for _ in range(500):
        waiting = await connection.fetchval(
            "SELECT count(*) FROM pg_locks WHERE NOT granted"
        )
        if waiting:
            return
        await asyncio.sleep(0.01)
    raise AssertionError("nobody waits")
