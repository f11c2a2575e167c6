"""A turn at one host or address: nobody else asks it meanwhile."""

import asyncio
import time
from dataclasses import dataclass
from datetime import timedelta

from scrapersky.crawler.fetch_state import FetchState
from scrapersky.crawler.hosts import HostLedger
from scrapersky.crawler.policy import CrawlerPolicy


@dataclass(slots=True)
class WaitingFetches:
    """How many fetches of a crawler wait for their turn at a host."""

    waiting: int = 0


@dataclass(slots=True)
class HostSlot:
    """A turn at one host; the time waited for it is not the fetch's.

    With `longest` it ends by then, though the request may go on: a site that is slow
    must not keep everyone from the address that it shares with them.
    """

    hosts: HostLedger
    policy: CrawlerPolicy
    fetches: WaitingFetches
    state: FetchState
    key: str | None
    delay: timedelta
    longest: timedelta | None = None
    _end: asyncio.TimerHandle | None = None

    async def __aenter__(self) -> None:
        """Wait for the turn."""
        if self.key is None:
            return
        asked = time.monotonic()
        self.fetches.waiting += 1
        try:
            await self.hosts.acquire(
                self.key,
                url=str(self.state.current),
                timeout=self.policy.host_timeout,
            )
        finally:
            self.fetches.waiting -= 1
            self.state.waited += time.monotonic() - asked
        if self.longest is not None:
            self._end = asyncio.get_running_loop().call_later(
                self.longest.total_seconds(), self._release
            )

    async def __aexit__(self, *_: object) -> None:
        """Give the turn to the next, after the delay."""
        if self._end is not None:
            self._end.cancel()
        self._release()

    def _release(self) -> None:
        if self.key is not None:
            self.hosts.release(self.key, delay=self.delay)
            self.key = None
