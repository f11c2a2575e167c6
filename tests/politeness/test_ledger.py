"""One request at a time to a host, over all workers, however they end."""

import asyncio
import subprocess
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest
from sqlalchemy import event, text
from sqlalchemy.ext.asyncio import AsyncEngine

from contact_extraction.urls import parse_url
from curation_sdk.process import sign_for
from scrapersky.crawler import RobotsState, StoredRobots
from scrapersky.db.connection import connect, parse_target
from scrapersky.errors import HostBusy, HostPaused
from scrapersky.politeness import PostgresLedger
from scrapersky.politeness import ledger as shared

DELAY = timedelta(seconds=0.2)
TIMEOUT = timedelta(seconds=60)
HURRY = timedelta(seconds=0.1)
LESS_THAN_A_LEASE = timedelta(seconds=30)
"""Whoever waits no longer has not got the host because its lease ran out."""


async def turn(
    ledger: PostgresLedger, key: str, *, timeout: timedelta = TIMEOUT
) -> float:
    await ledger.acquire(key, url=f"http://{key}/", timeout=timeout)
    began = time.monotonic()
    ledger.release(key, delay=DELAY)
    return began


@pytest.fixture
def child() -> Iterator[subprocess.Popen[bytes]]:
    """Start a process that can be killed."""
    with subprocess.Popen(["sleep", "600"]) as running:
        yield running
        running.kill()


async def test_two_workers_take_turns_with_the_delay_between(
    ledgers: list[PostgresLedger],
) -> None:
    starts = sorted(
        await asyncio.gather(*(turn(ledgers[n % 2], "shop.example") for n in range(8)))
    )

    gaps = [later - earlier for earlier, later in pairwise(starts)]
    assert min(gaps) >= DELAY.total_seconds() - 0.01


async def test_a_turn_is_refused_while_another_worker_is_in(
    ledgers: list[PostgresLedger],
) -> None:
    one, other = ledgers
    await one.acquire("shop.example", url="", timeout=TIMEOUT)

    with pytest.raises(HostBusy):
        await turn(other, "shop.example", timeout=HURRY)
    one.release("shop.example", delay=DELAY)

    assert await turn(other, "shop.example")


async def test_a_long_turn_outlives_its_first_lease(
    ledgers: list[PostgresLedger],
) -> None:
    one, other = ledgers
    await one.acquire("shop.example", url="", timeout=TIMEOUT)
    await asyncio.sleep(2.5)

    with pytest.raises(HostBusy):
        await turn(other, "shop.example", timeout=HURRY)
    one.release("shop.example", delay=DELAY)


async def test_requests_in_a_row_cost_no_round_trip(
    ledgers: list[PostgresLedger], engine: AsyncEngine
) -> None:
    one, _ = ledgers
    seen: list[str] = []
    event.listen(
        engine.sync_engine,
        "before_cursor_execute",
        lambda _c, _u, statement, *_: seen.append(statement),
    )

    for _ in range(200):
        await one.acquire("shop.example", url="", timeout=TIMEOUT)
        one.release("shop.example", delay=timedelta())

    assert len(seen) <= 3


async def test_the_host_of_a_dead_worker_is_taken_over_after_lease_and_delay(
    engine: AsyncEngine, ledgers: list[PostgresLedger]
) -> None:
    dead = PostgresLedger(
        engine,
        lease=timedelta(seconds=1),
        longest_request=timedelta(seconds=0.4),
        delay=timedelta(seconds=0.5),
    )
    died = time.monotonic()
    await dead.acquire("shop.example", url="", timeout=TIMEOUT)

    began = await turn(ledgers[0], "shop.example")

    assert began - died >= 1.5


async def test_the_host_of_a_worker_killed_on_this_machine_rested_for_its_whole_lease(
    engine: AsyncEngine,
    ledgers: list[PostgresLedger],
    child: subprocess.Popen[bytes],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(shared, "sign", lambda: sign_for(child.pid))
    dead = PostgresLedger(
        engine, lease=timedelta(hours=1), delay=timedelta(seconds=0.5)
    )
    await dead.acquire("shop.example", url="", timeout=TIMEOUT)
    with pytest.raises(HostBusy):
        await turn(ledgers[0], "shop.example", timeout=HURRY)

    child.kill()
    child.wait()
    died = time.monotonic()
    began = await turn(ledgers[0], "shop.example")

    # Its last request may have been a moment before.
    assert began - died >= 0.5 - 0.01


async def test_a_returned_lease_keeps_its_delay(engine: AsyncEngine) -> None:
    async with PostgresLedger(engine) as first:
        await first.acquire("slow.example", url="", timeout=TIMEOUT)
        ended = time.monotonic()
        first.release("slow.example", delay=timedelta(seconds=1))
    async with PostgresLedger(engine) as second:
        began = await turn(second, "slow.example")

    assert began - ended >= 1 - 0.01


async def test_giving_up_the_wait_does_not_shorten_it_for_the_next(
    engine: AsyncEngine,
) -> None:
    async with PostgresLedger(engine) as first:
        await first.acquire("slow.example", url="", timeout=TIMEOUT)
        ended = time.monotonic()
        first.release("slow.example", delay=timedelta(seconds=1))
    async with PostgresLedger(engine) as second:
        with pytest.raises(HostBusy):
            await turn(second, "slow.example", timeout=HURRY)
    async with PostgresLedger(engine) as third:
        began = await turn(third, "slow.example")

    assert began - ended >= 1 - 0.01


async def test_a_pause_holds_for_every_worker(ledgers: list[PostgresLedger]) -> None:
    one, other = ledgers
    await turn(one, "shop.example")
    await one.pause("shop.example", timedelta(seconds=30), why="it answered 429")

    for ledger in (one, other):
        with pytest.raises(HostPaused, match="it answered 429") as refused:
            await turn(ledger, "shop.example")
        assert refused.value.retry_after is not None
        assert (
            timedelta(seconds=20) < refused.value.retry_after <= timedelta(seconds=30)
        )


async def test_an_operator_pauses_and_resumes_a_host_others_hold(
    ledgers: list[PostgresLedger],
) -> None:
    worker, operator = ledgers
    await turn(worker, "shop.example")
    await operator.pause("shop.example", None, why="by an operator")
    # The worker's own lease was given before, and is not renewed.
    await asyncio.sleep(1.5)

    with pytest.raises(HostPaused, match="by an operator"):
        await turn(worker, "shop.example")
    await operator.resume("shop.example")

    assert await turn(worker, "shop.example")


async def test_a_hosts_own_wish_never_shortens_an_operators_pause(
    ledgers: list[PostgresLedger],
) -> None:
    worker, operator = ledgers
    await operator.pause("shop.example", None, why="by an operator")
    await worker.pause("shop.example", timedelta(seconds=0.01), why="it answered 503")
    await asyncio.sleep(0.6)

    with pytest.raises(HostPaused, match="by an operator"):
        await turn(worker, "shop.example")


async def test_other_hosts_are_not_affected_by_a_pause(
    ledgers: list[PostgresLedger],
) -> None:
    await ledgers[0].pause("busy.example", timedelta(minutes=1), why="it answered 429")

    assert await turn(ledgers[0], "calm.example")


async def test_statistics_add_up_over_workers(ledgers: list[PostgresLedger]) -> None:
    for ledger in ledgers:
        ledger.record("shop.example", "ok", size=1000, seconds=0.5)
        ledger.record("shop.example", "ok", size=1000, seconds=0.5)
        ledger.record("shop.example", "too_slow", size=1, seconds=10)
        await ledger.statistics("shop.example")

    found = await ledgers[0].statistics("shop.example")

    assert dict(found.outcomes) == {"ok": 4, "too_slow": 2}
    assert (found.requests, found.bytes, found.seconds) == (6, 4002, 22.0)


async def test_a_robots_file_read_by_one_worker_serves_all(
    ledgers: list[PostgresLedger],
) -> None:
    soon = datetime.now(UTC) + timedelta(hours=1)
    rules = StoredRobots(RobotsState.RULES, "User-agent: *\nDisallow: /x", "", soon)
    await ledgers[0].keep_robots("https://shop.example", rules)

    assert await ledgers[1].read_robots("https://shop.example") == rules
    assert await ledgers[1].read_robots("https://shop.example:8443") is None


async def test_an_old_robots_file_is_not_believed(
    ledgers: list[PostgresLedger],
) -> None:
    past = datetime.now(UTC) - timedelta(seconds=1)
    await ledgers[0].keep_robots(
        "https://shop.example", StoredRobots(RobotsState.ABSENT, "", "404", past)
    )

    assert await ledgers[0].read_robots("https://shop.example") is None
    assert await ledgers[1].read_robots("https://shop.example") is None


async def test_leases_are_returned_when_a_worker_leaves(
    engine: AsyncEngine, ledgers: list[PostgresLedger]
) -> None:
    async with PostgresLedger(engine) as leaving:
        await turn(leaving, "shop.example")

    assert await turn(ledgers[0], "shop.example", timeout=LESS_THAN_A_LEASE)


async def test_an_idle_lease_is_returned_for_others(engine: AsyncEngine) -> None:
    async with PostgresLedger(engine) as idle, PostgresLedger(engine) as other:
        await turn(idle, "shop.example")

        assert await turn(other, "shop.example", timeout=LESS_THAN_A_LEASE)


async def test_old_hosts_are_forgotten_but_pauses_are_kept(
    ledgers: list[PostgresLedger], engine: AsyncEngine
) -> None:
    one, _ = ledgers
    old = datetime.now(UTC) - timedelta(days=8)
    await one.keep_robots(
        "https://old.example", StoredRobots(RobotsState.ABSENT, "", "", old)
    )
    await turn(one, "used.example")
    await one.pause("paused.example", None, why="by an operator")
    async with engine.begin() as connection:
        await connection.execute(
            text(
                "INSERT INTO hosts (key, next_at, updated_at) VALUES ('old.example', "
                "clock_timestamp() - interval '8 days', clock_timestamp() - interval '8 days')"
            )
        )
        await connection.execute(
            text(
                "UPDATE hosts SET updated_at = '2020-01-01' WHERE key = 'paused.example'"
            )
        )

    await one.purge()

    async with engine.connect() as connection:
        left = (
            await connection.scalars(text("SELECT key FROM hosts ORDER BY key"))
        ).all()
        robots = (
            await connection.scalars(text("SELECT origin FROM host_robots"))
        ).all()
    assert list(left) == ["paused.example", "used.example"]
    assert list(robots) == []


async def test_all_hosts_of_a_site_share_one_budget_of_robots_files(
    ledgers: list[PostgresLedger], engine: AsyncEngine
) -> None:
    """133 subdomains sent 69 MB."""
    one, other = ledgers
    now = datetime.now(UTC)
    for host, ends in (("a", 1), ("b", 1), ("old", -1)):
        ends_at = now + timedelta(hours=ends)
        robots = StoredRobots(RobotsState.RULES, "", "", ends_at, bytes=400)
        await one.keep_robots(f"https://{host}.shop.example", robots)

    async def room(host: str) -> int:
        return await other.robots_bytes_left(parse_url(f"https://{host}/"), 1_000)

    assert await room("c.shop.example") == 200
    assert await room("a.shop.example") == 600
    assert await room("c.bakery.example") == 1_000
    async with engine.begin() as connection:
        await connection.execute(
            text(
                "INSERT INTO domains (tenant_id, domain, budget) SELECT id,"
                " 'shop.example', CAST(:budget AS jsonb) FROM tenants"
            ),
            {"budget": '{"robots_bytes": 5000}'},
        )
    assert await room("c.shop.example") == 4_200


async def test_without_the_database_it_is_nobodys_turn() -> None:
    nowhere = connect(parse_target("postgresql://nobody@127.0.0.1:1/none"))
    async with PostgresLedger(nowhere) as ledger:
        with pytest.raises(HostBusy):
            await turn(ledger, "shop.example")
        with pytest.raises(HostBusy):
            await ledger.read_robots("https://shop.example")
        with pytest.raises(HostBusy):
            await ledger.robots_bytes_left(parse_url("https://shop.example/"), 1_000)
    await nowhere.dispose()


async def test_a_clock_of_ours_that_is_wrong_changes_nothing(
    engine: AsyncEngine,
) -> None:
    async with engine.begin() as connection:
        await connection.execute(
            text(
                "INSERT INTO hosts (key, next_at) "
                "VALUES ('shop.example', clock_timestamp() + interval '1 second')"
            )
        )
    began = time.monotonic()

    async with PostgresLedger(engine) as ledger:
        started = await turn(ledger, "shop.example")

    assert started - began >= 0.9


async def test_since_when_a_robots_file_is_away_is_known_to_all(
    ledgers: list[PostgresLedger],
) -> None:
    origin, past = "https://shop.example", datetime.now(UTC) - timedelta(seconds=1)
    away = StoredRobots(RobotsState.UNREACHABLE, "", "500", past)

    first = await ledgers[0].keep_robots(origin, away)
    again = await ledgers[1].keep_robots(origin, away)
    back = await ledgers[0].keep_robots(
        origin, StoredRobots(RobotsState.ABSENT, "", "404", past)
    )
    anew = await ledgers[1].keep_robots(origin, away)

    assert first.unreachable_since is not None
    assert again.unreachable_since == first.unreachable_since
    assert back.unreachable_since is None
    assert anew.unreachable_since is not None
    assert anew.unreachable_since > first.unreachable_since
