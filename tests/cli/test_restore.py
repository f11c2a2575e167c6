"""Nothing in a backup can run a program, whoever made it."""

import asyncio
import gzip
import hashlib
import re
import subprocess
import tarfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson
import pytest
from sqlalchemy import text
from sqlalchemy.exc import ProgrammingError

from scrapersky.cli.archive import MANIFEST
from scrapersky.db.connection import connect, parse_target
from scrapersky.db.embedded import DATABASE, ROLE, EmbeddedPostgres, wheel_directory
from scrapersky.db.migrate import downgrade
from scrapersky.db.rows import LOADER, take_on_loader
from tests.cli.rig import Command, create_database, database_of, execute, run_here
from tests.cli.test_archive import TarPart, pack, parts_of
from tests.conftest import TestDatabase
from tests.durable import durable_server, installed

pytestmark = pytest.mark.slow
BIN = wheel_directory() / "pginstall" / "bin"


__all__ = ["durable_server", "installed"]


@pytest.fixture
def server(durable_server: EmbeddedPostgres) -> EmbeddedPostgres:
    return durable_server


@pytest.fixture
def database(installed: TestDatabase) -> TestDatabase:
    return installed


@pytest.fixture
def command(
    tmp_path: Path,
    database: TestDatabase,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Command:
    settings = {"SCRAPERSKY_DATA_DIR": tmp_path / "data", "DATABASE_URL": database.url}
    ask = run_here(monkeypatch, capsys)
    return lambda *arguments, **more: ask(*arguments, **settings | more)


@pytest.fixture
def proof(scratch: Path) -> Path:
    """Name a file that a program would make which the server runs."""
    place = scratch / f"ran-{time.monotonic_ns()}"
    place.mkdir()
    place.chmod(0o777)
    return place / "ran"


def old_backup(path: Path, database: TestDatabase, statement: str = "") -> Path:
    """Make a backup as versions before signatures did, with this in place of a COPY."""
    dumped = subprocess.run(
        [BIN / "pg_dump", "--format=custom", "--no-owner", database.dsn],
        check=True,
        capture_output=True,
    ).stdout
    if statement:
        (copy,) = re.findall(rb"COPY public\.pages \([^)]*\) FROM stdin;", dumped)
        dumped = dumped.replace(copy, statement.encode().ljust(len(copy)))
    ((revision,),) = execute(database, "SELECT version_num FROM alembic_version")
    said = {
        "made_at": "2026-11-16T12:00:00+00:00",
        "scrapersky": "0.1.0",
        "revision": revision,
        "server": "18",
        "keys_elsewhere": [],
        "sha256": hashlib.sha256(dumped).hexdigest(),
        "format": 1,
    }
    listed = (
        TarPart("imports", type=tarfile.DIRTYPE),
        TarPart("imports/a", type=tarfile.DIRTYPE),
        TarPart("imports/a/places.csv", b"id\n"),
    )
    manifest = TarPart(MANIFEST, orjson.dumps(said))
    pack(path, [manifest, TarPart("database.dump", dumped), *listed])
    return path


def schema_of(database: TestDatabase) -> list[str]:
    """Write everything that is defined in a database."""
    command = [str(BIN / "pg_dump"), "--schema-only", "--restrict-key=k", database.dsn]
    said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    # The schema itself is made anew, and is the owner's then.
    return [
        line
        for line in said.splitlines()
        if line and not line.startswith("--") and "SCHEMA public" not in line
    ]


ROWS = "SELECT slug FROM tenants ORDER BY slug"
HOSTILE = (
    """CREATE FUNCTION spread() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
    BEGIN EXECUTE 'COPY (SELECT 1) TO PROGRAM ''cat > {proof}'''; RETURN new; END $$""",
    """CREATE FUNCTION spread_at_once() RETURNS int LANGUAGE plpgsql SECURITY DEFINER AS $$
    BEGIN EXECUTE 'COPY (SELECT 1) TO PROGRAM ''cat > {proof}'''; RETURN 1; END $$""",
    "CREATE TRIGGER spread BEFORE INSERT ON tenants FOR EACH ROW EXECUTE FUNCTION spread()",
    "ALTER TABLE tenants ENABLE ALWAYS TRIGGER spread",
    "CREATE TRIGGER spread BEFORE UPDATE ON users FOR EACH ROW EXECUTE FUNCTION spread()",
    "ALTER TABLE users ADD CONSTRAINT spread CHECK (spread_at_once() > 0) NOT VALID",
    "CREATE VIEW spread_view AS SELECT spread_at_once()",
    """CREATE FUNCTION spread_on_ddl() RETURNS event_trigger LANGUAGE plpgsql AS $$
    BEGIN EXECUTE 'COPY (SELECT 1) TO PROGRAM ''cat > {proof}'''; END $$""",
    "CREATE FUNCTION in_c() RETURNS int LANGUAGE c AS '$libdir/plpgsql', 'plpgsql_validator'",
    "CREATE LANGUAGE plpython3u HANDLER plpgsql_call_handler",
    "CREATE FUNCTION in_python() RETURNS int LANGUAGE plpython3u AS 'BEGIN RETURN 1; END'",
    "CREATE EXTENSION file_fdw",
    "CREATE EXTENSION dblink",
    "CREATE EVENT TRIGGER spread_on_ddl ON ddl_command_end EXECUTE FUNCTION spread_on_ddl()",
)


def make_hostile(database: TestDatabase, proof: Path) -> None:
    """Define in a database what runs a program at the first occasion."""
    for statement in HOSTILE:
        execute(database, statement.replace("{proof}", str(proof)))


def test_a_restore_ran_a_program_that_an_edited_backup_named(
    database: TestDatabase, command: Command, tmp_path: Path, proof: Path
) -> None:
    statement = f"COPY (SELECT 1) TO PROGRAM 'cat > {proof}';"
    file = old_backup(tmp_path / "file", database, statement)
    execute(database, "UPDATE tenants SET slug = 'kept'")

    unsigned = command("restore", str(file), "--replace")
    trusted = command("restore", str(file), "--replace", "--trust")

    assert "is not signed" in unsigned.stderr
    assert "it holds a statement of its own" in trusted.stderr
    assert (unsigned.returncode, trusted.returncode) == (1, 1)
    assert execute(database, ROWS) == [("kept",)]
    assert not proof.exists()


def test_what_a_dump_defined_was_made_in_the_database(
    server: EmbeddedPostgres,
    database: TestDatabase,
    command: Command,
    tmp_path: Path,
    proof: Path,
) -> None:
    name = f"hostile_{time.monotonic_ns()}"
    create_database(server, name, f'TEMPLATE "{DATABASE}"')
    hostile = database_of(server, name)
    make_hostile(hostile, proof)
    proof.unlink(missing_ok=True)  # a definition may have tried itself
    before = schema_of(database)
    files = [
        old_backup(tmp_path / "old", hostile),
        tmp_path / "signed",
    ]
    made = command("backup", str(files[1]), DATABASE_URL=hostile.url)

    done = [command("restore", str(one), "--replace", "--trust") for one in files]

    assert made.returncode == 0, made.stderr
    assert [one.returncode for one in done] == [0, 0], done
    assert "WARNING" in done[0].stderr
    assert "WARNING" not in done[1].stderr
    assert schema_of(database) == before
    assert not proof.exists()


INJECTED = (
    b"\\! touch {proof}\n",
    b"\\.\n\\! touch {proof}\nCOPY (SELECT 1) TO PROGRAM 'touch {proof}';\n",
    b"$$; COPY (SELECT 1) TO PROGRAM 'touch {proof}'; --\n",
)


@pytest.mark.parametrize("rows", INJECTED)
def test_a_row_that_looks_like_a_command_is_a_row(
    database: TestDatabase, command: Command, tmp_path: Path, proof: Path, rows: bytes
) -> None:
    file = tmp_path / "file"
    command("backup", str(file))
    content = gzip.compress(rows.replace(b"{proof}", str(proof).encode()))
    forge(file, {"tables/public.users.gz": content})

    done = command("restore", str(file), "--replace", "--trust")

    assert "cannot be read" in done.stderr or "contradict each other" in done.stderr
    assert execute(database, "SELECT count(*) FROM users") == [(1,)]
    assert not proof.exists()


def forge(file: Path, contents: dict[str, bytes], **said: Any) -> None:
    """Change a backup and its manifest, as somebody can who lacks the key."""
    *parts, manifest, signature = parts_of(file)
    parts = [replace(one, content=contents.get(one.name, one.content)) for one in parts]
    entries = [
        {
            "name": one.name,
            "size": len(one.content),
            "sha256": hashlib.sha256(one.content).hexdigest(),
        }
        for one in parts
    ]
    claimed = orjson.loads(manifest.content) | {"entries": entries} | said
    pack(file, [*parts, replace(manifest, content=orjson.dumps(claimed)), signature])


@pytest.mark.parametrize(
    ("said", "answer"),
    [
        ({"columns": {"public.users": ["id) FROM PROGRAM 'x'; --"]}}, "other columns"),
        ({"sequences": {"x'); DROP TABLE users; --": [1, True]}}, "other sequences"),
        ({"sequences": {}}, "other sequences"),
    ],
)
def test_a_name_in_a_manifest_is_never_part_of_a_statement(
    database: TestDatabase,
    command: Command,
    tmp_path: Path,
    said: dict[str, Any],
    answer: str,
) -> None:
    file = tmp_path / "file"
    command("backup", str(file))
    manifest = orjson.loads(parts_of(file)[-2].content)
    if "columns" in said:
        said = {"columns": manifest["columns"] | said["columns"]}
    forge(file, {}, **said)
    execute(database, "UPDATE tenants SET slug = 'kept'")

    done = command("restore", str(file), "--replace", "--trust")

    assert answer in done.stderr
    assert execute(database, ROWS) == [("kept",)]


def test_a_backup_whose_key_is_lost_or_another_needs_trust(
    database: TestDatabase, command: Command, tmp_path: Path
) -> None:
    file, data = tmp_path / "file", tmp_path / "data"
    made = command("backup", str(file))
    kept = (data / "backup.key").read_text().strip()
    again = command("backup", str(tmp_path / "second"))
    (data / "backup.key").rename(tmp_path / "copy")

    lost = command("restore", str(file), "--replace")
    other = command("restore", str(file), "--replace", BACKUP_KEY="9" * 40)
    brought = command("restore", str(file), "--replace", BACKUP_KEY=kept)
    trusted = command("restore", str(file), "--replace", "--trust")

    assert "the key is" in made.stdout
    assert "the key is" not in again.stdout
    assert "the key it was signed with is not here" in lost.stderr
    assert "signed with another key" in other.stderr
    assert (brought.returncode, trusted.returncode) == (0, 0)
    assert "WARNING" not in brought.stderr
    assert "WARNING" in trusted.stderr


def test_an_old_backup_keeps_its_rows_when_it_is_trusted(
    database: TestDatabase, command: Command, tmp_path: Path
) -> None:
    asyncio.run(go_back(database, "0026_page_choice"))
    execute(
        database,
        "UPDATE tenants SET slug = 'old', name = %s",
        "a\tb\\c\nd 'e' \"f\" ü \\. $1",
    )
    execute(database, "SELECT nextval('curation.fence') FROM generate_series(1, 7)")
    file = old_backup(tmp_path / "file", database)
    names = execute(database, "SELECT name FROM tenants")
    execute(database, "UPDATE tenants SET slug = 'new'")

    done = command("restore", str(file), "--replace", "--trust")

    assert done.returncode == 0, done.stderr
    assert execute(database, ROWS) == [("old",)]
    assert execute(database, "SELECT name FROM tenants") == names
    assert execute(database, "SELECT nextval('curation.fence')") == [(8,)]
    assert (tmp_path / "data" / "imports" / "a" / "places.csv").read_text() == "id\n"
    assert command("upgrade", "--check").returncode == 0


async def go_back(database: TestDatabase, revision: str) -> None:
    engine = connect(parse_target(database.url))
    await downgrade(engine, revision)
    await engine.dispose()


def test_a_restore_leaves_schema_rights_and_every_row_as_they_were(
    database: TestDatabase, command: Command, tmp_path: Path
) -> None:
    app, reader = (f"{who}_{time.monotonic_ns()}" for who in ("app", "reader"))
    ((tenant,),) = execute(database, "SELECT id FROM tenants")
    for role in (app, reader):
        execute(database, f"CREATE ROLE {role} LOGIN")
    execute(database, f"GRANT scrapersky_api TO {app}")
    granted = ["roles", "--app", app, "--reader", reader, "--tenant", str(tenant)]
    assert command(*granted, "--apply").returncode == 0
    file = tmp_path / "file"
    before, counts = schema_of(database), rows_of(database)

    command("backup", str(file))
    done = command("restore", str(file), "--replace")

    assert done.returncode == 0, done.stderr
    assert schema_of(database) == before
    changed = {"public.audit_log": counts["public.audit_log"] + 1}
    assert rows_of(database) == counts | changed
    roles = execute(database, "SELECT 1 FROM pg_roles WHERE rolname = %s", LOADER)
    assert roles == []


def test_a_backup_by_the_user_of_the_processes_was_a_raw_permission_error(
    database: TestDatabase, server: EmbeddedPostgres, command: Command, tmp_path: Path
) -> None:
    app = f"app_{time.monotonic_ns()}"
    execute(database, f"CREATE ROLE {app} LOGIN")
    execute(database, f"GRANT scrapersky_api TO {app}")
    assert command("roles", "--app", app, "--apply").returncode == 0
    rules = server.data / "pg_hba.conf"
    rules.write_text(f"local all {app} trust\n{rules.read_text()}")
    execute(database, "SELECT pg_reload_conf()")
    url = database.url.replace(f"{ROLE}@", f"{app}@")

    refused = command("backup", str(tmp_path / "file"), DATABASE_URL=url)

    assert refused.returncode == 1
    assert f"The database user '{app}' may not read everything" in refused.stderr
    assert f"Make backups as '{ROLE}', who owns the tables" in refused.stderr
    assert not (tmp_path / "file").exists()


def rows_of(database: TestDatabase) -> dict[str, int]:
    """Count the rows of every table."""
    tables = execute(
        database,
        "SELECT schemaname || '.' || tablename FROM pg_tables"
        " WHERE schemaname IN ('public', 'curation')",
    )
    return {
        name: execute(database, f"SELECT count(*) FROM {name}")[0][0]
        for (name,) in tables
    }


@pytest.mark.parametrize(
    "statement",
    [
        "COPY tenants FROM PROGRAM 'true'",
        "COPY tenants FROM '/etc/passwd'",
        "SELECT pg_read_file('/etc/passwd')",
        "CREATE FUNCTION f() RETURNS int LANGUAGE sql AS 'SELECT 1'",
        "SELECT * FROM users",
    ],
)
def test_rows_were_put_in_by_a_superuser(
    database: TestDatabase, statement: str
) -> None:
    async def attempt() -> None:
        engine = connect(parse_target(database.url))
        try:
            async with engine.begin() as connection:
                assert await take_on_loader(connection)
                await connection.execute(text(statement))
        finally:
            await engine.dispose()

    with pytest.raises(ProgrammingError, match="permission denied"):
        asyncio.run(attempt())


def test_rows_that_contradict_each_other_change_nothing(
    database: TestDatabase, command: Command, tmp_path: Path
) -> None:
    file = tmp_path / "file"
    command("backup", str(file))
    forge(file, {"tables/public.tenants.gz": gzip.compress(b"")})
    execute(database, "UPDATE tenants SET slug = 'kept'")

    done = command("restore", str(file), "--replace", "--trust")

    assert "contradict each other" in done.stderr
    assert execute(database, ROWS) == [("kept",)]


def test_a_table_of_somebody_else_is_left_out_and_named(
    database: TestDatabase, command: Command, tmp_path: Path
) -> None:
    execute(database, "CREATE TABLE theirs (id int)")

    made = command("backup", str(tmp_path / "file"))

    assert made.returncode == 0
    assert "not ScraperSky's: public.theirs" in made.stderr
