"""The page as it is used all day: with many records, at any size."""

import pytest
import pytest_asyncio
from playwright.async_api import Browser, ViewportSize, expect

from tests.page.rig import MOVE, SCREENS, RunningApp, a_page, violations

pytestmark = [
    pytest.mark.asyncio(loop_scope="session"),
    pytest.mark.xdist_group("page"),  # they share one application
]

SIZES = {
    "at 200 % zoom": ViewportSize(width=640, height=400),
    "on a wide screen": ViewportSize(width=2560, height=1440),
}
CUT = """() => [...document.querySelectorAll(".grid, .table-box")]
  .filter((box) => box.scrollWidth > box.clientWidth + 1).length"""


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def records(app: RunningApp) -> None:
    """Put enough on the screens to get lost in."""
    await app.fill()


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
