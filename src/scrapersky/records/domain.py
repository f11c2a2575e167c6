"""WF3 and WF4: a registrable domain and what its home page says."""

from typing import Any

from sqlalchemy import (
    CheckConstraint,
    ColumnElement,
    Index,
    Row,
    SmallInteger,
    UniqueConstraint,
    select,
    text,
)
from sqlalchemy.orm import Mapped, mapped_column

from scrapersky.records.base import (
    Base,
    Json,
    JsonObject,
    OwnedRecord,
    Priority,
    StageError,
    Texts,
    list_indexes,
)
from scrapersky.records.kind import (
    CHANGED,
    Column,
    Kind,
    Origin,
    Show,
    Source,
    Submission,
    curation,
)
from scrapersky.records.link import Related, by_search
from scrapersky.records.person import decision_maker
from scrapersky.records.status import (
    DOMAIN_STATUS,
    SITEMAP_ANALYSIS_STATUS,
    Curated,
    DomainStatus,
    SitemapAnalysisStatus,
)
from scrapersky.records.work_queue import Attribute, work_queue

PAGE_BUDGET = 12


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
        CheckConstraint("page_budget >= 0", name="page_budget_positive"),
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
    tech_stack: Mapped[JsonObject]
    emails: Mapped[Texts]
    phones: Mapped[Texts]
    social_links: Mapped[JsonObject]
    organisation: Mapped[Json | None]
    sitemap_hints: Mapped[Texts]
    link_texts: Mapped[JsonObject]
    """By address, what the home page calls pages whose address says less."""
    page_budget: Mapped[int] = mapped_column(
        SmallInteger, server_default=text(str(PAGE_BUDGET))
    )
    """How many pages of it are read without a person's asking for more."""
    budget: Mapped[Json] = mapped_column(server_default=text("'{}'"))
    """What may be taken of it, where a person has changed what is set for all."""
    priority: Mapped[Priority]
    status: Mapped[DomainStatus] = mapped_column(
        DOMAIN_STATUS, server_default=DomainStatus.PENDING.value
    )
    error: Mapped[StageError]
    sitemap_analysis_status: Mapped[SitemapAnalysisStatus] = mapped_column(
        SITEMAP_ANALYSIS_STATUS, server_default=SitemapAnalysisStatus.PENDING.value
    )
    sitemap_analysis_error: Mapped[StageError]
    sitemap_curation_status: Mapped[Curated]


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


def domain_name(domain_id: Attribute) -> ColumnElement[Any]:
    """Show the name of the domain beside its id."""
    return (
        select(Domain.domain).where(Domain.id == domain_id).correlate_except(Domain)
    ).scalar_subquery()


def signs_of_its_verdict(row: Row[Any]) -> list[Origin]:
    """Report what a verdict rests on."""
    if row.verdict is None:
        return []
    return [
        Origin(
            "verdict",
            "home page",
            value=row.verdict,
            url=row.home_url,
            snippet=f"{name}: {value}"[:500],
            seen_at=row.updated_at,
        )
        for name, value in (row.verdict_evidence or {}).items()
    ]


DOMAINS = Kind(
    Domain,
    path="/domains",
    singular="domain",
    plural="domains",
    label=("domain",),
    under=("title",),
    icon="domain",
    key="d",
    about="Websites of businesses, with details from their home page.",
    source=Source(
        "Domains come from selected businesses or from your own lists.",
        "/batches",
        "Submit domains",
    ),
    decision=curation(
        Domain.sitemap_curation_status,
        starts="sitemap_submission",
        queue=SITEMAP_SEARCH_QUEUE,
    ),
    columns=(
        Column(field="domain", title="Domain", width=13, grow=2, show=Show.STRONG),
        Column(field="sitemap_curation_status", title="Decision", width=6.5),
        Column(field="status", title="Home page", width=7),
        Column(field="sitemap_analysis_status", title="Sitemaps", width=7),
        Column(field="verdict", title="Website type", width=7, show=Show.WORD),
        Column(field="title", title="Title", width=10, grow=1.6),
        Column(field="generator", title="Built with", width=7),
        Column(field="language", title="Language", width=6, is_hidden=True),
        Column(field="emails", title="E-mails", width=9, grow=1, is_hidden=True),
        CHANGED,
    ),
    facts=(
        "domain", "home_url", "verdict", "title", "description", "language", "generator",
        "generator_version", "emails", "phones", "page_budget",
    ),
    facets=(
        "sitemap_curation_status", "status", "sitemap_analysis_status", "verdict",
        "language", "generator",
    ),
    words=(Domain.domain, Domain.title, Domain.description),
    extras={"decision_maker": decision_maker(Domain.id)},
    linked={"search_id": by_search(Domain.id)},
    related=(
        Related(kind="businesses", theirs="domain_id"),
        Related(kind="sitemap_files", theirs="domain_id"),
        Related(kind="pages", theirs="domain_id"),
        Related(kind="contacts", theirs="domain_id"),
        Related(kind="companies", theirs="domain_id"),
    ),
    is_step=True,
    origins=signs_of_its_verdict,
    submission=Submission(
        name="domains",
        stage="domain_metadata",
        queue=DOMAIN_METADATA_QUEUE,
        link="domain_id",
        headings=(
            "domain", "domains", "website", "url", "urls", "home_url", "site", "host",
            "hostname", "link",
        ),
    ),
)  # fmt: skip
