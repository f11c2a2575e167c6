"""The records of the pipeline, as tables of PostgreSQL."""

from collections.abc import Mapping
from typing import Any

from curation_sdk.migrations import metadata as sdk_tables
from scrapersky.errors import InvalidDecision
from scrapersky.records.access import (
    IdempotencyKey,
    Installation,
    LoginSession,
    RevokedToken,
)
from scrapersky.records.alert import Alert, AlertWatch
from scrapersky.records.audit import AuditEntry
from scrapersky.records.base import Base
from scrapersky.records.batch import BatchItem, BatchJob
from scrapersky.records.business import BUSINESSES, LocalBusiness
from scrapersky.records.change import ChangeEpoch, RecordChange
from scrapersky.records.company import (
    COMPANIES,
    Company,
    CompanyAction,
    CompanyChange,
    CompanyColumn,
)
from scrapersky.records.company_member import (
    CompanyMember,
    CompanyMerge,
    CompanyPair,
    CompanyProgress,
)
from scrapersky.records.company_verdict import CompanyVerdict
from scrapersky.records.contact import CONTACTS, Contact, Evidence
from scrapersky.records.curation import (
    CurationAction,
    CurationChange,
    SelectionRule,
)
from scrapersky.records.difference import Difference, LastLook
from scrapersky.records.domain import DOMAINS, Domain
from scrapersky.records.host import Host, HostOutcome, HostRobots
from scrapersky.records.kind import Kind
from scrapersky.records.notice import ContactNotice
from scrapersky.records.page import PAGES, Page
from scrapersky.records.people import PEOPLE
from scrapersky.records.person import Person
from scrapersky.records.place import PLACES, Place
from scrapersky.records.place_search import SEARCHES, PlaceSearch, PlaceSearchHit
from scrapersky.records.process import Process
from scrapersky.records.sample import SampledValue, ValueSample
from scrapersky.records.schedule import SchedulerRun, StageOverride
from scrapersky.records.search_schedule import SearchSchedule
from scrapersky.records.site_visit import SiteVisit
from scrapersky.records.sitemap_file import SITEMAP_FILES, SitemapFile
from scrapersky.records.snapshot import PageContent, PageSnapshot, SnapshotUsage
from scrapersky.records.suppression import Suppression, SuppressionKey
from scrapersky.records.sync import SyncConnection, SyncRecord, SyncWrite
from scrapersky.records.tenant import ApiKey, Tenant, User
from scrapersky.records.upload import UploadedPart
from scrapersky.records.usage import PageGain, SiteUsage, TenantUsage
from scrapersky.records.view import SavedView
from scrapersky.records.webhook import WebhookDelivery, WebhookEndpoint
from scrapersky.records.work_queue import Attribute

METADATA = (Base.metadata, sdk_tables)
"""Every table this code expects in the database."""

KINDS: Mapping[str, Kind] = {
    kind.name: kind
    for kind in (
        SEARCHES,
        PLACES,
        BUSINESSES,
        DOMAINS,
        SITEMAP_FILES,
        PAGES,
        CONTACTS,
        PEOPLE,
        COMPANIES,
    )
}
"""Every kind of record that people see, in the order of the pipeline."""

CURATED: Mapping[str, Kind] = {
    name: kind for name, kind in KINDS.items() if kind.decision is not None
}
"""The kinds that people decide about."""


def kind_named(name: str, kinds: Mapping[str, Kind] = KINDS) -> Kind:
    """Return the kind of this name, or say which there are."""
    if name not in kinds:
        raise InvalidDecision(
            f"There is no kind of record '{name[:50]}'.",
            hint=f"Choose one of: {', '.join(kinds)}.",
        )
    return kinds[name]


def kind_of(record: type[Any]) -> Kind:
    """Return the kind of a class of records."""
    return next(kind for kind in KINDS.values() if kind.record is record)


def queue_columns() -> list[Attribute]:
    """Return every status column that anyone may queue rows in."""
    indexes = (
        index for table in Base.metadata.sorted_tables for index in table.indexes
    )
    return [index.info["claims"] for index in indexes if "claims" in index.info]


__all__ = [
    "CURATED",
    "KINDS",
    "METADATA",
    "Alert",
    "AlertWatch",
    "ApiKey",
    "AuditEntry",
    "Base",
    "BatchItem",
    "BatchJob",
    "ChangeEpoch",
    "Company",
    "CompanyAction",
    "CompanyChange",
    "CompanyColumn",
    "CompanyMember",
    "CompanyMerge",
    "CompanyPair",
    "CompanyProgress",
    "CompanyVerdict",
    "Contact",
    "ContactNotice",
    "CurationAction",
    "CurationChange",
    "Difference",
    "Domain",
    "Evidence",
    "Host",
    "HostOutcome",
    "HostRobots",
    "IdempotencyKey",
    "Installation",
    "Kind",
    "LastLook",
    "LocalBusiness",
    "LoginSession",
    "Page",
    "PageContent",
    "PageGain",
    "PageSnapshot",
    "Person",
    "Place",
    "PlaceSearch",
    "PlaceSearchHit",
    "Process",
    "RecordChange",
    "RevokedToken",
    "SampledValue",
    "SavedView",
    "SchedulerRun",
    "SearchSchedule",
    "SelectionRule",
    "SiteUsage",
    "SiteVisit",
    "SitemapFile",
    "SnapshotUsage",
    "StageOverride",
    "Suppression",
    "SuppressionKey",
    "SyncConnection",
    "SyncRecord",
    "SyncWrite",
    "Tenant",
    "TenantUsage",
    "UploadedPart",
    "User",
    "ValueSample",
    "WebhookDelivery",
    "WebhookEndpoint",
    "kind_named",
    "kind_of",
    "queue_columns",
]
