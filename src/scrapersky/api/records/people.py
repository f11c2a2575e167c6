"""People of a business: shown beside its records, and forgotten when they ask."""

from functools import cache
from typing import Any, Final
from uuid import UUID

from fastapi import APIRouter, Request
from sqlalchemy import Select, Uuid, bindparam, select
from sqlalchemy.ext.asyncio import AsyncConnection
from sqlalchemy.orm import InstrumentedAttribute

from scrapersky.api.dependency import Admin, Transaction, actor_of
from scrapersky.api.records.detail import RecordRow, record_of
from scrapersky.api.records.reach import reach_of
from scrapersky.api.records.schema import NamedPerson
from scrapersky.api.schema import NOT_FOUND, REFUSALS
from scrapersky.privacy.subject import person_subject
from scrapersky.privacy.suppression import suppress
from scrapersky.records import Person
from scrapersky.records.kind import Kind
from scrapersky.records.people import PEOPLE

MOST_PEOPLE = 50
REASON = "person forgotten"

router = APIRouter(tags=["records"])


async def people_beside(
    connection: AsyncConnection,
    resource: Kind,
    row: RecordRow,
    *,
    may_suggest: bool = False,
) -> list[NamedPerson]:
    """Return the people of a record's business, or those that a page says most about."""
    column, key = BESIDE.get(resource.name, (None, ""))
    if column is None:
        return []
    query = people_by(column)
    rows = (await connection.execute(query, {"key": getattr(row, key)})).all()
    people = [NamedPerson.model_validate(one, from_attributes=True) for one in rows]
    for one, person in zip(rows, people, strict=True):
        if person.is_decision_maker:
            person.reach = await reach_of(
                connection, one.domain_id, person, may_suggest=may_suggest
            )
    return people


# To write the statement takes as long as to run it.
@cache
def people_by(column: InstrumentedAttribute[UUID | None]) -> Select[Any]:
    """Write the query for the people of whom this column has a key."""
    shown = PEOPLE.extras
    return (
        select(
            *(Person.id, Person.name, Person.role, Person.seniority, Person.email),
            *(Person.phone, Person.confidence, Person.standing_reason.label("reason")),
            shown["is_decision_maker"].label("is_decision_maker"),
            *(shown["page_url"].label("page_url"), Person.domain_id),
        )
        .where(column == bindparam("key", type_=Uuid()))
        .order_by(Person.standing.desc(), Person.id)
        .limit(MOST_PEOPLE)
    )


BESIDE: Final = {
    "domains": (Person.domain_id, "id"),
    "pages": (Person.page_id, "id"),
    "businesses": (Person.domain_id, "domain_id"),
    "contacts": (Person.domain_id, "domain_id"),
    "companies": (Person.domain_id, "domain_id"),
}


@router.delete(
    f"/api/v3{PEOPLE.path}/{{record_id}}",
    operation_id="forget_person",
    summary="Forget a person",
    status_code=204,
    responses=REFUSALS | NOT_FOUND,
)
async def forget_person(
    request: Request, who: Admin, connection: Transaction, record_id: UUID
) -> None:
    """Delete a person and the contacts that name them, and keep them from coming back.

    Their name goes on the suppression list as a keyed hash, for this domain only.
    """
    row = await record_of(connection, PEOPLE, record_id)
    them = person_subject(row.name, row.domain)
    await suppress(connection, actor_of(who, request), [them], REASON)
