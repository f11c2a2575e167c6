"""The plain entry: someone else's model and function, the same guarantees."""

import asyncio
import subprocess
import sys
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy.ext.asyncio import AsyncSession

from curation_sdk import Done, GiveUp, Outcome, run_job_loop
from curation_sdk.errors import InvalidStage
from curation_sdk.events import Fenced
from sdk_tests.conftest import Database
from sdk_tests.desk import Desk, Reply, State, Ticket, eventually, job_loop

EXAMPLE = Path(__file__).parents[2] / "examples" / "newsletter.py"


async def write_reply(ticket_id: int, session: AsyncSession) -> None:
    session.add(Reply(ticket_id=ticket_id, words=f"re: {ticket_id}"))


async def test_what_the_function_wrote_commits_with_the_status(desk: Desk) -> None:
    await desk.open(12)

    assert await job_loop(desk, write_reply) == 12

    assert await desk.states() == {"Complete": 12}
    assert await desk.one("SELECT count(*) FROM reply") == 12
    assert await desk.one("SELECT count(*) FROM curation.claim") == 0


async def test_rows_may_be_worked_in_the_order_of_their_key(desk: Desk) -> None:
    await desk.execute("CREATE INDEX ON ticket (id) WHERE state = 'Queued'")
    await desk.open(25)
    order: list[int] = []

    async def note(ticket_id: int, _session: AsyncSession) -> None:
        order.append(ticket_id)

    assert await job_loop(desk, note, order_by_column="id") == 25

    assert order == sorted(order)


async def test_a_function_that_raises_leaves_nothing_behind(desk: Desk) -> None:
    await desk.open(1)

    async def fail(ticket_id: int, session: AsyncSession) -> None:
        await write_reply(ticket_id, session)
        await session.flush()
        raise ValueError("too late")

    await job_loop(desk, fail, max_attempts=1)

    assert await desk.states() == {"Error": 1}
    assert await desk.one("SELECT count(*) FROM reply") == 0
    assert "too late" in await desk.one("SELECT error FROM ticket")


async def test_a_commit_inside_only_flushes(desk: Desk) -> None:
    await desk.open(1)

    async def commit_and_fail(ticket_id: int, session: AsyncSession) -> None:
        await write_reply(ticket_id, session)
        await session.commit()
        raise ValueError("after the commit")

    await job_loop(desk, commit_and_fail, max_attempts=1)

    assert await desk.one("SELECT count(*) FROM reply") == 0


async def test_a_transaction_block_of_its_own_is_part_of_the_transaction(
    desk: Desk,
) -> None:
    await desk.open(200)

    async def in_a_block(ticket_id: int, session: AsyncSession) -> None:
        async with session.begin():
            await write_reply(ticket_id, session)

    assert await job_loop(desk, in_a_block) == 200

    assert await desk.states() == {"Complete": 200}
    assert await desk.one("SELECT count(*) FROM reply") == 200
    assert await desk.one("SELECT count(*) FROM curation.dead_letter") == 0


async def test_savepoints_are_allowed(desk: Desk) -> None:
    await desk.open(1)

    async def nest(ticket_id: int, session: AsyncSession) -> None:
        async with session.begin_nested():
            await write_reply(ticket_id, session)

    await job_loop(desk, nest)

    assert await desk.one("SELECT count(*) FROM reply") == 1


async def test_a_function_that_needs_no_session_settles_too(desk: Desk) -> None:
    await desk.open(3)

    async def look(_ticket_id: int, _session: AsyncSession) -> None:
        return None

    assert await job_loop(desk, look) == 3
    assert await desk.states() == {"Complete": 3}


@pytest.mark.parametrize(
    ("outcome", "state"),
    [(GiveUp("no"), "Error"), (Done(), "Complete")],
)
async def test_a_function_may_return_an_outcome(
    desk: Desk, outcome: Outcome, state: str
) -> None:
    await desk.open(1)

    async def decide(_ticket_id: int, _session: AsyncSession) -> Outcome:
        return outcome

    await job_loop(desk, decide)

    assert await desk.states() == {state: 1}


async def test_a_session_of_a_lost_claim_writes_nothing(desk: Desk) -> None:
    await desk.open(1)
    begun, gate = asyncio.Event(), asyncio.Event()

    async def slow(ticket_id: int, session: AsyncSession) -> None:
        begun.set()
        await gate.wait()
        await write_reply(ticket_id, session)

    task = asyncio.create_task(job_loop(desk, slow, within=timedelta(seconds=1)))
    await begun.wait()
    await desk.execute("UPDATE curation.claim SET fence = fence + 1000000")
    gate.set()
    await task

    assert await desk.one("SELECT count(*) FROM reply") == 0
    assert desk.emitted(Fenced)


@pytest.mark.slow
async def test_the_reaper_cannot_take_an_item_whose_session_writes(desk: Desk) -> None:
    await desk.open(1)

    async def slow(ticket_id: int, session: AsyncSession) -> None:
        await write_reply(ticket_id, session)
        await session.flush()
        await asyncio.sleep(3.5)

    # A slow machine must write before the lease ends.
    both = [job_loop(desk, slow, lease=timedelta(seconds=2)) for _ in range(2)]
    await asyncio.gather(*both)

    assert await desk.outcomes() == ["done"]
    assert await desk.one("SELECT count(*) FROM reply") == 1


async def test_failed_items_are_tried_again(desk: Desk) -> None:
    await desk.open(1)
    tries: list[int] = []

    async def flaky(ticket_id: int, _session: AsyncSession) -> None:
        tries.append(ticket_id)
        if len(tries) < 3:
            raise OSError("down")

    async def again() -> Any:
        await job_loop(desk, flaky)
        return await desk.states()

    await eventually(again, {"Complete": 1})
    assert len(tries) == 3


async def test_a_status_of_another_enum_is_refused(desk: Desk) -> None:
    with pytest.raises(InvalidStage, match="is not a member of State"):
        await run_job_loop(
            Ticket,
            State,
            "Queued",  # type: ignore[arg-type]
            State.PROCESSING,
            State.COMPLETE,
            State.ERROR,
            write_reply,
            engine=desk.engine,
        )


def test_the_example_in_the_documentation_runs(empty_database: Database) -> None:
    ran = subprocess.run(
        [sys.executable, "-W", "error", EXAMPLE, empty_database.dsn],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert ran.returncode == 0, ran.stderr
    assert "21 settled, 20 letters, failed: " in ran.stdout
    assert "not an address is not an address" in ran.stdout
