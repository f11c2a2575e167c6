"""When the website of a domain was visited again, and when it will be next."""

from datetime import datetime, timedelta
from uuid import UUID

from sqlalchemy import ForeignKey, Index, Interval, text
from sqlalchemy.orm import Mapped, mapped_column

from scrapersky.records.base import Base


class SiteVisit(Base):
    """The rhythm of one website: sooner where something changed, later where nothing did."""

    __tablename__ = "site_visits"
    __table_args__ = (Index("ix_site_visits_next_at", "next_at"),)

    domain_id: Mapped[UUID] = mapped_column(
        ForeignKey("domains.id", ondelete="CASCADE"), primary_key=True
    )
    tenant_id: Mapped[UUID] = mapped_column(
        ForeignKey("tenants.id", ondelete="CASCADE"), index=True
    )
    visits: Mapped[int] = mapped_column(server_default=text("0"))
    visited_at: Mapped[datetime | None]
    next_at: Mapped[datetime]
    pause: Mapped[timedelta] = mapped_column(Interval)
    """How long after a visit the next one is."""
    changed_at: Mapped[datetime | None]
    """When something on it was last found to differ."""
    unreachable_since: Mapped[datetime | None]
