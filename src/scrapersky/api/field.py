"""Types of the fields of requests, each with its bound; the document states them all.

A text without a longest length, a list without a largest size or an object without a
largest number of keys is refused by `tests/api/gateway/test_largest_requests.py`: the size
of a whole request is the bound of last resort, for files alone.
"""

from decimal import Decimal
from typing import Annotated, Any, Final
from uuid import UUID

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema

from scrapersky.curation.condition import MOST_CONDITIONS, MOST_IDS

LONGEST_QUERY: Final = 16_384
"""Bytes of all that stands after the question mark of an address."""
LONGEST_AMOUNT: Final = 30
LONGEST_LINE: Final = 65_536
LONGEST_OWN_TEXT: Final = 2_000
MOST_RINGS: Final = 20
MOST_POINTS: Final = 1_000

FilterText = Annotated[str, Field(max_length=LONGEST_QUERY)]
FilterTexts = Annotated[
    list[FilterText], Field(max_length=MOST_CONDITIONS, fail_fast=True)
]
"""Filters as they stand in an address, `FIELD:COMPARISON:VALUE`."""
ListCursor = Annotated[str, Field(max_length=LONGEST_QUERY)]
"""Where a list was left; it holds the last value of what the list is sorted by."""
RecordIds = Annotated[list[UUID], Field(max_length=MOST_IDS, fail_fast=True)]
"""Records that somebody has chosen one by one."""
SubmittedLine = Annotated[str, Field(max_length=LONGEST_LINE)]
"""What stands in one line of a list: as long as in a file."""
OwnValue = Annotated[str, Field(max_length=LONGEST_OWN_TEXT)] | float | None
"""The value of a tenant's own column."""


def require_short(given: Any) -> Any:  # noqa: ANN401 - JSON that nobody has read yet
    """Raise ValueError on a number of more digits than any amount has."""
    if isinstance(given, str) and len(given) > LONGEST_AMOUNT:
        raise ValueError(f"use at most {LONGEST_AMOUNT} character(s)")
    return given


Amount = Annotated[
    Decimal,
    Field(ge=0, le=100_000, max_digits=12, decimal_places=4),
    BeforeValidator(require_short),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "number", "minimum": 0, "maximum": 100_000},
                {"type": "string", "maxLength": LONGEST_AMOUNT},
            ]
        }
    ),
]
"""US dollars, up to 100,000, to a hundredth of a cent."""

Place = Annotated[list[float], Field(min_length=2, max_length=2)]
Outline = Annotated[list[Place], Field(max_length=MOST_POINTS, fail_fast=True)]


class AreaIn(BaseModel):
    """Where on Earth, in degrees: one of the three."""

    model_config = ConfigDict(extra="forbid")

    box: list[float] | None = Field(
        None, min_length=4, max_length=4, description="South, west, north, east."
    )
    circle: list[float] | None = Field(
        None, min_length=3, max_length=3, description="Latitude, longitude, metres."
    )
    polygon: Annotated[list[Outline], Field(fail_fast=True)] | None = Field(
        None, max_length=MOST_RINGS, description="Rings of [latitude, longitude]."
    )
