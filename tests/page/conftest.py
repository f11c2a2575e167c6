"""One browser and one application for these tests, emptied for each module; one fresh page
per test, in a browser that has loaded the scripts before. They end with the last test here:
what they log and how long they wait is nothing for the tests that follow on this worker."""

import os
import shutil
from collections.abc import AsyncIterator, Iterator

import pytest
import pytest_asyncio
from playwright.async_api import Browser, BrowserContext, Page, async_playwright

from scrapersky.api import refreshed
from scripts import page as page_build
from tests.api.waiting import long_timeouts
from tests.conftest import TestServer, a_database
from tests.durable import durable_server, installed
from tests.page.rig import AXE, QUIET, RunningApp, a_context, running, watched

__all__ = ["durable_server", "installed"]

FLAGS = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--renderer-process-limit=1",  # which has read the scripts before
)  # fmt: skip
NAMES = (
    "chromium-headless-shell", "chromium", "chromium-browser", "google-chrome",
    "google-chrome-stable",
)  # fmt: skip
"""The first draws no window, which saves a quarter of the work."""


@pytest.fixture(scope="session")
def chromium() -> str:
    """Say where the browser of this machine is."""
    place = os.environ.get("CHROMIUM") or next(
        filter(None, map(shutil.which, NAMES)), None
    )
    if place is not None:
        return place
    missing = (
        "No Chromium is installed: on Debian and Ubuntu `apt-get install chromium`, "
        "or name one with CHROMIUM=/path/to/it."
    )
    if os.environ.get("CI"):
        pytest.fail(missing)
    pytest.skip(missing)


@pytest_asyncio.fixture(scope="package", loop_scope="session")
async def browser(chromium: str) -> AsyncIterator[Browser]:
    """Start the browser for all tests."""
    async with async_playwright() as driver:
        browser = await driver.chromium.launch(
            executable_path=chromium, args=list(FLAGS)
        )
        yield browser
        await browser.close()


@pytest.fixture(scope="session")
def built() -> None:
    """Have the page built from its sources, and what looks at it installed."""
    page_build.build()
    if not AXE.exists():
        page_build.install_all()


@pytest.fixture(scope="package")
def resting_app(
    postgres_server: TestServer,
    template: str,
    built: None,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[RunningApp]:
    """Run the application with its stages at rest for all tests."""
    kept = {
        **QUIET,
        "SCRAPERSKY_DATA_DIR": str(tmp_path_factory.mktemp("data")),
        # What its searches would cost is shown; none is begun.
        "GOOGLE_MAPS_API_KEY": "a key that is never used",
    }
    with pytest.MonkeyPatch.context() as patch:
        # What takes seconds to count is counted anew after a minute; how long it takes
        # depends on the machine.
        patch.setattr(refreshed, "AGE_PER_READ", 1)
        for database in a_database(postgres_server, template):
            with long_timeouts(), running(database, kept) as app:
                yield app


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def app(resting_app: RunningApp) -> RunningApp:
    """Give the application to the tests of a module, with nothing in it."""
    resting_app.be_running()
    await resting_app.empty()
    return resting_app


@pytest_asyncio.fixture(scope="package", loop_scope="session")
async def contexts(browser: Browser) -> AsyncIterator[dict[str, BrowserContext]]:
    """Keep one person's browser for each application."""
    opened: dict[str, BrowserContext] = {}
    yield opened
    for context in opened.values():
        await context.close()


@pytest_asyncio.fixture(loop_scope="session")
async def page(
    browser: Browser, contexts: dict[str, BrowserContext], app: RunningApp
) -> AsyncIterator[Page]:
    """Open a fresh window; nothing may go wrong in it unseen."""
    app.be_running()
    if app.address not in contexts:
        contexts[app.address] = await a_context(browser, app.address)
        # While a blank one is there, the others are tabs beside it: a window costs seconds.
        await contexts[app.address].new_page()
    async with watched(contexts[app.address], app.address) as page:
        yield page
