"""What differs from what was known before: of places, and on websites."""

from datetime import datetime
from enum import StrEnum
from uuid import UUID

from sqlalchemy import ForeignKey, Index, text
from sqlalchemy.orm import Mapped, mapped_column

from scrapersky.records.base import Base, OwnedRecord


class DifferenceType(StrEnum):
    """What became of a record, or of one value of it."""

    NEW = "new"
    CHANGED = "changed"
    GONE = "gone"
    BACK = "back"
    """It was gone or unreachable, and is there again."""
    MOVED = "moved"
    RENAMED = "renamed"
    CLOSED = "closed"
    REOPENED = "reopened"
    UNREACHABLE = "unreachable"
    """The website does not answer: nobody knows what it says now."""


class Difference(OwnedRecord, Base):
    """One value, or one record, that is not what it was: old and new, each with its source.

    It goes with the contact or the person that it is about.
    """

    __tablename__ = "differences"
    __table_args__ = (
        Index("ix_differences_by_time", "tenant_id", "created_at", "id"),
        Index("ix_differences_domain_id", "domain_id", "field"),
        Index("ix_differences_place_id", "place_id", "field"),
        Index("ix_differences_created_at", "created_at"),
        # By these they are found when somebody asks to be left alone.
        Index("ix_differences_by_old_value", "tenant_id", text("md5(old_value)")),
        Index("ix_differences_by_new_value", "tenant_id", text("md5(new_value)")),
        Index(
            "ix_differences_expires_at",
            "expires_at",
            postgresql_where=text("expires_at IS NOT NULL"),
        ),
        *(
            Index(
                f"ix_differences_{name}",
                name,
                postgresql_where=text(f"{name} IS NOT NULL"),
            )
            for name in ("run_id", "contact_id", "old_contact_id", "person_id")
        ),
    )

    run_id: Mapped[UUID | None] = mapped_column(
        ForeignKey("place_searches.id", ondelete="SET NULL")
    )
    """The run of a search that found it out; None where a website was visited."""
    place_id: Mapped[UUID | None] = mapped_column(
        ForeignKey("places_staging.id", ondelete="CASCADE")
    )
    domain_id: Mapped[UUID | None] = mapped_column(
        ForeignKey("domains.id", ondelete="CASCADE")
    )
    contact_id: Mapped[UUID | None] = mapped_column(
        ForeignKey("contacts.id", ondelete="CASCADE")
    )
    old_contact_id: Mapped[UUID | None] = mapped_column(
        ForeignKey("contacts.id", ondelete="CASCADE")
    )
    person_id: Mapped[UUID | None] = mapped_column(
        ForeignKey("people.id", ondelete="CASCADE")
    )
    what: Mapped[str]
    field: Mapped[str | None]
    """None where it is about the whole record."""
    old_value: Mapped[str | None]
    new_value: Mapped[str | None]
    old_source: Mapped[str | None]
    """The page, or the source of places, that had said so."""
    new_source: Mapped[str | None]
    old_seen_at: Mapped[datetime | None]
    expires_at: Mapped[datetime | None]
    """When what a source lent must be gone; None: it may stay."""


class LastLook(Base):
    """Until when somebody has seen what differs."""

    __tablename__ = "last_looks"

    tenant_id: Mapped[UUID] = mapped_column(
        ForeignKey("tenants.id", ondelete="CASCADE"), primary_key=True
    )
    user_id: Mapped[UUID] = mapped_column(
        ForeignKey("users.id", ondelete="CASCADE"), primary_key=True
    )
    looked_at: Mapped[datetime]
