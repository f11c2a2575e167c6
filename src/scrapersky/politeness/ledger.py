"""The ledger of hosts in PostgreSQL: one request at a time over all workers and restarts.

A worker leases a host for some seconds and then takes turns inside its own process, so
a request costs no round trip. Everything a lease allows must be over when it ends: a
turn is given only while the lease outlasts the longest request. A background task
renews the leases in use and returns the others, each all at once.
"""

import asyncio
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Self
from uuid import UUID

import structlog
from sqlalchemy import Row, TextClause
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncEngine

from contact_extraction.urls import Url, parse_url
from curation_sdk.process import is_dead, sign
from curation_sdk.working import is_working_alone
from scrapersky.crawler import HostStatistics, RobotsState, StoredRobots
from scrapersky.crawler.hosts import (
    HostQueue,
    HostQueues,
    RobotsCache,
    busy,
    count,
    log_pause,
)
from scrapersky.db.chunks import change_in_chunks
from scrapersky.errors import HostBusy
from scrapersky.kit.background import cancel
from scrapersky.kit.batch_loader import BatchLoader
from scrapersky.kit.stopping import IsStopping, never
from scrapersky.politeness import statement

IDLE_SECONDS = 0.5
POLL_SECONDS = 0.25
SHORT_TIMEOUT_SECONDS = 0.5
"""Seconds that whoever keeps its whole process waiting waits for another one's lease."""
RETRY_SECONDS = 5.0
"""Seconds after which to ask again for a host that another process holds: it gives a
lease back as soon as it has no more use for it, but one that died never does."""
DATABASE_ERRORS = (SQLAlchemyError, OSError, TimeoutError)

log = structlog.get_logger("scrapersky.politeness")


@dataclass(slots=True)
class _Lease:
    """What this process may do at one host, by its own monotonic clock."""

    until: float
    delay: float
    written_delay: float
    """The delay as the database knows it, should we die."""

    def is_due(self, soon: float) -> bool:
        """Say whether to renew: its end is near, or the site asks for more time."""
        return self.until < soon or self.delay > self.written_delay


class PostgresLedger:
    """A HostLedger shared by everyone who uses the same database.

    `longest_request` must be no shorter than the crawler's total time limit; a lease
    is `lease` long, and hosts of a worker that died rest until theirs is over, unless
    whoever wants one runs on the same machine and can see that it died. Whoever wants a
    host that another process holds waits no longer than `for_others`.
    """

    def __init__(
        self,
        engine: AsyncEngine,
        *,
        lease: timedelta = timedelta(seconds=45),
        longest_request: timedelta = timedelta(seconds=32),
        delay: timedelta = timedelta(seconds=1),
        for_others: timedelta = timedelta.max,
    ) -> None:
        # Every statement is whole by itself, and needs no transaction around it.
        self._engine = engine.execution_options(isolation_level="AUTOCOMMIT")
        self._owner: UUID = sign()
        self._lease = lease
        self._reserve = longest_request.total_seconds()
        self._delay = delay.total_seconds()
        self._for_others = for_others.total_seconds()
        self._queues = HostQueues()
        self._leases: dict[str, _Lease] = {}
        self._counted: dict[tuple[str, str], HostStatistics] = {}
        self._robots = RobotsCache()
        self._wanted = BatchLoader(self._ask_for_all)
        self._robots_wanted = BatchLoader(self._read_all)
        self._robots_found = BatchLoader(self._keep_all)
        self._rooms = BatchLoader(self._rooms_of)
        self._holders = BatchLoader(self._who_holds)
        self._dead_holders = BatchLoader(self._take_from_dead)
        self._keeper: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        """Begin to keep the leases."""
        self._keeper = asyncio.create_task(self._keep(), name="politeness")
        return self

    async def __aexit__(self, *_: object) -> None:
        """Return every lease and write down what was counted."""
        if self._keeper is not None:
            await cancel(self._keeper)
        try:
            await self._return(list(self._leases))
            await self._write_counts()
        except DATABASE_ERRORS as trouble:
            # The leases end by themselves.
            log.warning("ledger.unreachable", error=type(trouble).__name__)

    async def acquire(self, key: str, *, url: str, timeout: timedelta) -> None:
        """Wait for the turn at a key; raise HostPaused or HostBusy."""
        deadline = time.monotonic() + timeout.total_seconds()
        await self._queues.enter(key, url=url, timeout=timeout)
        try:
            if not self._covers_a_request(key):
                await self._obtain(key, url, deadline)
        except BaseException:
            self._queues.leave(key, delay=timedelta())
            raise

    def release(self, key: str, *, delay: timedelta) -> None:
        """End the turn."""
        if (lease := self._leases.get(key)) is not None:
            lease.delay = max(self._delay, delay.total_seconds())
        self._queues.leave(key, delay=delay)

    async def pause(self, key: str, length: timedelta | None, *, why: str) -> None:
        """Let nobody in for a while, or until `resume`; all workers will know."""
        seconds = length.total_seconds() if length else float("inf")
        self._queues.pause(key, min(seconds, POLL_SECONDS), why, back_after=seconds)
        # Without the lease the next one here asks the database, like everyone else.
        self._leases.pop(key, None)
        await self._execute(statement.PAUSE, key=key, length=length, why=why)

    async def resume(self, key: str) -> None:
        """End a pause."""
        await self._execute(statement.RESUME, key=key)
        self._queues.pause(key, 0.0, "")

    def record(self, key: str, outcome: str, *, size: int, seconds: float) -> None:
        """Count one finished request; written down with the next renewal."""
        counted = self._counted.setdefault((key, outcome), HostStatistics())
        count(counted, outcome, size=size, seconds=seconds)

    async def statistics(self, key: str) -> HostStatistics:
        """Return what became of the requests to one host, of all workers."""
        await self._write_counts()
        found = HostStatistics()
        for row in await self._execute(statement.STATISTICS, key=key):
            found.outcomes[row.outcome] += row.requests
            found.requests += row.requests
            found.bytes += row.bytes
            found.seconds += row.seconds
        return found

    async def read_robots(self, origin: str) -> StoredRobots | None:
        """Return the robots.txt of an origin if anyone read it lately."""
        known = self._robots.get(origin)
        if known is not None and self._is_fresh(known):
            return known
        try:
            stored = await self._robots_wanted.get(origin)
        except DATABASE_ERRORS as trouble:
            log.warning("ledger.unreachable", error=type(trouble).__name__)
            raise HostBusy(origin, "the ledger of hosts cannot be reached") from trouble
        return None if stored is None else self._remember(origin, stored)

    async def keep_robots(self, origin: str, robots: StoredRobots) -> StoredRobots:
        """Keep a robots.txt for all workers."""
        self._remember(origin, robots)
        try:
            if robots.is_long:
                # Many of these together would be a statement of megabytes.
                since = (await self._keep_all([(origin, robots)]))[origin, robots]
            else:
                since = await self._robots_found.get((origin, robots))
        except DATABASE_ERRORS as trouble:
            log.warning("ledger.unreachable", error=type(trouble).__name__)
            return robots
        return self._remember(origin, replace(robots, unreachable_since=since))

    async def robots_bytes_left(self, url: Url, most: int) -> int:
        """Return how many bytes are left, of what a person allows or else of `most`."""
        try:
            row = await self._rooms.get((url.site, url.origin))
        except DATABASE_ERRORS as trouble:
            log.warning("ledger.unreachable", error=type(trouble).__name__)
            raise HostBusy(
                str(url), "the ledger of hosts cannot be reached"
            ) from trouble
        if row is None:
            return most
        return int(most if row.most is None else row.most) - int(row.used)

    async def _read_all(self, origins: list[str]) -> dict[str, StoredRobots]:
        rows = await self._execute(statement.READ_ROBOTS, origins=origins)
        return {
            row.origin: StoredRobots(
                RobotsState(row.state),
                row.text,
                row.why,
                row.expires_at,
                row.unreachable_since,
            )
            for row in rows
        }

    async def _keep_all(
        self, found: list[tuple[str, StoredRobots]]
    ) -> dict[tuple[str, StoredRobots], datetime | None]:
        latest = dict(found)
        rows = await self._execute(
            statement.KEEP_ROBOTS,
            origins=list(latest),
            states=[one.state.value for one in latest.values()],
            texts=[one.text for one in latest.values()],
            whys=[one.why for one in latest.values()],
            expires=[one.expires for one in latest.values()],
            sites=[parse_url(origin).site for origin in latest],
            sizes=[one.bytes for one in latest.values()],
        )
        since = {row.origin: row.unreachable_since for row in rows}
        return {one: since[one[0]] for one in found}

    async def _rooms_of(
        self, asked: list[tuple[str, str]]
    ) -> dict[tuple[str, str], Row[Any]]:
        rows = await self._execute(
            statement.ROBOTS_ROOM,
            sites=[site for site, _ in asked],
            origins=[origin for _, origin in asked],
        )
        return {(row.site, row.origin): row for row in rows}

    async def purge(
        self, age: timedelta = timedelta(days=7), is_stopping: IsStopping = never
    ) -> None:
        """Forget hosts and robots.txt files unused for so long; pauses are kept."""
        await change_in_chunks(
            self._engine, statement.FORGET, {"age": age}, is_stopping
        )

    def _covers_a_request(self, key: str) -> bool:
        lease = self._leases.get(key)
        return lease is not None and lease.until - time.monotonic() > self._reserve

    async def _obtain(self, key: str, url: str, deadline: float) -> None:
        """Get or renew the lease, then wait out what the last holder left to wait."""
        began = time.monotonic()
        while True:
            asked = time.monotonic()
            row = await self._ask(key, url)
            if row is not None:
                delay, wait = float(row.delay), max(float(row.wait), 0.0)
                self._leases[key] = _Lease(asked + float(row.lease), delay, delay)
                # Whoever gives up waiting must not shorten the wait for the next.
                queue = self._queues.queue(key)
                queue.free_at = max(queue.free_at, time.monotonic() + wait)
                # A turn that is ours now is taken, however slow the database was.
                if wait and time.monotonic() + wait > deadline:
                    raise busy(url, key, wait)
                await asyncio.sleep(wait)
                return
            held = await self._why_not(key, url)
            timeout = (
                min(self._for_others, SHORT_TIMEOUT_SECONDS)
                if is_working_alone()
                else self._for_others
            )
            if time.monotonic() + min(held, POLL_SECONDS) > min(
                deadline, began + timeout
            ):
                raise busy(url, key, min(held, RETRY_SECONDS))
            await asyncio.sleep(min(max(held, 0.02), POLL_SECONDS))

    async def _ask(self, key: str, url: str) -> Row[Any] | None:
        lease = self._leases.pop(key, None)
        delay = self._delay if lease is None else lease.delay
        try:
            return await self._wanted.get((key, delay))
        except DATABASE_ERRORS as trouble:
            # Without the ledger nobody knows whose turn it is, so it is nobody's.
            raise HostBusy(url, "the ledger of hosts cannot be reached") from trouble

    async def _ask_for_all(
        self, wanted: list[tuple[str, float]]
    ) -> Mapping[tuple[str, float], Row[Any]]:
        """Ask for the leases that are wanted now, with their delays."""
        # Who gave up waiting may have asked for the same host with a shorter one.
        delays = dict(sorted(wanted))
        rows = await self._execute(
            statement.OBTAIN,
            keys=list(delays),
            delays=list(delays.values()),
            owner=self._owner,
            lease=self._lease,
        )
        found = {row.key: row for row in rows}
        return {one: found[one[0]] for one in wanted if one[0] in found}

    async def _why_not(self, key: str, url: str) -> float:
        """Return for how long someone else holds the lease; raise if it is a pause."""
        try:
            row = await self._holders.get(key)
            if row is None:
                return 0.0
            if row.pause is not None:
                raise log_pause(url, key, float(row.pause), row.pause_reason or "")
            if row.lease_owner is not None and is_dead(row.lease_owner):
                await self._dead_holders.get((key, row.lease_owner))
                return 0.0
        except DATABASE_ERRORS as trouble:
            raise HostBusy(url, "the ledger of hosts cannot be reached") from trouble
        return max(float(row.lease or 0), 0.0)

    async def _who_holds(self, keys: list[str]) -> dict[str, Row[Any]]:
        rows = await self._execute(statement.WHO_HOLDS, keys=keys)
        return {row.key: row for row in rows}

    async def _take_from_dead(
        self, held: list[tuple[str, UUID]]
    ) -> dict[tuple[str, UUID], None]:
        """Take keys from processes that have ended."""
        await self._execute(
            statement.TAKE_FROM_DEAD,
            keys=[key for key, _ in held],
            owners=[owner for _, owner in held],
        )
        return {}

    async def _keep(self) -> None:
        """Renew, return and write down, for as long as the ledger is open."""
        spare = self._lease.total_seconds() - self._reserve
        beat = max(min(spare / 3, IDLE_SECONDS), 0.05)
        while True:
            await asyncio.sleep(beat)
            try:
                await self._renew([key for key in self._leases if self._is_used(key)])
                await self._return(
                    [key for key in self._leases if not self._is_used(key)]
                )
                await self._write_counts()
            except DATABASE_ERRORS as trouble:
                log.warning("ledger.unreachable", error=type(trouble).__name__)
            except Exception:
                log.exception("ledger.failed")

    def _is_used(self, key: str) -> bool:
        queue = self._queues.queues.get(key)
        if queue is None:
            return False
        recently = time.monotonic() - queue.used_at < IDLE_SECONDS
        return queue.busy or bool(queue.waiters) or recently

    async def _renew(self, keys: list[str]) -> None:
        """Renew what has spent a third of its spare time; forget what was lost."""
        spare = self._lease.total_seconds() - self._reserve
        soon = time.monotonic() + self._reserve + spare * 2 / 3
        due = sorted(key for key in keys if self._leases[key].is_due(soon))
        if not due:
            return
        delays = [self._leases[key].delay for key in due]
        asked = time.monotonic()
        rows = await self._execute(
            statement.RENEW,
            keys=due,
            delays=delays,
            owner=self._owner,
            lease=self._lease,
        )
        renewed = {row.key for row in rows}
        for key, delay in zip(due, delays, strict=True):
            if key not in renewed:
                self._leases.pop(key, None)
            elif (lease := self._leases.get(key)) is not None:
                lease.until = asked + self._lease.total_seconds()
                lease.written_delay = delay

    async def _return(self, keys: list[str]) -> None:
        """Give leases back; the next holder waits out the rest of our delay."""
        if not keys:
            return
        now = time.monotonic()
        leases = {key: self._leases.pop(key) for key in sorted(keys)}
        with self._shut(leases):
            await self._execute(
                statement.RETURN,
                keys=list(leases),
                delays=[lease.delay for lease in leases.values()],
                rests=[max(self._queue(key).free_at - now, 0.0) for key in leases],
                owner=self._owner,
            )

    @contextmanager
    def _shut(self, keys: Iterable[str]) -> Iterator[None]:
        """Let nobody ask for a lease while the last one is on its way back."""
        queues = {
            key: queue for key in keys if not (queue := self._queues.queue(key)).busy
        }
        for queue in queues.values():
            queue.busy = True
        try:
            yield
        finally:
            for key in queues:
                self._queues.reopen(key)

    def _queue(self, key: str) -> HostQueue:
        return self._queues.queues.get(key) or HostQueue()

    async def _write_counts(self) -> None:
        if not self._counted:
            return
        counted, self._counted = self._counted, {}
        values = list(counted.values())
        try:
            await self._execute(
                statement.RECORD,
                keys=[key for key, _ in counted],
                outcomes=[outcome for _, outcome in counted],
                requests=[one.requests for one in values],
                sizes=[one.bytes for one in values],
                seconds=[one.seconds for one in values],
            )
        except BaseException:
            self._take_back(counted.items())
            raise

    def _take_back(
        self, counted: Iterable[tuple[tuple[str, str], HostStatistics]]
    ) -> None:
        for place, lost in counted:
            kept = self._counted.setdefault(place, HostStatistics())
            kept.requests += lost.requests
            kept.bytes += lost.bytes
            kept.seconds += lost.seconds

    def _remember(self, origin: str, stored: StoredRobots) -> StoredRobots:
        self._robots.put(origin, stored)
        return stored

    def _is_fresh(self, stored: StoredRobots) -> bool:
        return stored.expires.timestamp() > time.time()

    async def _execute(self, what: TextClause, **values: object) -> list[Row[Any]]:
        async with self._engine.connect() as connection:
            result = await connection.execute(what, values)
            return list(result.all()) if result.returns_rows else []
