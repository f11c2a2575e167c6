"""Figures for Prometheus: what the Curation SDK reports, counted, and how the stages stand."""

from collections.abc import Mapping
from importlib.metadata import version

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

SECONDS = (0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300)


class Metrics:
    """The figures of one process; each has a registry of its own, so none is shared."""

    def __init__(self, events: Events[Event]) -> None:
        registry = self._registry = CollectorRegistry()
        for collector in (ProcessCollector, PlatformCollector, GCCollector):
            collector(registry=registry)
        Info("scrapersky", "What runs here.", registry=registry).info(
            {"version": version("scrapersky")}
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
            name: Gauge(f"scrapersky_stage_{name}", what, stage, registry=registry)
            for name, what in STANDING.items()
        }
        self._streams = Gauge(
            "scrapersky_event_streams", "Clients that listen.", registry=registry
        )
        self._paused = Gauge(
            "scrapersky_stage_paused", "1 while paused.", stage, registry=registry
        )
        self.forget = events.listen(self.count)

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

    def stand(self, stage: str, figures: Mapping[str, float], *, paused: bool) -> None:
        """Note how a stage stands at this moment."""
        for name, figure in figures.items():
            self._gauges[name].labels(stage).set(figure)
        self._paused.labels(stage).set(paused)

    def listeners(self, count: int) -> None:
        """Note how many listen to the stream of events."""
        self._streams.set(count)

    def written(self) -> bytes:
        """Write every figure in the text format of Prometheus."""
        return generate_latest(self._registry)


STANDING = {
    "queued": "Items that wait.",
    "working": "Items in workers' hands.",
    "waiting_retry": "Items that failed for now.",
    "held": "Items held back with their paused batch.",
    "oldest_seconds": "How long the head of the queue has waited.",
}
