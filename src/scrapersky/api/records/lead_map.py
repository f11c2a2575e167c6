"""Leads on a map and by category and area: counted on the server, however many there are."""

from typing import Annotated, Any, Final
from uuid import UUID

from fastapi import APIRouter, Query, Request
from pydantic import BaseModel, Field
from sqlalchemy import (
    ColumnElement,
    Float,
    FromClause,
    Select,
    String,
    case,
    cast,
    func,
    literal,
    literal_column,
    select,
    tablesample,
    text,
)
from sqlalchemy.ext.asyncio import AsyncConnection

from scrapersky.api.dependency import Reader, Transaction
from scrapersky.api.field import Outline
from scrapersky.api.records.facet import ROWS_OF, SAMPLED_ROWS, SURELY_MANY
from scrapersky.api.records.list_query import ListQuery, wanted
from scrapersky.api.records.list_statement import countable
from scrapersky.api.records.listing import PLAN_ANEW
from scrapersky.api.records.query import RecordFilter, list_query_of
from scrapersky.api.schema import REFUSALS
from scrapersky.api.tenancy import bypass_rls
from scrapersky.compat.sqlalchemy import moved_to
from scrapersky.curation.condition import MOST_IDS, Comparison, Condition
from scrapersky.db.explain import query_plan
from scrapersky.records import Company
from scrapersky.records.company import COMPANIES
from scrapersky.records.status import LeadStatus

PATH: Final = "/api/v3/reports"
MOST_CLUSTERS: Final = 2_000
CLUSTERS_ACROSS: Final = 4
"""Clusters along the edge of a tile of a map."""
MOST_ZOOM: Final = 22
MOST_COVERED: Final = 500
COUNTED_COMPANIES: Final = 100_000

router = APIRouter(prefix=PATH, tags=["records"])
Degrees = Annotated[float, Field(ge=-180, le=180)]


class MapAsked(RecordFilter):
    """Which companies, and which part of the map."""

    south: Annotated[float, Field(ge=-90, le=90)] = -90
    west: Degrees = -180
    north: Annotated[float, Field(ge=-90, le=90)] = 90
    east: Degrees = 180
    zoom: int = Field(0, ge=0, le=MOST_ZOOM, description="As maps of tiles count it.")


class MapPoint(BaseModel):
    """Companies that lie together, or one of them."""

    latitude: float
    longitude: float
    count: int
    id: UUID | None = Field(description="Of one company; null: of several.")
    name: str | None
    lead_status: str | None


class MapOut(BaseModel):
    """The companies of a part of the map."""

    points: list[MapPoint] = Field(description=f"At most {MOST_CLUSTERS:,}.")
    count: int = Field(description="How many companies they are.")
    is_exact: bool = Field(
        description="Otherwise the counts are estimates, from a sample."
    )
    without_place: int = Field(
        description="Companies of the list of which nobody knows where they are."
    )


class LassoIn(RecordFilter):
    """A line drawn around companies."""

    outline: Outline = Field(
        min_length=3, description="Points of [latitude, longitude]."
    )


class LassoOut(BaseModel):
    """The companies inside of a line."""

    ids: list[UUID] = Field(description=f"At most {MOST_IDS:,}.")
    is_complete: bool


class CoverageLine(BaseModel):
    """What is known of the companies of one category in one area."""

    category: str | None
    city: str | None
    companies: int
    emails: int
    named_people: int
    contacted: int
    won: int


class CoverageOut(BaseModel):
    """What is known of companies by category and area, the largest first."""

    items: list[CoverageLine] = Field(description=f"At most {MOST_COVERED:,}.")
    is_exact: bool


@router.get(
    "/map",
    operation_id="read_lead_map",
    summary="Read the map of the leads",
    responses=REFUSALS,
)
async def read_map(
    request: Request,
    who: Reader,
    connection: Transaction,
    asked: Annotated[MapAsked, Query()],
) -> MapOut:
    """Report where the companies of a list are, those that lie together as one point."""
    list_query = list_query_of(who, COMPANIES, asked)
    inside = narrowed(list_query, within(asked))
    with bypass_rls(needed=request.app.state.is_slow_under_policies):
        source, share = await source_of(connection, inside)
        rows = (await connection.execute(clusters(source, inside, asked.zoom))).all()
        away = narrowed(list_query, [unknown("latitude")])
        without = await connection.scalar(
            select(func.count()).select_from(
                countable(wanted(COMPANIES, away)).subquery()
            )
        )
    points = [
        MapPoint(
            latitude=row.latitude,
            longitude=row.longitude,
            count=round(row.companies / share),
            id=row.id if share == 1 else None,
            name=row.name if share == 1 else None,
            lead_status=row.lead_status if share == 1 else None,
        )
        for row in rows
    ]
    return MapOut(
        points=points,
        count=sum(point.count for point in points),
        is_exact=share == 1,
        without_place=int(without or 0),
    )


def within(asked: MapAsked) -> list[Condition]:
    """Return the conditions for a part of the map."""
    least, most = Comparison.AT_LEAST, Comparison.AT_MOST
    return [
        Condition(field="latitude", comparison=least, value=asked.south),
        Condition(field="latitude", comparison=most, value=asked.north),
        Condition(field="longitude", comparison=least, value=asked.west),
        Condition(field="longitude", comparison=most, value=asked.east),
    ]


def unknown(name: str) -> Condition:
    """Return the condition for what is not known."""
    return Condition(field=name, comparison=Comparison.UNKNOWN)


def narrowed(list_query: ListQuery, more: list[Condition]) -> ListQuery:
    """Return a list of which only a part is meant."""
    return ListQuery(
        tenant_id=list_query.tenant_id,
        conditions=(*list_query.conditions, *more),
        words=list_query.words,
    )


async def source_of(
    connection: AsyncConnection, list_query: ListQuery
) -> tuple[FromClause, float]:
    """Return what companies are counted in, and which share of all that is.

    Of a long list a sample is counted, as facets do.
    """
    table = Company.__table__
    await connection.execute(PLAN_ANEW)
    plan = await query_plan(connection, countable(wanted(COMPANIES, list_query)))
    if plan.rows <= SURELY_MANY:
        return table, 1.0
    rows = await connection.scalar(ROWS_OF, {"table": COMPANIES.table})
    share = min(1.0, SAMPLED_ROWS / max(float(rows or 0), 1.0))
    part = func.system(literal_column(f"{share * 100:.9f}"))
    return tablesample(table, part), share


def part_of(source: FromClause, list_query: ListQuery, *names: str) -> Select[Any]:
    """Select some columns of the companies that are counted."""
    meant = wanted(COMPANIES, list_query)
    if source is not Company.__table__:
        meant = moved_to(source, meant)
    return select(*(source.c[name] for name in names)).where(meant)


def clusters(source: FromClause, list_query: ListQuery, zoom: int) -> Select[Any]:
    """Write the query for the points of a map."""
    names = ("id", "name", "lead_status", "latitude", "longitude")
    part = part_of(source, list_query, *names).limit(COUNTED_COMPANIES).subquery()
    size = literal_column(str(360 / 2**zoom / CLUSTERS_ACROSS), Float)
    cell = (func.floor(part.c.latitude / size), func.floor(part.c.longitude / size))
    return (
        select(
            func.avg(part.c.latitude).label("latitude"),
            func.avg(part.c.longitude).label("longitude"),
            func.count().label("companies"),
            *(only(part.c[name]).label(name) for name in names[:3]),
        )
        .group_by(*cell)
        .order_by(func.count().desc())
        .limit(MOST_CLUSTERS)
    )


def only(column: ColumnElement[Any]) -> ColumnElement[Any]:
    """Select the value of a group that has one row."""
    return case((func.count() == 1, func.min(cast(column, String))))


@router.post(
    "/map/lasso",
    operation_id="lasso_leads",
    summary="List the leads inside of a line",
    responses=REFUSALS,
)
async def lasso(who: Reader, connection: Transaction, asked: LassoIn) -> LassoOut:
    """Return which companies of a list are inside of a line on the map."""
    list_query = list_query_of(who, COMPANIES, asked)
    corners = ",".join(f"({float(x)!r},{float(y)!r})" for y, x in asked.outline)
    around = text("CAST(CAST(:outline AS text) AS polygon)").bindparams(
        outline=f"({corners})"
    )
    point = func.point(Company.longitude, Company.latitude)
    query = (
        select(Company.id)
        .where(
            wanted(COMPANIES, list_query),
            Company.latitude.is_not(None),
            point.op("<@", is_comparison=True)(around),
        )
        .limit(MOST_IDS + 1)
    )
    ids = (await connection.scalars(query)).all()
    return LassoOut(ids=[*ids[:MOST_IDS]], is_complete=len(ids) <= MOST_IDS)


@router.get(
    "/coverage",
    operation_id="read_lead_coverage",
    summary="Read what is known of leads by category and area",
    responses=REFUSALS,
)
async def read_coverage(
    request: Request,
    who: Reader,
    connection: Transaction,
    asked: Annotated[RecordFilter, Query()],
) -> CoverageOut:
    """Count companies by category and city: with an address, a named person, contacted."""
    list_query = list_query_of(who, COMPANIES, asked)
    with bypass_rls(needed=request.app.state.is_slow_under_policies):
        source, share = await source_of(connection, list_query)
        rows = (await connection.execute(coverage(source, list_query))).all()
    return CoverageOut(
        items=[
            CoverageLine(
                category=row.category,
                city=row.city,
                **{name: round(getattr(row, name) / share) for name in COVERED},
            )
            for row in rows
        ],
        is_exact=share == 1,
    )


COVERED: Final = ("companies", "emails", "named_people", "contacted", "won")
CONTACTED: Final = (
    LeadStatus.CONTACTED, LeadStatus.REPLIED, LeadStatus.WON, LeadStatus.LOST,
)  # fmt: skip


def coverage(source: FromClause, list_query: ListQuery) -> Select[Any]:
    """Write the query for what is known by category and area."""
    names = ("categories", "city", "lead_status", "email_contact_id", "email_kind")
    part = part_of(source, list_query, *names).limit(COUNTED_COMPANIES).subquery()
    category = part.c.categories[1]
    return (
        select(
            category.label("category"),
            part.c.city,
            func.count().label("companies"),
            func.count(part.c.email_contact_id).label("emails"),
            func.count().filter(part.c.email_kind == "person").label("named_people"),
            func.count().filter(part.c.lead_status.in_(CONTACTED)).label("contacted"),
            func.count().filter(part.c.lead_status == LeadStatus.WON).label("won"),
        )
        .group_by(category, part.c.city)
        .order_by(func.count().desc(), category, part.c.city)
        .limit(literal(MOST_COVERED))
    )
