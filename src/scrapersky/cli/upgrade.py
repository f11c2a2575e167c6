"""`scrapersky upgrade`."""

import shutil
from collections.abc import Iterator
from dataclasses import asdict

import orjson
from sqlalchemy.exc import DBAPIError

from scrapersky.cli.database import a_database
from scrapersky.cli.migrate import migrate
from scrapersky.cli.options import AsJson
from scrapersky.cli.signals import raised_signals, run_stoppable
from scrapersky.configuration import load_settings
from scrapersky.db.connection import Target, check_server, connect
from scrapersky.db.revision import current_revision, is_newer, revisions
from scrapersky.db.trial import (
    MOMENT_SECONDS,
    MissingRevision,
    TableEffect,
    describe,
    is_forbidden,
    try_revisions,
)
from scrapersky.settings import Settings

NOT_TRIED = (
    "What they take could not be tried: this user may not make a schema. "
    "Let an administrator run GRANT CREATE ON DATABASE ... TO its owner."
)


def upgrade(*, check: bool = False, json: AsJson = False) -> int:
    """Report what migrating would do (`--check`), or do it.

    Which revisions are missing, which tables they touch and how large those are, and the free disk.
    `--check` changes nothing and exits with 1 if something is missing.

    Parameters
    ----------
    check
        Print what would change and change nothing; exits with 1 if anything would.
    """
    if not check:
        migrate(json=json)
        return 0
    settings = load_settings().settings
    with raised_signals(), a_database(settings) as target:
        revision, steps, is_tried = run_stoppable(missing(target))
        show(revision, steps, settings, is_tried=is_tried, as_json=json)
    return 1 if steps else 0


async def missing(target: Target) -> tuple[str | None, list[MissingRevision], bool]:
    """Return where the database is, what is missing, and whether that could be tried."""
    engine = connect(
        target, name="scrapersky-upgrade", pool_size=1, statement_timeout=None
    )
    try:
        await check_server(engine)
        async with engine.connect() as connection:
            revision = await connection.run_sync(current_revision)
            known = revisions()
            if is_newer(revision):
                return revision, [], True
            applied = 0 if revision is None else known.index(revision) + 1
            lacking = known[applied:]
            if revision is None or not lacking:
                return revision, [describe(one) for one in lacking], True
            try:
                steps = await connection.run_sync(try_revisions, lacking)
            except DBAPIError as error:
                if not is_forbidden(error):
                    raise
                return revision, [describe(one) for one in lacking], False
            return revision, steps, True
    finally:
        await engine.dispose()


def show(
    revision: str | None,
    steps: list[MissingRevision],
    settings: Settings,
    *,
    is_tried: bool,
    as_json: bool,
) -> None:
    """Print what would change."""
    free = None
    if settings.database_url is None:
        free = shutil.disk_usage(settings.data_dir).free
    if as_json:
        found = {
            "revision": revision,
            "newest": revisions()[-1],
            "steps": [asdict(one) for one in steps],
            "is_tried": is_tried,
            "seconds": sum(one.seconds for one in steps),
            "needed_bytes": sum(one.disk for one in steps),
            "free_bytes": free,
        }
        print(orjson.dumps(found).decode())
        return
    for line in written(revision, steps, free, is_tried=is_tried):
        print(line)


def written(
    revision: str | None,
    steps: list[MissingRevision],
    free: int | None,
    *,
    is_tried: bool,
) -> Iterator[str]:
    """Write down what would change."""
    if not steps:
        yield f"Nothing to do: the database is at {revision}."
        return
    yield f"The database is at {revision or 'nothing'}; `scrapersky migrate` would apply:"
    for one in steps:
        yield f"  {one.revision}: {one.does}"
        for touched in one.touches:
            size = f"{touched.rows:,} rows, {mebibytes(touched.bytes)}"
            yield f"    {touched.table} ({size}): {worded(touched)}"
    if revision is None:
        yield "All in one transaction: the database is empty."
    elif not is_tried:
        yield NOT_TRIED
    else:
        seconds = sum(one.seconds for one in steps)
        disk = sum(one.disk for one in steps)
        yield (
            f"About {seconds:,.0f} s in all, step by step while others work, and "
            f"{mebibytes(disk)} more disk (tried on samples, on this server, now)."
        )
        yield from warnings(steps)
    if free is None:
        yield "How much disk the server has free cannot be seen from here."
    else:
        yield f"{free / 1024**3:.1f} GiB are free."


def worded(touched: TableEffect) -> str:
    """Say what happens to a table, for how long, and who waits."""
    parts = [touched.effect]
    if touched.lock:
        for_long = (
            "a moment"
            if touched.locked < MOMENT_SECONDS
            else f"{touched.locked:,.0f} s"
        )
        parts.append(f"locked ({touched.lock}) for {for_long}")
    if touched.seconds >= MOMENT_SECONDS:
        parts.append(f"about {touched.seconds:,.0f} s")
    if touched.disk >= 1024**2:
        parts.append(f"{mebibytes(touched.disk)} more")
    return ", ".join(parts)


def warnings(steps: list[MissingRevision]) -> Iterator[str]:
    """Name the steps during which others would have to wait."""
    for one in steps:
        for touched in one.touches:
            if touched.locked >= MOMENT_SECONDS:
                yield (
                    f"WARNING: {one.revision} locks {touched.table} for about "
                    f"{touched.locked:,.0f} s."
                )


def mebibytes(size: int) -> str:
    """Write a size."""
    return f"{size / 1024**2:,.1f} MiB"
