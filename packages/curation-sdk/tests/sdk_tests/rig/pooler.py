"""PgBouncer in transaction mode in front of a cluster."""

import contextlib
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg

from sdk_tests.rig.cluster import NOBODY, Cluster
from sdk_tests.rig.port import free_port
from sdk_tests.rig.program import needed

CONFIGURATION = """
[databases]
* = host={socket} port={port} user={role}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {own}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = {size}
max_client_conn = 500
server_reset_query =
ignore_startup_parameters = extra_float_digits
logfile = {home}/pgbouncer.log
pidfile = {home}/pgbouncer.pid
"""


@dataclass(frozen=True, slots=True)
class Pooler:
    """A running PgBouncer."""

    port: int

    def dsn(self, database: str) -> str:
        """Return the pooled address, as libpq and asyncpg read it."""
        return f"postgresql://postgres@127.0.0.1:{self.port}/{database}"

    def url(self, database: str) -> str:
        """Return the pooled address, as SQLAlchemy reads it."""
        return f"postgresql+asyncpg://postgres@127.0.0.1:{self.port}/{database}"


@contextlib.contextmanager
def running_pooler(cluster: Cluster, *, size: int = 5) -> Iterator[Pooler]:
    """Yield PgBouncer in transaction mode before a cluster of the rig."""
    place = {"socket": str(cluster.home), "port": cluster.port, "role": "postgres"}
    with pooler_before(place, owner=(NOBODY, NOBODY), size=size) as pooler:
        yield pooler


@contextlib.contextmanager
def pooler_before(
    place: dict[str, Any], *, owner: tuple[int, int], size: int
) -> Iterator[Pooler]:
    """Yield PgBouncer with `size` connections to the server behind a unix socket."""
    program = needed("pgbouncer", package="pgbouncer")
    home = Path(tempfile.mkdtemp(prefix="scrapersky-pgbouncer-", dir="/tmp"))
    own = free_port()
    settings = home / "pgbouncer.ini"
    settings.write_text(CONFIGURATION.format(own=own, size=size, home=home, **place))
    identity: dict[str, Any] = {}
    if os.geteuid() == 0:
        # It refuses to run as root, and must be let into the server's directory.
        identity = {"user": owner[0], "group": owner[1], "extra_groups": []}
        for path in (home, settings):
            os.chown(path, *owner)
    process = subprocess.Popen(
        [program, str(settings)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        **identity,
    )
    pooler = Pooler(own)
    try:
        _wait_for(pooler, process)
        yield pooler
    finally:
        process.terminate()
        process.wait(timeout=10)
        shutil.rmtree(home, ignore_errors=True)


def _wait_for(pooler: Pooler, process: "subprocess.Popen[bytes]") -> None:
    deadline = time.monotonic() + 10
    while True:
        with contextlib.suppress(psycopg.OperationalError):
            psycopg.connect(pooler.dsn("postgres"), prepare_threshold=None).close()
            return
        if process.poll() is not None or time.monotonic() > deadline:
            raise RuntimeError("pgbouncer did not start")
        time.sleep(0.05)
