"""WF2 and WF3: a business, with the facts gathered about it."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import ForeignKey, Index, String, Text, UniqueConstraint, text
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.orm import Mapped, mapped_column

from scrapersky.records.base import ERROR_LIMIT, Base, Json, OwnedRecord, list_indexes
from scrapersky.records.status import (
    CURATION_STATUS,
    DOMAIN_EXTRACTION_STATUS,
    CurationStatus,
    DomainExtractionStatus,
)
from scrapersky.records.work_queue import work_queue


class LocalBusiness(OwnedRecord, Base):
    """A business made from a place; many businesses may share a domain."""

    __tablename__ = "local_businesses"
    __table_args__ = (
        UniqueConstraint("tenant_id", "place_id"),
        *list_indexes("local_businesses", "status"),
        Index("ix_local_businesses_by_name", "tenant_id", "name", "id"),
        Index("ix_local_businesses_phone", "phone"),
        Index(
            "ix_local_businesses_expires_at",
            "expires_at",
            postgresql_where=text("expires_at IS NOT NULL"),
        ),
    )

    place_id: Mapped[UUID | None] = mapped_column(
        ForeignKey("places_staging.id", ondelete="SET NULL")
    )
    domain_id: Mapped[UUID | None] = mapped_column(
        ForeignKey("domains.id", ondelete="SET NULL"), index=True
    )
    name: Mapped[str | None]
    street: Mapped[str | None]
    city: Mapped[str | None]
    region: Mapped[str | None]
    postal_code: Mapped[str | None]
    country: Mapped[str | None]
    phone: Mapped[str | None]
    website: Mapped[str | None]
    categories: Mapped[list[str]] = mapped_column(
        ARRAY(Text), server_default=text("'{}'")
    )
    hours: Mapped[Json | None]
    rating: Mapped[float | None]
    reviews_count: Mapped[int | None]
    latitude: Mapped[float | None]
    longitude: Mapped[float | None]
    attributes: Mapped[Json] = mapped_column(server_default=text("'{}'"))
    links: Mapped[list[str]] = mapped_column(ARRAY(Text), server_default=text("'{}'"))
    expires_at: Mapped[datetime | None]
    """When what a source lent must be gone; None: it may stay."""
    status: Mapped[CurationStatus] = mapped_column(
        CURATION_STATUS, server_default=CurationStatus.NEW.value
    )
    domain_extraction_status: Mapped[DomainExtractionStatus | None] = mapped_column(
        DOMAIN_EXTRACTION_STATUS
    )
    domain_extraction_error: Mapped[str | None] = mapped_column(String(ERROR_LIMIT))


DOMAIN_EXTRACTION_QUEUE = work_queue(
    LocalBusiness.domain_extraction_status,
    error=LocalBusiness.domain_extraction_error,
    queued=DomainExtractionStatus.QUEUED,
    processing=DomainExtractionStatus.PROCESSING,
    done=DomainExtractionStatus.COMPLETED,
    failed=DomainExtractionStatus.ERROR,
)
