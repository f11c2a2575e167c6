"""A provider is asked no faster than it allows, however many processes ask it."""

import asyncio
import time
from datetime import timedelta
from itertools import pairwise

import pytest

from scrapersky.errors import ProviderBusy
from scrapersky.politeness import LedgerPace, PostgresLedger

URL = "https://nominatim.example/search"
INTERVAL = timedelta(seconds=0.3)


async def test_the_questions_of_two_processes_keep_one_pace(
    ledgers: list[PostgresLedger],
) -> None:
    paces = [LedgerPace(ledger, URL, INTERVAL) for ledger in ledgers]

    async def ask(pace: LedgerPace) -> float:
        await pace.turn()
        return time.monotonic()

    asked = sorted(await asyncio.gather(*(ask(paces[n % 2]) for n in range(6))))

    gaps = [later - earlier for earlier, later in pairwise(asked)]
    assert min(gaps) >= INTERVAL.total_seconds() - 0.01


async def test_a_provider_that_must_rest_is_busy(ledgers: list[PostgresLedger]) -> None:
    await ledgers[0].pause("provider:nominatim.example", timedelta(hours=1), why="429")

    with pytest.raises(ProviderBusy, match="others are asking"):
        await LedgerPace(ledgers[1], URL, INTERVAL).turn()
