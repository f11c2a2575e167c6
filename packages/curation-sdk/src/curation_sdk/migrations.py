"""Bring the SDK's own tables up to date, from any older version.

They are in the schema `curation`: `stage` (what each stage owns, and its pauses), `claim`
(items in work or waiting), `attempt` (what became of every claim), `dead_letter`, `version`,
and the sequence `fence`. Nothing is added to the tables that hold the queues.

Workers of the version before keep working during and after an upgrade. Beside migrations
of your own, call `upgrade(op.get_bind())` in a revision.
"""

import asyncio
from dataclasses import dataclass

from sqlalchemy import Connection, text
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from curation_sdk.connection import refuse_unusable_engine, root_of
from curation_sdk.errors import CurationSdkError
from curation_sdk.schema import metadata

__all__ = ["LATEST", "current_version", "downgrade", "metadata", "migrate", "upgrade"]

LOCK_KEY = 0x5C7A_9E0A
"""The advisory lock that lets one process migrate while the others wait."""
LOCK_TIMEOUT = "1s"
"""How long a step may wait for a table in use before it is rolled back and retried."""
MAX_LOCK_TRIES = 30
LOCK_RETRY_SECONDS = 0.2
LOCK_NOT_AVAILABLE = "55P03"
OLDEST_SERVER = 14


@dataclass(frozen=True, slots=True)
class Version:
    """The statements that apply one version of the tables, and those that undo it."""

    upgrade: tuple[str, ...]
    downgrade: tuple[str, ...]


VERSIONS: dict[int, Version] = {
    1: Version(
        upgrade=(
            "CREATE SCHEMA IF NOT EXISTS curation",
            "CREATE SEQUENCE curation.fence",
            """CREATE TABLE curation.stage (
              name text COLLATE "C" PRIMARY KEY,
              queue jsonb NOT NULL,
              paused_at timestamptz,
              paused_until timestamptz,
              paused_why text,
              seen_at timestamptz NOT NULL DEFAULT clock_timestamp())""",
            """COMMENT ON TABLE curation.stage IS
              'Which column each stage owns, and whether the stage is paused.'""",
            """CREATE TABLE curation.claim (
              stage text COLLATE "C" NOT NULL,
              item text COLLATE "C" NOT NULL,
              fence bigint,
              lease_until timestamptz,
              due_at timestamptz,
              claimed_at timestamptz,
              tries smallint NOT NULL,
              deaths smallint NOT NULL DEFAULT 0,
              worker text,
              PRIMARY KEY (item, stage))
            WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05,
              autovacuum_analyze_scale_factor = 0.5)""",
            """COMMENT ON TABLE curation.claim IS
              'Items in hand (with a fence) or waiting for another try (without).'""",
            """COMMENT ON COLUMN curation.claim.fence IS
              'Null while the item waits for its next try.'""",
            """CREATE TABLE curation.attempt (
              stage text COLLATE "C" NOT NULL,
              item text COLLATE "C" NOT NULL,
              fence bigint NOT NULL,
              tries smallint NOT NULL,
              outcome text NOT NULL,
              why text,
              worker text,
              claimed_at timestamptz,
              settled_at timestamptz NOT NULL DEFAULT clock_timestamp(),
              due_at timestamptz)""",
            """COMMENT ON TABLE curation.attempt IS
              'What became of every claim; purged by age.'""",
            "CREATE INDEX attempt_item ON curation.attempt (item, stage)",
            "CREATE INDEX attempt_age ON curation.attempt USING brin (settled_at)",
            """CREATE TABLE curation.dead_letter (
              stage text COLLATE "C" NOT NULL,
              item text COLLATE "C" NOT NULL,
              fence bigint NOT NULL,
              kind text NOT NULL,
              why text,
              tries integer NOT NULL,
              deaths integer NOT NULL,
              died_at timestamptz NOT NULL DEFAULT clock_timestamp(),
              PRIMARY KEY (stage, item))""",
            """COMMENT ON TABLE curation.dead_letter IS
              'Items that need a human: replay or discard them.'""",
        ),
        downgrade=("DROP SCHEMA curation CASCADE",),
    ),
    # Installs from before versions were counted may have any part of this one.
    2: Version(
        upgrade=(
            """ALTER TABLE curation.claim
              ADD COLUMN IF NOT EXISTS alone boolean NOT NULL DEFAULT false""",
            """COMMENT ON COLUMN curation.claim.alone IS
              'Its worker has nothing else in hand.'""",
            "DROP INDEX IF EXISTS curation.claim_due",
            "DROP INDEX IF EXISTS curation.claim_suspect",
            """CREATE INDEX IF NOT EXISTS claim_waiting
              ON curation.claim (stage, deaths, due_at) WHERE fence IS NULL""",
            """CREATE INDEX IF NOT EXISTS attempt_rescued
              ON curation.attempt (settled_at, worker) WHERE outcome = 'rescued'""",
            """CREATE INDEX IF NOT EXISTS dead_letter_latest
              ON curation.dead_letter (stage, died_at, item)""",
        ),
        downgrade=(
            "DROP INDEX curation.dead_letter_latest",
            "DROP INDEX curation.attempt_rescued",
            "DROP INDEX curation.claim_waiting",
            "ALTER TABLE curation.claim DROP COLUMN alone",
        ),
    ),
    3: Version(
        upgrade=(
            """CREATE TABLE curation.version (
              version integer PRIMARY KEY,
              applied_at timestamptz NOT NULL DEFAULT clock_timestamp())""",
            """COMMENT ON TABLE curation.version IS
              'Which versions of these tables were applied, and when.'""",
            "ALTER TABLE curation.attempt ADD COLUMN traceback text",
            """COMMENT ON COLUMN curation.attempt.traceback IS
              'Of an exception nobody foresaw; the end of it, if it was long.'""",
        ),
        downgrade=(
            "ALTER TABLE curation.attempt DROP COLUMN traceback",
            "DROP TABLE curation.version",
        ),
    ),
    # What is old is looked for often, and is little: smaller ranges hold less else. New
    # ranges are summed up as they fill, and not only when the table is vacuumed.
    4: Version(
        upgrade=(
            # Whoever has many attempts builds it before, concurrently, under this name.
            """DO $$ BEGIN
              IF NOT EXISTS (SELECT FROM pg_class
                  WHERE oid = to_regclass('curation.attempt_age')
                    AND reloptions @> '{pages_per_range=32,autosummarize=on}') THEN
                DROP INDEX IF EXISTS curation.attempt_age;
                CREATE INDEX attempt_age ON curation.attempt USING brin (settled_at)
                  WITH (pages_per_range = 32, autosummarize = on);
              END IF;
            END $$""",
        ),
        downgrade=(
            "DROP INDEX curation.attempt_age",
            "CREATE INDEX attempt_age ON curation.attempt USING brin (settled_at)",
        ),
    ),
}
LATEST = max(VERSIONS)
"""The version of the tables that this code needs."""
COUNTED_SINCE = 3
"""The first version that is recorded; older ones are recognised by what is there."""


async def migrate(engine: AsyncEngine) -> int:
    """Apply the missing versions in one transaction; return how many there were."""
    refuse_unusable_engine(engine)
    for attempt in range(1, MAX_LOCK_TRIES + 1):
        try:
            async with engine.begin() as connection:
                await connection.execute(
                    text(f"SET LOCAL lock_timeout = '{LOCK_TIMEOUT}'")
                )
                return await connection.run_sync(upgrade)
        except DBAPIError as error:
            code = getattr(root_of(error), "sqlstate", None)
            if code != LOCK_NOT_AVAILABLE or attempt == MAX_LOCK_TRIES:
                raise
            await asyncio.sleep(LOCK_RETRY_SECONDS)
    raise AssertionError  # pragma: no cover - the loop returns or raises


def upgrade(connection: Connection, to: int = LATEST) -> int:
    """Apply the missing versions in an open transaction; return how many there were."""
    connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": LOCK_KEY})
    refuse_old_server(server_version(connection))
    found = current_version(connection)
    for number in range(found + 1, to + 1):
        for statement in VERSIONS[number].upgrade:
            connection.execute(text(statement))
        if number >= COUNTED_SINCE:
            record(connection, number)
    return max(to - found, 0)


def downgrade(connection: Connection, to: int) -> None:
    """Undo versions in an open transaction, down to `to`; 0 drops the tables."""
    for number in range(current_version(connection), to, -1):
        if number > COUNTED_SINCE:
            connection.execute(
                text("DELETE FROM curation.version WHERE version = :number"),
                {"number": number},
            )
        for statement in VERSIONS[number].downgrade:
            connection.execute(text(statement))


def current_version(connection: Connection) -> int:
    """Return the version of the tables in this database, 0 if there are none."""
    if exists(connection, "curation.version"):
        counted = connection.scalar(text("SELECT max(version) FROM curation.version"))
        return int(counted or 0)
    if not exists(connection, "curation.claim"):
        return 0
    # The old index may have been left beside the new ones.
    is_second = exists(connection, "curation.attempt_rescued") and not exists(
        connection, "curation.claim_due"
    )
    return 2 if is_second else 1


def record(connection: Connection, version: int) -> None:
    """Record that a version was applied."""
    connection.execute(
        text("INSERT INTO curation.version (version) VALUES (:version)"),
        {"version": version},
    )


def exists(connection: Connection, name: str) -> bool:
    """Return whether a table or index is there."""
    found = connection.scalar(text("SELECT to_regclass(:name)"), {"name": name})
    return found is not None


def server_version(connection: Connection) -> int:
    """Return the server's major version."""
    return int(connection.scalar(text("SHOW server_version_num")) or 0) // 10_000


def refuse_old_server(major: int) -> None:
    """Raise if the server is too old for the SDK's statements."""
    if major < OLDEST_SERVER:
        raise CurationSdkError(
            f"This server is PostgreSQL {major}; the SDK needs {OLDEST_SERVER} or newer.",
            hint="Upgrade the server, or use another one.",
        )


async def refuse_old_tables(connection: AsyncConnection) -> None:
    """Raise unless the SDK's tables are there, in a version this code can use."""
    refuse_old_server(await connection.run_sync(server_version))
    found = await connection.run_sync(current_version)
    if found == 0:
        raise CurationSdkError(
            "The SDK's tables are missing (schema curation).",
            hint="Call curation_sdk.migrate(engine) once, or run your own migrations.",
        )
    if found < LATEST:
        raise CurationSdkError(
            f"The SDK's tables have version {found}; this code needs {LATEST}.",
            hint="Call curation_sdk.migrate(engine), or run your own migrations.",
        )
