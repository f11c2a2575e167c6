"""The real application in a thread, a real browser in front of it, rows beneath."""

import asyncio
import csv
import socket
import threading
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import UUID
from weakref import WeakKeyDictionary

import asyncpg
from playwright.async_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Locator,
    Page,
    Request,
    expect,
)

from scrapersky.api.app import create_app
from scrapersky.api.server import Server
from scrapersky.configuration import load_settings
from scrapersky.db.connection import parse_target
from sdk_tests.rig.waiting import HUNG, wait_until
from tests.api.emptying import emptying
from tests.api.records.rig import AT_REST
from tests.api.records.rig import EMPTIED as RECORDS
from tests.conftest import TestDatabase

AXE = Path(__file__).parents[2] / "frontend/node_modules/axe-core/axe.min.js"
SCREENS = {
    "/home": "h1:text-is('Home')",
    "/pipeline": "h1:text-is('Pipeline')",
    "/changes": "h1:text-is('What changed')",
    "/results": "h1:text-is('Results')",
    "/curate/companies": "h1:text-is('Companies')",
    "/search": "h1:text-is('Search')",
    "/curate/places": "h1:text-is('Places')",
    "/curate/businesses": "h1:text-is('Businesses')",
    "/curate/domains": "h1:text-is('Domains')",
    "/curate/sitemap-files": "h1:text-is('Sitemap files')",
    "/curate/pages": "h1:text-is('Pages')",
    "/curate/contacts": "h1:text-is('Contacts')",
    "/rules": "h1:text-is('Rules')",
    "/batches": "h1:text-is('Import')",
    "/dead-letters": "h1:text-is('Failed')",
    "/settings": "#panel-system",
    "/settings/people": "#panel-people",
    "/settings/keys": "#panel-keys",
    "/settings/webhooks": "#panel-webhooks",
    "/settings/connections": "#panel-connections",
    "/settings/suppressions": "#panel-suppressions",
    "/settings/notices": "#panel-notices",
    "/settings/audit": "#panel-audit",
}
"""Every screen, with what is on that one only."""
EMPTIED = (
    f"{RECORDS}, selection_rules, api_keys, curation.dead_letter, curation.attempt,"
    " curation.claim, stage_overrides, sync_connections"
)
FILLED = """
INSERT INTO domains (tenant_id, domain, title, verdict)
SELECT $1, 'shop-' || n || '.example', 'Shop ' || n, 'own_site'
FROM generate_series(1, 1200) AS n;
INSERT INTO contacts (tenant_id, domain_id, email, name, confidence)
SELECT tenant_id, id, 'info@' || domain, 'Person of ' || domain, 0.9
FROM domains WHERE tenant_id = $1;
INSERT INTO places_staging (tenant_id, source, source_place_id, name, website)
SELECT $1, 'osm', n::text, 'Place ' || n, 'https://p.example/'
FROM generate_series(1, 1200) AS n;
INSERT INTO companies (tenant_id, name, city)
SELECT $1, 'Company ' || n, 'Porto' FROM generate_series(1, 300) AS n
"""
"""Enough on the screens to get lost in."""
expect.set_options(timeout=60_000)  # a busy machine, not a slow page
QUIET = {**AT_REST, "API_RATE_PER_SECOND": "0", "LOG_LEVEL": "ERROR"}
"""The stages rest, so that a status stays what a test made it."""


@dataclass(slots=True)
class RunningApp:
    """ScraperSky on a free port; it can be stopped and started again."""

    database: TestDatabase
    environment: Mapping[str, str] = field(default_factory=lambda: QUIET)
    port: int = 0
    _listener: socket.socket | None = None
    _server: Server | None = None
    _thread: threading.Thread | None = None

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        self._listener = listener = listen(self.port)
        self.port = listener.getsockname()[1]
        variables = {**self.environment, "PORT": str(self.port)}
        settings = load_settings(variables, dotenv=None).settings
        app = create_app(settings, parse_target(self.database.url))
        self._server = Server(app, grace=2)
        self._thread = threading.Thread(
            target=self._server.run, kwargs={"sockets": [listener]}
        )
        self._thread.start()
        wait_until(lambda: bool(self._server and self._server.started))

    def stop(self) -> None:
        if self._server and self._thread and self._listener:
            self._server.should_exit = True
            self._thread.join(timeout=HUNG)
            # Left open, it would let others in whom nobody answers: they wait in vain.
            self._listener.close()
            assert not self._thread.is_alive(), "the application does not stop"
        self._listener = self._server = self._thread = None

    def be_running(self) -> None:
        """Start again what a test has stopped, and could not start."""
        if self._server is None:
            self.start()

    async def run(self, statement: str, *values: Any) -> list[Any]:
        """Execute a statement in the database beneath."""
        connection = await asyncpg.connect(self.database.dsn)
        try:
            return [tuple(row) for row in await connection.fetch(statement, *values)]
        finally:
            await connection.close()

    async def empty(self) -> None:
        """Take out all records, while the application runs."""
        while True:
            try:
                await self.run(emptying(EMPTIED))
            except asyncpg.DeadlockDetectedError:
                # The application reads the same tables in an order of its own.
                continue
            return

    async def fill(self) -> None:
        """Put in more records than a screen shows."""
        tenant = await self.tenant()
        for statement in FILLED.split(";"):
            await self.run(statement, tenant)
        # As autovacuum would, which these servers do without.
        await self.run("ANALYZE")

    async def tenant(self) -> UUID:
        """Return the tenant of the person at this machine."""
        (row,) = await self.run("SELECT id FROM tenants ORDER BY created_at LIMIT 1")
        return UUID(str(row[0]))


@contextmanager
def running(
    database: TestDatabase, environment: Mapping[str, str] = QUIET
) -> Iterator[RunningApp]:
    """Run the application over a database for the length of a block."""
    app = RunningApp(database, environment)
    app.start()
    try:
        yield app
    finally:
        app.stop()


def listen(port: int) -> socket.socket:
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(("127.0.0.1", port))
    listener.listen(128)
    return listener


async def until_stored(app: RunningApp, query: str, answer: list[Any]) -> None:
    """Wait until the database answers a query so."""
    async with asyncio.timeout(HUNG):
        while await app.run(query) != answer:  # noqa: ASYNC110 - it tells nobody
            await asyncio.sleep(0.05)


@dataclass
class Watch:
    """What a page did that nobody may do: errors, and requests to elsewhere."""

    address: str
    errors: list[str] = field(default_factory=list)
    elsewhere: list[str] = field(default_factory=list)
    forgiven: tuple[str, ...] = ("/health/ready",)
    """What is expected; a starved machine is rightly not ready."""

    def follow(self, page: Page) -> None:
        page.on("console", self._heard)
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("request", self._asked)

    def forgive(self, *words: str) -> None:
        """Expect messages with these words, as when a test stops the server."""
        self.forgiven += words

    def _heard(self, message: ConsoleMessage) -> None:
        if message.type in {"error", "warning"}:
            self.errors.append(f"{message.text} {message.location.get('url', '')}")

    def _asked(self, request: Request) -> None:
        if not request.url.startswith((self.address, "data:", "blob:")):
            self.elsewhere.append(request.url)

    def check(self) -> None:
        bad = [
            error
            for error in self.errors
            if not any(word in error for word in self.forgiven)
        ]
        assert not bad, bad
        assert not self.elsewhere, self.elsewhere


WATCHES: WeakKeyDictionary[Page, Watch] = WeakKeyDictionary()


def watch_of(page: Page) -> Watch:
    """Return what looks after a page."""
    return WATCHES[page]


@asynccontextmanager
async def a_page(browser: Browser, address: str, **options: Any) -> AsyncIterator[Page]:
    """Open a window of its own; at the end nothing may have gone wrong in it."""
    context = await a_context(browser, address, **options)
    try:
        async with watched(context, address) as page:
            yield page
    finally:
        await context.close()


async def a_context(browser: Browser, address: str, **options: Any) -> BrowserContext:
    """Make somebody's browser: what is loaded in it is loaded once."""
    context = await browser.new_context(
        **{
            "base_url": address,
            "viewport": {"width": 1440, "height": 900},
            "reduced_motion": "reduce",
            **options,
        }
    )
    context.set_default_timeout(60_000)  # a busy machine, not a slow page
    return context


@asynccontextmanager
async def watched(context: BrowserContext, address: str) -> AsyncIterator[Page]:
    """Open a window; the next one in the same browser finds nothing that this one kept."""
    page = await context.new_page()
    watch = WATCHES[page] = Watch(address)
    watch.follow(page)
    try:
        yield page
        if page.url.startswith(address):
            await page.evaluate("localStorage.clear()")
        await context.clear_cookies()
    finally:
        # Left open, it would go on asking the application under the next tests.
        await page.close()
    watch.check()


async def walk_to(page: Page, path: str) -> None:
    """Go to another screen inside the page, and wait until all of it is there."""
    await page.evaluate(MOVE, path)
    await expect(page.locator(SCREENS[path])).to_be_visible()
    await expect(page.locator(".skeleton, .loading")).to_have_count(0)


async def begin_condition(page: Page) -> Locator:
    """Open the form in which a condition on any field is put together."""
    await page.get_by_role("button", name="Filter", exact=True).click()
    await page.get_by_role("button", name="Another condition").click()
    return page.get_by_role("dialog")


async def downloaded(page: Page, button: Locator) -> list[dict[str, str]]:
    """Press what downloads a CSV file, and read its rows."""
    async with page.expect_download() as waiting:
        await button.click()
    path = await (await waiting.value).path()
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


MOVE = """path => {
  history.pushState(null, "", path);
  dispatchEvent(new PopStateEvent("popstate"));
}"""


async def violations(page: Page) -> list[str]:
    """Let axe look at the page; say what is wrong, in its words."""
    if not await page.evaluate("'axe' in window"):
        await page.evaluate(AXE.read_text(encoding="utf-8"))
    # There are no media, and no rule that is on reads the sheets again.
    asked = "axe.run({resultTypes: ['violations'], preload: false})"
    found = await page.evaluate(asked)
    return [
        f"{rule['id']}: {rule['help']}: {[node['target'] for node in rule['nodes'][:3]]}"
        for rule in found["violations"]
    ]
