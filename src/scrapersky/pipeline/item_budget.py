"""Whether an item may be worked on, by its site's and its tenant's budget, and its bill."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Final
from uuid import UUID

from curation_sdk import Done, Effect, GiveUp, Later, Outcome, Retry, Transaction
from scrapersky.crawler import Meter, measured
from scrapersky.curation.page_choice import site_lock
from scrapersky.curation.site_budget import (
    USED_UP,
    SiteBudget,
    TenantBudget,
    apply_budget_changes,
)
from scrapersky.kit.clock import utc_now
from scrapersky.pipeline.site import Cost, SiteOwner, charge
from scrapersky.pipeline.tools import Tools

RECHECK_DELAY: Final = timedelta(seconds=5)
"""When to look again, where pages in work may be the last that are allowed."""
ITEM_LIMITS: Final = ("bytes", "parse_seconds")
PAGE_LIMITS: Final = (*ITEM_LIMITS, "pages_fetched")


@dataclass(frozen=True, slots=True)
class Usage:
    """What was taken so far."""

    pages_fetched: int = 0
    bytes: int = 0
    parse_seconds: float = 0.0

    def beyond(
        self, budget: SiteBudget | TenantBudget, names: tuple[str, ...]
    ) -> str | None:
        """Report which of some parts of a budget is used up."""
        for name in names:
            used, most = getattr(self, name), getattr(budget, name)
            if used >= most:
                return f"{name} {used:.0f} of {most}"
        return None


@dataclass(frozen=True, slots=True)
class ItemBudget:
    """What an item may take, and what it has taken."""

    site: SiteBudget = field(default_factory=SiteBudget)
    tenant: TenantBudget = field(default_factory=TenantBudget)
    used: Usage = field(default_factory=Usage)
    used_today: Usage = field(default_factory=Usage)
    snapshot_bytes: int = 0
    """What is kept for the tenant of pages as they were read."""
    country: str | None = None
    """Where the business is, as its source says."""
    meter: Meter = field(default_factory=Meter)

    def refusal(self, in_work: int | None) -> GiveUp | Later | None:
        """Say why nothing is fetched now; None if something may be.

        `in_work` are the pages of the site that are being fetched; None: no page is meant.
        """
        names = ITEM_LIMITS if in_work is None else PAGE_LIMITS
        if (why := self.used.beyond(self.site, names)) is not None:
            return GiveUp(f"{USED_UP}: {why}")
        if (why := self.used_today.beyond(self.tenant, names)) is not None:
            return Later(
                f"the tenant's budget of today is used up: {why}", time_until_midnight()
            )
        left = self.site.pages_fetched - self.used.pages_fetched
        if in_work is not None and in_work >= left:
            return Later(
                "pages in work may be the last that are allowed", RECHECK_DELAY
            )
        return None

    @property
    def keeps_pages(self) -> bool:
        """Whether the tenant has room for one more page as it was read."""
        return self.snapshot_bytes < self.tenant.snapshot_bytes

    @property
    def is_spent(self) -> bool:
        """Whether the item itself has taken what was left of the site's bytes."""
        return self.used.bytes + self.meter.bytes >= self.site.bytes


def time_until_midnight() -> timedelta:
    """Return how long this day (UTC) still lasts."""
    now = utc_now().astimezone(UTC)
    midnight = datetime(now.year, now.month, now.day, tzinfo=UTC) + timedelta(days=1)
    return midnight - now


async def read_budget(tools: Tools, domain_id: UUID) -> ItemBudget:
    """Read what may be taken of a domain and what was."""
    row = await tools.domain_usage.get(domain_id)
    if row is None:
        return ItemBudget()
    return ItemBudget(
        apply_budget_changes(tools.budgets.site, row.budget),
        apply_budget_changes(tools.budgets.tenant, row.tenant_budget),
        Usage(row.pages_fetched, row.bytes, float(row.parse_seconds)),
        Usage(row.day_pages, row.day_bytes, float(row.day_parse_seconds)),
        row.snapshot_bytes,
        row.country,
    )


async def within_budget(
    tools: Tools,
    owner: SiteOwner,
    work: Callable[[ItemBudget], Awaitable[Outcome]],
    *,
    pages: int = 0,
) -> Outcome:
    """Do an item's work if its site and tenant have something left, and charge for it."""
    domain, in_work = owner.domain_id, tools.in_work
    budget = await read_budget(tools, domain)
    refusal = budget.refusal(in_work[domain] if pages else None)
    if refusal is not None:
        return refusal
    in_work[domain] += pages
    try:
        return await with_cost(owner, work, budget, pages=pages)
    finally:
        in_work[domain] -= pages
        if not in_work[domain]:
            del in_work[domain]


async def with_cost(
    owner: SiteOwner,
    work: Callable[[ItemBudget], Awaitable[Outcome]],
    budget: ItemBudget | None = None,
    *,
    pages: int = 0,
) -> Outcome:
    """Do an item's work, and charge its site with what that took.

    Whatever is written of a site is written under its lock.
    """
    with measured() as meter:
        outcome = await work(replace(budget or ItemBudget(), meter=meter))
    fetched = pages if meter.bytes or isinstance(outcome, Done) else 0
    cost = Cost(
        pages_fetched=fetched,
        bytes=meter.bytes,
        parse_ms=round(meter.parse_seconds * 1000),
    )
    if not isinstance(outcome, Done | Retry | GiveUp):
        return outcome
    effect = outcome.effect
    if cost != Cost():
        effect = with_charge(effect, owner, cost)
    return replace(outcome, effect=effect, lock=site_lock(owner.domain_id))


def with_charge(effect: Effect | None, owner: SiteOwner, cost: Cost) -> Effect:
    """Add the bill to what an item writes."""

    async def both(transaction: Transaction) -> None:
        if effect is not None:
            await effect(transaction)
        charge(transaction, owner, cost)

    return both
