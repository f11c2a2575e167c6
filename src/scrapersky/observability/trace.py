"""Traces for OpenTelemetry: items from claim to settle with their fetches, and requests.

Needs `scrapersky[otel]` and the address of a collector. Like the figures, they are made by
listening: what is watched knows nothing of them. An item that a request queued has a link to
the span of that request, which may be hours older and have queued thousands.
"""

import asyncio
import time
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncEngine

from curation_sdk.events import Claimed, DeadLettered, Event, Events, Retried, Settled
from curation_sdk.working import working_item
from scrapersky.crawler.log import FetchRecord
from scrapersky.errors import ConfigurationError
from scrapersky.kit.build import full_version
from scrapersky.observability.log import copies
from scrapersky.observability.log_export import LogExport
from scrapersky.scheduler.background import Background
from scrapersky.settings import Settings

if TYPE_CHECKING:
    from opentelemetry.context import Context
    from opentelemetry.sdk.trace.export import SpanExporter
    from opentelemetry.trace import Span

MOST_OPEN: Final = 10_000
"""Items that were claimed and not heard of again are given up beyond this many."""
SECOND: Final = 1_000_000_000
MAX_CHARACTERS: Final = 500
QUEUED_BY: Final = text("""SELECT DISTINCT ON (item) item, traceparent
  FROM unnest(CAST(:items AS uuid[])) item JOIN audit_log ON record_id = ANY(
    item || ARRAY(SELECT action_id FROM curation_changes c WHERE c.record_id = item AND queued)
    || ARRAY(SELECT batch_id FROM batch_items b
      WHERE b.domain_id = item OR b.sitemap_file_id = item OR b.page_id = item))
  WHERE traceparent IS NOT NULL ORDER BY item, audit_log.created_at DESC""")
"""The last request about each item, by itself or with others."""
LONGEST_EXPORT: Final = 3
"""Seconds that a collector has; one that is away must not hold up the end of a process."""


class TraceExporter:
    """The spans of one process, sent to a collector in the background."""

    def __init__(self, exporter: "SpanExporter", *, role: str) -> None:
        from opentelemetry.sdk.resources import Resource  # noqa: PLC0415 - an extra
        from opentelemetry.sdk.trace import TracerProvider  # noqa: PLC0415
        from opentelemetry.sdk.trace.export import BatchSpanProcessor  # noqa: PLC0415
        from opentelemetry.trace.propagation.tracecontext import (  # noqa: PLC0415
            TraceContextTextMapPropagator,
        )

        self._resource = Resource.create(
            {
                "service.name": "scrapersky",
                "service.version": full_version(),
                "service.namespace": role,
            }
        )
        self._closing = ExitStack()
        self._provider = TracerProvider(resource=self._resource)
        self._closing.callback(self._provider.shutdown)
        self._provider.add_span_processor(BatchSpanProcessor(exporter))
        self._tracer = self._provider.get_tracer("scrapersky")
        self._propagator = TraceContextTextMapPropagator()
        self._open: OrderedDict[tuple[str, str], Span] = OrderedDict()
        self._engine: AsyncEngine | None = None
        self._linking: dict[tuple[str, str], asyncio.Task[None]] = {}

    def follow(self, background: Background) -> None:
        """Trace the items and the fetches of this process."""
        self.link_from(background.engine)
        self.listen(background.events)
        background.tools.crawler.listen(self.hear_fetch)

    def link_from(self, engine: AsyncEngine) -> None:
        """Link items to the requests that queued them, as this database knows."""
        self._engine = engine

    def listen(self, events: Events[Event]) -> None:
        """Trace the items of a worker."""
        events.listen(self.hear)

    def hear(self, event: Event) -> None:
        """Begin and end the spans of items."""
        match event:
            case Claimed():
                for item in event.items:
                    self._begin(event.stage, item, event.worker)
                self._look_for_requests(event.stage, event.items)
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
            span.set_status(Status(StatusCode.ERROR, record.why[:MAX_CHARACTERS]))
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

    def written(self, span: "Span") -> str | None:
        """Write where a span is, as W3C's Trace Context does."""
        from opentelemetry.trace import set_span_in_context  # noqa: PLC0415

        carrier: dict[str, str] = {}
        self._propagator.inject(carrier, set_span_in_context(span))
        return carrier.get("traceparent")

    def send_logs(self, address: str) -> None:
        """Send the log lines of this process, too, until this is closed."""
        from scrapersky.compat.opentelemetry import LogRecords  # noqa: PLC0415

        records = LogRecords(address, self._resource, timeout=LONGEST_EXPORT)
        self._closing.callback(records.close)
        self._closing.callback(copies.listen(LogExport(records, self.context_of).take))

    def context_of(self, stage: object, item: object) -> "Context | None":
        """Return where the span of an item is, if it is being worked here."""
        from opentelemetry.trace import set_span_in_context  # noqa: PLC0415

        span = self._open.get((str(stage), str(item)))
        return None if span is None else set_span_in_context(span)

    def close(self) -> None:
        """Send what is not sent yet, for a few seconds at most."""
        self._closing.close()

    def _begin(self, stage: str, item: str, worker: str) -> None:
        while len(self._open) >= MOST_OPEN:
            lost, _ = self._open.popitem(last=False)
            self._linking.pop(lost, None)
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
        linking = self._linking.pop((event.stage, event.item), None)
        if span is None:
            return
        span.set_attribute("scrapersky.outcome", outcome)
        if event.correlation_id is not None:
            span.set_attribute("scrapersky.correlation_id", event.correlation_id)
        if error is not None:
            span.set_status(Status(StatusCode.ERROR, error[:MAX_CHARACTERS]))
        ended = time.time_ns()
        if linking is None or linking.done():
            span.end(ended)
        else:
            linking.add_done_callback(lambda _: span.end(ended))

    def _look_for_requests(self, stage: str, items: Sequence[str]) -> None:
        if self._engine is None:
            return
        spans = {item: self._open[stage, item] for item in items if is_uuid(item)}
        task = asyncio.create_task(self._link(self._engine, spans))
        self._linking |= {(stage, item): task for item in spans}

    async def _link(self, engine: AsyncEngine, spans: "dict[str, Span]") -> None:
        from opentelemetry.trace import get_current_span  # noqa: PLC0415

        try:
            async with engine.connect() as connection:
                items = [UUID(item) for item in spans]
                rows = (await connection.execute(QUEUED_BY, {"items": items})).all()
        except (SQLAlchemyError, OSError):
            return  # a trace without its link is better than none
        for row in rows:
            queued = self._propagator.extract({"traceparent": row.traceparent})
            context = get_current_span(queued).get_span_context()
            spans[str(row.item)].add_link(context, {"scrapersky.link": "queued by"})


def open_traces(settings: Settings, *, role: str) -> TraceExporter | None:
    """Begin to trace, and to send log lines, if a collector is named."""
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
    traces = TraceExporter(exporter, role=role)
    if settings.otel_logs_exporter == "otlp":
        traces.send_logs(f"{endpoint.rstrip('/')}/v1/logs")
    return traces


def is_uuid(item: str) -> bool:
    """Say whether this may be the key of a record of ours."""
    try:
        return str(UUID(item)) == item
    except ValueError:
        return False


def without_query(url: str) -> str:
    """Return an address without what may be personal in it."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.hostname or ''}{parts.path}"[:MAX_CHARACTERS]
