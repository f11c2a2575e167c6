"""The records of the pipeline, as tables of PostgreSQL."""

from curation_sdk.migrations import metadata as sdk_tables
from scrapersky.records.access import (
    IdempotencyKey,
    Installation,
    LoginSession,
    RevokedToken,
)
from scrapersky.records.audit import AuditEntry
from scrapersky.records.base import Base
from scrapersky.records.batch import BatchItem, BatchJob
from scrapersky.records.business import LocalBusiness
from scrapersky.records.contact import Contact, Evidence
from scrapersky.records.curation import (
    CurationAction,
    CurationChange,
    SelectionRule,
)
from scrapersky.records.domain import Domain
from scrapersky.records.host import Host, HostOutcome, HostRobots
from scrapersky.records.notice import ContactNotice
from scrapersky.records.page import Page
from scrapersky.records.place import Place
from scrapersky.records.place_search import PlaceSearch, PlaceSearchHit
from scrapersky.records.schedule import SchedulerRun
from scrapersky.records.sitemap_file import SitemapFile
from scrapersky.records.suppression import Suppression, SuppressionKey
from scrapersky.records.tenant import ApiKey, Tenant, User
from scrapersky.records.view import SavedView
from scrapersky.records.work_queue import Attribute

METADATA = (Base.metadata, sdk_tables)
"""Every table this code expects in the database."""


def queue_columns() -> list[Attribute]:
    """Return every status column that anyone may queue rows in."""
    indexes = (
        index for table in Base.metadata.sorted_tables for index in table.indexes
    )
    return [index.info["claims"] for index in indexes if "claims" in index.info]


__all__ = [
    "METADATA",
    "ApiKey",
    "AuditEntry",
    "Base",
    "BatchItem",
    "BatchJob",
    "Contact",
    "ContactNotice",
    "CurationAction",
    "CurationChange",
    "Domain",
    "Evidence",
    "Host",
    "HostOutcome",
    "HostRobots",
    "IdempotencyKey",
    "Installation",
    "LocalBusiness",
    "LoginSession",
    "Page",
    "Place",
    "PlaceSearch",
    "PlaceSearchHit",
    "RevokedToken",
    "SavedView",
    "SchedulerRun",
    "SelectionRule",
    "SitemapFile",
    "Suppression",
    "SuppressionKey",
    "Tenant",
    "User",
    "queue_columns",
]
