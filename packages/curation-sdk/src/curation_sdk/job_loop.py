"""Job loops, for a model of your own and an `async def f(item_id, session)`.

The same claims, leases and fences as for stages. Because the function gets a session,
the item is settled in that session's own transaction: what the function wrote and the
new status commit together, or neither does.
"""

import asyncio
import contextlib
import inspect
import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import timedelta
from enum import Enum, EnumType
from typing import Any, Literal, Unpack, get_args

import asyncpg
from sqlalchemy import ColumnElement
from sqlalchemy.exc import (
    IllegalStateChangeError,
    InterfaceError,
    InvalidRequestError,
)
from sqlalchemy.ext.asyncio import AsyncEngine
from sqlalchemy.orm import InstrumentedAttribute

from curation_sdk import statements
from curation_sdk.claim import ClaimedKey
from curation_sdk.connection import (
    Transaction,
    driver_beneath,
    refuse_unusable_engine,
    root_of,
)
from curation_sdk.errors import ClaimLost, ContractViolation, InvalidStage
from curation_sdk.events import (
    Claimed,
    DeadLettered,
    Event,
    Events,
    Retried,
    Settled,
)
from curation_sdk.execution import CANCEL_GRACE_SECONDS
from curation_sdk.job_session import JobSession, with_guarded_commits
from curation_sdk.lock_wait import LockWait
from curation_sdk.outcome import Done, GiveUp, Later, Outcome, Retry, Skip
from curation_sdk.queue import Queue, queue_of
from curation_sdk.settlement import (
    Broken,
    Committed,
    Result,
    Settlement,
    columns_of,
    described,
    settlement_of,
    text_of,
    traceback_of,
)
from curation_sdk.stage import (
    Order,
    Stage,
    Term,
    WorkOptions,
    default_order,
    is_generator,
    name_of,
    refuse_unmapped,
    takes,
)
from curation_sdk.worker import Worker

JobFunction = Callable[[Any, JobSession], Awaitable[Outcome | None]]
OrderBy = str | InstrumentedAttribute[Any] | ColumnElement[Any]
Mode = Literal["drain", "one_batch"]
LOOK_SHARE = 0.9
"""The share of its timeout after which a function may be waiting for itself."""
LOOK_SECONDS = 1.0
"""What a look may take; a timeout of less is looked at when half of it has passed."""
GONE_REASON = "its row is gone: the function deleted it, or changed its primary key"


async def run_job_loop(  # noqa: PLR0917 - the order its users know
    model: type[Any],
    status_enum: type[Enum],
    queued_status: Enum,
    processing_status: Enum,
    completed_status: Enum,
    failed_status: Enum,
    processing_function: JobFunction,
    batch_size: int = 10,
    order_by_column: OrderBy | Sequence[OrderBy] | None = None,
    status_field_name: str = "status",
    error_field_name: str | None = "error",
    *,
    engine: AsyncEngine,
    mode: Mode = "drain",
    within: timedelta = timedelta(minutes=10),
    name: str | None = None,
    events: Events[Event] | None = None,
    **options: Unpack[WorkOptions],
) -> int:
    """Work the queued rows of a model; return how many attempts were settled.

    `mode="drain"` works until nothing is left or `within` is over; `"one_batch"` works
    at most `batch_size` rows and returns. Either rescues the rows of a process that was
    killed, and rows that are processing although no worker has claimed them, so a loop
    called from cron needs no other housekeeping. Each call writes one line at INFO with
    its counts.

    The function `async def f(item_id, session)` returns when the item is done and raises
    when it failed; it may also return an outcome, or set the status itself. What it writes
    is committed when it returns, together with the status. Each item in work uses one
    connection from its first statement on, besides the two of the loop.

    For a whole program, set the rest once: `partial(run_job_loop, engine=engine,
    mode="one_batch")`. `name` is the stage's name, `table_column` unless given; `events` is
    as in `Worker`. The options are fields of `Stage`: `concurrency` (here 1), `timeout`,
    `lease`, `slow_after`, `max_attempts`, `max_crashes`, `backoff`, `rate_per_minute` and
    `logger`.

    A function that breaks this contract ends the loop with ContractViolation, and one
    that raises what is not an Exception with that; its row and all others are handed
    back. One that runs past `timeout` is cancelled and tried again; if it ignores that
    for five seconds it is disconnected from the database and left to itself.
    """
    # Two of the worker's own, and one for the session of an item.
    refuse_unusable_engine(engine, connections=3)
    refuse_unmapped(name or "run_job_loop", model)
    refuse_foreign_statuses(
        name or model.__name__,
        status_enum,
        (queued_status, processing_status, completed_status, failed_status),
    )
    stage_name = name or default_name(model, status_field_name)
    refuse_unusable_function(stage_name, processing_function)
    if mode not in get_args(Mode):
        raise InvalidStage(
            stage_name,
            f"its mode is {mode!r}",
            hint=f"Pass one of {', '.join(get_args(Mode))}.",
        )

    async def work(claim: ClaimedKey, _tools: None) -> Any:  # noqa: ANN401 - a Result
        return await job.run(claim)

    stage: Stage[Any, Any] = Stage(
        name=stage_name,
        model=model,
        work=work,
        claims=attribute_named(
            stage_name, model, status_field_name, "status_field_name"
        ),
        queued=queued_status,
        processing=processing_status,
        done=completed_status,
        failed=failed_status,
        error=attribute_named(stage_name, model, error_field_name, "error_field_name")
        if error_field_name
        else None,
        order_by=order_of(stage_name, model, order_by_column),
        batch=batch_size,
        load="claim",
        **(WorkOptions(concurrency=1) | options),
    )
    queue = queue_of(stage, engine.dialect)
    job = JobRunner(with_guarded_commits(engine), stage, queue, processing_function)
    # Events of their own: those given may be shared with other loops and workers.
    heard: Events[Event] = Events()
    counts = JobCounts()
    heard.listen(counts.add)
    if events is not None:
        heard.listen(events.emit)
    async with Worker(engine, [stage], events=heard) as worker:
        if mode == "one_batch":
            settled = await worker.run_batch(stage, within=within)
        else:
            settled = await worker.drain(stage, within=within, rescue=True)
    queue.log.info("job_loop.ended", **asdict(counts), total=settled)
    if job.failure is not None:
        raise job.failure
    return settled


@dataclass(slots=True)
class JobCounts:
    """What one call of a loop came to."""

    picked: int = 0
    succeeded: int = 0
    failed: int = 0
    """Attempts that failed, for good or for now."""
    retried: int = 0
    """How many of those are tried again later."""

    def add(self, event: Event) -> None:
        """Count what an event reports."""
        match event:
            case Claimed(items=items):
                self.picked += len(items)
            case Settled(outcome="done" | "skipped"):
                self.succeeded += 1
            case Retried():
                self.failed += 1
                self.retried += 1
            case DeadLettered(kind="gave_up" | "exhausted"):
                self.failed += 1


@dataclass(slots=True)
class JobRunner:
    """A user's function, and how its item is settled in the function's own session."""

    engine: AsyncEngine
    stage: Stage[Any, Any]
    queue: Queue
    function: JobFunction
    failure: BaseException | None = None
    """What ends the loop: a broken contract, or what is not an Exception."""

    async def run(self, claim: ClaimedKey) -> Result:
        """Run the function in a fenced session, and settle in its transaction."""
        if self.failure is not None:
            return Broken(str(self.failure), is_local=True)
        session = JobSession(self.engine, self.stage.model, self.queue, claim)
        wait = LockWait(self.engine, session)
        limit = self.stage.timeout.total_seconds()
        later = asyncio.get_running_loop().call_later
        timers = (
            later(
                max(limit / 2, min(limit * LOOK_SHARE, limit - LOOK_SECONDS)), wait.look
            ),
            later(limit + CANCEL_GRACE_SECONDS, session.abandon),
        )
        try:
            return await self._run_in(session, claim)
        except asyncio.CancelledError:
            if not wait.is_found:
                raise
            cause = await wait.cause(claim.item, name_of(self.function))
            return cause if isinstance(cause, Retry) else self._stop(claim, cause)
        except (Exception, KeyboardInterrupt, SystemExit):
            raise
        except BaseException as error:  # noqa: BLE001 - it ends the loop
            return self._stop(claim, error)
        finally:
            for timer in timers:
                timer.cancel()
            await session.end()

    async def _run_in(self, session: JobSession, claim: ClaimedKey) -> Result:
        try:
            outcome = await self._outcome_of(claim, session)
            if isinstance(outcome, Done):
                session.refuse_ended_transaction()
                return await self._settle_at_once(claim, session, outcome)
            await session.refuse_other_transaction()
            await session.rollback()
        except ContractViolation as violation:
            if session.is_abandoned:
                raise
            return self._stop(claim, violation)
        except Exception as error:
            if broken := await self._violation_of(claim, session, error):
                return self._stop(claim, broken)
            failed = await self._settle_failed(claim, session, error)
            if failed is None:
                raise
            return failed
        return outcome

    async def _settle_failed(
        self, claim: ClaimedKey, session: JobSession, error: Exception
    ) -> Result | None:
        """Settle an item that the function has marked as failed before it raised.

        What it had committed with that is kept, as a commit of its own would have been.
        None: it has not, or that cannot be found out.
        """
        if getattr(error, "pauses_stage", None) is True or session.has_returned:
            return None
        with contextlib.suppress(Exception):
            await session.rollback()
            driver = await driver_beneath(await session.flushed_connection())
            row = await driver.fetchrow(
                statements.status_as_set(self.queue), claim.item
            )
            if row is not None and row[0] == self.queue.failed:
                settlement = replace(
                    settlement_as_set(self.queue, *row), traceback=traceback_of(error)
                )
                await self._close_claim(claim, driver, settlement)
                await session.commit_with_status()
                return Committed(settlement)
        return None

    async def _violation_of(
        self, claim: ClaimedKey, session: JobSession, error: Exception
    ) -> ContractViolation | None:
        """Return which rule a function that raised has broken, if it has."""
        if isinstance(error, ClaimLost):
            return None
        if is_in_use(error):
            session.disconnect()
            return ContractViolation(
                f"{name_of(self.function)} used the session of item {claim.item} in "
                "two tasks at once.",
                hint="Await each statement before the next one; gather needs a session "
                "for each of its tasks.",
            )
        try:
            await session.refuse_other_transaction()
        except ContractViolation as violation:
            return violation
        return None

    def _stop(self, claim: ClaimedKey, failure: BaseException) -> Result:
        """End the loop; the item is handed back as if it had never been claimed."""
        if self.failure is None:
            self.failure = failure
        why = text_of(failure)
        self.queue.log.error("job.contract_violation", item=claim.item, why=why)
        return Broken(why, is_local=True)

    async def _outcome_of(self, claim: ClaimedKey, session: JobSession) -> Outcome:
        returned = self.function(claim.key, session)
        if not inspect.isawaitable(returned):
            raise ContractViolation(
                f"{name_of(self.function)} is not async: it returned {returned!r} "
                "instead of a coroutine.",
                hint="Declare it with `async def`.",
            )
        outcome = await returned
        if outcome is None:
            return Done()
        if not isinstance(outcome, Done | Retry | Later | GiveUp | Skip):
            raise ContractViolation(
                f"{name_of(self.function)} returned {described(outcome)}.",
                hint="Return nothing when the item is done, raise when it failed, or "
                "return an outcome (Done, Retry, Later, GiveUp, Skip).",
            )
        return outcome

    async def _settle_at_once(
        self, claim: ClaimedKey, session: JobSession, outcome: Done
    ) -> Result:
        """Settle, unless a task that the function left behind uses the connection."""
        try:
            return await self._settle(claim, session, outcome)
        except (asyncpg.InterfaceError, InvalidRequestError, InterfaceError) as error:
            if not is_in_use(error):
                raise
            session.disconnect()
            raise ContractViolation(
                f"{name_of(self.function)} returned while a task it had started still "
                f"used the session of item {claim.item}.",
                hint="Await every task that the function starts before it returns.",
            ) from error

    async def _settle(
        self, claim: ClaimedKey, session: JobSession, outcome: Done
    ) -> Result:
        """Change the status in the session's transaction and commit both."""
        connection = await session.flushed_connection()
        driver = await driver_beneath(connection)
        if outcome.effect is not None:
            transaction = Transaction(connection, driver)
            await outcome.effect(transaction)
            await transaction.end()
        key = (self.queue.stage, claim.item, claim.fence, session.began_at)
        if await driver.fetch(statements.settle_one(self.queue), *key):
            await session.commit_with_status()
            return Committed()
        return await self._settle_as_set(claim, session, driver)

    async def _settle_as_set(
        self,
        claim: ClaimedKey,
        session: JobSession,
        driver: Any,  # noqa: ANN401 - asyncpg's
    ) -> Result:
        """Settle an item whose status the function has set itself."""
        await session.refuse_other_transaction()
        row = await driver.fetchrow(statements.status_as_set(self.queue), claim.item)
        status, error = row or (None, None)
        if status == self.queue.processing:
            raise ClaimLost(f"Another worker has claimed item {claim.item} meanwhile.")
        if status == self.queue.queued:
            settlement = await self._settle_as_queued(claim, driver)
        else:
            settlement = settlement_as_set(self.queue, status, error)
            await self._close_claim(claim, driver, settlement)
        await session.commit_with_status()
        return Committed(settlement)

    async def _close_claim(
        self,
        claim: ClaimedKey,
        driver: Any,  # noqa: ANN401 - asyncpg's
        settlement: Settlement,
    ) -> None:
        await driver.execute(
            statements.CLOSE_CLAIM,
            self.queue.stage,
            claim.item,
            claim.fence,
            settlement.outcome,
            settlement.why,
            settlement.traceback,
        )

    async def _settle_as_queued(self, claim: ClaimedKey, driver: Any) -> Settlement:  # noqa: ANN401
        """Try an item again that the function has queued, with the pauses of a failure.

        Left queued, the row would be claimed again immediately and endlessly.
        """
        retry = Retry("the function queued it again")
        settlement = settlement_of(self.stage, self.queue, claim, retry)
        await driver.execute(statements.mark_processing(self.queue), claim.item)
        await driver.fetch(
            statements.settle_any(self.queue),
            self.queue.stage,
            [claim.item],
            [claim.fence],
            *columns_of([settlement]),
        )
        return settlement


def settlement_as_set(
    queue: Queue, status: str | None, error: str | None
) -> Settlement:
    """Interpret a status that the function has set: done, failed, or another one."""
    if status is None:
        return Settlement("done", queue.done, GONE_REASON)
    if status == queue.done:
        return Settlement("done", status, None)
    if status == queue.failed:
        return Settlement("gave_up", status, error or f"the function set {status}")
    return Settlement("skipped", status, error or f"the function set {status}")


def default_name(model: type[Any], status_field_name: str) -> str:
    """Return a stage's name made of schema, table and column."""
    table = model.__table__
    words = [*([table.schema] if table.schema else []), table.name, status_field_name]
    return re.sub(r"\W", "_", "_".join(words))


def refuse_foreign_statuses(
    stage: str, status_enum: type[Enum], statuses: Sequence[object]
) -> None:
    """Raise unless every status is a member of the enum."""
    if not isinstance(status_enum, EnumType):
        raise InvalidStage(
            stage,
            f"status_enum is {status_enum!r}, not an Enum class",
            hint="Pass the class whose members the four statuses are.",
        )
    for status in statuses:
        if not isinstance(status, status_enum):
            raise InvalidStage(
                stage,
                f"{status!r} is not a member of {status_enum.__name__}",
                hint=f"Write {status_enum.__name__}.NAME for each status.",
            )


def refuse_unusable_function(stage: str, function: object) -> None:
    """Raise for what can never be awaited with an item and a session."""
    if not callable(function):
        raise InvalidStage(
            stage,
            f"{function!r} cannot be called",
            hint="Pass an `async def f(item_id, session)`.",
        )
    if is_generator(function):
        raise InvalidStage(
            stage,
            f"{name_of(function)} is a generator",
            hint="Use `async def` without `yield`.",
        )
    if not takes(function, 2):
        raise InvalidStage(
            stage,
            f"{name_of(function)} cannot be called with an item's key and a session",
            hint="Declare it as `async def f(item_id, session)`.",
        )


def attribute_named(
    stage: str, model: type[Any], name: str, parameter: str
) -> InstrumentedAttribute[Any]:
    """Return a model's attribute; raise InvalidStage if it has none of this name."""
    found = getattr(model, name, None)
    if not isinstance(found, InstrumentedAttribute):
        raise InvalidStage(
            stage,
            f"{model.__name__} has no column '{name}'",
            hint=f"Name a column of {model.__name__} in {parameter}="
            f"{' (None: keep no error)' if parameter == 'error_field_name' else ''}.",
        )
    return found


def order_of(
    stage: str, model: type[Any], wanted: OrderBy | Sequence[OrderBy] | None
) -> Order:
    """Return the order of claims, from any of the forms a caller may write it in."""
    if wanted is None:
        return default_order(stage, model, parameter="order_by_column")
    if isinstance(wanted, list | tuple):
        return tuple(term_of(stage, model, each) for each in wanted)
    return term_of(stage, model, wanted)


def term_of(stage: str, model: type[Any], wanted: Any) -> Term:  # noqa: ANN401 - an OrderBy
    """Return one term of an order: a column by its name, or as it is."""
    if isinstance(wanted, str):
        return attribute_named(stage, model, wanted, "order_by_column")
    term: Term = wanted
    return term


def is_in_use(error: Exception) -> bool:
    """Return whether a connection was used by two tasks at the same time."""
    return (
        isinstance(error, IllegalStateChangeError)
        or getattr(error, "code", None) == "isce"
        or "another operation is in progress" in str(root_of(error))
    )
