"""Small things that made new users doubt the page, each under the name of what was wrong."""

import asyncio
import json
import re

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page, Route, ViewportSize, expect

from tests.page.rig import RunningApp, a_page, until_stored, watch_of

pytestmark = [
    pytest.mark.slow,
    pytest.mark.asyncio(loop_scope="session"),
    pytest.mark.xdist_group("page"),  # they share one application
]

LAPTOP = ViewportSize(width=1280, height=800)
FILL = """
INSERT INTO companies (tenant_id, name, lead_status, updated_at)
SELECT $1, 'Company ' || n, s, now() - n * interval '1 hour'
FROM unnest(enum_range(NULL::lead_status)) WITH ORDINALITY AS one (s, n);
INSERT INTO domains (tenant_id, domain) VALUES ($1, 'b.example');
INSERT INTO contacts (tenant_id, domain_id, email, validation)
SELECT $1, id, 'ana@b.example', $2::jsonb FROM domains;
INSERT INTO place_searches (tenant_id, business_type, location, source, status, found_count)
VALUES ($1, 'bakeries', 'Porto', 'osm', 'Completed', 2)
"""
OUTSIDE = """() => [...document.querySelectorAll(".grid-row .badge")].filter((badge) => {
  const cell = badge.closest("[role=gridcell]").getBoundingClientRect();
  const own = badge.getBoundingClientRect();
  return own.right > cell.right + 0.5 || own.left < cell.left - 0.5;
}).map((badge) => badge.textContent)"""
"""The pills that reach beyond the column they stand in."""
CUT_OFF = """() => [...document.querySelectorAll("table th, table td")].filter((cell) => {
  const box = cell.closest(".table-box").getBoundingClientRect();
  const own = cell.getBoundingClientRect();
  return own.width > 0 && (own.right > box.right + 1 || cell.scrollWidth > own.width + 1);
}).map((cell) => cell.textContent)"""
RING = """() => {
  const style = getComputedStyle(document.activeElement);
  return [document.activeElement.outerHTML.slice(0, 80), style.outlineStyle];
}"""
BUTTON = """() => {
  const input = document.querySelector("input[type=file]");
  const style = getComputedStyle(input, "::file-selector-button");
  return {corners: style.borderTopLeftRadius, line: style.borderTopStyle,
    isOurFont: style.fontFamily === getComputedStyle(document.body).fontFamily};
}"""


@pytest_asyncio.fixture(loop_scope="session", autouse=True)
async def records(app: RunningApp) -> None:
    """Make a lead of each status, a contact whose address was tried, and a search."""
    await app.empty()
    tenant = await app.tenant()
    verdict = json.dumps({"verdict": "deliverable", "reason": "accepted"})
    for statement in FILL.split(";"):
        values = (tenant, verdict) if "$2" in statement else (tenant,)
        await app.run(statement, *values)


@pytest.mark.parametrize("columns", ["", "?columns=name,lead_status:4,owner,phone"])
async def test_the_pill_of_a_status_lay_over_the_next_column(
    browser: Browser, app: RunningApp, columns: str
) -> None:
    async with a_page(browser, app.address, viewport=LAPTOP) as page:
        await page.goto(f"/curate/companies{columns}")
        pills = page.locator(".grid-row .badge").locator("visible=true")
        await expect(pills).to_have_count(6)

        assert await page.evaluate(OUTSIDE) == []


async def test_when_a_job_runs_next_was_cut_at_the_edge_of_its_table(
    browser: Browser, app: RunningApp
) -> None:
    for width in (390, 1024, 1280):
        size = ViewportSize(width=width, height=800)
        async with a_page(browser, app.address, viewport=size) as page:
            await page.goto("/pipeline")
            jobs = page.get_by_role("group", name="Scheduled jobs")
            await expect(jobs.get_by_role("row").nth(1)).to_be_visible()

            assert await page.evaluate(CUT_OFF) == []


async def test_counts_and_funnel_said_0_while_nobody_had_answered(page: Page) -> None:
    watch_of(page).forgive("Failed to load resource")
    is_let = asyncio.Event()

    async def hold(route: Route) -> None:
        await is_let.wait()
        await route.abort()

    await page.goto("/rules")
    for asked in ("facets", "funnels", "home"):
        await page.route(f"**/api/v3/**{asked}**", hold)
    no_number = re.compile(r"^\D*$")

    await page.goto("/curate/companies")
    tabs = page.locator(".status-tabs")
    await expect(page.locator(".grid-row")).not_to_have_count(0)
    await expect(tabs).to_have_text(no_number)
    is_let.set()
    await expect(tabs).to_have_text(no_number)
    is_let.clear()

    await page.goto("/results")
    panel = page.locator("section").filter(has_text="From place to deal").first
    await expect(panel.get_by_label("Search")).to_be_visible()
    await expect(page.locator(".lead-funnel")).to_have_count(0)
    is_let.set()
    await expect(panel.get_by_role("alert")).to_be_visible()
    await expect(page.locator(".lead-funnel")).to_have_count(0)
    await page.unroute_all()


async def test_the_ring_around_what_has_the_focus_was_dashed(page: Page) -> None:
    await page.goto("/curate/companies")
    await expect(page.locator(".grid-row")).not_to_have_count(0)
    rings = []
    for _ in range(30):
        await page.keyboard.press("Tab")
        rings.append(await page.evaluate(RING))

    assert [ring for ring in rings if ring[1] != "solid"] == []


async def test_the_button_that_chooses_a_file_looked_like_the_browsers(
    page: Page,
) -> None:
    await page.goto("/import")
    await page.get_by_role("button", name="Import a list").first.click()
    await expect(page.locator("input[type=file]")).to_be_attached()

    style = await page.evaluate(BUTTON)

    assert style["corners"] != "0px"
    assert (style["line"], style["isOurFont"]) == ("solid", True)


async def test_the_history_said_edited_and_not_what(
    page: Page, app: RunningApp
) -> None:
    await page.goto("/leads")
    await page.locator(".grid-row").first.click(position={"x": 60, "y": 8})
    await page.get_by_role("button", name="Assign and note").click()
    dialog = page.get_by_role("dialog")
    await dialog.get_by_label("Notes").fill("Call on Monday")
    await dialog.get_by_label("Tags").fill("fair")
    await dialog.get_by_role("button", name="Save").click()
    await until_stored(
        app, "SELECT notes FROM companies WHERE notes <> ''", [("Call on Monday",)]
    )

    told = page.locator(".timeline li").filter(has_text="Edited")
    await expect(told.first).to_contain_text("Notes")
    await expect(told.first).to_contain_text("Tags")


async def test_the_audit_said_queued_0_changed_1(page: Page, app: RunningApp) -> None:
    await page.goto("/curate/domains")
    await page.locator(".grid-row").first.click(position={"x": 60, "y": 8})
    await page.keyboard.press("Escape")
    await page.keyboard.press("n")
    await until_stored(
        app,
        "SELECT count(*) FROM audit_log WHERE action = 'decided'",
        [(1,)],
    )
    await page.goto("/settings/audit")
    row = page.get_by_role("row").filter(has_text="Decided domains")

    await expect(row).to_be_visible()
    await expect(page.locator("#panel-audit")).not_to_contain_text(
        re.compile(r"queued: |changed: ")
    )


async def test_whether_mail_arrives_was_called_the_type_of_a_website(
    page: Page,
) -> None:
    await page.goto("/curate/contacts")
    await page.locator(".grid-row").first.click(position={"x": 60, "y": 8})
    pane = page.get_by_label("Details of one contact")

    await expect(pane).to_contain_text("Deliverable")
    await expect(pane).not_to_contain_text("Website type")


@pytest.mark.parametrize(
    ("address", "title"),
    [("/leads", "Companies"), ("/failed", "Failed"), ("/import", "Import")],
)
async def test_an_address_that_people_try_was_not_found(
    page: Page, address: str, title: str
) -> None:
    await page.goto(address)

    await expect(page.get_by_role("heading", name=title, level=1)).to_be_visible()
