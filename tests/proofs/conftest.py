"""A town that the whole pipeline has been over, for every test of this folder."""

from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
import pytest_asyncio
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine

from scrapersky.api.records.export import export_bytes, read_export
from scrapersky.api.records.list_query import DEFAULT_SORT, ListQuery, read_sort
from scrapersky.api.records.query import read_filters
from scrapersky.cli.export import write_file
from scrapersky.crawler import Sandbox
from scrapersky.db.connection import connect, parse_target
from scrapersky.demo.services import town_services
from scrapersky.pipeline.parsers import WARM
from scrapersky.proofs.difference import ReplayReport
from scrapersky.proofs.outcome import VerificationReport
from scrapersky.proofs.replay import Replayer
from scrapersky.proofs.verification import Verifier, verify_file
from scrapersky.records import KINDS
from scrapersky.scheduler.app import work
from scrapersky.settings import SYSTEM_USER_ID
from simulated_town.town import Town
from tests.acceptance.rig import a_desk, settings_for
from tests.acceptance.test_impostor import finish
from tests.conftest import TestDatabase, TestServer, a_database

SIZE = 24


@dataclass(frozen=True, slots=True)
class Proven:
    """A database with a town's companies and contacts, and a parser."""

    engine: AsyncEngine
    tenant_id: UUID
    sandbox: Sandbox
    folder: Path

    async def export(
        self, kind: str, form: str, columns: str = "", filters: Sequence[str] = ()
    ) -> Path:
        """Write a list as the product does."""
        path = self.folder / f"{kind}.{form}"
        resource = KINDS[kind]
        query = ListQuery(
            tenant_id=self.tenant_id,
            conditions=read_filters([*filters]),
            sort=read_sort(resource, DEFAULT_SORT),
        )
        plan = read_export(resource, form, columns, "")  # type: ignore[arg-type]
        await write_file(await export_bytes(self.engine, resource, query, plan), path)
        return path

    async def verify(self, path: Path) -> VerificationReport:
        """Verify a list as the command does."""
        verifier = Verifier(self.engine, self.sandbox, self.tenant_id)
        return await verify_file(path, verifier, lambda _: None)

    async def replay(
        self, *, stops_after: int | None = None, **how: Any
    ) -> ReplayReport:
        """Read every stored page again, as the command does."""
        replayer = Replayer(
            self.engine, self.sandbox, self.tenant_id, SYSTEM_USER_ID, **how
        )
        return await replayer.run(
            lambda _: None,
            is_stopping=lambda: replayer.report.sites == stops_after,
        )

    async def rows(self, query: str, **values: Any) -> list[Any]:
        async with self.engine.connect() as connection:
            return [*(await connection.execute(text(query), values)).all()]

    async def run(self, statement: str, **values: Any) -> None:
        async with self.engine.begin() as connection:
            await connection.execute(text(statement), values)


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def walked(
    postgres_server: TestServer,
    template: str,
    tmp_path_factory: pytest.TempPathFactory,
) -> AsyncIterator[TestDatabase]:
    """Let the whole pipeline go over a town, once."""
    folder = tmp_path_factory.mktemp("town")
    settings = settings_for({"SCRAPERSKY_DATA_DIR": str(folder)})
    with contextmanager(a_database)(postgres_server, template) as database:
        async with (
            Town.open(size=SIZE, trouble=False) as town,
            a_desk(database.url) as desk,
            town_services(town.endpoint) as services,
            work(settings, parse_target(database.url), services=services),
        ):
            await desk.search()
            await finish(desk)
        yield database


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def parser() -> AsyncIterator[Sandbox]:
    """Keep one parsing child for all tests."""
    async with Sandbox(children=1, warm=WARM) as sandbox:
        yield sandbox


@pytest.fixture
def copied(walked: TestDatabase, postgres_server: TestServer) -> Iterator[TestDatabase]:
    """Give a copy of the town's database, which a test may change."""
    name = f"{walked.name}_copy"
    postgres_server.end_sessions(walked.name)
    postgres_server.run(f'CREATE DATABASE "{name}" TEMPLATE "{walked.name}"')
    yield postgres_server.database(name)
    postgres_server.end_sessions(name)
    postgres_server.run(f'DROP DATABASE "{name}"')


@pytest_asyncio.fixture(loop_scope="session")
async def proven(
    copied: TestDatabase, parser: Sandbox, tmp_path: Path
) -> AsyncIterator[Proven]:
    """Give the town's companies and contacts as the pipeline has left them."""
    engine = connect(parse_target(copied.url), pool_size=5)
    async with engine.connect() as connection:
        tenant = await connection.scalar(text("SELECT id FROM tenants"))
    yield Proven(engine, tenant, parser, tmp_path)
    await engine.dispose()
