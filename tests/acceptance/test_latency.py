"""One record crosses all stages of an idle system without waiting for a tick."""

import asyncio
from pathlib import Path

import pytest

from scrapersky.db.connection import connect, parse_target
from scrapersky.demo.services import town_services
from scrapersky.scheduler.app import work
from scrapersky.stages import PIPELINE
from sdk_tests.rig.waiting import HUNG
from simulated_town.town import Town
from tests.acceptance.rig import a_desk, settings_for
from tests.conftest import TestDatabase


@pytest.mark.slow
async def test_a_record_needs_no_tick_to_cross_all_stages(
    tmp_path: Path, database: TestDatabase
) -> None:
    settings = settings_for({"SCRAPERSKY_DATA_DIR": str(tmp_path)})
    target = parse_target(database.url)
    async with Town.open(size=1, trouble=False) as town, a_desk(database.url) as desk:
        async with (
            town_services(town.endpoint) as services,
            work(settings, target, services=services),
        ):
            # How fast it is, the benchmark measures.
            async with asyncio.timeout(HUNG):
                await desk.search()
                while await desk.open():
                    await asyncio.sleep(0.05)
                    await desk.validate()
        compared = await desk.compare(town.endpoint)
        done = {row[0] for row in await desk.rows("SELECT stage FROM curation.attempt")}

    assert done == {stage.name for stage in PIPELINE}
    assert [score.missed for score in compared.scores] == [(), ()]


async def test_starting_and_stopping_leaves_nothing_in_hand(
    tmp_path: Path, database: TestDatabase
) -> None:
    settings = settings_for({"SCRAPERSKY_DATA_DIR": str(tmp_path)})
    async with work(settings, parse_target(database.url)) as background:
        await background.schedule.start()
        await background.schedule.stop()
        await background.schedule.stop()
        assert background.worker is not None
        await background.worker.start()

    assert not background.schedule.is_running
    assert background.worker.in_hand == 0
    engine = connect(parse_target(database.url))
    await engine.dispose()
