"""Which newly found pages of a site are stored: a site without end is not stored whole."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final
from uuid import UUID

import asyncpg

from scrapersky.curation.site_budget import Budgets, SiteBudget, apply_budget_changes

# Counted, and not kept in step: whoever stores or deletes pages, it is right.
COUNT_STORED: Final = """
SELECT d.id, d.tenant_id, d.budget, t.budget AS tenant_budget,
  coalesce(u.pages_stored, 0) AS today, p.pages, p.url_bytes, p.hosts
FROM domains d JOIN tenants t ON t.id = d.tenant_id
LEFT JOIN tenant_usage u ON u.tenant_id = d.tenant_id
  AND u.day = (clock_timestamp() AT TIME ZONE 'UTC')::date, LATERAL (
  SELECT count(*) AS pages, coalesce(sum(length(url)), 0) AS url_bytes,
    array_agg(DISTINCT split_part(split_part(url, '://', 2), '/', 1)) AS hosts
  FROM pages WHERE domain_id = d.id) AS p
WHERE d.id = ANY($1)
"""
FIND_VARIANTS: Final = """
SELECT domain_id, url FROM pages WHERE domain_id = ANY($1) AND strpos(url, '?') > 0
  AND split_part(url, '?', 1) = ANY($2)
"""


@dataclass(slots=True)
class RemainingTenantBudget:
    """How many new pages a tenant may store today."""

    left: int


@dataclass(slots=True)
class RemainingBudget:
    """What is left of a site's budget for addresses."""

    budget: SiteBudget
    tenant: RemainingTenantBudget
    pages: int = 0
    url_bytes: int = 0
    hosts: set[str] = field(default_factory=set)
    queries: dict[str, set[str]] = field(default_factory=dict)
    """By path, the queries that are stored, each with its parts in order."""
    dropped: Counter[str] = field(default_factory=Counter)

    def refuse(self, urls: Sequence[str], scores: Sequence[float]) -> set[str]:
        """Return the new addresses there is no room for; the likeliest are stored first."""
        order = sorted(range(len(urls)), key=lambda at: -scores[at])
        likeliest = [urls[at] for at in order]
        refused = self._beyond_hosts(likeliest)
        refused |= self._beyond_variants(likeliest, refused)
        kept = [url for url in likeliest if url not in refused]
        beyond = self._beyond_size(kept)
        self.pages += len(kept) - len(beyond)
        self.tenant.left -= len(kept) - len(beyond)
        return refused.union(beyond)

    def _beyond_hosts(self, urls: Sequence[str]) -> set[str]:
        named = [url.split("/", 3)[2] for url in urls]
        new = [host for host in dict.fromkeys(named) if host not in self.hosts]
        allowed = max(self.budget.hosts - len(self.hosts), 0)
        self.hosts.update(new[:allowed])
        unwanted = set(new[allowed:])
        if not unwanted:
            return set()
        refused = {u for u, host in zip(urls, named, strict=True) if host in unwanted}
        self.dropped["hosts"] += len(refused)
        return refused

    def _beyond_variants(
        self, urls: Iterable[str], refused: Collection[str]
    ) -> set[str]:
        found = set()
        for url in urls:
            if "?" in url and url not in refused and not self._takes_variant(url):
                found.add(url)
        if found:
            self.dropped["query_variants"] += len(found)
        return found

    def _takes_variant(self, url: str) -> bool:
        path, query = plain_query(url)
        stored = self.queries.setdefault(path, set())
        if query in stored or len(stored) >= self.budget.query_variants:
            return False
        stored.add(query)
        return True

    def _beyond_size(self, urls: Sequence[str]) -> Sequence[str]:
        """Return the tail of the list for which there is no room."""
        left = {
            "pages_stored": self.budget.pages_stored - self.pages,
            "pages_stored of the tenant": self.tenant.left,
        }
        name = min(left, key=lambda one: left[one])
        end = max(min(left[name], len(urls)), 0)
        if beyond := len(urls) - end:
            self.dropped[name] += beyond
        size = self.url_bytes + sum(map(len, urls[:end]))
        too_long = end
        while size > self.budget.url_bytes and too_long:
            too_long -= 1
            size -= len(urls[too_long])
        if too_long < end:
            self.dropped["url_bytes"] += end - too_long
        self.url_bytes = size
        return urls[too_long:]


def plain_query(url: str) -> tuple[str, str]:
    """Return path and query: the order of its parts does not make a page another one."""
    path, _, query = url.partition("?")
    return path, "&".join(sorted(query.split("&")))


async def remaining_budgets(
    driver: "asyncpg.Connection[Any]",
    found: Mapping[UUID, Collection[str]],
    budgets: Budgets,
) -> dict[UUID, RemainingBudget]:
    """Read what is left of several sites' budgets for new addresses, all at once."""
    remaining: dict[UUID, RemainingBudget] = {}
    tenants: dict[UUID, RemainingTenantBudget] = {}
    for row in await driver.fetch(COUNT_STORED, list(found)):
        daily = apply_budget_changes(budgets.tenant, row["tenant_budget"])
        left = daily.pages_stored - row["today"]
        remaining[row["id"]] = RemainingBudget(
            apply_budget_changes(budgets.site, row["budget"]),
            tenants.setdefault(row["tenant_id"], RemainingTenantBudget(left)),
            row["pages"],
            row["url_bytes"],
            set(row["hosts"] or ()),
        )
    paths = {
        url.partition("?")[0] for urls in found.values() for url in urls if "?" in url
    }
    if paths:
        for row in await driver.fetch(FIND_VARIANTS, list(found), list(paths)):
            path, query = plain_query(row["url"])
            remaining[row["domain_id"]].queries.setdefault(path, set()).add(query)
    return remaining
