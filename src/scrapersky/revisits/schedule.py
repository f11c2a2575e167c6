"""Begin the runs of searches that are due: each once, whoever finds it first."""

from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any, Final
from uuid import UUID

from sqlalchemy import Row, case, delete, func, insert, select, update
from sqlalchemy.dialects.postgresql import insert as upsert
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

import curation_sdk
from scrapersky.db.transaction import run_in_transaction
from scrapersky.errors import BadPlaceQuery
from scrapersky.kit.clock import utc_now
from scrapersky.providers.source import PAID
from scrapersky.records import PlaceSearch, SearchSchedule
from scrapersky.records.audit import Actor, note
from scrapersky.records.search_schedule import Repetition
from scrapersky.records.status import TaskStatus
from scrapersky.revisits.digest import note_digests
from scrapersky.revisits.rhythm import run_after
from scrapersky.revisits.visit import begin_due_visits, follow

MOST_RUNS: Final = 50
STAGE: Final = "place_search"
SCHEDULER: Final = "the schedule"
STILL_RUNNING: Final = "the run before is not over"
ASKED: Final = ("business_type", "location", "radius_m", "area", "source", "params")
"""What a run asks as the search did that it repeats."""
DIGEST_BEGINS: Final = func.statement_timestamp()
OPEN: Final = (TaskStatus.QUEUED, TaskStatus.IN_PROGRESS, TaskStatus.PAUSED)


async def begin_due(engine: AsyncEngine) -> int:
    """Begin the runs and visits that are due, log digests; return how many runs have begun."""
    begun = await run_in_transaction(engine, begin_due_runs)
    await run_in_transaction(engine, note_digests)
    await begin_due_visits(engine)
    return begun


async def begin_due_runs(connection: AsyncConnection) -> int:
    """Begin the runs that are due; rows that another process holds are its own work."""
    query = (
        select(SearchSchedule)
        .where(
            ~SearchSchedule.is_paused,
            SearchSchedule.next_run_at <= func.statement_timestamp(),
        )
        .order_by(SearchSchedule.next_run_at)
        .limit(MOST_RUNS)
        .with_for_update(skip_locked=True)
    )
    due = (await connection.execute(query)).all()
    begun = [await begin_if_free(connection, row) for row in due]
    await follow(connection, [row.id for row in due])
    return sum(begun)


async def begin_if_free(connection: AsyncConnection, schedule: Row[Any]) -> bool:
    """Begin a run, unless the one before is still at it; put the next one down."""
    values: dict[str, Any] = {
        "next_run_at": run_after(
            schedule.next_run_at, Repetition(schedule.every), utc_now()
        )
    }
    if is_free := not await is_running(connection, schedule.last_run_id):
        actor = Actor(schedule.tenant_id, schedule.created_by, SCHEDULER)
        values["last_run_at"] = func.clock_timestamp()
        values["last_run_id"] = await begin_run(
            connection, actor, schedule.search_id, budget=schedule.budget
        )
    values["problem"] = None if is_free else STILL_RUNNING
    await connection.execute(
        update(SearchSchedule).where(SearchSchedule.id == schedule.id).values(values)
    )
    return is_free


async def keep_schedule(
    connection: AsyncConnection,
    actor: Actor,
    search: Any,  # noqa: ANN401 - a row of a search
    every: Repetition | None,
    *,
    budget: Decimal | None = None,
    is_paused: bool = False,
    has_digest: bool = False,
    next_run_at: datetime | None = None,
) -> datetime | None:
    """Run a search so often from now on, or no more; return when next.

    What costs money needs a budget: raises BadPlaceQuery without one.
    """
    if every is None:
        await connection.execute(
            delete(SearchSchedule).where(SearchSchedule.search_id == search.id)
        )
        return None
    if search.source in PAID and budget is None:
        raise BadPlaceQuery(search.source, "this source costs money: set a budget")
    now = utc_now()
    following = next_run_at or run_after(now, every, now)
    values = {
        "every": every.value,
        "budget": budget,
        "is_paused": is_paused,
        "has_digest": has_digest,
        "next_run_at": following,
        "problem": None,
    }
    statement = upsert(SearchSchedule).values(
        tenant_id=actor.tenant_id,
        created_by=actor.user_id,
        search_id=search.id,
        digest_at=DIGEST_BEGINS if has_digest else None,
        **values,
    )
    # A digest that was on goes on from its last one; one that is switched on begins now.
    goes_on = SearchSchedule.has_digest & statement.excluded.has_digest
    digest_at = case(
        (goes_on, SearchSchedule.digest_at), else_=statement.excluded.digest_at
    )
    await connection.execute(
        statement.on_conflict_do_update(
            index_elements=["search_id"], set_=values | {"digest_at": digest_at}
        )
    )
    return following


async def is_running(connection: AsyncConnection, run_id: UUID | None) -> bool:
    """Say whether a run is not over."""
    query = select(PlaceSearch.id).where(
        PlaceSearch.id == run_id, PlaceSearch.status.in_(OPEN)
    )
    return run_id is not None and await connection.scalar(query) is not None


async def begin_run(
    connection: AsyncConnection,
    actor: Actor,
    search_id: UUID,
    *,
    budget: Any,  # noqa: ANN401
) -> UUID:
    """Queue another run of a search; it spends its own budget and no other's."""
    columns: Sequence[Any] = [getattr(PlaceSearch, name) for name in ASKED]
    query = select(*columns, PlaceSearch.id, PlaceSearch.repeats_id).where(
        PlaceSearch.id == search_id
    )
    row = (await connection.execute(query)).one()
    made = await connection.execute(
        insert(PlaceSearch)
        .values(
            tenant_id=actor.tenant_id,
            created_by=actor.user_id,
            repeats_id=row.repeats_id or row.id,
            budget=budget,
            **{name: getattr(row, name) for name in ASKED},
        )
        .returning(PlaceSearch.id)
    )
    run_id = UUID(str(made.scalar_one()))
    await note(connection, actor, "searched", "searches", record_id=run_id)
    await curation_sdk.control.wake(connection, STAGE)
    return run_id
