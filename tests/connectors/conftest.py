"""A tenant with leads, in a database of its own; and one that is connected to a small CRM."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from sqlalchemy import text

from scrapersky.db.connection import connect, parse_target
from tests.conftest import TestDatabase
from tests.connectors.desk import CrmDesk, SalesDesk
from tests.connectors.plain_crm import PlainCrm


@pytest.fixture
async def desk(database: TestDatabase, tmp_path: Path) -> AsyncIterator[SalesDesk]:
    engine = connect(parse_target(database.url), pool_size=6)
    async with engine.begin() as connection:
        tenant = await connection.scalar(
            text("INSERT INTO tenants (name, slug) VALUES ('s', 's') RETURNING id")
        )
    made = SalesDesk(engine, tenant, tmp_path)
    yield made
    if made.transport is not None:
        await made.transport.close()
    await engine.dispose()


@pytest.fixture
async def crm_desk(desk: SalesDesk) -> AsyncIterator[CrmDesk]:
    crm = PlainCrm()
    server = await crm.start()
    options = {"description": crm.description()}
    sync_id = await desk.connect("http", crm.token, options=options)
    yield CrmDesk(desk, crm, sync_id)
    server.close()
