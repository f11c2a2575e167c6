"""Since when a robots.txt cannot be read: an operator's patience may end."""

import sqlalchemy as sa
from alembic import op

revision = "0011_robots_patience"
down_revision = "0010_alone"


def upgrade() -> None:
    op.add_column(
        "host_robots", sa.Column("unreachable_since", sa.DateTime(timezone=True))
    )


def downgrade() -> None:
    op.drop_column("host_robots", "unreachable_since")
