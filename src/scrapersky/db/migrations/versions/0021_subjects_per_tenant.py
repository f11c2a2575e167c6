"""Subjects of access tokens belong to a tenant and an issuer."""

import sqlalchemy as sa
from alembic import op

revision = "0021_subjects_per_tenant"
down_revision = "0020_personal_keys"

NAME = "uq_users_tenant_id_issuer_subject"
# Before, a subject was one for all tenants: the oldest user keeps it.
KEEP_OLDEST = """
UPDATE users u SET subject = NULL WHERE subject IS NOT NULL AND EXISTS (
  SELECT FROM users o WHERE o.subject = u.subject
    AND (o.created_at, o.id) < (u.created_at, u.id))
"""


def upgrade() -> None:
    op.add_column("users", sa.Column("issuer", sa.Text))
    op.drop_constraint("uq_users_subject", "users", type_="unique")
    op.create_index(
        NAME,
        "users",
        ["tenant_id", sa.text("coalesce(issuer, '')"), "subject"],
        unique=True,
        postgresql_where=sa.text("subject IS NOT NULL"),
    )
    op.execute("GRANT SELECT (issuer) ON users TO scrapersky_api")


def downgrade() -> None:
    op.execute(KEEP_OLDEST)
    op.drop_index(NAME, "users")
    op.create_unique_constraint("uq_users_subject", "users", ["subject"])
    op.drop_column("users", "issuer")
