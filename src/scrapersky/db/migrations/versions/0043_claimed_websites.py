"""Part websites from companies that they joined by nothing but what they say themselves.

Each is a company of its own again, and is matched anew: where it resembles the other one,
a person is asked. Who must not be contacted stays so on both sides.
"""

from alembic import op

revision = "0043_claimed_websites"
down_revision = "0042_canonical_phones"

CLAIMED = """
CREATE TEMPORARY TABLE claimed ON COMMIT DROP AS
SELECT m.id, m.tenant_id, m.company_id, time_ordered_uuid() AS made,
  CASE c.lead_status WHEN 'Do Not Contact' THEN c.lead_status ELSE 'New' END AS lead_status
FROM company_members m JOIN companies c ON c.id = m.company_id
WHERE m.domain_id IS NOT NULL
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
UPDATE company_members m SET company_id = c.made, score = NULL, reasons = '{}'
FROM claimed c WHERE m.id = c.id
"""
# Their old companies are summed up anew with the records that are left.
MATCH_AGAIN = """
UPDATE company_members m SET is_matched = false FROM claimed c
WHERE m.company_id IN (c.company_id, c.made)
"""
STATEMENTS = (CLAIMED, PART, MATCH_AGAIN)


def upgrade() -> None:
    for statement in STATEMENTS:
        op.execute(statement)


def downgrade() -> None:
    """Leave them apart: the older matcher joins again what it would have joined."""
