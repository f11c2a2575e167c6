"""How far a decision is."""

import sqlalchemy as sa
from alembic import op

revision = "0007_operations"
down_revision = "0006_gateway"


def upgrade() -> None:
    op.add_column("curation_actions", sa.Column("matched_count", sa.BigInteger()))
    op.add_column(
        "curation_actions", sa.Column("finished_at", sa.DateTime(timezone=True))
    )
    op.execute("UPDATE curation_actions SET finished_at = updated_at")


def downgrade() -> None:
    op.drop_column("curation_actions", "finished_at")
    op.drop_column("curation_actions", "matched_count")
