"""A database that is there and says no: callers and operators hear why, and it passes."""

import subprocess
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from pathlib import Path

import httpx
import pytest
import pytest_asyncio

from scrapersky.api.app import create_app
from scrapersky.configuration import load_settings
from scrapersky.db.connection import connect, parse_target
from scrapersky.db.embedded import server_user
from scrapersky.errors import DatabaseProblem
from scrapersky.records.check import check_writing
from scrapersky.scheduler.app import serve
from tests.api.records.rig import AT_REST, Desk
from tests.conftest import TestDatabase, TestServer

SETTINGS = load_settings(AT_REST, dotenv=None).settings
REFUSE = """CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
  $$ BEGIN RAISE EXCEPTION 'no' USING ERRCODE = '{}'; END $$"""
ON = "CREATE TRIGGER refuse BEFORE INSERT ON {} EXECUTE FUNCTION refuse()"


@pytest_asyncio.fixture
async def desk(database: TestDatabase) -> AsyncIterator[Desk]:
    target = parse_target(database.url)
    app = create_app(SETTINGS, target, process=serve)
    engine = connect(target)
    transport = httpx.ASGITransport(
        app, raise_app_exceptions=False, client=("127.0.0.1", 40000)
    )
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client,
    ):
        yield await Desk.open(engine, client, app)
    await engine.dispose()


@pytest.fixture
def small_disk(scratch: Path) -> Iterator[Path]:
    """A disk of its own, of a few megabytes, that the server may write to."""
    place, user = scratch / "small-disk-of-a-table", server_user()
    place.mkdir(exist_ok=True)
    owner = f"size=8m,uid={user.uid},gid={user.gid},mode=700"
    mount = ["mount", "-t", "tmpfs", "-o", owner, "tmpfs", str(place)]
    try:
        subprocess.run(mount, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("only root can mount a disk")
    yield place
    subprocess.run(["umount", "--lazy", place], check=True)


def fill(disk: Path) -> Path:
    """Leave no room on a disk."""
    filler = disk / "filler"
    with filler.open("wb", buffering=0) as file, suppress(OSError):
        while True:
            file.write(bytes(4096))
    return filler


async def test_a_full_disk_was_only_try_again_in_a_moment(
    desk: Desk, small_disk: Path, postgres_server: TestServer
) -> None:
    many = {"items": [f"{'a' * 50}.{'b' * 50}{n}.example" for n in range(500)]}
    postgres_server.run(f"CREATE TABLESPACE small LOCATION '{small_disk}'")
    try:
        await desk.run("ALTER TABLE domains SET TABLESPACE small")
        filler = fill(small_disk)
        refused = await desk.client.post("/api/v3/domains", json=many)
        filler.unlink()
        again = await desk.client.post("/api/v3/domains", json=many)
        stored = await desk.scalar("SELECT count(*) FROM domains")
    finally:
        await desk.run("ALTER TABLE domains SET TABLESPACE pg_default")
        postgres_server.run("DROP TABLESPACE small")

    assert refused.status_code == 503, refused.text
    problem = refused.json()
    assert problem["type"].endswith("/database-full")
    assert problem["detail"] == "The database has no disk space left."
    assert "Free space" in problem["hint"]
    assert again.is_success, again.text
    assert stored == 500


@pytest.mark.parametrize(
    ("code", "kind", "said"),
    [
        ("53100", "database-full", "has no disk space left"),
        ("53200", "database-overloaded", "has no memory left"),
        ("53300", "database-overloaded", "has no connection left"),
        ("57P03", "database-starting", "is starting up or shutting down"),
        ("25006", "database-read-only", "can only be read"),
    ],
)
async def test_what_is_wrong_with_the_database_was_in_the_log_only(
    desk: Desk, code: str, kind: str, said: str
) -> None:
    await desk.run(REFUSE.format(code))
    for table in ("domains", "audit_log"):
        await desk.run(ON.format(table))

    refused = await desk.client.post("/api/v3/domains", json={"items": ["a.example"]})
    ready = await desk.client.get("/health/ready")
    with pytest.raises(DatabaseProblem, match=said):
        # As `scrapersky doctor` does.
        await check_writing(desk.engine)
    await desk.run("DROP FUNCTION refuse CASCADE")
    again = await desk.client.post("/api/v3/domains", json={"items": ["a.example"]})

    problem = refused.json()
    assert (refused.status_code, problem["type"].rpartition("/")[2]) == (503, kind)
    assert said in problem["detail"]
    assert problem["hint"]
    assert refused.headers["retry-after"]
    assert said in ready.json()["checks"]["writing"]
    assert again.is_success, again.text
