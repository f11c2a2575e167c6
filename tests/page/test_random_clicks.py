"""The page clicked on at random, for minutes, in an application of its own."""

import asyncio
import random
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager

import pytest
from playwright.async_api import Browser, Page, expect

from tests.api.waiting import long_timeouts
from tests.conftest import TestServer, a_database
from tests.page.rig import MOVE, QUIET, SCREENS, RunningApp, a_page, running, watch_of

pytestmark = [
    pytest.mark.asyncio(loop_scope="session"),
    pytest.mark.xdist_group("page"),  # it shares the browser
]

MINUTES = 10
WARM_UP = 0.2
"""The share of the time after which the page has loaded all it ever will."""
MOST_GROWTH = 1.5
SHOWN = ("status of 404", "status of 409", "status of 412", "status of 422")
"""What a person is told in a message; the browser writes it to its console as well."""
KEYS = ("j", "k", "s", "n", "m", "u", "x", "Enter", "Escape", "Escape", "/", "?", "e")
CLICK = """(chance) => {
  const open = [...document.querySelectorAll("dialog[open]")].at(-1) ?? document.body;
  const shown = [...open.querySelectorAll(
    "button:not([disabled]), a[href^='/'], summary, input[type=checkbox], .grid-row",
  )].filter((one) => one.checkVisibility()
    && !one.matches("[download], [target], [href^='/docs']")
    && !/log out|download|demo town|api reference|visit/i.test(one.textContent));
  shown[Math.floor(chance * shown.length)]?.click();
}"""


@pytest.fixture
def clicked_app(
    postgres_server: TestServer,
    template: str,
    built: None,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[RunningApp]:
    """Run an application that nobody else uses: a random click may change anything."""
    kept = {**QUIET, "SCRAPERSKY_DATA_DIR": str(tmp_path_factory.mktemp("clicked"))}
    for database in a_database(postgres_server, template):
        # How long connections are waited for depends on the machine.
        with long_timeouts(), running(database, kept) as app:
            yield app


@pytest.mark.long
async def test_ten_minutes_of_random_clicks_in_two_tabs_break_nothing(
    browser: Browser, clicked_app: RunningApp
) -> None:
    await clicked_app.fill()
    async with (
        vacuumed(clicked_app),
        a_page(browser, clicked_app.address) as first,
        a_page(browser, clicked_app.address) as second,
    ):
        for page in (first, second):
            watch_of(page).forgive(*SHOWN)
            await page.goto("/")
        seed = random.SystemRandom().randrange(10**6)
        print(f"seed {seed}")
        warm = MINUTES * 60 * WARM_UP
        await asyncio.gather(
            clicked(first, seed, warm), clicked(second, seed + 1, warm)
        )
        before = await heap(first)
        rest = MINUTES * 60 - warm
        await asyncio.gather(
            clicked(first, seed, rest), clicked(second, seed + 1, rest)
        )
        after = await heap(first)
        # The page still does what it should.
        await first.goto("/curate/domains")
        await expect(first.locator(".grid-row").first).to_be_visible()
    assert after < before * MOST_GROWTH, (before, after)


async def clicked(page: Page, seed: int, seconds: float) -> None:
    """Click on anything, and press any key, for a while."""
    chance = random.Random(seed)
    until = time.monotonic() + seconds
    steps = 0
    while time.monotonic() < until:
        steps += 1
        if chance.random() < 0.3:
            await page.keyboard.press(chance.choice(KEYS))
        else:
            await page.evaluate(CLICK, chance.random())
        if steps % 40 == 0:
            await page.evaluate(MOVE, chance.choice([*SCREENS]))
        await page.wait_for_timeout(100)


@asynccontextmanager
async def vacuumed(app: RunningApp) -> AsyncIterator[None]:
    """Do what autovacuum does: the servers of tests, most of which end soon, do without."""

    async def vacuum() -> None:
        while True:
            await app.run("VACUUM (ANALYZE)")
            await asyncio.sleep(30)

    vacuuming = asyncio.create_task(vacuum())
    try:
        yield
    finally:
        vacuuming.cancel()
        await asyncio.gather(vacuuming, return_exceptions=True)


async def heap(page: Page) -> float:
    """Return how much the page holds on its home screen, when all garbage is gone."""
    for _ in range(3):
        await page.keyboard.press("Escape")
    await page.evaluate(MOVE, "/pipeline")
    await page.wait_for_timeout(1000)
    session = await page.context.new_cdp_session(page)
    await session.send("HeapProfiler.collectGarbage")
    used = await session.send("Runtime.getHeapUsage")
    await session.detach()
    return float(used["usedSize"])
