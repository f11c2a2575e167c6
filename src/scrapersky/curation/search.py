"""Search by words: the same in lists, decisions and exports."""

from collections.abc import Mapping

from sqlalchemy import ColumnElement, and_, or_, true

from scrapersky.curation.condition import text_of
from scrapersky.curation.kind import Attribute, Kind
from scrapersky.models import (
    Contact,
    Domain,
    LocalBusiness,
    Page,
    Place,
    PlaceSearch,
    SitemapFile,
)

MOST_WORDS = 8

TEXTS: Mapping[str, tuple[Attribute, ...]] = {
    "places": (Place.name, Place.address, Place.website, Place.phone),
    "businesses": (
        LocalBusiness.name,
        LocalBusiness.street,
        LocalBusiness.city,
        LocalBusiness.website,
        LocalBusiness.phone,
    ),
    "domains": (Domain.domain, Domain.title, Domain.description),
    "sitemap_files": (SitemapFile.url,),
    "pages": (Page.url, Page.title),
    "contacts": (Contact.email, Contact.name, Contact.role, Contact.phone),
    "searches": (PlaceSearch.business_type, PlaceSearch.location),
}
"""Where a word is looked for. The first four kinds that people search have an index."""


def matches(kind: Kind, words: str | None) -> ColumnElement[bool]:
    """Match what has every word in one of its texts, in any case."""
    if words is None or not words.strip():
        return true()
    wanted = text_of(words).split()[:MOST_WORDS]
    return and_(
        *(
            or_(
                *(
                    column.icontains(word, autoescape=True)
                    for column in TEXTS[kind.name]
                )
            )
            for word in wanted
        )
    )
