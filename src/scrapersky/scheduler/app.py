"""Everything that works in the background of one process, put together."""

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from decimal import Decimal
from functools import partial
from typing import Final

import structlog
from sqlalchemy.ext.asyncio import AsyncEngine

import curation_sdk
from curation_sdk import AnyStage, Registry, Worker, uncounted_wait
from curation_sdk.events import Claimed, Event, Events
from scrapersky.companies.matching import match_companies
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
from scrapersky.db.connection import Target, connect
from scrapersky.errors import ConfigurationError
from scrapersky.kit.background import cancel, in_background
from scrapersky.kit.seldom import Seldom
from scrapersky.kit.stopping import IsStopping
from scrapersky.pipeline.dead_pages import choose_after_dead_letters
from scrapersky.pipeline.health_check import with_health_check
from scrapersky.pipeline.mail_server import DnsMailServers, MailServers
from scrapersky.pipeline.parsers import WARM
from scrapersky.pipeline.stage_settings import Pace
from scrapersky.pipeline.tools import Tools
from scrapersky.pipeline.upload import fetched_upload, purge_uploads
from scrapersky.politeness import LedgerPace, PostgresLedger
from scrapersky.privacy.key import hand_out_keys
from scrapersky.privacy.retention import KINDS as KINDS_KEPT
from scrapersky.privacy.retention import forget_expired, purge_expired
from scrapersky.providers.google_places import GooglePrices, GoogleSettings
from scrapersky.providers.openstreetmap import NominatimSettings, OverpassSettings
from scrapersky.providers.registry import ProviderSettings, open_sources
from scrapersky.providers.source import PlaceSource
from scrapersky.records.process import ProcessRole
from scrapersky.scheduler.drain_log import DrainLog
from scrapersky.scheduler.live_stages import LiveStages
from scrapersky.scheduler.overrides import stored_changes, with_changes
from scrapersky.scheduler.overview import planned_jobs
from scrapersky.scheduler.presence import Presence, RestReasons, own_name
from scrapersky.scheduler.run_log import RunLog, purge_runs
from scrapersky.scheduler.schedule import Job, Schedule
from scrapersky.scheduler.self_check import SelfCheck
from scrapersky.scheduler.tally import Counts, Tally
from scrapersky.scheduler.watch import Looker, Watch, courier_of
from scrapersky.scheduler.way import GiveWay
from scrapersky.settings import Settings
from scrapersky.stages import STAGES, configured_pipeline, registry_of

log = structlog.get_logger(__name__)

ORPHAN_SHARE: Final = 100
"""Rows in processing without a claim are looked for in a hundredth of the time at most."""
SHORTEST_DRAIN = timedelta(minutes=1)
MATCHING_SHARE: Final = 0.9
"""How much of the time between two runs of the matcher one may take."""
LAST_WORDS = timedelta(seconds=3)
"""What a job gets beyond the grace until it is cut off: as a worker, to settle."""
FOR_OTHERS = timedelta(seconds=3)
"""How long a fetch keeps its place while another process is at the host."""
HANDOVER = timedelta(seconds=2)
"""What a request may take beyond its own limit until everyone knows that it is over."""


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
    worker: Worker | None
    """None in a process that works no stages."""
    schedule: Schedule
    tools: Tools
    events: Events[Event]
    presence: Presence
    live: LiveStages | None
    """None likewise."""
    stopping: asyncio.Event
    """Set, it lets everything stop at once, beside what else has to end."""

    @property
    def resting(self) -> str | None:
        """Why this process claims nothing for now, if it could."""
        return None if self.worker is None else self.worker.resting


@asynccontextmanager
async def background_work(
    settings: Settings,
    target: Target,
    *,
    world: World | None = None,
    ticking: bool = True,
    on_demand: bool = False,
    role: ProcessRole = ProcessRole.UP,
    address: str | None = None,
) -> AsyncIterator[Background]:
    """Run every stage and the scheduler until the block ends.

    At an eager pace stages are drained the moment rows are queued; the schedule's ticks
    are the net under that, for rows that plain SQL has queued. At the pace `interval` a
    stage works only then. Without `ticking` every stage is eager. Where other processes
    have the stages, this one works them `on_demand`: when somebody runs a job. A process
    whose role is to serve works no stages and runs no jobs. `address` is where it says how
    it stands.
    What operators have changed of the stages' settings holds instead of what is given.
    """
    async with AsyncExitStack() as stack:
        # Two for the worker's claims and settles, the rest for tools and records.
        engine = connect(target, name="scrapersky-worker", pool_size=8)
        stack.push_async_callback(engine.dispose)
        await hand_out_keys(engine, **settings.suppression_secrets)
        tools = await stack.enter_async_context(
            open_tools(settings, engine, world or World())
        )
        changes = await stored_changes(engine)
        current = with_changes(settings, changes)
        works = role is not ProcessRole.SERVE
        # Beside workers a process is there to serve, whatever it can do when asked.
        is_beside = on_demand and ticking
        stages = tuple(map(with_health_check, configured_pipeline(current.stages)))
        enabled = [s for s in stages if works and settings.stages[s.name].enabled]
        events, heard, tally = Events[Event](), Events[Event](), Tally()
        heard.listen(tally.hear)
        heard.listen(warm_up_at_first_claim(tools.sandbox, stack))
        heard.listen(events.emit)
        worker = None
        if enabled:
            worker = Worker(
                engine,
                enabled,
                tools=tools,
                listen_dsn=listen_dsn(settings, target),
                registry=registry_of(stages),
                events=heard,
            )
        rests = RestReasons(worker)
        grace = timedelta(seconds=settings.shutdown_grace_seconds)
        ending = Ending(asyncio.Event(), grace)
        runs = RunLog(engine, own_name() if worker is None else worker.name)
        drains = DrainLog(tally, runs, {s.name: STAGES[s.name].job.id for s in enabled})
        batches = OneBatch(engine, tools, registry_of(stages), events, rests, ending)
        jobs, stage_jobs = list[Job](), None
        if worker is not None:
            stage_jobs = StageJobs(worker, tally, drains, batches, is_beside)
            jobs += [stage_jobs.of(stage, current) for stage in enabled]
        if works:
            # One connection of its own: it takes none from the stages, nor waits for theirs.
            matcher = connect(target, name="scrapersky-matcher", pool_size=1)
            stack.push_async_callback(matcher.dispose)
            way = GiveWay(lambda: worker.in_hand if worker else 0, ending.stopping)
            jobs += housekeeping(settings, engine, matcher, way)
        schedule = Schedule(jobs, runs)
        drains.ended.listen(schedule.report)
        if worker is not None:
            await stack.enter_async_context(worker)
        presence = Presence(
            engine,
            worker,
            rests,
            role=ProcessRole.SERVE if is_beside else role,
            address=address,
            name=runs.process,
            jobs=tuple if is_beside else schedule.published,
        )
        await stack.enter_async_context(presence)
        watch = Watch(
            Looker(engine, settings),
            courier_of(settings),
            name=presence.name,
            announce=presence.beat,
        )
        live = None
        if worker is not None and stage_jobs is not None:
            live = LiveStages(
                engine,
                settings,
                changes,
                stages=enabled,
                worker=worker,
                schedule=schedule,
                job_of=stage_jobs.of,
                on_demand=on_demand,
            )
        eager = [
            stage.name
            for stage in enabled
            if not on_demand
            and (not ticking or current.pace_of(stage.name) is Pace.EAGER)
        ]
        await stack.enter_async_context(
            running(worker, eager, schedule, drains, ending)
        )
        tasks = {"watch": watch.run(), "drains": drains.follow()}
        if live is not None:
            tasks["live-settings"] = live.watch()
        if worker is not None and isinstance(tools.health, SelfCheck):
            tools.health.look_after(rests.of("self-check"))
            tasks["self-check"] = tools.health.watch()
        for name, work in tasks.items():
            await stack.enter_async_context(in_background(work, name=name))
        if ticking and works and not on_demand:
            await schedule.start()
            # Others see its jobs from now on.
            await presence.beat()
        yield Background(
            engine, worker, schedule, tools, events, presence, live, ending.stopping
        )


@asynccontextmanager
async def running(
    worker: Worker | None,
    eager: list[str],
    schedule: Schedule,
    drains: DrainLog,
    ending: "Ending",
) -> AsyncIterator[None]:
    """Work until the block ends, also with an error; then stop all of it, and record that."""
    stopped = asyncio.create_task(ending.of(worker, schedule), name="ending")
    working = asyncio.create_task(run(worker, eager), name="worker")
    try:
        yield
    finally:
        ending.stopping.set()
        await stopped
        await working
        # What was done since the last tick belongs to the record too.
        await drains.close()


async def run(worker: Worker | None, eager: list[str]) -> None:
    """Work until stopped, where there is anything to work."""
    if worker is not None:
        await worker.run(eager)


@dataclass(frozen=True, slots=True)
class Ending:
    """How a process stops once it is asked to: all of it at the same time."""

    stopping: asyncio.Event
    grace: timedelta

    async def of(self, worker: Worker | None, schedule: Schedule) -> None:
        """Stop the work of the process: jobs between two steps, or when time is up."""
        await self.stopping.wait()
        await asyncio.gather(
            self.of_worker(worker), schedule.stop(self.grace + LAST_WORDS)
        )

    async def of_worker(self, worker: Worker | None) -> None:
        """Finish what is in hand, or hand it back."""
        await self.stopping.wait()
        if worker is not None:
            await worker.stop(grace=self.grace)


def warm_up_at_first_claim(
    sandbox: Sandbox, stack: AsyncExitStack
) -> Callable[[Event], None]:
    """Load the parsers while the first items are still being searched for or fetched.

    A process that has nothing to do spares their two seconds and their memory.
    """
    started: list[asyncio.Task[None]] = []

    def hear(event: Event) -> None:
        if isinstance(event, Claimed) and not started:
            started.append(asyncio.create_task(sandbox.warm_up(), name="sandbox"))
            stack.callback(started[0].cancel)

    return hear


@asynccontextmanager
async def open_tools(
    settings: Settings, engine: AsyncEngine, world: World
) -> AsyncIterator[Tools]:
    """Open what the stages work with."""
    policy = world.policy or crawler_policy(settings)
    async with AsyncExitStack() as stack:
        crawler = await stack.enter_async_context(
            open_crawler(engine, policy, world.resolver)
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
                extra=world.sources,
                pace_at=partial(LedgerPace, turns),
            )
        )
        # The names of a world of its own are not those of the real one.
        canaries = settings.canary_hosts if world.resolver is None else ()
        yield Tools(
            renderer=await stack.enter_async_context(open_renderer(settings, crawler)),
            crawler=crawler,
            sandbox=sandbox,
            sources=sources,
            mail_servers=world.mail_servers or DnsMailServers(),
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
    longest = policy.limits.total + HANDOVER
    async with (
        PostgresLedger(
            engine,
            delay=policy.host_delay,
            longest_request=longest,
            lease=1.4 * longest,
            for_others=FOR_OTHERS,
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


def housekeeping(
    settings: Settings,
    engine: AsyncEngine,
    matcher: AsyncEngine,
    way: GiveWay,
) -> list[Job]:
    """List the jobs that belong to no stage; `matcher` is the engine of the last one."""
    orphans = Seldom(ORPHAN_SHARE)
    is_stopping: IsStopping = way.stopping.is_set
    # It ends before it is due again, so that tenants with new records wait a minute at most.
    within = MATCHING_SHARE * settings.matching.interval

    async def rescue(_limit: int | None) -> Counts:
        with orphans.turn() as is_due:
            reaped = await curation_sdk.reap(engine, orphans=is_due)
        await choose_after_dead_letters(
            engine,
            user_id=settings.scheduler_system_user_id,
            site=settings.budgets.site,
            # Twice the interval: a run may be late, or another process's turn.
            within=2 * settings.reap.interval,
        )
        return Counts(picked=reaped.rescued + reaped.quarantined + reaped.requeued)

    async def purge(_limit: int | None) -> Counts:
        age = timedelta(days=settings.history_days)
        await PostgresLedger(engine).purge(age, is_stopping)
        expired = await forget_expired(engine, is_stopping)
        expired += await purge_uploads(engine, age, is_stopping)
        kept = retention_days(settings)
        expired += sum((await purge_expired(engine, kept, is_stopping)).values())
        runs = await purge_runs(engine, age, is_stopping)
        attempts = await curation_sdk.purge(
            engine, older_than=age, is_stopping=is_stopping
        )
        return Counts(picked=expired + runs + attempts)

    async def match(limit: int | None) -> Counts:
        run = await match_companies(
            matcher,
            limit,
            within=within,
            is_stopping=is_stopping,
            give_way=way,
        )
        errors = [f"tenant {key}: {why}" for key, why in run.failures.items()]
        return Counts(
            picked=run.records,
            failed=len(errors),
            last_error=errors[-1] if errors else None,
        )

    work = {
        "reap_expired_claims": rescue,
        "purge_old_history": purge,
        "match_companies": match,
    }
    return [
        Job(job.id, job.name, job.settings, work[job.id], is_singleton=True)
        for job in planned_jobs(settings)
        if job.id in work
    ]


@dataclass(frozen=True, slots=True)
class OneBatch:
    """Runs one batch of a stage apart from all other work."""

    engine: AsyncEngine
    tools: Tools
    registry: Registry
    events: Events[Event]
    rests: RestReasons
    ending: Ending

    async def run(self, stage: AnyStage, size: int, within: timedelta) -> Counts:
        """Claim at most `size` items, work them, and return what they came to.

        A process that rests or stops claims none.
        """
        if self.rests.why is not None or self.ending.stopping.is_set():
            return Counts()
        tally, heard = Tally(), Events[Event]()
        heard.listen(tally.hear)
        heard.listen(self.events.emit)
        async with Worker(
            self.engine,
            [stage.configured(batch=size)],
            tools=self.tools,
            registry=self.registry,
            events=heard,
        ) as worker:
            stopped = asyncio.create_task(self.ending.of_worker(worker))
            try:
                await worker.run_batch(stage.name, within=within)
            finally:
                # What it hands back is in the database when it has stopped, not before.
                await (stopped if self.ending.stopping.is_set() else cancel(stopped))
        return tally.take(stage.name)


@dataclass(frozen=True, slots=True)
class StageJobs:
    """Makes the jobs that work the stages, each run bounded by time."""

    worker: Worker
    tally: Tally
    drains: DrainLog
    batches: OneBatch
    in_batches: bool
    """Whether each run is one batch at any pace: others work the stages beside it."""

    def of(self, stage: AnyStage, settings: Settings) -> Job:
        """Make the job of one stage."""
        given = settings.stages[stage.name]
        job, logger = STAGES[stage.name].job, STAGES[stage.name].logger_name
        within = max(given.interval, SHORTEST_DRAIN)

        async def drain(limit: int | None) -> Counts:
            if limit is not None:
                return await self.batches.run(stage, limit, within)
            async with self.drains.tick(stage.name):
                await self.worker.drain(stage.name, within=within)
                return self.tally.take(stage.name)

        async def run_batch(limit: int | None) -> Counts:
            size = min(given.batch_size, limit or given.batch_size)
            return await self.batches.run(stage, size, within)

        if self.in_batches:
            return Job(job.id, job.name, given, run_batch, logger=logger)
        if settings.pace_of(stage.name) is Pace.EAGER:
            return Job(job.id, job.name, given, drain, logger=logger)
        return Job(
            job.id,
            job.name,
            given,
            run_batch,
            is_singleton=True,
            at_most=given.max_instances,
            logger=logger,
        )
