"""What people do with connections: connect, test, map, preview, pause, go on."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID, uuid4

from sqlalchemy import Row, Select, func, insert, or_, select, update
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from scrapersky.changes.reader import head_cursor
from scrapersky.connectors.account import (
    CONNECTIONS,
    MATCH_EXISTING,
    ConnectorTools,
    CrmConnection,
    open_connection,
)
from scrapersky.connectors.lead import read_leads
from scrapersky.connectors.mapping import OURS, ConflictRule, mapped, own_fields
from scrapersky.connectors.outbox import (
    RECORDS,
    UNMAPPED,
    queue_companies,
    queue_contacts,
)
from scrapersky.connectors.protocol import OWN_ID, CrmAccount, CrmField, CrmKind
from scrapersky.connectors.registry import connector_named
from scrapersky.connectors.values import labelled
from scrapersky.errors import CrmCannot, RecordConflict, UnknownRecord
from scrapersky.kit.cipher import Cipher
from scrapersky.records import Contact, SyncConnection
from scrapersky.records.status import ContactProcessingStatus
from scrapersky.records.sync import STATUS_COLUMNS, SyncState

MAX_CONNECTIONS: Final = 20
"""Of one tenant."""
PREVIEWED_LEADS: Final = 10
QUEUED_AT_ONCE: Final = 5_000
SHOWN: Final[Select[Any]] = select(
    *(one for one in CONNECTIONS.c if one.key not in {"secret", "cursor", "lease"})
)
"""A connection as people see it: never with its secret."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewConnection:
    """What a person gives to connect an account."""

    connector: str
    name: str | None
    credential: str
    options: Mapping[str, str]
    daily_budget: int | None = None

    @property
    def secret(self) -> str:
        """Return the credential without what was pasted around it."""
        return self.credential.strip()


async def connect_account(
    engine: AsyncEngine,
    tools: ConnectorTools,
    given: NewConnection,
    *,
    cipher: Cipher,
    tenant_id: UUID,
    user_id: UUID | None,
) -> UUID:
    """Try a credential, make our fields there, and keep the connection, paused."""
    info = connector_named(given.connector).info
    known = {MATCH_EXISTING, *(one.name for one in info.options)}
    if other := set(given.options) - known:
        raise CrmCannot(
            f"{info.title} has no option '{min(other)[:50]}'.",
            hint=f"Options: {', '.join(sorted(known)) or 'none'}.",
        )
    for one in info.options:
        if one.is_required and not given.options.get(one.name):
            raise CrmCannot(f"{info.title} needs the option '{one.name}': {one.label}.")
    if info.credential and not given.secret:
        raise CrmCannot(f"{info.title} needs a credential: {info.credential}.")
    sync_id = uuid4()
    async with engine.connect() as connection:
        await refuse_too_many(connection, tenant_id)
        await connection.rollback()
        cursor = await head_cursor(connection, tenant_id)
    secret = None
    if given.secret:
        secret = cipher.encrypt(given.secret.encode(), str(sync_id))
    values = {
        "id": sync_id,
        "tenant_id": tenant_id,
        "created_by": user_id,
        "connector": given.connector,
        "name": given.name or info.title,
        "options": dict(given.options),
        "secret": secret,
        "account_id": str(sync_id),
        "account_name": "",
        "cursor": str(cursor),
        "daily_budget": given.daily_budget,
        "is_active": False,
        "paused_at": func.clock_timestamp(),
    }
    async with engine.begin() as connection:
        await connection.execute(insert(SyncConnection).values(values))
    try:
        await learn_account(engine, tools, tenant_id, sync_id)
    except BaseException:
        async with engine.begin() as connection:
            await connection.execute(
                CONNECTIONS.delete().where(CONNECTIONS.c.id == sync_id)
            )
        raise
    return sync_id


async def learn_account(
    engine: AsyncEngine, tools: ConnectorTools, tenant_id: UUID, sync_id: UUID
) -> CrmAccount:
    """Ask whose account it is, make what fields of ours are missing, and keep both."""
    row = await connection_of(engine, tenant_id, sync_id)
    opened = open_connection(engine, row, tools)
    account = await opened.crm.account()
    before = {
        kind: {one.name for one in await opened.crm.fields(kind)}
        for kind in opened.crm.info.kinds
        if kind not in opened.crm.info.knows_own
    }
    fields = {
        kind.value: dict(await opened.crm.make_fields(kind, own_fields()))
        for kind in opened.crm.info.kinds
    }
    if any(OWN_ID not in made for made in fields.values()):
        raise CrmCannot(
            "There is no field for our id, so nothing could be found again.",
            hint=f"Make a text field '{OWN_ID}' there, or give the right to make fields.",
        )
    query = select(CONNECTIONS.c.name).where(
        CONNECTIONS.c.tenant_id == tenant_id,
        CONNECTIONS.c.connector == row.connector,
        CONNECTIONS.c.account_id == account.id,
        CONNECTIONS.c.id != sync_id,
    )
    async with engine.begin() as connection:
        if (name := await connection.scalar(query)) is not None:
            raise RecordConflict(f"This account is connected already, as '{name}'.")
        await connection.execute(
            changing(tenant_id, sync_id).values(
                account_id=account.id, account_name=account.name, fields=fields
            )
        )
        if not row.account_name:
            # Our field was there before us: so may be records that bear our ids.
            bearing = [
                kind.value
                for kind, names in before.items()
                if fields[kind.value][OWN_ID] in names
            ]
            known = {UNMAPPED: bearing} if bearing else {}
            await connection.execute(changing(tenant_id, sync_id).values(cursors=known))
    return account


async def change_credential(
    engine: AsyncEngine,
    tools: ConnectorTools,
    cipher: Cipher,
    *,
    tenant_id: UUID,
    sync_id: UUID,
    secret: str,
) -> None:
    """Keep another credential if it opens the same account; whatever waits goes on with it."""
    secret = secret.strip()
    row = await connection_of(engine, tenant_id, sync_id)
    account = await open_connection(engine, row, tools, secret).crm.account()
    if account.id != row.account_id:
        raise RecordConflict(
            f"It opens another account, '{account.name}'.",
            hint="Connect that one by itself.",
        )
    encrypted = cipher.encrypt(secret.encode(), str(sync_id))
    kept = {"secret": encrypted, "problem": None}
    async with engine.begin() as connection:
        await connection.execute(changing(tenant_id, sync_id).values(kept))


async def connection_of(
    engine: AsyncEngine, tenant_id: UUID, sync_id: UUID
) -> Row[Any]:
    """Return a connection of a tenant with its encrypted secret, or raise UnknownRecord."""
    query = select(CONNECTIONS).where(
        CONNECTIONS.c.tenant_id == tenant_id, CONNECTIONS.c.id == sync_id
    )
    async with engine.connect() as connection:
        row = (await connection.execute(query)).one_or_none()
    if row is None:
        raise UnknownRecord("There is no such connection.")
    return row


def changing(tenant_id: UUID, sync_id: UUID) -> Any:  # noqa: ANN401 - a statement
    """Change one connection of a tenant."""
    return update(CONNECTIONS).where(
        CONNECTIONS.c.tenant_id == tenant_id, CONNECTIONS.c.id == sync_id
    )


async def forget_connection(connection: AsyncConnection, sync_id: UUID) -> str:
    """Delete a connection; return which records were still to be erased there, in words."""
    query = select(RECORDS.c.kind, RECORDS.c.their_id).where(
        RECORDS.c.connection_id == sync_id, RECORDS.c.state == SyncState.ERASING
    )
    rows = (await connection.execute(query.order_by(RECORDS.c.id))).all()
    await connection.execute(CONNECTIONS.delete().where(CONNECTIONS.c.id == sync_id))
    left = [f"{row.kind} {row.their_id or '(number not known)'}" for row in rows]
    return f"still to be erased there: {', '.join(left)}" if left else ""


PAUSED: Final[dict[str, Any]] = {
    "is_active": False,
    "paused_at": func.clock_timestamp(),
}
RESUMED: Final[dict[str, Any]] = {
    "is_active": True,
    "paused_at": None,
    "problem": None,
    "lease": None,
    "leased_until": None,
    "next_at": func.clock_timestamp(),
}


async def refuse_too_many(connection: AsyncConnection, tenant_id: UUID) -> None:
    """Raise RecordConflict if a tenant has as many connections as it may have."""
    query = select(func.count()).where(CONNECTIONS.c.tenant_id == tenant_id)
    if (await connection.scalar(query) or 0) >= MAX_CONNECTIONS:
        raise RecordConflict(
            f"There are {MAX_CONNECTIONS} connections already.",
            hint="Delete one that is not needed.",
        )


async def checked_mapping(
    opened: CrmConnection, given: Mapping[str, Mapping[str, Any]]
) -> dict[str, Any]:
    """Return a mapping whose fields are there and can be written, or raise CrmCannot."""
    kept: dict[str, Any] = {}
    for name, rules in given.items():
        kind = CrmKind(name)
        schema = await opened.schema(kind)
        locked = {*opened.row.fields.get(kind.value, {}).values()}
        for ours, rule in rules.items():
            refuse_rule(kind, ours, rule, schema, locked)
        kept[kind.value] = dict(rules.items())
    return kept


def refuse_rule(
    kind: CrmKind,
    ours: str,
    rule: Mapping[str, Any] | None,
    schema: Mapping[str, CrmField],
    locked: set[str],
) -> None:
    """Raise CrmCannot unless a value of ours can go where a rule says."""
    if ours not in OURS[kind]:
        raise CrmCannot(
            f"There is no value '{ours[:50]}' of a {kind.value}.",
            hint=f"Values: {', '.join(OURS[kind])}.",
        )
    if rule is None or not rule.get("field"):
        return
    ConflictRule(rule.get("rule", ConflictRule.FILL))
    target = schema.get(rule["field"])
    if target is None or target.is_read_only or target.name in locked:
        writable = [one.name for one in schema.values() if not one.is_read_only]
        raise CrmCannot(
            f"'{str(rule['field'])[:50]}' is no field that can be written there.",
            hint=f"Fields: {', '.join(sorted(set(writable) - locked)[:30])}.",
        )


async def preview(
    engine: AsyncEngine, opened: CrmConnection, kind: CrmKind, ids: Sequence[UUID]
) -> list[dict[str, Any]]:
    """Show what of some leads would stand in which field there, by the fields' labels."""
    async with engine.connect() as connection:
        leads = await read_leads(
            connection, opened.row.tenant_id, kind, list(ids)[:PREVIEWED_LEADS]
        )
    schema, rules = await opened.schema(kind), opened.rules(kind)
    shown = []
    for lead in leads.values():
        fitted = mapped(lead.values, rules, schema)
        shown.append(
            {
                "id": lead.id,
                "refusal": lead.refusal,
                "values": [
                    {
                        "field": name,
                        "label": schema[name].label,
                        "value": labelled(value, schema[name]),
                    }
                    for name, value in fitted.values.items()
                ],
                "unmatched": fitted.unmatched,
            }
        )
    return shown


async def counts(connection: AsyncConnection, sync_id: UUID) -> dict[str, int]:
    """Count the records of a connection by where they are."""
    query = (
        select(RECORDS.c.state, func.count().label("records"))
        .where(RECORDS.c.connection_id == sync_id)
        .group_by(RECORDS.c.state)
    )
    rows = (await connection.execute(query)).all()
    return {row.state: row.records for row in rows}


async def queue_run(
    connection: AsyncConnection,
    row: Row[Any],
    kind: CrmKind,
    ids: Sequence[UUID],
    *,
    again: bool = False,
) -> int:
    """Queue leads of a connection and let it go on; `again`: what was deleted there too."""
    act = queue_companies if kind is CrmKind.COMPANY else queue_contacts
    queued = 0
    for start in range(0, len(ids), QUEUED_AT_ONCE):
        part = ids[start : start + QUEUED_AT_ONCE]
        if again:
            await connection.execute(linking_anew(row.id, part))
        queued += await act(connection, row.tenant_id, row.id, part)
    await resume(connection, row)
    return queued


async def resume(connection: AsyncConnection, row: Row[Any]) -> None:
    """Let a connection go on, with what was queued on contacts while nothing took it up."""
    column = STATUS_COLUMNS.get(row.connector)
    if column is not None:
        waiting = select(Contact.id).where(
            Contact.tenant_id == row.tenant_id, column == ContactProcessingStatus.QUEUED
        )
        ids = list(await connection.scalars(waiting))
        for start in range(0, len(ids), QUEUED_AT_ONCE):
            part = ids[start : start + QUEUED_AT_ONCE]
            await queue_contacts(connection, row.tenant_id, row.id, part)
    await connection.execute(changing(row.tenant_id, row.id).values(RESUMED))


def linking_anew(sync_id: UUID, ids: Sequence[UUID]) -> Any:  # noqa: ANN401 - a statement
    """Let records be made anew that were deleted there, with those who belong to them."""
    mine = or_(RECORDS.c.record_id.in_(ids), RECORDS.c.company_id.in_(ids))
    return (
        update(RECORDS)
        .where(
            RECORDS.c.connection_id == sync_id,
            mine,
            RECORDS.c.state == SyncState.UNLINKED,
        )
        .values(state=SyncState.QUEUED, their_id=None, is_adopted=False)
    )
