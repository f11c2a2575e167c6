"""WF3 - Domain extraction: one selected business becomes a domain to look at."""

from uuid import UUID

from sqlalchemy import func, update
from sqlalchemy.dialects.postgresql import insert

from contact_extraction.errors import InvalidUrl
from contact_extraction.host_kind import HostKind, kind_of_url, site_name
from contact_extraction.urls import Url, parse_url
from curation_sdk import Done, Effect, GiveUp, Outcome, Transaction
from scrapersky.pipeline.declaration import Endings, Lane, StageJob, stage
from scrapersky.pipeline.stage_settings import SettingsSection, StageSettings
from scrapersky.pipeline.tools import Tools
from scrapersky.privacy.suppression_filter import look_up, suppressions
from scrapersky.records import Domain, LocalBusiness
from scrapersky.records.business import DOMAIN_EXTRACTION_QUEUE

NOT_THEIRS = {
    HostKind.SOCIAL: "a social profile",
    HostKind.DIRECTORY: "a page in a directory",
    HostKind.BOOKING: "a booking page",
    HostKind.LINK_PAGE: "a page of links",
    HostKind.PARKING: "a parked domain",
}


@stage(
    "domain_extraction",
    title="Domain extraction",
    does="finds the own domain",
    queue=DOMAIN_EXTRACTION_QUEUE,
    hands_over="a `domains` row, `pending`, linked to the business",
    makes=Domain,
    feeds=("domain_metadata",),
    lane=Lane.MAP,
    job=StageJob("process_domain_extraction_queue", "Process Domain Extractions"),
    settings=SettingsSection(
        "DOMAIN_EXTRACTION_SCHEDULER", StageSettings(interval_minutes=2, batch_size=20)
    ),
    endings=Endings(
        empty="`Completed`: no website, or a profile, directory, booking page",
        fails="the website is not an address",
    ),
)
async def extract_domain(business: LocalBusiness, tools: Tools) -> Outcome:
    """Find the business's own domain in its website; a profile elsewhere is a link."""
    if not business.website or not business.website.strip():
        return Done(empty_because="the business has no website")
    try:
        url = parse_url(with_scheme(business.website.strip()))
    except InvalidUrl as error:
        return GiveUp(f"its website is not an address: {error.why}")
    name = site_name(str(url))
    if name is None:
        what = NOT_THEIRS.get(kind_of_url(url).kind, "not its own")
        return Done(
            keep_link(business, str(url)),
            empty_because=f"its website is {what}: {url.host}",
        )
    async with tools.reader.connect() as connection:
        guard = await look_up(connection, business.tenant_id, domains=[name])
    if guard.hides_domain(name):
        return Done(empty_because="its domain is on the suppression list")
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
        guard = await suppressions(
            transaction.connection, business.tenant_id, domains=[name]
        )
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
