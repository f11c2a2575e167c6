"""The change log: what happened to records, written by the database with each change.

Triggers write it (`db/migrations/change_log.py`), `scrapersky.changes` reads it.
"""

from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from datetime import datetime
from enum import StrEnum
from typing import Final
from uuid import UUID

from sqlalchemy import Identity, Index, Text, func, insert, text
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.ext.asyncio import AsyncConnection
from sqlalchemy.orm import Mapped, mapped_column

from scrapersky.records.base import Base, Json


class ChangeEvent(StrEnum):
    """What happened to a record."""

    CREATED = "created"
    CHANGED = "changed"
    REMOVED = "removed"
    MERGED = "merged"
    """It became a part of another, which `details` names as `into`."""
    ERASED = "erased"
    SUPPRESSED = "suppressed"
    DIFFERED = "differed"
    """Seen again, it was not what it had been: `fields` and `details` say what."""
    DIGEST = "digest"
    """A search that is run again and again: how much differed since the digest before."""
    FINISHED = "finished"
    """A search: everything it found was followed to its contacts."""


class RecordChange(Base):
    """What one statement did to one record. It names fields, never their values."""

    __tablename__ = "record_changes"
    __table_args__ = (
        Index("ix_record_changes_transaction_id", "transaction_id"),
        Index(
            "ix_record_changes_of_leads",
            "record_id",
            "position",
            postgresql_where=text(
                "kind IN ('companies', 'contacts', 'people', 'domains')"
            ),
        ),
    )

    # No reference to the tenant: every entry would have to look for it.
    tenant_id: Mapped[UUID] = mapped_column(primary_key=True)
    position: Mapped[int] = mapped_column(Identity(always=True), primary_key=True)
    """In the order of what happened to one record, but not in the order of commits."""
    transaction_id: Mapped[int]
    kind: Mapped[str]
    record_id: Mapped[UUID]
    event: Mapped[str]
    fields: Mapped[list[str]] = mapped_column(ARRAY(Text))
    actor: Mapped[str | None]
    action_id: Mapped[UUID | None]
    details: Mapped[Json | None]
    created_at: Mapped[datetime] = mapped_column(server_default=func.clock_timestamp())


class ChangeEpoch(Base):
    """Since when transactions are numbered from where, so that numbers never come again."""

    __tablename__ = "change_epochs"

    id: Mapped[int] = mapped_column(Identity(always=True), primary_key=True)
    shift: Mapped[int]
    """Added to the transaction ids of PostgreSQL, which begin anew on another server."""
    created_at: Mapped[datetime] = mapped_column(server_default=func.clock_timestamp())


async def note_changes(
    connection: AsyncConnection,
    tenant_id: UUID,
    kind: str,
    record_ids: Iterable[UUID],
    event: ChangeEvent,
    *,
    fields: Sequence[str] = (),
    details: Json | None = None,
) -> None:
    """Log what a statement cannot tell, in its transaction: why records went."""
    entries = [
        {
            "tenant_id": tenant_id,
            "kind": kind,
            "record_id": record_id,
            "event": event.value,
            "fields": [*fields],
            "details": details,
        }
        for record_id in record_ids
    ]
    if entries:
        # A position taken before the transaction has a number would be one that no reader
        # of that moment knows to be open.
        await connection.execute(NUMBER_TRANSACTION)
        await connection.execute(NOTE, entries)


NUMBER_TRANSACTION: Final = text("SELECT pg_current_xact_id()")

NOTE: Final = insert(RecordChange).values(
    transaction_id=func.change_transaction(),
    actor=func.change_actor(),
    action_id=text("nullif(current_setting('scrapersky.action', true), '')::uuid"),
)


@asynccontextmanager
async def removing_because(
    connection: AsyncConnection, event: ChangeEvent
) -> AsyncIterator[None]:
    """Log what is deleted in the block as erased, or suppressed, instead of removed."""
    query = text("SELECT current_setting('scrapersky.removal', true)")
    before = await connection.scalar(query)
    # Whoever erases a person suppresses it first: what was asked for is what is said.
    await connection.execute(SET_REMOVAL, {"event": before or event.value})
    yield
    await connection.execute(SET_REMOVAL, {"event": before or ""})


SET_REMOVAL: Final = text("SELECT set_config('scrapersky.removal', :event, true)")


async def log_as_part_of(connection: AsyncConnection, action_id: UUID | None) -> None:
    """Log what this transaction changes next as a part of an action; None: of none."""
    await connection.execute(SET_ACTION, {"id": str(action_id or "")})


SET_ACTION: Final = text("SELECT set_config('scrapersky.action', :id, true)")


async def continue_numbering(connection: AsyncConnection) -> bool:
    """Begin an epoch if the server's transaction ids are behind those in the log.

    So it is where a dump was restored on another server. Returns whether one has begun.
    """
    if not await connection.scalar(LOG_IS_AHEAD):
        return False
    # Whoever writes now has the old shift; nobody else begins an epoch meanwhile.
    await connection.execute(
        text("LOCK TABLE record_changes IN SHARE ROW EXCLUSIVE MODE")
    )
    begun = await connection.execute(BEGIN_EPOCH)
    return bool(begun.rowcount)


NEXT_TRANSACTION: Final = (
    "pg_snapshot_xmax(pg_current_snapshot())::text::bigint"
    " + (SELECT shift FROM change_epochs ORDER BY id DESC LIMIT 1)"
)
LOG_IS_AHEAD: Final = text(
    "SELECT max(transaction_id) >= "  # noqa: S608 - our own words
    f"{NEXT_TRANSACTION} FROM record_changes"
)
BEGIN_EPOCH: Final = text(
    "INSERT INTO change_epochs (shift) SELECT max(transaction_id) + 1"  # noqa: S608
    " - pg_snapshot_xmax(pg_current_snapshot())::text::bigint FROM record_changes"
    f" HAVING max(transaction_id) >= {NEXT_TRANSACTION}"
)
