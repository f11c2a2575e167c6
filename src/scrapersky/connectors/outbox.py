"""The outbox: what is to be written to a CRM, from the transaction on that decided so."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

from sqlalchemy import Row, Select, func, or_, select, text, update
from sqlalchemy.ext.asyncio import AsyncConnection

from scrapersky.connectors.protocol import CrmKind
from scrapersky.kit.json_text import json_text
from scrapersky.records.base import Base
from scrapersky.records.contact import Contact
from scrapersky.records.status import ContactProcessingStatus
from scrapersky.records.sync import (
    OPEN_PROBLEMS,
    OPEN_STATES,
    SEEN_AS,
    STATUS_COLUMNS,
    SyncRecord,
    SyncState,
)

LOST_PAUSE: Final = timedelta(seconds=30)
"""Until then an answer that was lost may still come true."""
RECORDS: Final = Base.metadata.tables[SyncRecord.__tablename__]
# What is being written is not touched, but goes once more when that is settled.
QUEUE: Final = text(
    f"""INSERT INTO sync_records (tenant_id, connection_id, kind, record_id, company_id, state)
    SELECT :tenant, :connection, :kind, one.record, one.company, '{SyncState.QUEUED}'
    FROM unnest(CAST(:records AS uuid[]), CAST(:companies AS uuid[])) one(record, company)
    ORDER BY one.record
    ON CONFLICT (connection_id, kind, record_id) DO UPDATE
    SET state = CASE WHEN sync_records.state IN ('{SyncState.SENDING}', '{SyncState.UNKNOWN}')
        THEN sync_records.state ELSE '{SyncState.QUEUED}' END,
      is_changed = sync_records.state IN ('{SyncState.SENDING}', '{SyncState.UNKNOWN}'),
      attempts = 0, problem = '{{}}', next_at = clock_timestamp(),
      company_id = coalesce(excluded.company_id, sync_records.company_id)
    WHERE sync_records.state NOT IN ('{SyncState.UNLINKED}', '{SyncState.ERASING}')"""  # noqa: S608 - our own labels
)
UNMAPPED: Final = "unmapped"
"""Among the cursors of a connection: kinds of which records there may bear our ids already."""
MAP_OWN: Final = text(
    f"""INSERT INTO sync_records (tenant_id, connection_id, kind, record_id, their_id, state)
    SELECT :tenant, :connection, :kind, one.record, one.theirs, '{SyncState.DONE}'
    FROM unnest(CAST(:records AS uuid[]), CAST(:theirs AS text[])) one(record, theirs)
    ON CONFLICT (connection_id, kind, record_id) DO UPDATE
    SET their_id = coalesce(sync_records.their_id, excluded.their_id)"""  # noqa: S608 - our own labels
)
WITH_COMPANIES: Final = text(
    """SELECT x.id AS contact, coalesce(
      (SELECT c.id FROM companies c WHERE c.tenant_id = :tenant
        AND c.email_contact_id = x.id ORDER BY c.id LIMIT 1),
      (SELECT c.id FROM companies c WHERE c.tenant_id = :tenant
        AND c.domain_id = x.domain_id ORDER BY c.id LIMIT 1)) AS company FROM contacts x
    WHERE x.tenant_id = :tenant AND x.id = ANY(:ids)"""
)
BEST_CONTACTS: Final = text(
    """SELECT id AS company, email_contact_id AS contact FROM companies
    WHERE tenant_id = :tenant AND id = ANY(:ids)"""
)
# Who was written a moment ago is not in an index there that lags, but here.
SAME_ADDRESS: Final = text(
    f"""SELECT c.email, r.their_id FROM contacts c JOIN sync_records r
      ON r.connection_id = :connection AND r.kind = '{CrmKind.PERSON}' AND r.record_id = c.id
    WHERE c.tenant_id = :tenant AND c.email = ANY(:emails) AND r.id <> ALL(:but)
      AND NOT r.is_shared AND CASE WHEN r.their_id IS NULL
        THEN r.state IN ('{SyncState.SENDING}', '{SyncState.UNKNOWN}')
        ELSE r.state NOT IN ('{SyncState.UNLINKED}', '{SyncState.ERASING}') END
    ORDER BY r.their_id NULLS FIRST"""  # noqa: S608 - our own labels
)


async def going_along(
    connection: AsyncConnection,
    tenant_id: UUID,
    sync_id: UUID,
    kind: CrmKind,
    ids: Sequence[UUID],
) -> list[UUID]:
    """Return what is queued with records: best contacts, or companies that are not there yet."""
    asked = {"tenant": tenant_id, "ids": list(ids)}
    if kind is CrmKind.COMPANY:
        rows = (await connection.execute(BEST_CONTACTS, asked)).all()
        return list(dict.fromkeys(row.contact for row in rows if row.contact))
    rows = (await connection.execute(WITH_COMPANIES, asked)).all()
    wanted = dict.fromkeys(row.company for row in rows if row.company)
    return [*await not_there(connection, sync_id, wanted)]


async def not_there(
    connection: AsyncConnection, sync_id: UUID, wanted: Mapping[UUID, None]
) -> dict[UUID, None]:
    """Leave out companies that are there: such a one goes again only when it has changed."""
    known = select(SyncRecord.record_id).where(
        SyncRecord.connection_id == sync_id,
        SyncRecord.kind == CrmKind.COMPANY,
        SyncRecord.record_id.in_(wanted),
    )
    there = {*await connection.scalars(known)}
    return {one: None for one in wanted if one not in there}


async def map_own(
    connection: AsyncConnection,
    tenant_id: UUID,
    sync_id: UUID,
    kind: CrmKind,
    found: Mapping[UUID, str],
) -> None:
    """Enter records of theirs that bear our ids, which an earlier connection has made."""
    values = {
        "tenant": tenant_id,
        "connection": sync_id,
        "kind": kind.value,
        "records": list(found),
        "theirs": list(found.values()),
    }
    await connection.execute(MAP_OWN, values)


async def queue_companies(
    connection: AsyncConnection, tenant_id: UUID, sync_id: UUID, ids: Sequence[UUID]
) -> int:
    """Queue companies with their best contacts, in the transaction of the caller."""
    asked = {"tenant": tenant_id, "ids": list(ids)}
    rows = (await connection.execute(BEST_CONTACTS, asked)).all()
    people = {row.contact: row.company for row in rows if row.contact}
    companies = {row.company: None for row in rows}
    await queue(connection, tenant_id, sync_id, CrmKind.COMPANY, companies)
    await queue(connection, tenant_id, sync_id, CrmKind.PERSON, people)
    return len(companies)


async def queue_contacts(
    connection: AsyncConnection, tenant_id: UUID, sync_id: UUID, ids: Sequence[UUID]
) -> int:
    """Queue contacts with their companies."""
    asked = {"tenant": tenant_id, "ids": list(ids)}
    rows = (await connection.execute(WITH_COMPANIES, asked)).all()
    wanted = dict.fromkeys(row.company for row in rows if row.company)
    companies = await not_there(connection, sync_id, wanted)
    await queue(connection, tenant_id, sync_id, CrmKind.COMPANY, companies)
    people = {row.contact: row.company for row in rows}
    await queue(connection, tenant_id, sync_id, CrmKind.PERSON, people)
    return len(people)


async def queue(
    connection: AsyncConnection,
    tenant_id: UUID,
    sync_id: UUID,
    kind: CrmKind,
    records: Mapping[UUID, UUID | None],
) -> None:
    """Queue records, each with its company if it has one."""
    if not records:
        return
    values = {
        "tenant": tenant_id,
        "connection": sync_id,
        "kind": kind.value,
        "records": list(records),
        "companies": list(records.values()),
    }
    await connection.execute(QUEUE, values)


SAVE: Final = text(
    f"""WITH given AS (SELECT * FROM jsonb_to_recordset(CAST(:rows AS jsonb)) AS n(id uuid,
      was text, state text, their_id text, is_shared boolean, is_adopted boolean,
      snapshot jsonb, sending jsonb, sent_at timestamptz, linked_to text, differs jsonb,
      problem jsonb, attempts bigint, wait double precision))
    UPDATE sync_records r SET
      state = CASE WHEN r.state <> n.was THEN r.state
        WHEN r.is_changed AND n.state = '{SyncState.DONE}' THEN '{SyncState.QUEUED}'
        ELSE n.state END,
      is_changed = r.is_changed AND n.state <> '{SyncState.DONE}',
      their_id = n.their_id, is_shared = n.is_shared, is_adopted = n.is_adopted,
      sent_at = n.sent_at, linked_to = n.linked_to, attempts = n.attempts,
      snapshot = CASE WHEN r.state = n.was THEN n.snapshot ELSE r.snapshot END,
      sending = CASE WHEN r.state = n.was THEN n.sending ELSE r.sending END,
      differs = CASE WHEN r.state = n.was THEN n.differs ELSE r.differs END,
      problem = CASE WHEN r.state = n.was THEN n.problem ELSE r.problem END,
      next_at = clock_timestamp() + make_interval(secs => n.wait),
      done_at = CASE WHEN n.state = '{SyncState.DONE}' THEN clock_timestamp() ELSE r.done_at END
    FROM given n WHERE r.id = n.id
    RETURNING r.id, r.kind, r.record_id, r.state, n.was = r.state OR n.state = r.state
      OR r.state = '{SyncState.QUEUED}' AS is_ours"""  # noqa: S608 - our own labels
)
"""What was erased or removed here meanwhile keeps its state, and nothing of it is stored again."""


@dataclass(slots=True, kw_only=True)
class OutboxEntry:
    """A row of the outbox in the hand of who works on it."""

    id: UUID
    kind: CrmKind
    record_id: UUID
    company_id: UUID | None
    was: str
    """Its state as it is stored."""
    state: SyncState
    their_id: str | None
    is_shared: bool
    is_adopted: bool
    snapshot: dict[str, Any]
    sending: dict[str, Any]
    sent_at: datetime | None
    linked_to: str | None
    differs: dict[str, Any]
    problem: dict[str, Any]
    attempts: int
    wait: timedelta = timedelta()
    """How much later it is due."""
    is_stored: bool = True
    """Whether it is still ours to work on, by the last time it was saved."""

    def refuse(self, reasons: Mapping[str, str]) -> None:
        """Say why it is not written."""
        self.state, self.problem = SyncState.REFUSED, dict(reasons)
        self.sending, self.sent_at = {}, None

    def put_back(self, after: timedelta) -> None:
        """Queue it again, of which nothing was written, for later."""
        self.state, self.sent_at, self.wait = SyncState.QUEUED, None, after
        self.sending = {}


def entry_of(row: Row[Any]) -> OutboxEntry:
    """Take a row into the hand."""
    names = {one.name for one in fields(OutboxEntry)}
    given = {name: value for name, value in row._asdict().items() if name in names}
    given |= {"kind": CrmKind(row.kind), "state": SyncState(row.state)}
    return OutboxEntry(was=row.state, **given)


def written_entry(entry: OutboxEntry) -> dict[str, Any]:
    """Return an entry as it is stored."""
    return {
        **{name: getattr(entry, name) for name in SAVED},
        "was": entry.was,
        "wait": entry.wait.total_seconds(),
    }


SAVED: Final = (
    "id", "state", "their_id", "is_shared", "is_adopted", "snapshot", "sending",
    "sent_at", "linked_to", "differs", "problem", "attempts",
)  # fmt: skip


async def save(
    connection: AsyncConnection, connector: str, entries: Sequence[OutboxEntry]
) -> None:
    """Store what came of entries, and show it on contacts, in the transaction of the caller."""
    if not entries:
        return
    rows = json_text([written_entry(entry) for entry in entries])
    stored = (await connection.execute(SAVE, {"rows": rows})).all()
    by_id = {row.id: row for row in stored}
    for entry in entries:
        row = by_id.get(entry.id)
        entry.is_stored = row is not None and row.is_ours
        if row is not None:
            entry.was, entry.state = row.state, SyncState(row.state)
        entry.wait = timedelta()
    await show_states(connection, connector, stored)


async def show_states(
    connection: AsyncConnection, connector: str, rows: Sequence[Row[Any]]
) -> None:
    """Write the states of people to the contacts' own column, if the connector has one."""
    column = STATUS_COLUMNS.get(connector)
    if column is None:
        return
    by_status: dict[ContactProcessingStatus, list[UUID]] = {}
    for row in rows:
        if row.kind == CrmKind.PERSON:
            seen = SEEN_AS[SyncState(row.state)]
            by_status.setdefault(seen, []).append(row.record_id)
    for status, ids in by_status.items():
        await connection.execute(
            update(Contact)
            .where(Contact.id.in_(ids), column.is_distinct_from(status))
            .values({column: status})
        )


async def next_batch(
    connection: AsyncConnection, sync_id: UUID, kind: CrmKind, most: int
) -> list[OutboxEntry]:
    """Return what is queued and due; a person waits until its company is there or refused."""
    company = RECORDS.alias("company")
    its_company_is_open = (
        select(company.c.id)
        .where(
            company.c.connection_id == sync_id,
            company.c.kind == CrmKind.COMPANY.value,
            company.c.record_id == RECORDS.c.company_id,
            company.c.state.in_(OPEN_STATES),
        )
        .exists()
    )
    query = (
        select(RECORDS)
        .where(
            RECORDS.c.connection_id == sync_id,
            RECORDS.c.kind == kind.value,
            RECORDS.c.state == SyncState.QUEUED,
            RECORDS.c.next_at <= func.clock_timestamp(),
        )
        .order_by(RECORDS.c.next_at, RECORDS.c.id)
        .limit(most)
    )
    if kind is CrmKind.PERSON:
        query = query.where(~its_company_is_open)
    return [entry_of(row) for row in await connection.execute(query)]


async def same_address(
    connection: AsyncConnection,
    tenant_id: UUID,
    sync_id: UUID,
    waiting: Mapping[str, Sequence[OutboxEntry]],
) -> dict[str, str | None]:
    """Return which addresses others of ours have, with the id of their record if it is known."""
    asked = {
        "connection": sync_id,
        "tenant": tenant_id,
        "emails": list(waiting),
        "but": [one.id for alike in waiting.values() for one in alike],
    }
    rows = (await connection.execute(SAME_ADDRESS, asked)).all()
    return {row.email: row.their_id for row in rows}


async def in_state(
    connection: AsyncConnection,
    sync_id: UUID,
    states: Sequence[SyncState],
    *,
    most: int,
    kind: CrmKind | None = None,
) -> list[OutboxEntry]:
    """Return records in some states that are due."""
    query = select(RECORDS).where(
        RECORDS.c.connection_id == sync_id,
        RECORDS.c.state.in_(states),
        RECORDS.c.next_at <= func.clock_timestamp(),
    )
    if kind is not None:
        query = query.where(RECORDS.c.kind == kind.value)
    found = await connection.execute(query.order_by(RECORDS.c.id).limit(most))
    return [entry_of(row) for row in found]


def open_problems(sync_id: UUID) -> Select[Any]:
    """Select the records of a connection that a person may have to look at."""
    is_told = (RECORDS.c.state == SyncState.DONE) & (RECORDS.c.problem != text("'{}'"))
    return select(RECORDS).where(
        RECORDS.c.connection_id == sync_id,
        or_(RECORDS.c.state.in_(OPEN_PROBLEMS), is_told),
    )


async def next_due(connection: AsyncConnection, sync_id: UUID) -> timedelta | None:
    """Return how long until the next record is due; None: nothing waits."""
    waiting = (*OPEN_STATES, SyncState.ERASING)
    due: timedelta | None = await connection.scalar(
        select(func.min(RECORDS.c.next_at) - func.clock_timestamp()).where(
            RECORDS.c.connection_id == sync_id, RECORDS.c.state.in_(waiting)
        )
    )
    return due


async def has_queued(connection: AsyncConnection, sync_id: UUID) -> bool:
    """Say whether anything is to be written, or to be found out about, now."""
    query = select(RECORDS.c.id).where(
        RECORDS.c.connection_id == sync_id,
        RECORDS.c.state.in_(OPEN_STATES),
        RECORDS.c.next_at <= func.clock_timestamp(),
    )
    return await connection.scalar(query.limit(1)) is not None
