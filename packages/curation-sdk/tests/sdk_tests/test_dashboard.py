"""The dashboard, asked as a server would and used as a person would."""

import asyncio
import os
import re
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from html import unescape

import httpx
import pytest
import uvicorn
from playwright.async_api import Page as Tab
from playwright.async_api import async_playwright
from sqlalchemy import insert
from sqlalchemy.ext.asyncio import create_async_engine
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

from curation_sdk import Done, Outcome, QueueMixin, Worker, dashboard, stage
from curation_sdk.dashboard import Dashboard
from sdk_tests.conftest import Database
from sdk_tests.desk import Desk, Ticket, answer, triage

BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
ORIGIN = "http://queues.test"


async def fail_one(ticket: Ticket, _tools: object) -> Outcome:
    if ticket.id == 1:
        raise ValueError("<b>the printer</b> is on fire")
    return Done()


async def fill(desk: Desk) -> None:
    await desk.open(3)
    await desk.drain(triage(fail_one, max_attempts=1))
    await desk.execute("UPDATE ticket SET answer_state = 'Queued' WHERE id > 1")
    await desk.drain(answer(batch=1), seconds=0)


def client(desk: Desk, *, actions: bool = False, root: str = "") -> httpx.AsyncClient:
    transport = httpx.ASGITransport(
        Dashboard(desk.engine, actions=actions), root_path=root
    )
    return httpx.AsyncClient(transport=transport, base_url=ORIGIN)


async def test_it_shows_stages_failures_and_what_happened_to_one_item(
    desk: Desk,
) -> None:
    await fill(desk)

    async with client(desk) as asked:
        stages = (await asked.get("/")).text
        failures = (await asked.get("/triage")).text
        item = (await asked.get("/triage/1")).text
        missing = await asked.get("/triage/99")

    assert '<a href="/answer">answer</a>' in stages
    assert '<a href="/triage/1">1</a>' in failures
    assert "<h2>Traceback of attempt 1</h2>" in item
    assert "Traceback (most recent call last)" in item
    assert "&lt;b&gt;the printer" in item
    assert "<b>the printer" not in item
    assert missing.status_code == 404
    assert 'method="post"' not in stages + failures + item


async def test_a_page_was_loaded_anew_while_somebody_typed_into_it(desk: Desk) -> None:
    await fill(desk)

    async with client(desk) as asked:
        pages = [(await asked.get(path)).text for path in ("/", "/triage", "/triage/1")]

    assert ['http-equiv="refresh"' in page for page in pages] == [True, False, False]


async def test_any_item_can_be_asked_for_by_its_key(desk: Desk) -> None:
    await fill(desk)

    async with client(desk) as asked:
        found = await asked.get("/triage", params={"item": "2"})

    assert found.status_code == 200
    assert "<dd>Complete</dd>" in found.text


async def test_a_database_without_queues_was_an_internal_error(
    empty_database: Database,
) -> None:
    engine = create_async_engine(empty_database.url)
    nowhere = create_async_engine("postgresql+asyncpg://me@127.0.0.1:1/nothing")

    for each, said in ((engine, "no queues yet"), (nowhere, "cannot be asked")):
        transport = httpx.ASGITransport(Dashboard(each))
        async with httpx.AsyncClient(transport=transport, base_url=ORIGIN) as asked:
            page = await asked.get("/")
        assert page.status_code == 503
        assert said in page.text
        await each.dispose()


async def test_a_page_counts_rows_no_oftener_than_its_share_of_the_time_allows(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    await fill(desk)
    looks = []

    async def look(_engine: object, stage: str, **_: object) -> int:
        looks.append(stage)
        await asyncio.sleep(0.05)
        return 7

    monkeypatch.setattr(dashboard, "depth", look)

    async with client(desk) as asked:
        pages = [(await asked.get("/")).text for _ in range(5)]

    assert looks == ["answer", "triage"]
    assert all(page.count("<td class=number>7</td>") == 2 for page in pages)


class Paper(DeclarativeBase): ...


class Page(QueueMixin, Paper):
    __tablename__ = "page"

    id: Mapped[str] = mapped_column(primary_key=True)  # type: ignore[assignment]


@stage("print_page", claims=Page.status, error=Page.error, max_attempts=1)
async def print_page(_page: Page, _tools: object) -> Outcome:
    raise ValueError("no paper")


@pytest.mark.parametrize("key", ["a/b", "50%25", "é ?#&", "../x"])
async def test_an_item_with_a_slash_in_its_key_had_no_page(
    desk: Desk, key: str
) -> None:
    async with desk.engine.begin() as connection:
        await connection.run_sync(Paper.metadata.create_all)
        await connection.execute(insert(Page).values(id=key))
    async with Worker(desk.engine, [print_page]) as worker:
        await worker.drain(print_page)

    async with client(desk) as asked:
        failures = (await asked.get("/print_page")).text
        (link,) = re.findall(r'href="(/print_page/[^"]+)"', failures)
        item = await asked.get(unescape(link))

    assert item.status_code == 200
    assert "no paper" in item.text


@pytest.mark.parametrize(
    ("actions", "origin"),
    [(False, ORIGIN), (True, "http://elsewhere.test"), (True, None)],
    ids=["read only", "another page", "no page"],
)
async def test_nothing_changes_unless_it_may_and_its_own_page_asks(
    desk: Desk, actions: bool, origin: str | None
) -> None:
    await fill(desk)
    form = {"action": "retry", "stage": "triage", "item": "1"}

    async with client(desk, actions=actions) as asked:
        headers = {"origin": origin} if origin else {}
        refused = await asked.post("/", data=form, headers=headers)

    assert refused.status_code == 403
    assert await desk.states() == {"Complete": 2, "Error": 1}


async def test_it_can_be_mounted_below_a_path(desk: Desk) -> None:
    await fill(desk)

    async with client(desk, actions=True, root="/queues") as asked:
        stages = (await asked.get("/queues/")).text
        done = await asked.post(
            "/queues/",
            data={"action": "dismiss", "stage": "triage", "item": "1"},
            headers={"origin": ORIGIN},
        )

    assert '<a href="/queues/triage">triage</a>' in stages
    assert (done.status_code, done.headers["location"]) == (303, "/queues/triage")
    assert await desk.one("SELECT count(*) FROM curation.dead_letter") == 0


@pytest.fixture
def chromium() -> str:
    place = os.environ.get("CHROMIUM") or next(
        filter(None, map(shutil.which, BROWSERS)), None
    )
    if place is None:
        pytest.skip("no Chromium is installed")
    return place


@asynccontextmanager
async def opened(desk: Desk, chromium: str) -> AsyncIterator[Tab]:
    app = Dashboard(desk.engine, actions=True)
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="error"))
    serving = asyncio.create_task(server.serve())
    while not server.started:  # noqa: ASYNC110 - it tells nobody
        await asyncio.sleep(0.01)
    port = server.servers[0].sockets[0].getsockname()[1]
    async with async_playwright() as driver:
        browser = await driver.chromium.launch(
            executable_path=chromium, args=["--no-sandbox", "--disable-gpu"]
        )
        page = await browser.new_page()
        await page.goto(f"http://127.0.0.1:{port}/")
        yield page
        await browser.close()
    server.should_exit = True
    await serving


@pytest.mark.slow
async def test_on_a_phone_a_reason_stood_in_a_column_of_one_letter(
    desk: Desk, chromium: str
) -> None:
    await fill(desk)

    async with opened(desk, chromium) as page:
        await page.set_viewport_size({"width": 390, "height": 700})
        await page.get_by_role("link", name="triage").click()
        why = await page.locator(".why").first.bounding_box()
        width = await page.evaluate("document.documentElement.scrollWidth")

    assert why is not None
    assert why["width"] > 200
    assert width == 390


@pytest.mark.slow
async def test_a_person_pauses_a_stage_and_tries_a_failed_item_again(
    desk: Desk, chromium: str
) -> None:
    await fill(desk)

    async with opened(desk, chromium) as page:
        await page.get_by_role("button", name="pause answer").click()
        await page.get_by_text("paused: paused on the dashboard").wait_for()
        await page.get_by_role("link", name="triage").click()
        await page.get_by_role("link", name="1", exact=True).click()
        await page.get_by_text("ValueError").first.wait_for()
        await page.go_back()
        await page.get_by_role("button", name="retry 1").click()
        await page.get_by_text("Nothing has failed.").wait_for()

    assert await desk.states() == {"Complete": 2, "Queued": 1}
