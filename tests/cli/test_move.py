"""A database moves to every PostgreSQL that can be had, and back, and is written there."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from scrapersky.db.embedded import DATABASE, EmbeddedPostgres
from sdk_tests.rig.cluster import Cluster
from tests.cli.rig import Answer, Command, database_of, execute, run_here
from tests.conftest import TestDatabase
from tests.db.other_servers import VERSIONS, running_server
from tests.db.prepared import prepare_home

pytestmark = pytest.mark.slow
COUNTS = """SELECT (SELECT count(*) FROM domains), (SELECT count(*) FROM batch_items),
  (SELECT count(*) FROM audit_log WHERE action <> 'restored')"""
SCHEMAS = "SELECT count(*) FROM pg_namespace WHERE nspname = 'curation'"


@pytest.fixture
def home(scratch: Path) -> Path:
    return prepare_home(scratch / f"move-{time.monotonic_ns()}", migrated=True)


@pytest.fixture
def embedded(home: Path) -> Iterator[TestDatabase]:
    with EmbeddedPostgres(home) as server:
        yield database_of(server, DATABASE)


@pytest.fixture(
    params=[
        pytest.param(version, marks=pytest.mark.long if rank else ())
        for rank, version in enumerate(VERSIONS)
    ]
)
def other(request: pytest.FixtureRequest) -> Iterator[Cluster]:
    with running_server(request.param) as server:
        server.create_database("moved")
        yield server


@pytest.fixture
def ask(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    return run_here(monkeypatch, capsys)


def succeeded(answer: Answer) -> Answer:
    assert answer.returncode == 0, answer.stderr
    return answer


def test_a_database_moved_to_an_older_server_could_not_be_written(
    home: Path, embedded: TestDatabase, other: Cluster, ask: Command, tmp_path: Path
) -> None:
    here = {"SCRAPERSKY_DATA_DIR": home}
    there = TestDatabase(other.tcp_url("moved"), other.tcp_dsn("moved"), "moved")
    listed = tmp_path / "domains"
    listed.write_text("".join(f"shop-{n}.example\n" for n in range(300)))
    succeeded(ask("submit", str(listed), **here))
    before = execute(embedded, COUNTS)

    succeeded(ask("move", there.dsn, **here))
    refused = ask("move", there.dsn, **here)
    succeeded(ask("move", there.dsn, "--replace", **here))

    assert "--replace" in refused.stderr
    assert execute(there, COUNTS) == before
    elsewhere = {"DATABASE_URL": there.url, "SCRAPERSKY_DATA_DIR": tmp_path / "other"}
    listed.write_text("written-there.example\n")
    succeeded(ask("submit", str(listed), **elsewhere))
    succeeded(ask("doctor", **elsewhere))
    succeeded(ask("move", embedded.dsn, "--replace", **elsewhere))
    assert execute(embedded, "SELECT count(*) FROM domains") == [(301,)]
    print(f"PostgreSQL {other.binaries}: {before[0]}, written there, and moved back")


def test_a_move_to_a_database_that_cannot_take_it_copies_nothing(
    home: Path, embedded: TestDatabase, ask: Command
) -> None:
    with running_server(VERSIONS[0]) as server:
        server.create_database("theirs")
        server.execute("CREATE ROLE visitor LOGIN")
        theirs = server.tcp_dsn("theirs").replace("postgres@", "visitor@")

        refused = ask("move", theirs, SCRAPERSKY_DATA_DIR=home)

        assert "cannot be filled: must be owner of schema public" in refused.stderr
        assert server.execute(SCHEMAS, database="theirs") == [(0,)]
    assert embedded.name == DATABASE
