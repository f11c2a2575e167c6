"""WF6 and WF7: a page of a domain, and what fetching it told."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import (
    Index,
    SmallInteger,
    String,
    Text,
    UniqueConstraint,
    text,
)
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.orm import Mapped, mapped_column

from scrapersky.records.base import ERROR_LIMIT, Base, Json, OwnedRecord
from scrapersky.records.status import (
    CONTACT_SCRAPE_STATUS,
    PAGE_CURATION_STATUS,
    PAGE_PROCESSING_STATUS,
    ContactScrapeStatus,
    PageCurationStatus,
    PageProcessingStatus,
)
from scrapersky.records.work_queue import work_queue


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
    likelihood_reasons: Mapped[list[str]] = mapped_column(
        ARRAY(Text), server_default=text("'{}'")
    )
    title: Mapped[str | None]
    description: Mapped[str | None]
    h1: Mapped[str | None]
    language: Mapped[str | None]
    canonical_url: Mapped[str | None]
    structured_data_types: Mapped[list[str]] = mapped_column(
        ARRAY(Text), server_default=text("'{}'")
    )
    has_contact_form: Mapped[bool | None]
    word_count: Mapped[int | None]
    http_status: Mapped[int | None] = mapped_column(SmallInteger)
    etag: Mapped[str | None]
    last_modified: Mapped[str | None]
    bytes: Mapped[int | None]
    fetch_ms: Mapped[int | None]
    fetched_at: Mapped[datetime | None]
    fetch_facts: Mapped[Json | None]
    priority: Mapped[int] = mapped_column(SmallInteger, server_default=text("0"))
    page_curation_status: Mapped[PageCurationStatus] = mapped_column(
        PAGE_CURATION_STATUS, server_default=PageCurationStatus.NEW.value
    )
    page_processing_status: Mapped[PageProcessingStatus | None] = mapped_column(
        PAGE_PROCESSING_STATUS
    )
    page_processing_error: Mapped[str | None] = mapped_column(String(ERROR_LIMIT))
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
