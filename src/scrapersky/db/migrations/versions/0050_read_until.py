"""How far records are read is known again of every tenant, as releases before expect it."""

import sqlalchemy as sa
from alembic import op

revision = "0050_read_until"
down_revision = "0049_keys_of_suppressions"


def upgrade() -> None:
    # A row for each tenant and kind of record: few.
    op.execute(
        "UPDATE company_progress SET read_until = to_timestamp(0)"
        " WHERE read_until IS NULL"
    )
    op.alter_column(
        "company_progress",
        "read_until",
        nullable=False,
        server_default=sa.text("to_timestamp(0)"),
    )


def downgrade() -> None:
    op.alter_column(
        "company_progress", "read_until", nullable=True, server_default=None
    )
