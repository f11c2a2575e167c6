"""How true a list is, seen on the page: the map's verdicts, completeness, a sample to check.

All rows are what the pipeline made of the demo town.
"""

import asyncio
import json
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Locator, Page, expect

from sdk_tests.rig.waiting import HUNG
from tests.page.rig import a_context, violations, watched
from tests.page.test_sales import Town, town

__all__ = ["town"]

pytestmark = [
    pytest.mark.long,
    pytest.mark.asyncio(loop_scope="session"),
    pytest.mark.xdist_group("page-true-lists"),  # they share one town
]

MARKED = """SELECT mark::text FROM sampled_values WHERE mark IS NOT NULL
  AND sample_id = (SELECT max(sample_id::text)::uuid FROM sampled_values) ORDER BY position"""
JUDGED = """SELECT c.id::text, c.name, v.url FROM companies c JOIN company_verdicts v
    ON v.company_id = c.id AND v.field = 'phone' AND v.verdict = 'confirmed'
  WHERE c.phone IS NOT NULL ORDER BY c.name LIMIT 1"""


@pytest_asyncio.fixture(loop_scope="session")
async def page(browser: Browser, town: Town) -> AsyncIterator[Page]:
    async with asyncio.timeout(HUNG):
        # Companies are put together after the pipeline has nothing to do any more.
        while not await town.run(JUDGED):  # noqa: ASYNC110 - no event tells it
            await asyncio.sleep(0.2)
    context = await a_context(browser, town.address)
    async with watched(context, town.address) as page:
        yield page
    await context.close()


def dialog(page: Page) -> Locator:
    return page.get_by_role("dialog", name="Check a sample")


async def begin(page: Page) -> int:
    """Draw a sample of the e-mail addresses of all companies; return how many there are."""
    await page.goto("/curate/companies")
    await page.get_by_role("button", name="Check a sample").click()
    await dialog(page).get_by_role("button", name="Draw a sample").click()
    place = dialog(page).get_by_text(" of ").first
    await expect(place).to_contain_text("1 of ")
    return int((await place.inner_text()).rpartition(" ")[2])


async def marked(page: Page, count: int) -> None:
    await expect(dialog(page).locator(f"[data-measured='{count}']")).to_be_visible()


async def test_the_card_marks_what_the_website_confirms(
    page: Page,
    town: Town,
) -> None:
    ((company, _, url),) = await town.run(JUDGED)

    await page.goto(f"/curate/companies?open={company}")
    card = page.locator(".lead-card")

    await expect(card.locator("[data-map=confirmed]").first).to_be_visible()
    await page.get_by_text("The map and the website").click()
    fold = page.locator(".fold", has_text="Phone: confirmed")
    await expect(fold.get_by_role("link", name=url).first).to_be_visible()
    assert await violations(page) == []


async def test_a_search_in_one_source_says_why_there_is_no_number(
    page: Page,
    town: Town,
) -> None:
    ((search,),) = await town.run("SELECT id::text FROM place_searches LIMIT 1")

    await page.goto(f"/search/{search}")

    panel = page.locator("[data-completeness=none]")
    await expect(panel).to_contain_text("Only one source was asked")
    await expect(panel).to_contain_text("have an e-mail address.")
    await expect(panel).to_contain_text("as measured on annotated websites")


async def test_a_sample_is_marked_by_key_undone_and_measured(
    page: Page,
    town: Town,
) -> None:
    drawn = await begin(page)
    for key in ("r", "w", "?", "r"):
        before = await dialog(page).locator(".sampled").inner_text()
        await page.keyboard.press(key)
        await expect(dialog(page).locator(".sampled")).not_to_have_text(before)
    await marked(page, 3)
    await page.keyboard.press("u")
    await marked(page, 2)
    kept = [row[0] for row in await town.run(MARKED)]
    for _ in range(drawn - 3):
        # As fast as a hand is: nothing is lost while an answer is on its way.
        await page.keyboard.press("r")
    await marked(page, drawn - 1)
    await expect(dialog(page)).to_contain_text("All are marked.")
    await expect(dialog(page)).to_contain_text(f"{drawn - 2} of {drawn - 1} right")
    link = dialog(page).get_by_role("link", name="Download the marks")
    async with page.expect_download() as waiting:
        await link.click()
    lines = (await (await waiting.value).path()).read_text().splitlines()
    await dialog(page).get_by_role("button", name="Close").last.click()
    await page.get_by_role("button", name="Check a sample").click()

    assert kept == ["right", "wrong", "unknown"]
    assert all("site" in json.loads(line) for line in lines)
    await expect(dialog(page)).to_contain_text(f"{drawn - 2} of {drawn - 1} right")
    assert await violations(page) == []
