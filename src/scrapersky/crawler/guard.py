"""The guard: nothing but public addresses is ever connected to.

It judges addresses, never names, because a name means what a hostile DNS server says
it means. It is asked twice: for all addresses of a name at once, and again for the one
address a socket is opened to. It cannot be switched off; a list of extra networks may
widen it, for the demo and for tests.
"""

import socket
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from ipaddress import (
    IPv4Address,
    IPv4Network,
    IPv6Address,
    IPv6Network,
    ip_address,
    ip_network,
)

from contact_extraction.urls import Url
from scrapersky.crawler.policy import WEB_PORTS
from scrapersky.errors import BlockedAddress, BlockedPort, NoSuchHost

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

# `is_global` of the standard library lets multicast, NAT64, 6to4 and others through,
# and changes with the Python version; so the table is our own.
NOT_PUBLIC_V4 = tuple(
    IPv4Network(network)
    for network in (
        "0.0.0.0/8",  # this network
        "10.0.0.0/8",  # private
        "100.64.0.0/10",  # carrier-grade NAT, and a cloud's metadata service
        "127.0.0.0/8",  # loopback
        "168.63.129.16/32",  # a cloud's host agent behind a public-looking address
        "169.254.0.0/16",  # link-local, most clouds' metadata services
        "172.16.0.0/12",  # private
        "192.0.0.0/24",  # protocol assignments, and a cloud's metadata service
        "192.0.2.0/24",  # documentation
        "192.31.196.0/24",  # AS112
        "192.52.193.0/24",  # multicast tunnels
        "192.88.99.0/24",  # 6to4 relays
        "192.168.0.0/16",  # private
        "192.175.48.0/24",  # AS112
        "198.18.0.0/15",  # benchmarks
        "198.51.100.0/24",  # documentation
        "203.0.113.0/24",  # documentation
        "224.0.0.0/4",  # multicast
        "240.0.0.0/4",  # reserved, broadcast
    )
)
PUBLIC_V6 = IPv6Network("2000::/3")
"""All that is routed today; mapped, compatible, NAT64, local and multicast lie outside."""
NOT_PUBLIC_V6 = tuple(
    IPv6Network(network)
    for network in (
        "2001::/23",  # protocol assignments: Teredo, ORCHID, benchmarks
        "2001:db8::/32",  # documentation
        "2002::/16",  # 6to4
        "3fff::/20",  # documentation
    )
)
MAX_ADDRESSES = 100
ISATAP = frozenset({0x0000_5EFE, 0x0200_5EFE, 0x0100_5EFE, 0x0300_5EFE})
"""The upper half of an interface id that carries an IPv4 address in its lower half."""


@dataclass(frozen=True, slots=True)
class Guard:
    """Decides what may be connected to."""

    extra_networks: tuple[Network, ...] = ()
    extra_ports: Collection[int] = ()

    def check_port(self, url: Url) -> None:
        """Raise unless the URL names a port of the web."""
        if url.port not in WEB_PORTS and url.port not in self.extra_ports:
            raise BlockedPort(str(url), f"port {url.port} is not one of the web's")

    def check_all(self, url: Url, found: Iterable[str]) -> Sequence[Address]:
        """Return all addresses of a name, or raise if even one is not allowed.

        Every one: a hostile DNS server answers with a public record and a private one.
        """
        # Nobody needs a thousand; the rest is neither checked nor ever connected to.
        addresses = [
            parse_address(text) for text in list(dict.fromkeys(found))[:MAX_ADDRESSES]
        ]
        if not addresses:
            raise NoSuchHost(str(url), "the name has no address")
        for address in addresses:
            self._check_public(url, address)
        return addresses

    def check(self, url: Url, address: Address) -> None:
        """Raise unless this one address may be connected to, at the URL's port."""
        self._check_public(url, address)
        if not self._is_extra(address) and is_own(address):
            raise BlockedAddress(str(url), f"leads to {address}, which is our own")

    def _check_public(self, url: Url, address: Address) -> None:
        if self._is_extra(address):
            self.check_port(url)
            return
        if url.port not in WEB_PORTS:
            raise BlockedPort(str(url), f"port {url.port} is not one of the web's")
        if (why := why_not_public(address)) is not None:
            raise BlockedAddress(str(url), f"leads to {address}, which is {why}")

    def _is_extra(self, address: Address) -> bool:
        return any(
            address.version == network.version and address in network
            for network in self.extra_networks
        )


def parse_address(text: str) -> Address:
    """Read an address as the system's resolver prints it, without its zone."""
    return ip_address(text.partition("%")[0])


def parse_networks(texts: Iterable[str]) -> tuple[Network, ...]:
    """Read networks like `127.0.0.0/8`; raise ValueError if one is none."""
    return tuple(ip_network(text) for text in texts)


def why_not_public(address: Address) -> str | None:
    """Return what kind of not public an address is, or None if it is public."""
    if isinstance(address, IPv4Address):
        for network in NOT_PUBLIC_V4:
            if address in network:
                return f"in {network}"
        return None
    if (inner := embedded_v4(address)) is not None:
        # Refused as a class: where it leads is decided by a gateway we do not know.
        return f"{inner} in disguise"
    if address not in PUBLIC_V6:
        return "not a public IPv6 address"
    for reserved in NOT_PUBLIC_V6:
        if address in reserved:
            return f"in {reserved}"
    return None


def embedded_v4(address: IPv6Address) -> IPv4Address | None:
    """Return the IPv4 address that an IPv6 address stands for, if it does."""
    value = int(address)
    low = IPv4Address(value & 0xFFFF_FFFF)
    if address in _MAPPED or address in _TRANSLATED or address in _NAT64:
        return low
    if address in _NAT64_LOCAL:
        return low
    if address in _COMPATIBLE and value > 1:
        return low
    if address in _6TO4:
        return IPv4Address((value >> 80) & 0xFFFF_FFFF)
    if address in _TEREDO:
        return IPv4Address(~value & 0xFFFF_FFFF)
    if (value >> 32) & 0xFFFF_FFFF in ISATAP:
        return low
    return None


def is_own(address: Address) -> bool:
    """Say whether an address is one of this machine's.

    The kernel routes a datagram to oneself with itself as the source; connecting a
    datagram socket asks for the route without sending anything.
    """
    family = socket.AF_INET if address.version == 4 else socket.AF_INET6  # noqa: PLR2004
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.connect((str(address), 9))
            return parse_address(probe.getsockname()[0]) == address
    except OSError:
        return False


_MAPPED = IPv6Network("::ffff:0:0/96")
_TRANSLATED = IPv6Network("::ffff:0:0:0/96")
_COMPATIBLE = IPv6Network("::/96")
_NAT64 = IPv6Network("64:ff9b::/96")
_NAT64_LOCAL = IPv6Network("64:ff9b:1::/48")
_6TO4 = IPv6Network("2002::/16")
_TEREDO = IPv6Network("2001::/32")
