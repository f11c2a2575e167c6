"""What sales people begin with: their leads, the yield of searches, the next step."""

from collections.abc import Sequence
from dataclasses import asdict
from datetime import date, datetime
from typing import Annotated, Any, Final
from uuid import UUID

from fastapi import APIRouter, Query, Request
from pydantic import BaseModel, Field

from scrapersky.api.dependency import (
    ChunkedConnection,
    Curator,
    Reader,
    Transaction,
    actor_of,
)
from scrapersky.api.field import RecordIds
from scrapersky.api.records.decide import selection_of
from scrapersky.api.records.detail import record_of
from scrapersky.api.records.router import BASE, address_of
from scrapersky.api.records.schema import LONGEST_WORDS
from scrapersky.api.records.timeline import TimelineOut, timeline_of
from scrapersky.api.schema import NOT_FOUND, REFUSALS, RequestModel
from scrapersky.curation.condition import Conditions
from scrapersky.curation.contact_search import (
    ContactSearch,
    find_contacts,
    of_search,
    places_of,
)
from scrapersky.records.company import COMPANIES
from scrapersky.records.place_search import SEARCHES
from scrapersky.reporting.lead import (
    COUNTED_LEADS,
    SearchFunnel,
    funnels_of,
    latest_searches,
    lead_counts,
    my_leads,
    work_by_week,
)

SEARCHES_SHOWN: Final = 10
MOST_FUNNELS: Final = 50
MOST_WEEKS: Final = 53

router = APIRouter(tags=["records"])


class FunnelOut(BaseModel):
    """How much of what a search found came how far, step by step."""

    search_id: UUID
    places: int
    companies: int
    websites: int = Field(description="Companies with a website.")
    emails: int = Field(description="Companies with an e-mail address.")
    named_people: int = Field(description="Companies with a named person's address.")
    contacted: int = Field(description="Contacted, replied, won or lost.")
    won: int


class FunnelsAsked(RequestModel):
    """Of which searches."""

    search_id: list[UUID] = Field(min_length=1, max_length=MOST_FUNNELS)


class SearchYield(BaseModel):
    """A search and what it brought."""

    id: UUID
    business_type: str
    location: str | None
    source: str
    status: str
    created_at: datetime
    funnel: FunnelOut


class HomeOut(BaseModel):
    """What waits for a person who sells; counts end at ten thousand."""

    mine: dict[str, int] = Field(description="Leads assigned to the caller, by status.")
    new_this_week: int
    follow_ups_due: int
    my_follow_ups_due: int
    unassigned: int
    counted_to: int = COUNTED_LEADS
    searches: list[SearchYield] = Field(description="The latest ten.")


class WorkAsked(RequestModel):
    """How many weeks, this one included."""

    weeks: int = Field(12, ge=1, le=MOST_WEEKS)


class WeekOut(BaseModel):
    """Whom one person contacted and won in a week.

    A lead counts by its status now, as in the funnels: once, in the week in which somebody
    brought it that far. What came from a CRM is nobody's.
    """

    week: date = Field(description="Its Monday.")
    user_id: UUID | None
    person: str | None
    contacted: int = Field(
        description="Companies that became contacted, replied, won or lost."
    )
    replied: int = Field(description="Those that replied or were won.")
    won: int


class CompaniesIn(RequestModel):
    """Which companies: these ids, or all that a list would show."""

    ids: RecordIds | None = None
    filter: Conditions | None = None
    q: str | None = Field(None, max_length=LONGEST_WORDS)


class ContactSearchOut(BaseModel):
    """What was begun."""

    selected: int = Field(description="Places that are on their way now.")
    queued: int
    action_id: UUID | None = Field(description="The handle to undo it by.")
    rules: list[str] = Field(
        description="Rules that were added, so that no step waits for a person."
    )


@router.get(
    f"{BASE}/home",
    operation_id="read_home",
    summary="Read what waits for you",
    responses=REFUSALS,
)
async def read_home(who: Reader, connection: Transaction) -> HomeOut:
    """Report your leads, what is new and due, and what the latest searches brought."""
    counts = await lead_counts(connection, who.tenant_id, who.user_id)
    rows = await latest_searches(connection, who.tenant_id, SEARCHES_SHOWN)
    return HomeOut(
        mine=await my_leads(connection, who.tenant_id, who.user_id),
        **counts,
        searches=await yields(connection, who.tenant_id, rows),
    )


async def yields(
    connection: Transaction, tenant_id: UUID, rows: Sequence[Any]
) -> list[SearchYield]:
    """Put searches and their yield together."""
    funnels = await funnels_of(connection, tenant_id, [row.id for row in rows])
    return [
        SearchYield(**row._asdict(), funnel=funnel_out(funnels[row.id])) for row in rows
    ]


def funnel_out(found: SearchFunnel) -> FunnelOut:
    """Write a funnel."""
    return FunnelOut(**asdict(found))


@router.get(
    f"{BASE}/reports/funnels",
    operation_id="read_funnels",
    summary="Read what searches brought",
    responses=REFUSALS,
)
async def read_funnels(
    who: Reader, connection: Transaction, asked: Annotated[FunnelsAsked, Query()]
) -> list[FunnelOut]:
    """Report for each search how many places, websites, addresses, people and deals."""
    found = await funnels_of(connection, who.tenant_id, asked.search_id)
    return [funnel_out(found[one]) for one in asked.search_id if one in found]


@router.get(
    f"{BASE}/reports/work",
    operation_id="read_work",
    summary="Read whom people contacted and won",
    responses=REFUSALS,
)
async def read_work(
    who: Reader, connection: Transaction, asked: Annotated[WorkAsked, Query()]
) -> list[WeekOut]:
    """Report per person and week how many companies they contacted and won.

    A company that was won at once was contacted, too.
    """
    found = await work_by_week(connection, who.tenant_id, asked.weeks)
    return [WeekOut(**asdict(one)) for one in found]


@router.get(
    f"{address_of(COMPANIES)}/{{record_id}}/timeline",
    operation_id="read_company_timeline",
    summary="Read what happened to a company",
    responses=REFUSALS | NOT_FOUND,
)
async def read_timeline(
    who: Reader,
    connection: Transaction,
    record_id: UUID,
) -> TimelineOut:
    """Report when a company was found, confirmed, contacted, changed; the latest first."""
    row = await record_of(connection, COMPANIES, record_id)
    return await timeline_of(connection, who.tenant_id, row)


@router.post(
    f"{address_of(SEARCHES)}/{{record_id}}/find-contacts",
    operation_id="find_contacts_of_search",
    summary="Find the contacts of what a search found",
    responses=REFUSALS | NOT_FOUND,
)
async def find_of_search(
    request: Request, who: Curator, connection: ChunkedConnection, record_id: UUID
) -> ContactSearchOut:
    """Select every place of a search that nobody has decided about.

    Rules that are missing are added, so that businesses and sitemaps follow by themselves.
    """
    await record_of(connection, SEARCHES, record_id)
    done = await find_contacts(connection, actor_of(who, request), of_search(record_id))
    return search_out(done)


@router.post(
    f"{address_of(COMPANIES)}/find-contacts",
    operation_id="find_contacts_of_companies",
    summary="Find the contacts of companies",
    responses=REFUSALS,
)
async def find_of_companies(
    request: Request, who: Curator, connection: ChunkedConnection, asked: CompaniesIn
) -> ContactSearchOut:
    """Select the places of companies, as if each had been selected by hand."""
    actor = actor_of(who, request)
    companies = selection_of(asked, who.user_id)
    places = await places_of(connection, actor, companies)
    return search_out(await find_contacts(connection, actor, places))


def search_out(done: ContactSearch) -> ContactSearchOut:
    """Report what was begun."""
    return ContactSearchOut(
        selected=done.selected,
        queued=done.queued,
        action_id=done.action_id,
        rules=[*done.rules],
    )
