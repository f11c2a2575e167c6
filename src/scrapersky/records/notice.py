"""Whom we must notify that we hold their data, by when, and whom we have notified."""

from datetime import datetime
from enum import StrEnum
from uuid import UUID

from sqlalchemy import CheckConstraint, Computed, ForeignKey, Index, text
from sqlalchemy.orm import Mapped, mapped_column

from scrapersky.records.base import Base


class LegalBasis(StrEnum):
    """Why a person's data may be held: the six of article 6 of the GDPR."""

    CONSENT = "consent"
    CONTRACT = "contract"
    LEGAL_OBLIGATION = "legal_obligation"
    VITAL_INTERESTS = "vital_interests"
    PUBLIC_TASK = "public_task"
    LEGITIMATE_INTERESTS = "legitimate_interests"


class ContactNotice(Base):
    """One contact's right to be informed where its data came from.

    The database makes the row with the contact, and takes it with the contact.
    """

    __tablename__ = "contact_notices"
    __table_args__ = (
        Index(
            "ix_contact_notices_open",
            "tenant_id",
            "due_at",
            "contact_id",
            postgresql_where=text("informed_at IS NULL"),
        ),
        Index(
            "ix_contact_notices_informed",
            "tenant_id",
            "due_at",
            "contact_id",
            postgresql_where=text("informed_at IS NOT NULL"),
        ),
        CheckConstraint(
            f"legal_basis IN ({', '.join(repr(one.value) for one in LegalBasis)})",
            name="legal_basis",
        ),
    )

    contact_id: Mapped[UUID] = mapped_column(
        ForeignKey("contacts.id", ondelete="CASCADE"), primary_key=True
    )
    tenant_id: Mapped[UUID] = mapped_column(
        ForeignKey("tenants.id", ondelete="CASCADE")
    )
    obtained_at: Mapped[datetime]
    due_at: Mapped[datetime] = mapped_column(
        Computed(
            "(obtained_at AT TIME ZONE 'UTC' + interval '1 month') AT TIME ZONE 'UTC'",
            persisted=True,
        )
    )
    """A calendar month later, at the latest: 28 February for 31 January."""
    legal_basis: Mapped[str] = mapped_column(
        server_default=LegalBasis.LEGITIMATE_INTERESTS.value
    )
    informed_at: Mapped[datetime | None]
    informed_by: Mapped[UUID | None] = mapped_column(
        ForeignKey("users.id", ondelete="SET NULL")
    )
    how: Mapped[str | None]
    """How they were notified, or why they need not be."""
