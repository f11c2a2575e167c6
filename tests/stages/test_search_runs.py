"""A search that is run again: what is new, changed, gone, and what is not believed."""

import asyncio
from collections.abc import AsyncIterator, Collection, Mapping
from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest
import pytest_asyncio
from sqlalchemy import text

from scrapersky.crawler import Sandbox
from scrapersky.errors import BadPlaceQuery, BudgetExhausted
from scrapersky.providers.area import Box
from scrapersky.providers.budget import Budget
from scrapersky.providers.cell import Coverage, Leaf
from scrapersky.providers.source import (
    NO_IDS,
    BusinessStatus,
    Estimate,
    FoundPlace,
    PlaceFacts,
    PlacePage,
    PlaceQuery,
    ResumePoint,
    SearchProgress,
)
from scrapersky.records import PlaceSearch
from scrapersky.records.search_schedule import Repetition
from scrapersky.revisits.digest import note_digests
from scrapersky.revisits.schedule import begin_due_runs, begin_run, keep_schedule
from tests.stages.rig import Line, running_line
from tests.stages.shared_database import SharedDatabase

pytestmark = pytest.mark.asyncio(loop_scope="session")
DIFFERENCES = (
    "SELECT what, field, old_value, new_value FROM differences ORDER BY created_at, id"
)
A_DAY_PASSES = """
WITH d AS (UPDATE differences SET created_at = created_at - interval '1 day')
UPDATE search_schedules SET digest_at = digest_at - interval '1 day',
  created_at = created_at - interval '1 day'"""
OPERATING, CLOSED = BusinessStatus.OPERATING, BusinessStatus.CLOSED_PERMANENTLY


class ToldSource:
    """A source of places that says what a test wants."""

    name, licence, attribution = "told", "none", "nobody"

    def __init__(self) -> None:
        self.places: list[dict[str, Any]] = []
        self.is_complete = True
        self.is_too_dear = False
        self.fresh: Collection[str] = NO_IDS

    async def estimate(
        self, query: PlaceQuery, *, resume: ResumePoint | None = None
    ) -> Estimate:
        raise NotImplementedError

    async def search(
        self,
        query: PlaceQuery,
        budget: Budget,
        *,
        resume: ResumePoint | None = None,
        fresh: Collection[str] = NO_IDS,
    ) -> AsyncIterator[PlacePage]:
        self.fresh = fresh
        found = tuple(
            FoundPlace(
                **{
                    "source": self.name,
                    "name": "Acme",
                    "address": "1 Main St",
                    "business_status": OPERATING,
                    "raw": {},
                    "licence": "none",
                    **place,
                }
            )
            for place in self.places
        )
        leaf = Leaf(Box(0, 0, 1, 1), len(found))
        yield PlacePage(
            places=found,
            state={},
            progress=SearchProgress(phase="places", requests=1, found=len(found)),
            coverage=Coverage((leaf,), is_complete=self.is_complete, why="told"),
        )
        if self.is_too_dear:
            raise BudgetExhausted(self.name, "the next request costs too much")

    def facts(self, raw: Mapping[str, Any], *, region: str | None = None) -> PlaceFacts:
        raise NotImplementedError

    async def details(self, *_: object, **__: object) -> PlaceFacts:
        raise NotImplementedError


@pytest.fixture
def source() -> ToldSource:
    return ToldSource()


@pytest_asyncio.fixture(loop_scope="session")
async def line(
    shared_database: SharedDatabase, sandbox: Sandbox, source: ToldSource
) -> AsyncIterator[Line]:
    async with running_line(
        shared_database.database,
        sandbox,
        engine=shared_database.engine,
        sources={"told": source},
    ) as line:
        yield line


async def search(line: Line, **values: Any) -> UUID:
    given = {"business_type": "dentists", "location": "Austin", "source": "told"}
    return await line.add(PlaceSearch, **given | values, params={})


async def run(line: Line, search_id: UUID) -> UUID:
    async with line.engine.begin() as connection:
        run_id = await begin_run(connection, line.actor, search_id, budget=None)
    await line.work("place_search")
    return run_id


def place(number: int, **facts: Any) -> dict[str, Any]:
    return {"source_place_id": f"p{number}", **facts}


async def first_run(line: Line, source: ToldSource, *places: dict[str, Any]) -> UUID:
    source.places = [*places]
    search_id = await search(line)
    await line.work("place_search")
    return search_id


async def test_a_company_renames_moves_closes_and_opens_again(
    line: Line, source: ToldSource
) -> None:
    search_id = await first_run(line, source, place(1))

    for facts in (
        {"name": "Globex"},
        {"name": "Globex", "address": "2 High St"},
        {"name": "Globex", "address": "2 High St", "business_status": CLOSED},
        {"name": "Globex", "address": "2 High St"},
    ):
        source.places = [place(1, **facts)]
        await run(line, search_id)

    assert await line.rows(DIFFERENCES) == [
        ("renamed", "name", "Acme", "Globex"),
        ("moved", "address", "1 Main St", "2 High St"),
        ("closed", "business_status", "operating", "closed_permanently"),
        ("reopened", "business_status", "closed_permanently", "operating"),
    ]


async def test_a_company_that_had_closed_again_was_said_to_be_open(
    line: Line, source: ToldSource
) -> None:
    search_id = await first_run(line, source, place(1))

    for status in (CLOSED, OPERATING, CLOSED):
        source.places = [place(1, business_status=status)]
        await run(line, search_id)

    found = [row[0] for row in await line.rows(DIFFERENCES)]
    assert found == ["closed", "reopened", "closed"]


async def test_a_run_says_what_is_new_gone_and_back(
    line: Line, source: ToldSource
) -> None:
    search_id = await first_run(
        line, source, place(1, name="One"), place(2, name="Two")
    )
    source.places = [place(1, name="One"), place(3, name="Three")]
    await run(line, search_id)
    source.places = [place(1, name="One"), place(2, name="Two"), place(3, name="Three")]
    await run(line, search_id)

    assert sorted(await line.rows(DIFFERENCES), key=str) == sorted(
        [
            ("new", None, None, "Three"),
            ("gone", None, "Two", None),
            ("back", None, None, "Two"),
        ],
        key=str,
    )


async def test_a_search_that_returned_nothing_once_had_lost_everything(
    line: Line, source: ToldSource
) -> None:
    search_id = await first_run(line, source, place(1, name="One"))
    source.places = []

    await run(line, search_id)
    assert await line.rows(DIFFERENCES) == []

    await run(line, search_id)
    assert await line.rows(DIFFERENCES) == [("gone", None, "One", None)]

    await run(line, search_id)
    assert len(await line.rows(DIFFERENCES)) == 1


async def test_a_search_that_had_lost_everything_found_it_again_in_silence(
    line: Line, source: ToldSource
) -> None:
    search_id = await first_run(line, source, place(1, name="One"))
    for places in ([], [], [], [place(1, name="One")], [place(1, name="One")]):
        source.places = places
        await run(line, search_id)

    assert await line.rows(DIFFERENCES) == [
        ("gone", None, "One", None),
        ("back", None, None, "One"),
    ]


async def test_a_run_that_was_not_complete_hid_what_was_gone_and_brought_back_what_never_was(
    line: Line, source: ToldSource
) -> None:
    one, two, three = (place(n, name=str(n)) for n in (1, 2, 3))
    search_id = await first_run(line, source, one, two, three)
    for is_complete, places in ((False, [one]), (True, [one, two]), (True, [one, two])):
        source.is_complete, source.places = is_complete, places
        await run(line, search_id)

    assert await line.rows(DIFFERENCES) == [("gone", None, "3", None)]


async def test_a_company_that_another_search_knew_was_said_to_be_back(
    line: Line, source: ToldSource
) -> None:
    search_id = await first_run(line, source, place(1, name="One"))
    source.places = [place(2, name="Two")]
    await search(line, business_type="doctors")
    await line.work("place_search")

    source.places = [place(1, name="One"), place(2, name="Two")]
    await run(line, search_id)

    assert await line.rows(DIFFERENCES) == [("new", None, None, "Two")]


async def test_what_a_run_found_before_its_budget_was_spent_was_never_told(
    line: Line, source: ToldSource
) -> None:
    one, two, three = (place(n, name=str(n)) for n in (1, 2, 3))
    search_id = await first_run(line, source, one, two)
    source.places, source.is_too_dear = [one, three], True
    await run(line, search_id)
    failed = "SELECT count(*) FROM place_searches WHERE status = 'Error'"
    assert await line.rows(failed) == [(1,)]
    assert await line.rows(DIFFERENCES) == [("new", None, None, "3")]

    source.is_too_dear = False
    await run(line, search_id)
    source.places = [one]
    await run(line, search_id)

    assert sorted(await line.rows(DIFFERENCES), key=str) == [
        ("gone", None, "2", None),
        ("gone", None, "3", None),
        ("new", None, None, "3"),
    ]


async def test_what_a_search_found_that_had_found_nothing_was_not_new(
    line: Line, source: ToldSource
) -> None:
    search_id = await first_run(line, source)
    source.places = [place(1, name="One")]

    await run(line, search_id)

    assert await line.rows(DIFFERENCES) == [("new", None, None, "One")]


async def test_a_search_that_never_found_anything_has_no_differences(
    line: Line, source: ToldSource
) -> None:
    search_id = await first_run(line, source)

    await run(line, search_id)

    assert await line.rows(DIFFERENCES) == []
    assert await line.rows("SELECT DISTINCT status::text FROM place_searches") == [
        ("Completed",)
    ]


async def test_a_run_is_a_run_of_the_same_search_and_has_its_own_budget(
    line: Line, source: ToldSource
) -> None:
    search_id = await first_run(line, source, place(1))
    async with line.engine.begin() as connection:
        row = await line.row(PlaceSearch, search_id)
        await keep_schedule(
            connection, line.actor, row, Repetition.WEEKLY, budget=Decimal("1.5")
        )
    await line.run(
        "UPDATE search_schedules SET next_run_at = now() - interval '9 days'"
    )

    async with line.engine.begin() as connection:
        assert await begin_due_runs(connection) == 1

    runs = (
        "SELECT repeats_id, budget, business_type FROM place_searches WHERE id <> :id"
    )
    assert await line.rows(runs, id=search_id) == [
        (search_id, Decimal("1.5"), "dentists")
    ]
    following = "SELECT next_run_at > now(), next_run_at < now() + interval '7 days'"
    assert await line.rows(f"{following} FROM search_schedules") == [(True, True)]


async def test_a_weekly_run_took_for_fresh_what_the_one_before_had_seen_last(
    line: Line, source: ToldSource
) -> None:
    search_id = await first_run(line, source, place(1))
    await line.run("UPDATE places_staging SET seen_at = now() - interval '167 hours'")
    await run(line, search_id)
    of_the_weekly_run = source.fresh
    await run(line, search_id)

    assert of_the_weekly_run == frozenset()
    assert source.fresh == frozenset({"p1"})


async def test_two_processes_began_the_same_run(line: Line, source: ToldSource) -> None:
    search_id = await first_run(line, source, place(1))
    async with line.engine.begin() as connection:
        row = await line.row(PlaceSearch, search_id)
        await keep_schedule(connection, line.actor, row, Repetition.DAILY)
    await line.run("UPDATE search_schedules SET next_run_at = now()")

    async def begin() -> int:
        async with line.engine.begin() as connection:
            begun = await begin_due_runs(connection)
            await asyncio.sleep(0.1)
            return begun

    assert sum(await asyncio.gather(*(begin() for _ in range(4)))) == 1


async def test_a_run_is_not_begun_while_the_one_before_is_at_it(
    line: Line, source: ToldSource
) -> None:
    search_id = await first_run(line, source, place(1))
    async with line.engine.begin() as connection:
        row = await line.row(PlaceSearch, search_id)
        await keep_schedule(connection, line.actor, row, Repetition.DAILY)
    begun = []
    for _ in range(2):
        await line.run("UPDATE search_schedules SET next_run_at = now()")
        async with line.engine.begin() as connection:
            begun.append(await begin_due_runs(connection))

    assert begun == [1, 0]
    problem = "SELECT problem FROM search_schedules"
    assert await line.rows(problem) == [("the run before is not over",)]


async def test_what_costs_money_was_scheduled_without_a_budget(line: Line) -> None:
    search_id = await search(line)
    await line.run("UPDATE place_searches SET source = 'google', status = 'Completed'")
    async with line.engine.begin() as connection:
        row = await line.row(PlaceSearch, search_id)
        with pytest.raises(BadPlaceQuery):
            await keep_schedule(connection, line.actor, row, Repetition.DAILY)


async def test_a_schedule_that_is_paused_begins_nothing(
    line: Line, source: ToldSource
) -> None:
    search_id = await first_run(line, source, place(1))
    async with line.engine.begin() as connection:
        row = await line.row(PlaceSearch, search_id)
        await keep_schedule(
            connection, line.actor, row, Repetition.DAILY, is_paused=True
        )
    await line.run("UPDATE search_schedules SET next_run_at = now()")

    async with line.engine.begin() as connection:
        assert await begin_due_runs(connection) == 0


async def test_a_digest_is_logged_once_a_day_where_somebody_asked_for_it(
    line: Line, source: ToldSource
) -> None:
    search_id = await first_run(line, source, place(1))
    row = await line.row(PlaceSearch, search_id)
    digests = "SELECT details->'counts' FROM record_changes WHERE event = 'digest'"
    for has_digest in (False, True):
        async with line.engine.begin() as connection:
            await keep_schedule(
                connection, line.actor, row, Repetition.DAILY, has_digest=has_digest
            )
        source.places = [place(1, name=f"Named {has_digest}")]
        await run(line, search_id)
        async with line.engine.begin() as connection:
            await note_digests(connection)
            await connection.execute(text(A_DAY_PASSES))
            await note_digests(connection)
            await note_digests(connection)
        # What was renamed before somebody asked for digests is in none.
        assert await line.rows(digests) == ([({"renamed": 1},)] if has_digest else [])
