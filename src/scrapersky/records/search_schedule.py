"""Searches that are repeated: how often, for how much, and when next."""

from datetime import datetime
from decimal import Decimal
from enum import StrEnum
from uuid import UUID

from sqlalchemy import ForeignKey, Index, Numeric, UniqueConstraint, text
from sqlalchemy.orm import Mapped, mapped_column

from scrapersky.records.base import Base, OwnedRecord


class Repetition(StrEnum):
    """How often a search is run."""

    DAILY = "daily"
    WEEKLY = "weekly"
    MONTHLY = "monthly"


class SearchSchedule(OwnedRecord, Base):
    """When a search is run again; each run is a search of its own that repeats it."""

    __tablename__ = "search_schedules"
    __table_args__ = (
        UniqueConstraint("search_id"),
        Index(
            "ix_search_schedules_due",
            "next_run_at",
            postgresql_where=text("NOT is_paused"),
        ),
        Index("ix_search_schedules_tenant_id", "tenant_id"),
    )

    search_id: Mapped[UUID] = mapped_column(
        ForeignKey("place_searches.id", ondelete="CASCADE")
    )
    every: Mapped[str]
    budget: Mapped[Decimal | None] = mapped_column(Numeric(12, 4))
    """What one run may cost, in US dollars."""
    is_paused: Mapped[bool] = mapped_column(server_default=text("false"))
    next_run_at: Mapped[datetime]
    last_run_at: Mapped[datetime | None]
    last_run_id: Mapped[UUID | None] = mapped_column(
        ForeignKey("place_searches.id", ondelete="SET NULL")
    )
    problem: Mapped[str | None]
    """Why the last run that was due has not begun, if it has not."""
    has_digest: Mapped[bool] = mapped_column(server_default=text("false"))
    """Whether a digest of all changes is sent once a day."""
    digest_at: Mapped[datetime | None]
