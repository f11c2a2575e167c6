"""`scrapersky up`."""

import errno
import fcntl
import os
import socket
import sys
import time
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager, nullcontext
from importlib import import_module
from ipaddress import ip_address
from pathlib import Path
from threading import Thread
from types import ModuleType
from typing import Annotated, NamedTuple

import orjson
from cyclopts import Parameter
from cyclopts.validators import Number

from scrapersky.api.auth.secret import refuse_unsafe
from scrapersky.cli.database import a_database
from scrapersky.cli.garbage import without_collector
from scrapersky.cli.signals import stop_on_signals
from scrapersky.cli.worker_processes import WorkerProcesses
from scrapersky.configuration import load_settings
from scrapersky.db.connection import Target
from scrapersky.db.embedded import lock_file, make_home, server_user
from scrapersky.errors import AlreadyRunning, ConfigurationError
from scrapersky.observability.log import configure_logs
from scrapersky.settings import Settings

SERVING = "scrapersky.cli.serving"
LINUX = hasattr(os, "sched_getaffinity")


def up(
    *, workers: Annotated[int | None, Parameter(validator=Number(gte=0))] = None
) -> None:
    """Start everything on this machine.

    The embedded PostgreSQL is created on the first start, under your data directory or
    `SCRAPERSKY_DATA_DIR`; `DATABASE_URL` selects another. Migrations are applied, the
    application listens on `HOST`:`PORT` (127.0.0.1:8000). Ctrl-C stops all of it.
    The stages are worked in a process of their own where there are two cores or more.

    Parameters
    ----------
    workers
        How many processes work the stages: up to as many as there are cores. With 0 the
        process that serves the application works them, too.
    """
    count = usual_workers() if workers is None else workers
    with an_application() as ready:
        beside = None
        if count:
            grace, port = (
                ready.settings.shutdown_grace_seconds,
                ready.settings.worker_port,
            )
            beside = WorkerProcesses(count, say, grace=grace, port=port)
        ready.serving.up(ready.settings, ready.target, ready.listener, beside)


def serve() -> None:
    """Serve the API and the page, without the stages.

    For a fleet: the stages run in `scrapersky worker`, here or on other hosts, on the database that
    `DATABASE_URL` names. Restarting one disturbs no work in the other.
    """
    with an_application() as ready:
        ready.serving.serve(ready.settings, ready.target, ready.listener)


def usual_workers() -> int:
    """Return how many processes work the stages beside the API on this machine."""
    cores = len(os.sched_getaffinity(0)) if LINUX else os.cpu_count() or 1
    return 1 if cores > 1 else 0


class ReadyApplication(NamedTuple):
    """What an application is served with."""

    settings: Settings
    target: Target
    listener: socket.socket
    serving: ModuleType


@contextmanager
def an_application() -> Iterator[ReadyApplication]:
    """Make all that an application needs ready, until it is asked to stop."""
    started = time.monotonic()
    loaded = load_settings()
    settings = loaded.settings
    refuse_unsafe(settings)
    configure_logs(
        settings.log_level,
        settings.log_format,
        settings.levels_by_logger,
        idle_runs=settings.log_idle_runs,
    )
    for warning in (*loaded.warnings, *open_warnings(settings)):
        say(f"Warning: {warning}")
    address = settings.address
    with (
        stop_on_signals(),
        the_only_one(settings, address),
        a_listener(settings.host, settings.port) as listener,
        nullcontext(load_application()) as application,
        a_database(settings, say, supervise=True) as target,
    ):
        serving = application.result()
        serving.prepare_to_serve(target, settings, say)
        say(f"ScraperSky is running at {address} "
            f"({time.monotonic() - started:.1f} s). Ctrl-C stops it.")  # fmt: skip
        yield ReadyApplication(settings, target, listener, serving)
    say("Stopped.")


def load_application() -> "Future[ModuleType]":
    """Load the application while PostgreSQL starts: each takes a second by itself.

    Nothing of it is loaded before, so that a wrong setting, a taken port and a directory
    in use are said at once; and nobody waits for it who has nothing to serve.
    """
    found: Future[ModuleType] = Future()

    def load() -> None:
        try:
            with without_collector():
                found.set_result(import_module(SERVING))
        except BaseException as error:  # noqa: BLE001 - raised where the result is asked for
            found.set_exception(error)

    Thread(target=load, name="application", daemon=True).start()
    return found


def open_warnings(settings: Settings) -> Iterator[str]:
    """Say when passwords and keys would travel in the open."""
    if not is_loopback(settings.host) and not settings.trusted_proxies:
        yield (
            f"HOST={settings.host} is reached by others over plain HTTP. Put a proxy with "
            "TLS before it, and name it in TRUSTED_PROXIES."
        )


def is_loopback(host: str) -> bool:
    """Say whether only this machine reaches an address."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def say(step: str) -> None:
    """Print what happens for the person at the terminal."""
    print(step, file=sys.stderr, flush=True)


@contextmanager
def a_listener(
    host: str, *ports: int, setting: str = "PORT"
) -> Iterator[socket.socket]:
    """Take the first free port before anything slow is started, or say who has it."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        for port in ports:
            try:
                listener.bind((host, port))
                listener.listen(1024)
            except OSError as error:
                if error.errno == errno.EADDRINUSE and port != ports[-1]:
                    continue
                raise explain_bind(error, host, port, setting) from error
            break
        yield listener


def explain_bind(
    error: OSError, host: str, port: int, setting: str
) -> ConfigurationError:
    """Say why the address cannot be listened on."""
    if error.errno == errno.EADDRINUSE:
        return ConfigurationError(
            f"Port {port} on {host} is taken by another program.",
            hint=f"Stop that program, or choose another port: {setting}={port + 1}",
        )
    if error.errno in {errno.EACCES, errno.EPERM}:
        return ConfigurationError(
            f"Port {port} needs rights this user does not have.",
            hint=f"Choose a port above 1023, for example {setting}=8000",
        )
    name = "--host" if setting == "--port" else setting.removesuffix("PORT") + "HOST"
    return ConfigurationError(
        f"{name}={host} cannot be listened on: {error.strerror or error}.",
        hint=f"Use {name}=127.0.0.1 for this machine only.",
    )


@contextmanager
def the_only_one(settings: Settings, address: str) -> Iterator[None]:
    """Hold the data directory for this process, or say who serves it already."""
    if settings.database_url is not None:
        yield
        return
    make_home(settings.data_dir, server_user())
    path = settings.data_dir / "up.lock"
    with lock_file(path) as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise AlreadyRunning(
                f"ScraperSky already runs on the data directory {settings.data_dir}"
                f"{described(path)}.",
                hint="Use that one, stop it first, or choose another directory with "
                "SCRAPERSKY_DATA_DIR (and another PORT).",
            ) from None
        lock.truncate(0)
        lock.write(orjson.dumps({"pid": os.getpid(), "address": address}).decode())
        lock.flush()
        yield


def described(path: Path) -> str:
    """Say which process holds the lock, if it has written that down by now."""
    try:
        holder = orjson.loads(path.read_text(encoding="utf-8"))
        return f" (process {holder['pid']}, {holder['address']})"
    except (OSError, ValueError, KeyError):
        return ""
