"""Who changed what, and when; written once, never changed."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sqlalchemy import Index, insert, text
from sqlalchemy.ext.asyncio import AsyncConnection
from sqlalchemy.orm import Mapped, mapped_column

from scrapersky.records.base import Base, Json, OwnedRecord


@dataclass(frozen=True, slots=True)
class Actor:
    """Who acts, in whose data."""

    tenant_id: UUID
    user_id: UUID | None
    name: str
    """What the audit log calls them."""
    request_id: str | None = None
    traceparent: str | None = None
    """The span of the request, where requests are traced."""


class AuditEntry(OwnedRecord, Base):
    """One action of a person, a rule or a program on one or many records."""

    __tablename__ = "audit_log"
    __table_args__ = (
        Index("ix_audit_log_tenant_id_created_at", "tenant_id", "created_at"),
        Index(
            "ix_audit_log_record_id",
            "record_id",
            postgresql_where=text("record_id IS NOT NULL"),
        ),
    )

    actor: Mapped[str]
    action: Mapped[str]
    subject: Mapped[str]
    details: Mapped[Json | None]
    request_id: Mapped[str | None] = mapped_column()
    record_id: Mapped[UUID | None]
    """The one record it was about, or the decision or the batch with many."""
    traceparent: Mapped[str | None] = mapped_column()
    """The span of the request, for whoever works on what it queued."""


async def note(
    connection: AsyncConnection,
    actor: Actor,
    action: str,
    subject: str,
    details: dict[str, Any] | None = None,
    *,
    record_id: UUID | None = None,
) -> None:
    """Write down who did what, in the transaction that does it."""
    await connection.execute(
        insert(AuditEntry).values(
            tenant_id=actor.tenant_id,
            created_by=actor.user_id,
            actor=actor.name,
            action=action,
            subject=subject,
            details=details,
            request_id=actor.request_id,
            record_id=record_id,
            traceparent=actor.traceparent,
        )
    )
