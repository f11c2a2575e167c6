"""A turn at one host or address: nobody else asks it meanwhile."""

import time
from dataclasses import dataclass
from datetime import timedelta
from types import TracebackType

from scrapersky.crawler.hosts import HostLedger
from scrapersky.crawler.journey import Journey
from scrapersky.crawler.policy import CrawlerPolicy


@dataclass(frozen=True, slots=True)
class Turn:
    """A turn at one host; the time waited for it is not the fetch's."""

    hosts: HostLedger
    policy: CrawlerPolicy
    journey: Journey
    key: str | None
    delay: timedelta

    async def __aenter__(self) -> None:
        """Wait for the turn."""
        if self.key is None:
            return
        asked = time.monotonic()
        try:
            await self.hosts.acquire(
                self.key, url=str(self.journey.current), patience=self.policy.patience
            )
        finally:
            self.journey.waited += time.monotonic() - asked

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Give the turn to the next, after the delay."""
        if self.key is not None:
            self.hosts.release(self.key, delay=self.delay)
