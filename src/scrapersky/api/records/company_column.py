"""Columns of a tenant's own on companies: text, number, date or choice."""

from collections.abc import Mapping
from datetime import date
from math import isfinite
from typing import Any, Final, Self
from uuid import UUID

from fastapi import APIRouter, Request
from pydantic import BaseModel, Field, model_validator
from sqlalchemy import delete, insert, text
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncConnection

from scrapersky.api.dependency import (
    Admin,
    Curator,
    Reader,
    Transaction,
    actor_of,
)
from scrapersky.api.records.router import BASE
from scrapersky.api.schema import CONFLICT, NOT_FOUND, REFUSALS, RequestModel
from scrapersky.api.title import Title
from scrapersky.companies.own_column import OwnColumn, own_columns
from scrapersky.errors import InvalidDecision, RecordConflict, UnknownRecord
from scrapersky.records import CompanyColumn
from scrapersky.records.audit import note
from scrapersky.records.status import OwnType

PATH: Final = f"{BASE}/company-columns"
MOST_COLUMNS: Final = 50
LONGEST_TEXT: Final = 2_000

router = APIRouter(tags=["records"])

FORGET: Final = text(
    """UPDATE companies SET own = own - CAST(:name AS text)
    WHERE tenant_id = :tenant AND jsonb_exists(own, :name)"""
)


class CompanyColumnIn(RequestModel):
    """A column to make."""

    name: str = Field(
        pattern=r"^[a-z][a-z0-9_]{0,39}$",
        description="How filters call it: `own.<name>`.",
        examples=["budget"],
    )
    title: Title = Field(examples=["Budget"])
    type: OwnType
    choices: list[Title] = Field([], max_length=100)

    @model_validator(mode="after")
    def has_its_choices(self) -> Self:
        """Refuse a choice of nothing, and choices of what is none."""
        if (self.type is OwnType.CHOICE) != bool(self.choices):
            raise ValueError("choices go with the type choice, and with no other")
        return self


class CompanyColumnOut(BaseModel):
    """A column of your own."""

    id: UUID
    name: str
    title: str
    type: OwnType
    choices: list[str]


@router.get(
    PATH,
    operation_id="list_company_columns",
    summary="List your own columns of companies",
    responses=REFUSALS,
)
async def list_columns(who: Reader, connection: Transaction) -> list[CompanyColumnOut]:
    """List the columns of your own, as they were made."""
    columns = await own_columns(connection, who.tenant_id)
    return [CompanyColumnOut.model_validate(c, from_attributes=True) for c in columns]


@router.post(
    PATH,
    operation_id="create_company_column",
    summary="Make a column of your own",
    status_code=201,
    responses=REFUSALS | CONFLICT,
)
async def create_column(
    request: Request, who: Curator, connection: Transaction, asked: CompanyColumnIn
) -> CompanyColumnOut:
    """Make a column; its values are set with `PATCH /api/v3/companies/{id}`."""
    if len(await own_columns(connection, who.tenant_id)) >= MOST_COLUMNS:
        raise InvalidDecision(f"There are {MOST_COLUMNS} columns, which is the most.")
    values = {**asked.model_dump(), "tenant_id": who.tenant_id}
    statement = insert(CompanyColumn).values(values).returning(CompanyColumn.id)
    try:
        made = (await connection.execute(statement)).scalar_one()
    except IntegrityError:
        raise RecordConflict(f"There is a column '{asked.name}' already.") from None
    actor = actor_of(who, request)
    await note(connection, actor, "column.created", "companies", asked.model_dump())
    return CompanyColumnOut(id=made, **asked.model_dump())


@router.delete(
    f"{PATH}/{{column_id}}",
    operation_id="delete_company_column",
    summary="Delete a column of your own",
    status_code=204,
    responses=REFUSALS | NOT_FOUND,
)
async def delete_column(
    request: Request, who: Admin, connection: Transaction, column_id: UUID
) -> None:
    """Delete a column with all its values."""
    mine = (CompanyColumn.id == column_id, CompanyColumn.tenant_id == who.tenant_id)
    gone = delete(CompanyColumn).where(*mine).returning(CompanyColumn.name)
    name = (await connection.execute(gone)).scalar_one_or_none()
    if name is None:
        raise UnknownRecord("There is no such column.")
    await connection.execute(FORGET, {"tenant": who.tenant_id, "name": name})
    actor = actor_of(who, request)
    await note(connection, actor, "column.deleted", "companies", {"name": name})


async def own_values(
    connection: AsyncConnection, tenant_id: UUID, given: Mapping[str, Any]
) -> dict[str, str | float | None]:
    """Return values that fit the tenant's own columns, or raise InvalidDecision."""
    known = {column.name: column for column in await own_columns(connection, tenant_id)}
    for name in given:
        if name not in known:
            raise InvalidDecision(
                f"You have no column '{name[:50]}'.",
                hint="List yours: GET /api/v3/company-columns.",
            )
    return {
        name: None if value is None else checked(known[name], value)
        for name, value in given.items()
    }


def checked(column: OwnColumn, value: Any) -> str | float:  # noqa: ANN401 - JSON
    """Return a value that fits its column, or raise InvalidDecision."""
    fits: dict[OwnType, bool] = {
        OwnType.TEXT: isinstance(value, str) and 0 < len(value) <= LONGEST_TEXT,
        OwnType.NUMBER: is_number(value),
        OwnType.DATE: is_day(value),
        OwnType.CHOICE: value in column.choices,
    }
    if not fits[column.type]:
        wanted = {
            OwnType.TEXT: f"a text of at most {LONGEST_TEXT} letters",
            OwnType.NUMBER: "a number",
            OwnType.DATE: "a day, written 2026-11-01",
            OwnType.CHOICE: f"one of: {', '.join(column.choices)}",
        }
        raise InvalidDecision(f"{column.title} takes {wanted[column.type]}.")
    kept: str | float = value
    return kept


def is_number(value: object) -> bool:
    """Say whether a value is a number with an end."""
    is_one = isinstance(value, int | float) and not isinstance(value, bool)
    return is_one and isfinite(float(str(value)))


def is_day(value: object) -> bool:
    """Say whether a value is a day in its one form."""
    try:
        return isinstance(value, str) and date.fromisoformat(value).isoformat() == value
    except ValueError:
        return False
