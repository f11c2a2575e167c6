"""What each kind of record looks like from outside: its address, labels and relations."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from sqlalchemy import ColumnElement, func, select
from sqlalchemy.orm import InstrumentedAttribute

from scrapersky.curation.condition import fields_of
from scrapersky.curation.kind import KINDS, Attribute, Kind
from scrapersky.records import (
    Contact,
    Domain,
    LocalBusiness,
    Page,
    Place,
    PlaceSearch,
    SitemapFile,
)
from scrapersky.records.status import TaskStatus

BASE: Final = "/api/v3"


@dataclass(frozen=True, slots=True)
class Resource:
    """One kind of record behind one address."""

    kind: Kind
    path: str
    noun: str
    label: ColumnElement[Any] | Attribute
    """What a person calls the record by."""
    stages: tuple[str, ...]
    """The stages whose story is part of the record's history."""
    decidable: tuple[str, ...]
    """The statuses a person may set; the others are set by a stage."""
    facets: tuple[str, ...]
    extras: Mapping[str, ColumnElement[Any]] = field(default_factory=dict)
    """What is shown with the record and kept elsewhere, or shown in another form."""
    submits: str | None = None
    """What a batch of these is called, where they can be submitted."""

    @property
    def name(self) -> str:
        """Return the name of the kind."""
        return self.kind.name

    @property
    def model(self) -> Any:  # noqa: ANN401 - one of the record classes
        """Return the class of the records."""
        return self.kind.model

    @property
    def fields(self) -> dict[str, InstrumentedAttribute[Any]]:
        """Return the columns that are shown, filtered and sorted by."""
        return fields_of(self.kind)


def domain_name(domain_id: Attribute) -> ColumnElement[Any]:
    """Show the name of the domain beside its id."""
    return (
        select(Domain.domain).where(Domain.id == domain_id).correlate_except(Domain)
    ).scalar_subquery()


FIRST_BUSINESS: Final = (
    select(LocalBusiness.name)
    .where(LocalBusiness.domain_id == Contact.domain_id)
    .order_by(LocalBusiness.created_at, LocalBusiness.id)
    .limit(1)
    .correlate(Contact)
    .scalar_subquery()
)

CURATED: Final = ("New", "Selected", "Maybe", "Not a Fit", "Archived")

SEARCHES: Final = Resource(
    Kind(
        name="searches",
        model=PlaceSearch,
        status=PlaceSearch.status,
        statuses=TaskStatus,
        trigger=TaskStatus.QUEUED,
        stage="place_search",
        stage_status=PlaceSearch.status,
        queued=TaskStatus.QUEUED,
        busy=(),
        error=PlaceSearch.error,
    ),
    path=f"{BASE}/searches",
    noun="search",
    label=func.concat_ws(" in ", PlaceSearch.business_type, PlaceSearch.location),
    stages=("place_search",),
    decidable=(),
    facets=("status", "source"),
    # Where a source goes on is its own business.
    extras={"progress": PlaceSearch.progress.op("-")("state")},
)

RESOURCES: Final[Mapping[str, Resource]] = {
    resource.name: resource
    for resource in (
        Resource(
            KINDS["places"],
            path=f"{BASE}/places/staging",
            noun="place",
            label=Place.name,
            stages=("deep_scan",),
            decidable=CURATED,
            facets=(
                "status", "deep_scan_status", "source", "business_status",
                "price_level", "categories",
            ),
        ),
        Resource(
            KINDS["businesses"],
            path=f"{BASE}/local-businesses",
            noun="business",
            label=LocalBusiness.name,
            stages=("domain_extraction",),
            decidable=CURATED,
            facets=(
                "status", "domain_extraction_status", "country", "region", "city",
                "categories",
            ),
            extras={"domain": domain_name(LocalBusiness.domain_id)},
        ),
        Resource(
            KINDS["domains"],
            path=f"{BASE}/domains",
            noun="domain",
            label=Domain.domain,
            stages=("domain_metadata", "sitemap_submission"),
            decidable=CURATED,
            facets=(
                "sitemap_curation_status", "status", "sitemap_analysis_status",
                "verdict", "language", "generator",
            ),
            submits="domains",
        ),
        Resource(
            KINDS["sitemap_files"],
            path=f"{BASE}/sitemap-files",
            noun="sitemap_file",
            label=SitemapFile.url,
            stages=("sitemap_import",),
            decidable=CURATED,
            facets=(
                "deep_scrape_curation_status", "sitemap_import_status", "status",
                "sitemap_type", "found_by", "generator",
            ),
            extras={"domain": domain_name(SitemapFile.domain_id)},
            submits="sitemaps",
        ),
        Resource(
            KINDS["pages"],
            path=f"{BASE}/pages",
            noun="page",
            label=Page.url,
            stages=("page_curation",),
            decidable=("New", "Selected", "Skipped"),
            facets=(
                "page_curation_status", "page_processing_status",
                "contact_scrape_status", "page_type", "language", "http_status",
                "has_contact_form",
            ),
            extras={"domain": domain_name(Page.domain_id)},
            submits="pages",
        ),
        Resource(
            KINDS["contacts"],
            path=f"{BASE}/contacts",
            noun="contact",
            label=func.coalesce(Contact.email, Contact.phone),
            stages=("contact_validation",),
            decidable=("New", "Queued", "Skipped"),
            facets=(
                "contact_curation_status", "validation_processing_status",
                "email_type", "role", "tags",
            ),
            extras={
                "domain": domain_name(Contact.domain_id),
                "business": FIRST_BUSINESS,
            },
        ),
    )
}  # fmt: skip
"""The six kinds that are curated, by name."""
