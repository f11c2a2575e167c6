"""Settings of stages that operators change while processes run."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

from scrapersky.db.migrations.row_security import close

revision = "0032_stage_overrides"
down_revision = "0031_deliverability"


def upgrade() -> None:
    op.create_table(
        "stage_overrides",
        sa.Column("stage", sa.Text(), nullable=False),
        sa.Column("changes", postgresql.JSONB(), nullable=False),
        sa.Column(
            "changed_at",
            sa.DateTime(timezone=True),
            server_default=sa.text("clock_timestamp()"),
            nullable=False,
        ),
        sa.PrimaryKeyConstraint("stage", name="pk_stage_overrides"),
    )
    close("stage_overrides")


def downgrade() -> None:
    op.drop_table("stage_overrides")
