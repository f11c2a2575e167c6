"""The page about moving to another region, followed with and without the keys."""

import re
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jwt
import psycopg
import pytest

from sdk_tests.rig.cluster import Cluster, running_cluster
from tests.cli.rig import run
from tests.how_to.guide import PAGES, Shell, statements_of, steps_of
from tests.how_to.running import running

PAGE = "move-between-regions.md"
NAME = "scrapersky"
LISTED = "ada@a.example"
FILE, WAY_BACK = "last-of-the-old-region", "first-of-the-new-region"
SECRETS = {
    "SUPPRESSION_KEY": "f2a94e77c1d04b6f8a53e90b7d21c6584e0f9b3a",
    "JWT_SECRET": "9Qm3vT7xKc2LwZ8rNp5sBd6yHf4jGa1eUo0iXq-7tVk",
    "JWT_AUDIENCE": "scrapersky",
    "JWT_ISSUER": "https://issuer.example",
}
ASKED = """INSERT INTO hosts (key, next_at, delay, paused_until, pause_reason)
  VALUES ('slow.example', now() + interval '1 hour', '30 seconds', now() + interval '2 hours',
  'Retry-After')"""
HOSTS = "SELECT key, next_at, delay, paused_until, pause_reason FROM hosts ORDER BY key"


@pytest.fixture
def regions() -> Iterator[tuple[Cluster, Cluster]]:
    with running_cluster() as old, running_cluster() as new:
        for server in (old, new):
            server.create_database(NAME)
        yield old, new


@pytest.mark.slow
def test_an_installation_moves_to_another_region_and_nobody_on_its_list_comes_back(
    regions: tuple[Cluster, Cluster], tmp_path: Path
) -> None:
    old, new = regions
    close, end, reopen = statements_of(PAGE)
    here = settings_of(old, tmp_path / "old") | SECRETS
    bare = settings_of(new, tmp_path / "new")
    there = bare | SECRETS
    first, second = (Shell(Path(own["HOME"]), **own) for own in (here, there))
    first.type("scrapersky migrate")
    key = first.type("scrapersky key create mover --role admin").strip()
    first.type("scrapersky user create eve@e.example --role viewer --subject eve")
    old.execute(ASKED, database=NAME)
    with running("serve", here) as api:
        added = api.ask(
            "POST",
            "/api/v3/suppressions",
            json={"values": [LISTED]},
            headers=bearer(key),
        )
        assert added.status_code == 201, added.text

    for step in steps_of(PAGE, "In the old region"):
        first.follow(step)
    old.execute(close)
    old.execute(end)
    with pytest.raises(psycopg.OperationalError, match="not currently accepting"):
        psycopg.connect(old.tcp_dsn(NAME))
    for name in (FILE, "settings-of-the-old-region"):
        shutil.copy(first.place / name, second.place)

    unsigned = run("restore", str(second.place / FILE), **there)
    assert "the key it was signed with is not here" in unsigned.stderr
    shutil.copy(first.place / "backup.key", second.place)
    unkeyed = run("restore", str(second.place / FILE), **bare)
    assert "made with a SUPPRESSION_KEY, and none is set" in unkeyed.stderr
    compare, restore, check, mine, listed, *after = steps_of(PAGE, "In the new region")
    for step in (compare, restore, check):
        second.follow(step)
    refused_without_the_key(bare)

    assert new.execute(HOSTS, database=NAME) != []
    with running("serve", there) as api:
        second.type(f"export API={api.address}/api/v3 KEY={key} LISTED={LISTED}")
        for step in (mine, listed):
            second.follow(step)
        token = api.ask("GET", "/api/v3/contacts", headers=bearer(token_of("eve")))
        assert token.status_code == 200, token.text
        with running("worker", there):
            for step in after:
                second.follow(step)
        second.type("echo done-there.example > list; scrapersky submit list")
    second.type(f"scrapersky backup {WAY_BACK}")

    old.execute(reopen)
    assert old.execute(HOSTS, database=NAME) == new.execute(HOSTS, database=NAME)
    shutil.copy(second.place / WAY_BACK, first.place)
    for step in steps_of(PAGE, "The way back"):
        first.follow(step)
    assert old.execute("SELECT domain FROM domains", database=NAME) == [
        ("done-there.example",)
    ]


def refused_without_the_key(settings: dict[str, Any]) -> None:
    """See that nothing starts, without a key or with another, and says what the page says."""
    (said,) = re.findall(
        r"^```text\n(.*)\n```$", (PAGES / PAGE).read_text(), re.MULTILINE
    )
    pattern = re.escape(said).replace("…", r"\d+")
    for key in ({}, {"SUPPRESSION_KEY": SECRETS["SUPPRESSION_KEY"][::-1]}):
        for command in ("serve", "worker"):
            started = run(command, **settings | key)
            assert started.returncode != 0
            assert re.search(pattern, started.stderr), started.stderr


def settings_of(server: Cluster, home: Path) -> dict[str, Any]:
    """Return what belongs to one region alone."""
    home.mkdir()
    address = server.tcp_dsn(NAME)
    return {"DATABASE_URL": address, "SCRAPERSKY_DATA_DIR": home, "HOME": home}


def bearer(credential: str) -> dict[str, str]:
    """Return the header that carries a credential."""
    return {"Authorization": f"Bearer {credential}"}


def token_of(subject: str) -> str:
    """Sign a token as the issuer does."""
    now = int(time.time())
    said = {
        "sub": subject, "iat": now, "exp": now + 600,
        "aud": SECRETS["JWT_AUDIENCE"], "iss": SECRETS["JWT_ISSUER"],
    }  # fmt: skip
    return jwt.encode(said, SECRETS["JWT_SECRET"], "HS256")
