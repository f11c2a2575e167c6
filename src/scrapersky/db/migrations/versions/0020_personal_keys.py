"""API keys end with the person who made them."""

import sqlalchemy as sa
from alembic import op

revision = "0020_personal_keys"
down_revision = "0019_canonical_emails"

# The user of whoever is gone is unknown now. The audit log tells the keys that the
# machine made, at the command line or in local mode; all others were a person's.
OF_A_PERSON = """
UPDATE api_keys k SET is_personal = created_by IS NOT NULL OR NOT EXISTS (
  SELECT FROM audit_log a WHERE a.tenant_id = k.tenant_id AND a.action = 'key.created'
    AND a.subject = 'api-keys/' || k.id AND (a.request_id IS NULL
      OR a.actor = 'this machine'))
"""


def upgrade() -> None:
    op.add_column(
        "api_keys",
        sa.Column(
            "is_personal", sa.Boolean, nullable=False, server_default=sa.text("false")
        ),
    )
    op.execute(OF_A_PERSON)
    op.execute("GRANT SELECT (is_personal) ON api_keys TO scrapersky_api")


def downgrade() -> None:
    op.drop_column("api_keys", "is_personal")
