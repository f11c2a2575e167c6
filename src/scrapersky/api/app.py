"""The application: put together here, and nowhere else."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import replace
from importlib.metadata import version

import structlog
from fastapi import APIRouter, FastAPI
from fastapi.middleware.cors import CORSMiddleware

from scrapersky.api import (
    account,
    changes,
    connections,
    front,
    health,
    operations,
    privacy,
    records,
    reference,
    webhooks,
)
from scrapersky.api.auth.authenticator import (
    open_authenticator,
    require_a_way_to_log_in,
)
from scrapersky.api.auth.secret import refuse_unsafe
from scrapersky.api.document import describe
from scrapersky.api.middleware.address import parse_proxies
from scrapersky.api.middleware.request_limits import RequestLimits
from scrapersky.api.middleware.request_log import RequestLog
from scrapersky.api.middleware.trace import RequestTrace
from scrapersky.api.operations import events
from scrapersky.api.operations.demo_gateway import DemoGateway
from scrapersky.api.operations.state import OperationsState, open_operations
from scrapersky.api.operations.workspace import DemoWorkspace
from scrapersky.api.problem import install_problems
from scrapersky.api.records.listing import Plans
from scrapersky.api.records.open_export import OpenExports
from scrapersky.api.server import stopping_on_failure
from scrapersky.api.tenancy import (
    POOL_TIMEOUT,
    check_isolation,
    connect_as_api,
    is_slow_under_policies,
)
from scrapersky.connectors.session import BUSY_PAUSE
from scrapersky.db.connection import Target, connect
from scrapersky.observability.trace import open_traces
from scrapersky.privacy.key import load_suppression_keys
from scrapersky.records.check import check_database
from scrapersky.scheduler.app import ProcessKind, up
from scrapersky.scheduler.connector import connector_tools
from scrapersky.scheduler.tools import ExternalServices
from scrapersky.scheduler.webhook import webhook_sender
from scrapersky.settings import Settings

log = structlog.get_logger(__name__)

OWN_HEADERS = ("Idempotency-Key", "If-Match", "X-API-Key", "X-Request-ID")
EXPOSED_HEADERS = (
    "ETag", "RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset", "Retry-After",
    "X-Request-ID",
)  # fmt: skip
SYSTEM_POOL_SIZE = 3
"""Connections for what the authenticator, the stages' control and the health checks ask."""

DESCRIPTION = """\
ScraperSky turns a search into verified business contacts, with the source of every value.
Errors are RFC 9457 problem details; each answer carries its `X-Request-ID`.
"""


API = APIRouter()
"""Every route but the page's. An application takes them as they are: included in each one,
they would be worked out anew for each, which takes 0.1 to 0.3 s."""
# In the order in which they are tried: what is asked for most comes first. A router within
# a router is looked through twice as often.
for router in (
    health.router,
    *records.routers,
    account.router,
    operations.router,
    events.router,
    changes.router,
    privacy.router,
    webhooks.router,
    connections.router,
):
    API.include_router(router)


def create_app(
    settings: Settings,
    target: Target,
    *,
    services: ExternalServices | None = None,
    process: ProcessKind = up,
) -> FastAPI:
    """Build the application for one database; it connects when it starts.

    `process` says what works in the background while it runs: usually the stages and their
    scheduler. `services` stand in for those outside: the demo town's, or a test's.
    """
    refuse_unsafe(settings)

    @stopping_on_failure
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            system_engine = connect(
                target,
                name="scrapersky",
                pool_size=SYSTEM_POOL_SIZE,
                pool_timeout=POOL_TIMEOUT,
            )
            stack.push_async_callback(system_engine.dispose)
            await check_database(system_engine, settings.scheduler_system_user_id)
            engine = connect_as_api(target, pool_size=settings.database_pool_size)
            stack.push_async_callback(engine.dispose)
            await check_isolation(engine)
            await load_suppression_keys(
                system_engine, engine, **settings.suppression_secrets
            )
            await require_a_way_to_log_in(settings, system_engine)
            authenticator = await open_authenticator(settings, system_engine)
            stack.push_async_callback(authenticator.close)
            background = await stack.enter_async_context(
                process(settings, target, services=services, address=settings.address)
            )
            app.state.operations = await stack.enter_async_context(
                open_operations(settings, target, background)
            )
            app.state.settings = settings
            app.state.authenticator = authenticator
            app.state.secret = authenticator.secret
            app.state.plans = Plans()
            app.state.exports = OpenExports()
            stack.callback(app.state.exports.turns.close)
            app.state.background = background
            sender = webhook_sender(settings, background.tools.crawler.policy)
            stack.push_async_callback(sender.close)
            app.state.webhook_sender = sender
            app.state.connector_tools = replace(
                connector_tools(settings, background.tools.crawler.policy),
                longest_outage=BUSY_PAUSE,
            )
            stack.push_async_callback(app.state.connector_tools.transport.close)
            app.state.engine = engine
            app.state.is_slow_under_policies = await is_slow_under_policies(
                system_engine
            )
            app.state.system_engine = system_engine
            app.state.operations_engine = app.state.operations.engine
            app.state.checks = {
                **health.database_checks(system_engine),
                **health.disk_checks(settings.data_dir),
            }
            if background.schedule.is_running:
                checks = health.scheduler_checks(background.schedule)
                app.state.checks |= checks
            role = background.presence.role
            if (traces := open_traces(settings, role=role)) is not None:
                stack.callback(traces.close)
                traces.follow(background)
            app.state.traces = traces
            app.state.operations.metrics.watch_pool("api", engine)
            app.state.operations.metrics.watch_pool("system", system_engine)
            log.info("application.started", database=str(target))
            yield
        log.info("application.stopped")

    app = FastAPI(
        title="ScraperSky",
        version=version("scrapersky"),
        description=DESCRIPTION,
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
        openapi_url=None,
        # Such a redirect would repeat the name that the request was sent to.
        redirect_slashes=False,
    )
    install_problems(app)
    describe(app)
    app.router.routes.extend(API.routes)
    if not settings.environment.is_deployed:
        app.include_router(reference.router)
    front.serve_page(app)
    app.add_middleware(
        RequestLimits,
        proxies=parse_proxies(settings.trusted_proxies),
        hosts=frozenset(host.lower() for host in settings.trusted_hosts),
    )
    if settings.cors_origins:
        app.add_middleware(
            CORSMiddleware,
            allow_origins=settings.cors_origins,
            allow_methods=["GET", "POST", "PATCH", "DELETE"],
            allow_headers=["Authorization", "Content-Type", *OWN_HEADERS],
            expose_headers=EXPOSED_HEADERS,
            max_age=600,
        )
    if settings.otel_exporter_otlp_endpoint is not None:
        app.add_middleware(
            RequestTrace, find=lambda: getattr(app.state, "traces", None)
        )
    app.add_middleware(RequestLog)
    app.add_middleware(DemoGateway, find=lambda: demo_of(app))
    return app


def demo_of(app: FastAPI) -> DemoWorkspace | None:
    """Return the demo's workspace, once the application has started."""
    started: OperationsState | None = getattr(app.state, "operations", None)
    return started.demo if started is not None else None
