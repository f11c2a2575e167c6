"""The recipes for schedulers and frameworks, run as the page prints them."""

import asyncio
import contextlib
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import asyncpg
import httpx
import pytest

from sdk_tests.rig.waiting import wait_until
from tests.conftest import TestDatabase, TestServer, a_database

pytestmark = pytest.mark.slow

PAGE = (
    Path(__file__).parents[1]
    / "docs"
    / "how-to"
    / "run-it-from-cron-apscheduler-or-celery.md"
)
BLOCKS = re.findall(
    r"^```python\n# (\w+\.py)\n(.*?)^```$", PAGE.read_text(), re.DOTALL | re.MULTILINE
)
TIMEOUT = 60.0


CREATE_TABLES = "import asyncio, letters; asyncio.run(letters.create_tables())"
ASK_AND_WORK = """
import sys, celery.__main__, celery_letters
celery_letters.send_letters.delay()
sys.exit(celery.__main__.main())
"""


class Folder:
    """A folder with the files of the page, and the database they work on."""

    def __init__(self, place: Path, database: TestDatabase) -> None:
        self.place = place
        self.database = database
        for name, text in BLOCKS:
            (place / name).write_text(text)
        self.environment = {
            "PATH": os.environ["PATH"],
            "DATABASE_URL": database.url,
            "CELERY_BROKER_URL": "filesystem://",
        }

    def run(self, *words: str) -> str:
        """Run a program to its end; return what it printed."""
        return subprocess.run(
            [sys.executable, *words],
            cwd=self.place,
            env=self.environment,
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        ).stdout

    @contextlib.contextmanager
    def running(self, *words: str) -> Iterator[None]:
        """Run a program that does not end by itself; it must end when it is asked to."""
        process = subprocess.Popen(
            [sys.executable, *words], cwd=self.place, env=self.environment
        )
        try:
            yield
            process.send_signal(signal.SIGINT)
            process.wait(TIMEOUT)
        finally:
            process.kill()
            process.wait()

    def query(self, statement: str) -> list[asyncpg.Record]:
        async def fetch() -> list[asyncpg.Record]:
            connection = await asyncpg.connect(self.database.dsn)
            try:
                return await connection.fetch(statement)
            finally:
                await connection.close()

        return asyncio.run(fetch())

    def sent(self) -> list[str]:
        rows = self.query(
            "SELECT receipt FROM letter WHERE status = 'SENT' ORDER BY id"
        )
        return [row["receipt"] for row in rows]

    def wait_until_sent(self, count: int) -> None:
        wait_until(lambda: len(self.sent()) >= count, "the letters")


@pytest.fixture(scope="module")
def tables(
    postgres_server: TestServer, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    """Name a database in which the page has made its tables."""
    for database in a_database(postgres_server, template="template0"):
        Folder(tmp_path_factory.mktemp("letters"), database).run("-c", CREATE_TABLES)
        yield database.name


@pytest.fixture
def folder(
    tmp_path: Path, postgres_server: TestServer, tables: str
) -> Iterator[Folder]:
    """A folder of its own for every program, with two letters queued."""
    for database in a_database(postgres_server, template=tables):
        folder = Folder(tmp_path, database)
        folder.query("INSERT INTO letter (address, status) VALUES ('a', 'QUEUED')")
        folder.query("INSERT INTO letter (address, status) VALUES ('b', 'QUEUED')")
        yield folder


def test_every_program_of_the_page_is_run_here() -> None:
    names = [name for name, _ in BLOCKS]
    recipes = ("send_letters", "schedule_letters", "celery_letters", "web_letters")

    assert names == ["letters.py", *(f"{name}.py" for name in recipes)]
    assert PAGE.read_text().count("```python") == len(names)


def test_cron_works_one_batch(folder: Folder) -> None:
    line, count = folder.run("send_letters.py").splitlines()

    assert "job_loop.ended" in line
    assert count == "2 letters"
    assert folder.run("send_letters.py").endswith("0 letters\n")
    assert folder.sent() == ["sent to a", "sent to b"]


def test_apscheduler_awaits_the_coroutine(folder: Folder) -> None:
    with folder.running("schedule_letters.py"):
        folder.wait_until_sent(2)


def test_celery_runs_the_task(folder: Folder) -> None:
    # What is sent through this broker is read from the same place.
    (folder.place / "data_in").mkdir()
    (folder.place / "data_out").symlink_to("data_in")
    worker = ("-c", ASK_AND_WORK, "-A", "celery_letters", "worker", "--beat")

    with folder.running(*worker, "--pool", "solo", "--loglevel", "WARNING"):
        folder.wait_until_sent(2)


def test_fastapi_runs_a_worker_as_long_as_the_application(folder: Folder) -> None:
    socket = folder.place / "web.sock"

    with folder.running("-m", "uvicorn", "web_letters:app", "--uds", str(socket)):
        folder.wait_until_sent(2)
        with httpx.Client(transport=httpx.HTTPTransport(uds=str(socket))) as client:
            answer = client.post("http://letters/letters", params={"address": "c"})
        folder.wait_until_sent(3)

    assert answer.status_code == 202
    assert folder.sent()[2] == "sent to c"
