"""WF2 - Deep scan: one selected place becomes a business."""

from datetime import timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, and_, case, select
from sqlalchemy.dialects.postgresql import Insert, insert

from curation_sdk import Done, Effect, Outcome, Transaction
from scrapersky.kit.clock import utc_now
from scrapersky.pipeline.declaration import Endings, Lane, StageJob, stage
from scrapersky.pipeline.rule_run import RuleRun, run_rules
from scrapersky.pipeline.search_budget import SearchBudget
from scrapersky.pipeline.stage_settings import SettingsSection, StageSettings
from scrapersky.pipeline.tools import Tools
from scrapersky.privacy.suppression_filter import suppressions
from scrapersky.providers.budget import Budget, LocalBudget
from scrapersky.providers.source import PlaceFacts
from scrapersky.records import LocalBusiness, Place, PlaceSearchHit
from scrapersky.records.place import DEEP_SCAN_QUEUE
from scrapersky.records.status import DomainExtractionStatus

MAX_AGE = timedelta(days=1)
"""Facts a search has just brought are not asked, and not paid, for again."""


@stage(
    "deep_scan",
    title="Deep scan",
    does="fetches every detail",
    queue=DEEP_SCAN_QUEUE,
    hands_over="a `local_businesses` row",
    makes=LocalBusiness,
    feeds=("domain_extraction",),
    lane=Lane.FIND,
    job=StageJob("process_deep_scan_queue", "Process Deep Scans"),
    settings=SettingsSection("DEEP_SCAN_SCHEDULER", StageSettings(interval_minutes=5)),
    endings=Endings(
        fails="the place is gone, no money for fresh facts",
        retries="source in trouble; a wrong or missing key pauses the stage",
    ),
)
async def scan_place(place: Place, tools: Tools) -> Outcome:
    """Take the place's details from its own source into a business."""
    facts = await facts_of(place, tools)
    return Done(store_business(place, facts, tools.system_user_id))


async def facts_of(place: Place, tools: Tools) -> PlaceFacts:
    """Read what the search stored while it is fresh, or ask the source anew."""
    source = tools.sources[place.source]
    if place.raw and place.seen_at and utc_now() - place.seen_at < MAX_AGE:
        return source.facts(place.raw)
    budget = await budget_of(place, tools)
    return await source.details(place.source_place_id, budget, raw=place.raw)


async def budget_of(place: Place, tools: Tools) -> Budget:
    """Pay out of the budget of the latest search that found the place, or not at all."""
    query = (
        select(PlaceSearchHit.search_id)
        .where(PlaceSearchHit.place_id == place.id)
        .order_by(PlaceSearchHit.found_at.desc())
        .limit(1)
    )
    async with tools.reader.connect() as connection:
        search_id = await connection.scalar(query)
    if search_id is None:
        return LocalBudget(cap=Decimal(0))
    return SearchBudget(tools.database, search_id)


def store_business(place: Place, facts: PlaceFacts, user_id: UUID) -> Effect:
    """Store the business; a re-scan updates facts, never a person's decision."""

    async def effect(transaction: Transaction) -> None:
        lent_until = facts.expires_at or place.expires_at
        row = {**columns_of(facts), "expires_at": lent_until}
        guard = await suppressions(transaction.connection, place.tenant_id, row)
        values = guard.clean(row)
        statement = insert(LocalBusiness).values(
            tenant_id=place.tenant_id, created_by=user_id, place_id=place.id, **values
        )
        stored = await transaction.scalars(
            statement.on_conflict_do_update(
                index_elements=["tenant_id", "place_id"],
                set_={**values, "domain_extraction_status": extraction_of(statement)},
            ).returning(LocalBusiness.id)
        )
        business = stored.one()
        transaction.wake("domain_extraction")
        run = RuleRun("businesses", "id", place.tenant_id, user_id, business)
        run_rules.add(transaction, run)

    return effect


def extraction_of(statement: Insert) -> ColumnElement[Any]:
    """Look for the domain of another website, where that of the one before was looked for."""
    status = LocalBusiness.domain_extraction_status
    ended = (DomainExtractionStatus.COMPLETED, DomainExtractionStatus.ERROR)
    is_other = LocalBusiness.website.is_distinct_from(statement.excluded.website)
    return case(
        (and_(status.in_(ended), is_other), DomainExtractionStatus.QUEUED),
        else_=status,
    )


def columns_of(facts: PlaceFacts) -> dict[str, Any]:
    """Write the facts as columns of a business."""
    attributes = dict(facts.attributes)
    if facts.emails:
        attributes["emails"] = list(facts.emails)
    if facts.phones:
        attributes["phones"] = list(facts.phones)
    if facts.business_status:
        attributes["business_status"] = facts.business_status.value
    return {
        "name": facts.name,
        "street": facts.street,
        "city": facts.city,
        "region": facts.region,
        "postal_code": facts.postal_code,
        "country": facts.country,
        "phone": facts.phone,
        "website": facts.website,
        "categories": list(facts.categories),
        "hours": facts.hours,
        "rating": facts.rating,
        "reviews_count": facts.reviews_count,
        "latitude": facts.latitude,
        "longitude": facts.longitude,
        "attributes": attributes,
        "links": list(facts.links),
    }
