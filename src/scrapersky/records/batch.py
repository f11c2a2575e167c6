"""A set of domains, sitemaps or pages submitted together.

A batch stores no counts: they are derived from its items, so it can never call itself
complete while an item is pending.
"""

from datetime import datetime
from uuid import UUID

from sqlalchemy import CheckConstraint, ForeignKey, Index, String, text
from sqlalchemy.orm import Mapped, mapped_column

from scrapersky.records.base import ERROR_LIMIT, Base, OwnedRecord


class BatchJob(OwnedRecord, Base):
    """What was submitted, by whom, and whether a person paused or cancelled it."""

    __tablename__ = "batch_jobs"

    name: Mapped[str | None]
    kind: Mapped[str]
    paused_at: Mapped[datetime | None]
    cancelled_at: Mapped[datetime | None]


class BatchItem(OwnedRecord, Base):
    """One submitted line, and the record it became; a refused line says why."""

    __tablename__ = "batch_items"
    __table_args__ = (
        Index("uq_batch_items_batch_id_position", "batch_id", "position", unique=True),
        CheckConstraint(
            "num_nonnulls(domain_id, sitemap_file_id, page_id, error) >= 1",
            name="has_outcome",
        ),
    )

    batch_id: Mapped[UUID] = mapped_column(
        ForeignKey("batch_jobs.id", ondelete="CASCADE")
    )
    position: Mapped[int]
    submitted: Mapped[str]
    domain_id: Mapped[UUID | None] = mapped_column(
        ForeignKey("domains.id", ondelete="CASCADE"), index=True
    )
    sitemap_file_id: Mapped[UUID | None] = mapped_column(
        ForeignKey("sitemap_files.id", ondelete="CASCADE"), index=True
    )
    page_id: Mapped[UUID | None] = mapped_column(
        ForeignKey("pages.id", ondelete="CASCADE"), index=True
    )
    is_duplicate: Mapped[bool] = mapped_column(server_default=text("false"))
    error: Mapped[str | None] = mapped_column(String(ERROR_LIMIT))
