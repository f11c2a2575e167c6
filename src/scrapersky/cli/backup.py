"""`scrapersky backup`, `restore` and `move`."""

import asyncio
import shutil
from datetime import UTC
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from sqlalchemy import select, text
from sqlalchemy.ext.asyncio import AsyncConnection

from scrapersky.cli.archive import Manifest, digest, opened, write_archive
from scrapersky.cli.database import a_database
from scrapersky.cli.operator import note_operation
from scrapersky.cli.signals import stop_on_signals
from scrapersky.cli.up import say
from scrapersky.configuration import load_settings
from scrapersky.db import migrate
from scrapersky.db.connection import Target, check_server, connect, parse_target
from scrapersky.db.dump import dump, load
from scrapersky.db.migrations.row_security import MAKE_ROLE
from scrapersky.db.revision import current_revision
from scrapersky.db.schema import check_schema
from scrapersky.errors import BackupUnusable, ConfigurationError, SchemaMismatch
from scrapersky.kit.clock import utc_now
from scrapersky.privacy.key import derived, fingerprint, hand_out_keys
from scrapersky.privacy.reapply import add_kept, erase_again, keep_list
from scrapersky.records import METADATA, SuppressionKey
from scrapersky.scheduler.presence import live_processes
from scrapersky.settings import Settings

NOT_KEPT: Final = ("processes", "login_sessions", "idempotency_keys")
"""What is over when a database is restored: who runs, who is logged in, whose answers wait."""
FOREIGN = text("""SELECT schemaname || '.' || tablename FROM pg_tables
  WHERE schemaname IN ('public', 'curation') ORDER BY 1""")
OURS: Final = {
    f"{table.schema or 'public'}.{table.name}"
    for metadata in METADATA
    for table in metadata.sorted_tables
} | {"public.alembic_version"}
CLEAR: Final = (
    "DROP SCHEMA IF EXISTS curation CASCADE",
    "DROP SCHEMA public CASCADE",
    "CREATE SCHEMA public",
)


def backup(file: Path) -> None:
    """Write a snapshot of the database into a file, while everything goes on."""
    settings = load_settings().settings
    with stop_on_signals(), a_database(settings) as target:
        manifest = save(target, settings, file)
        size = file.stat().st_size / 1024**2
        print(f"{file}: {size:.1f} MiB, revision {manifest.revision}.")
        if manifest.keys_elsewhere:
            print("It does not hold SUPPRESSION_KEY: keep that safe elsewhere.")


def restore(file: Path, *, replace: bool = False) -> None:
    """Put a backup into the database that the settings name."""
    settings = load_settings().settings
    with stop_on_signals(), a_database(settings, say) as target:
        with opened(file) as (manifest, snapshot, imports):
            again = asyncio.run(
                bring_back(target, settings, manifest, snapshot, replace=replace)
            )
            put_files(imports, settings.data_dir / "imports")
        print(f"Restored what was saved {manifest.made_at}.")
        if again:
            print(f"{again} values that were erased since are erased again.")


def move(url: str) -> None:
    """Copy the whole database to another PostgreSQL, such as from the embedded one."""
    settings = load_settings().settings
    there = parse_target(url)
    if there.behind_pooler:
        raise ConfigurationError(
            "A database is not copied through a pooler.",
            hint="Name its direct address.",
        )
    with (
        stop_on_signals(),
        a_database(settings, say) as target,
        TemporaryDirectory(dir=existing(settings.data_dir)) as place,
    ):
        file = Path(place) / "move"
        save(target, settings, file)
        with opened(file) as (manifest, snapshot, _):
            asyncio.run(bring_back(there, settings, manifest, snapshot, replace=False))
        print(f"Copied to {there}. Set DATABASE_URL to it, and start again.")


def save(target: Target, settings: Settings, file: Path) -> Manifest:
    """Make a backup file of a database."""
    revision, server, elsewhere = asyncio.run(about(target))
    with TemporaryDirectory(dir=file.absolute().parent, prefix=".backup-") as place:
        snapshot = Path(place) / "database.dump"
        dump(target, snapshot, without_rows_of=NOT_KEPT)
        with snapshot.open("rb") as written:
            checksum = digest(written)
        manifest = Manifest(
            made_at=utc_now().astimezone(UTC).isoformat(timespec="seconds"),
            scrapersky=version("scrapersky"),
            revision=revision,
            server=server,
            keys_elsewhere=elsewhere,
            sha256=checksum,
        )
        write_archive(file, manifest, snapshot, settings.data_dir / "imports")
    return manifest


async def about(target: Target) -> tuple[str, str, tuple[str, ...]]:
    """Ask a database for its revision, its server's version, and keys it does not hold."""
    engine = connect(target, name="scrapersky-backup", pool_size=1)
    try:
        await check_server(engine)
        async with engine.connect() as connection:
            revision = await connection.run_sync(current_revision)
            if revision is None:
                raise SchemaMismatch(
                    "There is nothing to back up: the database was never migrated.",
                    hint="`scrapersky migrate` makes its tables.",
                )
            server = str(await connection.scalar(text("SHOW server_version")))
            outside = select(SuppressionKey.fingerprint).where(
                SuppressionKey.secret.is_(None)
            )
            prints = await connection.scalars(outside)
            return revision, server, tuple(bytes(one).hex() for one in prints)
    finally:
        await engine.dispose()


async def bring_back(
    target: Target,
    settings: Settings,
    manifest: Manifest,
    snapshot: Path,
    *,
    replace: bool,
) -> int:
    """Replace a database by a snapshot; return how many values were erased again."""
    check_key(settings, manifest)
    engine = connect(
        target, name="scrapersky-restore", pool_size=2, statement_timeout=None
    )
    try:
        await check_server(engine)
        async with engine.connect() as connection:
            await check_target(connection, replace=replace)
            kept = await keep_list(connection)
            is_superuser = bool(
                await connection.scalar(
                    text("SELECT rolsuper FROM pg_roles WHERE rolname = current_user")
                )
            )
        async with engine.begin() as connection:
            await connection.execute(text(MAKE_ROLE))
        load(target, snapshot, first=CLEAR, leakproof=is_superuser)
        # What these connections knew of types and tables is gone.
        await engine.dispose()
        await migrate.upgrade(engine)
        await check_schema(engine, *METADATA)
        async with engine.begin() as connection:
            missing = await add_kept(connection, kept)
        await hand_out_keys(engine, secret=settings.suppression_key)
        again = await erase_again(engine, missing)
        details = {"made_at": manifest.made_at, "erased_again": again}
        await note_operation(engine, "restored", "database", details)
        return again
    finally:
        await engine.dispose()


def check_key(settings: Settings, manifest: Manifest) -> None:
    """Refuse where the suppression list would protect nobody."""
    if not manifest.keys_elsewhere:
        return
    given = settings.suppression_key
    mine = fingerprint(derived(given.get_secret_value())).hex() if given else None
    if mine not in manifest.keys_elsewhere:
        raise ConfigurationError(
            "The suppression list in this backup was made with a SUPPRESSION_KEY, and "
            f"{'none is set' if mine is None else 'another is set'}.",
            hint="Set the key that the installation had; without it nobody on the list "
            "is protected.",
        )


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


def put_files(source: Path, place: Path) -> None:
    """Put back files to import; one that is there stays as it is."""
    for file in source.rglob("*") if source.is_dir() else ():
        there = place / file.relative_to(source)
        if file.is_file() and not there.exists():
            there.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(file, there)


def existing(path: Path) -> Path:
    """Return a directory, made if need be."""
    path.mkdir(parents=True, exist_ok=True)
    return path
