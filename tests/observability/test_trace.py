"""Traces and log lines: sent over OTLP to a collector, each in its place."""

import asyncio
import io
import logging
import sys
import threading
from collections.abc import Iterator
from contextvars import copy_context
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest
import structlog
from fastapi import FastAPI, Request
from httpx import ASGITransport, AsyncClient
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import (
    ExportLogsServiceRequest,
)
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
)
from opentelemetry.proto.logs.v1.logs_pb2 import LogRecord
from opentelemetry.proto.trace.v1.trace_pb2 import Span
from sqlalchemy import text

from curation_sdk.events import Claimed, DeadLettered, Event, Events, Retried, Settled
from curation_sdk.working import WorkingItem, working
from scrapersky.api.auth.identity import Identity
from scrapersky.api.dependency import actor_of
from scrapersky.api.middleware.trace import RequestTrace
from scrapersky.configuration import load_settings
from scrapersky.crawler.log import FetchRecord
from scrapersky.curation.batch.submission import submit
from scrapersky.curation.decision import Selection, decide
from scrapersky.db.connection import connect, parse_target
from scrapersky.errors import ConfigurationError
from scrapersky.observability import trace
from scrapersky.observability.log import configure_logs
from scrapersky.observability.stage_log import StageLog
from scrapersky.observability.trace import TraceExporter, open_traces
from scrapersky.records.place import PLACES
from scrapersky.records.status import Role
from tests.conftest import TestDatabase

FETCH = FetchRecord(
    url="https://b.example/team?mail=ana@b.example", final_url="https://b.example/team",
    host="b.example", outcome="ok", status=200, wire_bytes=500, body_bytes=900,
    seconds=0.25, waited=1.0, redirects=0, robots="allowed",
)  # fmt: skip


PLACE = text(
    "INSERT INTO places_staging (tenant_id, source, source_place_id, name, licence)"
    " VALUES (:tenant, 'osm', :name, :name, 'ODbL') RETURNING id"
)


class Collector(HTTPServer):
    """Takes spans over OTLP as a collector does."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.spans: dict[str, Span] = {}
        self.records: dict[str, LogRecord] = {}
        self.service = ""

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class Handler(BaseHTTPRequestHandler):
    server: Collector

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.path == "/v1/logs":
            self.take_logs(body)
        else:
            assert self.path == "/v1/traces"
            self.take_spans(body)
        self.send_response(200)
        self.end_headers()

    def take_logs(self, body: bytes) -> None:
        for group in ExportLogsServiceRequest.FromString(body).resource_logs:
            for scope in group.scope_logs:
                self.server.records |= {
                    record.body.string_value: record for record in scope.log_records
                }

    def take_spans(self, body: bytes) -> None:
        for group in ExportTraceServiceRequest.FromString(body).resource_spans:
            about = {
                one.key: one.value.string_value for one in group.resource.attributes
            }
            self.server.service = (
                f"{about['service.name']} {about['service.namespace']}"
            )
            for scope in group.scope_spans:
                self.server.spans |= {span.name: span for span in scope.spans}

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def collector() -> Iterator[Collector]:
    with Collector() as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture
def traces(collector: Collector) -> TraceExporter:
    given = {"OTEL_EXPORTER_OTLP_ENDPOINT": collector.address}
    made = open_traces(load_settings(given, dotenv=None).settings, role="worker")
    assert made is not None
    return made


def said(span: Span | LogRecord) -> dict[str, object]:
    return {
        one.key: getattr(one.value, str(one.value.WhichOneof("value")))
        for one in span.attributes
    }


def test_an_item_is_one_trace_from_claim_to_settle_with_its_fetch_inside(
    collector: Collector, traces: TraceExporter
) -> None:
    events: Events[Event] = Events()
    traces.listen(events)
    events.emit(Claimed("pages", "quay-1", ["a", "b", "c"]))

    def work() -> None:
        working.set(WorkingItem("pages", "a", 7))
        traces.hear_fetch(FETCH)

    copy_context().run(work)
    took = timedelta(seconds=1)
    events.emit(Settled("pages", "a", "done", None, took, "7-a"))
    events.emit(Settled("pages", "never claimed here", "done", None, took))
    traces.close()

    item, fetch = collector.spans["pages"], collector.spans["fetch"]
    assert collector.service == "scrapersky worker"
    assert fetch.trace_id == item.trace_id
    assert fetch.parent_span_id == item.span_id
    assert fetch.end_time_unix_nano - fetch.start_time_unix_nano == 1_250_000_000
    assert said(item) == {
        "scrapersky.stage": "pages", "scrapersky.item": "a",
        "scrapersky.worker": "quay-1", "scrapersky.outcome": "done",
        "scrapersky.correlation_id": "7-a",
    }  # fmt: skip
    # What stands behind the question mark may be somebody's.
    assert said(fetch)["url.full"] == "https://b.example/team"
    assert said(fetch)["http.response.status_code"] == 200


def test_a_failure_is_an_error_of_its_span(
    collector: Collector, traces: TraceExporter
) -> None:
    events: Events[Event] = Events()
    traces.listen(events)
    events.emit(Claimed("pages", "quay-1", ["a"]))
    events.emit(Claimed("sites", "quay-1", ["b"]))
    events.emit(Retried("pages", "a", "no answer", 1, timedelta(seconds=1)))
    events.emit(DeadLettered("sites", "b", "exhausted", "never an answer"))
    traces.close()

    ended = {name: span.status.message for name, span in collector.spans.items()}
    assert ended == {"pages": "no answer", "sites": "never an answer"}
    assert said(collector.spans["sites"])["scrapersky.outcome"] == "exhausted"


def test_items_that_are_never_heard_of_again_do_not_pile_up(
    traces: TraceExporter, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trace, "MOST_OPEN", 2)
    for item in "abc":
        traces.hear(Claimed("pages", "quay-1", [item]))

    assert [item for _, item in traces._open] == ["b", "c"]
    traces.close()


async def test_a_request_joins_the_trace_of_its_caller(
    collector: Collector, traces: TraceExporter
) -> None:
    app = FastAPI()
    app.add_api_route("/records/{name}", lambda name: name)
    traced = RequestTrace(app, lambda: traces)
    headers = {"traceparent": f"00-{'ab' * 16}-{'cd' * 8}-01"}
    async with AsyncClient(
        transport=ASGITransport(traced), base_url="http://app.test"
    ) as client:
        await client.get("/records/ana", headers=headers)
        await client.get("/health/live")
    traces.close()

    (span,) = collector.spans.values()
    assert span.name == "GET /records/{name}"
    assert span.trace_id.hex() == "ab" * 16
    assert span.parent_span_id.hex() == "cd" * 8
    assert said(span)["http.response.status_code"] == 200


async def test_an_item_leads_back_to_the_request_that_queued_it(
    collector: Collector, traces: TraceExporter, database: TestDatabase
) -> None:
    engine = connect(parse_target(database.url), pool_size=2)
    async with engine.begin() as connection:
        tenant = await connection.scalar(text("SELECT id FROM tenants"))
        places = [
            await connection.scalar(PLACE, {"tenant": tenant, "name": name})
            for name in ("Ada's", "Ben's")
        ]
    app = FastAPI()

    @app.post("/decide")
    async def select(request: Request) -> None:
        who = Identity(tenant, None, "ana", Role.ADMIN, "session")
        chosen = Selection(ids=(places[0],))
        await decide(engine, actor_of(who, request), PLACES, "Selected", chosen)
        await submit(engine, actor_of(who, request), "domains", ["shop.example"])

    traced = RequestTrace(app, lambda: traces)
    headers = {"traceparent": f"00-{'ab' * 16}-{'cd' * 8}-01"}
    async with AsyncClient(
        transport=ASGITransport(traced), base_url="http://app.test"
    ) as client:
        await client.post("/decide", headers=headers)
    async with engine.connect() as connection:
        domain = await connection.scalar(text("SELECT id FROM domains"))
    traces.link_from(engine)
    traces.hear(Claimed("deep_scan", "quay-1", [str(places[0])]))
    traces.hear(Claimed("domain_metadata", "quay-1", [str(domain)]))
    traces.hear(Claimed("by hand", "quay-1", [str(places[1]), "no key of ours"]))
    # Sooner than the database is asked: the span waits for its link.
    took = timedelta(seconds=1)
    looking = [*traces._linking.values()]
    traces.hear(Settled("deep_scan", str(places[0]), "done", None, took))
    traces.hear(Settled("domain_metadata", str(domain), "done", None, took))
    await asyncio.gather(*looking)
    traces.hear(Settled("by hand", str(places[1]), "done", None, took))
    await engine.dispose()
    traces.close()

    for stage in ("deep_scan", "domain_metadata"):
        (link,) = collector.spans[stage].links
        assert link.trace_id.hex() == "ab" * 16
        assert link.span_id == collector.spans["POST /decide"].span_id
    assert not collector.spans["by hand"].links
    assert not traces._linking


@pytest.fixture
def quiet_logs(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    root = logging.getLogger()
    before = (root.handlers, root.level)
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    configure_logs("INFO", "json")
    yield
    structlog.reset_defaults()
    root.handlers, root.level = before


@pytest.mark.usefixtures("quiet_logs")
async def test_log_lines_are_sent_with_the_ids_of_the_item_or_the_request(
    collector: Collector, traces: TraceExporter
) -> None:
    events: Events[Event] = Events()
    StageLog(events)
    traces.listen(events)
    events.emit(Claimed("page_curation", "quay-1", ["a"]))
    log = structlog.get_logger("scrapersky.test")

    def work() -> None:
        working.set(WorkingItem("page_curation", "a", 7))
        log.warning("page.odd", url="https://b.example/?m=ana@b.example", tries=2)

    copy_context().run(work)
    events.emit(DeadLettered("page_curation", "a", "exhausted", "never an answer"))
    app = FastAPI()
    app.add_api_route("/ask", lambda: log.info("asked", api_key="k-123"))
    async with AsyncClient(
        transport=ASGITransport(RequestTrace(app, lambda: traces)),
        base_url="http://app.test",
    ) as client:
        await client.get("/ask")
    logging.getLogger("a.library").error("of a library")
    logging.getLogger("opentelemetry.exporter").error("sending failed")
    traces.close()
    log.error("after the end")

    records, item = collector.records, collector.spans["page_curation"]
    assert {"page.odd", "item.failed", "asked", "of a library"} <= {*records}
    assert not {"sending failed", "after the end"} & {*records}
    for text_of_line in ("page.odd", "item.failed"):
        record = records[text_of_line]
        assert (record.trace_id, record.span_id) == (item.trace_id, item.span_id)
    assert records["asked"].span_id == collector.spans["GET /ask"].span_id
    assert not records["of a library"].trace_id
    assert records["page.odd"].severity_text == "WARNING"
    assert said(records["page.odd"]) == {
        "url": "https://b.example/?m=[e-mail]", "tries": 2, "stage": "page_curation",
        "item": "a", "correlation_id": "7-a",
    }  # fmt: skip
    assert said(records["asked"])["api_key"] == "********"


def test_without_a_collector_nothing_is_traced() -> None:
    assert open_traces(load_settings({}, dotenv=None).settings, role="up") is None


def test_a_collector_without_the_extra_is_explained(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    missing = "opentelemetry.exporter.otlp.proto.http.trace_exporter"
    monkeypatch.setitem(sys.modules, missing, None)
    given = {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:4318"}

    with pytest.raises(ConfigurationError, match="not installed"):
        open_traces(load_settings(given, dotenv=None).settings, role="up")
