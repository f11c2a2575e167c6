"""What a hostile site says about itself is shown as text, and does nothing."""

import pytest
import pytest_asyncio
from playwright.async_api import Dialog, Page, expect

from tests.page.rig import RunningApp

pytestmark = [
    pytest.mark.asyncio(loop_scope="session"),
    pytest.mark.xdist_group("page"),  # they share one application
]

HOSTILE = (
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "\u202egnitaler\u202c {{7*7}} ${jndi:ldap://x}",
    "=cmd|' /C calc'!A0",
    "A" * 5_000,
)


@pytest_asyncio.fixture(loop_scope="session", autouse=True)
async def records(app: RunningApp) -> None:
    """Make domains with hostile titles and addresses; nothing else is left."""
    app.be_running()
    await app.empty()
    for number, words in enumerate(HOSTILE):
        await app.run(
            "INSERT INTO domains (tenant_id, domain, title, home_url)"
            " VALUES ($1, $2, $3, 'javascript:alert(1)')",
            await app.tenant(),
            f"hostile-{number}.example",
            words,
        )


@pytest.mark.slow
async def test_what_hostile_pages_say_is_shown_and_does_nothing(page: Page) -> None:
    dialogs: list[str] = []

    async def note(dialog: Dialog) -> None:
        dialogs.append(dialog.message)
        await dialog.dismiss()

    page.on("dialog", note)
    await page.goto("/curate/domains?sort=domain")
    await expect(page.get_by_text("<script>alert(1)</script>").first).to_be_visible()
    pane = page.get_by_label("Details of one domain")
    await page.keyboard.press("Enter")
    for number in range(len(HOSTILE)):
        heading = pane.get_by_role("heading", name=f"hostile-{number}.example")
        await expect(heading).to_be_visible()
        await expect(pane.locator(".facts")).to_contain_text("Title")
        await page.keyboard.press("j")

    assert dialogs == []
    assert await page.locator("a[href^='javascript']").count() == 0
    assert await page.evaluate("document.documentElement.scrollWidth") <= 1440
