"""WF2 and WF3: a business, with the facts gathered about it."""

from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import (
    ForeignKey,
    Index,
    Row,
    UniqueConstraint,
    text,
)
from sqlalchemy.orm import Mapped, mapped_column

from scrapersky.records.base import (
    Base,
    Json,
    JsonObject,
    OwnedRecord,
    StageError,
    Texts,
    list_indexes,
    ordering,
    phone_digits_index,
)
from scrapersky.records.domain import domain_name
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
    LinkTable,
    Related,
    by_domain,
    by_hit,
    by_membership,
)
from scrapersky.records.person import decision_maker
from scrapersky.records.status import (
    DOMAIN_EXTRACTION_STATUS,
    Curated,
    DomainExtractionStatus,
)
from scrapersky.records.work_queue import work_queue


class LocalBusiness(OwnedRecord, Base):
    """A business made from a place; many businesses may share a domain."""

    __tablename__ = "local_businesses"
    __table_args__ = (
        UniqueConstraint("tenant_id", "place_id"),
        *list_indexes("local_businesses", "status"),
        Index("ix_local_businesses_by_name_order", "tenant_id", "name_order", "id"),
        Index("ix_local_businesses_phone", "phone"),
        phone_digits_index("local_businesses"),
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
    name_order: Mapped[str | None] = ordering()
    street: Mapped[str | None]
    city: Mapped[str | None]
    city_order: Mapped[str | None] = ordering()
    region: Mapped[str | None]
    postal_code: Mapped[str | None]
    country: Mapped[str | None]
    phone: Mapped[str | None]
    website: Mapped[str | None]
    categories: Mapped[Texts]
    hours: Mapped[Json | None]
    rating: Mapped[float | None]
    reviews_count: Mapped[int | None]
    latitude: Mapped[float | None]
    longitude: Mapped[float | None]
    attributes: Mapped[JsonObject]
    links: Mapped[Texts]
    expires_at: Mapped[datetime | None]
    """When what a source lent must be gone; None: it may stay."""
    status: Mapped[Curated]
    domain_extraction_status: Mapped[DomainExtractionStatus | None] = mapped_column(
        DOMAIN_EXTRACTION_STATUS
    )
    domain_extraction_error: Mapped[StageError]


DOMAIN_EXTRACTION_QUEUE = work_queue(
    LocalBusiness.domain_extraction_status,
    error=LocalBusiness.domain_extraction_error,
    queued=DomainExtractionStatus.QUEUED,
    processing=DomainExtractionStatus.PROCESSING,
    done=DomainExtractionStatus.COMPLETED,
    failed=DomainExtractionStatus.ERROR,
)


def made_of_its_place(row: Row[Any]) -> list[Origin]:
    """Report that a business was made of its place."""
    if row.place_id is None:
        return []
    return [Origin("all", "place", seen_at=row.created_at, value=str(row.place_id))]


BUSINESSES = Kind(
    LocalBusiness,
    path="/local-businesses",
    singular="business",
    plural="businesses",
    label=("name",),
    unnamed="Unnamed business",
    under=("street", "city"),
    icon="business",
    key="b",
    about="Selected places with full details. Select those whose website to visit.",
    source=EmptyState(
        "Businesses come from selected places.", "/curate/places", "Go to places"
    ),
    decision=curation(
        LocalBusiness.status,
        starts="domain_extraction",
        queue=DOMAIN_EXTRACTION_QUEUE,
        auto_select=(),
    ),
    columns=(
        Column(field="name", title="Name", width=17, grow=2.4, show=Show.TITLE,
               under=("street", "city")),
        Column(field="status", title="Decision", width=6.5),
        Column(field="domain_extraction_status", title="Domain", width=7),
        Column(field="city", title="City", width=8, is_hidden=True),
        Column(field="phone", title="Phone", width=9),
        Column(field="website", title="Website", width=12, grow=1.4, show=Show.LINK),
        Column(field="rating", title="Rating", width=6, show=Show.RATING),
        Column(field="categories", title="Categories", width=8, grow=1, is_hidden=True),
        CHANGED,
    ),
    facts=(
        "name", "street", "postal_code", "city", "country", "phone", "website", "domain",
        "categories", "rating",
    ),
    facets=(
        "status", "domain_extraction_status", "country", "region", "city", "categories",
    ),
    orders={"name": LocalBusiness.name_order, "city": LocalBusiness.city_order},
    words=(
        LocalBusiness.name, LocalBusiness.street, LocalBusiness.city,
        LocalBusiness.website, LocalBusiness.phone,
    ),
    extras={
        "domain": domain_name(LocalBusiness.domain_id),
        "decision_maker": decision_maker(LocalBusiness.domain_id),
    },
    linked={
        "search_id": by_hit(LocalBusiness.place_id),
        "domain": by_domain(LocalBusiness.domain_id),
        COMPANY_STATUS: by_membership(LocalBusiness.id, "business_id"),
    },
    related=(
        Related(kind="places", ours="place_id"),
        Related(kind="domains", ours="domain_id"),
        Related(
            kind="companies",
            through=LinkTable("company_members", "business_id", "company_id"),
        ),
    ),
    is_step=True,
    origins=made_of_its_place,
)  # fmt: skip
