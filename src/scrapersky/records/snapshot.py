"""Pages as they were when they were read: what the proof of a value refers to."""

from datetime import datetime
from enum import StrEnum
from uuid import UUID

from sqlalchemy import ForeignKey, ForeignKeyConstraint, Index, func, text
from sqlalchemy.dialects.postgresql import BYTEA
from sqlalchemy.orm import Mapped, mapped_column

from scrapersky.records.base import Base


class VoidReason(StrEnum):
    """Why the bytes of a page are not kept any more."""

    ERASED = "erased"
    """Somebody was erased whom the page names."""
    SUPPRESSED = "suppressed"
    """It names somebody on the suppression list."""
    EXPIRED = "expired"
    """It was kept as long as pages are."""
    BUDGET = "budget"
    """Newer pages needed the room that the tenant has."""


class PageContent(Base):
    """The bytes of a page, packed, once per tenant however often they were read.

    Where `base` names another content, they were packed against it and need it to be read:
    whoever removes that packs them anew first.
    """

    __tablename__ = "page_contents"
    __table_args__ = (
        ForeignKeyConstraint(
            ["tenant_id", "base"],
            ["page_contents.tenant_id", "page_contents.hash"],
            name="fk_page_contents_base",
            ondelete="CASCADE",
        ),
        Index(
            "ix_page_contents_base",
            "tenant_id",
            "base",
            postgresql_where=text("base IS NOT NULL"),
        ),
    )

    tenant_id: Mapped[UUID] = mapped_column(
        ForeignKey("tenants.id", ondelete="CASCADE"), primary_key=True
    )
    hash: Mapped[bytes] = mapped_column(BYTEA, primary_key=True)
    """SHA-256 of the bytes as they were read."""
    base: Mapped[bytes | None] = mapped_column(BYTEA)
    size: Mapped[int]
    content: Mapped[bytes] = mapped_column(BYTEA)
    created_at: Mapped[datetime] = mapped_column(server_default=func.clock_timestamp())


class PageSnapshot(Base):
    """A page at a time: which bytes it was, and all that reading them again needs."""

    __tablename__ = "page_snapshots"
    __table_args__ = (
        Index("uq_page_snapshots_page_id_hash", "page_id", "hash", unique=True),
        Index("ix_page_snapshots_domain_id", "domain_id"),
        Index("ix_page_snapshots_tenant_id_hash", "tenant_id", "hash"),
        Index(
            "ix_page_snapshots_kept",
            "tenant_id",
            "seen_at",
            postgresql_where=text("voided_at IS NULL"),
        ),
    )

    id: Mapped[UUID] = mapped_column(
        primary_key=True, server_default=func.time_ordered_uuid()
    )
    tenant_id: Mapped[UUID] = mapped_column(
        ForeignKey("tenants.id", ondelete="CASCADE")
    )
    domain_id: Mapped[UUID] = mapped_column(
        ForeignKey("domains.id", ondelete="CASCADE")
    )
    page_id: Mapped[UUID] = mapped_column(ForeignKey("pages.id", ondelete="CASCADE"))
    hash: Mapped[bytes] = mapped_column(BYTEA)
    url: Mapped[str]
    """The address that answered, after all redirects."""
    encoding: Mapped[str]
    country: Mapped[str | None]
    """Where the business was thought to be: it says how to read numbers."""
    is_rendered: Mapped[bool] = mapped_column(server_default=text("false"))
    reader: Mapped[str]
    """The version and fingerprint of the readers."""
    seen_at: Mapped[datetime]
    """When the site last answered with these bytes."""
    voided_at: Mapped[datetime | None]
    void_reason: Mapped[str | None]


class SnapshotUsage(Base):
    """How many packed bytes are kept for a tenant."""

    __tablename__ = "snapshot_usage"

    tenant_id: Mapped[UUID] = mapped_column(
        ForeignKey("tenants.id", ondelete="CASCADE"), primary_key=True
    )
    bytes: Mapped[int] = mapped_column(server_default=text("0"))
