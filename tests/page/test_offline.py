"""What people decide while the server is away: nothing is lost, and nothing happens twice."""

import asyncio
import os
import signal
import subprocess
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import asyncpg
import httpx
import pytest
import pytest_asyncio
from playwright.async_api import Browser, BrowserContext, Page, Route, expect

from scrapersky.api.middleware.idempotency import HOLD_TIMEOUT
from sdk_tests.rig.port import free_port
from sdk_tests.rig.waiting import HUNG, wait_until
from tests.cli.rig import CLEAN, COMMAND
from tests.conftest import TestDatabase
from tests.page.rig import QUIET, a_context, violations

pytestmark = [
    pytest.mark.slow,
    pytest.mark.asyncio(loop_scope="session"),
    pytest.mark.xdist_group("page-offline"),  # it kills what others would share
]

COMPANIES = 44
STATUSES = "SELECT name, lead_status::text FROM companies ORDER BY name"
CHANGES = """
SELECT c.name, count(h.*) FROM companies c
LEFT JOIN curation_changes h ON h.record_id = c.id GROUP BY c.name ORDER BY c.name
"""


@dataclass
class KilledServer:
    """`scrapersky serve` as a process, which is killed and started again."""

    database: TestDatabase
    port: int
    data: Path
    process: "subprocess.Popen[bytes] | None" = None

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        own = {
            "DATABASE_URL": self.database.url,
            "PORT": self.port,
            "SCRAPERSKY_DATA_DIR": self.data,
        }
        environment = CLEAN | QUIET | {name: str(value) for name, value in own.items()}
        self.process = subprocess.Popen(
            [COMMAND, "serve"], env=environment, cwd="/", stderr=subprocess.DEVNULL
        )
        wait_until(self._is_ready, "the server to be ready")

    def kill(self) -> None:
        """End it as a power cut does."""
        if self.process is not None:
            os.kill(self.process.pid, signal.SIGKILL)
            self.process.wait()
            self.process = None

    def _is_ready(self) -> bool:
        with suppress(httpx.TransportError):
            return httpx.get(f"{self.address}/health/ready").status_code == 200
        return False

    async def run(self, statement: str, *values: Any) -> list[tuple[Any, ...]]:
        connection = await asyncpg.connect(self.database.dsn)
        try:
            return [tuple(row) for row in await connection.fetch(statement, *values)]
        finally:
            await connection.close()


@pytest.fixture
def server(
    installed: TestDatabase, tmp_path: Path, built: None
) -> Iterator[KilledServer]:
    server = KilledServer(installed, free_port(), tmp_path)
    server.start()
    yield server
    server.kill()


@pytest_asyncio.fixture(loop_scope="session")
async def person(
    browser: Browser, server: KilledServer
) -> AsyncIterator[BrowserContext]:
    await server.run(
        "INSERT INTO companies (tenant_id, name) SELECT t.id,"
        " 'Company ' || lpad(n::text, 2, '0')"
        " FROM generate_series(1, $1::int) AS n, (SELECT id FROM tenants LIMIT 1) t",
        COMPANIES,
    )
    context = await a_context(browser, server.address)
    yield context
    await context.close()


async def open_list(person: BrowserContext) -> Page:
    page = await person.new_page()
    await page.goto("/curate/companies?sort=name")
    await expect(page.get_by_role("grid").get_by_role("row").nth(1)).to_be_visible()
    return page


async def decide(page: Page, first: int, last: int) -> None:
    """Mark companies as contacted, by key, from one place in the list to another."""
    for _ in range(first):
        await page.keyboard.press("j")
    for _ in range(first, last + 1):
        await page.keyboard.press("c")


async def until_contacted(server: KilledServer, least: int) -> int:
    query = "SELECT count(*) FROM companies WHERE lead_status = 'Contacted'"
    # The request that a killed server had in hand is held for it before it is sent again.
    async with asyncio.timeout(HUNG + HOLD_TIMEOUT.total_seconds()):
        while (await server.run(query))[0][0] < least:  # noqa: ASYNC110 - it tells nobody
            await asyncio.sleep(0.02)
    return int((await server.run(query))[0][0])


async def slowly(route: Route) -> None:
    """Send a decision as a slow line does: there is a middle to kill the server in."""
    await asyncio.sleep(0.05)
    with suppress(Exception):  # the tab may be closed by then
        await route.continue_()


async def test_forty_decisions_in_two_tabs_survive_a_server_that_is_killed_twice(
    person: BrowserContext, server: KilledServer
) -> None:
    await person.route("**/api/v3/companies/status", slowly)
    tabs = [await open_list(person) for _ in range(2)]
    server.kill()
    await expect(tabs[0].locator(".side").get_by_text("Offline")).to_be_visible()

    await decide(tabs[0], 1, 20)
    await decide(tabs[1], 21, 41)
    # One is taken back before anybody was told.
    await tabs[1].keyboard.press("u")
    waits = tabs[0].get_by_text("40 changes wait to be sent.")
    await expect(waits).to_be_visible()
    # What shows them is there already: nothing more can be fetched.
    await tabs[0].get_by_role("button", name="Show", exact=True).click()
    shown = tabs[0].get_by_role("dialog", name="Changes not sent yet")
    await expect(shown).to_contain_text("40 changes are kept in this browser")
    assert await violations(tabs[0]) == []
    await tabs[0].keyboard.press("Escape")
    row = tabs[1].get_by_role("row").filter(has_text="Company 20")
    await expect(row).to_contain_text("Contacted")  # decided in the other tab
    await tabs[1].close()
    # Meanwhile a colleague, with a server of their own, wins one of them.
    await server.run(
        "UPDATE companies SET lead_status = 'Won' WHERE name = 'Company 40'"
    )

    server.start()
    await until_contacted(server, 8)
    server.kill()
    sent = await until_contacted(server, 8)
    assert sent < 39, "it was not killed in the middle"
    await tabs[0].close()
    server.start()
    page = await open_list(person)
    assert await until_contacted(server, 39) == 39

    await page.get_by_role("button", name="Review").click()
    asked = page.get_by_role("dialog").get_by_role("region", name="Company 40")
    await expect(asked).to_contain_text("Won")
    assert await violations(page) == []
    await asked.get_by_role("button", name="Keep theirs").click()
    await expect(page.get_by_role("dialog")).to_contain_text("Everything is sent.")
    names = [f"Company {n:02}" for n in range(1, COMPANIES + 1)]
    wanted = {
        name: "Contacted" if n <= 39 else "New" for n, name in enumerate(names, 1)
    }
    assert await server.run(STATUSES) == [*(wanted | {"Company 40": "Won"}).items()]
    assert await server.run(CHANGES) == [
        (name, int(n <= 39)) for n, name in enumerate(names, 1)
    ]


async def test_a_note_and_a_tag_written_while_the_server_was_away_were_lost(
    person: BrowserContext, server: KilledServer
) -> None:
    page = await open_list(person)
    await page.get_by_role("row").filter(has_text="Company 07").click()
    await page.get_by_role("button", name="Assign and note").click()
    dialog = page.get_by_role("dialog", name="Edit Company 07")
    await expect(dialog.get_by_label("Notes")).to_be_visible()
    server.kill()
    await dialog.get_by_label("Notes").fill("Call on Monday")
    await dialog.get_by_role("button", name="Save").click()
    await expect(page.get_by_text("Saved in this browser.")).to_be_visible()
    await expect(dialog).to_have_count(0)
    await page.keyboard.press("Escape")
    await page.keyboard.press("Control+a")
    await page.keyboard.press("a")
    work = page.get_by_role("dialog", name=f"Assign {COMPANIES} companies")
    await work.get_by_label("Add tags").fill("fair")
    await work.get_by_role("button", name="Apply").click()
    await expect(work).to_have_count(0)
    await expect(page.get_by_text("2 changes wait to be sent.")).to_be_visible()
    # The machine sums up meanwhile: that is another version, and no conflict.
    await server.run("UPDATE companies SET updated_at = now()")
    server.start()

    query = (
        "SELECT count(*) FILTER (WHERE notes = 'Call on Monday'), count(*)"
        " FROM companies WHERE tags = '{fair}'"
    )
    async with asyncio.timeout(HUNG):
        while await server.run(query) != [(1, COMPANIES)]:  # noqa: ASYNC110 - it tells nobody
            await asyncio.sleep(0.05)
    await expect(page.get_by_text("to be sent")).to_have_count(0)
