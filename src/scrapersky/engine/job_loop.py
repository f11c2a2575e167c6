"""The plain way in: a model of your own and an `async def f(item_id, session)`.

The same claims, leases and fences as for stages. Because the function gets a session,
the engine settles the item in that session's own transaction: what the function wrote
and the new status commit together, or neither does.
"""

from collections.abc import Awaitable, Callable
from datetime import timedelta
from enum import Enum
from typing import Any

from sqlalchemy import event, text
from sqlalchemy.engine import Connection
from sqlalchemy.ext.asyncio import AsyncEngine, AsyncSession
from sqlalchemy.orm import Session, SessionTransaction

from scrapersky.engine.claim import Claim
from scrapersky.engine.events import Event
from scrapersky.engine.outcome import Done, Outcome
from scrapersky.engine.queue import queue_of
from scrapersky.engine.sql import settle_done
from scrapersky.engine.stage import Backoff, Stage, default_order
from scrapersky.engine.transaction import Transaction
from scrapersky.engine.verdict import Committed, Result
from scrapersky.engine.worker import Worker
from scrapersky.errors import ClaimLost, EngineError, StageRefused
from scrapersky.kit.events import Events

JobFunction = Callable[[Any, AsyncSession], Awaitable[Outcome | None]]

FENCE_CHECK = text(
    "SELECT 1 FROM curation.claim"
    " WHERE stage = :stage AND item = :item AND fence = :fence FOR UPDATE"
)


async def run_job_loop(  # noqa: PLR0917 - the order its users know
    model: type[Any],
    status_enum: type[Enum],
    queued_status: Enum,
    processing_status: Enum,
    completed_status: Enum,
    failed_status: Enum,
    processing_function: JobFunction,
    batch_size: int = 10,
    order_by_column: str | None = None,
    status_field_name: str = "status",
    error_field_name: str | None = "error",
    *,
    engine: AsyncEngine,
    name: str | None = None,
    concurrency: int = 1,
    timeout: timedelta = timedelta(minutes=5),  # noqa: ASYNC109 - of each item
    lease: timedelta = timedelta(seconds=30),
    max_attempts: int = 5,
    backoff: Backoff | None = None,
    within: timedelta = timedelta(minutes=10),
    events: Events[Event] | None = None,
) -> int:
    """Work every queued row of a model until none is left; return how many settled.

    The function returns when the item is done and raises when it is not; it may also
    return an outcome. It never commits: `session.commit()` only flushes, and the
    engine commits at the end, together with the status. Each item in work uses one
    connection from its first statement on, besides the two of the engine.
    """
    for status in (queued_status, processing_status, completed_status, failed_status):
        if not isinstance(status, status_enum):
            raise StageRefused(
                name or model.__name__,
                f"{status!r} is not a member of {status_enum.__name__}",
            )
    stage_name = name or f"{model.__tablename__}_{status_field_name}"
    order = order_by_column

    async def work(claim: Claim, _tools: None) -> Any:  # noqa: ANN401 - a Result
        return await work_in_session(job, claim)

    stage: Stage[Any, Any] = Stage(
        name=stage_name,
        model=model,
        work=work,
        claims=getattr(model, status_field_name),
        queued=queued_status,
        processing=processing_status,
        done=completed_status,
        failed=failed_status,
        error=getattr(model, error_field_name) if error_field_name else None,
        order_by=getattr(model, order) if order else default_order(stage_name, model),
        batch=batch_size,
        concurrency=concurrency,
        timeout=timeout,
        lease=lease,
        max_attempts=max_attempts,
        backoff=backoff or Backoff(),
        load="claim",
    )
    queue = queue_of(stage, engine.dialect)
    job = Job(
        engine,
        stage_name,
        processing_function,
        settle_done(queue, "SELECT item, fence FROM kept"),
    )
    async with Worker(engine, [stage], events=events) as worker:
        return await worker.drain(stage, within=within)


class Job:
    """A user's function and how its item is settled."""

    __slots__ = ("engine", "function", "settle", "stage")

    def __init__(
        self, engine: AsyncEngine, stage: str, function: JobFunction, settle: str
    ) -> None:
        self.engine = engine
        self.stage = stage
        self.function = function
        self.settle = settle


class JobSession(AsyncSession):
    """A session that connects at its first statement and leaves the commit to the engine."""

    async def commit(self) -> None:
        """Flush; everything commits together when the function returns."""
        await self.flush()

    async def commit_with_status(self) -> None:
        """Commit what was written, the status among it."""
        self.sync_session.info["may_commit"] = True
        await super().commit()


async def work_in_session(job: Job, claim: Claim) -> Result:
    """Run the function in a fenced session; settle in its transaction if it has one."""
    session = JobSession(job.engine, expire_on_commit=False)
    guard(session.sync_session, job.stage, claim)
    try:
        outcome = await job.function(claim.key, session)
        if outcome is None:
            outcome = Done()
        if not isinstance(outcome, Done):
            await session.rollback()
            return outcome
        await session.flush()
        if not session.in_transaction():
            return outcome
        await settle_inside(job, claim, session, outcome)
    finally:
        await session.close()
    return Committed()


async def settle_inside(
    job: Job, claim: Claim, session: JobSession, outcome: Done
) -> None:
    """Change the status in the session's transaction and commit both."""
    connection = await session.connection()
    raw = await connection.get_raw_connection()
    driver = raw.driver_connection
    assert driver is not None  # noqa: S101 - for the type checker
    if outcome.effect is not None:
        transaction = Transaction(connection, driver)
        await outcome.effect(transaction)
        await transaction.end()
    kept = await driver.fetch(job.settle, job.stage, [claim.item], [claim.fence])
    if not kept:
        raise ClaimLost(f"Item {claim.item} belongs to someone else now.")
    await session.commit_with_status()


def guard(session: Session, stage: str, claim: Claim) -> None:
    """Let the session write only while the item is ours, and never commit early."""
    values = {"stage": stage, "item": claim.item, "fence": claim.fence}

    def check_fence(
        _session: Session, _transaction: SessionTransaction, connection: Connection
    ) -> None:
        # The lock makes the reaper, and any later claim, wait for our COMMIT.
        if connection.execute(FENCE_CHECK, values).first() is None:
            raise ClaimLost(f"Item {claim.item} belongs to someone else now.")

    def refuse_commit(session: Session) -> None:
        if not session.info.get("may_commit") and not session.in_nested_transaction():
            raise EngineError(
                "The function tried to commit by itself.",
                hint="Leave out session.begin(); the engine commits when it returns.",
            )

    event.listen(session, "after_begin", check_fence)
    event.listen(session, "before_commit", refuse_commit)
