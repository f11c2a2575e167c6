"""What strangers have written is printed, and neither read as markup nor obeyed."""

import ast
import asyncio
from pathlib import Path

import pytest
from sqlalchemy import insert, select, text

import curation_sdk
from scrapersky.api.app import create_app
from scrapersky.cli import explain
from scrapersky.cli.doctor import CheckResult, show, show_troubles
from scrapersky.cli.table import PlainTable, print_table
from scrapersky.configuration import load_settings
from scrapersky.db import connection as database_connection
from scrapersky.db.connection import connect, parse_target
from scrapersky.errors import SearchFailed
from scrapersky.records import Domain, Page, Tenant
from scrapersky.scheduler.alert import ActiveAlert
from tests.api.operations.rig import AT_REST
from tests.cli.rig import Command
from tests.conftest import TestDatabase

CLI = Path(__file__).parents[2] / "src/scrapersky/cli"
LINK = "\x1b]8;;https://evil.example\x1b\\"
HOSTILE = f"[bold red]X[/] [link=https://evil.example]y[/link]{LINK} :skull:\x1b[2J\r\n"
SHOWN = "[bold red]X[/] [link=https://evil.example]y[/link] :skull:"
"""What is left of it in a cell."""


def is_shown(printed: str) -> bool:
    """Say whether the value stands in a table as it was written, and nothing obeyed it."""
    return SHOWN in printed and printed.replace("\n", "").isprintable()


def test_markup_in_a_cell_was_obeyed(capsys: pytest.CaptureFixture[str]) -> None:
    table = PlainTable("business", "why")
    table.add_row(HOSTILE, "fine")

    print_table(table, whole=("business",))

    assert is_shown(capsys.readouterr().out)


def test_an_unbalanced_tag_ended_a_command(capsys: pytest.CaptureFixture[str]) -> None:
    table = PlainTable("business")
    table.add_row("Half off [/b] today")

    print_table(table)

    assert "Half off [/b] today" in capsys.readouterr().out


def test_markup_in_what_the_doctor_finds_was_obeyed(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "300")

    show([CheckResult("settings", ok=False, found=HOSTILE, fix="")], as_json=False)
    found = capsys.readouterr().out
    show_troubles([ActiveAlert("rule", "about", HOSTILE, "wait")], as_json=False)
    watched = capsys.readouterr().out

    assert is_shown(found)
    assert is_shown(watched)


def test_a_terminal_obeyed_the_message_of_an_error(
    capsys: pytest.CaptureFixture[str],
) -> None:
    explain(SearchFailed(f"The source said: {HOSTILE}", hint=f"Ask {HOSTILE}"))

    assert is_shown(capsys.readouterr().err)


def test_only_one_module_makes_tables_and_consoles() -> None:
    makers = {
        file.name
        for file in CLI.rglob("*.py")
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
        if node.func.id in {"Table", "Console"}
    }

    assert makers == {"table.py"}


PLANTED = (
    "UPDATE tenants SET name = :hostile",
    """INSERT INTO users (tenant_id, email, role, subject)
    SELECT id, 'ada@example.com', 'viewer', :hostile FROM tenants""",
    """INSERT INTO processes (name, role, host, pid, version, resting)
    VALUES ('w', 'worker', 'h', 1, '1', :hostile)""",
    """INSERT INTO curation.dead_letter (stage, item, fence, kind, why, tries, deaths)
    SELECT 'page_curation', id::text, 1, 'gave_up', :hostile, 3, 0 FROM pages""",
)


async def plant(database: TestDatabase) -> None:
    """Have the stages of an application known, and hostile values beside them."""
    target = parse_target(database.url)
    app = create_app(load_settings(AT_REST, dotenv=None).settings, target)
    async with app.router.lifespan_context(app):
        pass
    engine = connect(target)
    await curation_sdk.control.pause(engine, "page_curation", HOSTILE)
    async with engine.begin() as connection:
        tenant = (await connection.execute(select(Tenant.id))).scalar_one()
        domain = insert(Domain).values(tenant_id=tenant, domain="a.example")
        found = await connection.execute(domain.returning(Domain.id))
        await connection.execute(
            insert(Page).values(
                tenant_id=tenant,
                domain_id=found.scalar_one(),
                url="https://a.example/",
                page_processing_status="Error",
            )
        )
        for statement in PLANTED:
            await connection.execute(text(statement), {"hostile": HOSTILE})
    await engine.dispose()


@pytest.mark.slow
def test_commands_obeyed_what_stands_in_the_database(
    database: TestDatabase, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The server of tests may forget, which commands that write refuse.
    monkeypatch.setattr(database_connection, "DURABLE", ())
    asyncio.run(plant(database))

    printed = {
        words: command(*words, DATABASE_URL=database.url)
        for words in (
            ("stages",), ("workers",), ("dead-letters",), ("user", "list"),
            ("tenant", "list"),
        )
    }  # fmt: skip
    settings = command("config", "--changed", USER_AGENT="[bold]a[/bold] :skull:")

    refused = {words: said.stderr for words, said in printed.items() if said.returncode}
    assert refused == {}
    assert [words for words, said in printed.items() if not is_shown(said.stdout)] == []
    assert "[bold]a[/bold] :skull:" in settings.stdout
