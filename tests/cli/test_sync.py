"""`scrapersky sync`: the page about it, followed with a folder."""

import asyncio
import json
from pathlib import Path
from uuid import UUID

import psycopg
import pytest

from scrapersky.db.connection import connect, parse_target
from tests.cli.rig import Command, run
from tests.conftest import TestDatabase
from tests.connectors.desk import SalesDesk
from tests.connectors.plain_crm import PlainCrm
from tests.how_to.guide import commands_of

PAGE = "sync-with-a-crm.md"


@pytest.fixture
def tenant(database: TestDatabase) -> UUID:
    with psycopg.connect(database.dsn, autocommit=True) as connection:
        found = connection.execute(
            "SELECT id FROM tenants WHERE slug = 'default'"
        ).fetchone()
        assert found is not None
        connection.execute(
            "INSERT INTO companies (tenant_id, name, city) VALUES (%s, 'Acme', 'Austin'),"
            " (%s, 'Never', 'Austin')", (found[0], found[0]),
        )  # fmt: skip
        connection.execute(
            "UPDATE companies SET lead_status = 'Do Not Contact' WHERE name = 'Never'"
        )
        return UUID(str(found[0]))


async def work(database: TestDatabase, tenant: UUID, home: Path, sync_id: UUID) -> None:
    engine = connect(parse_target(database.url), pool_size=3)
    await SalesDesk(engine, tenant, home / "connections").work(sync_id)
    await engine.dispose()


def test_the_page_is_followed_from_connecting_to_undoing(
    command: Command, database: TestDatabase, tenant: UUID, tmp_path: Path
) -> None:
    settings = {"DATABASE_URL": database.url, "SCRAPERSKY_DATA_DIR": tmp_path}
    answers: dict[str, str] = {}
    file: Path | None = None
    for typed in commands_of(PAGE):
        name = typed.split()[2]
        done = command(*typed.split()[1:], **settings)
        assert done.returncode == 0, (typed, done.stderr)
        answers[name] = done.stdout
        if name == "run":
            listed = command("sync", "list", "--json", **settings)
            sync_id = UUID(json.loads(listed.stdout)[0]["id"])
            asyncio.run(work(database, tenant, tmp_path, sync_id))
            file = tmp_path / "connections" / str(sync_id) / "companies.jsonl"
            written = [json.loads(line) for line in file.read_text().splitlines()]
            assert [row["name"] for row in written] == ["Acme"]

    assert "HubSpot" in answers["connectors"]
    assert "Acme" in answers["preview"]
    assert file is not None
    assert file.read_text() == ""


def test_the_difference_is_given_as_json(
    command: Command, database: TestDatabase, tenant: UUID, tmp_path: Path
) -> None:
    settings = {"DATABASE_URL": database.url, "SCRAPERSKY_DATA_DIR": tmp_path}
    command("sync", "connect", "folder", "--name", "Files", **settings)

    done = command("sync", "difference", "Files", "--json", **settings)

    [found] = json.loads(done.stdout)
    assert (found["creates"], found["updates"]) == (1, 0)
    assert found["samples"][0]["changes"]["name"] == {"from": None, "to": "Acme"}


def test_a_key_is_shown_by_no_command(
    command: Command, database: TestDatabase, tenant: UUID, tmp_path: Path
) -> None:
    settings = {"DATABASE_URL": database.url, "SCRAPERSKY_DATA_DIR": tmp_path}
    (tmp_path / "key.txt").write_text("a-very-secret-key")
    words = (
        "sync",
        "connect",
        "folder",
        "--credential-file",
        str(tmp_path / "key.txt"),
    )

    made = command(*words, "--json", **settings)
    listed = command("sync", "list", "--json", **settings)

    assert made.returncode == 0, made.stderr
    assert "a-very-secret-key" not in made.stdout + listed.stdout
    assert "secret" not in json.loads(listed.stdout)[0]


async def test_what_a_crm_was_asked_stood_among_what_a_program_reads(
    database: TestDatabase, tenant: UUID, tmp_path: Path
) -> None:
    crm = PlainCrm()
    server = await crm.start()
    key, description = tmp_path / "key.txt", tmp_path / "api.json"
    key.write_text(crm.token)
    description.write_text(crm.description())
    settings = {
        "DATABASE_URL": database.url,
        "SCRAPERSKY_DATA_DIR": tmp_path,
        "CRM_NETWORKS": "127.0.0.0/8",
    }
    typed = ("sync", "connect", "http", "--json", "--credential-file", str(key))

    done = await asyncio.to_thread(
        run, *typed, "--option", f"description=@{description}", **settings
    )

    server.close()
    assert crm.calls
    assert json.loads(done.stdout)[0]["tenant_id"] == str(tenant)
    assert done.stderr == ""
