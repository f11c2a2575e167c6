import socket
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import asyncpg
import pytest
from sqlalchemy import event, make_url, text

from scrapersky.db import connection
from scrapersky.db.connection import (
    check_server,
    connect,
    explain_refusal,
    parse_target,
    refuse_old_server,
)
from scrapersky.db.embedded import EmbeddedPostgres
from scrapersky.errors import (
    ConfigurationError,
    DatabaseReadOnly,
    DatabaseRefused,
    DatabaseUnreachable,
    DatabaseUnsuitable,
)
from scrapersky.records.check import check_database
from scrapersky.settings import SYSTEM_USER_ID
from tests.conftest import TestDatabase
from tests.db.prepared import prepare_home


@pytest.mark.parametrize(
    "spelling",
    ["postgres://u:p@h/d", "postgresql://u:p@h/d", "postgresql+asyncpg://u:p@h/d"],
)
def test_every_usual_spelling_of_a_url_is_understood(spelling: str) -> None:
    assert parse_target(spelling).dsn == "postgresql://u:p@h/d"


@pytest.mark.parametrize(
    ("url", "behind_pooler"),
    [
        ("postgresql://h/d", False),
        ("postgresql://h/d?pgbouncer=true", True),
        ("postgresql://h/d?pooler=transaction", True),
        ("postgresql://h:6543/d", True),
    ],
)
def test_the_url_may_say_that_a_pooler_stands_before(
    url: str, behind_pooler: bool
) -> None:
    assert parse_target(url).behind_pooler is behind_pooler


def test_the_setting_overrules_the_url_about_the_pooler() -> None:
    assert parse_target("postgresql://h:6543/d", pooler=False).behind_pooler is False
    assert parse_target("postgresql://h/d", pooler=True).behind_pooler is True


@pytest.mark.parametrize(
    ("url", "dsn"),
    [
        (
            "postgres://u:p@a:1,b/d",
            "postgresql://u:p@/d?host=a%2Cb&port=1%2C5432&target_session_attrs=read-write",
        ),
        (
            "postgresql://[::1]:1,b:2/d?target_session_attrs=any",
            "postgresql:///d?host=%3A%3A1%2Cb&port=1%2C2&target_session_attrs=any",
        ),
    ],
)
def test_of_several_hosts_the_one_that_can_be_written_to_is_asked_for(
    url: str, dsn: str
) -> None:
    assert parse_target(url).dsn == dsn
    assert parse_target(dsn).dsn == dsn


async def test_a_silent_host_used_up_the_time_of_the_next(
    empty_database: TestDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "CONNECT_TIMEOUT", timedelta(seconds=0.5))
    found = make_url(empty_database.url)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        both = {
            "host": f"127.0.0.1,{found.query['host']}",
            "port": f"{silent.getsockname()[1]},{found.query.get('port', 5432)}",
        }
        target = parse_target(
            found.update_query_dict(both).render_as_string(hide_password=False)
        )
        engine = connect(target)
        async with engine.connect() as connected:
            assert await connected.scalar(text("SELECT 1")) == 1
        await engine.dispose()


async def test_no_primary_among_the_hosts_is_said_in_words(
    empty_database: TestDatabase,
) -> None:
    found = make_url(empty_database.url)
    here = f"{found.query['host']}", f"{found.query.get('port', 5432)}"
    # Nobody listens at the first; the second is no replica.
    asked = {
        "host": f"127.0.0.1,{here[0]}",
        "port": f"1,{here[1]}",
        "target_session_attrs": "standby",
    }
    engine = connect(
        parse_target(
            found.update_query_dict(asked).render_as_string(hide_password=False)
        )
    )

    with pytest.raises(DatabaseReadOnly, match="among the hosts that answer"):
        await check_server(engine)

    await engine.dispose()


def test_a_password_is_never_shown() -> None:
    assert "secret" not in str(parse_target("postgresql://u:secret@h/d"))


@pytest.mark.parametrize("url", ["mysql://h/d", "nonsense", ""])
def test_another_kind_of_database_is_refused_with_an_example(url: str) -> None:
    with pytest.raises(ConfigurationError) as refusal:
        parse_target(url)

    assert "postgresql://user:password@host" in str(refusal.value.hint)


async def test_nobody_listening_is_said_in_words() -> None:
    engine = connect(parse_target("postgresql://u:p@127.0.0.1:1/d"))

    with pytest.raises(DatabaseUnreachable, match="No database answers at"):
        await check_server(engine)

    await engine.dispose()


async def test_a_server_that_breaks_off_in_the_middle_may_be_back_soon(
    empty_database: TestDatabase,
) -> None:
    def die(*given: Any) -> tuple[str, Any]:
        return "SELECT pg_terminate_backend(pg_backend_pid())", given[3]

    engine = connect(parse_target(empty_database.url))
    event.listen(engine.sync_engine, "before_cursor_execute", die, retval=True)

    with pytest.raises(DatabaseUnreachable, match="broke off in the middle") as refusal:
        await check_server(engine)

    assert refusal.value.retryable
    await engine.dispose()


async def test_a_missing_database_is_told_from_a_missing_server(
    empty_database: TestDatabase,
) -> None:
    missing = empty_database.url.replace(empty_database.name, "no_such_database")
    engine = connect(parse_target(missing))

    with pytest.raises(DatabaseRefused, match="no such database"):
        await check_server(engine)

    await engine.dispose()


async def test_a_server_that_may_forget_a_commit_is_refused(
    empty_database: TestDatabase,
) -> None:
    engine = connect(parse_target(empty_database.url))

    with pytest.raises(DatabaseUnsuitable, match="fsync, full_page_writes = off"):
        await check_server(engine)

    await engine.dispose()


async def test_a_database_that_cannot_hold_all_letters_failed_half_migrated(
    empty_database: TestDatabase,
) -> None:
    target = parse_target(empty_database.url)
    ours = connect(target, pool_size=1).execution_options(isolation_level="AUTOCOMMIT")
    name = f"{target.url.database}_ascii"
    engine = connect(replace(target, url=target.url.set(database=name)), pool_size=1)
    async with ours.connect() as connection:
        await connection.execute(
            text(
                f"CREATE DATABASE {name} ENCODING 'SQL_ASCII' LOCALE 'C' TEMPLATE template0"
            )
        )
        try:
            with pytest.raises(DatabaseUnsuitable, match="encoded as SQL_ASCII"):
                await check_server(engine)
        finally:
            await engine.dispose()
            await connection.execute(text(f"DROP DATABASE {name}"))
    await ours.dispose()


async def test_the_pool_never_grows_past_its_size(empty_database: TestDatabase) -> None:
    engine = connect(parse_target(empty_database.url), name="pool-test", pool_size=2)
    query = text(
        "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'pool-test'"
    )

    async with engine.connect() as one, engine.connect():
        count = await one.scalar(query)

    assert count == 2
    await engine.dispose()


async def test_behind_a_pooler_no_statement_is_prepared_by_name(
    empty_database: TestDatabase,
) -> None:
    engine = connect(parse_target(empty_database.url, pooler=True))

    async with engine.connect() as connection:
        await connection.execute(text("SELECT :n + 1"), {"n": 1})
        named = await connection.scalar(
            text("SELECT count(*) FROM pg_prepared_statements")
        )

    assert named == 0
    await engine.dispose()


@pytest.mark.parametrize(("version", "is_refused"), [(130_020, True), (140_000, False)])
def test_a_server_older_than_14_is_refused(version: int, is_refused: bool) -> None:
    if not is_refused:
        refuse_old_server(version, "here")
        return
    with pytest.raises(
        DatabaseUnsuitable, match="is PostgreSQL 13; ScraperSky needs 14"
    ):
        refuse_old_server(version, "here")


@pytest.mark.xdist_group("cluster-copies")  # of one cluster
async def test_a_wrong_password_is_told_from_a_missing_server(scratch: Path) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    home = prepare_home(scratch / "with-password")
    (home / "postgres" / "pg_hba.conf").write_text(
        "local all all peer map=owner\nhost all all 127.0.0.1/32 scram-sha-256\n"
    )
    options = {"listen_addresses": "127.0.0.1", "port": str(port)}

    with EmbeddedPostgres(home, options=options):
        engine = connect(
            parse_target(f"postgresql://scrapersky:wrong@127.0.0.1:{port}/scrapersky")
        )
        with pytest.raises(DatabaseRefused, match="refused the user name or password"):
            await check_server(engine)
        await engine.dispose()


@pytest.mark.parametrize(
    "said",
    [
        asyncpg.ProtocolViolationError(
            "unsupported startup parameter: tcp_user_timeout"
        ),
        asyncpg.DuplicatePreparedStatementError("prepared statement already exists"),
        asyncpg.InvalidSQLStatementNameError("prepared statement does not exist"),
    ],
)
def test_a_pooler_nobody_told_us_of_was_called_a_crash(
    said: asyncpg.PostgresError,
) -> None:
    found = explain_refusal(said, "postgresql://h/d")

    assert isinstance(found, DatabaseUnsuitable)
    assert "DATABASE_POOLER=transaction" in (found.hint or "")


async def test_row_level_security_was_called_a_missing_system_user(
    database: TestDatabase,
) -> None:
    name = f"half_sighted_{database.name}"
    owner = connect(parse_target(database.url))
    async with owner.begin() as connection:
        await connection.execute(text(f"CREATE ROLE {name} NOLOGIN"))
        await connection.execute(
            text(f"GRANT ALL ON ALL TABLES IN SCHEMA public, curation TO {name}")
        )
        await connection.execute(text(f"GRANT USAGE ON SCHEMA curation TO {name}"))
    engine = connect(parse_target(database.url), role=name)
    try:
        with pytest.raises(DatabaseUnsuitable, match=f"hides rows from .*{name}"):
            await check_database(engine, SYSTEM_USER_ID)
        await check_database(owner, SYSTEM_USER_ID)
    finally:
        await engine.dispose()
        async with owner.begin() as connection:
            await connection.execute(text(f"DROP OWNED BY {name}"))
            await connection.execute(text(f"DROP ROLE {name}"))
        await owner.dispose()
