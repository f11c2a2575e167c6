"""Helpers for tests of your own stages, on a database of your own.

    from curation_sdk.testing import assert_settled, drain

    async def test_a_letter_is_sent(engine):
        await queue_a_subscriber(engine, 1)
        await drain(engine, send_welcome, tools=Tools(...))
        await assert_settled(engine, send_welcome, 1)

A stage may be given as it is or by its name. Pauses between attempts are skipped, not
waited for; around `run_job_loop`, call `make_due` before the next call.
"""

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any, TypeAlias, TypedDict, Unpack, overload

from sqlalchemy.ext.asyncio import AsyncEngine

from curation_sdk import dead_letters, statements
from curation_sdk.control import execute, pause, resume, states
from curation_sdk.dead_letters import DeadLetter
from curation_sdk.errors import UnknownItem
from curation_sdk.history import History, history
from curation_sdk.registry import AnyStage, Registry
from curation_sdk.stage import Stage, ToolsT
from curation_sdk.worker import Worker

POLL_TIME = timedelta(milliseconds=20)

StageOrName: TypeAlias = Stage[Any, Any] | str


class DrainOptions(TypedDict, total=False):
    """What `drain` takes besides stages and their tools."""

    registry: Registry | None
    within: timedelta


@overload
async def drain(
    engine: AsyncEngine, *stages: Stage[Any, None], **options: Unpack[DrainOptions]
) -> int: ...


@overload
async def drain(
    engine: AsyncEngine,
    *stages: Stage[Any, ToolsT],
    tools: ToolsT,
    **options: Unpack[DrainOptions],
) -> int: ...


async def drain(
    engine: AsyncEngine,
    *stages: Stage[Any, Any],
    tools: object = None,
    registry: Registry | None = None,
    within: timedelta = timedelta(seconds=60),
) -> int:
    """Work the stages until nothing of them is left; return how many attempts settled.

    Items that failed are tried again at once, until they succeed or become dead letters.
    What one stage queues for another is worked too. A paused stage is left as it is.
    `registry` is needed where a stage feeds one that is not among `stages`. Raises
    TimeoutError if there is still something to do after `within`.
    """
    deadline, total = time.monotonic() + within.total_seconds(), 0
    async with Worker(
        engine, stages, tools=tools, registry=registry, poll=POLL_TIME
    ) as worker:
        while True:
            settled = await drain_once(engine, worker, deadline)
            if not settled:
                return total
            total += settled
            if time.monotonic() > deadline:
                raise TimeoutError(f"There is still work after {within}.")


async def drain_once(engine: AsyncEngine, worker: Worker, deadline: float) -> int:
    """Work each stage of a worker once, with all that waits; return how many settled."""
    settled = 0
    for stage in worker.stages:
        await make_due(engine, stage)
        left = timedelta(seconds=max(deadline - time.monotonic(), 0.1))
        settled += await worker.drain(stage, within=left)
    return settled


async def make_due(engine: AsyncEngine, stage: StageOrName, *item_ids: object) -> int:
    """End the pause before the next attempt, of these items or of all; return how many."""
    items = [str(item) for item in item_ids] or None
    async with engine.begin() as connection:
        made = await execute(connection, statements.MAKE_DUE, name_of(stage), items)
        return made.rowcount


async def advance(engine: AsyncEngine, stage: StageOrName, by: timedelta) -> int:
    """Bring the next attempt of every waiting item so much nearer; return how many wait."""
    async with engine.begin() as connection:
        moved = await execute(
            connection, statements.ADVANCE, name_of(stage), by.total_seconds()
        )
        return moved.rowcount


@asynccontextmanager
async def freeze(engine: AsyncEngine, *stages: AnyStage) -> AsyncIterator[None]:
    """Let nothing be claimed inside the block, by these stages or by all that are known.

    Stages that were paused before stay paused after it.
    """
    if stages:
        # A stage can be paused only once the database knows it.
        await Registry([]).check(engine, stages)
    chosen = {stage.name for stage in stages}
    frozen = [
        state.name
        for state in await states(engine)
        if not state.paused and (not chosen or state.name in chosen)
    ]
    for name in frozen:
        await pause(engine, name, "frozen by a test")
    try:
        yield
    finally:
        for name in frozen:
            await resume(engine, name)


async def assert_settled(
    engine: AsyncEngine, stage: StageOrName, item_id: object, outcome: str = "done"
) -> History:
    """Assert that an item has left the stage with this outcome; return its history."""
    known = await history(engine, name_of(stage), item_id)
    last = known.attempts[-1].outcome if known.attempts else None
    if known.worker is not None:
        raise AssertionError(described(known, "is in work again"))
    if last != outcome:
        raise AssertionError(described(known, f"is not settled as {outcome}"))
    return known


async def assert_dead_letter(
    engine: AsyncEngine,
    stage: StageOrName,
    item_id: object,
    kind: str | None = None,
    *,
    why: str = "",
) -> DeadLetter:
    """Assert that an item is a dead letter, of this kind and with `why` in its reason."""
    try:
        letter = await dead_letters.inspect(engine, name_of(stage), item_id)
    except UnknownItem:
        known = await history(engine, name_of(stage), item_id)
        raise AssertionError(described(known, "is not a dead letter")) from None
    if kind not in {None, letter.kind} or why not in (letter.why or ""):
        wanted = f"{kind or 'a dead letter'} because of {why!r}"
        raise AssertionError(
            f"Item {item_id} is {letter.kind}: {letter.why}; not {wanted}"
        )
    return letter


def described(known: History, problem: str) -> str:
    """Say what is wrong with an item, and everything that happened to it."""
    lines = [f"Item {known.item} of {known.stage} {problem}: it is {known.status}."]
    lines += [
        f"  attempt {attempt.tries}: {attempt.outcome} {attempt.why or ''}".rstrip()
        for attempt in known.attempts
    ]
    return "\n".join(lines if known.attempts else [*lines, "  never attempted"])


def name_of(stage: StageOrName) -> str:
    """Return a stage's name."""
    return stage if isinstance(stage, str) else stage.name
