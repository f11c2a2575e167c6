"""The page about rotating secrets, followed with an API and a worker that go on."""

import re
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import psycopg
import pytest

from scrapersky.configuration import VARIABLES
from sdk_tests.rig.cluster import Cluster, running_cluster
from tests.cli.rig import run
from tests.how_to.guide import PAGES, Shell, Step, statements_of, steps_of
from tests.how_to.running import running

PAGE = "rotate-secrets.md"
FIRST, SECOND = "first-key-" + "1" * 32, "second-key-" + "2" * 32
LISTED = ["ada@a.example", "bob@b.example"]


def test_every_secret_of_the_settings_is_on_the_page() -> None:
    page = (PAGES / PAGE).read_text()
    secrets = [one.name for one in VARIABLES.values() if one.is_secret]

    assert len(secrets) > 10
    assert [name for name in secrets if f"`{name}`" not in page] == []


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    """Run a server that asks the users of processes for their passwords."""
    with running_cluster() as cluster:
        rules = cluster.data / "pg_hba.conf"
        asked = "host all scrapersky_a,scrapersky_b all scram-sha-256\n"
        rules.write_text(asked + rules.read_text())
        cluster.execute("SELECT pg_reload_conf()")
        cluster.create_database("live")
        yield cluster


@pytest.mark.long
def test_the_database_user_and_the_suppression_key_change_under_a_running_installation(
    cluster: Cluster, tmp_path: Path
) -> None:
    owner = {"DATABASE_URL": cluster.dsn("live"), "SCRAPERSKY_DATA_DIR": tmp_path}
    shell = Shell(tmp_path, **owner)
    shell.type("scrapersky migrate")
    cluster.execute("CREATE ROLE scrapersky_a LOGIN PASSWORD 'old one'")
    cluster.execute("GRANT scrapersky_api TO scrapersky_a")
    shell.type("scrapersky roles --app scrapersky_a --apply")
    old_user = {"DATABASE_URL": as_user(cluster, "scrapersky_a", "old%20one")}
    new_user = {"DATABASE_URL": as_user(cluster, "scrapersky_b", "a%20new%20one")}
    base = {"SCRAPERSKY_DATA_DIR": tmp_path, "SUPPRESSION_KEY": FIRST}
    make, grant, look, *drop = statements_of(PAGE)

    with ExitStack() as first:
        old_api = first.enter_context(running("serve", base | old_user))
        first.enter_context(running("worker", base | old_user))
        added = old_api.ask("POST", "/api/v3/suppressions", json={"values": LISTED[:1]})
        assert added.status_code < 300, added.text

        cluster.execute(make)
        cluster.execute(grant)
        (key, step, *_) = steps_of(PAGE)
        assert re.fullmatch(r"[0-9a-f]{64}\n", shell.follow(key))
        assert step.command == "scrapersky doctor"
        shell.follow(step_with(PAGE, "roles"))
        both = base | new_user | {"SUPPRESSION_OTHER_KEYS": SECOND}
        next_api = first.enter_context(running("serve", both))
        assert next_api.ask("GET", "/api/v3/contacts").status_code == 200
        assert old_api.ask("GET", "/api/v3/contacts").status_code == 200

        swapped = both | {"SUPPRESSION_KEY": SECOND, "SUPPRESSION_OTHER_KEYS": FIRST}
        with running("serve", swapped) as new_api, running("worker", swapped):
            new_api.ask("POST", "/api/v3/suppressions", json={"values": LISTED[1:]})
            for api in (next_api, new_api):
                asked = {"values": LISTED}
                found = api.ask("POST", "/api/v3/suppressions/check", json=asked)
                assert found.text.count("true") == 2, found.text
            first.close()
            # Nobody else's: the old ones are stopped.
            assert cluster.execute(look) == [(0,)]
            for statement in drop:
                cluster.execute(statement, database="live")
            assert new_api.is_ready()
            assert new_api.ask("GET", "/api/v3/contacts").status_code == 200
            with pytest.raises(psycopg.OperationalError):
                psycopg.connect(old_user["DATABASE_URL"])

            alone = {**swapped, "SUPPRESSION_OTHER_KEYS": ""}
            refused = run("doctor", "--json", **alone)
            assert "1 entries are, or may be, under a key" in refused.stdout
            again = "\n".join(LISTED)
            new_api.ask("POST", "/api/v3/suppressions/import", content=again)
        accepted = run("doctor", **alone)
        assert accepted.returncode == 0, accepted.stdout
        with running("serve", alone) as api:
            found = api.ask(
                "POST", "/api/v3/suppressions/check", json={"values": LISTED}
            )
            assert found.text.count("true") == 2


@pytest.mark.slow
def test_api_keys_and_the_key_of_backups_are_changed(
    cluster: Cluster, tmp_path: Path
) -> None:
    settings = {"DATABASE_URL": cluster.dsn("live"), "SCRAPERSKY_DATA_DIR": tmp_path}
    shell = Shell(tmp_path, **settings)
    shell.type("scrapersky migrate")
    old = shell.type("scrapersky key create 'old export' --scope read").strip()
    with running("serve", settings) as api:
        shell.type(f"export API={api.address}/api/v3")
        mine = {"headers": {"Authorization": f"Bearer {old}"}}
        assert api.ask("GET", "/api/v3/contacts", **mine).status_code == 200
        for step in steps_of(PAGE, "API keys"):
            shell.follow(step)
        assert api.ask("GET", "/api/v3/contacts", **mine).status_code == 401

    shell.type(f"export OLD_BACKUP_KEY={FIRST}")
    shell.type(f"BACKUP_KEY={FIRST} scrapersky backup monday")
    shell.type(f"export BACKUP_KEY={SECOND}; scrapersky backup tuesday")
    new = {**settings, "BACKUP_KEY": SECOND}
    refused = run("restore", str(tmp_path / "monday"), "--replace", **new)
    assert "signed with another key" in refused.stderr
    for step in steps_of(PAGE, "The key of backups"):
        shell.follow(step)
    taken = run("restore", str(tmp_path / "tuesday"), "--replace", **new)
    assert taken.returncode == 0, taken.stderr


def step_with(page: str, word: str) -> Step:
    """Return the one step of a page that has a word."""
    (found,) = (step for step in steps_of(page) if word in step.command)
    return found


def as_user(cluster: Cluster, user: str, password: str) -> str:
    """Return the address over loopback for a user with a password."""
    return f"postgresql://{user}:{password}@127.0.0.1:{cluster.port}/live"
