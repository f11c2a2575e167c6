"""Take back what the pages of a site were once read to say, and are not read to say any more.

What a person wrote, brought or decided stays: only what pages alone have said can go. So does what
a visit has found gone already: what differed tells of it.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

import orjson

from contact_extraction.person_card import PersonCard
from curation_sdk import Transaction
from scrapersky.pipeline.contact_storage import UNTOUCHED
from scrapersky.records.contact import BY_HAND

# A contact that somebody has worked on keeps what it is known by, and where that was seen.
DELETE_EVIDENCE: Final = f"""
WITH derived AS MATERIALIZED (
  SELECT * FROM json_to_recordset($3) AS g (field text, value text)
)
DELETE FROM contact_evidence x USING contacts b
WHERE b.id = x.contact_id AND b.domain_id = $1 AND x.page_id = ANY($2)
  AND x.method <> '{BY_HAND}' AND x.gone_at IS NULL
  AND NOT EXISTS (SELECT FROM derived g WHERE (g.field, g.value) = (x.field, x.value))
  AND (x.value IS DISTINCT FROM coalesce(b.email, b.phone) OR ({UNTOUCHED}))
RETURNING x.contact_id, x.field, x.value
"""  # noqa: S608 - our own labels
KEPT: Final = """(SELECT e.value FROM contact_evidence e WHERE e.contact_id = c.id
    AND e.field = {fields} AND e.gone_at IS NULL ORDER BY e.confidence DESC, e.id LIMIT 1)"""
IS_GONE: Final = """EXISTS (SELECT FROM gone g WHERE g.contact_id = c.id
    AND g.field = {fields} AND g.value = {value}) AND NOT EXISTS (
    SELECT FROM contact_evidence e WHERE e.contact_id = c.id AND e.value = {value}
      AND e.gone_at IS NULL)"""
PHONES: Final = "ANY('{phone,mobile}')"
REPAIR: Final = f"""
WITH gone AS MATERIALIZED (
  SELECT * FROM json_to_recordset($1) AS g (contact_id uuid, field text, value text)
), lost AS MATERIALIZED (
  SELECT g.contact_id, array_agg(g.value) AS values FROM gone g
  WHERE NOT EXISTS (SELECT FROM contact_evidence e
    WHERE e.contact_id = g.contact_id AND e.value = g.value AND e.gone_at IS NULL)
  GROUP BY 1
)
UPDATE contacts c SET
  name = CASE WHEN {IS_GONE.format(fields="'name'", value="c.name")}
    THEN {KEPT.format(fields="'name'")} ELSE c.name END,
  role = CASE WHEN {IS_GONE.format(fields="'role'", value="c.role")}
    THEN {KEPT.format(fields="'role'")} ELSE c.role END,
  phone = CASE WHEN c.email IS NOT NULL AND {IS_GONE.format(fields=PHONES, value="c.phone")}
    THEN {KEPT.format(fields=PHONES)} ELSE c.phone END,
  phones = CASE WHEN c.email IS NULL THEN c.phones ELSE c.phones - lost.values END,
  address = CASE WHEN c.address->>'text' = ANY(lost.values) THEN NULL ELSE c.address END,
  social_links = (SELECT coalesce(jsonb_object_agg(key, value), '{{}}')
    FROM jsonb_each_text(c.social_links) WHERE value <> ALL(lost.values))
FROM lost WHERE c.id = lost.contact_id
"""  # noqa: S608 - our own words
DELETE_UNSEEN: Final = f"""
DELETE FROM contacts b WHERE b.id = ANY($1) AND b.gone_at IS NULL AND {UNTOUCHED}
  AND NOT EXISTS (SELECT FROM contact_evidence s
    WHERE s.contact_id = b.id AND s.value = coalesce(b.email, b.phone) AND s.gone_at IS NULL)
"""  # noqa: S608 - our own labels
# A person is named by the pages in their evidence; by none that was read again and is silent.
STRIP_PEOPLE: Final = """
UPDATE people p SET evidence = (SELECT coalesce(jsonb_agg(j), '[]')
  FROM jsonb_array_elements(p.evidence) AS j WHERE j->>'url' <> ALL($2))
WHERE p.domain_id = $1 AND p.name_key <> ALL($3)
"""
DELETE_PEOPLE: Final = """
DELETE FROM people WHERE domain_id = $1 AND evidence = '[]' AND gone_at IS NULL
"""
CORRECT_PEOPLE: Final = """
UPDATE people p SET name = g.name, role = g.role, seniority = g.seniority,
  email = coalesce(g.email, p.email),
  phone = coalesce(g.phone, p.phone), confidence = g.confidence, standing = g.standing,
  standing_reason = g.standing_reason
FROM json_populate_recordset(NULL::people, $3) AS g
WHERE p.domain_id = $1 AND p.name_key = g.name_key AND p.page_id = ANY($2)
  AND (p.role, p.standing) IS DISTINCT FROM (g.role, g.standing)
  AND NOT p.evidence @> $4
"""


@dataclass(frozen=True, slots=True)
class SiteReading:
    """All that the stored pages of a site are read to say now."""

    domain_id: UUID
    page_ids: Sequence[UUID]
    urls: Sequence[str]
    values: Collection[tuple[str, str]]
    """Fields and values of contacts."""
    people: Sequence[PersonCard]
    """Each once, as the page says that says most of them."""


async def withdraw(transaction: Transaction, reading: SiteReading) -> None:
    """Take back what pages are not read to say any more; what they say is stored already."""
    derived = [{"field": field, "value": value} for field, value in reading.values]
    rows = await transaction.fetch(
        DELETE_EVIDENCE, reading.domain_id, [*reading.page_ids], json_of(derived)
    )
    if rows:
        gone = [
            {**row, "contact_id": str(row["contact_id"])} for row in map(dict, rows)
        ]
        await transaction.fetch(REPAIR, json_of(gone))
        await transaction.fetch(DELETE_UNSEEN, [*{row["contact_id"] for row in rows}])
    await correct_people(transaction, reading)


async def correct_people(transaction: Transaction, reading: SiteReading) -> None:
    """Take back whom no page names any more, and roles that none gives them."""
    keys = [person.key for person in reading.people]
    await transaction.fetch(STRIP_PEOPLE, reading.domain_id, [*reading.urls], keys)
    await transaction.fetch(DELETE_PEOPLE, reading.domain_id)
    people = [
        {
            "name": one.name, "name_key": one.key, "role": one.role,
            "seniority": one.seniority, "email": one.email, "phone": one.phone,
            "confidence": one.confidence, "standing": one.standing,
            "standing_reason": one.reason,
        }
        for one in reading.people
    ]  # fmt: skip
    by_hand = json_of([{"method": BY_HAND}])
    page_ids = [*reading.page_ids]
    await transaction.fetch(
        CORRECT_PEOPLE, reading.domain_id, page_ids, json_of(people), by_hand
    )


def json_of(rows: Any) -> str:  # noqa: ANN401 - rows
    """Write rows as one parameter."""
    return orjson.dumps(rows).decode()
