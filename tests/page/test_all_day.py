"""The page as it is used all day: at any size, and clicked on without mercy."""

import asyncio
import random
import time

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page, ViewportSize, expect

from tests.page.rig import MOVE, SCREENS, RunningApp, a_page, violations, watch_of

pytestmark = [
    pytest.mark.asyncio(loop_scope="session"),
    pytest.mark.xdist_group("page"),  # they share one application
]

SIZES = {
    "at 200 % zoom": ViewportSize(width=640, height=400),
    "on a wide screen": ViewportSize(width=2560, height=1440),
}
MINUTES = 10
WARM_UP = 0.2
"""The share of the time after which the page has loaded all it ever will."""
MOST_GROWTH = 1.5
SHOWN = ("status of 404", "status of 409", "status of 412", "status of 422")
"""What a person is told in a message; the browser writes it to its console as well."""
KEYS = ("j", "k", "s", "n", "m", "u", "x", "Enter", "Escape", "Escape", "/", "?", "e")
CUT = """() => [...document.querySelectorAll(".grid, .table-box")]
  .filter((box) => box.scrollWidth > box.clientWidth + 1).length"""
CLICK = """(chance) => {
  const open = [...document.querySelectorAll("dialog[open]")].at(-1) ?? document.body;
  const shown = [...open.querySelectorAll(
    "button:not([disabled]), a[href^='/'], summary, input[type=checkbox], .grid-row",
  )].filter((one) => one.checkVisibility()
    && !one.matches("[download], [target], [href^='/docs']")
    && !/log out|download|demo town|api reference|visit/i.test(one.textContent));
  shown[Math.floor(chance * shown.length)]?.click();
}"""
FILL = """
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


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def records(app: RunningApp) -> None:
    """Put enough on the screens to get lost in."""
    tenant = await app.tenant()
    for statement in FILL.split(";"):
        await app.run(statement, tenant)


@pytest.mark.long
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.usefixtures("records")
async def test_lists_cut_columns_or_were_wider_than_the_window(
    browser: Browser, app: RunningApp, size: str, theme: str
) -> None:
    options = {"viewport": SIZES[size], "color_scheme": theme}
    found: dict[str, list[str]] = {}
    async with a_page(browser, app.address, **options) as page:
        await page.goto("/nowhere")
        for path, sign in SCREENS.items():
            await page.evaluate(MOVE, path)
            await expect(page.locator(sign)).to_be_visible()
            await expect(page.locator(".skeleton, .loading")).to_have_count(0)
            found[path] = await violations(page)
            if await page.evaluate("document.documentElement.scrollWidth > innerWidth"):
                found[path].append("it is wider than the window")
            if size == "on a wide screen" and await page.evaluate(CUT):
                found[path].append("a table is cut off")
    assert found == {path: [] for path in SCREENS}


@pytest.mark.long
@pytest.mark.usefixtures("records")
async def test_ten_minutes_of_random_clicks_in_two_tabs_break_nothing(
    browser: Browser, app: RunningApp
) -> None:
    async with (
        a_page(browser, app.address) as first,
        a_page(browser, app.address) as second,
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


async def heap(page: Page) -> float:
    """Return how much the page holds on its home screen, when all garbage is gone."""
    for _ in range(3):
        await page.keyboard.press("Escape")
    await page.evaluate(MOVE, "/")
    await page.wait_for_timeout(1000)
    session = await page.context.new_cdp_session(page)
    await session.send("HeapProfiler.collectGarbage")
    used = await session.send("Runtime.getHeapUsage")
    await session.detach()
    return float(used["usedSize"])
