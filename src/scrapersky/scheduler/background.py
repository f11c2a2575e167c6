"""What works in the background of a process, put together from its parts."""

import asyncio
from collections.abc import AsyncIterator, Callable, Collection, Coroutine, Mapping
from contextlib import (
    AsyncExitStack,
    asynccontextmanager,
)
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from sqlalchemy.ext.asyncio import AsyncEngine

from curation_sdk import Worker
from curation_sdk.events import Claimed, Event, Events
from curation_sdk.registry import AnyStage
from scrapersky.changes.subscriber import Subscriber
from scrapersky.crawler import Sandbox
from scrapersky.db.connection import Target, connect
from scrapersky.kit.background import in_background
from scrapersky.pipeline.health_check import with_health_check
from scrapersky.pipeline.tools import Tools
from scrapersky.privacy.key import load_suppression_keys
from scrapersky.records.process import ProcessRole
from scrapersky.scheduler.alert_monitor import (
    AlertMonitor,
    SnapshotReader,
    alert_sender,
)
from scrapersky.scheduler.connector import open_connectors
from scrapersky.scheduler.drain_log import DrainLog
from scrapersky.scheduler.housekeeping import Throttle, housekeeping
from scrapersky.scheduler.item_counter import ItemCounter
from scrapersky.scheduler.live_stages import LiveStages
from scrapersky.scheduler.overrides import StageChanges, stored_changes, with_changes
from scrapersky.scheduler.presence import Presence, RestReasons, own_name
from scrapersky.scheduler.run_log import RunLog
from scrapersky.scheduler.schedule import JobSchedule, ScheduledJob
from scrapersky.scheduler.self_check import SelfCheck
from scrapersky.scheduler.shutdown import Shutdown, running
from scrapersky.scheduler.stage_jobs import BatchRunner, StageJobFactory
from scrapersky.scheduler.tools import ExternalServices, open_tools
from scrapersky.scheduler.webhook import open_webhooks
from scrapersky.settings import Settings
from scrapersky.stages import STAGES, configured_pipeline, registry_of


@dataclass(frozen=True, slots=True)
class Background:
    """The background work of this process while it runs."""

    engine: AsyncEngine
    worker: Worker | None
    """None in a process that works no stages."""
    schedule: JobSchedule
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


@dataclass(frozen=True, slots=True)
class ProcessResources:
    """What every kind of process has."""

    settings: Settings
    target: Target
    engine: AsyncEngine
    tools: Tools
    changes: Mapping[str, StageChanges]
    """What operators have changed of the settings."""

    @asynccontextmanager
    async def in_background(
        self, presence: Presence, tasks: Mapping[str, Coroutine[Any, Any, None]]
    ) -> AsyncIterator[None]:
        """Do this meanwhile, and look out for what there are alerts for."""
        monitor = AlertMonitor(
            SnapshotReader(self.engine, self.settings),
            alert_sender(self.settings),
            name=presence.name,
            announce=presence.beat,
        )
        async with AsyncExitStack() as stack:
            for name, task in {"watch": monitor.run(), **tasks}.items():
                await stack.enter_async_context(in_background(task, name=name))
            yield


@asynccontextmanager
async def open_resources(
    settings: Settings, target: Target, services: ExternalServices | None
) -> AsyncIterator[ProcessResources]:
    """Open what every kind of process has."""
    async with AsyncExitStack() as stack:
        # Two for the worker's claims and settles, the rest for tools and records.
        engine = connect(target, name="scrapersky-worker", pool_size=8)
        stack.push_async_callback(engine.dispose)
        await load_suppression_keys(engine, **settings.suppression_secrets)
        tools = await stack.enter_async_context(
            open_tools(settings, engine, services or ExternalServices())
        )
        changes = await stored_changes(engine)
        yield ProcessResources(settings, target, engine, tools, changes)


@dataclass(frozen=True, slots=True)
class StageWork:
    """The stages of a process and its jobs, ready to run."""

    resources: ProcessResources
    stages: tuple[AnyStage, ...]
    """Those that are switched on here."""
    worker: Worker | None
    """None if there are none."""
    events: Events[Event]
    rests: RestReasons
    runs: RunLog
    drains: DrainLog
    schedule: JobSchedule
    shutdown: Shutdown
    subscribers: Mapping[str, Subscriber]
    """What follows the change log for others: webhooks, and connections to CRMs."""
    make_job: Callable[[AnyStage, Settings], ScheduledJob] | None

    def presence(self, role: ProcessRole, address: str | None) -> Presence:
        """Announce this process as one that works its stages and runs its jobs."""
        return Presence(
            self.resources.engine,
            self.worker,
            self.rests,
            role=role,
            address=address,
            name=self.runs.process,
            stages=[stage.name for stage in self.stages],
            jobs=self.schedule.published,
        )

    @asynccontextmanager
    async def running(
        self, presence: Presence, eager: Callable[[Settings], Collection[str]]
    ) -> AsyncIterator[Background]:
        """Work while the block lasts, by itself on those stages that are eager."""
        given = self.resources
        live = self._live_stages(eager)
        tasks = {"drains": self.drains.follow()}
        tasks |= {name: one.run() for name, one in self.subscribers.items()}
        if live is not None:
            tasks["live-settings"] = live.watch()
        health = given.tools.health
        if self.worker is not None and isinstance(health, SelfCheck):
            health.look_after(self.rests.of("self-check"))
            tasks["self-check"] = health.watch()
        names = eager(with_changes(given.settings, given.changes))
        now = [stage.name for stage in self.stages if stage.name in names]
        async with (
            running(self.worker, now, self.schedule, self.drains, self.shutdown),
            given.in_background(presence, tasks),
        ):
            yield Background(
                given.engine, self.worker, self.schedule, given.tools, self.events,
                presence, live, self.shutdown.stopping,
            )  # fmt: skip

    def _live_stages(
        self, eager: Callable[[Settings], Collection[str]]
    ) -> LiveStages | None:
        if self.worker is None or self.make_job is None:
            return None
        return LiveStages(
            self.resources.engine,
            self.resources.settings,
            self.resources.changes,
            stages=self.stages,
            worker=self.worker,
            schedule=self.schedule,
            make_job=self.make_job,
            eager=eager,
        )


@asynccontextmanager
async def open_stage_work(resources: ProcessResources) -> AsyncIterator[StageWork]:
    """Put the worker, the records of its runs and the jobs together."""
    settings, engine, tools = resources.settings, resources.engine, resources.tools
    current = with_changes(settings, resources.changes)
    pipeline = tuple(map(with_health_check, configured_pipeline(current.stages)))
    enabled = tuple(one for one in pipeline if settings.stages[one.name].enabled)
    registry = registry_of(pipeline)
    async with AsyncExitStack() as stack:
        events, heard, counter = Events[Event](), Events[Event](), ItemCounter()
        heard.listen(counter.hear)
        heard.listen(warm_up_at_first_claim(tools.sandbox, stack))
        heard.listen(events.emit)
        worker = None
        if enabled:
            worker = Worker(
                engine,
                enabled,
                tools=tools,
                listen_dsn=listen_dsn(settings, resources.target),
                registry=registry,
                events=heard,
            )
        rests = RestReasons(worker)
        grace = timedelta(seconds=settings.shutdown_grace_seconds)
        shutdown = Shutdown(asyncio.Event(), grace)
        runs = RunLog(engine, own_name() if worker is None else worker.name)
        drains = DrainLog(
            counter, runs, {stage.name: STAGES[stage.name].job.id for stage in enabled}
        )
        batches = BatchRunner(engine, tools, registry, events, rests, shutdown)
        # One connection of its own: it takes none from the stages, nor waits for theirs.
        matcher = connect(resources.target, name="scrapersky-matcher", pool_size=1)
        stack.push_async_callback(matcher.dispose)
        throttle = Throttle(lambda: worker.in_hand if worker else 0, shutdown.stopping)
        jobs = housekeeping(settings, engine, matcher, throttle)
        make_job = None
        if worker is not None:
            make_job = StageJobFactory(worker, counter, drains, batches).job
            jobs = [*(make_job(stage, current) for stage in enabled), *jobs]
        schedule = JobSchedule(jobs, runs)
        drains.ended.listen(schedule.report)
        given = (settings, resources.target, tools.crawler.policy)
        subscribers = {
            "webhooks": await stack.enter_async_context(open_webhooks(*given)),
            "connectors": await stack.enter_async_context(open_connectors(*given)),
        }
        if worker is not None:
            await stack.enter_async_context(worker)
        yield StageWork(
            resources, enabled, worker, events, rests, runs, drains, schedule, shutdown,
            subscribers, make_job,
        )  # fmt: skip


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


def listen_dsn(settings: Settings, target: Target) -> str | None:
    """Return a direct way to the database on which wake-ups are heard, if there is one."""
    if settings.database_listen_url is not None:
        return settings.database_listen_url.get_secret_value()
    return None if target.behind_pooler else target.dsn
