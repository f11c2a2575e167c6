"""Let a rule take the best pages of each site, a few at a time, within its budget."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final
from uuid import UUID

import orjson
from sqlalchemy import (
    BigInteger,
    ScalarSelect,
    cast,
    func,
    literal,
    select,
    text,
    true,
)
from sqlalchemy.ext.asyncio import AsyncConnection

from contact_extraction.page_choice import (
    ListedPage,
    PageChoice,
    PageYield,
    Program,
    ReadPage,
    next_pages,
)
from contact_extraction.page_type import PageType
from scrapersky.curation.clause import where
from scrapersky.curation.condition import Condition
from scrapersky.curation.site_budget import SiteBudget
from scrapersky.records import KINDS, Contact, Domain, Page, PageGain, Person
from scrapersky.records.status import PageCurationStatus, PageProcessingStatus

CONCURRENT_SITES: Final = 4
"""Pages of one site that are chosen together: what they hold decides about the next."""
FEW_LEFT: Final = 1
"""More are chosen when so many of the last ones are still to be read."""
MAX_CANDIDATES: Final = 80
BEGUN: Final = (
    PageProcessingStatus.QUEUED,
    PageProcessingStatus.PROCESSING,
    PageProcessingStatus.COMPLETE,
    PageProcessingStatus.ERROR,
)
WAITING: Final = (PageProcessingStatus.QUEUED, PageProcessingStatus.PROCESSING)
# Whoever chooses for a site waits for who is choosing for it: otherwise each of two would
# think that the other's pages are still to come, and neither would go on.
LOCK: Final = text(
    "SELECT pg_advisory_xact_lock(hashtextextended(k, 0))"
    " FROM unnest(CAST(:locks AS text[])) AS k"
)
EXPLAIN: Final = text(
    "UPDATE pages SET choice = g.choice FROM unnest(CAST(:ids AS uuid[]),"
    " CAST(:choices AS jsonb[])) AS g(id, choice) WHERE pages.id = g.id"
)


@dataclass(slots=True)
class _Site:
    """What is known of one site's pages."""

    home: str
    budget: int
    program: Program | None = None
    begun: list[Any] = field(default_factory=list)
    waiting: list[Any] = field(default_factory=list)

    def picks(self) -> Iterator[tuple[UUID, PageChoice]]:
        """Yield the pages to read next."""
        in_hand = sum(row.page_processing_status in WAITING for row in self.begun)
        most = min(self.budget - len(self.begun), CONCURRENT_SITES - in_hand)
        if in_hand > FEW_LEFT or most <= 0:
            return
        ids = {row.url: row.id for row in self.waiting}
        listed = [
            ListedPage(
                row.url,
                PageType(row.page_type or PageType.UNKNOWN),
                row.contact_likelihood or 0.0,
                row.clicks,
                row.likelihood_reasons[0] if row.likelihood_reasons else "",
            )
            for row in self.waiting
        ]
        read = [
            ReadPage(
                row.url,
                PageType(row.page_type or PageType.UNKNOWN),
                row.contact_likelihood or 0.0,
                # A page that is gone says nothing of others of its kind.
                None
                if row.page_processing_status in WAITING or row.gone_at is not None
                else row.gained,
            )
            for row in self.begun
        ]
        for pick in next_pages(
            listed, read, home=self.home, most=most, program=self.program
        ):
            yield ids[pick.url], pick


async def pick_best(
    connection: AsyncConnection,
    tenant_id: UUID,
    conditions: tuple[Condition, ...],
    domains: Collection[UUID],
) -> dict[UUID, PageChoice]:
    """Choose the pages of some sites to read next, by page."""
    await lock_sites(connection, domains)
    sites = await _sites(connection, tenant_id, conditions, list(domains))
    return {page: pick for site in sites for page, pick in site.picks()}


def site_lock(domain_id: UUID) -> str:
    """Name the lock of all who choose for a site, or store what was found there."""
    return f"page_choice:{domain_id}"


async def lock_sites(connection: AsyncConnection, domains: Iterable[UUID]) -> None:
    """Wait for who is choosing for these sites, or storing what was found there."""
    await connection.execute(LOCK, {"locks": sorted(map(site_lock, domains))})


async def pick_within(
    connection: AsyncConnection,
    tenant_id: UUID,
    conditions: tuple[Condition, ...],
    domains: Collection[UUID],
    site: SiteBudget,
) -> list[UUID]:
    """Return the pages that fit, of each site no more than may still be fetched.

    The likeliest go first. What is queued already counts as fetched.
    """
    await lock_sites(connection, domains)
    kind = KINDS["pages"]
    some = func.any(literal(list(domains)))
    begun = select(func.count()).where(
        Page.domain_id == Domain.id, Page.page_processing_status.in_(BEGUN)
    )
    raised = cast(Domain.budget["pages_fetched"].astext, BigInteger)
    left = func.coalesce(raised, site.pages_fetched) - begun.scalar_subquery()
    rooms = select(Domain.id, left.label("left")).where(Domain.id == some).subquery()
    place = func.row_number().over(
        partition_by=Page.domain_id,
        order_by=(Page.contact_likelihood.desc().nulls_last(), Page.id),
    )
    ranked = (
        select(Page.id, Page.domain_id, place.label("place"))
        .where(Page.tenant_id == tenant_id, Page.domain_id == some)
        .where(where(kind, conditions))
        .subquery()
    )
    query = select(ranked.c.id).join(rooms, rooms.c.id == ranked.c.domain_id)
    return list(await connection.scalars(query.where(ranked.c.place <= rooms.c.left)))


async def explain(connection: AsyncConnection, picks: dict[UUID, PageChoice]) -> None:
    """Keep with every page why it was chosen."""
    if picks:
        choices = [
            orjson.dumps(
                {
                    "gain": pick.gain,
                    "reasons": pick.reasons,
                    "promised": pick.promised,
                }
            ).decode()
            for pick in picks.values()
        ]
        await connection.execute(EXPLAIN, {"ids": [*picks], "choices": choices})


async def domains_among(
    connection: AsyncConnection, tenant_id: UUID, among: Condition | None
) -> Sequence[UUID]:
    """Return the domains of the pages that are meant."""
    if among is not None and among.field == "domain_id":
        wanted = among.value if isinstance(among.value, list) else [among.value]
        return [UUID(str(value)) for value in wanted]
    kind = KINDS["pages"]
    query = select(Page.domain_id).distinct().where(
        Page.tenant_id == tenant_id,
        Page.page_curation_status == PageCurationStatus.NEW,
        where(kind, (among,)) if among is not None else true(),
    )  # fmt: skip
    return (await connection.scalars(query)).all()


async def _sites(
    connection: AsyncConnection,
    tenant_id: UUID,
    conditions: tuple[Condition, ...],
    domains: Sequence[UUID],
) -> Iterable[_Site]:
    mine = Domain.id == func.any(literal(domains))
    query = select(
        Domain.id, Domain.domain, Domain.home_url, Domain.page_budget, Domain.generator,
        _paid_before(tenant_id).label("paid"),
    )  # fmt: skip
    sites = {
        row.id: _Site(
            row.home_url or f"https://{row.domain}/",
            row.page_budget,
            _program(row.generator, row.paid),
        )
        for row in await connection.execute(
            query.where(mine, Domain.tenant_id == tenant_id)
        )
    }
    contacts = select(func.count()).where(Contact.page_id == Page.id)
    people = select(func.count()).where(
        Person.domain_id == Page.domain_id, Person.page_id == Page.id
    )
    gained = contacts.scalar_subquery() + people.scalar_subquery()
    begun = select(
        Page.domain_id, Page.url, Page.page_type, Page.contact_likelihood,
        Page.page_processing_status, Page.gone_at, gained.label("gained"),
    ).where(
        Page.domain_id == func.any(literal(domains)),
        Page.page_processing_status.in_(BEGUN),
    )  # fmt: skip
    for row in await connection.execute(begun):
        if row.domain_id in sites:
            sites[row.domain_id].begun.append(row)
    best = (
        select(
            Page.id, Page.domain_id, Page.url, Page.page_type, Page.contact_likelihood,
            Page.likelihood_reasons, Page.clicks,
        )
        .where(
            Page.domain_id == Domain.id,
            Page.page_processing_status.is_(None),
            Page.page_curation_status == PageCurationStatus.NEW,
            Page.gone_at.is_(None),
            where(KINDS["pages"], conditions),
        )
        .order_by(Page.contact_likelihood.desc().nulls_last(), Page.id)
        .limit(MAX_CANDIDATES)
        .lateral("best")
    )  # fmt: skip
    some = select(best).select_from(Domain).join(best, true()).where(mine)
    for row in await connection.execute(some):
        if row.domain_id in sites:
            sites[row.domain_id].waiting.append(row)
    return sites.values()


def _paid_before(tenant_id: UUID) -> ScalarSelect[Any]:
    """Ask what pages of each kind held on the tenant's sites of the same program."""
    facts = func.jsonb_build_array(PageGain.pages, PageGain.promised, PageGain.paid)
    return (
        select(func.jsonb_object_agg(PageGain.page_type, facts))
        .where(PageGain.tenant_id == tenant_id, PageGain.generator == Domain.generator)
        .scalar_subquery()
    )


def _program(name: str | None, paid: dict[str, list[Any]] | None) -> Program | None:
    if name is None or not paid:
        return None
    return Program(
        name, {PageType(kind): PageYield(*facts) for kind, facts in paid.items()}
    )
