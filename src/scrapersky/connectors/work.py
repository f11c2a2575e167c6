"""Keep one connection true: what changed here goes there, and what changed there comes back."""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID, uuid4

import structlog
from sqlalchemy import Row, func, select, update
from sqlalchemy.ext.asyncio import AsyncEngine

from scrapersky.changes.subscriber import Lease, Subscriber
from scrapersky.connectors.account import (
    CONNECTIONS,
    ConnectorTools,
    CrmConnection,
    SchemaMemory,
    open_connection,
)
from scrapersky.connectors.erasure import erase_next
from scrapersky.connectors.feed import feed
from scrapersky.connectors.meter import LISTENING_SHARE
from scrapersky.connectors.outbox import UNMAPPED, has_queued, map_own, next_due
from scrapersky.connectors.protocol import CrmKind
from scrapersky.connectors.pull import Pull
from scrapersky.connectors.push import Push
from scrapersky.errors import (
    ConfigurationError,
    CrmBusy,
    CrmError,
    CrmTokenRejected,
    SubscriptionTaken,
)
from scrapersky.records import Company, Contact
from scrapersky.records.subscription import LEASE_SECONDS

log = structlog.get_logger(__name__)

RENEW_SECONDS: Final = LEASE_SECONDS / 4
STALE_SECONDS: Final = LEASE_SECONDS * 0.75
"""After so long without a renewal nothing is sent any more: somebody else may be at it."""
PROBLEM_PAUSE: Final = timedelta(minutes=5)
SHORTEST_PAUSE: Final = timedelta(seconds=1)
BOOT_CLOCK: Final = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
"""It goes on while the machine sleeps, where there is such a clock."""
NOT_UNDERSTOOD: Final = (LookupError, TypeError, ValueError, AttributeError)
"""What an answer of another shape than the vendor describes ends in."""


@dataclass(slots=True)
class ConnectionWork:
    """Works on one connection, as long as the lease holds."""

    lease: Lease
    tools: ConnectorTools
    memory: SchemaMemory = field(default_factory=SchemaMemory)
    renewed: float = 0.0
    polled: datetime | None = None
    """When their changes were asked for last."""
    unread: list[CrmKind] = field(default_factory=list)
    """Kinds of which not all changes since the last time have been read."""
    poll_every: timedelta = PROBLEM_PAUSE
    cursors: dict[str, Any] = field(default_factory=dict)
    failed: Exception | None = None
    """What stopped a part of the work, and not the others."""

    async def work(self) -> timedelta | None:
        """Work until nothing is left; return when to come again."""
        row = await self._load()
        try:
            account = open_connection(
                self.lease.engine, row, self.tools, memory=self.memory
            )
            account.session.may_send = self._is_fresh
            account.session.spared = LISTENING_SHARE
            async with self._renewing():
                after = await self._sync(account)
        except CrmTokenRejected as error:
            await self._stop(str(error))
            raise SubscriptionTaken("The connection has stopped.") from None
        except CrmBusy as error:
            await self._note(str(error))
            after = error.after
            if error.limit is not None and self.polled is not None:
                # What is left of the day is for this.
                after = min(after, self._until_poll())
            return max(after, SHORTEST_PAUSE)
        except (CrmError, ConfigurationError) as error:
            await self._note(str(error))
            return PROBLEM_PAUSE
        except NOT_UNDERSTOOD as error:
            # People are to know.
            await self._note(f"An answer was not understood: {error!r:.300}")
            raise
        if row.problem is not None:
            await self._note(None)
        return after

    async def _load(self) -> Row[Any]:
        self.renewed = since_boot()
        async with self.lease.engine.connect() as connection:
            query = select(CONNECTIONS).where(CONNECTIONS.c.id == self.lease.id)
            row = (await connection.execute(query)).one_or_none()
        if row is None or row.lease != self.lease.token:
            raise SubscriptionTaken(f"connection {self.lease.id} is not ours")
        return row

    async def _sync(self, account: CrmConnection) -> timedelta | None:
        row = account.row
        if UNMAPPED in row.cursors:
            await self._map_own(account)
            row = await self._load()
        while await feed(self.lease, row):
            row = await self._load()
        self.polled, self.cursors = row.polled_at, dict(row.cursors)
        self.poll_every = account.crm.info.poll_every
        # Whoever objected or is to be erased waits neither for a long run nor for one that fails.
        for part in (self._erase, self._listen, self._push, self._listen):
            await self._attempt(part, account)
        if self.failed is not None:
            raise self.failed
        wait = self._until_poll()
        async with self.lease.engine.connect() as connection:
            due = await next_due(connection, self.lease.id)
        return max(wait if due is None else min(wait, due), SHORTEST_PAUSE)

    async def _attempt(
        self, part: Callable[[CrmConnection], Awaitable[object]], account: CrmConnection
    ) -> None:
        """Do a part of the work; what stops it does not stop the others."""
        try:
            await part(account)
        except CrmTokenRejected:
            raise
        except CrmError as error:
            self.failed = self.failed or error
        except NOT_UNDERSTOOD as error:
            # It may quote what they said, and they may repeat what we sent.
            error.args = tuple(account.session.mask(str(one)) for one in error.args)
            self.failed = self.failed or error

    async def _erase(self, account: CrmConnection) -> None:
        with sparing_nothing(account):
            while await erase_next(self.lease, account):
                pass

    async def _listen(self, account: CrmConnection) -> None:
        """Take over what changed there, if it is time to."""
        while await self._read_page(account):
            pass

    async def _read_page(self, account: CrmConnection) -> bool:
        """Take over a page of what changed there, if it is time to; return whether more did."""
        if not self.unread:
            if self._until_poll() > timedelta():
                return False
            self.polled = self.tools.clock.now()
            self.unread = list(account.crm.info.kinds)
        # Whatever goes wrong is tried again at the next time, not at once.
        unread, self.unread = self.unread, []
        with sparing_nothing(account):
            if not await Pull(self.lease, account, self.cursors).step(unread[0]):
                del unread[0]
        self.unread = unread
        if not unread:
            # The pause begins now: reading back a long run may take longer than one.
            self.polled = self.tools.clock.now()
            await self._change({"polled_at": self.polled})
        return bool(unread)

    def _until_poll(self) -> timedelta:
        """Return how long until their changes are asked for again."""
        if self.polled is None:
            return timedelta()
        return self.polled + self.poll_every - self.tools.clock.now()

    async def _map_own(self, account: CrmConnection) -> None:
        """Find again what an earlier connection to this account has written, by our ids.

        It is compared like what a person typed: nobody knows any more who wrote which value.
        """
        left = {**account.row.cursors}
        for name in left.pop(UNMAPPED):
            kind = CrmKind(name)
            table = Company if kind is CrmKind.COMPANY else Contact
            query = select(table.id).where(table.tenant_id == self.lease.tenant_id)
            async with self.lease.engine.connect() as connection:
                ids = list(await connection.scalars(query))
            found = await account.crm.read_own(kind, ids, ()) if ids else {}
            theirs = {ours: record.id for ours, record in found.items()}
            async with self.lease.transaction() as connection:
                await map_own(
                    connection, self.lease.tenant_id, self.lease.id, kind, theirs
                )
        await self._change({"cursors": left})

    async def _has_queued(self) -> bool:
        async with self.lease.engine.connect() as connection:
            return await has_queued(connection, self.lease.id)

    async def _push(self, account: CrmConnection) -> None:
        """Write what is queued, as one run."""
        push = Push(self.lease, account, account.row.run_id or uuid4())
        if await self._has_queued():
            await self._refuse_missing(account)
            if account.row.run_at is None:
                push.run_id = uuid4()
                begun = {"run_id": push.run_id, "run_at": func.clock_timestamp()}
                await self._change(begun)
        while await push.step():
            await self._attempt(self._erase, account)
            # Page by page: what a long run wrote itself is read back beside its writing. More
            # pages than one and the limit of searches would hold the writing up.
            await self._attempt(self._read_page, account)
        if not await self._has_queued():
            await self._change({"run_at": None})

    async def _refuse_missing(self, account: CrmConnection) -> None:
        for kind in account.crm.info.kinds:
            await account.refuse_missing(kind)

    async def _change(self, values: Mapping[str, Any]) -> None:
        async with self.lease.transaction(values):
            pass

    def _is_fresh(self) -> bool:
        return since_boot() - self.renewed < STALE_SECONDS

    @contextlib.asynccontextmanager
    async def _renewing(self) -> AsyncIterator[None]:
        """Renew the lease while a call takes long; end the work if it is lost."""
        worker = asyncio.current_task()

        async def renew() -> None:
            while True:
                await asyncio.sleep(RENEW_SECONDS)
                began = since_boot()
                try:
                    async with self.lease.transaction():
                        pass
                except SubscriptionTaken:
                    if worker is not None:
                        worker.cancel()
                    return
                self.renewed = began

        renewing = asyncio.create_task(renew(), name=f"lease of {self.lease.id}")
        try:
            yield
        finally:
            renewing.cancel()

    async def _note(self, problem: str | None) -> None:
        await self._change({"problem": problem})

    async def _stop(self, problem: str) -> None:
        """Do nothing more until a person gives another credential."""
        log.warning("crm.stopped", connection=str(self.lease.id), why=problem)
        stopped = {"problem": problem, "is_active": False}
        async with self.lease.engine.begin() as connection:
            await connection.execute(
                update(CONNECTIONS)
                .where(
                    CONNECTIONS.c.id == self.lease.id,
                    CONNECTIONS.c.lease == self.lease.token,
                )
                .values(**stopped, lease=None, leased_until=None)
            )


def since_boot() -> float:
    """Return the seconds by which a lease is known to be ours still."""
    return time.clock_gettime(BOOT_CLOCK)


@contextlib.contextmanager
def sparing_nothing(account: CrmConnection) -> Iterator[None]:
    """Let calls take all that the day has left."""
    account.session.spared = 0.0
    try:
        yield
    finally:
        account.session.spared = LISTENING_SHARE


def sync_subscriber(engine: AsyncEngine, tools: ConnectorTools) -> Subscriber:
    """Make what works on all connections that this process gets a lease of."""
    memories: dict[UUID, SchemaMemory] = {}

    async def work(lease: Lease) -> timedelta | None:
        memory = memories.setdefault(lease.id, SchemaMemory())
        return await ConnectionWork(lease, tools, memory).work()

    return Subscriber(engine, CONNECTIONS, work)
