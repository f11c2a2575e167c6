"""A line of the pipeline for every test; the parsing children are shared by all."""

from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager

import pytest
import pytest_asyncio

from scrapersky.crawler import Sandbox
from scrapersky.pipeline.parsers import WARM
from tests.conftest import TestDatabase, TestServer, a_database
from tests.stages.ground import Ground, a_ground
from tests.stages.rig import Line, running_line


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def sandbox() -> AsyncIterator[Sandbox]:
    """Keep one parsing child for the whole run: it takes a second to start."""
    async with Sandbox(children=1, warm=WARM) as sandbox:
        yield sandbox


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def shared_ground(
    postgres_server: TestServer, template: str
) -> AsyncIterator[Ground]:
    """Keep one database, and the sessions with it, for all lines of the run."""
    with (
        contextmanager(a_database)(postgres_server, template) as database,
        a_ground(database) as ground,
    ):
        yield ground
        await ground.engine.dispose()


@pytest.fixture
def ground(shared_ground: Ground) -> Iterator[Ground]:
    """Give the shared database as if it were new."""
    shared_ground.renew()
    yield shared_ground
    shared_ground.end()


@pytest_asyncio.fixture(loop_scope="session")
async def line(ground: Ground, sandbox: Sandbox) -> AsyncIterator[Line]:
    """Give the whole pipeline on an empty database and a web that can be told."""
    async with running_line(ground.database, sandbox, engine=ground.engine) as line:
        yield line


@pytest_asyncio.fixture(loop_scope="session")
async def line_apart(database: TestDatabase, sandbox: Sandbox) -> AsyncIterator[Line]:
    """Give a line on a database of its own, whose tables a test may change."""
    async with running_line(database, sandbox) as line:
        yield line
