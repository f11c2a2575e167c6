"""Looking after stages: figures, stories, dead letters, purging."""

from datetime import timedelta

import pytest
from sqlalchemy import text
from sqlalchemy.ext.asyncio import create_async_engine

from curation_sdk import Done, GiveUp, Outcome, Retry, dead_letters, history, migrate
from curation_sdk.control import depth, oldest, pause, purge, rate, resume, states
from curation_sdk.errors import UnknownItem, UnknownStage
from sdk_tests.desk import Desk, Ticket, triage


async def refuse(_ticket: Ticket, _tools: object) -> Outcome:
    return GiveUp("no")


async def fail(_ticket: Ticket, _tools: object) -> Outcome:
    return Retry("busy", after=timedelta(minutes=10))


async def test_tables_of_an_older_version_are_brought_up_to_date(desk: Desk) -> None:
    await desk.execute("ALTER TABLE curation.claim DROP COLUMN alone")
    await desk.open(1)

    await migrate(desk.engine)
    await migrate(desk.engine)

    assert await desk.drain(triage()) == 1


async def test_depth_and_age_of_a_queue(desk: Desk) -> None:
    await desk.drain(triage())
    await desk.open(7)
    await desk.execute("UPDATE ticket SET updated_at = '2020-01-01' WHERE id = 4")

    assert await depth(desk.engine, "triage") == 7
    assert await depth(desk.engine, "triage", at_most=5) == 5
    assert (await oldest(desk.engine, "triage")).year == 2020


async def test_the_rate_counts_what_was_finished(desk: Desk) -> None:
    await desk.open(30)
    await desk.drain(triage())

    assert await rate(desk.engine, "triage", over=timedelta(minutes=1)) == 0.5


async def test_a_story_says_everything_about_a_waiting_item(desk: Desk) -> None:
    await desk.open(1)
    await desk.drain(triage(fail))

    reported = await history(desk.engine, "triage", 1)

    assert (reported.status, reported.tries, reported.worker) == ("Processing", 1, None)
    assert reported.next_try_at is not None
    (attempt,) = reported.attempts
    assert (attempt.outcome, attempt.why, attempt.tries) == ("retried", "busy", 1)
    assert attempt.worker is not None
    assert attempt.claimed_at is not None
    assert attempt.claimed_at <= attempt.settled_at
    assert attempt.due_at is not None


async def test_a_story_of_an_item_nobody_touched(desk: Desk) -> None:
    await desk.drain(triage())
    await desk.open(1)

    reported = await history(desk.engine, "triage", 1)

    assert (reported.status, reported.attempts, reported.next_try_at) == (
        "Queued",
        (),
        None,
    )


async def test_an_unknown_item_or_stage_has_no_story(desk: Desk) -> None:
    await desk.drain(triage())

    with pytest.raises(UnknownItem):
        await history(desk.engine, "triage", 99)
    with pytest.raises(UnknownStage):
        await history(desk.engine, "nothing", 1)
    with pytest.raises(UnknownStage):
        await pause(desk.engine, "nothing", "why not")


async def test_dead_letters_are_listed_and_inspected(desk: Desk) -> None:
    await desk.open(3)
    await desk.drain(triage(refuse))

    listed = await dead_letters.list(desk.engine)
    letter = await dead_letters.inspect(desk.engine, "triage", 2)

    assert sorted(each.item for each in listed) == ["1", "2", "3"]
    assert (letter.kind, letter.why) == ("gave_up", "no")
    assert [attempt.outcome for attempt in letter.attempts] == ["gave_up"]


async def test_a_replayed_letter_is_worked_again_with_all_its_attempts(
    desk: Desk,
) -> None:
    await desk.open(2)
    await desk.drain(triage(refuse))

    assert await dead_letters.replay(desk.engine, "triage", 1) == 1
    assert await desk.states() == {"Queued": 1, "Error": 1}

    await desk.drain(triage())
    assert await desk.outcomes(1) == ["gave_up", "replayed", "done"]
    assert [each.item for each in await dead_letters.list(desk.engine, "triage")] == [
        "2"
    ]


async def test_all_letters_of_a_stage_are_replayed_at_once(desk: Desk) -> None:
    await desk.open(5)
    await desk.drain(triage(refuse))

    assert await dead_letters.replay(desk.engine, "triage") == 5
    assert await desk.states() == {"Queued": 5}


async def test_a_discarded_letter_keeps_its_failed_status(desk: Desk) -> None:
    await desk.open(2)
    await desk.drain(triage(refuse))

    assert await dead_letters.discard(desk.engine, "triage", 1) == 1

    assert await desk.states() == {"Error": 2}
    with pytest.raises(UnknownItem):
        await dead_letters.inspect(desk.engine, "triage", 1)


async def test_a_row_queued_again_by_plain_sql_is_no_dead_letter(desk: Desk) -> None:
    await desk.open(1)
    await desk.drain(triage(refuse))
    await desk.execute("UPDATE ticket SET state = 'Queued'")
    await desk.drain(triage())

    assert await dead_letters.list(desk.engine) == ()
    assert await dead_letters.replay(desk.engine, "triage") == 0
    assert await desk.states() == {"Complete": 1}


@pytest.mark.direct
async def test_the_sixth_purge_was_planned_for_any_age_and_read_the_whole_table(
    desk: Desk,
) -> None:
    engine = create_async_engine(desk.engine.url, pool_size=1, max_overflow=0)

    for _ in range(8):
        await purge(engine, older_than=timedelta(days=30))

    async with engine.connect() as connection:
        planned = await connection.execute(
            text(
                "SELECT sum(custom_plans), sum(generic_plans) FROM pg_prepared_statements"
                " WHERE statement LIKE 'DELETE FROM curation.attempt%'"
            )
        )
        assert planned.one() == (8, 0)
    await engine.dispose()


async def test_old_attempts_are_purged_but_not_those_of_dead_letters(
    desk: Desk,
) -> None:
    async def work(ticket: Ticket, _tools: object) -> Outcome:
        return GiveUp("no") if ticket.id == 1 else Done()

    await desk.open(10)
    await desk.drain(triage(work))
    await desk.execute(
        "UPDATE curation.attempt SET settled_at = now() - interval '40 days'"
    )

    assert await purge(desk.engine, older_than=timedelta(days=50)) == 0
    assert await purge(desk.engine, older_than=timedelta(days=30)) == 9
    assert await desk.outcomes(1) == ["gave_up"]


async def test_a_pause_is_visible_and_ends(desk: Desk) -> None:
    await desk.drain(triage())

    await pause(desk.engine, "triage", "billing", resume_after=timedelta(hours=1))
    (paused,) = await states(desk.engine)
    await resume(desk.engine, "triage")
    (resumed,) = await states(desk.engine)

    assert (paused.paused, paused.paused_why) == (True, "billing")
    assert (resumed.paused, resumed.paused_why) == (False, None)
