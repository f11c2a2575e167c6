"""The tables of the old system: what each column is here, and what makes a row unfit."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from sqlalchemy import Table

from contact_extraction.email_quality import judge_email
from contact_extraction.errors import InvalidUrl
from contact_extraction.page_type import PageType, rate_page
from contact_extraction.sitemap.model import SitemapKind
from contact_extraction.urls import canonical_url
from scrapersky.adopt.old_row import OldRow, RowRefused, Values
from scrapersky.curation.batch.submission import SubmittedLine
from scrapersky.errors import InvalidSubject
from scrapersky.kit.canonical import (
    MAX_DOMAIN_CHARACTERS,
    canonical_email,
    canonical_phone,
    stored_phone,
)
from scrapersky.privacy.card import canonical_emails
from scrapersky.records import (
    Contact,
    Domain,
    LocalBusiness,
    Page,
    Place,
    SitemapFile,
)
from scrapersky.records.base import Base
from scrapersky.records.status import ContactProcessingStatus

LINK_TO_BUSINESS: Final = "local_business_id"
"""A column of the old domains: here a business names its domain."""
GOOGLE: Final = "google"
"""The one source that the old system had."""
UNREAD_CONFIDENCE: Final = 0.5
"""Of a contact whose page nobody here has read."""
REGION_LETTERS: Final = 2
NETWORKS: Final = ("facebook", "twitter", "linkedin", "instagram", "youtube")

Names = Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class OldReference:
    """A column that names a row of another table."""

    column: str
    table: str
    required: bool = False
    """Whether a row is refused whose reference leads nowhere."""
    by: str | None = None
    """The column of the other table that is named, where it is not always the key."""


@dataclass(frozen=True, slots=True)
class OldTable:
    """A table of the old system, and where its rows go."""

    name: str
    model: type[Base]
    columns: Names
    """Our columns, each with what versions of the old system called it, best first."""
    finish: Callable[[OldRow], None]
    """Check a row whose values have our types, and derive what follows from them."""
    needs: tuple[str, ...]
    """Columns without which, or without a value in which, no row can be adopted."""
    keys: tuple[tuple[str, ...], ...]
    """What makes two rows one: the first of these that a row has in full."""
    references: tuple[OldReference, ...] = ()
    extra: tuple[str, ...] = ()
    """Columns that `finish` reads and that have no place of their own."""
    decision: str | None = None
    """Of two rows that are one, the one that a person has decided about stays."""

    @property
    def target(self) -> Table:
        """The table that its rows go to."""
        table = self.model.__table__
        assert isinstance(table, Table)  # noqa: S101 - none is a join
        return table


TIMES: Final = """
    created_at|discovered_at|search_time|updated_at
    updated_at|last_checked_at|search_time|created_at
"""


def names(written: str) -> Names:
    """Read our columns, each with its older names: `language|primary_language`."""
    words = [word.split("|") for word in (written + TIMES).split()]
    return {word[0]: tuple(word) for word in words}


def finish_domain(row: OldRow) -> None:
    """Bring the domain into its one form; take what was said of its site."""
    values, extra = row.values, row.extra
    line = SubmittedLine.read(0, values["domain"])
    if line.problem is not None:
        raise RowRefused("domain", line.problem)
    values["domain"] = line.domain
    values["home_url"] = f"https://{line.domain}/"
    values["emails"] = canonical_emails(values["emails"] or ())
    values["phones"] = [
        number
        for each in values["phones"] or ()
        if (number := stored_phone(each)) and number.startswith("+")
    ]
    links = {name: extra.get(f"{name}_url") for name in NETWORKS}
    values["social_links"] = {name: url for name, url in links.items() if url}
    if extra.get("is_wordpress") == "true":
        values["generator"] = "WordPress"
        values["generator_version"] = extra.get("wordpress_version")


def finish_place(row: OldRow) -> None:
    """Say whose facts a place's are."""
    values = row.values
    values["source"] = (values["source"] or GOOGLE).lower()
    values["phone"] = stored_phone(values["phone"])


def finish_business(row: OldRow) -> None:
    """Gather the categories; write the number with its country where that is known."""
    values = row.values
    first = row.extra.get("main_category")
    categories = dict.fromkeys([first] if first else [])
    values["categories"] = [*(categories | dict.fromkeys(values["categories"] or ()))]
    country = values["country"] or ""
    region = country if len(country) == REGION_LETTERS else None
    values["phone"] = stored_phone(values["phone"], region)


def finish_sitemap(row: OldRow) -> None:
    """Bring the address into its one form; keep a type that is known here."""
    values = row.values
    values["url"] = fitted_url(values["url"])
    values["sitemap_type"] = enum_value(SitemapKind, values["sitemap_type"])


def finish_page(row: OldRow) -> None:
    """Bring the address into its one form, and rate it as an import does."""
    values = row.values
    values["url"] = fitted_url(values["url"])
    rating = rate_page(values["url"])
    values["page_type"] = enum_value(PageType, values["page_type"]) or rating.type.value
    values["contact_likelihood"] = rating.score
    values["likelihood_reasons"] = list(rating.reasons)


def finish_contact(row: OldRow) -> None:
    """Bring address and number into their one form; refuse whom nobody can reach."""
    values = row.values
    for column, finish in (("email", finish_email), ("phone", finish_phone)):
        try:
            if values[column] is not None:
                finish(values)
        except InvalidSubject as error:
            row.leave_out(column, str(error).rstrip("."))
    if values["email"] is None and values["phone"] is None:
        raise RowRefused("email", row.why_empty("email"))
    if values["validation_processing_status"] == ContactProcessingStatus.COMPLETE:
        # Done was the old system's work with the contact: nobody has validated it here.
        values["validation_processing_status"] = None
    values["confidence"] = UNREAD_CONFIDENCE


def finish_email(values: Values) -> None:
    """Bring an address into its one form; raise InvalidSubject if it is none."""
    address = canonical_email(values["email"])
    quality = judge_email(address)
    if len(address) > MAX_DOMAIN_CHARACTERS or not quality.is_valid:
        raise InvalidSubject("This is not an e-mail address.")
    values["email"] = address
    values["email_type"] = values["email_type"] or quality.type.value


def finish_phone(values: Values) -> None:
    """Bring a number into its one form; raise InvalidSubject if it has no country."""
    values["phone"] = canonical_phone(values["phone"])


def fitted_url(written: str) -> str:
    """Return an address of the web in its one form."""
    try:
        return canonical_url(written)
    except InvalidUrl as error:
        raise RowRefused("url", error.why) from None


def enum_value(kind: type[StrEnum], written: str | None) -> str | None:
    """Return a value of an enum, or None if it is not one."""
    return written.lower() if written and written.lower() in {*kind} else None


DOMAIN: Final = OldReference("domain_id", "domains", required=True)
DOMAINS: Final = OldTable(
    "domains",
    Domain,
    names("""
        domain title description favicon_url logo_url tech_stack language|primary_language
        emails|email_addresses phones|phone_numbers error|last_error status
        sitemap_analysis_status sitemap_analysis_error sitemap_curation_status
    """),
    finish_domain,
    needs=("domain",),
    keys=(("domain",),),
    extra=("is_wordpress", "wordpress_version", *(f"{name}_url" for name in NETWORKS)),
    decision="sitemap_curation_status",
)
PLACES: Final = OldTable(
    "places_staging",
    Place,
    names("""
        source source_place_id|place_id name|business_name
        address|formatted_address|vicinity latitude longitude rating price_level
        business_status reviews_count|user_ratings_total categories|business_type
        website|website_url phone|phone_number seen_at|search_time|updated_at
        status deep_scan_status deep_scan_error
    """),
    finish_place,
    needs=("source_place_id",),
    keys=(("source", "source_place_id"),),
    decision="status",
)
BUSINESSES: Final = OldTable(
    "local_businesses",
    LocalBusiness,
    names("""
        place_id domain_id city country rating reviews_count name|business_name
        street|street_address|full_address|address region|state
        postal_code|zip|zip_code phone|phone_number
        website|website_url|business_website categories|extra_categories
        attributes|additional_json latitude longitude status domain_extraction_status
        domain_extraction_error
    """),
    finish_business,
    needs=(),
    keys=(("place_id",),),
    references=(
        OldReference("place_id", "places_staging", by="source_place_id"),
        OldReference("domain_id", "domains"),
    ),
    extra=("main_category",),
    decision="status",
)
SITEMAPS: Final = OldTable(
    "sitemap_files",
    SitemapFile,
    names("""
        domain_id url sitemap_type size_bytes url_count generator
        found_by|discovery_method lastmod|last_modified status
        deep_scrape_curation_status sitemap_import_status sitemap_import_error
    """),
    finish_sitemap,
    needs=("domain_id", "url"),
    keys=(("domain_id", "url"),),
    references=(DOMAIN,),
    decision="deep_scrape_curation_status",
)
PAGES: Final = OldTable(
    "pages",
    Page,
    names("""
        domain_id url title description h1 canonical_url sitemap_file_id|sitemap_id
        lastmod|last_modified structured_data_types|schema_types language page_type
        has_contact_form word_count page_curation_status page_processing_status
        page_processing_error contact_scrape_status
    """),
    finish_page,
    needs=("url",),
    keys=(("domain_id", "url"),),
    references=(OldReference("sitemap_file_id", "sitemap_files"), DOMAIN),
    decision="page_curation_status",
)
CONTACTS: Final = OldTable(
    "contacts",
    Contact,
    names("""
        domain_id page_id email email_type name|full_name|contact_name role|job_title
        phone|phone_number notes tags contact_curation_status
        validation_processing_status|contact_processing_status
        validation_processing_error|contact_processing_error
    """),
    finish_contact,
    needs=(),
    keys=(("domain_id", "email"), ("domain_id", "phone")),
    references=(OldReference("page_id", "pages"), DOMAIN),
    extra=("context", "source_url"),
    decision="contact_curation_status",
)
OLD_TABLES: Final = (
    DOMAINS,
    PLACES,
    BUSINESSES,
    SITEMAPS,
    replace(SITEMAPS, name="sitemaps"),
    PAGES,
    replace(PAGES, name="sitemap_urls"),
    CONTACTS,
)
"""In the order in which they are read: what a row names is there before it.

One version of the old system had two tables of sitemaps, and pages that sitemaps named in
one of their own.
"""
NOT_ADOPTED: Final = {"jobs": "runs of the old scheduler have no place here"}
"""Tables whose rows stay where they are."""
