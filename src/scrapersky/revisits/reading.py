"""Read what differs: of a search or of everything, by time, and since somebody last looked."""

from datetime import datetime
from typing import Any, Final
from uuid import UUID

from sqlalchemy import Select, Uuid, func, or_, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncConnection

from scrapersky.records import (
    Company,
    CompanyMember,
    Difference,
    Domain,
    LastLook,
    LocalBusiness,
    Place,
    PlaceSearch,
    PlaceSearchHit,
)
from scrapersky.records.difference import DifferenceType

MOST_COUNTED: Final = 10_000
OF_PLACE: Final = (
    select(CompanyMember.company_id)
    .where(CompanyMember.place_id == Difference.place_id)
    .limit(1)
    .correlate(Difference)
    .scalar_subquery()
)
OF_DOMAIN: Final = (
    select(Company.id)
    .where(Company.domain_id == Difference.domain_id)
    .order_by(Company.id)
    .limit(1)
    .correlate(Difference)
    .scalar_subquery()
)
COMPANY_ID: Final = func.coalesce(OF_PLACE, OF_DOMAIN, type_=Uuid())

COMPANY_NAME: Final = (
    select(Company.name).where(Company.id == COMPANY_ID).scalar_subquery()
)
"""What people know it by: a website says its domain, which may be nothing like it."""


def differences(
    tenant_id: UUID,
    *,
    search_id: UUID | None = None,
    run_id: UUID | None = None,
    company_id: UUID | None = None,
    what: DifferenceType | None = None,
    since: datetime | None = None,
) -> Select[Any]:
    """Ask what differs, each with the company that it is about."""
    query = (
        select(
            Difference.__table__,
            COMPANY_ID.label("company_id"),
            COMPANY_NAME.label("company_name"),
            Domain.domain,
            Place.name.label("place_name"),
        )
        .outerjoin(Domain, Domain.id == Difference.domain_id)
        .outerjoin(Place, Place.id == Difference.place_id)
        .where(Difference.tenant_id == tenant_id)
    )
    if search_id is not None:
        query = query.where(is_of_search(search_id))
    if run_id is not None:
        query = query.where(Difference.run_id == run_id)
    if company_id is not None:
        query = query.where(COMPANY_ID.is_not_distinct_from(company_id))
    if what is not None:
        query = query.where(Difference.what == what.value)
    if since is not None:
        query = query.where(Difference.created_at > since)
    return query


def is_of_search(search_id: UUID) -> Any:  # noqa: ANN401 - a condition
    """Match what differs of anything that a search or one of its runs has found."""
    places = (
        select(PlaceSearchHit.place_id)
        .join(PlaceSearch, PlaceSearch.id == PlaceSearchHit.search_id)
        .where(or_(PlaceSearch.id == search_id, PlaceSearch.repeats_id == search_id))
    )
    domains = select(LocalBusiness.domain_id).where(
        LocalBusiness.place_id.in_(places), LocalBusiness.domain_id.is_not(None)
    )
    return or_(Difference.place_id.in_(places), Difference.domain_id.in_(domains))


async def count_differences(
    connection: AsyncConnection, query: Select[Any]
) -> dict[str, int]:
    """Count what differs by what has happened, as far as one counts."""
    some = query.with_only_columns(Difference.what).limit(MOST_COUNTED).subquery()
    counted = select(some.c.what, func.count()).group_by(some.c.what)
    return {row[0]: row[1] for row in await connection.execute(counted)}


async def last_look(
    connection: AsyncConnection, tenant_id: UUID, user_id: UUID
) -> datetime | None:
    """Return until when somebody has seen what differs."""
    query = select(LastLook.looked_at).where(
        LastLook.tenant_id == tenant_id, LastLook.user_id == user_id
    )
    found: datetime | None = await connection.scalar(query)
    return found


async def note_look(
    connection: AsyncConnection, tenant_id: UUID, user_id: UUID, at: datetime
) -> None:
    """Keep that somebody has seen all that there was then; never less than before."""
    statement = insert(LastLook).values(
        tenant_id=tenant_id, user_id=user_id, looked_at=at
    )
    later = func.greatest(LastLook.looked_at, statement.excluded.looked_at)
    await connection.execute(
        statement.on_conflict_do_update(
            index_elements=["tenant_id", "user_id"], set_={"looked_at": later}
        )
    )
