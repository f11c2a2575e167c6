"""Claims: once each, in order, fair, by index, whatever else happens to the rows."""

import asyncio
import time
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import orjson
import pytest
from sqlalchemy import Enum, String, insert, select
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column
from sqlalchemy.orm.exc import DetachedInstanceError

from curation_sdk import Done, Outcome, Retry, queue_index, stage
from curation_sdk.claim import ClaimedItem, select_list
from curation_sdk.queue import queue_of
from curation_sdk.registry import plan_nodes
from curation_sdk.statements import statements_of
from sdk_tests.desk import Base, Desk, State, Ticket, answer, triage, values


class Parcel(Base):
    __tablename__ = "par cel"

    code: Mapped[str] = mapped_column("Co de", String(40), primary_key=True)
    state: Mapped[State] = mapped_column(
        "st'ate", Enum(State, native_enum=False, values_callable=values)
    )
    notes: Mapped[dict[str, Any]] = mapped_column(JSONB, default=dict)
    body: Mapped[str] = mapped_column(default="", deferred=True)
    weight: Mapped[int] = mapped_column(default=0)


class Letter(Base):
    __tablename__ = "letter"

    id: Mapped[UUID] = mapped_column(primary_key=True, default=uuid4)
    state: Mapped[State] = mapped_column(default=State.QUEUED)
    weight: Mapped[int] = mapped_column(default=0)


queue_index(Parcel.state, State.QUEUED, order_by=Parcel.weight)
queue_index(Letter.state, State.QUEUED, order_by=Letter.weight)


async def test_two_workers_share_the_rows_and_none_is_worked_twice(desk: Desk) -> None:
    await desk.open(200)
    worked: list[int] = []

    async def work(ticket: Ticket, _tools: object) -> Outcome:
        worked.append(ticket.id)
        await asyncio.sleep(0)
        return Done()

    await asyncio.gather(desk.drain(triage(work)), desk.drain(triage(work)))

    assert sorted(worked) == sorted(set(worked))
    assert await desk.states() == {"Complete": 200}


async def test_the_longest_waiting_goes_first(desk: Desk) -> None:
    await desk.open(3)
    await desk.execute(
        "UPDATE ticket SET updated_at = now() - interval '1 day' WHERE id = 3"
    )
    order: list[int] = []

    async def work(ticket: Ticket, _tools: object) -> Outcome:
        order.append(ticket.id)
        return Done()

    await desk.drain(triage(work, batch=1, concurrency=1))

    assert order == [3, 1, 2]


async def test_the_higher_priority_goes_first(desk: Desk) -> None:
    await desk.open(2)
    await desk.open(1, priority=5)
    order: list[int] = []

    async def work(ticket: Ticket, _tools: object) -> Outcome:
        order.append(ticket.id)
        return Done()

    await desk.execute(index_on("priority DESC NULLS LAST, updated_at, id"))
    await desk.drain(triage(work, batch=1, concurrency=1, priority=Ticket.priority))

    assert order == [3, 1, 2]


async def test_a_small_tenant_does_not_wait_behind_a_big_one(desk: Desk) -> None:
    await desk.execute(index_on("tenant, updated_at, id"))
    await desk.open(400, tenant="big")
    await desk.open(10, tenant="small")
    order: list[str] = []

    async def work(ticket: Ticket, _tools: object) -> Outcome:
        order.append(ticket.tenant)
        return Done()

    await desk.drain(triage(work, tenant=Ticket.tenant))

    assert len(order) == 410
    assert order[:60].count("small") == 10


async def test_rows_queued_behind_the_cursor_are_found(desk: Desk) -> None:
    await desk.open(20)
    async with desk.running(triage()):
        await desk.until("SELECT count(*) FROM ticket WHERE state = 'Complete'", 20)

        await desk.execute(
            "UPDATE ticket SET state = 'Queued', updated_at = 'epoch' WHERE id < 4"
        )

        await desk.until("SELECT count(*) FROM ticket WHERE state = 'Complete'", 20)
    assert await desk.outcomes(1) == ["done", "done"]


async def test_a_row_locked_by_someone_else_is_stepped_over(desk: Desk) -> None:
    await desk.open(2)
    async with desk.connection() as other:
        await other.execute("BEGIN; SELECT * FROM ticket WHERE id = 1 FOR UPDATE")

        await desk.drain(triage())

        assert await desk.states() == {"Queued": 1, "Complete": 1}


async def test_text_keys_odd_names_and_json_survive(desk: Desk) -> None:
    notes = {"a": [1, {"b": None}]}
    async with desk.engine.begin() as connection:
        parcel = {Parcel.code: "p'1", Parcel.state: State.QUEUED, Parcel.notes: notes}
        await connection.execute(insert(Parcel).values(parcel))
    seen: list[Any] = []

    @stage(
        "parcels",
        claims=Parcel.state,
        order_by=Parcel.weight,
        queued=State.QUEUED,
        processing=State.PROCESSING,
        done=State.COMPLETE,
        failed=State.ERROR,
    )
    async def deliver(parcel: Parcel, _tools: object) -> Outcome:
        seen.append((parcel.code, parcel.state, parcel.notes))
        with pytest.raises(DetachedInstanceError):
            _ = parcel.body
        return Done()

    await desk.drain(deliver)

    assert seen == [("p'1", State.PROCESSING, notes)]
    async with desk.engine.connect() as connection:
        assert (await connection.scalars(select(Parcel.state))).all() == [
            State.COMPLETE
        ]


async def test_only_the_key_is_loaded_when_asked(desk: Desk) -> None:
    async with desk.engine.begin() as connection:
        await connection.execute(insert(Letter), [{}])
    seen: list[UUID] = []

    @stage(
        "letters",
        claims=Letter.state,
        order_by=Letter.weight,
        load="id",
        queued=State.QUEUED,
        processing=State.PROCESSING,
        done=State.COMPLETE,
        failed=State.ERROR,
    )
    async def post(letter: Letter, _tools: object) -> Outcome:
        with pytest.raises(DetachedInstanceError):
            _ = letter.weight
        seen.append(letter.id)
        return Done()

    await desk.drain(post)

    assert seen == [(await desk.rows("SELECT id FROM letter"))[0][0]]


async def test_two_stages_own_two_columns_of_one_row(desk: Desk) -> None:
    await desk.open(5, answer_state=State.QUEUED)

    async with desk.running(triage(), answer()):
        await desk.until(
            "SELECT count(*) FROM ticket WHERE (state, answer_state) = ('Complete', 'Complete')",
            5,
        )


async def test_the_claim_walks_the_partial_index_and_keeps_its_limit(
    desk: Desk,
) -> None:
    await desk.open(500)
    await desk.execute(
        "INSERT INTO ticket (title, tenant, priority, state, answer_state)"
        " SELECT '', 'a', 0, 'Complete', 'New' FROM generate_series(1, 20000)"
    )
    await desk.execute("ANALYZE ticket")
    plan, returned = await explained_claim(desk, batch=7)

    kinds = {(node["Node Type"], node.get("Index Name")) for node in plan}

    assert ("Index Scan", "ticket_state_queue") in kinds
    assert "Seq Scan" not in {kind for kind, _ in kinds if kind != "stage"}
    assert ("Tid Scan", None) in kinds
    assert returned == 7
    assert await desk.states() == {"Queued": 493, "Processing": 7, "Complete": 20_000}


async def test_many_waiting_rows_do_not_slow_the_claim(desk: Desk) -> None:
    await desk.open(10)
    await desk.drain(triage())
    await desk.execute(
        "INSERT INTO ticket (title, tenant, priority, state, answer_state, updated_at)"
        " SELECT '', 'a', 0, 'Processing', 'New', 'epoch' FROM generate_series(1, 20000)"
    )
    await desk.execute(
        "INSERT INTO curation.claim (stage, item, tries, due_at)"
        " SELECT 'triage', id, 1, now() + interval '1 hour' FROM ticket WHERE state = 'Processing'"
    )
    await desk.open(10)

    plan, returned = await explained_claim(desk, batch=10)

    assert returned == 10
    touched = sum(
        node["Shared Hit Blocks"] for node in plan if node["Node Type"] == "Index Scan"
    )
    assert touched < 200


@pytest.mark.parametrize("shared", [False, True])
async def test_a_waiting_item_queued_by_hand_is_tried_at_once(
    desk: Desk, shared: bool
) -> None:
    await desk.execute(index_on("tenant, updated_at, id"))
    options = {"tenant": Ticket.tenant} if shared else {}
    await desk.open(1)

    async def work(ticket: Ticket, _tools: object) -> Outcome:
        return Retry("later", after=timedelta(hours=1)) if not ticket.title else Done()

    await desk.drain(triage(work, **options))
    await desk.execute("UPDATE ticket SET state = 'Queued', title = 'now'")
    await desk.drain(triage(work, **options))

    assert await desk.rows(
        "SELECT outcome, tries FROM curation.attempt ORDER BY fence"
    ) == [
        ("retried", 1),
        ("done", 2),
    ]


async def test_a_waiting_item_that_is_cancelled_is_forgotten(desk: Desk) -> None:
    await desk.open(1)

    async def work(_ticket: Ticket, _tools: object) -> Outcome:
        return Retry("later", after=timedelta(milliseconds=300))

    async with desk.running(triage(work)):
        await desk.until("SELECT count(*) FROM curation.attempt", 1)
        await desk.execute("UPDATE ticket SET state = 'New'")

        await desk.until("SELECT count(*) FROM curation.claim", 0)

    assert await desk.outcomes() == ["retried"]


async def test_an_item_is_a_detached_instance_of_its_model(desk: Desk) -> None:
    await desk.open(1, title="hello")
    seen: list[Ticket] = []

    async def work(ticket: Ticket, _tools: object) -> Outcome:
        ticket.title = "changed, and never written"
        seen.append(ticket)
        return Done()

    await desk.drain(triage(work))

    assert type(seen[0]) is Ticket
    assert seen[0].state is State.PROCESSING
    assert seen[0].updated_at.tzinfo is not None
    assert await desk.one("SELECT title FROM ticket") == "hello"


@pytest.mark.parametrize(
    ("batch", "rate", "held", "size"),
    [
        (10, 50, 0, 10),
        (10, 450, 0, 20),
        (10, 10_000, 0, 40),
        (10, 10_000, 40, 40),
        (10, 10_000, 60, 20),
        (10, 10_000, 80, 10),
        (1, 10_000, 0, 1),
    ],
    ids=[
        "slow",
        "quick",
        "very quick",
        "one claim held",
        "more held",
        "nearly full",
        "one at a time",
    ],
)
async def test_quick_items_are_claimed_several_batches_at_a_time(
    desk: Desk, batch: int, rate: float, held: int, size: int
) -> None:
    async with desk.worker(triage(batch=batch)) as worker:
        run = worker._runs["triage"]
        run.rate.per_second, run.rate.measured_at = rate, time.monotonic()
        run.held = {str(n): ClaimedItem(str(n), 1, None, 0.0) for n in range(held)}

        assert run.claim_size() == size

        run.rate.measured_at = 0.0
        assert run.claim_size() == batch
        run.held.clear()


async def test_a_claim_brings_as_many_as_it_is_asked_for(desk: Desk) -> None:
    await desk.open(100)
    async with desk.worker(triage(batch=10)) as worker:
        claimer = worker._runs["triage"].claimer

        counts = [len(await claimer.next_batch(limit)) for limit in (None, 40, 20)]

    assert counts == [10, 40, 20]
    assert await desk.states() == {"Queued": 30, "Processing": 70}


def index_on(columns: str) -> str:
    return f"CREATE INDEX ON ticket ({columns}) WHERE state = 'Queued'"


async def explained_claim(desk: Desk, batch: int) -> tuple[list[dict[str, Any]], int]:
    """Run a real claim under EXPLAIN ANALYZE; return its plan and how many it claimed."""
    declared = triage(batch=batch)
    await desk.drain(declared, seconds=0.0)
    await desk.execute(
        "UPDATE ticket SET state = 'Queued' WHERE id <= 500 AND state = 'Complete'"
    )
    await desk.execute("TRUNCATE curation.attempt")
    queue = queue_of(declared, desk.engine.dialect)
    columns = select_list(declared, desk.engine.dialect)
    statements = statements_of(queue, columns=columns, keyed=True)
    statement = statements.claim(batch)
    async with desk.connection() as connection:
        found = await connection.fetchval(
            f"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) {statement}", "triage", "me", 30.0
        )
    nodes = list(plan_nodes(orjson.loads(found)))
    return nodes, int(nodes[0]["Actual Rows"])
