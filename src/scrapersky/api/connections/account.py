"""Connections: whose accounts they are, their fields, and what goes where."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from fastapi import APIRouter, Request
from sqlalchemy import Row, Text, cast
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from scrapersky.api.auth.identity import Identity
from scrapersky.api.connections.schema import (
    ConnectionChange,
    ConnectionIn,
    ConnectionOut,
    ConnectorOut,
    CredentialIn,
    CrmFieldOut,
    CrmFieldsOut,
    DailyLimitOut,
    MappingIn,
)
from scrapersky.api.dependency import Admin, BulkEngine, Transaction, actor_of
from scrapersky.api.schema import NOT_FOUND, ListOut, whole_list
from scrapersky.api.tenancy import acting_for, transaction_scope
from scrapersky.connectors.account import (
    CONNECTIONS,
    ConnectorTools,
    CrmConnection,
    open_connection,
)
from scrapersky.connectors.control import (
    MAX_CONNECTIONS,
    PAUSED,
    SHOWN,
    NewConnection,
    change_credential,
    changing,
    checked_mapping,
    connect_account,
    connection_of,
    counts,
    forget_connection,
    learn_account,
    resume,
)
from scrapersky.connectors.forecast import forecast
from scrapersky.connectors.mapping import OURS
from scrapersky.connectors.protocol import CrmKind
from scrapersky.connectors.registry import CONNECTORS, infos
from scrapersky.errors import UnknownRecord
from scrapersky.records.audit import Actor, note
from scrapersky.scheduler.webhook import find_cipher

router = APIRouter()


@router.get("/connectors", operation_id="list_connectors")
async def list_connectors(_who: Admin) -> ListOut[ConnectorOut]:
    """List the CRMs that can be connected, and what each asks for."""
    return whole_list([ConnectorOut.model_validate(one) for one in infos()])


@router.get("/connections", operation_id="list_connections")
async def list_connections(
    request: Request, who: Admin, connection: Transaction
) -> ListOut[ConnectionOut]:
    """List the connections of the tenant, and how each one is doing."""
    # One whose account is still being asked for may never be: it goes if it is refused.
    is_known = CONNECTIONS.c.account_id != cast(CONNECTIONS.c.id, Text)
    query = SHOWN.where(CONNECTIONS.c.tenant_id == who.tenant_id, is_known)
    ordered = query.order_by(CONNECTIONS.c.created_at).limit(MAX_CONNECTIONS)
    rows: Sequence[Any] = (await connection.execute(ordered)).all()
    return whole_list([await connection_out(request, connection, row) for row in rows])


@router.post("/connections", operation_id="create_connection", status_code=201)
async def create_connection(
    request: Request, who: Admin, engine: BulkEngine, given: ConnectionIn
) -> ConnectionOut:
    """Connect an account: the credential is tried, and our fields are made there.

    It begins paused: nothing is written before the first run.
    """
    tools = tools_of(request)
    cipher = find_cipher(request.app.state.settings, make=True)
    with acting_for(who.tenant_id):
        sync_id = await connect_account(
            engine,
            tools,
            NewConnection(**given.model_dump()),
            cipher=cipher,
            tenant_id=who.tenant_id,
            user_id=who.user_id,
        )
        async with engine.begin() as connection:
            row = await shown_row(connection, who, sync_id)
            await noted(connection, actor_of(who, request), "created", row)
            return await connection_out(request, connection, row)


@router.get(
    "/connections/{connection_id}", operation_id="get_connection", responses=NOT_FOUND
)
async def get_connection(
    request: Request, connection_id: UUID, who: Admin, connection: Transaction
) -> ConnectionOut:
    """Show one connection."""
    return await connection_out(
        request, connection, await shown_row(connection, who, connection_id)
    )


@router.patch(
    "/connections/{connection_id}",
    operation_id="change_connection",
    responses=NOT_FOUND,
)
async def change_connection(
    request: Request,
    connection_id: UUID,
    who: Admin,
    connection: Transaction,
    given: ConnectionChange,
) -> ConnectionOut:
    """Change the name or the budget of a connection."""
    row = await shown_row(connection, who, connection_id)
    changes = given.model_dump(exclude_unset=True)
    if changes:
        await connection.execute(changing(who.tenant_id, row.id).values(changes))
    what = ", ".join(sorted(given.model_fields_set))
    await noted(connection, actor_of(who, request), "changed", row, what)
    return await connection_out(
        request, connection, await shown_row(connection, who, connection_id)
    )


@router.put(
    "/connections/{connection_id}/credential",
    operation_id="change_connection_credential",
    responses=NOT_FOUND,
)
async def replace_credential(
    request: Request,
    connection_id: UUID,
    who: Admin,
    engine: BulkEngine,
    given: CredentialIn,
) -> ConnectionOut:
    """Give another credential: it is tried, and kept if it opens the same account."""
    cipher = find_cipher(request.app.state.settings, make=True)
    with acting_for(who.tenant_id):
        await change_credential(
            engine,
            tools_of(request),
            cipher,
            tenant_id=who.tenant_id,
            sync_id=connection_id,
            secret=given.credential,
        )
        async with engine.begin() as connection:
            row = await shown_row(connection, who, connection_id)
            await noted(
                connection, actor_of(who, request), "changed", row, "credential"
            )
            return await connection_out(request, connection, row)


@router.delete(
    "/connections/{connection_id}",
    operation_id="delete_connection",
    status_code=204,
    responses=NOT_FOUND,
)
async def delete_connection(
    request: Request, connection_id: UUID, who: Admin, connection: Transaction
) -> None:
    """Forget an account and which of its records is which of ours; it keeps its records.

    The audit log names those that were still to be erased there, for a person to do so.
    """
    row = await shown_row(connection, who, connection_id)
    left = await forget_connection(connection, row.id)
    await noted(connection, actor_of(who, request), "deleted", row, left)


@router.post(
    "/connections/{connection_id}/test",
    operation_id="test_connection",
    responses=NOT_FOUND,
)
async def test_connection(
    request: Request, connection_id: UUID, who: Admin, engine: BulkEngine
) -> ConnectionOut:
    """Try the credential again, and make fields of ours that are missing there."""
    with acting_for(who.tenant_id):
        await learn_account(engine, tools_of(request), who.tenant_id, connection_id)
        async with engine.begin() as connection:
            row = await shown_row(connection, who, connection_id)
            return await connection_out(request, connection, row)


@router.post(
    "/connections/{connection_id}/pause",
    operation_id="pause_connection",
    responses=NOT_FOUND,
)
async def pause_connection(
    request: Request, connection_id: UUID, who: Admin, connection: Transaction
) -> ConnectionOut:
    """Write and read nothing more until it goes on; what waits is kept."""
    row = await shown_row(connection, who, connection_id)
    await connection.execute(changing(who.tenant_id, row.id).values(PAUSED))
    await noted(connection, actor_of(who, request), "paused", row)
    return await connection_out(
        request, connection, await shown_row(connection, who, connection_id)
    )


@router.post(
    "/connections/{connection_id}/resume",
    operation_id="resume_connection",
    responses=NOT_FOUND,
)
async def resume_connection(
    request: Request, connection_id: UUID, who: Admin, connection: Transaction
) -> ConnectionOut:
    """Go on with what waits."""
    row = await shown_row(connection, who, connection_id)
    await resume(connection, row)
    await noted(connection, actor_of(who, request), "resumed", row)
    return await connection_out(
        request, connection, await shown_row(connection, who, connection_id)
    )


@router.get(
    "/connections/{connection_id}/fields",
    operation_id="list_connection_fields",
    responses=NOT_FOUND,
)
async def list_fields(
    request: Request,
    connection_id: UUID,
    who: Admin,
    engine: BulkEngine,
    kind: CrmKind = CrmKind.COMPANY,
) -> CrmFieldsOut:
    """Read the fields of the CRM's own schema, and what goes where now."""
    # The request only asks us, but what it asks the CRM is counted.
    with transaction_scope(tenant_id=who.tenant_id, is_read_only=False):
        opened = await opened_of(request, engine, who, connection_id)
        schema = await opened.schema(kind)
    return CrmFieldsOut(
        fields=[
            CrmFieldOut.model_validate(one, from_attributes=True)
            for one in schema.values()
        ],
        ours=list(OURS[kind]),
        mapping={rule.ours: rule.theirs for rule in opened.rules(kind)},
        locked=[*opened.row.fields.get(kind.value, {}).values()],
    )


@router.put(
    "/connections/{connection_id}/mapping",
    operation_id="map_connection",
    responses=NOT_FOUND,
)
async def map_connection(
    request: Request,
    connection_id: UUID,
    who: Admin,
    engine: BulkEngine,
    given: MappingIn,
) -> ConnectionOut:
    """Say which value goes into which field, and who wins; their schema is asked first."""
    with acting_for(who.tenant_id):
        opened = await opened_of(request, engine, who, connection_id)
        mapping = await checked_mapping(opened, given.model_dump(mode="json"))
        async with engine.begin() as connection:
            statement = changing(who.tenant_id, connection_id)
            await connection.execute(statement.values(mapping=mapping))
            row = await shown_row(connection, who, connection_id)
            await noted(connection, actor_of(who, request), "mapped", row)
            return await connection_out(request, connection, row)


def tools_of(request: Request) -> ConnectorTools:
    """Return what connections are opened with."""
    tools: ConnectorTools = request.app.state.connector_tools
    return tools


async def opened_of(
    request: Request, engine: AsyncEngine, who: Identity, connection_id: UUID
) -> CrmConnection:
    """Open a connection of the tenant."""
    row = await connection_of(engine, who.tenant_id, connection_id)
    return open_connection(engine, row, tools_of(request))


async def shown_row(
    connection: AsyncConnection, who: Identity | Actor, connection_id: UUID
) -> Row[Any]:
    """Return one connection of the tenant without its secret, or raise UnknownRecord."""
    query = SHOWN.where(
        CONNECTIONS.c.tenant_id == who.tenant_id, CONNECTIONS.c.id == connection_id
    )
    found: Row[Any] | None = (await connection.execute(query)).one_or_none()
    if found is None:
        raise UnknownRecord("There is no such connection.")
    return found


async def connection_out(
    request: Request, connection: AsyncConnection, row: Row[Any]
) -> ConnectionOut:
    """Show a connection with how many of its records are where, and when it will be done."""
    found = ConnectionOut.model_validate(row)
    seen = await forecast(connection, row, tools_of(request))
    limits = [DailyLimitOut.model_validate(one) for one in seen.limits]
    kind = CONNECTORS.get(row.connector)
    more = {
        "limits": limits,
        "finish_at": seen.finish_at,
        "needs_worker": seen.needs_worker,
        "has_credential": kind is not None and kind.info.credential is not None,
    }
    return found.model_copy(update={"counts": await counts(connection, row.id), **more})


async def noted(
    connection: AsyncConnection, actor: Actor, what: str, row: Row[Any], about: str = ""
) -> None:
    """Write down in the audit log what was done to a connection."""
    details = {"connector": row.connector, "name": row.name, "about": about}
    where = f"connections/{row.id}"
    await note(connection, actor, f"connection.{what}", where, details)
