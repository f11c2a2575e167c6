"""WF3 - Domain extraction: one selected business becomes a domain to look at."""

from uuid import UUID

from sqlalchemy import func, update
from sqlalchemy.dialects.postgresql import insert

from curation_sdk import Done, Effect, GiveUp, Outcome, Transaction, stage
from scrapersky.errors import InvalidUrl
from scrapersky.extraction.host_kind import HostKind, kind_of_url, site_name
from scrapersky.kit.urls import Url, parse_url
from scrapersky.pipeline.tools import Tools
from scrapersky.privacy.shield import look_up, shield
from scrapersky.records import Domain, LocalBusiness
from scrapersky.records.status import DomainExtractionStatus

NOT_THEIRS = {
    HostKind.SOCIAL: "a social profile",
    HostKind.DIRECTORY: "a page in a directory",
    HostKind.BOOKING: "a booking page",
    HostKind.LINK_PAGE: "a page of links",
    HostKind.PARKING: "a parked domain",
}


@stage(
    "domain_extraction",
    claims=LocalBusiness.domain_extraction_status,
    error=LocalBusiness.domain_extraction_error,
    tenant=LocalBusiness.tenant_id,
    queued=DomainExtractionStatus.QUEUED,
    processing=DomainExtractionStatus.PROCESSING,
    done=DomainExtractionStatus.COMPLETED,
    failed=DomainExtractionStatus.ERROR,
    feeds=("domain_metadata",),
)
async def extract_domain(business: LocalBusiness, tools: Tools) -> Outcome:
    """Find the business's own domain in its website; a profile elsewhere is a link."""
    if not business.website or not business.website.strip():
        return Done(nothing="the business has no website")
    try:
        url = parse_url(with_scheme(business.website.strip()))
    except InvalidUrl as error:
        return GiveUp(f"its website is no address: {error.why}")
    name = site_name(str(url))
    if name is None:
        what = NOT_THEIRS.get(kind_of_url(url).kind, "not its own")
        return Done(
            keep_link(business, str(url)), nothing=f"its website is {what}: {url.host}"
        )
    async with tools.reader.connect() as connection:
        guard = await look_up(connection, business.tenant_id, domains=[name])
    if guard.hides_domain(name):
        return Done(nothing="its domain is on the suppression list")
    return Done(store_domain(business, name, url, tools.system_user_id))


def with_scheme(website: str) -> str:
    """Read what people write for an address: the scheme is often left out."""
    return website if "://" in website else f"https://{website.lstrip('/')}"


def keep_link(business: LocalBusiness, url: str) -> Effect:
    """Keep a profile or booking page as a link of the business, once."""

    async def effect(transaction: Transaction) -> None:
        await transaction.execute(
            update(LocalBusiness)
            .where(
                LocalBusiness.id == business.id,
                ~LocalBusiness.links.contains([url]),
            )
            .values(links=func.array_append(LocalBusiness.links, url))
        )

    return effect


def store_domain(business: LocalBusiness, name: str, url: Url, user_id: UUID) -> Effect:
    """Store the domain, pending, once per tenant, and link the business to it."""

    async def effect(transaction: Transaction) -> None:
        guard = await shield(transaction.connection, business.tenant_id, domains=[name])
        if guard.hides_domain(name):
            return
        statement = insert(Domain).values(
            tenant_id=business.tenant_id,
            created_by=user_id,
            domain=name,
            home_url=f"{url.origin}/",
        )
        # The no-change update makes RETURNING give the row of an earlier business too.
        stored = await transaction.scalars(
            statement.on_conflict_do_update(
                index_elements=["tenant_id", "domain"],
                set_={"domain": statement.excluded.domain},
            ).returning(Domain.id)
        )
        await transaction.execute(
            update(LocalBusiness)
            .where(LocalBusiness.id == business.id)
            .values(domain_id=stored.one())
        )
        transaction.wake("domain_metadata")

    return effect
