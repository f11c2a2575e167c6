"""What `scrapersky up` does once there is a database: the application, and its check."""

import socket
from collections.abc import Callable

from scrapersky.api.app import create_app
from scrapersky.api.auth.authenticator import refuse_open_house
from scrapersky.api.server import Server
from scrapersky.cli.garbage import without_collector
from scrapersky.cli.prepare import prepare
from scrapersky.cli.signals import run_stoppable
from scrapersky.db.connection import Target, connect
from scrapersky.records.process import ProcessRole
from scrapersky.settings import Settings


def open_house(
    target: Target, settings: Settings, report: Callable[[str], None]
) -> None:
    """Bring the database up to date, and refuse to open where nobody could come in."""

    async def check() -> None:
        await prepare(target, settings, report)
        engine = connect(target, name="scrapersky-start", pool_size=1)
        try:
            await refuse_open_house(settings, engine)
        finally:
            await engine.dispose()

    run_stoppable(check())


def serve(
    settings: Settings,
    target: Target,
    listener: socket.socket,
    role: ProcessRole,
    *,
    on_demand: bool = False,
    at_stop: Callable[[], None] = lambda: None,
) -> None:
    """Serve until asked to stop; streams still open then get a moment to end.

    With `on_demand` processes beside this one work the stages; `at_stop` tells them.
    """
    grace = settings.shutdown_grace_seconds
    with without_collector():
        app = create_app(settings, target, role=role, on_demand=on_demand)
    Server(app, grace=grace, at_stop=at_stop).run(sockets=[listener])
