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
from pathlib import Path
from threading import Thread
from types import ModuleType

import orjson

from scrapersky.api.auth.secret import refuse_unsafe
from scrapersky.cli.database import a_database
from scrapersky.cli.garbage import without_collector
from scrapersky.cli.signals import stop_on_signals
from scrapersky.db.embedded import lock_file, make_home, server_user
from scrapersky.errors import AlreadyRunning, ConfigurationError
from scrapersky.observability.log import configure_logs
from scrapersky.settings import Settings, load_settings

SERVING = "scrapersky.cli.serving"


def up() -> None:
    """Start database and application, and serve until asked to stop."""
    started = time.monotonic()
    loaded = load_settings()
    settings = loaded.settings
    refuse_unsafe(settings)
    configure_logs(settings.log_level, settings.log_format, settings.levels_by_logger)
    for warning in loaded.warnings:
        say(f"Warning: {warning}")
    address = f"http://{host_in_url(settings.host)}:{settings.port}"
    with (
        stop_on_signals(),
        the_only_one(settings, address),
        a_listener(settings.host, settings.port) as listener,
        nullcontext(load_application()) as application,
        a_database(settings, say) as target,
    ):
        serving = application.result()
        serving.open_house(target, settings, say)
        say(f"ScraperSky is running at {address} "
            f"({time.monotonic() - started:.1f} s). Ctrl-C stops it.")  # fmt: skip
        serving.serve(settings, target, listener)
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


def say(step: str) -> None:
    """Tell the person at the terminal what happens."""
    print(step, file=sys.stderr, flush=True)


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


def host_in_url(host: str) -> str:
    """Write an address the way a URL needs it."""
    return f"[{host}]" if ":" in host else host
