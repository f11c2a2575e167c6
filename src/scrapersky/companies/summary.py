"""Sum up what all records of a company say: the row of the lead list."""

from collections.abc import Collection, Sequence
from typing import Final, NamedTuple
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection

from contact_extraction.contacts import REACHED_THROUGH
from contact_extraction.contacts.confidence import LEAST_SURE
from contact_extraction.email_type import EmailType
from scrapersky.companies.judging import judge_companies
from scrapersky.records.status import ContactCurationStatus, Deliverability, LeadStatus

SHOWN: Final = (
    "name", "categories", "street", "city", "region", "postal_code", "country",
    "latitude", "longitude", "phone", "website", "domain_id", "business_status",
    "rating", "reviews_count", "email_contact_id", "email_kind", "email_reason",
    "decision_maker_id", "decision_maker_reason", "records_count", "contacts_count",
    "confidence", "first_seen_at", "seen_at",
)  # fmt: skip
MOST_RECORDS: Final = 50
"""Records of one company that are summed up: the bound keeps the planner from reading all."""
UNKNOWN_CONFIDENCE: Final = 0.5
"""How sure we are to reach a company of which no address is known."""

LETTERS: Final = "regexp_replace(lower({}), '[^[:alnum:]]', '', 'g')"
LOCAL: Final = LETTERS.format("split_part(y.email, '@', 1)")
# kunze@ of kunze.example is the company's, though its owner is called so; jan.kunze@ is his.
OF_THE_COMPANY: Final = f"""{LOCAL} IN ({LETTERS.format("split_part(d.domain, '.', 1)")},
    {LETTERS.format("coalesce(j.name, '')")})
  AND {LOCAL} <> {LETTERS.format("y.name")}"""
# What stands beside several people, and what names a function, reaches none of them alone; what
# bears a name only because a website names nobody else is the business's.
OWN_ADDRESS: Final = f"""y.name IS NOT NULL AND y.email_type <> '{EmailType.SERVICE}'
  AND NOT ({OF_THE_COMPANY}) AND (SELECT count(*) FROM people o
    WHERE o.domain_id = y.domain_id AND o.email = y.email) < 2
  AND NOT coalesce((SELECT bool_and(w.method = ANY('{{{", ".join(REACHED_THROUGH)}}}'))
    FROM contact_evidence w
    WHERE w.contact_id = y.id AND w.field = 'name' AND w.value = y.name), false)"""  # noqa: S608 - our own label

# Of a website of several branches, what stands beside another town is of another branch.
OF_THIS_BRANCH: Final = """coalesce(y.phone = j.phone, false)
  OR coalesce(lower(y.address->>'city') = lower(j.address->>1), false)"""

# An address of nothing but the town, as a file has it, is no street.
NOT_ONLY_TOWN: Final = """nullif(address, concat_ws(', ',
      nullif(concat_ws(' ', postal_code, city), ''), region, country))"""

OLD = ", ".join(f"c.{name}" for name in SHOWN)
NEW = ", ".join(f"s.{name}" for name in SHOWN)
SET = ", ".join(f"{name} = s.{name}" for name in SHOWN)

# A company that begins is written once, whole: its row is in fifteen indexes.
OF_NEW: Final = """(SELECT r.company_id, r.score, n.tenant_id, n.id, n.phone, n.domain, n.name,
    n.created_at, n.place_id, n.business_id
  FROM unnest(CAST(:ids AS uuid[]), CAST(:members AS uuid[]), CAST(:scores AS float8[]))
    AS r(company_id, id, score) JOIN company_members n USING (id)) m"""
OF_STORED: Final = f"""unnest(CAST(:ids AS uuid[])) AS w(id)
  CROSS JOIN LATERAL (SELECT * FROM company_members f WHERE f.company_id = w.id
    ORDER BY f.id LIMIT {MOST_RECORDS}) m"""  # noqa: S608 - a constant


BEST_EMAIL: Final = f"""    SELECT r.id, r.confidence, r.among, r.kind,
      r.whose || CASE r.verdict WHEN '{Deliverability.DELIVERABLE}' THEN ', checked: deliverable'
        WHEN '{Deliverability.RISKY}' THEN ', checked: risky' ELSE ', not checked' END
        || CASE WHEN r.among > 1 THEN ', the best of ' || r.among ELSE '' END AS reason,
      (SELECT max(e.seen_at) FROM contact_evidence e WHERE e.contact_id = r.id)
        AS seen_at
    FROM (
      SELECT x.id, x.confidence, x.verdict, count(*) OVER () AS among,
        CASE WHEN x.is_own THEN 'person' ELSE CASE x.email_type
          WHEN '{EmailType.CORPORATE}' THEN 'company' WHEN '{EmailType.SERVICE}' THEN 'shared inbox'
          WHEN '{EmailType.FREE}' THEN 'free mail' ELSE 'unknown' END END AS kind,
        CASE WHEN x.decides THEN 'the decision maker''s own address'
          WHEN x.is_own THEN 'a named person''s own address'
          WHEN x.email_type = '{EmailType.CORPORATE}' THEN 'an address of the company'
          WHEN x.email_type = '{EmailType.SERVICE}' THEN 'a shared inbox'
          WHEN x.email_type = '{EmailType.FREE}' THEN 'a free mail address'
          ELSE 'an address of an unknown kind' END AS whose,
        row_number() OVER (ORDER BY
          (x.verdict IS NOT DISTINCT FROM '{Deliverability.RISKY}'),
          (coalesce(x.confidence, 1) < {LEAST_SURE}), x.decides DESC,
          x.is_elsewhere, x.is_own DESC, x.is_here DESC,
          array_position(ARRAY['{EmailType.CORPORATE}', '{EmailType.SERVICE}',
            '{EmailType.FREE}'], x.email_type::text),
          (x.verdict IS NULL), x.confidence DESC NULLS LAST, x.id) AS place
      FROM (
        SELECT y.*, y.validation->>'verdict' AS verdict, own.is_own, own.is_own
          AND coalesce(y.email = who.email OR lower(y.name) = lower(who.name), false)
          AS decides, near.is_here, NOT near.is_here
          AND coalesce(lower(y.address->>'city') <> lower(j.address->>1), false)
          AS is_elsewhere
        FROM contacts y CROSS JOIN LATERAL (SELECT {OWN_ADDRESS} AS is_own) own
        CROSS JOIN LATERAL (SELECT {OF_THIS_BRANCH} AS is_here) near
        WHERE y.domain_id = d.id AND y.email IS NOT NULL AND y.gone_at IS NULL
          AND y.contact_curation_status <> '{ContactCurationStatus.SKIPPED}'
          AND y.validation->>'verdict' IS DISTINCT FROM '{Deliverability.UNDELIVERABLE}'
      ) x) r
    WHERE r.place = 1"""  # noqa: S608 - our own columns
"""The address to write to of the companies `j` with the website `d`, and why it is that one."""


def summed_up(records: str) -> str:
    """Write the query that sums up companies from some of their records.

    The best source of a value is the business, then the place, then the website; among
    equals what was reported last. An import goes first or last, as was said with it.
    """
    return f"""
WITH seen AS MATERIALIZED (
  SELECT m.company_id, m.tenant_id, m.score, m.phone, m.domain, m.name AS member_name,
    b.name AS b_name, p.name AS p_name, b.street, b.city, b.region, b.postal_code,
    b.country, p.address, coalesce(b.latitude, p.latitude) AS latitude,
    coalesce(b.longitude, p.longitude) AS longitude,
    coalesce(b.website, p.website) AS website,
    CASE WHEN cardinality(b.categories) > 0 THEN b.categories ELSE p.categories END
      AS categories,
    coalesce(p.business_status, b.attributes->>'business_status') AS business_status,
    coalesce(b.rating, p.rating) AS rating,
    coalesce(b.reviews_count, p.reviews_count) AS reviews_count,
    least(m.created_at, p.created_at, b.created_at) AS first_seen_at, p.seen_at,
    row_number() OVER (PARTITION BY m.company_id ORDER BY
      (b.attributes->>'known_values' IS DISTINCT FROM 'replaced'), (b.id IS NULL),
      (p.id IS NULL),
      CASE WHEN b.attributes->>'known_values' = 'kept' THEN b.created_at END NULLS FIRST,
      p.seen_at DESC NULLS LAST, m.id) AS place,
    row_number() OVER (PARTITION BY m.company_id ORDER BY p.seen_at DESC NULLS LAST,
      m.id) AS latest
  FROM {records}
  LEFT JOIN places_staging p ON p.id = m.place_id
  LEFT JOIN local_businesses b ON b.id = m.business_id
), joined AS MATERIALIZED (
  SELECT company_id AS id, tenant_id,
    (array_agg(coalesce(b_name, p_name, member_name) ORDER BY place)
      FILTER (WHERE coalesce(b_name, p_name, member_name) IS NOT NULL))[1] AS name,
    (array_agg(to_jsonb(categories) ORDER BY place)
      FILTER (WHERE cardinality(categories) > 0))[1] AS categories,
    (array_agg(jsonb_build_array(coalesce(street, {NOT_ONLY_TOWN}), city, region, postal_code,
      country) ORDER BY (city IS NULL), place)
      FILTER (WHERE coalesce(street, city, address) IS NOT NULL))[1] AS address,
    (array_agg(latitude ORDER BY place) FILTER (WHERE latitude IS NOT NULL))[1]
      AS latitude,
    (array_agg(longitude ORDER BY place) FILTER (WHERE longitude IS NOT NULL))[1]
      AS longitude,
    (array_agg(phone ORDER BY place) FILTER (WHERE phone IS NOT NULL))[1] AS phone,
    (array_agg(website ORDER BY (domain IS NULL), place)
      FILTER (WHERE website IS NOT NULL))[1] AS website,
    (array_agg(domain ORDER BY place) FILTER (WHERE domain IS NOT NULL))[1] AS domain,
    (array_agg(business_status ORDER BY latest)
      FILTER (WHERE business_status IS NOT NULL))[1] AS business_status,
    (array_agg(rating ORDER BY reviews_count DESC NULLS LAST)
      FILTER (WHERE rating IS NOT NULL))[1] AS rating,
    max(reviews_count) AS reviews_count, count(*) AS records_count,
    min(score) AS score, min(first_seen_at) AS first_seen_at, max(seen_at) AS seen_at
  FROM seen GROUP BY company_id, tenant_id
), summed AS (
  SELECT j.id, j.tenant_id, j.name,
    coalesce(ARRAY(SELECT jsonb_array_elements_text(j.categories)), '{{}}')
      AS categories,
    j.address->>0 AS street, j.address->>1 AS city, j.address->>2 AS region,
    j.address->>3 AS postal_code, j.address->>4 AS country, j.latitude, j.longitude,
    coalesce(j.phone, spoken.phone) AS phone,
    coalesce(j.website, d.home_url, 'https://' || j.domain) AS website,
    d.id AS domain_id, j.business_status, j.rating, j.reviews_count,
    best.id AS email_contact_id, best.kind AS email_kind, best.reason AS email_reason,
    who.id AS decision_maker_id, who.standing_reason AS decision_maker_reason,
    j.records_count, coalesce(best.among, 0) AS contacts_count,
    coalesce(j.score, 1) * coalesce(best.confidence, {UNKNOWN_CONFIDENCE}) AS confidence,
    j.first_seen_at, greatest(j.seen_at, best.seen_at) AS seen_at
  FROM joined j
  LEFT JOIN domains d ON d.tenant_id = j.tenant_id AND d.domain = j.domain
  LEFT JOIN LATERAL (
    SELECT o.id, o.name, o.email, o.standing_reason FROM people o
    WHERE o.domain_id = d.id AND o.gone_at IS NULL
    ORDER BY o.standing DESC, o.id LIMIT 1) who ON true
  LEFT JOIN LATERAL (
    SELECT x.phone FROM contacts x
    WHERE x.domain_id = d.id AND x.phone IS NOT NULL AND x.gone_at IS NULL
    ORDER BY x.confidence DESC NULLS LAST, x.id LIMIT 1) spoken ON j.phone IS NULL
  LEFT JOIN LATERAL (
{BEST_EMAIL}) best ON true
)
"""  # noqa: S608 - our own columns


START: Final = text(
    f"""{summed_up(OF_NEW)}
INSERT INTO companies (id, tenant_id, {", ".join(SHOWN)})
SELECT s.id, s.tenant_id, {NEW} FROM summed s"""  # noqa: S608 - our own columns
)
SUM_UP: Final = text(
    f"""{summed_up(OF_STORED)}
UPDATE companies c SET {SET} FROM summed s
WHERE c.id = s.id AND ({OLD}) IS DISTINCT FROM ({NEW})"""  # noqa: S608 - our own columns
)
DROP_EMPTY: Final = text(
    f"""DELETE FROM companies c WHERE c.id = ANY(:ids)
      AND NOT EXISTS (SELECT FROM company_members m WHERE m.company_id = c.id)
      AND c.lead_status = '{LeadStatus.NEW}' AND c.worked_at IS NULL"""  # noqa: S608 - ours
)


# A company whose places are gone is found again as a new one; a branch of its website is not it.
STAY_STOPPED: Final = text(
    f"""UPDATE companies c SET lead_status = '{LeadStatus.DO_NOT_CONTACT}'
    WHERE c.id = ANY(:ids) AND EXISTS (SELECT FROM companies s
      WHERE s.tenant_id = c.tenant_id AND s.id <> c.id
        AND s.lead_status = '{LeadStatus.DO_NOT_CONTACT}'
        AND (s.phone = c.phone OR s.domain_id = c.domain_id AND NOT EXISTS (
          SELECT FROM company_members m WHERE m.company_id = s.id
            AND num_nonnulls(m.place_id, m.business_id) > 0)))"""  # noqa: S608 - our own labels
)


class FirstMember(NamedTuple):
    """A record that a new company begins with, and how surely it is of it."""

    company_id: UUID
    member_id: UUID
    score: float | None


async def start_companies(
    connection: AsyncConnection, begun: Sequence[FirstMember]
) -> None:
    """Write the rows of new companies; their records get its key afterwards."""
    if begun:
        ids, members, scores = (list(each) for each in zip(*begun, strict=True))
        values = {"ids": ids, "members": members, "scores": scores}
        await connection.execute(START, values)
        await connection.execute(STAY_STOPPED, {"ids": ids})


async def sum_up(connection: AsyncConnection, ids: Collection[UUID]) -> None:
    """Write the rows of some companies anew; those of nothing are gone."""
    if not ids:
        return
    wanted = {"ids": [*ids]}
    await connection.execute(SUM_UP, wanted)
    await connection.execute(DROP_EMPTY, wanted)
    await judge_companies(connection, ids)
