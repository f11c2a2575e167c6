"""The account of one fetch: where it went, what it waited for, what it still may spend."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta

from contact_extraction.urls import Url
from scrapersky.crawler.pool import ConnectTimings
from scrapersky.crawler.result import Redirect, RobotsVerdict, Timings
from scrapersky.errors import RedirectLimit


@dataclass(slots=True)
class FetchState:
    """One fetch under way, from the URL asked for to the last hop."""

    requested: Url
    current: Url
    started: float = field(default_factory=time.monotonic)
    waited: float = 0.0
    wire_bytes: int = 0
    hops: list[Redirect] = field(default_factory=list)
    seen: set[Url] = field(default_factory=set)
    connect_timings: ConnectTimings = field(default_factory=ConnectTimings)
    verdict: RobotsVerdict = field(default_factory=lambda: RobotsVerdict(allowed=True))
    peer: str = ""
    downgraded: bool = False

    @property
    def spent(self) -> float:
        """Return the seconds on the network so far, without waiting for turns."""
        return time.monotonic() - self.started - self.waited

    def go_on(self, target: Url, status: int, how: str, *, limit: int) -> None:
        """Follow a redirect; raise RedirectLimit for a circle or one hop too many."""
        self.hops.append(Redirect(self.current, status, how))
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

    def timings(self) -> Timings:
        """Return where the time went."""
        return Timings(
            dns=timedelta(seconds=self.connect_timings.dns),
            connect=timedelta(seconds=self.connect_timings.connect),
            tls=timedelta(seconds=self.connect_timings.tls),
            total=timedelta(seconds=self.spent),
            waited=timedelta(seconds=self.waited),
        )

    @property
    def trail(self) -> Sequence[Redirect]:
        """Return the redirects so far."""
        return tuple(self.hops)
