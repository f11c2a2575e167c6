"""Connections to CRMs on the page: connected, mapped, compared, written, taken back."""

import os
from collections.abc import AsyncIterator, Iterator

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Locator, Page, expect

from tests.api.waiting import long_timeouts
from tests.conftest import TestServer, a_database
from tests.connectors.plain_crm import PlainCrm
from tests.page.rig import (
    QUIET,
    RunningApp,
    a_page,
    running,
    until_stored,
    violations,
    watch_of,
)

pytestmark = [
    pytest.mark.slow,
    pytest.mark.asyncio(loop_scope="session"),
    pytest.mark.xdist_group("page-connections"),  # they share one application
]

COMPANIES = """
INSERT INTO companies (tenant_id, name, city, phone)
SELECT $1, 'Company ' || n, 'Austin', '+1512555010' || n FROM generate_series(1, 6) n
"""


@pytest.fixture(scope="module")
def connected(
    postgres_server: TestServer,
    template: str,
    built: None,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[RunningApp]:
    """Run an application that may ask a CRM on this machine."""
    home = tmp_path_factory.mktemp("connections")
    given = {
        **QUIET, "CRM_NETWORKS": "127.0.0.0/8", "SCRAPERSKY_DATA_DIR": str(home),
    }  # fmt: skip
    for database in a_database(postgres_server, template):
        with long_timeouts(), running(database, given) as app:
            yield app


@pytest_asyncio.fixture(loop_scope="session", autouse=True)
async def emptied(connected: RunningApp) -> None:
    """Leave no company and no connection to the next test, whichever it is."""
    await connected.empty()


@pytest_asyncio.fixture(loop_scope="session")
async def crm() -> AsyncIterator[PlainCrm]:
    crm = PlainCrm()
    server = await crm.start()
    yield crm
    server.close()


def settings(page: Page) -> Locator:
    return page.locator("#panel-connections")


async def connect(page: Page, crm: PlainCrm, *, token: str | None = None) -> None:
    """Connect the CRM in the dialog."""
    await page.get_by_role("button", name="Connect a CRM").click()
    dialog = page.get_by_role("dialog", name="Connect a CRM")
    await dialog.get_by_label("CRM", exact=True).select_option(value="http")
    await dialog.get_by_label("Name (optional)").fill("Our CRM")
    await dialog.locator("input[type=password]").fill(token or crm.token)
    await dialog.get_by_label("Description (JSON)").fill(crm.description())
    assert await violations(page) == []
    await dialog.get_by_role("button", name="Connect", exact=True).click()


async def shot(page: Page, name: str) -> None:
    """Keep a picture for people to look at, where the environment names a folder."""
    if folder := os.environ.get("PAGE_PICTURES"):
        await page.screenshot(path=f"{folder}/crm-{name}.png", full_page=True)


async def give_another_credential(page: Page, crm: PlainCrm) -> None:
    """Replace the key in the dialog: one that is not valid is not kept."""
    watch_of(page).forgive("422")
    await page.get_by_role("button", name="New credential").click()
    dialog = page.get_by_role("dialog", name="New credential")
    crm.token = "renewed"
    for given, said in (("wrong", "401"), ("renewed", "works, and is kept")):
        await dialog.get_by_label("New credential").fill(given)
        await dialog.get_by_role("button", name="New credential").click()
        await expect(page.get_by_text(said).first).to_be_visible()
    await expect(dialog).to_have_count(0)


async def answer_a_difference(page: Page, app: RunningApp, crm: PlainCrm) -> None:
    """Say that theirs is to stay, where a phone number is another one there."""
    await app.run(
        """UPDATE sync_records SET differs =
          '{"phone": {"ours": "+15125550101", "theirs": "+15125550199", "asks": true}}'
        WHERE id = (SELECT id FROM sync_records WHERE kind = 'company' LIMIT 1)"""
    )
    await page.get_by_role("tab", name="Differences").click()
    await expect(page.get_by_text("Waits for your answer")).to_be_visible()
    await shot(page, "differences")
    assert await violations(page) == []
    await page.get_by_role("button", name="Leave theirs").click()
    await expect(page.get_by_text("Left, as you said")).to_be_visible()


async def test_a_crm_is_connected_mapped_compared_written_and_taken_back(
    browser: Browser, connected: RunningApp, crm: PlainCrm
) -> None:
    app = connected
    await app.run(COMPANIES, await app.tenant())
    async with a_page(browser, app.address) as page:
        await page.goto("/settings/connections")
        await expect(settings(page)).to_contain_text("No CRM connected yet")
        await connect(page, crm)
        await expect(
            settings(page).get_by_role("heading", name="Our CRM")
        ).to_be_visible()
        await expect(settings(page)).to_contain_text("Paused")
        await shot(page, "connection")
        await give_another_credential(page, crm)

        await page.get_by_role("tab", name="Company fields").click()
        name = page.get_by_label("Field for Name")
        await expect(name.locator("option:checked")).to_have_text("Company name")
        await page.get_by_label("Field for Lead status").select_option(label="status")
        await page.get_by_text("3 options").click()
        await page.get_by_label("Lost").fill("New")
        await page.get_by_label("Who wins for City").select_option(label="Theirs")
        await page.get_by_role("button", name="Save fields").click()
        await expect(page.get_by_text("Fields saved.")).to_be_visible()
        assert await violations(page) == []
        await shot(page, "map")

        await page.get_by_role("tab", name="Write leads").click()
        write = page.get_by_role("button", name="Write them")
        await expect(write).to_be_disabled()
        await page.get_by_role("button", name="Preview ten").click()
        stands = page.get_by_role("group", name="As they would stand there")
        await expect(stands.get_by_text("Company name").first).to_be_visible()
        await expect(stands.get_by_text("Lost").first).to_be_visible()
        await shot(page, "preview")
        await page.get_by_role("button", name="Compare").click()
        changes = page.get_by_role("region", name="What would be written")
        await expect(changes).to_contain_text("6 new, 0 changed, 0 the same")
        # Each is named once, and hundreds of lines do not stand above what follows.
        names = changes.get_by_role("link", name="Company")
        await expect(names).to_have_count(5)
        await changes.get_by_role("button", name="Show all 6").click()
        await expect(names).to_have_count(6)
        await expect(stands).to_have_count(0)
        await expect(changes).to_contain_text("It takes")
        await shot(page, "difference")
        assert crm.rows["company"] == {}
        assert await violations(page) == []
        await write.click()
        await expect(settings(page)).to_contain_text("6 written, 0 waiting")
        written = sorted(crm.rows["company"].values(), key=lambda row: row["name"])
        assert [(row["city"], row["status"]) for row in written] == [
            ("Austin", "9")
        ] * 6

        await page.get_by_role("tab", name="Log", exact=True).click()
        await expect(page.get_by_text("Made", exact=True)).to_have_count(6)
        log = page.get_by_role("group", name="Log")
        await expect(
            log.get_by_role("link", name="Company 3", exact=True)
        ).to_be_visible()
        await expect(log.get_by_text("Company name: Company 3")).to_be_visible()
        await shot(page, "log")
        await expect(page.get_by_text("Pause it to undo its last run.")).to_be_visible()
        await page.get_by_role("button", name="Pause").click()
        await answer_a_difference(page, app, crm)
        crm.edit("company", written[0]["id"], city="By hand")
        await page.get_by_role("button", name="Undo last run").click()
        dialog = page.get_by_role("dialog", name="Undo the last run?")
        await dialog.get_by_role("button", name="Undo last run").click()
        await expect(
            page.get_by_text("5 records deleted, 0 restored, 1 kept.")
        ).to_be_visible()
        await expect(dialog).to_have_count(0)
        assert [row["city"] for row in crm.rows["company"].values()] == ["By hand"]
        assert await violations(page) == []


async def test_a_company_did_not_say_that_it_is_in_a_crm_and_what_differs_there(
    browser: Browser, connected: RunningApp
) -> None:
    app = connected
    await app.run(
        "INSERT INTO companies (tenant_id, name) VALUES ($1, 'Ada')", await app.tenant()
    )
    await app.run(
        """WITH c AS (INSERT INTO sync_connections (tenant_id, connector, name, options,
          account_id, account_name, fields, mapping, is_active, cursor)
          VALUES ($1, 'folder', 'HubSpot', '{}', 'a', 'A', '{}', '{}', false, '0')
          RETURNING id)
        INSERT INTO sync_records
          (tenant_id, connection_id, kind, record_id, state, their_id, differs)
        SELECT $1, c.id, 'company', o.id, 'done', '17',
          '{"phone": {"ours": "+1 1", "theirs": "+1 2"}}' FROM c, companies o
        WHERE o.name = 'Ada'""",
        await app.tenant(),
    )
    async with a_page(browser, app.address) as page:
        await page.goto("/curate/companies?q=Ada")
        await page.get_by_role("row").filter(has_text="Ada").click()
        pane = page.get_by_label("Details of one company")
        await expect(pane).to_contain_text("In HubSpot since")
        await expect(pane).to_contain_text("Differs in phone: +1 1 here, +1 2 there")
        await shot(page, "company")
        assert await violations(page) == []


async def test_a_wrong_credential_keeps_the_form_and_connects_nothing(
    browser: Browser, connected: RunningApp, crm: PlainCrm
) -> None:
    app = connected
    async with a_page(browser, app.address) as page:
        watch_of(page).forgive("422")
        await page.goto("/settings/connections")
        await connect(page, crm, token="wrong")
        await expect(page.get_by_text("401").first).to_be_visible()
        await expect(page.get_by_role("dialog", name="Connect a CRM")).to_be_visible()
        await until_stored(app, "SELECT count(*) FROM sync_connections", [(0,)])
