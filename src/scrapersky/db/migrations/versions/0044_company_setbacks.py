"""Keep how far records are read, and why those of a tenant could not be matched."""

import sqlalchemy as sa
from alembic import op

revision = "0044_company_setbacks"
down_revision = "0043_claimed_websites"

MOMENT = sa.DateTime(timezone=True)


def upgrade() -> None:
    for column in (
        sa.Column("began_at", MOMENT),
        sa.Column("cursor_at", MOMENT),
        sa.Column("cursor_id", sa.Uuid()),
        sa.Column("failures", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("error", sa.Text()),
        sa.Column("resume_at", MOMENT),
    ):
        op.add_column("company_progress", column)
    op.alter_column("company_progress", "read_until", nullable=True)


def downgrade() -> None:
    op.execute("DELETE FROM company_progress WHERE read_until IS NULL")
    op.alter_column("company_progress", "read_until", nullable=False)
    for column in (
        "began_at", "cursor_at", "cursor_id", "failures", "error", "resume_at",
    ):  # fmt: skip
        op.drop_column("company_progress", column)
