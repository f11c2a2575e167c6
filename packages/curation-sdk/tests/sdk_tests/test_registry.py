"""What would fail silently is refused at the start, with a word on what to do."""

from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import ForeignKey, event, text
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine
from sqlalchemy.orm import Mapped, mapped_column

from curation_sdk import (
    Backoff,
    Done,
    Outcome,
    Registry,
    Worker,
    migrate,
    queue_index,
    stage,
)
from curation_sdk.control import states
from curation_sdk.errors import CurationSdkError, InvalidStage
from sdk_tests.conftest import Database
from sdk_tests.desk import Base, Desk, State, Ticket, answer, succeed, triage


class Pair(Base):
    __tablename__ = "pair"

    left: Mapped[int] = mapped_column(primary_key=True)
    right: Mapped[int] = mapped_column(ForeignKey("ticket.id"), primary_key=True)
    state: Mapped[State]


async def do_nothing(_item: Any, _tools: object) -> Outcome:
    return Done()


def declared(**options: Any) -> Any:
    base: dict[str, Any] = {
        "claims": Ticket.state,
        "queued": State.QUEUED,
        "processing": State.PROCESSING,
        "done": State.COMPLETE,
        "failed": State.ERROR,
    }
    return stage("triage", **(base | options))(do_nothing)


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"batch": 0}, "at least 1"),
        ({"max_attempts": 0}, "at least 1"),
        ({"lease": timedelta(0)}, "must be positive"),
        ({"done": State.QUEUED}, "must be different"),
        ({"failed": State.QUEUED}, "must differ"),
        ({"high_water": 5}, "needs feeds"),
        ({"feeds": ("answer",), "high_water": 0}, "high_water must be at least 1"),
        ({"feeds": ("answer",), "high_water": {"other": 5}}, "does not feed"),
        ({"rate_per_minute": 0}, "rate_per_minute must be at least 1"),
        ({"claims": Pair.state}, "no updated_at"),
    ],
)
def test_a_stage_that_makes_no_sense_is_refused(options: Any, why: str) -> None:
    with pytest.raises(InvalidStage, match=why):
        declared(**options)


def test_a_stage_is_called_like_its_function() -> None:
    other = declared().configured(batch=7, timeout=timedelta(seconds=3))

    assert (other.batch, other.timeout.seconds, other.name) == (7, 3, "triage")
    with pytest.raises(AttributeError):
        other.batch = 8


def test_two_stages_on_one_column_are_refused() -> None:
    twin = stage(
        "twin",
        claims=Ticket.state,
        queued=State.NEW,
        processing=State.PROCESSING,
        done=State.COMPLETE,
        failed=State.ERROR,
    )(succeed)

    with pytest.raises(InvalidStage, match=r"owns ticket.state already"):
        Registry([triage(), twin])


def test_two_stages_of_one_name_are_refused() -> None:
    with pytest.raises(InvalidStage, match="two stages have this name"):
        Registry([triage(), triage()])


def test_a_queue_that_nobody_empties_is_refused() -> None:
    with pytest.raises(InvalidStage, match="no registered stage consumes"):
        Registry([triage(feeds=("nowhere",))])
    with pytest.raises(CurationSdkError, match="would wait forever"):
        Registry([triage()], queues=[Ticket.answer_state])


def test_every_queue_consumed_is_accepted() -> None:
    registry = Registry(
        [triage(feeds=("answer",)), answer()], queues=[Ticket.answer_state]
    )

    assert [each.name for each in registry] == ["triage", "answer"]


async def test_a_status_the_column_does_not_know_is_refused(desk: Desk) -> None:
    with pytest.raises(InvalidStage, match="'Lost' is not a status") as refusal:
        await desk.drain(declared(failed="Lost"))

    assert "Queued" in str(refusal.value.hint)


async def test_a_status_the_database_does_not_know_is_refused(desk: Desk) -> None:
    await desk.execute("ALTER TYPE state RENAME VALUE 'Error' TO 'Broken'")

    with pytest.raises(InvalidStage, match="refuses one of its statuses"):
        await desk.drain(triage())


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ("ALTER TABLE ticket DROP COLUMN answer_state", "does not exist"),
        ("DROP INDEX ticket_answer_state_queue", "no partial index"),
    ],
)
async def test_of_stages_checked_together_the_one_at_fault_is_named(
    desk: Desk, change: str, why: str
) -> None:
    await desk.execute(change)

    with pytest.raises(InvalidStage, match=why) as refusal:
        await Registry([triage(), answer()]).check(desk.engine)

    assert "'answer'" in str(refusal.value)


async def test_more_stages_are_checked_by_as_many_statements(desk: Desk) -> None:
    asked: list[str] = []

    def ask(*given: Any) -> None:
        asked.append(given[2])

    event.listen(desk.engine.sync_engine, "before_cursor_execute", ask)
    counts = []
    for stages in ([triage()], [triage(), answer()]):
        asked.clear()
        await Registry(stages).check(desk.engine)
        counts.append(len(asked))

    assert counts[0] == counts[1], "a worker far from its database starts soon"


async def test_a_database_that_goes_away_meanwhile_is_no_fault_of_the_stage(
    desk: Desk,
) -> None:
    def die(*given: Any) -> tuple[str, Any]:
        statement = given[2].replace(
            "SELECT EXISTS (SELECT 'Queued'::state",
            "SELECT pg_terminate_backend(pg_backend_pid()), EXISTS (SELECT 'Queued'::state",
        )
        return statement, given[3]

    event.listen(desk.engine.sync_engine, "before_cursor_execute", die, retval=True)

    with pytest.raises(
        DBAPIError,
        match=r"terminating connection|server conn crashed|connection was closed",
    ):
        await desk.drain(triage())


async def test_a_missing_partial_index_is_refused_with_the_remedy(desk: Desk) -> None:
    await desk.execute("DROP INDEX ticket_state_queue")
    await desk.execute("CREATE INDEX whole ON ticket (updated_at, id)")

    with pytest.raises(InvalidStage, match="no partial index") as refusal:
        await desk.drain(triage())

    assert refusal.value.hint is not None
    await run_outside(desk, refusal.value.hint.removeprefix("Create it: "))
    assert await desk.drain(triage()) == 0


async def test_an_index_without_the_key_will_do(desk: Desk) -> None:
    await desk.execute("DROP INDEX ticket_state_queue")
    await desk.execute("CREATE INDEX ON ticket (updated_at) WHERE state = 'Queued'")
    await desk.open(25)

    assert await desk.drain(triage()) == 25


async def test_the_key_may_give_the_order(desk: Desk) -> None:
    await desk.open(25)
    by_key = triage(order_by=Ticket.id)

    with pytest.raises(InvalidStage, match="no partial index") as refusal:
        await desk.drain(by_key)

    hint = str(refusal.value.hint)
    assert "ON ticket (id) WHERE" in hint
    await run_outside(desk, hint.removeprefix("Create it: "))
    assert await desk.drain(by_key) == 25


async def test_a_missing_table_is_refused(desk: Desk) -> None:
    await desk.execute("DROP TABLE reply, pair, ticket")

    with pytest.raises(InvalidStage, match="does not exist"):
        await desk.drain(triage())


async def test_missing_engine_tables_are_refused(empty_database: Database) -> None:
    engine = create_async_engine(empty_database.url)

    with pytest.raises(CurationSdkError, match="tables are missing"):
        await Worker(engine, [triage()]).start()
    await engine.dispose()


async def test_a_key_of_two_columns_is_refused(desk: Desk) -> None:
    pairs = declared(claims=Pair.state, order_by=Pair.left)

    with pytest.raises(InvalidStage, match="a key of 2 columns"):
        await desk.drain(pairs)


async def test_a_column_of_another_model_is_refused(desk: Desk) -> None:
    with pytest.raises(InvalidStage, match="is not a column of Ticket"):
        await desk.drain(declared(order_by=Pair.left))


async def test_a_tenant_that_may_be_missing_is_refused(desk: Desk) -> None:
    with pytest.raises(InvalidStage, match="may be null"):
        await desk.drain(declared(tenant=Ticket.error))


async def test_the_database_knows_every_stage_that_ever_ran(desk: Desk) -> None:
    await desk.drain(triage())

    (state,) = await states(desk.engine)

    assert (state.name, state.paused) == ("triage", False)
    assert (state.queue.table, state.queue.queued) == ("ticket", "Queued")


async def test_installing_twice_changes_nothing(engine: AsyncEngine) -> None:
    await migrate(engine)

    await migrate(engine)


def test_the_backoff_doubles_up_to_its_limit() -> None:
    backoff = Backoff(timedelta(seconds=1), longest=timedelta(seconds=10), jitter=0)

    pauses = [backoff.pause(tries).total_seconds() for tries in (1, 2, 3, 4, 5, 5000)]

    assert pauses == [1, 2, 4, 8, 10, 10]


def test_the_backoff_spreads() -> None:
    pauses = {Backoff(jitter=0.5).pause(1) for _ in range(50)}

    assert len(pauses) > 10
    assert all(
        timedelta(seconds=2.5) <= each <= timedelta(seconds=7.5) for each in pauses
    )


async def run_outside(desk: Desk, statement: str) -> None:
    async with desk.engine.connect() as connection:
        free = await connection.execution_options(isolation_level="AUTOCOMMIT")
        await free.execute(text(statement))


def test_a_queue_index_serves_tenant_and_priority() -> None:
    index = queue_index(
        Ticket.answer_state, State.NEW, tenant=Ticket.tenant, priority=Ticket.priority
    )
    try:
        columns = [str(each) for each in index.expressions]
        assert columns == [
            "ticket.tenant",
            "ticket.priority DESC NULLS LAST",
            "ticket.updated_at",
            "ticket.id",
        ]
    finally:
        Ticket.__table__.indexes.discard(index)  # type: ignore[attr-defined]
