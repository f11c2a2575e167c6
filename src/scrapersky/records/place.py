"""WF1 and WF2: a place as its source describes it."""

from datetime import datetime
from typing import Any

from sqlalchemy import Index, Row, UniqueConstraint, text
from sqlalchemy.orm import Mapped, mapped_column

from scrapersky.records.base import (
    Base,
    Json,
    OwnedRecord,
    StageError,
    Texts,
    list_indexes,
    ordering,
    phone_digits_index,
)
from scrapersky.records.kind import (
    CHANGED,
    Column,
    EmptyState,
    Kind,
    Origin,
    Show,
    curation,
)
from scrapersky.records.link import (
    COMPANY_STATUS,
    HITS,
    LinkTable,
    Related,
    by_hit,
    by_membership,
)
from scrapersky.records.status import DEEP_SCAN_STATUS, Curated, DeepScanStatus
from scrapersky.records.work_queue import work_queue


class Place(OwnedRecord, Base):
    """A place of one source; found twice, it is still one row."""

    __tablename__ = "places_staging"
    __table_args__ = (
        UniqueConstraint("tenant_id", "source", "source_place_id"),
        *list_indexes("places_staging", "status"),
        Index("ix_places_staging_by_name_order", "tenant_id", "name_order", "id"),
        Index("ix_places_staging_phone", "phone"),
        phone_digits_index("places_staging"),
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
    name_order: Mapped[str | None] = ordering()
    address: Mapped[str | None]
    latitude: Mapped[float | None]
    longitude: Mapped[float | None]
    rating: Mapped[float | None]
    reviews_count: Mapped[int | None]
    price_level: Mapped[str | None]
    categories: Mapped[Texts]
    website: Mapped[str | None]
    phone: Mapped[str | None]
    business_status: Mapped[str | None]
    moved_to: Mapped[str | None]
    raw: Mapped[Json | None]
    licence: Mapped[str | None]
    expires_at: Mapped[datetime | None]
    seen_at: Mapped[datetime | None]
    """When the source gave these facts."""
    status: Mapped[Curated]
    deep_scan_status: Mapped[DeepScanStatus | None] = mapped_column(DEEP_SCAN_STATUS)
    deep_scan_error: Mapped[StageError]


DEEP_SCAN_QUEUE = work_queue(
    Place.deep_scan_status,
    error=Place.deep_scan_error,
    queued=DeepScanStatus.QUEUED,
    processing=DeepScanStatus.PROCESSING,
    done=DeepScanStatus.COMPLETED,
    failed=DeepScanStatus.ERROR,
)


def said_by_its_source(row: Row[Any]) -> list[Origin]:
    """Report which source described a place, and under what terms."""
    return [Origin("all", row.source, seen_at=row.seen_at, snippet=row.licence)]


PLACES = Kind(
    Place,
    path="/places/staging",
    singular="place",
    plural="places",
    label=("name",),
    unnamed="Unnamed place",
    under=("address",),
    icon="place",
    key="l",
    about="Results of your searches. Select the ones worth a closer look.",
    source=EmptyState("Places come from searches.", "/search", "Start a search"),
    decision=curation(
        Place.status,
        starts="deep_scan",
        queue=DEEP_SCAN_QUEUE,
        auto_select=(),
    ),
    columns=(
        Column(field="name", title="Name", width=17, grow=2.4, show=Show.TITLE, under=("address",)),
        Column(field="status", title="Decision", width=6.5),
        Column(field="deep_scan_status", title="Deep scan", width=7),
        Column(field="categories", title="Categories", width=9, grow=1),
        Column(field="rating", title="Rating", width=6, show=Show.RATING),
        Column(field="website", title="Website", width=11.5, grow=1.4, show=Show.LINK),
        Column(field="phone", title="Phone", width=9, is_hidden=True),
        Column(field="address", title="Address", width=16, grow=1.4, is_hidden=True),
        Column(field="source", title="Source", width=6, show=Show.WORD, is_hidden=True),
        CHANGED,
    ),
    facts=(
        "name", "address", "categories", "rating", "reviews_count", "website", "phone",
        "business_status",
    ),
    facets=(
        "status", "deep_scan_status", "source", "business_status", "price_level",
        "categories",
    ),
    orders={"name": Place.name_order},
    words=(Place.name, Place.address, Place.website, Place.phone),
    linked={
        "search_id": by_hit(Place.id),
        COMPANY_STATUS: by_membership(Place.id, "place_id"),
    },
    related=(
        Related(kind="searches", through=LinkTable(HITS, "place_id", "search_id")),
        Related(kind="businesses", theirs="place_id"),
        Related(
            kind="companies", through=LinkTable("company_members", "place_id", "company_id")
        ),
    ),
    origins=said_by_its_source,
)  # fmt: skip
