"""Letting people in from the command line, before anything has run."""

import asyncio
import re
from collections.abc import Iterator
from pathlib import Path

import asyncpg
import pytest

from scrapersky.cli.stages import pause, resume
from scrapersky.cli.submit import submit
from scrapersky.cli.tenant import create_tenant
from scrapersky.cli.user import (
    create_key,
    create_user,
    disable_user,
    set_password,
)
from scrapersky.db.embedded import DATABASE, EmbeddedPostgres
from tests.cli.rig import Command
from tests.db.prepared import prepare_home

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def home(scratch: Path) -> Iterator[Path]:
    """A data directory whose database runs and has nothing in it yet."""
    with EmbeddedPostgres(prepare_home(scratch / "cli-user")) as server:
        yield server.home


def test_nobody_is_let_in_and_nothing_listens(home: Path, command: Command) -> None:
    ask(home, "CREATE DATABASE nobody TEMPLATE template0")
    empty = EmbeddedPostgres(home).url.replace(f"/{DATABASE}?", "/nobody?")

    refused = command(
        "up",
        SCRAPERSKY_DATA_DIR=home,
        DATABASE_URL=empty,
        HOST="0.0.0.0",
        PORT=1029,
    )

    assert refused.returncode == 2
    assert "nobody has any yet" in refused.stderr
    assert "scrapersky user create" in refused.stderr


def test_the_first_admin_is_made_and_the_password_shown_once(
    home: Path, command: Command
) -> None:
    made = command(
        "user", "create", "Ada@Example.com", "--role", "admin", SCRAPERSKY_DATA_DIR=home
    )
    again = command("user", "create", "ada@example.com", SCRAPERSKY_DATA_DIR=home)
    listed = command("user", "list", SCRAPERSKY_DATA_DIR=home)

    assert made.returncode == 0, made.stderr
    password = re.search(r"shown once\): (\S+)", made.stdout)
    assert password
    assert again.returncode == 1
    assert "ada@example.com" in again.stderr
    assert "ada@example.com" in listed.stdout
    assert password[1] not in listed.stdout + listed.stderr


def test_tenants_and_keys_are_made(home: Path, command: Command) -> None:
    tenant = command("tenant", "create", "Acme GmbH", SCRAPERSKY_DATA_DIR=home)
    key = command(
        "key", "create", "nightly", "--tenant", "acme-gmbh", SCRAPERSKY_DATA_DIR=home
    )
    nobody = command(
        "key", "create", "x", "--tenant", "nobody", SCRAPERSKY_DATA_DIR=home
    )

    assert "acme-gmbh" in tenant.stdout
    assert re.fullmatch(r"ssk_\w{10}_[\w-]{43}\n", key.stdout)
    assert nobody.returncode == 1
    assert "no tenant 'nobody'" in nobody.stderr


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"JWT_SECRET": "short"}, "shorter than 32 bytes"),
        ({"CORS_ORIGINS": "*"}, "not one origin"),
    ],
)
def test_unsafe_settings_stop_the_start(
    home: Path, settings: dict[str, str], said: str, command: Command
) -> None:
    refused = command("up", SCRAPERSKY_DATA_DIR=home, **settings)

    assert refused.returncode == 2
    assert said in refused.stderr


def ask(home: Path, query: str) -> list[tuple[str, ...]]:
    async def asked() -> list[tuple[str, ...]]:
        url = EmbeddedPostgres(home).url.replace("+asyncpg", "")
        connection = await asyncpg.connect(url)
        try:
            return [tuple(row) for row in await connection.fetch(query)]
        finally:
            await connection.close()

    return asyncio.run(asked())


def test_what_is_changed_at_the_command_line_is_in_the_audit_log(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SCRAPERSKY_DATA_DIR", str(home))
    monkeypatch.setenv("LOGNAME", "grace")
    lines = tmp_path / "domains.txt"
    lines.write_text("a.example\n")

    create_tenant("Hopper")
    create_user("grace@example.com", tenant="hopper")
    set_password("grace@example.com", tenant="hopper")
    disable_user("grace@example.com", tenant="hopper")
    create_key("nightly", tenant="hopper")
    submit(lines)
    # As a worker would, when it is first started.
    ask(home, "INSERT INTO curation.stage VALUES ('page_curation', '{}')")
    pause("page_curation", why="the proxy is down")
    resume("page_curation")

    entries = ask(
        home,
        "SELECT actor, action, subject FROM audit_log WHERE actor LIKE 'cli%'"
        " AND actor LIKE '%grace%' ORDER BY created_at",
    )
    assert {actor for actor, _, _ in entries} == {"cli (grace)"}
    assert [(action, re.split(r"[/ ]", subject)[0]) for _, action, subject in entries] == [
        ("tenant.created", "tenants"),
        ("user.created", "users"),
        ("user.changed", "users"),
        ("user.changed", "users"),
        ("key.created", "api-keys"),
        ("submitted", "batch"),
        ("paused", "stage"),
        ("resumed", "stage"),
    ]  # fmt: skip


def test_a_database_that_dies_under_a_command_is_said_in_words(
    home: Path, tmp_path: Path, command: Command
) -> None:
    lines = tmp_path / "domains.txt"
    lines.write_text("b.example\n")
    assert command("migrate", SCRAPERSKY_DATA_DIR=home).returncode == 0
    ask(
        home,
        "CREATE FUNCTION die() RETURNS trigger LANGUAGE plpgsql AS"
        " 'BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); RETURN NEW; END'",
    )
    ask(
        home,
        "CREATE TRIGGER die BEFORE INSERT ON batch_jobs"
        " FOR EACH ROW EXECUTE FUNCTION die()",
    )

    failed = command("submit", str(lines), SCRAPERSKY_DATA_DIR=home)

    ask(home, "DROP FUNCTION die() CASCADE")
    assert (failed.returncode, failed.stdout) == (1, "")
    assert failed.stderr == (
        "scrapersky: The database does not answer.\n"
        "What to do: Try again in a moment; run `scrapersky doctor` to see what is wrong.\n"
    )
