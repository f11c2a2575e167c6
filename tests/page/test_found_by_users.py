"""What new users stumbled over, each under the name of what went wrong."""

import re

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page, Route, ViewportSize, expect

from tests.page.rig import RunningApp, a_page, begin_condition, watch_of

pytestmark = [
    pytest.mark.long,
    pytest.mark.asyncio(loop_scope="session"),
    pytest.mark.xdist_group("page"),  # they share one application
    pytest.mark.usefixtures("records"),
]

SMALL_LAPTOP = ViewportSize(width=1280, height=720)
HIDDEN_CELLS = """() => {
  const edge = document.querySelector(".grid").getBoundingClientRect().right + 1;
  return [...document.querySelectorAll(".grid [role=columnheader], .grid [role=gridcell]")]
    .filter((cell) => cell.getBoundingClientRect().right > edge).length;
}"""
LINES_OF_PILLS = """() => [...document.querySelectorAll(".pill")]
  .filter((pill) => pill.clientHeight > 2 * parseFloat(getComputedStyle(pill).fontSize) + 12)
  .map((pill) => pill.textContent)"""
LISTS = (
    "places", "businesses", "domains", "sitemap-files", "pages", "contacts", "companies",
)  # fmt: skip


SOME_OF_EVERY_KIND = """
INSERT INTO local_businesses (tenant_id, name)
SELECT $1, 'Business ' || n FROM generate_series(1, 20) AS n;
INSERT INTO sitemap_files (tenant_id, domain_id, url)
SELECT $1, id, 'https://' || domain || '/sitemap.xml' FROM domains LIMIT 20;
INSERT INTO pages (tenant_id, domain_id, url)
SELECT $1, id, 'https://' || domain || '/contact' FROM domains LIMIT 20;
UPDATE contacts SET confidence = 0.4 WHERE tenant_id = $1 AND email ~ '[02468].example$';
UPDATE domains SET link_texts = '{"http://www.shop.example/Team": "Our team"}'
WHERE tenant_id = $1
"""


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def records(app: RunningApp) -> None:
    """Put in some of every kind, with contacts of which half are sure."""
    await app.fill()
    tenant = await app.tenant()
    for statement in SOME_OF_EVERY_KIND.split(";"):
        await app.run(statement, tenant)


async def test_the_filter_wanted_0_9_where_the_list_shows_a_word(
    page: Page,
) -> None:
    await page.goto("/curate/contacts")
    dialog = await begin_condition(page)
    await dialog.get_by_label("Field").select_option("confidence")
    await dialog.get_by_label("Value").select_option(label="Likely")
    await dialog.get_by_role("button", name="Add filter").click()

    await expect(page.get_by_role("button", name="Likely")).to_be_visible()
    await expect(page.locator("main [role=status]").first).to_have_text("600 contacts")


@pytest.mark.parametrize("name", LISTS)
async def test_a_laptop_of_1280_pixels_cut_the_last_column(
    browser: Browser, app: RunningApp, name: str
) -> None:
    async with a_page(browser, app.address, viewport=SMALL_LAPTOP) as page:
        await page.goto(f"/curate/{name}")
        await expect(page.get_by_role("grid").get_by_role("row").nth(1)).to_be_visible()

        assert await page.evaluate(HIDDEN_CELLS) == 0


async def test_a_list_that_was_not_answered_said_0_contacts(page: Page) -> None:
    watch_of(page).forgive("Failed to load resource")
    await page.goto("/")
    await page.route("**/api/v3/contacts**", lambda route: route.abort())
    await page.get_by_role("link", name="Contacts", exact=True).click()

    await expect(page.locator("main [role=alert]").first).to_be_visible()
    await expect(page.get_by_text(re.compile(r"\b0 contacts\b"))).to_have_count(0)
    assert await page.evaluate(
        "document.documentElement.scrollHeight <= innerHeight + 1"
    )


async def test_the_columns_menu_closed_after_each_tick(page: Page) -> None:
    await page.goto("/curate/contacts")
    await page.get_by_role("button", name="Columns").click()
    ticks = page.get_by_role("menuitemcheckbox")
    before = [await ticks.nth(n).get_attribute("aria-checked") for n in (0, 1)]
    await ticks.nth(0).click()
    await ticks.nth(1).click()

    for n, was in enumerate(before):
        now = "false" if was == "true" else "true"
        await expect(ticks.nth(n)).to_have_attribute("aria-checked", now)


async def test_zoho_and_google_contacts_were_documented_and_not_offered(
    page: Page,
) -> None:
    await page.goto("/curate/contacts")
    await expect(page.get_by_role("grid").get_by_role("row").nth(1)).to_be_visible()
    await page.keyboard.press("e")
    offered = page.get_by_role("dialog").get_by_role("option")

    await expect(offered.filter(has_text="Zoho CRM")).to_have_count(1)
    await expect(offered.filter(has_text="Google Contacts")).to_have_count(1)


async def test_a_blue_line_stood_around_the_screen_after_a_key(page: Page) -> None:
    await page.goto("/pipeline")
    await expect(page.get_by_role("heading", name="Pipeline", level=1)).to_be_visible()
    await page.keyboard.press("g")
    await page.keyboard.press("r")
    await expect(page.get_by_role("heading", name="Rules", level=1)).to_be_visible()

    await expect(page.locator("main")).to_be_focused()
    style = "getComputedStyle(document.querySelector('main')).outlineStyle"
    assert await page.evaluate(style) == "none"


async def test_the_count_above_the_list_lagged_behind_it(
    page: Page, app: RunningApp
) -> None:
    await page.goto("/curate/companies")
    count = page.locator("main [role=status]").first
    await expect(count).to_have_text("300 companies")
    await app.run(
        "INSERT INTO companies (tenant_id, name) VALUES ($1, 'One more')",
        await app.tenant(),
    )
    await page.get_by_role("button", name="The list has changed: refresh").click()
    await expect(count).to_have_text("301 companies")
    await app.run("DELETE FROM companies WHERE name = 'One more'")


async def test_an_address_in_the_facts_was_written_like_a_heading(page: Page) -> None:
    await page.goto("/curate/domains?sort=domain")
    await expect(page.get_by_role("grid").get_by_role("row").nth(1)).to_be_visible()
    await page.keyboard.press("j")
    await page.keyboard.press("Enter")

    facts = page.get_by_label("Details of one domain")
    await expect(facts).to_contain_text("http://www.shop.example/Team")
    await expect(facts).not_to_contain_text("Http://")


async def test_the_api_reference_of_a_deployment_opened_a_404(page: Page) -> None:
    async def deployed(route: Route) -> None:
        answer = await route.fetch()
        await route.fulfill(json={**await answer.json(), "environment": "production"})

    await page.route("**/api/v3/session", deployed)
    await page.goto("/")
    await page.locator(".who").click()

    await expect(page.get_by_role("menuitem", name="Keyboard")).to_be_visible()
    await expect(page.get_by_role("menuitem", name="API reference")).to_have_count(0)


async def test_a_record_that_was_just_added_was_said_to_come_in_four_seconds(
    page: Page, app: RunningApp
) -> None:
    # The clock of the database is a little ahead of the browser's.
    await app.run(
        "INSERT INTO domains (tenant_id, domain, created_at, updated_at) VALUES"
        " ($1, 'new.example', now() + interval '1 h', now() + interval '1 h')",
        await app.tenant(),
    )
    await page.goto("/curate/domains?q=new.example")
    row = page.get_by_role("row").filter(has_text="new.example")

    await expect(row).to_contain_text("now")
    await expect(row).not_to_contain_text(re.compile(r"\bin \d+"))
    await app.run("DELETE FROM domains WHERE domain = 'new.example'")


async def test_the_error_of_a_form_stood_behind_it_in_the_words_of_a_validator(
    page: Page,
) -> None:
    watch_of(page).forgive("status of 422")
    await page.goto("/settings/people")
    await page.get_by_role("button", name="Invite someone").click()
    dialog = page.get_by_role("dialog", name="Invite someone")
    await dialog.get_by_label("E-mail").fill("ada@harbour")
    await dialog.get_by_label("Password").fill("a long and quiet river")
    await dialog.get_by_role("button", name="Create account").click()

    field = dialog.get_by_label("E-mail")
    await expect(field).to_have_attribute("aria-invalid", "true")
    said = await dialog.inner_text()
    assert not re.search(r"value_error|string_|pydantic|body\b", said), said


async def test_more_than_ten_thousand_pasted_lines_with_columns_were_refused(
    page: Page, app: RunningApp
) -> None:
    lines = "\n".join(f"line-{n}.example;Porto" for n in range(10_500))
    await page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    await page.goto("/batches")
    await page.evaluate("(text) => navigator.clipboard.writeText(text)", lines)
    await page.get_by_role("button", name="Import a list").first.click()
    dialog = page.get_by_role("dialog", name="Import a list")
    await dialog.get_by_label("One per line").click()
    await page.keyboard.press("Control+v")
    await dialog.get_by_role("button", name="Import 10,500 lines").click()

    title = page.get_by_role("heading", name="10,500 domains", level=1)
    await expect(title).to_be_visible()
    stored = "SELECT count(*) FROM domains WHERE domain LIKE 'line-%'"
    assert await app.run(stored) == [(10_500,)]
    await app.run("DELETE FROM domains WHERE domain LIKE 'line-%'")


async def test_the_pipeline_said_nothing_to_do_above_places_to_decide(
    page: Page,
) -> None:
    await page.goto("/pipeline")

    await expect(page.locator("main")).to_contain_text(
        re.compile(r"[\d,]+ records? to decide")
    )
    await expect(page.get_by_text("Nothing to do")).to_have_count(0)


async def test_a_number_was_taken_for_a_domain_that_is_not_to_be_contacted(
    page: Page, app: RunningApp
) -> None:
    await page.goto("/settings/suppressions")
    await page.get_by_role("button", name="Add").click()
    dialog = page.get_by_role("dialog")
    await dialog.get_by_role("textbox").first.fill("12345")
    await dialog.get_by_role("button", name="Add 1 line").click()

    await expect(dialog).to_contain_text("12345")
    assert await app.run("SELECT count(*) FROM suppressions") == [(0,)]


async def test_a_phone_number_as_people_write_it_found_nothing(
    page: Page, app: RunningApp
) -> None:
    await app.run(
        "UPDATE contacts SET phone = '+442079460018' WHERE email = 'info@shop-7.example'"
    )
    await page.goto("/curate/contacts?q=020%207946%200018")

    await expect(page.locator("main [role=status]").first).to_have_text("1 contact")
    await expect(
        page.get_by_role("row").filter(has_text="info@shop-7.example")
    ).to_be_visible()


async def test_a_number_without_an_address_was_written_without_a_space(
    page: Page, app: RunningApp
) -> None:
    await app.run(
        "UPDATE contacts SET phone = '+442079460019', email = NULL"
        " WHERE email = 'info@shop-8.example'"
    )
    await page.goto("/curate/contacts?q=020%207946%200019")
    row = page.locator(".grid-row").filter(has_text="+44 20 7946 0019")
    await row.click(position={"x": 60, "y": 8})

    pane = page.get_by_label("Details of one contact")
    await expect(pane.get_by_role("heading", level=2)).to_have_text("+44 20 7946 0019")


async def test_domains_that_a_decision_changes_nothing_for_were_counted_as_to_decide(
    page: Page, app: RunningApp
) -> None:
    await page.goto("/pipeline")
    domains = page.locator(".store").filter(has_text="Domains")
    await expect(domains).to_contain_text("1,200 to decide")
    await app.run("UPDATE domains SET sitemap_analysis_status = 'queued'")
    await page.reload()

    await expect(domains).to_contain_text("none to decide")
    await app.run("UPDATE domains SET sitemap_analysis_status = DEFAULT")


async def test_the_audit_cut_names_at_their_slash(page: Page, app: RunningApp) -> None:
    await app.run(
        "INSERT INTO audit_log (tenant_id, actor, action, subject)"
        " VALUES ($1, 'ada', 'deleted', 'rule A/B test')",
        await app.tenant(),
    )
    await page.goto("/settings/audit")

    await expect(page.get_by_text("Deleted rule A/B test")).to_be_visible()


async def test_messages_named_the_address_that_was_asked(page: Page) -> None:
    watch_of(page).forgive("Failed to load resource")

    async def refuse(route: Route) -> None:
        await route.fulfill(status=404, json={"title": "Not Found", "status": 404})

    await page.route("**/api/v3/domains/status**", refuse)
    await page.goto("/curate/domains")
    await expect(page.get_by_role("grid").get_by_role("row").nth(1)).to_be_visible()
    await page.keyboard.press("j")
    await page.keyboard.press("s")
    messages = page.get_by_label("Messages")

    await expect(messages).not_to_be_empty()
    await expect(messages).not_to_contain_text(re.compile(r"POST|/api/|/status"))


async def test_the_pill_of_the_connection_broke_its_icon_onto_a_line_of_its_own(
    browser: Browser, app: RunningApp
) -> None:
    async with a_page(browser, app.address, viewport=SMALL_LAPTOP) as page:
        await page.goto("/")
        pill = page.locator(".pill").first
        await expect(pill).to_be_visible()

        assert await page.evaluate(LINES_OF_PILLS) == []


async def test_names_were_sorted_from_z_and_accents_stood_after_it(
    page: Page, app: RunningApp
) -> None:
    await app.run(
        "INSERT INTO companies (tenant_id, name) SELECT $1, name || ' Quimera'"
        " FROM unnest(ARRAY['Zeta', 'Ábaco', 'bravo']) AS name",
        await app.tenant(),
    )
    await page.goto("/curate/companies?q=quimera")
    heading = page.get_by_role("columnheader").filter(has_text="Company")
    await heading.get_by_role("button").click()

    await expect(page.locator(".grid-row")).to_contain_text(["Ábaco", "bravo", "Zeta"])
    await app.run("DELETE FROM companies WHERE name LIKE '% Quimera'")
