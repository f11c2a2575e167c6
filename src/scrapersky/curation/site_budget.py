"""How much of one site, and for one tenant a day, is taken; a person can raise it."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Final, TypeVar
from uuid import UUID

import orjson
from sqlalchemy import select, text, update
from sqlalchemy.ext.asyncio import AsyncConnection

from contact_extraction.urls import registrable_domain
from scrapersky.errors import InvalidDecision, UnknownRecord
from scrapersky.records import Domain, Page
from scrapersky.records.audit import Actor, note
from scrapersky.records.status import PageProcessingStatus

MIB: Final = 1024 * 1024
MAX_BUDGET: Final = 10**12
"""What a budget may be raised to: there is no "unlimited"."""
MOST_CHOSEN: Final = 32_767
PAGE_BUDGET: Final = "page_budget"
USED_UP: Final = "the site's budget is used up"
"""How the reason begins for which a page is not fetched; what is raised is tried again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SiteBudget:
    """What is taken of one domain, with all hosts below it."""

    pages_stored: int = 50_000
    pages_fetched: int = 500
    hosts: int = 10
    query_variants: int = 20
    url_bytes: int = 10 * MIB
    bytes: int = 500 * MIB
    parse_seconds: int = 600
    robots_bytes: int = 8 * MIB


@dataclass(frozen=True, slots=True, kw_only=True)
class TenantBudget:
    """What is taken for one tenant in a day (UTC), and kept for it at any time."""

    pages_stored: int = 5_000_000
    pages_fetched: int = 1_000_000
    bytes: int = 200 * 1024 * MIB
    parse_seconds: int = 200_000
    snapshot_bytes: int = 10 * 1024 * MIB
    """Packed bytes of the pages that are kept as they were read; 0: none is."""


@dataclass(frozen=True, slots=True)
class Budgets:
    """What is set for every site and tenant of this installation."""

    site: SiteBudget = field(default_factory=SiteBudget)
    tenant: TenantBudget = field(default_factory=TenantBudget)


BudgetT = TypeVar("BudgetT", SiteBudget, TenantBudget)
SITE_NAMES: Final = frozenset(one.name for one in fields(SiteBudget))


def apply_budget_changes(budget: BudgetT, changes: Mapping[str, int] | str) -> BudgetT:
    """Return a budget with what a person has changed of it; a driver gives that as text."""
    known = orjson.loads(changes) if isinstance(changes, str) else changes
    names = {one.name for one in fields(budget)}
    return replace(
        budget, **{name: int(n) for name, n in known.items() if name in names}
    )


@dataclass(frozen=True, slots=True)
class BudgetLine:
    """One kind of thing that is taken of a site: how much was, and how much may be."""

    name: str
    used: float
    most: int


# Of each path the query variants are counted where there are any: most sites have none.
USED: Final = text(f"""
SELECT d.domain, d.budget, d.page_budget, coalesce(u.pages_fetched, 0) AS pages_fetched,
  coalesce(u.bytes, 0) AS bytes, coalesce(u.parse_ms, 0) / 1000.0 AS parse_seconds,
  p.pages_stored, p.url_bytes, p.hosts,
  (SELECT coalesce(max(variants), 0) FROM (SELECT count(*) AS variants FROM pages
    WHERE domain_id = d.id AND strpos(url, '?') > 0
    GROUP BY split_part(url, '?', 1)) AS paths) AS query_variants,
  (SELECT coalesce(sum(r.bytes), 0) FROM host_robots r
    WHERE r.site = :site AND r.expires_at > clock_timestamp()) AS robots_bytes,
  (SELECT count(*) FROM pages WHERE domain_id = d.id AND page_processing_status
    IN ('{PageProcessingStatus.QUEUED}', '{PageProcessingStatus.PROCESSING}',
    '{PageProcessingStatus.COMPLETE}', '{PageProcessingStatus.ERROR}')) AS page_budget_used
FROM domains d LEFT JOIN site_usage u ON u.domain_id = d.id, LATERAL (
  SELECT count(*) AS pages_stored, coalesce(sum(length(url)), 0) AS url_bytes,
    count(DISTINCT split_part(split_part(url, '://', 2), '/', 1)) AS hosts
  FROM pages WHERE domain_id = d.id) AS p
WHERE d.id = :domain
""")  # noqa: S608 - our own labels


async def budget_lines(
    connection: AsyncConnection, domain_id: UUID, name: str, default: SiteBudget
) -> list[BudgetLine]:
    """Return what may be taken of a site and what was."""
    site = registrable_domain(name) or name
    row = (await connection.execute(USED, {"domain": domain_id, "site": site})).one()
    most = asdict(apply_budget_changes(default, row.budget))
    chosen = BudgetLine(PAGE_BUDGET, float(row.page_budget_used), row.page_budget)
    return [
        chosen,
        *(
            BudgetLine(name, float(getattr(row, name)), most[name])
            for name in SiteBudget.__slots__
        ),
    ]


async def change_budget(
    connection: AsyncConnection,
    actor: Actor,
    domain_id: UUID,
    changes: Mapping[str, int],
    default: SiteBudget,
) -> int:
    """Change what may be taken of a site; return how many refused pages wait again."""
    for name, value in changes.items():
        most = MOST_CHOSEN if name == PAGE_BUDGET else MAX_BUDGET
        if name not in SITE_NAMES | {PAGE_BUDGET} or not 0 <= value <= most:
            raise InvalidDecision(
                f"{name}={value} is not a budget of a site.",
                hint=f"Choose from {', '.join(sorted(SITE_NAMES | {PAGE_BUDGET}))}; 0 to {most}.",
            )
    query = select(Domain.budget, Domain.page_budget).where(
        Domain.id == domain_id, Domain.tenant_id == actor.tenant_id
    )
    row = (await connection.execute(query.with_for_update())).one_or_none()
    if row is None:
        raise UnknownRecord("There is no such domain.")
    kept = {name: value for name, value in changes.items() if name in SITE_NAMES}
    await connection.execute(
        update(Domain)
        .where(Domain.id == domain_id)
        .values(
            budget={**row.budget, **kept},
            page_budget=changes.get(PAGE_BUDGET, row.page_budget),
        )
    )
    before = {
        **asdict(apply_budget_changes(default, row.budget)),
        PAGE_BUDGET: row.page_budget,
    }
    details = {
        "before": {name: before[name] for name in changes},
        "after": dict(changes),
    }
    await note(connection, actor, "budget", "domains", details, record_id=domain_id)
    return await queue_refused(connection, domain_id)


async def queue_refused(connection: AsyncConnection, domain_id: UUID) -> int:
    """Queue the pages of a site that failed only because its budget was used up."""
    queued = await connection.execute(
        update(Page)
        .where(
            Page.domain_id == domain_id,
            Page.page_processing_status == PageProcessingStatus.ERROR,
            Page.page_processing_error.startswith(USED_UP),
        )
        .values(
            page_processing_status=PageProcessingStatus.QUEUED,
            page_processing_error=None,
        )
    )
    return queued.rowcount
