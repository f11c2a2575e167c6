"""Settle: results, status and the next stage's rows commit together, or not at all."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

from curation_sdk import statements
from curation_sdk.background import (
    FIRST_PAUSE_SECONDS,
    MAX_PAUSE_SECONDS,
    BackgroundTasks,
    survive_cancellation,
)
from curation_sdk.claim import ClaimedItem
from curation_sdk.connection import (
    IDLE_TIMEOUT,
    Transaction,
    WorkerConnection,
    ended_by_effect,
    is_lost,
    is_transient,
)
from curation_sdk.errors import ContractViolation
from curation_sdk.events import (
    DeadLettered,
    Event,
    Events,
    Fenced,
    Retried,
    Settled,
    WorkerFault,
)
from curation_sdk.execution import Batch, FinishedItem, StageRun
from curation_sdk.outcome import Done, Effect, GiveUp, Retry
from curation_sdk.settlement import (
    Broken,
    Committed,
    Result,
    Settlement,
    columns_of,
    described,
    result_of_error,
    settlement_of,
    text_of,
    traceback_in,
)

EFFECT_TIMEOUT = timedelta(seconds=60)
MAX_EFFECTS_PER_COMMIT = 100
MAX_SETTLE_ROUNDS = 3
WITH_EFFECT = (Done, Retry, GiveUp)
MIN_ITEMS_FOR_DONE_MANY = 50
"""How many items a group must have to be settled by the statement made for many."""
MAX_ITEMS_PER_SETTLE = 1_000
COMMIT_DELAY_SECONDS = 0.003
"""Seconds a settle waits for more items while they arrive in quick succession."""
FULL_COMMIT_ITEMS = 200
"""How many results are committed without waiting for more."""


class EffectFailed(Exception):
    """An item's effect raised: that item failed, the others in its transaction did not."""

    def __init__(self, held: ClaimedItem, cause: BaseException) -> None:
        super().__init__(text_of(cause))
        self.held = held
        self.cause = cause


class EffectStalled(TimeoutError):
    """An effect was cut short: connection lost, statement slow, or task cancelled."""


class Settler:
    """Writes what became of items, even if the connection breaks in the middle.

    Results of several batches share one commit, stage by stage.
    """

    def __init__(
        self,
        runs: Mapping[str, StageRun],
        connection: WorkerConnection,
        background: BackgroundTasks,
        events: Events[Event],
        *,
        worker: str,
        on_wake: Callable[[Iterable[str]], None],
    ) -> None:
        self._runs = runs
        self._connection = connection
        self._background = background
        self._events = events
        self._worker = worker
        self._on_wake = on_wake
        self._settling = False
        self.some_finished = asyncio.Event()
        self.refused = 0

    @property
    def unsettled(self) -> int:
        """How many results are not in the database yet, or 1 while some are on the way."""
        waiting = sum(len(run.finished) for run in self._runs.values())
        return waiting + self._settling

    async def settle_finished(self) -> None:
        """Settle results as they arrive."""
        last = 0.0
        while True:
            await self.some_finished.wait()
            if (
                time.monotonic() - last < COMMIT_DELAY_SECONDS * 3
                and self.unsettled < FULL_COMMIT_ITEMS
            ):
                # In a stream of small batches, several of them share one commit.
                await asyncio.sleep(COMMIT_DELAY_SECONDS)
            await self.settle_all()
            last = time.monotonic()

    async def settle_all(self) -> None:
        """Settle what is finished now."""
        self.some_finished.clear()
        self._settling = True
        try:
            for run in self._runs.values():
                batch, run.finished = run.finished, []
                try:
                    await self._settle_in_parts(run, batch)
                except asyncio.CancelledError:
                    # The event loop ends: who stops the worker then settles the rest.
                    run.finished[:0] = [each for each in batch if run.holds(each[0])]
                    raise
        finally:
            self._settling = False

    async def settle(self, run: StageRun, batch: Batch) -> None:
        """Settle finished items of one stage; return when every one is settled."""
        plain, effects, others = [], [], []
        # In one order for all workers, as far as the plans of the statements keep it.
        for finished in sorted(batch, key=item_of):
            result = finished[1]
            if effect_of(result) is not None:
                effects.append(finished)
            elif type(result) is Done and result.empty_because is None:
                plain.append(finished)
            elif isinstance(result, Committed):
                self._conclude(run, [finished])
            else:
                others.append(finished)
        if plain:
            await self._retry_until_settled(run, plain, self._settle_plain)
        for start in range(0, len(effects), MAX_EFFECTS_PER_COMMIT):
            group = effects[start : start + MAX_EFFECTS_PER_COMMIT]
            await self._retry_until_settled(run, group, self._settle_effects)
        if others:
            await self._retry_until_settled(run, others, self._settle_others)

    async def _settle_in_parts(self, run: StageRun, batch: Batch) -> None:
        for start in range(0, len(batch), MAX_ITEMS_PER_SETTLE):
            part = batch[start : start + MAX_ITEMS_PER_SETTLE]
            try:
                await self.settle(run, part)
            except Exception as error:  # noqa: BLE001 - nothing may end a worker
                self._background.report("settle", error)
                # Let go of them: without heartbeats, the reaper will take them.
                run.release(part)
                run.note_settled(0)

    async def _retry_until_settled(
        self,
        run: StageRun,
        batch: Batch,
        act: Callable[[StageRun, Batch], Awaitable[None]],
    ) -> None:
        pause, rounds = FIRST_PAUSE_SECONDS, 0
        while batch:
            try:
                await act(run, batch)
            except (Exception, asyncio.CancelledError) as raised:  # noqa: BLE001 - sorted out below
                error = await self._error_of(raised)
                rounds += 1
                lost = is_lost(error)
                # A new connection helps against a lost one, not against a slow statement.
                curable = lost and not isinstance(error, EffectStalled)
                if not is_transient(error) or (
                    rounds > MAX_SETTLE_ROUNDS and not curable
                ):
                    await self._settle_apart(run, batch, error)
                    return
                self._background.report("settle", error)
                await asyncio.sleep(pause)
                pause = min(2 * pause, MAX_PAUSE_SECONDS)
                if lost:
                    # The COMMIT may have happened although its answer was lost.
                    batch = await self._still_open(run, batch)
            else:
                return

    async def _error_of(self, raised: BaseException) -> Exception:
        """Return what went wrong; a worker that ends is no error."""
        if isinstance(raised, Exception):
            return raised
        if self._background.is_ending:
            raise raised
        await survive_cancellation()
        return EffectStalled("an effect cancelled the task it ran in")

    async def _settle_plain(self, run: StageRun, batch: Batch) -> None:
        items, fences = keys_of(batch)
        if len(batch) >= MIN_ITEMS_FOR_DONE_MANY and (
            len(set(fences)) == 1 or is_latest(run, batch)
        ):
            done_many, fences = run.statements.done_many, list(set(fences))
            rows = await self._connection.fetch(
                done_many, run.stage.name, items, fences
            )
            if rows[0][0] == len(batch):
                self._conclude(run, batch)
                return
            rows = []
        else:
            rows = await self._connection.fetch(
                run.statements.done, run.stage.name, items, fences
            )
        await self._conclude_some(run, batch, pairs(rows))

    async def _settle_others(self, run: StageRun, batch: Batch) -> None:
        settlements = [
            settlement_of(run.stage, run.queue, *finished) for finished in batch
        ]
        rows = await self._connection.fetch(
            run.statements.settle,
            run.stage.name,
            *keys_of(batch),
            *columns_of(settlements),
        )
        await self._conclude_some(run, batch, pairs(rows), settlements)

    async def _settle_effects(self, run: StageRun, batch: Batch) -> None:
        async with self._connection.transaction() as transaction:
            if locks := locks_of(batch):
                await transaction.fetch(statements.LOCK, locks)
            won = await fence_off(run, batch, transaction)
            for held, result in batch:
                if (held.item, held.fence) in won:
                    await apply(held, effect_of(result), transaction)
            await end(transaction)
        wakes = {*transaction.wakes, *(run.stage.feeds if won else ())}
        if wakes:
            self._on_wake(wakes)
        await self._conclude_some(run, batch, won)

    async def _settle_apart(
        self, run: StageRun, batch: Batch, error: Exception
    ) -> None:
        cause: BaseException = error
        if isinstance(error, EffectFailed):
            cause = error.cause
        if isinstance(cause, ContractViolation):
            await self._stop(run, batch, cause)
            return
        if len(batch) > 1:
            # One item's effect must not fail the others: settle each by itself.
            for finished in batch:
                await self.settle(run, [finished])
            return
        held, result = batch[0]
        if isinstance(result, Retry | GiveUp) and result.effect is not None:
            # The effect cannot be written, but the failure of the work can.
            run.queue.log.warning("effect.failed", item=held.item, why=described(cause))
            await self.settle(run, [(held, replace(result, effect=None))])
            return
        if isinstance(result, Retry):
            # Not even the retry can be written: the lease expires, and the reaper takes it.
            run.queue.log.error("item.unsettled", item=held.item, why=text_of(cause))
            self._events.emit(WorkerFault("settle", described(cause)))
            run.release([batch[0]])
            run.note_settled(0)
            return
        failure = result_of_error(cause)
        if not isinstance(result, Done):
            failure = Retry(
                f"could not be settled: {described(cause)}", after=timedelta(minutes=1)
            )
        traceback = traceback_in(failure)
        if traceback is None:
            run.queue.log.warning("effect.failed", item=held.item, why=described(cause))
        else:
            run.queue.log.error("effect.failed", item=held.item, exception=traceback)
        await self.settle(run, [(held, failure)])

    async def _stop(
        self, run: StageRun, batch: Batch, violation: ContractViolation
    ) -> None:
        """Pause a stage whose effect has broken its contract; no item is condemned for it.

        An effect that has committed by itself has settled the items beside it, too.
        """
        unsettled = await self._still_open(run, batch)
        settled = len(batch) - len(unsettled)
        why = text_of(violation)
        run.queue.log.error("stage.contract_violation", why=why, settled=settled)
        run.pause(Broken(why))
        for held, _ in unsettled:
            run.finish(held, Broken(why))

    async def _still_open(self, run: StageRun, batch: Batch) -> Batch:
        pause = FIRST_PAUSE_SECONDS
        settled: set[tuple[str, int]] | None = None
        while settled is None:
            try:
                settled = await self._settled(run, batch)
            except Exception as error:
                if not is_transient(error):
                    raise
                self._events.emit(WorkerFault("settle", repr(error)))
                await asyncio.sleep(pause)
                pause = min(2 * pause, MAX_PAUSE_SECONDS)
        done = [f for f in batch if (f[0].item, f[0].fence) in settled]
        self._conclude(run, done)
        return [f for f in batch if (f[0].item, f[0].fence) not in settled]

    async def _settled(self, run: StageRun, batch: Batch) -> set[tuple[str, int]]:
        rows = await self._connection.fetch(
            statements.SETTLED, run.stage.name, *keys_of(batch)
        )
        return pairs(rows)

    async def _conclude_some(
        self,
        run: StageRun,
        batch: Batch,
        settled: set[tuple[str, int]],
        settlements: list[Settlement] | None = None,
    ) -> None:
        if len(settled) < len(batch):
            # Some were settled before, by a COMMIT whose answer never came.
            settled = settled | await self._settled(run, batch)
        if len(settled) == len(batch):
            self._conclude(run, batch, settlements)
            return
        refused = [f for f in batch if (f[0].item, f[0].fence) not in settled]
        for held, _ in refused:
            self.refused += 1
            self._events.emit(Fenced(run.stage.name, held.item, held.fence))
        run.release(refused)
        kept = [n for n, f in enumerate(batch) if (f[0].item, f[0].fence) in settled]
        chosen = [settlements[n] for n in kept] if settlements else None
        self._conclude(run, [batch[n] for n in kept], chosen)
        tries = [held.tries for held, _ in refused]
        try:
            await self._connection.fetch(
                statements.REFUSED,
                run.stage.name,
                *keys_of(refused),
                tries,
                self._worker,
            )
        except Exception as error:  # noqa: BLE001 - a note for the history, nothing more
            self._events.emit(WorkerFault("note a refusal", repr(error)))

    def _conclude(
        self, run: StageRun, batch: Batch, settlements: list[Settlement] | None = None
    ) -> None:
        run.release(batch)
        run.note_settled(len(batch))
        if self._events:
            now = time.monotonic()
            for n, (held, result) in enumerate(batch):
                verdict = (
                    settlements[n]
                    if settlements
                    else settlement_of(run.stage, run.queue, held, result)
                )
                self._events.emit(event_of(run.stage.name, held, verdict, now))


async def fence_off(
    run: StageRun, batch: Batch, transaction: Transaction
) -> set[tuple[str, int]]:
    """Settle the items, in the open transaction; return those that are still ours."""
    if all(
        isinstance(result, Done) and not result.empty_because for _, result in batch
    ):
        rows = await transaction.fetch(
            run.statements.done, run.stage.name, *keys_of(batch)
        )
        return pairs(rows)
    settlements = [settlement_of(run.stage, run.queue, *finished) for finished in batch]
    rows = await transaction.fetch(
        run.statements.settle, run.stage.name, *keys_of(batch), *columns_of(settlements)
    )
    return pairs(rows)


def locks_of(batch: Batch) -> list[str]:
    """Return the locks under which these results are written, in the order of all workers."""
    found = {result.lock for _, result in batch if isinstance(result, WITH_EFFECT)}
    return sorted(lock for lock in found if lock is not None)


def effect_of(result: Result) -> Effect | None:
    """Return what an item has to write besides its status."""
    return result.effect if isinstance(result, WITH_EFFECT) else None


async def apply(
    held: ClaimedItem, effect: Effect | None, transaction: Transaction
) -> None:
    """Run an item's effect; raise EffectFailed if the effect itself is at fault."""
    assert effect is not None  # noqa: S101 - for the type checker
    limit = asyncio.timeout(EFFECT_TIMEOUT.total_seconds())
    try:
        with transaction.until_dropped_as_idle(limit):
            async with limit:
                await effect(transaction)
    except TimeoutError as error:
        if not limit.expired():
            raise EffectStalled(str(error)) from error
        raise EffectFailed(held, too_long(transaction)) from error
    except (asyncio.CancelledError, KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:
        if transaction.has_ended:
            raise EffectFailed(held, ended_by_effect()) from error
        if transaction.driver.is_closed() or is_transient(error):
            raise
        raise EffectFailed(held, error) from error
    if transaction.has_ended:
        raise EffectFailed(held, ended_by_effect())


def too_long(transaction: Transaction) -> TimeoutError:
    """Return what is wrong with an effect that took too long, or waited for something else."""
    if transaction.driver.is_closed():
        return TimeoutError(
            f"its effect kept a transaction open for {IDLE_TIMEOUT.total_seconds():g} s "
            "without a statement; it may wait for nothing but its own statements"
        )
    return TimeoutError(f"its effect ran for {EFFECT_TIMEOUT.total_seconds():g} s")


async def end(transaction: Transaction) -> None:
    """Run what the effects have passed to `at_end`."""
    try:
        async with asyncio.timeout(EFFECT_TIMEOUT.total_seconds()):
            await transaction.end()
        if transaction.has_ended:
            raise ended_by_effect()
    except TimeoutError as error:
        raise EffectStalled(str(error)) from error


def event_of(stage: str, held: ClaimedItem, verdict: Settlement, now: float) -> Event:
    """Return the event that reports a settled item."""
    found = held.correlation_id
    match verdict.outcome:
        case "retried":
            wait = timedelta(seconds=verdict.wait or 0.0)
            return Retried(stage, held.item, verdict.why, held.tries, wait, found)
        case "gave_up" | "exhausted":
            return DeadLettered(stage, held.item, verdict.outcome, verdict.why, found)
    took = timedelta(seconds=now - held.claimed)
    return Settled(stage, held.item, verdict.outcome, verdict.why, took, found)


def item_of(finished: FinishedItem) -> str:
    """Return which item a result is of."""
    return finished[0].item


def keys_of(batch: Sequence[FinishedItem]) -> tuple[list[str], list[int]]:
    """Return items and fences as the settling statements take them."""
    return [held.item for held, _ in batch], [held.fence for held, _ in batch]


def is_latest(run: StageRun, batch: Batch) -> bool:
    """Return whether the worker has claimed none of these items again since."""
    mine = run.held
    return all(mine.get(held.item) is held for held, _ in batch)


def pairs(rows: Iterable[Any]) -> set[tuple[str, int]]:
    """Return rows as (item, fence)."""
    return {(row[0], row[1]) for row in rows}
