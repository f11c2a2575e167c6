"""How we behave on other people's servers, and what we may reach at all."""

from dataclasses import dataclass, field
from datetime import timedelta
from ipaddress import IPv4Network, IPv6Network

from scrapersky.crawler.limits import MIB, FetchLimits
from scrapersky.crawler.proxy import NO_PROXY, ProxyRules
from scrapersky.errors import ConfigurationError

SHORTEST_ROBOTS_ABSENCE = timedelta(days=30)
"""RFC 9309, 2.3.1.4: a reasonably long period, for example 30 days."""
WEB_PORTS = frozenset({80, 443, 8080, 8443})


@dataclass(frozen=True, slots=True, kw_only=True)
class CrawlerPolicy:
    """Everything the crawler can be configured with; the defaults are polite and safe."""

    user_agent: str = "ScraperSky/0.1 (+https://scrapersky.invalid/bot)"
    """One honest name with a contact URL; its first word is what robots.txt matches."""
    host_delay: timedelta = timedelta(seconds=1)
    """Pause between two requests to one site or address; a site may only lengthen it."""
    limits: FetchLimits = field(default_factory=FetchLimits)
    address_turn: timedelta = timedelta(seconds=2)
    """How long one slow site keeps others from the address that they share."""

    obey_robots: bool = True
    robots_age: timedelta = timedelta(hours=1)
    """How long a robots.txt is believed; never more than a day."""
    robots_retry: timedelta = timedelta(hours=1)
    """How long a site stays closed whose robots.txt could not be read."""
    robots_absence: timedelta | None = None
    """After how long an unreadable robots.txt counts as none, 30 days or more; None:
    never."""
    site_robots_bytes: int = 8 * MIB
    """What the robots.txt files of all hosts of one registrable domain may hold together."""
    max_crawl_delay: timedelta = timedelta(seconds=60)
    """A site that asks for more is left alone."""

    default_pause: timedelta = timedelta(minutes=1)
    """How long a host rests after 429 or 503 without a usable Retry-After."""
    max_pause: timedelta = timedelta(hours=6)
    host_timeout: timedelta = timedelta(seconds=60)
    """How long a fetch waits for a host's turn before it gives its place back."""

    failure_rest: timedelta = timedelta(seconds=15)
    """How long a name or address that failed is not tried again; doubles each time."""
    second_look: timedelta = timedelta(minutes=1)
    """How much later a name must be unknown once more until that is believed."""

    follow_meta_refresh: bool = True
    accept_language: str = "en, *;q=0.5"
    idle_connections: int = 100
    idle_time: timedelta = timedelta(seconds=15)

    extra_networks: tuple[IPv4Network | IPv6Network, ...] = ()
    """Networks allowed though not public; for the demo and tests only."""
    extra_ports: frozenset[int] = frozenset()
    """Ports allowed beyond the usual four, and only inside `extra_networks`."""
    proxy: ProxyRules = NO_PROXY

    def __post_init__(self) -> None:
        """Refuse what would make us rude, anonymous or unsafe."""
        if not self.product_token or not self.user_agent.isprintable():
            raise ConfigurationError(
                "the user agent must begin with a plain product name"
            )
        if not self.user_agent.isascii():
            raise ConfigurationError("the user agent must be ASCII")
        if self.extra_ports and not self.extra_networks:
            raise ConfigurationError(
                "extra ports are allowed only inside extra networks"
            )
        if self.host_delay < timedelta():
            raise ConfigurationError("the host delay cannot be negative")
        if not timedelta() < self.robots_age <= timedelta(days=1):
            raise ConfigurationError("robots.txt may be kept for at most a day")
        if (
            self.robots_absence is not None
            and self.robots_absence < SHORTEST_ROBOTS_ABSENCE
        ):
            raise ConfigurationError(
                "a robots.txt that cannot be read closes its site for 30 days at least"
            )

    @property
    def product_token(self) -> str:
        """Return the name that robots.txt groups are matched against."""
        token = self.user_agent.partition("/")[0].partition(" ")[0]
        return token if token.replace("-", "").replace("_", "").isalpha() else ""
