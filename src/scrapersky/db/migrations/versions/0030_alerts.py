"""What is wrong with the installation, and whether somebody was told."""

from datetime import datetime

import sqlalchemy as sa
from alembic import op

from scrapersky.db.migrations.row_security import close

revision = "0030_alerts"
down_revision = "0029_processes"


def moment(name: str, *, now: bool = False) -> sa.Column[datetime]:
    default = sa.text("clock_timestamp()") if now else None
    return sa.Column(
        name, sa.DateTime(timezone=True), server_default=default, nullable=not now
    )


def upgrade() -> None:
    op.create_table(
        "alerts",
        sa.Column("rule", sa.Text(), nullable=False),
        sa.Column("subject", sa.Text(), nullable=False),
        sa.Column("summary", sa.Text(), nullable=False),
        sa.Column("advice", sa.Text(), nullable=False),
        moment("since", now=True),
        moment("seen_at", now=True),
        moment("ended_at"),
        moment("sent_at"),
        moment("end_sent_at"),
        sa.PrimaryKeyConstraint("rule", "subject", name="pk_alerts"),
    )
    op.create_table(
        "alert_watch",
        sa.Column("id", sa.SmallInteger(), server_default=sa.text("1"), nullable=False),
        moment("looked_at", now=True),
        sa.PrimaryKeyConstraint("id", name="pk_alert_watch"),
        sa.CheckConstraint("id = 1", name="ck_alert_watch_one"),
    )
    close("alerts", "alert_watch")


def downgrade() -> None:
    op.drop_table("alert_watch")
    op.drop_table("alerts")
