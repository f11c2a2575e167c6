"""What a crowd of good pages, and a few bad ones, do to the parsing children."""

import asyncio
import time

from scrapersky.crawler import Sandbox


def slow_page(milliseconds: int) -> int:
    """Take as long as a big page does."""
    end = time.monotonic() + milliseconds / 1000
    while time.monotonic() < end:
        pass
    return milliseconds


async def test_a_crowd_of_good_pages_starts_no_further_children() -> None:
    async with Sandbox(children=1) as sandbox:
        pids: set[int] = set()

        async def work() -> None:
            await sandbox.run(slow_page, 10)
            pids.update(sandbox.pids)

        await asyncio.gather(*(work() for _ in range(100)))

    # A second one, should the machine itself stop for a moment.
    assert len(pids) <= 2
