"""`scrapersky up`."""

import asyncio
import errno
import fcntl
import os
import socket
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path

import orjson
import uvicorn
from sqlalchemy.ext.asyncio import AsyncEngine

from scrapersky.api.app import create_app
from scrapersky.api.gateway.access import refuse_open_house
from scrapersky.api.gateway.secret import refuse_unsafe
from scrapersky.api.server import Server
from scrapersky.cli.database import a_database
from scrapersky.cli.signals import stop_on_signals
from scrapersky.db.connection import Target, check_server, connect
from scrapersky.db.embedded import make_home, server_user
from scrapersky.db.revision import is_up_to_date
from scrapersky.errors import AlreadyRunning, ConfigurationError
from scrapersky.models.check import check_database
from scrapersky.observability.log import configure_logs
from scrapersky.settings import Settings, load_settings


def up() -> None:
    """Start database and application, and serve until asked to stop."""
    started = time.monotonic()
    loaded = load_settings()
    settings = loaded.settings
    refuse_unsafe(settings)
    configure_logs(settings.log_level, settings.log_format)
    for warning in loaded.warnings:
        say(f"Warning: {warning}")
    address = f"http://{host_in_url(settings.host)}:{settings.port}"
    with (
        stop_on_signals(),
        the_only_one(settings, address),
        a_listener(settings.host, settings.port) as listener,
        a_database(settings, say) as target,
    ):
        asyncio.run(prepare(target, settings, say))
        asyncio.run(check_door(target, settings))
        say(f"ScraperSky is running at {address} "
            f"({time.monotonic() - started:.1f} s). Ctrl-C stops it.")  # fmt: skip
        serve(settings, target, listener)
    say("Stopped.")


def say(step: str) -> None:
    """Tell the person at the terminal what happens."""
    print(step, file=sys.stderr, flush=True)


async def prepare(
    target: Target, settings: Settings, report: Callable[[str], None]
) -> None:
    """Check the server, apply what is missing, check the schema."""
    engine = connect(target, name="scrapersky-start", pool_size=1, patience=None)
    try:
        await check_server(engine)
        async with engine.connect() as connection:
            is_current = await connection.run_sync(is_up_to_date)
        if not is_current:
            report("Updating the database")
            report(f"Updated the database: {', '.join(await upgrade(engine))}")
        await check_database(engine, settings.scheduler_system_user_id)
    finally:
        await engine.dispose()


async def check_door(target: Target, settings: Settings) -> None:
    """Refuse to open where nobody could come in, before anything listens."""
    engine = connect(target, name="scrapersky-start", pool_size=1)
    try:
        await refuse_open_house(settings, engine)
    finally:
        await engine.dispose()


async def upgrade(engine: AsyncEngine) -> tuple[str, ...]:
    """Apply what is missing; what does that is loaded only when it is needed."""
    migrate = import_module("scrapersky.db.migrate")
    applied: tuple[str, ...] = await migrate.upgrade(engine)
    return applied


def serve(settings: Settings, target: Target, listener: socket.socket) -> None:
    """Serve until asked to stop; streams still open then get a moment to end."""
    config = uvicorn.Config(
        create_app(settings, target),
        log_config=None,
        access_log=False,
        http="httptools",
        lifespan="on",
        loop="asyncio",  # what everything is tested on, whatever else is installed
        server_header=False,
        # Whom to believe about where a request comes from is our own setting.
        proxy_headers=False,
        timeout_graceful_shutdown=settings.shutdown_grace_seconds,
    )
    Server(config).run(sockets=[listener])


@contextmanager
def a_listener(host: str, port: int) -> Iterator[socket.socket]:
    """Take the port before anything slow is started, or say who has it."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((host, port))
        except OSError as error:
            raise explain_bind(error, host, port) from error
        listener.listen(1024)
        yield listener


def explain_bind(error: OSError, host: str, port: int) -> ConfigurationError:
    """Say why the address cannot be listened on."""
    if error.errno == errno.EADDRINUSE:
        return ConfigurationError(
            f"Port {port} on {host} is taken by another program.",
            hint=f"Stop that program, or choose another port: PORT={port + 1}",
        )
    if error.errno in {errno.EACCES, errno.EPERM}:
        return ConfigurationError(
            f"Port {port} needs rights this user does not have.",
            hint="Choose a port above 1023, for example PORT=8000",
        )
    return ConfigurationError(
        f"HOST={host} cannot be listened on: {error.strerror or error}.",
        hint="Use HOST=127.0.0.1 for this machine only.",
    )


@contextmanager
def the_only_one(settings: Settings, address: str) -> Iterator[None]:
    """Hold the data directory for this process, or say who serves it already."""
    if settings.database_url is not None:
        yield
        return
    make_home(settings.data_dir, server_user())
    path = settings.data_dir / "up.lock"
    with path.open("a+", encoding="utf-8") as lock:
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


def host_in_url(host: str) -> str:
    """Write an address the way a URL needs it."""
    return f"[{host}]" if ":" in host else host
