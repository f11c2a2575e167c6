"""One process has the demo town; others leave what belongs to it alone."""

from collections.abc import AsyncIterator
from types import SimpleNamespace
from typing import Any

import pytest
from sqlalchemy.ext.asyncio import AsyncEngine

from curation_sdk import Done, Later, Outcome
from scrapersky.db.connection import connect, parse_target
from scrapersky.demo.plan import plan_town
from scrapersky.demo.resolver import demo_policy, town_resolver
from scrapersky.demo.source import DemoSource
from scrapersky.demo.town import DEFAULT_DELAY
from scrapersky.errors import AlreadyRunning
from scrapersky.pipeline.mail_server import DnsMailServers
from scrapersky.scheduler.annex import Annex, Annexes
from scrapersky.stages import PIPELINE
from tests.conftest import TestDatabase

OF_THE_TOWN = (
    {"source": "demo"}, {"domain": "harbour.bv"}, {"url": "http://www.harbour.bv/x"},
    {"email": "ada@harbour.bv"},
)  # fmt: skip
OF_THE_WORLD = (
    {"source": "osm"}, {"domain": "harbour.example"}, {"email": None},
    {"url": "http://harbour.example/.bv"},
)  # fmt: skip


@pytest.fixture
async def engine(database: TestDatabase) -> AsyncIterator[AsyncEngine]:
    engine = connect(parse_target(database.url), pool_size=5)
    yield engine
    await engine.dispose()


@pytest.fixture
async def annex() -> AsyncIterator[Annex]:
    async with DemoSource("http://127.0.0.1:1", user_agent="test") as source:
        yield Annex(
            policy=demo_policy(1, host_delay=DEFAULT_DELAY),
            resolver=town_resolver(plan_town(5)),
            mail_servers=DnsMailServers(("127.0.0.1",), 1),
            source=source,
        )


async def outcomes(annexes: Annexes, items: tuple[dict[str, Any], ...]) -> list[type]:
    async def work(_item: object, _tools: object) -> Outcome:
        return Done()

    stage = annexes.aware(PIPELINE[0].configured(work=work))
    return [type(await stage(SimpleNamespace(**item), None)) for item in items]


async def test_what_belongs_to_the_town_waits_for_the_process_that_has_it(
    engine: AsyncEngine, annex: Annex
) -> None:
    with_town, without = Annexes(engine), Annexes(engine)
    async with with_town.open(annex):
        left = await outcomes(without, OF_THE_TOWN)
        worked = await outcomes(with_town, OF_THE_TOWN)
        real = await outcomes(without, OF_THE_WORLD)

    assert left == [Later] * len(OF_THE_TOWN)
    assert worked == [Done] * len(OF_THE_TOWN)
    assert real == [Done] * len(OF_THE_WORLD)
    assert await outcomes(Annexes(engine), OF_THE_TOWN) == [Done] * len(OF_THE_TOWN)


async def test_the_town_is_open_in_one_process_at_a_time(
    engine: AsyncEngine, annex: Annex
) -> None:
    one, other = Annexes(engine), Annexes(engine)
    async with one.open(annex):
        with pytest.raises(AlreadyRunning, match="in another process"):
            async with other.open(annex):
                pass
    async with other.open(annex):
        assert other.crawler_for("http://harbour.bv/") is not None
        assert other.crawler_for("http://harbour.example/") is None
