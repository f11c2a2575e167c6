"""Who changed what, and when; written once, never changed."""

from uuid import UUID

from sqlalchemy import Index, text
from sqlalchemy.orm import Mapped, mapped_column

from scrapersky.models.base import Base, Json, OwnedRecord


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
    """The one record it was about, if it was one."""
