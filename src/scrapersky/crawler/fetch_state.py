"""The account of one fetch: where it went, what it waited for, what it still may spend."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta

from contact_extraction.urls import Url
from scrapersky.crawler.connection import Exchange
from scrapersky.crawler.pool import Clocked
from scrapersky.crawler.result import Hop, RobotsVerdict, Timings
from scrapersky.errors import RedirectLimit


@dataclass(slots=True)
class FetchState:
    """One fetch under way, from the URL asked for to the last hop."""

    requested: Url
    current: Url
    started: float = field(default_factory=time.monotonic)
    waited: float = 0.0
    wire_bytes: int = 0
    hops: list[Hop] = field(default_factory=list)
    seen: set[Url] = field(default_factory=set)
    clocked: Clocked = field(default_factory=Clocked)
    verdict: RobotsVerdict = field(default_factory=lambda: RobotsVerdict(allowed=True))
    peer: str = ""
    downgraded: bool = False

    @property
    def spent(self) -> float:
        """Return the seconds on the network so far, without waiting for turns."""
        return time.monotonic() - self.started - self.waited

    def go_on(self, target: Url, status: int, how: str, *, limit: int) -> None:
        """Follow a redirect; raise RedirectLimit for a circle or one hop too many."""
        self.hops.append(Hop(self.current, status, how))
        self.seen.add(self.current)
        if target in self.seen:
            raise RedirectLimit(str(self.requested), "redirect loop")
        if len(self.hops) > limit:
            raise RedirectLimit(
                str(self.requested), f"redirected more than {limit} times"
            )
        if self.current.scheme == "https" and target.scheme == "http":
            self.downgraded = True
        self.current = target

    def timings(self, last: Exchange) -> Timings:
        """Return where the time went."""
        return Timings(
            dns=timedelta(seconds=self.clocked.dns),
            connect=timedelta(seconds=self.clocked.connect),
            tls=timedelta(seconds=self.clocked.tls),
            first_byte=timedelta(seconds=last.first_byte_at - last.sent_at),
            total=timedelta(seconds=self.spent),
            waited=timedelta(seconds=self.waited),
        )

    @property
    def trail(self) -> Sequence[Hop]:
        """Return the redirects so far."""
        return tuple(self.hops)
