"""One log of changes, written with each change: created, changed and removed records."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import ARRAY, JSONB

from scrapersky.db.migrations.change_log import (
    SHARED_FUNCTIONS,
    log_changes,
    stop_logging,
)
from scrapersky.db.migrations.row_security import ROLE, close, protect
from scrapersky.db.migrations.steps import commit, has_table

revision = "0055_change_log"
down_revision = "0053_one_undo"

LOGGED = {
    "place_searches": "searches",
    "places_staging": "places",
    "local_businesses": "businesses",
    "domains": "domains",
    "sitemap_files": "sitemap_files",
    "pages": "pages",
    "contacts": "contacts",
    "people": "people",
    "companies": "companies",
    "curation_actions": "actions",
    "batch_jobs": "batches",
}
"""The tables whose changes are logged, and as which kind."""


def upgrade() -> None:
    if not has_table("record_changes"):
        make_log()
        commit()
    for table, kind in LOGGED.items():
        log_changes(table, kind)
        commit()
    # The row is made and removed with its contact: only what is noted in it is a change.
    log_changes("contact_notices", "notices", key="contact_id", events=("UPDATE",))


def make_log() -> None:
    """Make the log, and what its entries are written with."""
    now = sa.text("clock_timestamp()")
    moment = sa.DateTime(timezone=True)
    op.create_table(
        "change_epochs",
        sa.Column("id", sa.BigInteger, sa.Identity(always=True), primary_key=True),
        sa.Column("shift", sa.BigInteger, nullable=False),
        sa.Column("created_at", moment, server_default=now, nullable=False),
    )
    op.execute("INSERT INTO change_epochs (shift) VALUES (0)")
    op.execute(f"GRANT SELECT ON change_epochs TO {ROLE}")
    close("change_epochs")
    op.execute(
        f"CREATE POLICY shift ON change_epochs FOR SELECT TO {ROLE} USING (true)"
    )
    op.create_table(
        "record_changes",
        sa.Column("tenant_id", sa.Uuid, nullable=False),
        sa.Column("position", sa.BigInteger, sa.Identity(always=True), nullable=False),
        sa.Column("transaction_id", sa.BigInteger, nullable=False),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("record_id", sa.Uuid, nullable=False),
        sa.Column("event", sa.Text, nullable=False),
        sa.Column("fields", ARRAY(sa.Text), nullable=False),
        sa.Column("actor", sa.Text),
        sa.Column("action_id", sa.Uuid),
        sa.Column("details", JSONB),
        sa.Column("created_at", moment, server_default=now, nullable=False),
        sa.PrimaryKeyConstraint("tenant_id", "position", name="pk_record_changes"),
    )
    op.create_index(
        "ix_record_changes_transaction_id", "record_changes", ["transaction_id"]
    )
    for statement in SHARED_FUNCTIONS:
        op.execute(statement)
    protect("record_changes")
    op.execute(f"REVOKE UPDATE, DELETE ON record_changes FROM {ROLE}")


def downgrade() -> None:
    for table in (*LOGGED, "contact_notices"):
        stop_logging(table)
    op.drop_table("record_changes")
    op.drop_table("change_epochs")
    op.execute("DROP FUNCTION change_transaction")
    op.execute("DROP FUNCTION change_actor")
