"""A line of the pipeline for every test; the parsing children are shared by all."""

from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager

import pytest
import pytest_asyncio

from scrapersky.crawler import Sandbox
from scrapersky.pipeline.parsers import WARM
from tests.conftest import TestDatabase, TestServer, a_database
from tests.stages.rig import Line, running_line
from tests.stages.shared_database import SharedDatabase, open_shared_database


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def sandbox() -> AsyncIterator[Sandbox]:
    """Keep one parsing child for the whole run: it takes a second to start."""
    async with Sandbox(children=1, warm=WARM) as sandbox:
        yield sandbox


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def kept_database(
    postgres_server: TestServer, template: str
) -> AsyncIterator[SharedDatabase]:
    """Keep one database, and the sessions with it, for all lines of the run."""
    with (
        contextmanager(a_database)(postgres_server, template) as database,
        open_shared_database(database) as shared_database,
    ):
        yield shared_database
        await shared_database.engine.dispose()


@pytest.fixture
def shared_database(kept_database: SharedDatabase) -> Iterator[SharedDatabase]:
    """Give the shared database as if it were new."""
    kept_database.reset()
    yield kept_database
    kept_database.check_schema()


@pytest_asyncio.fixture(loop_scope="session")
async def line(
    shared_database: SharedDatabase, sandbox: Sandbox
) -> AsyncIterator[Line]:
    """Give the whole pipeline on an empty database and a web that can be told."""
    async with running_line(
        shared_database.database, sandbox, engine=shared_database.engine
    ) as line:
        yield line


@pytest_asyncio.fixture(loop_scope="session")
async def line_apart(database: TestDatabase, sandbox: Sandbox) -> AsyncIterator[Line]:
    """Give a line on a database of its own, whose tables a test may change."""
    async with running_line(database, sandbox) as line:
        yield line
