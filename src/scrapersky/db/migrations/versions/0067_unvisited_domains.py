"""Companies that were nothing but a domain of a pasted list go, until somebody visits it.

Matching deletes the companies whose last record is taken away here, a thousand at a time. Those
that people have worked on stay.
"""

from scrapersky.db.migrations.steps import fill

revision = "0067_unvisited_domains"
down_revision = "0064_value_samples"

UNVISITED = """num_nonnulls(place_id, business_id) = 0 AND domain_id IN (
    SELECT d.id FROM domains d WHERE d.verdict IS NULL)
  AND NOT EXISTS (SELECT FROM companies c WHERE c.id = company_members.company_id
    AND (c.worked_at IS NOT NULL OR c.lead_status <> 'New'))"""


def upgrade() -> None:
    fill("company_members", "domain_id = NULL", UNVISITED)


def downgrade() -> None:
    """Do nothing: a domain is read again when it is visited."""
