"""Draw values of a list at random for a person to mark, and measure by the marks."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Any, Final
from uuid import UUID

from sqlalchemy import ColumnElement, func, insert, select, text
from sqlalchemy.ext.asyncio import AsyncConnection

from scrapersky.curation.clause import where
from scrapersky.curation.condition import Condition
from scrapersky.curation.search import matches
from scrapersky.errors import InvalidDecision
from scrapersky.records import Company, Contact, Kind, SampledValue, ValueSample
from scrapersky.records.audit import Actor
from scrapersky.records.company import of_contact, of_decision_maker
from scrapersky.records.domain import domain_name
from scrapersky.records.status import ValueMark

SAMPLE_VALUES: Final = 20
NORMAL_95: Final = 1.96
BETWEEN: Final = ": "
"""Stands between a person and their role."""
PRIOR_WEIGHT: Final = 10
"""Marks for which the measured confidence counts before a tenant has marked anything."""


def role_of(name: ColumnElement[Any], role: ColumnElement[Any]) -> ColumnElement[Any]:
    """Show a role with whose it is; nothing where one of the two is unknown."""
    return name + BETWEEN + role


SAMPLED: Final[Mapping[str, Mapping[str, ColumnElement[Any]]]] = {
    "companies": {
        "email": of_contact("email"),
        "phone": Company.phone.expression,
        "person": of_decision_maker("name"),
        "role": role_of(of_decision_maker("name"), of_decision_maker("role")),
        "address": func.nullif(
            func.concat_ws(", ", Company.street, Company.postal_code, Company.city), ""
        ),
    },
    "contacts": {
        "email": Contact.email.expression,
        "phone": Contact.phone.expression,
        "person": Contact.name.expression,
        "role": role_of(Contact.name.expression, Contact.role.expression),
        "address": Contact.address["text"].astext,
    },
}
"""The fields of which a list can draw a sample, and the value of each."""
OF_CONTACT: Final = """SELECT url, snippet, method, confidence FROM contact_evidence
  WHERE contact_id = (SELECT email_contact_id FROM companies WHERE id = :id
    UNION ALL SELECT id FROM contacts WHERE id = :id LIMIT 1)
  AND (value = :value OR :value LIKE '%: ' || value AND field = 'role')
  ORDER BY confidence DESC, id LIMIT 1"""
OF_SITE: Final = """SELECT e.url, e.snippet, e.method, e.confidence FROM companies c
  JOIN contacts x ON x.domain_id = c.domain_id JOIN contact_evidence e ON e.contact_id = x.id
  WHERE c.id = :id AND e.value = :value ORDER BY e.confidence DESC, e.id LIMIT 1"""
OF_PERSON: Final = """SELECT p.evidence->0->>'url' AS url, p.evidence->0->>'snippet' AS snippet,
    p.evidence->0->>'method' AS method, p.confidence
  FROM companies c JOIN people p ON p.id = c.decision_maker_id WHERE c.id = :id"""
OF_OFFICE: Final = """SELECT v.url, v.snippet, v.source AS method, v.confidence
  FROM company_verdicts v WHERE v.company_id = :id AND v.field::text = 'address'"""
WHERE_SEEN: Final = {
    ("companies", "email"): text(OF_CONTACT),
    ("companies", "phone"): text(OF_SITE),
    ("companies", "person"): text(OF_PERSON),
    ("companies", "role"): text(OF_PERSON),
    ("companies", "address"): text(OF_OFFICE),
}
"""Where a value of a kind was read; a contact's own evidence is the same for every field."""
# Marked twice, a value counts once, as it was marked last.
MARKS: Final = text(
    f"""SELECT field, count(*) FILTER (WHERE mark = '{ValueMark.RIGHT}') AS right,
      count(*) FILTER (WHERE mark = '{ValueMark.WRONG}') AS wrong,
      avg(confidence) FILTER (WHERE mark <> '{ValueMark.UNKNOWN}') AS claimed
    FROM (SELECT DISTINCT ON (s.field, v.record_id, v.value) s.field, v.mark, v.confidence
      FROM sampled_values v JOIN value_samples s ON s.id = v.sample_id
      WHERE v.tenant_id = :tenant AND v.mark IS NOT NULL
      ORDER BY s.field, v.record_id, v.value, v.marked_at DESC) AS latest
    GROUP BY field ORDER BY field"""  # noqa: S608 - our own labels
)


@dataclass(frozen=True, slots=True)
class MeasuredPrecision:
    """What share of values is right, by marks, and between what it lies in 95 of 100 cases."""

    right: int
    wrong: int
    share: float | None
    low: float | None
    high: float | None

    @property
    def marked(self) -> int:
        """Return how many values were marked right or wrong."""
        return self.right + self.wrong


@dataclass(frozen=True, slots=True)
class FieldCorrection:
    """How sure a tenant may be of a field, by its own marks and what was measured before."""

    field: str
    precision: MeasuredPrecision
    claimed: float | None
    """The mean confidence of the values that were marked."""
    corrected: float | None


def precision_of(
    right: int, wrong: int, population: int | None = None
) -> MeasuredPrecision:
    """Measure by marks: Wilson's interval, narrower where they are much of a small list."""
    marked = right + wrong
    if not marked:
        return MeasuredPrecision(0, 0, None, None, None)
    share = right / marked
    size = float(marked)
    if population is not None:
        if marked >= population:
            return MeasuredPrecision(right, wrong, share, share, share)
        size = marked * (population - 1) / (population - marked)
    squared = NORMAL_95**2
    middle = (share + squared / (2 * size)) / (1 + squared / size)
    spread = (
        NORMAL_95 * sqrt(share * (1 - share) / size + squared / (4 * size**2))
    ) / (1 + squared / size)  # fmt: skip
    low, high = max(0.0, middle - spread), min(1.0, middle + spread)
    return MeasuredPrecision(right, wrong, share, low, high)


async def draw_sample(
    connection: AsyncConnection,
    actor: Actor,
    kind: Kind,
    field: str,
    *,
    conditions: Iterable[Condition],
    words: str | None,
    query: Mapping[str, Any],
) -> UUID:
    """Draw values of a list at random, each with where it was read; return the sample."""
    values = SAMPLED.get(kind.name, {})
    if field not in values:
        raise InvalidDecision(
            f"No sample of {kind.plural} can be drawn by '{field[:50]}'.",
            hint=f"Lists: {', '.join(SAMPLED)}. Fields: {', '.join(SAMPLED['contacts'])}.",
        )
    record, value = kind.record, values[field]
    listed = (
        select(
            record.id, value.label("value"), domain_name(record.domain_id).label("d")
        )
        .where(
            record.tenant_id == actor.tenant_id,
            where(kind, conditions),
            matches(kind, words),
            value.is_not(None),
        )
        .subquery()
    )
    population = await connection.scalar(select(func.count()).select_from(listed))
    drawn = await connection.execute(
        select(listed).order_by(func.random()).limit(SAMPLE_VALUES)
    )
    rows = drawn.all()
    made = await connection.execute(
        insert(ValueSample)
        .values(
            tenant_id=actor.tenant_id,
            created_by=actor.user_id,
            kind=kind.name,
            field=field,
            query=dict(query),
            population=population or 0,
        )
        .returning(ValueSample.id)
    )
    sample_id = UUID(str(made.scalar_one()))
    if rows:
        await connection.execute(
            insert(SampledValue),
            [
                {
                    "sample_id": sample_id,
                    "position": position,
                    "tenant_id": actor.tenant_id,
                    "record_id": row.id,
                    "value": row.value,
                    "domain": row.d,
                    **await seen_at(connection, kind, field, row),
                }
                for position, row in enumerate(rows, 1)
            ],
        )
    return sample_id


async def seen_at(
    connection: AsyncConnection,
    kind: Kind,
    field: str,
    row: Any,  # noqa: ANN401 - a row
) -> dict[str, Any]:
    """Return where one value was read."""
    statement = WHERE_SEEN.get((kind.name, field), text(OF_CONTACT))
    asked = {"id": row.id, "value": row.value}
    taken = {name: asked[name] for name in asked if f":{name}" in statement.text}
    found = (await connection.execute(statement, taken)).one_or_none()
    empty = dict.fromkeys(("url", "snippet", "method", "confidence"))
    return found._asdict() if found else empty


async def corrections_of(
    connection: AsyncConnection, tenant_id: UUID
) -> Sequence[FieldCorrection]:
    """Measure every field of which a tenant has marked values: its own marks, and no other's."""
    rows = await connection.execute(MARKS, {"tenant": tenant_id})
    return [
        FieldCorrection(
            row.field,
            precision_of(row.right, row.wrong),
            row.claimed,
            corrected_share(row.right, row.wrong, row.claimed),
        )
        for row in rows
    ]


def corrected_share(right: int, wrong: int, claimed: float | None) -> float | None:
    """Join marks with the confidence measured before: the more marks, the more they say."""
    marked = right + wrong
    if claimed is None:
        return right / marked if marked else None
    return (right + claimed * PRIOR_WEIGHT) / (marked + PRIOR_WEIGHT)


def truth_of_marks(rows: Iterable[Any]) -> list[dict[str, Any]]:
    """Write marked values as annotated websites: one object a site, as `truth.jsonl` has them.

    What was marked wrong is what nobody may report of that site.
    """
    sites: dict[str, dict[str, Any]] = {}
    for row in rows:
        if not row.domain or not row.value:
            continue
        site = sites.setdefault(row.domain, {"site": row.domain})
        if row.mark is ValueMark.WRONG:
            site.setdefault("third_party", []).append(row.value.lower())
        elif row.mark is ValueMark.RIGHT:
            name, made = annotation_of(row)
            site.setdefault(name, []).append(made)
    return [*sites.values()]


def annotation_of(row: Any) -> tuple[str, dict[str, Any]]:  # noqa: ANN401 - a row
    """Write a value that is right in the form of its field."""
    pages = {"pages": [row.url]} if row.url else {}
    match row.field:
        case "email":
            return "emails", {"address": row.value, **pages}
        case "phone":
            return "phones", {"e164": row.value, **pages}
        case "address":
            return "addresses", {"street": row.value, **pages}
        case "role":
            name, _, role = row.value.partition(BETWEEN)
            return "people", {"name": name, "role": role, "page": row.url}
    return "people", {"name": row.value, "page": row.url}
