"""How a worker of Celery stands: served by its parent process for all that it starts."""

import os
import shutil
import socket
import threading
from contextlib import ExitStack
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, Final

import structlog
from billiard.process import current_process
from sqlalchemy.exc import SQLAlchemyError

from scrapersky.api.celery_app import create_celery_app
from scrapersky.api.server import Server
from scrapersky.cli.up import a_listener
from scrapersky.cli.worker import ports_of
from scrapersky.compat.prometheus import forget_gauges, share_figures
from scrapersky.db.connection import Target, parse_target
from scrapersky.errors import ConfigurationError, ScraperSkyError
from scrapersky.observability.shared_metrics import SharedMetrics
from scrapersky.settings import Settings, address_of

RETRY_SECONDS: Final = 5.0
"""Seconds until a parent without a database tries again to say how it stands."""

log = structlog.get_logger(__name__)


class CeleryStatus:
    """Where Celery's parent process says how it and its children stand.

    It takes its port before it starts them, so that each knows the address, and answers
    from a thread of its own once they are there.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self.address: str | None = None
        self._open = ExitStack()
        self._owner = 0
        self._folder = Path()
        self._listener: socket.socket | None = None
        self._ending = threading.Event()
        self._thread: threading.Thread | None = None
        self._server: Server | None = None

    def open(self, **_signal: object) -> None:
        """Take a port, and a folder for what the children count."""
        given = self._settings
        if not given.celery_status_enabled:
            return
        try:
            listener = self._open.enter_context(
                a_listener(given.worker_host, *ports_of(given), setting="WORKER_PORT")
            )
        except ConfigurationError as error:
            # Celery logs any other error of a listener to its signals, and goes on.
            raise SystemExit(f"{error}\n{error.hint}") from error
        self._listener, self._owner = listener, os.getpid()
        port = listener.getsockname()[1]
        self.address = address_of(given.worker_host, port)
        self._folder = Path(mkdtemp(prefix="scrapersky-"))
        self._open.callback(shutil.rmtree, self._folder, ignore_errors=True)
        share_figures(self._folder, place)

    def join(self, **_signal: object) -> None:
        """Be a child: leave the port to the parent, and begin with no state of oneself."""
        if self._listener is None or os.getpid() == self._owner:
            return
        self._listener.close()
        forget_gauges(self._folder, place())

    def leave(self, **_signal: object) -> None:
        """Be a child that ends: what it said of itself ends with it."""
        if self._listener is not None and os.getpid() != self._owner:
            forget_gauges(self._folder, place())

    def serve(self, sender: Any = None, **_signal: object) -> None:  # noqa: ANN401 - Celery's
        """Begin to answer; `sender` is what Celery consumes messages with."""
        if self._listener is None:
            return
        self._thread = threading.Thread(
            target=self._live, args=(self._listener, sender), name="status", daemon=True
        )
        self._thread.start()
        log.info("celery.status", address=self.address)

    def close(self, **_signal: object) -> None:
        """Answer no more, and give everything back."""
        self._ending.set()
        if self._server is not None:
            self._server.should_exit = True
        if self._thread is not None:
            self._thread.join(self._settings.shutdown_grace_seconds)
        self._open.close()

    def _live(self, listener: socket.socket, consumer: Any) -> None:  # noqa: ANN401
        given, metrics = self._settings, SharedMetrics(self._folder)
        port = listener.getsockname()[1]

        def has_broker() -> bool:
            connection = consumer.connection
            return connection is not None and bool(connection.connected)

        while not self._ending.is_set():
            try:
                target = target_of(given)
                app = create_celery_app(
                    given, target, metrics, port=port, has_broker=has_broker
                )
                self._server = Server(app, grace=given.shutdown_grace_seconds)
                # The server closes what it is given, and may be started again.
                self._server.run(sockets=[listener.dup()])
            except (ScraperSkyError, SQLAlchemyError, OSError) as error:
                log.warning("celery.status_not_served", error=str(error))
                self._ending.wait(RETRY_SECONDS)


def place() -> str:
    """Name the place of this process in Celery's pool; two that live at once differ."""
    return str(getattr(current_process(), "index", "parent"))


def target_of(given: Settings) -> Target:
    """Return the database that all hosts share."""
    if given.database_url is None:
        raise ConfigurationError(
            "Celery's workers have no database.",
            hint="Set DATABASE_URL: every host needs the same one.",
        )
    return parse_target(given.database_url.get_secret_value(), pooler=given.pooler)
