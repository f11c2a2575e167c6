"""The home screen: how the pipeline stands, live, and what can be done about it."""

import asyncio
import json

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page, Route, expect

from tests.page.rig import RunningApp, a_page, violations, watch_of

pytestmark = [
    pytest.mark.slow,
    pytest.mark.asyncio(loop_scope="session"),
    pytest.mark.xdist_group("page"),  # they share one application
]

ADD = """
INSERT INTO places_staging (tenant_id, source, source_place_id, name, licence)
SELECT $1, 'test', 'place-' || n || $3::text, 'Place ' || n, 'free'
FROM generate_series(1, $2::int) n
"""


@pytest_asyncio.fixture(loop_scope="session", autouse=True)
async def emptied(app: RunningApp) -> None:
    """Begin with nothing, whatever the test before has left."""
    await app.empty()


async def add_places(app: RunningApp, count: int, mark: str) -> None:
    await app.run(ADD, await app.tenant(), count, mark)


async def test_an_empty_system_explains_itself(page: Page) -> None:
    await page.goto("/")

    await expect(page.get_by_text("Welcome")).to_be_visible()
    assert await violations(page) == []

    await page.goto("/pipeline")
    await expect(page.get_by_text("Welcome")).to_be_visible()
    await expect(page.get_by_role("link", name="Place search")).to_be_visible()
    assert await violations(page) == []


async def test_a_stage_is_paused_and_its_pace_changed_and_both_are_undone(
    page: Page, app: RunningApp
) -> None:
    await page.goto("/pipeline")
    # What greets an empty system comes in above the graph, and moves it.
    await expect(page.get_by_role("region", name="Welcome")).to_be_visible()
    await expect(page.locator(".side").get_by_text("Live")).to_be_visible()
    await page.get_by_role("button", name="Pause domain extraction").click()
    await expect(page.get_by_text("Paused: paused by hand")).to_be_visible()
    found = await app.run("SELECT name FROM curation.stage WHERE paused_at > 'epoch'")
    assert found == [("domain_extraction",)]
    await page.get_by_role("button", name="Undo").click()

    await expect(
        page.get_by_role("button", name="Pause domain extraction")
    ).to_be_visible()
    assert (
        await app.run("SELECT name FROM curation.stage WHERE paused_at > 'epoch'") == []
    )

    overrides = "SELECT stage, changes FROM stage_overrides"
    card = page.locator("[data-node=domain_extraction]")
    await card.get_by_role("button", name="Change the pace").click()
    dialog = page.get_by_role("dialog", name="Pace of domain extraction")
    await dialog.get_by_label("Pace").select_option("At set times")
    await dialog.get_by_label("Minutes between runs").fill("2")
    await dialog.get_by_label("Batch size").fill("50")
    await dialog.get_by_label("Items that may wait").fill("20")
    await expect(dialog.get_by_text("At most 50 every 2 minutes: 25")).to_be_visible()
    assert await violations(page) == []
    watch_of(page).forgive("422")
    await dialog.get_by_role("button", name="Save").click()
    # Beside its field, with what to do; nothing of it holds.
    await expect(dialog.get_by_text("A batch takes 50 rows")).to_be_visible()
    assert await app.run(overrides) == []
    await dialog.get_by_label("Items that may wait").fill("")
    await dialog.get_by_role("button", name="Save").click()

    await expect(dialog).to_be_hidden()
    note = card.get_by_text("Changed: runs at most 50 every 2 minutes")
    await expect(note).to_be_visible()
    await expect(card.get_by_text("Changed by this machine on")).to_be_visible()
    ((stage, changes),) = await app.run(overrides)
    assert stage == "domain_extraction"
    assert json.loads(changes) == {
        "pace": "interval",
        "interval_minutes": 2,
        "batch_size": 50,
    }
    said = page.locator(".toast").filter(has_text="runs at most 50 every 2 minutes")
    await said.get_by_role("button", name="Undo").click()
    await expect(note).to_be_hidden()
    assert await app.run(overrides) == []


async def test_what_happens_beneath_is_seen_without_loading_again(
    page: Page, app: RunningApp
) -> None:
    await page.goto("/pipeline")
    card = page.locator("[data-node=deep_scan]")
    await expect(card.get_by_text("waiting")).to_be_visible()
    await expect(page.locator(".side").get_by_text("Live")).to_be_visible()
    await add_places(app, 7, "live")
    await app.run("UPDATE places_staging SET deep_scan_status = 'Queued'")

    await expect(card.locator(".depth")).to_have_text("7")
    await card.get_by_role("link", name="Deep scan").click()
    await expect(page).to_have_url(
        f"{app.address}/curate/places?filter=deep_scan_status%3Aequal%3AQueued"
    )
    await expect(page.get_by_role("button", name="Deep scan is Queued")).to_be_visible()


async def test_a_late_answer_does_not_replace_what_the_stream_has_sent_since(
    page: Page, app: RunningApp
) -> None:
    await add_places(app, 3, "late")
    await app.run("UPDATE places_staging SET deep_scan_status = 'Queued'")
    has_answered, is_current = asyncio.Event(), asyncio.Event()

    async def late(route: Route) -> None:
        answer = await route.fetch()
        has_answered.set()
        await is_current.wait()
        await route.fulfill(response=answer)

    await page.route("**/api/v3/stages", late)
    await page.goto("/pipeline")
    await has_answered.wait()
    depth = page.locator("[data-node=deep_scan] .depth")
    await app.run("UPDATE places_staging SET deep_scan_status = 'Completed'")
    await expect(depth).to_have_text("0")
    async with page.expect_response("**/api/v3/stages"):
        is_current.set()

    await page.wait_for_timeout(500)
    await expect(depth).to_have_text("0")
    # Nobody has decided, but the stage has them already: a decision would start nothing.
    places = page.locator(".store", has_text="Places")
    await expect(places.get_by_text("none to decide")).to_be_visible()


async def test_a_lost_server_is_said_to_be_lost_until_it_is_back(
    browser: Browser, app: RunningApp
) -> None:
    async with a_page(browser, app.address) as page:
        watch_of(page).forgive("ERR_", "Failed to load", "incomplete")
        await page.goto("/pipeline")
        await expect(page.locator(".side").get_by_text("Live")).to_be_visible()
        app.stop()
        banner = page.get_by_role("status").get_by_text("The server is not responding.")
        await expect(banner).to_be_visible()
        await add_places(app, 3, "while away")
        await app.run("UPDATE places_staging SET deep_scan_status = 'Queued'")
        ((count,),) = await app.run("SELECT count(*) FROM places_staging")
        app.start()

        await expect(page.locator(".side").get_by_text("Live")).to_be_visible()
        await expect(banner).to_be_hidden()
        depth = page.locator("[data-node=deep_scan] .depth")
        await expect(depth).to_have_text(str(count))
