"""Fields that a record has by what it belongs to: its domain, the search that found it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, select
from sqlalchemy.orm import InstrumentedAttribute

from scrapersky.records import (
    Contact,
    Domain,
    LocalBusiness,
    Page,
    Place,
    PlaceSearchHit,
    SitemapFile,
)

Through = Callable[[ColumnElement[bool]], ColumnElement[bool]]


@dataclass(frozen=True, slots=True)
class LinkedField:
    """A column of another table, and how a record gets there."""

    column: InstrumentedAttribute[Any]
    through: Through


def by_domain(domain_id: InstrumentedAttribute[Any]) -> LinkedField:
    """Reach the name of the domain a record belongs to."""
    return LinkedField(
        Domain.domain,
        lambda matches: domain_id.in_(select(Domain.id).where(matches)),
    )


def by_search(domain_id: InstrumentedAttribute[Any]) -> LinkedField:
    """Reach the searches that found a business of the record's domain."""
    return LinkedField(
        PlaceSearchHit.search_id,
        lambda matches: domain_id.in_(
            select(LocalBusiness.domain_id)
            .join(PlaceSearchHit, PlaceSearchHit.place_id == LocalBusiness.place_id)
            .where(matches)
        ),
    )


def by_hit(place_id: InstrumentedAttribute[Any]) -> LinkedField:
    """Reach the searches that found a place."""
    return LinkedField(
        PlaceSearchHit.search_id,
        lambda matches: place_id.in_(select(PlaceSearchHit.place_id).where(matches)),
    )


LINKED: Mapping[str, Mapping[str, LinkedField]] = {
    "places": {"search_id": by_hit(Place.id)},
    "businesses": {
        "search_id": by_hit(LocalBusiness.place_id),
        "domain": by_domain(LocalBusiness.domain_id),
    },
    "domains": {"search_id": by_search(Domain.id)},
    "sitemap_files": {
        "search_id": by_search(SitemapFile.domain_id),
        "domain": by_domain(SitemapFile.domain_id),
    },
    "pages": {
        "search_id": by_search(Page.domain_id),
        "domain": by_domain(Page.domain_id),
    },
    "contacts": {
        "search_id": by_search(Contact.domain_id),
        "domain": by_domain(Contact.domain_id),
    },
}
"""By kind and name: what can be filtered by, and stands in another table."""
