"""What new users asked of the page, each answered within so many clicks."""

from dataclasses import dataclass

import pytest
from playwright.async_api import Locator, Page, expect

from tests.page.rig import RunningApp, until_stored, walk_to

pytestmark = [
    pytest.mark.asyncio(loop_scope="session"),
    pytest.mark.xdist_group("page"),  # they share one application
]

FOUND = """
WITH s AS (INSERT INTO place_searches (tenant_id, business_type, location, source, status,
    found_count, new_count, spent, finished_at)
    VALUES ($1, 'dentists', 'Porto', 'google', 'Completed', 2, 2, 3, now()) RETURNING id),
  d AS (INSERT INTO domains (tenant_id, domain) VALUES ($1, 'silva.example') RETURNING id),
  p AS (INSERT INTO places_staging (tenant_id, source, source_place_id, name)
    VALUES ($1, 'google', '1', 'Silva'), ($1, 'google', '2', 'Old Mill')
    RETURNING id, name),
  h AS (INSERT INTO place_search_hits (search_id, place_id, tenant_id, facts_hash)
    SELECT s.id, p.id, $1, 'a' FROM s, p),
  b AS (INSERT INTO local_businesses (tenant_id, place_id, domain_id, name)
    SELECT $1, p.id, d.id, p.name FROM p, d WHERE p.name = 'Silva' RETURNING id),
  e AS (INSERT INTO contacts (tenant_id, domain_id, email, name)
    SELECT $1, id, 'rita@silva.example', 'Rita Silva' FROM d RETURNING id),
  f AS (INSERT INTO contact_evidence (tenant_id, contact_id, field, value, url, snippet,
    method, confidence, robots, seen_at)
    SELECT $1, id, 'email', 'rita@silva.example', 'https://silva.example/team',
      'Dr Rita Silva, rita@silva.example', 'mailto', 0.9, 'allowed', now() FROM e),
  c AS (INSERT INTO companies (tenant_id, name, categories, domain_id, email_contact_id,
    email_kind, first_seen_at)
    SELECT $1, 'Silva', ARRAY['Dentist'], d.id, e.id, 'person', now() FROM d, e
    UNION ALL SELECT $1, 'Old Mill', ARRAY['Bakery'], NULL, NULL, NULL,
      now() - interval '60 days'
    RETURNING id, name)
INSERT INTO company_members (tenant_id, company_id, place_id, source, name, is_matched)
SELECT $1, c.id, p.id, 'google', p.name, true FROM c JOIN p USING (name)
"""


@dataclass
class Hand:
    """Somebody's hand on the mouse; choosing of a list and typing count as well."""

    page: Page
    clicks: int = 0

    async def click(self, what: Locator) -> None:
        self.clicks += 1
        await what.click()

    async def link(self, name: str) -> None:
        screens = self.page.get_by_role("navigation", name="Screens")
        await self.click(screens.get_by_role("link", name=name, exact=True))

    async def button(self, name: str) -> None:
        await self.click(self.page.get_by_role("button", name=name, exact=True))

    async def choose(self, label: str, option: str) -> None:
        self.clicks += 1
        field = self.page.get_by_role("dialog").get_by_label(label, exact=True)
        await field.select_option(label=option)

    async def type(self, label: str, text: str) -> None:
        self.clicks += 1
        field = self.page.get_by_role("dialog").get_by_label(label, exact=True)
        await field.fill(text)

    async def press(self, key: str) -> None:
        self.clicks += 1
        await self.page.keyboard.press(key)


@pytest.mark.long
async def test_eight_questions_are_answered_within_so_many_clicks(
    page: Page, app: RunningApp
) -> None:
    await app.empty()
    tenant = await app.tenant()
    await app.run(FOUND, tenant)
    await app.run(
        "INSERT INTO users (tenant_id, email, name) VALUES ($1, 'anna@a.example', 'Anna')",
        tenant,
    )
    asked = {
        "One line per company": one_line_per_company,
        "Dentists with a named person's e-mail": dentists_with_a_named_person,
        "What a search has found and cost": yield_and_cost,
        "Where this address comes from": where_from,
        "New since last week": new_since_last_week,
        "Assign to Anna": assign_to_anna,
        "Mark as contacted": mark_as_contacted,
        "A column of our own": own_column,
    }
    taken = {}
    await page.goto("/rules")
    for question, answer in asked.items():
        await walk_to(page, "/rules")
        hand = Hand(page)
        await answer(page, app, hand)
        taken[question] = hand.clicks
    assert taken == {
        "One line per company": 1,
        "Dentists with a named person's e-mail": 6,
        "What a search has found and cost": 2,
        "Where this address comes from": 3,
        "New since last week": 2,
        "Assign to Anna": 5,
        "Mark as contacted": 3,
        "A column of our own": 5,
    }


def rows(page: Page) -> Locator:
    return page.locator(".grid-row")


async def one_line_per_company(page: Page, _app: RunningApp, hand: Hand) -> None:
    await hand.link("Companies")
    await expect(rows(page)).to_have_count(2)
    await expect(rows(page).filter(has_text="Silva")).to_contain_text(
        "rita@silva.example"
    )


async def dentists_with_a_named_person(
    page: Page, _app: RunningApp, hand: Hand
) -> None:
    await hand.link("Companies")
    await hand.button("Named person's e-mail")
    await hand.button("Add filter")
    await hand.choose("Field", "Categories")
    await hand.type("Value", "Dentist")
    await hand.press("Enter")
    await expect(page.get_by_role("dialog")).to_have_count(0)
    await expect(rows(page)).to_have_count(1)
    await expect(rows(page)).to_contain_text("Silva")


async def yield_and_cost(page: Page, _app: RunningApp, hand: Hand) -> None:
    await hand.link("Search")
    await hand.click(page.locator(".search-line", has_text="dentists"))
    stats = page.locator(".search-stats")
    await expect(stats).to_contain_text("Companies2")
    await expect(stats).to_contain_text("Contacts1")
    await expect(stats).to_contain_text("3.00 each")


async def where_from(page: Page, _app: RunningApp, hand: Hand) -> None:
    await hand.link("Contacts")
    await hand.click(rows(page).filter(has_text="rita@silva.example"))
    await hand.click(page.get_by_role("tab", name="Evidence"))
    await expect(page.get_by_text("https://silva.example/team").first).to_be_visible()


async def new_since_last_week(page: Page, _app: RunningApp, hand: Hand) -> None:
    await hand.link("Companies")
    await hand.button("New in the last 7 days")
    await expect(rows(page)).to_have_count(1)
    await expect(rows(page)).to_contain_text("Silva")


async def assign_to_anna(page: Page, app: RunningApp, hand: Hand) -> None:
    await hand.link("Companies")
    silva = rows(page).filter(has_text="Silva")
    await hand.click(silva.get_by_role("checkbox"))
    chosen = page.get_by_role("region", name="Actions for the selection")
    await hand.click(chosen.get_by_role("button", name="Assign"))
    await hand.choose("Assigned to", "Anna")
    await hand.button("Apply")
    await expect(silva).to_contain_text("Anna")


async def mark_as_contacted(page: Page, app: RunningApp, hand: Hand) -> None:
    await hand.link("Companies")
    await hand.click(rows(page).filter(has_text="Old Mill"))
    record = page.get_by_role("complementary", name="Details of one company")
    await hand.click(record.get_by_role("button", name="Contacted"))
    query = "SELECT count(*) FROM companies WHERE lead_status = 'Contacted'"
    await until_stored(app, query, [(1,)])


async def own_column(page: Page, app: RunningApp, hand: Hand) -> None:
    await hand.link("Companies")
    await hand.button("Columns")
    await hand.click(page.get_by_role("menuitem", name="Your columns"))
    await hand.type("Heading", "Budget")
    await hand.button("Add column")
    await expect(page.get_by_role("columnheader", name="Budget")).to_be_attached()
