"""A kind of record: its table, its words, and what people see of it and decide about it.

The record's own file declares it. The routes, the lists, the exports, the command line
and the page are made from these declarations.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from functools import cache
from typing import Any, Final, Literal
from uuid import UUID

from sqlalchemy import ColumnElement, Executable, Row, false, func
from sqlalchemy import inspect as inspect_record
from sqlalchemy.orm import InstrumentedAttribute

from scrapersky.errors import InvalidDecision
from scrapersky.records.link import LinkedField, LinkedWords, Related
from scrapersky.records.status import CurationStatus
from scrapersky.records.work_queue import Attribute, WorkQueue

HIDDEN: Final = frozenset({"tenant_id", "raw", "name_order", "city_order"})
"""Columns nobody is shown: decided by who asks, not ours, or made for the database."""


class Show(StrEnum):
    """How the page shows a value; without one, the type of the column decides."""

    TITLE = "title"
    PERSON = "person"
    """A name, after the role that stands in `under`."""
    EMAIL = "email"
    """Written to with one click; a mark says whether mail arrives."""
    PHONE = "phone"
    """Grouped for reading, called with one click."""
    STRONG = "strong"
    LINK = "link"
    WORD = "word"
    """One of a few words that are written for machines."""
    BYTES = "bytes"
    SHARE = "share"
    RATING = "rating"


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A column of the page's list."""

    field: str
    title: str
    width: float
    """In the height of a letter; with `grow` it is the least."""
    grow: float = 0
    """The share of the room that is left."""
    show: Show | None = None
    instead: tuple[str, ...] = ()
    """Fields that are shown where this one is empty."""
    under: tuple[str, ...] = ()
    """Fields in a smaller line below."""
    only_with: str | None = None
    """Shown only where this field has a value."""
    sort: str | None = None
    """The field that sorts it; None: its own."""
    is_hidden: bool = False
    """Not shown until somebody chooses it."""


CHANGED: Final = Column(field="updated_at", title="Changed", width=6)


@dataclass(frozen=True, slots=True)
class StatusChoice:
    """A status that a person may set, the key that sets it, and its picture."""

    status: StrEnum
    key: str
    icon: str


CURATION: Final = (
    StatusChoice(CurationStatus.SELECTED, "s", "check"),
    StatusChoice(CurationStatus.MAYBE, "m", "clock"),
    StatusChoice(CurationStatus.NOT_A_FIT, "n", "cross"),
    StatusChoice(CurationStatus.ARCHIVED, "v", "archive"),
    StatusChoice(CurationStatus.NEW, "b", "undo"),
)


AutoSelect = tuple[tuple[str, str, str | None], ...]
"""Conditions, each a field, a comparison and a value; all of them must hold."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What people decide about a record, and the stage that this starts, if any.

    The dual-status rule: setting `on` in `column` sets the queue's column to its queued
    status and clears its error, in the same transaction, unless the stage has the
    record or has had it. A decision without a queue only says where people are.
    """

    column: Attribute
    choices: tuple[StatusChoice, ...]
    """The statuses a person may set; the others are set by a stage."""
    on: StrEnum | None = None
    starts: str | None = None
    queue: WorkQueue | None = None
    auto_select: AutoSelect | None = None
    """Which of the undecided are taken where no person decides; None: none of them."""
    is_within_site_budget: bool = False
    """Whether what is taken is fetched: only the best of each site may be, then."""
    is_optional: bool = False
    """Whether the stage only adds to a finished record: it is left out unless asked for."""
    lasting: StrEnum | None = None
    """The status that a decision about many leaves, unless it names that status."""
    renewed: Callable[[ColumnElement[Any]], ColumnElement[bool]] | None = None
    """Says whether a record got that status from elsewhere too, since a time."""

    @property
    def statuses(self) -> type[StrEnum]:
        """Return every status there is."""
        return type(self.choices[0].status)

    @property
    def undecided(self) -> StrEnum:
        """Return the status of what nobody has decided about."""
        return self.statuses("New")

    @property
    def settable(self) -> tuple[str, ...]:
        """Return the statuses that a person may set."""
        return tuple(choice.status.value for choice in self.choices)


def curation(
    column: Attribute,
    *,
    starts: str,
    queue: WorkQueue,
    auto_select: AutoSelect | None = None,
) -> Decision:
    """Let people select a record, think about it, or put it aside."""
    return Decision(
        column=column,
        choices=CURATION,
        on=CurationStatus.SELECTED,
        starts=starts,
        queue=queue,
        auto_select=auto_select,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Submission:
    """How records are submitted directly, in batches."""

    name: str
    """What a batch is made of."""
    stage: str
    """The stage that its items go through first."""
    queue: WorkQueue
    """The queue in which that stage finds them."""
    link: str
    """The column of a batch item that names the record."""
    key: Literal["domain", "url"]
    """What of a line its record is found by."""
    headings: tuple[str, ...]
    """How the column of a file may be called, the best name first."""
    forget: Executable | None = None
    """Deletes what was only a line of a `:batch` that is cancelled."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportFile:
    """What a file of a kind holds, and who is left out of it."""

    columns: tuple[str, ...] = ()
    """Its columns, where they are not those of the list."""
    query: Executable | None = None
    """Reads those columns of the records `:ids` of a `:tenant`."""
    needed: Mapping[str, Attribute] = field(default_factory=dict)
    """What programs need of a row: how many lack it is said before it is downloaded."""
    withheld_by: tuple[Literal["domain", "email", "phone"], ...] = ("domain",)
    """Values that keep a row out where somebody is on the suppression list."""


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a value of a record came from."""

    field: str
    method: str
    value: str | None = None
    url: str | None = None
    snippet: str | None = None
    confidence: float | None = None
    seen_at: datetime | None = None
    robots: str | None = None


@dataclass(frozen=True, slots=True)
class EmptyState:
    """What to say and to offer where there are no records yet."""

    text: str
    screen: str
    action: str


@dataclass(frozen=True, slots=True)
class QuickFilter:
    """A question that people ask of a list, in their words, and the filter that answers it."""

    title: str
    filter: str
    """As in the address of a list: `website:unknown`."""


@cache
def fields_of(record: Any) -> dict[str, InstrumentedAttribute[Any]]:  # noqa: ANN401
    """Return the columns of a class of records that people may see."""
    return {
        name: getattr(record, name)
        for name in inspect_record(record).columns.keys()  # noqa: SIM118 - attribute names
        if name not in HIDDEN
    }


def no_origins(_row: Row[Any]) -> Sequence[Origin]:
    """Return nothing: what a person asked for needs no evidence."""
    return ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """A kind of record."""

    record: Any = field(kw_only=False)
    """The class of the records."""
    path: str
    """Its address below `/api/v3`."""
    singular: str
    plural: str
    label: tuple[str, ...] | ColumnElement[Any]
    """What a person knows the record by: the first of these fields that has a value."""
    unnamed: str = ""
    """What a record is called that has no such value."""
    under: tuple[str, ...] = ()
    """Fields in a smaller line below the label."""
    icon: str = "page"
    key: str | None = None
    """The key, after `g`, that leads to its list on the page."""
    about: str = ""
    source: EmptyState | None = None
    decision: Decision | None = None
    columns: tuple[Column, ...] = ()
    facts: tuple[str, ...] = ()
    """Fields that are shown first in a detail."""
    facets: tuple[str, ...] = ()
    """Fields of few values, which can be counted."""
    quick_filters: tuple[QuickFilter, ...] = ()
    """Filters that are one click away."""
    words: tuple[Attribute, ...] = ()
    """Where a word is looked for."""
    linked_words: tuple[LinkedWords, ...] = ()
    """Where else: in the texts of other records that belong to it."""
    orders: Mapping[str, Attribute] = field(default_factory=dict)
    """The columns that lists are sorted by in place of what people read."""
    partial_index_from: Mapping[str, float] = field(default_factory=dict)
    """Numbers whose index holds only what has at least so much: the top of a list."""
    extras: Mapping[str, ColumnElement[Any]] = field(default_factory=dict)
    """What is shown with the record and kept elsewhere, or shown in another form."""
    linked: Mapping[str, LinkedField] = field(default_factory=dict)
    """What can be filtered by, and stands in another table."""
    values: Mapping[str, ColumnElement[Any]] = field(default_factory=dict)
    """What one record has of these, which are counted only where that is asked."""
    related: tuple[Related, ...] = ()
    """The records that belong to one."""
    origins: Callable[[Row[Any]], Sequence[Origin] | Executable] = no_origins
    """Where the values of a record came from, or the query that finds it."""
    submission: Submission | None = None
    is_step: bool = False
    """Whether it stands between a search and its leads: the page folds its list away."""
    has_site_budget: bool = False
    """Whether its detail shows what may be taken of a site: `PATCH <path>/{id}/budget`."""
    has_pairs: bool = False
    """Whether people are asked which two of them are one."""
    form: Literal["company", "contact"] | None = None
    """The form of the page in which people edit one."""
    file: ExportFile = field(default_factory=ExportFile)
    is_mergeable: bool = False
    """Whether people make one of several: `POST <path>/merge`."""

    @property
    def name(self) -> str:
        """Return the name of the kind."""
        return self.plural

    @property
    def title(self) -> str:
        """Return its name as a heading."""
        return self.plural.replace("_", " ").capitalize()

    @property
    def table(self) -> str:
        """Return the name of the table."""
        return str(self.record.__tablename__)

    @property
    def fields(self) -> Mapping[str, InstrumentedAttribute[Any]]:
        """Return the columns that are shown, filtered and sorted by."""
        return fields_of(self.record)

    def order_of(self, name: str) -> InstrumentedAttribute[Any]:
        """Return the column that puts a field in order."""
        return self.orders.get(name) or self.fields[name]

    @property
    def label_expression(self) -> ColumnElement[Any]:
        """Return what a person knows the record by, for SQL."""
        if isinstance(self.label, ColumnElement):
            return self.label
        return func.coalesce(*(getattr(self.record, name) for name in self.label))

    @property
    def is_lead(self) -> bool:
        """Say whether its own status says that somebody must not be contacted."""
        return self.decision is not None and self.decision.lasting is not None

    @property
    def deciding(self) -> Decision:
        """Return what people decide, or raise where there is nothing to decide."""
        if self.decision is None:
            raise InvalidDecision(f"There is nothing to decide about {self.plural}.")
        return self.decision

    def found_by(self, search_id: UUID) -> ColumnElement[bool]:
        """Match the records that one search led to; none without a way to a search."""
        search = self.linked.get("search_id")
        if search is None:
            return false()
        return search.through(search.column == search_id)

    def status_named(self, label: str) -> StrEnum:
        """Return the curation status of this label, or say which there are."""
        statuses = self.deciding.statuses
        try:
            return statuses(label)
        except ValueError as error:
            known = ", ".join(member.value for member in statuses)
            raise InvalidDecision(
                f"'{label[:50]}' is not a status of {self.name}.",
                hint=f"Choose one of: {known}.",
            ) from error
