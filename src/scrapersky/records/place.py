"""WF1 and WF2: a place as its source describes it."""

from datetime import datetime

from sqlalchemy import Index, String, Text, UniqueConstraint, text
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.orm import Mapped, mapped_column

from scrapersky.records.base import ERROR_LIMIT, Base, Json, OwnedRecord, list_indexes
from scrapersky.records.status import (
    CURATION_STATUS,
    DEEP_SCAN_STATUS,
    CurationStatus,
    DeepScanStatus,
)
from scrapersky.records.work_queue import work_queue


class Place(OwnedRecord, Base):
    """A place of one source; found twice, it is still one row."""

    __tablename__ = "places_staging"
    __table_args__ = (
        UniqueConstraint("tenant_id", "source", "source_place_id"),
        *list_indexes("places_staging", "status"),
        Index("ix_places_staging_by_name", "tenant_id", "name", "id"),
        Index("ix_places_staging_phone", "phone"),
        Index("ix_places_staging_by_rating", "tenant_id", "rating", "id"),
        Index(
            "ix_places_staging_expires_at",
            "expires_at",
            postgresql_where=text("expires_at IS NOT NULL"),
        ),
    )

    source: Mapped[str]
    source_place_id: Mapped[str]
    name: Mapped[str | None]
    address: Mapped[str | None]
    latitude: Mapped[float | None]
    longitude: Mapped[float | None]
    rating: Mapped[float | None]
    reviews_count: Mapped[int | None]
    price_level: Mapped[str | None]
    categories: Mapped[list[str]] = mapped_column(
        ARRAY(Text), server_default=text("'{}'")
    )
    website: Mapped[str | None]
    phone: Mapped[str | None]
    business_status: Mapped[str | None]
    moved_to: Mapped[str | None]
    raw: Mapped[Json | None]
    licence: Mapped[str | None]
    expires_at: Mapped[datetime | None]
    seen_at: Mapped[datetime | None]
    """When the source told these facts."""
    status: Mapped[CurationStatus] = mapped_column(
        CURATION_STATUS, server_default=CurationStatus.NEW.value
    )
    deep_scan_status: Mapped[DeepScanStatus | None] = mapped_column(DEEP_SCAN_STATUS)
    deep_scan_error: Mapped[str | None] = mapped_column(String(ERROR_LIMIT))


DEEP_SCAN_QUEUE = work_queue(
    Place.deep_scan_status,
    error=Place.deep_scan_error,
    queued=DeepScanStatus.QUEUED,
    processing=DeepScanStatus.PROCESSING,
    done=DeepScanStatus.COMPLETED,
    failed=DeepScanStatus.ERROR,
)
