"""Work that can wait makes way for the stages."""

import asyncio

from scrapersky.scheduler.housekeeping import Throttle
from sdk_tests.rig.waiting import HUNG


async def test_matching_took_the_machine_from_stages_that_had_items_in_hand() -> None:
    stopping = asyncio.Event()
    in_hand = [1]
    way = Throttle(lambda: in_hand[0], stopping)

    resting = asyncio.ensure_future(way(HUNG))
    await asyncio.sleep(0)
    assert not resting.done()
    stopping.set()
    await resting

    stopping.clear()
    in_hand[0] = 0
    await way(HUNG)
