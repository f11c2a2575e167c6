"""What changed: old and new with their sources, until somebody says that they have seen it."""

import os

import pytest
import pytest_asyncio
from playwright.async_api import Page, expect

from tests.page.rig import RunningApp, violations

pytestmark = [
    pytest.mark.asyncio(loop_scope="session"),
    pytest.mark.xdist_group("page"),  # they share one application
]

FILL = """
INSERT INTO place_searches (tenant_id, business_type, location, source, status, found_count)
VALUES ($1, 'bakeries', 'Porto', 'osm', 'Completed', 2);
INSERT INTO places_staging (tenant_id, source, source_place_id, name)
VALUES ($1, 'osm', '1', 'Bread & Sons'), ($1, 'osm', '2', 'Old Mill');
INSERT INTO domains (tenant_id, domain) VALUES ($1, 'bread.example');
INSERT INTO companies (tenant_id, name, domain_id) SELECT $1, 'Padaria Porto', id FROM domains;
INSERT INTO differences (tenant_id, place_id, what, field, old_value, new_value,
  old_source, new_source)
SELECT $1, id, 'renamed', 'name', 'Bread', 'Bread & Sons', 'osm', 'osm'
FROM places_staging WHERE source_place_id = '1';
INSERT INTO differences (tenant_id, place_id, what, old_value, old_source, new_source)
SELECT $1, id, 'gone', 'Old Mill', 'osm', 'osm' FROM places_staging
WHERE source_place_id = '2';
INSERT INTO differences (tenant_id, domain_id, what, field, old_value, new_value,
  old_source, new_source)
SELECT $1, id, 'unreachable', NULL, NULL, 'the server answered 500', NULL,
  'https://bread.example/' FROM domains;
INSERT INTO differences (tenant_id, place_id, what, field, old_value, new_value,
  old_source, new_source)
SELECT $1, id, 'closed', 'business_status', 'operating', 'closed_permanently', 'osm', 'osm'
FROM places_staging WHERE source_place_id = '1';
INSERT INTO differences (tenant_id, domain_id, what, field, old_value, new_value,
  old_source, new_source)
SELECT $1, id, 'changed', 'phone', '+351222000000', '+351222000111',
  'https://bread.example/contact', 'https://bread.example/contact' FROM domains
"""


@pytest_asyncio.fixture(scope="module", loop_scope="session", autouse=True)
async def records(app: RunningApp) -> None:
    tenant = await app.tenant()
    await app.run("DELETE FROM last_looks")
    for statement in FILL.split(";"):
        await app.run(statement, tenant)


async def seen(page: Page, name: str) -> None:
    """Keep a picture for a person to look at, where one asks for it."""
    if folder := os.environ.get("PICTURES"):
        await page.screenshot(path=f"{folder}/{name}.png")


async def test_what_changed_is_shown_old_and_new_until_it_was_seen(page: Page) -> None:
    await page.goto("/changes")
    phone = page.get_by_role("listitem").filter(has_text="bread.example")

    await expect(phone.first).to_contain_text("Padaria Porto")
    await expect(phone.first).to_contain_text("+351 222 000 000")
    await expect(phone.first).to_contain_text("+351 222 000 111")
    link = page.get_by_role("link", name="bread.example/contact").first
    await expect(link).to_have_attribute("href", "https://bread.example/contact")
    rows = page.locator(".changes > li")
    silent = rows.filter(has_text="Unreachable")
    await expect(silent).to_contain_text("the server answered 500")
    await expect(rows.filter(has_text="Closed for good")).to_contain_text("Open")
    gone = rows.filter(has_text="Old Mill")
    await expect(gone).to_contain_text("No longer on OpenStreetMap")
    assert await violations(page) == []
    await seen(page, "changes")

    await page.get_by_role("button", name="Gone 1").click()
    await expect(page.locator(".changes > li")).to_have_count(1)
    await page.get_by_role("button", name="All", exact=True).click()
    await page.get_by_role("button", name="I have seen these").click()

    await expect(page.get_by_text("Nothing has changed")).to_be_visible()
    await page.get_by_role("tab", name="Everything").click()
    await expect(page.locator(".changes > li")).to_have_count(5)


async def test_a_search_is_repeated_from_its_own_page(
    page: Page, app: RunningApp
) -> None:
    ((search,),) = await app.run("SELECT id FROM place_searches")
    await page.goto(f"/search/{search}")
    await expect(page.get_by_text("A run costs nothing.")).to_be_visible()
    await expect(page.get_by_label("Budget of one run")).to_have_count(0)

    await app.run(
        """UPDATE place_searches SET source = 'google', params = '{"limit": 60}'"""
    )
    await page.reload()
    await page.get_by_label("How often").select_option("weekly")
    await page.get_by_label("Budget of one run (US dollars)").fill("2.5")
    await page.get_by_role("button", name="Save").click()

    await expect(page.get_by_text("At most $12.50 a month.")).to_be_visible()
    await expect(page.get_by_text("A run costs about $")).to_be_visible()
    await expect(page.get_by_text("costs nothing")).to_have_count(0)
    await expect(page.get_by_text("Next run")).to_be_visible()
    await seen(page, "schedule")
    kept = await app.run("SELECT every, budget::text, is_paused FROM search_schedules")
    assert kept == [("weekly", "2.5000", False)]

    await page.get_by_role("button", name="Pause").click()
    await expect(page.get_by_role("button", name="Resume")).to_be_visible()
