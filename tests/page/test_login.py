"""The way in: from the open door of one's own machine to people with passwords."""

from collections.abc import Iterator

import pytest
from playwright.async_api import Page, expect

from tests.conftest import TestDatabase
from tests.page.rig import RunningApp, running, violations, watch_of

pytestmark = [
    pytest.mark.asyncio(loop_scope="session"),
    pytest.mark.xdist_group("page"),  # they share one browser
]


@pytest.fixture
def app(database: TestDatabase, built: None) -> Iterator[RunningApp]:
    """Run an application of its own: nobody else gets in afterwards."""
    with running(database) as app:
        yield app


async def test_the_first_person_ends_the_open_door_and_lets_others_in(
    page: Page, app: RunningApp
) -> None:
    watch_of(page).forgive("status of 401")
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
    await person.get_by_role("button", name="Actions for").click()
    await page.get_by_role("menuitem", name="Change role to viewer").click()
    await expect(person).to_contain_text("viewer")

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
