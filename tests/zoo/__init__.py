"""A misbehaving web of our own: real sockets, real TLS, our own DNS, canaries.

`tests.zoo.rig.Rig` starts it in a process of its own. In the `namespace` lane its
sites hold public-looking addresses in a network namespace without a way out, so
that the crawler's guard is never relaxed; in the `loopback` lane they hold
addresses in 127.0.0.0/8 and the crawler is given that network explicitly.
"""

from collections.abc import Callable, Iterator
from itertools import chain

from tests.zoo.case import Case, Exhibit, Site
from tests.zoo.encoding import encodings
from tests.zoo.name import names
from tests.zoo.page import pages
from tests.zoo.redirect import redirects
from tests.zoo.robot import robots
from tests.zoo.sitemap import sitemaps
from tests.zoo.tls import handshakes
from tests.zoo.transport import transport
from tests.zoo.wire import Lane

__all__ = ["CANARIES", "HEALTHY_SITES", "LANES", "all_cases", "all_sites", "exhibits"]

HEALTHY_SITES = 50
"""Good hosts beside the bad ones: `good-0.com` and on."""


def namespace_lane(pace: float) -> Lane:
    """Return the lane with public-looking addresses and the usual ports."""
    return Lane("namespace", "93.184", 80, 443, pace)


def loopback_lane(pace: float) -> Lane:
    """Return the lane for machines without namespaces."""
    return Lane("loopback", "127.77", 8080, 8443, pace)


LANES: dict[str, Callable[[float], Lane]] = {
    "namespace": namespace_lane,
    "loopback": loopback_lane,
}

PORTS = (22, 25, 80, 443, 5432, 6379, 8080, 8443)
CANARIES: dict[str, tuple[str, ...]] = {
    "namespace": tuple(
        f"{host}:{port}"
        for host in (
            "10.0.0.7",
            "192.168.1.1",
            "100.64.0.1",
            "169.254.169.254",
            "[fd00::1]",
            "[fd00:ec2::254]",
            "[64:ff9b::a9fe:a9fe]",
            "[2002:7f00:1::]",
        )
        for port in PORTS
    ),
    "loopback": tuple(f"127.0.0.1:{port}" for port in (8080, 8443)),
}


def exhibits() -> Iterator[Exhibit]:
    """Return every case which is one fetch."""
    return chain(
        transport(),
        encodings(),
        redirects(),
        names(),
        handshakes(),
        pages(),
        robots(),
    )


def all_cases() -> list[Case]:
    """Return the cases, in the order of their numbers."""
    return [exhibit.case for exhibit in exhibits() if exhibit.case]


def all_sites() -> list[Site]:
    """Return every host of the zoo; its place in the list decides its address."""
    hostile = (site for exhibit in exhibits() for site in exhibit.sites)
    maps = (each.site for each in sitemaps())
    good = (Site(slug=f"good-{number}") for number in range(HEALTHY_SITES))
    return [*hostile, *maps, *good]
