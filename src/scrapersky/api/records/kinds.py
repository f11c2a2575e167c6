"""The kinds of records as they declare themselves: what the page is made from."""

from collections.abc import Mapping
from functools import cache
from typing import Final, Literal

from fastapi import APIRouter
from pydantic import BaseModel, Field

from scrapersky.api.dependency import Reader
from scrapersky.api.records.list_query import is_sortable
from scrapersky.api.records.schema import field_type
from scrapersky.api.schema import REFUSALS
from scrapersky.curation.condition import Condition, auto_select_conditions
from scrapersky.export.contacts import columns_of
from scrapersky.export.preset import PRESETS_OF, REQUIRED
from scrapersky.records import KINDS, Kind
from scrapersky.records.kind import Column, Decision

router = APIRouter(prefix="/api/v3/kinds", tags=["records"])

DisplayName = Literal[
    "text", "title", "person", "email", "phone", "strong", "link", "word", "status",
    "list", "number", "bytes", "share", "rating", "time",
]  # fmt: skip
"""How the page shows a value."""

BY_TYPE: Final[Mapping[str, DisplayName]] = {
    "status": "status",
    "list": "list",
    "number": "number",
    "time": "time",
    "date": "time",
}


class ChoiceOut(BaseModel):
    """A status that a person may set."""

    status: str = Field(examples=["Selected"])
    key: str = Field(description="The key that sets it.", examples=["s"])
    icon: str


class DecisionOut(BaseModel):
    """What people decide about a record."""

    field: str = Field(description="The field of the decision.", examples=["status"])
    choices: list[ChoiceOut]
    undecided: str = Field(examples=["New"])
    on: str | None = Field(
        description="The status that starts a stage; null: none does."
    )
    starts: str | None = Field(description="That stage.", examples=["deep_scan"])
    stage_field: str | None = Field(examples=["deep_scan_status"])
    error_field: str | None = Field(examples=["deep_scan_error"])
    unattended: list[Condition] | None = Field(
        description="Which of the undecided are taken where no person decides;"
        " null: none."
    )
    is_within_site_budget: bool = Field(
        description="Whether a rule may take the best of each site only: `best_first`."
    )
    busy: list[str] = Field(
        description="What `stage_field` says of records that the stage has, or has had:"
        " a decision does not start it again.",
        examples=[["Queued", "Processing", "Complete"]],
    )


class ColumnOut(BaseModel):
    """A column of the page's list."""

    field: str
    title: str
    width: float
    grow: float = Field(description="Its share of the room that is left.")
    show: DisplayName
    instead: list[str] = Field(description="Shown where the field is empty.")
    under: list[str] = Field(description="Fields in a smaller line below.")
    only_with: str | None = Field(description="Shown only where this field is known.")
    is_hidden: bool = Field(description="Not shown until chosen.")
    is_sortable: bool
    sort: str = Field(description="The field that sorts it.", examples=["owner_id"])


class QuickFilterOut(BaseModel):
    """A filter that people ask for in words."""

    title: str = Field(examples=["No website"])
    filter: str = Field(examples=["website:unknown"])


class RecordSourceOut(BaseModel):
    """What to say where there are no records yet."""

    text: str
    screen: str
    action: str


class RecordKindOut(BaseModel):
    """A kind of record: its address, its words, what people see and decide."""

    name: str = Field(examples=["sitemap_files"])
    path: str = Field(description="Below `/api/v3`.", examples=["/sitemap-files"])
    title: str = Field(examples=["Sitemap files"])
    singular: str = Field(examples=["sitemap file"])
    plural: str = Field(examples=["sitemap files"])
    icon: str
    key: str | None = Field(description="The key, after `g`, that leads to the list.")
    about: str
    source: RecordSourceOut | None
    label: list[str] = Field(
        description="A record is known by the first of these that has a value."
    )
    unnamed: str
    under: list[str]
    decision: DecisionOut | None
    columns: list[ColumnOut]
    quick_filters: list[QuickFilterOut] = Field(description="Filters one click away.")
    facts: list[str] = Field(description="Fields that are shown first.")
    exported: list[str] = Field(description="The columns that a file may have.")
    submission: str | None = Field(description="What a batch of them is called.")
    presets: list[str] = Field(
        description="Ready-made columns and headings for files.", examples=[["hubspot"]]
    )
    required: dict[str, list[str]] = Field(
        description="The fields without which the program of a preset refuses a row.",
        examples=[{"salesforce": ["name"]}],
    )
    is_step: bool = Field(
        description="Whether it stands between a search and its leads."
    )
    is_mergeable: bool = Field(description="Whether people make one of several.")
    has_priority: bool = Field(
        description="Whether stages take those of a higher priority first."
    )
    has_owner: bool = Field(
        description="Whether people assign them: `POST <path>/work`."
    )
    has_pairs: bool = Field(description="Whether people say which two are one.")
    has_site_budget: bool = Field(description="Whether a detail has a site's budget.")
    form: Literal["company", "contact"] | None = Field(
        description="The form in which people edit one."
    )


@router.get(
    "", operation_id="list_kinds", summary="List kinds of records", responses=REFUSALS
)
async def list_kinds(
    who: Reader,  # noqa: ARG001 - checked
) -> list[RecordKindOut]:
    """Report every kind of record, in the order of the pipeline."""
    return described()


@cache
def described() -> list[RecordKindOut]:
    """Describe every kind; they do not change while the process runs."""
    return [describe(kind) for kind in KINDS.values()]


def describe(kind: Kind) -> RecordKindOut:
    """Describe one kind."""
    return RecordKindOut(
        name=kind.name,
        path=kind.path,
        title=kind.title,
        singular=kind.singular.replace("_", " "),
        plural=kind.plural.replace("_", " "),
        icon=kind.icon,
        key=kind.key,
        about=kind.about,
        source=RecordSourceOut.model_validate(kind.source, from_attributes=True)
        if kind.source
        else None,
        label=[*kind.label] if isinstance(kind.label, tuple) else [],
        unnamed=kind.unnamed,
        under=[*kind.under],
        decision=describe_decision(kind, kind.decision) if kind.decision else None,
        columns=[describe_column(kind, column) for column in kind.columns],
        quick_filters=[
            QuickFilterOut(title=each.title, filter=each.filter)
            for each in kind.quick_filters
        ],
        facts=[*kind.facts],
        exported=[*columns_of(kind)],
        submission=kind.submission.name if kind.submission else None,
        presets=[*PRESETS_OF.get(kind.name, ())],
        required={
            preset: [*fields] for preset, fields in REQUIRED.get(kind.name, {}).items()
        },
        is_step=kind.is_step,
        is_mergeable=kind.is_mergeable,
        has_priority="priority" in kind.fields,
        has_owner="owner_id" in kind.fields,
        has_pairs=kind.has_pairs,
        has_site_budget=kind.has_site_budget,
        form=kind.form,
    )


def describe_decision(kind: Kind, decision: Decision) -> DecisionOut:
    """Describe what people decide."""
    chosen = auto_select_conditions(kind)
    return DecisionOut(
        field=decision.column.key,
        choices=[
            ChoiceOut(status=choice.status.value, key=choice.key, icon=choice.icon)
            for choice in decision.choices
        ],
        undecided=decision.undecided.value,
        on=decision.on.value if decision.on else None,
        starts=decision.starts,
        is_within_site_budget=decision.is_within_site_budget,
        stage_field=decision.queue.column.key if decision.queue else None,
        error_field=decision.queue.error.key if decision.queue else None,
        unattended=None if chosen is None else [*chosen],
        busy=[status.value for status in decision.queue.busy] if decision.queue else [],
    )


def describe_column(kind: Kind, column: Column) -> ColumnOut:
    """Describe one column; where nothing says how it is shown, its type does."""
    sort = column.sort or column.field
    field = kind.fields.get(sort)
    return ColumnOut(
        field=column.field,
        title=column.title,
        width=column.width,
        grow=column.grow,
        show=display_of(kind, column),
        instead=[*column.instead],
        under=[*column.under],
        only_with=column.only_with,
        is_hidden=column.is_hidden,
        is_sortable=field is not None and is_sortable(field),
        sort=sort,
    )


def display_of(kind: Kind, column: Column) -> DisplayName:
    """Say how a column is shown."""
    if column.show is not None:
        return column.show.value
    field = kind.fields.get(column.field)
    if field is None:
        return "text"
    return BY_TYPE.get(field_type(field), "text")
