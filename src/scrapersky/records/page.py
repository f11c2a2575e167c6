"""WF6 and WF7: a page of a domain, and what fetching it showed."""

from datetime import datetime
from typing import Any, Final
from uuid import UUID

from sqlalchemy import Index, Row, SmallInteger, UniqueConstraint, text
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from scrapersky.records.base import Base, Json, OwnedRecord, Priority, StageError, Texts
from scrapersky.records.domain import domain_name, office_origins
from scrapersky.records.kind import (
    CHANGED,
    Column,
    Decision,
    EmptyState,
    Kind,
    Origin,
    Show,
    StatusChoice,
    Submission,
)
from scrapersky.records.link import Related, through_domain
from scrapersky.records.status import (
    CONTACT_SCRAPE_STATUS,
    PAGE_CURATION_STATUS,
    PAGE_PROCESSING_STATUS,
    ContactScrapeStatus,
    PageCurationStatus,
    PageProcessingStatus,
)
from scrapersky.records.work_queue import work_queue

INDEXED_LIKELIHOOD: Final = 0.5
"""From this likelihood on pages have an index, by which lists show the best first."""


class Page(OwnedRecord, Base):
    """A page, once per domain however many sitemaps name it.

    What it refers to is checked by triggers, once for all rows of a statement.
    """

    __tablename__ = "pages"
    __table_args__ = (
        UniqueConstraint("domain_id", "url"),
        Index(
            "ix_pages_tenant_id_page_curation_status",
            "tenant_id",
            "page_curation_status",
        ),
        # Imports write a million of them: one index for all lists must do.
        Index("ix_pages_by_time", "tenant_id", "updated_at", "id"),
        # Few pages of an archive are likely to have contacts: the others cost nothing.
        Index(
            "ix_pages_likely",
            "tenant_id",
            "contact_likelihood",
            "id",
            postgresql_where=text(f"contact_likelihood >= {INDEXED_LIKELIHOOD}"),
        ),
        Index(
            "ix_pages_gone",
            "gone_at",
            postgresql_where=text("gone_at IS NOT NULL"),
        ),
        Index(
            "ix_pages_query_variants",
            "domain_id",
            text("split_part(url, '?', 1)"),
            postgresql_where=text("strpos(url, '?') > 0"),
        ),
        Index(
            "ix_pages_named",
            "domain_id",
            postgresql_where=text("organisation IS NOT NULL"),
        ),
        Index(
            "ix_pages_other_values",
            "other_values",
            postgresql_using="gin",
            postgresql_ops={"other_values": "jsonb_path_ops"},
            postgresql_where=text("other_values <> '[]'"),
        ),
    )

    tenant_id: Mapped[UUID] = mapped_column(sort_order=-1)
    created_by: Mapped[UUID | None] = mapped_column(sort_order=1)
    domain_id: Mapped[UUID]
    sitemap_file_id: Mapped[UUID | None] = mapped_column(index=True)
    url: Mapped[str]
    lastmod: Mapped[datetime | None]
    gone_at: Mapped[datetime | None]
    page_type: Mapped[str | None]
    contact_likelihood: Mapped[float | None]
    likelihood_reasons: Mapped[Texts]
    clicks: Mapped[int | None] = mapped_column(SmallInteger)
    """Links between the home page and this one, where it was found by links."""
    choice: Mapped[Json | None]
    """Why it was chosen to be read, among the pages of its site: its gain and reasons."""
    title: Mapped[str | None]
    description: Mapped[str | None]
    h1: Mapped[str | None]
    language: Mapped[str | None]
    canonical_url: Mapped[str | None]
    structured_data_types: Mapped[Texts]
    has_contact_form: Mapped[bool | None]
    word_count: Mapped[int | None]
    http_status: Mapped[int | None] = mapped_column(SmallInteger)
    etag: Mapped[str | None]
    last_modified: Mapped[str | None]
    bytes: Mapped[int | None]
    fetch_ms: Mapped[int | None]
    fetched_at: Mapped[datetime | None]
    fetch_facts: Mapped[Json | None]
    organisation: Mapped[Json | None]
    """What the page says of the business: name, method, confidence, hours, address."""
    other_values: Mapped[list[Json]] = mapped_column(JSONB, server_default=text("'[]'"))
    """Values of others and of templates: kind, value, whose, who, why, snippet."""
    priority: Mapped[Priority]
    page_curation_status: Mapped[PageCurationStatus] = mapped_column(
        PAGE_CURATION_STATUS, server_default=PageCurationStatus.NEW.value
    )
    page_processing_status: Mapped[PageProcessingStatus | None] = mapped_column(
        PAGE_PROCESSING_STATUS
    )
    page_processing_error: Mapped[StageError]
    contact_scrape_status: Mapped[ContactScrapeStatus] = mapped_column(
        CONTACT_SCRAPE_STATUS, server_default=ContactScrapeStatus.NEW.value
    )


PAGE_CURATION_QUEUE = work_queue(
    Page.page_processing_status,
    error=Page.page_processing_error,
    queued=PageProcessingStatus.QUEUED,
    processing=PageProcessingStatus.PROCESSING,
    done=PageProcessingStatus.COMPLETE,
    failed=PageProcessingStatus.ERROR,
    priority=Page.priority,
)


def why_it_was_chosen(row: Any) -> list[Origin]:  # noqa: ANN401 - a row
    """Report why a page was chosen to be read, among those of its site."""
    if not row.choice:
        return []
    return [
        Origin(
            "choice",
            "the best pages of the site",
            url=row.url,
            snippet="; ".join(row.choice["reasons"]),
            confidence=row.choice["gain"],
            seen_at=row.fetched_at,
        )
    ]


def why_it_may_have_contacts(row: Row[Any]) -> list[Origin]:
    """Report why a page is thought to have contacts, and why it was chosen."""
    rated = [
        Origin(
            "contact_likelihood",
            "address of the page",
            url=row.url,
            snippet=reason,
            confidence=row.contact_likelihood,
        )
        for reason in row.likelihood_reasons
    ]
    return [
        *rated,
        *why_it_was_chosen(row),
        *office_origins(row, row.url),
        *what_is_not_its_own(row),
    ]


def what_is_not_its_own(row: Any) -> list[Origin]:  # noqa: ANN401 - a row
    """Report what the page says of others, and what its template left behind."""
    return [
        Origin(
            other["kind"],
            f"{other['whose'].replace('_', ' ')}: {other['why']}",
            value=other["value"],
            url=row.url,
            snippet=other["snippet"],
            seen_at=row.fetched_at,
        )
        for other in row.other_values
    ]


PAGES = Kind(
    Page,
    path="/pages",
    singular="page",
    plural="pages",
    label=("url",),
    under=("title",),
    icon="page",
    key="p",
    about="Pages of websites. Select those likely to list contacts; sort by contact "
    "likelihood to see the best first.",
    source=EmptyState(
        "Pages come from links on a website and from imported sitemap files.",
        "/curate/domains",
        "Go to domains",
    ),
    decision=Decision(
        column=Page.page_curation_status,
        choices=(
            StatusChoice(PageCurationStatus.SELECTED, "s", "check"),
            StatusChoice(PageCurationStatus.SKIPPED, "n", "cross"),
            StatusChoice(PageCurationStatus.NEW, "b", "undo"),
        ),
        on=PageCurationStatus.SELECTED,
        starts="page_curation",
        queue=PAGE_CURATION_QUEUE,
        is_within_site_budget=True,
    ),
    columns=(
        Column(field="url", title="Address", width=14, grow=2.5, show=Show.LINK),
        Column(field="page_curation_status", title="Decision", width=6.5),
        Column(field="page_processing_status", title="Scan", width=7),
        Column(field="contact_scrape_status", title="Contacts", width=8.5),
        Column(field="page_type", title="Type", width=7, show=Show.WORD),
        Column(field="contact_likelihood", title="Contact likelihood", width=7.5, show=Show.SHARE),
        Column(field="title", title="Title", width=7.5, grow=1.5),
        Column(field="domain", title="Domain", width=8, grow=1, is_hidden=True),
        CHANGED,
    ),
    facts=(
        "url", "domain", "page_type", "contact_likelihood", "likelihood_reasons", "title",
        "description", "h1", "language", "http_status", "gone_at",
    ),
    facets=(
        "page_curation_status", "page_processing_status", "contact_scrape_status",
        "page_type", "language", "http_status", "has_contact_form",
    ),
    words=(Page.url, Page.title),
    partial_index_from={"contact_likelihood": INDEXED_LIKELIHOOD},
    extras={"domain": domain_name(Page.domain_id)},
    linked=through_domain(Page.domain_id),
    related=(
        Related(kind="domains", ours="domain_id"),
        Related(kind="sitemap_files", ours="sitemap_file_id"),
        Related(kind="contacts", theirs="page_id"),
    ),
    is_step=True,
    origins=why_it_may_have_contacts,
    submission=Submission(
        name="pages",
        stage="page_curation",
        queue=PAGE_CURATION_QUEUE,
        link="page_id",
        key="url",
        headings=("page_url", "url", "urls", "page", "loc", "link", "website"),
    ),
)  # fmt: skip
