"""A sick machine harms only itself: it notices, claims nothing, says why, and recovers."""

import asyncio
import ssl
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
import trustme
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine

import curation_sdk
from curation_sdk.testing import make_due
from scrapersky.crawler import CrawlerPolicy, Sandbox
from scrapersky.crawler.pool import tls_context
from scrapersky.db.connection import connect, parse_target
from scrapersky.demo.services import town_policy
from scrapersky.errors import NoSuchHost
from scrapersky.pipeline import health_check
from scrapersky.pipeline.mail_server import MailAnswer, MailServersFound
from scrapersky.scheduler import self_check
from scrapersky.scheduler.app import work
from scrapersky.scheduler.background import Background
from scrapersky.scheduler.self_check import SelfCheck, memory_left
from scrapersky.scheduler.tools import ExternalServices
from scrapersky.stages import wf8_contacts
from sdk_tests.rig.size import size
from sdk_tests.rig.waiting import HUNG
from simulated_town.server import TownRequest, TownServer
from simulated_town.sites.reply import Reply
from tests.acceptance.rig import settings_for
from tests.conftest import TestDatabase
from tests.crawler.rig import a_crawler, a_policy, a_site, answer

HOME = (
    b"<html><title>Ada's Bakery</title><h1>Bakery</h1><p>We bake bread every morning"
    b" for the whole street.</p><a href='/contact'>Contact</a></html>"
)
DONE = "SELECT count(*) FROM domains WHERE status = 'completed'"
ONE_AT_A_TIME = {
    f"{prefix}_{name}": "1"
    for prefix in ("DOMAIN_SCHEDULER", "CONTACT_VALIDATION_SCHEDULER")
    for name in ("BATCH_SIZE", "CONCURRENCY")
}
"""So that the other machine gets its share."""
DEAD = "SELECT count(*) FROM curation.dead_letter"
VALID = "SELECT count(*) FROM contacts WHERE validation->>'verdict' = 'deliverable'"


@dataclass
class Machine:
    """What one machine can do: know names, and ask about mail."""

    is_sick: bool = False
    address: str = "127.16.0.1"
    asked: list[str] = field(default_factory=list)

    async def resolve(self, host: str, port: int) -> Sequence[str]:
        self.asked.append(host)
        if self.is_sick:
            raise NoSuchHost(host, "the name does not exist or has no address")
        return (self.address,)

    async def lookup(self, domain: str) -> MailServersFound:
        self.asked.append(domain)
        if self.is_sick:
            return MailServersFound(MailAnswer.NO_SUCH_DOMAIN)
        return MailServersFound(MailAnswer.TAKES_MAIL, ("mx.example",))


@dataclass(frozen=True)
class House:
    """Several machines on one database, and the web they visit."""

    url: str
    engine: AsyncEngine
    tenant: UUID
    policy: CrawlerPolicy
    port: int | None = None
    """Of the sites that speak TLS."""

    @asynccontextmanager
    async def at_work(
        self, machine: Machine, **environment: str
    ) -> AsyncIterator[Background]:
        services = ExternalServices(
            policy=self.policy, resolver=machine, sources={}, mail_servers=machine
        )
        off = {"DOMAIN_SITEMAP_SCHEDULER_ENABLED": "false"}
        settings = settings_for({**off, **environment})
        target = parse_target(self.url)
        async with work(settings, target, services=services) as run:
            yield run

    async def add_domains(self, *names: str) -> None:
        await self.run(
            "INSERT INTO domains (tenant_id, domain, home_url)"
            " SELECT :tenant, n, replace(:home, '*', n) FROM unnest(CAST(:names AS text[])) n",
            names=list(names),
            home="http://*/" if self.port is None else f"https://*:{self.port}/",
        )
        await curation_sdk.control.wake(self.engine, "domain_metadata")

    async def add_contacts(self, count: int) -> None:
        await self.run(
            "WITH d AS (INSERT INTO domains (tenant_id, domain, status)"
            " VALUES (:tenant, 'held.bv', 'completed') RETURNING id),"
            " p AS (INSERT INTO pages (tenant_id, domain_id, url)"
            " SELECT :tenant, id, 'http://held.bv/contact' FROM d RETURNING id, domain_id)"
            " INSERT INTO contacts (tenant_id, domain_id, page_id, email,"
            " contact_curation_status, validation_processing_status)"
            " SELECT :tenant, p.domain_id, p.id, 'c' || n || '@shop' || n || '.com',"
            " 'Queued', 'Queued' FROM p, generate_series(1, :count) n",
            count=count,
        )
        await curation_sdk.control.wake(self.engine, "contact_validation")

    async def run(self, statement: str, **values: Any) -> None:
        async with self.engine.begin() as connection:
            await connection.execute(text(statement), {"tenant": self.tenant, **values})

    async def count(self, query: str) -> int:
        async with self.engine.connect() as connection:
            return int(await connection.scalar(text(query)) or 0)

    async def until(self, query: str, wanted: int) -> None:
        async with asyncio.timeout(HUNG):
            while await self.count(query) != wanted:  # noqa: ASYNC110 - the database tells nobody
                await asyncio.sleep(0.05)


@pytest.fixture(autouse=True)
def no_parsing_children(monkeypatch: pytest.MonkeyPatch) -> None:
    """Read our own few pages in this process: a child takes seconds to start."""

    async def nothing(_: Sandbox) -> None:
        return None

    async def here(
        _: Sandbox, function: Callable[..., Any], body: bytes, *args: object
    ) -> Any:
        return function(body, *args)

    monkeypatch.setattr(Sandbox, "warm_up", nothing)
    monkeypatch.setattr(Sandbox, "run_on", here)


@pytest.fixture
async def house(database: TestDatabase) -> AsyncIterator[House]:
    def answer(ask: TownRequest) -> Reply:
        return Reply(HOME) if ask.path != "/robots.txt" else Reply(b"", status=404)

    async with TownServer(lambda _: None, answer).running() as server:
        engine = connect(parse_target(database.url), pool_size=3)
        async with engine.connect() as connection:
            tenant = await connection.scalar(text("SELECT id FROM tenants"))
        policy = replace(
            town_policy(server.port, host_delay=timedelta()),
            second_look=timedelta(milliseconds=200),
            failure_rest=timedelta(milliseconds=100),
        )
        yield House(database.url, engine, tenant, policy)
        await engine.dispose()


@pytest.mark.slow
async def test_a_machine_without_names_made_dead_letters_of_what_others_reach(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (health_check, wf8_contacts):
        monkeypatch.setattr(module, "RETRY_DELAY", timedelta(seconds=0.1))
    sick, well, many = Machine(is_sick=True), Machine(), size(8, 20)
    async with house.at_work(well, **ONE_AT_A_TIME):
        await house.add_domains("first.bv")
        await house.until(DONE, 1)
        await house.until("SELECT count(*) FROM host_outcomes WHERE outcome = 'ok'", 1)
        async with house.at_work(sick) as background:
            await house.add_domains(*(f"a{n}.bv" for n in range(many)))
            await house.add_contacts(many)
            # And the first, and the one that the contacts belong to.
            await house.until(DONE, many + 2)
            await house.until(VALID, many)

            # The sick one asked, saw that it is unfit, and left the rest to the other.
            assert sick.asked
            assert "no name is resolved here" in (background.resting or "")

    assert await house.count(DEAD) == 0


async def until_resting(background: Background, *, wanted: bool) -> None:
    async with asyncio.timeout(HUNG):
        while (background.resting is not None) != wanted:  # noqa: ASYNC110
            await asyncio.sleep(0.01)


@pytest.mark.slow
async def test_a_machine_that_is_well_again_works_again(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(self_check, "CHECK_SECONDS", 0.05)
    monkeypatch.setattr(self_check, "CHECK_SECONDS_WHILE_UNFIT", 0.05)
    monkeypatch.setattr(self_check, "ANSWER_LIFETIME_SECONDS", 0.0)
    machine = Machine()
    async with house.at_work(machine) as background:
        await house.add_domains("first.bv")
        await house.until(DONE, 1)
        await house.until("SELECT count(*) FROM host_outcomes WHERE outcome = 'ok'", 1)
        machine.is_sick = True
        await house.add_domains("second.bv")
        await until_resting(background, wanted=True)
        machine.is_sick = False
        await until_resting(background, wanted=False)
        async with asyncio.timeout(HUNG):
            # A lookup begun while it was sick may be put back after it is well.
            while await house.count(DONE) != 2:
                await make_due(house.engine, "domain_metadata")
                await asyncio.sleep(0.05)

    assert await house.count(DEAD) == 0


async def test_what_failed_while_it_was_sick_was_blamed_when_it_was_well_again(
    house: House, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    faults: list[str | None] = ["no certificate is trusted here"]

    async def certificates() -> str | None:
        return faults[-1]

    async with a_crawler() as crawler:
        check = SelfCheck(house.engine, crawler, data_dir=tmp_path)
        monkeypatch.setattr(check, "_certificates", certificates)
        assert await check.tls_fault() == faults[0]
        faults.append(None)
        await check.look()

    assert check.why is None
    # Names were never in doubt.
    assert await check.dns_fault() is None
    assert await check.tls_fault() == f"until a moment ago {faults[0]}"
    monkeypatch.setattr(self_check, "RECOVERY_SECONDS", 0.0)
    assert await check.tls_fault() is None


@pytest.fixture
async def trusted(
    house: House, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[House]:
    """Sites that speak TLS, with certificates of an authority that this machine trusts."""
    authority, server = (
        trustme.CA(),
        ssl.create_default_context(ssl.Purpose.CLIENT_AUTH),
    )
    authority.issue_cert("first.bv", "second.bv", "third.bv").configure_cert(server)
    authority.cert_pem.write_to_path(str(tmp_path / "authorities.pem"))
    monkeypatch.setenv("SSL_CERT_DIR", str(tmp_path / "none"))
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "authorities.pem"))
    tls_context.cache_clear()
    async with a_site({"*": answer(HOME)}, tls=server) as site:
        yield replace(house, policy=a_policy(site), port=site.port)
    tls_context.cache_clear()


@pytest.mark.slow
async def test_a_machine_without_authorities_made_dead_letters_of_what_others_trust(
    trusted: House, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(self_check, "CHECK_SECONDS", 0.05)
    monkeypatch.setattr(self_check, "CHECK_SECONDS_WHILE_UNFIT", 0.05)
    monkeypatch.setattr(health_check, "RETRY_DELAY", timedelta(seconds=0.1))
    async with trusted.at_work(Machine(address="127.0.0.1")):
        await trusted.add_domains("first.bv")
        await trusted.until(DONE, 1)
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "none"))
    tls_context.cache_clear()
    async with trusted.at_work(
        Machine(address="127.0.0.1"), DOMAIN_SITEMAP_SCHEDULER_ENABLED="true"
    ) as run:
        await trusted.add_domains("second.bv", "third.bv")
        await until_resting(run, wanted=True)
        assert run.resting == "no certificate is trusted here: not even first.bv"
        # The file is put back, and nobody restarts anything.
        monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "authorities.pem"))
        await until_resting(run, wanted=False)
        await trusted.until(DONE, 3)

    assert await trusted.count(DEAD) == 0


async def test_a_name_was_given_up_at_the_first_no(house: House) -> None:
    machine = Machine(is_sick=True)
    async with house.at_work(machine):
        await house.add_domains("gone.bv")
        await house.until(DEAD, 1)

    # Nobody has reached anything here, so the machine is believed, but only twice.
    assert machine.asked.count("gone.bv") >= 2
    tried = "SELECT count(*) FROM curation.attempt WHERE outcome = 'retried'"
    assert await house.count(tried) == 1


@pytest.mark.parametrize(
    ("limit", "value", "why"),
    [
        ("MIN_DISK_BYTES", 1 << 60, "MiB are free in"),
        ("MIN_MEMORY_BYTES", 1 << 60, "MiB of memory are left"),
        ("MAX_SKEW_SECONDS", -1.0, "the clock differs"),
    ],
)
async def test_a_full_disk_or_a_wrong_clock_is_seen_and_said(
    house: House, monkeypatch: pytest.MonkeyPatch, limit: str, value: float, why: str
) -> None:
    async with house.at_work(Machine()) as background:
        check = background.tools.health
        assert isinstance(check, self_check.SelfCheck)
        with monkeypatch.context() as patched:
            patched.setattr(self_check, limit, value)
            await check.look()
            assert why in (background.resting or "")
        await check.look()
        assert background.resting is None


def test_the_memory_of_a_control_group_is_what_counts(tmp_path: Path) -> None:
    (tmp_path / "meminfo").write_text("MemTotal: 9 kB\nMemAvailable: 4096 kB\n")
    assert memory_left(tmp_path / "meminfo", tmp_path) == 4096 * 1024
    (tmp_path / "memory.max").write_text("1000\n")
    (tmp_path / "memory.current").write_text("900\n")
    (tmp_path / "memory.stat").write_text("anon 5\ninactive_file 50\n")

    assert memory_left(tmp_path / "meminfo", tmp_path) == 150
    assert memory_left(tmp_path / "none", tmp_path / "none") is None
