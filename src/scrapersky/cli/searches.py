"""`scrapersky searches`."""

from datetime import datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

import orjson
from cyclopts import App
from sqlalchemy import Row, select
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from scrapersky.cli.operator import note_operation
from scrapersky.cli.options import RUN, AsJson
from scrapersky.cli.pipeline import default_tenant
from scrapersky.cli.stages import on_database
from scrapersky.cli.table import PlainTable, print_json, print_table
from scrapersky.errors import UnknownRecord
from scrapersky.records import Difference, PlaceSearch, SearchSchedule
from scrapersky.records.audit import Actor
from scrapersky.records.difference import DifferenceType
from scrapersky.records.search_schedule import Repetition
from scrapersky.revisits.reading import differences
from scrapersky.revisits.schedule import begin_run, keep_schedule
from scrapersky.revisits.visit import visit_found
from scrapersky.settings import SYSTEM_USER_ID

MOST_SEARCHES = 50
OPERATOR = "the operator"

search_commands = App(
    name="searches",
    group=RUN,
    help="""\
List searches; repeat them by the day, week or month; say what has changed.
""",
)


@search_commands.default
def show(*, json: AsJson = False) -> None:
    """List the searches, the latest first, with when they are run again."""

    async def act(engine: AsyncEngine) -> list[dict[str, object]]:
        tenant_id = await default_tenant(engine)
        query = (
            select(
                PlaceSearch.id, PlaceSearch.business_type, PlaceSearch.location,
                PlaceSearch.status, PlaceSearch.found_count, SearchSchedule.every,
                SearchSchedule.next_run_at, SearchSchedule.is_paused,
            )
            .outerjoin(SearchSchedule, SearchSchedule.search_id == PlaceSearch.id)
            .where(
                PlaceSearch.tenant_id == tenant_id, PlaceSearch.repeats_id.is_(None)
            )
            .order_by(PlaceSearch.created_at.desc())
            .limit(MOST_SEARCHES)
        )  # fmt: skip
        async with engine.connect() as connection:
            return [dict(row) for row in (await connection.execute(query)).mappings()]

    rows = on_database(act)
    if json:
        print(orjson.dumps(rows, default=str).decode())
        return
    table = PlainTable("id", "search", "status", "found", "every", "next")
    for row in rows:
        name = " in ".join(
            str(one) for one in (row["business_type"], row["location"]) if one
        )
        following = "paused" if row["is_paused"] else when(row["next_run_at"])
        table.add_row(
            *(str(row["id"]), name, str(row["status"]), str(row["found_count"])),
            *(str(row["every"] or "-"), following if row["every"] else "-"),
        )
    print_table(table, whole=("id",))


@search_commands.command
def schedule(
    search: UUID,
    *,
    every: Repetition | None = None,
    budget: Decimal | None = None,
    pause: bool = False,
    digest: bool = False,
    json: AsJson = False,
) -> None:
    """Run a search again and again, and visit the websites it has found by their rhythm.

    Parameters
    ----------
    search
        Its ID.
    every
        How often: daily, weekly or monthly. Without it the schedule is taken away.
    budget
        US dollars that one run may cost; a source that costs money needs it.
    pause
        Keep the schedule, and begin no run until it is set again.
    digest
        Log the event search.digest once a day, with how much differed.
    """

    async def act(engine: AsyncEngine) -> datetime | None:
        async def keep(connection: AsyncConnection) -> datetime | None:
            row = await search_named(connection, search)
            return await keep_schedule(
                connection,
                Actor(row.tenant_id, SYSTEM_USER_ID, OPERATOR),
                row,
                every,
                budget=budget,
                is_paused=pause,
                has_digest=digest,
            )

        async with engine.begin() as connection:
            following = await keep(connection)
        details = {"search": str(search), "every": every}
        await note_operation(engine, "scheduled", "searches", details)
        return following

    following = on_database(act)
    if json:
        print_json({"search_id": search, "next_run_at": following})
        return
    print(f"Next run: {when(following)}." if following else "It is not run again.")


@search_commands.command
def run(search: UUID, *, json: AsJson = False) -> None:
    """Run a search again now, and visit every website that it has found.

    Parameters
    ----------
    search
        Its ID.
    """

    async def act(engine: AsyncEngine) -> tuple[UUID, int]:
        async with engine.begin() as connection:
            row = await search_named(connection, search)
            actor = Actor(row.tenant_id, SYSTEM_USER_ID, OPERATOR)
            run_id = await begin_run(connection, actor, row.id, budget=row.budget)
        return run_id, await visit_found(engine, row.repeats_id or row.id)

    run_id, visits = on_database(act)
    if json:
        print_json({"run_id": run_id, "visits": visits})
        return
    print(f"Run {run_id} is queued; {visits} websites are visited again.")


@search_commands.command
def changes(
    search: UUID | None = None,
    *,
    since: datetime | None = None,
    what: DifferenceType | None = None,
    limit: int = 100,
    json: AsJson = False,
) -> None:
    """List what has changed: old and new, each with its source.

    Parameters
    ----------
    search
        Only of what this search and its runs have found.
    since
        Only since then: 2026-11-01.
    what
        Only this: new, changed, gone, back, moved, renamed, closed, reopened or unreachable.
    limit
        How many at the most, the latest first.
    """

    async def act(engine: AsyncEngine) -> list[dict[str, object]]:
        tenant_id = await default_tenant(engine)
        at = since.astimezone() if since else None
        query = differences(tenant_id, search_id=search, what=what, since=at)
        query = query.order_by(Difference.created_at.desc(), Difference.id).limit(limit)
        async with engine.connect() as connection:
            return [dict(row) for row in (await connection.execute(query)).mappings()]

    rows = on_database(act)
    if json:
        print(orjson.dumps(rows, default=str).decode())
        return
    table = PlainTable("when", "what", "of", "field", "old", "new", "source")
    for row in rows:
        of = row["domain"] or row["place_name"]
        values = (row["field"], row["old_value"], row["new_value"], row["new_source"])
        table.add_row(
            when(row["created_at"]),
            *(str(one or "") for one in (row["what"], of, *values)),
        )
    print_table(table)


async def search_named(connection: AsyncConnection, search_id: UUID) -> Row[Any]:
    """Return a search, or the one of which it is a run; raise UnknownRecord."""
    query = select(PlaceSearch).where(PlaceSearch.id == search_id)
    row = (await connection.execute(query)).one_or_none()
    if row is None:
        raise UnknownRecord(
            f"There is no search {search_id}.", hint="`scrapersky searches` lists them."
        )
    if row.repeats_id is not None:
        return await search_named(connection, row.repeats_id)
    return row


def when(at: object) -> str:
    """Write a time for a person."""
    return at.strftime("%Y-%m-%d %H:%M") if isinstance(at, datetime) else ""
