"""Whose turn it is at a host: the ledger every worker keeps to.

A key is a registrable domain or an IP address. At most one request is in flight per key,
and the next begins no sooner than the delay after the last one ended. This module has
the protocol, the turns inside one process, and a ledger for a single process; the one
shared by all workers through the database is in `scrapersky.politeness`.
"""

import asyncio
import time
from collections import Counter, OrderedDict, deque
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Protocol

from cachetools import LRUCache

from contact_extraction.urls import Url, parse_url
from scrapersky.errors import HostBusy, HostPaused

MAX_QUIET_QUEUES = 10_000
MAX_ROBOTS_CHARACTERS = 32 * 1024 * 1024
MIN_ROBOTS_CHARACTERS = 1024
LONG_ROBOTS_CHARACTERS = 16 * 1024
MAX_STATISTICS_HOSTS = 50_000


class RobotsState(StrEnum):
    """What is known of a site's robots.txt."""

    RULES = "rules"
    ABSENT = "absent"
    UNREACHABLE = "unreachable"


@dataclass(frozen=True, slots=True)
class StoredRobots:
    """A robots.txt as it was read, or why it could not be."""

    state: RobotsState
    text: str
    why: str
    expires: datetime
    unreachable_since: datetime | None = None
    """Since when nobody has been able to read it; None where somebody has."""
    bytes: int = 0
    """What was received for it, however little of that is kept."""

    @property
    def is_long(self) -> bool:
        """Say whether to parse and ask it is work enough to keep others waiting."""
        return len(self.text) > LONG_ROBOTS_CHARACTERS


@dataclass(slots=True)
class HostStatistics:
    """What became of the requests to one host."""

    outcomes: Counter[str] = field(default_factory=Counter)
    requests: int = 0
    bytes: int = 0
    seconds: float = 0.0


class HostLedger(Protocol):
    """Keeps every worker polite."""

    async def acquire(self, key: str, *, url: str, timeout: timedelta) -> None:
        """Wait for the turn at a key; raise HostPaused or HostBusy, never wait longer."""

    def release(self, key: str, *, delay: timedelta) -> None:
        """End the turn; the next one begins no sooner than `delay` from now."""

    async def pause(self, key: str, length: timedelta | None, *, why: str) -> None:
        """Let nobody in for a while, or, without a length, until `resume`."""

    async def resume(self, key: str) -> None:
        """End a pause."""

    def record(self, key: str, outcome: str, *, size: int, seconds: float) -> None:
        """Count one finished request."""

    async def statistics(self, key: str) -> HostStatistics:
        """Return what became of the requests to one host."""

    async def read_robots(self, origin: str) -> StoredRobots | None:
        """Return the robots.txt of an origin if one is kept and still fresh."""

    async def keep_robots(self, origin: str, robots: StoredRobots) -> StoredRobots:
        """Keep a robots.txt until it expires; return it with since when it is away."""

    async def robots_bytes_left(self, url: Url, most: int) -> int:
        """Return how many of a site's `most` bytes are left for the robots.txt of a URL.

        What the site's other hosts have answered counts until it expires.
        """


@dataclass(slots=True)
class HostQueue:
    """One key inside one process: who is in, who waits, and from when on."""

    busy: bool = False
    free_at: float = 0.0
    paused_until: float = 0.0
    back_at: float = 0.0
    why: str = ""
    waiters: "deque[asyncio.Future[None]]" = field(default_factory=deque)
    timer: asyncio.TimerHandle | None = None
    used_at: float = 0.0


class HostQueues:
    """Turns inside one process: first come, first served, one at a time per key."""

    def __init__(self) -> None:
        self.queues: OrderedDict[str, HostQueue] = OrderedDict()

    def queue(self, key: str) -> HostQueue:
        """Return the queue of a key, making it if need be."""
        if (queue := self.queues.get(key)) is None:
            queue = self.queues[key] = HostQueue()
            self._forget_quiet()
        return queue

    async def enter(self, key: str, *, url: str, timeout: timedelta) -> None:
        """Wait for the turn; raise HostPaused or HostBusy."""
        queue = self.queue(key)
        now = time.monotonic()
        if queue.paused_until > now:
            raise log_pause(url, key, queue.back_at - now, queue.why)
        if not queue.busy and queue.free_at <= now and not queue.waiters:
            queue.busy = True
            return
        if queue.free_at - now > timeout.total_seconds():
            raise busy(url, key, queue.free_at - now)
        await self._queue(queue, key, url, timeout)

    def leave(self, key: str, *, delay: timedelta) -> None:
        """End the turn and let the next one in when its time has come."""
        queue = self.queues[key]
        now = time.monotonic()
        queue.busy = False
        queue.used_at = now
        queue.free_at = max(queue.free_at, now + delay.total_seconds())
        self._admit(key, queue)

    def reopen(self, key: str) -> None:
        """End a turn that was not a request."""
        queue = self.queues[key]
        queue.busy = False
        self._admit(key, queue)

    def pause(
        self, key: str, seconds: float, why: str, *, back_after: float | None = None
    ) -> None:
        """Refuse the key for a while, also to those who wait already.

        They may come back after `back_after` instead, where someone else knows better.
        """
        queue = self.queue(key)
        now = time.monotonic()
        queue.paused_until, queue.why = now + seconds, why
        queue.back_at = now + (seconds if back_after is None else back_after)
        self._admit(key, queue)

    def _admit(self, key: str, queue: HostQueue) -> None:
        now = time.monotonic()
        if queue.timer is not None:
            queue.timer.cancel()
            queue.timer = None
        if queue.paused_until > now:
            for waiter in queue.waiters:
                if not waiter.done():
                    waiter.set_exception(
                        log_pause("", key, queue.back_at - now, queue.why)
                    )
            queue.waiters.clear()
        while queue.waiters and queue.waiters[0].done():
            queue.waiters.popleft()
        if queue.busy or not queue.waiters:
            return
        if queue.free_at <= now:
            queue.busy = True
            queue.waiters.popleft().set_result(None)
            return
        loop = asyncio.get_running_loop()
        queue.timer = loop.call_later(queue.free_at - now, self._admit, key, queue)

    async def _queue(
        self, queue: HostQueue, key: str, url: str, timeout: timedelta
    ) -> None:
        waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        queue.waiters.append(waiter)
        if not queue.busy:
            self._admit(key, queue)
        try:
            async with asyncio.timeout(timeout.total_seconds()):
                await waiter
        except TimeoutError:
            self._abandon(queue, key, waiter)
            raise busy(url, key, max(queue.free_at - time.monotonic(), 1.0)) from None
        except asyncio.CancelledError:
            self._abandon(queue, key, waiter)
            raise
        except HostPaused as error:
            raise HostPaused(url, error.why, retry_after=error.retry_after) from None

    def _abandon(
        self, queue: HostQueue, key: str, waiter: "asyncio.Future[None]"
    ) -> None:
        """Leave the queue; a turn given at the very last moment is handed on."""
        if waiter.done() and not waiter.cancelled() and waiter.exception() is None:
            queue.busy = False
        waiter.cancel()
        self._admit(key, queue)

    def _forget_quiet(self) -> None:
        """Keep memory bounded: queues nobody needs any more are dropped, oldest first."""
        if len(self.queues) <= MAX_QUIET_QUEUES:
            return
        now = time.monotonic()
        for key in list(self.queues)[: MAX_QUIET_QUEUES // 10]:
            queue = self.queues[key]
            if not (
                queue.busy
                or queue.waiters
                or max(queue.free_at, queue.paused_until) > now
            ):
                del self.queues[key]


class RobotsCache:
    """The robots.txt files met last: many usual ones, or few of those without end."""

    def __init__(self, characters: int = MAX_ROBOTS_CHARACTERS) -> None:
        self._files: LRUCache[str, StoredRobots] = LRUCache(
            characters, getsizeof=_weight
        )

    def get(self, origin: str) -> StoredRobots | None:
        """Return the file of an origin, if it is still here."""
        return self._files.get(origin)

    def of_site(self, url: Url) -> list[StoredRobots]:
        """Return the files of all other hosts of a URL's site."""
        return [
            robots
            for origin, robots in self._files.items()
            if origin != url.origin and parse_url(origin).site == url.site
        ]

    def put(self, origin: str, robots: StoredRobots) -> None:
        """Keep a file; those not asked for the longest make room."""
        if _weight(robots) <= self._files.maxsize:
            self._files[origin] = robots


def _weight(robots: StoredRobots) -> int:
    return len(robots.text) + MIN_ROBOTS_CHARACTERS


class MemoryLedger:
    """A ledger for one process, for tools and tests; it forgets when the process ends."""

    def __init__(self, now: Callable[[], datetime]) -> None:
        self._now = now
        self._queues = HostQueues()
        self._robots = RobotsCache()
        self._statistics: LRUCache[str, HostStatistics] = LRUCache(MAX_STATISTICS_HOSTS)

    async def acquire(self, key: str, *, url: str, timeout: timedelta) -> None:
        """Wait for the turn at a key."""
        await self._queues.enter(key, url=url, timeout=timeout)

    def release(self, key: str, *, delay: timedelta) -> None:
        """End the turn."""
        self._queues.leave(key, delay=delay)

    async def pause(self, key: str, length: timedelta | None, *, why: str) -> None:
        """Let nobody in for a while, or until `resume`."""
        self._queues.pause(key, length.total_seconds() if length else float("inf"), why)

    async def resume(self, key: str) -> None:
        """End a pause."""
        self._queues.pause(key, 0.0, "")

    def record(self, key: str, outcome: str, *, size: int, seconds: float) -> None:
        """Count one finished request."""
        counted = self._statistics.setdefault(key, HostStatistics())
        count(counted, outcome, size=size, seconds=seconds)

    async def statistics(self, key: str) -> HostStatistics:
        """Return what became of the requests to one host."""
        return self._statistics.get(key, HostStatistics())

    async def read_robots(self, origin: str) -> StoredRobots | None:
        """Return a fresh robots.txt."""
        stored = self._robots.get(origin)
        return stored if stored is not None and stored.expires > self._now() else None

    async def keep_robots(self, origin: str, robots: StoredRobots) -> StoredRobots:
        """Keep a robots.txt until it expires."""
        if robots.state is RobotsState.UNREACHABLE:
            before = self._robots.get(origin)
            since = before.unreachable_since if before else None
            robots = replace(robots, unreachable_since=since or self._now())
        self._robots.put(origin, robots)
        return robots

    async def robots_bytes_left(self, url: Url, most: int) -> int:
        """Return how many bytes are left."""
        now = self._now()
        others = self._robots.of_site(url)
        return most - sum(other.bytes for other in others if other.expires > now)


def count(counted: HostStatistics, outcome: str, *, size: int, seconds: float) -> None:
    """Add one finished request."""
    counted.outcomes[outcome] += 1
    counted.requests += 1
    counted.bytes += size
    counted.seconds += seconds


def log_pause(url: str, key: str, seconds: float, why: str) -> HostPaused:
    """Say that a host is paused, and for how long."""
    after = timedelta(seconds=min(seconds, 86_400.0))
    return HostPaused(url or key, f"{key} is paused: {why}", retry_after=after)


def busy(url: str, key: str, seconds: float) -> HostBusy:
    """Say that a host's turn did not come in time."""
    after = timedelta(seconds=min(max(seconds, 1.0), 3600.0))
    return HostBusy(url, f"no turn at {key} in time", retry_after=after)
