"""Every screen opens, is usable by everyone, and asks nobody else for anything."""

import pytest
from playwright.async_api import Browser, Page, expect

from tests.page.rig import SCREENS, RunningApp, a_page, violations

pytestmark = [
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.xdist_group("page-screens"),  # they share one application
]

PHONE = {"width": 390, "height": 844}


async def test_axe_finds_nothing_wrong_on_any_screen(page: Page) -> None:
    found = {path: await looked_at(page, path) for path in SCREENS}

    assert found == {path: [] for path in SCREENS}


async def test_a_dark_phone_shows_every_screen_whole(
    browser: Browser, app: RunningApp
) -> None:
    async with a_page(
        browser, app.address, viewport=PHONE, color_scheme="dark"
    ) as page:
        found = {}
        for path in SCREENS:
            wrong = await looked_at(page, path)
            if await page.evaluate("document.documentElement.scrollWidth") > 390:
                wrong.append("it is wider than the phone")
            found[path] = wrong

        assert found == {path: [] for path in SCREENS}


async def looked_at(page: Page, path: str) -> list[str]:
    await page.goto(path)
    await expect(page.get_by_role("heading", level=1)).to_be_visible()
    await expect(page.locator(".skeleton, .loading")).to_have_count(0)
    return await violations(page)


async def test_a_phone_has_the_navigation_behind_a_button(
    browser: Browser, app: RunningApp
) -> None:
    async with a_page(browser, app.address, viewport=PHONE) as page:
        await page.goto("/")
        await page.get_by_role("button", name="Open the navigation").click()
        await page.get_by_role("dialog").get_by_role("link", name="Rules").click()

        await expect(page).to_have_url(f"{app.address}/rules")
        await expect(page.get_by_role("dialog")).to_have_count(0)


async def test_the_keys_are_explained_and_work(page: Page, app: RunningApp) -> None:
    await page.goto("/")
    await expect(page.get_by_role("heading", name="Pipeline", level=1)).to_be_visible()
    await page.keyboard.press("?")
    keys = page.get_by_role("dialog", name="Keys")
    await expect(keys).to_contain_text("Go to contacts")
    await page.keyboard.press("Escape")
    await page.keyboard.press("g")
    await page.keyboard.press("s")

    await expect(page).to_have_url(f"{app.address}/search")


async def test_the_theme_stays_as_chosen(page: Page) -> None:
    await page.goto("/")
    await page.get_by_role("button", name="theme, keys and more").click()
    await page.get_by_role("menuitemcheckbox", name="Dark").click()
    await page.reload()

    assert await page.evaluate("document.documentElement.dataset.theme") == "dark"


async def test_an_unknown_address_is_said_to_be_one(page: Page) -> None:
    await page.goto("/nowhere/at/all")
    await expect(page.get_by_text("There is no screen at this address")).to_be_visible()
    await page.get_by_role("button", name="To the pipeline").click()

    await expect(page.get_by_role("heading", name="Pipeline", level=1)).to_be_visible()
