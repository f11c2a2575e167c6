"""Searches for places: what they will cost, how far they are, how to steer them."""

from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal
from typing import Any, Final, Literal
from uuid import UUID

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, ConfigDict, Field
from sqlalchemy import Row, insert, update
from sqlalchemy.ext.asyncio import AsyncConnection

import curation_sdk
from curation_sdk.control import forget
from scrapersky.api.auth.identity import Identity
from scrapersky.api.dependency import (
    ChunkedConnection,
    Curator,
    Reader,
    Transaction,
    actor_of,
)
from scrapersky.api.field import Amount, AreaIn
from scrapersky.api.records.detail import answer_with, record_of
from scrapersky.api.records.router import address_of
from scrapersky.api.records.schema import Detail, record_model
from scrapersky.api.records.search_change import ASKED, SearchChanges, changes_of
from scrapersky.api.records.source import FILES, sources_of
from scrapersky.api.schema import CONFLICT, NOT_FOUND, REFUSALS, RequestModel
from scrapersky.api.tenancy import BULK_TIMEOUT, statement_timeout
from scrapersky.api.title import Words
from scrapersky.curation.lead_import import import_action
from scrapersky.curation.undo import undo
from scrapersky.errors import BadPlaceQuery, NotAllowed, RecordConflict
from scrapersky.providers.source import PAID, Estimate, PlaceQuery
from scrapersky.records import PlaceSearch
from scrapersky.records.audit import Actor, note
from scrapersky.records.place_search import SEARCHES
from scrapersky.records.status import TaskStatus
from scrapersky.reporting.search_end import progress_of
from scrapersky.revisits.schedule import begin_run

PATH = address_of(SEARCHES)
STAGE: Final = "place_search"

router = APIRouter(tags=["records"])
SearchOut = record_model(SEARCHES)


class SearchIn(RequestModel):
    """What to look for, where, in which source."""

    business_type: Words = Field("", examples=["dentists"])
    location: Words | None = Field(None, examples=["Austin, TX"])
    area: AreaIn | None = Field(
        None,
        description="A `box` [south, west, north, east], a `circle` [latitude, longitude, "
        "metres] or a `polygon` of rings of [latitude, longitude]; beats `location`.",
        examples=[{"circle": [30.27, -97.74, 5000]}],
    )
    radius_m: int | None = Field(None, ge=1, le=200_000)
    source: str = Field("osm", max_length=50)
    budget: Amount | None = Field(None, description="US dollars.")
    limit: int | None = Field(None, ge=1, le=1_000_000)
    language: str | None = Field(None, max_length=20)
    region: str | None = Field(None, pattern="^[A-Za-z]{2}$")
    service_areas: bool = True
    file: str | None = Field(None, max_length=255)
    dataset: Words | None = None
    licence: Words | None = None

    def query(self) -> PlaceQuery:
        """Return the list_query as sources take it, or raise BadPlaceQuery."""
        asked = self.model_dump(
            exclude={"source", "budget"}, exclude_none=True, exclude_defaults=True
        )
        if not (self.location or self.area or self.file):
            raise BadPlaceQuery(self.source, "enter a place")
        return PlaceQuery.from_json(asked)


class EstimateOut(BaseModel):
    """What a search will take, said before anything is spent; null: nobody can know."""

    requests_low: int
    requests_likely: int | None
    requests_high: int | None
    price_low: Decimal
    price_likely: Decimal | None
    price_high: Decimal | None
    free_requests: int | None
    currency: str
    is_exact: bool
    notes: list[str]


class StageCountOut(BaseModel):
    """Records of one stage that a search has led to."""

    model_config = ConfigDict(from_attributes=True)

    stage: str
    queued: int
    working: int
    done: int
    failed: int


class UndecidedOut(BaseModel):
    """Records that wait for a person."""

    model_config = ConfigDict(from_attributes=True)

    kind: str
    records: int


class SearchProgressOut(BaseModel):
    """How far a search is, with everything that it found."""

    model_config = ConfigDict(from_attributes=True)

    state: Literal["searching", "following", "undecided", "finished", "stopped"] = (
        Field(
            description="`searching`: places are still found. `following`: stages work on "
            "them. `undecided`: only people can go on. `finished`: all of it was followed to "
            "contacts. `stopped`: it failed, was paused or cancelled."
        )
    )
    open: int = Field(description="Records that stages still have to work on.")
    stages: list[StageCountOut]
    undecided: list[UndecidedOut] = Field(
        description="What somebody has to select, of what would be followed."
    )
    estimated_end_at: datetime | None = Field(
        description="At the pace of the last five minutes, for what is known now."
    )
    followed_at: datetime | None = Field(
        description="When it was finished first; the event `search.finished` tells it."
    )
    error: str | None = Field(description="Why it stopped, if it failed.")


class SearchDetail(Detail[SearchOut]):  # type: ignore[valid-type]
    """One search, with what has changed since the last one like it."""

    changes: SearchChanges


class SearchBudgetIn(RequestModel):
    """How much more a search may spend when it goes on."""

    budget: Amount | None = None


@router.post(
    f"{PATH}/estimate",
    operation_id="estimate_search",
    summary="Estimate a search",
    responses=REFUSALS,
)
async def estimate_search(
    request: Request, who: Curator, asked: SearchIn
) -> EstimateOut:
    """Say how many requests a search will take and what they cost; asks nobody."""
    require_own_files(who, asked)
    found = await sources_of(request)[asked.source].estimate(asked.query())
    return estimate_out(found)


def estimate_out(found: Estimate) -> EstimateOut:
    """Write an estimate."""
    return EstimateOut(
        requests_low=found.requests_low,
        requests_likely=found.requests_likely,
        requests_high=found.requests_high,
        price_low=found.price_low,
        price_likely=found.price_likely,
        price_high=found.price_high,
        free_requests=found.free_requests,
        currency=found.currency,
        is_exact=found.is_exact,
        notes=list(found.assumes),
    )


def require_own_files(who: Identity, asked: SearchIn) -> None:
    """Raise unless the caller may read the files of this installation."""
    if (asked.source == FILES or asked.file) and not who.is_operator:
        raise NotAllowed(
            "Files on the server are read for its operator only.",
            hint="Search another source, or ask the operator to import the file.",
        )


@router.post(
    PATH,
    operation_id="create_search",
    summary="Search for places",
    status_code=201,
    response_model=SearchDetail,
    responses=REFUSALS,
)
async def create_search(
    request: Request,
    who: Curator,
    connection: Transaction,
    asked: SearchIn,
) -> Any:  # noqa: ANN401 - the response model has the type
    """Queue a search; it stops for good where its budget ends."""
    require_own_files(who, asked)
    # Asks whether the source is there and understands the list_query, before it is kept.
    await sources_of(request)[asked.source].estimate(asked.query())
    if asked.source in PAID and asked.budget is None:
        raise BadPlaceQuery(asked.source, "this source costs money: set a budget")
    values = row_of(asked)
    search_id = await queue_search(connection, actor_of(who, request), values)
    return await answer_search(connection, search_id, status=201)


def row_of(asked: SearchIn) -> dict[str, Any]:
    """Write a search as its row."""
    query = asked.query().to_json()
    own = {name: query.pop(name, None) for name in ASKED}
    own["business_type"] = own["business_type"] or ""
    own["radius_m"] = asked.radius_m
    defaults = PlaceQuery().to_json()
    params = {
        name: value for name, value in query.items() if value != defaults.get(name)
    }
    return {**own, "params": params, "source": asked.source, "budget": asked.budget}


async def queue_search(
    connection: AsyncConnection, actor: Actor, values: Mapping[str, Any]
) -> UUID:
    """Store a search as queued, and wake whoever works on it."""
    made = await connection.execute(
        insert(PlaceSearch)
        .values(tenant_id=actor.tenant_id, created_by=actor.user_id, **values)
        .returning(PlaceSearch.id)
    )
    search_id = UUID(str(made.scalar_one()))
    await note(connection, actor, "searched", "searches", record_id=search_id)
    await curation_sdk.control.wake(connection, STAGE)
    return search_id


async def answer_search(
    connection: AsyncConnection, search_id: UUID, *, status: int = 200
) -> Response:
    """Answer with a search as it is now."""
    row = await record_of(connection, SEARCHES, search_id)
    changes = await changes_of(connection, row)
    more = {"changes": changes.model_dump()}
    return await answer_with(connection, SEARCHES, row, more, status=status)


@router.get(
    f"{PATH}/{{record_id}}",
    operation_id="read_search",
    summary="Read one search",
    response_model=SearchDetail,
    responses=REFUSALS | NOT_FOUND,
)
async def read_search(
    who: Reader,  # noqa: ARG001 - checked
    connection: Transaction,
    record_id: UUID,
) -> Any:  # noqa: ANN401 - the response model has the type
    """Read a search: progress, coverage, and what changed since the one before."""
    return await answer_search(connection, record_id)


@router.get(
    f"{PATH}/{{record_id}}/progress",
    operation_id="read_search_progress",
    summary="How far a search is",
    responses=REFUSALS | NOT_FOUND,
)
async def read_search_progress(
    who: Reader,  # noqa: ARG001 - checked
    connection: Transaction,
    record_id: UUID,
) -> SearchProgressOut:
    """Say how far what a search found has been followed to contacts, and what waits for whom."""
    row = await record_of(connection, SEARCHES, record_id)
    async with statement_timeout(BULK_TIMEOUT, connection):
        return SearchProgressOut.model_validate(await progress_of(connection, row))


@router.post(
    f"{PATH}/{{record_id}}/rerun",
    operation_id="rerun_search",
    summary="Run a search again",
    status_code=201,
    response_model=SearchDetail,
    responses=REFUSALS | NOT_FOUND,
)
async def rerun_search(
    request: Request,
    who: Curator,
    connection: Transaction,
    record_id: UUID,
) -> Any:  # noqa: ANN401 - the response model has the type
    """Ask the same again; the answer says what is new, changed and gone."""
    row = await record_of(connection, SEARCHES, record_id)
    actor = actor_of(who, request)
    search_id = await begin_run(connection, actor, record_id, budget=row.budget)
    return await answer_search(connection, search_id, status=201)


Step = Literal["cancel", "pause", "resume"]
STEPS: Final[Mapping[str, tuple[tuple[TaskStatus, ...], TaskStatus]]] = {
    "cancel": (
        (TaskStatus.QUEUED, TaskStatus.IN_PROGRESS, TaskStatus.PAUSED,
         TaskStatus.MANUAL_REVIEW),
        TaskStatus.CANCELLED,
    ),
    "pause": ((TaskStatus.QUEUED, TaskStatus.IN_PROGRESS), TaskStatus.PAUSED),
    "resume": (
        (TaskStatus.PAUSED, TaskStatus.ERROR, TaskStatus.CANCELLED,
         TaskStatus.MANUAL_REVIEW),
        TaskStatus.QUEUED,
    ),
}  # fmt: skip
"""From which statuses each step leads, and where to."""
DONE: Final = {"cancel": "cancelled", "pause": "paused", "resume": "resumed"}


@router.post(
    f"{PATH}/{{record_id}}/{{step}}",
    operation_id="steer_search",
    summary="Cancel, pause or resume a search",
    response_model=SearchDetail,
    responses=REFUSALS | NOT_FOUND | CONFLICT,
)
async def steer_search(
    request: Request,
    *,
    who: Curator,
    connection: ChunkedConnection,
    record_id: UUID,
    step: Step,
    asked: SearchBudgetIn | None = None,
) -> Any:  # noqa: ANN401 - the response model has the type
    """Stop a search for good or for now, or let it go on where it stopped.

    What was found is kept. `resume` takes a larger `budget` for one that ran out of it.
    """
    budget = asked.budget if asked else None
    row = await record_of(connection, SEARCHES, record_id)
    await turn(connection, row, step, budget)
    actor = actor_of(who, request)
    await note(connection, actor, DONE[step], "searches", record_id=record_id)
    if step == "resume":
        await curation_sdk.control.wake(connection, STAGE)
    if step == "cancel" and row.source == FILES:
        # Of an import that was cancelled nothing is left.
        imported = await import_action(connection, actor.tenant_id, record_id)
        if imported is not None and imported.undone_at is None:
            async with statement_timeout(BULK_TIMEOUT, connection):
                await undo(connection, actor, imported.id)
    return await answer_search(connection, record_id)


async def turn(
    connection: AsyncConnection, row: Row[Any], step: str, budget: Decimal | None
) -> None:
    """Give a search another status; whoever works on it loses its claim and stops."""
    before, after = STEPS[step]
    values: dict[str, Any] = {"status": after}
    if step == "resume":
        values["error"] = None
        if budget is not None:
            values["budget"] = budget
    done = await connection.execute(
        update(PlaceSearch)
        .where(PlaceSearch.id == row.id, PlaceSearch.status.in_(before))
        .values(values)
        .returning(PlaceSearch.id)
    )
    if done.one_or_none() is None:
        raise RecordConflict(
            f"The search is {row.status.value}; it cannot {step} from there.",
            hint=f"From: {', '.join(status.value for status in before)}.",
        )
    await forget(connection, STAGE, row.id)
