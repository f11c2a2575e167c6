"""Curating: look, filter, decide by key and by the thousand, take back, take away."""

import re
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Locator, Page, expect

from tests.page.rig import (
    RunningApp,
    a_page,
    begin_condition,
    downloaded,
    until_stored,
    violations,
    watch_of,
)

pytestmark = [
    pytest.mark.slow,
    pytest.mark.asyncio(loop_scope="session"),
    pytest.mark.xdist_group("page"),  # they share one application
]

MANY = 1_200
ONE_LINE = 40
"""Pixels: two lines of a button are higher."""
GROWN = """
([height, last]) => document.querySelector(".grid").scrollHeight > height
  || document.querySelector(".grid").innerText.includes(last)
"""


@pytest_asyncio.fixture(loop_scope="session", autouse=True)
async def records(app: RunningApp) -> None:
    """Make domains to decide about, and contacts with evidence; nothing else is left."""
    app.be_running()
    await app.empty()
    tenant = await app.tenant()
    await app.run(
        "INSERT INTO domains (tenant_id, domain, title, verdict)"
        " SELECT $1, 'shop-' || lpad(n::text, 4, '0') || '.example',"
        " CASE WHEN n % 3 = 0 THEN 'Dentist ' || n ELSE 'Bakery ' || n END, 'own_site'"
        " FROM generate_series(1, $2::int) AS n",
        tenant,
        MANY,
    )
    await app.run(
        "INSERT INTO contacts (tenant_id, domain_id, email, name, confidence)"
        " SELECT $1, id, 'info@' || domain, 'Person ' || domain, 0.9 FROM domains"
        " WHERE domain < 'shop-0006'",
        tenant,
    )
    await app.run(
        "INSERT INTO contact_evidence (tenant_id, contact_id, field, value, url,"
        " snippet, method, confidence, robots, seen_at)"
        " SELECT $1, id, 'email', email, 'https://shop.example/contact',"
        " 'Write to ' || upper(email) || ' today', 'text', 0.9, 'allowed', now()"
        " FROM contacts",
        tenant,
    )


@pytest_asyncio.fixture(loop_scope="session")
async def second(browser: Browser, app: RunningApp) -> AsyncIterator[Page]:
    """Give another person's window."""
    async with a_page(browser, app.address) as page:
        yield page


async def open_list(page: Page, address: str) -> Locator:
    await page.goto(address)
    grid = page.get_by_role("grid")
    await expect(grid.get_by_role("row").nth(1)).to_be_visible()
    return grid


async def decided(app: RunningApp, domain: str, status: str) -> None:
    query = (
        f"SELECT sitemap_curation_status::text FROM domains WHERE domain = '{domain}'"
    )
    await until_stored(app, query, [(status,)])


async def decision(app: RunningApp, domain: str) -> str:
    (row,) = await app.run(
        "SELECT sitemap_curation_status::text FROM domains WHERE domain = $1", domain
    )
    return str(row[0])


def row_of(page: Page, name: str) -> Locator:
    return page.get_by_role("row").filter(has_text=name)


async def test_words_filters_and_sorting_stand_in_the_address(page: Page) -> None:
    await open_list(page, "/curate/domains")
    await page.get_by_role("searchbox").fill("dentist")
    await expect(
        page.get_by_role("status").filter(has_text="400 domains")
    ).to_be_visible()
    # Words begin at A.
    await page.get_by_role("columnheader", name="Domain").get_by_role("button").click()
    await expect(page.get_by_role("row").nth(1)).to_contain_text("shop-0003.example")

    await page.reload()

    await expect(page.get_by_role("searchbox")).to_have_value("dentist")
    await expect(page.get_by_role("row").nth(1)).to_contain_text("shop-0003.example")
    assert "sort=domain" in page.url


async def test_a_key_decides_moves_on_and_can_be_taken_back(
    page: Page, app: RunningApp
) -> None:
    await open_list(page, "/curate/domains?sort=domain")
    await page.keyboard.press("j")
    await page.keyboard.press("s")
    await expect(row_of(page, "shop-0001.example")).to_contain_text("Selected")
    await decided(app, "shop-0001.example", "Selected")
    await page.keyboard.press("m")
    await expect(row_of(page, "shop-0002.example")).to_contain_text("Maybe")
    await decided(app, "shop-0002.example", "Maybe")

    await page.keyboard.press("u")
    await decided(app, "shop-0002.example", "New")
    await page.keyboard.press("u")
    await decided(app, "shop-0001.example", "New")

    await expect(row_of(page, "shop-0001.example")).to_contain_text("New")


TWINS = """
WITH c AS (INSERT INTO companies (tenant_id, name) SELECT $1, unnest($2::text[])
    RETURNING id, name),
  m AS (INSERT INTO company_members (tenant_id, company_id, source, name, is_matched)
    SELECT $1, c.id, 'test', c.name, true FROM c RETURNING id)
INSERT INTO company_pairs (tenant_id, left_id, right_id, score, reasons)
  SELECT $1, l.id, r.id, 0.8, ARRAY['same address'] FROM m l JOIN m r ON l.id < r.id
"""


async def test_leads_are_assigned_filled_in_worked_on_by_key_and_found_to_be_one(
    page: Page, app: RunningApp
) -> None:
    await app.run(TWINS, await app.tenant(), ["Brandner", "Brendner"])
    await open_list(page, "/curate/companies?sort=name")
    await page.keyboard.press("Control+a")
    await page.keyboard.press("a")
    work = page.get_by_role("dialog", name="Assign 2 companies")
    await work.get_by_label("Add tags").fill("fair")
    await work.get_by_role("button", name="Apply").click()
    await expect(work).to_have_count(0)
    await until_stored(app, "SELECT DISTINCT tags[1] FROM companies", [("fair",)])
    await page.keyboard.press("u")
    await until_stored(app, "SELECT DISTINCT tags[1] FROM companies", [(None,)])

    await page.get_by_role("button", name="Columns", exact=True).click()
    await page.get_by_role("menuitem", name="Your columns").click()
    own = page.get_by_role("dialog", name="Your columns")
    await own.get_by_label("Heading").fill("Next visit")
    await own.get_by_label("Type").select_option("date")
    await own.get_by_role("button", name="Add column").click()
    await expect(own).to_contain_text("Next visit Date")
    await page.keyboard.press("Escape")
    await expect(own).to_have_count(0)
    await row_of(page, "Brandner").get_by_text("Brandner").first.click()
    await page.get_by_role("button", name="Assign and note").click()
    edited = page.get_by_role("dialog", name="Edit Brandner")
    await edited.get_by_label("Next visit").fill("2026-12-01")
    await edited.get_by_role("button", name="Save").click()
    await expect(edited).to_have_count(0)
    await page.keyboard.press("Escape")
    await expect(row_of(page, "Brandner")).to_contain_text("1 Dec 2026")

    await page.keyboard.press("k")
    await page.keyboard.press("c")
    await expect(row_of(page, "Brandner")).to_contain_text("Contacted")
    await page.get_by_role("button", name="Possible duplicates").click()
    asked = page.get_by_role("dialog", name="Possible duplicates")
    await expect(asked).to_contain_text("80 % likely: same address")

    await page.keyboard.press("s")

    await expect(asked).to_contain_text("No duplicates to review.")
    await until_stored(
        app, "SELECT count(*), min(lead_status::text) FROM companies",
        [(1, "Contacted")],
    )  # fmt: skip
    await page.keyboard.press("Escape")
    await page.keyboard.press("f")
    await page.get_by_role("option", name="Named person's e-mail").click()
    await expect(page.get_by_text("No companies match")).to_be_visible()


IN_SIGHT = """
() => {
  const box = (name) => document.querySelector(name).getBoundingClientRect();
  const [row, head, grid] = [".grid-row.current", ".grid-head", ".grid"].map(box);
  return row.top >= head.bottom && row.bottom <= grid.bottom;
}
"""


async def test_the_row_that_the_keys_work_on_stood_behind_the_head(page: Page) -> None:
    await open_list(page, "/curate/domains?sort=domain")
    for key, times in (("j", 30), ("k", 25)):
        for _ in range(times):
            await page.keyboard.press(key)

        await page.wait_for_function(IN_SIGHT)

    await expect(page.locator(".grid-row.current")).to_contain_text("shop-0005.example")


async def test_an_undo_that_restored_nothing_was_said_to_be_done(
    page: Page, app: RunningApp
) -> None:
    await open_list(page, "/curate/domains?sort=-updated_at")
    messages = page.get_by_label("Messages")
    first = await page.locator("[aria-rowindex='2']").get_attribute("id")
    for _ in range(3):
        await page.keyboard.press("j")
    name = await page.locator(".grid-row.current .strong").first.inner_text()
    await page.keyboard.press("s")
    await expect(messages).to_contain_text(f"{name}: Selected")
    await page.keyboard.press("k")
    await page.keyboard.press("m")
    await expect(messages).to_contain_text(f"{name}: Maybe")
    await expect(messages.get_by_role("button", name="Undo")).to_have_count(1)
    await decided(app, name, "Maybe")
    await app.run(
        "UPDATE domains SET sitemap_curation_status = 'Archived' WHERE domain = $1",
        name,
    )

    await page.keyboard.press("u")

    await expect(messages).to_contain_text(f"Not undone: {name}: Maybe")
    # Nothing has moved under the cursor.
    assert await page.locator("[aria-rowindex='2']").get_attribute("id") == first


async def test_back_left_the_list_instead_of_closing_what_was_opened(
    page: Page,
) -> None:
    await open_list(page, "/curate/domains?sort=domain")
    dialog = await begin_condition(page)
    await dialog.get_by_label("Field").select_option("Added")
    await dialog.get_by_label("Value").select_option("The last 7 days")
    await dialog.get_by_role("button", name="Add filter").click()
    chip = page.get_by_role("button", name="Added in the last 7 days")
    await expect(chip).to_be_visible()
    await expect(
        page.get_by_role("status").filter(has_text="1,200 domains")
    ).to_be_visible()
    await row_of(page, "shop-0002.example").click()
    pane = page.get_by_label("Details of one domain")
    await expect(pane).to_be_visible()

    await page.go_back()
    await expect(pane).to_be_hidden()
    await expect(chip).to_be_visible()
    await page.go_back()
    await expect(chip).to_be_hidden()
    await expect(row_of(page, "shop-0002.example")).to_be_visible()


async def test_a_range_is_decided_and_undone_as_one(
    page: Page, app: RunningApp
) -> None:
    await open_list(page, "/curate/domains?sort=domain")
    await row_of(page, "shop-0010.example").get_by_role("checkbox").click()
    await row_of(page, "shop-0014.example").click(modifiers=["Shift"])
    bar = page.get_by_label("Actions for the selection")
    await expect(bar).to_contain_text("5 selected")
    await bar.get_by_role("button", name="Not a Fit").click()
    await expect(page.get_by_text("5 domains: Not a Fit")).to_be_visible()
    await decided(app, "shop-0012.example", "Not a Fit")

    await page.get_by_role("button", name="Undo").click()

    await decided(app, "shop-0012.example", "New")


async def test_what_is_urgent_could_not_be_said_on_the_page(
    page: Page, app: RunningApp
) -> None:
    priorities = "SELECT priority FROM domains WHERE domain ~ 'shop-001[01]' ORDER BY 1"
    await open_list(page, "/curate/domains?sort=domain&q=shop-001")
    await row_of(page, "shop-0010.example").get_by_role("checkbox").click()
    await row_of(page, "shop-0011.example").get_by_role("checkbox").click()
    bar = page.get_by_label("Actions for the selection")
    await bar.get_by_label("Priority").select_option("High priority")
    await expect(page.get_by_text("2 domains: High priority")).to_be_visible()
    await until_stored(app, priorities, [(10,), (10,)])

    await row_of(page, "shop-0010.example").click()
    pane = page.get_by_label("Details of one domain")
    await expect(pane.get_by_label("Priority")).to_have_value("10")
    await pane.get_by_label("Priority").select_option("Low priority")

    await until_stored(app, priorities, [(-10,), (10,)])
    await expect(pane.get_by_label("Priority")).to_have_value("-10")


async def test_all_that_match_are_counted_first_and_then_decided(
    page: Page, app: RunningApp
) -> None:
    await open_list(page, "/curate/domains?q=bakery&sort=domain")
    await page.keyboard.press("Control+a")
    await page.keyboard.press("Control+a")
    await expect(page.get_by_text("800 selected")).to_be_visible()
    await page.keyboard.press("v")
    dialog = page.get_by_role("dialog", name="Set 800 domains to Archived?")
    await expect(dialog).to_be_visible()
    assert await decision(app, "shop-0001.example") == "New"
    await expect(
        dialog.get_by_role("button", name="Set 800 to Archived")
    ).to_be_focused()
    await page.keyboard.press("Enter")
    await expect(page.get_by_text("800 domains: Archived")).to_be_visible()
    assert await decision(app, "shop-0001.example") == "Archived"
    assert await decision(app, "shop-0003.example") == "New"

    await page.get_by_role("button", name="Undo").click()

    await decided(app, "shop-1199.example", "New")


async def test_the_list_grows_as_it_is_scrolled_and_all_of_it_is_selected_and_exported(
    page: Page, app: RunningApp
) -> None:
    # Every third contact has no name.
    await app.run(
        "INSERT INTO contacts (tenant_id, domain_id, email, name)"
        " SELECT tenant_id, id, 'info@' || domain,"
        " CASE WHEN title LIKE 'Bakery%' THEN 'Ada Lovelace' END FROM domains"
        " WHERE domain > 'shop-0006'"
    )
    await app.run("UPDATE contacts SET name = NULL WHERE email ~ '0003'")
    last = page.get_by_text("info@shop-1200.example").first
    grid = await open_list(page, "/curate/contacts?sort=email")
    while not await last.is_visible():
        height = await grid.evaluate("box => box.scrollTop = box.scrollHeight")
        await page.wait_for_function(GROWN, arg=[height, "info@shop-1200.example"])
    assert await page.get_by_role("row").count() < 80

    await page.keyboard.press("Control+a")
    await page.keyboard.press("e")
    dialog = page.get_by_role("dialog", name="Export 1,200 contacts")
    await dialog.get_by_label("Preset").select_option(label="Salesforce")
    await expect(dialog).to_contain_text("400 contacts without a name")
    # More than fit into an address are sent.
    rows = await downloaded(page, dialog.get_by_role("button", name="Download"))

    assert len(rows) == 800
    assert {row["Last Name"] for row in rows} >= {"Lovelace"}
    assert rows[-1]["Email"] == "info@shop-1199.example"
    await expect(
        page.get_by_text("800 contacts exported, 400 left out.")
    ).to_be_visible()


async def test_a_record_opens_beside_the_list_with_its_evidence_and_history(
    page: Page,
) -> None:
    grid = await open_list(page, "/curate/contacts?sort=email")
    await page.keyboard.press("j")
    await page.keyboard.press("Enter")
    pane = page.get_by_label("Details of one contact")
    await expect(pane.get_by_role("heading", level=2)).to_have_text(
        "info@shop-0001.example"
    )
    await expect(grid.get_by_role("columnheader", name="Changed")).to_have_count(0)
    assert await grid.evaluate("box => box.scrollWidth <= box.clientWidth")
    await pane.get_by_role("tab", name="Evidence").click()
    await expect(pane.locator("mark")).to_have_text("INFO@SHOP-0001.EXAMPLE")
    await pane.get_by_role("tab", name="History").click()
    await page.keyboard.press("j")

    await expect(pane.get_by_role("heading", level=2)).to_have_text(
        "info@shop-0002.example"
    )
    assert await violations(page) == []


async def test_two_people_see_each_others_decisions(
    page: Page, second: Page, app: RunningApp
) -> None:
    await open_list(page, "/curate/domains?sort=domain&q=shop-0100")
    await open_list(second, "/curate/domains?sort=domain&q=shop-0100")
    await expect(
        second.get_by_role("complementary").get_by_text("Live")
    ).to_be_visible()
    await page.keyboard.press("j")
    await page.keyboard.press("s")

    await expect(row_of(second, "shop-0100.example")).to_contain_text("Selected")

    # What is not in the list is said in one line: its icon once stood above the words.
    await app.run("UPDATE domains SET title = 'New' WHERE domain = 'shop-0300.example'")
    changed = second.get_by_role("button", name="The list has changed: refresh")
    box = await changed.bounding_box()
    assert box is not None
    assert box["height"] < ONE_LINE


async def test_a_decision_survives_a_restart_of_the_server(
    page: Page, app: RunningApp
) -> None:
    await open_list(page, "/curate/domains?sort=domain&q=shop-0200")
    watch_of(page).forgive("Failed to load resource", "net::ERR")
    await page.keyboard.press("j")
    app.stop()
    await page.keyboard.press("s")
    await expect(row_of(page, "shop-0200.example")).to_contain_text("Selected")
    await expect(page.get_by_text("The server is not responding.")).to_be_visible()
    # The list scrolls; a second scrollbar beside it stood there while the server was away.
    assert await page.evaluate("document.documentElement.scrollHeight <= innerHeight")
    app.start()

    await decided(app, "shop-0200.example", "Selected")
    live = page.get_by_role("complementary").get_by_text("Live")
    await expect(live).to_be_visible()


async def test_a_contact_is_edited_merged_and_suppressed_for_everyone(
    page: Page, second: Page, app: RunningApp
) -> None:
    await open_list(second, "/curate/contacts?sort=email")
    live = second.get_by_role("complementary").get_by_text("Live")
    await expect(live).to_be_visible()
    await open_list(page, "/curate/contacts?sort=email")
    await row_of(page, "info@shop-0001.example").click()
    pane = page.get_by_label("Details of one contact")
    await pane.get_by_role("button", name="Edit").click()
    await page.get_by_label("Name", exact=True).fill("Ada Harbour")
    await page.get_by_label("Tags").fill("first, met")
    await page.get_by_role("button", name="Save").click()
    await expect(pane).to_contain_text("Ada Harbour")
    stored = "SELECT name, tags FROM contacts WHERE email = 'info@shop-0001.example'"
    await until_stored(app, stored, [("Ada Harbour", ["first", "met"])])
    await page.keyboard.press("Escape")

    for name in ("info@shop-0002.example", "info@shop-0003.example"):
        await row_of(page, name).get_by_role("checkbox").click()
    await page.get_by_role("button", name="Merge").click()
    dialog = page.get_by_role("dialog", name="Merge 2 contacts")
    await dialog.get_by_text("info@shop-0003.example").click()
    await dialog.get_by_role("button", name="Merge").click()
    await until_stored(
        app, "SELECT 1 FROM contacts WHERE email = 'info@shop-0002.example'", []
    )
    await expect(row_of(page, "info@shop-0002.example")).to_have_count(0)

    await row_of(page, "info@shop-0004.example").click()
    await pane.get_by_role("button", name="More").click()
    await page.get_by_role("menuitem", name="Do not contact").click()
    await (
        page.get_by_role("dialog").get_by_role("button", name="Do not contact").click()
    )
    await until_stored(
        app, "SELECT 1 FROM contacts WHERE email = 'info@shop-0004.example'", []
    )
    for name in ("info@shop-0002.example", "info@shop-0004.example"):
        await expect(row_of(second, name)).to_have_count(0)
    await expect(row_of(second, "info@shop-0005.example")).to_be_visible()


async def test_the_list_is_exported_as_it_is_filtered(page: Page) -> None:
    await open_list(page, "/curate/domains?q=dentist&sort=domain")
    await page.keyboard.press("e")
    dialog = page.get_by_role("dialog", name="Export 400 domains")
    rows = await downloaded(page, dialog.get_by_role("link", name="Download"))

    assert len(rows) == 400
    assert all(row["title"].startswith("Dentist") for row in rows)
    assert not any(name == "id" or name.endswith("_id") for name in rows[0])


async def test_the_export_ignored_the_selection(page: Page) -> None:
    await open_list(page, "/curate/domains?q=dentist&sort=domain")
    for name in ("shop-0003.example", "shop-0009.example"):
        await row_of(page, name).get_by_role("checkbox").click()
    await page.keyboard.press("e")
    dialog = page.get_by_role("dialog", name="Export 2 domains")
    rows = await downloaded(page, dialog.get_by_role("link", name="Download"))

    assert [row["domain"] for row in rows] == ["shop-0003.example", "shop-0009.example"]


async def test_a_view_is_kept_and_opened_again(page: Page) -> None:
    await open_list(page, "/curate/domains?q=dentist&sort=-domain")
    await toggle_column(page, "Built with")
    await page.get_by_role("button", name="Views").click()
    await page.get_by_role("menuitem", name="Save view").click()
    await page.get_by_label("Name").fill("Dentists last first")
    await page.get_by_role("button", name="Save", exact=True).click()
    await expect(page.get_by_text('Saved as "Dentists last first"')).to_be_visible()

    await page.goto("/curate/domains")
    await toggle_column(page, "Built with")
    built_with = page.get_by_role("columnheader", name="Built with")
    await expect(built_with).to_be_visible()
    await page.get_by_role("button", name="Views").click()
    await page.get_by_role("menuitemcheckbox", name="Dentists last first").click()
    await expect(built_with).to_have_count(0)

    await expect(page.get_by_role("searchbox")).to_have_value("dentist")
    assert "sort=-domain" in page.url
    await (
        page.get_by_role("navigation")
        .get_by_role("link", name="Dentists last first")
        .click()
    )
    await expect(page.get_by_role("row").nth(1)).to_contain_text("shop-1200.example")


async def toggle_column(page: Page, title: str) -> None:
    await page.get_by_role("button", name="Columns").click()
    await page.get_by_role("menuitemcheckbox", name=title).click()
    await page.keyboard.press("Escape")


async def test_the_palette_finds_screens_records_and_commands(page: Page) -> None:
    await open_list(page, "/curate/contacts")
    palette = page.get_by_role("combobox", name="Company, screen, view or command")
    await page.keyboard.press("Control+k")
    await palette.fill("shop-0777")
    option = page.get_by_role("option", name="shop-0777.example")
    await expect(option).to_be_visible()
    assert await violations(page) == []
    await option.click()
    await expect(page.get_by_label("Details of one domain")).to_contain_text("0777")

    await page.keyboard.press("Control+k")
    await palette.fill("rules")
    await page.keyboard.press("Enter")

    await expect(page.get_by_role("heading", name="Rules", exact=True)).to_be_visible()


async def test_an_address_that_bounces_was_green_and_said_complete(
    page: Page, app: RunningApp
) -> None:
    await app.run(
        "UPDATE contacts SET contact_curation_status = 'Complete',"
        " name = CASE WHEN email !~ '0002' THEN name END,"
        " validation_processing_status = 'Complete', validated_at = now(), validation ="
        " jsonb_build_object('verdict', CASE WHEN email ~ '0002' THEN 'undeliverable'"
        " ELSE 'deliverable' END)"
    )
    await open_list(page, "/curate/contacts?sort=email")
    bad = row_of(page, "info@shop-0002.example")
    await expect(bad.locator(".badge.bad")).to_have_text("Undeliverable")
    await expect(bad.locator(".badge.good")).to_have_count(0)
    good = row_of(page, "info@shop-0001.example")
    await expect(good.locator(".badge.good")).to_have_text("Deliverable")
    await expect(good.locator(".badge.accent").first).to_have_text("Approved")

    dialog = await begin_condition(page)
    await dialog.get_by_label("Field").select_option(label="Deliverability")
    await dialog.get_by_label("Value").select_option(label="Undeliverable")
    await dialog.get_by_role("button", name="Or", exact=True).click()
    other = dialog.get_by_role("group", name="or", exact=True)
    await other.get_by_label("Field").select_option(label="E-mail")
    await other.get_by_label("Value").fill("0003")
    assert await violations(page) == []
    await dialog.get_by_role("button", name="Add filter").click()
    await expect(good).to_have_count(0)
    await expect(bad).to_be_visible()
    await expect(row_of(page, "info@shop-0003.example")).to_be_visible()
    either = page.get_by_role(
        "button", name="Deliverability is Undeliverable or E-mail contains 0003"
    )
    await expect(either).to_be_visible()

    # One of the two has no name, without which Salesforce refuses a row.
    await page.get_by_role("button", name="Export").click()
    export = page.get_by_role("dialog", name="Export 2 contacts")
    await export.get_by_label("Preset").select_option(label="Salesforce")
    await expect(export).to_contain_text("1 contact without a name")
    link = export.get_by_role("link", name="Download")
    await expect(link).to_have_attribute("href", re.compile("name%3Aknown"))
    await export.get_by_label("Leave these out").uncheck()
    await expect(link).not_to_have_attribute("href", re.compile("name%3Aknown"))
    assert await violations(page) == []


async def test_of_two_people_who_edited_one_note_the_first_was_lost(
    page: Page, app: RunningApp
) -> None:
    watch_of(page).forgive("412")
    written = "SELECT name, notes FROM contacts WHERE email = 'info@shop-0001.example'"
    await open_list(page, "/curate/contacts?sort=email")
    await row_of(page, "info@shop-0001.example").click()
    await page.get_by_role("button", name="Edit").click()
    dialog = page.get_by_role("dialog")
    await dialog.get_by_label("Notes").fill("Call on Monday")
    await app.run(
        "UPDATE contacts SET notes = 'Retired', name = 'Bea', updated_at = now()"
        " WHERE email = 'info@shop-0001.example'"
    )
    # The list hears of it, and the pane reads the contact again behind the dialog.
    await expect(row_of(page, "info@shop-0001.example")).to_contain_text("Bea")

    await dialog.get_by_role("button", name="Save").click()
    await expect(dialog).to_contain_text("Someone else changed this to: Retired")
    assert await app.run(written) == [("Bea", "Retired")]
    assert await violations(page) == []

    await dialog.get_by_role("button", name="Save my version").click()
    await expect(dialog).to_have_count(0)
    assert await app.run(written) == [("Bea", "Call on Monday")]


async def test_a_few_reloads_made_the_server_seem_away(page: Page) -> None:
    statuses: list[int] = []
    page.on(
        "response",
        lambda answer: (
            statuses.append(answer.status) if "/api/v3/events" in answer.url else None
        ),
    )
    await page.goto("/rules")
    live = page.get_by_role("complementary").get_by_text("Live")
    for _ in range(6):
        await expect(live).to_be_visible()
        await page.reload()
    await expect(live).to_be_visible()
    assert set(statuses) == {200}
