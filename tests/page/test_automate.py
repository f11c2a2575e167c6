"""Rules, batches, dead letters and settings, each from the first click to its effect."""

from pathlib import Path
from uuid import UUID

import pytest
import pytest_asyncio
from openpyxl import Workbook
from playwright.async_api import Page, expect

from tests.page.rig import RunningApp, downloaded, until_stored, violations, walk_to
from tests.webhooks.receiver import receiving

pytestmark = [
    pytest.mark.slow,
    pytest.mark.asyncio(loop_scope="session"),
    pytest.mark.xdist_group("page"),  # they share one application
]


@pytest_asyncio.fixture(scope="module", loop_scope="session", autouse=True)
async def records(app: RunningApp) -> None:
    """Make places to decide about, and pages that failed for good."""
    tenant = await app.tenant()
    await app.run(
        "INSERT INTO places_staging (tenant_id, source, source_place_id, name, rating)"
        " SELECT $1, 'file', n::text, 'Place ' || n, 3 + (n % 20) / 10.0"
        " FROM generate_series(1, 100) AS n",
        tenant,
    )
    await app.run(
        "INSERT INTO domains (tenant_id, domain, status, error)"
        " SELECT $1, 'dead-' || n || '.example', 'error',"
        " 'the server answered 500' FROM generate_series(1, 3) AS n",
        tenant,
    )
    await app.run(
        "INSERT INTO curation.dead_letter (stage, item, kind, why, tries, deaths, fence)"
        " SELECT 'domain_metadata', id::text, 'exhausted', error, 5, 0, 1 FROM domains"
    )


async def test_a_rule_is_tried_made_run_and_undone(page: Page, app: RunningApp) -> None:
    await page.goto("/rules")
    await page.get_by_role("button", name="New rule").click()
    dialog = page.get_by_role("dialog", name="New rule")
    await dialog.get_by_label("Name").fill("Good places")
    await dialog.get_by_role("button", name="Add condition").click()
    await dialog.get_by_label("Field").select_option("rating")
    await dialog.get_by_label("Comparison").select_option("at_least")
    await dialog.get_by_label("Value").fill("4.5")
    await expect(dialog).to_contain_text("It would decide on 25 places now")
    assert await violations(page) == []
    await dialog.get_by_role("button", name="Save").click()
    await expect(page.get_by_role("heading", name="Good places")).to_be_visible()

    await page.get_by_role("button", name="Actions for Good places").click()
    await page.get_by_role("menuitem", name="Run now").click()
    await expect(page.get_by_text("decided on 25 records")).to_be_visible()
    selected = "SELECT count(*) FROM places_staging WHERE status = 'Selected'"
    assert await app.run(selected) == [(25,)]

    await page.get_by_role("button", name="Actions for Good places").click()
    await page.get_by_role("menuitem", name="Show its decisions").click()
    await page.get_by_role("dialog").get_by_role("button", name="Undo").click()
    await until_stored(app, selected, [(0,)])
    await page.keyboard.press("Escape")

    await page.get_by_role("switch", name="Rule Good places").click()
    await until_stored(
        app,
        "SELECT is_enabled FROM selection_rules WHERE name = 'Good places'",
        [(False,)],
    )
    # A rule that is off was too pale to be read.
    await expect(page.locator(".rule-off")).to_be_visible()
    assert await violations(page) == []


async def test_a_pasted_list_gets_an_answer_for_every_line(
    page: Page, app: RunningApp
) -> None:
    await page.goto("/batches")
    await page.get_by_role("button", name="Import a list").first.click()
    dialog = page.get_by_role("dialog", name="Import a list")
    await dialog.get_by_label("One per line").fill(
        "domain;town\nharbour.example;Porto\nhttp://localhost/;\nharbour.example;\n"
        "quay.example;Faro"
    )
    await dialog.get_by_label("Name (optional)").fill("From the fair")
    assert await violations(page) == []
    await dialog.get_by_role("button", name="Import 5 lines").click()

    await expect(
        page.get_by_role("heading", name="From the fair", level=1)
    ).to_be_visible()
    lines = page.get_by_role("region", name="Lines").last
    await expect(lines.get_by_role("row").filter(has_text="localhost")).to_contain_text(
        "Refused"
    )
    await expect(
        lines.get_by_role("row").filter(has_text="quay.example")
    ).to_contain_text("Queued")
    await page.get_by_role("button", name="Pause").click()
    await expect(page.get_by_role("button", name="Resume")).to_be_visible()
    await page.get_by_role("button", name="Cancel").click()
    await (
        page.get_by_role("dialog")
        .get_by_role("button", name="Cancel the import")
        .click()
    )

    await expect(page.get_by_text("Cancelled", exact=True).first).to_be_visible()
    # Nobody has visited it: what was cancelled leaves nothing behind.
    assert await app.run("SELECT 1 FROM domains WHERE domain = 'quay.example'") == []


async def test_a_file_is_submitted_whole(
    page: Page, app: RunningApp, tmp_path: Path
) -> None:
    file = tmp_path / "shops.csv"
    file.write_text("domain\n" + "\n".join(f"shop-{n}.example" for n in range(300)))
    await page.goto("/batches")
    await page.get_by_role("button", name="Import a list").first.click()
    dialog = page.get_by_role("dialog", name="Import a list")
    await dialog.get_by_label("File", exact=True).set_input_files(file)
    await dialog.get_by_role("button", name="Import shops.csv").click()

    await expect(page.get_by_role("heading", name="shops.csv", level=1)).to_be_visible()
    assert await app.run("SELECT count(*) FROM domains WHERE domain LIKE 'shop-%'") == [
        (300,)
    ]

    businesses, book = tmp_path / "traders.xlsx", Workbook()
    for row in (
        ("Trader", "Online", "Turnover"),
        ("Ada", "ada.example", 12),
        ("Bob", None, 7),
        (None, None, 5),
    ):
        book.worksheets[0].append(row)
    book.save(businesses)
    await walk_to(page, "/batches")
    await page.get_by_role("button", name="Import a list").first.click()
    await dialog.get_by_label("Type of list").select_option(label="Businesses")
    await dialog.get_by_label("Rows, the headings first").fill("Name\nAda\nBob")
    await expect(dialog.get_by_role("button", name="Import 2 lines")).to_be_enabled()
    await dialog.get_by_label("File", exact=True).set_input_files(businesses)
    await expect(dialog).to_contain_text("Choose the column with the name")
    await dialog.get_by_label("Import Trader as").select_option(label="Name")
    await expect(dialog).to_contain_text("Of the first 3 rows: 2 businesses")
    await expect(dialog).to_contain_text(
        "Neither a name nor a website (1 line, left out)Line 4"
    )
    assert await violations(page) == []
    await dialog.get_by_role("button", name="Import traders.xlsx").click()

    heading = page.get_by_role("heading", name="traders.xlsx", level=1)
    await expect(heading).to_be_visible()
    ((kept,),) = await app.run(
        "SELECT convert_from(content, 'UTF8') FROM uploaded_parts"
        " JOIN place_searches ON name = params->>'file'"
    )
    assert kept.startswith("name,Online,Turnover\n")


async def test_dead_letters_stand_by_cause_with_their_story(
    page: Page, app: RunningApp
) -> None:
    await page.goto("/dead-letters")
    group = page.get_by_role("listitem").filter(
        has_text="The server answered 500 (server error)"
    )
    await expect(group).to_contain_text("3")
    await group.get_by_role("button", name="Show").click()
    await page.get_by_role("button", name="dead-2.example").click()
    story = page.get_by_role("dialog")
    await expect(story).to_contain_text("The server answered 500")
    assert await violations(page) == []
    await story.get_by_role("button", name="Retry").click()
    queued = (
        "SELECT domain FROM domains WHERE domain LIKE 'dead%' AND status = 'pending'"
    )
    await until_stored(app, queued, [("dead-2.example",)])

    await group.get_by_role("button", name="Dismiss").click()
    await page.get_by_role("dialog").get_by_role("button", name="Dismiss").click()

    await expect(page.get_by_text("Nothing has failed")).to_be_visible()
    assert await app.run("SELECT count(*) FROM curation.dead_letter") == [(0,)]


async def test_a_key_is_shown_once_and_taken_back(page: Page, app: RunningApp) -> None:
    await page.goto("/settings/keys")
    await page.get_by_role("button", name="Create API key").click()
    dialog = page.get_by_role("dialog", name="Create API key")
    await dialog.get_by_label("What is it for?").fill("nightly export")
    await dialog.get_by_role("button", name="Create", exact=True).click()
    shown = page.get_by_role("dialog", name="Copy the key now")
    secret = await shown.locator("code").inner_text()
    await page.keyboard.press("Escape")
    await expect(
        page.get_by_role("row").filter(has_text="nightly export")
    ).to_be_visible()
    assert secret not in await page.content()
    await page.get_by_role("button", name="Revoke").click()
    await page.get_by_role("dialog").get_by_role("button", name="Revoke").click()

    await expect(page.get_by_text("Revoked", exact=True)).to_be_visible()


async def test_a_webhook_is_made_tried_followed_rotated_and_deleted(
    page: Page, app: RunningApp
) -> None:
    async with receiving() as receiver:
        await page.goto("/settings/webhooks")
        await page.get_by_role("button", name="Add webhook").click()
        dialog = page.get_by_role("dialog", name="Add webhook")
        await dialog.get_by_label("Address").fill("nowhere")
        await dialog.get_by_label("Name").fill("our CRM")
        await dialog.get_by_label("People").uncheck()
        await dialog.get_by_label("Format").select_option("batch")
        await dialog.get_by_label("Whose changes are left out").fill("sync, Ada")
        assert await violations(page) == []
        await dialog.get_by_label("Address").fill(receiver.url)
        await dialog.get_by_role("button", name="Add webhook").click()
        shown = page.get_by_role("dialog", name="Copy the secret now")
        secret = await shown.locator("code").inner_text()
        assert await violations(page) == []
        await page.keyboard.press("Escape")
        row = page.get_by_role("row").filter(has_text="our CRM")
        await expect(row).to_contain_text("Companies, Contacts, The end of a search")
        assert secret not in await page.content()
        stored = "SELECT format, ignored_actors FROM webhook_endpoints"
        assert await app.run(stored) == [("batch", ["sync", "Ada"])]

        await choose(page, "our CRM", "Send a test")
        await expect(page.get_by_text("was not taken")).to_be_visible()

        await choose(page, "our CRM", "Show messages")
        messages = page.get_by_role("dialog", name="Messages to our CRM")
        await expect(messages).to_contain_text("webhook.test")
        await expect(messages).to_contain_text("blocked")
        assert await violations(page) == []
        await page.keyboard.press("Escape")

        await choose(page, "our CRM", "New secret")
        await page.get_by_role("button", name="Make secret").click()
        await expect(shown.locator("code")).not_to_have_text(secret)
        await page.keyboard.press("Escape")

        # As if nobody had taken anything for days.
        await app.run(
            "UPDATE webhook_endpoints SET is_active = false, disabled_at = now(),"
            " problem = 'answered 410'"
        )
        await page.reload()
        await expect(row).to_contain_text("Switched off")
        await expect(row).to_contain_text("answered 410")
        assert await violations(page) == []
        await choose(page, "our CRM", "Send again")
        replay = page.get_by_role("dialog", name='Send again to "our CRM"')
        await replay.get_by_label("From").fill("2026-01-01")
        await replay.get_by_role("button", name="Send again").click()
        await expect(page.get_by_text("There is nothing to send again")).to_be_visible()
        await expect(row).to_contain_text("Active")

        await choose(page, "our CRM", "Delete")
        await page.get_by_role("dialog").get_by_role("button", name="Delete").click()
        await expect(page.get_by_text("No webhooks yet")).to_be_visible()


async def choose(page: Page, webhook: str, action: str) -> None:
    """Choose one of the actions for a webhook."""
    await page.get_by_role("button", name=f"Actions for {webhook}").click()
    await page.get_by_role("menuitem", name=action).click()


async def test_what_is_wrong_and_who_works_is_seen_and_a_process_is_drained(
    page: Page, app: RunningApp
) -> None:
    # It is heard of in the future, so that it is never gone, however slow this is.
    await app.run(
        "INSERT INTO processes (name, role, host, pid, version, stages, resting, seen_at)"
        " VALUES ('quay-2', 'worker', 'quay', 2, '1', '{page_curation}', 'No name is"
        " resolved here.', now() + interval '1 day')"
    )
    # The watch of the application would end an alert of ours within a minute.
    alert = {
        "rule": "oldest_item", "subject": "page_curation", "advice": "Start more workers.",
        "summary": "The oldest has waited 75 minutes.", "since": "2026-01-01T00:00:00Z",
    }  # fmt: skip
    await page.route("**/api/v3/alerts", lambda route: route.fulfill(json=[alert]))
    try:
        await page.goto("/settings")
        wrong = page.get_by_role("row").filter(has_text="Oldest item")
        await expect(wrong).to_contain_text("The oldest has waited 75 minutes.")
        await expect(wrong).to_contain_text("Start more workers.")
        process = page.get_by_role("row").filter(has_text="quay")
        await expect(process).to_contain_text("No name is resolved here.")
        assert await violations(page) == []
        await process.get_by_role("button", name="Finish and stop").click()
        await expect(process).to_contain_text("Drained")
        await process.get_by_role("button", name="Resume").click()
        await expect(process).to_contain_text("Resting")
    finally:
        await app.run("DELETE FROM processes WHERE name = 'quay-2'")


async def test_who_is_left_alone_is_gone_from_the_contacts(
    page: Page, app: RunningApp
) -> None:
    tenant: UUID = await app.tenant()
    await app.run(
        "WITH d AS (INSERT INTO domains (tenant_id, domain) VALUES ($1, 'calm.example')"
        " RETURNING id) INSERT INTO contacts (tenant_id, domain_id, email)"
        " SELECT $1, id, 'leave@calm.example' FROM d",
        tenant,
    )
    await page.goto("/settings/suppressions")
    await page.get_by_role("button", name="Add").click()
    await (
        page.get_by_role("dialog")
        .get_by_role("textbox")
        .first.fill("leave@calm.example")
    )
    await page.get_by_role("dialog").get_by_role("button", name="Add 1 line").click()
    # Nothing is deleted before one has seen how much.
    await expect(page.get_by_role("dialog")).to_contain_text("1 matching contact will")
    await page.get_by_role("button", name="Add and delete 1 contact").click()

    await expect(page.get_by_text("1 entry added, 1 contact removed")).to_be_visible()
    left = "SELECT count(*) FROM contacts WHERE email = 'leave@calm.example'"
    assert await app.run(left) == [(0,)]


async def test_who_must_be_told_is_seen_marked_and_taken_away(
    page: Page, app: RunningApp
) -> None:
    await app.run(
        "WITH d AS (INSERT INTO domains (tenant_id, domain) VALUES ($1, 'late.example')"
        " RETURNING id), c AS (INSERT INTO contacts (tenant_id, domain_id, email,"
        " created_at) SELECT $1, id, who || '@late.example',"
        " now() - CAST(ago AS interval) FROM d, (VALUES ('late', '40 days'),"
        " ('soon', '27 days'), ('new', '1 day')) AS v (who, ago) RETURNING id)"
        " INSERT INTO contact_evidence (tenant_id, contact_id, field, value, url,"
        " snippet, method, confidence, robots, seen_at) SELECT $1, id, 'email', 'x',"
        " 'https://late.example/team', 'x', 'mailto', 1, 'allowed', now() FROM c",
        await app.tenant(),
    )
    await page.goto("/settings/notices")
    table = page.get_by_role("table")
    await expect(table.get_by_role("row")).to_have_count(4)
    await expect(table.get_by_role("row").nth(1)).to_contain_text("late@late.example")
    await expect(table.get_by_role("row").nth(1)).to_contain_text("Overdue")
    await expect(
        page.get_by_role("tab", name="Privacy notices 1 overdue")
    ).to_be_visible()
    await page.get_by_role("button", name="Export").click()
    rows = await downloaded(page, page.get_by_role("menuitem", name="CSV"))
    assert "late.example/team" in str(rows)

    # By keyboard alone: the first one is ticked, and marked as notified.
    await page.get_by_role("checkbox", name="Select late@late.example").focus()
    await page.keyboard.press("Space")
    await page.get_by_role("button", name="Mark as notified").focus()
    await page.keyboard.press("Enter")
    dialog = page.get_by_role("dialog", name="Mark 1 contact as notified")
    await dialog.get_by_label("How").fill("by letter")
    assert await violations(page) == []
    await page.keyboard.press("Enter")
    await expect(page.get_by_text("1 contact marked as notified.")).to_be_visible()
    await expect(table.get_by_role("row")).to_have_count(3)
    informed_how = "SELECT how FROM contact_notices WHERE informed_at IS NOT NULL"
    assert await app.run(informed_how) == [("by letter",)]
    await page.get_by_role("button", name="Undo").click()
    await expect(table.get_by_role("row")).to_have_count(4)
    assert await app.run(informed_how) == []

    # What happens elsewhere is seen without loading again.
    await expect(page.locator(".side").get_by_text("Live")).to_be_visible()
    await app.run(
        "INSERT INTO contacts (tenant_id, domain_id, email)"
        " SELECT $1, id, 'more@late.example' FROM domains"
        " WHERE domain = 'late.example'",
        await app.tenant(),
    )
    await expect(table.get_by_role("row")).to_have_count(5)
    await page.get_by_role("button", name="Mark all as notified").click()
    await (
        page.get_by_role("dialog")
        .get_by_role("button", name="Mark all as notified")
        .click()
    )

    await expect(page.get_by_text("Everyone is notified")).to_be_visible()
    await page.get_by_role("button", name="Notified 4").click()
    await expect(table.get_by_role("row")).to_have_count(5)
