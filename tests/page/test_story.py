"""From the first visit to an exported file: the demo town, as a person walks through it."""

import asyncio
import re

import pytest
from playwright.async_api import Page, Route, expect

from tests.page.rig import downloaded, walk_to, watch_of

pytestmark = [
    pytest.mark.slow,
    pytest.mark.asyncio(loop_scope="session"),
    pytest.mark.xdist_group("page-story"),  # beside the others, not among them
]

STARTING = 180_000
"""Milliseconds that a whole application may take to start on a busy machine."""
IS_CHECKED = """async () => {
  const asked = "/api/v3/contacts?limit=5&filter=validation_processing_status:equal:Complete";
  const answer = await fetch(asked);
  return answer.ok && (await answer.json()).items.length > 0;
}"""
HAS_CONTACTS = """async () => {
  const answer = await fetch("/api/v3/contacts?limit=5");
  return answer.ok && (await answer.json()).items.length === 5;
}"""


@pytest.mark.parametrize("by_hand", [False, pytest.param(True, marks=pytest.mark.long)])
async def test_from_first_visit_to_exported_file(
    page: Page,
    by_hand: bool,
) -> None:
    # Where the machine is busy too, the page asks again.
    watch_of(page).forgive("status of 503")
    await page.route("**/api/v3/demo", in_a_smaller_town)
    await page.goto("/")
    await expect(page.get_by_text("There is no data yet")).to_be_visible()
    if by_hand:
        await page.get_by_label("Decide automatically with rules").uncheck()
    # In the same tab and at the same address; anything else is an error of the page.
    await page.get_by_role("button", name="Try the demo town").click()
    leave = page.get_by_role("button", name="Leave the demo")
    await expect(leave).to_be_visible(timeout=STARTING)
    await expect(page).to_have_url(
        re.compile("/(home|pipeline)?$" if by_hand else "/curate/companies$")
    )
    await walk_through(page, by_hand=by_hand)
    await leave.click()
    # What happened there did not happen here.
    await expect(page.get_by_text("There is no data yet")).to_be_visible()
    await page.get_by_role("button", name="Close the town").click()
    await expect(page.get_by_role("button", name="Visit the town")).to_have_count(0)


async def walk_through(page: Page, *, by_hand: bool) -> None:
    """Decide about everything in the town, or let rules do so; take its contacts away."""
    await expect(page.get_by_text("This is the demo town")).to_be_visible()
    if by_hand:
        for kind in ("places", "businesses", "sitemap-files", "pages"):
            await decide_all(page, kind, "s")
        await until_quiet(page)
    async with asyncio.timeout(STARTING / 1000):
        # A list that is open does not grow by itself.
        while not await page.evaluate(HAS_CONTACTS):  # noqa: ASYNC110 - there is no event
            await asyncio.sleep(1)

    if not by_hand:
        await until_checked(page)
        # The end of it is a list of leads.
        await expect(page.locator(".grid-row").nth(4)).to_be_visible()
        await expect(page.locator(".grid-row").filter(has_text="@")).not_to_have_count(
            0
        )
    await walk_to(page, "/curate/contacts")
    await expect(page.locator(".grid-row").nth(4)).to_be_visible()
    await page.keyboard.press("e")
    link = page.get_by_role("dialog").get_by_role("link", name="Download")
    rows = await downloaded(page, link)
    assert len(rows) >= 5
    assert any("@" in row.get("email", "") for row in rows)


async def until_checked(page: Page) -> None:
    """Wait until some e-mail addresses have been verified."""
    async with asyncio.timeout(STARTING / 1000):
        while not await page.evaluate(IS_CHECKED):  # noqa: ASYNC110 - there is no event
            await asyncio.sleep(1)


async def in_a_smaller_town(route: Route) -> None:
    """Ask for fewer businesses than the page offers: more of them prove nothing new."""
    asked = route.request.post_data_json
    await route.continue_(post_data=asked and {**asked, "size": 10})


async def decide_all(page: Page, kind: str, key: str) -> None:
    """Wait for records of a kind, choose all that match, and press a key."""
    await walk_to(page, f"/curate/{kind}")
    await expect(page.locator(".grid-row").first).to_be_visible(timeout=60_000)
    await until_quiet(page)
    await walk_to(page, f"/curate/{kind}")
    await expect(page.locator(".grid-row").first).to_be_visible()
    await page.keyboard.press("Control+a")
    await page.keyboard.press("Control+a")
    await page.keyboard.press(key)
    confirm = page.get_by_role("dialog").get_by_role("button", name=re.compile("^Set"))
    await confirm.click()
    await expect(page.get_by_role("dialog")).to_have_count(0)


async def until_quiet(page: Page) -> None:
    """Wait on the home screen until no stage has anything to do."""
    await walk_to(page, "/pipeline")
    await expect(
        page.get_by_text(re.compile("nothing is running", re.IGNORECASE))
    ).to_be_visible(timeout=120_000)
