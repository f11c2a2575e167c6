"""People as a kind of record: listed, filtered and exported, and never decided about."""

from typing import Any

from sqlalchemy import Row, func, select

from scrapersky.records.contact import first_business
from scrapersky.records.domain import domain_name
from scrapersky.records.kind import Kind, Origin
from scrapersky.records.link import Related, through_domain
from scrapersky.records.page import Page
from scrapersky.records.person import Person, decision_maker


def pages_that_name_them(row: Row[Any]) -> list[Origin]:
    """Report where a person is named."""
    return [
        Origin(field="name", value=row.name, confidence=row.confidence, **seen)
        for seen in row.evidence
    ]


PEOPLE = Kind(
    Person,
    path="/people",
    singular="person",
    plural="people",
    label=func.concat_ws(", ", Person.name, Person.role),
    icon="contact",
    about="Whom the websites of businesses name as their own.",
    facets=("seniority", "role"),
    words=(Person.name, Person.role, Person.email, Person.phone),
    extras={
        "domain": domain_name(Person.domain_id),
        "business": first_business(Person.domain_id),
        "page_url": (
            select(Page.url)
            .where(Page.id == Person.page_id)
            .correlate_except(Page)
            .scalar_subquery()
        ),
        "is_decision_maker": Person.id
        == decision_maker(Person.domain_id, lambda one: one.id),
    },
    linked=through_domain(Person.domain_id),
    related=(
        Related(kind="domains", ours="domain_id"),
        Related(kind="pages", ours="page_id"),
        Related(kind="businesses", theirs="domain_id", ours="domain_id"),
        Related(kind="companies", theirs="domain_id", ours="domain_id"),
    ),
    origins=pages_that_name_them,
)
