"""WF1 - Place search: one search becomes places, all of them, within its budget."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import (
    Boolean,
    ColumnElement,
    Text,
    and_,
    case,
    cast,
    func,
    literal,
    literal_column,
    select,
    text,
    tuple_,
    update,
)
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

import curation_sdk
from curation_sdk import Done, GiveUp, Outcome, Transaction
from scrapersky.curation.imported_line import ImportedLine, KnownValues, origin_of
from scrapersky.curation.lead_import import HEADINGS, REPLACES_KNOWN, keep_import
from scrapersky.curation.rule import apply_rules
from scrapersky.errors import BudgetExhausted
from scrapersky.pipeline.declaration import Endings, Lane, StageJob, stage
from scrapersky.pipeline.search_budget import SearchBudget
from scrapersky.pipeline.stage_settings import SettingsSection, StageSettings
from scrapersky.pipeline.tools import Tools
from scrapersky.privacy.suppression_filter import suppressions
from scrapersky.providers.files.record import PROVIDER as PLACE_FILES
from scrapersky.providers.source import (
    FoundPlace,
    Location,
    PlacePage,
    PlaceQuery,
    PlaceSource,
    ResumePoint,
    said_of,
)
from scrapersky.records import KINDS, Place, PlaceSearch, PlaceSearchHit, User
from scrapersky.records.audit import Actor
from scrapersky.records.place_search import SEARCH_QUEUE
from scrapersky.revisits.place_difference import (
    COMPARED,
    known_places,
    note_place_differences,
    note_run_differences,
)

MAX_AGE = timedelta(days=6)
"""A place seen within this time is taken as it is, and not paid for again.

Less than a week: a weekly run asks for what the one before has seen in its last minutes too."""
FACTS = (
    "name", "address", "latitude", "longitude", "rating", "reviews_count",
    "price_level", "categories", "website", "phone", "business_status", "moved_to",
    "raw", "licence", "expires_at",
)  # fmt: skip


@stage(
    "place_search",
    title="Place search",
    does="searches maps",
    queue=SEARCH_QUEUE,
    hands_over="`places_staging` rows, `New`",
    makes=Place,
    feeds=("deep_scan",),
    lane=Lane.FIND,
    job=StageJob("process_places_search_background", "Process Place Searches"),
    settings=SettingsSection(
        "PLACE_SEARCH_SCHEDULER", StageSettings(batch_size=5, timeout_seconds=3600)
    ),
    endings=Endings(
        empty="`Completed`, with the area and what was covered",
        fails="unknown source or location, bad query, budget spent",
        retries="source busy or in trouble; a wrong or missing key pauses the stage",
    ),
)
async def search_places(search: PlaceSearch, tools: Tools) -> Outcome:
    """Run the search to its end; what it finds is kept page by page as it comes.

    Whoever takes over after a crash goes on from the last page that was kept.
    """
    source = tools.sources[search.source]
    query = await use_known_location(tools.database, search, query_of(search))
    budget = SearchBudget(tools.database, search.id)
    resume = await resume_of(tools.database, search)
    fresh = await fresh_places(tools.database, search)
    last: PlacePage | None = None
    try:
        async for page in source.search(query, budget, resume=resume, fresh=fresh):
            await keep_page(tools, search, page)
            last = page
    except BudgetExhausted as error:
        async with tools.database.begin() as connection:
            await note_run_differences(connection, search, is_complete=False)
        return GiveUp(f"{error} {error.hint or ''}".strip())
    found = await count_hits(tools.database, search.id)
    nothing = None if found else nothing_found(query, last)
    return Done(finish(search, last, tools.system_user_id), empty_because=nothing)


def query_of(search: Any) -> PlaceQuery:  # noqa: ANN401 - a search, or a row of one
    """Read the question out of the record."""
    asked: dict[str, Any] = {"business_type": search.business_type, **search.params}
    for name in (REPLACES_KNOWN, HEADINGS):
        asked.pop(name, None)
    if search.location is not None:
        asked["location"] = search.location
    if search.radius_m is not None:
        asked["radius_m"] = float(search.radius_m)
    if search.area is not None:
        asked["area"] = search.area
    return PlaceQuery.from_json(asked)


async def use_known_location(
    database: AsyncEngine, search: PlaceSearch, query: PlaceQuery
) -> PlaceQuery:
    """Use what an earlier search learnt of the location: nobody is asked twice."""
    if query.area is not None or query.location is None:
        return query
    known = (
        select(PlaceSearch.progress["located"])
        .where(
            PlaceSearch.location == query.location,
            PlaceSearch.source == search.source,
            PlaceSearch.progress.has_key("located"),
        )
        .limit(1)
    )
    async with database.connect() as connection:
        found = await connection.scalar(known)
    if found is None:
        return query
    return replace(query, area=Location.from_json(found).within(query.radius_m))


async def fresh_places(database: AsyncEngine, search: PlaceSearch) -> frozenset[str]:
    """Return the places we hold and need not pay for again."""
    query = select(Place.source_place_id).where(
        Place.tenant_id == search.tenant_id,
        Place.source == search.source,
        Place.seen_at > func.clock_timestamp() - MAX_AGE,
        Place.name.is_not(None),
    )
    async with database.connect() as connection:
        return frozenset((await connection.scalars(query)).all())


def nothing_found(query: PlaceQuery, last: PlacePage | None) -> str:
    """Say why a search has no places."""
    where = query.location or "the area"
    why = last.coverage.why if last and last.coverage else "the source gave no answer"
    return f"no {query.business_type or 'places'} in {where}: {why}"


async def resume_of(database: AsyncEngine, search: PlaceSearch) -> ResumePoint | None:
    """Return where an earlier run of this search stopped."""
    query = select(PlaceSearch.progress).where(PlaceSearch.id == search.id)
    hits = (
        select(Place.source_place_id)
        .join(PlaceSearchHit, PlaceSearchHit.place_id == Place.id)
        .where(PlaceSearchHit.search_id == search.id)
    )
    async with database.connect() as connection:
        progress = await connection.scalar(query) or {}
        if "state" not in progress:
            return None
        delivered = (await connection.scalars(hits)).all()
    return ResumePoint(progress["state"], frozenset(delivered))


async def keep_page(tools: Tools, search: PlaceSearch, page: PlacePage) -> None:
    """Store a page's places and the state to go on from, together."""
    ids = [place.source_place_id for place in page.places]
    progress = {
        "state": page.state,
        "phase": page.progress.phase,
        "requests": page.progress.requests,
        "found": page.progress.found,
        "requests_left": page.progress.requests_left,
    }
    problems = [said_of(each) for each in page.problems]
    if page.located is not None:
        progress["located"] = page.located.to_json()
    async with tools.database.begin() as connection:
        whose = (search.tenant_id, search.source, ids)
        before = await known_places(connection, *whose)
        new = await store_places(connection, search, page.places, tools.system_user_id)
        if before:
            now = await known_places(connection, *whose)
            if await note_place_differences(connection, search, before, now):
                await curation_sdk.control.wake(connection, "deep_scan")
        await link_known(connection, search, page.known)
        if search.source == PLACE_FILES:
            who = await importer(connection, search)
            by = search.created_by or tools.system_user_id
            actor = Actor(search.tenant_id, by, who or "the system")
            known_values = (
                KnownValues.REPLACED
                if search.params.get(REPLACES_KNOWN)
                else KnownValues.KEPT
            )
            lines = [
                read_imported_line(
                    place, who, tools.sources[search.source], known_values
                )
                for place in page.places
            ]
            await keep_import(connection, actor, search.id, search.source, lines)
        await connection.execute(
            update(PlaceSearch)
            .where(PlaceSearch.id == search.id)
            .values(
                progress=PlaceSearch.progress.op("||")(progress),
                problems=PlaceSearch.problems.op("||")(problems),
                new_count=PlaceSearch.new_count + new,
            )
        )


async def importer(connection: AsyncConnection, search: PlaceSearch) -> str | None:
    """Return who brought a file; nobody by name where there are no accounts."""
    query = select(func.coalesce(User.name, User.email)).where(
        User.id == search.created_by
    )
    name: str | None = await connection.scalar(query)
    return name


def read_imported_line(
    place: FoundPlace, who: str | None, source: PlaceSource, known_values: KnownValues
) -> ImportedLine:
    """Read what else a line of a file says than where a place is."""
    facts = source.facts(place.raw)
    origin = origin_of(who, place.raw["dataset"], place.raw["line"])
    return ImportedLine(place.source_place_id, facts, origin, known_values)


async def link_known(
    connection: AsyncConnection, search: PlaceSearch, known: Sequence[str]
) -> None:
    """Link places to the search that were found again and not paid for again."""
    if known:
        await link(
            connection,
            search,
            and_(
                Place.tenant_id == search.tenant_id,
                Place.source == search.source,
                Place.source_place_id.in_(known),
            ),
        )


async def link(
    connection: AsyncConnection, search: PlaceSearch, places: ColumnElement[bool]
) -> None:
    """Link places to the search, each with what it looked like to it."""
    facts = tuple_(*(getattr(Place, name) for name in COMPARED))
    seen = select(
        literal(search.id), Place.id, Place.tenant_id, func.md5(cast(facts, Text))
    ).where(places)
    await connection.execute(
        insert(PlaceSearchHit)
        .from_select(["search_id", "place_id", "tenant_id", "facts_hash"], seen)
        .on_conflict_do_nothing()
    )


async def store_places(
    connection: AsyncConnection,
    search: PlaceSearch,
    places: Sequence[FoundPlace],
    user_id: UUID,
) -> int:
    """Upsert places by their natural key, link them to the search; return the new ones.

    Facts are refreshed; a person's decision about a known place is never touched.
    """
    if not places:
        return 0
    rows = {place.source_place_id: row_of(place, search, user_id) for place in places}
    values = list(rows.values())
    guard = await suppressions(connection, search.tenant_id, values)
    statement = insert(Place).values(guard.clean(values))
    stored = await connection.execute(
        statement.on_conflict_do_update(
            index_elements=["tenant_id", "source", "source_place_id"],
            set_={name: statement.excluded[name] for name in (*FACTS, "seen_at")},
        ).returning(Place.id, literal_column("xmax = 0", Boolean).label("is_new"))
    )
    found = stored.all()
    await link(connection, search, Place.id.in_([row.id for row in found]))
    return sum(row.is_new for row in found)


def row_of(place: FoundPlace, search: PlaceSearch, user_id: UUID) -> dict[str, Any]:
    """Write a found place as a row."""
    facts = {name: getattr(place, name) for name in FACTS}
    facts["categories"] = list(place.categories)
    status = place.business_status
    facts["business_status"] = status.value if status else None
    return {
        "tenant_id": search.tenant_id,
        "created_by": user_id,
        "source": place.source,
        "source_place_id": place.source_place_id,
        "seen_at": func.clock_timestamp(),
        **facts,
    }


async def count_hits(database: AsyncEngine, search_id: UUID) -> int:
    """Count the places a search has found."""
    query = select(func.count()).where(PlaceSearchHit.search_id == search_id)
    async with database.connect() as connection:
        return int(await connection.scalar(query) or 0)


def finish(search: PlaceSearch, last: PlacePage | None, user_id: UUID) -> Any:  # noqa: ANN401
    """Keep the coverage and the counts, and let the tenant's rules choose places."""

    async def effect(transaction: Transaction) -> None:
        hits = select(func.count()).where(PlaceSearchHit.search_id == search.id)
        await transaction.execute(
            update(PlaceSearch)
            .where(PlaceSearch.id == search.id)
            .values(
                found_count=hits.scalar_subquery(),
                coverage=last.coverage.to_json() if last and last.coverage else None,
                progress=case(
                    (PlaceSearch.progress.is_(None), text("'{}'::jsonb")),
                    else_=PlaceSearch.progress.op("-")("state"),
                ),
                finished_at=func.clock_timestamp(),
            )
        )
        is_complete = bool(last and last.coverage and last.coverage.is_complete)
        await note_run_differences(
            transaction.connection, search, is_complete=is_complete
        )
        decided = await apply_rules(
            transaction.connection, search.tenant_id, KINDS["places"], user_id=user_id
        )
        if decided.queued:
            transaction.wake("deep_scan")

    return effect
