"""A connector and the server it speaks to, on a clock that nobody waits for."""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from ipaddress import ip_network
from pathlib import Path
from typing import Any, TypeVar
from uuid import UUID, uuid5

from scrapersky.connectors.meter import MeterRule, learnt, take
from scrapersky.connectors.protocol import (
    Connector,
    ConnectorContext,
    CrmKind,
    CrmValue,
    RecordWrite,
)
from scrapersky.connectors.session import CrmSession, CrmTransport
from scrapersky.crawler.policy import CrawlerPolicy
from tests.connectors.fakes.clock import StillClock

ConnectorT = TypeVar("ConnectorT", bound=Connector)
SPACE = UUID("3f1e0000-0000-4000-8000-000000000000")
LOOPBACK = (ip_network("127.0.0.0/8"),)


@dataclass(slots=True)
class OwnMetering:
    """Meters kept by this process alone."""

    rules: Sequence[MeterRule]
    now: Callable[[], datetime]
    state: dict[str, Any] = field(default_factory=dict)

    async def take(
        self, costs: Mapping[str, float], spared: float
    ) -> tuple[timedelta, str | None]:
        """Take what a call costs, or say how long to wait."""
        now = self.now()
        self.state, wait, which = take(self.state, self.rules, costs, now, spared)
        return wait, which

    async def learn(
        self, name: str, *, left: float, after: timedelta | None = None
    ) -> None:
        """Take notice of what is left."""
        for rule in self.rules:
            if rule.name == name:
                self.state = learnt(
                    self.state, rule, left=left, after=after, now=self.now()
                )


@asynccontextmanager
async def connected(
    of: type[ConnectorT],
    url: str,
    credential: str,
    clock: StillClock,
    folder: Path | str = "unused",
    **options: str,
) -> AsyncIterator[ConnectorT]:
    """Make a connector as the engine makes one, with meters of its own."""
    given = {one.name: one.default for one in of.info.options} | {"base_url": url}
    given |= options
    transport = CrmTransport(CrawlerPolicy(user_agent="ScraperSky-tests/1"), LOOPBACK)
    session = CrmSession(
        base=url,
        headers={},
        transport=transport,
        metering=OwnMetering(of.meters(given), clock.now),
        clock=clock,
        secrets=(credential,),
    )
    try:
        yield of(ConnectorContext(session, given, credential, Path(folder)))
    finally:
        await transport.close()


def our(number: int) -> UUID:
    """Return one of our ids."""
    return uuid5(SPACE, str(number))


def write(
    kind: CrmKind,
    number: int,
    values: Mapping[str, CrmValue] | None = None,
    their_id: str | None = None,
) -> RecordWrite:
    return RecordWrite(
        kind=kind, our_id=our(number), values=values or {}, their_id=their_id
    )


def known(record: RecordWrite, their_id: str) -> RecordWrite:
    return replace(record, their_id=their_id)
