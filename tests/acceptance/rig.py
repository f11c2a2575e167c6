"""The whole pipeline over the demo town, by worker processes that may be killed."""

import asyncio
import contextlib
import multiprocessing
import os
import signal
import sys
import time
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import timedelta
from multiprocessing.context import ForkServerContext, ForkServerProcess
from multiprocessing.synchronize import Event
from pathlib import Path
from typing import Any
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

import curation_sdk
from scrapersky.configuration import load_settings
from scrapersky.crawler import CrawlerPolicy
from scrapersky.curation.rule import save_rule
from scrapersky.db.connection import connect, parse_target
from scrapersky.db.migrate import upgrade
from scrapersky.db.transaction import run_in_transaction
from scrapersky.demo.services import town_policy, town_services
from scrapersky.observability.log import configure_logs
from scrapersky.records.audit import Actor
from scrapersky.scheduler.app import up
from scrapersky.settings import SYSTEM_USER_ID, Settings
from scrapersky.stages import PIPELINE
from simulated_town.town import TownEndpoint
from simulated_town.truth import FactKind, TruthComparison

PREFIXES = tuple(stage.settings.prefix for stage in PIPELINE)
START_TIMEOUT = 120.0
OPEN = """
SELECT (SELECT count(*) FROM curation.claim)
  + (SELECT count(*) FROM place_searches WHERE status IN ('Queued', 'InProgress'))
  + (SELECT count(*) FROM places_staging
     WHERE deep_scan_status IN ('Queued', 'Processing'))
  + (SELECT count(*) FROM local_businesses
     WHERE domain_extraction_status IN ('Queued', 'Processing'))
  + (SELECT count(*) FROM domains WHERE status IN ('pending', 'processing')
     OR sitemap_analysis_status IN ('queued', 'processing'))
  + (SELECT count(*) FROM sitemap_files
     WHERE sitemap_import_status IN ('Queued', 'Processing'))
  + (SELECT count(*) FROM pages
     WHERE page_processing_status IN ('Queued', 'Processing'))
  + (SELECT count(*) FROM contacts
     WHERE validation_processing_status IN ('Queued', 'Processing'))
"""
"""Everything whose work is not over."""


@dataclass(frozen=True, slots=True)
class Order:
    """Everything a worker process is told; it travels by pickle."""

    url: str
    endpoint: TownEndpoint
    delay: float = 0.0
    slowest: float = 3.0
    """Seconds that one fetch may take; hosts of a killed worker rest a little longer."""
    environment: Mapping[str, str] = field(default_factory=dict)
    log: str | None = None

    @property
    def policy(self) -> CrawlerPolicy:
        """How the town is visited."""
        policy = town_policy(
            self.endpoint.port, host_delay=timedelta(seconds=self.delay)
        )
        span = timedelta(seconds=self.slowest)
        return replace(
            policy, limits=replace(policy.limits, headers=span, total=span)
        )  # fmt: skip


def settings_for(environment: Mapping[str, str]) -> Settings:
    """Read settings as a worker process would, without this machine's `.env`."""
    home = {"SCRAPERSKY_DATA_DIR": "/nonexistent"}
    return load_settings({**home, **environment}, dotenv=None).settings


def with_leases(seconds: int) -> dict[str, str]:
    """Return settings under which the items of a dead worker are soon rescued."""
    return {f"{prefix}_LEASE_SECONDS": str(seconds) for prefix in PREFIXES}


def work(order: Order, ready: Event) -> None:
    """Run the stages until SIGTERM; what it says goes to the log."""
    with Path(order.log or os.devnull).open("a", buffering=1) as log:
        os.dup2(log.fileno(), sys.stdout.fileno())
        os.dup2(log.fileno(), sys.stderr.fileno())
        configure_logs("WARNING", "console")
        asyncio.run(serve(order, ready))


async def serve(order: Order, ready: Event) -> None:
    """Work on everything until told to stop."""
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    target = parse_target(order.url)
    async with AsyncExitStack() as stack:
        services = await stack.enter_async_context(town_services(order.endpoint))
        services = replace(services, policy=order.policy)
        settings = settings_for(order.environment)
        await stack.enter_async_context(up(settings, target, services=services))
        ready.set()
        await stop.wait()


@dataclass
class WorkerProcesses:
    """So many worker processes; those that were killed are replaced on request."""

    order: Order
    members: list[ForkServerProcess] = field(default_factory=list)
    killed: int = 0

    def __post_init__(self) -> None:
        self._context: ForkServerContext = multiprocessing.get_context("forkserver")
        self._context.set_forkserver_preload(["tests.acceptance.rig"])

    def hire(self, count: int = 1) -> None:
        """Start workers and return when they work."""
        ready = [self._context.Event() for _ in range(count)]
        for event in ready:
            member = self._context.Process(target=work, args=(self.order, event))
            member.start()
            self.members.append(member)
        for event, member in zip(ready, self.members[-count:], strict=True):
            deadline = time.monotonic() + START_TIMEOUT
            while not event.wait(0.5):
                if not member.is_alive() or time.monotonic() > deadline:
                    state = f"exit code {member.exitcode}"
                    raise RuntimeError(f"a worker did not start: {state}")

    def kill(self, member: ForkServerProcess) -> None:
        """Kill a worker as the system does when memory is short."""
        member.kill()
        member.join()
        self.members.remove(member)
        self.killed += 1

    def restart_oldest(self) -> bool:
        """Stop the worker that is there longest, and start another; say if it ended badly."""
        member = self.members.pop(0)
        member.terminate()
        member.join(START_TIMEOUT)
        if member.is_alive():
            member.kill()
            member.join()
        self.hire()
        return member.exitcode != 0

    def dismiss(self) -> None:
        """Ask everyone to stop, and see to it that they do."""
        for member in self.members:
            member.terminate()
        for member in self.members:
            member.join(20)
            if member.is_alive():
                member.kill()
                member.join()
        self.members.clear()


@contextlib.contextmanager
def a_crew(order: Order, size: int) -> Iterator[WorkerProcesses]:
    """Run workers until the block ends."""
    crew = WorkerProcesses(order)
    try:
        crew.hire(size)
        yield crew
    finally:
        crew.dismiss()


@asynccontextmanager
async def a_desk(url: str) -> AsyncIterator["Desk"]:
    """Open a migrated database on which everything is wanted by rule."""
    engine = connect(parse_target(url), name="desk", pool_size=3)
    try:
        await upgrade(engine)
        async with engine.connect() as connection:
            tenant = await connection.scalar(text("SELECT id FROM tenants"))
        desk = Desk(engine, Actor(tenant, SYSTEM_USER_ID, "Ada"))
        await desk.want_everything()
        yield desk
    finally:
        await engine.dispose()


@dataclass(frozen=True, slots=True)
class Desk:
    """Where a run is ordered, watched and judged; it takes no part in the work."""

    engine: AsyncEngine
    actor: Actor

    async def want_everything(self) -> None:
        """Let rules choose all places, businesses and files; pages by the default rule."""
        for kind in ("places", "businesses", "sitemap_files"):
            await save_rule(
                self.engine, self.actor, name=f"all {kind}", kind=kind, conditions=[],
                status="Selected",
            )  # fmt: skip

    async def search(self, source: str = "demo") -> UUID:
        """Queue a search for all that the town has."""
        # Here, because the workers load this module too, and no command.
        from scrapersky.cli.demo import begin  # noqa: PLC0415

        return (await begin(self.engine, settings_for({}))).search_id

    async def validate(self) -> None:
        """Queue the validation of every contact that has an address."""

        async def queue(connection: AsyncConnection) -> None:
            await connection.execute(
                text(
                    "UPDATE contacts SET contact_curation_status = 'Queued',"
                    " validation_processing_status = 'Queued' WHERE email IS NOT NULL"
                    " AND validation_processing_status IS NULL"
                )
            )

        await run_in_transaction(self.engine, queue)
        await curation_sdk.control.wake(self.engine, "contact_validation")

    async def open(self) -> int:
        """Count everything whose work is not over."""
        async with self.engine.connect() as connection:
            return int(await connection.scalar(text(OPEN)) or 0)

    async def is_busy(self) -> bool:
        """Say whether there is work, as far as the database can be asked."""
        with contextlib.suppress(Exception):
            return await self.open() > 0
        return True

    async def until_done(self, within: float, *, look: float = 0.25) -> bool:
        """Wait until all work is over; False if it is not in time."""
        deadline = asyncio.get_running_loop().time() + within
        while asyncio.get_running_loop().time() < deadline:
            if not await self.is_busy():
                return True
            await asyncio.sleep(look)
        return False

    async def until_none_crashed(self, times: int, within: float) -> None:
        """Wait until no item is left whose worker has died so often."""
        async with asyncio.timeout(within):
            while await self._has_crashed(times):  # noqa: ASYNC110 - there is no event
                await asyncio.sleep(0.05)

    async def _has_crashed(self, times: int) -> bool:
        query = "SELECT EXISTS (SELECT FROM curation.claim WHERE deaths >= :times)"
        with contextlib.suppress(Exception):
            ((found,),) = await self.rows(query, times=times)
            return bool(found)
        return True

    async def rows(self, query: str, **values: Any) -> list[tuple[Any, ...]]:
        """Return what a query finds."""
        async with self.engine.connect() as connection:
            return [tuple(row) for row in await connection.execute(text(query), values)]

    async def contacts(self) -> set[tuple[Any, ...]]:
        """Return every contact as one can compare it with another run's."""
        found = await self.rows(
            "SELECT d.domain, c.email, (SELECT string_agg(k, ' ' ORDER BY k)"
            "  FROM jsonb_object_keys(c.phones) AS k)"
            " FROM contacts c JOIN domains d ON d.id = c.domain_id"
        )
        return set(found)

    async def compare(self, endpoint: TownEndpoint) -> TruthComparison:
        """Compare what was found with the truth."""
        from scrapersky.cli.demo import found_facts  # noqa: PLC0415

        kinds = (FactKind.EMAIL, FactKind.PHONE)
        return endpoint.truth.compare(await found_facts(self.engine), kinds)
