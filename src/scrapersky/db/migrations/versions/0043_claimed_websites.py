"""Part websites from companies that they joined by nothing but what they say themselves.

Each is a company of its own again, and is matched anew: where it resembles the other one,
a person is asked. Who must not be contacted stays so on both sides.
"""

from collections.abc import Mapping

import sqlalchemy as sa
from alembic import op

from scrapersky.db.migrations.steps import for_each_batch

revision = "0043_claimed_websites"
down_revision = "0042_canonical_phones"

CLAIMED = """
CREATE TEMPORARY TABLE claimed ON COMMIT DROP AS
SELECT m.id, m.tenant_id, m.company_id, time_ordered_uuid() AS made,
  CASE c.lead_status WHEN 'Do Not Contact' THEN c.lead_status ELSE 'New' END AS lead_status
FROM company_members m JOIN companies c ON c.id = m.company_id
WHERE m.domain_id IS NOT NULL AND {part}
  AND EXISTS (SELECT FROM company_members o
    WHERE o.company_id = m.company_id AND o.domain_id IS NULL)
  AND NOT EXISTS (SELECT FROM company_members o
    WHERE o.company_id = m.company_id AND o.id <> m.id AND o.domain = m.domain)
  AND NOT EXISTS (SELECT FROM company_pairs k WHERE k.verdict = 'same'
    AND m.id IN (k.left_id, k.right_id))
"""
PART = """
WITH made AS (INSERT INTO companies (id, tenant_id, lead_status)
  SELECT made, tenant_id, lead_status FROM claimed)
UPDATE /* in batches */ company_members m SET company_id = c.made, score = NULL, reasons = '{}'
FROM claimed c WHERE m.id = c.id
"""
# Their old companies are summed up anew with the records that are left.
MATCH_AGAIN = """
UPDATE /* in batches */ company_members m SET is_matched = false FROM claimed c
WHERE m.company_id IN (c.company_id, c.made)
"""
DONE = "DROP TABLE claimed"


def upgrade() -> None:
    # All that decides about a record is within its company.
    for_each_batch("companies", part_some)


def part_some(part: str, bounds: Mapping[str, object]) -> None:
    """Part what some companies joined."""
    chosen = f"m.company_id IN (SELECT id FROM companies WHERE {part})"  # noqa: S608
    first, *others = statements(chosen)
    op.get_bind().execute(sa.text(first), dict(bounds))
    for statement in others:
        op.execute(statement)


def statements(part: str) -> tuple[str, ...]:
    """Write what parts websites, of the companies that a condition picks."""
    return (CLAIMED.replace("{part}", part), PART, MATCH_AGAIN, DONE)


def downgrade() -> None:
    """Leave them apart: the older matcher joins again what it would have joined."""
