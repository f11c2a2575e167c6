"""The records of the pipeline, as tables of PostgreSQL."""

from curation_sdk.migrations import metadata as sdk_tables
from scrapersky.models.access import (
    IdempotencyKey,
    Installation,
    LoginSession,
    RevokedToken,
)
from scrapersky.models.audit import AuditEntry
from scrapersky.models.base import Base
from scrapersky.models.batch import BatchItem, BatchJob
from scrapersky.models.business import LocalBusiness
from scrapersky.models.contact import Contact, Evidence
from scrapersky.models.curation import (
    CurationAction,
    CurationChange,
    SelectionRule,
)
from scrapersky.models.domain import Domain
from scrapersky.models.host import Host, HostOutcome, HostRobots
from scrapersky.models.notice import ContactNotice
from scrapersky.models.page import Page
from scrapersky.models.place import Place
from scrapersky.models.place_search import PlaceSearch, PlaceSearchHit
from scrapersky.models.schedule import SchedulerRun
from scrapersky.models.sitemap_file import SitemapFile
from scrapersky.models.suppression import Suppression, SuppressionKey
from scrapersky.models.tenant import ApiKey, Tenant, User
from scrapersky.models.view import SavedView

METADATA = (Base.metadata, sdk_tables)
"""Every table this code expects in the database."""

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
]
