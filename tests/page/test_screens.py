"""Every screen opens, is usable by everyone, and asks nobody else for anything."""

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page, Route, ViewportSize, expect

from tests.page.rig import SCREENS, RunningApp, a_page, violations, walk_to

pytestmark = [
    pytest.mark.asyncio(loop_scope="session"),
    pytest.mark.xdist_group("page"),  # they share one application
]

PHONE = ViewportSize(width=390, height=844)
STILL = "() => document.getAnimations().length === 0"
FILL = """
INSERT INTO place_searches (tenant_id, business_type, location, source, status, error)
VALUES ($1, 'bakeries', 'Porto', 'osm', 'Completed', NULL),
  ($1, 'tailors', 'Lyon', 'osm', 'Error', 'connect_error: no answer');
INSERT INTO places_staging (tenant_id, source, source_place_id, name, rating, website,
  status, deep_scan_status)
SELECT $1, 'osm', n::text, 'Bakery ' || n, 4.5, 'https://b.example/',
  (ARRAY['New', 'Selected', 'Maybe', 'Not a Fit', 'Archived'])[n]::curation_status,
  'Completed' FROM generate_series(1, 5) n;
INSERT INTO local_businesses (tenant_id, name, city, phone, website)
VALUES ($1, 'Bakery 1', 'Porto', '+351222000000', 'https://b.example/');
INSERT INTO domains (tenant_id, domain, title, status, error)
VALUES ($1, 'b.example', 'Bread', 'completed', NULL),
  ($1, 'c.example', NULL, 'error', 'dns_error: no such name');
INSERT INTO sitemap_files (tenant_id, domain_id, url)
SELECT $1, id, 'https://b.example/sitemap.xml' FROM domains LIMIT 1;
INSERT INTO pages (tenant_id, domain_id, url, contact_likelihood)
SELECT $1, id, 'https://b.example/contact', 0.9 FROM domains LIMIT 1;
INSERT INTO contacts (tenant_id, domain_id, email, name, confidence)
SELECT $1, id, 'info@b.example', 'Ana Brand', 0.8 FROM domains LIMIT 1;
INSERT INTO selection_rules (tenant_id, name, kind, conditions, status)
VALUES ($1, 'All', 'places', '{"all": []}', 'Selected');
INSERT INTO curation.dead_letter (stage, item, kind, why, tries, deaths, fence)
SELECT 'domain_metadata', id::text, 'exhausted', error, 5, 0, 1 FROM domains
WHERE error IS NOT NULL AND tenant_id = $1
"""


@pytest_asyncio.fixture(scope="module", loop_scope="session", autouse=True)
async def records(app: RunningApp) -> None:
    """Put some of everything on the screens."""
    tenant = await app.tenant()
    for statement in FILL.split(";"):
        await app.run(statement, tenant)


async def looked_at(page: Page) -> dict[str, list[str]]:
    """Walk through every screen, and say what is wrong with it."""
    found: dict[str, list[str]] = {}
    await page.goto("/nowhere")
    for path in SCREENS:
        await walk_to(page, path)
        await page.wait_for_function(STILL)
        found[path] = await violations(page)
        if await page.evaluate("document.documentElement.scrollWidth > innerWidth"):
            found[path].append("it is wider than the window")
    return found


@pytest.mark.slow
async def test_every_screen_is_usable_by_everyone_on_a_laptop(page: Page) -> None:
    assert await looked_at(page) == {path: [] for path in SCREENS}


@pytest.mark.slow
async def test_every_screen_is_usable_by_everyone_on_a_dark_phone(
    browser: Browser, app: RunningApp
) -> None:
    options = {"viewport": PHONE, "color_scheme": "dark"}
    async with a_page(browser, app.address, **options) as page:
        assert await looked_at(page) == {path: [] for path in SCREENS}


async def test_a_phone_has_the_navigation_behind_a_button(
    browser: Browser, app: RunningApp
) -> None:
    async with a_page(browser, app.address, viewport=PHONE) as page:
        await page.goto("/")
        await page.get_by_role("button", name="Open navigation").click()
        await page.get_by_role("dialog").get_by_role("link", name="Results").click()

        await expect(page).to_have_url(f"{app.address}/results")
        await expect(page.get_by_role("dialog")).to_have_count(0)


async def test_the_home_of_sales_was_the_pipeline(page: Page) -> None:
    await page.goto("/")
    await expect(page.get_by_role("heading", name="Home", level=1)).to_be_visible()
    screens = page.get_by_role("navigation", name="Screens")
    step = screens.get_by_role("link", name="Sitemap files")
    await expect(step).to_be_hidden()
    await screens.get_by_text("Advanced").click()

    for name in ("Pipeline", "Businesses", "Domains", "Sitemap files", "Pages"):
        await expect(screens.get_by_role("link", name=name)).to_be_visible()
    await page.reload()
    await expect(step).to_be_visible()


async def test_an_operator_who_logs_in_begins_at_the_pipeline(page: Page) -> None:
    async def of_operator(route: Route) -> None:
        answer = await route.fetch()
        await route.fulfill(json={**await answer.json(), "via": "session"})

    await page.route("**/api/v3/session", of_operator)
    await page.goto("/")

    await expect(page.get_by_role("heading", name="Pipeline", level=1)).to_be_visible()
    screens = page.get_by_role("navigation", name="Screens")
    await expect(screens.get_by_role("link", name="Sitemap files")).to_be_visible()


async def test_the_keys_are_explained_and_work(page: Page, app: RunningApp) -> None:
    await page.goto("/")
    await expect(page.get_by_role("heading", name="Home", level=1)).to_be_visible()
    await page.keyboard.press("?")
    keys = page.get_by_role("dialog", name="Keyboard shortcuts")
    await expect(keys).to_contain_text("Go to contacts")
    await page.keyboard.press("Escape")
    await page.keyboard.press("g")
    await page.keyboard.press("s")

    await expect(page).to_have_url(f"{app.address}/search")


async def test_the_theme_stays_as_chosen(page: Page) -> None:
    await page.goto("/")
    await page.get_by_role("button", name="theme, shortcuts and more").click()
    await page.get_by_role("menuitemcheckbox", name="Dark").click()
    await page.reload()

    assert await page.evaluate("document.documentElement.dataset.theme") == "dark"


async def test_an_unknown_address_is_said_to_be_one(page: Page) -> None:
    await page.goto("/nowhere/at/all")
    await expect(page.get_by_text("Page not found")).to_be_visible()
    await page.get_by_role("button", name="Go home").click()

    await expect(page.get_by_role("heading", name="Home", level=1)).to_be_visible()
