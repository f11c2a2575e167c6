"""Erasing while everything dies: nothing comes back, and nothing is left half erased."""

import asyncio
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from sqlalchemy import event, text

from scrapersky.curation.batch import submit
from scrapersky.db.connection import connect, parse_target
from scrapersky.db.embedded import EmbeddedPostgres
from scrapersky.db.migrate import upgrade
from scrapersky.privacy.key import load_suppression_keys
from scrapersky.privacy.person import erase_person, export_person
from scrapersky.privacy.subject import any_subject
from scrapersky.records.audit import Actor
from scrapersky.settings import SYSTEM_USER_ID
from sdk_tests.rig.size import size
from tests.conftest import TestServer
from tests.privacy.conftest import House
from tests.privacy.crowd import BEGUN, QUEUE_ALL, person

ROOT = Path(__file__).parents[2]
ADA = any_subject("ada@a.bv")
PEOPLE = 1_000
LIFE = (4.0, 12.0)
"""Seconds a process lives after it has begun."""
SEED = 20_261_115

STANDING = """
SELECT (SELECT count(*) FROM suppressions), (SELECT count(*) FROM contacts
  WHERE email = 'ada@a.bv'), (SELECT count(*) FROM contact_evidence),
  (SELECT count(*) FROM domains WHERE 'ada@a.bv' = ANY(emails))
"""
CUTS = (60, 30, 15, 11, 9, 8, 7, 6, 5, 4, 3, 1)
"""Statements of an erasure before which it is cut."""
WRITTEN = [(0, 1, 1, 1)]
# One entry for the address, one for the name at that domain.
ERASED = [(2, 0, 0, 0)]


class Cut(Exception):
    """The process ends here."""


class Scissors:
    """End whatever uses an engine at its n-th statement."""

    def __init__(self) -> None:
        self.left: int | None = None

    def before(self, *_given: Any) -> None:
        if self.left is None:
            return
        self.left -= 1
        if self.left == 0:
            raise Cut


@pytest.mark.slow
async def test_an_erasure_cut_anywhere_leaves_no_half_and_is_finished_by_the_next(
    house: House,
) -> None:
    scissors = Scissors()
    event.listen(house.engine.sync_engine, "before_cursor_execute", scissors.before)
    await write_ada(house)
    for cut in CUTS[:: size(2, 1)]:
        scissors.left = cut
        with pytest.raises(Cut):
            await erase_person(house.engine, house.actor, ADA)
        scissors.left = None
        assert await house.rows(STANDING) in (WRITTEN, ERASED), cut

        await erase_person(house.engine, house.actor, ADA)
        assert await export_person(house.engine, house.actor, ADA) == [], cut
        assert await house.rows(STANDING) == ERASED, cut
        await house.run("DELETE FROM suppressions")
        await house.run("DELETE FROM domains")
        await write_ada(house)


async def write_ada(house: House) -> None:
    """Write one person in a contact, its evidence, a domain and two pages."""
    domain = await house.add_domain(emails=["ada@a.bv"])
    await house.add_contact(domain, email="ada@a.bv", name="Ada Lovelace")
    await house.run(
        "INSERT INTO pages (tenant_id, domain_id, url, title) VALUES"
        " (:t, :d, 'http://a.bv/vcard?m=ada%40a.bv', 'x'),"
        " (:t, :d, 'http://a.bv/team', 'Ada Lovelace, ada@a.bv')",
        t=house.actor.tenant_id,
        d=domain,
    )


def begin(role: str, url: str, *more: object) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-m", f"tests.privacy.{role}", url, str(PEOPLE),
         *map(str, more)],
        cwd=ROOT, stdout=subprocess.PIPE, text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )  # fmt: skip


class Chaos:
    """The crawl and the erasing, each begun again whenever it was killed."""

    def __init__(self, server: EmbeddedPostgres) -> None:
        self.server = server
        self.chance = random.Random(SEED)
        self.over = threading.Event()
        self.erased = 0
        self.kills = {"drain": 0, "erasing": 0, "database": 0}

    def live(self) -> None:
        """Erase everyone while everything is killed; the crawl never ends by itself."""
        with ThreadPoolExecutor() as threads:
            tasks = [
                threads.submit(act)
                for act in (self.erase_all, self.crawl_all, self.kill_database)
            ]
            wait(tasks, return_when=FIRST_COMPLETED)
            self.over.set()
        for task in tasks:
            task.result()

    def erase_all(self) -> None:
        while self.erased < PEOPLE and not self.over.is_set():
            with self.short_life("erasing", self.erased) as reported:
                for line in reported:
                    self.erased = int(line) + 1

    def crawl_all(self) -> None:
        while not self.over.is_set():
            with self.short_life("drain", "forever") as reported:
                assert [*reported] == []

    @contextmanager
    def short_life(self, role: str, *more: object) -> Iterator[Iterator[str]]:
        """Begin a process and kill it a moment after it has really begun."""
        with self.begun(role, *more) as process:
            death = threading.Timer(self.chance.uniform(*LIFE), process.kill)
            reported = process.stdout
            assert reported is not None
            try:
                death.start()
                yield reported
            except BaseException:
                process.kill()
                raise
            self.kills[role] += process.wait() == -signal.SIGKILL
            death.cancel()
        assert process.returncode in {0, -signal.SIGKILL}, f"{role} gave up"

    def begun(self, role: str, *more: object) -> "subprocess.Popen[str]":
        """Begin a process, again if the database was away at that moment."""
        for _ in range(20):
            process = begin(role, self.server.url, *more)
            assert process.stdout is not None
            if process.stdout.readline().strip() == BEGUN:
                return process
            with process:
                process.kill()
        raise AssertionError(f"{role} did not begin")

    def kill_database(self) -> None:
        """Kill the database now and then, and bring it back."""
        while not self.over.wait(self.chance.uniform(12, 20)):
            pid = int((self.server.data / "postmaster.pid").read_text().splitlines()[0])
            os.kill(pid, signal.SIGKILL)
            self.server.stop()
            self.server.start()
            self.kills["database"] += 1


async def seed(url: str) -> Actor:
    engine = connect(parse_target(url), statement_timeout=None)
    await upgrade(engine)
    async with engine.begin() as connection:
        tenant = await connection.scalar(text("SELECT id FROM tenants"))
        await connection.execute(
            text(
                "WITH made AS (INSERT INTO domains (tenant_id, domain, home_url)"
                " SELECT :t, 'a' || n || '.bv', 'http://a' || n || '.bv/'"
                " FROM generate_series(0, :n - 1) AS n RETURNING id, domain)"
                " INSERT INTO pages (tenant_id, domain_id, url, page_processing_status)"
                " SELECT :t, id, 'http://' || domain || '/team', 'Queued' FROM made"
            ),
            {"t": tenant, "n": PEOPLE},
        )
    await engine.dispose()
    return Actor(tenant, SYSTEM_USER_ID, "Ada")


async def come_again(url: str, actor: Actor) -> tuple[int, int]:
    """Queue everything once more, and submit their addresses by hand."""
    engine = connect(parse_target(url))
    await load_suppression_keys(engine)
    async with engine.begin() as connection:
        for statement in QUEUE_ALL:
            await connection.execute(text(statement))
    lines = [f"a{n}.bv/card?mail={person(n).value}" for n in range(PEOPLE)]
    done = await submit(engine, actor, "pages", lines)
    async with engine.connect() as connection:
        listed = await connection.scalar(text("SELECT count(*) FROM suppressions"))
    await engine.dispose()
    return done.refused, int(listed or 0)


@pytest.mark.long
def test_a_thousand_people_erased_while_everything_is_killed_do_not_come_back(
    scratch: Path, postgres_server: TestServer
) -> None:
    with EmbeddedPostgres(scratch / f"erasing-{uuid4().hex[:6]}") as server:
        actor = asyncio.run(seed(server.url))
        chaos = Chaos(server)
        began = time.monotonic()
        chaos.live()
        taken = time.monotonic() - began
        refused, listed = asyncio.run(come_again(server.url, actor))
        with begin("drain", server.url, "once") as last:
            assert last.wait(600) == 0
        dump = subprocess.run(
            [postgres_server.bin / "pg_dump", "--data-only", "--inserts",
             server.url.replace("+asyncpg", "")],
            capture_output=True, check=True, text=True,
        ).stdout.lower()  # fmt: skip
    print(f"{chaos.erased} erased in {taken:.0f} s: {chaos.kills}")

    assert chaos.erased == PEOPLE
    assert (refused, listed) == (PEOPLE, PEOPLE)
    assert [n for n in range(PEOPLE) if person(n).value in dump] == []
    assert [n for n in range(PEOPLE) if f"person{n}%40" in dump] == []
    # The crawl did store people: their neighbours are all there.
    assert [n for n in range(PEOPLE) if f"'other{n}@a{n}.bv'" not in dump] == []
    assert min(chaos.kills.values()) >= 10, chaos.kills
