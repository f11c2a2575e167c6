"""WF3 and WF4: a registrable domain and what its home page tells."""

from sqlalchemy import Index, SmallInteger, String, Text, UniqueConstraint, text
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.orm import Mapped, mapped_column

from scrapersky.records.base import ERROR_LIMIT, Base, Json, OwnedRecord, list_indexes
from scrapersky.records.status import (
    CURATION_STATUS,
    DOMAIN_STATUS,
    SITEMAP_ANALYSIS_STATUS,
    CurationStatus,
    DomainStatus,
    SitemapAnalysisStatus,
)
from scrapersky.records.work_queue import work_queue


class Domain(OwnedRecord, Base):
    """A website's domain, once per tenant however many businesses name it."""

    __tablename__ = "domains"
    __table_args__ = (
        UniqueConstraint("tenant_id", "domain"),
        *list_indexes("domains", "sitemap_curation_status"),
        Index("ix_domains_emails", "emails", postgresql_using="gin"),
        Index(
            "ix_domains_mailboxes",
            text("mailboxes_of(emails)"),
            postgresql_using="gin",
        ),
        Index("ix_domains_phones", "phones", postgresql_using="gin"),
    )

    domain: Mapped[str]
    home_url: Mapped[str | None]
    verdict: Mapped[str | None]
    verdict_evidence: Mapped[Json | None]
    title: Mapped[str | None]
    description: Mapped[str | None]
    language: Mapped[str | None]
    favicon_url: Mapped[str | None]
    logo_url: Mapped[str | None]
    generator: Mapped[str | None]
    generator_version: Mapped[str | None]
    tech_stack: Mapped[Json] = mapped_column(server_default=text("'{}'"))
    emails: Mapped[list[str]] = mapped_column(ARRAY(Text), server_default=text("'{}'"))
    phones: Mapped[list[str]] = mapped_column(ARRAY(Text), server_default=text("'{}'"))
    social_links: Mapped[Json] = mapped_column(server_default=text("'{}'"))
    organisation: Mapped[Json | None]
    sitemap_hints: Mapped[list[str]] = mapped_column(
        ARRAY(Text), server_default=text("'{}'")
    )
    link_texts: Mapped[Json] = mapped_column(server_default=text("'{}'"))
    """By address, what the home page calls pages whose address says less."""
    priority: Mapped[int] = mapped_column(SmallInteger, server_default=text("0"))
    status: Mapped[DomainStatus] = mapped_column(
        DOMAIN_STATUS, server_default=DomainStatus.PENDING.value
    )
    error: Mapped[str | None] = mapped_column(String(ERROR_LIMIT))
    sitemap_analysis_status: Mapped[SitemapAnalysisStatus] = mapped_column(
        SITEMAP_ANALYSIS_STATUS, server_default=SitemapAnalysisStatus.PENDING.value
    )
    sitemap_analysis_error: Mapped[str | None] = mapped_column(String(ERROR_LIMIT))
    sitemap_curation_status: Mapped[CurationStatus] = mapped_column(
        CURATION_STATUS, server_default=CurationStatus.NEW.value
    )


DOMAIN_METADATA_QUEUE = work_queue(
    Domain.status,
    error=Domain.error,
    queued=DomainStatus.PENDING,
    processing=DomainStatus.PROCESSING,
    done=DomainStatus.COMPLETED,
    failed=DomainStatus.ERROR,
    priority=Domain.priority,
)
SITEMAP_SEARCH_QUEUE = work_queue(
    Domain.sitemap_analysis_status,
    error=Domain.sitemap_analysis_error,
    queued=SitemapAnalysisStatus.QUEUED,
    processing=SitemapAnalysisStatus.PROCESSING,
    done=SitemapAnalysisStatus.SUBMITTED,
    failed=SitemapAnalysisStatus.FAILED,
    priority=Domain.priority,
)
