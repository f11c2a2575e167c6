"""The shapes of records, lists and answers about them."""

from collections.abc import Iterable
from datetime import date, datetime
from decimal import Decimal
from typing import Annotated, Any, Generic, Literal, TypeVar
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, WithJsonSchema, create_model
from sqlalchemy import Boolean, ColumnElement, Float, Numeric
from sqlalchemy.dialects.postgresql import ARRAY, ENUM, JSONB
from sqlalchemy.orm import InstrumentedAttribute

from contact_extraction.seniority import Seniority
from scrapersky.api.field import RecordIds, SubmittedLine
from scrapersky.api.records.reach import PersonReach
from scrapersky.api.schema import RequestModel
from scrapersky.api.title import Line
from scrapersky.curation.clause import Attribute
from scrapersky.curation.condition import MOST_IDS, Conditions
from scrapersky.records import CURATED, Kind
from scrapersky.records.status import MapField, MapVerdict

LONGEST_WORDS = 200
RecordT = TypeVar("RecordT")


def one_of(names: Iterable[str]) -> WithJsonSchema:
    """Describe a value that is one of some names; what uses it refuses any other."""
    return WithJsonSchema({"type": "string", "enum": [*names]})


CuratedName = Annotated[str, one_of(CURATED)]
"""The name of a kind of record that people decide about."""


class EvidenceOut(BaseModel):
    """Where a value came from."""

    field: str
    value: str | None
    url: str | None
    snippet: str | None
    method: str
    confidence: float | None
    seen_at: datetime | None
    robots: str | None = Field(
        None,
        description="What robots.txt said of the page when it was fetched: `allowed`, or"
        " why there were no rules. Null where a person wrote the value.",
        examples=["allowed"],
    )


class RecordLink(BaseModel):
    """Another record, by the name people call it."""

    id: UUID
    label: str | None


class NamedPerson(BaseModel):
    """Somebody of the business, the likeliest decision maker first."""

    id: UUID
    name: str = Field(examples=["Tavrin Okelo"])
    role: str | None = Field(examples=["Owner"])
    seniority: Seniority | None
    email: str | None = Field(description="Theirs alone; null: none is known.")
    phone: str | None = Field(description="Theirs alone; null: none is known.")
    confidence: float
    is_decision_maker: bool
    reason: str = Field(
        description="What their standing rests on.", examples=["owner: Owner"]
    )
    page_url: str | None = Field(description="The page that says most about them.")
    reach: PersonReach | None = Field(
        None,
        description="Of the decision maker: the best way to reach them, and why it is.",
    )


class SiteBudgetLine(BaseModel):
    """One part of what may be taken of a site."""

    name: str = Field(examples=["pages_fetched"])
    used: float
    most: int


class MapVerdictOut(BaseModel):
    """What a company's own website says of one field that a map gives."""

    model_config = ConfigDict(from_attributes=True)

    field: MapField
    verdict: MapVerdict = Field(
        description="`silent`: the website does not say. `unreachable`: it could not be read."
    )
    confidence: float
    source: str = Field(description="The map: the source of the place.")
    claimed: str = Field(description="What the map says.")
    said: str | None = Field(description="What the website says.")
    why: str = Field(examples=["the website has other numbers"])
    url: str | None = Field(description="The page on which it stands.")
    snippet: str | None
    seen_at: datetime | None


class Detail(BaseModel, Generic[RecordT]):
    """One record with all that is known of it."""

    record: RecordT
    etag: str = Field(description="Send it as `If-Match` with a change.")
    evidence: list[EvidenceOut]
    related: dict[str, list[RecordLink]]
    people: list[NamedPerson] = Field(
        [], description="The people of the business, or those a page names; at most 50."
    )
    budget: list[SiteBudgetLine] = Field(
        [], description="Of a domain: what may be taken of its site, and what was."
    )
    verdicts: list[MapVerdictOut] = Field(
        [], description="Of a company: what its website says of what a map says of it."
    )


class MergedDetail(Detail[RecordT], Generic[RecordT]):
    """A record that others were merged into."""

    action_id: UUID | None = Field(
        description="The handle to undo it by, if it can be."
    )


class RecordEvent(BaseModel):
    """One thing that happened to a record."""

    at: datetime
    what: str = Field(examples=["decided"])
    who: str | None = Field(examples=["ada@example.com"])
    status_before: str | None = None
    status_after: str | None = None
    details: dict[str, Any] = {}


class RecordHistory(BaseModel):
    """Everything that happened to a record, the latest first."""

    events: list[RecordEvent]


class FacetValue(BaseModel):
    """One value of a field, and how many records have it."""

    value: str | bool | int | float | None
    count: int


class Facets(BaseModel):
    """The values of some fields among the records of a list."""

    facets: dict[str, list[FacetValue]]
    is_exact: bool = Field(
        description="Otherwise the counts are estimates, from a sample of the records."
    )


class FieldOut(BaseModel):
    """A field that lists can be filtered and sorted by."""

    name: str
    title: str | None = Field(None, description="What you call your own column.")
    type: str = Field(examples=["text"])
    values: list[str] | None
    comparisons: list[str]
    sortable: bool


class StatusIn(RequestModel):
    """Which records get which status: these ids, or all that a list would show."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [
                {
                    "filter": [
                        {"field": "rating", "comparison": "at_least", "value": 4}
                    ],
                    "status": "Selected",
                    "dry_run": True,
                }
            ]
        },
    )

    ids: RecordIds | None = None
    filter: Conditions | None = None
    q: str | None = Field(None, max_length=LONGEST_WORDS)
    status: str = Field(max_length=50)
    force: bool = False
    dry_run: bool = False


class StatusOut(BaseModel):
    """What a decision came to, and the handle to undo it by."""

    action_id: UUID | None
    matched: int
    changed: int
    queued: int
    skipped: dict[str, int]
    dry_run: bool


class RefusedLine(BaseModel):
    """A line that could not be used."""

    line: int
    value: str
    reason: str


class SubmissionOut(BaseModel):
    """What a submission came to, line by line where something was wrong."""

    batch_id: UUID
    accepted: int
    duplicates: int
    refused_count: int
    refused: list[RefusedLine] = Field(description="The first hundred.")


Priority = Annotated[
    int,
    Field(
        ge=-1000,
        le=1000,
        description="Stages take records of a higher priority first.",
        examples=[10],
    ),
]


class SubmitIn(RequestModel):
    """Lines to submit together."""

    items: Annotated[list[SubmittedLine], Field(fail_fast=True)] = Field(
        min_length=1, max_length=MOST_IDS, examples=[["example.com", "example.org"]]
    )
    name: Line | None = None
    priority: Priority = 0


def record_model(resource: Kind) -> type[BaseModel]:
    """Make the shape of a kind of record from its columns."""
    shown: dict[str, Any] = {
        name: (type_of(column), ...) for name, column in resource.fields.items()
    }
    for extra, expression in resource.extras.items():
        shown.setdefault(extra, (extra_type(expression), ...))
    name = "".join(word.title() for word in resource.singular.split("_"))
    made: type[BaseModel] = create_model(
        f"{name}Out", __doc__=resource.record.__doc__, **shown
    )
    return made


def extra_type(expression: ColumnElement[Any]) -> Any:  # noqa: ANN401 - a type
    """Return the type in an answer of what is not a column."""
    if isinstance(expression.type, JSONB):
        return dict[str, Any]
    if isinstance(expression.type, ARRAY):
        return list[str] | None
    return bool if isinstance(expression.type, Boolean) else str | None


def type_of(column: InstrumentedAttribute[Any]) -> Any:  # noqa: ANN401 - a type
    """Return the type a column has in an answer."""
    kind = column.type
    found: Any
    match kind:
        case ENUM():
            found = kind.enum_class
        case ARRAY():
            found = list[str]
        case JSONB():
            found = list[Any] | dict[str, Any]
        case Numeric() if not isinstance(kind, Float):
            found = Decimal
        case _:
            found = kind.python_type
    is_nullable = bool(column.property.columns[0].nullable)
    return found | None if is_nullable else found


def field_type(column: Attribute) -> str:
    """Name the type of a column in a word."""
    kind = column.type
    if isinstance(kind, ENUM):
        return "status"
    if isinstance(kind, ARRAY):
        return "list"
    if isinstance(kind, JSONB):
        return "object"
    words: dict[type, str] = {
        str: "text",
        int: "number",
        float: "number",
        Decimal: "number",
        bool: "yes_no",
        datetime: "time",
        date: "date",
        UUID: "id",
    }
    return words[kind.python_type]


ExportFormat = Literal["csv", "xlsx", "jsonl"]
