"""What BI tools read: the views of one tenant, as a user of the database who owns nothing."""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import psycopg
import pytest
from sqlalchemy import text

from scrapersky.db.connection import connect, parse_target
from scrapersky.db.migrate import apply, upgrade
from scrapersky.db.reporting import (
    MOST_CONNECTIONS,
    STOPPED_STATUS,
    VIEWS,
    grant_reading,
    list_readers,
    revoke_reading,
)
from scrapersky.errors import DatabaseUnsuitable
from scrapersky.kit.time_ordered import time_ordered_uuid
from scrapersky.records.status import LeadStatus
from sdk_tests.rig.cluster import Cluster, running_cluster

REFUSED = (psycopg.errors.InsufficientPrivilege, psycopg.errors.UndefinedColumn)
FILLED = """
INSERT INTO domains (id, tenant_id, domain) VALUES
  (md5({t} || 'a')::uuid, {t}, {t} || '.bv'), (md5({t} || 'b')::uuid, {t}, 'no-' || {t} || '.bv');
INSERT INTO contacts (tenant_id, domain_id, email, notes)
  SELECT tenant_id, id, 'ada@' || domain, 'secret' FROM domains WHERE tenant_id = {t};
INSERT INTO people (tenant_id, domain_id, name, name_key, confidence, standing, standing_reason)
  SELECT tenant_id, id, 'Ada of ' || domain, 'ada', 1, 1, '' FROM domains WHERE tenant_id = {t};
INSERT INTO companies (tenant_id, name, domain_id, lead_status, phone)
  SELECT tenant_id, domain, id, CASE WHEN domain LIKE 'no-%' THEN 'Do Not Contact' ELSE 'New' END
    ::lead_status, '+1' FROM domains WHERE tenant_id = {t} AND domain LIKE 'no-%';
INSERT INTO companies (tenant_id, name, domain_id)
  SELECT tenant_id, domain, id FROM domains WHERE tenant_id = {t} AND domain NOT LIKE 'no-%';
INSERT INTO companies (tenant_id, name, phone) VALUES ({t}, 'same phone', '+1');
INSERT INTO place_searches (tenant_id, business_type, source) VALUES ({t}, {t}, 'osm');
"""


@dataclass(slots=True)
class Reading:
    """Two tenants, and what a reader of the first sees."""

    cluster: Cluster
    name: str
    role: str
    tenants: list[UUID]

    @property
    def owner(self) -> str:
        return self.cluster.tcp_dsn(self.name)

    @property
    def dsn(self) -> str:
        return self.owner.replace("postgres@", f"{self.role}@")

    def let_make_temporary_tables(self) -> None:
        """As on a server whose database belongs to somebody else."""
        with psycopg.connect(self.owner, autocommit=True) as connection:
            connection.execute(f'GRANT TEMPORARY ON DATABASE "{self.name}" TO PUBLIC')

    def ask(self, query: str) -> list[tuple[Any, ...]]:
        with psycopg.connect(self.dsn, autocommit=True) as connection:
            connection.execute("SET default_transaction_read_only = off")
            return connection.execute(query.encode()).fetchall()


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    """A server that people reach over the network, as BI tools do."""
    with running_cluster() as cluster:
        cluster.create_database("made")
        asyncio.run(migrated(cluster.tcp_dsn("made")))
        yield cluster


async def migrated(dsn: str) -> None:
    engine = connect(parse_target(dsn))
    await upgrade(engine)
    await engine.dispose()


@pytest.fixture
async def reading(cluster: Cluster) -> AsyncIterator[Reading]:
    name = f"reporting_{time.monotonic_ns()}"
    cluster.execute(f'CREATE DATABASE "{name}" TEMPLATE made')
    found = Reading(cluster, name, f"reader-of-{name}", [])
    engine = connect(parse_target(found.owner))
    async with engine.begin() as connection:
        for slug in ("one", "two"):
            made = f"INSERT INTO tenants (name, slug) VALUES ('{slug}', '{slug}')"
            row = await connection.scalar(text(f"{made} RETURNING id"))
            found.tenants.append(UUID(str(row)))
    with psycopg.connect(found.owner, autocommit=True) as plain:
        for one in found.tenants:
            plain.execute(FILLED.replace("{t}", f"'{one}'").encode())
    async with engine.begin() as connection:
        assert await grant_reading(connection, found.role, found.tenants[0])
    yield found
    await engine.dispose()


async def test_a_reader_sees_the_records_of_its_tenant_and_of_no_other(
    reading: Reading,
) -> None:
    one = str(reading.tenants[0])

    assert reading.ask("SELECT name FROM companies") == [(f"{one}.bv",)]
    assert reading.ask("SELECT email FROM contacts") == [(f"ada@{one}.bv",)]
    assert reading.ask("SELECT name FROM people") == [(f"Ada of {one}.bv",)]
    assert reading.ask("SELECT business_type FROM searches") == [(one,)]


@pytest.mark.parametrize(
    "query",
    [
        "SELECT * FROM public.companies",
        "SELECT notes FROM public.contacts",
        "SELECT secrets FROM public.webhook_endpoints",
        "SELECT * FROM public.api_keys",
        "SELECT * FROM public.suppressions",
        "SELECT * FROM public.record_changes",
        "SELECT * FROM curation.attempt",
        "SELECT * FROM reporting.readers",
        "SELECT notes FROM reporting.contacts",
        "UPDATE reporting.readers SET tenant_id = '{two}'",
        "SET ROLE scrapersky_api",
        "SET SESSION AUTHORIZATION postgres",
        "CREATE VIEW reporting.mine AS SELECT 1",
        "CREATE TEMPORARY TABLE filling_the_disk (x int)",
        "SELECT pg_advisory_lock(hashtextextended('page_curation', 0))",
        "SELECT pg_try_advisory_xact_lock_shared(1, 2)",
        "SELECT lo_from_bytea(0, 'filling the disk')",
    ],
)
async def test_a_reader_can_read_nothing_else_and_write_nothing(
    reading: Reading, query: str
) -> None:
    with pytest.raises(REFUSED):
        reading.ask(query.replace("{two}", str(reading.tenants[1])))


async def test_what_a_reader_sets_shows_it_no_other_tenant(reading: Reading) -> None:
    one, two = map(str, reading.tenants)
    reading.let_make_temporary_tables()
    with psycopg.connect(reading.dsn, autocommit=True) as connection:
        connection.execute("SET default_transaction_read_only = off")
        connection.execute(
            "SELECT set_config('scrapersky.tenant_id', %s, false)", (two,)
        )
        # A cheap function of the reader's own is not asked before the view chose its rows.
        connection.execute(
            "CREATE FUNCTION pg_temp.seen(text) RETURNS boolean COST 0.0000001 LANGUAGE"
            " plpgsql AS $$ BEGIN RAISE NOTICE '%', $1; RETURN true; END $$"
        )
        seen: list[str] = []
        connection.add_notice_handler(
            lambda notice: seen.append(str(notice.message_primary))
        )
        connection.execute("SELECT count(*) FROM contacts WHERE pg_temp.seen(email)")

    assert seen == [f"ada@{one}.bv"]


async def test_a_reader_cannot_have_our_trigger_functions_delete_pages_as_the_owner(
    reading: Reading,
) -> None:
    reading.let_make_temporary_tables()
    with psycopg.connect(reading.owner, autocommit=True) as owner:
        owner.execute(
            "INSERT INTO pages (tenant_id, domain_id, url)"
            " SELECT tenant_id, id, 'https://' || domain || '/' FROM domains"
        )
        callable_by_all = owner.execute(
            "SELECT oid::regprocedure FROM pg_proc WHERE prosecdef"
            " AND has_function_privilege(%s, oid, 'EXECUTE')",
            (reading.role,),
        )
        assert callable_by_all.fetchall() == []

    with psycopg.connect(reading.dsn, autocommit=True) as connection:
        connection.execute("SET default_transaction_read_only = off")
        connection.execute("CREATE TEMPORARY TABLE domains (id uuid)")
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute(
                "CREATE TRIGGER mine AFTER DELETE ON pg_temp.domains"
                " REFERENCING OLD TABLE AS deleted"
                " FOR EACH STATEMENT EXECUTE FUNCTION public.follow_to_pages()"
            )
    with psycopg.connect(reading.owner, autocommit=True) as owner:
        # Those who may delete domains still have the pages go with them.
        owner.execute("DELETE FROM domains WHERE tenant_id = %s", (reading.tenants[0],))
        left = owner.execute("SELECT DISTINCT tenant_id FROM pages").fetchall()
    assert left == [(reading.tenants[1],)]


async def test_a_reader_cannot_take_every_connection_of_the_server(
    reading: Reading,
) -> None:
    with contextlib.ExitStack() as held:
        for _ in range(MOST_CONNECTIONS):
            held.enter_context(psycopg.connect(reading.dsn))
        with pytest.raises(psycopg.OperationalError, match="too many connections"):
            psycopg.connect(reading.dsn)


async def test_the_api_keeps_the_locks_that_readers_have_not(reading: Reading) -> None:
    with psycopg.connect(reading.owner, autocommit=True) as owner:
        owner.execute("SET ROLE scrapersky_api")
        owner.execute("SELECT pg_advisory_xact_lock(1)")


async def test_the_status_that_hides_a_company_is_the_records_own() -> None:
    assert LeadStatus.DO_NOT_CONTACT.value == STOPPED_STATUS


async def test_views_stand_again_after_a_migration_and_are_gone_when_revoked(
    reading: Reading,
) -> None:
    engine = connect(parse_target(reading.owner))
    async with engine.begin() as connection:
        await connection.run_sync(apply, lambda config: None)
    assert len(reading.ask("SELECT id FROM companies")) == 1

    async with engine.begin() as connection:
        assert [one["tenant"] for one in await list_readers(connection)] == ["one"]
        assert await revoke_reading(connection, reading.role)
        assert not await revoke_reading(connection, reading.role)
    for view in VIEWS:
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            reading.ask(f"SELECT 1 FROM reporting.{view}")
    await engine.dispose()


async def test_a_superuser_is_no_reader(cluster: Cluster) -> None:
    engine = connect(parse_target(cluster.tcp_dsn("made")))
    async with engine.begin() as connection:
        me = str(await connection.scalar(text("SELECT current_user")))
        with pytest.raises(DatabaseUnsuitable):
            await grant_reading(connection, me, time_ordered_uuid())
    await engine.dispose()
