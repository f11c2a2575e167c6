"""A line of the pipeline for every test; the parsing children are shared by all."""

from collections.abc import AsyncIterator

import pytest_asyncio

from scrapersky.crawler import Sandbox
from scrapersky.pipeline.parsers import WARM
from tests.conftest import TestDatabase
from tests.stages.rig import Line, running_line


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def sandbox() -> AsyncIterator[Sandbox]:
    """Keep one parsing child for the whole run: it takes a second to start."""
    async with Sandbox(children=1, warm=WARM) as sandbox:
        yield sandbox


@pytest_asyncio.fixture(loop_scope="session")
async def line(database: TestDatabase, sandbox: Sandbox) -> AsyncIterator[Line]:
    """Give the whole pipeline on a database of its own and a web that can be told."""
    async with running_line(database, sandbox) as line:
        yield line
