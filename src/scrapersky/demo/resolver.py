"""The town's own name service and the rules under which a crawler may visit it."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from ipaddress import IPv4Network
from typing import Final

from contact_extraction.urls import Url
from scrapersky.crawler.policy import CrawlerPolicy
from scrapersky.crawler.proxy import ProxyRules
from scrapersky.demo.business import SiteKind
from scrapersky.demo.plan import TownPlan
from scrapersky.errors import NoSuchHost

LOOPBACK: Final = "127.0.0.1"
TOWN_NETWORK: Final = IPv4Network("127.16.0.0/12")
"""A part of the loopback network; nothing listens there, the proxy answers for it."""
ARCHIVE_HOST: Final = "town-archive.bv"
"""The site with the very long sitemap."""


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


def town_resolver(plan: TownPlan) -> TownResolver:
    """Give every site of the town an address, the same in every process."""
    names = [
        domain
        for domain, owners in plan.owners.items()
        if owners[0].kind is not SiteKind.NO_SUCH_NAME
    ]
    # Hosts of the real web that places name must lead nowhere but here.
    foreign = sorted({_host(b.website) for b in plan.businesses if b.domain is None})
    ordered = [ARCHIVE_HOST, *(name for name in foreign if name), *names]
    first = TOWN_NETWORK.network_address + 1
    return TownResolver({name: str(first + n) for n, name in enumerate(ordered)})


def demo_policy(port: int, *, host_delay: timedelta) -> CrawlerPolicy:
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


def _host(website: str | None) -> str:
    return website.split("/")[2].removeprefix("www.") if website else ""
