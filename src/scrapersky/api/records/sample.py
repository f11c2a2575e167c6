"""Samples to check: values of a list at random, marked by people, and what they measure."""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any, Final, Literal
from uuid import UUID

import orjson
from fastapi import APIRouter, Query, Request, Response
from pydantic import BaseModel, ConfigDict, Field
from sqlalchemy import delete, func, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from scrapersky.api.dependency import (
    Curator,
    Exporter,
    Reader,
    Transaction,
    actor_of,
)
from scrapersky.api.field import FilterTexts
from scrapersky.api.records.query import of_caller, read_filters
from scrapersky.api.records.schema import LONGEST_WORDS
from scrapersky.api.schema import CONFLICT, NOT_FOUND, REFUSALS, RequestModel
from scrapersky.api.tenancy import BULK_TIMEOUT, statement_timeout
from scrapersky.curation.sample import (
    corrections_of,
    draw_sample,
    precision_of,
    truth_of_marks,
)
from scrapersky.errors import RecordConflict, UnknownRecord
from scrapersky.records import SampledValue, ValueSample, kind_named
from scrapersky.records.status import ValueMark

PATH: Final = "/api/v3/samples"
MOST_SAMPLES: Final = 500
"""Samples of a tenant that are kept: of more, old ones have to be deleted."""
MOST_LISTED: Final = 50

router = APIRouter(tags=["records"])
SampledField = Literal["email", "phone", "person", "role", "address"]


class SampleIn(RequestModel):
    """Of which list which values are drawn."""

    kind: Literal["companies", "contacts"]
    field: SampledField
    filter: FilterTexts = Field([])
    q: str | None = Field(None, max_length=LONGEST_WORDS)


class MarkIn(RequestModel):
    """What a person says of a value; null takes it back."""

    mark: ValueMark | None


class PrecisionOut(BaseModel):
    """What share of values is right, by marks."""

    model_config = ConfigDict(from_attributes=True)

    right: int
    wrong: int
    share: float | None
    low: float | None = Field(description="With `high` the interval of 95 % (Wilson).")
    high: float | None


class SampledValueOut(BaseModel):
    """One value of a sample, and where it was read."""

    model_config = ConfigDict(from_attributes=True)

    position: int
    record_id: UUID
    value: str | None = Field(description="Null: it had to be forgotten.")
    domain: str | None
    url: str | None
    snippet: str | None
    method: str | None
    confidence: float | None
    mark: ValueMark | None


class ValueSampleOut(BaseModel):
    """A sample, and what its marks measure."""

    id: UUID
    kind: str
    field: str
    query: dict[str, Any]
    population: int = Field(description="Values of the list that it was drawn from.")
    created_at: datetime
    drawn: int
    precision: PrecisionOut


class SampleDetail(ValueSampleOut):
    """A sample with its values."""

    values: list[SampledValueOut]


class CorrectionOut(BaseModel):
    """How right a field is by what your own people have marked."""

    model_config = ConfigDict(from_attributes=True)

    field: str
    precision: PrecisionOut
    claimed: float | None = Field(description="Mean confidence of what was marked.")
    corrected: float | None = Field(
        description="Marks and measured confidence together: the more marks, the more "
        "they count. Of your tenant alone."
    )


class SamplesAsked(RequestModel):
    """Of which kind."""

    kind: str | None = Field(None, max_length=50)


@router.post(
    PATH,
    operation_id="draw_sample",
    summary="Draw a sample of a list",
    status_code=201,
    responses=REFUSALS | CONFLICT,
)
async def draw(
    request: Request, who: Curator, connection: Transaction, asked: SampleIn
) -> SampleDetail:
    """Draw twenty values of a list at random, each with the page it was read on."""
    count = select(func.count()).select_from(ValueSample)
    if int(await connection.scalar(count) or 0) >= MOST_SAMPLES:
        raise RecordConflict(
            f"There are {MOST_SAMPLES} samples, which is the most.",
            hint="Delete old ones first.",
        )
    async with statement_timeout(BULK_TIMEOUT, connection):
        sample_id = await draw_sample(
            connection,
            actor_of(who, request),
            kind_named(asked.kind),
            asked.field,
            conditions=of_caller(who.user_id, read_filters(asked.filter)),
            words=asked.q,
            query={"filter": asked.filter, "q": asked.q},
        )
    return await detail_of(connection, sample_id)


@router.get(
    PATH, operation_id="list_samples", summary="List samples", responses=REFUSALS
)
async def list_samples(
    who: Reader,  # noqa: ARG001 - checked
    connection: Transaction,
    asked: Annotated[SamplesAsked, Query()],
) -> list[ValueSampleOut]:
    """List the latest samples with what their marks measure."""
    query = select(ValueSample.id).order_by(ValueSample.created_at.desc())
    if asked.kind is not None:
        query = query.where(ValueSample.kind == kind_named(asked.kind).name)
    ids = (await connection.scalars(query.limit(MOST_LISTED))).all()
    found = await measured(connection, ids)
    return [found[one] for one in ids if one in found]


@router.get(
    f"{PATH}/precision",
    operation_id="read_precision",
    summary="Read how right your values are",
    responses=REFUSALS,
)
async def read_precision(who: Reader, connection: Transaction) -> list[CorrectionOut]:
    """Report for each field what your own people have marked, and what follows from it."""
    found = await corrections_of(connection, who.tenant_id)
    return [CorrectionOut.model_validate(one) for one in found]


@router.get(
    f"{PATH}/{{sample_id}}",
    operation_id="read_sample",
    summary="Read one sample",
    responses=REFUSALS | NOT_FOUND,
)
async def read_sample(
    who: Reader,  # noqa: ARG001 - checked
    connection: Transaction,
    sample_id: UUID,
) -> SampleDetail:
    """Read a sample with its values."""
    return await detail_of(connection, sample_id)


@router.put(
    f"{PATH}/{{sample_id}}/values/{{position}}",
    operation_id="mark_value",
    summary="Mark a value right or wrong",
    responses=REFUSALS | NOT_FOUND,
)
async def mark_value(
    who: Curator,
    connection: Transaction,
    sample_id: UUID,
    position: int,
    asked: MarkIn,
) -> PrecisionOut:
    """Keep what a person says of a value; null takes it back. Answers what that measures."""
    at = func.clock_timestamp() if asked.mark else None
    done = await connection.execute(
        update(SampledValue)
        .where(SampledValue.sample_id == sample_id, SampledValue.position == position)
        .values(mark=asked.mark, marked_by=who.user_id, marked_at=at)
        .returning(SampledValue.position)
    )
    if done.one_or_none() is None:
        raise UnknownRecord("There is no such value.")
    return (await measured(connection, [sample_id]))[sample_id].precision


@router.delete(
    f"{PATH}/{{sample_id}}",
    operation_id="delete_sample",
    summary="Delete a sample",
    status_code=204,
    responses=REFUSALS | NOT_FOUND,
)
async def delete_sample(
    who: Curator,  # noqa: ARG001 - checked
    connection: Transaction,
    sample_id: UUID,
) -> None:
    """Delete a sample with its marks."""
    gone = await connection.execute(
        delete(ValueSample).where(ValueSample.id == sample_id).returning(ValueSample.id)
    )
    if gone.one_or_none() is None:
        raise UnknownRecord("There is no such sample.")


@router.get(
    f"{PATH}/{{sample_id}}/export",
    operation_id="export_sample",
    summary="Export what was marked",
    response_class=Response,
    responses=REFUSALS | NOT_FOUND,
)
async def export_sample(
    who: Exporter,  # noqa: ARG001 - checked
    connection: Transaction,
    sample_id: UUID,
) -> Response:
    """Give the marks as annotated websites: a line of JSON a site, as `score-sites` reads them."""
    query = (
        select(SampledValue, ValueSample.field)
        .join(ValueSample, ValueSample.id == SampledValue.sample_id)
        .where(SampledValue.sample_id == sample_id)
        .order_by(SampledValue.position)
    )
    rows = (await connection.execute(query)).all()
    if not rows:
        raise UnknownRecord("There is no such sample, or it is empty.")
    lines = b"".join(orjson.dumps(one) + b"\n" for one in truth_of_marks(rows))
    return Response(lines, media_type="application/jsonl")


async def detail_of(connection: AsyncConnection, sample_id: UUID) -> SampleDetail:
    """Return a sample with its values, or raise UnknownRecord."""
    found = await measured(connection, [sample_id])
    if sample_id not in found:
        raise UnknownRecord("There is no such sample.")
    query = select(SampledValue).where(SampledValue.sample_id == sample_id)
    rows = await connection.execute(query.order_by(SampledValue.position))
    values = [SampledValueOut.model_validate(row) for row in rows]
    return SampleDetail(**found[sample_id].model_dump(), values=values)


async def measured(
    connection: AsyncConnection, ids: Sequence[UUID]
) -> dict[UUID, ValueSampleOut]:
    """Return samples with what their marks measure."""
    one = SampledValue

    def marked(mark: ValueMark) -> Any:  # noqa: ANN401 - a column
        return func.count().filter(one.mark == mark)

    counts = (
        select(
            one.sample_id,
            func.count().label("drawn"),
            marked(ValueMark.RIGHT).label("right"),
            marked(ValueMark.WRONG).label("wrong"),
        )
        .where(one.sample_id.in_(ids))
        .group_by(one.sample_id)
        .subquery()
    )
    query = select(ValueSample, counts.c.drawn, counts.c.right, counts.c.wrong)
    joined = query.outerjoin(counts, counts.c.sample_id == ValueSample.id)
    rows = await connection.execute(joined.where(ValueSample.id.in_(ids)))
    return {
        row.id: ValueSampleOut(
            id=row.id,
            kind=row.kind,
            field=row.field,
            query=row.query,
            population=row.population,
            created_at=row.created_at,
            drawn=row.drawn or 0,
            precision=PrecisionOut.model_validate(
                precision_of(row.right or 0, row.wrong or 0, row.population)
            ),
        )
        for row in rows
    }
