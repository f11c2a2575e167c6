"""Read the change log from a cursor on: nothing twice, nothing left out.

What happened to one record comes in its order: whoever changes a row waits until its last change
is committed, so the later entry has the higher position, and is never seen without the earlier.
Entries of different records may come in another order than their transactions committed in.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

from sqlalchemy import Row, text
from sqlalchemy.ext.asyncio import AsyncConnection

from scrapersky.changes.cursor import ChangeCursor, microseconds_of
from scrapersky.errors import ChangesForgotten
from scrapersky.records.change import ChangeEvent

EMPTY_LOG_TIME: Final = timedelta(days=1)
"""How long the cursor of an empty log is good: entries are kept for at least that."""
GONE: Final = frozenset(ChangeEvent) - {
    ChangeEvent.CREATED,
    ChangeEvent.CHANGED,
    ChangeEvent.DIFFERED,
    ChangeEvent.DIGEST,
    ChangeEvent.FINISHED,
}
SAY_FIELDS: Final = (ChangeEvent.CHANGED, ChangeEvent.DIFFERED)
COLUMNS: Final = (
    "position, transaction_id, kind, record_id, event, fields, actor, action_id, details,"
    " created_at"
)
MAX_OPEN_TRANSACTIONS: Final = 10_000
"""Of more than that, a cursor cannot tell which are open: the reader waits."""
# A snapshot ends with the last transaction that has committed. Those after it are all open;
# how many have begun is what `age` counts to where a transaction writes nothing itself.
SNAPSHOT: Final = """pg_current_snapshot()::text AS snapshot,
  age(pg_snapshot_xmax(pg_current_snapshot())::xid) AS begun"""
STATE: Final = f"""SELECT {SNAPSHOT}, clock_timestamp() AS now,
  (SELECT shift FROM change_epochs ORDER BY id DESC LIMIT 1) AS shift,
  (SELECT created_at FROM record_changes
    WHERE tenant_id = :tenant AND position = :position) AS moment"""  # noqa: S608 - our own words
NEXT: Final = f"""SELECT {COLUMNS} FROM record_changes
  WHERE tenant_id = :tenant AND position > :position ORDER BY position LIMIT :limit"""  # noqa: S608
LATE: Final = f"""SELECT {COLUMNS} FROM record_changes
  WHERE transaction_id = ANY(:transactions) AND tenant_id = :tenant
    AND position > :late_position AND position <= :position
  ORDER BY position LIMIT :limit"""  # noqa: S608 - as above


IN_TRANSACTION: Final = "The change log is read in a transaction of its own."


def in_one_snapshot(*parts: str) -> Any:  # noqa: ANN401 - a statement
    """Read the entries together with which transactions were open at that moment."""
    entries = " UNION ALL ".join(f"({part})" for part in parts)
    return text(
        f"SELECT s.*, e.* FROM ({STATE}) s LEFT JOIN ({entries}) e ON true"  # noqa: S608
        " ORDER BY e.position"
    )


READ_NEXT: Final = in_one_snapshot(NEXT)
READ_NEXT_AND_LATE: Final = in_one_snapshot(NEXT, LATE)
READ_LATE: Final = in_one_snapshot(LATE)
READ_LAST: Final = in_one_snapshot(
    f"SELECT {COLUMNS} FROM record_changes WHERE tenant_id = :tenant"  # noqa: S608
    " ORDER BY position DESC LIMIT 1"
)


@dataclass(frozen=True, slots=True)
class ChangeEntry:
    """What one transaction did to one record."""

    position: int
    kind: str
    record_id: UUID
    event: ChangeEvent
    fields: tuple[str, ...]
    actor: str | None
    action_id: UUID | None
    details: Mapping[str, Any] | None
    created_at: datetime


OF_RECORDS: Final = text(
    f"""SELECT {COLUMNS} FROM record_changes WHERE tenant_id = :tenant
      AND record_id = ANY(:records) AND kind IN ('companies', 'contacts', 'people', 'domains')
    ORDER BY position DESC LIMIT :limit"""  # noqa: S608 - our own words
)
"""Of those kinds alone there is an index: of pages there are far more, and few ask for one."""


@dataclass(frozen=True, slots=True)
class ChangePage:
    """Some changes, in order, and where to go on."""

    entries: tuple[ChangeEntry, ...]
    cursor: ChangeCursor
    more: bool
    """Whether there are further ones already."""


async def head_cursor(connection: AsyncConnection, tenant_id: UUID) -> ChangeCursor:
    """Return the cursor after which only what is committed from now on is read."""
    if connection.in_transaction():
        raise RuntimeError(IN_TRANSACTION)
    values = {"tenant": tenant_id, "position": 0}
    row = (await connection.execute(READ_LAST, values)).one()
    await connection.rollback()
    if row.position is None:
        return ChangeCursor(0, microseconds_of(row.now))
    return cursor_at(row)


async def read_changes(
    connection: AsyncConnection, tenant_id: UUID, cursor: ChangeCursor, limit: int
) -> ChangePage:
    """Return what comes after a cursor; raise ChangesForgotten if that is not known any more.

    It takes a transaction of its own.
    """
    # How many transactions have begun is known once for a transaction: see SNAPSHOT.
    if connection.in_transaction():
        raise RuntimeError(IN_TRANSACTION)
    values = {
        "tenant": tenant_id,
        "position": cursor.position,
        "transactions": list(cursor.late or cursor.open),
        "late_position": cursor.late_position,
        "limit": limit + 1,
    }
    query = READ_NEXT_AND_LATE if cursor.open else READ_NEXT
    rows = (await connection.execute(READ_LATE if cursor.late else query, values)).all()
    await connection.rollback()
    state = rows[0]
    cursor = checked(cursor, state)
    if state.begun > MAX_OPEN_TRANSACTIONS:
        return ChangePage((), cursor, more=False)
    found = [row for row in rows if row.position is not None]
    if cursor.late:
        return page_of_late(cursor, found, limit)
    running = frozenset(open_transactions(state))
    waiting = tuple(one for one in cursor.open if one in running)
    late = [row for row in found if row.position <= cursor.position]
    if len(late) > limit:
        committed = tuple(one for one in cursor.open if one not in running)
        return page_of_late(replace(cursor, open=waiting, late=committed), late, limit)
    kept = found[:limit]
    after = (
        cursor_at(kept[-1]) if len(kept) > len(late) else replace(cursor, open=waiting)
    )
    return ChangePage(folded(kept), after, more=len(found) > limit)


async def latest_changes(
    connection: AsyncConnection, tenant_id: UUID, records: Sequence[UUID], limit: int
) -> tuple[ChangeEntry, ...]:
    """Return what happened last to some leads, the latest first."""
    values = {"tenant": tenant_id, "records": list(records), "limit": limit}
    rows = (await connection.execute(OF_RECORDS, values)).all()
    return folded(rows[::-1])[::-1]


def page_of_late(
    cursor: ChangeCursor, rows: Sequence[Row[Any]], limit: int
) -> ChangePage:
    """Return the next entries before the cursor, of transactions that were open at it."""
    kept = rows[:limit]
    if len(rows) > limit:
        after = replace(cursor, late_position=kept[-1].position)
    else:
        after = replace(cursor, late=(), late_position=0)
    return ChangePage(folded(kept), after, more=True)


def checked(cursor: ChangeCursor, state: Row[Any]) -> ChangeCursor:
    """Return the cursor, or raise if its entry is not here any more.

    It may have been removed for its age, or lost with the server that had written it.
    """
    if cursor.position == 0:
        age = state.now - cursor.time
        if age < EMPTY_LOG_TIME:
            is_empty = state.position is None
            return ChangeCursor(0, microseconds_of(state.now)) if is_empty else cursor
    elif state.moment is not None and microseconds_of(state.moment) == cursor.moment:
        return cursor
    raise ChangesForgotten(
        "What has changed since this cursor is not known any more.",
        hint="Read the records you need anew, and go on from `since=now`.",
    )


def cursor_at(row: Row[Any]) -> ChangeCursor:
    """Return the cursor behind an entry, in the snapshot in which it was read."""
    return ChangeCursor(
        row.position, microseconds_of(row.created_at), open_transactions(row)
    )


def open_transactions(state: Row[Any]) -> tuple[int, ...]:
    """Return the transactions that had begun to write and not ended in a snapshot."""
    _, end, running = state.snapshot.split(":")
    begun = range(int(end), int(end) + min(state.begun, MAX_OPEN_TRANSACTIONS))
    known = (*map(int, filter(None, running.split(","))), *begun)
    return tuple(one + state.shift for one in known)


def folded(rows: Iterable[Row[Any]]) -> tuple[ChangeEntry, ...]:
    """Make one entry of what a transaction did to a record, where its last one was."""
    entries: dict[tuple[int, str, UUID], ChangeEntry] = {}
    for row in rows:
        key = (row.transaction_id, row.kind, row.record_id)
        entry = ChangeEntry(
            row.position,
            row.kind,
            row.record_id,
            ChangeEvent(row.event),
            tuple(row.fields),
            row.actor,
            row.action_id,
            row.details,
            row.created_at,
        )
        earlier = entries.pop(key, None)
        entries[key] = entry if earlier is None else combined(earlier, entry)
    return tuple(entries.values())


def combined(earlier: ChangeEntry, later: ChangeEntry) -> ChangeEntry:
    """Say of two changes of one record what they come to."""
    event = later.event
    if event is ChangeEvent.CHANGED or (
        event is ChangeEvent.DIFFERED and earlier.event is ChangeEvent.CREATED
    ):
        event = earlier.event
    elif event is ChangeEvent.CREATED and earlier.event in GONE:
        event = ChangeEvent.CHANGED
    elif event is ChangeEvent.REMOVED and earlier.event in GONE:
        event = earlier.event  # which says why
    fields = dict.fromkeys((*earlier.fields, *later.fields))
    details = {**(earlier.details or {}), **(later.details or {})} or None
    return replace(
        later,
        event=event,
        fields=tuple(fields) if event in SAY_FIELDS else (),
        details=details,
    )
