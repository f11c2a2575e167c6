"""Which processes serve and work on this database."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

from scrapersky.db.migrations.row_security import close

revision = "0029_processes"
down_revision = "0028_companies"

NOW = sa.text("clock_timestamp()")


def upgrade() -> None:
    op.create_table(
        "processes",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("role", sa.Text(), nullable=False),
        sa.Column("host", sa.Text(), nullable=False),
        sa.Column("pid", sa.BigInteger(), nullable=False),
        sa.Column("version", sa.Text(), nullable=False),
        sa.Column("address", sa.Text()),
        sa.Column(
            "stages",
            postgresql.ARRAY(sa.Text()),
            server_default=sa.text("'{}'"),
            nullable=False,
        ),
        sa.Column(
            "in_hand", sa.BigInteger(), server_default=sa.text("0"), nullable=False
        ),
        sa.Column("resting", sa.Text()),
        sa.Column("drain_asked_at", sa.DateTime(timezone=True)),
        sa.Column(
            "started_at", sa.DateTime(timezone=True), server_default=NOW, nullable=False
        ),
        sa.Column(
            "seen_at", sa.DateTime(timezone=True), server_default=NOW, nullable=False
        ),
        sa.PrimaryKeyConstraint("name", name="pk_processes"),
    )
    close("processes")


def downgrade() -> None:
    op.drop_table("processes")
