"""Keep when a process was the first to be heard of again, after nobody was."""

import sqlalchemy as sa
from alembic import op

revision = "0048_process_back"
down_revision = "0047_derived_columns"


def upgrade() -> None:
    op.add_column("processes", sa.Column("back_at", sa.DateTime(timezone=True)))


def downgrade() -> None:
    op.drop_column("processes", "back_at")
