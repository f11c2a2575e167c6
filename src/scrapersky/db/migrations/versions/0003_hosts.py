"""Hosts of the web: turns, pauses, outcomes, robots.txt."""

import sqlalchemy as sa
from alembic import op

revision = "0003_hosts"
down_revision = "0002_engine"

MOMENT = sa.DateTime(timezone=True)
NOW = sa.func.clock_timestamp()


def upgrade() -> None:
    op.create_table(
        "hosts",
        sa.Column("key", sa.Text, nullable=False),
        sa.Column("lease_owner", sa.Uuid),
        sa.Column("lease_until", MOMENT),
        sa.Column("starts_at", MOMENT, nullable=False, server_default=NOW),
        sa.Column("next_at", MOMENT, nullable=False, server_default=NOW),
        sa.Column(
            "delay", sa.Interval, nullable=False, server_default=sa.text("'1 second'")
        ),
        sa.Column("paused_until", MOMENT),
        sa.Column("pause_reason", sa.Text),
        sa.Column("updated_at", MOMENT, nullable=False, server_default=NOW),
        sa.PrimaryKeyConstraint("key", name="pk_hosts"),
    )
    op.create_table(
        "host_outcomes",
        sa.Column("key", sa.Text, nullable=False),
        sa.Column("outcome", sa.Text, nullable=False),
        sa.Column(
            "requests", sa.BigInteger, nullable=False, server_default=sa.text("0")
        ),
        sa.Column("bytes", sa.BigInteger, nullable=False, server_default=sa.text("0")),
        sa.Column("seconds", sa.Float, nullable=False, server_default=sa.text("0")),
        sa.Column("last_at", MOMENT, nullable=False, server_default=NOW),
        sa.PrimaryKeyConstraint("key", "outcome", name="pk_host_outcomes"),
    )
    op.create_table(
        "host_robots",
        sa.Column("origin", sa.Text, nullable=False),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("text", sa.Text, nullable=False),
        sa.Column("why", sa.Text, nullable=False),
        sa.Column("fetched_at", MOMENT, nullable=False, server_default=NOW),
        sa.Column("expires_at", MOMENT, nullable=False),
        sa.PrimaryKeyConstraint("origin", name="pk_host_robots"),
        sa.CheckConstraint(
            "state IN ('rules', 'absent', 'unreachable')", name="ck_host_robots_state"
        ),
    )


def downgrade() -> None:
    op.drop_table("host_robots")
    op.drop_table("host_outcomes")
    op.drop_table("hosts")
