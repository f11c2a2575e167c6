"""Turns inside one process: one at a time, in order, with the delay between."""

import asyncio
import time
from datetime import timedelta

import pytest

from scrapersky.crawler.hosts import MAX_QUIET_QUEUES, HostQueues
from scrapersky.errors import HostBusy, HostPaused
from sdk_tests.rig.waiting import ends_at_once
from tests.crawler.rig import a_ledger

TIMEOUT = timedelta(seconds=5)
NONE = timedelta()


async def test_turns_are_given_in_order() -> None:
    queues, order = HostQueues(), []

    async def turn(number: int) -> None:
        await queues.enter("a", url="", timeout=TIMEOUT)
        order.append(number)
        await asyncio.sleep(0.001)
        queues.leave("a", delay=NONE)

    await asyncio.gather(*(turn(number) for number in range(20)))

    assert order == list(range(20))


async def test_the_delay_is_kept_between_the_end_and_the_next_start() -> None:
    queues = HostQueues()
    await queues.enter("a", url="", timeout=TIMEOUT)
    ended = time.monotonic()
    queues.leave("a", delay=timedelta(seconds=0.2))

    await queues.enter("a", url="", timeout=TIMEOUT)

    assert time.monotonic() - ended >= 0.2
    queues.leave("a", delay=NONE)


async def test_other_keys_do_not_wait() -> None:
    queues = HostQueues()
    await queues.enter("a", url="", timeout=TIMEOUT)

    other = asyncio.ensure_future(queues.enter("b", url="", timeout=TIMEOUT))

    assert await ends_at_once(other)


async def test_who_waits_too_long_gives_the_place_back() -> None:
    queues = HostQueues()
    await queues.enter("a", url="", timeout=TIMEOUT)

    with pytest.raises(HostBusy):
        await queues.enter("a", url="", timeout=timedelta(seconds=0.05))
    queues.leave("a", delay=NONE)

    await queues.enter("a", url="", timeout=TIMEOUT)


async def test_a_wait_that_cannot_end_in_time_is_not_begun() -> None:
    queues = HostQueues()
    await queues.enter("a", url="", timeout=TIMEOUT)
    queues.leave("a", delay=timedelta(minutes=1))
    waiting = asyncio.ensure_future(queues.enter("a", url="", timeout=TIMEOUT))

    assert await ends_at_once(waiting)
    with pytest.raises(HostBusy) as refused:
        await waiting
    assert refused.value.retry_after is not None
    assert refused.value.retry_after > timedelta(seconds=50)


@pytest.mark.parametrize("given", [False, True])
async def test_a_cancelled_waiter_keeps_nobody_out(given: bool) -> None:
    queues = HostQueues()
    await queues.enter("a", url="", timeout=TIMEOUT)
    waiting = asyncio.create_task(queues.enter("a", url="", timeout=TIMEOUT))
    await asyncio.sleep(0)
    if given:
        queues.leave("a", delay=NONE)  # the turn is given, but not yet noticed

    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    if not given:
        queues.leave("a", delay=NONE)

    after = asyncio.ensure_future(queues.enter("a", url="", timeout=TIMEOUT))
    assert await ends_at_once(after)


async def test_a_pause_turns_away_those_who_wait() -> None:
    ledger = a_ledger()
    await ledger.acquire("a", url="", timeout=TIMEOUT)
    waiting = asyncio.create_task(ledger.acquire("a", url="http://a/", timeout=TIMEOUT))
    await asyncio.sleep(0)

    await ledger.pause("a", timedelta(seconds=30), why="it answered 503")

    with pytest.raises(HostPaused, match="it answered 503") as refused:
        await waiting
    assert refused.value.retry_after is not None
    assert refused.value.retry_after > timedelta(seconds=29)


async def test_a_resumed_host_is_open_again() -> None:
    ledger = a_ledger()
    await ledger.pause("a", None, why="by an operator")
    with pytest.raises(HostPaused):
        await ledger.acquire("a", url="", timeout=TIMEOUT)

    await ledger.resume("a")

    await ledger.acquire("a", url="", timeout=TIMEOUT)


async def test_quiet_hosts_are_forgotten() -> None:
    queues = HostQueues()
    for number in range(MAX_QUIET_QUEUES * 2):
        await queues.enter(str(number), url="", timeout=TIMEOUT)
        queues.leave(str(number), delay=NONE)

    assert len(queues.queues) <= MAX_QUIET_QUEUES + 1


async def test_statistics_are_kept_per_host_and_outcome() -> None:
    ledger = a_ledger()
    ledger.record("a", "ok", size=10, seconds=1)
    ledger.record("a", "ok", size=20, seconds=2)
    ledger.record("a", "too_slow", size=0, seconds=10)

    found = await ledger.statistics("a")

    assert dict(found.outcomes) == {"ok": 2, "too_slow": 1}
    assert (found.requests, found.bytes, found.seconds) == (3, 30, 13)
    assert (await ledger.statistics("b")).requests == 0
