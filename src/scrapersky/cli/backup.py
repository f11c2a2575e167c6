"""`scrapersky backup`, `restore` and `move`."""

import gzip
import secrets
import shutil
from collections.abc import Callable, Mapping
from importlib.metadata import version
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import IO, Final

import asyncpg
from alembic import command
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from scrapersky.cli.archive import (
    CHUNK_BYTES,
    COMPRESSION_LEVEL,
    IMPORTS,
    TABLES,
    ArchiveWriter,
    BackupContents,
    BackupOrigin,
    Manifest,
    new_archive,
)
from scrapersky.cli.database import a_database
from scrapersky.cli.opening import opened
from scrapersky.cli.operator import note_operation
from scrapersky.cli.options import AsJson
from scrapersky.cli.roles import tables as tables_for_readers
from scrapersky.cli.signals import raised_signals, run_stoppable
from scrapersky.cli.signing_key import key_file, make_signing_key, signing_key
from scrapersky.cli.table import print_done, print_json
from scrapersky.cli.up import say
from scrapersky.configuration import load_settings
from scrapersky.db import migrate
from scrapersky.db.connection import Target, check_server, connect, parse_target
from scrapersky.db.migrations.row_security import MAKE_ROLE
from scrapersky.db.revision import current_revision
from scrapersky.db.roles import rights_granted
from scrapersky.db.rows import (
    begin_reading,
    load_rows,
    read_sequences,
    reason_of,
    tables_of,
    write_rows,
)
from scrapersky.db.schema import check_schema
from scrapersky.errors import BackupUnusable, ConfigurationError, SchemaMismatch
from scrapersky.kit.clock import utc_now
from scrapersky.privacy.key import fingerprint, given_keys, load_suppression_keys
from scrapersky.privacy.reapply import erase_again, read_snapshot, restore_entries
from scrapersky.records import METADATA
from scrapersky.records.change import continue_numbering
from scrapersky.records.check import try_write
from scrapersky.scheduler.presence import live_processes
from scrapersky.settings import Settings

NOT_KEPT: Final = (
    "public.processes",
    "public.login_sessions",
    "public.idempotency_keys",
    "public.page_contents",
    "public.snapshot_usage",
)
"""What is over when a database is restored: who runs, who is logged in, whose answers wait.

Nor are the bytes of pages in a backup: they are the larger part of a database, name people who
may be erased meanwhile, and are there again with the next visit.
"""
FOREIGN = text("""SELECT schemaname || '.' || tablename FROM pg_tables
  WHERE schemaname IN ('public', 'curation') ORDER BY 1""")
OURS: Final = {
    f"{table.schema or 'public'}.{table.name}"
    for metadata in METADATA
    for table in metadata.sorted_tables
} | {"public.alembic_version"}
OWNER = text("""SELECT current_user, pg_get_userbyid(relowner) FROM pg_class
  WHERE oid = to_regclass('public.alembic_version')""")
NOT_ALLOWED: Final = "42501"
CLEAR: Final = (
    "DROP SCHEMA IF EXISTS curation CASCADE",
    "DROP SCHEMA public CASCADE",
    "CREATE SCHEMA public",
)


def backup(file: Path, *, json: AsJson = False) -> None:
    """Write the whole database and the files to import into one file, while everything goes on.

    It is one snapshot, signed with the key of this installation. `SUPPRESSION_KEY` is not in
    it, and neither are logins.

    Parameters
    ----------
    file
        Where to; one that is there is replaced once the new one is whole.
    """
    settings = load_settings().settings
    key, is_new = make_signing_key(settings)
    with raised_signals(), a_database(settings) as target:
        manifest = run_stoppable(save(target, settings, file, key))
    size = file.stat().st_size / 1024**2
    if json:
        print_json(
            {
                "file": file,
                "bytes": file.stat().st_size,
                "revision": manifest.revision,
                "new_key": key_file(settings) if is_new else None,
                "keys_elsewhere": manifest.keys_elsewhere,
            }
        )
        return
    print(f"{file}: {size:.1f} MiB, revision {manifest.revision}.")
    if is_new:
        print(
            f"Backups are signed from now on; the key is {key_file(settings)}. Keep a copy "
            "elsewhere: a restore on another machine needs it."
        )
    if manifest.keys_elsewhere:
        print("It does not hold SUPPRESSION_KEY: keep that safe elsewhere.")


def restore(
    file: Path, *, replace: bool = False, trust: bool = False, json: AsJson = False
) -> None:
    """Put a backup into the database that the settings name.

    All of it or nothing. Processes must be stopped; what was erased since the backup is
    erased again. A backup that was not signed with the key of this installation is refused.

    Parameters
    ----------
    file
        The backup.
    replace
        Replace what is in the database. What was erased since the backup is erased again.
    trust
        Restore a backup that is not signed, or with another key. Nothing in it can run a
        program, but whoever made it decides what the database holds and who may log in.
    """
    settings = load_settings().settings
    key = signing_key(settings)
    with (
        raised_signals(),
        opened(file, key, trust=trust, report=say) as contents,
        a_database(settings, say) as target,
    ):
        again = run_stoppable(bring_back(target, settings, contents, replace=replace))
        put_files(contents.files, settings.data_dir / IMPORTS)
        saved = contents.about.made_at.isoformat()
        facts = {"made_at": saved, "erased_again": again}
        print_done(f"Restored what was saved {saved}.", facts, as_json=json)
        if again and not json:
            print(f"{again} values that were erased since are erased again.")


def move(url: str, *, replace: bool = False, json: AsJson = False) -> None:
    """Copy the whole database to another PostgreSQL, such as from the embedded one to a server.

    `scrapersky move postgresql://user:password@host/scrapersky` in one step; the old one stays.

    Parameters
    ----------
    url
        Where to: postgresql://user:password@host/database, empty.
    replace
        Replace what ScraperSky has in that database, such as an earlier copy.
    """
    settings = load_settings().settings
    there = parse_target(url)
    if there.behind_pooler:
        raise ConfigurationError(
            "A database is not copied through a pooler.",
            hint="Name its direct address.",
        )
    key = secrets.token_bytes(32)
    with (
        raised_signals(),
        a_database(settings, say) as target,
        TemporaryDirectory(dir=existing(settings.data_dir)) as place,
    ):
        run_stoppable(check_destination(there, replace=replace))
        file = Path(place) / "move"
        run_stoppable(save(target, settings, file, key))
        with opened(file, key) as contents:
            run_stoppable(bring_back(there, settings, contents, replace=replace))
        said = f"Copied to {there}. Set DATABASE_URL to it, and start again."
        print_done(said, {"copied_to": there}, as_json=json)


async def save(target: Target, settings: Settings, file: Path, key: bytes) -> Manifest:
    """Make a backup file of a database: its rows as they are at one moment."""
    engine = connect(
        target, name="scrapersky-backup", pool_size=1, statement_timeout=None
    )
    try:
        await check_server(engine)
        async with engine.connect() as connection:
            await connection.execution_options(
                isolation_level="REPEATABLE READ", postgresql_readonly=True
            )
            about = await describe(connection)
            with new_archive(file) as archive:
                return await fill(connection, archive, settings, about, key)
    except (DBAPIError, asyncpg.PostgresError) as error:
        raise await explain_no_backup(engine, error) from error
    finally:
        await engine.dispose()


async def explain_no_backup(
    engine: AsyncEngine, error: DBAPIError | asyncpg.PostgresError
) -> BackupUnusable:
    """Say why there is no backup; where rights are missing, who has them."""
    cause = error.orig if isinstance(error, DBAPIError) else error
    said = reason_of(error) if isinstance(error, DBAPIError) else str(error)
    if getattr(cause, "sqlstate", None) != NOT_ALLOWED:
        return BackupUnusable(f"The backup could not be made: {said}.")
    async with engine.connect() as connection:
        user, owner = (await connection.execute(OWNER)).one()
    return BackupUnusable(
        f"The database user '{user}' may not read everything, so that a backup by it would "
        f"not be whole ({said}).",
        hint=f"Make backups as '{owner}', who owns the tables: name that user in "
        "DATABASE_URL for this command.",
    )


async def describe(connection: AsyncConnection) -> BackupOrigin:
    """Ask a database for its revision, its server's version, and keys it does not hold."""
    revision = await connection.run_sync(current_revision)
    if revision is None:
        raise SchemaMismatch(
            "There is nothing to back up: the database was never migrated.",
            hint="`scrapersky migrate` makes its tables.",
        )
    prints = await connection.scalars(KEYS_NEEDED)
    return BackupOrigin(
        made_at=utc_now().replace(microsecond=0),
        scrapersky=version("scrapersky"),
        revision=revision,
        server=str(await connection.scalar(text("SHOW server_version"))),
        keys_elsewhere=tuple(bytes(one).hex() for one in prints),
    )


async def fill(
    connection: AsyncConnection,
    archive: ArchiveWriter,
    settings: Settings,
    about: BackupOrigin,
    key: bytes,
) -> Manifest:
    """Write rows and files into a backup, and what they are."""
    found = await tables_of(connection)
    tables = {
        name: columns
        for name, columns in found.items()
        if name in OURS and name not in NOT_KEPT
    }
    if strangers := sorted(found.keys() - OURS):
        say(f"Left out, for they are not ScraperSky's: {', '.join(strangers)}.")
    await begin_reading(connection, tables)
    for name, columns in tables.items():
        with (
            archive.entry(f"{TABLES}{name}.gz") as out,
            gzip.GzipFile("", "wb", COMPRESSION_LEVEL, out, mtime=0) as packed,
        ):
            await write_rows(connection, name, columns, packed.write)
    sequences = await read_sequences(connection)
    imports = settings.data_dir / IMPORTS
    for file in sorted(imports.rglob("*")) if imports.is_dir() else ():
        if file.is_file() and not file.is_symlink():
            name = file.relative_to(imports).as_posix()
            with archive.entry(f"{IMPORTS}{name}") as out, file.open("rb") as source:
                shutil.copyfileobj(source, out, CHUNK_BYTES)
    manifest = Manifest(
        **about.model_dump(),
        columns=tables,
        sequences=sequences,
        entries=archive.entries,
    )
    archive.finish(manifest, key)
    return manifest


async def bring_back(
    target: Target, settings: Settings, contents: BackupContents, *, replace: bool
) -> int:
    """Replace a database by a backup; return how many values were erased again."""
    check_key(settings, contents.about)
    engine = connect(
        target, name="scrapersky-restore", pool_size=1, statement_timeout=None
    )
    try:
        await check_server(engine)
        async with engine.connect() as connection:
            await check_target(connection, replace=replace)
            kept = await read_snapshot(connection)
            rights = await connection.run_sync(rights_granted, tables_for_readers())
        # A connection that knows nothing of the types and tables that go now.
        await engine.dispose()
        async with engine.connect() as connection:
            await rebuild(connection, contents, rights)
            await connection.commit()
        await engine.dispose()
        await check_schema(engine, *METADATA)
        async with engine.begin() as connection:
            await continue_numbering(connection)
            missing = await restore_entries(connection, kept)
        await load_suppression_keys(engine, **settings.suppression_secrets)
        again = await erase_again(engine, missing)
        details = {
            "made_at": contents.about.made_at.isoformat(),
            "erased_again": again,
        }
        await note_operation(engine, "restored", "database", details)
        return again
    finally:
        await engine.dispose()


async def rebuild(
    connection: AsyncConnection, contents: BackupContents, rights: list[str]
) -> None:
    """Make the tables anew with our own migrations, and fill them, in one transaction.

    The schema is made as of the backup's revision, so that what later revisions do to rows
    is done to these.
    """
    await migrate.take_lock(connection)
    for statement in CLEAR:
        await connection.execute(text(statement))
    revision = contents.about.revision
    await connection.run_sync(
        migrate.apply, lambda config: command.upgrade(config, revision)
    )
    await load_rows(connection, contents.tables, contents.sequences, without=NOT_KEPT)
    await connection.run_sync(
        migrate.apply, lambda config: command.upgrade(config, "head")
    )
    for statement in rights:
        await connection.exec_driver_sql(statement)
    await try_write(connection)


def check_key(settings: Settings, about: BackupOrigin) -> None:
    """Refuse where the suppression list would protect nobody."""
    if not about.keys_elsewhere:
        return
    mine = {
        fingerprint(key).hex() for key in given_keys(**settings.suppression_secrets)
    }
    if set(about.keys_elsewhere) - mine:
        raise ConfigurationError(
            "The suppression list in this backup was made with a SUPPRESSION_KEY, and "
            f"{'another is set' if mine else 'none is set'}.",
            hint="Set the key that the installation had, and others it had beside it as "
            "SUPPRESSION_OTHER_KEYS; without them nobody on the list is protected.",
        )


KEYS_NEEDED = text(
    """SELECT fingerprint FROM suppression_keys k WHERE secret IS NULL AND EXISTS (
      SELECT FROM suppressions s WHERE k.fingerprint::text =
        coalesce(to_jsonb(s)->>'key_fingerprint', k.fingerprint::text))"""
)
"""Keys outside the database that entries are under, or may be: of an older version, in which
entries do not say so, all."""


async def check_destination(there: Target, *, replace: bool) -> None:
    """Raise unless a database can take another's place: before anything is copied there."""
    engine = connect(there, name="scrapersky-move", pool_size=1)
    try:
        await check_server(engine)
        async with engine.connect() as connection:
            await check_target(connection, replace=replace)
            for statement in (*CLEAR, MAKE_ROLE):
                await connection.execute(text(statement))
    except DBAPIError as error:
        raise BackupUnusable(
            f"The database at {there} cannot be filled: {reason_of(error)}.",
            hint="Connect as its owner, who may make roles.",
        ) from error
    finally:
        await engine.dispose()


async def check_target(connection: AsyncConnection, *, replace: bool) -> None:
    """Refuse a database that others use, that is not ours, or that is not empty."""
    found = set(await connection.scalars(FOREIGN))
    if strangers := sorted(found - OURS):
        raise BackupUnusable(
            f"The database holds tables that are not ScraperSky's: "
            f"{', '.join(strangers[:5])}.",
            hint="Restore into a database of its own.",
        )
    if "public.processes" in found:
        live = [one for one in await live_processes(connection) if one.state != "gone"]
        if live:
            names = ", ".join(one.name for one in live)
            raise BackupUnusable(
                f"Processes work on this database: {names}.",
                hint="Stop them first. One that crashed counts for half a minute.",
            )
    if found and not replace:
        raise BackupUnusable(
            "The database is not empty.",
            hint="`--replace` puts the backup in the place of what it holds.",
        )


def put_files(
    files: Mapping[PurePosixPath, Callable[[], IO[bytes]]], place: Path
) -> None:
    """Put back files to import; one that is there stays as it is."""
    for name, read in files.items():
        there = place / name
        if not there.exists():
            there.parent.mkdir(parents=True, exist_ok=True)
            with read() as source, there.open("xb") as out:
                shutil.copyfileobj(source, out, CHUNK_BYTES)


def existing(path: Path) -> Path:
    """Return a directory, made if need be."""
    path.mkdir(parents=True, exist_ok=True)
    return path
