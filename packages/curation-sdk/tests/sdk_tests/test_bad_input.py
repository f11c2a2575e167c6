"""Input that cannot work: each gets a clear answer, and no row is condemned for it."""

import asyncio
import enum
import subprocess
import sys
from collections.abc import AsyncIterator
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import DateTime, Enum, String, func, insert, make_url, text
from sqlalchemy.ext.asyncio import AsyncEngine, AsyncSession, create_async_engine
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column
from structlog.testing import capture_logs

from curation_sdk import (
    Done,
    Outcome,
    Registry,
    Worker,
    in_thread,
    queue_index,
    run_job_loop,
    stage,
)
from curation_sdk.errors import ContractViolation, CurationSdkError, InvalidStage
from curation_sdk.migrations import refuse_old_server
from sdk_tests.conftest import Database
from sdk_tests.desk import Desk, Reply, State, Ticket, eventually, job_loop, triage

TESTS = Path(__file__).parents[1]
STAGE = "ticket_state"
LONG = 60.0
SHORT = timedelta(milliseconds=100)


class Base(DeclarativeBase):
    type_annotation_map = {datetime: DateTime(timezone=True)}  # noqa: RUF012


class Level(enum.IntEnum):
    QUEUED = 1
    PROCESSING = 2
    COMPLETE = 3
    ERROR = 4


class Plain(Base):
    __tablename__ = "plain"

    id: Mapped[int] = mapped_column(primary_key=True)
    status: Mapped[str] = mapped_column(default="Queued")
    narrow: Mapped[str] = mapped_column(String(8), default="Queued")
    level: Mapped[int] = mapped_column(default=1)
    error: Mapped[str | None]
    updated_at: Mapped[datetime] = mapped_column(server_default=func.clock_timestamp())


class Elsewhere(Base):
    __tablename__ = "Odd Name"
    __table_args__ = {"schema": "other place"}  # noqa: RUF012

    id: Mapped[int] = mapped_column(primary_key=True)
    status: Mapped[State] = mapped_column(
        Enum(State, name="State of It", schema="other place"), default=State.QUEUED
    )
    error: Mapped[str | None]
    updated_at: Mapped[datetime] = mapped_column(
        server_default=func.clock_timestamp(), onupdate=func.now()
    )


class Pair(Base):
    __tablename__ = "pair"

    left: Mapped[int] = mapped_column(primary_key=True)
    right: Mapped[int] = mapped_column(primary_key=True)
    status: Mapped[str]
    error: Mapped[str | None]
    updated_at: Mapped[datetime] = mapped_column(server_default=func.now())


queue_index(Plain.status, "Queued")
queue_index(Plain.level, 1)
queue_index(Elsewhere.status, State.QUEUED)

READY = [State.QUEUED, State.PROCESSING, State.COMPLETE, State.ERROR]


async def do_nothing(_item_id: int, _session: AsyncSession) -> None:
    return None


async def call(desk: Desk, model: type[Any], **options: Any) -> int:
    """Call the loop with a model as a stranger would."""
    queued, processing, done, failed = options.pop("statuses", READY)
    function = options.pop("function", do_nothing)
    kind = options.pop("status_enum", State)
    return await run_job_loop(
        model,
        kind,
        queued,
        processing,
        done,
        failed,
        function,
        **({"engine": desk.engine} | options),
    )


@pytest.fixture
async def tables(desk: Desk) -> None:
    async with desk.engine.begin() as connection:
        await connection.execute(text('CREATE SCHEMA "other place"'))
        await connection.run_sync(Base.metadata.create_all)
        for model in (Plain, Elsewhere):
            await connection.execute(insert(model), [{"error": None}] * 3)


# Models and columns


async def test_a_composite_primary_key_is_refused(desk: Desk) -> None:
    with pytest.raises(InvalidStage, match="a key of 2 columns") as refused:
        await call(desk, Pair)

    assert "single-column primary key" in str(refused.value.hint)


async def test_what_is_not_a_mapped_class_was_refused_by_an_attribute_it_lacks(
    desk: Desk,
) -> None:
    unmapped: list[Any] = [Plain.__table__, Desk, "plain", None, Plain(id=1)]
    for model in unmapped:
        with pytest.raises(InvalidStage, match="is not a mapped class") as refused:
            await call(desk, model)
        assert "primary key" in str(refused.value.hint)


def test_a_column_that_is_of_no_model_was_refused_by_an_attribute_it_lacks() -> None:
    columns: list[Any] = [Plain.__table__.c.status, "status", None]
    for column in columns:
        with pytest.raises(
            InvalidStage, match="is not a column of a mapped"
        ) as refused:
            stage(STAGE, claims=column, queued=1, processing=2, done=3, failed=4)
        assert "claims=Model.status" in str(refused.value.hint)


@pytest.mark.usefixtures("tables")
async def test_a_table_whose_key_may_occur_twice_is_refused(desk: Desk) -> None:
    await desk.execute("ALTER TABLE plain DROP CONSTRAINT plain_pkey")

    with pytest.raises(InvalidStage, match="several rows with the same id") as refused:
        await call(desk, Plain)

    await desk.execute(str(refused.value.hint))
    assert await call(desk, Plain) == 3
    # A place in one table says nothing about which of its partitions it is in.
    await desk.execute("CREATE TABLE more () INHERITS (plain)")
    with pytest.raises(InvalidStage, match="has partitions or children"):
        await call(desk, Plain)


@pytest.mark.usefixtures("tables")
async def test_a_status_column_may_be_plain_text(desk: Desk) -> None:
    async def fail_once(item_id: int, _session: AsyncSession) -> None:
        if item_id == 2:
            raise OSError("not this one")

    assert await call(desk, Plain, function=fail_once, max_attempts=1) == 3

    rows = await desk.rows("SELECT status FROM plain ORDER BY id")
    assert rows == [("Complete",), ("Error",), ("Complete",)]


@pytest.mark.usefixtures("tables")
async def test_a_status_column_may_hold_numbers(desk: Desk) -> None:
    options: dict[str, Any] = {"status_enum": Level, "statuses": list(Level)}

    assert await call(desk, Plain, status_field_name="level", **options) == 3

    assert await desk.rows("SELECT DISTINCT level FROM plain") == [(3,)]


@pytest.mark.usefixtures("tables")
async def test_a_table_may_be_in_another_schema(desk: Desk) -> None:
    async def old_style(item_id: int, session: AsyncSession) -> None:
        async with session.begin():
            row = await session.get_one(Elsewhere, item_id)
            if item_id == 1:
                row.status = State.COMPLETE
            if item_id == 2:
                raise OSError("not this one")

    assert await call(desk, Elsewhere, function=old_style, max_attempts=1) == 3

    query = 'SELECT status::text FROM "other place"."Odd Name" ORDER BY id'
    assert await desk.rows(query) == [("COMPLETE",), ("ERROR",), ("COMPLETE",)]


@pytest.mark.usefixtures("tables")
async def test_a_status_that_the_column_is_too_short_for_is_refused(
    desk: Desk,
) -> None:
    with pytest.raises(InvalidStage, match=r"'Processing' is longer than .* \(8\)"):
        await call(desk, Plain, status_field_name="narrow")


async def test_a_status_enum_that_is_none_is_refused(desk: Desk) -> None:
    with pytest.raises(InvalidStage, match="not an Enum class"):
        await call(desk, Plain, status_enum=str)


@pytest.mark.parametrize(
    ("parameter", "hint"),
    [
        ("status_field_name", "Name a column of Plain in status_field_name=."),
        (
            "error_field_name",
            "Name a column of Plain in error_field_name= (None: keep no error).",
        ),
        ("order_by_column", "Name a column of Plain in order_by_column=."),
    ],
)
async def test_a_column_that_the_model_lacks_is_refused_by_its_parameter(
    desk: Desk, parameter: str, hint: str
) -> None:
    with pytest.raises(InvalidStage, match="Plain has no column 'colour'") as refused:
        await call(desk, Plain, **{parameter: "colour"})

    assert refused.value.hint == hint


@pytest.mark.usefixtures("tables")
async def test_a_column_that_only_the_model_has_is_refused(desk: Desk) -> None:
    await desk.execute("ALTER TABLE plain DROP COLUMN error")

    with pytest.raises(InvalidStage, match=r'"error".* does not exist') as refused:
        await call(desk, Plain)

    assert "run the migrations" in str(refused.value.hint)


@pytest.mark.usefixtures("tables")
async def test_a_missing_index_is_refused_with_the_statement_that_creates_it(
    desk: Desk,
) -> None:
    await desk.execute("DROP INDEX plain_status_queue")

    with pytest.raises(InvalidStage, match="no partial index") as refused:
        await call(desk, Plain)

    hint = str(refused.value.hint)
    async with desk.connection() as connection:
        await connection.execute(hint.removeprefix("Create it: "))
    assert await call(desk, Plain) == 3


async def test_a_mode_that_does_not_exist_is_refused(desk: Desk) -> None:
    with pytest.raises(
        InvalidStage, match=r"mode is 'batch'\. Pass one of drain, one_batch"
    ):
        await job_loop(desk, do_nothing, mode="batch")


# Servers and roles


@pytest.fixture
async def reader(desk: Desk, desk_database: Database) -> AsyncIterator[AsyncEngine]:
    """Connect as a role that has no privilege at all yet."""
    role = f"reader_{desk_database.name}"
    await desk.execute(f"CREATE ROLE {role} LOGIN")
    made = create_async_engine(make_url(desk_database.url).set(username=role))
    yield made
    await made.dispose()
    await desk.execute(f"DROP OWNED BY {role}")
    await desk.execute(f"DROP ROLE {role}")


async def refusal(engine: AsyncEngine) -> CurationSdkError:
    with pytest.raises(CurationSdkError) as refused:
        await Worker(engine, [triage()]).start()
    return refused.value


@pytest.mark.direct
async def test_a_role_without_privileges_is_refused_with_what_to_grant(
    desk: Desk, reader: AsyncEngine
) -> None:
    role = str(reader.url.username)
    await desk.open(3)

    own = await refusal(reader)
    assert str(own).startswith(f"Role {role} lacks USAGE ON SCHEMA curation; ")
    assert f"GRANT USAGE ON SEQUENCE curation.fence TO {role};" in str(own.hint)
    for grant in str(own.hint).rstrip(";").split("; "):
        await desk.execute(grant)

    unread = await refusal(reader)
    assert "permission denied for table ticket" in str(unread)
    assert unread.hint == "GRANT SELECT, UPDATE ON ticket."
    await desk.execute(f"GRANT SELECT ON ticket TO {role}")

    unwritten = await refusal(reader)
    assert f"role {role} lacks UPDATE on ticket" in str(unwritten)
    assert unwritten.hint == f"GRANT UPDATE ON ticket TO {role};"
    await desk.execute(f"GRANT UPDATE (state, error, updated_at) ON ticket TO {role}")

    async with Worker(reader, [triage()]) as worker:
        assert await worker.drain("triage") == 3
    assert await desk.states() == {"Complete": 3}


@pytest.mark.direct
async def test_a_connection_that_may_only_read_is_refused(
    desk_database: Database, desk: Desk
) -> None:
    settings = {"default_transaction_read_only": "on"}
    made = create_async_engine(
        desk_database.url, connect_args={"server_settings": settings}
    )

    refused = await refusal(made)

    assert "transaction_read_only is on" in str(refused)
    await made.dispose()


def test_a_server_that_is_too_old_is_refused() -> None:
    refuse_old_server(14)

    with pytest.raises(CurationSdkError, match="PostgreSQL 13; the SDK needs 14"):
        refuse_old_server(13)


# Functions that break the contract of the loop


def not_async(item_id: int, session: AsyncSession) -> None:
    session.add(Reply(ticket_id=item_id, words=f"re: {item_id}"))


async def returns_a_number(item_id: int, session: AsyncSession) -> int:
    session.add(Reply(ticket_id=item_id, words=f"re: {item_id}"))
    return 7


async def closes_without_commit(item_id: int, session: AsyncSession) -> None:
    session.add(Reply(ticket_id=item_id, words=f"re: {item_id}"))
    await session.flush()
    await session.close()


async def commits_behind(item_id: int, session: AsyncSession) -> None:
    session.add(Reply(ticket_id=item_id, words=f"re: {item_id}"))
    await session.run_sync(lambda inner: inner.commit())


async def leaves_a_statement_running(item_id: int, session: AsyncSession) -> None:
    session.add(Reply(ticket_id=item_id, words=f"re: {item_id}"))
    await session.flush()
    LEAKED.append(asyncio.create_task(session.execute(text("SELECT pg_sleep(2)"))))
    await asyncio.sleep(0.1)


LEAKED: list[asyncio.Task[Any]] = []


@pytest.mark.parametrize("mode", ["drain", "one_batch"])
@pytest.mark.parametrize(
    ("function", "why"),
    [
        (not_async, "not_async is not async"),
        (returns_a_number, "returned 7"),
        (closes_without_commit, "closed its session before it committed"),
        (commits_behind, "ended the transaction behind its session"),
        (leaves_a_statement_running, "returned while a task it had started"),
    ],
)
async def test_a_broken_contract_ends_the_loop_and_condemns_no_row(
    desk: Desk, function: Any, why: str, mode: str
) -> None:
    await desk.open(25)

    with pytest.raises(ContractViolation, match=why) as stopped:
        await job_loop(desk, function, mode=mode, max_attempts=1)

    assert stopped.value.hint
    assert await desk.states() == {"Queued": 25}
    assert await desk.one("SELECT count(*) FROM reply") == 0
    assert await desk.one("SELECT count(*) FROM curation.dead_letter") == 0
    assert await desk.one("SELECT count(*) FROM curation.claim") == 0
    assert await job_loop(desk, do_nothing) == 25
    await asyncio.gather(*LEAKED, return_exceptions=True)
    LEAKED.clear()


async def generator(_item_id: int, _session: AsyncSession) -> Any:
    yield 1


def plain_generator(_item_id: int, _session: AsyncSession) -> Any:
    yield 1


async def takes_one(_item_id: int) -> None:
    return None


@pytest.mark.parametrize(
    ("function", "why"),
    [
        (generator, "generator is a generator"),
        (plain_generator, "plain_generator is a generator"),
        (takes_one, "cannot be called with an item's key and a session"),
        ("send_mail", "'send_mail' cannot be called"),
    ],
)
async def test_a_function_that_can_be_seen_to_be_wrong_is_refused_at_the_start(
    desk: Desk, function: Any, why: str
) -> None:
    await desk.open(3)

    with pytest.raises(InvalidStage, match=why):
        await job_loop(desk, function)

    assert await desk.states() == {"Queued": 3}


@pytest.mark.parametrize("style", ["with", "finally"])
async def test_a_function_that_closes_its_session_while_it_fails_only_fails(
    desk: Desk, style: str
) -> None:
    await desk.open(2)

    async def fail(item_id: int, session: AsyncSession) -> None:
        session.add(Reply(ticket_id=item_id, words=f"re: {item_id}"))
        if style == "with":
            async with session:
                raise OSError("down")
        try:
            await session.flush()
            raise OSError("down")
        finally:
            await session.close()

    await job_loop(desk, fail, max_attempts=1)

    assert await desk.states() == {"Error": 2}
    assert "down" in await desk.one("SELECT error FROM ticket LIMIT 1")
    assert await desk.one("SELECT count(*) FROM reply") == 0


async def test_a_function_may_close_its_session_after_it_has_committed(
    desk: Desk,
) -> None:
    await desk.open(2)

    async def commit_and_close(item_id: int, session: AsyncSession) -> None:
        async with session:
            session.add(Reply(ticket_id=item_id, words=f"re: {item_id}"))
            await session.commit()
        await session.close()

    assert await job_loop(desk, commit_and_close) == 2

    assert await desk.states() == {"Complete": 2}
    assert await desk.one("SELECT count(*) FROM reply") == 2


async def test_a_function_past_its_timeout_is_tried_again(desk: Desk) -> None:
    await desk.open(1)

    async def never_end(item_id: int, session: AsyncSession) -> None:
        session.add(Reply(ticket_id=item_id, words=f"re: {item_id}"))
        await session.flush()
        await asyncio.Event().wait()

    async def next_call() -> dict[str, int]:
        await job_loop(desk, never_end, timeout=SHORT, max_attempts=2)
        return await desk.states()

    await eventually(next_call, {"Error": 1}, seconds=LONG)

    assert await desk.tried() == ["retried", "exhausted"]
    assert await desk.one("SELECT error FROM ticket") == "ran past its timeout of 0.1 s"
    assert await desk.one("SELECT count(*) FROM reply") == 0


@pytest.mark.slow
async def test_a_function_that_ignores_its_cancellation_is_left_to_itself(
    desk: Desk,
) -> None:
    await desk.open(2)
    gate = asyncio.Event()
    ended: list[str] = []

    async def ignore(item_id: int, session: AsyncSession) -> None:
        if item_id == 2:
            return
        session.add(Reply(ticket_id=item_id, words=f"re: {item_id}"))
        await session.flush()
        while not gate.is_set():
            try:
                await gate.wait()
            except asyncio.CancelledError:
                continue
        try:
            await session.flush()
            await session.execute(text("SELECT 1"))
        except ContractViolation as error:
            ended.append(str(error))
            raise

    with capture_logs() as lines:
        # Enough for the other item on a busy machine.
        await job_loop(desk, ignore, timeout=timedelta(seconds=3), max_attempts=1)

    assert await desk.states() == {"Complete": 1, "Error": 1}
    assert await desk.one("SELECT error FROM ticket WHERE state = 'Error'") == (
        "ran past its timeout of 3 s"
    )
    assert await desk.one("SELECT count(*) FROM reply") == 0
    (line,) = [line for line in lines if line["event"] == "item.abandoned"]
    assert (line["stage"], line["item"]) == (STAGE, "1")
    gate.set()
    while not ended:  # noqa: ASYNC110 - the test's own timeout ends it
        await asyncio.sleep(0.01)
    assert "used after its function returned" in ended[0]


@pytest.mark.parametrize("when", ["at once", "later"])
async def test_a_task_that_outlives_its_function_cannot_use_the_session(
    desk: Desk, when: str
) -> None:
    await desk.open(3)
    tasks: list[asyncio.Task[None]] = []

    async def write_late(item_id: int, session: AsyncSession) -> None:
        await asyncio.sleep(0 if when == "at once" else 0.5)
        session.add(Reply(ticket_id=item_id, words=f"late: {item_id}"))
        await session.flush()

    async def leak(item_id: int, session: AsyncSession) -> None:
        session.add(Reply(ticket_id=item_id, words=f"re: {item_id}"))
        await session.flush()
        tasks.append(asyncio.create_task(write_late(item_id, session)))

    with capture_logs() as lines:
        assert await job_loop(desk, leak) == 3
        raised = await asyncio.gather(*tasks, return_exceptions=True)

    assert await desk.states() == {"Complete": 3}
    assert {type(error) for error in raised} == {ContractViolation}
    assert "used after its function returned" in str(raised[0])
    late = [line for line in lines if line["event"] == "job.session_used_late"]
    assert sorted(line["item"] for line in late) == ["1", "2", "3"]
    query = "SELECT count(*) FROM reply WHERE words LIKE 're:%'"
    assert await desk.one(query) == 3


class Halt(BaseException):
    """What nobody should catch."""


async def test_what_is_not_an_exception_ends_the_loop_and_hands_all_rows_back(
    desk: Desk,
) -> None:
    await desk.open(25)

    async def halt(item_id: int, session: AsyncSession) -> None:
        session.add(Reply(ticket_id=item_id, words=f"re: {item_id}"))
        await session.flush()
        raise Halt("now")

    with pytest.raises(Halt, match="now"):
        await job_loop(desk, halt, max_attempts=1)

    assert await desk.states() == {"Queued": 25}
    assert await desk.one("SELECT count(*) FROM reply") == 0
    assert await desk.one("SELECT count(*) FROM curation.dead_letter") == 0


@pytest.mark.parametrize(
    ("function", "status", "said"),
    [("interrupt", -2, "KeyboardInterrupt"), ("leave", 3, "")],
)
async def test_a_process_that_exits_from_a_function_hands_all_rows_back(
    desk: Desk, desk_database: Database, function: str, status: int, said: str
) -> None:
    await desk.open(25)
    module = ["-m", "sdk_tests.rig.stranger", desk_database.url, "drain", function]

    ran = await asyncio.to_thread(
        partial(
            subprocess.run,
            [sys.executable, *module, "30"],
            cwd=TESTS,
            capture_output=True,
            text=True,
            timeout=LONG,
            check=False,
        )
    )

    assert (ran.returncode, ran.stdout) == (status, "begun 1\n"), ran.stderr
    assert ran.stderr.strip().endswith(said)
    assert await desk.states() == {"Queued": 25}
    assert await desk.one("SELECT count(*) FROM reply") == 0
    assert await desk.outcomes() == ["returned"]


# Functions of stages


def forgot_async(_ticket: Ticket, _tools: object) -> Outcome:
    return Done()


async def wrong_count(_ticket: Ticket) -> Outcome:
    return Done()


async def yields(_ticket: Ticket, _tools: object) -> Any:
    yield Done()


async def wrong_item(_reply: Reply, _tools: object) -> Outcome:
    return Done()


@pytest.mark.parametrize(
    ("work", "why"),
    [
        (forgot_async, "forgot_async is not async"),
        (yields, "yields is not async"),
        (wrong_count, "wrong_count cannot be called with an item and tools"),
        (wrong_item, "wrong_item takes a Reply, but the items are rows of Ticket"),
        (None, "None cannot be called"),
    ],
)
def test_a_function_that_cannot_be_a_stage_is_refused_where_it_is_declared(
    work: Any, why: str
) -> None:
    with pytest.raises(InvalidStage, match=why):
        triage(work)


def test_a_thread_was_given_a_function_that_is_async() -> None:
    with pytest.raises(CurationSdkError, match="returns_nothing is async"):
        in_thread(returns_nothing)


def test_decorators_in_the_wrong_order_were_an_attribute_that_a_function_lacks() -> (
    None
):
    with pytest.raises(InvalidStage, match="@in_thread stands above @stage"):
        in_thread(triage())
    with pytest.raises(CurationSdkError, match="is not a stage"):
        Registry([returns_nothing])  # type: ignore[list-item]


async def test_one_stage_in_place_of_a_list_was_not_iterable(desk: Desk) -> None:
    alone: Any = triage()
    with pytest.raises(CurationSdkError, match=r"Write Worker\(engine, \[triage\]\)"):
        Worker(desk.engine, alone)


def test_what_returns_something_to_await_may_be_a_stage() -> None:
    async def work(_ticket: Ticket, _tools: object) -> Outcome:
        return Done()

    class Callable:
        async def __call__(self, ticket: Ticket, tools: object) -> Outcome:
            return await work(ticket, tools)

    for usable in (lambda t, _: work(t, None), partial(work), Callable()):
        assert triage(usable).name == "triage"


class NotAsync:
    def __call__(self, _ticket: Ticket, _tools: object) -> Outcome:
        return Done()


async def returns_nothing(_ticket: Ticket, _tools: object) -> Any:
    return None


async def returns_its_results(_ticket: Ticket, _tools: object) -> Any:
    effect: Any = {"words": 5}
    return Done(effect)


async def halts(_ticket: Ticket, _tools: object) -> Any:
    raise Halt("now")


@pytest.mark.parametrize(
    ("work", "why"),
    [
        (NotAsync(), "triage cannot be awaited with an item and tools"),
        (lambda _ticket: None, "triage cannot be awaited with an item and tools"),
        (returns_nothing, "triage returned None instead of an outcome"),
        (returns_its_results, "triage returned an effect that cannot be called: "),
        (halts, r"triage raised Halt\('now'\), which is not an Exception"),
    ],
)
async def test_a_stage_whose_function_is_wrong_is_paused_at_its_first_item(
    desk: Desk, work: Any, why: str
) -> None:
    await desk.open(25)
    declared = stage(
        "triage",
        claims=Ticket.state,
        queued=State.QUEUED,
        processing=State.PROCESSING,
        done=State.COMPLETE,
        failed=State.ERROR,
        max_attempts=1,
    )(do_nothing)  # type: ignore[arg-type]

    await desk.drain(declared.configured(work=work))

    assert await desk.states() == {"Queued": 25}
    assert await desk.one("SELECT count(*) FROM curation.dead_letter") == 0
    query = f"SELECT count(*) FROM curation.stage WHERE paused_why ~ $${why}$$"
    await desk.until(query, 1)
