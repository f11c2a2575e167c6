"""The product's own crawler, guard and all, on a visit."""

import ssl
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from scrapersky.crawler.fetch import Crawler
from scrapersky.crawler.guard import why_not_public
from scrapersky.crawler.hosts import MemoryLedger
from scrapersky.crawler.limits import FetchLimits
from scrapersky.demo.services import TownResolver, town_policy
from scrapersky.errors import (
    BlockedAddress,
    ConnectFailed,
    FetchError,
    HostBackoff,
    NoSuchHost,
    RedirectLimit,
    RobotsDenied,
    RobotsUnreachable,
    TooBig,
    TooSlow,
)
from simulated_town.addresses import TOWN_NETWORK, town_addresses
from simulated_town.business import SiteKind
from simulated_town.plan import TownPlan
from simulated_town.town import Town


@pytest.fixture(scope="module")
def tls() -> ssl.SSLContext:
    """Read the system's certificates once: that is slow."""
    return ssl.create_default_context()


@pytest.fixture
async def crawler(town: Town, tls: ssl.SSLContext) -> AsyncIterator[Crawler]:
    policy = replace(
        town_policy(town.endpoint.port, host_delay=timedelta(0)),
        limits=replace(FetchLimits(), headers=timedelta(seconds=1)),
    )
    ledger = MemoryLedger(lambda: datetime.now(UTC))
    resolver = TownResolver(town.addresses)
    async with Crawler(
        policy, ledger, resolver=resolver, ssl_context=tls, listeners=()
    ) as crawler:
        yield crawler


def home_of(town: Town, kind: SiteKind) -> str:
    business = next(b for b in town.plan.businesses if b.kind is kind)
    return f"http://{business.domain}/"


@pytest.mark.parametrize(
    "kind",
    [
        SiteKind.WORDPRESS,
        SiteKind.PLAIN,
        SiteKind.CHAIN,
        SiteKind.OLD_CHARSET,
        SiteKind.BROKEN_HTML,
        SiteKind.PARKED,
    ],
)
async def test_a_site_is_read_through_the_guard(
    town: Town, crawler: Crawler, kind: SiteKind
) -> None:
    fetched = await crawler.fetch(home_of(town, kind))

    assert fetched.status == 200
    assert fetched.body


TROUBLES: dict[SiteKind, type[FetchError]] = {
    SiteKind.BUSY: HostBackoff,
    SiteKind.NO_SUCH_NAME: NoSuchHost,
    SiteKind.GZIP_BOMB: TooBig,
    SiteKind.ENDLESS: TooBig,
    SiteKind.REDIRECT_LOOP: RedirectLimit,
    SiteKind.PRIVATE_REDIRECT: BlockedAddress,
    SiteKind.ROBOTS_ERROR: RobotsUnreachable,
    SiteKind.HANGING: TooSlow,
}


@pytest.mark.parametrize("kind", TROUBLES)
async def test_each_trouble_ends_in_its_own_error(
    town: Town, crawler: Crawler, kind: SiteKind
) -> None:
    with pytest.raises(TROUBLES[kind]):
        await crawler.fetch(home_of(town, kind))


async def test_forbidden_paths_are_not_asked_for(town: Town, crawler: Crawler) -> None:
    home = home_of(town, SiteKind.PRIVATE_PATHS)

    with pytest.raises(RobotsDenied):
        await crawler.fetch(f"{home}internal/rota.html")

    paths = [visit.path for visits in town.log.sites.values() for visit in visits]
    assert "/robots.txt" in paths
    assert "/internal/rota.html" not in paths


async def test_https_is_refused_quickly_so_that_http_can_be_tried(
    town: Town, crawler: Crawler
) -> None:
    home = home_of(town, SiteKind.PLAIN)

    with pytest.raises(ConnectFailed):
        await crawler.fetch(home.replace("http:", "https:"))


async def test_another_brand_shows_in_where_the_visit_ended(
    town: Town, crawler: Crawler
) -> None:
    business = next(b for b in town.plan.businesses if b.kind is SiteKind.OTHER_BRAND)

    fetched = await crawler.fetch(f"http://{business.domain}/")

    assert fetched.url.host == business.other_brand


async def test_nobody_leaves_the_town_for_the_real_web(
    town: Town, crawler: Crawler
) -> None:
    with pytest.raises(NoSuchHost):
        await crawler.fetch("http://scrapersky.org/")
    with pytest.raises(ConnectFailed):
        await crawler.fetch("https://www.facebook.com/someone")

    assert [v.method for v in town.log.sites["www.facebook.com"]] == ["CONNECT"]


async def test_the_guard_stays_closed_for_the_machine_itself(
    town: Town, crawler: Crawler
) -> None:
    with pytest.raises(BlockedAddress):
        await crawler.fetch("http://127.0.0.1/")


async def test_every_site_has_an_address_of_its_own(plan: TownPlan) -> None:
    resolver = TownResolver(town_addresses(plan))
    alive = [
        domain
        for domain, owners in plan.owners.items()
        if owners[0].kind is not SiteKind.NO_SUCH_NAME
    ]

    found = [(await resolver.resolve(domain, 80))[0] for domain in alive]

    assert len(set(found)) == len(alive)
    assert (await resolver.resolve(f"www.{alive[0]}", 80))[0] == found[0]


def test_the_towns_network_is_one_the_guard_would_refuse() -> None:
    assert why_not_public(TOWN_NETWORK.network_address) is not None
