"""What the commands of `scrapersky sync` share: a connection is found, opened, noted and shown."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import asdict
from typing import Any, TypeVar
from uuid import UUID

import orjson
from sqlalchemy import Select, select
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from scrapersky.cli.leads import conditions
from scrapersky.cli.operator import operator
from scrapersky.cli.pipeline import default_tenant
from scrapersky.cli.stages import on_database
from scrapersky.cli.table import PlainTable, print_done, print_table
from scrapersky.configuration import load_settings
from scrapersky.connectors.account import (
    CONNECTIONS,
    ConnectorTools,
    CrmConnection,
    open_connection,
)
from scrapersky.connectors.control import SHOWN, connection_of
from scrapersky.curation.decision import Selection, selection_clause
from scrapersky.errors import UnknownRecord
from scrapersky.observability.log import configure_logs
from scrapersky.privacy.key import load_suppression_keys
from scrapersky.records.audit import note
from scrapersky.records.company import COMPANIES
from scrapersky.records.status import LeadStatus
from scrapersky.scheduler.connector import connector_tools
from scrapersky.scheduler.tools import crawler_policy

AnswerT = TypeVar("AnswerT")
MOST_LISTED = 100


def latest(connection: str, selected: Callable[[UUID], Select[Any]]) -> list[Any]:
    """Return the latest of the rows that are selected of a connection."""

    async def act(
        engine: AsyncEngine, _tools: ConnectorTools, tenant: UUID
    ) -> list[Any]:
        row = await row_of(engine, tenant, connection)
        query = selected(row["id"])
        newest = query.order_by(query.selected_columns.id.desc()).limit(MOST_LISTED)
        async with engine.connect() as session:
            return [one._asdict() for one in await session.execute(newest)]

    return working(act)


def switch(
    connection: str,
    act: Callable[[AsyncConnection, Any], Awaitable[None]],
    what: str,
    *,
    as_json: bool,
) -> None:
    """Switch a connection on or off."""

    async def switching(
        engine: AsyncEngine, _tools: ConnectorTools, tenant: UUID
    ) -> None:
        row = await row_of(engine, tenant, connection)
        stored = await connection_of(engine, tenant, row["id"])
        async with engine.begin() as session:
            await act(session, stored)
        await noted(engine, tenant, what, row["id"])

    working(switching)
    facts = {"connection": connection, "done": what}
    print_done(f"{connection} is {what}.", facts, as_json=as_json)


def working(
    act: Callable[[AsyncEngine, ConnectorTools, UUID], Awaitable[AnswerT]],
) -> AnswerT:
    """Do something with the connections of this machine's tenant."""
    # Each call of a CRM is logged, which must not stand among what a program reads.
    configure_logs("ERROR", "console")
    settings = load_settings().settings

    async def with_tools(engine: AsyncEngine) -> AnswerT:
        await load_suppression_keys(engine, **settings.suppression_secrets)
        tools = connector_tools(settings, crawler_policy(settings))
        try:
            return await act(engine, tools, await default_tenant(engine))
        finally:
            await tools.transport.close()

    answer: AnswerT = on_database(with_tools)
    return answer


def opened_by(
    connection: str, act: Callable[[CrmConnection, AsyncEngine], Awaitable[AnswerT]]
) -> AnswerT:
    """Do something with one connection's account."""

    async def opening(
        engine: AsyncEngine, tools: ConnectorTools, tenant: UUID
    ) -> AnswerT:
        row = await row_of(engine, tenant, connection)
        stored = await connection_of(engine, tenant, row["id"])
        return await act(open_connection(engine, stored, tools), engine)

    return working(opening)


async def row_of(engine: AsyncEngine, tenant: UUID, named: str) -> dict[str, Any]:
    """Return a connection by its name or ID, without its secret."""
    async with engine.connect() as connection:
        query = SHOWN.where(CONNECTIONS.c.tenant_id == tenant)
        rows = (await connection.execute(query)).all()
    found = [row for row in rows if named in (row.name, str(row.id))]
    if len(found) != 1:
        raise UnknownRecord(
            f"{len(found) or 'No'} connections are called '{named[:100]}'.",
            hint="`scrapersky sync list` shows their names and IDs.",
        )
    shown: dict[str, Any] = found[0]._asdict()
    return shown


async def lead_ids(
    engine: AsyncEngine,
    tenant: UUID,
    search: UUID | None,
    status: LeadStatus | None,
    most: int | None,
) -> list[UUID]:
    """Return the companies that are meant."""
    asked = conditions(
        search=search, named_person=False, no_website=False, since=None, status=status
    )
    meant = selection_clause(COMPANIES, tenant, Selection(conditions=asked))
    query = select(COMPANIES.record.id).where(meant).order_by(COMPANIES.record.id)
    async with engine.connect() as connection:
        return list(await connection.scalars(query.limit(most)))


async def best_contacts(
    engine: AsyncEngine, tenant: UUID, companies: Sequence[UUID]
) -> list[UUID]:
    """Return the best contacts of companies."""
    company = COMPANIES.record
    query = select(company.email_contact_id).where(
        company.tenant_id == tenant,
        company.id.in_(companies),
        company.email_contact_id.is_not(None),
    )
    async with engine.connect() as connection:
        return list(dict.fromkeys(await connection.scalars(query)))


async def noted(engine: AsyncEngine, tenant: UUID, what: str, sync_id: UUID) -> None:
    """Write down in the audit log what was done to a connection."""
    async with engine.begin() as connection:
        where = f"connections/{sync_id}"
        await note(connection, operator(tenant), f"connection.{what}", where, {})


def show(rows: Sequence[Any], columns: Sequence[str], *, as_json: bool) -> None:
    """Print rows as a table, or as JSON with everything in them."""
    plain = [row if isinstance(row, dict) else asdict(row) for row in rows]
    if as_json:
        print(orjson.dumps(plain, default=str, option=orjson.OPT_NON_STR_KEYS).decode())
        return
    table = PlainTable(*(name.replace("_", " ") for name in columns))
    for row in plain:
        table.add_row(*(cell(row.get(name)) for name in columns))
    print_table(table)


def cell(value: object) -> str:
    """Return a value as it stands in a table."""
    if value is None:
        return ""
    if isinstance(value, dict):
        return ", ".join(f"{name}: {one}" for name, one in value.items() if one)
    return str(value)
