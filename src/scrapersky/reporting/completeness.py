"""How complete a search is: what exists beside what was found, and how right what was found is."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection

from scrapersky.records.status import TaskStatus
from scrapersky.reporting.capture import (
    History,
    Overlap,
    PopulationEstimate,
    TraitGroup,
    estimate_total,
)

MOST_HITS: Final = 200_000
"""Places of all searches of one question that are looked at."""
TRAIT_COLUMNS: Final = (
    "latitude", "longitude", "website", "phone", "categories", "reviews_count",
)  # fmt: skip
POINT_DIGITS: Final = 5
"""Decimal places of a degree that are about a metre: no two surveys agree on them."""


def places_by_source(*columns: str) -> str:
    """Write what each source found of one question: of each the last search that ended."""
    listed = ", ".join(("a.source", "m.company_id", *(f"p.{name}" for name in columns)))
    return f"""asked AS (
  SELECT DISTINCT ON (s.source) s.id, s.source FROM place_searches s
  JOIN place_searches q ON q.id = :search AND q.tenant_id = :tenant
    AND s.tenant_id = q.tenant_id AND lower(s.business_type) = lower(q.business_type)
    AND lower(s.location) IS NOT DISTINCT FROM lower(q.location)
    AND s.radius_m IS NOT DISTINCT FROM q.radius_m AND s.area IS NOT DISTINCT FROM q.area
    AND (s.id = q.id OR s.source <> q.source AND s.status = '{TaskStatus.COMPLETED}')
  ORDER BY s.source, (s.id = q.id) DESC, s.created_at DESC
), hits AS MATERIALIZED (
  SELECT {listed} FROM asked a JOIN place_search_hits h ON h.search_id = a.id
  JOIN company_members m ON m.place_id = h.place_id AND m.company_id IS NOT NULL
  JOIN places_staging p ON p.id = h.place_id LIMIT {MOST_HITS}
)"""  # noqa: S608 - our own columns


HISTORIES: Final = text(
    f"""WITH {places_by_source()}
    SELECT sources, count(*) AS companies FROM (
      SELECT array_agg(DISTINCT source) AS sources FROM hits GROUP BY company_id) AS c
    GROUP BY sources"""  # noqa: S608 - our own labels
)
# Each source is asked by its own words: those of the other are known only of what both have.
TRAITS: Final = text(
    f"""WITH {places_by_source(*TRAIT_COLUMNS)},
    companies AS MATERIALIZED (
      SELECT source, company_id, bool_or(website IS NOT NULL) AS website,
        bool_or(phone IS NOT NULL) AS phone, min(categories[1]) AS category,
        max(reviews_count) AS reviews, min(latitude) AS latitude, min(longitude) AS longitude
      FROM hits GROUP BY source, company_id
    ), centre AS (
      SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY latitude) AS latitude,
        percentile_cont(0.5) WITHIN GROUP (ORDER BY longitude) AS longitude FROM companies
    ), described AS (
      SELECT c.source, c.company_id, t.trait, t.value FROM companies c CROSS JOIN centre m
      CROSS JOIN LATERAL (VALUES
        ('whether there is a website', CASE WHEN website THEN 'yes' ELSE 'no' END),
        ('whether there is a telephone number', CASE WHEN phone THEN 'yes' ELSE 'no' END),
        ('the category', coalesce(category, '')),
        ('the number of reviews', CASE WHEN reviews IS NULL THEN 'unknown'
          WHEN reviews < 5 THEN 'few' WHEN reviews < 50 THEN 'some' ELSE 'many' END),
        ('the part of the area', concat(c.latitude > m.latitude, c.longitude > m.longitude))
      ) AS t(trait, value)
    )
    SELECT d.source, o.source AS other, d.trait, d.value, count(*) AS total,
      count(*) FILTER (WHERE EXISTS (SELECT FROM companies e WHERE e.source = o.source
        AND e.company_id = d.company_id)) AS met
    FROM described d JOIN asked o ON o.source <> d.source GROUP BY 1, 2, 3, 4"""  # noqa: S608
)
COPIES: Final = text(
    f"""WITH {places_by_source("latitude", "longitude")}
    SELECT a.source, b.source AS other, count(*) AS pairs, count(*) FILTER (WHERE
      round(a.latitude::numeric, {POINT_DIGITS}) = round(b.latitude::numeric, {POINT_DIGITS})
      AND round(a.longitude::numeric, {POINT_DIGITS}) = round(b.longitude::numeric, {POINT_DIGITS}))
      AS copied
    FROM hits a JOIN hits b ON b.company_id = a.company_id AND a.source < b.source
    WHERE a.latitude IS NOT NULL AND b.latitude IS NOT NULL GROUP BY 1, 2"""  # noqa: S608
)
# How sure we are of a value is measured on annotated websites: the mean is the expected share.
VALUES: Final = text(
    f"""WITH {places_by_source()},
    mine AS (SELECT DISTINCT company_id FROM hits h JOIN asked a ON a.source = h.source
      WHERE a.id = :search)
    SELECT count(*) AS companies, count(x.email) AS emails, avg(x.confidence)
      FILTER (WHERE x.email IS NOT NULL) AS email_confidence,
      count(c.phone) AS phones, count(c.decision_maker_id) AS people,
      avg(o.confidence) AS person_confidence, count(c.street) AS addresses
    FROM mine JOIN companies c ON c.id = mine.company_id
    LEFT JOIN contacts x ON x.id = c.email_contact_id
    LEFT JOIN people o ON o.id = c.decision_maker_id"""  # noqa: S608 - our own labels
)


@dataclass(frozen=True, slots=True)
class ValueShare:
    """How many companies have a value, and what share of such values is expected to be right."""

    name: Literal["email", "phone", "person", "address"]
    companies: int
    expected: float | None
    """From the confidence of the values; None: nobody has measured it."""


@dataclass(frozen=True, slots=True)
class SearchCompleteness:
    """How complete a search is."""

    total: PopulationEstimate
    companies: int
    values: Sequence[ValueShare]


async def completeness_of(
    connection: AsyncConnection, tenant_id: UUID, search_id: UUID
) -> SearchCompleteness:
    """Estimate what exists of what a search asked for, and count what was found of it."""
    asked = {"tenant": tenant_id, "search": search_id}
    overlap = await overlap_of(connection, asked)
    row = (await connection.execute(VALUES, asked)).one()
    values = (
        ValueShare("email", row.emails, row.email_confidence),
        ValueShare("phone", row.phones, None),
        ValueShare("person", row.people, row.person_confidence),
        ValueShare("address", row.addresses, None),
    )
    return SearchCompleteness(estimate_total(overlap), row.companies, values)


async def overlap_of(connection: AsyncConnection, asked: dict[str, Any]) -> Overlap:
    """Read what each source found of the question, and what speaks against independence."""
    histories: defaultdict[History, int] = defaultdict(int)
    for row in await connection.execute(HISTORIES, asked):
        histories[frozenset(row.sources)] += row.companies
    if len({source for each in histories for source in each}) < 2:  # noqa: PLR2004
        return Overlap(histories)
    traits = (await connection.execute(TRAITS, asked)).all()
    copies = (await connection.execute(COPIES, asked)).all()
    return Overlap(
        histories,
        groups=[TraitGroup(**row._asdict()) for row in traits],
        paired={(row.source, row.other): row.pairs for row in copies},
        copied={(row.source, row.other): row.copied for row in copies},
    )
