"""WF2: a place becomes a business; a person's decision survives every re-scan."""

from collections.abc import AsyncIterator
from decimal import Decimal
from pathlib import Path
from uuid import UUID

import pytest
import pytest_asyncio
from sqlalchemy import text

from scrapersky.crawler import Sandbox
from scrapersky.records import LocalBusiness, Place, PlaceSearch
from scrapersky.settings import SYSTEM_USER_ID
from tests.providers.rig import Rig, google_rig
from tests.providers.servers.google import BAD_KEY, INTERNAL, GoogleServer
from tests.stages.rig import Line
from tests.stages.shared_database import SharedDatabase
from tests.stages.test_wf1_place_search import add_search, google_line, server_of

pytestmark = pytest.mark.asyncio(loop_scope="session")
STAGE = "deep_scan"
SMALL = 20
"""Places in the town: enough for a place of every kind."""
STALE = "UPDATE places_staging SET seen_at = clock_timestamp() - interval '3 days'"


@pytest_asyncio.fixture(loop_scope="session")
async def google(tmp_path: Path) -> AsyncIterator[Rig]:
    async with google_rig(tmp_path, survey=False, size=SMALL) as rig:
        yield rig


@pytest_asyncio.fixture(loop_scope="session")
async def line(
    shared_database: SharedDatabase, sandbox: Sandbox, google: Rig
) -> AsyncIterator[Line]:
    async with google_line(shared_database, sandbox, google) as line:
        await add_search(line, google.query, budget=Decimal(50))
        await line.work("place_search")
        yield line


async def a_place(line: Line) -> UUID:
    async with line.engine.connect() as connection:
        found = await connection.scalar(
            text("SELECT id FROM places_staging WHERE website IS NOT NULL ORDER BY id")
        )
    return UUID(str(found))


async def test_a_selected_place_becomes_one_business(line: Line) -> None:
    place = await a_place(line)

    await line.decide("places", "Selected", place)
    await line.work(STAGE)

    stored = await line.row(Place, place)
    rows = await line.rows(
        "SELECT place_id, name, website, status::text, domain_extraction_status,"
        " created_by FROM local_businesses"
    )
    assert stored.deep_scan_status == "Completed"
    assert rows == [
        (place, stored.name, stored.website, "New", None, SYSTEM_USER_ID)
    ]  # fmt: skip


async def test_fresh_facts_are_not_paid_for_again(line: Line, google: Rig) -> None:
    before = server_of(google).requests
    await line.decide("places", "Selected", await a_place(line))

    await line.work(STAGE)

    assert server_of(google).requests == before


async def test_old_facts_are_asked_for_anew_out_of_the_searchs_budget(
    line: Line, google: Rig
) -> None:
    ((search, spent),) = await line.rows("SELECT id, spent FROM place_searches")
    await line.run(STALE)
    await line.decide("places", "Selected", await a_place(line))

    await line.work(STAGE)

    after = await line.row(PlaceSearch, search)
    assert after.spent > spent
    assert after.spent == server_of(google).bill


async def test_without_money_left_old_facts_are_not_bought(
    line: Line, google: Rig
) -> None:
    await line.run(STALE)
    await line.run("UPDATE place_searches SET budget = spent")
    place = await a_place(line)
    bill = server_of(google).bill
    await line.decide("places", "Selected", place)

    await line.work(STAGE)

    stored = await line.row(Place, place)
    assert stored.deep_scan_status == "Error"
    assert "budget" in stored.deep_scan_error
    assert server_of(google).bill == bill


async def test_a_rescan_updates_facts_and_never_a_decision(line: Line) -> None:
    place = await a_place(line)
    await line.decide("places", "Selected", place)
    await line.work(STAGE)
    await line.run(
        "UPDATE local_businesses SET name = 'old', status = 'Not a Fit',"
        " domain_extraction_status = 'Error', domain_extraction_error = 'why'"
    )

    await line.decide("places", "Selected", place, force=True)
    await line.work(STAGE)

    ((key,),) = await line.rows("SELECT id FROM local_businesses")
    row = await line.row(LocalBusiness, key)
    assert row.name != "old"
    assert (row.status, row.domain_extraction_status) == ("Not a Fit", "Error")
    assert row.domain_extraction_error == "why"


async def test_a_website_that_a_business_has_instead_was_never_visited(
    line: Line,
) -> None:
    place = await a_place(line)
    await line.decide("places", "Selected", place)
    await line.work(STAGE)
    status = "SELECT domain_extraction_status::text, website FROM local_businesses"
    found = []
    for website in ("website", "'https://before.bv'"):
        await line.run(
            "UPDATE local_businesses SET domain_extraction_status = 'Completed',"
            f" website = {website}"
        )
        await line.decide("places", "Selected", place, force=True)
        await line.work(STAGE)
        found += await line.rows(status)

    ((as_it_was, website), (instead, now)) = found
    assert (as_it_was, instead) == ("Completed", "Queued")
    assert website == now


async def test_a_rule_chooses_businesses_and_queues_the_next_stage(line: Line) -> None:
    await line.rule("businesses", {"field": "website", "comparison": "known"})
    await line.decide("places", "Selected", await a_place(line))

    await line.work(STAGE)

    rows = await line.rows(
        "SELECT status::text, domain_extraction_status::text FROM local_businesses"
    )
    assert rows == [("Selected", "Queued")]


async def test_a_place_that_is_gone_is_given_up(line: Line, google: Rig) -> None:
    place = await a_place(line)
    await line.run(STALE)
    server_of(google).town.clear()
    await line.decide("places", "Selected", place)

    await line.work(STAGE)

    stored = await line.row(Place, place)
    assert stored.deep_scan_status == "Error"
    assert (await line.story(STAGE, place)).dead == "gave_up"


async def test_a_source_in_trouble_is_tried_again(line: Line, google: Rig) -> None:
    place = await a_place(line)
    await line.run(STALE)
    server: GoogleServer = server_of(google)
    server.faults.extend([INTERNAL, INTERNAL])
    await line.decide("places", "Selected", place)

    await line.work(STAGE)
    await line.work_again(STAGE)

    assert await line.outcomes(STAGE, place) == ["retried", "done"]
    assert (await line.row(Place, place)).deep_scan_error is None


async def test_a_wrong_key_pauses_only_this_stage(line: Line, google: Rig) -> None:
    place = await a_place(line)
    await line.run(STALE)
    server_of(google).always = BAD_KEY
    await line.decide("places", "Selected", place)

    await line.work(STAGE)

    paused = await line.rows(
        "SELECT name FROM curation.stage WHERE paused_at IS NOT NULL"
    )
    assert paused == [(STAGE,)]
    assert (await line.row(Place, place)).deep_scan_status == "Queued"
