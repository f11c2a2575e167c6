"""Connections to CRMs: which of their records is which of ours, and what is to be written.

A row of `sync_records` is both: the entry of the map (our id, their id) and the outbox. It says
"to be written" from the transaction on that decided so, "being written" before the first byte
goes out, and what came of it after the answer. Whoever takes over after a crash reads from it
whether something may have been written, and asks the CRM for our id before it writes again.
"""

from datetime import datetime
from enum import StrEnum
from typing import Final
from uuid import UUID

from sqlalchemy import ForeignKey, Index, UniqueConstraint, func, text
from sqlalchemy.dialects.postgresql import BYTEA
from sqlalchemy.orm import Mapped, mapped_column

from scrapersky.records.base import Base, Json, JsonObject, OwnedRecord
from scrapersky.records.contact import Contact
from scrapersky.records.status import ContactProcessingStatus
from scrapersky.records.subscription import Subscription, due_index
from scrapersky.records.work_queue import Attribute


class SyncState(StrEnum):
    """Where a record is on its way into a CRM."""

    QUEUED = "queued"
    SENDING = "sending"
    """It may have been written: after a crash our id is read back before anything is sent."""
    DONE = "done"
    REFUSED = "refused"
    """The CRM said no, or we did: `problem` says why, by field."""
    UNKNOWN = "unknown"
    """The answer was lost; it is read back."""
    UNLINKED = "unlinked"
    """Somebody deleted it there: it is not made again by itself."""
    ERASING = "erasing"
    """It was erased here, and is to be erased there."""


OPEN_STATES: Final = (SyncState.QUEUED, SyncState.SENDING, SyncState.UNKNOWN)
OPEN_PROBLEMS: Final = (
    SyncState.REFUSED,
    SyncState.UNLINKED,
    SyncState.UNKNOWN,
    SyncState.ERASING,
)
"""States that a person may have to look at."""
SEEN_AS: Final = {
    SyncState.QUEUED: ContactProcessingStatus.QUEUED,
    SyncState.SENDING: ContactProcessingStatus.PROCESSING,
    SyncState.UNKNOWN: ContactProcessingStatus.PROCESSING,
    SyncState.DONE: ContactProcessingStatus.COMPLETE,
    SyncState.REFUSED: ContactProcessingStatus.ERROR,
    SyncState.UNLINKED: ContactProcessingStatus.ERROR,
    SyncState.ERASING: ContactProcessingStatus.PROCESSING,
}
"""What the contact's own status column says of each state."""
STATUS_COLUMNS: Final[dict[str, Attribute]] = {
    "hubspot": Contact.hubspot_sync_status,
    "pipedrive": Contact.pipedrive_sync_status,
    "brevo": Contact.brevo_sync_status,
    "mautic": Contact.mautic_sync_status,
}
"""The status column of a connector that has one; the others show only in their connection."""


class SyncConnection(OwnedRecord, Subscription, Base):
    """One account of a CRM that a tenant has connected."""

    __tablename__ = "sync_connections"
    __table_args__ = (
        UniqueConstraint("tenant_id", "connector", "account_id"),
        due_index("sync_connections"),
    )

    connector: Mapped[str]
    name: Mapped[str]
    options: Mapped[JsonObject]
    secret: Mapped[bytes | None] = mapped_column(BYTEA)
    """Encrypted; never shown."""
    account_id: Mapped[str]
    account_name: Mapped[str]
    fields: Mapped[JsonObject]
    """Our own fields, by kind: what each is called there."""
    mapping: Mapped[JsonObject]
    """By kind and value of ours: field, rule and choices."""
    daily_budget: Mapped[int | None]
    """Calls or tokens of a day that may be spent here; None: all that the account allows us."""
    meters: Mapped[JsonObject]
    cursors: Mapped[JsonObject]
    """By kind: up to where their changes were read."""
    polled_at: Mapped[datetime | None]
    run_id: Mapped[UUID | None]
    """The run that writes are noted for."""
    run_at: Mapped[datetime | None]
    problem: Mapped[str | None]
    """Why nothing goes on, if it does not."""
    paused_at: Mapped[datetime | None]


class SyncRecord(OwnedRecord, Base):
    """A company or contact of ours in one CRM."""

    __tablename__ = "sync_records"
    __table_args__ = (
        UniqueConstraint("connection_id", "kind", "record_id"),
        Index("ix_sync_records_record_id", "record_id"),
        Index("ix_sync_records_their_id", "connection_id", "kind", "their_id"),
        Index(
            "ix_sync_records_unlinked_people",
            "connection_id",
            "id",
            postgresql_where=text(
                f"kind = 'person' AND state = '{SyncState.DONE}' AND linked_to IS NULL"
            ),
        ),
        Index("ix_sync_records_by_state", "connection_id", "state", "next_at", "id"),
    )

    connection_id: Mapped[UUID] = mapped_column(
        ForeignKey("sync_connections.id", ondelete="CASCADE")
    )
    kind: Mapped[str]
    record_id: Mapped[UUID]
    """Ours: of a company or a contact, which may be gone."""
    company_id: Mapped[UUID | None]
    """Of a person: our company, which goes before it."""
    state: Mapped[str]
    next_at: Mapped[datetime] = mapped_column(server_default=func.clock_timestamp())
    their_id: Mapped[str | None]
    is_shared: Mapped[bool] = mapped_column(server_default=text("false"))
    """Their record is that of another of ours, with the same e-mail address: it is only linked."""
    is_adopted: Mapped[bool] = mapped_column(server_default=text("false"))
    """Their record was there before us."""
    snapshot: Mapped[JsonObject]
    """What we wrote last, by their fields: what differs from it there, somebody else wrote."""
    sending: Mapped[JsonObject]
    sent_at: Mapped[datetime | None]
    """When the first byte of what is in `sending` may have gone out."""
    linked_to: Mapped[str | None]
    """Their id of the company that the person is linked to."""
    differs: Mapped[JsonObject]
    """By their fields: our value and theirs, where theirs was left."""
    problem: Mapped[JsonObject]
    """Why it was refused, by field."""
    is_changed: Mapped[bool] = mapped_column(server_default=text("false"))
    """It was queued again while it was being written, and goes once more."""
    attempts: Mapped[int] = mapped_column(server_default=text("0"))
    done_at: Mapped[datetime | None]


class SyncWrite(OwnedRecord, Base):
    """One write to a CRM: for the log, and to take it back."""

    __tablename__ = "sync_writes"
    __table_args__ = (
        Index("ix_sync_writes_run", "connection_id", "run_id", "id"),
        Index("ix_sync_writes_record_id", "record_id"),
        Index("ix_sync_writes_created_at", "created_at"),
    )

    connection_id: Mapped[UUID] = mapped_column(
        ForeignKey("sync_connections.id", ondelete="CASCADE")
    )
    run_id: Mapped[UUID]
    kind: Mapped[str]
    record_id: Mapped[UUID]
    their_id: Mapped[str]
    is_new: Mapped[bool]
    before: Mapped[Json] = mapped_column(server_default=text("'{}'"))
    """What their fields held."""
    after: Mapped[Json] = mapped_column(server_default=text("'{}'"))
    undone_at: Mapped[datetime | None]
