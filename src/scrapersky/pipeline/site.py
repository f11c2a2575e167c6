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
from scrapersky.pipeline.choice import Choice
from scrapersky.pipeline.page_copy import urgency
from scrapersky.pipeline.room import rooms_for
from scrapersky.privacy.suppression_filter import suppressions
from scrapersky.records.status import PageCurationStatus

CHOICE: Final = Choice("pages", "domain_id")
KNOWN: Final = """
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
REMEMBER_GAINS: Final = """
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
class Whose:
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

    def __add__(self, other: "Cost") -> "Cost":
        return Cost(
            self.pages_stored + other.pages_stored,
            self.pages_fetched + other.pages_fetched,
            self.bytes + other.bytes,
            self.parse_ms + other.parse_ms,
        )


@dataclass(frozen=True, slots=True)
class News:
    """What one item has to say of its site."""

    whose: Whose
    links: Sequence[PageLink] = ()
    clicks: int | None = 0
    cost: Cost = field(default_factory=Cost)
    chooses: bool = False
    """Whether the rules choose now what to read next."""
    read: UUID | None = None
    """The page, if it was chosen and this was the first time that it was read."""


def store_links(
    transaction: Transaction,
    whose: Whose,
    links: Sequence[PageLink],
    *,
    clicks: int | None,
    read: UUID | None = None,
) -> None:
    """Store pages that were found so many clicks from the home page, and choose.

    `clicks` is None where no link leads to them.
    """
    news = News(whose, links, clicks, chooses=True, read=read)
    transaction.at_end(settle_sites, news)


def choose(transaction: Transaction, whose: Whose) -> None:
    """Let the rules choose, when all that settles now is stored, what to read next."""
    transaction.at_end(settle_sites, News(whose, chooses=True))


def charge(transaction: Transaction, whose: Whose, cost: Cost) -> None:
    """Count what was taken of a site."""
    transaction.at_end(settle_sites, News(whose, cost=cost))


async def settle_sites(transaction: Transaction, news: list[News]) -> None:
    """Store what was found within every site's budget, count what it cost, and choose."""
    found = await allowed(transaction, best_of(news))
    costs = [(one.whose, one.cost) for one in news if one.cost != Cost()]
    costs += await store_found(transaction, found)
    await charge_sites(transaction, costs)
    for one in {
        each.whose.domain_id: each.whose for each in news if each.chooses
    }.values():
        CHOICE.among(
            transaction,
            one.tenant_id,
            one.user_id,
            one.domain_id,
            site=one.budgets.site,
        )
    for page in sorted(one.read for one in news if one.read is not None):
        transaction.at_end(remember_gains, page)
    for one, cost in costs:
        # Last of all: every worker of the tenant waits for this row.
        transaction.at_end(charge_tenants, (one.tenant_id, cost))


@dataclass(frozen=True, slots=True)
class Found:
    """A page that a link leads to."""

    whose: Whose
    link: PageLink
    clicks: int | None


def best_of(news: Iterable[News]) -> list[Found]:
    """Return every page once, as the link to it that promises most describes it."""
    found: dict[tuple[UUID, str], Found] = {}
    for one in news:
        for link in one.links:
            key = (one.whose.domain_id, link.url)
            other = found.get(key)
            known = [one.clicks, other.clicks if other is not None else None]
            clicks = min((each for each in known if each is not None), default=None)
            if other is not None and other.link.rating.score >= link.rating.score:
                link = other.link  # noqa: PLW2901 - the better one of the two
            found[key] = Found(one.whose, link, clicks)
    return list(found.values())


async def allowed(transaction: Transaction, found: list[Found]) -> list[Found]:
    """Leave out what names somebody on the suppression list of its tenant."""
    kept: list[Found] = []
    found.sort(key=lambda one: one.whose.tenant_id)
    for tenant_id, group in groupby(found, key=lambda one: one.whose.tenant_id):
        some = list(group)
        urls = [one.link.url for one in some]
        guard = await suppressions(transaction.connection, tenant_id, urls)
        kept += [one for one in some if guard.clean(one.link.url) == one.link.url]
    return kept


async def store_found(
    transaction: Transaction, found: Sequence[Found]
) -> list[tuple[Whose, Cost]]:
    """Store the pages that there is room for; return how many are new, by whose they are."""
    refused = await beyond_budget(transaction, found)
    kept = [one for one in found if (one.whose.domain_id, one.link.url) not in refused]
    if not kept:
        return []
    rows = await transaction.fetch(
        STORE_LINKED,
        [one.whose.tenant_id for one in kept],
        [one.whose.user_id for one in kept],
        [one.whose.domain_id for one in kept],
        [one.clicks for one in kept],
        [one.link.url for one in kept],
        [one.link.rating.type.value for one in kept],
        [one.link.rating.score for one in kept],
        ["; ".join(one.link.rating.reasons) for one in kept],
        [urgency(one.link.rating.score) for one in kept],
    )
    whose = {one.whose.tenant_id: one.whose for one in kept}
    return [(whose[row["tenant_id"]], Cost(pages_stored=1)) for row in rows]


async def beyond_budget(
    transaction: Transaction, found: Sequence[Found]
) -> set[tuple[UUID, str]]:
    """Return the new pages that there is no room for."""
    if not found:
        return set()
    known = await transaction.fetch(
        KNOWN,
        [one.whose.domain_id for one in found],
        [one.link.url for one in found],
    )
    stored = {(row["domain_id"], row["url"]) for row in known}
    new: dict[UUID, list[Found]] = {}
    for one in found:
        if (one.whose.domain_id, one.link.url) not in stored:
            new.setdefault(one.whose.domain_id, []).append(one)
    if not new:
        return set()
    urls = {domain: [one.link.url for one in some] for domain, some in new.items()}
    rooms = await rooms_for(transaction.driver, urls, found[0].whose.budgets)
    return {
        (domain, url)
        for domain, room in rooms.items()
        for url in room.refuse(
            urls[domain], [one.link.rating.score for one in new[domain]]
        )
    }


async def charge_sites(
    transaction: Transaction, costs: Iterable[tuple[Whose, Cost]]
) -> None:
    """Add up what was taken of every site."""
    sums: dict[UUID, Cost] = {}
    for whose, cost in costs:
        sums[whose.domain_id] = sums.get(whose.domain_id, Cost()) + cost
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


async def remember_gains(transaction: Transaction, pages: list[UUID]) -> None:
    """Count whether chosen pages held something new, for other sites of their program."""
    await transaction.fetch(REMEMBER_GAINS, pages)


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
