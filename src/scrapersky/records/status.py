"""Every status there is, each spelt in this one place.

The labels are a contract: people read them, SQL writers set them, and PostgreSQL keeps
them as native enums of the name given here.
"""

from enum import StrEnum
from typing import Annotated

from sqlalchemy.dialects.postgresql import ENUM
from sqlalchemy.orm import mapped_column

from contact_extraction.email_type import EmailType
from contact_extraction.seniority import Seniority
from scrapersky.records.base import native_enum


class TaskStatus(StrEnum):
    """Where a search or a batch is."""

    QUEUED = "Queued"
    IN_PROGRESS = "InProgress"
    COMPLETED = "Completed"
    ERROR = "Error"
    MANUAL_REVIEW = "ManualReview"
    CANCELLED = "Cancelled"
    PAUSED = "Paused"


class CurationStatus(StrEnum):
    """What a person decided about a place, business, domain or sitemap file."""

    NEW = "New"
    SELECTED = "Selected"
    MAYBE = "Maybe"
    NOT_A_FIT = "Not a Fit"
    ARCHIVED = "Archived"


class PageCurationStatus(StrEnum):
    """What a person or a rule decided about a page."""

    NEW = "New"
    SELECTED = "Selected"
    QUEUED = "Queued"
    PROCESSING = "Processing"
    COMPLETE = "Complete"
    ERROR = "Error"
    SKIPPED = "Skipped"


class ContactCurationStatus(StrEnum):
    """What a person decided about a contact."""

    NEW = "New"
    QUEUED = "Queued"
    PROCESSING = "Processing"
    COMPLETE = "Complete"
    ERROR = "Error"
    SKIPPED = "Skipped"


class DeepScanStatus(StrEnum):
    """Where a place is in the deep scan."""

    QUEUED = "Queued"
    PROCESSING = "Processing"
    COMPLETED = "Completed"
    ERROR = "Error"


class DomainExtractionStatus(StrEnum):
    """Where a business is in domain extraction."""

    QUEUED = "Queued"
    PROCESSING = "Processing"
    COMPLETED = "Completed"
    ERROR = "Error"


class DomainStatus(StrEnum):
    """Where a domain is in gathering its metadata."""

    PENDING = "pending"
    PROCESSING = "processing"
    COMPLETED = "completed"
    ERROR = "error"


class SitemapAnalysisStatus(StrEnum):
    """Where a domain is in the search for its sitemaps; pending: not asked yet."""

    PENDING = "pending"
    QUEUED = "queued"
    PROCESSING = "processing"
    SUBMITTED = "submitted"
    FAILED = "failed"


class SitemapFileStatus(StrEnum):
    """How the reading of a sitemap file went."""

    PENDING = "Pending"
    PROCESSING = "Processing"
    COMPLETED = "Completed"
    ERROR = "Error"


class SitemapImportStatus(StrEnum):
    """Where a sitemap file is in the import of its pages."""

    QUEUED = "Queued"
    PROCESSING = "Processing"
    COMPLETE = "Complete"
    ERROR = "Error"


class PageProcessingStatus(StrEnum):
    """Where a page is in the search for contacts; filtered: not worth fetching."""

    QUEUED = "Queued"
    PROCESSING = "Processing"
    COMPLETE = "Complete"
    ERROR = "Error"
    FILTERED = "Filtered"


class ContactScrapeStatus(StrEnum):
    """What the search for contacts on a page came to."""

    NEW = "New"
    CONTACT_FOUND = "ContactFound"
    NO_CONTACT_FOUND = "NoContactFound"
    ERROR = "Error"
    NOT_A_FIT = "NotAFit"


class ContactProcessingStatus(StrEnum):
    """Where a contact is in its validation or in a synchronisation."""

    QUEUED = "Queued"
    PROCESSING = "Processing"
    COMPLETE = "Complete"
    ERROR = "Error"


class Deliverability(StrEnum):
    """Whether mail to an address is likely to arrive."""

    DELIVERABLE = "deliverable"
    RISKY = "risky"
    UNDELIVERABLE = "undeliverable"


class LeadStatus(StrEnum):
    """How far people are with a company."""

    NEW = "New"
    CONTACTED = "Contacted"
    REPLIED = "Replied"
    WON = "Won"
    LOST = "Lost"
    DO_NOT_CONTACT = "Do Not Contact"


class PairVerdict(StrEnum):
    """What a person says about two records: one company, or two."""

    SAME = "same"
    DIFFERENT = "different"


class MapField(StrEnum):
    """A field of a place that the company's own website may speak of."""

    NAME = "name"
    PHONE = "phone"
    ADDRESS = "address"
    HOURS = "hours"
    WEBSITE = "website"
    STATUS = "business_status"


class MapVerdict(StrEnum):
    """What a company's own website says of what a map claims."""

    CONFIRMED = "confirmed"
    CONTRADICTED = "contradicted"
    SILENT = "silent"
    UNREACHABLE = "unreachable"


class ValueMark(StrEnum):
    """What a person says of a value of a sample."""

    RIGHT = "right"
    WRONG = "wrong"
    UNKNOWN = "unknown"


class OwnType(StrEnum):
    """What a tenant's own column holds."""

    TEXT = "text"
    NUMBER = "number"
    DATE = "date"
    CHOICE = "choice"


class Role(StrEnum):
    """What a user may do."""

    VIEWER = "viewer"
    CURATOR = "curator"
    ADMIN = "admin"


TASK_STATUS = native_enum(TaskStatus, "task_status")
CURATION_STATUS = native_enum(CurationStatus, "curation_status")
Curated = Annotated[
    CurationStatus,
    mapped_column(CURATION_STATUS, server_default=CurationStatus.NEW.value),
]
"""The column of what people decide about a record of most kinds."""
PAGE_CURATION_STATUS = native_enum(PageCurationStatus, "page_curation_status")
CONTACT_CURATION_STATUS = native_enum(ContactCurationStatus, "contact_curation_status")
DEEP_SCAN_STATUS = native_enum(DeepScanStatus, "deep_scan_status")
DOMAIN_EXTRACTION_STATUS = native_enum(
    DomainExtractionStatus, "domain_extraction_status"
)
DOMAIN_STATUS = native_enum(DomainStatus, "domain_status")
SITEMAP_ANALYSIS_STATUS = native_enum(SitemapAnalysisStatus, "sitemap_analysis_status")
SITEMAP_FILE_STATUS = native_enum(SitemapFileStatus, "sitemap_file_status")
SITEMAP_IMPORT_STATUS = native_enum(SitemapImportStatus, "sitemap_import_status")
PAGE_PROCESSING_STATUS = native_enum(PageProcessingStatus, "page_processing_status")
CONTACT_SCRAPE_STATUS = native_enum(ContactScrapeStatus, "contact_scrape_status")
CONTACT_PROCESSING_STATUS = native_enum(
    ContactProcessingStatus, "contact_processing_status"
)
DELIVERABILITY = native_enum(Deliverability, "deliverability")
EMAIL_TYPE = native_enum(EmailType, "contact_email_type")
LEAD_STATUS = native_enum(LeadStatus, "lead_status")
PAIR_VERDICT = native_enum(PairVerdict, "pair_verdict")
MAP_FIELD = native_enum(MapField, "map_field")
MAP_VERDICT = native_enum(MapVerdict, "map_verdict")
VALUE_MARK = native_enum(ValueMark, "value_mark")
OWN_TYPE = native_enum(OwnType, "own_type")
ROLE = native_enum(Role, "user_role")
SENIORITY = native_enum(Seniority, "seniority")

ENUMS: tuple[ENUM, ...] = (
    TASK_STATUS,
    CURATION_STATUS,
    PAGE_CURATION_STATUS,
    CONTACT_CURATION_STATUS,
    DEEP_SCAN_STATUS,
    DOMAIN_EXTRACTION_STATUS,
    DOMAIN_STATUS,
    SITEMAP_ANALYSIS_STATUS,
    SITEMAP_FILE_STATUS,
    SITEMAP_IMPORT_STATUS,
    PAGE_PROCESSING_STATUS,
    CONTACT_SCRAPE_STATUS,
    CONTACT_PROCESSING_STATUS,
    DELIVERABILITY,
    EMAIL_TYPE,
    LEAD_STATUS,
    PAIR_VERDICT,
    MAP_FIELD,
    MAP_VERDICT,
    VALUE_MARK,
    OWN_TYPE,
    ROLE,
    SENIORITY,
)
