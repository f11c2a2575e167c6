"""Batches: every line accounted for, and a status that cannot lie."""

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta
from uuid import uuid4

import pytest
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine

from curation_sdk import Done, GiveUp, Outcome, Worker, stage
from scrapersky.curation import batch as batches
from scrapersky.curation.batch import progress, submit
from scrapersky.errors import InvalidSubmission, UnknownBatch
from scrapersky.records import Domain
from scrapersky.records.audit import Actor
from scrapersky.records.status import DomainStatus, TaskStatus


@stage(
    "domain_metadata",
    claims=Domain.status,
    error=Domain.error,
    tenant=Domain.tenant_id,
    priority=Domain.priority,
    queued=DomainStatus.PENDING,
    processing=DomainStatus.PROCESSING,
    done=DomainStatus.COMPLETED,
    failed=DomainStatus.ERROR,
)
async def look(domain: Domain, _tools: object) -> Outcome:
    return GiveUp("bad") if domain.domain.startswith("bad") else Done()


@pytest.fixture
async def worker(engine: AsyncEngine) -> AsyncIterator[Worker]:
    async with Worker(engine, [look]) as worker:
        yield worker


async def drain(worker: Worker) -> int:
    return await worker.drain("domain_metadata", within=timedelta(seconds=20))


LINES = [
    "a.test",
    "https://www.b.test/page",
    "A.test",
    "not a domain",
    "",
    "facebook.com/x",
]


async def test_every_line_is_accounted_for(engine: AsyncEngine, actor: Actor) -> None:
    done = await submit(engine, actor, "domains", LINES, name="first")

    assert (done.accepted, done.duplicates, done.refused) == (2, 1, 3)
    assert [number for number, _, _ in done.refusals] == [4, 5, 6]
    async with engine.connect() as connection:
        found = await connection.scalars(text("SELECT domain FROM domains ORDER BY 1"))
        assert found.all() == ["a.test", "b.test"]


async def test_submitting_again_changes_nothing(
    engine: AsyncEngine, actor: Actor
) -> None:
    await submit(engine, actor, "domains", LINES)
    again = await submit(engine, actor, "domains", LINES)

    assert (again.accepted, again.duplicates, again.refused) == (0, 3, 3)


async def test_many_submissions_at_once_make_each_domain_once(
    engine: AsyncEngine, actor: Actor
) -> None:
    lines = [f"site{n}.test" for n in range(300)]

    done = await asyncio.gather(
        *(submit(engine, actor, "domains", reversed(lines)) for _ in range(4))
    )

    assert sum(each.accepted for each in done) == 300
    assert sum(each.duplicates for each in done) == 900


@pytest.mark.parametrize("kind", ["sitemaps", "pages"])
async def test_sitemaps_and_pages_are_queued_for_their_stage(
    engine: AsyncEngine, actor: Actor, kind: str
) -> None:
    done = await submit(
        engine, actor, kind, ["https://a.test/x?utm_source=y", "https://a.test/x"]
    )

    assert (done.accepted, done.duplicates) == (1, 1)
    found = await progress(engine, actor.tenant_id, done.batch_id)
    assert (found.status, found.pending) == (TaskStatus.QUEUED, 2)


async def test_progress_is_counted_from_the_items(
    engine: AsyncEngine, actor: Actor, worker: Worker
) -> None:
    done = await submit(engine, actor, "domains", ["a.test", "bad.test", "?"])
    before = await progress(engine, actor.tenant_id, done.batch_id)
    await drain(worker)
    after = await progress(engine, actor.tenant_id, done.batch_id)

    assert (before.status, before.pending, before.refused) == (TaskStatus.QUEUED, 2, 1)
    assert (after.status, after.done, after.failed) == (TaskStatus.COMPLETED, 1, 1)


async def test_a_batch_in_which_all_failed_is_an_error(
    engine: AsyncEngine, actor: Actor, worker: Worker
) -> None:
    done = await submit(engine, actor, "domains", ["bad.test"])
    await drain(worker)

    found = await progress(engine, actor.tenant_id, done.batch_id)
    assert found.status == TaskStatus.ERROR


async def test_a_paused_batch_is_not_worked_and_goes_on_when_resumed(
    engine: AsyncEngine, actor: Actor, worker: Worker
) -> None:
    done = await submit(engine, actor, "domains", ["a.test", "b.test"])
    other = await submit(engine, actor, "domains", ["c.test"])

    assert await batches.pause_batch(engine, actor.tenant_id, done.batch_id) == 2
    await drain(worker)
    held = await progress(engine, actor.tenant_id, done.batch_id)
    went_on = await progress(engine, actor.tenant_id, other.batch_id)
    assert await batches.resume_batch(engine, actor.tenant_id, done.batch_id) == 2
    await drain(worker)
    finished = await progress(engine, actor.tenant_id, done.batch_id)

    assert (held.status, held.done) == (TaskStatus.PAUSED, 0)
    assert went_on.status == TaskStatus.COMPLETED
    assert (finished.status, finished.done) == (TaskStatus.COMPLETED, 2)


async def test_a_cancelled_batch_leaves_the_queue_for_good(
    engine: AsyncEngine, actor: Actor, worker: Worker
) -> None:
    done = await submit(engine, actor, "domains", ["a.test", "b.test"])
    await batches.pause_batch(engine, actor.tenant_id, done.batch_id)

    assert await batches.cancel_batch(engine, actor.tenant_id, done.batch_id) == 2
    assert await drain(worker) == 0

    found = await progress(engine, actor.tenant_id, done.batch_id)
    assert (found.status, found.refused) == (TaskStatus.CANCELLED, 2)


async def test_a_domain_that_was_cancelled_waits_again_when_it_is_submitted_again(
    engine: AsyncEngine, actor: Actor, worker: Worker
) -> None:
    first = await submit(engine, actor, "domains", ["a.test"])
    await batches.cancel_batch(engine, actor.tenant_id, first.batch_id)

    again = await submit(engine, actor, "domains", ["a.test"])
    await drain(worker)
    once_more = await submit(engine, actor, "domains", ["a.test"])

    found = await progress(engine, actor.tenant_id, again.batch_id)
    assert (again.accepted, found.done) == (1, 1)
    assert (once_more.accepted, once_more.duplicates) == (0, 1)


async def test_the_failed_ones_can_be_tried_again(
    engine: AsyncEngine, actor: Actor, worker: Worker
) -> None:
    done = await submit(engine, actor, "domains", ["bad.test", "a.test"])
    untouched = await submit(engine, actor, "domains", ["bad2.test"])
    await drain(worker)

    assert await batches.retry_failed(engine, actor.tenant_id, done.batch_id) == 1

    found = await progress(engine, actor.tenant_id, done.batch_id)
    assert found.pending == 1
    other = await progress(engine, actor.tenant_id, untouched.batch_id)
    assert other.failed == 1


async def test_an_empty_batch_retries_nothing_of_others(
    engine: AsyncEngine, actor: Actor, worker: Worker
) -> None:
    await submit(engine, actor, "domains", ["bad.test"])
    empty = await submit(engine, actor, "domains", [])
    await drain(worker)

    assert await batches.retry_failed(engine, actor.tenant_id, empty.batch_id) == 0


async def test_another_tenants_batch_does_not_exist(
    engine: AsyncEngine, actor: Actor
) -> None:
    done = await submit(engine, actor, "domains", ["a.test"])

    with pytest.raises(UnknownBatch):
        await progress(engine, uuid4(), done.batch_id)
    with pytest.raises(InvalidSubmission):
        await submit(engine, actor, "planets", [])
