"""WF4 to WF6: a sitemap of a domain."""

from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import ForeignKey, Row, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from scrapersky.records.base import (
    Base,
    JsonObject,
    OwnedRecord,
    Priority,
    StageError,
    list_indexes,
)
from scrapersky.records.domain import domain_name
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
from scrapersky.records.link import Related, through_domain
from scrapersky.records.status import (
    SITEMAP_FILE_STATUS,
    SITEMAP_IMPORT_STATUS,
    Curated,
    SitemapFileStatus,
    SitemapImportStatus,
)
from scrapersky.records.work_queue import work_queue


class SitemapFile(OwnedRecord, Base):
    """One sitemap, feed or link list that names pages of a domain."""

    __tablename__ = "sitemap_files"
    __table_args__ = (
        UniqueConstraint("domain_id", "url"),
        *list_indexes("sitemap_files", "deep_scrape_curation_status"),
    )

    domain_id: Mapped[UUID] = mapped_column(
        ForeignKey("domains.id", ondelete="CASCADE")
    )
    url: Mapped[str]
    sitemap_type: Mapped[str | None]
    found_by: Mapped[str | None]
    size_bytes: Mapped[int | None]
    url_count: Mapped[int | None]
    dropped: Mapped[JsonObject]
    lastmod: Mapped[datetime | None]
    generator: Mapped[str | None]
    etag: Mapped[str | None]
    last_modified: Mapped[str | None]
    priority: Mapped[Priority]
    status: Mapped[SitemapFileStatus] = mapped_column(
        SITEMAP_FILE_STATUS, server_default=SitemapFileStatus.PENDING.value
    )
    deep_scrape_curation_status: Mapped[Curated]
    sitemap_import_status: Mapped[SitemapImportStatus | None] = mapped_column(
        SITEMAP_IMPORT_STATUS
    )
    sitemap_import_error: Mapped[StageError]


SITEMAP_IMPORT_QUEUE = work_queue(
    SitemapFile.sitemap_import_status,
    error=SitemapFile.sitemap_import_error,
    queued=SitemapImportStatus.QUEUED,
    processing=SitemapImportStatus.PROCESSING,
    done=SitemapImportStatus.COMPLETE,
    failed=SitemapImportStatus.ERROR,
    priority=SitemapFile.priority,
)


def how_it_was_found(row: Row[Any]) -> list[Origin]:
    """Report how a sitemap was found."""
    found = row.found_by or "unknown"
    return [Origin("url", found, value=row.url, seen_at=row.created_at)]


SITEMAP_FILES = Kind(
    SitemapFile,
    path="/sitemap-files",
    singular="sitemap_file",
    plural="sitemap_files",
    label=("url",),
    under=("domain",),
    icon="sitemap",
    key="f",
    about="Lists of pages published by websites. Select the ones to import.",
    source=EmptyState(
        "Sitemap files are found on domains.", "/curate/domains", "Go to domains"
    ),
    decision=curation(
        SitemapFile.deep_scrape_curation_status,
        starts="sitemap_import",
        queue=SITEMAP_IMPORT_QUEUE,
        # An index names files, which are records of their own.
        auto_select=(
            ("sitemap_type", "known", None),
            ("sitemap_type", "not_equal", "index"),
        ),
    ),
    columns=(
        Column(field="url", title="Address", width=18, grow=2.5, show=Show.LINK),
        Column(field="deep_scrape_curation_status", title="Decision", width=6.5),
        Column(field="sitemap_import_status", title="Import", width=7),
        Column(field="sitemap_type", title="Type", width=6, show=Show.WORD),
        Column(field="url_count", title="Pages", width=5.5),
        Column(field="size_bytes", title="Size", width=6, show=Show.BYTES),
        Column(field="found_by", title="Found by", width=7.5, show=Show.WORD),
        Column(field="domain", title="Domain", width=8, grow=1, is_hidden=True),
        CHANGED,
    ),
    facts=(
        "url", "domain", "sitemap_type", "found_by", "url_count", "size_bytes", "lastmod",
        "generator",
    ),
    facets=(
        "deep_scrape_curation_status", "sitemap_import_status", "status", "sitemap_type",
        "found_by", "generator",
    ),
    words=(SitemapFile.url,),
    extras={"domain": domain_name(SitemapFile.domain_id)},
    linked=through_domain(SitemapFile.domain_id),
    related=(
        Related(kind="domains", ours="domain_id"),
        Related(kind="pages", theirs="sitemap_file_id"),
    ),
    is_step=True,
    origins=how_it_was_found,
    submission=Submission(
        name="sitemaps",
        stage="sitemap_import",
        queue=SITEMAP_IMPORT_QUEUE,
        link="sitemap_file_id",
        key="url",
        headings=("sitemap_url", "sitemap", "url", "urls", "loc", "link"),
    ),
)  # fmt: skip
