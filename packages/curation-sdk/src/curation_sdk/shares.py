"""How much of a stage's capacity retries, rescued and slow items may have, and its pace.

One worker's view of one stage: each class answers one question about what to claim next.
"""

import asyncio
import time
from collections import deque
from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from typing import Any, Protocol

from curation_sdk.claim import ClaimedItem
from curation_sdk.crash_rule import tried_together
from curation_sdk.outcome import Later, Retry
from curation_sdk.settlement import Result, Returned
from curation_sdk.stage import Stage

LOOK_AHEAD_SECONDS = 0.1
"""Seconds of work kept ready, so that the next claim overlaps with it."""
CLAIM_SECONDS = 0.05
"""Seconds of work that one claim may bring, where a batch is less than that."""
MAX_BATCHES_PER_CLAIM = 4
"""How many batches one claim may bring at most."""
MAX_BATCHES_HELD = 2 * MAX_BATCHES_PER_CLAIM
"""How many batches are in hand at most: one claim is under way while another is settled."""
ENOUGH_ITEMS_HELD = 1_000
"""Where batches are large, claims and settling overlap with fewer of them."""
SLOW_SHARE = 0.5
"""The share of a stage's slots that slow items may hold while others wait."""
RETRY_SHARE = 0.25
"""How many items are tried again for each first attempt, while more of those wait."""
RETRIES_PER_SECOND = 1.0
"""How many are tried again at least."""
RATE_VALID_SECONDS = 1.0
"""Seconds after which a rate says nothing any more."""
MAX_REMEMBERED_ITEMS = 2_000
"""How many slow items a worker remembers; others are found to be slow once more."""


class SettleRate:
    """How quickly items are settled, and so how many to claim at once and in advance."""

    def __init__(self, stage: Stage[Any, Any]) -> None:
        self.stage = stage
        self.settled = 0
        self.ahead = 0
        """How many items are kept ready besides those in work."""
        self.per_second = 0.0
        self.measured_at = time.monotonic()
        self._settled_then = 0

    def restart(self, now: float) -> None:
        """Measure from now on: there was nothing to settle before."""
        self.measured_at, self._settled_then = now, self.settled

    def add(self, count: int, now: float) -> None:
        """Count what was settled."""
        self.settled += count
        if now - self.measured_at > LOOK_AHEAD_SECONDS / 10:
            # As many items ready as are finished while the next claim is under way.
            seconds = now - self.measured_at
            self.per_second = (self.settled - self._settled_then) / seconds
            self.ahead = self._ahead(self.per_second)
            self.restart(now)

    def raise_ahead(self, count: int, seconds: float) -> bool:
        """Keep more ready if one slot did this many in so short a time; return whether."""
        if not self.per_second:
            self.per_second = count / seconds  # nothing is settled yet
        ahead = self._ahead(count / seconds)
        if ahead <= self.ahead:
            return False
        self.ahead = ahead
        return True

    def limit(self, stage: Stage[Any, Any]) -> None:
        """Go on with another batch."""
        self.stage = stage
        self.ahead = min(self.ahead, stage.batch - 1)

    def claim_size(self, held: int) -> int:
        """Return how many items to claim, besides those held: 0 if there is no room.

        A batch, or more of them if items are quick. Each claim waits for a commit: in small
        batches quick items would wait for that rather than for each other. A batch of one
        is left as it is, for its order.
        """
        batch, concurrency = self.stage.batch, self.stage.concurrency
        if self.stage.rate_per_minute is not None:
            # What counts is when items begin: claim those that can begin at once.
            return max(min(batch, concurrency - held), 0)
        enough = min(MAX_BATCHES_HELD * batch, ENOUGH_ITEMS_HELD)
        room = concurrency + max(MAX_BATCHES_PER_CLAIM * batch, enough) - held
        if room < batch:
            return 0
        if batch == 1 or time.monotonic() - self.measured_at > RATE_VALID_SECONDS:
            return batch
        limit = min(
            room, MAX_BATCHES_PER_CLAIM * batch, self.per_second * CLAIM_SECONDS
        )
        size = batch
        while 2 * size <= limit:
            size *= 2
        return size

    def _ahead(self, per_second: float) -> int:
        return min(self.stage.batch - 1, int(per_second * LOOK_AHEAD_SECONDS))


class RetryShare:
    """How many items that have failed before may be claimed while first attempts wait.

    A few for each first attempt begun, and a few each second, so that none waits for ever.
    """

    def __init__(self, stage: Stage[Any, Any]) -> None:
        self.stage = stage
        self._earned = 0.0
        self._earned_at = time.monotonic()

    def room(self, *, others_wait: bool) -> int:
        """Return how many may be claimed now."""
        now = time.monotonic()
        gained = (now - self._earned_at) * RETRIES_PER_SECOND
        self._earned = min(self._earned + gained, self.stage.batch)
        self._earned_at = now
        return int(self._earned) if others_wait else self.stage.batch

    def add(self, found: Iterable[ClaimedItem]) -> None:
        """Count what was claimed: first attempts earn retries, retries spend them."""
        earned = self._earned
        for held in found:
            earned += RETRY_SHARE if held.tries <= 1 else -1
        self._earned = min(max(earned, 0.0), self.stage.batch)


class RescueShare:
    """How many items of crashed workers are tried again at once.

    One more for each that ended and the worker lived: they double with every round, until
    they may fill the stage. Slow ones do not keep the others from being tried.
    """

    def __init__(self, stage: Stage[Any, Any]) -> None:
        self.stage = stage
        self.items: set[ClaimedItem] = set()
        self.some_gone = asyncio.Event()
        self._survived = 0

    def room(self, slow: Iterable["TimedSlot"]) -> int:
        """Return how many rescued items may be claimed now."""
        count = len(self.items) - sum(slot.held in self.items for slot in slow)
        together = tried_together(self.stage.concurrency)
        most = max(self.stage.concurrency, together)
        room = min(together + self._survived, most) - count
        # Not one by one: each claim waits for a commit.
        return room if 2 * room >= together else 0

    def remove(self, held: ClaimedItem, result: Result) -> None:
        """Forget an item that was settled."""
        if held in self.items:
            self.items.discard(held)
            # Work that was cut short might have crashed its worker later.
            self._survived += not isinstance(result, Returned | Later)
            self.some_gone.set()


class TimedSlot(Protocol):
    """What the share of slow items needs to know of a slot."""

    held: ClaimedItem | None
    began: float
    pauses: int
    is_known_slow: bool

    @property
    def is_stopped(self) -> bool:
        """Whether its item has been asked to end."""
        ...

    def stop(self, result: Result) -> None:
        """Cancel the item in work."""
        ...


class SlowShare:
    """Which items are slow, and how many of them may be in work while others wait."""

    def __init__(self, stage: Stage[Any, Any], slots: AbstractSet["TimedSlot"]) -> None:
        self.stage = stage
        self.waiting: deque[ClaimedItem] = deque()
        """Claimed items that are known to be slow and not in work yet."""
        self.lag = 0.0
        """Seconds in which this worker itself could not go on: they make no item slow."""
        self._slots = slots
        self._known: dict[str, None] = {}
        self._after: float | None = None
        if stage.slow_after is not None:
            self._after = stage.slow_after.total_seconds()

    @property
    def known(self) -> list[str]:
        """The items that were slow when they were last tried, as far as is remembered."""
        return list(self._known)

    def room(self, *, others_wait: bool) -> int:
        """Return how many items known to be slow may be claimed now."""
        if not self._known:
            return 0
        if others_wait:
            room = self._most - self._count()
        else:
            room = self.stage.concurrency - len(self._slots)
        return min(max(room - len(self.waiting), 0), self.stage.batch)

    def has_room(self) -> bool:
        """Return whether one more slow item may be begun while others wait."""
        return self._count() < self._most

    def slots(self) -> list["TimedSlot"]:
        """Return the slots whose item is slow by now."""
        if self._after is None:
            return []
        since = self.steady_time() - self._after
        return [
            slot
            for slot in self._slots
            if slot.held is not None
            and slot.began < since
            and not slot.is_stopped
            and not slot.pauses
        ]

    def excess(self) -> list["TimedSlot"]:
        """Return the slots whose items must make room for others that wait."""
        if self._after is None or len(self._slots) < self.stage.concurrency:
            return []
        slow = [slot for slot in self.slots() if not slot.is_known_slow]
        # Those that have just become slow lose the least by it.
        slow.sort(key=lambda slot: -slot.began)
        return slow[: max(self._count() - self._most, 0)]

    def note(self, held: ClaimedItem, result: Result, began: float) -> None:
        """Remember an item that was slow, by steady time, and will be tried again."""
        if self._after is None:
            return
        self._known.pop(held.item, None)
        seconds = self.steady_time() - began
        if seconds > self._after and isinstance(result, Retry | Later):
            self._known[held.item] = None
            if len(self._known) > MAX_REMEMBERED_ITEMS:
                del self._known[next(iter(self._known))]

    def steady_time(self) -> float:
        """Return a time that stands still while the worker could not go on."""
        return time.monotonic() - self.lag

    @property
    def _most(self) -> int:
        return max(int(self.stage.concurrency * SLOW_SHARE), 1)

    def _count(self) -> int:
        """Count the slots whose item is slow, or known to be."""
        known = sum(slot.is_known_slow for slot in self._slots)
        return known + sum(not slot.is_known_slow for slot in self.slots())
