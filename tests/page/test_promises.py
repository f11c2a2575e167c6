"""What the page says and does in the lead list, each under the name of what went wrong."""

import asyncio
import re

import pytest
import pytest_asyncio
from playwright.async_api import Page, Route, expect

from tests.page.rig import RunningApp, until_stored, violations, walk_to, watch_of

pytestmark = [
    pytest.mark.slow,
    pytest.mark.asyncio(loop_scope="session"),
    pytest.mark.xdist_group("page"),  # they share one application
]

MADE = """
WITH c AS (INSERT INTO companies (tenant_id, name, updated_at)
    SELECT $1, name, now() - n * interval '1 hour'
    FROM unnest(ARRAY['Arnold', 'Berger', 'Conrad', 'Dorn']) WITH ORDINALITY AS one (name, n)
    RETURNING id, name)
INSERT INTO company_members (tenant_id, company_id, source, name, is_matched)
SELECT $1, id, 'test', name, true FROM c
"""

KNOWN = """
WITH c AS (INSERT INTO companies (tenant_id, name, city, street, phone)
    VALUES ($1, 'Emil', 'Wien', 'Ring 1', '+4316000003') RETURNING id),
  b AS (INSERT INTO local_businesses (tenant_id, name, city, street, phone)
    VALUES ($1, 'Emil', 'Wien', 'Ring 1', '+4316000003') RETURNING id)
INSERT INTO company_members
  (tenant_id, company_id, business_id, source, name, street, locality, domain, phone,
   is_matched)
SELECT $1, c.id, b.id, 'test', 'Emil', 'ring 1', 'wien', 'emil.example', '+4316000003', true
FROM c, b
"""


@pytest_asyncio.fixture(loop_scope="session", autouse=True)
async def companies(app: RunningApp) -> None:
    """Make four companies, the newest first."""
    await app.empty()
    await app.run(MADE, await app.tenant())


async def test_an_open_company_turned_red_and_another_one_was_marked(
    page: Page, app: RunningApp
) -> None:
    await page.goto("/leads")
    await expect(page).to_have_url(re.compile("/curate/companies$"))
    row = page.get_by_role("row").filter(has_text="Conrad")
    await row.click(position={"x": 60, "y": 8})
    pane = page.get_by_label("Details of one company")
    await expect(pane.get_by_role("heading", level=2)).to_have_text("Conrad")
    await expect(page.locator(".side").get_by_text("Live")).to_be_visible()
    # Another person decides: the open record hears of it. What was sent meanwhile is
    # refused, and sent again for the record as it is.
    watch_of(page).forgive("412")
    await app.run(
        "UPDATE companies SET lead_status = 'Do Not Contact', updated_at = now()"
        " WHERE name = 'Conrad'"
    )
    await expect(pane.locator(".badge").first).to_have_text("Do not contact")
    await expect(pane.locator(".pane-error")).to_have_count(0)
    await expect(pane.locator(".decisions .primary")).to_have_count(0)

    await page.get_by_role("button", name="Assign and note").click()
    dialog = page.get_by_role("dialog", name="Edit Conrad")
    await dialog.get_by_label("Notes").fill("Call on Monday")
    await dialog.get_by_role("button", name="Save").click()
    await until_stored(
        app, "SELECT notes FROM companies WHERE notes <> ''", [("Call on Monday",)]
    )
    await expect(page.locator("[aria-rowindex='2']")).to_contain_text("Conrad")
    await expect(page.locator(".grid-row.current")).to_contain_text("Conrad")
    await expect(pane).to_contain_text("Call on Monday")
    assert await violations(page) == []


async def test_a_merge_was_the_one_thing_that_no_key_took_back(
    page: Page, app: RunningApp
) -> None:
    await page.goto("/curate/companies?sort=name")
    for name in ("Arnold", "Berger"):
        row = page.get_by_role("row").filter(has_text=name)
        await row.get_by_role("checkbox").click()
    await page.get_by_role("button", name="Merge").click()
    dialog = page.get_by_role("dialog", name="Merge 2 companies")
    await dialog.get_by_role("button", name="Merge").click()
    await until_stored(app, "SELECT count(*) FROM companies", [(3,)])
    await expect(dialog).to_have_count(0)

    await page.keyboard.press("u")

    await until_stored(app, "SELECT count(*) FROM companies", [(4,)])
    await page.get_by_role("button", name="Possible duplicates").click()
    asked = page.get_by_role("dialog", name="Possible duplicates")
    await expect(asked).to_contain_text("No duplicates to review.")
    await expect(asked.get_by_role("button", disabled=True)).to_have_count(0)


async def test_settings_listed_no_company_that_must_not_be_contacted(
    page: Page, app: RunningApp
) -> None:
    await page.goto("/leads")
    await expect(page.locator(".grid-row")).not_to_have_count(0)
    await page.keyboard.press("j")
    await page.keyboard.press("d")
    stopped = "SELECT name FROM companies WHERE lead_status = 'Do Not Contact'"
    await until_stored(app, stopped, [("Arnold",)])

    # Nothing on the record proposes to write to them all the same.
    await (
        page.get_by_role("row")
        .filter(has_text="Arnold")
        .click(position={"x": 60, "y": 8})
    )
    pane = page.get_by_label("Details of one company")
    contacted = pane.get_by_role("button", name="Contacted")
    await expect(contacted).to_be_visible()
    await expect(contacted).not_to_have_class(re.compile("primary"))

    await page.goto("/settings/suppressions")
    listed = page.get_by_role("region", name="Companies not to contact")
    await expect(listed.get_by_role("link", name="Arnold")).to_be_visible()
    assert await violations(page) == []
    await listed.get_by_role("button", name="Set to New").click()

    await expect(listed).to_contain_text("No company has the status Do not contact.")
    await until_stored(app, stopped, [])


async def test_the_news_that_a_list_has_changed_moved_its_rows(
    page: Page, app: RunningApp
) -> None:
    await page.goto("/leads")
    row = page.locator(".grid-row").first
    await expect(row).to_be_visible()
    before = await row.bounding_box()

    await app.run(MADE, await app.tenant())

    changed = page.get_by_role("button", name="The list has changed: refresh")
    await expect(changed).to_be_visible()
    assert await row.bounding_box() == before


async def test_a_dialog_began_with_the_cross_that_closes_it(page: Page) -> None:
    await page.goto("/leads")
    await expect(page.locator(".grid-row")).not_to_have_count(0)
    await page.keyboard.press("e")
    dialog = page.get_by_role("dialog", name="Export")

    await expect(dialog.get_by_label("Format")).to_be_focused()


async def test_the_palette_said_that_nothing_matches_while_it_searched(
    page: Page,
) -> None:
    is_let = asyncio.Event()

    async def hold(route: Route) -> None:
        await is_let.wait()
        await route.continue_()

    await page.goto("/curate/places")
    await expect(page.get_by_role("heading", name="Places", level=1)).to_be_visible()
    await page.route("**/api/v3/companies?*", hold)
    await page.keyboard.press("Control+k")
    box = page.get_by_role("combobox")
    await box.fill("dor")
    palette = page.get_by_role("dialog")
    await expect(palette.get_by_role("status")).to_have_text("Searching…")
    await expect(palette).not_to_contain_text("Nothing matches")
    is_let.set()
    await expect(palette.get_by_role("option").first).to_contain_text("Dorn")
    await expect(palette.get_by_role("option").first).to_contain_text("company")
    await box.fill("no such thing")
    await expect(palette).to_contain_text("Nothing matches.")
    await page.keyboard.press("Escape")

    await walk_to(page, "/rules")
    await page.keyboard.press("?")
    sheet = page.get_by_role("dialog", name="Keyboard shortcuts")
    await expect(sheet).to_contain_text("Do not contact")
    await expect(sheet).to_contain_text("Not a Fit / Skipped")
    assert await violations(page) == []


async def test_what_an_import_changes_was_only_shown_afterwards(
    page: Page, app: RunningApp
) -> None:
    await app.run(KNOWN, await app.tenant())
    await page.goto("/import")
    await page.get_by_role("button", name="Import a list").first.click()
    dialog = page.get_by_role("dialog", name="Import a list")
    # What is a table of companies is taken for one: as domains all of it was refused.
    await dialog.get_by_label("One per line").fill(
        "Name;Website;Phone;Street;City;Account manager\n"
        "Emil;emil.example;+43 1 7000003;Ring 1;Wien;Ada\n"
        "Fritz;;+43 1 7000004;Ring 2;Wien;Bea"
    )
    changes = dialog.get_by_role("region", name="Changes to known companies")
    await expect(changes).to_contain_text("In these rows: 1 company you know")
    row = changes.get_by_role("row").filter(has_text="+4317000003")
    await expect(row).to_contain_text("+4316000003 (shown after the import)")
    await changes.get_by_role("checkbox").check()
    await expect(row).to_contain_text("+4317000003 (shown after the import)")
    await dialog.get_by_label("Import Account manager as").select_option(
        label="New column of your own"
    )
    await until_stored(app, "SELECT title FROM company_columns", [("Account manager",)])
    await expect(dialog.get_by_label("Import Account manager as")).to_have_value(
        "own.account_manager"
    )
    assert await violations(page) == []
    await dialog.get_by_role("button", name="Import 2 lines").click()
    await expect(page).to_have_url(re.compile("/batches/file/"))
    # What came of an import stood under Search.
    here = page.get_by_role("navigation", name="Screens").locator("[aria-current=page]")
    await expect(here).to_have_text("Import")
    await until_stored(
        app, "SELECT params->>'replaces_known' FROM place_searches", [("true",)]
    )
