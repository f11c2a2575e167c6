"""The addresses of the town's sites: a network where nothing listens but the proxy."""

from collections.abc import Iterable, Mapping
from ipaddress import IPv4Network
from typing import Final

from simulated_town.business import SiteKind
from simulated_town.plan import TownPlan

LOOPBACK: Final = "127.0.0.1"
TOWN_NETWORK: Final = IPv4Network("127.16.0.0/12")
"""A part of the loopback network; nothing listens there, the proxy answers for it."""
ARCHIVE_HOST: Final = "town-archive.bv"
"""The site with the very long sitemap."""


def number_hosts(hosts: Iterable[str]) -> dict[str, str]:
    """Give every host an address of the town's network, in their order."""
    first = TOWN_NETWORK.network_address + 1
    return {host: str(first + n) for n, host in enumerate(hosts)}


def town_addresses(plan: TownPlan) -> Mapping[str, str]:
    """Give every site of the town an address, the same in every process.

    Sites are named without `www.`, which every one of them answers to as well.
    """
    names = [
        domain
        for domain, owners in plan.owners.items()
        if owners[0].kind is not SiteKind.NO_SUCH_NAME
    ]
    # Hosts of the real web that places name must lead nowhere but here.
    foreign = sorted({_host(b.website) for b in plan.businesses if b.domain is None})
    return number_hosts([ARCHIVE_HOST, *(name for name in foreign if name), *names])


def _host(website: str | None) -> str:
    return website.split("/")[2].removeprefix("www.") if website else ""
