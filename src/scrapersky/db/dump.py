"""Copy a database out and in with PostgreSQL's own programs, which the wheel brings.

A dump is one snapshot: what is written meanwhile is in it whole or not at all. It is put back
in one transaction: a failure leaves the database as it was.
"""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Final

from scrapersky.db.connection import Target
from scrapersky.db.embedded import wheel_directory
from scrapersky.errors import BackupUnusable

LIBPQ: Final = {
    "host": "PGHOST",
    "sslmode": "PGSSLMODE",
    "sslrootcert": "PGSSLROOTCERT",
}
HEAD: Final = b"COPY "
"""Where the definitions end and the rows begin."""
NOT_FOR_ALL: Final = (b"SET transaction_timeout", b"COMMENT ON EXTENSION")
"""What older servers do not know, or only a superuser may."""


def dump(target: Target, path: Path, *, without_rows_of: Iterable[str] = ()) -> None:
    """Write a snapshot of a database into a file."""
    left_out = [f"--exclude-table-data={table}" for table in without_rows_of]
    command = ["pg_dump", "--format=custom", "--no-owner", "--file", str(path)]
    with tempfile.TemporaryFile() as said:
        done = subprocess.run(
            arguments(command, *left_out),
            env=environment(target),
            stdin=subprocess.DEVNULL,
            stderr=said,
            check=False,
        )
        if done.returncode:
            raise failed("The backup could not be made", said, target)


def load(target: Target, path: Path, *, first: Sequence[str], leakproof: bool) -> None:
    """Put a snapshot into a database, after these statements and all in one transaction.

    Only a superuser may make functions `leakproof`; others get them without.
    """
    with (
        tempfile.TemporaryFile() as said,
        subprocess.Popen(
            arguments(["pg_restore", "--no-owner", "--file", "-", str(path)]),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=said,
        ) as reading,
        subprocess.Popen(
            arguments(
                ["psql", "--no-psqlrc", "--quiet", "--single-transaction", "--file=-"]
            ),
            env={**environment(target), "PGOPTIONS": "-c client_min_messages=warning"},
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=said,
        ) as writing,
    ):
        assert reading.stdout is not None  # noqa: S101 - for the type checker
        assert writing.stdin is not None  # noqa: S101
        try:
            writing.stdin.write(b"\\set ON_ERROR_STOP on\n")
            writing.stdin.write("".join(f"{one};\n" for one in first).encode())
            pass_on(reading.stdout, writing.stdin, leakproof=leakproof)
            if reading.wait():
                # Without its end the transaction is rolled back.
                writing.kill()
            writing.stdin.close()
        except BrokenPipeError:
            # It has ended, and said why.
            reading.kill()
            with suppress(BrokenPipeError):
                writing.stdin.close()
        if writing.wait() or reading.wait():
            raise failed("The backup could not be restored", said, target)


def pass_on(source: IO[bytes], sink: IO[bytes], *, leakproof: bool) -> None:
    """Hand the statements on, without those that not every server takes."""
    for line in source:
        if line.startswith(HEAD):
            sink.write(line)
            break
        if line.startswith(NOT_FOR_ALL):
            continue
        if not leakproof and line.startswith(b"    LANGUAGE "):
            line = line.replace(b" LEAKPROOF", b"")  # noqa: PLW2901
        sink.write(line)
    shutil.copyfileobj(source, sink)


def arguments(command: Sequence[str], *more: str) -> list[str]:
    """Name a program of the wheel by its path."""
    name, *rest = command
    return [str(wheel_directory() / "pginstall" / "bin" / name), *rest, *more]


def environment(target: Target) -> dict[str, str]:
    """Say where a database is: not as arguments, which everyone on the machine can read."""
    url = target.url
    found = {
        "PGHOST": url.host or "",
        "PGPORT": str(url.port or ""),
        "PGUSER": url.username or "",
        "PGPASSWORD": str(url.password or ""),
        "PGDATABASE": url.database or "",
        "PGCONNECT_TIMEOUT": "10",
    }
    for name, variable in LIBPQ.items():
        if isinstance(value := url.query.get(name), str):
            found[variable] = value
    kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    return kept | {name: value for name, value in found.items() if value}


def failed(what: str, said: IO[bytes], target: Target) -> BackupUnusable:
    """Say what PostgreSQL's program said."""
    said.seek(0)
    words = said.read().decode(errors="replace")
    if "server version mismatch" in words:
        return BackupUnusable(
            f"{what}: the server at {target} is newer than the programs that ScraperSky "
            "brings.",
            hint="Update ScraperSky, or use the pg_dump of that server.",
        )
    lines = [line for line in words.splitlines() if line.strip()]
    reason = next((one for one in lines if "ERROR" in one or "error:" in one), None)
    return BackupUnusable(f"{what}: {reason or (lines or ['no reason was given'])[-1]}")
