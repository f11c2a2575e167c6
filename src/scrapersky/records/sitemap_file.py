"""WF4 to WF6: a sitemap of a domain."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import ForeignKey, SmallInteger, String, UniqueConstraint, text
from sqlalchemy.orm import Mapped, mapped_column

from scrapersky.records.base import ERROR_LIMIT, Base, Json, OwnedRecord, list_indexes
from scrapersky.records.status import (
    CURATION_STATUS,
    SITEMAP_FILE_STATUS,
    SITEMAP_IMPORT_STATUS,
    CurationStatus,
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
    dropped: Mapped[Json] = mapped_column(server_default=text("'{}'"))
    lastmod: Mapped[datetime | None]
    generator: Mapped[str | None]
    etag: Mapped[str | None]
    last_modified: Mapped[str | None]
    priority: Mapped[int] = mapped_column(SmallInteger, server_default=text("0"))
    status: Mapped[SitemapFileStatus] = mapped_column(
        SITEMAP_FILE_STATUS, server_default=SitemapFileStatus.PENDING.value
    )
    deep_scrape_curation_status: Mapped[CurationStatus] = mapped_column(
        CURATION_STATUS, server_default=CurationStatus.NEW.value
    )
    sitemap_import_status: Mapped[SitemapImportStatus | None] = mapped_column(
        SITEMAP_IMPORT_STATUS
    )
    sitemap_import_error: Mapped[str | None] = mapped_column(String(ERROR_LIMIT))


SITEMAP_IMPORT_QUEUE = work_queue(
    SitemapFile.sitemap_import_status,
    error=SitemapFile.sitemap_import_error,
    queued=SitemapImportStatus.QUEUED,
    processing=SitemapImportStatus.PROCESSING,
    done=SitemapImportStatus.COMPLETE,
    failed=SitemapImportStatus.ERROR,
    priority=SitemapFile.priority,
)
