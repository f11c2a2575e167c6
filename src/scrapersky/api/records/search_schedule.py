"""Searches that are repeated: how often, for how much, and what that will cost."""

from datetime import datetime
from decimal import Decimal
from typing import Any, Final
from uuid import UUID

from fastapi import APIRouter, Request
from pydantic import AwareDatetime, BaseModel, ConfigDict, Field
from sqlalchemy import Row, func, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from scrapersky.api.dependency import Curator, Reader, Transaction, actor_of
from scrapersky.api.field import Amount
from scrapersky.api.records.detail import record_of
from scrapersky.api.records.router import address_of
from scrapersky.api.records.search import EstimateOut, estimate_out
from scrapersky.api.records.source import FILES, sources_of
from scrapersky.api.schema import NOT_FOUND, REFUSALS, RequestModel
from scrapersky.errors import NotAllowed, SourceUnavailable, UnknownRecord
from scrapersky.kit.clock import utc_now
from scrapersky.records import PlaceSearch, SearchSchedule
from scrapersky.records.audit import note
from scrapersky.records.place_search import SEARCHES
from scrapersky.records.search_schedule import Repetition
from scrapersky.revisits.schedule import keep_schedule
from scrapersky.revisits.visit import HURRY
from scrapersky.stages.wf1_place_search import query_of

PATH = f"{address_of(SEARCHES)}/{{record_id}}/schedule"
RUNS_A_MONTH: Final = {
    Repetition.DAILY: 31,
    Repetition.WEEKLY: 5,
    Repetition.MONTHLY: 1,
}
"""At the most."""
MOST_RUNS: Final = 20

router = APIRouter(tags=["records"])


class ScheduleIn(RequestModel):
    """How often a search is run, and for how much."""

    every: Repetition
    budget: Amount | None = Field(
        None, description="US dollars that one run may cost; a run stops there."
    )
    is_paused: bool = False
    has_digest: bool = Field(
        default=False,
        description="Log `search.digest` once a day, with how much differed since the "
        "one before: webhooks that subscribe to it receive it.",
    )
    next_run_at: AwareDatetime | None = Field(
        None, description="When first; without it one interval from now."
    )


class SearchRun(BaseModel):
    """One run of a search."""

    model_config = ConfigDict(from_attributes=True)

    id: UUID
    status: str
    created_at: datetime
    finished_at: datetime | None
    found_count: int
    new_count: int
    spent: Decimal


class ScheduleOut(BaseModel):
    """When a search is run, what its runs have come to, and what the next one will cost."""

    search_id: UUID
    is_scheduled: bool
    every: Repetition | None
    budget: Decimal | None
    is_paused: bool
    has_digest: bool
    next_run_at: datetime | None
    last_run_at: datetime | None
    problem: str | None = Field(
        description="Why the last run that was due has not begun."
    )
    estimate: EstimateOut | None = Field(
        description="What one run will take; null while its source cannot be asked."
    )
    unavailable: str | None = Field(description="Why its source cannot be asked.")
    most_a_month: Decimal | None = Field(
        description="US dollars that the runs of a month may cost at the most."
    )
    spent: Decimal = Field(description="US dollars that all its runs have cost.")
    runs: list[SearchRun] = Field(description=f"The latest first, {MOST_RUNS} at most.")


@router.get(
    PATH,
    operation_id="read_schedule",
    summary="Read the schedule of a search",
    responses=REFUSALS | NOT_FOUND,
)
async def read_schedule(
    request: Request,
    who: Reader,  # noqa: ARG001 - checked
    connection: Transaction,
    record_id: UUID,
) -> ScheduleOut:
    """Say when a search is run again, and what a run will cost; asks no source."""
    return await schedule_out(
        request, connection, await origin_of(connection, record_id)
    )


@router.put(
    PATH,
    operation_id="put_schedule",
    summary="Run a search again and again",
    responses=REFUSALS | NOT_FOUND,
)
async def put_schedule(
    *,
    request: Request,
    who: Curator,
    connection: Transaction,
    record_id: UUID,
    given: ScheduleIn,
) -> ScheduleOut:
    """Run a search every day, week or month, or pause that; its websites are visited too.

    What costs money needs a budget, and no run goes beyond it.
    """
    search = await origin_of(connection, record_id)
    if search.source == FILES and not who.is_operator:
        raise NotAllowed("Files on the server are read for its operator only.")
    actor = actor_of(who, request)
    await keep_schedule(
        connection,
        actor,
        search,
        given.every,
        budget=given.budget,
        is_paused=given.is_paused,
        has_digest=given.has_digest,
        next_run_at=given.next_run_at,
    )
    await note(connection, actor, "scheduled", "searches", record_id=search.id)
    return await schedule_out(request, connection, search)


@router.delete(
    PATH,
    operation_id="delete_schedule",
    summary="Run a search no more",
    status_code=204,
    responses=REFUSALS | NOT_FOUND,
)
async def delete_schedule(
    request: Request, who: Curator, connection: Transaction, record_id: UUID
) -> None:
    """Forget when a search is run; its runs and what they found stay."""
    search = await origin_of(connection, record_id)
    actor = actor_of(who, request)
    await keep_schedule(connection, actor, search, None)
    await note(connection, actor, "unscheduled", "searches", record_id=search.id)


@router.post(
    f"{PATH}/run",
    operation_id="run_schedule_now",
    summary="Run a scheduled search now",
    responses=REFUSALS | NOT_FOUND,
)
async def run_now(
    request: Request, who: Curator, connection: Transaction, record_id: UUID
) -> ScheduleOut:
    """Let the next run, and a visit to every website of the search, begin within a minute."""
    search = await origin_of(connection, record_id)
    changed = await connection.execute(
        update(SearchSchedule)
        .where(SearchSchedule.search_id == search.id)
        .values(next_run_at=utc_now(), is_paused=False)
    )
    if not changed.rowcount:
        raise UnknownRecord(
            "The search has no schedule.", hint="Give it one with PUT first."
        )
    await connection.execute(HURRY, {"search": search.id})
    actor = actor_of(who, request)
    await note(connection, actor, "run", "searches", record_id=search.id)
    return await schedule_out(request, connection, search)


async def origin_of(connection: AsyncConnection, record_id: UUID) -> Row[Any]:
    """Return a search, or the one of which it is a run."""
    row = await record_of(connection, SEARCHES, record_id)
    if row.repeats_id is None:
        return row
    return await record_of(connection, SEARCHES, row.repeats_id)


async def schedule_out(
    request: Request, connection: AsyncConnection, search: Row[Any]
) -> ScheduleOut:
    """Answer with a schedule as it is now."""
    query = select(SearchSchedule).where(SearchSchedule.search_id == search.id)
    row = (await connection.execute(query)).one_or_none()
    runs = (PlaceSearch.id == search.id) | (PlaceSearch.repeats_id == search.id)
    latest = (
        select(PlaceSearch)
        .where(runs)
        .order_by(PlaceSearch.created_at.desc(), PlaceSearch.id)
        .limit(MOST_RUNS)
    )
    spent = await connection.scalar(select(func.sum(PlaceSearch.spent)).where(runs))
    estimate, unavailable = None, None
    try:
        source = sources_of(request)[search.source]
    except SourceUnavailable as error:
        # Without its key a search still has a schedule that somebody wants to pause.
        unavailable = error.why
    else:
        estimate = estimate_out(await source.estimate(query_of(search)))
    most = None
    if row is not None and row.budget is not None:
        most = row.budget * RUNS_A_MONTH[Repetition(row.every)]
    return ScheduleOut(
        search_id=search.id,
        is_scheduled=row is not None,
        every=Repetition(row.every) if row else None,
        budget=row.budget if row else None,
        is_paused=bool(row and row.is_paused),
        has_digest=bool(row and row.has_digest),
        next_run_at=row.next_run_at if row else None,
        last_run_at=row.last_run_at if row else None,
        problem=row.problem if row else None,
        estimate=estimate,
        unavailable=unavailable,
        most_a_month=most,
        spent=spent or Decimal(0),
        runs=[
            SearchRun.model_validate(one) for one in await connection.execute(latest)
        ],
    )
