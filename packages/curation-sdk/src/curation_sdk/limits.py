"""Limits: how many items a stage may claim now, counted over all workers together."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from curation_sdk import statements
from curation_sdk.connection import Transaction
from curation_sdk.queue import Queue
from curation_sdk.stage import Stage


@dataclass(frozen=True, slots=True)
class HighWaterMark:
    """A queue that must not grow past its high-water mark, and the stages that fill it."""

    queue: Queue
    high_water: int
    filled_by: tuple[str, ...]


class ClaimLimits:
    """Bounds the claims of one stage by its rate, and by the room in the queues it fills.

    Workers take turns: each counts and claims in one transaction that locks the rows of
    the stages concerned, so two of them never use the same room.
    """

    def __init__(self, stage: Stage[Any, Any], marks: Iterable[HighWaterMark]) -> None:
        self._stage = stage.name
        self._rate = stage.rate_per_minute
        self._marks = tuple(marks)
        locked = {mark.queue.stage for mark in self._marks}
        if self._rate:
            locked.add(self._stage)
        # A statement of its own: what is counted must be newer than the lock.
        self.lock = statements.lock_stages(sorted(locked))
        self.reached: str | None = None
        """Which limit the last claim ran into."""

    async def allow(self, transaction: Transaction, wanted: int) -> int:
        """Return how many of the items wanted may be claimed in this transaction.

        The transaction must have begun with `lock`.
        """
        allowed, self.reached = wanted, None
        if self._rate is not None:
            claimed = await transaction.fetch(statements.CLAIMED_LATELY, self._stage)
            allowed = self._bounded(allowed, self._rate - claimed[0][0], "its rate")
        for mark in self._marks:
            statement = statements.room(mark.queue, mark.high_water)
            room = await transaction.fetch(statement, list(mark.filled_by))
            full = f"the queue of {mark.queue.stage}"
            allowed = self._bounded(allowed, room[0][0], full)
        return allowed

    def _bounded(self, allowed: int, room: int, limit: str) -> int:
        if room < 1:
            self.reached = limit
        return min(allowed, max(room, 0))


def limits_of(
    stage: Stage[Any, Any],
    queues: dict[str, Queue],
    stages: Iterable[Stage[Any, Any]],
) -> ClaimLimits | None:
    """Return what bounds the claims of a stage; None if nothing does.

    `queues` are those it fills, by the names of their stages; `stages` are all there are.
    """
    known = list(stages)
    marks = [
        HighWaterMark(
            queues[name],
            high_water,
            tuple(each.name for each in known if name in each.feeds),
        )
        for name in stage.feeds
        if (high_water := stage.high_water_of(name)) is not None
    ]
    if stage.rate_per_minute is None and not marks:
        return None
    return ClaimLimits(stage, marks)
