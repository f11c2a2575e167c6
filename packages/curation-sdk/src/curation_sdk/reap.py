"""Reap: return the items of workers that vanished to the queue, or quarantine them."""

import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncEngine

from curation_sdk import statements
from curation_sdk.connection import WorkerConnection
from curation_sdk.control import queues
from curation_sdk.events import DeadLettered, Event, Events, Requeued, Rescued
from curation_sdk.process import is_dead
from curation_sdk.queue import Queue
from curation_sdk.working import correlation_id

__all__ = ["Reaped", "reap"]

ORPHAN_REASON = "it was processing, but no worker had claimed it"
MAX_LOGGED_ITEMS = 10
"""How many items a log line names; the history has them all."""


@dataclass(frozen=True, slots=True)
class Reaped:
    """What one round of rescue did, over all stages."""

    rescued: int = 0
    """Items taken from workers whose lease had expired; they are worked again."""
    quarantined: int = 0
    """Items that became dead letters because they crash their workers."""
    requeued: int = 0
    """Rows that were processing without a claim, and are queued again."""

    def __add__(self, other: "Reaped") -> "Reaped":
        return Reaped(
            self.rescued + other.rescued,
            self.quarantined + other.quarantined,
            self.requeued + other.requeued,
        )


class Reaper:
    """Takes claims whose lease has expired and has not been renewed since.

    Only the database's clock ends a lease. But that clock may jump, and after an outage of
    the database every lease looks expired. So a claim must be seen expired twice, a third
    of a lease apart, before its worker counts as dead. A worker of this machine whose
    process has ended is dead without any waiting.
    """

    def __init__(
        self, connection: WorkerConnection, events: Events[Event] | None = None
    ) -> None:
        self._connection = connection
        self._events: Events[Event] = events if events is not None else Events()
        self._seen: dict[str, dict[tuple[Any, ...], float]] = {}

    def is_watching(self, stage: str) -> bool:
        """Return whether a claim of this stage was seen expired and not yet taken."""
        return bool(self._seen.get(stage))

    async def reap(self, known: Iterable[Queue]) -> Reaped:
        """Rescue what is seen expired for the second time."""
        total = Reaped()
        for queue in known:
            total += await self._reap_stage(queue)
        return total

    async def reap_dead(self, known: Iterable[Queue]) -> Reaped:
        """Rescue what workers of this machine held whose process has ended."""
        rows = await self._connection.fetch(statements.HOLDERS)
        dead = [worker for (worker,) in rows if has_ended(worker)]
        total = Reaped()
        for queue in known if dead else ():
            doomed = await self._connection.fetch(
                statements.END_LEASES, queue.stage, dead
            )
            if doomed:
                total += await self.take(queue, doomed)
        return total

    async def reap_at_once(
        self, known: Iterable[Queue], *, orphans: bool = True
    ) -> Reaped:
        """Rescue every expired item now, and rows that are processing without a claim."""
        known = list(known)
        total = await self.reap_dead(known)
        for queue in known:
            await self._clamp_leases(queue)
            total += await self.take(queue, None)
            if orphans:
                total += await self._requeue_orphans(queue)
        return total

    async def take(self, queue: Queue, doomed: list[Any] | None) -> Reaped:
        """Take expired claims: these, or all (None)."""
        items = None if doomed is None else [row[0] for row in doomed]
        fences = None if doomed is None else [row[1] for row in doomed]
        rows = await self._connection.fetch(
            statements.reap(queue), queue.stage, queue.max_crashes, items, fences
        )
        poison = sum(1 for row in rows if row["poison"])
        for row in rows:
            self._report(queue, row)
        return Reaped(rescued=len(rows) - poison, quarantined=poison)

    async def _reap_stage(self, queue: Queue) -> Reaped:
        await self._clamp_leases(queue)
        rows = await self._connection.fetch(statements.EXPIRED, queue.stage)
        before = self._seen.get(queue.stage, {})
        now = time.monotonic()
        seen = {tuple(row): before.get(tuple(row), now) for row in rows}
        doomed = [row for row, first in seen.items() if now - first >= queue.lease / 3]
        self._seen[queue.stage] = {k: v for k, v in seen.items() if k not in doomed}
        return await self.take(queue, doomed) if doomed else Reaped()

    async def _clamp_leases(self, queue: Queue) -> None:
        await self._connection.fetch(statements.CLAMP_LEASES, queue.stage, queue.lease)

    async def requeue_abandoned(self, queue: Queue, after: float) -> Reaped:
        """Queue rows that nobody has claimed or changed for this many seconds.

        All processes together look twice in that time at most: without an index of the
        rows in work, one look reads the whole table.
        """
        due = await self._connection.fetch(
            statements.ORPHANS_DUE, queue.stage, after / 2
        )
        return await self._requeue_orphans(queue, after) if due else Reaped()

    async def _requeue_orphans(self, queue: Queue, after: float = 0.0) -> Reaped:
        rows = await self._connection.fetch(
            statements.requeue_orphans(queue), queue.stage, ORPHAN_REASON, after
        )
        items = [item for item, is_freed in rows if is_freed]
        if seen := len(rows) - len(items):
            queue.log.warning(
                "items.unclaimed",
                count=seen,
                why=ORPHAN_REASON,
                queued_again_after_seconds=after,
            )
        if items:
            named = items[:MAX_LOGGED_ITEMS]
            queue.log.warning(
                "items.requeued", count=len(items), items=named, why=ORPHAN_REASON
            )
        for item in items:
            self._events.emit(Requeued(queue.stage, item, ORPHAN_REASON))
        return Reaped(requeued=len(items))

    def _report(self, queue: Queue, row: Any) -> None:  # noqa: ANN401 - a driver's record
        stage, item, worker = queue.stage, row["item"], row["worker"]
        if row["poison"]:
            why = f"its worker crashed {row['crashes']} times"
            queue.log.error("item.quarantined", item=item, worker=worker, why=why)
            known = correlation_id(item, row["fence"])
            self._events.emit(DeadLettered(stage, item, "quarantined", why, known))
        else:
            queue.log.warning("item.rescued", item=item, worker=worker)
            self._events.emit(Rescued(stage, item, worker))


def has_ended(worker: str) -> bool:
    """Return whether a worker's process has certainly ended; its signature ends its name."""
    try:
        return is_dead(UUID(worker.rpartition("-")[2]))
    except ValueError:
        return False


async def reap(
    engine: AsyncEngine, *, events: Events[Event] | None = None, orphans: bool = True
) -> Reaped:
    """Rescue, in every stage the database knows, all items whose lease has expired.

    Workers do this by themselves; call it to be sure that nothing waits for them. Rows
    that are processing although no worker has claimed them are queued again; without
    `orphans` they are not looked for, which takes reading the whole of every table.
    """
    connection = WorkerConnection(engine)
    try:
        reaper = Reaper(connection, events)
        return await reaper.reap_at_once(await queues(engine), orphans=orphans)
    finally:
        await connection.close()
