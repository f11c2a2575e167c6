"""Who changed what, and when; written once, never changed."""

from sqlalchemy import Index
from sqlalchemy.orm import Mapped, mapped_column

from scrapersky.models.base import Base, Json, OwnedRecord


class AuditEntry(OwnedRecord, Base):
    """One action of a person, a rule or a program on one or many records."""

    __tablename__ = "audit_log"
    __table_args__ = (
        Index("ix_audit_log_tenant_id_created_at", "tenant_id", "created_at"),
    )

    actor: Mapped[str]
    action: Mapped[str]
    subject: Mapped[str]
    details: Mapped[Json | None]
    request_id: Mapped[str | None] = mapped_column()
