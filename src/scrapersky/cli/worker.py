"""`scrapersky worker`."""

from collections.abc import Callable, Sequence
from typing import Final

from scrapersky.api.server import Server
from scrapersky.api.worker_app import create_worker_app
from scrapersky.cli.database import a_database
from scrapersky.cli.garbage import without_collector
from scrapersky.cli.signals import run_stoppable, stop_on_signals
from scrapersky.cli.up import a_listener, say
from scrapersky.cli.worker_processes import end_with, lower_priority
from scrapersky.configuration import load_settings
from scrapersky.db.embedded import ignore
from scrapersky.observability.log import configure_logs
from scrapersky.scheduler.background import Background
from scrapersky.scheduler.prepare import prepare
from scrapersky.settings import Settings, address_of

PORTS: Final = range(8001, 8101)
"""Where a worker that was given no port looks for a free one."""


def worker(*, beside: int | None = None) -> None:
    """Run the stages and the scheduler, without the application.

    As many as you like, on any number of hosts: they share the work through the database that
    `DATABASE_URL` names. Ctrl-C finishes what is in hand and hands the rest back. How it stands is
    served at `WORKER_HOST`:`WORKER_PORT` (`/metrics`, `/health/live`, `/health/ready`).

    Parameters
    ----------
    beside
        The process that started this one, with which it ends; `up --workers` gives it.
    """
    report: Callable[[str], None] = say
    if beside is not None:
        end_with(beside)
        lower_priority()
        report = ignore  # who started it has said all that a person needs
    loaded = load_settings()
    settings = loaded.settings
    configure_logs(
        settings.log_level,
        settings.log_format,
        settings.levels_by_logger,
        idle_runs=settings.log_idle_runs,
    )
    for warning in loaded.warnings:
        report(f"Warning: {warning}")
    with (
        stop_on_signals(),
        a_listener(
            settings.worker_host, *ports_of(settings), setting="WORKER_PORT"
        ) as listener,
        a_database(settings, report, supervise=True) as target,
    ):
        port = listener.getsockname()[1]

        def started(background: Background) -> None:
            report(
                f"Worker {background.presence.name} is running, and says how it stands "
                f"at {address_of(settings.worker_host, port)}. Ctrl-C stops it."
            )

        run_stoppable(prepare(target, settings, report))
        with without_collector():
            app = create_worker_app(settings, target, port=port, started=started)
        Server(app, grace=settings.shutdown_grace_seconds).run(sockets=[listener])
    report("Stopped.")


def ports_of(settings: Settings) -> Sequence[int]:
    """Return the port that was asked for, or those to look for a free one in."""
    return PORTS if settings.worker_port is None else (settings.worker_port,)
