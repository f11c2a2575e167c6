"""The town searched twice: what has changed is noticed, cheaply, and all still proves itself."""

from pathlib import Path

import pytest

from scrapersky.companies.matching import match_companies
from scrapersky.crawler import Sandbox
from scrapersky.db.connection import parse_target
from scrapersky.demo.services import town_services
from scrapersky.pipeline.parsers import WARM
from scrapersky.scheduler.app import work
from simulated_town.town import Town
from tests.acceptance.revisit_rig import run_twice
from tests.acceptance.rig import a_desk, settings_for
from tests.conftest import TestDatabase
from tests.proofs.conftest import Proven

SIZE = 60
MOST_REQUESTS, MOST_BYTES = 0.2, 0.1
"""In so small a town every eighth website has changed; `bench/alive.py` takes a larger one."""


@pytest.mark.slow
async def test_the_second_run_of_a_town_notices_what_has_changed_and_nothing_else(
    tmp_path: Path, database: TestDatabase
) -> None:
    settings = settings_for({"SCRAPERSKY_DATA_DIR": str(tmp_path)})
    async with (
        Town.open(size=SIZE, trouble=False, changing=True) as town,
        a_desk(database.url) as desk,
        town_services(town.endpoint) as services,
        work(settings, parse_target(database.url), services=services),
    ):
        runs = await run_twice(desk, town)
        await match_companies(desk.engine)
        async with Sandbox(children=1, warm=WARM) as sandbox:
            proven = Proven(desk.engine, desk.actor.tenant_id, sandbox, tmp_path)
            reports = [
                await proven.verify(await proven.export(kind, "csv"))
                for kind in ("contacts", "companies")
            ]
            replayed = await proven.replay(everything=True)

    assert [one for report in reports for one in report.doubts] == []
    assert replayed.samples == []
    assert runs.missed == frozenset()
    assert runs.invented == frozenset()
    figures = runs.measured()
    assert figures["requests_ratio"] <= MOST_REQUESTS
    assert figures["bytes_ratio"] <= MOST_BYTES
