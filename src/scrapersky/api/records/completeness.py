"""How complete a search is: what exists, what was found, how right what was found is."""

from collections.abc import Mapping
from typing import Final, Literal
from uuid import UUID

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field

from scrapersky.api.dependency import Reader, Transaction
from scrapersky.api.records.detail import record_of
from scrapersky.api.records.router import address_of
from scrapersky.api.schema import NOT_FOUND, REFUSALS
from scrapersky.api.tenancy import BULK_TIMEOUT, statement_timeout
from scrapersky.curation.sample import FieldCorrection, corrections_of
from scrapersky.records.place_search import SEARCHES
from scrapersky.reporting.completeness import (
    SearchCompleteness,
    ValueShare,
    completeness_of,
)

LEAST_MARKED: Final = 10
"""Values that people must have marked before their marks say more than the confidence."""

router = APIRouter(tags=["records"])


class TotalOut(BaseModel):
    """How many companies exist of what was searched for."""

    model_config = ConfigDict(from_attributes=True)

    found: int = Field(description="Companies found by all sources that were asked.")
    sources: dict[str, int] = Field(description="How many each source found.")
    estimate: float | None = Field(description="Null: `why` says why there is none.")
    low: int | None = Field(description="With `high` the interval of 95 %.")
    high: int | None
    why: str


class ValueShareOut(BaseModel):
    """How many companies have a value, and what share of them is expected to be right."""

    name: Literal["email", "phone", "person", "address"]
    companies: int
    expected: float | None = Field(
        description="The share expected to be right; null: nobody has measured it."
    )
    basis: Literal["marks", "confidence"] | None = Field(
        description="`marks`: what people have marked right or wrong. `confidence`: the "
        "mean confidence, which is measured on annotated websites."
    )
    marked: int = Field(description="Values that people have marked.")
    low: float | None = Field(description="With `high` the interval of 95 % of marks.")
    high: float | None


class CompletenessOut(BaseModel):
    """How complete a search is."""

    total: TotalOut
    companies: int = Field(description="Companies that this search found.")
    values: list[ValueShareOut]


@router.get(
    f"{address_of(SEARCHES)}/{{record_id}}/completeness",
    operation_id="read_search_completeness",
    summary="How complete a search is",
    responses=REFUSALS | NOT_FOUND,
)
async def read_completeness(
    who: Reader, connection: Transaction, record_id: UUID
) -> CompletenessOut:
    """Estimate how many companies exist from the overlap of sources, or say why not.

    The same question has to be put to a second source. For each value the answer says how
    many companies have it, and how many of such values are right.
    """
    await record_of(connection, SEARCHES, record_id)
    async with statement_timeout(BULK_TIMEOUT, connection):
        found = await completeness_of(connection, who.tenant_id, record_id)
        marks = await corrections_of(connection, who.tenant_id)
    return completeness_out(found, {each.field: each for each in marks})


def completeness_out(
    found: SearchCompleteness, marks: Mapping[str, FieldCorrection]
) -> CompletenessOut:
    """Write how complete a search is."""
    return CompletenessOut(
        total=TotalOut.model_validate(found.total),
        companies=found.companies,
        values=[share_out(one, marks.get(one.name)) for one in found.values],
    )


def share_out(one: ValueShare, marks: FieldCorrection | None) -> ValueShareOut:
    """Write of how many companies a value is known, and how right it is by the best measure."""
    by_marks = marks.precision if marks else None
    if by_marks is not None and by_marks.marked >= LEAST_MARKED:
        return ValueShareOut(
            name=one.name,
            companies=one.companies,
            expected=by_marks.share,
            basis="marks",
            marked=by_marks.marked,
            low=by_marks.low,
            high=by_marks.high,
        )
    return ValueShareOut(
        name=one.name,
        companies=one.companies,
        expected=one.expected,
        basis="confidence" if one.expected is not None else None,
        marked=by_marks.marked if by_marks else 0,
        low=None,
        high=None,
    )
