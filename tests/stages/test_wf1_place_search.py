"""WF1: every place once, nothing paid twice, and never more than the budget."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
import pytest_asyncio

import curation_sdk
from scrapersky.crawler import Sandbox
from scrapersky.errors import KeyMissing
from scrapersky.providers.google_places import GooglePlaces, GoogleSettings
from scrapersky.providers.source import PlaceQuery
from scrapersky.records import PlaceSearch
from scrapersky.settings import SYSTEM_USER_ID
from sdk_tests.rig.waiting import HUNG
from tests.providers.rig import Rig, google_rig
from tests.providers.servers.fault import HANG
from tests.providers.servers.google import BAD_KEY, QUOTA_WAIT, GoogleServer
from tests.stages.rig import Line, running_line
from tests.stages.shared_database import SharedDatabase

pytestmark = pytest.mark.asyncio(loop_scope="session")
STAGE = "place_search"
SMALL = 70
"""Places in the town: enough that a search takes many requests."""


@pytest_asyncio.fixture(loop_scope="session")
async def google(tmp_path: Path) -> AsyncIterator[Rig]:
    async with google_rig(tmp_path, survey=False, size=SMALL) as rig:
        yield rig


@pytest_asyncio.fixture(loop_scope="session")
async def line(
    shared_database: SharedDatabase, sandbox: Sandbox, google: Rig
) -> AsyncIterator[Line]:
    async with google_line(shared_database, sandbox, google) as line:
        yield line


def google_line(
    shared: SharedDatabase, sandbox: Sandbox, google: Rig
) -> AbstractAsyncContextManager[Line]:
    """Run a line whose places come from Google."""
    sources = {"google": google.source}
    return running_line(shared.database, sandbox, engine=shared.engine, sources=sources)


def server_of(rig: Rig) -> GoogleServer:
    assert isinstance(rig.server, GoogleServer)
    return rig.server


async def add_search(line: Line, query: PlaceQuery, **values: Any) -> UUID:
    asked = query.to_json()
    given = {
        "business_type": asked.pop("business_type"),
        "location": asked.pop("location", None),
        "params": asked,
        "source": "google",
        **values,
    }
    return await line.add(PlaceSearch, **given)


async def test_every_place_is_stored_once_new_and_linked(
    line: Line, google: Rig
) -> None:
    search = await add_search(line, google.query)

    await line.work(STAGE)

    row = await line.row(PlaceSearch, search)
    places = await line.rows(
        "SELECT source_place_id, status::text, deep_scan_status, created_by"
        " FROM places_staging p JOIN place_search_hits h ON h.place_id = p.id"
        " WHERE h.search_id = :search", search=search,
    )  # fmt: skip
    assert (row.status, row.error) == ("Completed", None)
    assert {place[0] for place in places} == google.expected
    assert {place[1:] for place in places} == {("New", None, SYSTEM_USER_ID)}
    assert row.found_count == row.new_count == len(google.expected)


async def test_the_coverage_is_kept_as_proof_and_the_bill_is_the_servers(
    line: Line, google: Rig
) -> None:
    search = await add_search(line, google.query, budget=Decimal(50))

    await line.work(STAGE)

    row = await line.row(PlaceSearch, search)
    assert row.coverage["leaves"]
    assert row.spent == server_of(google).bill > 0
    assert "state" not in row.progress
    assert row.finished_at is not None


async def test_a_search_that_finds_nothing_says_why(line: Line, google: Rig) -> None:
    search = await add_search(line, google.empty)

    await line.work(STAGE)

    story = await line.story(STAGE, search)
    assert story.status == "Completed"
    assert story.attempts[-1].why is not None
    assert "no violin makers in Austin, TX" in story.attempts[-1].why


async def test_the_budget_is_a_hard_end_and_more_money_continues_the_search(
    line: Line, google: Rig
) -> None:
    calm = await add_search(line, google.query, location="Austin")
    await line.work(STAGE)
    price = (await line.row(PlaceSearch, calm)).spent
    search = await add_search(line, google.query, budget=price / 2)

    await line.work(STAGE)
    poor = await line.row(PlaceSearch, search)
    bill_then = server_of(google).bill
    await line.run("UPDATE place_searches SET budget = 50 WHERE id = :id", id=search)
    await curation_sdk.dead_letters.replay(line.engine, STAGE, str(search))
    await line.work(STAGE)
    rich = await line.row(PlaceSearch, search)

    assert poor.status == "Error"
    assert "budget" in poor.error
    assert poor.spent <= price / 2
    assert bill_then - price == poor.spent
    assert rich.status == "Completed"
    assert rich.found_count == len(google.expected)
    assert rich.spent == price


@pytest.mark.slow
async def test_who_takes_over_a_search_goes_on_and_pays_for_one_page_at_most(
    line: Line, google: Rig, shared_database: SharedDatabase, sandbox: Sandbox
) -> None:
    server = server_of(google)
    calm = await add_search(line, google.query, location="Austin")
    await line.work(STAGE)
    price, requests = (await line.row(PlaceSearch, calm)).spent, server.requests
    search = await add_search(line, google.query)
    server.faults.extend([*[None] * 5, HANG])

    working = asyncio.create_task(line.work(STAGE))
    while server.requests < requests + 6:  # noqa: ASYNC110 - the server has no signal
        await asyncio.sleep(0.01)
    await line.worker.stop(grace=timedelta())
    await working
    async with running_line(
        shared_database.database, sandbox, sources={"google": google.source}
    ) as second:
        await second.work_again(STAGE)
        row = await second.row(PlaceSearch, search)

    assert row.status == "Completed"
    assert row.found_count == len(google.expected)
    assert row.spent - price <= Decimal("0.04")
    assert server.requests - requests <= requests + 2


async def test_a_wrong_key_pauses_the_stage_and_spends_no_attempt(
    line: Line, google: Rig
) -> None:
    search = await add_search(line, google.query)
    server_of(google).always = BAD_KEY

    await line.work(STAGE)

    states = {
        state.name: state for state in await curation_sdk.control.states(line.engine)
    }
    assert (await line.row(PlaceSearch, search)).status == "Queued"
    assert states[STAGE].paused
    assert "key" in (states[STAGE].paused_why or "")
    assert not states["deep_scan"].paused
    assert "AIza" not in (states[STAGE].paused_why or "")


async def test_without_any_key_searches_were_given_up_instead_of_waiting(
    line: Line, google: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    search = await add_search(line, google.query)
    with pytest.raises(KeyMissing) as caught:
        GooglePlaces(GoogleSettings(), user_agent="test")
    monkeypatch.setattr(line.tools.sources, "_ready", {})
    monkeypatch.setattr(line.tools.sources, "missing", {"google": caught.value})

    await line.work(STAGE)

    states = {
        state.name: state for state in await curation_sdk.control.states(line.engine)
    }
    assert (await line.row(PlaceSearch, search)).status == "Queued"
    assert states[STAGE].paused
    assert "GOOGLE_MAPS_API_KEY" in (states[STAGE].paused_why or "")


@pytest.mark.slow
async def test_after_a_wrong_key_the_others_go_on_and_a_right_one_resumes(
    line: Line, google: Rig
) -> None:
    search = await add_search(line, google.query)
    page = await line.add_page("http://a.bv/contact")
    line.web.page("a.bv/contact", "<p>mail hello@a.bv</p>")
    server_of(google).always = BAD_KEY
    await line.work(STAGE)

    await line.work("page_curation")
    assert await line.outcomes("page_curation", page) == ["done"]
    server_of(google).always = None
    await curation_sdk.control.resume(line.engine, STAGE)
    async with asyncio.timeout(HUNG):
        while not await line.work(STAGE):  # noqa: ASYNC110 - until it has heard
            await asyncio.sleep(0.1)

    assert await line.rows("SELECT email FROM contacts") == [("hello@a.bv",)]
    assert (await line.row(PlaceSearch, search)).status == "Completed"


async def test_a_busy_source_is_tried_again_when_it_says_so(
    line: Line, google: Rig
) -> None:
    search = await add_search(line, google.query)
    server_of(google).faults.append(QUOTA_WAIT)

    await line.work(STAGE)
    story = await line.story(STAGE, search)
    await line.work_again(STAGE)

    assert [one.outcome for one in story.attempts] == ["retried"]
    assert story.status == "InProgress"
    assert (await line.row(PlaceSearch, search)).error is None
    assert await line.outcomes(STAGE, search) == ["retried", "done"]


async def test_an_unknown_source_is_given_up_with_a_reason(
    line: Line, google: Rig
) -> None:
    search = await add_search(line, google.query, source="nowhere")

    await line.work(STAGE)

    row = await line.row(PlaceSearch, search)
    assert row.status == "Error"
    assert "nowhere" in row.error
    assert (await line.story(STAGE, search)).dead == "gave_up"


async def test_finding_a_place_again_refreshes_facts_and_no_decision(
    line: Line, google: Rig
) -> None:
    await add_search(line, google.query)
    await line.work(STAGE)
    await line.run(
        "UPDATE places_staging SET status = 'Not a Fit', name = 'old name',"
        " deep_scan_status = 'Error', deep_scan_error = 'why'"
    )

    again = await add_search(line, google.query, location="Austin")
    await line.work(STAGE)

    found = await line.rows(
        "SELECT DISTINCT status::text, deep_scan_status::text, deep_scan_error,"
        " name = 'old name' FROM places_staging"
    )
    assert found == [("Not a Fit", "Error", "why", False)]
    assert (await line.row(PlaceSearch, again)).new_count == 0
    assert (await line.row(PlaceSearch, again)).found_count == len(google.expected)


async def test_a_rule_chooses_places_and_queues_their_scan(
    line: Line, google: Rig
) -> None:
    await line.rule("places", {"field": "rating", "comparison": "at_least", "value": 4})
    await add_search(line, google.query)

    await line.work(STAGE)

    counted = dict(
        await line.rows(
            "SELECT (rating >= 4, status::text, deep_scan_status::text)::text,"
            " count(*)::int FROM places_staging GROUP BY 1"
        )
    )
    assert set(counted) == {"(t,Selected,Queued)", "(f,New,)"}
