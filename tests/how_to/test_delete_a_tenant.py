"""The page about deleting a tenant, followed; a dump of everything says what is left."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from uuid import UUID

import pytest

from scrapersky.api.account.people import add_tenant
from scrapersky.cli.pipeline import PipelineRun
from scrapersky.cli.run import begin
from scrapersky.companies.matching import match_companies
from scrapersky.configuration import load_settings
from scrapersky.db.connection import connect, parse_target
from scrapersky.demo.services import town_services
from scrapersky.privacy.tenant_deletion import (
    SHARED,
    delete_tenant,
    owned_tables,
)
from scrapersky.providers.source import PlaceQuery
from scrapersky.records import METADATA
from scrapersky.records.audit import Actor
from scrapersky.scheduler.app import work
from scrapersky.scheduler.background import Background
from scrapersky.stages import PIPELINE
from sdk_tests.rig.waiting import HUNG
from simulated_town.business import Business
from simulated_town.town import Town
from tests.api.gateway.planted import plant
from tests.cli.rig import execute
from tests.conftest import TestDatabase
from tests.how_to.guide import Shell, steps_of

TENANTS = "SELECT slug, id FROM tenants"
HISTORY = ("curation.claim", "curation.attempt", "curation.dead_letter")


def test_no_table_was_forgotten() -> None:
    tables = {table.fullname for part in METADATA for table in part.sorted_tables}
    owned = {table.fullname for table in owned_tables()}

    assert tables == {*owned, *SHARED, *HISTORY, "tenants"}
    assert not owned & SHARED.keys()


def test_the_database_has_no_table_that_the_code_does_not_know(
    database: TestDatabase,
) -> None:
    rows = execute(
        database,
        "SELECT CASE WHEN schemaname = 'public' THEN tablename"
        " ELSE schemaname || '.' || tablename END FROM pg_tables"
        " WHERE schemaname NOT IN ('pg_catalog', 'information_schema')",
    )
    known = {table.fullname for part in METADATA for table in part.sorted_tables}

    assert {name for (name,) in rows} == known | {"alembic_version"}


@pytest.mark.slow
async def test_nothing_of_a_deleted_tenant_is_left_and_others_are_as_they_were(
    home: Path, installed: TestDatabase, tmp_path: Path
) -> None:
    shell = Shell(
        tmp_path, DATABASE_URL=installed.url, SCRAPERSKY_DATA_DIR=home, LOGNAME="grace"
    )
    for name in ("Acme GmbH", "Other Ltd"):
        await asyncio.to_thread(shell.type, f"scrapersky tenant create '{name}'")
    tenants = dict(execute(installed, TENANTS))
    leaving, other = tenants["acme-gmbh"], tenants["other-ltd"]
    async with a_town(home, installed) as (businesses, background):
        mine, theirs = businesses[::2], businesses[1::2]
        await crawl(background, home, leaving, mine)
        await crawl(background, home, other, theirs)
        await settled(background)
    for tenant, mark in ((leaving, "leaving"), (other, "staying")):
        await fill(installed, tenant, mark)
    execute(installed, GONE_BEFORE, f"cannot read a page of {leaving}")
    for command in (
        "user create ada@acme.example --role admin --tenant acme-gmbh",
        "key create acme-nightly --tenant acme-gmbh",
    ):
        await asyncio.to_thread(shell.type, f"scrapersky {command}")
    empty = [
        table.fullname
        for table in owned_tables()
        if not rows_of(installed, table.fullname, leaving)
    ]
    before = {
        table.fullname: rows_of(installed, table.fullname, other)
        for table in owned_tables()
    }
    history = history_of(installed, other)
    hosts = [
        rows_of(installed, name) for name in ("hosts", "host_robots", "host_outcomes")
    ]
    secrets = {str(leaving), "leaving", "acme", "Acme", "ada@acme.example"}
    secrets |= {business.host for business in mine if business.host}
    secrets |= {box.address for business in mine for box in business.mailboxes}
    secrets -= {
        word
        for word in secrets
        if any(word in row for rows in before.values() for row in rows)
    }
    known = {word for word in secrets if any(word in row for row in dump(installed))}

    for step in steps_of("delete-a-tenant.md"):
        await asyncio.to_thread(shell.follow, step)
        if step.command.endswith("--dry-run"):
            assert execute(installed, "SELECT count(*) FROM tenants") == [(3,)]
    assert empty == []
    assert len(known) > 10
    left = [
        (word, row)
        for row in dump(installed, *HOSTS)
        for word in secrets
        if word in row
    ]
    assert left == []
    assert {name: rows_of(installed, name, other) for name in before} == before
    assert history_of(installed, other) == history
    assert [
        rows_of(installed, name) for name in ("hosts", "host_robots", "host_outcomes")
    ] == hosts
    noted = execute(
        installed,
        "SELECT actor, subject, (details->>'rows')::int > 100 FROM audit_log"
        " WHERE action = 'tenant.deleted'",
    )
    assert noted == [("cli (grace)", "tenants", True)]


HOSTS = ("hosts", "host_robots", "host_outcomes")


@pytest.mark.slow
async def test_a_tenant_that_is_being_crawled_does_not_come_back(
    home: Path, installed: TestDatabase
) -> None:
    staying = execute(installed, "SELECT id FROM tenants")[0][0]
    reported: list[str] = []
    async with a_town(home, installed) as (businesses, background):
        async with background.engine.begin() as connection:
            leaving = (await add_tenant(connection, name="Leaving", slug=None)).id
        going = [
            await begun(background, home, tenant, businesses)
            for tenant in (leaving, staying)
        ]
        async with asyncio.timeout(HUNG):
            while not rows_of(installed, "contacts", leaving):
                for one in going:
                    await one.advance()
                await asyncio.sleep(0.05)
        deleted = await delete_tenant(
            background.engine, leaving, Actor(staying, None, "test"), PIPELINE,
            lambda table, _count: reported.append(table),
        )  # fmt: skip
        await finished(going[1])
        await settled(background)

    assert deleted.rows > 10
    assert "contacts" in reported
    assert [row for row in dump(installed) if str(leaving) in row] == []
    wanted = {box.address.lower() for one in businesses for box in one.mailboxes}
    found = execute(installed, "SELECT email FROM contacts WHERE email IS NOT NULL")
    assert {email for (email,) in found} == wanted


@pytest.mark.slow
async def test_a_deletion_that_was_stopped_goes_on(installed: TestDatabase) -> None:
    execute(installed, "INSERT INTO tenants (name, slug) VALUES ('Leaving', 'leaving')")
    tenants = dict(execute(installed, TENANTS))
    leaving, home = tenants["leaving"], Actor(tenants["default"], None, "test")
    execute(
        installed,
        "INSERT INTO domains (tenant_id, domain, status) SELECT %s, n || '.example',"
        " 'pending' FROM generate_series(1, 2000) n",
        leaving,
    )

    class Stopped(Exception):
        pass

    def stop(_table: str, _count: int) -> None:
        raise Stopped

    engine = connect(parse_target(installed.url))
    try:
        with pytest.raises(Stopped):
            await delete_tenant(engine, leaving, home, PIPELINE, stop)
        suspended = execute(
            installed,
            "SELECT suspended_at IS NOT NULL FROM tenants WHERE slug = 'leaving'",
        )
        await delete_tenant(engine, leaving, home, PIPELINE, lambda *_: None)
    finally:
        await engine.dispose()

    assert suspended == [(True,)]
    assert execute(
        installed, "SELECT count(*) FROM tenants WHERE slug = 'leaving'"
    ) == [(0,)]


@asynccontextmanager
async def a_town(
    home: Path, database: TestDatabase
) -> AsyncIterator[tuple[list[Business], Background]]:
    """Give businesses that have contacts, and workers who can visit them."""
    settings = load_settings({"SCRAPERSKY_DATA_DIR": str(home)}, dotenv=None).settings
    delay = timedelta(milliseconds=20)
    async with (
        Town.open(size=6, trouble=False) as town,
        town_services(town.endpoint, host_delay=delay) as services,
    ):
        businesses = [b for b in town.plan.businesses if b.host and b.mailboxes]
        target = parse_target(database.url)
        async with work(settings, target, services=services) as background:
            yield businesses, background


async def begun(
    background: Background, home: Path, tenant: UUID, businesses: list[Business]
) -> PipelineRun:
    """Queue a search of a tenant that finds these businesses."""
    lines = [f"{one.name},http://{one.host}/\n" for one in businesses]
    file = home / "imports" / f"{tenant}.csv"
    file.write_text("name,website\n" + "".join(lines))
    actor = Actor(tenant, None, "test")
    query = PlaceQuery(file=file.name)
    search = await begin(background, actor, query, "file", None)
    return PipelineRun(background.engine, actor, search)


async def finished(going: PipelineRun) -> None:
    """Wait until a search is over."""
    async with asyncio.timeout(4 * HUNG):
        while not await going.advance():  # noqa: ASYNC110 - there is no event
            await asyncio.sleep(0.05)


async def crawl(
    background: Background, home: Path, tenant: UUID, businesses: list[Business]
) -> None:
    """Follow businesses to their contacts, for one tenant."""
    await finished(await begun(background, home, tenant, businesses))


async def settled(background: Background) -> None:
    """Wait until no worker has anything in hand, and all records are matched."""
    await match_companies(background.engine)


async def fill(database: TestDatabase, tenant: UUID, mark: str) -> None:
    """Store a row in every table, and failures of every kind."""
    engine = connect(parse_target(database.url), name="test")
    try:
        await plant(engine, tenant, mark)
    finally:
        await engine.dispose()
    for statement in LEFT_BEHIND:
        execute(database, statement.replace("TENANT", f"'{tenant}'"))


GONE_BEFORE = """INSERT INTO curation.attempt (stage, item, fence, tries, outcome, why)
  VALUES ('page_curation', gen_random_uuid(), 0, 1, 'failed', %s)"""
ONE_PAGE = "SELECT id FROM pages WHERE tenant_id = TENANT ORDER BY id LIMIT 1"
WHY = "'no answer from a host of ' || TENANT"
LEFT_BEHIND = (
    (
        "INSERT INTO login_sessions (token_hash, tenant_id, user_id, expires_at)"
        " SELECT sha256(convert_to(TENANT, 'UTF8')), tenant_id, id, now() FROM users"
        " WHERE tenant_id = TENANT"
    ),
    (
        "INSERT INTO contact_notices (contact_id, tenant_id, obtained_at)"
        " SELECT id, tenant_id, now() FROM contacts WHERE tenant_id = TENANT"
        " ON CONFLICT DO NOTHING"
    ),
    (
        "INSERT INTO curation.dead_letter (stage, item, fence, kind, why, tries, deaths)"
        f" SELECT 'page_curation', id, 0, 'failed', {WHY}, 1, 0 FROM ({ONE_PAGE}) AS page"
    ),
    (
        "INSERT INTO curation.claim (stage, item, tries)"
        f" SELECT 'page_curation', id, 1 FROM ({ONE_PAGE}) AS page"
    ),
    (
        "INSERT INTO scheduler_runs (job_id, process, due_at, outcome, last_item_error)"
        f" VALUES ('v2_page_curation_processor', 'a', now(), 'executed', {WHY})"
    ),
    (
        "INSERT INTO alerts (rule, subject, summary, advice)"
        " VALUES ('matching_failed', 'tenant ' || TENANT, TENANT, '')"
    ),
)


def rows_of(
    database: TestDatabase, table: str, tenant: UUID | None = None
) -> list[str]:
    """Return the rows of a table as text, those of a tenant if one is named."""
    mine = f"WHERE tenant_id = '{tenant}'" if tenant else ""
    query = f"SELECT CAST(t AS text) FROM {table} AS t {mine} ORDER BY 1"
    return [row for (row,) in execute(database, query)]


def history_of(database: TestDatabase, tenant: UUID) -> list[str]:
    """Return what the queue keeps about a tenant's rows."""
    ids = " UNION ".join(
        f"SELECT CAST(id AS text) FROM {stage.model.__tablename__} WHERE tenant_id = '{tenant}'"
        for stage in PIPELINE
    )
    return [
        row
        for table in HISTORY
        for (row,) in execute(
            database,
            f"SELECT CAST(t AS text) FROM {table} AS t WHERE item IN ({ids}) ORDER BY 1",
        )
    ]


def dump(database: TestDatabase, *without: str) -> list[str]:
    """Return every row of every table as text, each with the name of its table."""
    tables = [t.fullname for part in METADATA for t in part.sorted_tables]
    return [
        f"{name} {row}"
        for name in tables
        if name not in without
        for row in rows_of(database, name)
    ]
