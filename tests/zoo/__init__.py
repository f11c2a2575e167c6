"""A misbehaving web of our own: real sockets, real TLS, our own DNS, canaries.

`tests.zoo.rig.Rig` starts it in a process of its own. In the `namespace` lane its
sites hold public-looking addresses in a network namespace without a way out, so
that the crawler's guard is never relaxed; in the `loopback` lane they hold
addresses in 127.0.0.0/8 and the crawler is given that network explicitly.
"""

from collections.abc import Callable, Iterator
from functools import cache

from tests.zoo.case import Case, Exhibit, Site
from tests.zoo.encoding import encodings
from tests.zoo.name import names
from tests.zoo.page import pages
from tests.zoo.redirect import redirects
from tests.zoo.robot import robots
from tests.zoo.sitemap import sitemaps
from tests.zoo.tls import handshakes
from tests.zoo.transport import transport
from tests.zoo.wire import Lane, unhurried, unhurried_robots

__all__ = [
    "CANARIES",
    "HALLS",
    "HEALTHY_SITES",
    "all_cases",
    "all_sites",
    "exhibits",
    "make_lane",
]

HEALTHY_SITES = 50
"""Good hosts beside the bad ones: `good-0.com` and on."""


def make_lane(name: str, pace: float, number: int = 0) -> Lane:
    """Return a lane: public-looking addresses, or loopback and a number."""
    if name == "namespace":
        return Lane(name, "93.184", 80, 443, pace)
    # Someone may listen on port 8080 of every address, so the ports are our own.
    port = 20_000 + number % 5_000 * 2
    return Lane(name, f"127.{20 + number % 200}", port, port + 1, pace)


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


HALLS: dict[str, Callable[[], Iterator[Exhibit]]] = {
    "transport": transport,
    "encoding": encodings,
    "redirect": redirects,
    "name": names,
    "tls": handshakes,
    "page": pages,
    "robots": robots,
}
"""The cases which are one fetch each, by what they are about."""


@cache
def exhibits() -> tuple[Exhibit, ...]:
    """Return every case which is one fetch."""
    return tuple(exhibit for hall in HALLS.values() for exhibit in hall())


def all_cases() -> list[Case]:
    """Return the cases, in the order of their numbers."""
    return [exhibit.case for exhibit in exhibits() if exhibit.case]


def all_sites() -> list[Site]:
    """Return every host of the zoo; its place in the list decides its address."""
    hostile = (site for exhibit in exhibits() for site in exhibit.sites)
    maps = (each.site for each in sitemaps())
    good = (
        Site(slug=f"good-{number}", serve=unhurried, robots=unhurried_robots, good=True)
        for number in range(HEALTHY_SITES)
    )
    return [*hostile, *maps, *good]
