"""Reap: items of workers that vanished go back, or to quarantine if they kill again."""

import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from sqlalchemy.ext.asyncio import AsyncEngine

from scrapersky.engine import sql
from scrapersky.engine.control import queues
from scrapersky.engine.events import Died, Event, Rescued
from scrapersky.engine.lane import Lane
from scrapersky.engine.queue import Queue
from scrapersky.kit.events import Events


@dataclass(frozen=True, slots=True)
class Reaped:
    """What one round of rescue did, over all stages."""

    rescued: int = 0
    quarantined: int = 0
    requeued: int = 0

    def __add__(self, other: "Reaped") -> "Reaped":
        return Reaped(
            self.rescued + other.rescued,
            self.quarantined + other.quarantined,
            self.requeued + other.requeued,
        )


class Reaper:
    """Takes claims whose lease has run out, and stayed out for a while.

    Only the database's clock ends a lease. But that clock may jump, and a database
    that was down for a minute finds every lease expired: so a claim must be seen
    expired twice, a heartbeat apart, before its worker counts as dead.
    """

    def __init__(self, lane: Lane, events: Events[Event] | None = None) -> None:
        self._lane = lane
        self._events: Events[Event] = events if events is not None else Events()
        self._seen: dict[tuple[str, str, int, Any], float] = {}

    async def reap(self, known: Iterable[Queue]) -> Reaped:
        """Rescue what is seen expired for the second time."""
        total = Reaped()
        seen: dict[tuple[str, str, int, Any], float] = {}
        now = time.monotonic()
        for queue in known:
            await self._lane.fetch(sql.CLAMP_LEASES, queue.stage, queue.lease)
            rows = await self._lane.fetch(sql.EXPIRED, queue.stage)
            doomed = []
            for row in rows:
                sight = (queue.stage, *row)
                seen[sight] = first = self._seen.get(sight, now)
                if now - first >= queue.lease / 3:
                    doomed.append(row)
            if doomed:
                total += await self.take(queue, doomed)
        self._seen = seen
        return total

    async def reap_at_once(self, known: Iterable[Queue]) -> Reaped:
        """Rescue whatever has expired now, and rows that have lost their claim."""
        total = Reaped()
        for queue in known:
            await self._lane.fetch(sql.CLAMP_LEASES, queue.stage, queue.lease)
            total += await self.take(queue, None)
            orphans = await self._lane.fetch(sql.requeue_orphans(queue), queue.stage)
            total += Reaped(requeued=len(orphans))
        return total

    async def take(self, queue: Queue, doomed: list[Any] | None) -> Reaped:
        """Take expired claims: these, or all (None)."""
        items = None if doomed is None else [row[0] for row in doomed]
        fences = None if doomed is None else [row[1] for row in doomed]
        rows = await self._lane.fetch(
            sql.reap(queue), queue.stage, queue.max_deaths, items, fences
        )
        poison = sum(1 for row in rows if row["poison"])
        for row in rows:
            if row["poison"]:
                why = f"its worker died {row['deaths']} times"
                self._events.emit(Died(queue.stage, row["item"], "quarantined", why))
            else:
                self._events.emit(Rescued(queue.stage, row["item"], row["worker"]))
        return Reaped(rescued=len(rows) - poison, quarantined=poison)


async def reap(engine: AsyncEngine) -> Reaped:
    """Rescue, in every stage the database knows, all items whose lease has expired.

    Workers do this by themselves; call it to be sure that nothing waits for them.
    """
    lane = Lane(engine)
    try:
        return await Reaper(lane).reap_at_once(await queues(engine))
    finally:
        await lane.close()
