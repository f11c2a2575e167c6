"""The demo town of this process, opened beside the real world when asked for."""

import asyncio
from contextlib import AsyncExitStack
from dataclasses import dataclass
from datetime import datetime

from scrapersky.demo.plan import plan_town
from scrapersky.demo.town import Town
from scrapersky.errors import AlreadyRunning
from scrapersky.kit.clock import utc_now
from scrapersky.pipeline.mail_server import DnsMailServers
from scrapersky.scheduler.annex import Annex
from scrapersky.scheduler.app import Background


@dataclass(frozen=True, slots=True)
class Running:
    """A town that is open."""

    town: Town
    started_at: datetime


class DemoTown:
    """The town of this process; it is open until the process ends."""

    def __init__(self, background: Background) -> None:
        self._background = background
        self._stack = AsyncExitStack()
        self._opening = asyncio.Lock()
        self.running: Running | None = None

    async def open(self, size: int, seed: int) -> Running:
        """Open the town, unless it is open; a town is not built anew while it is."""
        if self._background.worker is None:
            raise AlreadyRunning(
                "The demo town cannot be opened here: this process works no stages.",
                hint="Open it where `scrapersky up` runs.",
            )
        async with self._opening:
            if self.running is None:
                # Building it takes a moment, and others are being served here.
                await asyncio.to_thread(plan_town, size, seed=seed, trouble=True)
                async with AsyncExitStack() as stack:
                    town = await stack.enter_async_context(
                        Town.open(size=size, seed=seed)
                    )
                    await stack.enter_async_context(
                        self._background.annexes.open(annex_of(town))
                    )
                    # Until here a town that may not be entered is taken down again.
                    self._stack = stack.pop_all()
                self.running = Running(town, utc_now())
            return self.running

    async def close(self) -> None:
        """Close the town, if it is open."""
        async with self._opening:
            self.running = None
            await self._stack.aclose()


def annex_of(town: Town) -> Annex:
    """Describe the town as a small world beside the real one."""
    return Annex(
        policy=town.policy,
        resolver=town.resolver,
        mail_servers=DnsMailServers(("127.0.0.1",), town.invitation.dns_port),
        source=town.source,
    )
