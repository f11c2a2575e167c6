"""The search screen: the price first, then the search, then what changed."""

import json

import pytest
import pytest_asyncio
from playwright.async_api import Page, expect

from tests.page.rig import RunningApp, violations

pytestmark = [
    pytest.mark.slow,
    pytest.mark.asyncio(loop_scope="session"),
    pytest.mark.xdist_group("page"),  # they share one application
]

RUN = """
INSERT INTO place_searches (tenant_id, business_type, location, source, status,
  found_count, new_count, finished_at, coverage, created_at)
VALUES ($1, 'bakeries', 'Porto', 'osm', 'Completed', 3, $2, now(), $3::jsonb,
  clock_timestamp())
RETURNING id
"""
COVERAGE = """{"complete": false, "why": "one cell may hold more", "leaves": [
  {"box": [41.1, -8.7, 41.15, -8.6], "count": 2, "saturated": false},
  {"box": [41.15, -8.7, 41.2, -8.6], "count": 60, "saturated": true}]}"""
PLACE = """
INSERT INTO places_staging (tenant_id, source, source_place_id, name, licence,
  latitude, longitude)
VALUES ($1, 'osm', $2, $3, 'free', 41.12 + random() / 50, -8.65) RETURNING id
"""
HIT = """
INSERT INTO place_search_hits (search_id, place_id, tenant_id, facts_hash)
VALUES ($1, $2, $3, $4)
"""


@pytest_asyncio.fixture(loop_scope="session", autouse=True)
async def emptied(app: RunningApp) -> None:
    """Begin with nothing, whatever the test before has left."""
    await app.empty()


async def test_several_searches_show_their_price_and_start_at_once(
    page: Page, app: RunningApp
) -> None:
    await page.goto("/search")
    start = page.get_by_role("button", name="Start")
    await expect(start).to_be_disabled()
    await page.get_by_label("Business type").fill("dentists\nbakeries")
    await page.get_by_label("Place", exact=True).fill("Austin, TX\nPorto")
    await expect(page.locator(".estimate")).to_contain_text("free")
    await expect(page.locator(".estimate dd").first).to_have_text("4")
    await page.get_by_role("button", name="Start 4 searches").click()

    await expect(page.locator(".search-line")).to_have_count(4)
    found = await app.run(
        "SELECT business_type, location, source, status::text FROM place_searches "
        "ORDER BY business_type, location"
    )
    assert found == [
        ("bakeries", "Austin, TX", "osm", "Queued"),
        ("bakeries", "Porto", "osm", "Queued"),
        ("dentists", "Austin, TX", "osm", "Queued"),
        ("dentists", "Porto", "osm", "Queued"),
    ]


async def test_a_search_is_paused_taken_up_and_cancelled(
    page: Page, app: RunningApp
) -> None:
    await app.run(
        "INSERT INTO place_searches (tenant_id, business_type, location, source) "
        "VALUES ($1, 'tailors', 'Lyon', 'osm')",
        await app.tenant(),
    )
    await page.goto("/search")
    await page.locator(".search-line", has_text="tailors").click()
    for step, status in (("Pause", "Paused"), ("Resume", "Queued")):
        await page.get_by_role("button", name=step).click()
        await expect(page.locator(".screen-head .badge")).to_have_text(status)
    await page.get_by_role("button", name="Cancel").click()

    await expect(page.locator(".screen-head .badge")).to_have_text("Cancelled")


async def test_an_area_is_chosen_on_the_map(page: Page, app: RunningApp) -> None:
    await page.goto("/search")
    await page.get_by_label("Business type").fill("florists")
    await page.get_by_label("On the map").check()
    await page.locator(".map > svg").click(position={"x": 100, "y": 60})
    await expect(page.locator(".target .middle")).to_be_visible()
    await page.get_by_label("Latitude").fill("41.15")
    await page.get_by_label("Longitude").fill("-8.61")
    await page.get_by_label("Radius in km").fill("3")
    await page.get_by_role("button", name="Start the search").click()
    await expect(page.get_by_text("1 search started.")).to_be_visible()

    ((area,),) = await app.run(
        "SELECT (area #> '{circle}')::text FROM place_searches WHERE business_type = 'florists'"
    )
    assert json.loads(area) == [41.15, -8.61, 3000]


async def test_a_search_run_again_shows_what_is_new_changed_and_gone(
    page: Page, app: RunningApp
) -> None:
    tenant = await app.tenant()
    names = ("Stays", "Changes", "Leaves", "Arrives")
    places = {
        name: (await app.run(PLACE, tenant, name, f"{name} Bakery"))[0][0]
        for name in names
    }
    first = (await app.run(RUN, tenant, 3, COVERAGE))[0][0]
    second = (await app.run(RUN, tenant, 1, COVERAGE))[0][0]
    for search, name, facts in (
        (first, "Stays", "a"), (first, "Changes", "b"), (first, "Leaves", "c"),
        (second, "Stays", "a"), (second, "Changes", "B"), (second, "Arrives", "d"),
    ):  # fmt: skip
        await app.run(HIT, search, places[name], tenant, facts)
    await page.goto(f"/search/{second}")
    panel = page.get_by_role("region", name="Changes since last run")

    await expect(panel.locator(".changes").nth(0)).to_contain_text("Arrives Bakery")
    await expect(panel.locator(".changes").nth(1)).to_contain_text("Changes Bakery")
    await expect(panel.locator(".changes").nth(2)).to_contain_text("Leaves Bakery")
    await expect(page.get_by_text("incomplete")).to_be_visible()
    await expect(page.locator(".leaf.full")).to_have_count(1)
    await expect(page.locator(".found")).to_have_count(3)
    assert await violations(page) == []
    await page.get_by_role("link", name="View the places").click()
    await expect(page.get_by_text("Found by: bakeries in Porto")).to_be_visible()
    await expect(page.locator(".grid-row")).to_have_count(3)
