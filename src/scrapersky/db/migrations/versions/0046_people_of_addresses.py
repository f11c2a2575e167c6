"""Keep whom an entry of the suppression list means by name, with the entry for their address."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import BYTEA

from scrapersky.db.migrations.steps import add_column, add_index

revision = "0046_people_of_addresses"
down_revision = "0045_keys_on_every_server"


def upgrade() -> None:
    add_column("suppressions", sa.Column("entry_hash", BYTEA()))
    add_index(
        "ix_suppressions_tenant_id_entry_hash",
        "suppressions",
        ["tenant_id", "entry_hash"],
        postgresql_where=sa.text("entry_hash IS NOT NULL"),
    )


def downgrade() -> None:
    op.drop_index("ix_suppressions_tenant_id_entry_hash", "suppressions")
    op.drop_column("suppressions", "entry_hash")
