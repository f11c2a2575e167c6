"""What every source of places must do, whatever it is."""

import asyncio
import json
import logging
import os
import random
import signal
import sys
import traceback
from collections.abc import AsyncIterator, Iterable
from contextlib import AsyncExitStack
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
import structlog

from scrapersky.errors import (
    BadPlaceQuery,
    BudgetExhausted,
    PlaceGone,
    ProviderError,
    ProviderUnusable,
    ScraperSkyError,
)
from scrapersky.providers.budget import LocalBudget
from scrapersky.providers.source import PlacePage, ResumePoint
from sdk_tests.rig.size import size
from sdk_tests.rig.waiting import HUNG, ends_at_once
from tests.providers.child import EXHAUSTED
from tests.providers.rig import (
    RIGS,
    Rig,
    collect,
    enter,
    ids_in,
    impatient,
    spent_in,
)
from tests.providers.servers import fault
from tests.providers.servers.fault import Fault
from tests.providers.servers.google import BILLING_OFF, SUSPENDED

PRICED = ("google", "google-without-survey")
ONLINE = ("google", "google-without-survey", "osm")
FAULTS = {
    "cut": fault.CUT,
    "reset": fault.RESET,
    "hang": fault.HANG,
    "drip": fault.DRIP,
    "huge": fault.HUGE,
    "broken-json": fault.BROKEN_JSON,
    "not-json": fault.NOT_JSON,
    "wrong-type": fault.WRONG_TYPE,
    "json-array": fault.JSON_ARRAY,
    "json-null": fault.JSON_NULL,
    "500": fault.status(500),
    "503": fault.status(503, b"{}", Retry_After="0"),
    "504-html": fault.status(504, b"<html></html>", content_type="text/html"),
    "429": fault.status(429, Retry_After="0"),
}


# Without its survey Google is asked by the same client: a look after every push is enough.
def rigs(names: Iterable[str]) -> list[Any]:
    return [
        pytest.param(name, marks=[pytest.mark.slow] if name == PRICED[1] else [])
        for name in names
    ]


@pytest.fixture(params=rigs(RIGS))
async def rig(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Rig]:
    async with AsyncExitStack() as stack:
        yield await enter(stack, request.param, tmp_path)


# A few troubles tell of all.
TROUBLES = [
    pytest.param(
        *(rig, name),
        marks=[]
        if rig != PRICED[1]
        else [pytest.mark.slow]
        if name in {"cut", "hang", "wrong-type", "429"}
        else [pytest.mark.long],
    )
    for rig in ONLINE
    for name in FAULTS
]
online = pytest.mark.parametrize("rig", rigs(ONLINE), indirect=True)


async def test_every_place_is_found_once(rig: Rig) -> None:
    pages = await collect(rig.source, rig.query)

    found = ids_in(pages)
    assert len(found) == len(set(found))
    assert set(found) == rig.expected


async def test_only_the_last_page_has_the_coverage(rig: Rig) -> None:
    pages = await collect(rig.source, rig.query)

    assert [page.is_last for page in pages[:-1]] == [False] * (len(pages) - 1)
    assert pages[-1].coverage is not None
    assert pages[-1].coverage.is_complete
    json.dumps(pages[-1].coverage.to_json())


async def test_no_place_at_all_is_a_complete_answer(rig: Rig) -> None:
    pages = await collect(rig.source, rig.empty)

    assert ids_in(pages) == []
    assert pages[-1].coverage is not None
    assert pages[-1].coverage.is_complete


async def test_a_search_continues_from_any_page_to_the_same_set(rig: Rig) -> None:
    calm = await collect(rig.source, rig.query)

    for cut in range(len(calm)):
        before = ids_in(calm[: cut + 1])
        state = json.loads(json.dumps(calm[cut].state))
        rest = await collect(
            rig.source, rig.query, resume=ResumePoint(state, frozenset(before))
        )
        after = ids_in(rest)
        assert not set(before) & set(after)
        assert set(before) | set(after) == rig.expected
        assert rest[-1].coverage == calm[-1].coverage


async def test_a_search_cut_at_every_page_makes_no_request_twice(rig: Rig) -> None:
    if rig.server is None or rig.kind == "osm":
        pytest.skip("nothing is paid")
    await collect(rig.source, rig.query)
    calm = rig.server.requests
    rig.server.requests = 0

    resume: ResumePoint | None = None
    found: set[str] = set()
    is_over = False
    while not is_over:
        search = rig.source.search(rig.query, LocalBudget(), resume=resume)
        page = await anext(search)
        await search.aclose()  # type: ignore[attr-defined]
        found |= set(ids_in([page]))
        resume, is_over = ResumePoint(page.state, frozenset(found)), page.is_last

    assert found == rig.expected
    assert rig.server.requests == calm


async def test_a_finished_search_asks_nothing_more(rig: Rig) -> None:
    pages = await collect(rig.source, rig.query)
    before = rig.server.requests if rig.server else 0

    again = await collect(
        rig.source, rig.query, resume=ResumePoint(pages[-1].state, rig.expected)
    )

    assert ids_in(again) == []
    assert again[-1].coverage == pages[-1].coverage
    assert (rig.server.requests if rig.server else 0) == before


async def test_the_state_of_another_search_is_refused(rig: Rig) -> None:
    pages = await collect(rig.source, rig.query)

    with pytest.raises(BadPlaceQuery):
        await collect(
            rig.source,
            replace(rig.query, limit=7),
            resume=ResumePoint(pages[0].state),
        )


async def test_the_state_of_another_version_is_a_new_beginning(rig: Rig) -> None:
    pages = await collect(rig.source, rig.query, resume=ResumePoint({"version": -1}))

    assert set(ids_in(pages)) == rig.expected


@pytest.mark.parametrize("limit", [1, 19, 20, 61])
async def test_no_more_places_are_given_than_asked_for(rig: Rig, limit: int) -> None:
    pages = await collect(rig.source, replace(rig.query, limit=limit))

    assert len(ids_in(pages)) == limit
    assert pages[-1].coverage is not None
    assert not pages[-1].coverage.is_complete
    assert "limit" in pages[-1].coverage.why


async def test_facts_can_be_read_from_what_was_stored(rig: Rig) -> None:
    pages = await collect(rig.source, rig.query)
    requests = rig.server.requests if rig.server else 0

    for place in [place for page in pages for place in page.places]:
        raw = json.loads(json.dumps(place.raw))
        facts = rig.source.facts(raw, region="US")
        assert facts.source == place.source == rig.source.name
        assert facts.source_place_id == place.source_place_id
        assert facts.name == place.name
        assert facts.website == place.website
        assert facts.phone is not None
        assert facts.phone.startswith("+1512555")
    assert (rig.server.requests if rig.server else 0) == requests


async def test_details_tell_the_same_as_the_search(rig: Rig) -> None:
    pages = await collect(rig.source, rig.query)
    place = next(place for page in pages for place in page.places)

    facts = await rig.source.details(
        place.source_place_id, LocalBudget(), raw=place.raw, region="US"
    )

    assert facts.source_place_id == place.source_place_id
    assert facts.name == place.name
    assert facts.licence == place.licence


async def test_a_place_nobody_knows_is_gone(rig: Rig) -> None:
    unknown = "node/404" if rig.kind == "osm" else "unknown"

    with pytest.raises(PlaceGone) as caught:
        await rig.source.details(unknown, LocalBudget())

    assert not caught.value.retryable


async def test_an_estimate_makes_no_request(rig: Rig) -> None:
    estimate = await rig.source.estimate(rig.query)

    assert rig.server is None or rig.server.requests == 0
    assert estimate.assumes
    assert estimate.price_low >= 0


@pytest.mark.parametrize(("rig", "name"), TROUBLES, indirect=["rig"])
async def test_trouble_once_does_no_harm(rig: Rig, name: str) -> None:
    assert rig.server is not None
    rig.server.faults.extend([FAULTS[name], None, FAULTS[name]])

    async with impatient(rig, FAULTS[name], tries=5) as hasty:
        pages = await collect(hasty.source, rig.query)

    assert set(ids_in(pages)) == rig.expected


@online
@pytest.mark.parametrize("name", FAULTS)
async def test_lasting_trouble_may_be_retried_later(rig: Rig, name: str) -> None:
    assert rig.server is not None
    rig.server.always = FAULTS[name]

    with structlog.testing.capture_logs() as events:
        async with impatient(rig, FAULTS[name], tries=2) as hasty:
            with pytest.raises(ProviderError) as caught:
                await collect(hasty.source, rig.query)

    assert caught.value.retryable
    assert [event["event"] for event in events] == ["provider.asked"] * 2
    # On a busy machine the time may be up before such a request has arrived.
    assert rig.server.requests == 2 or FAULTS[name].is_endless


@online
async def test_a_redirect_is_not_followed_and_stops_the_stage(rig: Rig) -> None:
    assert rig.server is not None
    rig.server.always = fault.REDIRECT

    with pytest.raises(ProviderUnusable):
        await collect(rig.source, rig.query)

    assert rig.server.requests == 1


@online
async def test_a_refusal_of_everyone_stops_the_stage(rig: Rig) -> None:
    assert rig.server is not None
    rig.server.always = fault.status(403, b"{}")

    with pytest.raises(ProviderUnusable):
        await collect(rig.source, rig.query)

    assert rig.server.requests == 1


@online
async def test_a_long_wait_is_left_to_the_caller(rig: Rig) -> None:
    assert rig.server is not None
    rig.server.always = fault.status(429, Retry_After="3600")

    with pytest.raises(ProviderError) as caught:
        await collect(rig.source, rig.query)

    assert caught.value.retryable
    assert caught.value.retry_after is not None
    assert caught.value.retry_after.total_seconds() == 3600
    assert rig.server.requests == 1


@online
async def test_nobody_at_home_may_be_retried_later(rig: Rig) -> None:
    assert rig.server is not None
    await rig.server.__aexit__(None, None, None)
    try:
        with pytest.raises(ProviderError) as caught:
            await collect(rig.source, rig.query)
    finally:
        await rig.server.__aenter__()

    assert caught.value.retryable


@online
async def test_every_request_says_who_we_are(rig: Rig) -> None:
    assert rig.server is not None

    await collect(rig.source, rig.query)

    assert set(rig.server.user_agents) == {
        "ScraperSky-tests/1 (+https://scrapersky.example/bot)"
    }


@online
async def test_a_cancelled_search_stops_at_once(rig: Rig) -> None:
    assert rig.server is not None
    rig.server.always = fault.HANG
    search = asyncio.ensure_future(collect(rig.source, rig.query))
    await rig.server.arrived.wait()

    search.cancel()

    assert await ends_at_once(search)
    assert search.cancelled()
    await asyncio.sleep(0.1)
    assert rig.server.requests == 1


@online
@pytest.mark.parametrize(
    "trouble", [*FAULTS.values(), fault.REDIRECT, SUSPENDED, BILLING_OFF]
)
async def test_no_secret_is_in_any_log_or_exception(
    rig: Rig, trouble: Fault, caplog: pytest.LogCaptureFixture
) -> None:
    assert rig.server is not None
    caplog.set_level(logging.DEBUG)
    rig.server.always = trouble

    with (
        structlog.testing.capture_logs() as events,
        pytest.raises(ScraperSkyError) as caught,
    ):
        async with impatient(rig, trouble, tries=1) as hasty:
            await collect(hasty.source, rig.query)

    error = caught.value
    assert error.__cause__ is None
    shown = [caplog.text, str(events), repr(error), str(error.hint), repr(rig.source)]
    frames = our_frames(error)
    assert len(frames) > 3
    shown += frames
    for secret in rig.secrets:
        assert secret not in "".join(shown)


@pytest.mark.parametrize("rig", rigs(PRICED), indirect=True)
@pytest.mark.parametrize("requests", [0, 1, 4])
async def test_not_one_request_is_made_beyond_the_budget(
    rig: Rig, requests: int
) -> None:
    cap = Decimal("0.035") * requests
    budget = LocalBudget(cap + Decimal("0.034"))

    with pytest.raises(BudgetExhausted) as caught:
        await collect(rig.source, rig.query, budget)

    assert budget.spent == cap
    assert rig.billed() == cap
    assert not caught.value.retryable


@pytest.mark.parametrize("rig", rigs(PRICED), indirect=True)
async def test_the_ledger_agrees_with_the_bill(rig: Rig) -> None:
    budget = LocalBudget()

    pages = await collect(rig.source, rig.query, budget)

    assert budget.spent == rig.billed() == pages[-1].progress.spent > 0


@pytest.mark.parametrize("rig", rigs(PRICED), indirect=True)
async def test_a_search_out_of_money_continues_with_more(rig: Rig) -> None:
    pages: list[PlacePage] = []
    with pytest.raises(BudgetExhausted):
        await collect(rig.source, rig.query, LocalBudget(Decimal("0.1")), into=pages)

    resume = ResumePoint(pages[-1].state, frozenset(ids_in(pages)))
    rest = await collect(rig.source, rig.query, resume=resume)

    assert {*ids_in(pages), *ids_in(rest)} == rig.expected


@pytest.mark.parametrize("rig", rigs(PRICED), indirect=True)
async def test_an_error_answer_costs_nothing_and_a_lost_answer_counts(rig: Rig) -> None:
    assert rig.server is not None
    rig.server.faults.extend([fault.status(500), None, fault.CUT])
    budget = LocalBudget()

    await collect(rig.source, rig.query, budget)

    # What the server failed to deliver it may still bill, so it stays reserved.
    lost = budget.spent - rig.billed()
    assert lost in {Decimal(0), Decimal("0.035")}
    assert budget.spent >= rig.billed()


@pytest.mark.slow
@pytest.mark.parametrize("rig", [PRICED[0]], indirect=True)
async def test_kill_9_costs_at_most_one_request_each(rig: Rig, tmp_path: Path) -> None:
    await killed_search(rig, tmp_path, kills=1)


@pytest.mark.long
async def test_kill_9_often_costs_at_most_one_request_each(
    rig: Rig, tmp_path: Path
) -> None:
    await killed_search(rig, tmp_path, kills=10)


@pytest.mark.slow
@pytest.mark.parametrize(
    "rig",
    [PRICED[0], *(pytest.param(one, marks=pytest.mark.long) for one in PRICED[1:])],
    indirect=True,
)
async def test_kill_9_never_breaks_the_budget(rig: Rig, tmp_path: Path) -> None:
    cap = Decimal("0.15")
    order = an_order(rig, tmp_path, cap=str(cap))

    code = await run_killing(order, kills=size(1, 2), dice=random.Random(5))

    assert code == EXHAUSTED
    assert spent_in(Path(order["ledger"])) <= cap
    assert rig.billed() <= spent_in(Path(order["ledger"]))


def our_frames(error: ScraperSkyError) -> list[str]:
    """Show the frames of the product, with every local variable in them."""
    shown = traceback.TracebackException.from_exception(error, capture_locals=True)
    return [
        f"{frame.filename} {frame.name} {frame.locals}"
        for frame in shown.stack
        if "/src/scrapersky/" in frame.filename
    ]


async def killed_search(rig: Rig, directory: Path, *, kills: int) -> None:
    calm = LocalBudget()
    await collect(rig.source, rig.query, calm)
    billed = rig.billed()
    order = an_order(rig, directory)

    code = await run_killing(order, kills=kills, dice=random.Random(kills))

    assert code == 0
    assert found_in(order) == rig.expected
    spent = spent_in(Path(order["ledger"]))
    price = Decimal("0.035") if calm.spent else Decimal(0)
    assert rig.billed() - billed <= spent <= calm.spent + kills * price


def an_order(rig: Rig, directory: Path, cap: str | None = None) -> dict[str, Any]:
    return {
        "recipe": rig.recipe,
        "query": rig.query.to_json(),
        "progress": str(directory / "progress.json"),
        "ledger": str(directory / "ledger.txt"),
        "cap": cap,
        "pause": 0.01,
    }


async def run_killing(order: dict[str, Any], *, kills: int, dice: random.Random) -> int:
    """Start the child again and again, killing it in the middle, then let it finish."""
    for _ in range(kills):
        before = pages_in(order)
        child = await start(order)
        wanted = before + dice.randint(1, 3)
        while pages_in(order) < wanted and child.returncode is None:  # noqa: ASYNC110
            await asyncio.sleep(0.002)
        await asyncio.sleep(dice.uniform(0, 0.02))
        if child.returncode is None:
            child.send_signal(signal.SIGKILL)
        await child.wait()
    child = await start(order)
    return await asyncio.wait_for(child.wait(), HUNG)


async def start(order: dict[str, Any]) -> asyncio.subprocess.Process:
    root = Path(__file__).parents[2]
    return await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "tests.providers.child",
        json.dumps(order),
        cwd=root,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )


def found_in(order: dict[str, Any]) -> set[str]:
    return set(json.loads(Path(order["progress"]).read_text())["found"])


def pages_in(order: dict[str, Any]) -> int:
    path = Path(order["progress"])
    return int(json.loads(path.read_text())["pages"]) if path.exists() else 0
