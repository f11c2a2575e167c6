"""The application of a worker: no API, only how this process stands."""

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from importlib.metadata import version
from typing import Annotated

from fastapi import APIRouter, FastAPI, Request, Response
from prometheus_client import CONTENT_TYPE_LATEST

from scrapersky.api import health
from scrapersky.api.auth.authenticator import open_authenticator
from scrapersky.api.auth.identity import Identity, Permission
from scrapersky.api.dependency import allow
from scrapersky.api.middleware.address import parse_proxies
from scrapersky.api.middleware.request_limits import RequestLimits
from scrapersky.api.problem import install_problems
from scrapersky.api.server import Lifespan, stopping_on_failure
from scrapersky.db.connection import Target
from scrapersky.observability.metrics import Metrics
from scrapersky.observability.observed import observed
from scrapersky.observability.shared_metrics import SharedMetrics
from scrapersky.scheduler.app import work
from scrapersky.scheduler.background import Background
from scrapersky.scheduler.tools import ExternalServices
from scrapersky.settings import Settings, address_of

router = APIRouter()


@router.get("/metrics", operation_id="read_metrics", response_class=Response)
async def read_metrics(
    who: Annotated[Identity, allow(Permission.METRICS)],  # noqa: ARG001 - checked
    request: Request,
) -> Response:
    """Give the figures of this process to Prometheus; the API has those of the database."""
    metrics: Metrics | SharedMetrics = request.app.state.metrics
    return Response(metrics.written(), media_type=CONTENT_TYPE_LATEST)


def create_worker_app(
    settings: Settings,
    target: Target,
    *,
    port: int,
    started: Callable[[Background], None] = lambda _: None,
    services: ExternalServices | None = None,
) -> FastAPI:
    """Build the application of a worker; the stages and the scheduler run while it does.

    `started` is called once they do. Who may read the figures is decided as in the API.
    """
    door = settings.model_copy(update={"host": settings.worker_host, "port": port})

    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            background = await stack.enter_async_context(
                work(
                    settings,
                    target,
                    services=services,
                    address=address_of(settings.worker_host, port),
                )
            )
            app.state.background = background
            app.state.metrics = stack.enter_context(observed(background, settings))
            authenticator = await open_authenticator(door, background.engine)
            stack.push_async_callback(authenticator.close)
            app.state.settings = door
            app.state.authenticator = authenticator
            app.state.checks = {
                **health.database_checks(background.engine),
                **health.scheduler_checks(background.schedule),
                **health.worker_checks(background),
            }
            started(background)
            yield

    return status_app("ScraperSky worker", settings, lifespan)


def status_app(title: str, settings: Settings, lifespan: Lifespan) -> FastAPI:
    """Build an application that only says how a process stands."""
    app = FastAPI(
        title=title,
        version=version("scrapersky"),
        lifespan=stopping_on_failure(lifespan),
        docs_url=None,
        redoc_url=None,
        openapi_url=None,
        redirect_slashes=False,
    )
    install_problems(app)
    app.include_router(health.router)
    app.include_router(router)
    app.add_middleware(
        RequestLimits,
        proxies=parse_proxies(settings.trusted_proxies),
        hosts=frozenset(host.lower() for host in settings.trusted_hosts),
    )
    return app
