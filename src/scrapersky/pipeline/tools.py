"""What stages work with: handed in, so that a stage can be tested without the world."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any
from uuid import UUID

from sqlalchemy import Row
from sqlalchemy.ext.asyncio import AsyncEngine

from scrapersky.crawler import Crawler, Renderer, Sandbox
from scrapersky.curation.site_budget import Budgets
from scrapersky.kit.batch_loader import BatchLoader
from scrapersky.pipeline.domain_usage import read_domain_usage
from scrapersky.pipeline.health_check import AssumedHealthy, HealthProbe
from scrapersky.pipeline.mail_server import MailServers
from scrapersky.pipeline.recent import RecentPages
from scrapersky.pipeline.snapshot import SiteBases
from scrapersky.providers.source import PlaceSource


@dataclass(frozen=True, slots=True)
class SiteLimits:
    """How much of one website is taken."""

    sitemaps: int = 50
    sitemap_depth: int = 3
    sitemap_bytes: int = 50 * 1024 * 1024
    pages: int = 50_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Tools:
    """The tools of all stages."""

    crawler: Crawler
    sandbox: Sandbox
    sources: Mapping[str, PlaceSource]
    mail_servers: MailServers
    database: AsyncEngine
    """For what must be kept while work goes on (money, progress); never held."""
    system_user_id: UUID
    """Stamped on every record that background work makes."""
    limits: SiteLimits = field(default_factory=SiteLimits)
    budgets: Budgets = field(default_factory=Budgets)
    in_work: Counter[UUID] = field(default_factory=Counter)
    """How many pages of each domain this process is fetching now."""
    health: HealthProbe = field(default_factory=AssumedHealthy)
    """Whether a failure may be this machine's own."""
    recent: RecentPages = field(default_factory=RecentPages)
    renderer: Renderer | None = None
    """A browser for pages that only scripts fill; None where none is installed."""
    reader: AsyncEngine = field(init=False)
    """The same database, for single queries: they need no transaction around them."""
    domain_usage: BatchLoader[UUID, Row[Any]] = field(init=False)
    """How domains stand, read for all items that begin at the same time."""

    bases: SiteBases = field(init=False)
    """The first pages of sites, which others are packed against."""

    def __post_init__(self) -> None:
        reader = self.database.execution_options(isolation_level="AUTOCOMMIT")
        object.__setattr__(self, "reader", reader)
        object.__setattr__(self, "bases", SiteBases(reader))
        domain_usage = BatchLoader(partial(read_domain_usage, reader))
        object.__setattr__(self, "domain_usage", domain_usage)
