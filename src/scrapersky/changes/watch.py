"""Wait for changes: one look for all who wait in a process, often enough to seem at once.

It looks only while somebody waits, and asks whose log has grown, not what is in it. A
notification by the database would make every commit that sends one wait for the last one's.
"""

import asyncio
import contextlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Final
from uuid import UUID

import structlog
from sqlalchemy import Row, text
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncEngine

from scrapersky.changes.reader import SNAPSHOT, open_transactions
from scrapersky.errors import TooManyRequests

log = structlog.get_logger(__name__)

POLL_SECONDS: Final = 0.04
PAUSE_SECONDS: Final = 1.0
"""After the database could not be asked."""
MAX_FOLLOWERS: Final = 200
MAX_FOLLOWERS_EACH: Final = 20
RETRY_AFTER: Final = timedelta(seconds=10)
STATE: Final = f"""SELECT {SNAPSHOT}, (SELECT shift FROM change_epochs
  ORDER BY id DESC LIMIT 1) AS shift"""  # noqa: S608 - our own words
LOOK: Final = text(
    f"""SELECT s.*, ARRAY(
    SELECT tenant_id FROM record_changes WHERE transaction_id = ANY(:open)
    UNION SELECT tenant_id FROM record_changes WHERE transaction_id >= :next
      AND transaction_id < pg_snapshot_xmax(pg_current_snapshot())::text::bigint + s.shift
  ) AS tenants FROM ({STATE}) s"""  # noqa: S608 - as above
)


@dataclass(slots=True, eq=False)
class Follower:
    """One who waits for changes of a tenant, or of any."""

    tenant_id: UUID | None
    news: asyncio.Event = field(default_factory=asyncio.Event)
    tenants: set[UUID] = field(default_factory=set)
    """Whose log has grown, if they are known; whoever waits for any clears it."""

    def hear(self, tenants: frozenset[UUID] | None) -> None:
        """Take notice of whose log has grown; None: perhaps everyone's."""
        if self.tenant_id is None:
            self.tenants |= tenants or set()
        if tenants is None or (
            self.tenant_id in tenants if self.tenant_id else tenants
        ):
            self.news.set()

    async def wait(self, timeout: float) -> bool:
        """Wait until there may be changes since the last call; return whether there are."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(timeout):
                await self.news.wait()
        has_news = self.news.is_set()
        self.news.clear()
        return has_news


class ChangeWatch:
    """Wakes those who follow the change log in this process."""

    def __init__(self, engine: AsyncEngine, poll_seconds: float | None = None) -> None:
        # A transaction around one question would be two more.
        self._engine = engine.execution_options(isolation_level="AUTOCOMMIT")
        self._poll_seconds = poll_seconds or POLL_SECONDS
        self._followers: set[Follower] = set()
        self._counts: Counter[str] = Counter()
        self._looking: asyncio.Task[None] | None = None
        self.is_closed = False

    @contextlib.contextmanager
    def following(self, tenant_id: UUID | None, name: str) -> Iterator[Follower]:
        """Follow a tenant's log, or every one; raise TooManyRequests if that is one too many.

        Whoever reads after this has begun, and then waits, misses nothing in between.
        """
        if self._counts[name] >= MAX_FOLLOWERS_EACH or (
            self._counts.total() >= MAX_FOLLOWERS
        ):
            raise TooManyRequests(
                "Too many follow the changes already.",
                hint="Share one cursor, or ask without `wait`.",
                retry_after=RETRY_AFTER,
            )
        follower = Follower(tenant_id)
        self._followers.add(follower)
        self._counts[name] += 1
        if self._looking is None:
            self._looking = asyncio.create_task(self._look(), name="change watch")
        try:
            yield follower
        finally:
            self._followers.remove(follower)
            self._counts -= Counter([name])

    def close(self) -> None:
        """Wake everyone, for good."""
        self.is_closed = True
        self._wake(None)

    async def closed(self) -> None:
        """Wait until nothing looks any more."""
        if self._looking is not None:
            self._looking.cancel()
            await asyncio.wait({self._looking})

    def _wake(self, tenants: frozenset[UUID] | None) -> None:
        for follower in self._followers:
            follower.hear(tenants)

    async def _look(self) -> None:
        """Look again and again, until nobody follows."""
        state: Row[Any] | None = None
        try:
            while self._followers:
                try:
                    last, state = state, await self._read(state)
                    # The first look does not know since when.
                    self._wake(None if last is None else frozenset(state.tenants))
                    await asyncio.sleep(self._poll_seconds)
                except (OSError, SQLAlchemyError, TimeoutError) as error:
                    log.warning("changes.not_watched", error=str(error)[:300])
                    state = None
                    await asyncio.sleep(PAUSE_SECONDS)
        finally:
            self._looking = None

    async def _read(self, state: Row[Any] | None) -> Row[Any]:
        values: dict[str, Any] = {"open": [], "next": 2**62}
        if state is not None:
            still_open = open_transactions(state)
            _, end, _ = state.snapshot.split(":")
            values = {
                "open": list(still_open),
                "next": int(end) + state.begun + state.shift,
            }
        async with self._engine.connect() as connection:
            return (await connection.execute(LOOK, values)).one()
