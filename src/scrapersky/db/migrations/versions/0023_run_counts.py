"""What a run of the schedule came to, item by item."""

import sqlalchemy as sa
from alembic import op

revision = "0023_run_counts"
down_revision = "0022_tracebacks"

COUNTS = ("succeeded", "failed", "retried")


def upgrade() -> None:
    for name in COUNTS:
        op.add_column("scheduler_runs", sa.Column(name, sa.BigInteger))
    op.add_column("scheduler_runs", sa.Column("last_item_error", sa.Text))


def downgrade() -> None:
    for name in (*COUNTS, "last_item_error"):
        op.drop_column("scheduler_runs", name)
