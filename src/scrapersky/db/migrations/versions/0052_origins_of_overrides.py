"""Who changed each setting of a stage while processes ran, and when."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

from scrapersky.db.migrations.steps import add_column

revision = "0052_origins_of_overrides"
down_revision = "0051_published_jobs"


def upgrade() -> None:
    add_column(
        "stage_overrides",
        sa.Column(
            "origins",
            postgresql.JSONB(),
            server_default=sa.text("'{}'"),
            nullable=False,
        ),
    )


def downgrade() -> None:
    op.drop_column("stage_overrides", "origins")
