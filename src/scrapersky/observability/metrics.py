"""Figures for Prometheus: what this process came to, and how stages and database stand.

Labels take few values, all of them ours: names of stages, jobs, outcomes, tables and sources.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from functools import partial

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    GCCollector,
    Histogram,
    Info,
    PlatformCollector,
    ProcessCollector,
    generate_latest,
)
from sqlalchemy import QueuePool
from sqlalchemy.ext.asyncio import AsyncEngine

from curation_sdk.events import (
    Claimed,
    DeadLettered,
    Event,
    Events,
    Fenced,
    Overclaimed,
    Rescued,
    Retried,
    Settled,
    WorkerFault,
)
from scrapersky.crawler.log import FetchRecord
from scrapersky.kit.build import build, version
from scrapersky.reporting.database import DatabaseFigures
from scrapersky.scheduler.background import Background
from scrapersky.scheduler.presence import LiveProcess
from scrapersky.scheduler.run_log import Run
from scrapersky.settings import Settings

summed = partial(Gauge, multiprocess_mode="livesum")
"""A figure that is added up where several processes have one place for theirs."""
SECONDS = (0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300)


class Metrics:
    """The figures of one process; each has a registry of its own, so none is shared."""

    def __init__(self, events: Events[Event]) -> None:
        registry = self._registry = CollectorRegistry()
        self._sampled: list[tuple[Gauge, Callable[[], float]]] = []
        for collector in (ProcessCollector, PlatformCollector, GCCollector):
            collector(registry=registry)
        Info("scrapersky", "What runs here.", registry=registry).info(
            {"version": version(), "build": build()}
        )
        stage = ("stage",)
        self._claimed = Counter(
            "scrapersky_items_claimed",
            "Items taken by workers.",
            stage,
            registry=registry,
        )
        self._settled = Counter(
            "scrapersky_items_settled",
            "Items that left a stage, by outcome.",
            ("stage", "outcome"),
            registry=registry,
        )
        self._retried = Counter(
            "scrapersky_items_retried",
            "Failures tried again.",
            stage,
            registry=registry,
        )
        self._died = Counter(
            "scrapersky_items_died",
            "Items that became dead letters, by kind.",
            ("stage", "kind"),
            registry=registry,
        )
        self._rescued = Counter(
            "scrapersky_items_rescued",
            "Items taken from workers that vanished.",
            stage,
            registry=registry,
        )
        self._fenced = Counter(
            "scrapersky_late_answers_refused",
            "Answers that came after the item had gone to someone else.",
            stage,
            registry=registry,
        )
        self._overclaimed = Counter(
            "scrapersky_overclaims",
            "Claims that returned more than was asked for: an alarm.",
            stage,
            registry=registry,
        )
        self._troubled = Counter(
            "scrapersky_database_troubles",
            "Times the database could not be used.",
            ("doing",),
            registry=registry,
        )
        self._seconds = Histogram(
            "scrapersky_item_seconds",
            "How long an item was worked on.",
            stage,
            buckets=SECONDS,
            registry=registry,
        )
        self._gauges = {
            name: summed(f"scrapersky_stage_{name}", what, stage, registry=registry)
            for name, what in STANDING.items()
        }
        self._streams = summed(
            "scrapersky_event_streams", "Clients that listen.", registry=registry
        )
        self._paused = summed(
            "scrapersky_stage_paused", "1 while paused.", stage, registry=registry
        )
        self._timeout = Gauge(
            "scrapersky_stage_timeout_seconds",
            "How long an item may be in work.",
            stage,
            multiprocess_mode="livemax",
            registry=registry,
        )
        self._interval = Gauge(
            "scrapersky_stage_interval_seconds",
            "Time between two runs of its job; 0 for a stage that works in between too.",
            stage,
            multiprocess_mode="livemax",
            registry=registry,
        )
        self._held_back = summed(
            "scrapersky_stage_held_back",
            "1 while a queue that it feeds is full.",
            stage,
            registry=registry,
        )
        self._dead = summed(
            "scrapersky_stage_dead_letters",
            "Items that wait for a person.",
            stage,
            registry=registry,
        )
        self._add_jobs(registry)
        self._add_fetches(registry)
        self._add_database(registry)
        self._add_process(registry)
        self.forget = events.listen(self.count)

    def _add_jobs(self, registry: CollectorRegistry) -> None:
        self._runs = Counter(
            "scrapersky_job_runs",
            "Due times of a job in this process, by what came of them.",
            ("job", "outcome"),
            registry=registry,
        )
        self._run_seconds = Histogram(
            "scrapersky_job_seconds",
            "How long a run took.",
            ("job",),
            buckets=SECONDS,
            registry=registry,
        )
        self._run_items = Counter(
            "scrapersky_job_items",
            "Items that the runs of a job picked.",
            ("job",),
            registry=registry,
        )

    def _add_fetches(self, registry: CollectorRegistry) -> None:
        self._fetches = Counter(
            "scrapersky_fetches",
            "Requests to websites, by outcome.",
            ("outcome",),
            registry=registry,
        )
        self._fetched_bytes = Counter(
            "scrapersky_fetched_bytes",
            "Bytes received from websites, as they came over the wire.",
            registry=registry,
        )
        self._fetch_seconds = Histogram(
            "scrapersky_fetch_seconds",
            "How long a fetch took, without the wait for its turn.",
            buckets=SECONDS,
            registry=registry,
        )
        self._robots = Counter(
            "scrapersky_robots_verdicts",
            "What robots.txt said about the URLs that were to be fetched.",
            ("verdict",),
            registry=registry,
        )
        self._waiting_fetches = summed(
            "scrapersky_fetches_waiting",
            "Fetches that wait for their turn at a host or an address.",
            registry=registry,
        )

    def _add_database(self, registry: CollectorRegistry) -> None:
        self._database = {
            name: summed(f"scrapersky_database_{name}", what, registry=registry)
            for name, what in DATABASE.items()
        }
        self._dead_rows = summed(
            "scrapersky_database_dead_rows",
            "Dead rows in the tables that are queues.",
            ("table",),
            registry=registry,
        )
        self._spent = summed(
            "scrapersky_provider_spent_dollars",
            "What the searches at a source have cost.",
            ("source",),
            registry=registry,
        )
        self._to_spend = summed(
            "scrapersky_provider_budget_left_dollars",
            "What searches that are not over may still cost; those without a budget apart.",
            ("source",),
            registry=registry,
        )
        self._processes = summed(
            "scrapersky_processes",
            "Processes heard of lately, by what they do.",
            ("role", "state"),
            registry=registry,
        )

    def _add_process(self, registry: CollectorRegistry) -> None:
        self._pool = summed(
            "scrapersky_pool_connections",
            "Connections of this process to the database, by state.",
            ("pool", "state"),
            registry=registry,
        )
        self._in_hand = summed(
            "scrapersky_worker_items",
            "Items in this process's hands.",
            registry=registry,
        )
        self._resting = summed(
            "scrapersky_worker_resting",
            "1 while this process claims nothing, unfit or asked to drain.",
            registry=registry,
        )

    def follow(self, background: Background, settings: Settings) -> None:
        """Count the runs and the fetches of this process, and look at its worker and pools."""
        for name, given in settings.stages.items():
            self.add_stage(name, given.timeout)
        background.schedule.ended.listen(self.count_run)
        crawler = background.tools.crawler
        crawler.listen(self.count_fetch)
        self._sample(self._waiting_fetches, lambda: crawler.fetches.waiting)
        self.watch_pool("worker", background.engine)
        if (worker := background.worker) is not None:
            self._sample(self._in_hand, lambda: worker.in_hand)
            self._sample(self._resting, lambda: background.resting is not None)

    def watch_pool(self, name: str, engine: AsyncEngine) -> None:
        """Show how many connections of a pool are in use, and how many lie idle."""
        pool = engine.pool
        if isinstance(pool, QueuePool):
            self._sample(self._pool.labels(name, "in_use"), pool.checkedout)
            self._sample(self._pool.labels(name, "idle"), pool.checkedin)

    def count_run(self, run: Run) -> None:
        """Count one due time of a job."""
        self._runs.labels(run.job_id, run.outcome).inc()
        if run.counts is not None:
            self._run_items.labels(run.job_id).inc(run.counts.picked)
        if run.started_at is not None and run.finished_at is not None:
            took = run.finished_at - run.started_at
            self._run_seconds.labels(run.job_id).observe(took.total_seconds())

    def count_fetch(self, record: FetchRecord) -> None:
        """Count one request to a website."""
        self._fetches.labels(record.outcome).inc()
        self._fetched_bytes.inc(record.wire_bytes)
        self._fetch_seconds.observe(record.seconds)
        if record.robots:
            is_allowed = record.robots == "allowed"
            self._robots.labels("allowed" if is_allowed else "denied").inc()

    def count(self, event: Event) -> None:
        """Count one event of the SDK."""
        match event:
            case Claimed(stage=stage, items=items):
                self._claimed.labels(stage).inc(len(items))
            case Settled(stage=stage, outcome=outcome, took=took):
                self._settled.labels(stage, outcome).inc()
                self._seconds.labels(stage).observe(took.total_seconds())
            case Retried(stage=stage):
                self._retried.labels(stage).inc()
            case DeadLettered(stage=stage, kind=kind):
                self._died.labels(stage, kind).inc()
            case Rescued(stage=stage):
                self._rescued.labels(stage).inc()
            case Fenced(stage=stage):
                self._fenced.labels(stage).inc()
            case Overclaimed(stage=stage):
                self._overclaimed.labels(stage).inc()
            case WorkerFault(doing=doing):
                self._troubled.labels(doing).inc()
            case _:
                return

    def stand(
        self,
        stage: str,
        figures: Mapping[str, float],
        *,
        paused: bool,
        held_back: bool = False,
        interval: timedelta = timedelta(0),
    ) -> None:
        """Note how a stage stands at this moment."""
        for name, figure in figures.items():
            self._gauges[name].labels(stage).set(figure)
        self._paused.labels(stage).set(paused)
        self._held_back.labels(stage).set(held_back)
        self._interval.labels(stage).set(interval.total_seconds())

    def add_stage(self, stage: str, timeout: timedelta) -> None:
        """Show a stage from the start, and how long an item of it may be in work.

        Prometheus sees no increase in a counter that begins with its first event.
        """
        self._timeout.labels(stage).set(timeout.total_seconds())
        for counter in (
            self._claimed, self._retried, self._rescued, self._fenced, self._overclaimed,
        ):  # fmt: skip
            counter.labels(stage)
        self._settled.labels(stage, "done")

    def note_database(self, figures: DatabaseFigures) -> None:
        """Note how the database stands at this moment."""
        for name in DATABASE:
            self._database[name].set(getattr(figures, name))
        for gauge, found in (
            (self._dead_rows, figures.dead_rows),
            (self._dead, figures.dead_letters),
            (self._spent, figures.spent),
            (self._to_spend, figures.budget_left),
        ):
            gauge.clear()
            for label, figure in found.items():
                gauge.labels(label).set(figure)

    def note_processes(self, live: Sequence[LiveProcess]) -> None:
        """Note which processes there are, and how each stands."""
        self._processes.clear()
        for one in live:
            self._processes.labels(one.role, one.state).inc()

    def listeners(self, count: int) -> None:
        """Note how many listen to the stream of events."""
        self._streams.set(count)

    def sample(self) -> None:
        """Take the figures that are looked up and not counted, as they are now."""
        for gauge, look_up in self._sampled:
            gauge.set(look_up())

    def written(self) -> bytes:
        """Write every figure in the text format of Prometheus."""
        self.sample()
        return generate_latest(self._registry)

    def _sample(self, gauge: Gauge, look_up: Callable[[], float]) -> None:
        self._sampled.append((gauge, look_up))


STANDING = {
    "queued": "Items that wait.",
    "working": "Items in workers' hands.",
    "waiting_retry": "Items that failed for now.",
    "held": "Items held back with their paused batch.",
    "oldest_seconds": "How long the head of the queue has waited.",
    "longest_seconds": "How long the item worked on longest has been in work.",
}
DATABASE = {
    "connections": "Connections to the database, of everyone.",
    "connections_at_most": "How many there may be.",
    "size_bytes": "Size of the database.",
    "oldest_snapshot_seconds": "Age of the oldest open transaction, which holds up vacuum.",
    "clock_skew_seconds": "How far this machine's clock is ahead of the database's.",
}
