"""The way in: from the open door of one's own machine to people with passwords."""

import re
from collections.abc import Iterator

import pytest
from httpx import AsyncClient
from playwright.async_api import Page, expect

from tests.conftest import TestDatabase
from tests.page.rig import RunningApp, running, violations, walk_to, watch_of

pytestmark = [
    pytest.mark.asyncio(loop_scope="session"),
    pytest.mark.xdist_group("page"),  # they share one browser
]

ADA = {"email": "ada@harbour.example", "password": "a long and quiet river"}


@pytest.fixture
def app(database: TestDatabase, built: None) -> Iterator[RunningApp]:
    """Run an application of its own: nobody else gets in afterwards."""
    with running(database) as app:
        yield app


async def end_a_session_of_another_browser(page: Page, app: RunningApp) -> None:
    async with AsyncClient(base_url=app.address) as other:
        logged_in = await other.post("/api/v3/session", json=ADA)
        assert logged_in.status_code == 201
        await page.get_by_role("tab", name="Sessions").click()
        sessions = page.get_by_role("group", name="Your sessions").locator("tbody tr")
        lost = sessions.filter(has_text="httpx")
        await expect(sessions).to_have_count(2)
        await expect(sessions.filter(has_text="This browser")).to_have_count(1)
        await lost.get_by_role("button", name="Log out").click()
        await expect(lost).to_have_count(0)
        assert (await other.get("/api/v3/session")).status_code == 401


@pytest.mark.slow
async def test_the_first_person_ends_the_open_door_and_lets_others_in(
    page: Page, app: RunningApp
) -> None:
    watch_of(page).forgive("status of 401", "session/password")
    await page.goto("/settings/people")
    await page.get_by_role("button", name="Invite someone").click()
    dialog = page.get_by_role("dialog", name="Invite someone")
    await expect(dialog).to_contain_text("From then on everyone logs in")
    await dialog.get_by_label("E-mail").fill("ada@harbour.example")
    await dialog.get_by_label("Password").fill("a long and quiet river")
    await dialog.get_by_role("button", name="Create account").click()
    await expect(page.get_by_role("heading", name="Log in")).to_be_visible()
    await page.get_by_label("E-mail").fill("ada@harbour.example")
    await page.get_by_label("Password").fill("not this one, no")
    await page.get_by_role("button", name="Log in").click()
    await expect(page.get_by_role("alert")).to_be_visible()
    assert await violations(page) == []
    await page.get_by_label("Password").fill("a long and quiet river")
    await page.get_by_role("button", name="Log in").click()

    await page.get_by_role("button", name="Invite someone").click()
    await dialog.get_by_label("E-mail").fill("bob@harbour.example")
    await dialog.get_by_role("button", name="Create invitation link").click()
    link = page.get_by_role("dialog", name="Send this link")
    address = await link.locator("code").inner_text()
    assert await violations(page) == []
    await link.get_by_role("button", name="Close").click()
    person = page.get_by_role("row").filter(has_text="bob@harbour.example")
    await expect(person).to_contain_text("curator")
    # Who has only a link was said to be active.
    await expect(person).to_contain_text("Invited")
    await person.get_by_role("button", name="Actions for").click()
    await page.get_by_role("menuitem", name="Change role to viewer").click()
    await expect(person).to_contain_text("viewer")

    await page.locator(".side .who").click()
    await page.get_by_role("menuitem", name="Change password").click()
    change = page.get_by_role("dialog", name="Change your password")
    await change.get_by_label("Current password").fill("not this one, no")
    await change.get_by_label("New password").fill("a longer and quieter river")
    await change.get_by_role("button", name="Change password").click()
    # It was said in a corner of the page, not where it was wrong.
    await expect(change.get_by_label("Current password")).to_have_attribute(
        "aria-invalid", "true"
    )
    await expect(change).to_contain_text("The current password is wrong.")
    await page.keyboard.press("Escape")

    await end_a_session_of_another_browser(page, app)

    await page.goto(address)
    await page.get_by_label("Choose a password").fill("another long quiet river")
    assert await violations(page) == []
    await page.get_by_role("button", name="Set password and log in").click()
    await expect(page).to_have_url(f"{app.address}/")
    await expect(page.get_by_role("button", name="bob@harbour.example")).to_be_visible()
    found = await app.run(
        "SELECT password_hash IS NOT NULL, role::text FROM users"
        " WHERE email = 'bob@harbour.example'"
    )
    assert found == [(True, "viewer")]

    # Nobody is offered what they may not do.
    await expect(page.get_by_role("region", name="Welcome")).to_be_visible()
    for path in ("/pipeline", "/search", "/curate/places"):
        await walk_to(page, path)
        await expect(
            page.get_by_text(re.compile("(New|Start a) search"))
        ).to_have_count(0)
