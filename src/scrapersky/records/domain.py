"""WF3 and WF4: a registrable domain and what its home page says."""

from collections.abc import Iterator
from typing import Any, Final
from uuid import UUID

from sqlalchemy import (
    CheckConstraint,
    ColumnElement,
    Index,
    Row,
    Select,
    SmallInteger,
    TableValuedAlias,
    Text,
    UniqueConstraint,
    column,
    func,
    literal,
    null,
    select,
    text,
    true,
)
from sqlalchemy.dialects.postgresql import ARRAY, JSONB
from sqlalchemy.orm import Mapped, aliased, mapped_column

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
    EmptyState,
    Kind,
    Origin,
    Show,
    Submission,
    curation,
)
from scrapersky.records.link import COMPANY_STATUS, Related, by_company, by_search
from scrapersky.records.person import decision_maker
from scrapersky.records.status import (
    DOMAIN_STATUS,
    SITEMAP_ANALYSIS_STATUS,
    Curated,
    CurationStatus,
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


def office_addresses(domain_id: Attribute) -> ColumnElement[Any]:
    """Show every address that the pages of a domain have, the likeliest page's first."""
    one = aliased(Domain)
    office = offices_of(one)
    return (
        select(func.array_agg(office.c.value["text"].astext, type_=ARRAY(Text)))
        .select_from(one)
        .join(office, true())
        .where(one.id == domain_id)
        .correlate_except(one)
        .scalar_subquery()
    )


def where_its_offices_are(domain_id: UUID | None) -> Select[Any]:
    """Ask where every address of a domain's business was read."""
    office = offices_of(Domain)
    facts = office.c.value
    return (
        select(
            literal("address").label("field"),
            facts["text"].astext.label("value"),
            facts["url"].astext.label("url"),
            facts["snippet"].astext.label("snippet"),
            facts["method"].astext.label("method"),
            facts["confidence"].as_float().label("confidence"),
            Domain.updated_at.label("seen_at"),
            null().label("robots"),
        )
        .select_from(Domain)
        .join(office, true())
        .where(Domain.id == domain_id)
    )


def offices_of(domain: type[Domain]) -> TableValuedAlias:
    """Unfold the addresses of a domain's business."""
    listed = func.jsonb_array_elements(domain.organisation["addresses"], type_=JSONB)
    return listed.table_valued(column("value", JSONB)).render_derived()


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


def origins_of_a_domain(row: Row[Any]) -> list[Origin]:
    """Report what a verdict rests on, and where the addresses of the business are from."""
    return [*signs_of_its_verdict(row), *office_origins(row, row.home_url)]


def office_origins(row: Any, url: str | None) -> Iterator[Origin]:  # noqa: ANN401 - a row
    """Report every address of the business that a page or a domain has, with its source."""
    for office in (row.organisation or {}).get("addresses", ()):
        yield Origin(
            "address",
            office["method"],
            value=office["text"],
            url=office.get("url", url),
            snippet=office["snippet"],
            confidence=office["confidence"],
            seen_at=row.updated_at,
        )


# What nobody has visited, named or worked on was only a line of the list.
UNVISITED: Final = f"""SELECT d.id FROM batch_items i JOIN domains d ON d.id = i.domain_id
  WHERE i.batch_id = :batch AND i.tenant_id = :tenant AND NOT i.is_duplicate
    AND d.error = :why AND d.verdict IS NULL
    AND d.sitemap_curation_status = '{CurationStatus.NEW}'
    AND NOT EXISTS (SELECT FROM local_businesses b WHERE b.domain_id = d.id)
    AND NOT EXISTS (SELECT FROM contacts c WHERE c.domain_id = d.id)
    AND NOT EXISTS (SELECT FROM pages p WHERE p.domain_id = d.id)
    AND NOT EXISTS (SELECT FROM batch_items o WHERE o.domain_id = d.id
      AND o.batch_id <> i.batch_id)"""  # noqa: S608 - our own labels
FORGET_UNVISITED: Final = text(
    f"""WITH gone AS MATERIALIZED ({UNVISITED}),
    told AS (UPDATE batch_items SET domain_id = NULL, error = :why
      WHERE batch_id = :batch AND domain_id IN (SELECT id FROM gone))
    DELETE FROM domains WHERE id IN (SELECT id FROM gone)"""  # noqa: S608 - our own labels
)

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
    source=EmptyState(
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
        "generator_version", "emails", "phones", "addresses", "page_budget",
    ),
    facets=(
        "sitemap_curation_status", "status", "sitemap_analysis_status", "verdict",
        "language", "generator",
    ),
    words=(Domain.domain, Domain.title, Domain.description),
    extras={
        "decision_maker": decision_maker(Domain.id),
        "addresses": office_addresses(Domain.id),
    },
    linked={"search_id": by_search(Domain.id), COMPANY_STATUS: by_company(Domain.id)},
    related=(
        Related(kind="businesses", theirs="domain_id"),
        Related(kind="sitemap_files", theirs="domain_id"),
        Related(kind="pages", theirs="domain_id"),
        Related(kind="contacts", theirs="domain_id"),
        Related(kind="companies", theirs="domain_id"),
    ),
    is_step=True,
    origins=origins_of_a_domain,
    has_site_budget=True,
    submission=Submission(
        name="domains",
        forget=FORGET_UNVISITED,
        stage="domain_metadata",
        queue=DOMAIN_METADATA_QUEUE,
        link="domain_id",
        key="domain",
        headings=(
            "domain", "domains", "website", "url", "urls", "home_url", "site", "host",
            "hostname", "link",
        ),
    ),
)  # fmt: skip
