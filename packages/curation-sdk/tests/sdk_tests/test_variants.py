"""Fast paths: from equal rows each leaves the tables that the general statement leaves."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import asyncpg
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from sqlalchemy import BigInteger, Text
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

from curation_sdk import Done, Outcome, Registry, Stage, migrate, queue_index, stage
from curation_sdk import statements as sql
from curation_sdk.claim import ClaimedItem, Claimer, select_list
from curation_sdk.connection import WorkerConnection
from curation_sdk.job_loop import settlement_as_set
from curation_sdk.queue import Queue, queue_of
from curation_sdk.settlement import Settlement, columns_of
from curation_sdk.statements import Statements, statements_of
from sdk_tests.conftest import Database
from sdk_tests.rig.size import size

QUEUED, WORKING, DONE, FAILED, PARKED = "queued", "working", "done", "failed", "parked"
MINE, MINE_TOO, OTHERS = 10, 11, 20
"""Fences: two claims of ours, and one of another worker."""
NEW_FENCES = 1_000


class Base(DeclarativeBase):
    pass


class Task(Base):
    __tablename__ = "task"

    id: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    status: Mapped[str] = mapped_column(Text)
    error: Mapped[str | None] = mapped_column(Text)
    rank: Mapped[int] = mapped_column(BigInteger)
    tenant: Mapped[int] = mapped_column(BigInteger)


queue_index(Task.status, QUEUED, order_by=Task.rank)
SHARED_INDEX = (
    "CREATE INDEX task_shared ON task (tenant, rank, id) WHERE status = 'queued'"
)


async def nothing(_task: Task, _tools: object) -> Outcome:
    return Done()


def work(batch: int, **options: Any) -> Stage[Task, Any]:
    return stage(
        "work",
        claims=Task.status,
        error=Task.error,
        order_by=Task.rank,
        queued=QUEUED,
        processing=WORKING,
        done=DONE,
        failed=FAILED,
        batch=batch,
        **options,
    )(nothing)


@dataclass(frozen=True, slots=True)
class Row:
    """A row and its claim before a statement runs; no status: the row was deleted."""

    status: str | None
    claim: str
    """None of them, "mine", "mine too", another worker's ("others"), or "waiting"."""
    tries: int
    crashes: int
    rank: int
    tenant: int
    error: str | None


FENCES = {"mine": MINE, "mine too": MINE_TOO, "others": OTHERS, "waiting": None}

rows = st.builds(
    Row,
    status=st.sampled_from([QUEUED, QUEUED, WORKING, WORKING, DONE, PARKED, None]),
    claim=st.sampled_from(["none", "mine", "mine", "mine too", "others", "waiting"]),
    tries=st.integers(1, 3),
    crashes=st.integers(0, 3),
    rank=st.integers(0, 2),
    tenant=st.integers(0, 2),
    error=st.sampled_from([None, "before"]),
)
tables = st.lists(rows, max_size=12)
# Most queued rows have no claim: else a fast path would never run to its end.
fresh = st.builds(
    Row,
    status=st.just(QUEUED),
    claim=st.sampled_from(["none"] * 5 + ["waiting"]),
    tries=st.integers(1, 3),
    crashes=st.integers(0, 1),
    rank=st.integers(0, 2),
    tenant=st.integers(0, 2),
    error=st.none(),
)
queues = st.one_of(
    tables, st.lists(fresh, max_size=20), st.lists(fresh | rows, max_size=20)
)

TASKS = "SELECT id, status, error, rank FROM task ORDER BY id"
# New fences are counted from 1, because a fast path that failed has used one up.
CLAIMS = f"""SELECT item, CASE WHEN fence < {NEW_FENCES} THEN -fence
    ELSE dense_rank() OVER (ORDER BY fence >= {NEW_FENCES} DESC NULLS LAST, fence) END,
  tries, deaths, worker, alone, due_at, lease_until > now(), claimed_at > now() - '1h'::interval
  FROM curation.claim ORDER BY item"""
ATTEMPTS = """SELECT item, fence, tries, outcome, why, worker, claimed_at, due_at, traceback
  FROM curation.attempt ORDER BY item, fence, outcome"""
DEAD_LETTERS = """SELECT item, fence, kind, why, tries, deaths
  FROM curation.dead_letter ORDER BY item"""

Tables = tuple[list[tuple[Any, ...]], ...]
Act = Callable[[], Awaitable[object]]


class Bench:
    """A table of tasks that can be set to the same rows again and again."""

    def __init__(
        self, engine: AsyncEngine, connection: "asyncpg.Connection[Any]"
    ) -> None:
        self.engine = engine
        self.connection = connection
        self.lane = WorkerConnection(engine)

    @classmethod
    async def open(cls, database: Database) -> "Bench":
        engine = create_async_engine(database.url)
        await migrate(engine)
        async with engine.begin() as connection:
            await connection.run_sync(Base.metadata.create_all)
        driver = await asyncpg.connect(database.dsn)
        await driver.execute(SHARED_INDEX)
        await Registry([work(10)]).check(engine)
        return cls(engine, driver)

    async def close(self) -> None:
        await self.lane.close()
        await self.connection.close()
        await self.engine.dispose()

    def queue(self, **options: Any) -> Queue:
        return queue_of(work(10, **options), self.engine.dialect)

    def statements(self, batch: int = 10, **options: Any) -> Statements:
        declared = work(batch, **options)
        columns = select_list(declared, self.engine.dialect)
        queue = self.queue(**options)
        return statements_of(queue, columns=columns, keyed=True)

    def claimer(self, batch: int, **options: Any) -> Claimer:
        """Give a claimer that has claimed nothing yet."""
        statements = self.statements(batch, **options)
        return Claimer(work(batch, **options), statements, self.lane, "me")

    async def set_up(self, table: Sequence[Row]) -> None:
        """Make the tables hold exactly these rows and claims."""
        await self.connection.execute(
            "DELETE FROM task; DELETE FROM curation.claim; DELETE FROM curation.attempt;"
            "DELETE FROM curation.dead_letter;"
            f"ALTER SEQUENCE curation.fence RESTART WITH {NEW_FENCES}"
        )
        kept = [(n, row) for n, row in enumerate(table) if row.status is not None]
        await self.connection.executemany(
            "INSERT INTO task (id, status, error, rank, tenant) VALUES ($1, $2, $3, $4, $5)",
            [(n, row.status, row.error, row.rank, row.tenant) for n, row in kept],
        )
        claimed = [(n, row) for n, row in enumerate(table) if row.claim != "none"]
        await self.connection.executemany(
            "INSERT INTO curation.claim (stage, item, fence, tries, deaths, worker,"
            "   lease_until, claimed_at, due_at)"
            " SELECT 'work', $1, $2::bigint, $3, $4, 'someone', '2100-01-01', '2020-01-01',"
            "   CASE WHEN $2::bigint IS NULL THEN timestamptz '2020-01-01' END",
            [(str(n), FENCES[row.claim], row.tries, row.crashes) for n, row in claimed],
        )

    async def tables(self) -> Tables:
        """Read everything that a statement may have changed."""
        queries = (TASKS, CLAIMS, ATTEMPTS, DEAD_LETTERS)
        found = [await self.connection.fetch(query) for query in queries]
        return tuple([tuple(row) for row in table] for table in found)

    async def compare(self, table: Sequence[Row], fast: Act, general: Act) -> None:
        """Run both from the same rows; what they return and leave must be equal."""
        await self.set_up(table)
        by_fast = (await fast(), await self.tables())
        await self.set_up(table)
        by_general = (await general(), await self.tables())
        assert by_fast == by_general


@contextmanager
def opened(database: Database) -> Iterator[Callable[[Any], Callable[..., None]]]:
    """Give a decorator that runs an async check of a `Bench` as a property."""
    loop = asyncio.new_event_loop()
    bench = loop.run_until_complete(Bench.open(database))

    def checks(check: Callable[..., Awaitable[None]]) -> Callable[..., None]:
        @settings(
            max_examples=size(30, 60),
            deadline=None,
            derandomize=True,
            database=None,
            phases=[Phase.generate, Phase.shrink],
            suppress_health_check=list(HealthCheck),
        )
        @given(data=st.data())
        def run(data: st.DataObject) -> None:
            loop.run_until_complete(asyncio.wait_for(check(bench, data), 60))

        return run

    try:
        yield checks
    finally:
        loop.run_until_complete(bench.close())
        loop.close()


async def drained(
    take: Callable[[], Awaitable[list[Any]]],
) -> list[list[tuple[str, int, int]]]:
    """Claim until nothing is left; return what each claim brought, and its history."""
    found: list[list[tuple[str, int, int]]] = []
    while claimed := await take():
        found.append(sorted((c.item, c.tries, c.crashes) for c in claimed))
    return found


def optimist(claimer: Claimer) -> Callable[[], Awaitable[list[Any]]]:
    """Claim by the fast path each time, whatever the last claim met."""

    async def take() -> list[Any]:
        claimer._claimed_rows_at = float("-inf")
        return await claimer.next_batch()

    return take


def test_a_claim_along_the_cursor_is_as_a_claim_from_the_start(
    empty_database: Database,
) -> None:
    with opened(empty_database) as checks:

        @checks
        async def check(bench: Bench, data: st.DataObject) -> None:
            table, batch = data.draw(queues), data.draw(st.integers(1, 5))
            general = bench.claimer(batch)
            await bench.compare(
                table,
                lambda: drained(optimist(bench.claimer(batch))),
                lambda: drained(lambda: general.next_rows(batch)),
            )

        check()


def test_a_claim_in_equal_shares_is_the_same_for_rows_with_and_without_a_claim(
    empty_database: Database,
) -> None:
    with opened(empty_database) as checks:

        @checks
        async def check(bench: Bench, data: st.DataObject) -> None:
            table, batch = data.draw(queues), data.draw(st.integers(1, 5))
            options = {"tenant": Task.tenant}
            general = bench.claimer(batch, **options)
            await bench.compare(
                table,
                lambda: drained(optimist(bench.claimer(batch, **options))),
                lambda: drained(lambda: general.next_rows(batch)),
            )

        check()


def test_each_waiting_item_is_claimed_in_exactly_one_way(
    empty_database: Database,
) -> None:
    with opened(empty_database) as checks:

        @checks
        async def check(bench: Bench, data: st.DataObject) -> None:
            table = data.draw(tables)
            await bench.set_up(table)
            claimer = bench.claimer(10)
            ways: tuple[Callable[[], Awaitable[list[ClaimedItem]]], ...] = (
                lambda: claimer.next_due(3),
                lambda: claimer.next_rescued(3),
                claimer.next_suspect,
            )

            # A claim that only meets items cancelled meanwhile brings nothing.
            found = [
                (claimed.item, claimed.tries, claimed.crashes)
                for way in ways
                for _ in table
                for claimed in await way()
            ]

            waiting = [
                (str(n), row.tries + 1, row.crashes)
                for n, row in enumerate(table)
                if row.claim == "waiting" and row.status == WORKING
            ]
            assert sorted(found) == sorted(waiting)

        check()


def own_keys(table: Sequence[Row]) -> tuple[list[str], list[int]]:
    """Return every row as one in hand: by its own fence where that is one of ours."""
    fences = [MINE_TOO if row.claim == "mine too" else MINE for row in table]
    return [str(n) for n in range(len(table))], fences


def test_settling_as_done_is_as_settling_with_any_outcome(
    empty_database: Database,
) -> None:
    with opened(empty_database) as checks:

        @checks
        async def check(bench: Bench, data: st.DataObject) -> None:
            table = data.draw(tables)
            keys, statements = own_keys(table), bench.statements()
            done = columns_of([Settlement("done", DONE, None)] * len(table))
            await bench.compare(
                table,
                lambda: pairs(bench, statements.done, *keys),
                lambda: pairs(bench, statements.settle, *keys, *done),
            )

        check()


def test_settling_many_is_as_settling_each_by_its_fence(
    empty_database: Database,
) -> None:
    with opened(empty_database) as checks:

        @checks
        async def check(bench: Bench, data: st.DataObject) -> None:
            table = data.draw(tables)
            (items, fences), statements = own_keys(table), bench.statements()

            async def many() -> int:
                together = list(set(fences))
                [row] = await bench.connection.fetch(
                    statements.done_many, "work", items, together
                )
                return int(row["kept"])

            async def each() -> int:
                return len(await pairs(bench, statements.done, items, fences))

            await bench.compare(table, many, each)

        check()


@pytest.mark.parametrize("status", [DONE, FAILED, PARKED])
def test_closing_a_claim_whose_status_is_set_is_as_settling_it_so(
    empty_database: Database, status: str
) -> None:
    with opened(empty_database) as checks:

        @checks
        async def check(bench: Bench, data: st.DataObject) -> None:
            row = data.draw(rows.filter(lambda row: row.status is not None))
            queue = bench.queue()
            settlement = settlement_as_set(queue, status, row.error)
            is_mine = row.claim == "mine"

            async def function_sets() -> None:
                # The fence is checked when the session begins; without it nothing is set.
                if is_mine:
                    await bench.connection.execute(
                        "UPDATE task SET status = $1", status
                    )
                await bench.connection.execute(
                    sql.CLOSE_CLAIM,
                    "work",
                    "0",
                    MINE,
                    settlement.outcome,
                    settlement.why,
                    settlement.traceback,
                )

            async def engine_sets() -> None:
                if is_mine:
                    await bench.connection.execute(
                        "UPDATE task SET status = $1", WORKING
                    )
                columns = list(columns_of([settlement]))
                # The function's error stays as it is.
                columns[3] = [row.error]
                await pairs(bench, bench.statements().settle, ["0"], [MINE], *columns)

            await bench.compare(
                [row if is_mine else changed(row)], function_sets, engine_sets
            )

        check()


def changed(row: Row) -> Row:
    """Return the row as one that nobody works on."""
    return Row(
        PARKED, row.claim, row.tries, row.crashes, row.rank, row.tenant, row.error
    )


async def pairs(bench: Bench, statement: str, *arguments: object) -> set[Any]:
    found = await bench.connection.fetch(statement, "work", *arguments)
    return {(row["item"], row["fence"]) for row in found}
