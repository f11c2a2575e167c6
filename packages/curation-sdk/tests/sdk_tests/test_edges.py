"""What programs of strangers do that nobody would do on purpose, one test for each."""

import asyncio
import contextlib
import logging
import os
import re
import sys
import threading
import time
from contextvars import ContextVar
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import ForeignKey, StaticPool, create_engine, text
from sqlalchemy.ext.asyncio import AsyncEngine, AsyncSession, create_async_engine
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column
from structlog.testing import capture_logs

from curation_sdk import (
    Backoff,
    Done,
    GiveUp,
    Outcome,
    Transaction,
    Worker,
    connection,
    control,
    migrate,
    queue_index,
    run_job_loop,
    run_worker,
    stage,
)
from curation_sdk.connection import engine_of
from curation_sdk.errors import ContractViolation, CurationSdkError, InvalidStage
from curation_sdk.log import get_logger
from curation_sdk.stage import in_thread
from sdk_tests.conftest import Database
from sdk_tests.desk import Desk, State, Ticket, job_loop, triage
from sdk_tests.test_strangers import ended

WITHIN = timedelta(seconds=30)
TESTS = Path(__file__).parents[1]


class Base(DeclarativeBase): ...


def this_task() -> "asyncio.Task[Any]":
    task = asyncio.current_task()
    assert task is not None
    return task


async def fail() -> None:
    raise OSError


async def cancel_and_wait() -> None:
    this_task().cancel()
    await asyncio.sleep(0)


async def cancel_and_return() -> None:
    this_task().cancel()


async def cancel_in_a_callback() -> None:
    asyncio.get_running_loop().call_soon(this_task().cancel)
    await asyncio.sleep(0.05)


async def leave_a_task_group_open() -> None:
    group = asyncio.TaskGroup()
    await group.__aenter__()
    group.create_task(fail())
    await asyncio.sleep(0.05)


async def leave_a_timeout_open() -> None:
    await asyncio.timeout(0.01).__aenter__()
    await asyncio.sleep(0.05)


CANCELS = [
    cancel_and_wait,
    cancel_and_return,
    cancel_in_a_callback,
    leave_a_task_group_open,
    leave_a_timeout_open,
]


@pytest.mark.parametrize("cancel", CANCELS)
async def test_a_slot_ended_with_the_item_that_cancelled_its_task(
    desk: Desk, cancel: Any
) -> None:
    await desk.open(12)

    async def work(ticket: Ticket, _tools: object) -> Outcome:
        if ticket.id <= 2:
            await cancel()
        return Done()

    await desk.drain(triage(work, concurrency=2, max_attempts=1), seconds=30)

    states = await desk.rows("SELECT state::text FROM ticket WHERE id > 2")
    assert set(states) == {("Complete",)}
    assert "Processing" not in await desk.states()


async def test_a_loop_idled_to_its_end_after_an_item_had_cancelled_its_task(
    desk: Desk,
) -> None:
    await desk.open(6)

    async def work(ticket_id: int, _session: AsyncSession) -> None:
        if ticket_id <= 2:
            await cancel_and_wait()

    await job_loop(desk, work, concurrency=2, max_attempts=1, within=WITHIN)

    assert await desk.states() == {"Complete": 4, "Error": 2}
    assert await desk.one("SELECT error FROM ticket WHERE id = 1") == (
        "its work cancelled the task it ran in"
    )


async def test_nothing_was_settled_after_an_effect_had_cancelled_its_task(
    desk: Desk,
) -> None:
    await desk.open(6)

    async def effect(_transaction: object) -> None:
        await cancel_and_wait()

    async def work(ticket: Ticket, _tools: object) -> Outcome:
        return Done(effect if ticket.id == 1 else None)

    await desk.drain(triage(work, max_attempts=1), seconds=30)

    assert await desk.states() == {"Complete": 5, "Error": 1}


async def test_an_effect_that_raised_no_exception_stopped_all_settling(
    desk: Desk,
) -> None:
    await desk.open(6)

    async def effect(_transaction: object) -> None:
        raise BaseExceptionGroup("both", [GeneratorExit()])

    async def work(ticket: Ticket, _tools: object) -> Outcome:
        return Done(effect if ticket.id == 1 else None)

    await desk.drain(triage(work, max_attempts=1), seconds=30)

    assert await desk.states() == {"Complete": 5, "Error": 1}


async def test_an_effect_that_waited_for_its_own_row_was_tried_for_ever(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    await desk.open(2)
    monkeypatch.setattr(connection, "IDLE_TIMEOUT", timedelta(seconds=0.5))
    monkeypatch.setattr(connection, "BEGIN", connection.BEGIN.replace("8000", "500"))

    async def effect(transaction: Transaction) -> None:
        await transaction.execute(TOUCH)
        await desk.execute(TOUCH.text)

    async def work(ticket: Ticket, _tools: object) -> Outcome:
        return Done(effect if ticket.id == 1 else None)

    await desk.drain(triage(work, max_attempts=1), seconds=30)

    assert await desk.states() == {"Complete": 1, "Error": 1}
    assert "kept a transaction open" in str(
        await desk.one("SELECT error FROM ticket WHERE id = 1")
    )


class Unreadable(Exception):
    def __str__(self) -> str:
        raise OSError("an error without words")

    __repr__ = __str__


async def test_an_error_that_cannot_be_read_ended_its_slot(desk: Desk) -> None:
    await desk.open(3)

    async def work(ticket: Ticket, _tools: object) -> Outcome:
        if ticket.id == 1:
            raise Unreadable
        return Done()

    await desk.drain(triage(work, concurrency=1, max_attempts=1))

    assert await desk.states() == {"Complete": 2, "Error": 1}
    assert await desk.one("SELECT error FROM ticket WHERE id = 1") == (
        "crashed: Unreadable"
    )


async def test_what_an_item_had_set_in_its_context_was_seen_by_the_next(
    desk: Desk,
) -> None:
    await desk.open(5)
    customer: ContextVar[int | None] = ContextVar("customer", default=None)
    seen = []

    async def work(ticket: Ticket, _tools: object) -> Outcome:
        seen.append(customer.get())
        customer.set(ticket.id)
        return Done()

    await desk.drain(triage(work, concurrency=1))

    assert seen == [None] * 5
    assert await desk.states() == {"Complete": 5}


async def test_a_forked_copy_of_a_worker_went_on_with_its_connections(
    desk: Desk,
) -> None:
    await desk.open(3)
    ends = []

    def wait_for(pid: int) -> None:
        ends.append(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))

    async def work(ticket: Ticket, _tools: object) -> Outcome:
        pid = os.fork() if ticket.id < 3 else 0
        if ticket.id < 3 and not pid:
            if ticket.id == 1:
                return Done()
            raise SystemExit(4)
        if pid:
            await asyncio.to_thread(wait_for, pid)
        return Done()

    await desk.drain(triage(work, concurrency=1))

    assert ends == [0, 4]
    assert await desk.states() == {"Complete": 3}


@pytest.mark.slow
@pytest.mark.parametrize("leaves", [SystemExit, KeyboardInterrupt])
async def test_a_process_that_exits_from_a_stage_left_its_rows_in_processing(
    desk: Desk, desk_database: Database, leaves: type[BaseException]
) -> None:
    await desk.open(4)
    program = f"""
import asyncio
from sqlalchemy.ext.asyncio import create_async_engine
from curation_sdk import Done, Worker
from sdk_tests.desk import triage

async def work(ticket, tools):
    if ticket.id == 2:
        raise {leaves.__name__}
    return Done()

async def main():
    stage = triage(work, concurrency=1)
    async with Worker(create_async_engine({desk_database.url!r}), [stage]) as worker:
        await worker.drain(stage)

asyncio.run(main())
"""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", program), cwd=TESTS, stderr=asyncio.subprocess.PIPE
    )
    _, said = await process.communicate()

    assert await desk.one("SELECT count(*) FROM curation.claim") == 0, said.decode()
    assert (await desk.states()).keys() <= {"Complete", "Queued"}
    assert b"never retrieved" not in said


# Commits behind the session


async def commit_the_connection(session: AsyncSession) -> None:
    await (await session.connection()).commit()


async def commit_by_text(session: AsyncSession) -> None:
    await session.execute(text("COMMIT"))


async def commit_by_the_driver(session: AsyncSession) -> None:
    await (await session.connection()).exec_driver_sql("COMMIT")


async def commit_behind_a_comment(session: AsyncSession) -> None:
    await session.execute(text("/* so far */ COMMIT AND CHAIN"))


async def commit_and_begin(session: AsyncSession) -> None:
    connection = await session.connection()
    await connection.exec_driver_sql("COMMIT")
    await connection.exec_driver_sql("BEGIN")


@pytest.mark.parametrize(
    ("commit", "kept"),
    [
        (commit_the_connection, 0),
        (commit_by_text, 0),
        # Seen only when it has happened.
        (commit_by_the_driver, 1),
        (commit_behind_a_comment, 1),
        (commit_and_begin, 1),
    ],
)
async def test_a_commit_behind_the_session_applied_an_increment_three_times(
    desk: Desk, commit: Any, kept: int
) -> None:
    await desk.open(1)

    async def work(ticket_id: int, session: AsyncSession) -> None:
        ticket = await session.get_one(Ticket, ticket_id)
        ticket.priority += 1
        await session.flush()
        await commit(session)
        raise OSError("the next service does not answer")

    with pytest.raises(ContractViolation, match="ended the transaction behind"):
        await job_loop(desk, work)

    assert await desk.one("SELECT priority FROM ticket") == kept
    assert await desk.states() == {"Queued": 1}


@pytest.mark.parametrize("commit", [commit_behind_a_comment, commit_and_begin])
async def test_a_transaction_begun_in_place_of_another_completed_its_row(
    desk: Desk, commit: Any
) -> None:
    await desk.open(1)

    async def work(_ticket_id: int, session: AsyncSession) -> None:
        await commit(session)

    with pytest.raises(ContractViolation, match="ended the transaction behind"):
        await job_loop(desk, work)

    assert await desk.states() == {"Queued": 1}


TOUCH = text("UPDATE ticket SET priority = priority + 1")


async def commit_in_an_effect(transaction: Transaction) -> None:
    await transaction.execute(text("COMMIT"))


async def fetch_a_commit(transaction: Transaction) -> None:
    await transaction.fetch("COMMIT")


async def roll_back_by_the_driver(transaction: Transaction) -> None:
    await transaction.driver.execute("ROLLBACK")


@pytest.mark.parametrize(
    "end", [commit_in_an_effect, fetch_a_commit, roll_back_by_the_driver]
)
async def test_an_effect_that_ended_its_transaction_completed_a_row_without_its_results(
    desk: Desk, end: Any
) -> None:
    await desk.open(2)

    async def work(_ticket: Ticket, _tools: object) -> Outcome:
        async def write(transaction: Transaction) -> None:
            await transaction.execute(TOUCH)
            await end(transaction)
            raise ValueError("in the middle")

        return Done(write)

    await desk.drain(triage(work))

    assert await desk.states() == {"Queued": 2}
    paused = await desk.one("SELECT paused_why FROM curation.stage")
    assert paused.startswith("An effect ended the transaction that it was given.")


async def test_an_effect_that_committed_by_the_driver_was_not_noticed(
    desk: Desk,
) -> None:
    await desk.open(1)

    async def work(_ticket: Ticket, _tools: object) -> Outcome:
        async def write(transaction: Transaction) -> None:
            await transaction.driver.execute("COMMIT")

        return Done(write)

    await desk.drain(triage(work))

    assert await desk.states() == {"Complete": 1}
    assert await desk.one("SELECT paused_at IS NOT NULL FROM curation.stage")


async def test_a_function_whose_two_sessions_waited_for_each_other_was_only_late(
    desk: Desk,
) -> None:
    await desk.open(1)

    async def work(_ticket_id: int, session: AsyncSession) -> None:
        await session.execute(TOUCH)
        async with AsyncSession(desk.engine) as another:
            await another.execute(TOUCH)

    with pytest.raises(ContractViolation, match=r"waited for itself: .*UPDATE ticket"):
        await job_loop(desk, work, timeout=timedelta(seconds=1))

    assert await desk.states() == {"Queued": 1}
    assert await desk.one("SELECT priority FROM ticket") == 0


async def test_a_session_that_waited_for_another_of_its_function_was_only_late(
    desk: Desk,
) -> None:
    await desk.open(1)

    async def work(_ticket_id: int, session: AsyncSession) -> None:
        async with AsyncSession(desk.engine) as another:
            await another.execute(TOUCH)
            await session.execute(TOUCH)

    with pytest.raises(ContractViolation, match=r"waited for itself: .*UPDATE ticket"):
        await job_loop(desk, work, timeout=timedelta(seconds=1))

    assert await desk.states() == {"Queued": 1}


async def test_a_row_that_another_program_has_locked_is_no_fault_of_the_function(
    desk: Desk,
) -> None:
    await desk.open(2)
    await desk.execute("UPDATE ticket SET state = 'Complete' WHERE id = 2")

    async def work(_ticket_id: int, session: AsyncSession) -> None:
        await session.execute(TOUCH)

    async with AsyncSession(desk.engine) as other:
        await other.execute(text("UPDATE ticket SET title = 'mine' WHERE id = 2"))
        await job_loop(desk, work, timeout=timedelta(seconds=1), max_attempts=1)

    assert await desk.states() == {"Complete": 1, "Error": 1}
    why = await desk.one("SELECT error FROM ticket WHERE id = 1")
    assert re.match("ran (past its timeout|out of time: the session of item 1)", why)


async def test_a_program_that_waits_for_a_slow_function_is_not_taken_for_it(
    desk: Desk,
) -> None:
    await desk.open(1)
    others: list[asyncio.Task[None]] = []

    async def touch() -> None:
        await desk.execute(TOUCH.text)

    async def work(_ticket_id: int, session: AsyncSession) -> None:
        await session.execute(TOUCH)
        others.append(asyncio.create_task(touch()))
        await asyncio.sleep(60)

    await job_loop(desk, work, timeout=timedelta(seconds=1), max_attempts=1)
    await others[0]

    assert await desk.states() == {"Error": 1}
    why = await desk.one("SELECT error FROM ticket")
    assert re.match(
        "ran (past its timeout|out of time: the session of item 1)", str(why)
    )
    assert await desk.one("SELECT priority FROM ticket") == 1


async def test_a_rollback_behind_the_session_completed_a_row_without_its_results(
    desk: Desk,
) -> None:
    await desk.open(1)

    async def work(ticket_id: int, session: AsyncSession) -> None:
        ticket = await session.get_one(Ticket, ticket_id)
        ticket.priority += 1
        await session.flush()
        await (await session.connection()).exec_driver_sql("ROLLBACK")

    with pytest.raises(ContractViolation, match="ended the transaction behind"):
        await job_loop(desk, work)

    assert await desk.states() == {"Queued": 1}


# What a model, an engine or a pool may be


class Animal(Base):
    __tablename__ = "animal"
    __mapper_args__: Any = {  # noqa: RUF012 - as SQLAlchemy types it
        "polymorphic_on": "kind",
        "polymorphic_identity": "animal",
    }

    id: Mapped[int] = mapped_column(primary_key=True)
    kind: Mapped[str]
    state: Mapped[State] = mapped_column(default=State.QUEUED)


class Dog(Animal):
    __mapper_args__: Any = {"polymorphic_identity": "dog"}  # noqa: RUF012 - as SQLAlchemy types it


class Horse(Animal):
    __tablename__ = "horse"
    __mapper_args__: Any = {"polymorphic_identity": "horse"}  # noqa: RUF012 - as SQLAlchemy types it

    id: Mapped[int] = mapped_column(ForeignKey("animal.id"), primary_key=True)
    shoe_state: Mapped[State] = mapped_column(default=State.QUEUED)


@pytest.mark.parametrize(
    ("model", "column"), [(Dog, "state"), (Horse, "state"), (Horse, "shoe_state")]
)
async def test_a_subclass_of_a_model_took_the_rows_of_its_parent(
    desk: Desk, model: Any, column: str
) -> None:
    async with desk.engine.begin() as connection:
        await connection.run_sync(Base.metadata.create_all)

    with pytest.raises(
        InvalidStage, match=r"inherits from Animal.* only its kind says"
    ):
        await run_job_loop(
            model,
            State,
            State.QUEUED,
            State.PROCESSING,
            State.COMPLETE,
            State.ERROR,
            do_nothing,
            engine=desk.engine,
            order_by_column="id",
            status_field_name=column,
            error_field_name=None,
        )


async def do_nothing(_ticket_id: int, _session: AsyncSession) -> None:
    return None


async def test_a_pool_of_one_connection_failed_every_row(
    desk: Desk, desk_database: Database
) -> None:
    await desk.open(1)
    few: list[dict[str, Any]] = [
        {"pool_size": 1, "max_overflow": 1},
        {"poolclass": StaticPool},
    ]
    for options in few:
        engine = create_async_engine(desk_database.url, **options)
        with pytest.raises(CurationSdkError, match="pool of at least 3 connections"):
            await job_loop(desk, do_nothing, engine=engine)
        await engine.dispose()

    assert await desk.states() == {"Queued": 1}


async def test_a_pool_that_others_had_emptied_spent_the_attempts_of_a_row(
    desk: Desk, desk_database: Database
) -> None:
    await desk.open(1)
    engine = create_async_engine(
        desk_database.url, pool_size=1, max_overflow=0, pool_timeout=0.1
    )

    async def leak(_ticket_id: int, _session: AsyncSession) -> None:
        async with engine.connect(), engine.connect():
            pass

    await job_loop(desk, leak, max_attempts=1, backoff=Backoff())
    await engine.dispose()

    assert await desk.states() == {"Processing": 1}
    assert await desk.outcomes() == ["postponed"]
    why = await desk.one("SELECT why FROM curation.attempt")
    assert why.startswith("no connection of the engine's pool was free")


async def test_a_changed_primary_key_stranded_its_row(desk: Desk) -> None:
    await desk.open(1)

    async def renumber(ticket_id: int, session: AsyncSession) -> None:
        ticket = await session.get_one(Ticket, ticket_id)
        ticket.id = 1000

    with pytest.raises(ContractViolation, match="changed the primary key of item 1"):
        await job_loop(desk, renumber)

    assert await desk.rows("SELECT id, state::text FROM ticket") == [(1, "Queued")]


async def test_a_row_whose_key_was_changed_in_sql_was_said_to_be_deleted(
    desk: Desk,
) -> None:
    await desk.open(1)

    async def renumber(ticket_id: int, session: AsyncSession) -> None:
        await session.execute(text(f"UPDATE ticket SET id = 9 WHERE id = {ticket_id}"))

    await job_loop(desk, renumber)

    why = await desk.one("SELECT why FROM curation.attempt WHERE outcome = 'done'")
    assert why == "its row is gone: the function deleted it, or changed its primary key"


async def test_statements_side_by_side_on_one_session_emptied_the_pool(
    desk: Desk, desk_database: Database
) -> None:
    await desk.open(3)
    engine = create_async_engine(desk_database.url)

    async def side_by_side(_ticket_id: int, session: AsyncSession) -> None:
        await asyncio.gather(
            *(session.execute(text("SELECT pg_sleep(0.01)")) for _ in range(5))
        )

    with pytest.raises(ContractViolation, match="two tasks at once"):
        await job_loop(desk, side_by_side, engine=engine, within=WITHIN)

    assert engine.pool.checkedout() == 0  # type: ignore[attr-defined]
    await engine.dispose()
    assert await desk.states() == {"Queued": 3}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (create_engine, "is not an AsyncEngine"),
        (
            lambda url: create_async_engine(url, isolation_level="AUTOCOMMIT"),
            "in AUTOCOMMIT",
        ),
    ],
    ids=["sync", "autocommit"],
)
async def test_an_engine_that_cannot_be_used_was_refused_for_another_reason(
    desk: Desk, desk_database: Database, change: Any, message: str
) -> None:
    engine = change(desk_database.url)

    with pytest.raises(CurationSdkError, match=message):
        await job_loop(desk, do_nothing, engine=engine)

    if isinstance(engine, AsyncEngine):
        await engine.dispose()


async def test_psycopg_was_refused_by_its_count_of_placeholders(
    desk_database: Database,
) -> None:
    pytest.importorskip("psycopg")
    engine = create_async_engine(desk_database.url.replace("+asyncpg", "+psycopg"))

    with pytest.raises(CurationSdkError, match=r"driver is psycopg.*\+asyncpg"):
        await migrate(engine)


def test_the_index_to_create_was_not_in_the_traceback() -> None:
    error = InvalidStage("triage", "it lacks an index", hint="Create it: CREATE INDEX")

    assert str(error) == (
        "Stage 'triage' cannot run: it lacks an index. Create it: CREATE INDEX"
    )
    assert error.message == "Stage 'triage' cannot run: it lacks an index."


# What blocks, and what nobody has claimed


@pytest.mark.slow
async def test_a_function_that_blocked_past_its_lease_counted_as_a_crash(
    desk: Desk, desk_database: Database
) -> None:
    await desk.open(1)
    blocked = asyncio.create_task(ended(desk_database, "one_batch", "block", "0.5"))

    while not blocked.done():
        await job_loop(desk, do_nothing, lease=timedelta(seconds=0.5))
        await asyncio.sleep(0.1)

    assert await desk.states() == {"Complete": 1}
    assert await desk.outcomes() == ["done"]


@pytest.mark.slow
async def test_nobody_said_which_line_blocks_the_event_loop(desk: Desk) -> None:
    await desk.open(1)

    async def block(_ticket: Ticket, _tools: object) -> Outcome:
        time.sleep(2)  # noqa: ASYNC251 - what it is about
        return Done()

    with capture_logs() as lines:
        await desk.drain(triage(block, lease=timedelta(seconds=1)))

    line = next(line for line in lines if line["event"] == "worker.blocked")
    assert f"{__file__}:" in line["where"]
    assert line["where"].endswith("in block")
    assert await desk.outcomes() == ["done"]


async def test_a_function_that_must_block_could_not_be_a_stage(desk: Desk) -> None:
    await desk.open(3)
    threads = set()

    @in_thread
    def work(ticket: Ticket, _tools: object) -> Outcome:
        threads.add(threading.get_ident())
        return GiveUp("no") if ticket.id == 3 else Done()

    await desk.drain(triage(work))

    assert await desk.states() == {"Complete": 2, "Error": 1}
    assert threading.get_ident() not in threads


async def test_a_thread_that_raised_stop_iteration_was_waited_for_in_vain(
    desk: Desk,
) -> None:
    await desk.open(1)

    @in_thread
    def work(_ticket: Ticket, _tools: object) -> Outcome:
        raise StopIteration

    await desk.drain(triage(work, max_attempts=1))

    why = await desk.one("SELECT error FROM ticket")
    assert why == "crashed: RuntimeError('function raised StopIteration')"


async def test_a_running_worker_left_rows_in_work_that_nobody_had_claimed(
    desk: Desk,
) -> None:
    await desk.open(2)
    await desk.execute("UPDATE ticket SET state = 'Processing'")

    with capture_logs() as lines:
        async with desk.running(triage(timeout=timedelta(seconds=0.5))):
            await desk.until("SELECT count(*) FROM ticket WHERE state = 'Complete'", 2)

    seen = [line for line in lines if line["event"] == "items.unclaimed"]
    assert [line["count"] for line in seen] == [2]
    assert [line["count"] for line in lines if line["event"] == "items.requeued"] == [2]


async def test_a_program_without_structlog_could_not_have_a_queue(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setitem(sys.modules, "structlog", None)

    get_logger("curation_sdk.shop", stage="shop").error(
        "item.crashed", item="7", exception="Traceback ..."
    )

    assert caplog.record_tuples == [
        (
            "curation_sdk.shop",
            logging.ERROR,
            "item.crashed item=7 stage=shop\nTraceback ...",
        )
    ]


# What is refused by name


class Stamp(Base):
    __tablename__ = "stamp"

    id: Mapped[int] = mapped_column(primary_key=True)
    state: Mapped[str] = mapped_column(default="queued")


queue_index(Stamp.state, "queued", order_by=Stamp.id)


@stage("triage", claims=Stamp.state, order_by=Stamp.id)
async def stick(_stamp: Stamp, _tools: object) -> Outcome:
    return Done()


async def test_two_tables_under_one_name_lost_each_others_claims(desk: Desk) -> None:
    async with desk.engine.begin() as opened:
        await opened.run_sync(Base.metadata.create_all)
    await desk.open(2)
    is_refused = asyncio.Event()

    async def work(_ticket: Ticket, _tools: object) -> Outcome:
        await is_refused.wait()
        return Done()

    async with desk.running(triage(work)):
        await desk.until("SELECT count(*) FROM curation.claim", 2)
        with pytest.raises(InvalidStage, match="works rows of ticket, and some are"):
            await Worker(desk.engine, [stick]).start()
        is_refused.set()
        await desk.until("SELECT count(*) FROM ticket WHERE state = 'Complete'", 2)

    async with Worker(desk.engine, [stick]) as worker:
        assert await worker.drain(stick) == 0


async def test_a_worker_that_was_stopped_said_that_there_was_nothing_to_do(
    desk: Desk,
) -> None:
    stages = [triage()]
    async with Worker(desk.engine, stages) as worker:
        pass

    with pytest.raises(CurationSdkError, match="was stopped"):
        await worker.drain(stages[0])


async def test_looking_at_a_queue_with_another_engine_was_a_type_error(
    desk_database: Database,
) -> None:
    url = desk_database.url.replace("asyncpg", "psycopg")
    engine = create_engine(url)

    with pytest.raises(CurationSdkError, match="is not an AsyncEngine"):
        await control.states(engine)  # type: ignore[arg-type]


def test_rows_without_a_status_were_looked_for_by_the_word_none() -> None:
    with pytest.raises(InvalidStage, match="a status may not be None"):
        replace(triage(), queued=None)


@pytest.mark.parametrize("scheme", ["postgres", "postgresql", "postgresql+psycopg"])
def test_an_address_of_libpq_was_taken_for_one_of_another_driver(scheme: str) -> None:
    engine = engine_of(f"{scheme}://me@db.test/shop?sslmode=require")

    assert engine.url.render_as_string() == (
        "postgresql+asyncpg://me@db.test/shop?ssl=require"
    )
    with pytest.raises(CurationSdkError, match="mysql is not PostgreSQL"):
        engine_of("mysql://me@db.test/shop")


async def test_a_worker_could_not_run_in_a_thread(
    desk: Desk, desk_database: Database
) -> None:
    await desk.open(1)

    async def work() -> None:
        running = asyncio.create_task(run_worker(desk_database.url, triage()))
        await asyncio.wait(
            [running, asyncio.create_task(asyncio.to_thread(done.wait))],
            return_when=asyncio.FIRST_COMPLETED,
        )
        running.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await running

    done = threading.Event()
    thread = asyncio.create_task(asyncio.to_thread(asyncio.run, work()))
    await desk.until("SELECT count(*) FROM ticket WHERE state = 'Complete'", 1)
    done.set()
    await thread
