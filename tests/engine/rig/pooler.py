"""PgBouncer in transaction mode in front of a cluster."""

import contextlib
import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass

import psycopg

from tests.engine.rig.cluster import NOBODY, Cluster
from tests.engine.rig.port import free_port
from tests.engine.rig.program import needed

CONFIGURATION = """
[databases]
* = host={socket} port={port} user=postgres
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
    """Yield PgBouncer in transaction mode with `size` server connections."""
    program = needed("pgbouncer", package="pgbouncer")
    home = cluster.home / "pgbouncer"
    home.mkdir(exist_ok=True)
    own = free_port()
    settings = home / "pgbouncer.ini"
    settings.write_text(
        CONFIGURATION.format(
            socket=cluster.home, port=cluster.port, own=own, size=size, home=home
        )
    )
    command = [program, str(settings)]
    if os.geteuid() == 0:
        for path in (home, settings):
            os.chown(path, NOBODY, NOBODY)
        command[1:1] = ["-u", "nobody"]
    process = subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
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
