"""How records lead to each other: tables are named, so that no file needs all others."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import Column, ColumnElement, Row, Table, select
from sqlalchemy.orm import InstrumentedAttribute

from scrapersky.records.base import Base
from scrapersky.records.work_queue import Attribute

HITS: Final = "place_search_hits"
COMPANY_STATUS: Final = "company_status"
"""The lead status of the company that a record is of."""
Through = Callable[[ColumnElement[bool]], ColumnElement[bool]]


def table(name: str) -> Table:
    """Return a table of the records by its name."""
    return Base.metadata.tables[name]


@dataclass(frozen=True, slots=True)
class LinkedField:
    """A column of another table, and how a record gets there."""

    table: str
    name: str
    through: Through

    @property
    def column(self) -> Column[Any]:
        """Return the column."""
        return table(self.table).c[self.name]


@dataclass(frozen=True, slots=True)
class LinkedWords:
    """Texts of other records in which words are looked for, too."""

    ours: Attribute
    theirs: Attribute
    """Their column that equals ours."""
    texts: tuple[Attribute, ...]


@dataclass(frozen=True, slots=True)
class LinkTable:
    """A table between two kinds: the columns with our key and with theirs."""

    table: str
    ours: str
    theirs: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Related:
    """The records of another kind that belong to a record."""

    kind: str
    theirs: str = "id"
    """Their column that is compared."""
    ours: str = "id"
    """Our column that it equals."""
    through: LinkTable | None = None
    """The table in which pairs of both stand, if neither names the other."""

    def clause(self, record: Any, row: Row[Any]) -> ColumnElement[bool]:  # noqa: ANN401
        """Match the records of the other kind's class that belong to a row."""
        column: InstrumentedAttribute[Any] = getattr(record, self.theirs)
        value = getattr(row, self.ours)
        if self.through is None:
            names_it: ColumnElement[bool] = column == value
            return names_it
        between = table(self.through.table)
        pairs = select(between.c[self.through.theirs])
        return column.in_(pairs.where(between.c[self.through.ours] == value))


def by_domain(domain_id: Attribute) -> LinkedField:
    """Reach the name of the domain a record belongs to."""

    def through(matches: ColumnElement[bool]) -> ColumnElement[bool]:
        return domain_id.in_(select(table("domains").c.id).where(matches))

    return LinkedField("domains", "domain", through)


def by_search(domain_id: Attribute) -> LinkedField:
    """Reach the searches that found a business of the record's domain."""

    def through(matches: ColumnElement[bool]) -> ColumnElement[bool]:
        businesses, hits = table("local_businesses"), table(HITS)
        return domain_id.in_(
            select(businesses.c.domain_id)
            .join(hits, hits.c.place_id == businesses.c.place_id)
            .where(matches)
        )

    return LinkedField(HITS, "search_id", through)


def by_company(domain_id: Attribute) -> LinkedField:
    """Reach the lead status of the companies whose website a record is of."""

    def through(matches: ColumnElement[bool]) -> ColumnElement[bool]:
        companies = table("companies")
        return domain_id.in_(select(companies.c.domain_id).where(matches))

    return LinkedField("companies", "lead_status", through)


def by_membership(record_id: Attribute, member: str) -> LinkedField:
    """Reach the lead status of the company that a record is a part of."""

    def through(matches: ColumnElement[bool]) -> ColumnElement[bool]:
        companies, members = table("companies"), table("company_members")
        return record_id.in_(
            select(members.c[member])
            .join(companies, companies.c.id == members.c.company_id)
            .where(matches)
        )

    return LinkedField("companies", "lead_status", through)


def through_domain(domain_id: Attribute) -> dict[str, LinkedField]:
    """Reach what stands behind the domain a record belongs to."""
    return {
        "search_id": by_search(domain_id),
        "domain": by_domain(domain_id),
        COMPANY_STATUS: by_company(domain_id),
    }


def by_hit(place_id: Attribute) -> LinkedField:
    """Reach the searches that found a place."""

    def through(matches: ColumnElement[bool]) -> ColumnElement[bool]:
        return place_id.in_(select(table(HITS).c.place_id).where(matches))

    return LinkedField(HITS, "search_id", through)
