"""Everything that works in the background of one process, put together."""

import asyncio
import os
import socket
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from functools import partial

import structlog
from sqlalchemy.ext.asyncio import AsyncEngine

import curation_sdk
from curation_sdk import Worker
from curation_sdk.events import Event, Events
from scrapersky.crawler import CrawlerPolicy, Resolver, Sandbox, proxy_rules
from scrapersky.crawler.guard import parse_networks
from scrapersky.db.connection import Target, connect
from scrapersky.errors import ConfigurationError
from scrapersky.pipeline.declaration import AnyPipelineStage
from scrapersky.pipeline.mail_server import DnsMailServers, MailServers
from scrapersky.pipeline.stage_settings import StageSettings
from scrapersky.pipeline.tools import Tools
from scrapersky.politeness import LedgerPace, PostgresLedger
from scrapersky.privacy.key import hand_out_keys
from scrapersky.privacy.retention import KINDS as KINDS_KEPT
from scrapersky.privacy.retention import forget_expired, purge_expired
from scrapersky.providers.google_places import GooglePrices, GoogleSettings
from scrapersky.providers.openstreetmap import NominatimSettings, OverpassSettings
from scrapersky.providers.registry import ProviderSettings, open_sources
from scrapersky.providers.source import PlaceSource
from scrapersky.scheduler.annex import AnnexedMailServers, Annexes, open_crawler
from scrapersky.scheduler.run_log import RunLog, purge_runs
from scrapersky.scheduler.schedule import Job, Schedule
from scrapersky.settings import Settings
from scrapersky.stages import PIPELINE, configured_pipeline, registry_of

log = structlog.get_logger()

SHORTEST_DRAIN = timedelta(minutes=1)
PRELOAD = ("scrapersky.extraction.home_page", "scrapersky.extraction.page_list",
           "scrapersky.extraction.contact_page")  # fmt: skip


@dataclass(frozen=True, slots=True)
class World:
    """What a process brings along instead of the real world: the demo, the tests."""

    policy: CrawlerPolicy | None = None
    resolver: Resolver | None = None
    sources: Mapping[str, PlaceSource] | None = None
    mail_servers: MailServers | None = None


@dataclass(frozen=True, slots=True)
class Background:
    """The background work of this process while it runs."""

    engine: AsyncEngine
    worker: Worker
    schedule: Schedule
    tools: Tools
    events: Events[Event]
    annexes: Annexes


@asynccontextmanager
async def background_work(
    settings: Settings,
    target: Target,
    *,
    world: World | None = None,
    ticking: bool = True,
) -> AsyncIterator[Background]:
    """Run every stage and the scheduler until the block ends.

    Stages are drained the moment rows are queued; the schedule's ticks are the net
    under that, for rows that plain SQL has queued. Without `ticking` only the former.
    """
    world = world or World()
    name = f"{socket.gethostname()}-{os.getpid()}"
    async with AsyncExitStack() as stack:
        # Two for the worker's claims and settles, the rest for tools and records.
        engine = connect(target, name="scrapersky-worker", pool_size=8)
        stack.push_async_callback(engine.dispose)
        await hand_out_keys(engine, secret=settings.suppression_key)
        annexes = Annexes(engine)
        tools = await stack.enter_async_context(
            open_tools(settings, engine, world, annexes)
        )
        events: Events[Event] = Events()
        stages = tuple(map(annexes.aware, configured_pipeline(settings.stages)))
        enabled = [s for s in stages if settings.stages[s.name].enabled]
        worker = Worker(
            engine,
            enabled,
            tools=tools,
            name=name,
            listen_dsn=listen_dsn(settings, target),
            registry=registry_of(stages),
            events=events,
        )
        await worker.start()
        running = asyncio.create_task(worker.run(), name="worker")
        schedule = Schedule(jobs_of(settings, worker, engine), RunLog(engine, name))
        if ticking:
            schedule.start()
        try:
            yield Background(engine, worker, schedule, tools, events, annexes)
        finally:
            grace = timedelta(seconds=settings.shutdown_grace_seconds)
            await asyncio.gather(worker.stop(grace=grace), schedule.stop())
            await running


@asynccontextmanager
async def open_tools(
    settings: Settings, engine: AsyncEngine, world: World, annexes: Annexes
) -> AsyncIterator[Tools]:
    """Open what the stages work with."""
    policy = world.policy or crawler_policy(settings)
    async with AsyncExitStack() as stack:
        crawler = await stack.enter_async_context(
            open_crawler(engine, policy, world.resolver, annexes)
        )
        sandbox = await stack.enter_async_context(Sandbox(preload=PRELOAD))
        # The children load their libraries while the first searches are still running.
        warming = asyncio.create_task(sandbox.warm_up(), name="sandbox")
        stack.callback(warming.cancel)
        turns = await stack.enter_async_context(PostgresLedger(engine))
        sources = await stack.enter_async_context(
            open_sources(
                provider_settings(settings),
                extra=world.sources,
                pace_at=partial(LedgerPace, turns),
            )
        )
        annexes.sources = sources
        yield Tools(
            crawler=crawler,
            sandbox=sandbox,
            sources=sources,
            mail_servers=AnnexedMailServers(
                annexes, world.mail_servers or DnsMailServers()
            ),
            database=engine,
            system_user_id=settings.scheduler_system_user_id,
        )


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
        robots_patience=timedelta(days=settings.crawler_robots_patience_days) or None,
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


def retention_days(settings: Settings) -> dict[str, int]:
    """Return how long each kind of data is kept, by the name of its setting."""
    return {
        kind.setting: getattr(settings, kind.setting.lower()) for kind in KINDS_KEPT
    }


def listen_dsn(settings: Settings, target: Target) -> str | None:
    """Return a direct way to the database on which wake-ups are heard, if there is one."""
    if settings.database_listen_url is not None:
        return settings.database_listen_url.get_secret_value()
    return None if target.behind_pooler else target.dsn


def jobs_of(settings: Settings, worker: Worker, engine: AsyncEngine) -> list[Job]:
    """List every job of the schedule: one per stage, and the housekeeping."""
    jobs = [
        stage_job(worker, stage, settings.stages[stage.name])
        for stage in PIPELINE
        if settings.stages[stage.name].enabled
    ]

    async def rescue() -> int:
        reaped = await curation_sdk.reap(engine)
        return reaped.rescued + reaped.quarantined + reaped.requeued

    async def purge() -> int:
        age = timedelta(days=settings.history_days)
        await PostgresLedger(engine).purge(age)
        expired = await forget_expired(engine)
        expired += sum((await purge_expired(engine, retention_days(settings))).values())
        runs = await purge_runs(engine, age)
        return expired + runs + await curation_sdk.purge(engine, older_than=age)

    return [
        *jobs,
        Job(
            "reap_expired_claims",
            "Rescue Expired Claims",
            settings.reap,
            rescue,
            is_singleton=True,
        ),
        Job(
            "purge_old_history",
            "Purge Old History",
            settings.purge,
            purge,
            is_singleton=True,
        ),
    ]


def stage_job(worker: Worker, stage: AnyPipelineStage, settings: StageSettings) -> Job:
    """Make the job that drains one stage, each run bounded by time."""
    within = max(settings.interval, SHORTEST_DRAIN)

    async def run() -> int:
        return await worker.drain(stage.name, within=within)

    return Job(stage.job.id, stage.job.name, settings, run)
