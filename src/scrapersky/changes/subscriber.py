"""Work on rows that follow the change log: each by one process at a time, none waits for others.

A row is leased by the database's clock. Whoever loses its process is taken over when the lease
ends; what the old one still tries to write is refused. What follows the log for somebody
outside (webhooks, a sync) gives its table and a function that works on one row.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final
from uuid import UUID, uuid4

import structlog
from sqlalchemy import Row, Table, func, literal, or_, select, update
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from scrapersky.changes.watch import ChangeWatch, Follower
from scrapersky.errors import ScraperSkyError, SubscriptionTaken
from scrapersky.records.subscription import LEASE_SECONDS

log = structlog.get_logger(__name__)

POLL_SECONDS: Final = 0.2
"""Seconds between two looks at whose log has grown, while there is anyone to tell."""
CLAIM_SECONDS: Final = 1.0
"""Seconds between two looks for rows that are due, while there are any."""
IDLE_SECONDS: Final = 5.0
"""The same while there are none at all."""
LINGER_SECONDS: Final = 2.0
"""How long a row stays leased that has nothing to do: what comes next is taken at once."""
MAX_TASKS: Final = 500
IDLE_TIME: Final = timedelta(seconds=30)
"""After which a row is looked after though nothing is known to have changed."""
AFTER_FAILURE: Final = timedelta(seconds=10)
NOTHING: Final[Mapping[str, Any]] = {}


@dataclass(frozen=True, slots=True)
class Lease:
    """A row that this process works on."""

    engine: AsyncEngine
    table: Table
    id: UUID
    tenant_id: UUID
    token: UUID
    news: Follower
    """Wakes whoever works on the row when the log of its tenant has grown."""

    @contextlib.asynccontextmanager
    async def transaction(
        self, changes: Mapping[str, Any] = NOTHING
    ) -> AsyncIterator[AsyncConnection]:
        """Write in a transaction that holds the lease and extends it; change columns too."""
        async with self.engine.begin() as connection:
            await self.change(connection, changes)
            yield connection

    async def change(
        self, connection: AsyncConnection, changes: Mapping[str, Any] = NOTHING
    ) -> Row[Any]:
        """Change columns of the row in a transaction of the caller, and extend the lease.

        Returns the row as it is then; raises SubscriptionTaken if it is not ours any more.
        """
        table = self.table
        statement = update(table).where(
            table.c.id == self.id, table.c.lease == self.token, table.c.is_active
        )
        values = {"leased_until": lease_end(), **changes}
        changed = await connection.execute(statement.values(values).returning(*table.c))
        if (row := changed.one_or_none()) is None:
            raise SubscriptionTaken(f"{table.name} {self.id} is not ours any more.")
        return row

    async def give_back(
        self, after: timedelta, changes: Mapping[str, Any] = NOTHING
    ) -> None:
        """Let go of the row, until it is due or something changes."""
        async with self.engine.begin() as connection:
            free = {
                "lease": None,
                "leased_until": None,
                "next_at": func.clock_timestamp() + literal(after),
            }
            await self.change(connection, {**free, **changes})


Work = Callable[[Lease], Awaitable[timedelta | None]]
"""Works on one row until there is nothing to do; returns when it wants to be called again."""


class Subscriber:
    """Leases rows that are due or whose log has grown, and has each one worked on."""

    def __init__(self, engine: AsyncEngine, table: Table, work: Work) -> None:
        self._engine = engine
        self._table = table
        self._work = work
        self._watch = ChangeWatch(engine, POLL_SECONDS)
        self._tasks: dict[UUID, asyncio.Task[None]] = {}
        self._followers: dict[UUID, Follower] = {}
        self._waiting: set[UUID] = set()
        """Tenants whose log has grown and whose rows may not have been announced."""

    async def run(self) -> None:
        """Work for as long as the process does."""
        try:
            while True:
                try:
                    if await self._has_rows():
                        await self._follow()
                except (OSError, SQLAlchemyError, TimeoutError) as error:
                    log.warning("subscriber.failed", error=str(error)[:300])
                await asyncio.sleep(IDLE_SECONDS)
        finally:
            await self._stop()

    async def _follow(self) -> None:
        """Claim rows as they are due, while there are any."""
        with self._watch.following(None, self._table.name) as follower:
            while await self._has_rows():
                for _ in range(round(IDLE_SECONDS / CLAIM_SECONDS)):
                    await follower.wait(CLAIM_SECONDS)
                    self._hear(follower)
                    await self._claim()

    def _hear(self, follower: Follower) -> None:
        """Tell those who are at work, and remember who has to be."""
        tenants, follower.tenants = frozenset(follower.tenants), set()
        self._waiting |= tenants
        for one in self._followers.values():
            one.hear(tenants)

    async def _claim(self) -> None:
        free = MAX_TASKS - len(self._tasks)
        if free <= 0:
            return
        waiting = frozenset(self._waiting)
        # Who works on a row may end before it has heard, and it may end while we look.
        busy = {one.tenant_id for one in self._followers.values()}
        table, token = self._table, uuid4()
        now = func.clock_timestamp()
        due = (
            select(table.c.id)
            .where(
                table.c.is_active,
                or_(table.c.next_at <= now, table.c.tenant_id.in_(waiting)),
                or_(table.c.leased_until.is_(None), table.c.leased_until < now),
                table.c.id.not_in(list(self._tasks)),
            )
            .order_by(table.c.next_at)
            .limit(free)
            .with_for_update(skip_locked=True)
        )
        claim = (
            update(table)
            .where(table.c.id.in_(due))
            .values(lease=token, leased_until=lease_end())
            .returning(table.c.id, table.c.tenant_id)
        )
        async with self._engine.begin() as connection:
            rows = (await connection.execute(claim)).all()
        self._waiting -= waiting - busy
        for row in rows:
            self._begin(row.id, row.tenant_id, token)

    def _begin(self, row: UUID, tenant: UUID, token: UUID) -> None:
        follower = self._followers[row] = Follower(tenant)
        lease = Lease(self._engine, self._table, row, tenant, token, follower)
        task = asyncio.create_task(self._take(lease), name=f"{self._table.name} {row}")
        self._tasks[row] = task
        task.add_done_callback(lambda _: self._end(row))

    def _end(self, row: UUID) -> None:
        self._tasks.pop(row, None)
        self._followers.pop(row, None)

    async def _take(self, lease: Lease) -> None:
        """Work on a row until nothing is left to do, and give it back."""
        after: timedelta | None = AFTER_FAILURE
        try:
            while (after := await self._work(lease)) is None:
                if not await lease.news.wait(LINGER_SECONDS):
                    break
        except asyncio.CancelledError:
            after = timedelta()
            raise
        except Exception as error:  # noqa: BLE001 - one row is not to end the others
            after = AFTER_FAILURE
            log_failure(lease, error)
        finally:
            with contextlib.suppress(SubscriptionTaken, OSError, SQLAlchemyError):
                await asyncio.shield(
                    lease.give_back(IDLE_TIME if after is None else after)
                )

    async def _has_rows(self) -> bool:
        query = select(self._table.c.id).where(self._table.c.is_active).limit(1)
        async with self._engine.connect() as connection:
            return await connection.scalar(query) is not None

    async def _stop(self) -> None:
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)
        self._watch.close()
        await self._watch.closed()


def log_failure(lease: Lease, error: Exception) -> None:
    """Log what work on a row ended with, unless somebody else is at it now."""
    if isinstance(error, SubscriptionTaken):
        return
    expected = (ScraperSkyError, OSError, SQLAlchemyError, TimeoutError)
    log.warning(
        "subscriber.failed",
        row=str(lease.id),
        error=str(error)[:300],
        exc_info=not isinstance(error, expected),
    )


def lease_end() -> Any:  # noqa: ANN401 - an expression
    """Return when a lease that begins now ends."""
    return func.clock_timestamp() + literal(timedelta(seconds=LEASE_SECONDS))
