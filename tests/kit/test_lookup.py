"""Looked up once for all who ask at a time, and believed no longer than it should be."""

import asyncio
from datetime import timedelta

from scrapersky.kit.lookup import LookupCache

TEN_SECONDS = timedelta(seconds=10)


async def test_a_burst_of_one_caller_is_looked_up_once() -> None:
    asked = 0

    async def look_up() -> str:
        nonlocal asked
        asked += 1
        await asyncio.sleep(0)
        return "found"

    known: LookupCache[bytes, str] = LookupCache(lasts=TEN_SECONDS)

    found = await asyncio.gather(*(known.get(b"k", look_up) for _ in range(50)))

    assert (set(found), asked) == ({"found"}, 1)


async def test_what_was_taken_away_during_a_look_up_is_not_remembered() -> None:
    known: LookupCache[bytes, str] = LookupCache(lasts=TEN_SECONDS)

    async def look_up() -> str:
        known.clear()
        return "old"

    async def look_again() -> None:
        return None

    assert await known.get(b"k", look_up) == "old"
    assert await known.get(b"k", look_again) is None


async def test_what_was_found_is_believed_for_a_while_only() -> None:
    now = 100.0
    answers = iter(["old", "new"])

    async def look_up() -> str:
        return next(answers)

    known: LookupCache[str, str] = LookupCache(lasts=TEN_SECONDS, clock=lambda: now)

    found = [await known.get("k", look_up), await known.get("k", look_up)]
    now += 10
    found.append(await known.get("k", look_up))

    assert found == ["old", "old", "new"]
