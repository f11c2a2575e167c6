"""Traces for OpenTelemetry: items from claim to settle with their fetches, and requests.

Needs `scrapersky[otel]` and the address of a collector. Like the figures, they are made by
listening: what is watched knows nothing of them.
"""

import time
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from curation_sdk import working_item
from curation_sdk.events import Claimed, DeadLettered, Event, Events, Retried, Settled
from scrapersky.crawler.log import FetchRecord
from scrapersky.errors import ConfigurationError
from scrapersky.scheduler.app import Background
from scrapersky.settings import Settings

if TYPE_CHECKING:
    from opentelemetry.sdk.trace.export import SpanExporter
    from opentelemetry.trace import Span

MOST_OPEN: Final = 10_000
"""Items that were claimed and not heard of again are given up beyond this many."""
SECOND: Final = 1_000_000_000
LONGEST: Final = 500
LONGEST_EXPORT: Final = 3
"""Seconds that a collector has; one that is away must not hold up the end of a process."""


class Traces:
    """The spans of one process, sent to a collector in the background."""

    def __init__(self, exporter: "SpanExporter", *, role: str) -> None:
        from opentelemetry.sdk.resources import Resource  # noqa: PLC0415 - an extra
        from opentelemetry.sdk.trace import TracerProvider  # noqa: PLC0415
        from opentelemetry.sdk.trace.export import BatchSpanProcessor  # noqa: PLC0415
        from opentelemetry.trace.propagation.tracecontext import (  # noqa: PLC0415
            TraceContextTextMapPropagator,
        )

        resource = Resource.create(
            {
                "service.name": "scrapersky",
                "service.version": version("scrapersky"),
                "service.namespace": role,
            }
        )
        self._provider = TracerProvider(resource=resource)
        self._provider.add_span_processor(BatchSpanProcessor(exporter))
        self._tracer = self._provider.get_tracer("scrapersky")
        self._propagator = TraceContextTextMapPropagator()
        self._open: OrderedDict[tuple[str, str], Span] = OrderedDict()

    def follow(self, background: Background) -> None:
        """Trace the items and the fetches of this process."""
        self.listen(background.events)
        background.tools.crawler.listen(self.hear_fetch)

    def listen(self, events: Events[Event]) -> None:
        """Trace the items of a worker."""
        events.listen(self.hear)

    def hear(self, event: Event) -> None:
        """Begin and end the spans of items."""
        match event:
            case Claimed():
                for item in event.items:
                    self._begin(event.stage, item, event.worker)
            case Settled():
                self._end(event, event.outcome)
            case Retried():
                self._end(event, "retried", error=event.why)
            case DeadLettered():
                self._end(event, event.kind, error=event.why)
            case _:
                pass

    def hear_fetch(self, record: FetchRecord) -> None:
        """Put a fetch into the item that asked for it."""
        from opentelemetry.trace import (  # noqa: PLC0415
            SpanKind,
            Status,
            StatusCode,
            set_span_in_context,
        )

        asking = working_item()
        parent = self._open.get((asking.stage, asking.item)) if asking else None
        now = time.time_ns()
        span = self._tracer.start_span(
            "fetch",
            None if parent is None else set_span_in_context(parent),
            SpanKind.CLIENT,
            start_time=now - int((record.seconds + record.waited) * SECOND),
            attributes={
                "url.full": without_query(record.url),
                "server.address": record.host,
                "scrapersky.outcome": record.outcome,
                "scrapersky.robots": record.robots,
                "scrapersky.waited": record.waited,
                "http.response.size": record.wire_bytes,
                **(
                    {"http.response.status_code": record.status}
                    if record.status
                    else {}
                ),
            },
        )
        if record.why is not None:
            span.set_status(Status(StatusCode.ERROR, record.why[:LONGEST]))
        span.end(now)

    @contextmanager
    def request(self, method: str, carrier: dict[str, str]) -> Iterator["Span"]:
        """Trace one request of the API, as part of the caller's trace if it names one."""
        from opentelemetry.trace import SpanKind  # noqa: PLC0415

        context = self._propagator.extract(carrier)
        with self._tracer.start_as_current_span(
            method, context, SpanKind.SERVER, attributes={"http.request.method": method}
        ) as span:
            yield span

    def close(self) -> None:
        """Send what is not sent yet, for a few seconds at most."""
        self._provider.shutdown()

    def _begin(self, stage: str, item: str, worker: str) -> None:
        while len(self._open) >= MOST_OPEN:
            self._open.popitem(last=False)
        self._open[stage, item] = self._tracer.start_span(
            stage,
            attributes={
                "scrapersky.stage": stage,
                "scrapersky.item": item,
                "scrapersky.worker": worker,
            },
        )

    def _end(
        self,
        event: Settled | Retried | DeadLettered,
        outcome: str,
        *,
        error: str | None = None,
    ) -> None:
        from opentelemetry.trace import Status, StatusCode  # noqa: PLC0415

        span = self._open.pop((event.stage, event.item), None)
        if span is None:
            return
        span.set_attribute("scrapersky.outcome", outcome)
        if event.correlation_id is not None:
            span.set_attribute("scrapersky.correlation_id", event.correlation_id)
        if error is not None:
            span.set_status(Status(StatusCode.ERROR, error[:LONGEST]))
        span.end()


def open_traces(settings: Settings, *, role: str) -> Traces | None:
    """Begin to trace, if a collector is named."""
    endpoint = settings.otel_exporter_otlp_endpoint
    if endpoint is None:
        return None
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import (  # noqa: PLC0415
            OTLPSpanExporter,
        )
    except ImportError:
        raise ConfigurationError(
            "OTEL_EXPORTER_OTLP_ENDPOINT is set, but OpenTelemetry is not installed.",
            hint="Install it with `pip install 'scrapersky[otel]'`.",
        ) from None
    address = f"{endpoint.rstrip('/')}/v1/traces"
    exporter = OTLPSpanExporter(endpoint=address, timeout=LONGEST_EXPORT)
    return Traces(exporter, role=role)


def without_query(url: str) -> str:
    """Return an address without what may be personal in it."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.hostname or ''}{parts.path}"[:LONGEST]
