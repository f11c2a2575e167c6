"""The application of a Celery worker: how it and the processes that it starts stand."""

import socket
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack

from fastapi import FastAPI
from sqlalchemy.ext.asyncio import AsyncEngine

from scrapersky.api import health
from scrapersky.api.auth.authenticator import open_authenticator
from scrapersky.api.worker_app import status_app
from scrapersky.db.connection import Target, connect
from scrapersky.observability.shared_metrics import SharedMetrics
from scrapersky.records.process import ProcessRole
from scrapersky.scheduler.presence import Presence, RestReasons, live_processes
from scrapersky.settings import Settings, address_of


def create_celery_app(
    settings: Settings,
    target: Target,
    metrics: SharedMetrics,
    *,
    port: int,
    has_broker: Callable[[], bool],
) -> FastAPI:
    """Build the application of Celery's parent process, which works no stages itself."""
    door = settings.model_copy(update={"host": settings.worker_host, "port": port})
    address = address_of(settings.worker_host, port)

    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            # One for the beat of the presence, one for whoever asks.
            engine = connect(target, name="scrapersky-celery", pool_size=2)
            stack.push_async_callback(engine.dispose)
            authenticator = await open_authenticator(door, engine)
            stack.push_async_callback(authenticator.close)
            role = ProcessRole.CELERY
            await stack.enter_async_context(
                Presence(engine, None, RestReasons(None), role=role, address=address)
            )
            app.state.metrics = metrics
            app.state.settings = door
            app.state.authenticator = authenticator
            app.state.checks = {
                **health.database_checks(engine),
                "broker": broker_check(has_broker),
                "machine": machine_check(engine, address),
            }
            yield

    return status_app("ScraperSky on Celery", settings, lifespan)


def broker_check(has_broker: Callable[[], bool]) -> health.Check:
    """Check that hints can arrive."""

    async def broker() -> str | None:
        return None if has_broker() else "not connected"

    return broker


def machine_check(engine: AsyncEngine, address: str) -> health.Check:
    """Check that no process of this worker has found itself unfit."""

    async def machine() -> str | None:
        here = socket.gethostname()
        for one in await live_processes(engine):
            if (one.host, one.address, one.state) == (here, address, "resting"):
                return f"{one.name} claims nothing: {one.resting}"
        return None

    return machine
