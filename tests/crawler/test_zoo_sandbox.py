"""What a crowd of good pages, and a few bad ones, do to the parsing children."""

import asyncio
import os
import time
from itertools import pairwise

from scrapersky.crawler import Sandbox
from scrapersky.crawler.sandbox import GROW_DELAY_SECONDS


def slow_page(milliseconds: int) -> int:
    """Take as long as a big page does, but not the processor; return which child it was."""
    time.sleep(milliseconds / 1000)
    return os.getpid()


async def test_a_crowd_of_good_pages_starts_no_further_children() -> None:
    async with Sandbox(children=1) as sandbox:
        pids: set[int] = set()
        answered = [time.monotonic()]

        async def work() -> None:
            pids.add(await sandbox.run(slow_page, 10))
            answered.append(time.monotonic())

        await asyncio.gather(*(work() for _ in range(100)))

    # Whenever the machine itself stands still, its child looks stuck, again and again.
    pauses = [later - earlier for earlier, later in pairwise(answered)]
    assert len(pids) <= 1 + sum(pause // (GROW_DELAY_SECONDS / 2) for pause in pauses)
