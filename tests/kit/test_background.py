"""Work that goes on beside a block."""

import asyncio

import pytest

from scrapersky.kit.background import in_background


async def for_ever(began: asyncio.Event, ended: asyncio.Event) -> None:
    began.set()
    try:
        await asyncio.Event().wait()
    finally:
        ended.set()


async def test_work_goes_on_during_the_block_and_has_ended_after_it() -> None:
    began, ended = asyncio.Event(), asyncio.Event()

    async with in_background(for_ever(began, ended), name="test"):
        await began.wait()
        assert not ended.is_set()

    assert ended.is_set()


async def test_work_that_failed_before_the_end_of_the_block_says_so() -> None:
    failed = asyncio.Event()

    async def fail() -> None:
        failed.set()
        raise ValueError("broken")

    with pytest.raises(ValueError, match="broken"):
        async with in_background(fail(), name="test"):
            await failed.wait()
