"""What `scrapersky up` does once there is a database: the application, and its check."""

import socket
from collections.abc import Callable

from scrapersky.api.app import create_app
from scrapersky.api.auth.authenticator import require_a_way_to_log_in
from scrapersky.api.server import Server
from scrapersky.cli.garbage import without_collector
from scrapersky.cli.signals import run_stoppable
from scrapersky.cli.worker_processes import WorkerProcesses
from scrapersky.db.connection import Target, connect
from scrapersky.scheduler.app import ProcessKind, serve_beside_workers
from scrapersky.scheduler.app import serve as serve_alone
from scrapersky.scheduler.app import up as work_and_serve
from scrapersky.scheduler.prepare import prepare
from scrapersky.settings import Settings


def prepare_to_serve(
    target: Target, settings: Settings, report: Callable[[str], None]
) -> None:
    """Bring the database up to date, and refuse to serve where nobody could log in."""

    async def check() -> None:
        await prepare(target, settings, report)
        engine = connect(target, name="scrapersky-start", pool_size=1)
        try:
            await require_a_way_to_log_in(settings, engine)
        finally:
            await engine.dispose()

    run_stoppable(check())


def serve(settings: Settings, target: Target, listener: socket.socket) -> None:
    """Serve until asked to stop, and work nothing."""
    serve_as(serve_alone, settings, target, listener)


def up(
    settings: Settings,
    target: Target,
    listener: socket.socket,
    workers: WorkerProcesses | None = None,
) -> None:
    """Serve until asked to stop; the stages run here, or in `workers` beside this process."""
    if workers is None:
        serve_as(work_and_serve, settings, target, listener)
    else:
        with workers:
            serve_as(serve_beside_workers, settings, target, listener, workers)


def serve_as(
    process: ProcessKind,
    settings: Settings,
    target: Target,
    listener: socket.socket,
    workers: WorkerProcesses | None = None,
) -> None:
    """Run the application; streams still open at the end get a moment to end."""
    with without_collector():
        app = create_app(settings, target, process=process)
    Server(
        app,
        grace=settings.shutdown_grace_seconds,
        at_stop=workers.ask_to_stop if workers else lambda: None,
    ).run(sockets=[listener])
