"""When to follow up a company, views for a whole team, and what happened to one record."""

import sqlalchemy as sa
from alembic import op

from scrapersky.db.migrations.change_log import log_changes
from scrapersky.db.migrations.steps import add_column, add_index, drop_index

revision = "0056_follow_ups"
down_revision = "0055_change_log"

TOLD = "kind IN ('companies', 'contacts', 'people', 'domains')"


def upgrade() -> None:
    add_column("companies", sa.Column("follow_up_on", sa.Date))
    add_index(
        "ix_companies_by_follow_up",
        "companies",
        ["tenant_id", "follow_up_on", "id"],
        postgresql_where=sa.text("follow_up_on IS NOT NULL"),
    )
    add_column(
        "saved_views",
        sa.Column("is_shared", sa.Boolean, server_default="false", nullable=False),
    )
    # What happened to a company is read of its own records only.
    add_index(
        "ix_record_changes_of_leads",
        "record_changes",
        ["record_id", "position"],
        postgresql_where=sa.text(TOLD),
    )
    log_changes("companies", "companies")


def downgrade() -> None:
    drop_index("ix_record_changes_of_leads", "record_changes")
    drop_index("ix_companies_by_follow_up", "companies")
    op.drop_column("saved_views", "is_shared")
    op.drop_column("companies", "follow_up_on")
    log_changes("companies", "companies")
