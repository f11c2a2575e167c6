"""The simulated town as all that a process reaches outside itself."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Final

from contact_extraction.urls import Url
from scrapersky.crawler.policy import CrawlerPolicy
from scrapersky.crawler.proxy import ProxyRules
from scrapersky.demo.source import DemoSource
from scrapersky.errors import NoSuchHost
from scrapersky.pipeline.mail_server import DnsMailServers
from scrapersky.scheduler.tools import ExternalServices
from simulated_town.addresses import LOOPBACK, TOWN_NETWORK
from simulated_town.town import TownEndpoint

HOST_DELAY: Final = timedelta(milliseconds=50)


class TownResolver:
    """Knows the town's names only; each site has an address of its own."""

    def __init__(self, addresses: Mapping[str, str]) -> None:
        self.addresses = addresses

    async def resolve(self, host: str, port: int) -> Sequence[str]:  # noqa: ARG002
        """Return the address of a name of the town; raise NoSuchHost for any other."""
        name = host.removeprefix("www.")
        if (address := self.addresses.get(name)) is None:
            raise NoSuchHost(host, "the name is not of this town")
        return (address,)


def town_policy(port: int, *, host_delay: timedelta = HOST_DELAY) -> CrawlerPolicy:
    """Allow the town and nothing else beyond the public web.

    Everything goes to the town's own server, which speaks as a proxy: so URLs need no
    port, no privileged port is needed, and no packet can leave the machine.
    """
    door = Url("http", LOOPBACK, port)
    return CrawlerPolicy(
        host_delay=host_delay,
        failure_rest=timedelta(seconds=1),
        second_look=timedelta(seconds=1),
        extra_networks=(TOWN_NETWORK,),
        proxy=ProxyRules(http=door, https=door),
    )


@asynccontextmanager
async def town_services(
    endpoint: TownEndpoint, *, host_delay: timedelta = HOST_DELAY
) -> AsyncIterator[ExternalServices]:
    """Give what a process needs to visit a town and nothing else, until the block ends."""
    async with DemoSource(endpoint.url) as source:
        yield ExternalServices(
            policy=town_policy(endpoint.port, host_delay=host_delay),
            resolver=TownResolver(endpoint.addresses),
            sources={source.name: source},
            mail_servers=DnsMailServers((LOOPBACK,), endpoint.dns_port),
        )
