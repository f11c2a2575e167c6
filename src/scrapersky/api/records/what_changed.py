"""What changed: new, changed, gone, moved, renamed, closed or unreachable, with its sources."""

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import APIRouter, Query
from pydantic import AwareDatetime, BaseModel, ConfigDict, Field
from sqlalchemy.ext.asyncio import AsyncConnection

from scrapersky.api.auth.identity import Identity
from scrapersky.api.dependency import Reader, Transaction
from scrapersky.api.records.detail import record_of
from scrapersky.api.records.router import address_of
from scrapersky.api.schema import NOT_FOUND, REFUSALS, ListOut, RequestModel
from scrapersky.api.time_list import PageAsked, PageRequest, read_latest
from scrapersky.kit.clock import utc_now
from scrapersky.records import Difference
from scrapersky.records.difference import DifferenceType
from scrapersky.records.place_search import SEARCHES
from scrapersky.revisits.reading import (
    count_differences,
    differences,
    last_look,
    note_look,
)
from scrapersky.settings import SYSTEM_USER_ID

PATH = "/api/v3/whats-changed"
Since = Annotated[
    AwareDatetime | Literal["last-look"] | None,
    Query(
        description="A time, or `last-look`: since the caller last said that they had looked."
    ),
]

router = APIRouter(tags=["records"])


class DifferenceOut(BaseModel):
    """One value, or one record, that is not what it was."""

    model_config = ConfigDict(from_attributes=True)

    id: UUID
    at: datetime = Field(validation_alias="created_at")
    what: DifferenceType
    field: str | None = Field(
        description="Null where it is about the whole record.", examples=["phone"]
    )
    old_value: str | None
    new_value: str | None
    old_source: str | None = Field(
        description="The page, or the source of places, that had said so."
    )
    new_source: str | None
    old_seen_at: datetime | None
    company_id: UUID | None
    company_name: str | None
    place_id: UUID | None
    place_name: str | None
    domain_id: UUID | None
    domain: str | None
    contact_id: UUID | None
    person_id: UUID | None
    run_id: UUID | None = Field(description="The run of a search that found it out.")


class DifferencesOut(ListOut[DifferenceOut]):
    """What differs, the latest first."""

    counts: dict[str, int] = Field(
        description="How much there is of each kind, up to ten thousand in all."
    )
    looked_at: datetime | None = Field(
        description="Until when the caller has seen everything."
    )


class LookIn(RequestModel):
    """Until when everything was seen."""

    at: AwareDatetime | None = Field(
        None, description="The time of the last that was shown; without it now."
    )


class LookOut(BaseModel):
    """Until when the caller has seen everything."""

    looked_at: datetime | None


@router.get(
    PATH,
    operation_id="list_differences",
    summary="What changed",
    responses=REFUSALS,
)
async def list_differences(
    *,
    who: Reader,
    connection: Transaction,
    page: PageAsked,
    since: Since = None,
    what: DifferenceType | None = None,
    company_id: UUID | None = None,
) -> DifferencesOut:
    """List what differs on maps and websites from what was known before.

    A website that does not answer is `unreachable`, and what it said stays. A value that
    is another on every visit is not listed each time.
    """
    looked_at = await last_look(connection, who.tenant_id, looker(who))
    given = looked_at if since == "last-look" else since
    query = differences(who.tenant_id, what=what, company_id=company_id, since=given)
    scope = ["differences", str(who.tenant_id), what, str(company_id), str(given)]
    return await answer(connection, query, page, scope, looked_at)


@router.get(
    f"{address_of(SEARCHES)}/{{record_id}}/differences",
    operation_id="list_search_differences",
    summary="What changed of a search",
    responses=REFUSALS | NOT_FOUND,
)
async def list_search_differences(
    *,
    who: Reader,
    connection: Transaction,
    page: PageAsked,
    record_id: UUID,
    since: Since = None,
    what: DifferenceType | None = None,
    run_id: UUID | None = None,
) -> DifferencesOut:
    """List what differs of everything that a search and its runs have found."""
    row = await record_of(connection, SEARCHES, record_id)
    origin = row.repeats_id or row.id
    looked_at = await last_look(connection, who.tenant_id, looker(who))
    given = looked_at if since == "last-look" else since
    query = differences(
        who.tenant_id, search_id=origin, run_id=run_id, what=what, since=given
    )
    scope = ["differences", str(origin), what, str(run_id), str(given)]
    return await answer(connection, query, page, scope, looked_at)


@router.post(
    f"{PATH}/looked",
    operation_id="note_look",
    summary="Say that one has looked",
    responses=REFUSALS,
)
async def look(
    who: Reader, connection: Transaction, given: LookIn | None = None
) -> LookOut:
    """Keep until when the caller has seen what changed."""
    at = (given.at if given else None) or utc_now()
    await note_look(connection, who.tenant_id, looker(who), at)
    return LookOut(looked_at=await last_look(connection, who.tenant_id, looker(who)))


def looker(who: Identity) -> UUID:
    """Return who looks; without accounts there is one for all who sit at this machine."""
    return who.user_id or SYSTEM_USER_ID


async def answer(
    connection: AsyncConnection,
    query: Any,  # noqa: ANN401 - a query
    page: PageRequest,
    scope: list[Any],
    looked_at: datetime | None,
) -> DifferencesOut:
    """Answer with one page, and how much there is of each kind."""
    found = await read_latest(
        connection,
        query,
        Difference.created_at,
        Difference.id,
        scope=scope,
        page=page,
    )
    return DifferencesOut(
        items=[DifferenceOut.model_validate(row) for row in found.rows],
        next_cursor=found.next_cursor,
        total=found.total,
        counts=await count_differences(connection, query),
        looked_at=looked_at,
    )
