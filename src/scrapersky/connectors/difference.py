"""What a push would change, before anything is written: compared with what the CRM has now."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from math import ceil
from typing import Any, Final
from uuid import UUID, uuid4

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncEngine

from scrapersky.changes.subscriber import Lease
from scrapersky.changes.watch import Follower
from scrapersky.connectors.account import CONNECTIONS, CrmConnection
from scrapersky.connectors.forecast import rules_of, time_needed
from scrapersky.connectors.lead import SyncedLead, read_leads
from scrapersky.connectors.outbox import (
    RECORDS,
    OutboxEntry,
    entry_of,
    going_along,
)
from scrapersky.connectors.protocol import CrmKind, SyncVolume
from scrapersky.connectors.push import PendingWrite, Push
from scrapersky.connectors.values import labelled
from scrapersky.records.sync import SyncState

MOST_SHOWN: Final = 20
MOST_COMPARED: Final = 1_000


@dataclass(slots=True)
class CrmDifference:
    """What would be written of one kind, and what it takes."""

    kind: CrmKind
    total: int = 0
    """How many leads are meant; only the first of them are compared."""
    compared: int = 0
    creates: int = 0
    updates: int = 0
    matched: int = 0
    """Of the updates: records that are there and not ours yet."""
    unchanged: int = 0
    refused: int = 0
    fields: dict[str, int] = field(default_factory=dict)
    """How often each field of theirs would be written."""
    kept: dict[str, int] = field(default_factory=dict)
    """How often each is left as it is there, though ours is another value."""
    samples: list[dict[str, Any]] = field(default_factory=list)
    price: dict[str, float] = field(default_factory=dict)
    """What all of them take of each limit: searching and reading before the writes, too."""
    seconds: float = 0.0
    along: "CrmDifference | None" = None
    """Of what is written with them."""


async def difference(
    engine: AsyncEngine, opened: CrmConnection, kind: CrmKind, ids: Sequence[UUID]
) -> CrmDifference:
    """Compare leads with what is there: it reads, and writes nothing."""
    tenant_id, sync_id = opened.row.tenant_id, opened.row.id
    lease = Lease(engine, CONNECTIONS, sync_id, tenant_id, uuid4(), Follower(tenant_id))
    push, found = Push(lease, opened, uuid4()), CrmDifference(kind)
    wanted = list(ids)[:MOST_COMPARED]
    found.total = len(ids)
    schema = await opened.schema(kind, anew=True)
    begin, volume = dict(opened.session.spent), SyncVolume()
    for start in range(0, len(wanted), 100):
        part = wanted[start : start + 100]
        async with engine.connect() as connection:
            entries = await would_be_entries(connection, sync_id, kind, part)
            leads = await read_leads(connection, tenant_id, kind, part)
        volume = added(volume, volume_before(push, kind, entries, leads))
        pending = await push.pending(kind, entries, leads)
        volume = added(volume, volume_of(pending))
        for one in pending:
            is_new = one.entry.their_id is None
            found.creates += is_new
            found.updates += not is_new
            found.matched += (
                not is_new and one.entry.is_adopted and not one.entry.snapshot
            )
            for name in one.changes:
                found.fields[name] = found.fields.get(name, 0) + 1
            if len(found.samples) < MOST_SHOWN:
                found.samples.append(
                    {
                        "id": one.entry.record_id,
                        "their_id": one.entry.their_id,
                        "changes": {
                            name: {
                                "from": labelled(
                                    one.before.get(name), schema.get(name)
                                ),
                                "to": labelled(value, schema.get(name)),
                            }
                            for name, value in one.changes.items()
                        },
                        "differs": one.entry.differs,
                    }
                )
        for entry in entries:
            found.refused += entry.state in (SyncState.REFUSED, SyncState.UNLINKED)
            found.unchanged += entry.state is SyncState.DONE
            for name in entry.differs:
                found.kept[name] = found.kept.get(name, 0) + 1
        found.compared += len(part)
    share = found.total / max(found.compared, 1)
    price = opened.crm.price(kind, times(volume, share))
    # A run reads the schema once, as this has done.
    found.price = {
        name: price.get(name, 0.0) + begin.get(name, 0.0) for name in {*price, *begin}
    }
    meters, now = opened.row.meters, opened.clock.now()
    needed = time_needed(rules_of(opened), meters, found.price, now)
    found.seconds = needed.total_seconds()
    return found


async def whole_difference(
    engine: AsyncEngine, opened: CrmConnection, kind: CrmKind, ids: Sequence[UUID]
) -> CrmDifference:
    """Compare leads, and what goes along: the best contacts of companies, or companies of people.

    The price and the time are those of both.
    """
    found = await difference(engine, opened, kind, ids)
    other = CrmKind.PERSON if kind is CrmKind.COMPANY else CrmKind.COMPANY
    if other not in opened.crm.info.kinds:
        return found
    row = opened.row
    async with engine.connect() as connection:
        along = await going_along(connection, row.tenant_id, row.id, kind, ids)
    if not along:
        return found
    opened.session.spent.clear()
    found.along = await difference(engine, opened, other, along)
    for name, units in found.along.price.items():
        found.price[name] = found.price.get(name, 0.0) + units
    now = opened.clock.now()
    needed = time_needed(rules_of(opened), row.meters, found.price, now)
    found.seconds = needed.total_seconds()
    return found


def volume_before(
    push: Push,
    kind: CrmKind,
    entries: Sequence[OutboxEntry],
    leads: dict[UUID, SyncedLead],
) -> SyncVolume:
    """Return what is read and looked for before anything is written."""
    allowed = [one for one in entries if leads[one.record_id].refusal is None]
    return SyncVolume(
        reads=sum(one.their_id is not None and not one.is_shared for one in allowed),
        searches=len(push.counterparts.keys(kind, allowed, leads)),
    )


def volume_of(pending: Sequence[PendingWrite]) -> SyncVolume:
    """Return what is written, and which people are linked to their companies."""
    creates = sum(one.entry.their_id is None for one in pending)
    links = [
        one
        for one in pending
        if one.entry.kind is CrmKind.PERSON
        and one.entry.company_id is not None
        and one.entry.linked_to is None
    ]
    return SyncVolume(creates=creates, updates=len(pending) - creates, links=len(links))


def added(first: SyncVolume, second: SyncVolume) -> SyncVolume:
    """Return two volumes as one."""
    both = asdict(second)
    return SyncVolume(**{name: n + both[name] for name, n in asdict(first).items()})


def times(volume: SyncVolume, share: float) -> SyncVolume:
    """Return a volume so many times as large."""
    return SyncVolume(**{name: ceil(n * share) for name, n in asdict(volume).items()})


async def would_be_entries(
    connection: Any,  # noqa: ANN401 - a connection
    sync_id: UUID,
    kind: CrmKind,
    ids: Sequence[UUID],
) -> list[OutboxEntry]:
    """Return the entries of these records as they would be queued."""
    query = select(RECORDS).where(
        RECORDS.c.connection_id == sync_id,
        RECORDS.c.kind == kind.value,
        RECORDS.c.record_id.in_(ids),
    )
    known = {row.record_id: entry_of(row) for row in await connection.execute(query)}
    for entry in known.values():
        if entry.state is not SyncState.UNLINKED:
            entry.state = SyncState.QUEUED
    return [known.get(one) or new_entry(kind, one) for one in ids]


def new_entry(kind: CrmKind, record_id: UUID) -> OutboxEntry:
    """Return the entry of a record that was never queued."""
    return OutboxEntry(
        id=uuid4(), kind=kind, record_id=record_id, company_id=None, was="",
        state=SyncState.QUEUED, their_id=None, is_shared=False, is_adopted=False,
        snapshot={}, sending={}, sent_at=None, linked_to=None, differs={}, problem={},
        attempts=0,
    )  # fmt: skip
