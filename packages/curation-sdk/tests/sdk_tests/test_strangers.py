"""What went wrong for people who had not built this, one test for each thing."""

import asyncio
import signal
from datetime import timedelta
from functools import partial
from types import SimpleNamespace
from typing import Any

import pytest
import structlog
from sqlalchemy import insert, text, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncSession, async_sessionmaker
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column
from sqlalchemy.sql import quoted_name
from structlog.testing import capture_logs

from curation_sdk import Backoff, GiveUp, Outcome, history, run_job_loop
from curation_sdk.errors import InvalidStage
from curation_sdk.events import (
    DeadLettered,
    Events,
    Requeued,
    Rescued,
    Settled,
    WorkerFault,
)
from curation_sdk.reap import reap
from curation_sdk.registry import queue_index
from curation_sdk.settlement import MAX_TRACEBACK_CHARS
from curation_sdk.working import WorkingItem, working_item
from sdk_tests.conftest import Database
from sdk_tests.desk import (
    Desk,
    Reply,
    State,
    Ticket,
    eventually,
    job_loop,
    triage,
)
from sdk_tests.rig.fleet import prepared_context
from sdk_tests.rig.stranger import work

STAGE = "ticket_state"
LEASE = timedelta(seconds=1)
MODES = ["drain", "one_batch"]
LONG = 60.0
"""Seconds; how long to wait for what takes one or two on an idle machine."""


async def write_reply(ticket_id: int, session: AsyncSession) -> None:
    session.add(Reply(ticket_id=ticket_id, words=f"re: {ticket_id}"))


async def do_nothing(_ticket_id: int, _session: AsyncSession) -> None:
    return None


async def ended(
    database: Database, *arguments: str, by_us: bool = False
) -> tuple[str, int | None]:
    """Have a process work tickets to its end; return its first words and exit code."""
    context = prepared_context()
    heard, said = context.Pipe(duplex=False)
    process = context.Process(target=work, args=(said, database.url, *arguments))
    process.start()
    said.close()

    def hear() -> str:
        with heard, open(heard.fileno(), closefd=False) as words:
            first = words.readline()
            if by_us:
                process.kill()
            words.read()
        process.join()
        return first

    return await asyncio.to_thread(hear), process.exitcode


# 1. The process was killed in the middle of an item


@pytest.mark.parametrize("mode", MODES)
async def test_a_loop_that_cron_calls_rescues_what_a_killed_process_had(
    desk: Desk, desk_database: Database, mode: str
) -> None:
    await desk.open(1)
    lease = str(LEASE.total_seconds())
    killed = await ended(desk_database, mode, "wait_for_ever", lease, by_us=True)
    assert killed == ("begun 1\n", -signal.SIGKILL)
    assert await desk.states() == {"Processing": 1}

    async def next_call() -> dict[str, int]:
        await job_loop(desk, write_reply, mode=mode, lease=LEASE)
        return await desk.states()

    await eventually(next_call, {"Complete": 1}, seconds=LONG)

    assert await desk.tried() == ["rescued", "done"]
    assert await desk.rows("SELECT words FROM reply") == [("re: 1",)]
    assert [event.item for event in desk.emitted(Rescued)] == ["1"]


@pytest.mark.parametrize("mode", MODES)
async def test_a_row_that_kills_every_process_is_put_away_by_the_loop_alone(
    desk: Desk, desk_database: Database, mode: str
) -> None:
    await desk.open(1)

    async def next_call() -> dict[str, int]:
        await ended(desk_database, mode, "kill_itself", "0.5")
        return await desk.states()

    await eventually(next_call, {"Error": 1}, seconds=2 * LONG)

    assert await desk.rows("SELECT kind, deaths FROM curation.dead_letter") == [
        ("quarantined", 3)
    ]


async def test_a_row_that_must_be_tried_alone_does_not_wait_for_the_queue_to_be_empty(
    desk: Desk,
) -> None:
    await desk.open(7)
    await job_loop(desk, write_reply, mode="one_batch", batch_size=1)
    await desk.execute("UPDATE ticket SET state = 'Processing' WHERE id = 2")
    await desk.execute(
        "INSERT INTO curation.claim (stage, item, due_at, tries, deaths)"
        f" VALUES ('{STAGE}', '2', now(), 0, 2)"
    )
    worked: list[int] = []

    async def note(ticket_id: int, _session: AsyncSession) -> None:
        worked.append(ticket_id)

    assert await job_loop(desk, note, mode="one_batch", batch_size=3) == 3

    assert worked == [2, 3, 4]


# 2. The function opens its own transaction, and sets the status itself


@pytest.mark.slow
async def test_two_hundred_rows_in_the_old_style_are_done(desk: Desk) -> None:
    await desk.open(200)

    async def old_style(ticket_id: int, session: AsyncSession) -> None:
        async with session.begin():
            ticket = await session.get_one(Ticket, ticket_id)
            await write_reply(ticket_id, session)
            ticket.state = State.COMPLETE

    assert await job_loop(desk, old_style) == 200

    assert await desk.states() == {"Complete": 200}
    assert await desk.one("SELECT count(*) FROM reply") == 200
    assert await desk.one("SELECT count(*) FROM curation.dead_letter") == 0
    assert await desk.one("SELECT count(*) FROM curation.claim") == 0
    query = "SELECT outcome, why, count(*) FROM curation.attempt GROUP BY 1, 2"
    assert await desk.rows(query) == [("done", None, 200)]
    known = await history(desk.engine, STAGE, 1)
    assert (known.status, known.attempts[0].tries) == ("Complete", 1)
    assert known.attempts[0].worker is not None
    assert {event.outcome for event in desk.emitted(Settled)} == {"done"}


async def test_a_function_that_sets_failed_gives_its_item_up_with_its_error(
    desk: Desk,
) -> None:
    await desk.open(1)

    async def old_style(ticket_id: int, session: AsyncSession) -> None:
        async with session.begin():
            ticket = await session.get_one(Ticket, ticket_id)
            ticket.state = State.ERROR
            ticket.error = "the customer is unknown"
            await write_reply(ticket_id, session)

    await job_loop(desk, old_style)

    assert await desk.states() == {"Error": 1}
    assert await desk.one("SELECT error FROM ticket") == "the customer is unknown"
    assert await desk.rows("SELECT kind, why, tries FROM curation.dead_letter") == [
        ("gave_up", "the customer is unknown", 1)
    ]
    assert await desk.outcomes() == ["gave_up"]
    assert await desk.one("SELECT count(*) FROM reply") == 1
    assert [event.kind for event in desk.emitted(DeadLettered)] == ["gave_up"]


FAILED = update(Ticket).values(state=State.ERROR, error="the customer is unknown")


async def fail_in_a_block(session: AsyncSession) -> None:
    async with session.begin():
        await session.execute(FAILED)


async def fail_and_commit(session: AsyncSession) -> None:
    await session.execute(text("SELECT 1"))
    await session.rollback()
    await session.execute(FAILED)
    await session.commit()
    await session.execute(update(Ticket).values(title="after the commit"))


async def fail_in_a_session_of_its_own(session: AsyncSession) -> None:
    async with AsyncSession(session.bind) as own, own.begin():
        await own.execute(FAILED)


@pytest.mark.parametrize(
    "mark_failed", [fail_in_a_block, fail_and_commit, fail_in_a_session_of_its_own]
)
async def test_a_function_that_set_failed_and_then_raised_lost_both(
    desk: Desk, mark_failed: Any
) -> None:
    await desk.open(1)

    async def old_style(_ticket_id: int, session: AsyncSession) -> None:
        await mark_failed(session)
        raise RuntimeError("and the caller knows too")

    with capture_logs() as lines:
        await job_loop(desk, old_style)

    row = await desk.rows("SELECT state::text, error, title FROM ticket")
    assert row == [("Error", "the customer is unknown", "")]
    assert await desk.rows("SELECT kind, why FROM curation.dead_letter") == [
        ("gave_up", "the customer is unknown")
    ]
    (attempt,) = (await history(desk.engine, STAGE, 1)).attempts
    assert attempt.outcome == "gave_up"
    (line,) = [line for line in lines if line["event"] == "item.crashed"]
    assert "and the caller knows too" in line["exception"]
    assert line["exception"] == attempt.traceback
    assert await desk.one("SELECT count(*) FROM curation.claim") == 0


async def test_a_function_that_sets_another_status_leaves_its_item_with_it(
    desk: Desk,
) -> None:
    await desk.open(1)

    async def set_aside(ticket_id: int, session: AsyncSession) -> None:
        ticket = await session.get_one(Ticket, ticket_id)
        ticket.state = State.SKIPPED

    await job_loop(desk, set_aside)

    assert await desk.states() == {"Skipped": 1}
    assert await desk.outcomes() == ["skipped"]
    assert await desk.one("SELECT count(*) FROM curation.claim") == 0


async def test_a_function_that_queues_its_row_has_it_tried_again_after_a_pause(
    desk: Desk,
) -> None:
    await desk.open(1)
    calls: list[int] = []

    async def queue_again(ticket_id: int, session: AsyncSession) -> None:
        ticket = await session.get_one(Ticket, ticket_id)
        ticket.title = f"tried {len(calls) + 1} times"
        calls.append(ticket_id)
        ticket.state = State.QUEUED

    await job_loop(desk, queue_again, backoff=Backoff())

    assert len(calls) == 1
    assert await desk.one("SELECT title FROM ticket") == "tried 1 times"
    known = await history(desk.engine, STAGE, 1)
    assert [attempt.outcome for attempt in known.attempts] == ["retried"]
    assert known.next_try_at is not None
    assert known.next_try_at > known.attempts[0].settled_at


async def test_a_function_that_queues_its_row_for_ever_comes_to_an_end(
    desk: Desk,
) -> None:
    await desk.open(1)

    async def queue_again(ticket_id: int, session: AsyncSession) -> None:
        ticket = await session.get_one(Ticket, ticket_id)
        ticket.state = State.QUEUED

    async def next_call() -> dict[str, int]:
        await job_loop(desk, queue_again, max_attempts=3)
        return await desk.states()

    await eventually(next_call, {"Error": 1}, seconds=LONG)

    assert await desk.tried() == ["retried", "retried", "exhausted"]


async def test_a_function_may_delete_its_row(desk: Desk) -> None:
    await desk.open(2)

    async def delete(ticket_id: int, session: AsyncSession) -> None:
        async with session.begin():
            await session.delete(await session.get_one(Ticket, ticket_id))

    assert await job_loop(desk, delete) == 2

    assert await desk.states() == {}
    assert await desk.outcomes() == ["done"]
    assert await desk.one("SELECT count(*) FROM curation.claim") == 0


@pytest.mark.parametrize(
    ("status", "outcomes"),
    [
        (State.COMPLETE, ["done"]),
        (State.ERROR, ["gave_up"]),
        (State.SKIPPED, ["skipped"]),
    ],
)
async def test_a_status_set_through_a_session_of_its_own_is_understood(
    desk: Desk, status: State, outcomes: list[str]
) -> None:
    await desk.open(3)
    factory = async_sessionmaker(desk.engine, expire_on_commit=False)

    async def own_session(ticket_id: int, _session: AsyncSession) -> None:
        async with factory() as own, own.begin():
            statement = update(Ticket).where(Ticket.id == ticket_id)
            await own.execute(statement.values(state=status))

    assert await job_loop(desk, own_session) == 3

    assert await desk.states() == {status.value: 3}
    assert await desk.outcomes() == outcomes
    assert await desk.one("SELECT count(*) FROM curation.claim") == 0


async def test_a_row_queued_through_a_session_of_its_own_is_tried_again(
    desk: Desk,
) -> None:
    await desk.open(1)
    factory = async_sessionmaker(desk.engine)
    calls: list[int] = []

    async def own_session(ticket_id: int, _session: AsyncSession) -> None:
        calls.append(ticket_id)
        if len(calls) > 1:
            return
        async with factory() as own, own.begin():
            ticket = await own.get_one(Ticket, ticket_id)
            ticket.state = State.QUEUED

    async def next_call() -> dict[str, int]:
        await job_loop(desk, own_session)
        return await desk.states()

    await eventually(next_call, {"Complete": 1}, seconds=LONG)

    assert len(calls) == 2
    # The first attempt may be refused after the second is done: whoever claims a row that
    # was queued can meet the one who settles it, and PostgreSQL ends one of them.
    assert (await desk.outcomes()).count("done") == 1


async def test_a_commit_in_the_middle_keeps_what_comes_before_and_after(
    desk: Desk,
) -> None:
    await desk.open(20)

    async def commit_twice(ticket_id: int, session: AsyncSession) -> None:
        ticket = await session.get_one(Ticket, ticket_id)
        ticket.title = "begun"
        await session.commit()
        await write_reply(ticket_id, session)
        ticket.state = State.COMPLETE
        await session.commit()

    assert await job_loop(desk, commit_twice) == 20

    assert await desk.states() == {"Complete": 20}
    assert await desk.rows("SELECT DISTINCT title FROM ticket") == [("begun",)]
    assert await desk.one("SELECT count(*) FROM reply") == 20
    assert await desk.rows("SELECT DISTINCT outcome FROM curation.attempt") == [
        ("done",)
    ]


async def test_a_block_that_raises_takes_back_only_itself(desk: Desk) -> None:
    await desk.open(3)

    async def catch(ticket_id: int, session: AsyncSession) -> None:
        async with session.begin():
            await write_reply(ticket_id, session)
        try:
            async with session.begin():
                (await session.get_one(Ticket, ticket_id)).title = "taken back"
                await session.flush()
                await session.execute(text("SELECT 1 / 0"))
        except Exception:  # noqa: BLE001 - whatever it is, it is caught
            pass
        async with session.begin():
            (await session.get_one(Ticket, ticket_id)).tenant = "b"

    assert await job_loop(desk, catch) == 3

    assert await desk.states() == {"Complete": 3}
    assert await desk.rows("SELECT DISTINCT title, tenant FROM ticket") == [("", "b")]
    assert await desk.one("SELECT count(*) FROM reply") == 3


async def test_blocks_may_be_nested(desk: Desk) -> None:
    await desk.open(3)

    async def nest(ticket_id: int, session: AsyncSession) -> None:
        async with session.begin() as outer:
            await write_reply(ticket_id, session)
            async with session.begin_nested():
                (await session.get_one(Ticket, ticket_id)).title = "inner"
            async with session.begin() as inner:
                (await session.get_one(Ticket, ticket_id)).tenant = "b"
                await session.flush()
                await inner.rollback()
            await outer.commit()

    assert await job_loop(desk, nest) == 3

    assert await desk.states() == {"Complete": 3}
    query = "SELECT DISTINCT title, tenant FROM ticket"
    assert await desk.rows(query) == [("inner", "a")]
    assert await desk.one("SELECT count(*) FROM reply") == 3


async def test_begin_and_commit_may_be_written_as_two_calls(desk: Desk) -> None:
    await desk.open(3)

    async def two_calls(ticket_id: int, session: AsyncSession) -> None:
        await session.begin()
        await write_reply(ticket_id, session)
        await session.commit()
        await session.begin()
        (await session.get_one(Ticket, ticket_id)).title = "taken back"
        await session.flush()
        await session.rollback()

    assert await job_loop(desk, two_calls) == 3

    assert await desk.states() == {"Complete": 3}
    assert await desk.one("SELECT count(*) FROM reply") == 3
    assert await desk.rows("SELECT DISTINCT title FROM ticket") == [("",)]


async def test_a_rollback_goes_back_to_the_last_commit_and_no_further(
    desk: Desk,
) -> None:
    await desk.open(3)
    await desk.execute("INSERT INTO reply (ticket_id, words) VALUES (1, 'taken')")

    async def recover(ticket_id: int, session: AsyncSession) -> None:
        await write_reply(ticket_id, session)
        await session.commit()
        session.add(Reply(ticket_id=ticket_id, words="taken"))
        with pytest.raises(IntegrityError):
            await session.flush()
        await session.rollback()
        async with session.begin():
            (await session.get_one(Ticket, ticket_id)).title = "kept"
        (await session.get_one(Ticket, ticket_id)).tenant = "taken back"
        await session.flush()
        await session.rollback()

    assert await job_loop(desk, recover) == 3

    assert await desk.states() == {"Complete": 3}
    query = "SELECT DISTINCT title, tenant FROM ticket"
    assert await desk.rows(query) == [("kept", "a")]
    assert await desk.one("SELECT count(*) FROM reply WHERE words LIKE 're:%'") == 3


# 3. order_by_column took a string only

ORDERS: dict[str, Any] = {
    "name": "priority",
    "column": Ticket.priority,
    "ascending": Ticket.priority.asc(),
    "descending": Ticket.priority.desc(),
    "list": [Ticket.priority.desc(), "title"],
    "tuple": ("tenant", Ticket.priority.desc(), Ticket.id),
}


async def open_in_disorder(desk: Desk) -> None:
    for n, (tenant, title) in enumerate([("b", "x"), ("a", "z"), ("a", "y")] * 3):
        await desk.open(1, priority=(n * 4) % 5, tenant=tenant, title=title)


def in_order(rows: list[tuple[Any, ...]], which: str) -> list[int]:
    by: dict[str, Any] = {
        "name": lambda row: row[1],
        "column": lambda row: row[1],
        "ascending": lambda row: row[1],
        "descending": lambda row: -row[1],
        "list": lambda row: (-row[1], row[3]),
        "tuple": lambda row: (row[2], -row[1]),
    }
    return [row[0] for row in sorted(rows, key=lambda row: (by[which](row), row[0]))]


@pytest.mark.parametrize("which", sorted(ORDERS))
async def test_an_order_is_refused_with_an_index_that_then_works(
    desk: Desk, which: str
) -> None:
    await open_in_disorder(desk)
    rows = await desk.rows("SELECT id, priority, tenant, title FROM ticket")
    worked: list[int] = []

    async def note(ticket_id: int, _session: AsyncSession) -> None:
        worked.append(ticket_id)

    with pytest.raises(InvalidStage, match="has no partial index") as refused:
        await job_loop(desk, note, order_by_column=ORDERS[which])
    assert refused.value.hint is not None
    async with desk.connection() as connection:
        await connection.execute(refused.value.hint.removeprefix("Create it: "))

    assert await job_loop(desk, note, order_by_column=ORDERS[which]) == 9

    assert worked == in_order(rows, which)


@pytest.mark.parametrize("which", sorted(set(ORDERS) - {"name"}))
async def test_queue_index_gives_the_index_of_any_order(desk: Desk, which: str) -> None:
    order = {**ORDERS, "list": [Ticket.priority.desc(), Ticket.title]}
    order["tuple"] = (Ticket.tenant, Ticket.priority.desc(), Ticket.id)
    index = queue_index(Ticket.state, State.QUEUED, order_by=order[which])
    assert index.table is not None
    # Only this test wants the index; the table is everybody's.
    index.table.indexes.discard(index)
    index.name = quoted_name("queue_of_this_test", None)
    async with desk.engine.begin() as connection:
        await connection.run_sync(index.create)
    await open_in_disorder(desk)

    assert await job_loop(desk, write_reply, order_by_column=order[which]) == 9

    assert await desk.states() == {"Complete": 9}


class OtherBase(DeclarativeBase):
    """Tables that only some tests create."""


class Undated(OtherBase):
    __tablename__ = "undated"

    id: Mapped[int] = mapped_column(primary_key=True)
    status: Mapped[str] = mapped_column(default="Queued")
    error: Mapped[str | None]


async def test_a_model_without_updated_at_is_refused_with_a_parameter_that_exists(
    desk: Desk,
) -> None:
    async with desk.engine.begin() as connection:
        await connection.run_sync(OtherBase.metadata.create_all)
        await connection.execute(insert(Undated), [{"error": None}] * 3)
    call = partial(
        run_job_loop,
        Undated,
        State,
        State.QUEUED,
        State.PROCESSING,
        State.COMPLETE,
        State.ERROR,
        do_nothing,
        engine=desk.engine,
    )

    with pytest.raises(InvalidStage, match="has no updated_at") as refused:
        await call()

    assert refused.value.hint == "Pass order_by_column=Undated.some_column."
    await desk.execute("CREATE INDEX ON undated (id) WHERE status = 'Queued'")
    assert await call(order_by_column=Undated.id) == 3


@pytest.mark.parametrize("mode", MODES)
async def test_rows_without_a_value_are_worked_where_the_database_puts_them(
    desk: Desk, mode: str
) -> None:
    await desk.execute("CREATE INDEX ON ticket (error DESC, id) WHERE state = 'Queued'")
    for error in ("b", None, "c", None, "a"):
        await desk.open(1, error=error)
    worked: list[int] = []

    async def note(ticket_id: int, _session: AsyncSession) -> None:
        worked.append(ticket_id)

    order = [Ticket.error.desc()]
    options = {"order_by_column": order, "error_field_name": None, "mode": mode}
    assert await job_loop(desk, note, **options) == 5

    assert worked == [2, 4, 3, 1, 5]


# 4. batch_size=2 worked all rows


async def test_one_batch_works_as_many_rows_as_it_says_and_due_ones_first(
    desk: Desk,
) -> None:
    await desk.open(7)
    worked: list[int] = []

    async def fail_at_first(ticket_id: int, _session: AsyncSession) -> None:
        worked.append(ticket_id)
        if worked == [1, 2]:
            raise OSError("not now")

    one_batch: dict[str, Any] = {"batch_size": 2, "mode": "one_batch"}
    assert await job_loop(desk, fail_at_first, **one_batch) == 2
    assert await desk.states() == {"Complete": 1, "Processing": 1, "Queued": 5}
    await desk.until(
        "SELECT count(*) FROM curation.claim WHERE due_at <= clock_timestamp()", 1
    )

    assert await job_loop(desk, fail_at_first, **one_batch) == 2

    assert worked == [1, 2, 2, 3]
    assert await desk.states() == {"Complete": 3, "Queued": 4}
    assert await job_loop(desk, fail_at_first, batch_size=2, mode="drain") == 4
    assert await desk.states() == {"Complete": 7}


async def test_the_plain_call_drains(desk: Desk) -> None:
    await desk.open(7)

    assert await job_loop(desk, write_reply, batch_size=2) == 7


# 5. The traceback of a failed item was nowhere


def fail_deeply(depth: int) -> None:
    if depth:
        fail_deeply(depth - 1)
    raise KeyError("the cause")


async def fail_deeply_at_once(_ticket_id: int, _session: AsyncSession) -> None:
    fail_deeply(0)


async def test_the_traceback_of_a_failed_item_is_in_its_history_and_in_the_log(
    desk: Desk,
) -> None:
    await desk.open(1)

    worked: list[WorkingItem] = []

    async def fail(_ticket_id: int, _session: AsyncSession) -> None:
        worked.extend(filter(None, [working_item()]))
        fail_deeply(0)

    with capture_logs() as lines:
        await job_loop(desk, fail, max_attempts=1)

    (attempt,) = (await history(desk.engine, STAGE, 1)).attempts
    assert worked == [WorkingItem(STAGE, "1", attempt.fence)]
    assert worked[0].correlation_id == attempt.correlation_id
    assert desk.emitted(DeadLettered)[0].correlation_id == attempt.correlation_id
    assert attempt.traceback is not None
    assert "in fail_deeply" in attempt.traceback
    assert attempt.traceback.endswith("KeyError: 'the cause'\n")
    (line,) = [line for line in lines if line["event"] == "item.crashed"]
    assert (line["stage"], line["item"], line["attempt"]) == (STAGE, "1", 1)
    assert line["exception"] == attempt.traceback
    assert line["log_level"] == "error"
    assert line["correlation_id"] == attempt.correlation_id


async def test_a_traceback_that_is_too_long_keeps_its_end(desk: Desk) -> None:
    await desk.open(1)

    async def fail(_ticket_id: int, _session: AsyncSession) -> None:
        try:
            fail_deeply(3)
        except KeyError as error:
            raise ValueError("x" * 30_000 + " at the end") from error

    await job_loop(desk, fail, max_attempts=1)

    kept = await desk.one("SELECT traceback FROM curation.attempt")
    assert len(kept) < MAX_TRACEBACK_CHARS + 100
    assert kept.startswith("[...]")
    assert kept.endswith(" at the end\n")


# 6. Rows in processing without a claim were queued again without a trace


async def test_a_row_processing_without_a_claim_is_queued_again_and_leaves_a_trace(
    desk: Desk,
) -> None:
    await desk.open(2)
    await desk.drain(triage())
    await desk.execute("UPDATE ticket SET state = 'Processing' WHERE id = 1")
    events: Events[Any] = Events()
    heard: list[object] = []
    events.listen(heard.append)

    with capture_logs() as lines:
        reaped = await reap(desk.engine, events=events)

    assert reaped.requeued == 1
    assert await desk.states() == {"Complete": 1, "Queued": 1}
    last = (await history(desk.engine, "triage", 1)).attempts[-1]
    assert last.outcome == "requeued"
    assert last.why == "it was processing, but no worker had claimed it"
    (line,) = [line for line in lines if line["event"] == "items.requeued"]
    assert (line["stage"], line["count"], line["items"]) == ("triage", 1, ["1"])
    assert heard == [Requeued("triage", "1", last.why)]


# 7. Rows in processing that nobody had claimed were left there by the loop


async def pass_time(desk: Desk) -> None:
    """Have the last look for such rows, and what it found, lie an hour back."""
    await desk.execute(
        "UPDATE curation.attempt SET settled_at = settled_at - interval '1 hour'"
    )
    await desk.execute("UPDATE curation.stage SET queue = queue - 'orphans_sought_at'")


@pytest.mark.parametrize("mode", MODES)
async def test_a_row_that_nobody_had_claimed_stayed_in_processing_for_ever(
    desk: Desk, mode: str
) -> None:
    await desk.open(3)
    await desk.execute("UPDATE ticket SET state = 'Processing' WHERE id < 3")

    await job_loop(desk, write_reply, mode=mode)
    assert await desk.states() == {"Processing": 2, "Complete": 1}
    await pass_time(desk)
    with capture_logs() as lines:
        assert await job_loop(desk, write_reply, mode=mode) == 2

    assert await desk.states() == {"Complete": 3}
    assert await desk.tried(1) == ["unclaimed", "requeued", "done"]
    (line,) = [line for line in lines if line["event"] == "items.requeued"]
    assert (line["count"], line["items"]) == (2, ["1", "2"])
    assert {event.item for event in desk.emitted(Requeued)} == {"1", "2"}


async def test_a_row_that_another_program_works_on_is_left_to_it(desk: Desk) -> None:
    await desk.open(2, state=State.PROCESSING)
    await job_loop(desk, write_reply)
    await pass_time(desk)
    await desk.execute("UPDATE ticket SET title = 'still here' WHERE id = 1")

    async with desk.connection() as other:
        await other.execute("BEGIN; SELECT FROM ticket WHERE id = 2 FOR UPDATE")
        await job_loop(desk, write_reply)

    assert await desk.states() == {"Processing": 2}


async def test_a_row_that_waits_under_another_name_is_not_taken_from_there(
    desk: Desk,
) -> None:
    await desk.open(1)

    async def fail(_ticket_id: int, _session: AsyncSession) -> None:
        raise OSError("not now")

    await job_loop(desk, fail, name="other", backoff=Backoff())
    for _ in range(2):
        await job_loop(desk, write_reply)
        await pass_time(desk)
    await reap(desk.engine)
    assert await desk.states() == {"Processing": 1}

    # Nobody works under that name any more.
    await desk.execute("UPDATE curation.claim SET due_at = due_at - interval '2 hours'")
    await job_loop(desk, write_reply)
    await pass_time(desk)
    await job_loop(desk, write_reply)
    assert await desk.states() == {"Complete": 1}


async def test_a_loop_that_polls_looks_for_such_rows_once_in_a_while(
    desk: Desk,
) -> None:
    await desk.open(1, state=State.PROCESSING)
    await job_loop(desk, write_reply)
    await desk.open(1, state=State.PROCESSING)

    await job_loop(desk, write_reply)

    assert await desk.tried(1) == ["unclaimed"]
    assert await desk.tried(2) == []


async def test_a_look_that_fails_does_not_end_the_call(desk: Desk) -> None:
    await desk.open(1)
    await job_loop(desk, write_reply)
    await desk.execute(
        "UPDATE curation.stage SET queue = queue || jsonb_build_object("
        "'orphans_sought_at', 'not a time')"
    )
    await desk.open(1)

    assert await job_loop(desk, write_reply) == 1

    (fault,) = desk.emitted(WorkerFault)
    assert fault.doing == "look for rows without a claim"


# 8. A call left no line about what it had done


async def test_a_call_wrote_no_line_about_what_it_did(desk: Desk) -> None:
    await desk.open(4)

    async def answer(ticket_id: int, _session: AsyncSession) -> Outcome | None:
        if ticket_id == 1:
            raise OSError("not now")
        return GiveUp("no") if ticket_id == 2 else None

    one_batch: dict[str, Any] = {"mode": "one_batch", "backoff": Backoff()}
    with capture_logs() as lines:
        await job_loop(desk, answer, **one_batch)
        await job_loop(desk, answer, **one_batch)

    about = {"event": "job_loop.ended", "log_level": "info", "stage": STAGE}
    nothing = {"picked": 0, "succeeded": 0, "failed": 0, "retried": 0, "total": 0}
    some = {"picked": 4, "succeeded": 2, "failed": 2, "retried": 1, "total": 4}
    ends = [line for line in lines if line["event"] == "job_loop.ended"]
    assert ends == [about | some, about | nothing]


@pytest.mark.parametrize(
    ("given", "name"), [(None, f"curation_sdk.{STAGE}"), ("app.tickets", "app.tickets")]
)
async def test_lines_about_items_had_the_name_of_a_module(
    desk: Desk, given: str | None, name: str
) -> None:
    await desk.open(1)
    written: list[tuple[str, str]] = []

    def loggers(*names: str) -> Any:
        def note(event: str) -> None:
            written.append((names[0], event))

        return SimpleNamespace(info=note, error=note)

    before = structlog.get_config()
    structlog.configure(
        processors=[lambda _logger, _method, event: ((event["event"],), {})],
        logger_factory=loggers,
    )
    try:
        await job_loop(desk, fail_deeply_at_once, logger=given, max_attempts=1)
    finally:
        structlog.configure(**before)

    assert set(written) == {(name, "item.crashed"), (name, "job_loop.ended")}


# 9. The error of an attempt stood on the row while the next one was under way


async def test_an_old_error_stayed_while_its_row_was_worked(desk: Desk) -> None:
    await desk.open(1, error="of last year")
    seen: list[Any] = []

    async def note(_ticket_id: int, _session: AsyncSession) -> None:
        seen.append(await desk.one("SELECT error FROM ticket"))
        if len(seen) == 1:
            raise OSError("not now")

    await job_loop(desk, note, mode="one_batch")
    assert "not now" in await desk.one("SELECT error FROM ticket")
    await desk.until(
        "SELECT count(*) FROM curation.claim WHERE due_at <= clock_timestamp()", 1
    )
    await job_loop(desk, note, mode="one_batch")

    assert seen == [None, None]
    assert "not now" in await desk.one(
        "SELECT why FROM curation.attempt WHERE outcome = 'retried'"
    )
