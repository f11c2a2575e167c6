"""Opens what the stages of a process work with, as the settings say."""

import os
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from decimal import Decimal
from functools import partial
from typing import Final

from sqlalchemy.ext.asyncio import AsyncEngine

from curation_sdk.working import uncounted_wait
from scrapersky.crawler import (
    Crawler,
    CrawlerPolicy,
    Renderer,
    RenderLimits,
    Resolver,
    Sandbox,
    can_render,
    proxy_rules,
)
from scrapersky.crawler.guard import parse_networks
from scrapersky.crawler.limits import MIB
from scrapersky.errors import ConfigurationError
from scrapersky.pipeline.mail_server import DnsMailServers, MailServers
from scrapersky.pipeline.parsers import WARM
from scrapersky.pipeline.tools import Tools
from scrapersky.pipeline.upload import fetched_upload
from scrapersky.politeness import LedgerPace, PostgresLedger
from scrapersky.providers.google_places import GooglePrices, GoogleSettings
from scrapersky.providers.openstreetmap import NominatimSettings, OverpassSettings
from scrapersky.providers.registry import ProviderSettings, open_sources
from scrapersky.providers.source import PlaceSource
from scrapersky.scheduler.self_check import SelfCheck
from scrapersky.settings import Settings

OTHER_PROCESS_WAIT: Final = timedelta(seconds=3)
"""How long a fetch keeps its place while another process is at the host."""
HANDOVER_TIME: Final = timedelta(seconds=2)
"""What a request may take beyond its own limit until everyone knows that it is over."""


@dataclass(frozen=True, slots=True)
class ExternalServices:
    """What stands in for services outside this process: the demo's, a test's."""

    policy: CrawlerPolicy | None = None
    resolver: Resolver | None = None
    sources: Mapping[str, PlaceSource] | None = None
    mail_servers: MailServers | None = None


@asynccontextmanager
async def open_tools(
    settings: Settings, engine: AsyncEngine, services: ExternalServices
) -> AsyncIterator[Tools]:
    """Open what the stages work with."""
    policy = services.policy or crawler_policy(settings)
    async with AsyncExitStack() as stack:
        crawler = await stack.enter_async_context(
            open_crawler(engine, policy, services.resolver)
        )
        sandbox = await stack.enter_async_context(
            Sandbox(
                warm=WARM, children=settings.parser_processes, waiting=uncounted_wait
            )
        )
        turns = await stack.enter_async_context(PostgresLedger(engine))
        sources = await stack.enter_async_context(
            open_sources(
                replace(
                    provider_settings(settings),
                    fetch_import=partial(fetched_upload, engine, settings.data_dir),
                ),
                extra=services.sources,
                pace_at=partial(LedgerPace, turns),
            )
        )
        # Names that another resolver answers are not those of the Internet.
        canaries = settings.canary_hosts if services.resolver is None else ()
        yield Tools(
            renderer=await stack.enter_async_context(open_renderer(settings, crawler)),
            crawler=crawler,
            sandbox=sandbox,
            sources=sources,
            mail_servers=services.mail_servers or DnsMailServers(),
            database=engine,
            system_user_id=settings.scheduler_system_user_id,
            budgets=settings.budgets,
            health=SelfCheck(
                engine, crawler, data_dir=settings.data_dir, canaries=canaries
            ),
        )


@asynccontextmanager
async def open_renderer(
    settings: Settings, crawler: Crawler
) -> AsyncIterator[Renderer | None]:
    """Open a browser for pages that only scripts fill, if one is installed."""
    named = settings.crawler_render_browser
    if not can_render(named):
        yield None
        return
    limits = RenderLimits(
        total=timedelta(seconds=settings.crawler_render_seconds),
        memory=settings.crawler_render_memory_mb * MIB,
    )
    path = None if named == "auto" else named
    renderer = Renderer(crawler, limits, browser=path)
    try:
        yield renderer
    finally:
        await renderer.close()


@asynccontextmanager
async def open_crawler(
    engine: AsyncEngine, policy: CrawlerPolicy, resolver: Resolver | None
) -> AsyncIterator[Crawler]:
    """Open a crawler whose manners all processes share."""
    longest = policy.limits.total + HANDOVER_TIME
    async with (
        PostgresLedger(
            engine,
            delay=policy.host_delay,
            longest_request=longest,
            lease=1.4 * longest,
            for_others=OTHER_PROCESS_WAIT,
        ) as ledger,
        Crawler(policy, ledger, resolver=resolver) as crawler,
    ):
        yield crawler


def crawler_policy(settings: Settings) -> CrawlerPolicy:
    """Translate the settings into how we behave on other people's servers."""
    try:
        networks = parse_networks(settings.crawler_allowed_networks)
        ports = frozenset(int(text) for text in settings.crawler_allowed_ports)
    except ValueError as error:
        raise ConfigurationError(
            f"CRAWLER_ALLOWED_NETWORKS or CRAWLER_ALLOWED_PORTS is invalid: {error}."
        ) from error
    return CrawlerPolicy(
        user_agent=settings.user_agent,
        host_delay=timedelta(seconds=settings.crawler_host_delay_seconds),
        robots_absence=timedelta(days=settings.crawler_robots_unreachable_days) or None,
        site_robots_bytes=settings.site_robots_bytes,
        extra_networks=networks,
        extra_ports=ports,
        proxy=proxy_rules(os.environ),
    )


def provider_settings(settings: Settings) -> ProviderSettings:
    """Translate the settings into what the sources of places need."""
    return ProviderSettings(
        user_agent=settings.user_agent,
        import_dir=settings.data_dir / "imports",
        google=GoogleSettings(
            api_key=settings.google_maps_api_key,
            enabled=settings.google_places_enabled,
            base_url=settings.google_places_url,
            prices=GooglePrices(
                search_enterprise=Decimal(str(settings.google_price_search)),
                details_enterprise=Decimal(str(settings.google_price_details)),
            ),
            content_lifetime=timedelta(days=settings.google_content_days),
        ),
        openstreetmap_enabled=settings.openstreetmap_enabled,
        nominatim=NominatimSettings(
            enabled=settings.nominatim_enabled, url=settings.nominatim_url
        ),
        overpass=OverpassSettings(url=settings.overpass_url),
    )
