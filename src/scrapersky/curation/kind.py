"""The kinds of records that are curated, and what a decision about each sets going."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from sqlalchemy.orm import InstrumentedAttribute

from scrapersky.errors import InvalidDecision
from scrapersky.records import (
    Contact,
    Domain,
    LocalBusiness,
    Page,
    Place,
    SitemapFile,
)
from scrapersky.records.status import (
    ContactCurationStatus,
    ContactProcessingStatus,
    CurationStatus,
    DeepScanStatus,
    DomainExtractionStatus,
    PageCurationStatus,
    PageProcessingStatus,
    SitemapAnalysisStatus,
    SitemapImportStatus,
)

Attribute = InstrumentedAttribute[Any]


@dataclass(frozen=True, slots=True)
class Kind:
    """A curated table: its decision column, and the stage a decision triggers.

    The dual-status rule: setting `trigger` in `status` sets `stage_status` to `queued`
    and clears `error`, in the same transaction, unless the stage has it or has had it.
    """

    name: str
    model: type[Any]
    status: Attribute
    statuses: type[StrEnum]
    trigger: StrEnum
    stage: str
    stage_status: Attribute
    queued: StrEnum
    busy: tuple[StrEnum, ...]
    """Stage statuses that a decision leaves alone unless it is forced."""
    error: Attribute

    def status_named(self, label: str) -> StrEnum:
        """Return the curation status of this label, or say which there are."""
        try:
            return self.statuses(label)
        except ValueError as error:
            known = ", ".join(member.value for member in self.statuses)
            raise InvalidDecision(
                f"'{label[:50]}' is not a status of {self.name}.",
                hint=f"Choose one of: {known}.",
            ) from error


KINDS: Mapping[str, Kind] = {
    kind.name: kind
    for kind in (
        Kind(
            name="places",
            model=Place,
            status=Place.status,
            statuses=CurationStatus,
            trigger=CurationStatus.SELECTED,
            stage="deep_scan",
            stage_status=Place.deep_scan_status,
            queued=DeepScanStatus.QUEUED,
            busy=(
                DeepScanStatus.QUEUED,
                DeepScanStatus.PROCESSING,
                DeepScanStatus.COMPLETED,
            ),
            error=Place.deep_scan_error,
        ),
        Kind(
            name="businesses",
            model=LocalBusiness,
            status=LocalBusiness.status,
            statuses=CurationStatus,
            trigger=CurationStatus.SELECTED,
            stage="domain_extraction",
            stage_status=LocalBusiness.domain_extraction_status,
            queued=DomainExtractionStatus.QUEUED,
            busy=(
                DomainExtractionStatus.QUEUED,
                DomainExtractionStatus.PROCESSING,
                DomainExtractionStatus.COMPLETED,
            ),
            error=LocalBusiness.domain_extraction_error,
        ),
        Kind(
            name="domains",
            model=Domain,
            status=Domain.sitemap_curation_status,
            statuses=CurationStatus,
            trigger=CurationStatus.SELECTED,
            stage="sitemap_submission",
            stage_status=Domain.sitemap_analysis_status,
            queued=SitemapAnalysisStatus.QUEUED,
            busy=(
                SitemapAnalysisStatus.QUEUED,
                SitemapAnalysisStatus.PROCESSING,
                SitemapAnalysisStatus.SUBMITTED,
            ),
            error=Domain.sitemap_analysis_error,
        ),
        Kind(
            name="sitemap_files",
            model=SitemapFile,
            status=SitemapFile.deep_scrape_curation_status,
            statuses=CurationStatus,
            trigger=CurationStatus.SELECTED,
            stage="sitemap_import",
            stage_status=SitemapFile.sitemap_import_status,
            queued=SitemapImportStatus.QUEUED,
            busy=(
                SitemapImportStatus.QUEUED,
                SitemapImportStatus.PROCESSING,
                SitemapImportStatus.COMPLETE,
            ),
            error=SitemapFile.sitemap_import_error,
        ),
        Kind(
            name="pages",
            model=Page,
            status=Page.page_curation_status,
            statuses=PageCurationStatus,
            trigger=PageCurationStatus.SELECTED,
            stage="page_curation",
            stage_status=Page.page_processing_status,
            queued=PageProcessingStatus.QUEUED,
            busy=(
                PageProcessingStatus.QUEUED,
                PageProcessingStatus.PROCESSING,
                PageProcessingStatus.COMPLETE,
            ),
            error=Page.page_processing_error,
        ),
        Kind(
            name="contacts",
            model=Contact,
            status=Contact.contact_curation_status,
            statuses=ContactCurationStatus,
            trigger=ContactCurationStatus.QUEUED,
            stage="contact_validation",
            stage_status=Contact.validation_processing_status,
            queued=ContactProcessingStatus.QUEUED,
            busy=(
                ContactProcessingStatus.QUEUED,
                ContactProcessingStatus.PROCESSING,
                ContactProcessingStatus.COMPLETE,
            ),
            error=Contact.validation_processing_error,
        ),
    )
}


def kind_named(name: str) -> Kind:
    """Return the kind of this name, or say which there are."""
    if name not in KINDS:
        raise InvalidDecision(
            f"There is no kind of record '{name[:50]}'.",
            hint=f"Choose one of: {', '.join(KINDS)}.",
        )
    return KINDS[name]
