"""What connections to CRMs are worked with, as the settings say."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import datetime
from functools import partial
from typing import Final

from scrapersky.changes.subscriber import Subscriber
from scrapersky.connectors.account import ConnectorTools
from scrapersky.connectors.registry import CONNECTORS
from scrapersky.connectors.session import CrmTransport
from scrapersky.connectors.work import sync_subscriber
from scrapersky.crawler import CrawlerPolicy
from scrapersky.crawler.guard import parse_networks
from scrapersky.db.connection import Target, connect
from scrapersky.errors import ConfigurationError
from scrapersky.kit.clock import utc_now
from scrapersky.scheduler.webhook import find_cipher
from scrapersky.settings import Settings

FOLDER: Final = "connections"
POOL_SIZE: Final = 3
"""Connections for all accounts together: none is held while a CRM is asked."""


@asynccontextmanager
async def open_connectors(
    settings: Settings, target: Target, policy: CrawlerPolicy
) -> AsyncIterator[Subscriber]:
    """Open what keeps the connections of all tenants true, over connections of its own."""
    engine = connect(target, name="scrapersky-connectors", pool_size=POOL_SIZE)
    tools = connector_tools(settings, policy)
    try:
        yield sync_subscriber(engine, tools)
    finally:
        await tools.transport.close()
        await engine.dispose()


def connector_tools(settings: Settings, policy: CrawlerPolicy) -> ConnectorTools:
    """Make what connections are opened with; they reach no more than what is allowed."""
    try:
        networks = parse_networks(settings.crm_networks)
    except ValueError as error:
        raise ConfigurationError(f"CRM_NETWORKS is invalid: {error}.") from error
    return ConnectorTools(
        connectors=CONNECTORS,
        transport=CrmTransport(policy, networks),
        find_cipher=partial(find_cipher, settings),
        folder=settings.data_dir / FOLDER,
        clock=MachineClock(),
    )


class MachineClock:
    """The time of this machine."""

    def now(self) -> datetime:
        """Return the time."""
        return utc_now()

    async def sleep(self, seconds: float) -> None:
        """Wait."""
        await asyncio.sleep(seconds)
