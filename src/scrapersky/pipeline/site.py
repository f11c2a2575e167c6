"""What items say of their sites while they settle: pages found, what the visit cost.

Items that settle together share a transaction, and their sites are dealt with at its end:
with one look, one insert and one sum for all of them. They settle under the locks of their
sites.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Final
from uuid import UUID

from contact_extraction.discovery import PageLink
from curation_sdk import Transaction
from scrapersky.curation.site_budget import Budgets
from scrapersky.pipeline.page_copy import urgency
from scrapersky.pipeline.remaining_budget import remaining_budgets
from scrapersky.pipeline.rule_run import RuleRun, run_rules
from scrapersky.pipeline.settlement import SettleStep
from scrapersky.privacy.suppression_filter import suppressions
from scrapersky.records.status import PageCurationStatus

FIND_KNOWN: Final = """
SELECT domain_id, url FROM pages
JOIN unnest($1::uuid[], $2::text[]) AS g(domain_id, url) USING (domain_id, url)
"""
# A link may say more about a page than its address did; what was decided stays. A page that
# somebody holds is being settled or decided, and past being described anew: to wait for it
# could only be a deadlock. So it is neither locked nor inserted; a conflict with an
# uncommitted row would wait too.
STORE_LINKED: Final = f"""
WITH g AS MATERIALIZED (
  SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::smallint[], $5::text[],
    $6::text[], $7::float8[], $8::text[], $9::smallint[])
    AS g(tenant_id, user_id, domain_id, clicks, url, page_type, score, reasons, priority)
), better AS (
  SELECT p.id, g.* FROM g JOIN pages p USING (domain_id, url)
  WHERE p.page_processing_status IS NULL AND p.page_curation_status = '{PageCurationStatus.NEW}'
    AND g.score > coalesce(p.contact_likelihood, 0)
  ORDER BY p.id FOR UPDATE OF p SKIP LOCKED
), described AS (
  UPDATE pages p SET page_type = b.page_type, contact_likelihood = b.score,
    likelihood_reasons = string_to_array(b.reasons, '; '), priority = b.priority,
    clicks = least(p.clicks, b.clicks)
  FROM better b WHERE p.id = b.id
)
INSERT INTO pages (tenant_id, created_by, domain_id, clicks, url, page_type,
  contact_likelihood, likelihood_reasons, priority)
SELECT tenant_id, user_id, domain_id, clicks, url, page_type, score,
  string_to_array(reasons, '; '), priority
FROM g WHERE NOT EXISTS (SELECT FROM pages p WHERE (p.domain_id, p.url) = (g.domain_id, g.url))
ORDER BY domain_id, url
ON CONFLICT (domain_id, url) DO NOTHING
RETURNING tenant_id
"""  # noqa: S608 - our own labels
CHARGE_SITES: Final = """
INSERT INTO site_usage AS u (domain_id, tenant_id, pages_fetched, bytes, parse_ms)
SELECT d.id, d.tenant_id, g.pages_fetched, g.bytes, g.parse_ms
FROM unnest($1::uuid[], $2::bigint[], $3::bigint[], $4::bigint[])
  AS g(domain_id, pages_fetched, bytes, parse_ms)
JOIN domains d ON d.id = g.domain_id ORDER BY 1
ON CONFLICT (domain_id) DO UPDATE SET
  pages_fetched = u.pages_fetched + excluded.pages_fetched,
  bytes = u.bytes + excluded.bytes, parse_ms = u.parse_ms + excluded.parse_ms
"""
# The home page is read whatever it held; the pages that rules did not choose promised nothing.
COUNT_GAINS: Final = """
INSERT INTO page_gains AS g (tenant_id, generator, page_type, pages, promised, paid)
SELECT p.tenant_id, d.generator, p.page_type, count(*),
  sum((p.choice->>'promised')::float8),
  count(*) FILTER (WHERE EXISTS (SELECT FROM contacts c WHERE c.page_id = p.id)
    OR EXISTS (SELECT FROM people o WHERE o.domain_id = p.domain_id AND o.page_id = p.id))
FROM pages p JOIN domains d ON d.id = p.domain_id
WHERE p.id = ANY($1) AND d.generator IS NOT NULL AND p.page_type IS NOT NULL
  AND p.choice ? 'promised' AND p.clicks IS DISTINCT FROM 0
GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
ON CONFLICT (tenant_id, generator, page_type) DO UPDATE SET
  pages = g.pages + excluded.pages, promised = g.promised + excluded.promised,
  paid = g.paid + excluded.paid
"""
CHARGE_SNAPSHOTS: Final = """
INSERT INTO snapshot_usage AS u (tenant_id, bytes)
SELECT tenant_id, sum(bytes) FROM unnest($1::uuid[], $2::bigint[]) AS g(tenant_id, bytes)
GROUP BY 1 ORDER BY 1
ON CONFLICT (tenant_id) DO UPDATE SET bytes = u.bytes + excluded.bytes
"""
CHARGE_TENANTS: Final = """
INSERT INTO tenant_usage AS u (tenant_id, day, pages_stored, pages_fetched, bytes, parse_ms)
SELECT tenant_id, (clock_timestamp() AT TIME ZONE 'UTC')::date, sum(pages_stored),
  sum(pages_fetched), sum(bytes), sum(parse_ms)
FROM unnest($1::uuid[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[])
  AS g(tenant_id, pages_stored, pages_fetched, bytes, parse_ms)
GROUP BY 1 ORDER BY 1
ON CONFLICT (tenant_id, day) DO UPDATE SET
  pages_stored = u.pages_stored + excluded.pages_stored,
  pages_fetched = u.pages_fetched + excluded.pages_fetched,
  bytes = u.bytes + excluded.bytes, parse_ms = u.parse_ms + excluded.parse_ms
"""


@dataclass(frozen=True, slots=True)
class SiteOwner:
    """Whose the pages are, and what may be taken of any site."""

    tenant_id: UUID
    user_id: UUID
    domain_id: UUID
    budgets: Budgets = field(default_factory=Budgets)


@dataclass(frozen=True, slots=True)
class Cost:
    """What an item has taken of its site."""

    pages_stored: int = 0
    pages_fetched: int = 0
    bytes: int = 0
    parse_ms: int = 0
    snapshot_bytes: int = 0

    def __add__(self, other: "Cost") -> "Cost":
        return Cost(
            self.pages_stored + other.pages_stored,
            self.pages_fetched + other.pages_fetched,
            self.bytes + other.bytes,
            self.parse_ms + other.parse_ms,
            self.snapshot_bytes + other.snapshot_bytes,
        )


@dataclass(frozen=True, slots=True)
class SiteReport:
    """What one item reports of its site."""

    owner: SiteOwner
    links: Sequence[PageLink] = ()
    clicks: int | None = 0
    cost: Cost = field(default_factory=Cost)
    chooses: bool = False
    """Whether the rules choose now what to read next."""
    read: UUID | None = None
    """The page, if it was chosen and this was the first time that it was read."""


def store_links(
    transaction: Transaction,
    owner: SiteOwner,
    links: Sequence[PageLink],
    *,
    clicks: int | None,
    read: UUID | None = None,
) -> None:
    """Store pages that were found so many clicks from the home page, and choose.

    `clicks` is None where no link leads to them.
    """
    report = SiteReport(owner, links, clicks, chooses=True, read=read)
    settle_sites.add(transaction, report)


def choose(transaction: Transaction, owner: SiteOwner) -> None:
    """Let the rules choose, when all that settles now is stored, what to read next."""
    settle_sites.add(transaction, SiteReport(owner, chooses=True))


def charge(transaction: Transaction, owner: SiteOwner, cost: Cost) -> None:
    """Count what was taken of a site."""
    settle_sites.add(transaction, SiteReport(owner, cost=cost))


@SettleStep
async def settle_sites(transaction: Transaction, reports: list[SiteReport]) -> None:
    """Store what was found within every site's budget, count what it cost, and choose."""
    found = await allowed_pages(transaction, best_of(reports))
    costs = [(one.owner, one.cost) for one in reports if one.cost != Cost()]
    costs += await store_allowed(transaction, found)
    await charge_sites(transaction, costs)
    for one in {
        each.owner.domain_id: each.owner for each in reports if each.chooses
    }.values():
        choice = RuleRun(
            "pages",
            "domain_id",
            one.tenant_id,
            one.user_id,
            one.domain_id,
            one.budgets.site,
        )
        run_rules.add(transaction, choice)
    for page in sorted(one.read for one in reports if one.read is not None):
        count_gains.add(transaction, page)
    for one, cost in costs:
        charge_tenants.add(transaction, (one.tenant_id, cost))


@dataclass(frozen=True, slots=True)
class LinkedPage:
    """A page that a link leads to."""

    owner: SiteOwner
    link: PageLink
    clicks: int | None


def best_of(reports: Iterable[SiteReport]) -> list[LinkedPage]:
    """Return every page once, as the link to it that promises most describes it."""
    found: dict[tuple[UUID, str], LinkedPage] = {}
    for one in reports:
        for link in one.links:
            key = (one.owner.domain_id, link.url)
            other = found.get(key)
            known = [one.clicks, other.clicks if other is not None else None]
            clicks = min((each for each in known if each is not None), default=None)
            if other is not None and other.link.rating.score >= link.rating.score:
                link = other.link  # noqa: PLW2901 - the better one of the two
            found[key] = LinkedPage(one.owner, link, clicks)
    return list(found.values())


async def allowed_pages(
    transaction: Transaction, found: list[LinkedPage]
) -> list[LinkedPage]:
    """Leave out what names somebody on the suppression list of its tenant."""
    kept: list[LinkedPage] = []
    found.sort(key=lambda one: one.owner.tenant_id)
    for tenant_id, group in groupby(found, key=lambda one: one.owner.tenant_id):
        some = list(group)
        urls = [one.link.url for one in some]
        guard = await suppressions(transaction.connection, tenant_id, urls)
        kept += [one for one in some if guard.clean(one.link.url) == one.link.url]
    return kept


async def store_allowed(
    transaction: Transaction, found: Sequence[LinkedPage]
) -> list[tuple[SiteOwner, Cost]]:
    """Store the pages that there is room for; return what that costs their owners."""
    refused = await beyond_budget(transaction, found)
    kept = [one for one in found if (one.owner.domain_id, one.link.url) not in refused]
    if not kept:
        return []
    rows = await transaction.fetch(
        STORE_LINKED,
        [one.owner.tenant_id for one in kept],
        [one.owner.user_id for one in kept],
        [one.owner.domain_id for one in kept],
        [one.clicks for one in kept],
        [one.link.url for one in kept],
        [one.link.rating.type.value for one in kept],
        [one.link.rating.score for one in kept],
        ["; ".join(one.link.rating.reasons) for one in kept],
        [urgency(one.link.rating.score) for one in kept],
    )
    owners = {one.owner.tenant_id: one.owner for one in kept}
    return [(owners[row["tenant_id"]], Cost(pages_stored=1)) for row in rows]


async def beyond_budget(
    transaction: Transaction, found: Sequence[LinkedPage]
) -> set[tuple[UUID, str]]:
    """Return the new pages that there is no room for."""
    if not found:
        return set()
    known = await transaction.fetch(
        FIND_KNOWN,
        [one.owner.domain_id for one in found],
        [one.link.url for one in found],
    )
    stored = {(row["domain_id"], row["url"]) for row in known}
    new: dict[UUID, list[LinkedPage]] = {}
    for one in found:
        if (one.owner.domain_id, one.link.url) not in stored:
            new.setdefault(one.owner.domain_id, []).append(one)
    if not new:
        return set()
    urls = {domain: [one.link.url for one in some] for domain, some in new.items()}
    budgets = await remaining_budgets(transaction.driver, urls, found[0].owner.budgets)
    return {
        (domain, url)
        for domain, budget in budgets.items()
        for url in budget.refuse(
            urls[domain], [one.link.rating.score for one in new[domain]]
        )
    }


async def charge_sites(
    transaction: Transaction, costs: Iterable[tuple[SiteOwner, Cost]]
) -> None:
    """Add up what was taken of every site."""
    sums: dict[UUID, Cost] = {}
    for owner, cost in costs:
        sums[owner.domain_id] = sums.get(owner.domain_id, Cost()) + cost
    spent = {
        domain: cost
        for domain, cost in sums.items()
        if cost.pages_fetched or cost.bytes or cost.parse_ms
    }
    if spent:
        await transaction.fetch(
            CHARGE_SITES,
            [*spent],
            [cost.pages_fetched for cost in spent.values()],
            [cost.bytes for cost in spent.values()],
            [cost.parse_ms for cost in spent.values()],
        )


@SettleStep
async def count_gains(transaction: Transaction, pages: list[UUID]) -> None:
    """Count whether chosen pages held something new, for other sites of their program."""
    await transaction.fetch(COUNT_GAINS, pages)


@SettleStep
async def charge_tenants(
    transaction: Transaction, costs: list[tuple[UUID, Cost]]
) -> None:
    """Add up what was taken for every tenant today."""
    await transaction.fetch(
        CHARGE_TENANTS,
        [tenant for tenant, _ in costs],
        [cost.pages_stored for _, cost in costs],
        [cost.pages_fetched for _, cost in costs],
        [cost.bytes for _, cost in costs],
        [cost.parse_ms for _, cost in costs],
    )
    if kept := [(tenant, cost) for tenant, cost in costs if cost.snapshot_bytes]:
        await transaction.fetch(
            CHARGE_SNAPSHOTS,
            [tenant for tenant, _ in kept],
            [cost.snapshot_bytes for _, cost in kept],
        )
