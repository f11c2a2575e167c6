"""Name the inbox of a site after the only person whom all of its pages name.

Whoever writes to a business of one person reaches that person, whatever the mailbox is called.
The address stays the business's: it is not stored as the person's own. As soon as another page
names somebody else, the name is taken back.
"""

from typing import Final
from uuid import UUID

from contact_extraction.contacts import Method
from contact_extraction.contacts.confidence import LEAST_SURE
from contact_extraction.seniority import Seniority
from curation_sdk import Transaction
from scrapersky.records.contact import BY_HAND
from scrapersky.records.status import PageProcessingStatus

METHOD: Final = Method.ONLY_PERSON.value
MIN_CONFIDENCE: Final = 0.65
"""How sure the only person must be one: a heading that was taken for a name has no inbox."""
MOST_INBOXES: Final = 2
"""Addresses that a business of one person has at most."""
REACH_CONFIDENCE: Final = 0.85
"""How likely the inbox of such a business reaches that person."""
# Pages that are still to be read may name others.
FIND_ALONE: Final = f"""
SELECT p.id, p.domain_id, p.name FROM people p
WHERE p.domain_id = ANY($1) AND p.gone_at IS NULL AND NOT EXISTS (
    SELECT FROM people o WHERE o.domain_id = p.domain_id AND o.id <> p.id
      AND o.gone_at IS NULL)
  AND p.confidence >= {MIN_CONFIDENCE}
  AND p.seniority IS DISTINCT FROM '{Seniority.STAFF.value}'
  AND NOT EXISTS (SELECT FROM pages g WHERE g.domain_id = p.domain_id
    AND g.page_processing_status IN ('{PageProcessingStatus.QUEUED}',
      '{PageProcessingStatus.PROCESSING}'))
"""  # noqa: S608 - our names
# A number alone is what reaches them only where the site has no address.
NAME_INBOXES: Final = f"""
WITH alone AS (SELECT * FROM people WHERE id = ANY($1)
), reach AS (
  SELECT c.id, c.domain_id, c.name, c.email IS NOT NULL AS is_mail, count(*) OVER (
      PARTITION BY c.domain_id, c.email IS NOT NULL) AS among,
    bool_or(c.email IS NOT NULL) OVER (PARTITION BY c.domain_id) AS has_mail
  FROM contacts c JOIN alone a ON a.domain_id = c.domain_id WHERE c.gone_at IS NULL
), inboxes AS (
  SELECT c.id FROM contacts c JOIN reach r ON r.id = c.id
  WHERE c.name IS NULL AND r.is_mail = r.has_mail
    AND coalesce(c.confidence, 1) >= {LEAST_SURE}
    AND r.among <= CASE WHEN r.is_mail THEN {MOST_INBOXES} ELSE 1 END
    AND NOT EXISTS (SELECT FROM contact_evidence h WHERE h.contact_id = c.id
      AND h.field = 'name' AND h.method = '{BY_HAND}')
  ORDER BY c.id FOR UPDATE OF c SKIP LOCKED
), named AS (
  UPDATE contacts c SET name = a.name, role = coalesce(c.role, a.role)
  FROM inboxes i, alone a WHERE c.id = i.id AND a.domain_id = c.domain_id
  RETURNING c.id, c.tenant_id, a.id AS person_id
)
INSERT INTO contact_evidence (tenant_id, page_id, robots, seen_at, contact_id, field,
  value, url, snippet, method, confidence, snapshot_id, span_start, span_end)
SELECT n.tenant_id, p.page_id, e->>'robots', (e->>'seen_at')::timestamptz, n.id, 'name',
  p.name, e->>'url', e->>'snippet', '{METHOD}', p.confidence * {REACH_CONFIDENCE},
  (e->>'snapshot')::uuid, (e->'span'->>0)::int, (e->'span'->>1)::int
FROM named n JOIN alone p ON p.id = n.person_id, jsonb_array_elements(p.evidence) AS e
ON CONFLICT DO NOTHING
"""  # noqa: S608 - our names
TAKE_BACK: Final = f"""
WITH crowded AS (
  SELECT domain_id FROM people WHERE domain_id = ANY($1) AND gone_at IS NULL
  GROUP BY 1 HAVING count(*) > 1
), taken AS (
  DELETE FROM contact_evidence e USING contacts c, crowded d
  WHERE e.contact_id = c.id AND c.domain_id = d.domain_id AND e.method = '{METHOD}'
  RETURNING e.contact_id, e.value
)
UPDATE contacts c SET name = NULL, role = NULL FROM taken t
WHERE c.id = t.contact_id AND c.name = t.value
"""  # noqa: S608 - our names


async def name_inboxes(transaction: Transaction, domains: list[UUID]) -> None:
    """Name the inboxes of sites that name one person, and no longer those of others."""
    await transaction.fetch(TAKE_BACK, domains)
    if alone := await transaction.fetch(FIND_ALONE, domains):
        await transaction.fetch(NAME_INBOXES, [row["id"] for row in alone])
